"""Checks of assignment 09 on Shapley values of a SLALOM: over all sets, by their size, and by an integral."""

import itertools
from math import comb

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

from .scores import LIBRARY, alphas

__all__ = ["by_size", "shapley"]

TWO = np.log([1.0, 3.0]), np.array([2.0, -3.0])
THREE = np.log([2.0, 1.0, 5.0]), np.array([1.0, -2.0, 3.0])
FIVE = np.array([0.0, 2.0, -1.0, 1.5, 4.0]), np.array([1.0, -1.0, 3.0, 0.5, 2.0])


# -- by_size ---------------------------------------------------------------------------------------------------------

def _score(s, v, S):
    S = list(S)
    return alphas(s[S]) @ v[S] if S else 0.0


def _frozen(s, v, S):
    """The weights of the whole document, kept as they were."""
    return alphas(s)[list(S)] @ v[list(S)]


def _adds(score, s, v, i, S):
    return score(s, v, (*S, i)) - score(s, v, S)


@question((1, 2), {"two tokens": TWO, "three tokens": THREE, "one token": (np.array([2.0]), np.array([-3.0])),
                   "five tokens": FIVE, "values that are all the same": (FIVE[0][:4], np.full(4, 2.0))},
          promises={r"a document of $n \le 10$ tokens": lambda *parts: {len(part) for part in parts} in [
              {n} for n in range(1, 11)]},
          returns="table (n, n), φ (n,)", forbidden=LIBRARY, instead="the sets",
          otherwise="Two tokens by hand: what does the first add to nothing, and what to the other one? It is a row "
                    "of the table, and φ its mean.",
          hints={"endless": "For 9 tokens there are 256 sets beside each token. Do you go through the 9! orders?"})
def by_size(s, v, *, score=_score, adds=_adds, mean=np.mean, tell=lambda table: table.mean(1)):
    """by_size(s, v): (table, φ); table[i, k] is what token i adds to k others, on average over all sets of k others."""
    n = len(s)
    table = np.zeros((n, n))
    for i, k in itertools.product(range(n), repeat=2):
        others = [j for j in range(n) if j != i]
        table[i, k] = mean([adds(score, s, v, i, S) for S in itertools.combinations(others, k)])
    return table, tell(table)


by_size.mistakes(
    ("What a token adds to *nothing* is its value: the empty document scores 0. The first column is 0 here.",
     dict(adds=lambda score, s, v, i, S: _adds(score, s, v, i, S) if S else 0.0)),
    ("The weights were those of the whole document, whatever is left of it. Among fewer tokens each has more: take the "
     "softmax anew for each set.", dict(score=_frozen)),
    ("Each entry is a sum over the sets. It is their mean: there are C(n − 1, k) sets of k others.", dict(mean=np.sum)),
    ("The sign is turned round: the score with the token, less the score without it.",
     dict(adds=lambda *case: -_adds(*case))),
    ("φ is the sum of a row here. Each size counts alike: it is the mean.", dict(tell=lambda table: table.sum(1))),
    ("φ weighs each size by how many sets it has: that is Banzhaf's value. For Shapley's each size counts alike.",
     dict(tell=lambda table: table @ [comb(len(table) - 1, k) for k in range(len(table))] / 2 ** (len(table) - 1))),
    ("φ is the last column alone, what a token adds to all others.", dict(tell=lambda table: table[:, -1])))


@by_size.suspect
def _(got, s, v):
    if any(kind(part) == "a NumPy array" and np.isnan(part).any() for part in got):
        return "Something is not a number: nothing is left of the empty set, 0/0. It scores 0."
    return None


# -- shapley ---------------------------------------------------------------------------------------------------------

SIXTY = np.tile(FIVE[0], 12) + np.arange(60) / 30, np.tile(FIVE[1], 12) - np.arange(60) / 20


def _nodes(n):
    x, w = np.polynomial.legendre.leggauss((n + 1) // 2)
    return (x + 1) / 2, w / 2


def _ends(a):
    return np.log(1e-17 / a.sum()), np.log(45 / a.min())


@question((1, 0), {"two tokens": TWO, "three tokens": THREE, "one token": (np.array([2.0]), np.array([-3.0])),
                   "five tokens": FIVE, "sixty tokens": SIXTY,
                   "importances far apart": (np.array([-6.0, 6.0, 0.0, 3.0]), np.array([1.0, -1.0, 2.0, 0.5]))},
          returns="φ (n,)", tolerance=(1e-7, 1e-9), forbidden=LIBRARY, instead="the integral",
          promises={"importances within ±8": lambda s, v: abs(s).max() <= 8},
          otherwise="Two tokens by hand: φ_1 is the mean of v_1 and of α_1 (v_1 − v_2). Do they add up to F?",
          hints={"endless": "There are 2^59 sets beside each of 60 tokens, too many to visit. For each λ and p the "
                            "mean over all of them is a product."})
def shapley(s, v, *, nodes=_nodes, ends=_ends, step=0.25, slope=lambda lam: lam, gap=None, own=1.0, gone=1.0):
    """shapley(s, v): (n,), the Shapley values of a SLALOM's tokens, F(∅) = 0, without visiting sets."""
    a = np.exp(s - s.max())
    lam = np.exp(np.arange(*ends(a), step))[:, None]                                          # (M, 1)
    E, phi = np.exp(-lam * a), np.zeros(len(s))
    for p, w in zip(*nodes(len(s)), strict=True):
        F = p * E + 1 - p                                               # (M, n)
        R = p * E * a * v / F
        R = R.sum(1, keepdims=True) - R                                 # of the others
        both = F.prod(1, keepdims=True) / F * (own * E * a * v - gone * (1 - E) * R)
        phi += w * (gap or step) * (slope(lam) * both).sum(0)
    return phi


def _one(share):
    return dict(nodes=lambda n: (np.array([share]), np.ones(1)))


shapley.mistakes(
    ("All others were there with p = ½ only: that is Banzhaf's value. Shapley's is a mean over all p from 0 to 1.",
     _one(0.5)),
    ("All others were there: that is `removal`, of question 4.", _one(1.0)),
    ("Twice as much: the weights of leggauss add up to 2, the length of the interval from −1 to 1.",
     dict(nodes=lambda n: (_nodes(n)[0], 2 * _nodes(n)[1]))),
    ("With λ = e^u, dλ is λ du: a factor λ is missing under the sum.", dict(slope=np.ones_like)),
    ("A sum is no integral yet: the step in u is missing.", dict(gap=1.0)),
    ("The token's own words are there, and not what it takes from the others: it is in their denominator, too.",
     dict(gone=0.0)),
    ("What the token takes from the others is there, and not what it says itself.", dict(own=0.0)))


@shapley.suspect
def _(got, s, v):
    right = shapley.reference(s, v)
    if kind(got) == "a NumPy array" and got.shape == right.shape and abs(got - right).max() < 0.1:
        return ("Near, but not exact. Are the nodes too few for a polynomial of degree n − 1, the step in u too wide, "
                "or its range too short for the faintest token?")
    return None
