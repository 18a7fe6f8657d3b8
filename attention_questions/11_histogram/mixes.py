"""Checks of assignment 11 on what a mix aI + b11ᵀ holds: reading the count off it, and three mixes that are one."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind
from coursekit.worlds.histogram import LETTERS, T

__all__ = ["decode", "triplets"]

RATIO = 2                   # a/b at which three words are to have one mix


# -- decode ----------------------------------------------------------------------------------------------------------

def mixes(ids, a, b, noise, seed=0):
    """Mixes (n·T, D) of words ids (n, T) over five letters, a of the own letter and b of each, with noise · b."""
    E = np.eye(5)[ids]
    U = a * E + b * E.sum(1, keepdims=True)
    return (U + noise * b * np.random.default_rng(seed).normal(size=E.shape)).reshape(-1, 5)


def _case(ids, ratio, noise, seed=0):
    b = 1 / (ids.shape[1] + ratio)
    return mixes(ids, ratio * b, b, noise, seed), ratio * b, b


def _squares(R):
    return (R ** 2).sum(-1)


def _whole(V, I):
    return np.maximum(np.round(V), I)


@question((2, 2), {"a word, no noise": _case(np.array([[2, 0, 4, 0, 1, 0]]), 5.5, 0.0),
                   "the own letter is not the loudest": _case(np.array([[2, 0, 0, 0, 0, 0], [1, 1, 3, 3, 3, 3]]), 1.5,
                                                              0.1),
                   "some noise": _case(np.array([[2, 0, 4, 0, 1, 0], [3, 3, 3, 1, 3, 3]]), 6.25, 0.2, 1),
                   "a small ratio, and noise": _case(np.array([[0, 0, 1, 2, 2, 3], [4, 4, 4, 4, 2, 1]]), 0.3, 0.25, 1)},
          returns="letters (n,), counts (n,)",
          otherwise="Take the first mix, less a at letter k, divided by b: for which k are all five numbers whole?",
          hints={"broadcast|shapes": "One letter k after the other will do: then all arrays have the shape (n, D)."})
def decode(U, a, b, *, less=lambda a: a, whole=_whole, far=_squares):
    """decode(U, a, b): for each mix (n, D), its own letter k and the count c_k for which a e_k + b c comes nearest,
    over all k and all whole c ≥ 0 with c_k ≥ 1."""
    I = np.eye(U.shape[1])
    V = (U[:, None] - less(a) * I) / b                                  # (n, k, D)
    C = whole(V, I)
    k = far(V - C).argmin(1)
    return k, C[np.arange(len(U)), k, k].astype(int)


def _loudest(U, a, b):
    k = U.argmax(1)
    return k, np.maximum(np.round((U.max(1) - a) / b), 1).astype(int)


decode.mistakes(
    ("The letter that is loudest in the mix need not be the own one: another that occurs often may be louder. For "
     "which letter do *all* numbers become whole?", _loudest),
    ("Only the own letter's number was looked at. All of them have to be near whole numbers.",
     dict(far=lambda R: np.einsum("nkk->nk", R) ** 2)),
    ("The count still has a in it: take a away at the own letter, then divide by b.",
     lambda U, a, b: (decode.reference(U, a, b)[0],
                      np.round(U[np.arange(len(U)), decode.reference(U, a, b)[0]] / b).astype(int))),
    ("The nearest whole number is due, and these are rounded down.",
     dict(whole=lambda V, I: np.maximum(np.floor(V), I))),
    ("The own letter occurs: once at least. Here some have the count 0.",
     dict(whole=lambda V, I: np.maximum(np.round(V), 0))),
    ("Counts are never negative: the nearest whole number that is 0 or more (1 or more for the own letter) is due.",
     dict(whole=lambda V, I: np.round(V))),
    ("The distance is squared: how far each number is off, squared, then summed.",
     dict(far=lambda R: np.abs(R).sum(-1))),
    ("All letters are in the distance, not the one alone that is farthest off.",
     dict(far=lambda R: np.abs(R).max(-1))))


@decode.suspect
def _(got, U, a, b):
    right = decode.reference(U, a, b)
    if np.array_equal(got[0], right[0] + 1):
        return "A letter is the number of its column, and columns are numbered from 0."
    if np.array_equal(got[0], right[0]) and not np.array_equal(got[1], right[1]):
        return "The letters are right and the counts are not: a count is the own letter's whole number."
    return None


# -- triplets --------------------------------------------------------------------------------------------------------

def compared(words, place):
    """(how far apart the mixes of three words are at most, in units of b; their counts) at a place, a = RATIO · b."""
    ids = np.array([[LETTERS.index(letter) for letter in word] for word in words])
    E = np.eye(len(LETTERS))[ids]                                       # (3, T, D)
    u = RATIO * E[:, place] + E.sum(1)
    apart = max(float(np.linalg.norm(u[i] - u[i - 1])) for i in range(3))
    return apart, (ids == ids[:, place, None]).sum(1).tolist()


def _readable(got):
    """Are they three words of the task's letters and a place in them?"""
    return type(got) in (tuple, list) and len(got) == 4 and all(
        type(word) in (str, np.str_) and len(word) == T and {*word} <= {*LETTERS} for word in got[:3]) and (
            kind(got[3]) == "a whole number" and 0 <= got[3] < T)


@question((2, 0), {"your words": ()},
          otherwise="Write the mixes as lists of numbers, in units of b: each letter's count, and 2 more for the own "
                    "one. The list is to stay; the 2 moves. What is the count of the letter that it moves to?")
def triplets():
    """triplets(): three words and a place at which they have one mix if a = 2b, and three different counts."""
    return "A" + "B" * 4 + "D" * 5, "BB" + "AAA" + "D" * 5, "DDD" + "AAA" + "BBBB", 0


@triplets.judge
def _(got):
    if not _readable(got):
        return f"three words of {T} letters out of {LETTERS} and a place from 0 to {T - 1} are due"
    apart, counts = compared(got[:3], got[3])
    if apart > 1e-9:
        return f"the mixes are up to {apart:.2f} b apart (counts {counts}); they are to be the same"
    if len({*counts}) < 3:
        return f"the mixes are the same, and the counts are {counts}; all three are to differ"
    return None


@triplets.suspect
def _(got):
    if not _readable(got):
        return f"Return three strings of {T} letters out of {LETTERS}, and a whole number from 0 to {T - 1}."
    *words, place = got
    if len({word[place] for word in words}) < 3:
        return ("With the same own letter the numbers of the mix are the counts, and 2 more on one of them: one mix, "
                "one count. All three own letters have to differ.")
    if compared(words, place)[0] < 1e-9:
        return ("One mix: that is it. The due counts are the mix's numbers at the three own letters, less 2: these "
                "three numbers have to differ, and all numbers together have a sum that you know.")
    return None
