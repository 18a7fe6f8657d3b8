"""The small trained models that ship with the course: load one by name, noticing a damaged file.

A model is NAME.safetensors (half precision; its class and sizes in the file's metadata) beside its card NAME.md; hashes
stand in SHA256SUMS, so that `sha256sum -c SHA256SUMS` checks them as well. The classifiers share one file of words; the
language model's words are in its metadata.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save

from ..text import WordTokenizer
from .classifier import AttentionClassifier, TransformerClassifier
from .gpt2 import GPT2, GPT2Config

FOLDER = Path(__file__).parent.parent / "weights"
CLASSES = {kind.__name__: kind for kind in (AttentionClassifier, TransformerClassifier)}
VOCABULARY, LOG_ODDS = "imdb-vocabulary.txt", "imdb-naive-bayes.safetensors"


def _hashes(folder):
    """The known files and their hashes: {"imdb-tame.safetensors": "ab12…"}."""
    sums = folder / "SHA256SUMS"
    return {name: digest for digest, name in map(str.split, sums.read_text().splitlines())} if sums.exists() else {}


def _checked(name, folder):
    """The path of a known file, once its bytes have been seen to be the right ones."""
    path = folder / name
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != _hashes(folder)[name]:
        raise ValueError(f"{name} is missing or damaged (its hash is not the one in SHA256SUMS): install coursekit again")
    return path


def _store(name, data, folder):
    """Write a file whole or not at all, and note its hash."""
    folder.mkdir(exist_ok=True)
    hashes = _hashes(folder) | {name: hashlib.sha256(data).hexdigest()}
    sums = "".join(f"{digest}  {known}\n" for known, digest in sorted(hashes.items())).encode()
    for target, content in ((name, data), ("SHA256SUMS", sums)):
        (folder / f"{target}.part").write_bytes(content)
        os.replace(folder / f"{target}.part", folder / target)


def load_weights(name, folder=FOLDER):
    """A trained model of the course by its name, ready to predict, in float32 and evaluation mode.

    `"imdb-tame"` and `"imdb-peaky"`: AttentionClassifier, one with a penalty that keeps its attention flat, one without;
    `"imdb-6layer"`: TransformerClassifier. All three score film reviews. `"dialogue-gpt"`: a GPT2 that writes
    dialogues, its WordTokenizer in `.tokenizer`. The cards beside the files say how they were made.
    Raises ValueError for an unknown name (it lists the known ones) and for a file whose hash is wrong.
    """
    known = [file.removesuffix(".safetensors") for file in _hashes(folder) if file.endswith(".safetensors")]
    known = [model for model in known if f"{model}.safetensors" != LOG_ODDS]
    if name not in known:
        raise ValueError(f"no weights named {name!r}: choose one of {', '.join(map(repr, known))}")
    with safe_open(_checked(f"{name}.safetensors", folder), "pt") as file:
        about = file.metadata()
        weights = {key: file.get_tensor(key).float() for key in file.keys()}
    own = "words" in about
    words = json.loads(about["words"]) if own else _checked(VOCABULARY, folder).read_text("utf8").split("\n")
    with torch.random.fork_rng(devices=[]):                    # building a model draws numbers: leave the caller's seed alone
        model = _build(about["class"], WordTokenizer(words), json.loads(about["config"]))
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)


def _build(kind, tokenizer, config):
    """An untrained model of a class by its name, with its tokenizer."""
    if kind != "GPT2":
        return CLASSES[kind](tokenizer, **config)
    model = GPT2(GPT2Config(**config))
    model.tokenizer = tokenizer
    return model


def _store_vocabulary(tokenizer, name, folder):
    """Write the vocabulary that all files share, or raise ValueError where `name` has another one."""
    words = "\n".join(tokenizer.vocab).encode("utf8")
    if VOCABULARY in _hashes(folder) and _checked(VOCABULARY, folder).read_bytes() != words:
        raise ValueError(f"{name} has another vocabulary than the models in {folder.name}/: train it on the same reviews")
    _store(VOCABULARY, words, folder)


def save_weights(model, name, folder=FOLDER):
    """Store a model under `name` in half precision: a classifier with the vocabulary that all of them share, a GPT2
    (which needs a WordTokenizer as `.tokenizer`) with its own."""
    about = {"class": type(model).__name__}
    if isinstance(model, GPT2):
        about |= {"config": json.dumps(asdict(model.config)), "words": json.dumps(model.tokenizer.tokens)}
    else:
        _store_vocabulary(model.tokenizer, name, folder)
        about["config"] = json.dumps(model.config)
    weights = {key: value.half().contiguous() for key, value in model.state_dict().items()}
    _store(f"{name}.safetensors", save(weights, about), folder)


def write_card(name, what, facts, folder=FOLDER):
    """Write the card NAME.md of a model: what it is, `facts` as a table, {"Data": …, "Command": …}, the licence."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    (folder / f"{name}.md").write_text(
        f"# {name}\n\n{what}\n\n| | |\n| --- | --- |\n{rows}\n"
        "| Licence | BSD-3-Clause, as the rest of the code |\n", encoding="utf8")


def naive_bayes(tokenizer, counts):
    """Naive-Bayes log-odds (D,) of every word, the ground truth of the SLALOM paper (Leemann et al., Eq. 76).

    counts: two Counters of words, in negative and in positive documents. With Laplace smoothing,
    log-odds(w) = log (n₁(w)+1)/(N₁+D) − log (n₀(w)+1)/(N₀+D), N the total count of the vocabulary's words; special
    tokens get 0.
    """
    n = torch.tensor([[count[word] for word in tokenizer.vocab] for count in counts], dtype=torch.float64)    # (2, D)
    log_p = (n + 1).log() - (n.sum(1, keepdim=True) + n.shape[1]).log()
    special = torch.tensor([word in tokenizer.SPECIALS for word in tokenizer.vocab])
    return (log_p[1] - log_p[0]).masked_fill(special, 0.0)


def save_log_odds(tokenizer, log_odds, folder=FOLDER):
    """Store the Naive-Bayes log-odds (D,) of the shared vocabulary, in half precision."""
    _store_vocabulary(tokenizer, LOG_ODDS.removesuffix(".safetensors"), folder)
    _store(LOG_ODDS, save({"log_odds": log_odds.half()}), folder)


def naive_bayes_log_odds(folder=FOLDER):
    """{word: log-odds} of the shipped classifiers' vocabulary, counted on the 25,000 IMDB training reviews.

    >>> log_odds = naive_bayes_log_odds()
    >>> log_odds["wonderful"] > 0 > log_odds["waste"]
    True
    """
    words = _checked(VOCABULARY, folder).read_text(encoding="utf8").split("\n")
    with safe_open(_checked(LOG_ODDS, folder), "pt") as file:
        return dict(zip(words, file.get_tensor("log_odds").float().tolist()))
