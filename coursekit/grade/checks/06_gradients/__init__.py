"""Checks of assignment 06: numerical slopes, and one number for a word; swaps.py, integrals.py, trapezoids.py and
coordinates.py have the rest."""

import itertools

import torch

from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.grade.kit.score import announce

from .coordinates import head_slopes, survivors
from .integrals import function, integrated, slopes_at
from .swaps import best_swap
from .trapezoids import case, complete

__all__ = ["numerical_slopes", "per_word", "best_swap", "integrated", "case", "complete", "survivors", "head_slopes"]


# -- numerical_slopes ------------------------------------------------------------------------------------------------

asked = []          # the tables that the latest black box was asked about


def _black_box(f, e, h):
    """What an answer gets in place of f: a function of one table that returns a number, and counts."""
    asked.clear()

    def ask(table):
        if kind(table) != "a tensor" or table.shape != e.shape or not table.is_floating_point():
            found = f"a tensor {tuple(table.shape)}, {table.dtype}" if kind(table) == "a tensor" else kind(table)
            raise ValueError(f"f takes one table of shape {tuple(e.shape)} with floating-point numbers, got {found}")
        asked.append(table.detach().double().clone())
        return float(function(f)(table.detach().double()))

    return ask, e, h


def _four_questions(answer, arguments):
    if len(asked) > 4 * arguments[1].numel():
        raise CheckFailed(f"For {arguments[1].numel()} numbers it asks f {len(asked)} times. Four questions for each "
                          "number are enough, and a black box is paid by the question.")


E32, E31 = torch.tensor([[1.0, 2.0], [0.0, -1.0], [0.5, 1.5]]).double(), torch.tensor([[0.5], [1.0], [-1.0]]).double()


@question((1, 2), {"curved": ("(e.exp() + e ** 3).sum()", E32, 0.75), "cubes": ("(e ** 3).sum()", E32, 0.25),
                   "tokens that meet": ("e[0, 0] * e[1, 1] ** 2 + e[1, 0]", E32, 3.0),
                   "rounded to one decimal": ("torch.round(e.exp().sum(), decimals=1)", E31, 0.5),
                   "one number": ("e.sin().sum()", torch.tensor([[0.1]]).double(), 0.3)},      # 0.1 + 0.3 − 0.3 ≠ 0.1
          prepare=_black_box, also=_four_questions,
          hints={"shapes": "f takes a whole table (T, d_e): e with one entry changed.",
                 "AttributeError": "If the dot stands behind what f gave: that is a plain number of Python, which "
                                   "needs no .item(), and knows no .backward(). No gradient gets out of a black box; "
                                   "ask it four times for each entry."})
def numerical_slopes(f, e, h):
    """numerical_slopes(f, e, h): (T, d_e), (4 D(h/2) − D(h))/3 for each entry, where D are central differences."""
    return (4 * _central(f, e, h / 2) - _central(f, e, h)) / 3


def _differences(f, e, up, down):
    """(f with an entry moved up − f with it moved down) / (up − down) for each entry."""
    units = torch.eye(e.numel(), dtype=e.dtype).reshape(-1, *e.shape)
    values = [[float(function(f)((e + step * unit).double())) for step in (up, down)] for unit in units]
    return torch.tensor([(above - below) / (up - down) for above, below in values], dtype=e.dtype).reshape(e.shape)


def _central(f, e, h):
    return _differences(f, e, h, -h)


def _wrongly_moved(e, h):
    """What is wrong with the tables that f was asked about, in words; None if each is e but for one entry at most."""
    moved = max([(table - e).abs() > 1e-9 for table in asked], key=torch.sum, default=torch.zeros(1, 1))
    if (n := moved.sum().item()) > 1:
        rows, columns = moved.any(1).sum().item(), moved.any(0).sum().item()
        what = ("a whole row of e" if rows == 1 and n == e.shape[1] else
                "a whole column of e" if columns == 1 and n == len(e) else f"{n} entries of e")
        return (f"f was asked about a table in which {what} had been moved. Move one entry, and leave all others where "
                "they are. (Was e itself changed, and the entry not put back? e.clone() is a copy.)")
    changed = [(value, value - old) for table in asked for value, old in zip(table.flatten(), e.flatten().double())
               if abs(value - old) > 1e-9]
    steps = torch.tensor([h, -h, h / 2, -h / 2])
    if any((value - steps).abs().min() < 1e-6 < (by - steps).abs().min() for value, by in changed):
        return "The entry was replaced by h and −h. It is to be moved *by* them, from where it is."
    return None


@numerical_slopes.suspect
def _(got, f, e, h):
    if kind(got) != "a tensor":
        return "The result is a tensor of slopes, as large as e. torch.zeros_like(e) is a table to fill."
    if tuple(got.shape) == tuple(e.T.shape) != tuple(e.shape):
        return "Rows and columns have changed places: the slope of e[t, j] stands at [t, j]."
    if tuple(got.shape) != tuple(e.shape):
        return "There is one slope for each entry of e: (T, d_e)."
    if got.dtype != e.dtype:
        return "The result has the dtype of e. torch.zeros_like(e) is a table to fill; torch.zeros(…) is float32."
    whole, half = _central(f, e, h), _central(f, e, h / 2)
    right = (4 * half - whole) / 3
    sides = [[_differences(f, e, *steps) for steps in ((h, 0), (h / 2, 0))],
             [_differences(f, e, *steps) for steps in ((0, -h), (0, -h / 2))]]
    words = first_match(got, [
        (whole, "That is D(h) alone: its error is still in it. Combine it with D(h/2)."),
        (half, "That is D(h/2) alone. Combine it with D(h)."),
        *((table, "Those are one-sided differences. Look to both sides, f(e + h) less f(e − h), and combine two steps.")
          for table, _ in sides),
        *((2 * side_half - side, "Those are one-sided differences, combined. Look to both sides: f(e + h) less "
                                 "f(e − h), over 2h.") for side, side_half in sides),
        *(((4 * side_half - side) / 3, "The combination is right, the differences are one-sided: f(e + h) less "
                                       "f(e − h), over 2h.") for side, side_half in sides),
        ((4 * whole - half) / 3, "The two have changed places: the smaller step is the better one, and gets the factor "
                                 "4."),
        ((4 * whole - _central(f, e, 2 * h)) / 3, "The two steps are 2h and h here. They are h and h/2."),
        ((4 * _central(f, e, h / 4) - half) / 3, "The two steps are h/2 and h/4 here. They are h and h/2."),
        (4 * half - whole, "The division by 3 is missing: 4 D(h/2) and −1 D(h) are three D's in all."),
        (4 * half - whole / 3, "Only D(h) is divided by 3 here, and all of 4 D(h/2) − D(h) is to be."),
        (2 * right, "Twice as much: between e − h and e + h there are two steps."),
        (right / 2, "Half as much: divide by the distance of the two points, once."),
        ((2 * half - whole) / 3, "D(h/2) was divided by 2h. Its two points are h apart."),
        (h * (2 * half - whole) / 3, "The differences were not divided by the step."),
        (h * h * (half - whole) / 3, "In a / 2 * h only the 2 divides: a / (2 * h)."),
        (-right, "The sign is turned round: f at the larger place less f at the smaller one.")])
    if words:
        return words
    if wrong := _wrongly_moved(e, h):
        return wrong
    filled = got != 0
    if filled.any() and same(got[filled], right[filled]):
        return (f"{filled.sum()} of the {got.numel()} slopes are right, and the others are still 0. Does `return` "
                "stand inside a loop?")
    if len(asked) < e.numel():
        return (f"f was asked for {len(asked)} values, and {e.numel()} slopes are due. No gradient gets out of a black "
                "box: each entry has four questions of its own.")
    if not got.any():
        return "All slopes are 0. Does f get tables that differ by h? A much smaller step sees nothing here."
    if same(got, slopes_at(f, e[None])[0].to(e.dtype), (1e-4, 1e-5)):
        return ("Nearly the true slopes. Asked for is the combination of the steps h and h/2, as large as they are: "
                "where f is rounded, a small step sees nothing.")
    if factors := _mixture(got, half, whole):
        return ("That is {:.3g} D(h/2) {:+.3g} D(h). Are these the factors that are asked for, and is each difference "
                "divided by the distance of its two points?".format(*factors))
    return "Check one entry by hand: four values of f, with this entry moved by h, −h, h/2 and −h/2, and no other."


def _mixture(got, half, whole):
    """[a, b] if a table is a · half + b · whole in all its entries, which must be enough to tell; else None."""
    parts = torch.stack([half.flatten(), whole.flatten()], 1)
    factors = torch.linalg.lstsq(parts, got.reshape(-1, 1)).solution
    told = len(parts) > 2 and torch.linalg.matrix_rank(parts, rtol=1e-3) == 2
    return factors.flatten().tolist() if told and same(parts @ factors, got.reshape(-1, 1)) else None


# -- per_word --------------------------------------------------------------------------------------------------------

HOW = {"l2": lambda g: g.norm(), "l1": lambda g: g.abs().sum(), "ms": lambda g: g.square().mean(),
       "avg": lambda g: g.mean()}
PIECES = torch.tensor([[9.0, -5.0], [-2.0, 1.0], [1.0, 2.0], [-4.0, 2.0], [0.0, -3.0], [3.0, -1.0], [2.0, 5.0],
                       [7.0, 7.0]]).double()
WORDS = [None, 1, 0, 0, 2, 0, 2, None]


@question((1, 3), {**{f"three words, {how}": (PIECES, WORDS, how) for how in HOW},
                   "one token": (torch.tensor([[-3.0, 4.0, 0.5]]), [0], "l2"),
                   "no word at all": (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).double(), [None, None], "avg")},
          hints={"shapes": "Pick the rows of a word first: (m, d_e). One number is made of all m·d_e of them.",
                 "TypeError": "Does a None of `words` meet a number there? Leave those out before you compare or "
                              "count."})
def per_word(G, words, how):
    """per_word(G, words, how): (number of words,), one number made of all slopes of a word's pieces."""
    return _per_word(G, words, HOW[how])


def _per_word(G, words, reduce):
    """reduce: (m, d_e) → number."""
    rows = [G[[t for t, word in enumerate(words) if word == i]] for i in range(_count(words))]
    return torch.stack([reduce(g) for g in rows]) if rows else G.new_zeros(0)


def _count(words):
    return max((word + 1 for word in words if word is not None), default=0)


def _by_piece(reduce, join):
    """A reduction of each piece, then join over a word's pieces."""
    return lambda g: join(torch.stack([reduce(row) for row in g]))


@per_word.suspect
def _(got, G, words, how):
    n = _count(words)
    if kind(got) != "a tensor":
        return "The result is a tensor with one number for each word."
    if n == 0 and tuple(got.shape) == (0,):
        return "No word, no number: so far it is right. But the result has the dtype of G, also here."
    if n == 0:
        return "There is no word here: the result has no numbers, shape (0,)."
    if got.dtype != G.dtype:
        return "Slopes and result have one dtype."
    if tuple(got.shape) == (len(G),) != (n,):
        return "That is a number for each token. Pieces of one word belong together, and None is no word."
    if tuple(got.shape) == (len(G) - words.count(None),) != (n,):
        return "That is a number for each piece. Pieces of one word belong together."
    if tuple(got.shape) == (len([word for word, _ in itertools.groupby(words) if word is not None]),) != (n,):
        return "That is a number for each stretch of one word. The pieces of a word need not stand together."
    if tuple(got.shape) == (n + 1,) and None in words:
        return "There is a number too many: is None taken for a word?"
    if tuple(got.shape) == (n - 1,) == (0,):
        return ("There is a word here, number 0, and it has got no number. Was 0 taken for None (`if word` is False "
                "for both), or the first token for a special one?")
    if tuple(got.shape) == (n - 1,) and same(got, _per_word(G, words, HOW[how])[:-1]):
        return ("There is a number too few: the last word is missing. Words are counted from 0: there is one more than "
                "the largest number.")
    if tuple(got.shape) == (n - 1,) and same(got, _per_word(G, words, HOW[how])[1:]):
        return "Word 0 was left out. 0 counts as False, as None does: `is not None` asks for None alone."
    if tuple(got.shape) == (n - 1,):
        return "There is a number too few."
    if tuple(got.shape) == (n, G.shape[1]):
        return "One number for each word: the slopes of all coordinates go into it."
    plain, right = HOW[how], _per_word(G, words, HOW[how])
    variants = [(_per_word(G, words, reduce), sentence) for reduce, sentence in (
        (_by_piece(plain, torch.sum), f"That is the sum of the pieces' numbers. For {how} put all slopes of the word "
                                      "side by side first: it has m·d_e of them."),
        (_by_piece(plain, torch.mean), f"That is the mean of the pieces' numbers. For {how} put all slopes of the "
                                       "word side by side first: it has m·d_e of them."),
        (_by_piece(plain, torch.max), "Only the piece with the largest number counts here. All slopes of the word do."),
        (lambda g: plain(g[0]), "Only the first piece came in."),
        (lambda g: plain(g[-1]), "Only the last piece came in."),
        (lambda g: plain(g.sum(0)), "The pieces' slopes were added up before the number was made: slopes of opposite "
                                    "sign cancel. Put them side by side."),
        (lambda g: plain(g.mean(0)), "The pieces' slopes were averaged before the number was made: slopes of opposite "
                                     "sign cancel. Put them side by side."),
        (lambda g: -plain(g), "The sign is turned round."),
        (lambda g: plain(g).abs(), f"{how} keeps its sign: no absolute values.")) + MISTAKES[how]]
    variants += [(_per_word(G, words, HOW[other]), f"That is {other}, and `how` is {how!r} here.") for other in HOW]
    variants += [(_per_word(G, [word or 0 for word in words], plain), "None was taken for word 0.")]
    if words_for := first_match(got, variants):
        return words_for
    if tuple(got.shape) == (n,) and same(got.nan_to_num().sort().values, right.sort().values):
        return "The right numbers in another order: entry i belongs to word i, wherever it stands in the text."
    if tuple(got.shape) == (n,) and not got[0].nan_to_num() and same(got[1:], right[1:]):
        return "Word 0 was left out. 0 counts as False, as None does: `is not None` asks for None alone."
    return "Take word 0 by hand: which rows are its pieces, and which numbers do they hold together?"


def _matrix_norm(order):
    return lambda g: torch.linalg.matrix_norm(g, order)


PIECES_ONLY = "Divided by the number of pieces. The word has m·d_e slopes, and the mean is over all of them."
AS_MATRIX = "That is the norm of a matrix. Put the rows of the word side by side, as one vector: x.flatten()."
MISTAKES = {        # how → (reduction, words)
    "avg": ((lambda g: g.sum(), "Added up, not averaged: avg is the mean of all the word's slopes."),
            (lambda g: g.sum() / len(g), PIECES_ONLY),
            (lambda g: g.abs().mean(), "avg keeps the signs: no absolute values.")),
    "l1": ((lambda g: g.abs().mean(), "That is the mean of the absolute values, as one set of slides has it. Here L1 "
                                      "is the norm: their sum."),
           (lambda g: g.sum(), "The absolute values are missing."), (_matrix_norm(1), AS_MATRIX),
           (lambda g: g.sum().abs(), "The absolute value is taken of each slope, before they are added up.")),
    "l2": ((lambda g: g.square().sum(), "The root is missing."), (_matrix_norm(2), AS_MATRIX),
           (lambda g: g.square().mean().sqrt(), "The root of the *mean* of squares. L2 is the norm: of their sum.")),
    "ms": ((lambda g: g.square().mean().sqrt(), "Without the root: ms is the mean of squares."),
           (lambda g: g.square().sum(), "Added up: ms is the *mean* of all squares."),
           (lambda g: g.square().sum() / len(g), PIECES_ONLY),
           (lambda g: g.mean().square(), "The square of the mean: take the mean of the squares.")),
}


announce("gradients", [numerical_slopes, per_word, best_swap, integrated, complete, survivors, head_slopes],
         {"baselines compared": 5})
