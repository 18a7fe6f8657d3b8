"""Check of assignment 05b: words out of pieces."""

import torch

from coursegrade.kit.cases import numbers
from coursegrade.kit.question import question

__all__ = ["word_map"]

TOGETHER = {"mean": torch.mean, "max": torch.amax, "sum": torch.sum}
SELF = numbers("0.5 0.25 0.125 0.125  0.25 0.25 0.375 0.125  0 0.5 0.25 0.25  0.125 0.125 0.25 0.5", 4, 4)
CROSS = numbers("0.5 0.25 0.25  0.125 0.125 0.75   0.25 0 0.75  0.375 0.5 0.125", 2, 2, 3)


@question((1, 2), {"one text, the second word has two pieces": (SELF, [[0], [1, 2], [3]], [[0], [1, 2], [3]]),
                   "two heads, a word of two pieces looks at another text": (CROSS, [[0, 1]], [[0, 1], [2]]),
                   "words whose pieces stand apart": (SELF, [[1], [0, 3], [2]], [[2, 0], [1, 3]]),
                   "two layers of one head, two words look at one word": (CROSS[:, None], [[0], [1]], [[0, 2]]),
                   "places that belong to no word, double precision": (SELF.double(), [[1, 2]], [[1, 2], [3]])},
          returns="map (..., W_q, W)",
          forbidden=("coursekit.explain.word_attention",), instead="a sum over columns and a mean over rows",
          otherwise="One entry by hand: in each row of the word that asks, the columns of the other word; then these "
                    "rows together. (Axes in front of the last two stay as they are in A.)",
          hints={"shapes": "The rows of A belong to `looking`, its columns to `seen`; there may be axes in front of "
                           "them.",
                 "IndexError": "Axes may stand in front of rows and columns: A[rows] takes entries of the *first* one, "
                               "A[..., rows, :] rows wherever they are. Rows belong to `looking`, columns to `seen`. "
                               "And two lists in one bracket make pairs of places, not a block."})
def word_map(A, looking, seen, *, rows="mean", columns="sum"):
    """word_map(A, looking, seen): (…, T_q, T) among pieces → (…, W_q, W), sums over columns and means over rows."""
    A = torch.stack([TOGETHER[columns](A[..., places], -1) for places in seen], -1)            # (…, T_q, W)
    return torch.stack([TOGETHER[rows](A[..., places, :], -2) for places in looking], -2)


def _with(change):
    return lambda *given: word_map.reference(*change(*given))


def _whole(words):
    """Everything from a word's first to its last piece."""
    return [list(range(min(places), max(places) + 1)) for places in words]


def _sliced(words):
    return [list(range(places[0], places[-1] + 1)) for places in words]


def _paired(size):
    """The answer of somebody who takes A[..., rows, columns], which makes pairs; size: (rows, columns) → a divisor."""
    return lambda A, looking, seen: torch.stack([torch.stack(
        [A[..., rows, columns].sum(-1) / size(rows, columns) for columns in seen], -1) for rows in looking], -2)


PAIRS = ("Two lists in one bracket, `A[..., rows, columns]`, make pairs of places, not a block. Take columns first, "
         "then rows.")
BETWEEN = "Everything from a word's first to its last piece was taken. Only the places in its list belong to it."

word_map.mistakes(
    ("The wrong way round: what goes *to* a word is the sum over its pieces (columns), what comes *from* it the mean "
     "over them (rows).", dict(rows="sum", columns="mean")),
    ("Rows were added up as well. What comes *from* a word is the mean over its pieces.", dict(rows="sum")),
    ("Columns were averaged as well. What goes *to* a word is the sum over its pieces: a word gets no less for being "
     "cut.", dict(columns="mean")),
    ("Only the first piece of a word that is looked at counts here. All are added up.",
     _with(lambda A, looking, seen: (A, looking, [places[:1] for places in seen]))),
    ("Only the first piece of a word that looks counts here. Take the mean of all.",
     _with(lambda A, looking, seen: (A, [places[:1] for places in looking], seen))),
    ("Rows were rescaled to sum to one. Leave them: what is missing went to places that belong to no word.",
     lambda *given: (lambda words: words / words.sum(-1, keepdim=True))(word_map.reference(*given))),
    (BETWEEN, _with(lambda A, looking, seen: (A, _whole(looking), _whole(seen)))),
    (BETWEEN, _with(lambda A, looking, seen: (A, _sliced(looking), _sliced(seen)))),
    ("Rows and columns have changed places: `looking` groups the rows, A[…, s, t] goes from s to t.",
     _with(lambda A, looking, seen: (A.mT if A.shape[-1] == A.shape[-2] else A, looking, seen))),
    ("The result is transposed: words that look are its rows, words that are looked at its columns.",
     lambda *given: word_map.reference(*given).mT),
    ("A has an axis of heads in front, and it stays: there is a word map for each head.",
     _with(lambda A, looking, seen: (A[0] if A.dim() == 3 else A, looking, seen))),
    (PAIRS, _paired(lambda rows, columns: 1)),
    (PAIRS, _paired(lambda rows, columns: len(rows))))
