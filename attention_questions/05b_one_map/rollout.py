"""Check of assignment 05b: rollout, layer by layer."""

import torch

from coursegrade.kit.cases import numbers
from coursegrade.kit.question import question
from coursegrade.kit.same import same

__all__ = ["rolled"]

FINGER = numbers("0.5 0 0.5  0.25 0 0.75  0 0.5 0.5    0 1 0  0 0.75 0.25  0.5 0 0.5", 2, 1, 3, 3)
DEEP = numbers("0.5 0.25 0.25  0.125 0.75 0.125  0.25 0.5 0.25    0.25 0.625 0.125  0.5 0 0.5  0.125 0.125 0.75    "
               "0.125 0.5 0.375  0.25 0.25 0.5  1 0 0", 3, 1, 3, 3)
HEADS = numbers("0.5 0.25 0.25  0.125 0.25 0.625  0.25 0.25 0.5   0 1 0  0.5 0.25 0.25  0.75 0.125 0.125    "
                "0.75 0.125 0.125  0.25 0.5 0.25  0.5 0 0.5   1 0 0  0 0.5 0.5  0.125 0.75 0.125", 2, 2, 3, 3)
CUT = numbers("0.5 0.25  0.5 0   0.125 0.125  0.25 0.25    0.375 0.125  0.25 0.75   0 1  0.25 0", 2, 2, 2, 2)
LOST = numbers("0.25 0.25 0.25  0 0 0  0 0.5 0.25    0.25 0.5 0  0.5 0.25 0.25  0 0 0.5", 2, 1, 3, 3)


@question((2, 2), {"two layers, skips of one half": (FINGER, 0, [0.5, 0.5]),
                   "three layers, no skips": (DEEP, 0, [0.0, 0.0, 0.0]),
                   "each layer with a skip of its own, double precision": (DEEP.double(), 1, [0.25, 0.5, 0.125]),
                   "two heads, the last row": (HEADS, -1, [0.25, 0.5]),
                   "some attention was cut off": (CUT, 0, [0.5, 0.25]),
                   "a row of zeros": (LOST, 0, [0.5, 0.25])},
          returns="rows (L + 1, T)", forbidden=("coursekit.explain.rollout",), instead="matrix products",
          hints={"shapes": "Each layer is one matrix (T, T) after the mean over heads; `skip` has one number for "
                           "each."},
          promises={"rows sum to one *or less*": lambda A, row, skip: A.min() >= 0 and A.sum(-1).max() < 1 + 1e-5,
                    "`skip` is a list of $L$ numbers from 0 to 1": lambda A, row, skip: (
                        len(skip) == len(A) and all(0 <= share <= 1 for share in skip))})
def rolled(A, row, skip, *, left=True, **change):
    """rolled(A, row, skip): (L + 1, T): row `row` of the rollout after 0, 1, … L layers."""
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    rows = [R]
    for layer in _layers(A, skip, **change):
        R = layer @ R if left else R @ layer
        rows.append(R)
    return torch.stack(rows)[:, row]


def _layers(A, skip, rescale="mean", residual="share", lost="itself"):
    """The matrices (L, T, T) that are multiplied; rescale: what is divided by its sums; residual: how the identity
    comes in; lost: what becomes of a row of zeros."""
    I = torch.eye(A.shape[-1], dtype=A.dtype)

    def scaled(x, keepdim=True):
        total = x.sum(-1, keepdim=keepdim)
        return torch.where(total > 0, x / total, {"itself": I, "zero": 0 * I, "even": 0 * I + 1 / len(I)}[lost])

    found = []
    for maps, share in zip(A, skip, strict=False):
        mean = scaled(maps).mean(0) if rescale == "heads" else maps.mean(0)
        mean = scaled(mean, rescale == "mean") if rescale in ("mean", "flat") else mean
        mixed = {"share": (1 - share) * mean + share * I, "added": mean + I, "weighted": mean + share * I}[residual]
        found.append(scaled(mixed) if rescale == "end" else mixed)
    return found


def _with(change):
    """The answer of somebody who takes other arguments."""
    return lambda A, row, skip: rolled.reference(*change(A, row, skip))


def _down(A, row, skip):
    rows = [torch.eye(A.shape[-1], dtype=A.dtype)[row]]
    for layer in _layers(A, skip)[::-1]:
        rows.append(rows[-1] @ layer)
    return torch.stack(rows)


def _apart(A, row, skip):
    return torch.stack([torch.eye(A.shape[-1], dtype=A.dtype)[row], *(layer[row] for layer in _layers(A, skip))])


def _column(A, row, skip):
    return torch.stack([rolled.reference(A, s, skip)[:, row] for s in range(A.shape[-1])], 1)


def _entries(A, row, skip):
    return torch.cumprod(torch.stack([torch.eye(A.shape[-1], dtype=A.dtype), *_layers(A, skip)]), 0)[:, row]


def _at_the_end(A, row, skip):
    return rolled.reference(A, row, skip)[-1:].expand(len(A) + 1, -1)


rolled.mistakes(
    ("The order of the product is turned round: a later layer stands to the *left* of those before it.",
     dict(left=False)),
    ("The row was followed down from the top layer: row l of this is what remains after the *last* l layers. Asked for "
     "are the first l.", _down),
    ("The rows are turned round: the first one is that before any layer.",
     lambda *given: rolled.reference(*given).flip(0)),
    ("The row before the first layer is missing: there, a token is itself alone.",
     lambda *given: rolled.reference(*given)[1:]),
    ("Every row is that after the last layer. R[row] is a view: if R is changed in place, rows that were noted down "
     "earlier change as well.", _at_the_end),
    ("Row 0 was read. It is `row` that says which one (−1 is the last).", _with(lambda A, row, skip: (A, 0, skip))),
    ("Rows and columns have changed places: A[l, i, s, t] goes from s to t, and rows sum to one.",
     _with(lambda A, row, skip: (A.mT, row, skip))),
    ("A column was taken. Row s of the product is what token s holds.", _column),
    ("Each layer stands here for itself. What reaches a token has come through all layers before: a product.", _apart),
    ("The matrices were multiplied entry by entry. Their product is `@`, and not `*`.", _entries),
    ("Nothing came over the skip connections here.", _with(lambda A, row, skip: (A, row, [0.0] * len(skip)))),
    ("`skip` is the share of the identity. Here it is that of the attention.",
     _with(lambda A, row, skip: (A, row, [1 - share for share in skip]))),
    ("The whole identity was added to whole attention: rows then sum to 2. Each gets its share.",
     dict(residual="added")),
    ("The identity has its share, but the attention is not multiplied by 1 − skip.", dict(residual="weighted")),
    ("The layers were passed in the wrong order: A[0] comes first.",
     _with(lambda A, row, skip: (A.flip(0), row, skip[::-1]))),
    ("What is missing in a row was not made up for. Divide each row of the mean by its sum.",
     dict(rescale="none", lost="zero")),
    ("Each *column* was divided, by the sum of the row of its number. With keepdim=True the sums stay a column, one "
     "for each row.", dict(rescale="flat")),
    ("Rows were divided by their sum after the identity came in: the skip then counts for more than its share. Divide "
     "the mean first.", dict(rescale="end")),
    ("Each head was divided by its sums before the mean was taken. Take the mean first.", dict(rescale="heads")),
    ("A token that looks at nothing keeps itself: its row is that of the identity, and not of zeros.",
     dict(lost="zero")),
    ("Only the first head came in. Take the mean of all.", _with(lambda A, row, skip: (A[:, :1], row, skip))))


@rolled.suspect
def _(got, A, row, skip):
    if not got.isfinite().all():
        return "A row of zeros, divided by its sum, is 0/0. A token that looks at nothing keeps itself."
    right = rolled.reference(A, row, skip)
    if tuple(got.shape) != tuple(right.shape) or got.dtype != A.dtype:
        return None
    first = next(l for l in range(len(right)) if not same(got[l], right[l]))
    return ("The first row is that before any layer: row `row` of the identity (−1 is its last one)." if first == 0 else
            f"Row {first} of the result is the first that is wrong, and the first with layer {first - 1} in it. Do "
            "this layer by hand.")
