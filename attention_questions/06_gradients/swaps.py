"""Checks of assignment 06: the best swap of one word."""

from attention_questions.prelude import Question, same, torch

from . import solution

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
    if same(change, solution.best_swap(G[[t]], [ids[t]], W_e, [v])[2], (1e-4, 1e-13)):
        yield ("That is what this swap changes, and another one has a larger forecast. (If all are below 0, the one "
               "nearest to 0 is the largest.)")
