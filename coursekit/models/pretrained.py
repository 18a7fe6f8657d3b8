"""GPT-2's weights as Hugging Face keeps them: find the files, hold them against our model, read one tensor at a time.

Nothing here needs `transformers`. What differs from our names and shapes: every weight of a linear layer is stored
transposed; a language model's names begin with "transformer."; its output layer is the embedding once more; old files
also carry the causal masks.
"""

import json
import os
import re
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

SIZES = {"vocab_size": "vocab_size", "T_max": "n_positions", "d_e": "n_embd", "K": "n_head", "L": "n_layer",
         "eps": "layer_norm_epsilon"}
NAMES = {"W_e": "wte.weight", "W_p": "wpe.weight", "norm.": "ln_f.", "blocks.": "h.", "norm_attention.": "ln_1.",
         "attention.qkv.": "attn.c_attn.", "attention.output.": "attn.c_proj.", "norm_mlp.": "ln_2.",
         "mlp.0.": "mlp.c_fc.", "mlp.2.": "mlp.c_proj."}
KINDS = {"model_type": ("gpt2",), "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
         "tie_word_embeddings": (True,), "scale_attn_weights": (True,),
         "scale_attn_by_inverse_layer_idx": (False,), "add_cross_attention": (False,)}
NOT_NEEDED = re.compile(r"lm_head\.weight|.*\.attn\.(masked_)?bias")


def find_gpt2(name):
    """The folder of a model on the Hugging Face hub, such as "gpt2": downloaded into the local cache once, and taken
    from there without a network."""
    try:
        from huggingface_hub import snapshot_download

        wanted = ["config.json", "model*.safetensors", "model.safetensors.index.json"]
        return Path(snapshot_download(name, allow_patterns=wanted))
    except ImportError as error:
        why, cause = "huggingface_hub, which could download it, is not installed", error
    except (OSError, ValueError) as error:                              # offline, no such name, no access
        why, cause = f"it cannot be downloaded ({type(error).__name__})", error
    raise FileNotFoundError(f"{name!r} is neither a folder nor in the Hugging Face cache, and {why}: download "
                            f"config.json and model.safetensors (gpt2: 548 MB) from https://huggingface.co/{name}"
                            "/tree/main into one folder, and pass that folder") from cause


def open_folder(folder):
    """(config, shapes, load) of a folder in Hugging Face's layout, the weights in one safetensors file or in shards."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.exists() or not index.exists():
        files = [single]
    else:
        files = [folder / shard for shard in sorted(set(json.loads(index.read_text())["weight_map"].values()))]
    for file in (folder / "config.json", *files):
        if not file.is_file():
            raise FileNotFoundError(f"{folder} has no {file.name}: a GPT-2's folder holds config.json and "
                                    "model.safetensors, as save_pretrained of transformers writes them")
    shapes, home = {}, {}
    for file in files:
        try:
            with safe_open(file, "pt") as tensors:
                for name in tensors.keys():
                    shapes[name], home[name] = tuple(tensors.get_slice(name).get_shape()), file
        except SafetensorError as error:
            raise ValueError(f"{file} is damaged ({error}): download it again") from error

    def load(name):                                                     # opened anew each time: what was read is let go
        with safe_open(home[name], "pt") as tensors:
            return tensors.get_tensor(name)

    return json.loads((folder / "config.json").read_text()), shapes, load


def open_gpt2(source):
    """(config dictionary, {name: shape}, load(name) -> tensor) of a transformers model, a folder or a hub name."""
    if isinstance(source, (str, os.PathLike)):
        folder = Path(source)
        return open_folder(folder if folder.is_dir() else find_gpt2(str(source)))
    if not hasattr(source, "config") or not hasattr(source, "state_dict"):
        raise TypeError(f"expected a transformers GPT-2, a folder or a name such as 'gpt2', "
                        f"got {type(source).__name__}")
    weights = source.state_dict()
    return source.config.to_dict(), {name: tuple(w.shape) for name, w in weights.items()}, weights.__getitem__


def gpt2_sizes(config):
    """GPT2Config's arguments from a Hugging Face config; ValueError if it describes something that GPT2 is not.

    >>> gpt2_sizes({"model_type": "gpt2", "n_embd": 12, "n_head": 3, "vocab_size": 50})
    {'vocab_size': 50, 'd_e': 12, 'K': 3}
    """
    odd = {key: config[key] for key, values in KINDS.items() if key in config and config[key] not in values}
    if config.get("n_inner") not in (None, 4 * config.get("n_embd", 768)):
        odd["n_inner"] = config["n_inner"]
    if odd:
        raise ValueError(f"this is not GPT-2's architecture: its config has {odd}, which coursekit's GPT2 does not do")
    return {ours: config[theirs] for ours, theirs in SIZES.items() if theirs in config}


def gpt2_weights(parameters, shapes, load):
    """Pairs (our name, tensor): every one of our `parameters` (a dictionary, by name), read one at a time as float32.

    Raises ValueError, before anything is read, unless the checkpoint has exactly these weights in these shapes.
    """
    def stored(name):
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        return name

    there = {name.removeprefix("transformer."): name for name in shapes}
    turned = re.compile(r".*\.c_\w+\.weight").fullmatch                # linear layers: theirs are (in, out)
    wanted = {stored(name): tuple(parameter.shape) for name, parameter in parameters.items()}
    wanted = {name: shape[::-1] if turned(name) else shape for name, shape in wanted.items()}
    for name in sorted(wanted.keys() | {name for name in there if not NOT_NEEDED.fullmatch(name)}):
        want, got = wanted.get(name, "nothing"), shapes.get(there.get(name), "nothing")
        if want != got:
            raise ValueError(f"these weights do not fit GPT-2 at the sizes of their config: {name} should be {want}, "
                             f"got {got}")
    for name in parameters:
        tensor = load(there[stored(name)]).detach().to("cpu", torch.float32)
        yield name, (tensor.T if turned(stored(name)) else tensor).clone(memory_format=torch.contiguous_format)
