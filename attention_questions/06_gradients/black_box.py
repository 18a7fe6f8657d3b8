"""Check of assignment 06: the slopes of a black box."""

from attention_questions.prelude import CheckFailed, Question, kind, same, services, torch

from . import solution
from .paths import function

E32, E31 = torch.tensor([[1.0, 2.0], [0.0, -1.0], [0.5, 1.5]]).double(), torch.tensor([[0.5], [1.0], [-1.0]]).double()


def _black_box(f, e, h):
    """What an answer gets in place of f: a function of one table that returns a number, and counts in `.asked`."""

    def ask(table):
        if kind(table) != "a tensor" or table.shape != e.shape or not table.is_floating_point():
            found = f"a tensor {tuple(table.shape)}, {table.dtype}" if kind(table) == "a tensor" else kind(table)
            raise ValueError(f"f takes one table of shape {tuple(e.shape)} with floating-point numbers, got {found}")
        ask.asked += 1
        return float(function(f)(table.detach().double()))

    ask.asked = 0
    return ask, e, h


def _four_questions(answer, arguments):
    f, e, h = _black_box(*arguments)
    services.run(answer, (f, e, h))
    if f.asked > 4 * e.numel():
        raise CheckFailed(f"For {e.numel()} numbers it asks f {f.asked} times. Four questions for each number are "
                          "enough, and a black box is paid by the question.")


numerical_slopes = Question(solution.numerical_slopes, (1, 2), {
    "curved": ("(e.exp() + e ** 3).sum()", E32, 1.5), "cubes": ("(e ** 3).sum()", E32, 0.25),
    "tokens that meet": ("e[0, 0] * e[1, 1] ** 2 + e[1, 0]", E32, 3.0),
    "rounded to one decimal": ("torch.round(e.exp().sum(), decimals=1)", E31, 0.5),
    "one number": ("e.sin().sum()", torch.tensor([[0.1]]).double(), 0.3)},          # 0.1 + 0.3 − 0.3 ≠ 0.1
    returns="(T, d_e)", given=_black_box, also=_four_questions,
    otherwise="Check one entry by hand: four values of f, with this entry moved by h, −h, h/2 and −h/2, and no other. "
              "(Was e itself changed, and the entry not put back? e.clone() is a copy.)",
    hints={"f takes one table": "f takes a whole table (T, d_e): e with one entry changed.",
           "AttributeError": "If the dot stands behind what f gave: that is a plain number of Python, which needs no "
                             ".item(), and knows no .backward(). No gradient gets out of a black box; ask it four "
                             "times for each entry."})

COMBINED, SIDES = "(4 * half - whole) / 3", "f(e + step * unit) - f(e - step * unit)"
numerical_slopes.mistakes(
    ("That is D(h) alone: its error is still in it. Combine it with D(h/2).", f"{COMBINED} → whole"),
    ("That is D(h/2) alone. Combine it with D(h).", f"{COMBINED} → half"),
    ("Those are one-sided differences. Look to both sides: f(e + h) less f(e − h), over 2h.",
     f"({SIDES}) / (2 * step) → (f(e + step * unit) - f(e)) / step"),
    ("The two steps are 2h and h here. They are h and h/2.", "(h, h / 2) → (2 * h, h)"),
    ("The two steps are h/2 and h/4 here. They are h and h/2.", "(h, h / 2) → (h / 2, h / 4)"),
    ("The sign is turned round: f at the larger place less f at the smaller one.",
     f"{SIDES} → f(e - step * unit) - f(e + step * unit)"),
    ("A whole row of e was moved. Move one entry, and leave all others where they are.", "unit[t, j] → unit[t]"),
    ("The entries that came before are still moved: does each entry get a new table of zeros?",
     "            unit = torch.zeros_like(e)\n → ", "result = → unit = torch.zeros_like(e)\n    result ="),
    ("The entry was replaced by h and −h. It is to be moved *by* them, from where it is.",
     f"{SIDES} → f(e * (1 - unit) + step * unit) - f(e * (1 - unit) - step * unit)"),
    ("Nearly the true slopes. Asked for is the combination of the steps h and h/2, as large as they are: where f is "
     "rounded, a small step sees nothing.", "(h, h / 2) → (1e-4, 1e-4 / 2)"))


@numerical_slopes.suspect
def _(got, f, e, h):
    if kind(got) != "a tensor" or got.shape != e.shape:
        return
    if not got.any():
        yield ("All slopes are 0. Does f get tables that differ by h? And no gradient gets out of a black box: each "
               "entry has four questions of its own.")
    (_, whole), (_, half), *_ = numerical_slopes.wrong_answers()
    right, large, small = (slopes(*_black_box(f, e, h)) for slopes in (solution.numerical_slopes, whole, half))
    if same(got[got != 0], right[got != 0]):
        yield (f"{(got != 0).sum()} of the {got.numel()} slopes are right, and the others are still 0. Does `return` "
               "stand inside a loop?")
    parts = torch.stack([small.flatten(), large.flatten()], 1).double()
    factors = torch.linalg.lstsq(parts, got.reshape(-1, 1).double()).solution
    if len(parts) > 2 and torch.linalg.matrix_rank(parts, rtol=1e-3) == 2 and same(parts @ factors, got.reshape(-1, 1)):
        a, b = factors.flatten().tolist()
        yield (f"That is {a:.3g} D(h/2) {b:+.3g} D(h). Are these the factors that are asked for, and is each "
               "difference divided by the distance of its two points?")
