"""Answers to assignment NUMBER that no mistake can be: errors, odd results, and right ones written differently."""

import torch

from tests.grading.bank.entries import right, wrong

# -- shares ----------------------------------------------------------------------------------------------------------


@wrong("shares", "Places are counted from 0")
def _(scores):
    total = sum(scores[t].abs() for t in range(1, len(scores) + 1))
    return scores.abs() / total


@wrong("shares", "0/0 is nan")
def _(scores):
    return scores.abs() / scores.abs().sum()


@wrong("shares", "Take the first example by hand")
def _(scores):
    return torch.softmax(scores.abs(), 0)


@wrong("shares", "float64 is due here", at_once=False)
def _(scores):
    sizes = scores.abs().float()
    return sizes / sizes.sum() if sizes.any() else torch.ones(len(sizes)) / len(sizes)


@right("shares", "one number after the other")
def _(scores):
    total = sum(abs(score) for score in scores.tolist())
    parts = [abs(score) / total if total else 1 / len(scores) for score in scores.tolist()]
    return torch.tensor(parts, dtype=scores.dtype)


@right("shares", "the norm of order 1, and a where")
def _(scores):
    total = scores.norm(p=1)
    return torch.where(total > 0, scores.abs() / total, 1 / len(scores))
