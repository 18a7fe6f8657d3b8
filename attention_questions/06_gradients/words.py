"""Check of assignment 06: one number for a word in pieces."""

from attention_questions.prelude import Question, kind, torch

from . import solution

PIECES = torch.tensor([[9.0, -5.0], [-2.0, 1.0], [1.0, 2.0], [-4.0, 2.0], [0.0, -3.0], [3.0, -1.0], [2.0, 5.0],
                       [7.0, 7.0]]).double()
WORDS = [None, 1, 0, 0, 2, 0, 2, None]


per_word = Question(solution.per_word, (1, 2), {
    **{f"three words, {how}": (PIECES, WORDS, how) for how in ("l2", "avg", "ms")},
    "one token": (torch.tensor([[-3.0, 4.0, 0.5]]), [0], "l2"),
    "no word at all": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).double(), [None, None], "avg")},
    returns="(number of words,)",
    otherwise="Take word 0 by hand: which rows are its pieces, and which numbers do they hold together?",
    hints={"NoneType": "Does a None of `words` meet a number there? Leave those out before you compare or count."},
    promises={"every number at least once": lambda G, words, how: (
                  {*words} - {None} == {*range(len({*words} - {None}))})})

SUMMED = "numbers[i] = → for x in pieces:\n            numbers[i] +="
CANCEL = "The pieces' slopes were {} before the number was made: slopes of opposite sign cancel. Put them side by side."
per_word.mistakes(
    ("That is the sum of the pieces' numbers. Put all slopes of the word side by side first: it has m·d_e of them.",
     "x = G → pieces = G", SUMMED),
    ("That is the mean of the pieces' numbers. Put all slopes of the word side by side first: it has m·d_e of them.",
     "x = G → pieces = G", SUMMED, "[how] → [how] / len(pieces)"),
    ("Only the first piece came in.", "== i] → == i][:1]"),
    (CANCEL.format("added up"), "== i]] → == i]].sum(0)"), (CANCEL.format("averaged"), "== i]] → == i]].mean(0)"),
    ("The root is missing.", "x.norm() → (x ** 2).sum()"),
    ("The root of the *mean* of squares. L2 is the norm: of their sum.", "x.norm() → (x ** 2).mean().sqrt()"),
    ("That is the norm of a matrix. Put the rows of the word side by side, as one vector: x.flatten().",
     "x.norm() → torch.linalg.matrix_norm(x, 2)"),
    ("avg keeps the signs: no absolute values of the slopes.", "x.mean() → x.abs().mean()"),
    ("Added up, not averaged: avg is the mean of all the word's slopes.", "x.mean() → x.sum()"),
    ("Without the root: ms is the mean of squares.", "(x ** 2).mean() → (x ** 2).mean().sqrt()"),
    ("Added up: ms is the *mean* of all squares.", "(x ** 2).mean() → (x ** 2).sum()"),
    ("Divided by the number of pieces. The word has m·d_e slopes, and the mean is over all of them.",
     "(x ** 2).mean() → (x ** 2).sum() / len(x)"),
    ("One was taken off for None, which need not be there: in this list every token belongs to a word.",
     "max([-1] + [word for word in words if word is not None]) + 1 → len(set(words)) - 1"),
    ("None was taken for word 0.", "n = → words = [word or 0 for word in words]\n    n ="),
    ("Word 0 was left out. 0 counts as False, as None does: `is not None` asks for None alone.",
     "if word is not None → if word", "if word == i → if word and word == i"),
    ("The right numbers in another order: entry i belongs to word i, wherever it stands in the text.",
     "numbers = → in_text = [*dict.fromkeys(word for word in words if word is not None)]\n    numbers =",
     "word == i → word == in_text[i]"),
    ("That is a number for each token. Pieces of one word belong together, and None is no word.",
     "n = → words = range(len(words))\n    n ="))


@per_word.suspect
def _(got, G, words, how):
    n = len(solution.per_word(G, words, how))
    if kind(got) != "a tensor" or got.dim() != 1:
        return
    if len(got) == n + 1 and None in words:
        yield "There is a number too many: is None taken for a word? (It is counted in len(set(words)), too.)"
    if len(got) == n - 1:
        yield ("There is a number too few. Words are counted from 0: there is one more than the largest number. (And "
               "0 counts as False, as None does: `is not None` asks for None alone.)")
