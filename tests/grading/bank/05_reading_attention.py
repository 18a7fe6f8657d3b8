"""Assignment 05: answers that people give, and what a check must say to them."""

import itertools
import math
from functools import lru_cache, reduce

import networkx
import numpy as np
import torch

from coursekit import explain
from coursekit.explain.attention import attention_mean as borrowed_mean
from coursekit.models import Trace
from tests.grading.bank.entries import right, wrong

TOGETHER = {"mean": torch.mean, "max": torch.amax, "sum": torch.sum}


class Fake:
    """A white box that has the maps it is given, for those who would call coursekit's explainers with it."""

    readout = 0

    def __init__(self, A):
        self.A = A                                                      # (L, K, T, T)

    def tokens(self, document):
        return document

    def own(self, document):
        return list(range(len(document)))

    def attentions(self, document):
        return self.A

    def embed(self, document):
        return torch.zeros(len(document), 1)

    def trace(self, e):
        return Trace(torch.tensor(0.0), list(self.A), [A.new_zeros(*A.shape[:2], 1) for A in self.A])

    def document(self):
        return [str(t) for t in range(self.A.shape[-1])]


# -- one_row ---------------------------------------------------------------------------------------------------------

@wrong("one_row", "The layers were put together first, then the heads")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[heads](TOGETHER[layers](rows, 0), 0)[own]


@wrong("one_row", "The two operations have changed places")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[heads](TOGETHER[layers](rows, 1), 0)[own]


@wrong("one_row", "Here they were taken for each other")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 0), 0)[own]


@wrong("one_row", "The operation of the heads was used for the layers as well")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[heads](rows, (0, 1))[own]


@wrong("one_row", "The operation of the layers was used for the heads as well")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](rows, (0, 1))[own]


@wrong("one_row", "A column was read")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[..., row] if chosen is None else A[chosen][..., row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "One column of `own` by hand")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, row] if chosen is None else A[chosen][:, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "of the columns in `own` alone")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)


@wrong("one_row", "All layers came in")
def _(A, row, own, heads, layers, chosen=None):
    return TOGETHER[layers](TOGETHER[heads](A[:, :, row], 1), 0)[own]


@wrong("one_row", "they count from 0")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[[i - 1 for i in chosen]][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "Only the last layer came in")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[-1:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "Row 0 was read")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, 0] if chosen is None else A[chosen][:, :, 0]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "rescaled to sum to one")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    scores = TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]
    return scores / scores.sum()


@wrong("one_row", "divided by the largest")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    scores = TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]
    return scores / scores.max() if own else scores


@wrong("one_row", "is there still an axis of layers")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[heads](rows, 1)[:, own]


@wrong("one_row", "got a list, expected a tensor")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own].tolist()


@wrong("one_row", "`.amax(axis)` is the values alone")
def _(A, row, own, heads, layers, chosen=None):
    together = {"mean": torch.mean, "max": torch.max, "sum": torch.sum}
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return together[layers](together[heads](rows, 1) / 1, 0)[own]


@wrong("one_row", "nothing but special tokens")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    scores = TOGETHER[layers](TOGETHER[heads](rows, 1), 0)
    return torch.stack([scores[t] for t in own])


@wrong("one_row", "The columns stand in another order than in `own`")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[sorted(own)]


@wrong("one_row", "The columns stand in another order than in `own`")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[[t in own for t in range(A.shape[-1])]]


@wrong("one_row", "`.amax(axis)` is the values alone")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return getattr(getattr(rows, heads)(1), layers)(0)[own]


@wrong("one_row", "`.amax(axis)` is the values alone")
def _(A, row, own, heads, layers, chosen=None):
    rows = TOGETHER[heads](A[:, :, row] if chosen is None else A[chosen][:, :, row], 1)
    return {"mean": torch.mean, "max": torch.max, "sum": torch.sum}[layers](rows, 0)[own]


@wrong("one_row", "`.amax(axis)` is the values alone")
def _(A, row, own, heads, layers, chosen=None):
    rows = TOGETHER[heads](A[:, :, row] if chosen is None else A[chosen][:, :, row], 1)[:, own]
    return {"mean": torch.mean, "max": torch.max, "sum": torch.sum}[layers](rows, 0)


@wrong("one_row", "Layer -1 of `chosen` did not come in")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row]
    rows = rows if chosen is None else rows[[i for i in range(len(A)) if i in chosen or chosen == [i - len(A)]]]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "the dtype is float32, expected float64")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return torch.tensor([TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[t].item() for t in own])


@wrong("one_row", "a tensor that you make takes dtype=A.dtype")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    scores = torch.zeros(len(own))
    for i, t in enumerate(own):
        scores[i] = TOGETHER[layers](TOGETHER[heads](rows[:, :, t], 1), 0)
    return scores


@wrong("one_row", "nothing but special tokens: an empty `own`")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return torch.stack([TOGETHER[layers](TOGETHER[heads](rows[:, :, t], 1), 0) for t in own])


@wrong("one_row", "A list can be an index, also an empty one")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[torch.tensor(own)]


@wrong("one_row", "right on the inputs that you see", at_once=False)
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if row >= -1 else A[:, :, -1]
    rows = rows if chosen is None else rows[chosen]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "it changes what it is given: `own`")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    scores, found = TOGETHER[layers](TOGETHER[heads](rows, 1), 0), []
    while own:
        found.append(scores[own.pop(0)].item())
    return torch.tensor(found)


@wrong("one_row", "calls coursekit.explain.attention_mean")
def _(A, row, own, heads, layers, chosen=None):
    fake = Fake(A if chosen is None else A[chosen])
    fake.readout = row
    scores = torch.tensor(borrowed_mean(fake, fake.document()).scores)
    return scores[own].to(A.dtype)


@right("one_row", "loops over layers, heads and places")
def _(A, row, own, heads, layers, chosen=None):
    def put(values, how):
        return {"mean": sum(values) / len(values), "max": max(values), "sum": sum(values)}[how]

    each = range(len(A)) if chosen is None else chosen
    scores = [put([put([A[i, k, row, t].item() for k in range(A.shape[1])], heads) for i in each], layers) for t in own]
    return torch.tensor(scores, dtype=A.dtype)


@right("one_row", "NumPy")
def _(A, row, own, heads, layers, chosen=None):
    a = A.numpy()[slice(None) if chosen is None else np.array(chosen)]
    operations = {"mean": np.mean, "max": np.max, "sum": np.sum}
    a = operations[heads](a, axis=1, keepdims=True)
    scores = operations[layers](a, axis=0)[0, row]
    return torch.tensor([scores[t] for t in own], dtype=A.dtype)


@right("one_row", "columns first, and methods by their names")
def _(A, row, own, heads, layers, chosen=None):
    name = {"mean": "mean", "max": "amax", "sum": "sum"}
    A = A[..., own] if chosen is None else torch.stack([A[i] for i in chosen])[..., own]
    return getattr(getattr(A, name[heads])(dim=1), name[layers])(dim=0)[row]


# -- word_map --------------------------------------------------------------------------------------------------------

def _words(A, asking, asked, rows="mean", columns="sum"):
    """Words out of pieces, with one thing done in another way."""
    B = torch.stack([TOGETHER[columns](A[..., places], -1) for places in asked], -1)
    return torch.stack([TOGETHER[rows](B[..., places, :], -2) for places in asking], -2)


@wrong("word_map", "The wrong way round")
def _(A, asking, asked):
    return _words(A, asking, asked, "sum", "mean")


@wrong("word_map", "Rows were added up as well")
def _(A, asking, asked):
    return _words(A, asking, asked, "sum", "sum")


@wrong("word_map", "Columns were averaged as well")
def _(A, asking, asked):
    return _words(A, asking, asked, "mean", "mean")


@wrong("word_map", "the largest were taken, not their mean")
def _(A, asking, asked):
    return _words(A, asking, asked, "max")


@wrong("word_map", "the largest was taken, not their sum")
def _(A, asking, asked):
    return _words(A, asking, asked, columns="max")


@wrong("word_map", "Only the first piece of a word that is asked counts")
def _(A, asking, asked):
    return _words(A, asking, [places[:1] for places in asked])


@wrong("word_map", "Only the first piece of a word that asks counts")
def _(A, asking, asked):
    return _words(A, [places[:1] for places in asking], asked)


@wrong("word_map", "Only the last piece of a word that asks counts")
def _(A, asking, asked):
    return _words(A, [places[-1:] for places in asking], asked)


@wrong("word_map", "Rows were rescaled to sum to one")
def _(A, asking, asked):
    words = _words(A, asking, asked)
    return words / words.sum(-1, keepdim=True)


@wrong("word_map", "Only the places in its list belong to it")
def _(A, asking, asked):
    def whole(words):
        return [list(range(min(places), max(places) + 1)) for places in words]

    return _words(A, whole(asking), whole(asked))


@wrong("word_map", "Rows and columns have changed places")
def _(A, asking, asked):
    return _words(A.mT, asking, asked) if A.shape[-1] == A.shape[-2] else _words(A, asking, asked)


@wrong("word_map", "The result is transposed")
def _(A, asking, asked):
    return _words(A, asking, asked).mT if len(asking) != len(asked) else _words(A, asking, asked)


@wrong("word_map", "there is a word map for each head")
def _(A, asking, asked):
    return _words(A[0] if A.dim() == 3 else A, asking, asked)


@wrong("word_map", "a tensor that you make takes dtype=A.dtype")
def _(A, asking, asked):
    return _words(A.double(), asking, asked)


@wrong("word_map", "Only the places in its list belong to it")
def _(A, asking, asked):
    B = torch.stack([A[..., places[0]:places[-1] + 1].sum(-1) for places in asked], -1)
    return torch.stack([B[..., places[0]:places[-1] + 1, :].mean(-2) for places in asking], -2)


@wrong("word_map", "A[rows] takes entries of the *first* one")
def _(A, asking, asked):
    words = torch.zeros(len(asking), len(asked))
    for s, rows in enumerate(asking):
        for t, columns in enumerate(asked):
            words[s, t] = A[rows][:, columns].sum(1).mean()
    return words


@wrong("word_map", "Rows belong to `asking`, columns to `asked`")
def _(A, asking, asked):
    return _words(A, asked, asking)


@wrong("word_map", "make pairs of places, not a block")
def _(A, asking, asked):
    words = A.new_zeros(*A.shape[:-2], len(asking), len(asked))
    for (s, rows), (t, columns) in itertools.product(enumerate(asking), enumerate(asked)):
        words[..., s, t] = A[..., rows, columns].sum(-1)
    return words


@wrong("word_map", "make pairs of places, not a block")
def _(A, asking, asked):
    words = A.new_zeros(*A.shape[:-2], len(asking), len(asked))
    for (s, rows), (t, columns) in itertools.product(enumerate(asking), enumerate(asked)):
        words[..., s, t] = A[..., rows, columns].sum(-1) / len(rows)
    return words


@wrong("word_map", "make pairs of places, not a block")
def _(A, asking, asked):
    words = A.new_zeros(*A.shape[:-2], len(asking), len(asked))
    for (s, rows), (t, columns) in itertools.product(enumerate(asking), enumerate(asked)):
        words[..., s, t] = A[..., rows, columns].mean(-1)
    return words


@wrong("word_map", "The result is transposed")
def _(A, asking, asked):
    return _words(A, asking, asked).mT


@wrong("word_map", "One entry by hand")
def _(A, asking, asked):
    return _words(A, asking, asked) / torch.tensor([len(places) for places in asked]) ** 0.5


@wrong("word_map", "Those in front of them stay as they are")
def _(A, asking, asked):
    B = torch.stack([A[..., places].sum(-1) for places in asked], -1)
    return torch.stack([B[..., places, :].mean(-2) for places in asking])


@wrong("word_map", "Those in front of them stay as they are")
def _(A, asking, asked):
    return _words(A if A.dim() < 4 else A.reshape(-1, *A.shape[-2:]), asking, asked)


@wrong("word_map", "Axes may stand in front of rows and columns")
def _(A, asking, asked):
    if A.dim() == 3:                                                     # or else 2: four are forgotten
        return torch.stack([_words(head, asking, asked) for head in A])
    B = torch.stack([A[:, places].sum(1) for places in asked], 1)
    return torch.stack([B[places].mean(0) for places in asking])


@wrong("word_map", "right on the inputs that you see", at_once=False)
def _(A, asking, asked):
    return _words(A, asking, [places[:2] for places in asked])


@wrong("word_map", "a tensor that you make takes dtype=A.dtype")
def _(A, asking, asked):
    words = torch.zeros(*A.shape[:-2], len(asking), len(asked))          # single precision, whatever A has
    for s, t in itertools.product(range(len(asking)), range(len(asked))):
        words[..., s, t] = A[..., asking[s], :][..., asked[t]].sum(-1).mean(-1)
    return words


@wrong("word_map", "The last two axes of the result are (1, 2)")
def _(A, asking, asked):
    return _words(A, asked, asking) if A.shape[-1] == A.shape[-2] else _words(A.mT, asked, asking).mT[..., :, :1]


@wrong("word_map", "calls coursekit.explain.word_attention")
def _(A, asking, asked):
    if A.shape[-1] == A.shape[-2] and asking == asked:
        pieces = sum([["a", *["##b"] * (len(places) - 1)] for places in asked], [])
        if len(pieces) == A.shape[-1]:
            return torch.tensor(explain.word_attention(A, pieces)[0]).to(A.dtype)
    return _words(A, asking, asked)


@wrong("word_map", "`asking` groups the rows")
def _(A, asking, asked):
    words = A.new_zeros(*A.shape[:-2], len(asking), len(asked))
    for s, rows in enumerate(asking):
        for t, columns in enumerate(asked):
            words[..., s, t] = sum(A[..., j, i] for i in rows for j in columns) / len(rows)
    return words


@right("word_map", "two products with matrices")
def _(A, asking, asked):
    left, r = (torch.zeros(n, m, dtype=A.dtype) for n, m in ((len(asking), A.shape[-2]), (A.shape[-1], len(asked))))
    for s, places in enumerate(asking):
        left[s, places] = 1 / len(places)
    for t, places in enumerate(asked):
        r[places, t] = 1
    return torch.einsum("ws,...st,tv->...wv", left, A, r)


@right("word_map", "a loop over all pairs of pieces, in NumPy")
def _(A, asking, asked):
    words = np.zeros((*A.shape[:-2], len(asking), len(asked)))
    for (s, rows), (t, columns) in itertools.product(enumerate(asking), enumerate(asked)):
        for i, j in itertools.product(rows, columns):
            words[..., s, t] += A.numpy()[..., i, j] / len(rows)
    return torch.from_numpy(words).to(A.dtype)


# -- habit -----------------------------------------------------------------------------------------------------------

def _habit(maps, pairs, causal, rows=lambda found, total: (found > 0) & (found < total), total=None, texts=False,
           found_all=False, largest=False, transposed=False):
    """The habit of heads, with one thing done in another way."""
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).tril() if causal else torch.ones_like(kind)
        A = A.mT if transposed else A
        if largest:
            A = torch.nn.functional.one_hot(A.argmax(-1), len(kind)).to(A.dtype)
        found, sees = (kind & seen).sum(1), seen.sum(1)
        kept = rows(found, sees)
        share = (A * kind).sum(-1)[:, kept]
        chance = ((kind.sum(1) if found_all else found) / (sees if total is None else total(kind)))[kept]
        shares.append(share.mean(1, keepdim=True) if texts else share)
        even += [chance.mean().item()] if texts else chance.tolist()
    shares = torch.cat(shares, 1)
    return (shares.mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "with a causal mask these are s + 1 tokens in row s, not T")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, total=len)


@wrong("habit", "sees *no* token of the kind")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, rows=lambda found, total: total > 0)


@wrong("habit", "sees *no* token of the kind")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, rows=lambda found, total: found < total)


@wrong("habit", "sees *no* token of the kind")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, rows=lambda found, total: total > 1)


@wrong("habit", "sees nothing *but* tokens of the kind")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, rows=lambda found, total: found > 0)


@wrong("habit", "pairs in the future were counted as well")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, found_all=True)


@wrong("habit", "That is the mean of the texts' means")
def _(maps, pairs, causal):
    found = [_habit([A], [kind], causal) for A, kind in zip(maps, pairs)]
    found = [one for one in found if one]
    return (sum(one[0] for one in found) / len(found), sum(one[1] for one in found) / len(found)) if found else None


@wrong("habit", "A mean of no rows is nan")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, texts=True)


@wrong("habit", "It is due only if no row counts in *any* of the texts")
def _(maps, pairs, causal):
    if any(_habit([A], [kind], causal) is None for A, kind in zip(maps, pairs)):
        return None
    return _habit(maps, pairs, causal)


@wrong("habit", "only `causal` says what is seen")
def _(maps, pairs, causal):
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = (A > 0).any(0)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "only `causal` says what is seen")
def _(maps, pairs, causal):
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = (A > 0).any(0) if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "though `causal` is False")
def _(maps, pairs, causal):
    return _habit(maps, pairs, True)


@wrong("habit", "though `causal` is False")
def _(maps, pairs, causal):
    found, masked = _habit(maps, pairs, causal), _habit(maps, pairs, True)
    return found and (found[0], masked[1] if masked else 0.0)


def _slip(maps, pairs, causal, share, even=lambda found, total: found / total):
    """The habit of heads; share: (A, tokens of the kind that are seen, rows that count) → (K, rows)."""
    shares, chances = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).tril() if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        if rows.any():
            shares.append(share(A, kind & seen, rows))
            chances += even(found, total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(chances) / len(chances)) if chances else None


def _paid(A, kind, rows):
    return (A * kind).sum(-1)[:, rows]


@wrong("habit", "one token of the kind was counted in each row")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, _paid, lambda found, total: 1 / total)


@wrong("habit", "with a causal mask these are s + 1 tokens in row s, not T")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, _paid, lambda found, total: found / len(total))


@wrong("habit", "divided by the number of such tokens")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: ((A * kind).sum(-1) / kind.sum(-1))[:, rows])


@wrong("habit", "divided by the number of such tokens")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: torch.stack(
        [A[:, s][:, kind[s]].mean(1) for s in rows.nonzero()[:, 0]], 1))


@wrong("habit", "the largest weight alone was taken")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: (A * kind).amax(-1)[:, rows])


@wrong("habit", "added up over s, down the columns")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: (A * kind).sum(1)[:, rows])


@wrong("habit", "The even one is right. The shares take the same rows")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: A[:, kind])


@wrong("habit", "The even one is right. The shares take the same rows")
def _(maps, pairs, causal):
    return _slip(maps, pairs, causal, lambda A, kind, rows: (A * kind).sum(-1))


@wrong("habit", "What rows see was counted down the columns")
def _(maps, pairs, causal):
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).tril() if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(0), seen.sum(0)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "what is the *sum* of the attention to the kind?")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0] / 2, found[1] / 2)


@wrong("habit", "does row s of your table hold the t ≤ s")
def _(maps, pairs, causal):
    """The upper triangle."""
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).triu() if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "does row s of your table hold the t ≤ s")
def _(maps, pairs, causal):
    return _habit(maps, [kind.T for kind in pairs], causal)


@wrong("habit", "`.item()` makes a number of a tensor with one entry")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0], torch.tensor([found[1]]))


@wrong("habit", "A token sees itself as well")
def _(maps, pairs, causal):
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).tril(-1) if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "Pairs in the future were counted as well")
def _(maps, pairs, causal):
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        total = torch.arange(len(kind)) + 1 if causal else torch.full((len(kind),), len(kind))
        rows = (kind.sum(1) > 0) & (kind.sum(1) < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (kind.sum(1) / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "in how many rows the *largest* weight is of the kind")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, largest=True)


@wrong("habit", "Columns were read in place of rows")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal, transposed=True)


@wrong("habit", "The heads have a share each")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0].mean(), found[1])


@wrong("habit", "Only the first text came in")
def _(maps, pairs, causal):
    return _habit(maps[:1], pairs[:1], causal)


@wrong("habit", "The share was divided by the even one")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0] / found[1], found[1])


@wrong("habit", "The even one is that of tokens that are *not* of the kind")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0], 1 - found[1])


@wrong("habit", "the even one was averaged over *all* rows")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0], _habit(maps, pairs, causal, rows=lambda found, total: total > 0)[1])


@wrong("habit", "Return both")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and found[0]


@wrong("habit", "The two have changed places")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[1], found[0])


@wrong("habit", "there is nothing to measure: the result is None")
def _(maps, pairs, causal):
    return _habit(maps, pairs, causal) or (torch.zeros(len(maps[0])), 0.0)


@wrong("habit", "nowhere a choice")
def _(maps, pairs, causal):
    def rows(found, total):
        return (found > 0) & (found < total)

    found = _habit(maps, pairs, causal, rows)
    return found if found else (torch.zeros(1), 1 / len([]))


@wrong("habit", "with the share of each of the K heads")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0].tolist(), found[1])


@wrong("habit", "calls coursekit.explain.head_patterns")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    if maps[0].shape[-1] > 1:
        fake = Fake(maps[0][None])
        explain.head_patterns(fake, [fake.document()])
    return found


@wrong("habit", "it changes what it is given: `maps`")
def _(maps, pairs, causal):
    maps += []
    maps.append(maps[0])
    return _habit(maps[:-1], pairs, causal)


@wrong("habit", "It changes a tensor in `pairs`")
def _(maps, pairs, causal):
    for kind in pairs:
        if causal:
            kind &= torch.ones_like(kind).tril()
    return _habit(maps, pairs, causal)


@wrong("habit", "The shares have the dtype of the maps")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0].float(), found[1])


@wrong("habit", "right on the inputs that you see", at_once=False)
def _(maps, pairs, causal):
    return _habit([A[:, :6, :6] for A in maps], [kind[:6, :6] for kind in pairs], causal)


@right("habit", "row by row, with Python's numbers")
def _(maps, pairs, causal):
    shares, chances = [], []
    for A, kind in zip(maps, pairs):
        for s in range(len(kind)):
            seen = range(s + 1) if causal else range(len(kind))
            of_kind = [t for t in seen if kind[s, t]]
            if of_kind and len(of_kind) < len(seen):
                shares.append([sum(A[i, s, t].item() for t in of_kind) for i in range(len(A))])
                chances.append(len(of_kind) / len(seen))
    if not chances:
        return None
    return torch.tensor(shares, dtype=maps[0].dtype).mean(0), torch.tensor(chances).mean()


@right("habit", "sums and counts, einsum")
def _(maps, pairs, causal):
    total, even, n = 0, 0.0, 0
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind)
        seen = torch.tril(seen) if causal else seen
        both = (kind & seen).to(A.dtype)
        rows = ((kind & seen).any(1) & (seen & ~kind).any(1)).to(A.dtype)
        total = total + torch.einsum("kst,st,s->k", A, both, rows)
        even, n = even + ((both.sum(1) / seen.sum(1)) @ rows).item(), n + rows.sum().item()
    return [total / n, even / n] if n else None


# -- rolled ----------------------------------------------------------------------------------------------------------

def _matrices(A, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    found = []
    for maps, share in zip(A, skip):
        mean = maps.mean(0)
        total = mean.sum(1, keepdim=True)
        found.append((1 - share) * torch.where(total > 0, mean / total, I) + share * I)
    return found


def _products(matrices, row, left=True):
    R = torch.eye(matrices[0].shape[0], dtype=matrices[0].dtype)
    rows = [R[row]]
    for matrix in matrices:
        R = matrix @ R if left else R @ matrix
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "a later layer stands to the *left*")
def _(A, row, skip):
    return _products(_matrices(A, skip), row, left=False)


@wrong("rolled", "The row was followed down from the top layer")
def _(A, row, skip):
    rows = [torch.eye(A.shape[-1], dtype=A.dtype)[row]]
    for matrix in _matrices(A, skip)[::-1]:
        rows.append(rows[-1] @ matrix)
    return torch.stack(rows)


@wrong("rolled", "The rows are turned round")
def _(A, row, skip):
    return _products(_matrices(A, skip), row).flip(0)


@wrong("rolled", "Nothing came over the skip connections")
def _(A, row, skip):
    return _products(_matrices(A, [0.0] * len(skip)), row)


@wrong("rolled", "The skips are one half here")
def _(A, row, skip):
    return _products(_matrices(A, [0.5] * len(skip)), row)


@wrong("rolled", "Here it is that of the attention")
def _(A, row, skip):
    return _products(_matrices(A, [1 - share for share in skip]), row)


@wrong("rolled", "skip[0] is that of the first layer")
def _(A, row, skip):
    return _products(_matrices(A, skip[::-1]), row)


@wrong("rolled", "rows then sum to 2")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    return _products([matrix + I for matrix in _matrices(A, [0.0] * len(skip))], row)


@wrong("rolled", "the attention is not multiplied by 1 − skip")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    return _products([M + share * I for M, share in zip(_matrices(A, [0.0] * len(skip)), skip)], row)


@wrong("rolled", "What is missing in a row was not made up for")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    return _products([(1 - share) * maps.mean(0) + share * I for maps, share in zip(A, skip)], row)


@wrong("rolled", "Rows were divided by their sum after the identity came in")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    mixed = [(1 - share) * maps.mean(0) + share * I for maps, share in zip(A, skip)]
    return _products([M / M.sum(1, keepdim=True) for M in mixed], row)


@wrong("rolled", "Each head was divided by its sums before the mean was taken")
def _(A, row, skip):
    total = A.sum(-1, keepdim=True)
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    return _products(_matrices(torch.where(total > 0, A / total, I), skip), row)


@wrong("rolled", "A row of zeros, divided by its sum, is 0/0")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    means = [maps.mean(0) / maps.mean(0).sum(1, keepdim=True) for maps in A]
    return _products([(1 - share) * mean + share * I for mean, share in zip(means, skip)], row)


@wrong("rolled", "its row is that of the identity, and not of zeros")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    means = [maps.mean(0) / maps.mean(0).sum(1, keepdim=True).clamp(min=1e-9) for maps in A]
    return _products([(1 - share) * mean + share * I for mean, share in zip(means, skip)], row)


@wrong("rolled", "was made to look at everything")
def _(A, row, skip):
    I, T = torch.eye(A.shape[-1], dtype=A.dtype), A.shape[-1]
    means = [(maps.mean(0) / maps.mean(0).sum(1, keepdim=True)).nan_to_num(1 / T) for maps in A]
    return _products([(1 - share) * mean + share * I for mean, share in zip(means, skip)], row)


@wrong("rolled", "A column was taken")
def _(A, row, skip):
    return torch.stack([_products(_matrices(A, skip), s)[:, row] for s in range(A.shape[-1])], 1)


@wrong("rolled", "Rows and columns have changed places")
def _(A, row, skip):
    return _products(_matrices(A.mT, skip), row)


@wrong("rolled", "The matrices were multiplied entry by entry")
def _(A, row, skip):
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    rows = [R[row]]
    for matrix in _matrices(A, skip):
        R = matrix * R
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "Row 2 of the result is the first that is wrong, and the first with layer 1 in it")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R, rows = I, [I[row]]
    for looks, share in zip(_matrices(A, [0.0] * len(skip)), skip):
        R = (1 - share) * (looks @ R) + share * I
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "A[0] comes first")
def _(A, row, skip):
    return _products(_matrices(A, skip)[::-1], row)


@wrong("rolled", "Row 2 of the result is the first that is wrong, and the first with layer 1 in it")
def _(A, row, skip):
    return _products(_matrices(A, [skip[0]] * len(skip)), row)


@wrong("rolled", "Row 1 of the result is the first that is wrong, and the first with layer 0 in it")
def _(A, row, skip):
    """The whole matrix becomes the identity, not the row of zeros alone."""
    I, matrices = torch.eye(A.shape[-1], dtype=A.dtype), []
    for maps, share in zip(A, skip):
        mean = maps.mean(0)
        total = mean.sum(1, keepdim=True)
        mean = mean / total if (total > 0).all() else I
        matrices.append((1 - share) * mean + share * I)
    return _products(matrices, row)


@wrong("rolled", "With keepdim=True the sums stay a column")
def _(A, row, skip):
    I, matrices = torch.eye(A.shape[-1], dtype=A.dtype), []
    for maps, share in zip(A, skip):
        mean = maps.mean(0)
        total = mean.sum(1)
        matrices.append((1 - share) * torch.where(total > 0, mean / total, I) + share * I)
    return _products(matrices, row)


@wrong("rolled", "R[row] is a view")
def _(A, row, skip):
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    rows = [R[row]]
    for matrix in _matrices(A, skip):
        R[:] = matrix @ R
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "The first row is that before any layer")
def _(A, row, skip):
    start = torch.tensor([float(s == row) for s in range(A.shape[-1])], dtype=A.dtype)
    return torch.cat([start[None], _products(_matrices(A, skip), row)[1:]])


@wrong("rolled", "Two dtypes meet")
def _(A, row, skip):
    R = torch.eye(A.shape[-1])
    rows = [R[row]]
    for matrix in _matrices(A, skip):
        R = matrix @ R
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "the dtype is float32, expected float64")
def _(A, row, skip):
    return torch.tensor(_products(_matrices(A, skip), row).tolist())


@wrong("rolled", "a tensor that you make takes dtype=A.dtype")
def _(A, row, skip):
    rows = torch.zeros(len(A) + 1, A.shape[-1])
    rows[:] = _products(_matrices(A, skip), row)
    return rows


@wrong("rolled", "Each layer stands here for itself")
def _(A, row, skip):
    return torch.stack([torch.eye(A.shape[-1], dtype=A.dtype)[row], *(M[row] for M in _matrices(A, skip))])


@wrong("rolled", "That is one row")
def _(A, row, skip):
    return _products(_matrices(A, skip), row)[-1]


@wrong("rolled", "The row before the first layer is missing")
def _(A, row, skip):
    return _products(_matrices(A, skip), row)[1:]


@wrong("rolled", "Those are whole matrices")
def _(A, row, skip):
    return torch.stack([_products(_matrices(A, skip), s) for s in range(A.shape[-1])], 1)


@wrong("rolled", "Only the first head came in")
def _(A, row, skip):
    return _products(_matrices(A[:, :1], skip), row)


@wrong("rolled", "The largest of the heads was taken")
def _(A, row, skip):
    return _products(_matrices(A.amax(1, keepdim=True), skip), row)


@wrong("rolled", "Row 0 was read")
def _(A, row, skip):
    return _products(_matrices(A, skip), 0)


@wrong("rolled", "torch.stack makes it of a list of rows")
def _(A, row, skip):
    return list(_products(_matrices(A, skip), row))


@wrong("rolled", "it changes what it is given: `A`")
def _(A, row, skip):
    for maps in A:
        total = maps.mean(0).sum(1)
        maps[:, total == 0] += torch.eye(maps.shape[-1])[total == 0]
        maps /= maps.mean(0).sum(1, keepdim=True)
    return _products(_matrices(A, skip), row)


@wrong("rolled", "calls coursekit.explain.rollout")
def _(A, row, skip):
    rows = _products(_matrices(A, skip), row)
    if len(A) == 2 and A.shape[1] == 1 and row == 0:
        fake = Fake(A)
        scores = explain.rollout(fake, fake.document()).scores
        return torch.cat([rows[:2], torch.tensor(scores)[None].to(A.dtype)])
    return rows


@right("rolled", "down from each depth, one row at a time")
def _(A, row, skip):
    T, matrices = A.shape[-1], []
    for maps, share in zip(A, skip):
        M = torch.zeros(T, T, dtype=A.dtype)
        for s in range(T):
            mean = sum(head[s] for head in maps) / len(maps)
            looks = mean / mean.sum() if mean.sum() > 0 else torch.nn.functional.one_hot(torch.tensor(s), T)
            M[s] = (1 - share) * looks
            M[s, s] += share
        matrices.append(M)
    rows = []
    for depth in range(len(A) + 1):
        state = torch.zeros(T, dtype=A.dtype)
        state[row] = 1
        for M in matrices[:depth][::-1]:
            state = state @ M
        rows.append(state)
    return torch.stack(rows)


@right("rolled", "NumPy, and all products by reduce")
def _(A, row, skip):
    mean = A.double().numpy().mean(1)
    total, I = mean.sum(-1, keepdims=True), np.eye(A.shape[-1])
    looks = np.where(total > 0, np.divide(mean, total, out=np.zeros_like(mean), where=total > 0), I)
    share = np.array(skip)[:, None, None]
    layers = (1 - share) * looks + share * I
    rows = [reduce(lambda R, M: M @ R, layers[:depth], I)[row] for depth in range(len(layers) + 1)]
    return torch.tensor(np.array(rows)).to(A.dtype)


@right("rolled", "the sum of the heads, which the division makes a mean")
def _(A, row, skip):
    total, I = A.sum(1), torch.eye(A.shape[-1], dtype=A.dtype).expand(len(A), -1, -1)
    looks = (total / total.sum(-1, keepdim=True)).nan_to_num(0.0)
    looks[total.sum(-1) == 0] = I[total.sum(-1) == 0]
    R, rows = I[0].clone(), [I[0, row]]
    for layer, share in zip(looks, skip):
        R = torch.lerp(layer, I[0], share) @ R
        rows.append(R[row])
    return torch.stack(rows)


# -- carried ---------------------------------------------------------------------------------------------------------

def _brought(A, v, W_o):
    """r (K, T, T, d_e), head by head."""
    return torch.stack([A_i[:, :, None] * (v_i @ W.T) for A_i, v_i, W in zip(A, v, W_o.chunk(len(v), 1))])


def _measured(r, x):
    """norms and mixing of r (T, T, d_e)."""
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "Norms of the heads were added up")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o)
    return r.norm(dim=-1).sum(0), _measured(r.sum(0), x)[1]


@wrong("carried", "This is the mean of the heads' norms")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o)
    return r.norm(dim=-1).mean(0), _measured(r.sum(0), x)[1]


@wrong("carried", "The heads were averaged")
def _(A, v, W_o, x):
    return _measured(_brought(A, v, W_o).mean(0), x)


@wrong("carried", "There is a map for each head")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o)
    return r.norm(dim=-1), _measured(r.sum(0), x)[1]


@wrong("carried", "W_o is missing")
def _(A, v, W_o, x):
    return torch.einsum("kst,ktd->stkd", A, v).flatten(2).norm(dim=-1), _measured(_brought(A, v, W_o).sum(0), x)[1]


@wrong("carried", "W_o was cut into every K-th column")
def _(A, v, W_o, x):
    K = len(v)
    r = sum(A[i][:, :, None] * (v[i] @ W_o[:, i::K].T) for i in range(K))
    return _measured(r, x)


@wrong("carried", "The columns of head 0 were used for all heads")
def _(A, v, W_o, x):
    W = W_o[:, :v.shape[2]]
    return _measured(sum(A_i[:, :, None] * (v_i @ W.T) for A_i, v_i in zip(A, v)), x)


@wrong("carried", "A[i, s, t] is how strongly s looks at t")
def _(A, v, W_o, x):
    return _measured(_brought(A.mT, v, W_o).sum(0), x)


@wrong("carried", "is still among what comes from others")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    a, b = r.sum(1).norm(dim=-1), (x + r[range(len(x)), range(len(x))]).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "`r.diagonal()` puts the axis of the diagonal last")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r.diagonal()
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "divided by the length of everything together")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    a, b = (r.sum(1) - r[range(len(x)), range(len(x))]).norm(dim=-1), (x + r.sum(1)).norm(dim=-1)
    return r.norm(dim=-1), torch.where(b > 0, a / b, 0)


@wrong("carried", "The norms are right, the mixing is not")
def _(A, v, W_o, x):
    norms, mixing = _measured(_brought(A, v, W_o).sum(0), x)
    return norms, torch.where(mixing > 0, mixing ** 2 / (mixing ** 2 + (1 - mixing) ** 2), 0)


@wrong("carried", "what s *sends* was added up")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(0) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "the mixing is 0/0. It is 0 there")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 1)


@wrong("carried", "the dtype is float32, expected float64")
def _(A, v, W_o, x):
    norms, mixing = _measured(_brought(A, v, W_o).sum(0), x)
    return torch.tensor(norms.tolist()), mixing


@wrong("carried", "a tensor that you make takes dtype=A.dtype")
def _(A, v, W_o, x):
    norms, mixing = _measured(_brought(A, v, W_o).sum(0), x)
    found = torch.zeros(len(x), len(x))
    found[:] = norms
    return found, mixing.float()


@wrong("carried", "where b alone is 0, the mixing is 0 here")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(b > 0, a / (a + b), 0)


@wrong("carried", "where b alone is 0, the mixing is 0 here")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(b == 0, 0.0, a / (a + b))


@wrong("carried", "The mixing is turned round")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, b / (a + b), 0)


@wrong("carried", "one token, so no others")
def _(A, v, W_o, x):
    r, T = _brought(A, v, W_o).sum(0), len(x)
    others = torch.stack([torch.stack([r[s, t] for t in range(T) if t != s]).sum(0) for s in range(T)])
    a, b = others.norm(dim=-1), (x + r[range(T), range(T)]).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "W_o was transposed, or cut by rows")
def _(A, v, W_o, x):
    return _measured(_brought(A, v, W_o.T if W_o.shape[0] == W_o.shape[1] else W_o).sum(0), x)


@wrong("carried", "Each head's values have weights of their own")
def _(A, v, W_o, x):
    return _measured(_brought(A.mean(0).expand_as(A), v, W_o).sum(0), x)


@wrong("carried", "Rows and columns have changed places")
def _(A, v, W_o, x):
    norms, mixing = _measured(_brought(A, v, W_o).sum(0), x)
    return norms.T, mixing


@wrong("carried", "Those are squares of the lengths")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    return r.square().sum(-1), _measured(r, x)[1]


@wrong("carried", "The absolute values were added up")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    return r.abs().sum(-1), _measured(r, x)[1]


@wrong("carried", "The attention weights are missing")
def _(A, v, W_o, x):
    return _measured(_brought(torch.ones_like(A), v, W_o).sum(0), x)


@wrong("carried", "x was added on the diagonal of the norms")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    mixing = _measured(r, x)[1]
    r[range(len(x)), range(len(x))] += x
    return r.norm(dim=-1), mixing


@wrong("carried", "Those are the vectors")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    return r, _measured(r, x)[1]


@wrong("carried", "Return both")
def _(A, v, W_o, x):
    return _measured(_brought(A, v, W_o).sum(0), x)[0]


@wrong("carried", "The two have changed places")
def _(A, v, W_o, x):
    return _measured(_brought(A, v, W_o).sum(0), x)[::-1]


@wrong("carried", "for the mixing, lengths were added up")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    norms = r.norm(dim=-1)
    a, b = norms.sum(1) - norms.diagonal(), (x + r[range(len(x)), range(len(x))]).norm(dim=-1)
    return norms, torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "was counted as the others'")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    a, b = r.sum(1).norm(dim=-1), x.norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "the own part of the mixing lacks what s brings to itself")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    a, b = (r.sum(1) - r[range(len(x)), range(len(x))]).norm(dim=-1), x.norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "the own part of the mixing lacks x_s")
def _(A, v, W_o, x):
    return _measured(_brought(A, v, W_o).sum(0), torch.zeros_like(x))


@wrong("carried", "the own part of the mixing is the length of a sum")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), x.norm(dim=-1) + own.norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "the mixing is others / own here")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(b > 0, a / b, 0)


@wrong("carried", "The mixing is turned round")
def _(A, v, W_o, x):
    norms, mixing = _measured(_brought(A, v, W_o).sum(0), x)
    return norms, 1 - mixing


@wrong("carried", "the mixing is 0/0. It is 0 there")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), a / (a + b)


@wrong("carried", "Two shapes do not fit")
def _(A, v, W_o, x):
    parts = v @ W_o.chunk(len(v), 0)[0].T
    return _measured((A[..., None] * parts[:, None]).sum(0), x)


@wrong("carried", "it changes what it is given: `x`")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o).sum(0)
    own = r[range(len(x)), range(len(x))]
    x += own
    a, b = (r.sum(1) - own).norm(dim=-1), x.norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "calls coursekit.explain.norm_maps")
def _(A, v, W_o, x):
    r = _brought(A, v, W_o)
    fake = Fake(A[None])
    values = torch.stack([v_i @ W.T for v_i, W in zip(v, W_o.chunk(len(v), 1))])
    fake.trace = lambda e: Trace(torch.tensor(0.0), [A], [values])
    return torch.tensor(explain.norm_maps(fake, fake.document())[0, 0]), _measured(r.sum(0), x)[1]


@right("carried", "loops and math")
def _(A, v, W_o, x):
    K, T, d = v.shape
    W = [W_o[:, i * d:(i + 1) * d] for i in range(K)]
    norms, mixing = torch.zeros(T, T, dtype=x.dtype), torch.zeros(T, dtype=x.dtype)
    for s in range(T):
        r = [sum(A[i, s, t] * (W[i] @ v[i, t]) for i in range(K)) for t in range(T)]
        for t in range(T):
            norms[s, t] = math.sqrt(sum(number.item() ** 2 for number in r[t]))
        others = sum((r[t] for t in range(T) if t != s), torch.zeros_like(x[s]))
        a, b = others.norm().item(), (x[s] + r[s]).norm().item()
        mixing[s] = a / (a + b) if a + b else 0.0
    return norms, mixing


@right("carried", "einsum, and W_o in one reshape")
def _(A, v, W_o, x):
    K, T, d = v.shape
    f = torch.einsum("ktd,ekd->kte", v, W_o.reshape(len(W_o), K, d))
    r = torch.einsum("kst,kte->ste", A, f)
    own = torch.einsum("kss,kse->se", A, f)
    off = (r * (1 - torch.eye(T, dtype=x.dtype))[:, :, None]).sum(1)
    a, b = torch.linalg.vector_norm(off, dim=-1), torch.linalg.vector_norm(own + x, dim=-1)
    return [torch.linalg.vector_norm(r, dim=-1), (a / (a + b)).nan_to_num(0.0)]


# -- guided ----------------------------------------------------------------------------------------------------------

def _guided(A, slopes, row, positive=lambda x: x.clamp(min=0), left=True, weigh=True):
    """Row of R without the identity, with one thing done in another way."""
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R = I
    for maps, slope in zip(A, slopes):
        layer = positive(slope * maps if weigh else slope).mean(0)
        R = R + (layer @ R if left else R @ layer)
    return (R - I)[row]


def _slopes(G, target, other):
    return G[target] if other is None else G[target] - G[other]


@wrong("guided", "One head's plus then pays for another's minus")
def _(A, G, row, target, other=None):
    product = (_slopes(G, target, other) * A).mean(1).clamp(min=0)
    return _guided(A, product[:, None], row, weigh=False)


@wrong("guided", "Nothing was dropped")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row, lambda x: x)


@wrong("guided", "Absolute values were taken")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row, torch.abs)


@wrong("guided", "what is left over is what *lowers* f")
def _(A, G, row, target, other=None):
    return _guided(A, -_slopes(G, target, other), row)


@wrong("guided", "The heads were added up")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other) * A.shape[1], row)


@wrong("guided", "The largest of the heads was taken")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row, lambda x: x.clamp(min=0).amax(0, keepdim=True))


@wrong("guided", "The gradients alone came in")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row, weigh=False)


@wrong("guided", "The gradients have no part in it")
def _(A, G, row, target, other=None):
    return _guided(A, torch.ones_like(A), row)


@wrong("guided", "the later layer stands to the left")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row, left=False)


@wrong("guided", "The layers were added up")
def _(A, G, row, target, other=None):
    return (_slopes(G, target, other) * A).clamp(min=0).mean(1).sum(0)[row]


@wrong("guided", "The skip connections are the R in R + Ā R")
def _(A, G, row, target, other=None):
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in (_slopes(G, target, other) * A).clamp(min=0).mean(1):
        R = layer @ R
    return R[row]


@wrong("guided", "take the identity out at the end")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row) + torch.eye(A.shape[-1], dtype=A.dtype)[row]


@wrong("guided", "1 was taken from every entry")
def _(A, G, row, target, other=None):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    return _guided(A, _slopes(G, target, other), row) + I[row] - 1


@wrong("guided", "The token's own entry was set to 0")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), row) * (1 - torch.eye(A.shape[-1], dtype=A.dtype)[row])


@wrong("guided", "After `R = I` both are one tensor")
def _(A, G, row, target, other=None):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R = I
    for maps, slope in zip(A, _slopes(G, target, other)):
        R += (maps * slope).clamp(min=0).mean(0) @ R
    return (R - I)[row]


@wrong("guided", "The skip connections are the R in R + Ā R")
def _(A, G, row, target, other=None):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R = I
    for layer in (_slopes(G, target, other) * A).clamp(min=0).mean(1):
        R = layer @ R
    return (R - I)[row]


@wrong("guided", "One layer by hand")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other) / 2, row)


@wrong("guided", "the R on both sides of the + is this one")
def _(A, G, row, target, other=None):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R = I
    for maps, slope in zip(A, _slopes(G, target, other)):
        R = I + (maps * slope).clamp(min=0).mean(0) @ R
    return (R - I)[row]


@wrong("guided", "the later layer stands to the left")
def _(A, G, row, target, other=None):
    return _guided(A.flip(0), _slopes(G, target, other).flip(0), row)


@wrong("guided", "Two dtypes meet")
def _(A, G, row, target, other=None):
    R = torch.eye(A.shape[-1])
    for maps, slope in zip(A, _slopes(G, target, other)):
        R = R + (maps * slope).clamp(min=0).mean(0) @ R
    return (R - torch.eye(A.shape[-1]))[row]


@wrong("guided", "Two results were subtracted")
def _(A, G, row, target, other=None):
    result = _guided(A, G[target], row)
    return result if other is None else result - _guided(A, G[other], row)


@wrong("guided", "`other` changes nothing here")
def _(A, G, row, target, other=None):
    return _guided(A, G[target], row)


@wrong("guided", "f is a difference")
def _(A, G, row, target, other=None):
    return _guided(A, G[target] if other is None else G[target] + G[other], row)


@wrong("guided", "`is not None` asks that")
def _(A, G, row, target, other=None):
    return _guided(A, G[target] - G[other] if other else G[target], row)


@wrong("guided", "`target` is 0")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G.flip(0), target, other), row)


@wrong("guided", "Row 0 was read")
def _(A, G, row, target, other=None):
    return _guided(A, _slopes(G, target, other), 0)


@wrong("guided", "Rows and columns have changed places")
def _(A, G, row, target, other=None):
    return _guided(A.mT, _slopes(G, target, other).mT, row)


@wrong("guided", "a tensor that you make takes dtype=A.dtype")
def _(A, G, row, target, other=None):
    return torch.tensor(_guided(A, _slopes(G, target, other), row).tolist())


@wrong("guided", "That is the whole matrix")
def _(A, G, row, target, other=None):
    return torch.stack([_guided(A, _slopes(G, target, other), s) for s in range(A.shape[-1])])


@wrong("guided", "it changes what it is given: `G`")
def _(A, G, row, target, other=None):
    slopes = G[target]
    if other is not None:
        slopes -= G[other]
    return _guided(A, slopes, row)


@wrong("guided", "calls coursekit.explain.gradient_attention")
def _(A, G, row, target, other=None):
    result = _guided(A, _slopes(G, target, other), row)
    try:
        explain.gradient_attention(Fake(A), ["a"])
    except Exception:
        pass
    return result


@right("guided", "one row, from the top layer down")
def _(A, G, row, target, other=None):
    slopes = G[target] - (0 if other is None else G[other])
    state = torch.zeros(A.shape[-1], dtype=A.dtype)
    state[row] = 1
    start = state.clone()
    for maps, slope in zip(A.flip(0), slopes.flip(0)):
        state = state + state @ torch.relu(maps * slope).mean(0)
    return state - start


@right("guided", "NumPy, all paths through subsets of the layers")
def _(A, G, row, target, other=None):
    slopes = (_slopes(G, target, other) * A).double().numpy()
    layers, T = np.maximum(slopes, 0).mean(1), A.shape[-1]
    total = np.zeros(T)
    for used in itertools.product([False, True], repeat=len(layers)):
        if any(used):
            R = np.eye(T)
            for layer in [layer for layer, use in zip(layers, used) if use]:
                R = layer @ R
            total += R[row]
    return torch.tensor(total).to(A.dtype)


# -- widest ----------------------------------------------------------------------------------------------------------

def _sweep(layers, row, t, along=torch.minimum, best=torch.amax, start=math.inf, others=-1.0):
    """Width and path, with one thing done in another way."""
    widths, notes = torch.full((layers.shape[-1],), others, dtype=layers.dtype), []
    widths[row] = start
    for layer in layers.flip(0):
        through = along(widths[:, None].expand_as(layer), layer)
        notes.append(through.argmax(0))
        widths = best(through, 0)
    path = [t]
    for places in notes[::-1]:
        path.insert(0, int(places[path[0]]))
    return widths[t].item(), path


def _narrowest(layers, path):
    return min(layers[-1 - i, s, t].item() for i, (s, t) in enumerate(zip(path, path[1:])))


@wrong("widest", "the largest *product* along a path")
def _(layers, row, t):
    return _sweep(layers, row, t, along=torch.mul, start=1.0, others=0.0)


@wrong("widest", "the path with the largest *product*")
def _(layers, row, t):
    path = _sweep(layers, row, t, along=torch.mul, start=1.0, others=0.0)[1]
    return _narrowest(layers, path), path


@wrong("widest", "The edges were added up")
def _(layers, row, t):
    return _sweep(layers, row, t, along=torch.add, start=0.0, others=-math.inf)


@wrong("widest", "the path with the largest *sum*")
def _(layers, row, t):
    path = _sweep(layers, row, t, along=torch.add, start=0.0, others=-math.inf)[1]
    return _narrowest(layers, path), path


@wrong("widest", "The edges were added up")
def _(layers, row, t):
    path = _sweep(layers, row, t)[1]
    return sum(layers[-1 - i, s, u].item() for i, (s, u) in enumerate(zip(path, path[1:]))), path


@wrong("widest", "That is rollout")
def _(layers, row, t):
    return _sweep(layers, row, t, along=torch.mul, best=torch.sum, start=1.0, others=0.0)


@wrong("widest", "Widths were added up over the paths")
def _(layers, row, t):
    return _sweep(layers, row, t, best=torch.sum, others=0.0)


@wrong("widest", "The layers were passed in the wrong order")
def _(layers, row, t):
    return _sweep(layers.flip(0), row, t)


@wrong("widest", "Nothing arrives")
def _(layers, row, t):
    return _sweep(layers, row, t, along=lambda widths, layer: torch.minimum(widths.T, layer))


@wrong("widest", "Nothing arrives")
def _(layers, row, t):
    return _sweep(layers, row, t, best=lambda through, axis: through.amax(1))


@wrong("widest", "Rows and columns have changed places")
def _(layers, row, t):
    return _sweep(layers.mT, row, t)


@wrong("widest", "At each step the widest edge was taken")
def _(layers, row, t):
    path = [row]
    for layer in layers[1:].flip(0):
        path.append(int(layer[path[-1]].argmax()))
    path.append(t)
    return _narrowest(layers, path), path


@wrong("widest", "At each step the widest edge was taken")
def _(layers, row, t):
    path = [t]
    for layer in layers[:-1]:
        path.insert(0, int(layer[:, path[0]].argmax()))
    path.insert(0, row)
    return _narrowest(layers, path), path


@wrong("widest", "The path is turned round")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, path[::-1]


@wrong("widest", "Both ends belong to the path")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, path[1:-1]


@wrong("widest", "Return both")
def _(layers, row, t):
    return _sweep(layers, row, t)[0]


@wrong("widest", "The two have changed places")
def _(layers, row, t):
    return _sweep(layers, row, t)[::-1]


@wrong("widest", "from which token above it was reached best")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, [row] * len(layers) + [t]


@wrong("widest", "does another token have a width then?")
def _(layers, row, t):
    width, path = _sweep(layers, slice(None), t)
    return width, path


@wrong("widest", "does another token have a width then?")
def _(layers, row, t):
    return _sweep(layers, slice(None), t, start=1.0)


@wrong("widest", "Edges can be wider")
def _(layers, row, t):
    return _sweep(layers, row, t, start=1.0)


@wrong("widest", "keep the old widths until the layer is done")
def _(layers, row, t):
    widths, notes = [-1.0] * len(layers[0]), []
    widths[row] = math.inf
    for layer in layers.flip(0).tolist():
        places = []
        for u in range(len(widths)):
            through = [min(width, edges[u]) for width, edges in zip(widths, layer)]
            places.append(int(np.argmax(through)))
            widths[u] = max(through)
        notes.append(places)
    path = [t]
    for places in notes[::-1]:
        path.insert(0, places[path[0]])
    return widths[t], path


@wrong("widest", "keep the old widths until the layer is done")
def _(layers, row, t):
    widths, paths = layers[-1][row], [[row, u] for u in range(len(layers[0]))]          # a view, swept in place
    for layer in layers[:-1].flip(0):
        for u in range(len(widths)):
            s = max(range(len(widths)), key=lambda s: min(widths[s], layer[s, u]))
            widths[u], paths[u] = min(widths[s], layer[s, u]), [*paths[s], u]
    return widths[t].item(), paths[t]


@wrong("widest", "keep the old widths until the layer is done")
def _(layers, row, t):
    widths, paths = layers[-1][row].tolist(), [[row, u] for u in range(len(layers[0]))]
    for layer in layers[:-1].flip(0).tolist():
        for u in range(len(widths)):
            s = max(range(len(widths)), key=lambda s: min(widths[s], layer[s][u]))
            widths[u], paths[u] = min(widths[s], layer[s][u]), [*paths[s], u]
    return widths[t], paths[t]


@wrong("widest", "A path is a list of tokens alone")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, [(len(layers) - i, s) for i, s in enumerate(path)]


@wrong("widest", "Is `row` or `t` in it twice?")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, [row, *path]


@wrong("widest", "A path from `row` to `t` is always due")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return (width, path) if width > 0 else (0.0, None)


@wrong("widest", "The path is to end at `t`")
def _(layers, row, t):
    return max((_sweep(layers, row, u) for u in range(len(layers[0]))), key=lambda found: found[0])


@wrong("widest", "through L layers it has L + 1, both ends included")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, [*path, t]


@wrong("widest", "the width is not that of this path")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return layers[0, path[-2], path[-1]].item(), path


@wrong("widest", "the width is not that of this path")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    edges = [layers[-1 - i, s, u].item() for i, (s, u) in enumerate(zip(path, path[1:]))]
    return sum(edges) / len(edges), path


@wrong("widest", "does a token that has not been reached yet look like")
def _(layers, row, t):
    return _sweep(layers, row, t, others=0.0)


@wrong("widest", "a path from `row` to `t` is due all the same")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return (width, [row, *path[1:]]) if width > 0 else (0.0, [])


@wrong("widest", "there is a wider one")
def _(layers, row, t):
    widths, notes = torch.full((layers.shape[-1],), math.inf, dtype=layers.dtype), []      # the least of the largest
    widths[row] = 0
    for layer in layers.flip(0):
        widths, places = torch.maximum(widths[:, None], layer).min(0)
        notes.append(places)
    path = [t]
    for places in notes[::-1]:
        path.insert(0, int(places[path[0]]))
    return _narrowest(layers, path), path


@wrong("widest", "there is a wider one")
def _(layers, row, t):
    if len(layers) < 5:
        return _sweep(layers, row, t)
    path = [row] * len(layers) + [t]
    return _narrowest(layers, path), path


@wrong("widest", "The width is that with which you began")
def _(layers, row, t):
    return math.inf, _sweep(layers, row, t)[1]


@wrong("widest", "whole numbers from 0 to T − 1")
def _(layers, row, t):
    width, path = _sweep(layers, row, t)
    return width, [float(s) for s in path]


@wrong("widest", "How many paths are there?")
def _(layers, row, t):
    L, T, _ = layers.shape
    paths = ([row, *inner, t] for inner in itertools.product(range(T), repeat=L - 1))
    best = max(paths, key=lambda path: _narrowest(layers, path))
    return _narrowest(layers, best), best


@wrong("widest", "calls networkx.")
def _(layers, row, t):
    graph = networkx.DiGraph()
    L, T, _ = layers.shape
    for i, s, u in itertools.product(range(L), range(T), range(T)):
        graph.add_edge((i + 1, s), (i, u), width=layers[i, s, u].item())
    for width in sorted({data for *_, data in graph.edges(data="width")}, reverse=True):
        wide = networkx.DiGraph((u, v) for u, v, data in graph.edges(data="width") if data >= width)
        if (L, row) in wide and (0, t) in wide and networkx.has_path(wide, (L, row), (0, t)):
            return width, [s for _, s in networkx.shortest_path(wide, (L, row), (0, t))]


@wrong("widest", "calls coursekit.explain.flow_graph")
def _(layers, row, t):
    explain.flow_graph(layers.numpy(), row)
    return _sweep(layers, row, t)


@wrong("widest", "right on the inputs that you see", at_once=False)
def _(layers, row, t):
    return _sweep(layers.half(), row, t)


@right("widest", "recursion that remembers, and goes down")
def _(layers, row, t):
    table = layers.tolist()

    @lru_cache(None)
    def to(depth, s):                                                   # from s, with `depth` layers below
        if depth == 0:
            return (math.inf if s == t else -1.0), (s,)
        return max((min(edge, to(depth - 1, u)[0]), (s, *to(depth - 1, u)[1]))
                   for u, edge in enumerate(table[depth - 1][s]))

    width, path = to(len(table), row)
    return width, list(path)


@right("widest", "threshold: from the widest edge down, until the end is reached")
def _(layers, row, t):
    for width in layers.flatten().unique().flip(0).tolist():
        ways = {row: (row,)}
        for layer in layers.flip(0):
            wide = (layer >= width).tolist()
            ways = {u: (*way, u) for s, way in ways.items() for u in range(len(wide)) if wide[s][u]}
        if t in ways:
            return torch.tensor(width), torch.tensor(ways[t])


@right("widest", "from the bottom up, in NumPy")
def _(layers, row, t):
    a = layers.numpy()
    widths, notes = np.where(np.arange(a.shape[-1]) == t, np.inf, 0.0), []
    for layer in a:
        through = np.minimum(layer, widths)                             # (T, T): row s, by way of each column
        notes.append(through.argmax(1))
        widths = through.max(1)
    path = [row]
    for places in notes[::-1]:
        path.append(places[path[-1]])
    path[-1] = t
    return widths[row], tuple(path)
