"""Checks of assignment 03b: the weights of a GPT-2 checkpoint, under the course's names."""

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import Question, kind, np, same, torch
from coursekit.models.pretrained import NAMES

from . import solution


def as_stored(weights, prefix="", masks=True):
    """The weights as a checkpoint keeps them: other names, linear layers turned; masks, and the tied output layer."""
    stored = {_stored_name(name): w.T if w.dim() == 2 and "blocks" in name else w for name, w in weights.items()}
    T_max = len(weights["W_p"])
    for l in range(sum(name.endswith("qkv.weight") for name in weights)) if masks else ():
        stored[f"h.{l}.attn.bias"] = torch.ones(1, 1, T_max, T_max).tril()
        stored[f"h.{l}.attn.masked_bias"] = torch.tensor(-1e4)
    stored = {prefix + name: w.contiguous() for name, w in stored.items()}
    return stored | ({"lm_head.weight": weights["W_e"]} if prefix else {})


def _stored_name(name):
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name


def _counted(*sizes):
    """Weights 0, 1, 2, … in the order of their names, so that one can see where each number went."""
    weights, start = drawn_weights(*sizes, np.random.default_rng(0)), 0
    for name, w in weights.items():
        weights[name] = torch.arange(start, start + w.numel()).reshape(w.shape).float()
        start += w.numel()
    return weights


from_checkpoint = Question(solution.from_checkpoint, (2, 2), {
    "one layer": (as_stored(_counted(5, 4, 2, 1), masks=False),),
    "two layers, with masks": (as_stored(_counted(6, 3, 4, 2)),),
    "a whole language model": (as_stored(_counted(7, 3, 2, 2), prefix="transformer."),),
    "eleven layers": (as_stored(_counted(3, 2, 2, 11), masks=False),)},
    forbidden=("coursekit.models.pretrained.gpt2_weights", "coursekit.models.GPT2.from_huggingface"),
    instead="a loop over the entries",
    otherwise="The names are not those of the table: compare them letter by letter, and each dot.",
    hints={"KeyError": "There is no entry of that name. Is it spelled as in the table, and has this model that many "
                       "layers?"})
MASKS = '(".attn.bias", ".attn.masked_bias")'
KEPT = ("Old files also keep the causal masks, h.0.attn.bias and h.0.attn.masked_bias: constants, not weights. Leave "
        "them out.")
LOST = ("Attention's own biases were lost with the masks: \"h.0.attn.c_attn.bias\" ends in \"attn.bias\", too. A "
        "mask's name ends in \".attn.bias\", with a dot in front, or in \".masked_bias\".")
TWO_DIGITS = "Layer 10 is lost: the number of a layer may have two digits."
from_checkpoint.mistakes(
    ("The embeddings were transposed. They are tables with a row for each token and each position, as here: only the "
     "linear layers of the blocks are stored the other way round.", "if linear → if tensor.dim() == 2"),
    ("The linear layers are stored as (in, out), and here a linear layer is (out, in): transpose them.",
     "tensor.T if linear else → "),
    ("It is square, so that its shape fits either way: nothing would complain, and the model would talk nonsense.",
     "if linear → if linear and tensor.shape[0] != tensor.shape[1]"),
    ("A transposed matrix is `w.T`. A reshape keeps the order of the numbers, and mixes them up.",
     "tensor.T → tensor.reshape(tensor.shape[::-1])"),
    ("A checkpoint of a whole language model has \"transformer.\" in front of its names: take it off. "
     "(`name.removeprefix(…)` does nothing where it is not.)", '.removeprefix("transformer.") → '),
    ("lm_head.weight is the embedding once more (the two are tied): leave it out, like the masks.",
     'name == "lm_head.weight" or → '),
    *((KEPT, f"{MASKS} → {left_out}") for left_out in ("()", '".attn.bias"')),
    *((LOST, f"name.endswith({MASKS}) → {left_out}") for left_out in (
        '"attn" in name and name.endswith("bias")', 'name.endswith(("attn.bias", "masked_bias"))')),
    ("There is an h in \"weight\", too: replace \"h.\", with its dot.", '"h.": "blocks." → "h": "blocks"'),
    (TWO_DIGITS, 'if name == → if "h.10." in name or name =='),
    ("Only the first layer is there. How many there are, the names say.",
     'if name == → if "h." in name and "h.0." not in name or name =='))


@from_checkpoint.suspect
def _(got, stored):
    if kind(got) != "a dictionary":
        return
    right, names = solution.from_checkpoint(stored), [str(name) for name in got]
    missing, extra = [name for name in right if name not in names], [name for name in names if name not in right]
    if missing and all("blocks.10." in name for name in missing):
        yield TWO_DIGITS
    if len(names) == 1:
        yield "There is one entry. Does `return` stand inside the loop?"
    if any(".output" in name and "mlp" in name or ".mlp.2" in name and "att" in name for name in extra):
        yield ("Two layers are called c_proj, attention's and the MLP's, and each has a name of its own here: replace "
               "\"attn.c_proj\" and \"mlp.c_proj\", not \"c_proj\" alone.")
    if extra or missing:
        return
    off = next(name for name in right if not same(got[name], right[name]))
    if kind(got[off]) == "a tensor" and any(same(got[off], value) for name, value in right.items() if name != off):
        yield f"{off} holds the numbers of another weight. Is it the right row of the table?"
    yield f"Only names and axes change. Look at {off}: is it turned, as the linear layers are, and a tensor still?"
