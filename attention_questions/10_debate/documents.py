"""The check of assignment 10 on two documents about which two tests of attention say opposite things."""

from attention_questions.prelude import Question, itertools, math, np
from coursegrade.kit.question import GATE

from . import solution

FEWEST, MOST, EPSILON = 5, 7, 0.01      # words, |Δp|
KNOWN = 1.0                             # how far two documents are opposed at most: all pairs of 2,508 were tried
WORDS = {"the": (-1.5, 0.25), "film": (-1.0, 0.5), "plot": (-0.5, -0.5), "fine": (0.0, 1.0), "not": (1.5, -0.25),
         "but": (1.0, 0.1), "good": (0.5, 1.5), "great": (2.0, 2.0), "perfect": (-0.25, 4.0), "dull": (0.25, -1.5),
         "bad": (1.75, -2.0), "awful": (3.5, -3.0)}                     # log-weight and y, as in the notebook
DUE = ("Return two documents, each a list of 5 to 7 different words of the table. text.split() makes a list of a "
       "text, and .tolist() of an array.")


def tests(document):
    """(τ of the weights with the exact Shapley values' sizes, divergence of the farthest adversary with |Δp| ≤ .01,
    its weights)."""
    s, y = np.array([WORDS[word] for word in document]).T
    e, n = np.exp(s), len(s)
    Z = np.array(list(itertools.product((0, 1), repeat=n)))
    F = (Z * e) @ y / np.maximum((Z * e).sum(1), 1e-300)
    share = [1 / n / math.comb(n - 1, k) for k in range(n)]
    phi = F @ [[share[z.sum() - 1] if there else -share[z.sum()] for there in z] for z in Z]
    alpha = e / e.sum()
    p = 1 / (1 + math.exp(-alpha @ y))
    low, high = (math.log(odds / (1 - odds)) for odds in (max(p - EPSILON, 1e-9), min(p + EPSILON, 1 - 1e-9)))
    adversary, far = solution.farthest(alpha, y, low, high)
    return solution.tau(alpha, phi, np.arange(n)[None])[0], far, adversary


opposite = Question(solution.opposite, (2, 1), {"your documents": ()}, known=KNOWN,
    why="Found by a search, and the words say why: in the first, the heavy *great* and *bad* cancel, and words with "
        "hardly any weight give what is left; in the second, only *awful* can give a score like that of *awful*.")


@opposite.judge
def _(got):
    if type(got) not in (list, tuple) or len(got) != 2 or not all(type(words) in (list, tuple) for words in got):
        yield f"two lists are due, each of {FEWEST} to {MOST} different words of the table", DUE
    for name, words in zip(("first", "second"), got, strict=True):
        if unfit := _unfit(words):
            yield f"the {name} document: {unfit}", DUE
    (one, far, _), (other, near, _) = found = [*map(tests, got)]
    if _opposed(found) >= GATE * KNOWN:
        return
    said = (f"first document: τ = {one:.3f}, JS = {far:.3f}; second: τ = {other:.3f}, JS = {near:.3f}. They are "
            f"opposed by {_opposed(found):.3f}; {GATE * KNOWN:.1f} is due")
    if _opposed(found[::-1]) >= GATE * KNOWN:
        yield said, "They are opposed, and have changed places: the first has more of both numbers."
    if 2 * (far - near) < GATE * KNOWN:
        yield said, (
            "The first document's adversary must find two words with little attention, between whose y the score lies: "
            "which word keeps it from that?" if far < 0.6 else
            "The second document's adversary is still free. If one word has nearly all the attention and the most "
            "extreme y, what can take its place?")
    yield said, (
        "The first document's order is not good enough: which two words does attention put in another order than the "
        "sizes of their Shapley values? One of them has more attention than effect." if one < 0.9 else
        "The second document's order is still too good: of the words other than the heaviest, let those with the "
        "larger |y| have the smaller weight.")


@opposite.measure
def _(got):
    found = [*map(tests, got)]
    for name, words, (agreement, far, adversary) in zip(("first", "second"), got, found, strict=True):
        there = " and ".join(f"“{words[i]}” ({adversary[i]:.2f})" for i in np.flatnonzero(adversary > 1e-9))
        print(f"  {name}: τ = {agreement:.3f}, JS = {far:.3f}; its adversary has all weight on {there}")
    return _opposed(found)


def _opposed(found):
    """By how much two tests judge two documents in opposite ways."""
    (one, far, _), (other, near, _) = found
    return round(min(one - other, 2 * (far - near)), 9)


def _unfit(words):
    """Why a list is no document, or ""."""
    strange = next((word for word in words if not isinstance(word, str) or word not in WORDS), None)
    if strange is not None:
        return f"{strange!r} is no word of the table"
    twice = next((word for word in words if list(words).count(word) > 1), None)
    return f"“{twice}” is there twice" if twice else "" if FEWEST <= len(words) <= MOST else (
        f"it has {len(words)} words, and {FEWEST} to {MOST} are due")
