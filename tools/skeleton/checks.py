"""Checks of assignment NUMBER."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind
from coursegrade.kit.score import announce

__all__ = ["shares"]


@question((1, 2), {"three scores": (torch.tensor([6.0, -2.0, 0.0]),),
                   "two of one size": (torch.tensor([2.0, -2.0]),),
                   "nothing but zeros": (torch.zeros(4),)},
          returns="shares (T,)",
          otherwise="Take the first example by hand: which sizes have its scores, and what do they add up to?",
          hints={"IndexError": "Places are counted from 0: the last one is len(scores) − 1."})
def shares(scores, *, signed=False, power=1, whole=torch.sum):
    """shares(scores): (T,), the part that each score has in the sum of all sizes; 1/T each where all scores are 0."""
    sizes = (scores if signed else scores.abs()) ** power               # (T,)
    return sizes / whole(sizes) if sizes.any() else torch.full_like(sizes, 1 / len(sizes))


shares.mistakes(
    ("The signs are still there. A share is a part of the sum of *sizes*, and no size is below 0.", dict(signed=True)),
    ("These are shares of the squares. A size is the absolute value.", dict(power=2)),
    ("Divided by the largest size. Shares are parts of a sum: they add up to 1.", dict(whole=torch.amax)),
    ("Divided by the number of scores, not by the sum of their sizes.", dict(whole=len)))


@shares.suspect
def _(got, scores):
    if kind(got) == "a tensor" and got.isnan().any():
        return "All scores are 0 here, and 0/0 is nan: ask whether there is anything to share before you divide."
    return None


announce("TOPIC", [shares], {"two explanations": 4})
