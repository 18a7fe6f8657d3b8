"""Checks of assignment 06: the best swap of one word."""

import torch

from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import same

__all__ = ["best_swap"]

TABLE = torch.tensor([[0.0, 1.0], [2.0, 0.0], [-1.0, 1.0], [1.0, 3.0], [0.0, -2.0]]).double()      # D = 5, d_e = 2
SLOPES = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]]).double()                             # T = 3


@question((1, 2), {"any word": (SLOPES, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
                   "tiny slopes": (SLOPES * 1e-8, [4, 0, 3], TABLE, [0, 1, 2, 3, 4]),
                   "three words allowed": (SLOPES, [2, 1, 0], TABLE, [4, 2, 0]),
                   "nothing gets better": (torch.tensor([[1.0, -2.0]]).double(), [1], TABLE[[2, 1, 0, 3, 4]],
                                           [0, 1, 2, 3]),
                   "two equally good": (torch.tensor([[0.0, 1.0], [0.0, 1.0]]).double(), [4, 4], TABLE, [2, 0, 1]),
                   "a tie of two places": (torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).double(), [0, 3], TABLE, [3, 0]),
                   "no other word": (SLOPES, [1, 1, 1], TABLE, [1])},
          hints={"shapes": "G is (T, d_e), W_e (D, d_e): which product gives (T, D), a number for a place and a word?",
                 "nothing": "None stands for “no swap is possible”. If all of them lower the score, take the one that "
                            "lowers it least: does your search begin with 0 as the number to beat? (And does the "
                            "function end with `return …`?)"})
def best_swap(G, ids, W_e, allowed):
    """best_swap(G, ids, W_e, allowed): (t, v, change), the swap with the largest forecast; None if there is no swap."""
    return _best_swap(_forecasts(G, ids, W_e), ids, allowed)


def _forecasts(G, ids, W_e):
    """(T, D): by how much the score is forecast to change if word v comes to place t."""
    return G @ W_e.T - (G * W_e[ids]).sum(1, keepdim=True)


def _best_swap(forecasts, ids, allowed, identity=False, last=False, change=None):
    """identity: may a word replace itself? last: of equally good ones; change: the forecasts that are returned."""
    swaps = [(forecasts[t, v].item(), t, v) for t in range(len(ids)) for v in allowed if identity or v != ids[t]]
    if not swaps:
        return None
    top = max(value for value, *_ in swaps)
    t, v = (max if last else min)((t, v) for value, t, v in swaps if value == top)
    return t, v, (forecasts if change is None else change)[t, v].item()


@best_swap.suspect
def _(got, G, ids, W_e, allowed):
    forecasts, everything = _forecasts(G, ids, W_e), list(range(len(W_e)))
    right = _best_swap(forecasts, ids, allowed)
    if right is None:
        return "No swap is possible here: nothing is allowed but what stands there already. Return None."
    if type(got) not in (list, tuple) or len(got) != 3:
        return "Return three things: the place t, the word v, the forecast change. (Or None, if there is no swap.)"
    t, v, change = got
    if same((v, t), right[:2]) and right[0] != right[1]:
        return "Place and word have changed places: t, v, change."
    if forecasts.abs().max() < 1e-5 and not same((t, v), right[:2]):
        return ("The slopes are tiny here, as those of a model that is sure of itself. One swap is still the best: is "
                "there a margin in the comparison, or a rounding?")
    plain, less = G @ W_e.T, "the change is what the new word brings *less* what the old one did."
    words = first_match(got, [pair for pair in [
        (_best_swap(plain, ids, allowed), f"The word that goes is missing: {less}"),
        (_best_swap(forecasts, ids, allowed, change=plain), f"The right swap, but {less}"),
        (_best_swap(-forecasts, ids, allowed), "That swap lowers the score the most. The change is new word minus old "
                                               "word, with its sign."),
        (_best_swap(-forecasts, ids, allowed, change=forecasts), "That swap lowers the score the most. Asked for is "
                                                                 "the one that raises it the most, or lowers it the "
                                                                 "least: not the largest *size*."),
        (_best_swap(forecasts, ids, allowed, identity=True), "A word in place of itself is no swap, even if all others "
                                                             "make it worse."),
        (_best_swap(forecasts, ids, everything), "Only the words in `allowed` may come in."),
        (_best_swap(forecasts, ids, everything, identity=True), "Only the words in `allowed` may come in, and a word "
                                                                "in place of itself is no swap."),
        (_best_swap(forecasts, ids, [v for v in allowed if v not in ids]),
         "Words that stand somewhere else in the document were left out. They may come in, too: a word cannot come in "
         "only where it stands already."),
        (_best_swap(forecasts, ids, allowed, last=True), "Of equally good swaps take the first place, and there the "
                                                         "smallest id."),
    ] if pair[0] is not None])
    if words:
        return words
    if same(t, right[0]) and same(v, right[1]):
        return "The right swap. Its change is (vector of the new word − vector of the old one) · slopes at this place."
    places = [order.index(right[1]) for order in (allowed, sorted(allowed))]
    if same((t, change), right[::2]) and any(same(v, place) for place in places):
        return "v is an id, a row of W_e, not a place in the list `allowed`."
    if v in allowed and same(forecasts[t, v], change):
        if torch.isclose(forecasts[t, v], forecasts[right[:2]], rtol=1e-6, atol=0):
            return ("The largest change is right; another swap has it as well. Of equally good ones take the first "
                    "place, and there the smallest id.")
        return ("That is what this swap changes, and another one has a larger forecast. (If all are below 0, the one "
                "nearest to 0 is the largest.)")
    return ("For each place t and each allowed word v: (vector of v − vector of the word at t) · row t of G. Which is "
            "the largest?")
