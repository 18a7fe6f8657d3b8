"""The check of assignment 14 on infidelity, and on the attribution that it would like best."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

from .models import LIBRARY, of_rows

__all__ = ["infidelity"]

PRODUCT = of_rows("x_0 · x_1 − 2 x_2", lambda X: X[:, 0] * X[:, 1] - 2 * X[:, 2])
BEND = of_rows("max(x_0, x_1) + x_2 · x_3 of four features", lambda X: X[:, :2].max(1) + X[:, 2] * X[:, 3])
SUM = of_rows("2 x_0 − x_1", lambda X: 2 * X[:, 0] - X[:, 1])


def _lost(f, x, moves):
    return f(x[None]) - f(x - moves)


def _factor(said, lost):
    return (said * lost).sum() / (said * said).sum()


def _scaled(said, lost, factor, loss):
    c = factor(said, lost) if said.any() else 0.0
    return loss(c * said - lost)


def _shortest(moves, lost):
    return np.linalg.pinv(moves) @ lost


@question((2, 2), {"three features": (PRODUCT, np.array([2.0, 3.0, 1.0]),
                                      np.array([[3.0, 2.0, -2.0], [1.0, 1.0, -1.0], [-1.0, 0.0, 4.0]]),
                                      np.array([[1.0, 0.0, 0.5], [2.0, 3.0, 0.0], [0.0, 1.0, -1.0], [1.0, 3.0, 1.0]])),
                   "fewer moves than features": (BEND, np.array([1.0, 2.0, 3.0, -1.0]),
                                                 np.array([[1.0, 0.0, 2.0, -1.0], [0.0, 0.0, 0.0, 0.0]]),
                                                 np.array([[1.0, 1.0, 0.0, -1.0], [0.0, 2.0, 3.0, 0.0]])),
                   "a feature that never moves": (PRODUCT, np.array([1.0, 1.0, 2.0]),
                                                  np.array([[1.0, 1.0, -2.0], [0.0, 0.0, 3.0]]),
                                                  np.array([[1.0, 1.0, 0.0], [0.5, 1.0, 0.0], [1.0, 0.0, 0.0]])),
                   "a sum": (SUM, np.array([1.0, -1.0]), np.array([[2.0, -1.0], [4.0, -2.0]]),
                             np.array([[1.0, 0.0], [0.5, -1.0], [1.0, 1.0]]))},
          returns="raw (m,), scaled (m,), best (d,)", forbidden=LIBRARY, instead="least squares",
          otherwise="The last case by hand: a sum loses 2, 2 and 1 in these moves, which is I · φ for φ = (2, −1). So "
                    "its raw value is 0, and that of its double is the mean of 4, 4 and 1.",
          hints={"takes inputs in rows": "`f` takes rows: f(x[None]) scores x, and f(x − moves) all moved inputs.",
                 "Singular": "Fewer moves than features, or one that never moves: many φ are equally good, and no "
                             "matrix has an inverse. np.linalg.lstsq finds the shortest of them."})
def infidelity(f, x, phis, moves, *, change=_lost, loss=lambda r: (r ** 2).mean(), factor=_factor, solve=_shortest):
    """infidelity(f, x, phis, moves): for each attribution the mean of (I · φ − (f(x) − f(x − I)))² over the moves I
    (m,); the same for its best multiple (m,); and the shortest attribution with the least infidelity (d,)."""
    lost = change(f, x, moves)
    said = phis @ moves.T
    return (np.array([loss(one - lost) for one in said]), np.array([_scaled(one, lost, factor, loss) for one in said]),
            solve(moves, lost))


infidelity.mistakes(
    ("The moves were added. The moved input is x − I.", dict(change=lambda f, x, moves: f(x[None]) - f(x + moves))),
    ("What is lost is f(x) − f(x − I), in this order.", dict(change=lambda f, x, moves: f(x - moves) - f(x[None]))),
    ("These are sums over the moves. A mean is due.", dict(loss=lambda r: (r ** 2).sum())),
    ("These are mean sizes of the differences. Mean squares are due.", dict(loss=lambda r: np.abs(r).mean())),
    ("For `scaled` the factor makes both sides equally long. It is the one with the least mean square that is due.",
     dict(factor=lambda a, b: np.sqrt((b * b).sum() / (a * a).sum()))),
    ("For `scaled` the factor is upside down: c = Σ (I · φ) Δ / Σ (I · φ)².",
     dict(factor=lambda a, b: (a * b).sum() / (b * b).sum())),
    ("A factor may be negative: an attribution may have all signs wrong.",
     dict(factor=lambda a, b: abs(_factor(a, b)))),
    ("A factor may be negative: an attribution may have all signs wrong.",
     dict(factor=lambda a, b: max(_factor(a, b), 0.0))),
    ("The errors' own mean was taken off. An error that is the same in all moves is one, too.",
     dict(loss=lambda r: r.var())),
    ("`best` is moves.T @ Δ: that is right for moves of length 1 that are orthogonal. Fit all of φ together.",
     dict(solve=lambda moves, lost: moves.T @ lost)),
    ("`best` was fitted with an intercept. There is none in I · φ.",
     dict(solve=lambda moves, lost: np.linalg.pinv(moves - moves.mean(0)) @ (lost - lost.mean()))),
    ("`best` takes each feature by itself. Moves change several at once: fit all of φ together.",
     dict(solve=lambda moves, lost: moves.T @ lost / np.maximum((moves ** 2).sum(0), 1e-300))))


@infidelity.suspect
def _(got, f, x, phis, moves):
    if len(got) == 3 and kind(got[1]) == "a NumPy array" and np.isnan(got[1]).any():
        return "Where I · φ is 0 in all moves, as for zeros, every factor does the same: what is 0/0 here counts as 0."
    best = _shortest(moves, _lost(f, x, moves))
    if len(got) == 3 and kind(got[2]) == "a NumPy array" and (got[2].shape, got[2].dtype) == (x.shape, best.dtype) and (
            same(moves @ got[2], moves @ best) and not same(got[2], best)):
        return "`best` fits as well as can be, and is not the shortest φ that does."
    return None
