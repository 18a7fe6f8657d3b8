"""Check of assignment 06: one number for a word in pieces."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["per_word"]

HOW = {"l2": torch.norm, "avg": torch.mean, "ms": lambda x: x.square().mean()}
PIECES = torch.tensor([[9.0, -5.0], [-2.0, 1.0], [1.0, 2.0], [-4.0, 2.0], [0.0, -3.0], [3.0, -1.0], [2.0, 5.0],
                       [7.0, 7.0]]).double()
WORDS = [None, 1, 0, 0, 2, 0, 2, None]


@question((1, 2), {**{f"three words, {how}": (PIECES, WORDS, how) for how in HOW},
                   "one token": (torch.tensor([[-3.0, 4.0, 0.5]]), [0], "l2"),
                   "no word at all": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).double(), [None, None], "avg")},
          returns="(number of words,)",
          otherwise="Take word 0 by hand: which rows are its pieces, and which numbers do they hold together?",
          hints={"NoneType": "Does a None of `words` meet a number there? Leave those out before you compare or "
                             "count."},
          promises={"every number at least once": lambda G, words, how: (
                        {*words} - {None} == {*range(len({*words} - {None}))})})
def per_word(G, words, how, *, instead=None, of=lambda reduce: reduce, numbers=lambda words: words):
    """per_word(G, words, how): (number of words,), one number made of all slopes of a word's pieces."""
    reduce, words = of({**HOW, **(instead or {})}[how]), numbers(words)
    n = max((word + 1 for word in words if word is not None), default=0)
    rows = [G[[t for t, word in enumerate(words) if word == i]] for i in range(n)]      # (m, d_e) each
    return torch.stack([reduce(x) for x in rows]) if rows else G.new_zeros(0)


def _by_piece(join):
    return dict(of=lambda reduce: lambda x: join(torch.stack([reduce(row) for row in x])))


def _joined(join):
    return dict(of=lambda reduce: lambda x: reduce(join(x)))


def _as_they_come(words):
    """Words numbered in the order of the text."""
    order = [word for word in dict.fromkeys(words) if word is not None]
    return [None if word is None else order.index(word) for word in words]


CANCEL = "The pieces' slopes were {} before the number was made: slopes of opposite sign cancel. Put them side by side."
per_word.mistakes(
    ("That is the sum of the pieces' numbers. Put all slopes of the word side by side first: it has m·d_e of them.",
     _by_piece(torch.sum)),
    ("That is the mean of the pieces' numbers. Put all slopes of the word side by side first: it has m·d_e of them.",
     _by_piece(torch.mean)),
    ("Only the first piece came in.", _joined(lambda x: x[0])),
    (CANCEL.format("added up"), _joined(lambda x: x.sum(0))), (CANCEL.format("averaged"), _joined(lambda x: x.mean(0))),
    ("The root is missing.", dict(instead={"l2": lambda x: x.square().sum()})),
    ("The root of the *mean* of squares. L2 is the norm: of their sum.",
     dict(instead={"l2": lambda x: x.square().mean().sqrt()})),
    ("That is the norm of a matrix. Put the rows of the word side by side, as one vector: x.flatten().",
     dict(instead={"l2": lambda x: torch.linalg.matrix_norm(x, 2)})),
    ("avg keeps the signs: no absolute values of the slopes.", dict(instead={"avg": lambda x: x.abs().mean()})),
    ("Added up, not averaged: avg is the mean of all the word's slopes.", dict(instead={"avg": torch.sum})),
    ("Without the root: ms is the mean of squares.", dict(instead={"ms": lambda x: x.square().mean().sqrt()})),
    ("Added up: ms is the *mean* of all squares.", dict(instead={"ms": lambda x: x.square().sum()})),
    ("Divided by the number of pieces. The word has m·d_e slopes, and the mean is over all of them.",
     dict(instead={"ms": lambda x: x.square().sum() / len(x)})),
    ("One was taken off for None, which need not be there: in this list every token belongs to a word.",
     lambda G, words, how: per_word.reference(G, words, how)[:len(set(words)) - 1]),
    ("None was taken for word 0.", dict(numbers=lambda words: [word or 0 for word in words])),
    ("Word 0 was left out. 0 counts as False, as None does: `is not None` asks for None alone.",
     dict(numbers=lambda words: [word or None for word in words])),
    ("The right numbers in another order: entry i belongs to word i, wherever it stands in the text.",
     dict(numbers=_as_they_come)),
    ("That is a number for each token. Pieces of one word belong together, and None is no word.",
     dict(numbers=lambda words: range(len(words)))))


@per_word.suspect
def _(got, G, words, how):
    n = len(per_word.reference(G, words, how))
    if kind(got) != "a tensor" or got.dim() != 1:
        return None
    if len(got) == n + 1 and None in words:
        return "There is a number too many: is None taken for a word? (It is counted in len(set(words)), too.)"
    if len(got) == n - 1:
        return ("There is a number too few. Words are counted from 0: there is one more than the largest number. (And "
                "0 counts as False, as None does: `is not None` asks for None alone.)")
    return None
