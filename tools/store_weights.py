"""Writes the small trained models that ship with the course, as `coursekit.models.weights` reads them, with cards."""

import hashlib
import json
import os
from dataclasses import asdict

from safetensors.torch import save

from coursekit.models import GPT2
from coursekit.models.weights import FOLDER, LOG_ODDS, VOCABULARY, checked_path, known_hashes


def _store(name, data, folder):
    """Write a file whole or not at all, and note its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    hashes = known_hashes(folder) | {name: hashlib.sha256(data).hexdigest()}
    sums = "".join(f"{digest}  {known}\n" for known, digest in sorted(hashes.items())).encode()
    for target, content in ((name, data), ("SHA256SUMS", sums)):
        (folder / f"{target}.part").write_bytes(content)
        os.replace(folder / f"{target}.part", folder / target)


def _store_vocabulary(tokenizer, name, folder):
    """Write the vocabulary that all files share, or raise ValueError where `name` has another one."""
    words = "\n".join(tokenizer.vocab).encode("utf8")
    if VOCABULARY in known_hashes(folder) and checked_path(VOCABULARY, folder).read_bytes() != words:
        raise ValueError(f"{name} has another vocabulary than the models in {folder.name}/: "
                         "train it on the same reviews")
    _store(VOCABULARY, words, folder)


def save_weights(model, name, folder=FOLDER):
    """Store a model under `name` in half precision: a classifier with the vocabulary that all of them share, a GPT2
    (which needs a WordTokenizer as `.tokenizer`) with its own, a toy world's model without."""
    about = {"class": type(model).__name__}
    if isinstance(model, GPT2):
        about |= {"config": json.dumps(asdict(model.config)), "words": json.dumps(model.tokenizer.tokens)}
    elif not hasattr(model, "tokenizer"):
        about |= {"module": type(model).__module__, "config": json.dumps(model.config)}
    else:
        _store_vocabulary(model.tokenizer, name, folder)
        about["config"] = json.dumps(model.config)
    weights = {key: value.half().contiguous() for key, value in model.state_dict().items()}
    _store(f"{name}.safetensors", save(weights, about), folder)


def save_readers(models, name, folder=FOLDER):
    """Store classifiers of one class, sizes and vocabulary together under `name`, with their own words."""
    about = {"class": type(models[0]).__name__, "config": json.dumps(models[0].config), "models": str(len(models)),
             "words": json.dumps(models[0].tokenizer.tokens)}
    weights = {f"{i}.{key}": value.half().contiguous() for i, model in enumerate(models)
               for key, value in model.state_dict().items()}
    _store(f"{name}.safetensors", save(weights, about), folder)


def save_adapters(trained, T_max, name, folder=FOLDER):
    """Store what was trained on top of the pretrained encoder, {name: tensor}, under `name` in half precision."""
    about = {"class": "HuggingFaceClassifier", "config": json.dumps({"T_max": T_max})}
    weights = {key: value.detach().half().contiguous() for key, value in trained.items()}
    _store(f"{name}.safetensors", save(weights, about), folder)


def write_card(name, what, facts, folder=FOLDER):
    """Write the card NAME.md of a model: what it is, `facts` as a table, {"Data": …, "Command": …}, the licence."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    (folder / f"{name}.md").write_text(
        f"# {name}\n\n{what}\n\n| | |\n| --- | --- |\n{rows}\n"
        "| Licence | BSD-3-Clause, as the rest of the code |\n", encoding="utf8")


def save_log_odds(tokenizer, log_odds, folder=FOLDER):
    """Store the Naive-Bayes log-odds (D,) of the shared vocabulary, in half precision."""
    _store_vocabulary(tokenizer, LOG_ODDS.removesuffix(".safetensors"), folder)
    _store(LOG_ODDS, save({"log_odds": log_odds.half()}), folder)
