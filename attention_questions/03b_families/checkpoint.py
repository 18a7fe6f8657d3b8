"""Checks of assignment 03b: the weights of a GPT-2 checkpoint, under the course's names."""

import torch

from attention_questions.gpt2_weights import drawn_weights, n_layers
from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same
from coursekit.models.pretrained import NAMES

__all__ = ["as_stored", "from_checkpoint"]


def as_stored(weights, prefix="", masks=True):
    """The weights as a checkpoint keeps them: other names, linear layers turned; masks, and the tied output layer."""
    stored = {_stored_name(name): w.T if w.dim() == 2 and "blocks" in name else w for name, w in weights.items()}
    T_max = len(weights["W_p"])
    for l in range(n_layers(weights)) if masks else ():
        stored[f"h.{l}.attn.bias"] = torch.ones(1, 1, T_max, T_max).tril()
        stored[f"h.{l}.attn.masked_bias"] = torch.tensor(-1e4)
    stored = {prefix + name: w.contiguous() for name, w in stored.items()}
    return stored | ({"lm_head.weight": weights["W_e"]} if prefix else {})


def _stored_name(name):
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name


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


PIECES = {"wte.weight": "W_e", "wpe.weight": "W_p", "ln_f": "norm", "h.": "blocks.", "ln_1": "norm_attention",
          "ln_2": "norm_mlp", "attn.c_attn": "attention.qkv", "attn.c_proj": "attention.output", "mlp.c_fc": "mlp.0",
          "mlp.c_proj": "mlp.2"}
MASKS = (".attn.bias", ".attn.masked_bias")


def _linear(name, w):
    return ".c_" in name and name.endswith("weight")


@question((2, 2), {"one layer": (as_stored(_counted(5, 4, 2, 1), masks=False),),
                   "two layers, with masks": (as_stored(_counted(6, 3, 4, 2)),),
                   "a whole language model": (as_stored(_counted(7, 3, 2, 2), prefix="transformer."),),
                   "eleven layers": (as_stored(_counted(3, 2, 2, 11), masks=False),)},
          forbidden=("coursekit.models.pretrained.gpt2_weights", "coursekit.models.GPT2.from_huggingface"),
          instead="a loop over the entries",
          otherwise="The names are not those of the table: compare them letter by letter, and each dot.",
          hints={"KeyError": "There is no entry of that name. Is it spelled as in the table, and has this model that "
                             "many layers?"})
def from_checkpoint(stored, *, left_out=lambda name: name.endswith(("lm_head.weight", *MASKS)), prefix="transformer.",
                    pieces=PIECES, turned=_linear, turn=torch.t):
    """from_checkpoint(stored): {the course's name: tensor} of a checkpoint's {name: tensor}."""
    weights = {}
    for name, w in stored.items():
        if not left_out(name):
            new = name.removeprefix(prefix)
            for theirs, ours in pieces.items():
                new = new.replace(theirs, ours)
            weights[new] = turn(w) if turned(name, w) else w
    return weights


KEPT = ("Old files also keep the causal masks, h.0.attn.bias and h.0.attn.masked_bias: constants, not weights. Leave "
        "them out.")
LOST = ("Attention's own biases were lost with the masks: \"h.0.attn.c_attn.bias\" ends in \"attn.bias\", too. A "
        "mask's name ends in \".attn.bias\", with a dot in front, or in \".masked_bias\".")
TWO_DIGITS = "Layer 10 is lost: the number of a layer may have two digits."

from_checkpoint.mistakes(
    ("The embeddings were transposed. They are tables with a row for each token and each position, as here: only the "
     "linear layers of the blocks are stored the other way round.", dict(turned=lambda name, w: w.dim() == 2)),
    ("The linear layers are stored as (in, out), and here a linear layer is (out, in): transpose them.",
     dict(turned=lambda name, w: False)),
    ("It is square, so that its shape fits either way: nothing would complain, and the model would talk nonsense.",
     dict(turned=lambda name, w: _linear(name, w) and w.shape[0] != w.shape[1])),
    ("A transposed matrix is `w.T`. A reshape keeps the order of the numbers, and mixes them up.",
     dict(turn=lambda w: w.reshape(w.shape[::-1]))),
    ("A checkpoint of a whole language model has \"transformer.\" in front of its names: take it off. "
     "(`name.removeprefix(…)` does nothing where it is not.)", dict(prefix="")),
    ("lm_head.weight is the embedding once more (the two are tied): leave it out, like the masks.",
     dict(left_out=lambda name: name.endswith(MASKS))),
    *((KEPT, dict(left_out=lambda name, ends=ends: name.endswith(ends)))
      for ends in ("lm_head.weight", ("lm_head.weight", ".attn.bias"))),
    (LOST, dict(left_out=lambda name: name == "lm_head.weight" or "attn" in name and name.endswith("bias"))),
    (LOST, dict(left_out=lambda name: name.endswith(("lm_head.weight", "attn.bias", "masked_bias")))),
    ("There is an h in \"weight\", too: replace \"h.\", with its dot.",
     dict(pieces={("h" if piece == "h." else piece): ours.rstrip(".") for piece, ours in PIECES.items()})),
    (TWO_DIGITS, dict(left_out=lambda name: "h.10." in name or name.endswith(("lm_head.weight", *MASKS)))),
    ("Only the first layer is there. How many there are, the names say.",
     dict(left_out=lambda name: "h." in name and "h.0." not in name or name.endswith(("lm_head.weight", *MASKS)))))


@from_checkpoint.suspect
def _(got, stored):
    if kind(got) != "a dictionary":
        return None
    right, names = from_checkpoint.reference(stored), [str(name) for name in got]
    missing, extra = [name for name in right if name not in names], [name for name in names if name not in right]
    if missing and all("blocks.10." in name for name in missing):
        return TWO_DIGITS
    if len(names) == 1:
        return "There is one entry. Does `return` stand inside the loop?"
    if any(".output" in name and "mlp" in name or ".mlp.2" in name and "att" in name for name in extra):
        return ("Two layers are called c_proj, attention's and the MLP's, and each has a name of its own here: replace "
                "\"attn.c_proj\" and \"mlp.c_proj\", not \"c_proj\" alone.")
    if extra or missing:
        return None
    off = next(name for name in right if not same(got[name], right[name]))
    if kind(got[off]) == "a tensor" and any(same(got[off], value) for name, value in right.items() if name != off):
        return f"{off} holds the numbers of another weight. Is it the right row of the table?"
    return f"Only names and axes change. Look at {off}: is it turned, as the linear layers are, and a tensor still?"
