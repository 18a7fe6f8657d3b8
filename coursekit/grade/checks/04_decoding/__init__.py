"""Checks of assignment 04: rules for a token. The rest is in drawing.py, generating.py, reading.py and beams.py."""

import math

import torch

from coursekit.grade.kit.library import SOFTMAXES
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.grade.kit.score import announce
from coursekit.models import keep_nucleus as nucleus
from coursekit.models import keep_top_k as top_k

from .beams import beam_search
from .drawing import LIBRARY, draw
from .generating import greedy
from .reading import read_on

__all__ = ["tempered", "keep_top_k", "keep_nucleus", "draw", "greedy", "read_on", "beam_search"]

TABLE = "p is a table (n, D). Is it read here as if it were a single row (D,)?"


# -- tempered --------------------------------------------------------------------------------------------------------

UNLIKE = torch.tensor([[0.0, 1.0], [1000.0, 999.0]])


@question((1, 2), {"temperature 1": (torch.tensor([2.0, 1.0, 0.0]), 1.0),
                   "temperature 0.5": (torch.tensor([2.0, 1.0, 0.0]), 0.5),
                   "temperature 4, a table": (torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]]), 4.0),
                   "large logits, cold": (torch.tensor([1000.0, 999.0, 0.0]), 0.5),
                   "temperature 0": (torch.tensor([[1.0, 3.0, 2.0], [0.5, 0.0, -1.0]]), 0.0),
                   "temperature 0, two likeliest": (torch.tensor([1.0, 3.0, 3.0]), 0),
                   "temperature 0, nearly equal": (torch.tensor([0.0, 1e-30, -1.0]), 0.0),
                   "temperature 0.0001, nearly equal": (torch.tensor([0.0, 1e-4, -1e-4]), 1e-4),
                   "rows of different size": (UNLIKE, 0.5), "rows of different size, temperature 0": (UNLIKE, 0.0),
                   "temperature ∞": (torch.tensor([5.0, 1.0, 0.0]), math.inf)},
          forbidden=(*SOFTMAXES, "coursekit.models.tempered_softmax", *LIBRARY),
          instead="exp, a maximum and a sum",
          hints={"shapes": "Do the maximum and the sum keep the axis that they are taken along?"})
def tempered(logits, tau):
    """tempered(logits, tau): probabilities of the shape of logits (…, D), at temperature tau, 0 and ∞ included."""
    return _tempered(logits, tau)


def _tempered(logits, tau):
    if tau == 0:
        likeliest = (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
        return likeliest / likeliest.sum(-1, keepdim=True)
    return torch.softmax((logits - logits.amax(-1, keepdim=True)) / tau, -1)


@tempered.suspect
def _(got, logits, tau):
    if kind(got) != "a tensor":
        return "Return a tensor of probabilities, one for each logit."
    if tuple(got.shape) != tuple(logits.shape):
        return "As many probabilities as logits, in the same shape. Should a sum keep its axis (keepdim=True)?"
    if got.dtype != logits.dtype:
        return "Logits and probabilities have one dtype. A comparison gives True and False, which are no numbers yet."
    if tau == 0:
        if got.isfinite().any() and not got.isfinite().all():
            return "In some row nobody is left: the largest logit of *each row* counts, not that of the whole table."
        if not got.isfinite().all():
            return ("Nothing can be divided by a temperature of 0. It stands for the limit: who is left when the "
                    "temperature gets smaller and smaller?")
        first = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])
        if same(got, first.to(got.dtype)):
            return ("Two tokens are equally likely here, at every temperature however small. So neither is left alone "
                    "in the limit: they share.")
        if same(got, (logits == logits.amax(-1, keepdim=True)).to(got.dtype)):
            return "Only the likeliest are left, as they should be, but the sum is more than one."
        if same(got, torch.softmax(logits, -1)):
            return "That is temperature 1. At 0 only the likeliest token is left, with everything."
        return ("At temperature 0 the likeliest token has all the probability; equally likely ones share it, and "
                "nearly equal is not equal. (Nor is a small temperature 0.)")
    bad = ~got.isfinite().all(-1)
    if bad.any() and not bad.flatten()[logits.amax(-1).argmax()]:
        return ("In some row every exp was rounded to 0: the largest logit of *each row* is subtracted, not that of "
                "the whole table.")
    if bad.any() and torch.exp(logits / tau).isfinite().all() and torch.exp(logits).isfinite().all():
        return ("Everything in a row was rounded to 0, and 0/0 is not a number. Is there a power 1/τ? Of numbers below "
                "1 it is 0 soon. Divide the logits by τ, the largest of the row subtracted, before exp is taken.")
    if bad.any():
        return ("exp of a large number is infinite, and ∞/∞ is not a number. Which number can be subtracted from all "
                "logits without changing the probabilities? (A cold temperature makes logits larger.)")
    if same(got, torch.softmax(logits, -1)) and tau != 1:
        return "The temperature changes nothing here. It divides the logits."
    if math.isfinite(tau) and same(got, torch.softmax(logits * tau, -1)):
        return "The logits are multiplied by the temperature. They are divided by it: hotter means flatter."
    if same(got, torch.softmax(logits, -1) / tau):
        return "The temperature divides the probabilities, which then do not sum to one. It divides the logits, before."
    if same(got, torch.softmax(torch.softmax(logits, -1) / tau, -1)):
        return "The temperature divides the *logits*. Here probabilities went through a second softmax."
    for axis in range(logits.dim() - 1):
        if same(got, torch.softmax(logits / tau, axis)):
            return "The columns sum to one, the rows should: the tokens stand along the last axis."
    e = torch.exp((logits - logits.amax(-1, keepdim=True)) / tau)
    if logits.dim() > 1 and (same(got, torch.softmax(logits.flatten() / tau, 0).reshape(logits.shape))
                             or same(got, e / e.sum())):
        return "The whole table sums to one. Each row is a distribution of its own, with a sum of its own."
    if same(got, _tempered(logits, tau), (0.05, 0)):
        return ("Nearly right: digits got lost. What is rounded before the temperature comes in, a cold one makes "
                "large, as a power 1/τ does. Divide the logits by τ, and take exp of that.")
    if tau == math.inf:
        return "When it is infinitely hot, all logits become equal. How likely is each of D tokens then?"
    return "Is each logit divided by the temperature, then exp taken, then divided by the sum of its row?"


# -- keep_top_k ------------------------------------------------------------------------------------------------------

def rescaled(p):
    """p (…, D) divided by its sum."""
    return p / p.sum(-1, keepdim=True)


def _unlike_p(got, p):
    """What shows before one looks at the numbers."""
    if kind(got) != "a tensor":
        return "Return a tensor (n, D)."
    if tuple(got.shape) != tuple(p.shape):
        return "The shape stays (n, D): a token that may not be drawn keeps its place, with probability 0."
    if got.dtype != p.dtype:
        return "Probabilities come out in the dtype in which they went in."
    return None


def _left(got, p, right):
    """What is wrong with the numbers of what is left, if not what is left."""
    if not got.isfinite().all():
        return "There is a 0/0: in some row nothing was left. At least the likeliest token stays."
    if same(got, p.where(right > 0, 0)):
        return "The right tokens are left, but a row no longer sums to one. It is divided by its sum."
    if same(got, torch.softmax(p.masked_fill(right == 0, -math.inf), -1)):
        return ("p holds probabilities already. A softmax of them is another distribution, nearly flat: divide by the "
                "sum instead.")
    if any(same(got, right.sort(-1, descending=down).values) for down in (True, False)):
        return "The numbers are right, but sorted. Place i belongs to token i: bring them back to their places."
    if same(got, p.where(right > 0, 0) / p.where(right > 0, 0).sum()):
        return "All rows together sum to one. Each row is a distribution of its own: keepdim=True, and the last axis."
    if torch.equal(got > 0, right > 0):
        return "The right tokens are left, with wrong numbers: each keeps its probability, divided by its row's sum."
    return None


NINE = torch.tensor([[0.04, 0.17, 0.09, 0.18, 0.1, 0.15, 0.08, 0.07, 0.12],    # k = 4: every slip leaves other tokens
                     [0.24, 0.02, 0.09, 0.07, 0.19, 0.05, 0.21, 0.08, 0.05]])
BATCH = torch.tensor([[0.5, 0.05, 0.3, 0.15], [0.05, 0.25, 0.1, 0.6]])


@question((1, 2), {"the best four of each row": (NINE, 4), "the best three of four": (BATCH, 3),
                   "one row": (NINE[:1], 3), "only the best": (BATCH, 1),
                   "a tie with the second": (torch.tensor([[0.2, 0.4, 0.2, 0.2], [0.1, 0.4, 0.2, 0.3]]), 2),
                   "a tie of the first two": (torch.tensor([[0.15, 0.3, 0.25, 0.3]]), 2),
                   "more than there are": (BATCH, 9)},
          forbidden=("coursekit.models.keep_top_k", *LIBRARY), instead="a sort or torch.topk, and a comparison",
          hints={"shapes": "p is a table (n, D), not one row: the k-th largest of each row is a column (n, 1). Does a "
                           "sum or a maximum keep its axis?",
                 "IndexError": "Something was asked for that is not there. k may be larger than D: then all stay. And "
                               "p is a table (n, D), with n rows, not a single row (D,)."})
def keep_top_k(p, k):
    """keep_top_k(p, k): p (n, D) with only the k likeliest tokens of each row left, rescaled; ties stay."""
    return top_k(p, k)


@keep_top_k.suspect
def _(got, p, k):
    right, larger, k = keep_top_k.__wrapped__(p, k), k > p.shape[1], min(k, p.shape[1])
    if words := _unlike_p(got, p) or _left(got, p, right):
        return words
    if larger and (got[p > 0] == 0).any():
        return "k is larger than D here. Then all tokens stay."
    kept = right > 0
    kth, fewer, exact = p.topk(k).values[:, -1:], (got > 0).sum(-1), torch.full((len(p),), k)
    if torch.equal((got > 0)[0], kept[0]) and same(got, rescaled(p.where(kept[0], 0))):
        return "All rows keep the tokens that the first row keeps. Each row has its own likeliest tokens."
    if len(p) < k and same(got, top_k(p, len(p))):
        return "k was cut to the number of rows. The size of the vocabulary is the number of columns, p.shape[1]."
    if len(p) > 1 and any(same(got, rescaled(p.where(p >= one, 0))) for one in kth):
        return "One row's threshold is used for all. Each row has its own k-th largest probability."
    if same(got, rescaled(p.where(p > kth, 0))):
        return "The k-th is missing: it stays as well. Is it > where ≥ is meant?"
    if same(got, rescaled(p.where(p >= p.flatten().topk(k).values[-1], 0))):
        return "The k likeliest of the whole table were kept. Each row has k of its own."
    if torch.equal(fewer, exact) and (p.where(got > 0, 0).sum(-1) >= p.topk(k).values.sum(-1) - 1e-6).all():
        return ("Tokens exactly as likely as the k-th stay as well, so more than k may be left. Compare with the k-th "
                "largest probability instead of taking places.")
    if same(got, rescaled(p.where(p <= p.topk(k, largest=False).values[:, -1:], 0))):
        return "Those are the least likely. Is the order turned round?"
    if same(got, rescaled(torch.stack([row * (row >= row.unique()[-k:][0]) for row in p]))):
        return "Equal numbers were counted once. The k-th largest counts every token, also those that tie above it."
    if k > 1 and same(got, rescaled(p.where(p >= p.amax(-1, keepdim=True), 0))):
        return "Only the likeliest of each row are left, whatever k is. The k-th largest decides who stays."
    if k < p.shape[1] and same(got, top_k(p, k + 1)):
        return "There is one too many: that is the (k + 1)-th largest. Places count from 0, so the k-th is at k − 1."
    if same(got, rescaled(p.where(p >= p.topk(k, largest=False).values[:, -1:], 0))):
        return "That is the k-th smallest. What is at least as large as the k-th *largest* of its row stays."
    if (fewer < kept.sum(-1)).any():
        return "There are fewer tokens left than there should be. Is the k-th largest itself in?"
    return "Which number is the k-th largest of each row? What is at least as large stays."


# -- keep_nucleus ----------------------------------------------------------------------------------------------------

EIGHTHS = torch.tensor([[0.125, 0.5, 0.125, 0.25], [0.125, 0.125, 0.125, 0.625]])


@question((2, 2), {"one row": (torch.tensor([[0.1, 0.2, 0.15, 0.3, 0.25]]), 0.72),
                   "two rows": (torch.tensor([[0.5, 0.05, 0.3, 0.15], [0.05, 0.05, 0.1, 0.8]]), 0.78),
                   "reached exactly": (EIGHTHS, 0.75),
                   "one token is enough": (BATCH, 0.4),
                   "a tie at the edge": (torch.tensor([[0.25, 0.25, 0.25, 0.25]]), 0.4),
                   "everything": (BATCH, 1.0)},
          forbidden=("coursekit.models.keep_nucleus", *LIBRARY), instead="a sort and running sums",
          hints={"shapes": "Sorted probabilities and their running sums are (n, D), like p.", "IndexError": TABLE})
def keep_nucleus(p, mass):
    """keep_nucleus(p, mass): p (n, D) with only the nucleus of each row left, rescaled; mass above 0, at most 1."""
    return nucleus(p, mass)


def _wrong_nucleus(p, mass, enter=lambda before, share, mass: before < mass, descending=True, ordered=True):
    """The nuclei with one thing done in another way, not rescaled."""
    order = torch.arange(p.shape[1]).expand(p.shape)
    order = p.argsort(dim=-1, descending=descending, stable=True) if ordered else order
    shares = p.gather(-1, order)
    inside = enter(shares.cumsum(-1) - shares, shares, mass)
    return p.where(torch.empty_like(inside).scatter_(-1, order, inside), 0), inside


@keep_nucleus.suspect
def _(got, p, mass):
    right = keep_nucleus.__wrapped__(p, mass)
    if words := _unlike_p(got, p):
        return words
    for reached in (torch.le, torch.lt):
        fewer, _ = _wrong_nucleus(p, mass, lambda before, share, mass, reached=reached: reached(before + share, mass))
        if same(got, rescaled(fewer)) or not got.isfinite().all() and torch.equal(got > 0, rescaled(fewer) > 0):
            return ("The token with which the sum reaches the mass is missing. Without it the set does not hold "
                    "enough, or is empty: ask what the *likelier* tokens hold already, without it.")
    if words := _left(got, p, right):
        return words
    if same(got, rescaled(_wrong_nucleus(p, mass, lambda before, share, mass: before <= mass)[0])):
        return ("There is a token too many. As soon as the sum has reached the mass exactly, the set is large enough: "
                "“at least” is fulfilled.")
    inside = _wrong_nucleus(p, mass)[1]
    if not torch.equal(inside, right > 0) and same(got, rescaled(p.where(inside, 0))):
        return ("As many tokens as should be, but others: the mask belongs to the *sorted* places. Entry r of it is "
                "about the token with rank r, so it has to go back to that token's place.")
    if same(got, rescaled(_wrong_nucleus(p, mass, ordered=False)[0])):
        return "The tokens were added up in the order of their ids. The likeliest come first."
    if same(got, rescaled(_wrong_nucleus(p, mass, descending=False)[0])):
        return "The least likely were added up first. The likeliest come first."
    edge = p.where(right > 0, 2).amin(-1, keepdim=True)
    if same(got, rescaled(p.where(p >= edge, 0))):
        return ("All tokens that tie at the edge were kept. The nucleus is the *smallest* set: of equally likely "
                "tokens at its edge only as many as are needed, those with smaller ids.")
    if torch.equal((got > 0).sum(-1), (right > 0).sum(-1)) and (p.where(got > 0, 0).sum(-1)
                                                               >= p.where(right > 0, 0).sum(-1) - 1e-6).all():
        return ("Of equally likely tokens at the edge, those with smaller ids are in. A sort keeps them in this order "
                "if it is asked to: stable=True.")
    if same(got.sort(-1).values, right.sort(-1).values):
        return ("The numbers are right, at the wrong places: what is found for rank r goes back to the place of the "
                "token with rank r (scatter; gather does the opposite).")
    if len(p) > 1 and same(got[0], right[0]) and ((got > 0).sum(-1)[1:] == 1).all():
        return "The sum went on from the row before. Each row begins again at 0."
    if len(p) > 1 and (same(got, rescaled(p.where((right > 0).any(0), 0))) or torch.equal(
            (got > 0).sum(-1), (right > 0).sum(-1)[:1].expand(len(p)))):
        return "One row decides for all. Each row has its own nucleus, of its own size."
    if same(got, rescaled(p.where(p >= 1 - mass, 0))) or same(got, rescaled(p.where(p >= mass, 0))):
        return "mass is no bound for a single token. It is what the tokens of the nucleus hold *together*."
    if (p.where(got > 0, 2).amin(-1) < p.where(got == 0, 0).amax(-1)).any():
        return ("A token stayed that is less likely than one that went. If you work with sorted probabilities: what is "
                "found for rank r has to go back to the place of the token with rank r (scatter; gather does the "
                "opposite).")
    return "Add up from the likeliest token downwards, row by row. With which token is the mass reached?"


announce("decoding", [tempered, keep_top_k, keep_nucleus, draw, greedy, read_on, beam_search], {"rules compared": 6})
