"""Checks of assignment 03b: who may see what in the three families, and what answering at once costs."""

from attention_questions.prelude import Question, kind, torch

from . import solution

# -- may_see ---------------------------------------------------------------------------------------------------------

def _ids(*ids):
    return torch.tensor(ids, dtype=torch.long)


may_see = Question(solution.may_see, (1, 3), {
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
                                "hyphen?"})
SOURCE_OR_PAST, MASKED = "(whom < S) | (who >= S) & (whom <= who)", "see & real & real[:, None] | torch.diag(~real)"
may_see.mistakes(
    ("A token sees itself, too, in every family.", "see = whom <= who → see = whom < who", "(whom <= → (whom <"),
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
    ("The target may have padding, too.", "ids != 0 → (ids != 0) | (whom >= S)"),
    ("A row of padding sees itself here, as asked, but other tokens too.", " & real[:, None] → "),
    ("A row of padding sees nothing at all: its softmax would be 0/0. Let it see itself.", " | torch.diag(~real) → "),
    ("These are the pairs that may *not* see each other.", f"{MASKED} → ~({MASKED})"))


@may_see.suspect
def _(got, family, source, target):
    if kind(got) == "a tensor" and got.dtype != torch.bool:
        yield "True and False are asked for, a tensor of booleans: a comparison gives one, and .bool() makes one."


# -- at_once ---------------------------------------------------------------------------------------------------------

EXAMPLE = torch.tensor([[0.5, 0.25], [0.0, 0.25]]).double()
UNEQUAL = torch.tensor([[0.4, 0.1, 0.0], [0.0, 0.2, 0.3]]).double()
APART = torch.outer(torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.25, 0.25])).double()
UNUSED = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.25, 0.75]]).double()

at_once = Question(solution.at_once, (1, 3), {
    "the example": (EXAMPLE,), "two and three words": (UNEQUAL,), "two that know nothing": (APART,),
    "words that never come": (UNUSED,), "single precision": (UNEQUAL.float(),)},
    returns="q (A, N), at once, in turn",
    otherwise="q is made of the two words' own distributions, the sums of rows and of columns. Each loss is the mean "
              "of −log of what the model gave to the pair that came, and pairs come with probability p.",
    hints={"shapes": "Row sums are (A,), column sums (N,), and their products, each with each, (A, N): torch.outer."})
BEST = "torch.outer(p.sum(1), p.sum(0))"
AT_ONCE, IN_TURN = "-(p[there] * q[there].log()).sum()", "-(p[there] * p[there].log()).sum()"
FIRST, SECOND = (f"-torch.special.xlogy(p.sum({axis}), p.sum({axis})).sum()" for axis in (1, 0))   # of one word alone
at_once.mistakes(
    ("The two losses have changed places: first that of answering at once, then that of answering in turn.",
     f"{AT_ONCE}, {IN_TURN} → {IN_TURN}, {AT_ONCE}"),
    ("At once the model gives q to a pair, not p: the loss is the mean of −log q.", f"{AT_ONCE} → {IN_TURN}"),
    ("In turn the second word is answered with the first in view: what such a model gives to a pair is not q.",
     f"{IN_TURN} → {AT_ONCE}"),
    ("That is the price, at once minus in turn (the KL divergence of p and q), and not the loss itself.",
     f"{AT_ONCE} → {AT_ONCE} - {IN_TURN}"),
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
    ("That is the second word's loss alone, given the first. The first word costs something, too.",
     f"{IN_TURN} → {IN_TURN} - {FIRST}"),
    ("That is the loss of one place alone. Both are answered.", f"{AT_ONCE} → {SECOND}"))


@at_once.suspect
def _(got, p):
    if any(kind(part) == "a tensor" and part.isnan().any() for part in got):
        yield "There is a nan: is it 0 · log 0? A pair that never comes costs nothing."
