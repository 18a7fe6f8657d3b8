"""Checks of assignment 01: positions as waves."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

__all__ = ["waves"]


@question((1, 2), {"base 10,000": (torch.tensor([0, 1, 2, 3]), 6, 10_000),
                   "base 64": (torch.tensor([1, 2, 64]), 4, 64),
                   "places in any order": (torch.tensor([7, 0, 7]), 2, 100)},
          returns="P (T, d)", forbidden=("coursekit.models.sinusoidal_positions",), instead="torch.sin and torch.cos",
          tolerance=(1e-3, 1e-4),
          hints={"shapes": "Do the positions stand in a column, (T, 1), where they meet the d/2 speeds?"},
          otherwise="One entry by hand: row r, column 2i is sin(t_r / base^(2i/d)), the column behind it the cosine.",
          promises={"an even $d$": lambda t, d, base: d % 2 == 0})
def waves(t, d, base, *, exponents=lambda d: torch.arange(0, d, 2) / d, swap=False, halves=False, sign=1, shift=0):
    """waves(t, d, base): vectors (T, d) of the positions t (T,), sine and cosine of a frequency side by side."""
    angles = (t + shift).double()[:, None] / float(base) ** (sign * exponents(d).double())      # (T, d/2)
    pair = (angles.cos(), angles.sin()) if swap else (angles.sin(), angles.cos())
    return (torch.cat(pair, 1) if halves else torch.stack(pair, -1).flatten(1)).float()


def _columns(t, d, base):
    angles = t.double()[:, None] / float(base) ** (torch.arange(d).double() / d)
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos()).float()


waves.mistakes(
    ("All sines first, then all cosines. Here the two of a frequency stand side by side: columns 2i and 2i + 1.",
     dict(halves=True)),
    ("Sine and cosine have changed places: the even columns, counted from 0, are sines.", dict(swap=True)),
    ("The exponent is 2i/d with i = 0 … d/2 − 1: the 2 is missing.",
     dict(exponents=lambda d: torch.arange(d // 2) / d)),
    ("The sine and the cosine of a pair have one frequency. The exponent counts pairs (2i), not columns.", _columns),
    ("The base is an argument of the function. Is 10,000 written in somewhere?",
     lambda t, d, base: waves.reference(t, d, 10_000)),
    *(("The positions are off by one. They are in t already: nothing is added to them or taken away.",
       dict(shift=shift)) for shift in (1, -1)),
    ("Two neighbouring columns are equal. One is a sine, the other a cosine.",
     lambda t, d, base: waves.reference(t, d, base)[:, 0::2].repeat_interleave(2, 1)),
    ("These are the first positions. Asked for are the positions in t, whatever they are.",
     lambda t, d, base: waves.reference(torch.arange(len(t)), d, base)),
    ("The clocks get faster from left to right. They get slower: t is divided by base^(2i/d).", dict(sign=-1)),
    ("The exponent is 2i/d: the division by d is missing.", dict(exponents=lambda d: torch.arange(0, d, 2))),
    ("The counting starts too late: i is 0 in the first pair of columns, which turns fastest.",
     dict(exponents=lambda d: (torch.arange(0, d, 2) + 2) / d)),
    ("All pairs of columns turn equally fast. Is 2i/d a fraction, with `/` and not with `//`?",
     dict(exponents=lambda d: torch.arange(0, d, 2) // d)))


@waves.suspect
def _(got, t, d, base):
    if kind(got) == "a tensor" and same(got, waves.reference(t, d, base).double()):
        return "The values are right. Positions have single precision: end with .float()."
    if tuple(got.shape) == (int(t.max()) + 1, d) and len(t) <= t.max():
        return ("This has a row for every position up to the largest. Asked for are those in t, a row for each, in "
                "their order.")
    if not got.is_floating_point():
        return "The waves were cut to whole numbers: is the tensor that you fill one of floats?"
    return None
