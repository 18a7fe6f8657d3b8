"""Checks of assignment 06: the best swap of one word."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import same

__all__ = ["best_swap"]

TABLE = torch.tensor([[0.0, 1.0], [2.0, 0.0], [-1.0, 1.0], [1.0, 3.0], [0.0, -2.0]]).double()      # D = 5, d_e = 2
SLOPES = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]]).double()                             # T = 3


@question((1, 0), {"any word": (SLOPES, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
                   "tiny slopes": (SLOPES * 1e-8, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
                   "three words allowed": (SLOPES, [2, 1, 0], TABLE, [4, 2, 0]),
                   "nothing gets better": (torch.tensor([[1.0, -2.0]]).double(), [1], TABLE[[2, 1, 0, 3, 4]],
                                           [0, 1, 2, 3]),
                   "two equally good": (torch.tensor([[0.0, 1.0], [0.0, 1.0]]).double(), [4, 4], TABLE, [2, 0, 1]),
                   "a tie of two places": (torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).double(), [0, 3], TABLE, [3, 0]),
                   "no other word": (SLOPES, [1, 1, 1], TABLE, [1]),
                   "nothing is allowed": (SLOPES, [4, 0, 3], TABLE, [])},
          returns="t, v, change", tolerance=(1e-4, 1e-13),
          otherwise="For each place t and each allowed word v: (vector of v − vector of the word at t) · row t of G. "
                    "Which is the largest?",
          hints={"shapes": "G is (T, d_e), W_e (D, d_e): which product gives (T, D), a number for a place and a word?",
                 "nothing": "None stands for “no swap is possible”. If all of them lower the score, take the one that "
                            "lowers it least: does your search begin with 0 as the number to beat? (And does the "
                            "function end with `return …`?)"})
def best_swap(G, ids, W_e, allowed, *, old=1, told=None, sign=1, size=False, margin=0.0, identity=False, anywhere=False,
              last=False, places=False):
    """best_swap(G, ids, W_e, allowed): (t, v, change), the swap with the largest forecast; None if there is no swap."""
    new, gone = G @ W_e.T, (G * W_e[ids]).sum(1, keepdim=True)          # (T, D) of the words that come, (T, 1) that go
    forecasts = sign * (new - old * gone)
    words = range(len(W_e)) if anywhere else allowed
    worth = forecasts.abs() if size else forecasts
    swaps = [(worth[t, v].item(), t, v) for t in range(len(ids)) for v in words if identity or v != ids[t]]
    if not swaps:
        return None
    top = max(value for value, *_ in swaps)
    t, v = (max if last else min)((t, v) for value, t, v in swaps if value >= top - margin)
    return t, list(allowed).index(v) if places else v, (forecasts if told is None else new - told * gone)[t, v].item()


best_swap.mistakes(
    ("The slopes are tiny here, as those of a model that is sure of itself. One swap is still the best: is there a "
     "margin in the comparison, or a rounding?", dict(margin=1e-6)),
    ("The word that goes is missing: the change is what the new word brings *less* what the old one did.", dict(old=0)),
    ("The right swap, but the change is what the new word brings *less* what the old one did.", dict(told=0)),
    ("That swap lowers the score the most. The change is new word minus old word, with its sign.", dict(sign=-1)),
    ("That swap lowers the score the most. Asked for is the one that raises it the most, or lowers it the least: not "
     "the largest *size*.", dict(size=True)),
    ("A word in place of itself is no swap, even if all others make it worse.", dict(identity=True)),
    ("Only the words in `allowed` may come in.", dict(anywhere=True)),
    ("Of equally good swaps take the first place, and there the smallest id.", dict(last=True)),
    ("v is an id, a row of W_e, not a place in the list `allowed`.", dict(places=True)))


@best_swap.suspect
def _(got, G, ids, W_e, allowed):
    right = best_swap.reference(G, ids, W_e, allowed)
    if right is None:
        return "No swap is possible here: nothing is allowed but what stands there already. Return None."
    t, v, change = got
    if same(change, best_swap.reference(G[[t]], [ids[t]], W_e, [v])[2], (1e-4, 1e-13)):
        return ("That is what this swap changes, and another one has a larger forecast. (If all are below 0, the one "
                "nearest to 0 is the largest.)")
    return None
