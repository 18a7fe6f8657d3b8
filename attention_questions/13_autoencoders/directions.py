"""Check of assignment 13 on more directions than dimensions: neighbours, and shares of a dimension."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["sharing"]

LIBRARY = tuple(f"coursekit.models.{name}" for name in (
    "SparseAutoencoder", "sae.reconstruction_quality", "sae.max_cosine_similarity", "features.correlations",
    "features.clamp_feature")) + ("coursekit.worlds.superposition.interference",)


def _fan(m, lengths):
    """m directions in the plane (2, m), evenly around the circle, with these lengths."""
    angles = 2 * np.pi * np.arange(m) / m
    return np.array([np.cos(angles), np.sin(angles)]) * lengths


def _squared(sizes, products):
    return sizes ** 2 / (products ** 2).sum(1)


@question((1, 2), {"five in the plane": (_fan(5, [1.0, 1.5, 0.5, 2.0, 1.0]),),
                   "four in space": (np.array([[1.0, 0.0, -2.0, 0.5], [0.0, 1.0, 0.5, 1.0], [0.0, 2.0, 1.0, -0.5]]),),
                   "one is all 0, two are parallel": (np.array([[1.0, 0.0, 1.0, 2.0], [2.0, 0.0, 1.0, 4.0]]),),
                   "one alone": (np.array([[0.5], [1.0], [3.0]]),)},
          returns="nearest (F,), share (F,)", forbidden=LIBRARY, instead="products of your own",
          otherwise="Take the columns (2, 0) and (1, 1) by hand. Their cosine is 1/√2. Seen from the first, of unit "
                    "direction (1, 0), the lengths along it are 2 and 1: its share is 4/(4 + 1).")
def sharing(W, *, lone=0.0, sign=np.abs, unit=True, others=False, share=_squared, own=True):
    """sharing(W): of each column of W (d, F), the largest |cosine| with another one, and ‖w_j‖²/Σ_k (ŵ_j·w_k)²."""
    sizes = np.sqrt((W ** 2).sum(0))
    U = W / np.where(sizes > 0, sizes, 1.0)                              # (d, F)
    near = sign(U.T @ U if unit else W.T @ W)
    F = len(sizes)
    near = np.where(np.eye(F, dtype=bool), lone, near) if F > 1 else np.full((1, 1), lone)
    products = U.T @ (U if others else W)                                # (F, F): ŵ_j · w_k
    if not own:
        products = products * (1 - np.eye(F))
    alive = sizes > 0
    result = np.zeros(F)
    with np.errstate(divide="ignore"):
        result[alive] = share((alive * 1.0 if others else sizes)[alive], products[alive])
    return near.max(1), result


def _per_row(W):
    return sharing.reference(W.T)


sharing.mistakes(
    ("Each direction is its own nearest neighbour here, with cosine 1. Only others count.", dict(lone=1.0)),
    ("The opposite direction, cosine −1, is as near as the same one: take the size of the cosine.",
     dict(sign=lambda x: x)),
    ("Columns that point the same way are neighbours, with cosine 1. Only the diagonal of the table is left out.",
     dict(sign=lambda x: np.where(np.isclose(x, 1), 0.0, np.abs(x)))),
    ("`nearest` are inner products. A cosine is that of the directions, divided by both lengths.", dict(unit=False)),
    ("`share` is that of directions of length 1. Here lengths count: a long neighbour takes more than a short one. (A "
     "sum along the wrong axis, over ŵ_j, comes to the same.)", dict(others=True)),
    ("In the sum of `share` the direction itself is missing: k runs over all of them, j included.", dict(own=False)),
    ("These are the rows. A direction is a column of W.", _per_row),
    ("`share` is turned upside down: alone a direction has 1, with an equal one beside it 1/2.",
     dict(share=lambda sizes, products: (products ** 2).sum(1) / sizes ** 2)),
    ("`share` has ‖w_j‖ above the line, and ‖w_j‖² is due.",
     dict(share=lambda sizes, products: sizes / (products ** 2).sum(1))),
    ("A column that is alone has no neighbour: `nearest` is 0.", dict(lone=-1.0)),
    ("The squares are missing in `share`.", dict(share=lambda sizes, products: sizes / np.abs(products).sum(1))),
    ("The sum of `share` is of (ŵ_j · w_k)², with ŵ_j of length 1. Yours has w_j.",
     dict(share=lambda sizes, products: 1 / (products ** 2).sum(1))))


@sharing.suspect
def _(got, W):
    if type(got) in (tuple, list) and any(kind(part) == "a NumPy array" and np.isnan(part).any() for part in got):
        return "A direction that is all 0 has no cosine, and 0/0 is nan: both its numbers are 0 here."
    return None
