"""Checks of assignment 11 on counting letters, and on the accuracy of those who count."""

import numpy as np

from coursegrade.kit.question import question

__all__ = ["tally", "by_count"]

LIBRARY = tuple(f"coursekit.worlds.histogram.{name}" for name in ("counts", "accuracy_by_count", "swap_test"))


# -- tally -----------------------------------------------------------------------------------------------------------

def _letters(n, ids):
    return n * (ids >= 0)


def _equal(ids):
    return ids[:, :, None] == ids[:, None]


@question((1, 1), {"two words": (np.array([[2, 0, 14, 0, 6], [0, 0, 0, 1, 0]]),),
                   "a word with two empty places": (np.array([[5, 0, 5, 5, -1, -1]]),),
                   "nothing but one letter": (np.array([[7, -1, -1]]),)},
          promises={"they are filled up with $-1$": lambda ids: (
              ids.min() >= -1 and (np.diff((ids < 0).astype(int), axis=1) >= 0).all())},
          returns="counts (n, T)", forbidden=LIBRARY, instead="a comparison of the array with itself",
          otherwise="The second word by hand: in 0 0 0 1 0, how often is there what stands at place 0, and at place 3?")
def tally(ids, *, equal=_equal, axis=-1, empty=_letters, less=0):
    """tally(ids): (n, T), how often what stands at each place stands in its own row; 0 where the place is empty."""
    return empty(equal(ids).sum(axis) - less, ids)


tally.mistakes(
    ("An empty place holds no letter, so nothing is counted there: 0. (Empty places are equal to each other, too.)",
     dict(empty=lambda n, ids: n)),
    ("0 is a letter like any other: only a place with −1 is empty.", dict(empty=lambda n, ids: n * (ids > 0))),
    ("An empty place has the count 0, and not −1.", dict(empty=lambda n, ids: np.where(ids < 0, -1, n))),
    ("These are the *other* places with the same letter. A letter counts itself.", dict(less=1)),
    ("These are counts over all words. Each word is counted on its own.",
     dict(equal=lambda ids: (ids[:, :, None, None] == ids).sum(2))),
    ("That is how often each letter of the alphabet occurs. Say of each *place* how often its letter occurs.",
     lambda ids: np.array([np.bincount(row[row >= 0], minlength=15) for row in ids])),
    ("Letters are counted up to here alone, from the left. Count those to the right as well.",
     dict(equal=lambda ids: np.tril(_equal(ids)))))


# -- by_count --------------------------------------------------------------------------------------------------------

def _among(right, these):
    return right[these].mean()


def _rows(said, truth, given, share, among=_among):
    right = said == truth
    return {int(c): (float(share(given == c)), float(among(right, given == c))) for c in np.unique(given)}


def _kept(said, truth):
    return said[truth > 0], truth[truth > 0]


def _best(rows):
    return max(share for share, _ in rows.values())


WORDS = np.array([[2, 2, 1, 1, 1], [3, 2, 3, 2, 3], [1, 1, 1, 0, 0]])
SAID = np.array([[2, 1, 1, 1, 2], [3, 3, 2, 2, 2], [1, 0, 1, 3, 1]])


@question((1, 2), {"two words": (SAID[:2], WORDS[:2]),
                   "with empty places": (SAID, WORDS),
                   "always 1": (np.ones((2, 5), int), WORDS[:2]),
                   "no letter occurs twice": (np.array([[3, 1, 1, 3, 2]]), np.array([[3, 3, 3, 1, 0]]))},
          promises={"At least one place is not empty": lambda said, truth: (truth > 0).any(),
                    "0 in the truth where a place is empty": lambda said, truth: truth.min() >= 0},
          returns="rows, base", forbidden=LIBRARY, instead="your own means",
          otherwise="Two words by hand: at how many of the ten places is the true count 1, 2, 3? And at how many of "
                    "those is what was said right?",
          hints={"empty slice|invalid value": "A count that no place has gets no entry: only those that occur."})
def by_count(said, truth, *, kept=_kept, given=lambda said, truth: truth, share=np.mean, among=_among, base=_best):
    """by_count(said, truth): {count: (share of the places that have it, share of right answers there)} of the true
    counts that occur, empty places left out; and the accuracy of the best answer that is always the same."""
    said, truth = kept(said, truth)
    rows = _rows(said, truth, given(said, truth), share, among)
    return rows, base(rows)


def _of_those_said(said, truth):
    rows = {c: (share, float((truth[said == c] == c).mean()) if c in said else 0.0)
            for c, (share, _) in _rows(said, truth, truth, np.mean).items()}
    return rows, _best(rows)


by_count.mistakes(
    ("Places with the true count 0 are empty: they are no row, and count in no share.",
     dict(kept=lambda said, truth: (said.ravel(), truth.ravel()))),
    ("Grouped by what was *said*: that is how far its answers can be trusted. Group by the true count.",
     dict(given=lambda said, truth: said)),
    ("The second number is a share of *all* letters. Of those with this true count, how many are right?",
     dict(among=lambda right, these: (right & these).mean())),
    ("The second number is how often it was right *when this was said*. Of the letters with this true count, how many "
     "are right?", lambda said, truth: _of_those_said(*_kept(said, truth))),
    ("A place is empty where the *truth* is 0, whatever was said there. A model that says 0 elsewhere is wrong there.",
     dict(kept=lambda said, truth: (said[(truth > 0) & (said > 0)], truth[(truth > 0) & (said > 0)]))),
    ("The two numbers of a count have changed places: first its share, then how many of its answers are right.",
     lambda said, truth: (lambda rows, base: ({c: pair[::-1] for c, pair in rows.items()}, base))(
         *by_count.reference(said, truth))),
    ("A share is of all letters: a number from 0 to 1, not how many there are.", dict(share=np.sum)),
    ("The base rate is that of the *best* constant answer, and 1 need not be the best.",
     dict(base=lambda rows: rows.get(1, (0.0, 0.0))[0])),
    ("The base rate is not the accuracy of these answers: it is what somebody reaches who always says the same.",
     dict(base=lambda rows: sum(share * right for share, right in rows.values()))),
    ("That is the count itself. The base rate is how often always saying it is right.",
     dict(base=lambda rows: max(rows, key=lambda c: rows[c][0]))),
    ("The base rate is not one over the number of counts: some counts have many more places than others.",
     dict(base=lambda rows: 1 / len(rows))),
    ("The empty places were left out of the rows, and not of the shares: they have to add up to 1.",
     lambda said, truth: (lambda rows: (rows, _best(rows)))(
         _rows(*_kept(said, truth), truth[truth > 0], lambda these: these.sum() / truth.size))))


@by_count.suspect
def _(got, said, truth):
    if type(got[0]) is dict and {*got[0]} > {*truth[truth > 0].tolist()}:
        return "Only counts that occur in the truth get an entry. Which of yours has no place at all?"
    return None
