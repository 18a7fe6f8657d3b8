"""The check of assignment 14 on effective complexity: how many features of an explanation are enough."""

import numpy as np

from coursegrade.kit.question import question

from .models import LIBRARY, of_rows

__all__ = ["complexity"]

PLUS = of_rows("x_0 · x_1 + 2 x_2 − x_3", lambda X: X[:, 0] * X[:, 1] + 2 * X[:, 2] - X[:, 3])
FLAT = of_rows("5, whatever x is", lambda X: np.full(len(X), 5.0))


def _mixed(x, rows, top):
    mixed = rows.copy()
    mixed[:, top] = x[top]
    return mixed


def _others(x, rows, top):
    mixed = np.tile(x, (len(rows), 1))
    mixed[:, top] = rows[:, top]
    return mixed


def _first(enough):
    return int(np.argmax(enough)) if enough.any() else len(enough) - 1


@question((1, 0), {"the loss rises again": (PLUS, np.array([3.0, 0.5, 1.0, 2.0]), np.array([-0.5, -1.0, -3.0, 2.0]),
                                            np.array([[0.0, -1.0, -1.0, 1.0], [2.0, 0.0, 2.0, 2.0]]), 2.0),
                   "exactly ε": (PLUS, np.array([3.0, 0.5, 1.0, 2.0]), np.array([-0.5, -1.0, -3.0, 2.0]),
                                 np.array([[0.0, -1.0, -1.0, 1.0], [2.0, 0.0, 2.0, 2.0]]), 1.25),
                   "just enough": (PLUS, np.array([1.0, 2.0, 0.0, 1.0]), np.array([2.0, 1.0, -3.0, 1.0]),
                                   np.array([[1.0, 1.0, 1.0, 2.0], [0.0, 2.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]]), 0.5),
                   "nothing is needed": (FLAT, np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.zeros((3, 2)), 0.0),
                   "no tolerance": (PLUS, np.array([1.0, 1.0, 1.0, 3.0]), np.array([4.0, 1.0, 2.0, 3.0]),
                                    np.array([[0.0, 0.0, 0.0, 0.0]]), 0.0)},
          promises={"epsilon: a number, at least 0": lambda f, x, phi, background, epsilon: epsilon >= 0},
          returns="losses (d + 1,), k", forbidden=LIBRARY, instead="`f`",
          otherwise="With all d features kept, nothing is left to replace: the last loss is 0. With none, each row of "
                    "the background is scored as it is. Are your first and last loss so?",
          hints={"takes inputs in rows": "`f` takes rows: make all mixed inputs, (n, d), and ask once for each k."})
def complexity(f, x, phi, background, epsilon, *, size=np.abs, mix=_mixed, loss=lambda r: (r ** 2).mean(),
               enough=np.less_equal, choose=_first, order=lambda key: np.argsort(-key, kind="stable")):
    """complexity(f, x, phi, background, epsilon): the mean squared change of the score with the k largest |phi| of x
    kept and all other features from the rows of the background, for k = 0 … d; and the smallest k with at most ε."""
    places = order(size(phi))
    losses = np.array([loss(f(mix(x, background, places[:k])) - f(x[None])[0]) for k in range(len(x) + 1)])
    return losses, choose(enough(losses, epsilon))


complexity.mistakes(
    ("Features go by the size of their attribution: what speaks against counts as much.", dict(size=lambda a: a)),
    ("Of equal sizes the later feature came first here, as where a sorted order is turned round by [::-1]. "
     "np.argsort(-sizes, kind=\"stable\") lets the earlier come first.",
     dict(order=lambda key: np.argsort(key, kind="stable")[::-1])),
    ("`k` is where the loss is least. The first loss that is at most ε is enough.",
     lambda f, x, phi, background, epsilon: (
         (losses := complexity.reference(f, x, phi, background, epsilon)[0]), int(losses.argmin()))),
    ("The smallest attribution was kept first, in the order of the formula as printed. Its top k are the *last* k.",
     dict(order=lambda key: np.argsort(key, kind="stable"))),
    ("The top k were replaced, and the rest kept. The k features that matter most keep their values.",
     dict(mix=_others)),
    ("First the mean over the background was taken, then the square. It is the mean of squares that is due.",
     dict(loss=lambda r: r.mean() ** 2)),
    ("These are roots of mean squares. Mean squares are due.", dict(loss=lambda r: np.sqrt((r ** 2).mean()))),
    ("These are sums over the background. A mean is due.", dict(loss=lambda r: (r ** 2).sum())),
    ("The rows of the background were averaged first. Score each row, then take the mean of the squares.",
     dict(mix=lambda x, rows, top: _mixed(x, rows.mean(0, keepdims=True), top))),
    ("These are mean sizes. Mean squares are due.", dict(loss=lambda r: np.abs(r).mean())),
    ("A loss of exactly ε is allowed: at most ε.", dict(enough=np.less)),
    ("`k` is where the loss *stays* at most ε. The first time counts.",
     dict(choose=lambda enough: len(enough) - int(np.logical_and.accumulate(enough[::-1]).sum()))),
    ("`k` is one too many: k = 0 keeps nothing, and the first loss is its.",
     dict(choose=lambda enough: _first(enough) + 1)))
