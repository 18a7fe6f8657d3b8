"""Checks of assignment 03: the weights of a GPT-2 checkpoint, under the course's names."""

import math

import torch

from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.models import GPT2, GPT2Config
from coursekit.models.pretrained import NAMES

__all__ = ["NO_ENTRY", "drawn_weights", "as_stored", "from_checkpoint"]


def drawn_weights(D, T_max, d_e, L, rng):
    """Random weights of a GPT-2 of these sizes, under the course's names. rng: a NumPy generator.

    What blocks add is small beside the embeddings: otherwise many layers make much of rounding, and a right answer that
    adds in another order could be refused.
    """
    with torch.device("meta"):
        shapes = {name: tuple(w.shape) for name, w in GPT2(GPT2Config(D, T_max, d_e, 1, L)).state_dict().items()}
    added = ("output.weight", "mlp.2.weight")

    def drawn(name, shape):
        deviation = 1.0 if name in ("W_e", "W_p") else 0.5 / math.sqrt(L) if name.endswith(added) else 0.5
        return torch.tensor(rng.normal(1.0 if "norm" in name and "weight" in name else 0.0, deviation, shape)).float()

    return {name: drawn(name, shape) for name, shape in shapes.items()}


NO_ENTRY = "There is no entry of that name. Is it spelled as in the table, and has this model that many layers?"


def _stored_name(name):
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name


def as_stored(weights, prefix="", masks=True):
    """The weights as a checkpoint keeps them: other names, linear layers turned; masks, and the tied output layer."""
    stored = {_stored_name(name): w.T if w.dim() == 2 and "blocks" in name else w for name, w in weights.items()}
    T_max = len(weights["W_p"])
    if masks:
        for l in range(sum(name.endswith("qkv.weight") for name in weights)):
            stored[f"h.{l}.attn.bias"] = torch.ones(1, 1, T_max, T_max).tril()
            stored[f"h.{l}.attn.masked_bias"] = torch.tensor(-1e4)
    stored = {prefix + name: w.contiguous() for name, w in stored.items()}
    return stored | ({"lm_head.weight": weights["W_e"]} if prefix else {})


def _counted(D, T_max, d_e, L):
    """Weights 0, 1, 2, … in the order of their names, so that one can see where each number went."""
    weights, start = {}, 0
    for name, w in drawn_weights(D, T_max, d_e, L, _Zeros()).items():
        weights[name] = torch.arange(start, start + w.numel()).reshape(w.shape).float()
        start += w.numel()
    return weights


class _Zeros:
    """In place of a generator."""

    def normal(self, mean, sd, shape):
        return torch.zeros(shape).numpy()


@question((2, 2), {"one layer": (as_stored(_counted(5, 4, 2, 1), masks=False),),
                   "two layers, with masks": (as_stored(_counted(6, 3, 4, 2)),),
                   "a whole language model": (as_stored(_counted(7, 3, 2, 2), prefix="transformer."),),
                   "eleven layers": (as_stored(_counted(3, 2, 2, 11), masks=False),)},
          forbidden=("coursekit.models.pretrained.gpt2_weights", "coursekit.models.GPT2.from_huggingface"),
          instead="a loop over the entries", hints={"KeyError": NO_ENTRY})
def from_checkpoint(stored):
    """from_checkpoint(stored): {the course's name: tensor} of a checkpoint's {name: tensor}."""
    there = {name.removeprefix("transformer."): w for name, w in stored.items()}
    L = sum(name.endswith(".ln_1.weight") for name in there)
    with torch.device("meta"):
        D_and_d, T_max = there["wte.weight"].shape, len(there["wpe.weight"])
        names = list(GPT2(GPT2Config(D_and_d[0], T_max, D_and_d[1], 1, L)).state_dict())
    found = {name: there[_stored_name(name)] for name in names}
    return {name: w.T if w.dim() == 2 and "blocks" in name else w for name, w in found.items()}


@from_checkpoint.suspect
def _(got, stored):
    if kind(got) != "a dictionary":
        return None
    right, prefixed = from_checkpoint.__wrapped__(stored), any(name.startswith("transformer.") for name in stored)
    names = [str(name) for name in got]
    extra, missing = [name for name in names if name not in right], [name for name in right if name not in names]
    if prefixed and any("transformer." in name for name in names):
        return ("A checkpoint of a whole language model has \"transformer.\" in front of its names: take it off. "
                "(`name.removeprefix(…)` does nothing where it is not.)")
    if any("lm_head" in name for name in names):
        return "lm_head.weight is the embedding once more (the two are tied): leave it out, like the masks."
    if any(name.endswith("masked_bias") or got[name].dim() == 4 for name in names if kind(got[name]) == "a tensor"):
        return ("Old files also keep the causal masks, h.0.attn.bias and h.0.attn.masked_bias: constants, not weights. "
                "Leave them out.")
    if missing and all(".attention." in name and name.endswith("bias") for name in missing):
        return ("Attention's own biases were lost with the masks: \"h.0.attn.c_attn.bias\" ends in \"attn.bias\", too. "
                "A mask's name ends in \".attn.bias\", with a dot in front, or in \".masked_bias\".")
    if any("blocks" in name[1:] for name in extra):
        return "There is an h in \"weight\", too: replace \"h.\", with its dot."
    if not names:
        return "The dictionary is empty."
    if len(missing) == len(right) - 1 or len(names) == 1:
        return "There is one entry. Does `return` stand inside the loop?"
    if missing and all("1." in name and "blocks.1." in name for name in missing):
        return "Only the first layer is there. How many there are, the names say."
    if missing and all("blocks.10." in name for name in missing):
        return "Layer 10 is lost: the number of a layer may have two digits."
    if any(".output" in name and "mlp" in name or ".mlp.2" in name and "att" in name for name in extra):
        return ("Two layers are called c_proj, attention's and the MLP's, and each has a name of its own here: replace "
                "\"attn.c_proj\" and \"mlp.c_proj\", not \"c_proj\" alone.")
    if extra or missing:
        return "The names are not those of the table: compare them letter by letter, and each dot."
    return _turned(got, right, stored)


def _turned(got, right, stored):
    """What was transposed that should not be, or the other way round."""
    off = [name for name in right if not same(got[name], right[name])]
    turned = [name for name in off if kind(got[name]) == "a tensor" and right[name].dim() == 2
              and same(got[name], right[name].T)]
    linear = [name for name in right if right[name].dim() == 2 and "blocks" in name]
    if "W_e" in turned or "W_p" in turned:
        return ("The embeddings were transposed. They are tables with a row for each token and each position, as here: "
                "only the linear layers of the blocks are stored the other way round.")
    if turned == linear:
        return "The linear layers are stored as (in, out), and here a linear layer is (out, in): transpose them."
    if off != turned:
        other = next(name for name in off if name not in turned)
        if any(same(got[other], value) for value in (*stored.values(), *right.values())):
            return f"{other} holds the numbers of another weight. Is it the right row of the table?"
        if kind(got[other]) == "a NumPy array":
            return f"{other} is a NumPy array. The values are tensors, and stay tensors."
        if (kind(got[other]) != "a tensor" or got[other].dtype != right[other].dtype or other not in linear
                or tuple(got[other].shape) != tuple(right[other].shape)
                or not same(got[other].flatten().sort().values, right[other].flatten().sort().values)):
            return f"Only names and axes change: {other} should be the tensor that was stored."
        return "A transposed matrix is `w.T`. A reshape keeps the order of the numbers, and mixes them up."
    square = [name for name in linear if right[name].shape[0] == right[name].shape[1]]
    if turned and set(turned) <= set(square):
        return (f"{turned[0]} was not transposed. It is square, so that its shape fits either way: nothing would "
                "complain, and the model would talk nonsense.")
    return f"Was {turned[0]} transposed, as the linear layers have to be? All four of a block are."
