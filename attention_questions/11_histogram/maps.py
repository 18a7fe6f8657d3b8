"""Checks of assignment 11 on attention maps: what they depend on, and what is left when they are exchanged."""

import numpy as np

from coursegrade.kit.question import question

from .counting import LIBRARY, tally

__all__ = ["loudness", "swap"]

IDS = np.array([[2, 0, 4, 0, 6, 0], [5, 5, 1, 3, 1, 5]])


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def equal(ids):
    """(n, T, T): do both places have the same letter?"""
    return ids[:, :, None] == ids[:, None]


# -- loudness --------------------------------------------------------------------------------------------------------

def noisy(ids, own, same, noise, seed=0):
    """Maps (n, T, T) with these loudnesses, but for noise."""
    I, S = _places(ids)
    return softmax(np.log(own) * I + np.log(same) * S + noise * np.random.default_rng(seed).normal(size=S.shape))


def _places(ids):
    I = np.broadcast_to(np.eye(ids.shape[1]), (*ids.shape, ids.shape[1]))
    return I, equal(ids) * (1 - I)


def _both(ids):
    I, S = _places(ids)
    return I, S + I


def _level(x):
    return x - x.mean(-1, keepdims=True)


@question((2, 2), {"exactly": (noisy(IDS, 5.0, 3.0, 0), IDS),
                   "with noise": (noisy(IDS, 9.0, 1.5, 0.4), IDS),
                   "the own place is quiet": (noisy(IDS[1:], 0.25, 2.0, 0.3, 1), IDS[1:]),
                   "very sharp": (noisy(IDS, 3e4, 8e3, 1.0, 2), IDS)},
          promises={"All entries are above 0": lambda A, ids: A.min() > 0,
                    "no place is empty": lambda A, ids: ids.min() >= 0,
                    "some letter of some word has both an equal and a different one": lambda A, ids: any(
                        1 < n < ids.shape[1] for n in tally.reference(ids).flat)},
          returns="own, same", forbidden=("coursekit.worlds.histogram.nearest_ab",), instead="np.linalg.lstsq",
          otherwise="Take one row of the first case. Every entry is e^score over the same sum: what is the logarithm "
                    "of one of them less that of another? Does your fit see that the sum is another one in each row?",
          hints={"matmul|shapes|dimension": "lstsq takes a table with a row for each entry of the maps, n·T·T of them, "
                                            "and a column for each unknown: reshape."})
def loudness(A, ids, *, scale=np.log, level=_level, places=_places, back=np.exp):
    """loudness(A, ids): how many times as much attention the own place, and other places with the same letter, get as
    places with another letter do; by least squares on log A, rows on a level of their own."""
    X = np.stack([level(part).ravel() for part in places(ids)], 1)
    c = np.linalg.lstsq(X, level(scale(A)).ravel(), rcond=None)[0]
    return tuple(back(c).tolist())


def _apart(A, ids):
    """The ratios of the mean entries."""
    I, S = _places(ids)
    rest = A[(I + S) == 0].mean()
    return float(A[I > 0].mean() / rest), float(A[S > 0].mean() / rest)


loudness.mistakes(
    ("Each row of a softmax is divided by a sum of its own, and its logarithms are shifted by that: take the mean of "
     "each row away, on both sides.", dict(level=lambda x: x)),
    ("The means of the rows were taken from log A alone: take them from the columns of the table as well.",
     lambda A, ids: tuple(np.exp(np.linalg.lstsq(np.stack([x.ravel() for x in _places(ids)], 1),
                                                 _level(np.log(A)).ravel(), rcond=None)[0]).tolist())),
    ("The means were taken down the columns. A row of a map, A[i, j] over all j, lies along the last axis.",
     dict(level=lambda x: x - x.mean(-2, keepdims=True))),
    ("One level for all rows: each row has a sum of its own, so each needs one.",
     dict(level=lambda x: x - x.mean())),
    ("A fit for each word, and then a mean. One fit is due, over all entries of all maps.",
     lambda A, ids: tuple(np.mean([loudness.reference(A[i:i + 1], ids[i:i + 1]) for i in range(len(A))], 0))),
    ("`own` is here how much louder the own place is than *other places with the same letter*. In the table, the "
     "second column is 0 at the own place.", dict(places=_both)),
    ("The least squares are right, and e^ is missing: a sum in the scores is a factor in the attention.",
     dict(back=lambda c: c)),
    ("The fit is of A itself. A softmax multiplies: it is log A that is a sum.", dict(scale=lambda A: A)),
    ("These are ratios of mean entries: rows whose sums are small count for more there. Fit the logarithms.", _apart),
    ("The two have changed places: own first, then the others with the same letter.",
     dict(places=lambda ids: _places(ids)[::-1])))


# -- swap ------------------------------------------------------------------------------------------------------------

def model(kind):
    """(attend, predict) of a small model that counts: "by letters" (equal ones are w times as loud), "by names" (some
    letters are louder for all besides, and predict knows it) or "by places" (the own one is w times as loud); none
    of them says more than 3."""
    w = 4.0

    def known(ids):
        return 0.5 * (ids % 4)[:, None] if kind == "by names" else 0.0

    def attend(ids):
        if type(ids) is not np.ndarray or ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise ValueError("attend takes an array of whole numbers (n, T), as ids")
        return softmax(np.log(w) * (_places(ids)[0] if kind == "by places" else equal(ids)) + known(ids))

    def predict(ids, A):
        T = np.shape(ids)[-1]
        if np.ndim(ids) != 2 or np.shape(A) != (*np.shape(ids), T):
            raise ValueError("predict takes ids (n, T) and their maps (n, T, T)")
        own = (softmax(np.log(A) - known(ids)) * equal(ids)).sum(-1)
        n = own * (T + w - 1) - w + 1 if kind == "by places" else own * T / (w * (1 - own) + own)
        return np.clip(np.round(n), 1, 3).astype(int)

    return attend, predict


def exchanged(kind, _, ids, order, rename):
    """Arguments of an answer; the second says in words how the model predicts."""
    return (*model(kind), ids, order, rename)


def _partner(A, order):
    return A[order]


FOUR = np.array([[2, 0, 4, 0, 6, 0], [5, 5, 1, 3, 1, 5], [2, 6, 5, 5, 3, 6], [6, 6, 6, 6, 0, 6]])
READ = "from what the own letter got"
TURN, NAMES = np.array([2, 0, 3, 1]), np.array([3, 4, 6, 1, 2, 5, 0])


@question((2, 2), {"a model that compares letters": ("by letters", READ, FOUR, TURN, NAMES),
                   "one that reads names": ("by names", READ, FOUR, TURN, NAMES),
                   "one word keeps its own map": ("by letters", READ, FOUR, np.array([3, 0, 2, 1]), NAMES),
                   "a model that knows only places": ("by places", READ, FOUR, TURN, NAMES)},
          promises={"Some word has a partner": lambda kind, said, ids, order, rename: (
                        (order != np.arange(len(ids))).any() and {*order} <= {*range(len(ids))}),
                    "no place is empty": lambda kind, said, ids, order, rename: ids.min() >= 0,
                    "`rename` is an array in which each letter number stands once":
                        lambda kind, said, ids, order, rename: (
                            (np.sort(rename) == np.arange(len(rename))).all() and ids.max() < len(rename))},
          returns="own, partner, renamed", given=exchanged, lend=("tally",), forbidden=LIBRARY,
          instead="`attend` and `predict`",
          otherwise="Three calls of predict, all with the words themselves: only the maps differ. What is right is "
                    "always the count in the words themselves, letter by letter.",
          hints={"attend takes|predict takes": "Read the line of the error: that is what the model said to what it was "
                                               "given.",
                 "index": "rename[ids] renames all letters at once, and A[order] takes the maps in that order."})
def swap(attend, predict, ids, order, rename, *, partner=_partner, words=lambda ids, other: ids,
         truth=lambda ids, order: ids, moved=lambda order: order != np.arange(len(order)),
         called=lambda ids, rename: rename[ids], among=np.ones_like, hits=lambda right: right):
    """swap(attend, predict, ids, order, rename): accuracy with the own map, with that of word order[i] (where that is
    another word), and with the map of the same word in other letters."""
    A, there, renamed = attend(ids), moved(order), called(ids, rename)
    right = tally.reference(ids)
    swapped = (predict(ids, partner(A, order)) == tally.reference(truth(ids, order)))[there]
    kept = predict(ids, A) == right, predict(words(ids, renamed), attend(renamed)) == right
    own, other = (float(hits(part[among(there)]).mean()) for part in kept)
    return own, float(hits(swapped).mean()), other


def _other_words(attend, predict, ids, order, rename):
    own, _, renamed = swap.reference(attend, predict, ids, order, rename)
    said = predict(ids[order], attend(ids)) == tally.reference(ids)
    return own, float(said[order != np.arange(len(ids))].mean()), renamed


swap.mistakes(
    ("Only in the second accuracy do words without a partner not count: the first and the third are over all words.",
     dict(among=lambda there: there)),
    ("A word counted as right only if all of its letters were. Accuracies are over letters.",
     dict(hits=lambda right: right.all(1))),
    ("In the second, the partner's *word* was given, with the own map. The word stays what it is, and gets the "
     "partner's map.", _other_words),
    *(("In the second, each word got the map of its neighbour. Whose map it gets is said by `order`.",
       dict(partner=lambda A, order, by=by: np.roll(A, by, 0))) for by in (1, -1)),
    ("A word that is its own partner keeps its own map: nothing was exchanged there, so it does not count in the "
     "second accuracy.", dict(moved=lambda order: order >= 0)),
    ("In the third, the map is that of the renamed word, and predict is given the word itself: not both renamed, and "
     "not both as they were.",
     dict(words=lambda ids, other: other)),
    ("Partners are turned round: word i gets the map of word order[i], so the maps in that order are A[order].",
     dict(partner=lambda A, order: A[np.argsort(order)])),
    ("Letters are renamed the other way round: letter k is called rename[k].",
     dict(called=lambda ids, rename: np.argsort(rename)[ids])),
    ("In the second, the right counts are those of the word itself, not those of the word whose map it got.",
     dict(truth=lambda ids, order: ids[order])),
    ("The second is with the mean map of all words. Each word gets the map of its one partner.",
     dict(partner=lambda A, order: np.broadcast_to(A.mean(0), A.shape))),
    ("That is how often the answers stay what they were. Compare them with the right counts.",
     lambda attend, predict, ids, order, rename: tuple(
         float((predict(ids, A) == predict(ids, attend(ids)))[rows].mean()) for A, rows in (
             (attend(ids), order >= 0), (attend(ids)[order], order != np.arange(len(ids))),
             (attend(rename[ids]), order >= 0)))))
