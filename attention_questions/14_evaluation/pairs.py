"""The check of assignment 14 on a comparison of explainers, document by document, with Holm's correction."""

import numpy as np

from coursegrade.kit.question import question

from .models import LIBRARY

__all__ = ["compare"]


def signs_of(n, R, seed):
    """R rows of n signs."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(R, n))


SCORES = np.array([[0.5, 0.2, 0.6, 0.3, 0.4, 0.3], [0.6, 0.5, 0.5, 0.6, 0.8, 0.4], [0.1, 0.3, 0.2, 0.5, 0.3, 0.3],
                   [0.7, 0.2, 0.6, 0.6, 0.3, 0.6], [0.0, 0.4, 0.1, 0.3, 0.2, 0.1]])
ONE_ALIKE = np.array([[0.5, 1.0, 0.75, 0.25, 0.5, 1.0], [1.0, 0.25, 0.5, 0.5, 1.0, 0.75],
                      [0.0, 0.25, 0.25, 0.5, 0.0, 0.25]])
ALIKE = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], [1.0, 1.0, 3.0, 4.0]])


def _paired(a, b, signs):
    """(mean difference, those with turned signs)."""
    return (a - b).mean(), signs @ (a - b) / len(a)


def _unpaired(a, b, signs):
    return a.mean() - b.mean(), signs @ a / len(a) - signs[::-1] @ b / len(b)


def _holm(p, cap=1.0, along=np.maximum.accumulate, factors=lambda m: np.arange(m, 0, -1), back=True):
    """Holm's p values, (m,)."""
    order = np.argsort(p, kind="stable")
    raised = np.minimum(along(p[order] * factors(len(p))), cap)
    return raised[np.argsort(order)] if back else raised


def _from_the_end(p):
    return np.minimum.accumulate(p[::-1])[::-1]


@question((2, 2), {"five explainers": (SCORES, signs_of(6, 40, 3)), "two": (SCORES[:2], signs_of(6, 19, 1)),
                   "equally good": (ALIKE, np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [-1, -1, -1, 1], [1, 1, -1, 1]])),
                   "one is equally good": (ONE_ALIKE, signs_of(6, 40, 5)), "one": (SCORES[:1], signs_of(6, 9, 2))},
          promises={"whose entries are 1 and −1": lambda scores, signs: (np.abs(signs) == 1).all()
                        and signs.shape[1] == scores.shape[1]},
          returns="best, p (m,), adjusted (m,)", forbidden=LIBRARY, instead="the rows of signs",
          otherwise="By hand, for differences (1, 1) and the signs (1, −1), (−1, −1): mean 1; turned, 0 and −1. One of "
                    "two is as large in size: p = (1 + 1)/(1 + 2). And Holm makes .02 and .04 of .01 and .04.")
def compare(scores, signs, *, means=_paired, size=np.abs, extra=1, slack=1e-12, adjust=_holm, among=True, own=1.0):
    """compare(scores, signs): the row with the largest mean; for each other row the p value of its mean difference
    from it, among those with signs turned by rows of `signs`; and these adjusted by Holm. The best has 1 in both."""
    best, m = int(scores.mean(1).argmax()), len(scores)
    p = np.full(m, own)
    for i in range(m):
        if i != best:
            found, turned = means(scores[best], scores[i], signs)
            p[i] = (extra + (size(turned) >= size(found) - slack).sum()) / (extra + len(signs))
    others = np.arange(m) != best if among else np.full(m, True)
    adjusted = np.full(m, own)
    adjusted[others] = adjust(p[others])
    return best, p, adjusted


def _ties_left_out(scores, signs):
    means = scores.mean(1)
    kept = [i for i in range(len(scores)) if i == means.argmax() or means[i] < means.max()]
    found = compare.reference(scores[kept], signs)[1:]
    rows = np.ones((2, len(scores)))
    rows[:, kept] = found
    return int(means.argmax()), *rows


compare.mistakes(
    ("The documents were not paired: signs were turned for each row by itself. Take differences first, document by "
     "document.", dict(means=_unpaired)),
    ("`p` looks at one side. A mean difference as far below 0 is as extreme.", dict(size=lambda d: d)),
    ("The differences as they were count as one of the draws: 1 + above and below.", dict(extra=0)),
    ("A mean that is just as far from 0 counts, and rounding may not tell: compare with |mean| − 1e-12.",
     dict(slack=-1e-12)),
    ("That is Bonferroni's correction, the same factor for all. Holm's falls with each step.",
     dict(adjust=lambda p: np.minimum(p * len(p), 1))),
    ("An adjusted value may not be smaller than the one before it: keep the largest so far.",
     dict(adjust=lambda p: _holm(p, along=lambda p: p))),
    ("The smallest p is multiplied by the number of comparisons. The best row is not compared with itself.",
     dict(among=False)),
    ("`adjusted` goes up where Holm goes down the list: that is Hochberg's way, which takes the smallest so far from "
     "the end.", dict(adjust=lambda p: _holm(p, along=_from_the_end))),
    ("That is the correction of Benjamini and Hochberg, for the share of false discoveries.",
     dict(adjust=lambda p: _holm(p, along=_from_the_end, factors=lambda m: m / np.arange(1, m + 1)))),
    ("The factors go the wrong way: the smallest p is multiplied by M, the largest by 1.",
     dict(adjust=lambda p: _holm(p, factors=lambda m: np.arange(1, m + 1)))),
    ("`adjusted` is in the order of p. Put each value back to its row.", dict(adjust=lambda p: _holm(p, back=False))),
    ("The best row itself is compared with nothing, and has 1 in `p` and in `adjusted`.", dict(own=0.0)),
    ("A row with the same mean as the best is compared with it, too, and counts among the M.", _ties_left_out),
    ("No p value is above 1.", dict(adjust=lambda p: _holm(p, np.inf))))
