"""Check of assignment 05b: attention with gradients, for one class or for one rather than another."""

from attention_questions.prelude import Question, numbers, torch

from . import solution


def _drawn(C, L, K, T, seed):
    """A (L, K, T, T) in quarters that sum to one in each row, and G (C, L, K, T, T) of small whole numbers."""
    draw = torch.Generator().manual_seed(seed)
    A = torch.nn.functional.one_hot(torch.randint(T, (L * K * T, 4), generator=draw), T).sum(1).reshape(L, K, T, T) / 4
    return A, torch.randint(-9, 10, (C, L, K, T, T), generator=draw).float()


ONE = numbers("0.25 0.75  0.5 0.5   0.75 0.25  0.5 0.5", 1, 2, 2, 2), numbers(
    "8 -8  6 -2   4 16  0 6     4 8  2 2   -8 4  -2 0", 2, 1, 2, 2, 2)
DEEP = _drawn(C=2, L=2, K=1, T=3, seed=0)


guided = Question(solution.guided, (2, 2), {
    "one layer, class 0": (*ONE, 0, 0), "one layer, class 0 rather than 1": (*ONE, 0, 0, 1),
    "two layers of two heads, the last row": (*_drawn(C=2, L=2, K=2, T=2, seed=5), -1, 1),
    "two layers, class 1": (*DEEP, 1, 1),
    "class 1 rather than 0, double precision": (DEEP[0].double(), DEEP[1].double(), 2, 1, 0)},
    returns="relevance (T,)",
    forbidden=("coursekit.explain.gradient_attention", "coursekit.explain.relevance._self_relevance"),
    instead="products of matrices and clamp",
    otherwise="One layer by hand: in each head, the gradient of f times the weight, 0 where that is negative; "
              "then the mean of the heads. In the next layer, R is what came out of this.",
    hints={"shapes": "G[c] has the shape of A, (L, K, T, T); after the mean over heads a layer is (T, T)."})
LAYER = "(slope * maps).clamp(min=0).mean(0)"
guided.mistakes(
    ("The 1 with which R began is still in it: take the identity out at the end.", "(R - I)[row] → R[row]"),
    ("The token's own entry was set to 0. Only the 1 with which it began is taken out of it.",
     "(R - I)[row] → (R * (1 - I))[row]"),
    ("The mean over heads was taken first, then what is negative was dropped. One head's plus then pays for another's "
     "minus: drop first.", ".clamp(min=0).mean(0) → .mean(0).clamp(min=0)"),
    ("Nothing was dropped. What is negative, entry by entry, becomes 0.", ".clamp(min=0) → "),
    ("Absolute values were taken. What is negative speaks against f and becomes 0.", "clamp(min=0) → abs()"),
    ("The heads were added up. Take their mean.", "mean(0) → sum(0)"),
    ("The gradients alone came in. They are multiplied by the attention, entry by entry.", "slope * maps → slope"),
    ("The gradients have no part in it: attention alone was multiplied.", "slope * maps → maps"),
    ("The order is turned round: R ← R + Ā R, the later layer stands to the left.", f"{LAYER} @ R → R @ {LAYER}"),
    ("The layers were added up. Each of them acts on what came through those before: Ā R.", " @ R → "),
    ("I was added again in each layer. The R on both sides of the + is what came out of the layer before.",
     "R = R + → R = I +"),
    ("This is the product Ā ⋯ Ā alone. The skip connections are the R in R + Ā R.", "R = R + → R ="),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", "[row] → [0]"),
    ("Rows and columns have changed places: row s, of a map and of R, holds what token s draws from.",
     "(slope * maps) → (slope * maps).mT"),
    ("Where `other` is class 0 it changes nothing here. Does `if other` ask for it? `is not None` asks that.",
     "other is None → not other"),
    ("`other` changes nothing here. If it is given, f is the difference of two logits.", "other is None → True"),
    ("Two results were subtracted. f is the difference of the logits, and so its gradient is G[target] − G[other], "
     "*before* anything is dropped.", lambda A, G, row, target, other=None: (
         solution.guided(A, G, row, target) - (0 if other is None else solution.guided(A, G, row, other)))),
    ("The two gradients were added up. f is a difference.", "G[target] - G[other] → G[target] + G[other]"),
    ("Those are the gradients of another class than `target`.", "slopes = → G = G.flip(0)\n    slopes ="),
    ("Everything is 0. Did R begin as the identity, and is it not another name for it? After `R = I` both are one "
     "tensor, and `R += …` changes both.", "R = R + → R +="))
