"""Checks of assignment 03b: who may see what in the three families, and what answering at once costs."""

import math

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["may_see", "at_once"]

FAMILIES = ("encoder-only", "decoder-only", "encoder-decoder")


# -- may_see ---------------------------------------------------------------------------------------------------------

def _ids(*ids):
    return torch.tensor(ids, dtype=torch.long)


@question((1, 3), {"encoder-only": ("encoder-only", _ids(5, 6), _ids(7, 8)),
                   "decoder-only": ("decoder-only", _ids(5, 6), _ids(7, 8)),
                   "encoder-decoder": ("encoder-decoder", _ids(5, 6), _ids(7, 8, 9)),
                   "encoder-only, with padding": ("encoder-only", _ids(5, 6, 0), _ids(7)),
                   "decoder-only, with padding in front": ("decoder-only", _ids(0, 5, 6), _ids(7, 8)),
                   "encoder-decoder, with padding": ("encoder-decoder", _ids(5, 6, 0), _ids(7, 8, 0)),
                   "nothing written yet": ("encoder-decoder", _ids(5, 6), _ids())},
          returns="(S + T, S + T)",
          otherwise="Take one family, and two tokens of each text: for each row ask which of the four this token may "
                    "see. Padding comes last: nobody sees it, and it sees itself alone.",
          hints={"shapes": "The table has a row and a column for each of the S + T tokens, the source's first.",
                 "UnboundLocalError": "No branch was taken for this family. Is its name spelled as in the statement, "
                                      "with a hyphen?"})
def may_see(family, source, target, *, own=True, source_past=False, leaks=False, sees_source=True, target_past=True,
            padding=True, rows=True, alone=True, names=FAMILIES):
    """may_see(family, source, target): booleans (S + T, S + T), row: who looks, column: who is looked at."""
    ids = torch.cat([source, target])
    here, n, S = torch.arange(len(ids)), len(ids), len(source)
    past = here[None] <= here[:, None] if own else here[None] < here[:, None]
    if family == names[0]:
        see = torch.ones(n, n, dtype=torch.bool)
    elif family == names[1]:
        see = past
    else:
        of_source = here < S
        see = of_source[None] & of_source[:, None] & (past if source_past else True)
        see = see | ~of_source[:, None] & of_source[None] & sees_source
        see = see | ~of_source[:, None] & ~of_source[None] & (past if target_past else True)
        see = see | of_source[:, None] & ~of_source[None] & leaks
    real = ids != 0
    see = see & real[None] if padding else see
    see = see & real[:, None] if rows else see
    return see | torch.diag(~real) if alone else see


may_see.mistakes(
    ("A token sees itself, too, in every family.", dict(own=False)),
    ("Rows and columns have changed places: a row says whom this token sees.",
     lambda *arguments: may_see.reference(*arguments).T.contiguous()),
    ("The encoder sees all of the source: what comes later in it, too. Only the target has a past.",
     dict(source_past=True)),
    ("The source sees the target here. It is read before anything is written.", dict(leaks=True)),
    ("The target does not see the source here: that is what cross-attention is for.", dict(sees_source=False)),
    ("The target sees its own future here. Of its own text, it sees itself and the past.", dict(target_past=False)),
    ("The families have changed places: encoder-only sees everything, decoder-only itself and the past.",
     dict(names=(FAMILIES[1], FAMILIES[0]))),
    ("Padding is seen here. Nobody should: it is no word.", dict(padding=False, alone=False, rows=False)),
    ("Padding is seen here. Nobody should: it is no word.", dict(padding=False, alone=False)),
    ("The target may have padding, too.", lambda family, source, target: may_see.reference(
        family, source, target + (target == 0))),
    ("A row of padding sees itself here, as asked, but other tokens too.", dict(rows=False)),
    ("A row of padding sees nothing at all: its softmax would be 0/0. Let it see itself.", dict(alone=False)),
    ("These are the pairs that may *not* see each other.", lambda *arguments: ~may_see.reference(*arguments)))


@may_see.suspect
def _(got, family, source, target):
    if kind(got) == "a tensor" and got.dtype != torch.bool:
        return "True and False are asked for, a tensor of booleans: a comparison gives one, and .bool() makes one."
    return None


# -- at_once ---------------------------------------------------------------------------------------------------------

EXAMPLE = torch.tensor([[0.5, 0.25], [0.0, 0.25]]).double()
UNEQUAL = torch.tensor([[0.4, 0.1, 0.0], [0.0, 0.2, 0.3]]).double()
APART = torch.outer(torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.25, 0.25])).double()
UNUSED = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.25, 0.75]]).double()


def _plain(p):
    return -torch.special.xlogy(p, p).sum()


@question((1, 3), {"the example": (EXAMPLE,), "two and three words": (UNEQUAL,), "two that know nothing": (APART,),
                   "words that never come": (UNUSED,), "single precision": (UNEQUAL.float(),)},
          returns="q (A, N), at once, in turn",
          otherwise="q is made of the two words' own distributions, the sums of rows and of columns. Each loss is the "
                    "mean of −log of what the model gave to the pair that came, and pairs come with probability p.",
          hints={"shapes": "Row sums are (A,), column sums (N,), and their products, each with each, (A, N): "
                           "torch.outer."})
def at_once(p, *, guess=lambda p: torch.outer(p.sum(1), p.sum(0)),
            at_once=lambda p, q: -torch.special.xlogy(p, q).sum(), in_turn=_plain, scale=1):
    """at_once(p): (q (A, N), at once, in turn), the best answer that fills both places at once, its loss in nats, and
    the loss of a model that fills the second place with the first in view."""
    q = guess(p)
    return q, scale * at_once(p, q), scale * in_turn(p)


at_once.mistakes(
    ("The two losses have changed places: first that of answering at once, then that of answering in turn.",
     lambda p: tuple(at_once.reference(p)[i] for i in (0, 2, 1))),
    ("At once the model gives q to a pair, not p: the loss is the mean of −log q.",
     dict(at_once=lambda p, q: _plain(p))),
    ("In turn the second word is answered with the first in view: what such a model gives to a pair is not q.",
     lambda p: tuple(at_once.reference(p)[i] for i in (0, 1, 1))),
    ("That is the price, at once minus in turn (the KL divergence of p and q), and not the loss itself.",
     dict(at_once=lambda p, q: -torch.special.xlogy(p, q).sum() - _plain(p))),
    ("q holds p itself. A model that answers both places at once has one distribution for each place, and draws both "
     "apart.", dict(guess=lambda p: p)),
    ("That is a model that knows nothing. Each place has a distribution of its own: sums of p along an axis.",
     dict(guess=lambda p: torch.full_like(p, 1 / p.numel()))),
    ("0 · log 0 counts as 0 here: a pair that never comes costs nothing. Python's own is nan. (torch.special.xlogy, or "
     "only the entries above 0.)", dict(at_once=lambda p, q: -(p * (q + 1e-30).log()).sum(),
                                        in_turn=lambda p: -(p * (p + 1e-3).log()).sum())),
    ("The signs are missing: a loss is −log.", dict(scale=-1)),
    ("That is in bits. The natural logarithm is asked for.", dict(scale=1 / math.log(2))),
    ("That is the loss per word. Asked for is that of the pair.", dict(scale=0.5)),
    ("The losses are means over pairs *as they come*, with the probabilities p: each −log is weighed by p.",
     dict(at_once=lambda p, q: -torch.special.xlogy(torch.ones_like(q), q.clamp(min=1e-9)).mean(),
          in_turn=lambda p: -p.clamp(min=1e-9).log().mean())),
    ("In turn: the first word by its own distribution, then the second *given the first*. Together that is −log of "
     "p[a, n].",
     dict(in_turn=lambda p: -torch.special.xlogy(p.sum(0), p.sum(0)).sum())),
    ("That is the second word's loss alone, given the first. The first word costs something, too.",
     dict(in_turn=lambda p: _plain(p) - _plain(p.sum(1)))),
    ("That is the loss of one place alone. Both are answered.",
     dict(at_once=lambda p, q: _plain(p.sum(0)))))


@at_once.suspect
def _(got, p):
    if any(kind(part) == "a tensor" and part.isnan().any() for part in got):
        return "There is a nan: is it 0 · log 0? A pair that never comes costs nothing."
    return None
