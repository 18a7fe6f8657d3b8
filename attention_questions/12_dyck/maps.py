"""Checks of assignment 12 on attention maps: what is on the stack's top, and how far two maps are apart."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

from .reading import LIBRARY, balanced, read

__all__ = ["on_top", "apart"]


def _drawn(n, T, seed, holes=False):
    """Causal maps (n, 1 + T, 1 + T); with holes, some weights are 0."""
    rng = np.random.default_rng(seed)
    A = np.tril(rng.random((n, 1 + T, 1 + T)) ** 3 + 0.01)
    if holes:
        A *= (rng.random(A.shape) < 0.6) | (np.arange(1 + T) == 0)
    return A / A.sum(2, keepdims=True)


def even(n, T):
    """Even attention to all places read, (n, 1 + T, 1 + T)."""
    A = np.tril(np.ones((1 + T, 1 + T)))
    return np.tile(A / A.sum(1, keepdims=True), (n, 1, 1))


def causal(*maps):
    """Are they maps (n, 1 + T, 1 + T) whose rows read no future and add up to 1?"""
    return all(A.shape[1] == A.shape[2] and (A >= 0).all() and (np.triu(A, 1) == 0).all()
               and np.allclose(A.sum(2), 1, rtol=0, atol=1e-12) for A in maps)


# -- on_top ----------------------------------------------------------------------------------------------------------

def _entropy(a):
    return -(a[a > 0] * np.log(a[a > 0])).sum()


def _share(entropies, places):
    return np.mean(np.array(entropies) / np.log(places))


@question((1, 2), {"two texts": (_drawn(2, 6, 0), ["([]())", "[(())]"]),
                   "even": (even(1, 6), ["[]([])"]),
                   "some weights are 0": (_drawn(2, 8, 1, holes=True), ["(([])[])", "[]([()])"]),
                   "one pair": (_drawn(1, 2, 2), ["[]"]), "five deep": (_drawn(1, 10, 7), ["[(([[]]))]"])},
          promises={"row $t$ has weights for places 0 to $t$, which add up to 1, and zeros behind":
                        lambda A, texts: causal(A), "`texts` as in question 3": lambda A, texts: balanced(texts, A)},
          returns="top, even, spread", forbidden=LIBRARY, instead="a stack of your own", lend=("read",),
          otherwise="Take the text `[]`: one bracket closes, and the row before it has two places. What are the three "
                    "numbers?",
          hints={"list index out of range": "Does `read` stop early? It does where a text gets deeper than its "
                                            "`depth`, and these may have any."})
def on_top(A, texts, *, row=-1, all_rows=False, later=0, places=lambda t, T, a: t, spread=_share, log=_entropy,
           newest=False):
    """on_top(A, texts): (mean attention on the stack's top before a closing bracket, that of even attention, mean
    entropy as a share of an even row's)."""
    top, level, entropies, sizes = [], [], [], []
    for a, text in zip(A, texts, strict=True):
        tops, T = read.reference(text, len(text))[0], len(text)
        for t in range(1, T + 1):
            if text[t - 1] in ")]" or all_rows:
                last = max([s for s in range(1, t) if text[s - 1] in "(["], default=0)
                top.append(a[t + row, last if newest else tops[t - 1 + later]])
                size = places(t, T, a[t + row])
                level.append(1 / size)
                entropies.append(log(a[t + row]))
                sizes.append(max(size, 2))
    return float(np.mean(top)), float(np.mean(level)), float(spread(entropies, sizes))


on_top.mistakes(
    ("These are the rows *of* the closing brackets. The row before it decides which bracket comes.", dict(row=0)),
    ("The top after the closing bracket was looked up. Before it is closed, its partner is on top.", dict(later=1)),
    ("That is attention on the last bracket that was opened. It may be closed already: the top is the last *unmatched* "
     "one.", dict(newest=True)),
    ("All rows count here. Only those before a closing bracket are due.", dict(all_rows=True)),
    *(("The row at place t − 1 can see t places, START included: even attention gives each 1/t.", dict(places=places))
      for places in (lambda t, T, a: t + 1, lambda t, T, a: t - 1)),
    ("A place of weight 0 can be seen, too: even attention has 1/t for each of t places.",
     dict(places=lambda t, T, a: int((a > 0).sum()))),
    ("Even attention reads no future: it has 1/t for the t places up to the row's own, not 1/(1 + T).",
     dict(places=lambda t, T, a: 1 + T)),
    ("`spread` is the entropy in nats. Divide each row's by that of an even row, log t.",
     dict(spread=lambda entropies, sizes: np.mean(entropies))),
    ("The entropy is in bits, and that of the even row in nats.", dict(log=lambda a: _entropy(a) / np.log(2))),
    ("`spread` is a quotient of means. It is the mean of quotients, row by row.",
     dict(spread=lambda entropies, sizes: np.mean(entropies) / np.mean(np.log(sizes)))))


@on_top.suspect
def _(got, A, texts):
    seen = A[:, np.tril(np.ones(A.shape[1:], bool))]
    if (seen == 0).any() and type(got) in (list, tuple) and any(
            kind(part) == "a number" and np.isnan(part) for part in got):
        return "0 · log 0 is nan on a computer, and 0 in an entropy: leave the places without weight out."
    return None


# -- apart -----------------------------------------------------------------------------------------------------------

GROUPS = np.array([[0, 1, 2, 1, 2, 3, 4], [5, 5, 1, 7, 1, 7, 7]])


def _rows(difference):
    return np.abs(difference).sum(2) / 2


def _grouped(difference, groups):
    sums = np.zeros((*difference.shape[:2], groups.max() + 1))
    for i, own in enumerate(groups):
        for j, group in enumerate(own):
            sums[i, :, group] += difference[i, :, j]
    return sums


@question((1, 0), {"two texts": (_drawn(2, 6, 3), _drawn(2, 6, 4), GROUPS),
                   "each place its own group": (_drawn(1, 4, 5), even(1, 4), np.arange(5)[None]),
                   "one group": (_drawn(2, 6, 6), even(2, 6), np.zeros((2, 7), int)),
                   "the same maps": (even(2, 6), even(2, 6), GROUPS)},
          promises={"arrays $(n, 1 + T, 1 + T)$ as in question 4":
                        lambda A, B, groups: A.shape == B.shape and causal(A, B),
                    "whole numbers $(n, 1 + T)$": lambda A, B, groups: groups.shape == A.shape[:2]
                        and groups.dtype.kind == "i"},
          returns="by place, by group", forbidden=LIBRARY, instead="sums of your own",
          otherwise="Take one row of three places by hand, [1, 0, 0] and [0, 1, 0], with the first two in one group.")
def apart(A, B, groups, *, first=1, rows=_rows, sums=_grouped):
    """apart(A, B, groups): (mean total variation of rows 1 … T, the same once weights of a group are added up)."""
    difference = A - B
    return tuple(float(rows(x)[:, first:].mean()) for x in (difference, sums(difference, groups)))


apart.mistakes(
    ("Half of the sum of differences is due: two rows without a common place are at distance 1.",
     dict(rows=lambda x: np.abs(x).sum(2))),
    ("START's row is in the mean. All maps agree there, and so it makes them look nearer.", dict(first=0)),
    ("That is the mean over all entries. Each *row* has its distance.", dict(rows=lambda x: np.abs(x).mean(2) / 2)),
    ("Only the largest difference of a row counts here. It is half of their sum.",
     dict(rows=lambda x: np.abs(x).max(2))),
    ("The squares of differences were added up, not their sizes.", dict(rows=lambda x: (x ** 2).sum(2) / 2)),
    ("Within a group the sizes of differences were added up. First add the weights, then compare.",
     dict(sums=lambda x, groups: _grouped(np.abs(x), groups))),
    ("All texts' groups are those of the first one here.",
     dict(sums=lambda x, groups: _grouped(x, np.repeat(groups[:1], len(groups), 0)))))
