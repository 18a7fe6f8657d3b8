"""Checks of assignment 10 on what the score does not see: the farthest weights with nearly one score, and the part of
attention that every output is blind to."""

import itertools

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

from .weights import LIBRARY, js

__all__ = ["farthest", "effective"]


# -- farthest --------------------------------------------------------------------------------------------------------

def _inside(y, low, high):
    return (y >= low) & (y <= high)


def _bounds(low, high):
    return low, high


def _share(b, y_i, y_j):
    return (b - y_j) / (y_i - y_j)


def _all_pairs(y):
    return itertools.permutations(range(len(y)), 2)


def _in_a_row(order):
    """Pairs of neighbours, both ways."""
    return [pair for one in zip(order, order[1:], strict=False) for pair in (one, one[::-1])]


def _kept(share):
    return share if 0 <= share <= 1 else None


@question((2, 3), {"five tokens": (np.array([3, 7, 4, 5, 1]) / 20, np.array([0.5, 0.0, -3.0, 1.0, 1.5]), -0.6, 0.2),
                   "three tokens": (np.array([0.5, 0.3, 0.2]), np.array([2.0, -1.0, 1.5]), 0.9, 1.1),
                   "five others": (np.array([0.05, 0.15, 0.2, 0.5, 0.1]), np.array([-4.0, -0.5, 2.5, -3.5, -2.5]),
                                   -1.975, -1.175),
                   "wide bounds": (np.array([0.15, 0.3, 0.4, 0.1, 0.05]), np.array([-1.5, -3.5, -0.5, -1.0, 2.5]),
                                   -1.85, -1.25),
                   "a weight of zero": (np.array([0.6, 0.3, 0.0, 0.1]), np.array([2.0, -1.0, -1.5, 3.0]), 1.1, 1.3),
                   "one within the bounds, one outside": (np.array([10, 6, 10, 1]) / 27,
                                                          np.array([2.0, 1.0, 1.5, -1.0]), -0.02, 2.28),
                   "all say the same": (np.array([0.2, 0.5, 0.3]), np.full(3, 1.5), 1.4, 1.6),
                   "one token": (np.ones(1), np.array([2.0]), 1.9, 2.1)},
          promises={r"$\text{low} < f < \text{high}$": lambda alpha, y, low, high: low < alpha @ y < high,
                    "One weight of `alpha` may be 0": lambda alpha, y, low, high: (
                        alpha.min() >= 0 and (alpha == 0).sum() < 2 and abs(alpha.sum() - 1) < 1e-9)},
          returns="weights (T,), divergence", forbidden=LIBRARY, instead="`js`", lend=("js",),
          otherwise="List all your candidates for the three tokens: there are two pairs for each bound, and no single "
                    "token. Has each a score of 0.9 or 1.1? Which of the four is farthest by `js`?",
          hints={"ZeroDivision": "Two tokens with one y say that y in any mixture: no share is special. Such a pair is "
                                 "left out; each of its tokens alone is a candidate of its own."})
def farthest(alpha, y, low, high, *, single=_inside, bounds=_bounds, share=_share, keep=_kept, pick=np.argmax,
             far=lambda found, alpha: js.reference(found, alpha), pair=lambda top, bottom, low, high: top > bottom,
             places=_all_pairs):
    """farthest(alpha, y, low, high): the weights (T,) with low ≤ weights · y ≤ high that are farthest from alpha, and
    their divergence."""
    T = len(y)
    found = list(np.eye(T)[single(y, low, high)])
    for i, j in places(y):
        for bound in bounds(low, high):
            if pair(y[i], y[j], low, high) and (x := keep(share(bound, y[i], y[j]))) is not None:
                found.append(x * np.eye(T)[i] + (1 - x) * np.eye(T)[j])
    found = np.array(found)
    best = found[pick(far(found, alpha))]
    return best, float(js.reference(best[None], alpha)[0])


farthest.mistakes(
    ("Single tokens are missing: one whose y lies within the bounds keeps the score on its own.",
     dict(single=lambda y, low, high: np.zeros(len(y), bool))),
    ("A single token is allowed only if its y lies within the bounds.",
     dict(single=lambda y, low, high: np.ones(len(y), bool))),
    ("Pairs were tried only if one token is above both bounds and the other below both. One of them may lie within the "
     "bounds: it is their mixture that must lie on one.",
     dict(pair=lambda top, bottom, low, high: top > high and bottom < low)),
    *(("Only neighbours were mixed. A corner may have any two tokens.", dict(places=places)) for places in (
        lambda y: _in_a_row(range(len(y))), lambda y: _in_a_row(np.argsort(y, kind="stable").tolist()))),
    ("Only the lower bound was tried. The score may be anywhere between both, and each has its corners.",
     dict(bounds=lambda low, high: (low,))),
    ("Only the upper bound was tried. The score may be anywhere between both, and each has its corners.",
     dict(bounds=lambda low, high: (high,))),
    ("The pairs were made for the score in the middle of the bounds. Corners lie on a bound.",
     dict(bounds=lambda low, high: ((low + high) / 2,))),
    ("The two shares of a pair have changed places: the score is not within the bounds.",
     dict(share=lambda b, y_i, y_j: 1 - _share(b, y_i, y_j))),
    ("A share outside of 0 … 1 was cut to it, and the pair then says something else. Leave such a pair out.",
     dict(keep=lambda share: min(max(share, 0.0), 1.0))),
    ("These are the nearest corner's weights. The farthest is due.", dict(pick=np.argmin)),
    ("By another distance these are the farthest, as by the sum of |weights − alpha|. Here it is your `js`.",
     dict(far=lambda P, q: np.abs(P - q).sum(1))))


@farthest.suspect
def _(got, alpha, y, low, high):
    if type(got) not in (tuple, list) or len(got) != 2 or kind(got[0]) != "a NumPy array" or got[0].shape != y.shape:
        return None
    if not np.isfinite(got[0]).all():
        return "Divided by 0: a pair of tokens with one y has no share. Each of its tokens is tried alone."
    if abs(got[0].sum() - 1) > 1e-6 or got[0].min() < -1e-9:
        return "These are no weights: none is below 0, and they add up to 1."
    if not low - 1e-6 <= got[0] @ y <= high + 1e-6:
        return "With these weights the score is outside of the bounds."
    if same(got[0], farthest.reference(alpha, y, low, high)[0]):
        return "The weights are right, and the divergence is not theirs: js(weights[None], alpha)[0]."
    return None


# -- effective -------------------------------------------------------------------------------------------------------

def _with_ones(V):
    return np.column_stack([V, np.ones(len(V))])


def _on(B):
    return B @ np.linalg.pinv(B)


def _kept_part(A, P):
    return A @ P


@question((1, 0), {"five tokens, values in a line": (np.array([[0.8, 0.2, 0.0, 0.0, 0.0], [0.1, 0.3, 0.3, 0.2, 0.1]]),
                                                     np.array([[1.0], [1.0], [0.0], [0.0], [-1.0]])),
                   "five tokens, two directions": (np.array([[0.5, 0.2, 0.1, 0.1, 0.1]]), np.array(
                       [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, 0.5], [0.0, 0.0]])),
                   "the second direction is the first": (np.array([[0.5, 0.2, 0.2, 0.1]]), np.array(
                       [[1.0, 2.0], [2.0, 4.0], [0.0, 0.0], [-1.0, -2.0]])),
                   "all values alike": (np.array([[0.5, 0.3, 0.2]]), np.full((3, 2), 1.5)),
                   "as many directions as tokens": (np.array([[0.7, 0.3]]), np.array([[1.0, 2.0], [-1.0, 0.5]])),
                   "nine tokens": (np.arange(1, 10)[None] / 45, 4 * np.arange(36).reshape(9, 4) ** 2 % 9 - 2.0)},
          promises={"rows that add up to 1": lambda A, V: abs(A.sum(1) - 1).max() < 1e-9},
          returns="E (n, T), free", forbidden=LIBRARY, instead="np.linalg",
          otherwise="In the first case tokens 0 and 1 say the same: in each row of E they have the same weight. And "
                    "all values alike leave even weights, since only the sum is seen. Are yours?",
          hints={"Singular": "Where columns depend on each other, BᵀB has no inverse. np.linalg.pinv(B) does without."})
def effective(A, V, *, columns=_with_ones, project=_on, part=_kept_part, free=lambda T, rank, V: T - rank):
    """effective(A, V): the shortest rows E (n, T) that add up to 1 and give the output of A, E V = A V; and the number
    of directions in which rows can move without a change of output or sum."""
    B = columns(V)
    return part(A, project(B)), int(free(len(V), np.linalg.matrix_rank(B), V))


effective.mistakes(
    ("Rows of E need not add up to 1 here: the column of ones beside the values is missing.",
     dict(columns=lambda V: V)),
    ("That is what the output cannot see. Take it away from A.", dict(part=lambda A, P: A - A @ P)),
    ("E is right where the columns stand at right angles and have length 1. Others need an inverse between.",
     dict(project=lambda B: B @ B.T)),
    ("Where a column says what the others say, QR gives a direction too many.",
     dict(project=lambda B: np.linalg.qr(B)[0] @ np.linalg.qr(B)[0].T)),
    ("`free` is T less the rank of the values: that the sum stays 1 costs one direction more, unless the values know "
     "the sum already.", dict(free=lambda T, rank, V: T - np.linalg.matrix_rank(V))),
    ("`free` counts columns. Those that depend on others take no freedom: it is their rank that counts.",
     dict(free=lambda T, rank, V: T - V.shape[1] - 1)),
    ("`free` is the rank, the directions that are seen.", dict(free=lambda T, rank, V: rank)))


@effective.suspect
def _(got, A, V):
    if type(got) in (tuple, list) and len(got) == 2 and got[1] == effective.reference(A, V)[1] - 1:
        return ("`free` is one too few. Is it T less a trace? That is 3.9999999 where 4 is due, and int() cuts it: "
                "round it, or take a rank.")
    return None
