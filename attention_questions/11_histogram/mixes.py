"""Checks of assignment 11 on what a mix aI + b11ᵀ holds: reading the count off it, and three mixes that are one."""

from attention_questions.prelude import Question, kind, np
from coursekit.worlds.histogram import LETTERS, T

from . import solution

# -- decode ----------------------------------------------------------------------------------------------------------

def _case(ids, ratio, noise, seed=0):
    """Mixes (n·T, D) of words ids (n, T) over five letters, a of the own letter and b of each, with noise · b; a; b."""
    E, b = np.eye(5)[ids], 1 / (len(ids[0]) + ratio)
    U = ratio * b * E + b * E.sum(1, keepdims=True) + noise * b * np.random.default_rng(seed).normal(size=E.shape)
    return U.reshape(-1, 5), ratio * b, b


decode = Question(solution.decode, (2, 2), {
    "a word, no noise": _case([[2, 0, 4, 0, 1, 0]], 5.5, 0.0),
    "the own letter is not the loudest": _case([[2, 0, 0, 0, 0, 0], [1, 1, 3, 3, 3, 3]], 1.5, 0.1),
    "some noise": _case([[2, 0, 4, 0, 1, 0], [3, 3, 3, 1, 3, 3]], 6.25, 0.2, 1),
    "a small ratio, and noise": _case([[0, 0, 1, 2, 2, 3], [4, 4, 4, 4, 2, 1]], 0.3, 0.25, 1)},
    returns="letters (n,), counts (n,)",
    otherwise="Take the first mix, less a at letter k, divided by b: for which k are all five numbers whole?",
    hints={"broadcast|shapes": "One letter k after the other will do: then all arrays have the shape (n, D)."})

FAR, WHOLE = "((V - C) ** 2).sum(-1)", "np.maximum(np.round(V), I)"
decode.mistakes(
    ("The letter that is loudest in the mix need not be the own one: another that occurs often may be louder. For "
     "which letter do *all* numbers become whole?", f"{FAR}.argmin(1) → U.argmax(1)"),
    ("Only the own letter's number was looked at. All of them have to be near whole numbers.",
     f"{FAR} → (np.einsum('nkk->nk', V - C) ** 2)"),
    ("The count still has a in it: take a away at the own letter, then divide by b.",
     "C[np.arange(len(U)), letters, letters] → np.round(U[np.arange(len(U)), letters] / b)"),
    ("The nearest whole number is due, and these are rounded down.", "np.round → np.floor"),
    ("The own letter occurs: once at least. Here some have the count 0.", f"{WHOLE} → np.maximum(np.round(V), 0)"),
    ("Counts are never negative: the nearest whole number that is 0 or more (1 or more for the own letter) is due.",
     f"{WHOLE} → np.round(V)"),
    ("The distance is squared: how far each number is off, squared, then summed.", f"{FAR} → abs(V - C).sum(-1)"),
    ("All letters are in the distance, not the one alone that is farthest off.", f"{FAR} → abs(V - C).max(-1)"))


@decode.suspect
def _(got, U, a, b):
    letters, counts = solution.decode(U, a, b)
    if np.array_equal(got[0], letters + 1):
        yield "A letter is the number of its column, and columns are numbered from 0."
    if np.array_equal(got[0], letters) and not np.array_equal(got[1], counts):
        yield "The letters are right and the counts are not: a count is the own letter's whole number."


# -- triplets --------------------------------------------------------------------------------------------------------

def _compared(words, place):
    """(how far apart the mixes of three words are at most, in units of b; their counts) at a place, a = 2b."""
    ids = np.array([[LETTERS.index(letter) for letter in word] for word in words])
    E = np.eye(len(LETTERS))[ids]                                       # (3, T, D)
    u = 2 * E[:, place] + E.sum(1)
    apart = max(float(np.linalg.norm(u[i] - u[i - 1])) for i in range(3))
    return apart, (ids == ids[:, place, None]).sum(1).tolist()


def _readable(got):
    """Are they three words of the task's letters and a place in them?"""
    return type(got) in (tuple, list) and len(got) == 4 and all(
        type(word) in (str, np.str_) and len(word) == T and {*word} <= {*LETTERS} for word in got[:3]) and (
            kind(got[3]) == "a whole number" and 0 <= got[3] < T)


triplets = Question(solution.triplets, (2, 0), {"your words": ()},
                    otherwise="Write the mixes as lists of numbers, in units of b: each letter's count, and 2 more for "
                              "the own one. The list is to stay; the 2 moves. What is the count of the letter that it "
                              "moves to?")


@triplets.judge
def _(got):
    if not _readable(got):
        yield f"three words of {T} letters out of {LETTERS} and a place from 0 to {T - 1} are due"
    apart, counts = _compared(got[:3], got[3])
    if apart > 1e-9:
        yield f"the mixes are up to {apart:.2f} b apart (counts {counts}); they are to be the same"
    if len({*counts}) < 3:
        yield f"the mixes are the same, and the counts are {counts}; all three are to differ"


@triplets.suspect
def _(got):
    if not _readable(got):
        yield f"Return three strings of {T} letters out of {LETTERS}, and a whole number from 0 to {T - 1}."
    *words, place = got
    if len({word[place] for word in words}) < 3:
        yield ("With the same own letter the numbers of the mix are the counts, and 2 more on one of them: one mix, "
               "one count. All three own letters have to differ.")
    if _compared(words, place)[0] < 1e-9:
        yield ("One mix: that is it. The due counts are the mix's numbers at the three own letters, less 2: these "
               "three numbers have to differ, and all numbers together have a sum that you know.")
