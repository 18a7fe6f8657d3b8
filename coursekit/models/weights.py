"""The small trained models that ship with the course: load one by name, noticing a damaged file.

A model is NAME.safetensors (half precision; its class and sizes in the file's metadata) beside its card NAME.md; hashes
stand in SHA256SUMS, so that `sha256sum -c SHA256SUMS` checks them as well. The large classifiers share one file of
words; the words of the language model and of the small readers are in their metadata. Of a pretrained encoder only what
was added to it is here (`minilm.py`). `tools/store_weights.py` writes all of these.
"""

import hashlib
import json
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from .. import moved
from ..text import WordTokenizer
from .classifier import AttentionClassifier, TransformerClassifier
from .gpt2 import GPT2, GPT2Config
from .hub.minilm import merged_classifier

FOLDER = Path(__file__).parent.parent / "weights"
CLASSES = {kind.__name__: kind for kind in (AttentionClassifier, TransformerClassifier)}
VOCABULARY, LOG_ODDS = "imdb-vocabulary.txt", "imdb-naive-bayes.safetensors"


def known_hashes(folder):
    """The known files and their hashes: {"imdb-tame.safetensors": "ab12…"}."""
    sums = folder / "SHA256SUMS"
    return {name: digest for digest, name in map(str.split, sums.read_text().splitlines())} if sums.exists() else {}


def checked_path(name, folder):
    """The path of a known file, once its bytes have been seen to be the right ones."""
    path = folder / name
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != known_hashes(folder)[name]:
        raise ValueError(f"{name} is missing or damaged (its hash is not the one in SHA256SUMS): "
                         "install coursekit again")
    return path


def load_weights(name: str, folder=FOLDER) -> Any:
    """A trained model of the course by its name, ready to predict, in float32 and evaluation mode.

    `"imdb-tame"` and `"imdb-peaky"`: AttentionClassifier, with and without a penalty that keeps its attention flat;
    `"imdb-6layer"`: TransformerClassifier. All three score film reviews. `"dialogue-gpt"`: a GPT2 that writes
    dialogues, its WordTokenizer in `.tokenizer`; `"dialogue-sae"` and `"dialogue-sae-ends"`: a SparseAutoencoder each
    of its states, at all tokens and where a sentence ends. `"histogram-…"`, `"dyck-…"`: models of the toy worlds in
    `worlds`. `"readers-…"`: a list of three small AttentionClassifiers, of the seeds 0 to 2, of generated reviews.
    `"minilm-sentiment"`: a HuggingFaceClassifier of reviews and sentences, made from the pretrained encoder, whose
    package it needs. The cards beside the files say how they were made and how often they are right: of the course's
    own reviews, hard on purpose, on about half.
    Raises ValueError for an unknown name (it lists the known ones) and for a file whose hash is wrong;
    ModuleNotFoundError where the encoder's package is missing.

    >>> model = load_weights("imdb-tame")
    >>> (model.predict([["a", "wonderful", "film"], ["an", "awful", "film"]]) > 0).tolist()
    [True, False]
    """
    names = [file.removesuffix(".safetensors") for file in known_hashes(folder) if file not in (VOCABULARY, LOG_ODDS)]
    if name not in names:
        raise ValueError(f"no weights named {name!r}: choose one of {', '.join(map(repr, names))}")
    with safe_open(checked_path(f"{name}.safetensors", folder), "pt") as file:
        about = file.metadata()
        weights = {key: file.get_tensor(key).float() for key in file.keys()}
    if about["class"] == "HuggingFaceClassifier":
        return merged_classifier(weights, **json.loads(about["config"]))
    if "module" in about:                                       # a toy world's model or an autoencoder: no words
        module = import_module(moved.MODULES.get(about["module"], about["module"]))
        return _restored(getattr(module, about["class"]), json.loads(about["config"]), weights)
    words = about.get("words")                                  # its own, or those that the large classifiers share
    words = json.loads(words) if words else checked_path(VOCABULARY, folder).read_text("utf8").split("\n")
    build, config = partial(_build, about["class"], WordTokenizer(words)), json.loads(about["config"])
    if "models" in about:                                       # one for each seed
        return [_restored(build, config, {key.partition(".")[2]: w for key, w in weights.items() if key[0] == str(i)})
                for i in range(int(about["models"]))]
    return _restored(build, config, weights)


def _restored(build, config, weights):
    """The model that build(**config) makes, with these weights."""
    with torch.random.fork_rng(devices=[]):                    # building a model draws numbers: not from the caller's
        model = build(**config)
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)


def _build(kind, tokenizer, **config):
    """An untrained model of a class by its name, with its tokenizer."""
    if kind != "GPT2":
        return CLASSES[kind](tokenizer, **config)
    model = GPT2(GPT2Config(**config))
    model.tokenizer = tokenizer
    return model


def naive_bayes_log_odds() -> dict[str, float]:
    """{word: log-odds} of the shipped classifiers' vocabulary, counted on the 25,000 IMDB training reviews.

    >>> log_odds = naive_bayes_log_odds()
    >>> log_odds["wonderful"] > 0 > log_odds["waste"]
    True
    """
    words = checked_path(VOCABULARY, FOLDER).read_text(encoding="utf8").split("\n")
    with safe_open(checked_path(LOG_ODDS, FOLDER), "pt") as file:
        return dict(zip(words, file.get_tensor("log_odds").float().tolist(), strict=True))
