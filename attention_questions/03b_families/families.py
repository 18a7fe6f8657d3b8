"""Checks of assignment 03b: the weights of a GPT-2 checkpoint under the course's names, who may see what in the three
families, what answering at once costs, and an experiment of one's own."""

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import Question, functools, kind, np, same, torch
from coursegrade.kit.experiment import experiment
from coursekit.models.pretrained import NAMES

from . import solution

# -- from_checkpoint -------------------------------------------------------------------------------------------------

def as_stored(weights, prefix="", masks=True):
    """The weights as a checkpoint keeps them: other names, linear layers turned; masks, and the tied output layer."""
    stored = {functools.reduce(lambda name, pair: name.replace(*pair), NAMES.items(), name):
              w.T if w.dim() == 2 and "blocks" in name else w for name, w in weights.items()}
    T_max = len(weights["W_p"])
    for l in range(sum(name.endswith("qkv.weight") for name in weights)) if masks else ():
        stored[f"h.{l}.attn.bias"] = torch.ones(1, 1, T_max, T_max).tril()
        stored[f"h.{l}.attn.masked_bias"] = torch.tensor(-1e4)
    stored = {prefix + name: w.contiguous() for name, w in stored.items()}
    return stored | ({"lm_head.weight": weights["W_e"]} if prefix else {})


def _counted(*sizes):
    """Weights 0, 1, 2, … in the order of their names, so that one can see where each number went."""
    weights, start = drawn_weights(*sizes, np.random.default_rng(0)), 0
    for name, w in weights.items():
        weights[name] = torch.arange(start, start + w.numel()).reshape(w.shape).float()
        start += w.numel()
    return weights


from_checkpoint = Question(solution.from_checkpoint, (1, 1), {
    "one layer": (as_stored(_counted(5, 4, 2, 1), masks=False),),
    "two layers, with masks": (as_stored(_counted(6, 3, 4, 2)),),
    "a whole language model": (as_stored(_counted(7, 3, 2, 2), prefix="transformer."),),
    "eleven layers": (as_stored(_counted(3, 2, 2, 11), masks=False),)},
    forbidden=("coursekit.models.pretrained.gpt2_weights", "coursekit.models.GPT2.from_huggingface"),
    instead="a loop over the entries",
    otherwise="The names are not those of the table: compare them letter by letter, and each dot.",
    hints={"KeyError": "There is no entry of that name. Is it spelled as in the table, and has this model that many "
                       "layers?"},
    why="All three decisions are made from a name alone, so the order of the entries and the number of layers do not "
        "matter.\nA dictionary of replacements keeps the table of the statement in one place.")
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
    right, names = solution.from_checkpoint(stored), [str(name) for name in dict.keys(got)]
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


# -- may_see ---------------------------------------------------------------------------------------------------------

def _ids(*ids):
    return torch.tensor(ids, dtype=torch.long)


may_see = Question(solution.may_see, (1, 2), {
    "encoder-only": ("encoder-only", _ids(5, 6), _ids(7, 8)), "decoder-only": ("decoder-only", _ids(5, 6), _ids(7, 8)),
    "encoder-decoder": ("encoder-decoder", _ids(5, 6), _ids(7, 8, 9)),
    "encoder-only, with padding": ("encoder-only", _ids(5, 6, 0), _ids(7)),
    "decoder-only, with padding in front": ("decoder-only", _ids(0, 5, 6), _ids(7, 8)),
    "encoder-decoder, with padding": ("encoder-decoder", _ids(5, 6, 0), _ids(7, 8, 0)),
    "nothing written yet": ("encoder-decoder", _ids(5, 6), _ids())},
    returns="(S + T, S + T)",
    otherwise="Take one family, and two tokens of each text: for each row ask which of the four this token may see. "
              "Padding comes last: nobody sees it, and it sees itself alone.",
    hints={"shapes": "The table has a row and a column for each of the S + T tokens, the source's first.",
           "UnboundLocalError": "No branch was taken for this family. Is its name spelled as in the statement, with a "
                                "hyphen?"},
    why="Tokens are numbered once, and each rule is a comparison of two numbers: no loop, and nothing to count by "
        "hand.\nPadding comes last, in one line for all families, so that no family can forget it.",
    promises={"both ids, 0 is padding": lambda family, source, target: min([*source, *target, 0]) == 0})
SOURCE_OR_PAST, MASKED = "(whom < S) | (who >= S) & (whom <= who)", "see & real & real[:, None] | torch.diag(~real)"
PAST, OWN_PAST = "see = whom <= who → see = whom < who", "(whom <= → (whom <"
may_see.mistakes(
    *(("A token sees itself, too, in every family.", *edits) for edits in (
        (PAST, OWN_PAST), (PAST,), (OWN_PAST,))),
    ("Rows and columns have changed places: a row says whom this token sees.", "see & real → see.T & real"),
    ("The encoder sees all of the source: what comes later in it, too. Only the target has a past.",
     f"{SOURCE_OR_PAST} → whom <= who"),
    ("The source sees the target here. It is read before anything is written.",
     f"{SOURCE_OR_PAST} → (whom < S) | (who < S) | (whom <= who)"),
    ("The target does not see the source here: that is what cross-attention is for.",
     f"{SOURCE_OR_PAST} → (whom < S) & (who < S) | (whom >= S) & (who >= S) & (whom <= who)"),
    ("The target sees its own future here. Of its own text, it sees itself and the past.",
     f"{SOURCE_OR_PAST} → (whom < S) | (who >= S)"),
    ("The families have changed places: encoder-only sees everything, decoder-only itself and the past.",
     "decoder-only → encoder-only"),
    *(("Padding is seen here. Nobody should: it is no word.", f"{MASKED} → {masked}")
      for masked in ("see", "see & real[:, None]")),
    ("Nobody sees padding here, but padding still sees words. It should see itself alone.", f"{MASKED} → see & real"),
    ("Padding sees other padding here. It should see itself alone.", f"{MASKED} → see & (real == real[:, None])"),
    ("The target may have padding, too.", "ids != 0 → (ids != 0) | (whom >= S)"),
    ("The source may have padding, too.", "ids != 0 → (ids != 0) | (whom < S)"),
    ("Padding may stand in front, too: look at each id. A count of them says nothing of their places.",
     "ids != 0 → torch.cat([torch.arange(len(part)) < (part != 0).sum() for part in (source, target)])"),
    *(("A row of padding sees itself here, as asked, but other tokens too.", f"{MASKED} → {masked}")
      for masked in ("see & real | torch.diag(~real)", "see & real | ~real[:, None]")),
    ("Source and target are one text for the encoder-only model: each sees the other.",
     "torch.ones(len(ids), len(ids), dtype=torch.bool) → (whom < S) == (who < S)"),
    ("A row of padding sees nothing at all: its softmax would be 0/0. Let it see itself.", " | torch.diag(~real) → "),
    ("These are the pairs that may *not* see each other.", f"{MASKED} → ~({MASKED})"))


@may_see.suspect
def _(got, family, source, target):
    if kind(got) != "a tensor" or got.dtype != torch.bool:
        yield "True and False are asked for, a tensor of booleans: a comparison gives one, and .bool() makes one."


# -- at_once ---------------------------------------------------------------------------------------------------------

EXAMPLE = torch.tensor([[0.5, 0.25], [0.0, 0.25]]).double()
UNEQUAL = torch.tensor([[0.4, 0.1, 0.0], [0.0, 0.2, 0.3]]).double()
APART = torch.outer(torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.25, 0.25])).double()
UNUSED = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.25, 0.75]]).double()

at_once = Question(solution.at_once, (1, 2), {
    "the example": (EXAMPLE,), "two and three words": (UNEQUAL,), "two that know nothing": (APART,),
    "words that never come": (UNUSED,), "single precision": (UNEQUAL.float(),)},
    returns="q (A, N), at once, in turn",
    otherwise="q is made of the two words' own distributions, the sums of rows and of columns. Each loss is the mean "
              "of −log of what the model gave to the pair that came, and pairs come with probability p.",
    hints={"shapes": "Row sums are (A,), column sums (N,), and their products, each with each, (A, N): torch.outer."},
    why="Both losses are taken over the pairs that come, p > 0, so that 0 · log 0 never arises.\nIn turn, the product "
        "rule gives back p itself: nothing has to be divided.",
    promises={"holds the true probability of every pair": lambda p: p.min() >= 0 and abs(p.sum() - 1) < 1e-5})
BEST = "torch.outer(p.sum(1), p.sum(0))"
AT_ONCE, IN_TURN = "-(p[there] * q[there].log()).sum()", "-(p[there] * p[there].log()).sum()"
FIRST, SECOND = (f"-torch.special.xlogy(p.sum({axis}), p.sum({axis})).sum()" for axis in (1, 0))   # of one word alone
at_once.mistakes(
    ("The two losses have changed places: first that of answering at once, then that of answering in turn.",
     f"{AT_ONCE}, {IN_TURN} → {IN_TURN}, {AT_ONCE}"),
    ("At once the model gives q to a pair, not p: the loss is the mean of −log q.", f"{AT_ONCE} → {IN_TURN}"),
    *(("At once a model draws pairs that never come, too, and q says how often: it is not 0.", f"{BEST} → {zeroed}")
      for zeroed in (f"{BEST} * (p > 0)", f"{BEST} * (p > 0) / ({BEST} * (p > 0)).sum()")),
    ("In turn the second word is answered with the first in view: what such a model gives to a pair is not q.",
     f"{IN_TURN} → {AT_ONCE}"),
    ("That is the price, at once minus in turn (the KL divergence of p and q), and not the loss itself.",
     f"{AT_ONCE} → {AT_ONCE} - {IN_TURN}"),
    ("That is the price. Asked for is the loss of answering in turn.", f"{IN_TURN} → {AT_ONCE} - {IN_TURN}"),
    *(("The probabilities p weigh the pairs already: a sum over the table is their mean.",
       f"{AT_ONCE}, {IN_TURN} → {AT_ONCE} / {over}, {IN_TURN} / {over}") for over in ("there.sum()", "p.numel()")),
    ("q holds p itself. A model that answers both places at once has one distribution for each place, and draws both "
     "apart.", f"{BEST} → p"),
    ("That is a model that knows nothing. Each place has a distribution of its own: sums of p along an axis.",
     f"{BEST} → torch.full_like(p, 1 / p.numel())"),
    ("0 · log 0 counts as 0 here: a pair that never comes costs nothing. Python's own is nan. (torch.special.xlogy, or "
     "only the entries above 0.)", "p[there].log() → (p[there] + 1e-3).log()"),         # lest there be a log 0
    ("The signs are missing: a loss is −log.", "-(p[there] * q → (p[there] * q", "-(p[there] * p → (p[there] * p"),
    ("That is in bits. The natural logarithm is asked for.", "q[there].log() → q[there].log2()",
     "p[there].log() → p[there].log2()"),
    ("That is the loss per word. Asked for is that of the pair.",
     f"{AT_ONCE}, {IN_TURN} → {AT_ONCE} / 2, {IN_TURN} / 2"),
    ("The losses are means over pairs *as they come*, with the probabilities p: each −log is weighed by p.",
     f"{AT_ONCE} → -q.clamp(min=1e-9).log().mean()", f"{IN_TURN} → -p.clamp(min=1e-9).log().mean()"),
    ("In turn: the first word by its own distribution, then the second *given the first*. Together that is −log of "
     "p[a, n].", f"{IN_TURN} → {SECOND}"),
    *(("That is the loss of one word alone, given the other. The other costs something, too.",
       f"{IN_TURN} → {IN_TURN} - {other}") for other in (FIRST, SECOND)),
    ("That is the loss of one place alone. Both are answered.", f"{AT_ONCE} → {SECOND}"))


@at_once.suspect
def _(got, p):
    if any(kind(part) == "a tensor" and part.isnan().any() for part in got):
        yield "There is a nan: is it 0 · log 0? A pair that never comes costs nothing."
    if same(got[0], torch.outer(p.sum(0), p.sum(1))):
        yield "q is turned: its row a is the first word. The sum over row a of p is that word's probability, p.sum(1)."
    if any(kind(loss) == "a number" for loss in got[1:]):
        yield "A loss stays a tensor, without dimensions: gradients get through nothing else."


# -- my_experiment ---------------------------------------------------------------------------------------------------

my_experiment = experiment(solution.my_experiment, (2, 0), why=(
    "The same tokens are scored by the same model; what stands in front of them is all that changes.\nThe dialogue "
    "hangs on the seed, so that the finding is one on dialogues, and not on a single text."))
