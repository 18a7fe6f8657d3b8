"""Checks of assignment 06 on words: one number for a word in pieces, and the best swap of one word."""

from attention_questions.prelude import Question, same, torch

from . import solution

# -- per_word --------------------------------------------------------------------------------------------------------

PIECES = torch.tensor([[9.0, -5.0], [-2.0, 1.0], [1.0, 2.0], [-4.0, 2.0], [0.0, -3.0], [3.0, -1.0], [2.0, 5.0],
                       [7.0, 7.0]]).double()
WORDS = [None, 1, 0, 0, 2, 0, 2, None]


per_word = Question(solution.per_word, (1, 1), {
    **{f"three words, {how}": (PIECES, WORDS, how) for how in ("l2", "avg", "ms")},
    "one token": (torch.tensor([[-3.0, 4.0, 0.5]]), [0], "l2"),
    "no word at all": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).double(), [None, None], "avg")},
    returns="(number of words,)",
    otherwise="Take word 0 by hand: which rows are its pieces, and which numbers do they hold together?",
    hints={"NoneType": "Does a None of `words` meet a number there? Leave those out before you compare or count."},
    why="The rows of a word are picked first; after that nothing depends on how many there are. Words are "
        "numbered from 0, so that their number is the largest one and 1, or 0 where there is none.",
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
    if len(got) == n + 1 and None in words:
        yield "There is a number too many: is None taken for a word? (It is counted in len(set(words)), too.)"
    if len(got) == n - 1:
        yield ("There is a number too few. Words are counted from 0: there is one more than the largest number. (And "
               "0 counts as False, as None does: `is not None` asks for None alone.)")


# -- best_swap -------------------------------------------------------------------------------------------------------

TABLE = torch.tensor([[0.0, 1.0], [2.0, 0.0], [-1.0, 1.0], [1.0, 3.0], [0.0, -2.0]]).double()      # D = 5, d_e = 2
SLOPES = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]]).double()                             # T = 3


best_swap = Question(solution.best_swap, (1, 0), {
    "any word": (SLOPES, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
    "tiny slopes": (SLOPES * 1e-8, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
    "three words allowed": (SLOPES, [2, 1, 0], TABLE, [4, 2, 0]),
    "nothing gets better": (torch.tensor([[1.0, -2.0]]).double(), [1], TABLE[[2, 1, 0, 3, 4]], [0, 1, 2, 3]),
    "two equally good": (torch.tensor([[0.0, 1.0], [0.0, 1.0]]).double(), [4, 4], TABLE, [2, 0, 1]),
    "a tie of two places": (torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).double(), [0, 3], TABLE, [3, 0]),
    "no other word": (SLOPES, [1, 1, 1], TABLE, [1]),
    "nothing is allowed": (SLOPES, [4, 0, 3], TABLE, [])},
    returns="t, v, change", tolerance=(1e-4, 1e-13),
    why="One product has all forecasts; what leaves is one of its numbers. Places and ids are gone through in "
        "order, and only a better swap takes over: so ties come out as they are asked for.",
    otherwise="For each place t and each allowed word v: (vector of v − vector of the word at t) · row t of G. Which "
              "is the largest?",
    hints={"shapes": "G is (T, d_e), W_e (D, d_e): which product gives (T, D), a number for a place and a word?",
           "nothing": "None stands for “no swap is possible”. If all of them lower the score, take the one that lowers "
                      "it least: does your search begin with 0 as the number to beat? (And does the function end with "
                      "`return …`?)"})
best_swap.mistakes(
    ("The slopes are tiny here, as those of a model that is sure of itself. One swap is still the best: is there a "
     "margin in the comparison, or a rounding?", "change > best[2] → change > best[2] + 1e-6"),
    ("The word that goes is missing: the change is what the new word brings *less* what the old one did.",
     " - brings[t, old] → "),
    ("The right swap, but the change is what the new word brings *less* what the old one did.",
     "return best → return best and (*best[:2], brings[best[:2]].item())"),
    ("That swap lowers the score the most. The change is new word minus old word, with its sign.",
     "brings[t, v] - brings[t, old] → brings[t, old] - brings[t, v]"),
    ("That swap lowers the score the most. Asked for is the one that raises it the most, or lowers it the least: not "
     "the largest *size*.", "change > best[2] → abs(change) > abs(best[2])"),
    ("A word in place of itself is no swap, even if all others make it worse.", " - {old} → "),
    ("Only the words in `allowed` may come in.", "set(allowed) → set(range(len(W_e)))"),
    ("Of equally good swaps take the first place, and there the smallest id.", "change > best[2] → change >= best[2]"),
    ("v is an id, a row of W_e, not a place in the list `allowed`.",
     "best = t, v, change → best = t, allowed.index(v), change"))


@best_swap.suspect
def _(got, G, ids, W_e, allowed):
    if solution.best_swap(G, ids, W_e, allowed) is None:
        yield "No swap is possible here: nothing is allowed but what stands there already. Return None."
    t, v, change = got
    if same(change, solution.best_swap(G, ids, W_e, allowed)[2], (1e-4, 1e-13)):
        yield ("That swap is as good as the expected one. Of equally good swaps take the first place t, and there the "
               "smallest id v: in which order do your loops run, and is `allowed` sorted?")
    if same(change, solution.best_swap(G[[t]], [ids[t]], W_e, [v])[2], (1e-4, 1e-13)):
        yield ("That is what this swap changes, and another one has a larger forecast. (If all are below 0, the one "
               "nearest to 0 is the largest.)")
