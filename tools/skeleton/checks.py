"""Checks of assignment NUMBER."""

from attention_questions.prelude import Question, announce, kind, torch

from . import solution

shares = Question(solution.shares, (1, 2), {
    "three scores": (torch.tensor([6.0, -2.0, 0.0]),), "two of one size": (torch.tensor([2.0, -2.0]),),
    "nothing but zeros": (torch.zeros(4),)},
    returns="shares (T,)",
    otherwise="Take the first example by hand: which sizes have its scores, and what do they add up to?",
    hints={"IndexError": "Places are counted from 0: the last one is len(scores) − 1."})
shares.mistakes(
    ("The signs are still there. A share is a part of the sum of *sizes*, and no size is below 0.", ".abs() → "),
    ("These are shares of the squares. A size is the absolute value.", "abs() → square()"),
    ("Divided by the largest size. Shares are parts of a sum: they add up to 1.", "sizes.sum() → sizes.amax()"),
    ("Divided by the number of scores, not by the sum of their sizes.", "sizes.sum() → len(sizes)"))


@shares.suspect
def _(got, scores):
    if kind(got) == "a tensor" and got.isnan().any():
        yield "All scores are 0 here, and 0/0 is nan: ask whether there is anything to share before you divide."


announce("TOPIC", [shares], {"two explanations": 4})
