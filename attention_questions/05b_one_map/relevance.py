"""Check of assignment 05b: attention with gradients, for one class or for one rather than another."""

import torch

from coursegrade.kit.cases import numbers
from coursegrade.kit.question import question

__all__ = ["guided"]


def _drawn(C, L, K, T, seed):
    """A (L, K, T, T) in quarters that sum to one in each row, and G (C, L, K, T, T) of small whole numbers."""
    draw = torch.Generator().manual_seed(seed)
    A = torch.nn.functional.one_hot(torch.randint(T, (L * K * T, 4), generator=draw), T).sum(1).reshape(L, K, T, T) / 4
    return A, torch.randint(-9, 10, (C, L, K, T, T), generator=draw).float()


ONE = numbers("0.25 0.75  0.5 0.5   0.75 0.25  0.5 0.5", 1, 2, 2, 2), numbers(
    "8 -8  6 -2   4 16  0 6     4 8  2 2   -8 4  -2 0", 2, 1, 2, 2, 2)
DEEP = _drawn(C=2, L=2, K=1, T=3, seed=0)


@question((2, 2), {"one layer, class 0": (*ONE, 0, 0), "one layer, class 0 rather than 1": (*ONE, 0, 0, 1),
                   "two layers of two heads, the last row": (*_drawn(C=2, L=2, K=2, T=2, seed=5), -1, 1),
                   "two layers, class 1": (*DEEP, 1, 1),
                   "class 1 rather than 0, double precision": (DEEP[0].double(), DEEP[1].double(), 2, 1, 0)},
          returns="relevance (T,)",
          forbidden=("coursekit.explain.gradient_attention", "coursekit.explain.relevance._self_relevance"),
          instead="products of matrices and clamp",
          otherwise="One layer by hand: in each head, the gradient of f times the weight, 0 where that is negative; "
                    "then the mean of the heads. In the next layer, R is what came out of this.",
          hints={"shapes": "G[c] has the shape of A, (L, K, T, T); after the mean over heads a layer is (T, T)."})
def guided(A, G, row, target, other=None, *, slopes=None, positive=lambda x: x.clamp(min=0), late=False,
           heads=torch.mean, left=True, product=True, skips=True, start=1):
    """guided(A, G, row, target, other=None): (T,), row `row` of the relevance R, without the identity."""
    slopes = (G[target] if other is None else G[target] - G[other]) if slopes is None else slopes
    layers = positive((slopes * A).mean(1)) if late else heads(positive(slopes * A), 1)
    R = I = torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in layers:
        R = skips * R + ((layer @ R if left else R @ layer) if product else layer)
    return (R - start * I)[row]


def _with(change, **knobs):
    """The answer of somebody who takes other A, G, row, target, other."""
    return lambda A, G, row, target, other=None: guided.reference(*change(A, G, row, target, other), **knobs)


def _slopes(of):
    """The answer of somebody who takes other slopes; of: (A, G, target, other) → slopes."""
    return lambda A, G, row, target, other=None: guided.reference(A, G, row, target, slopes=of(A, G, target, other))


def _unweighted(A, G, row, target, other=None):
    slopes = G[target] if other is None else G[target] - G[other]
    return guided.reference(torch.ones_like(A), G, row, target, slopes=slopes)


def _own_entry(A, G, row, target, other=None):
    relevance = guided.reference(A, G, row, target, other)
    relevance[row] = 0
    return relevance


def _in_place(A, G, row, target, other=None):
    return torch.zeros(A.shape[-1], dtype=A.dtype)


def _subtracted(A, G, row, target, other=None):
    relevance = guided.reference(A, G, row, target)
    return relevance if other is None else relevance - guided.reference(A, G, row, other)


def _from_the_identity(A, G, row, target, other=None):
    layers = ((G[target] if other is None else G[target] - G[other]) * A).clamp(min=0).mean(1)
    R = I = torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in layers:
        R = I + layer @ R
    return (R - I)[row]



guided.mistakes(
    ("The 1 with which R began is still in it: take the identity out at the end.", dict(start=0)),
    ("The token's own entry was set to 0. Only the 1 with which it began is taken out of it.", _own_entry),
    ("The mean over heads was taken first, then what is negative was dropped. One head's plus then pays for another's "
     "minus: drop first.", dict(late=True)),
    ("Nothing was dropped. What is negative, entry by entry, becomes 0.", dict(positive=lambda x: x)),
    ("Absolute values were taken. What is negative speaks against f and becomes 0.", dict(positive=torch.abs)),
    ("The heads were added up. Take their mean.", dict(heads=torch.sum)),
    ("The gradients alone came in. They are multiplied by the attention, entry by entry.", _unweighted),
    ("The gradients have no part in it: attention alone was multiplied.",
     _slopes(lambda A, G, target, other: torch.ones_like(A))),
    ("The order is turned round: R ← R + Ā R, the later layer stands to the left.", dict(left=False)),
    ("The layers were added up. Each of them acts on what came through those before: Ā R.", dict(product=False)),
    ("I was added again in each layer. The R on both sides of the + is what came out of the layer before.",
     _from_the_identity),
    ("This is the product Ā ⋯ Ā alone. The skip connections are the R in R + Ā R.", dict(skips=False)),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).",
     _with(lambda A, G, row, *classes: (A, G, 0, *classes))),
    ("Rows and columns have changed places: row s, of a map and of R, holds what token s draws from.",
     _with(lambda A, G, *rest: (A.mT, G.mT, *rest))),
    ("Where `other` is class 0 it changes nothing here. Does `if other` ask for it? `is not None` asks that.",
     _with(lambda *given: (*given[:4], given[4] or None))),
    ("`other` changes nothing here. If it is given, f is the difference of two logits.",
     _with(lambda *given: (*given[:4], None))),
    ("Two results were subtracted. f is the difference of the logits, and so its gradient is G[target] − G[other], "
     "*before* anything is dropped.", _subtracted),
    ("The two gradients were added up. f is a difference.",
     _slopes(lambda A, G, target, other: G[target] + (0 if other is None else G[other]))),
    ("Those are the gradients of another class than `target`.", _with(lambda A, G, *rest: (A, G.flip(0), *rest))),
    ("Everything is 0. Did R begin as the identity, and is it not another name for it? After `R = I` both are one "
     "tensor, and `R += …` changes both.", _in_place))
