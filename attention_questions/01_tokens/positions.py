"""Checks of assignment 01: positions as waves."""

from attention_questions.prelude import Question, kind, same, torch

from . import solution

waves = Question(solution.waves, (1, 2), {
    "base 10,000": (torch.tensor([0, 1, 2, 3]), 6, 10_000), "base 64": (torch.tensor([1, 2, 64]), 4, 64),
    "places in any order": (torch.tensor([7, 0, 7]), 2, 100)},
    returns="P (T, d)", forbidden=("coursekit.models.sinusoidal_positions",), instead="torch.sin and torch.cos",
    tolerance=(1e-3, 1e-4),
    hints={"shapes": "Do the positions stand in a column, (T, 1), where they meet the d/2 speeds?"},
    otherwise="One entry by hand: row r, column 2i is sin(t_r / base^(2i/d)), the column behind it the cosine.",
    promises={"an even $d$": lambda t, d, base: d % 2 == 0})
waves.mistakes(
    ("All sines first, then all cosines. Here the two of a frequency stand side by side: columns 2i and 2i + 1.",
     "P[:, 0::2], P[:, 1::2] → P[:, :d // 2], P[:, d // 2:]"),
    ("Sine and cosine have changed places: the even columns, counted from 0, are sines.",
     "angles.sin(), angles.cos() → angles.cos(), angles.sin()"),
    ("The exponent is 2i/d with i = 0 … d/2 − 1: the 2 is missing.", "(0, d, 2) → (d // 2)"),
    ("The sine and the cosine of a pair have one frequency. The exponent counts pairs (2i), not columns.",
     "(0, d, 2) → (d)", "angles.sin(), angles.cos() → angles[:, 0::2].sin(), angles[:, 1::2].cos()"),
    ("The base is an argument of the function. Is 10,000 written in somewhere?", "base ** → 10_000 **"),
    *(("The positions are off by one. They are in t already: nothing is added to them or taken away.",
       f"t[:, None] → ({shifted})[:, None]") for shifted in ("t + 1", "t - 1")),
    ("Two neighbouring columns are equal. One is a sine, the other a cosine.", "angles.cos() → angles.sin()"),
    ("These are the first positions. Asked for are the positions in t, whatever they are.",
     "t[:, None] → torch.arange(len(t))[:, None]"),
    ("The clocks get faster from left to right. They get slower: t is divided by base^(2i/d).", "/ base → * base"),
    ("The exponent is 2i/d: the division by d is missing.", "(0, d, 2) / d → (0.0, d, 2)"),
    ("The counting starts too late: i is 0 in the first pair of columns, which turns fastest.",
     "(0, d, 2) → (2, d + 2, 2)"),
    ("All pairs of columns turn equally fast. Is 2i/d a fraction, with `/` and not with `//`?", "/ d) → // d)"))


@waves.suspect
def _(got, t, d, base):
    if kind(got) == "a tensor" and same(got, solution.waves(t, d, base).double()):
        yield "The values are right. Positions have single precision: end with .float()."
    if tuple(got.shape) == (int(t.max()) + 1, d) and len(t) <= t.max():
        yield ("This has a row for every position up to the largest. Asked for are those in t, a row for each, in "
               "their order.")
    if not got.is_floating_point():
        yield "The waves were cut to whole numbers: is the tensor that you fill one of floats?"
