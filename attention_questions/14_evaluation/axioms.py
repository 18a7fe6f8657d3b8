"""The check of assignment 14 on two tests of sensitivity: the axiom, and the count of features that differ."""

import numpy as np

from coursegrade.kit.question import question

from .models import LIBRARY, of_rows

__all__ = ["sensitivity"]

TINY = 1e-6


def _mixed(X):
    return np.minimum(X[:, 0], 1) + X[:, 1] * X[:, 2] - 2 * X[:, 3] + 1e-8 * X[:, 4] + 8e-6 * X[:, 5]


def _mixed_product(z):
    """input times gradient, and 0 for x_5"""
    return z * np.array([float(z[0] < 1), z[2], z[1], -2.0, 1e-8, 0.0])


MIXED = of_rows("min(x_0, 1) + x_1 · x_2 − 2 x_3 + 0.00000001 x_4 + 0.000008 x_5, of six features", _mixed)
PLATEAU = of_rows("1 − ReLU(1 − x)", lambda X: 1 - np.maximum(1 - X[:, 0], 0))


def _from_baseline(x, baseline, j):
    """(the input that is explained, the one that it is compared with)."""
    return np.where(np.arange(len(x)) == j, x, baseline), baseline


def _one_by_one(x, baseline, j):
    return np.where(np.arange(len(x)) <= j, x, baseline), np.where(np.arange(len(x)) < j, x, baseline)


def _each(x, others, j):
    rows = np.tile(x, (len(others), 1))
    rows[:, j] = others[:, j]
    return rows


@question((2, 2), {"six features": (MIXED, _mixed_product, np.array([2.0, 0.0, 0.5, 2.0, -3.0, 1.0]),
                                    np.array([2.0, -1.0, -1.0, 3.0, 2.0, -1.0]),
                                    np.array([[1.5, 4.0, 1.0, 2.0, 3.0, 0.5], [3.0, 3.0, 2.0, 2.0, -1.0, 3.0]])),
                   "many zeros": (MIXED, _mixed_product, np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
                                  np.array([0.0, -1.0, 1.0, 0.0, -1.0, 0.5]),
                                  np.array([[0.0, -1.0, 4.0, 1.0, -1.0, 0.5], [1.0, 0.5, 0.5, -1.0, 1.0, -0.5]])),
                   "a zero beside x_1": (MIXED, _mixed_product, np.array([0.5, 2.0, 0.0, 1.0, 0.0, 1.0]),
                                         np.array([0.0, -1.0, 1.0, 0.0, -1.0, 0.5]),
                                         np.array([[1.0, -1.0, 0.0, 2.0, 1.0, 0.5], [0.0, 3.0, 0.0, -1.0, -1.0, 3.0]])),
                   "1 − ReLU(1 − x), its gradient": (PLATEAU, lambda z: (z < 1) * 1.0, np.array([2.0]), np.zeros(1),
                                                     np.array([[3.0], [0.5]])),
                   "1 − ReLU(1 − x), integrated": (PLATEAU, lambda z: np.minimum(z, 1), np.array([2.0]), np.zeros(1),
                                                   np.array([[3.0]])),
                   "1 − ReLU(1 − x), from 3": (PLATEAU, lambda z: z / 2, np.array([2.0]), np.array([3.0]),
                                               np.array([[0.5]]))},
          returns="violated (d,), mismatch", forbidden=LIBRARY, instead="`f` and `explain`",
          otherwise="By hand, for 1 − ReLU(1 − x) at x = 2 from 0: f goes from 0 to 1, the gradient at 2 is 0. So the "
                    "axiom is violated. What does your function see at each of these three steps?",
          hints={"takes inputs in rows": "`f` takes rows and gives an array: of one input z, f(z[None])[0] is the "
                                         "score. `explain` takes z as it is."})
def sensitivity(f, explain, x, baseline, others, *, pair=_from_baseline, moves=lambda d: abs(d) > TINY,
                silent=lambda a, j: abs(a[j]) <= TINY, change=_each, idle=lambda d: (np.abs(d) <= TINY).all(),
                zero=lambda a: np.abs(a) <= TINY, differ=np.logical_xor, breaks=lambda moved, none: moved and none):
    """sensitivity(f, explain, x, baseline, others): (d,), True where the axiom is violated; and for how many features
    “the attribution is 0” and “no other value changes the score” do not go together."""
    violated, still = np.zeros(len(x), bool), np.zeros(len(x), bool)
    for j in range(len(x)):
        z, start = pair(x, baseline, j)
        violated[j] = breaks(moves((f(z[None]) - f(start[None]))[0]), silent(explain(z), j))
        still[j] = idle(f(change(x, others, j)) - f(x[None])[0])
    return violated, int(differ(zero(explain(x)), still).sum())


def _read_elsewhere(f, explain, x, baseline, others):
    a = np.array([explain(_from_baseline(x, baseline, j)[0])[j] for j in range(len(x))])
    return (sensitivity.reference(f, explain, x, baseline, others)[0],
            sensitivity.reference(f, lambda z: a, x, baseline, others)[1])


sensitivity.mistakes(
    ("For the axiom, x_j was put back to the baseline, and all others stayed as in x. It speaks of an input that "
     "differs from the *baseline* in one feature.",
     dict(pair=lambda x, baseline, j: (x, np.where(np.arange(len(x)) == j, baseline, x)))),
    ("For the axiom the explanation of x was read. Explain the input that differs from the baseline in one feature.",
     lambda f, explain, x, baseline, others: sensitivity.reference(
         f, lambda z, e=explain: e(x) if (z != x).any() else e(z), x, baseline, others)),
    ("Each feature starts from the baseline anew. `z = baseline` is no copy, and keeps what is written into it.",
     dict(pair=_one_by_one)),
    ("Each feature starts from the baseline anew. `z = baseline` is no copy, and keeps what is written into it.",
     dict(pair=lambda x, baseline, j: (np.where(np.arange(len(x)) <= j, x, baseline), baseline))),
    ("`violated` asks for a score that rises. One that falls differs as well.", dict(moves=lambda d: d > TINY)),
    ("`violated` asks whether all attributions are 0. Only that of feature j counts.",
     dict(silent=lambda a, j: (np.abs(a) <= TINY).all())),
    ("`violated` is turned round: True where the axiom is *not* kept.",
     dict(breaks=lambda moved, none: not (moved and none))),
    ("`violated` asks for a *positive* attribution. A negative one is not 0, and keeps the axiom.",
     dict(silent=lambda a, j: a[j] <= TINY)),
    ("`violated` is True where the two scores are equal. The axiom says nothing of such features.",
     dict(moves=lambda d: abs(d) <= TINY)),
    ("`violated` is True for each feature without an attribution. Did the score change?", dict(moves=lambda d: True)),
    ("Where the score does not change, the axiom asks for nothing: an attribution may be anything there.",
     dict(breaks=lambda moved, none: bool(moved == none))),
    ("Is it really 0? Up to 0.000001 counts as 0, of changes and of attributions.",
     dict(moves=lambda d: d != 0, silent=lambda a, j: a[j] == 0, zero=lambda a: a == 0,
          idle=lambda d: (d == 0).all())),
    ("Is it really 0? Up to 0.000001 counts as 0, of changes and of attributions.", dict(zero=lambda a: a == 0)),
    ("A change of 0.000004 is one: only up to 0.000001 counts as 0. np.isclose and np.allclose have other limits, but "
     "for rtol=0, atol=1e-6.", dict(moves=lambda d: abs(d) > 3e-5, idle=lambda d: (np.abs(d) <= 3e-5).all())),
    ("For `mismatch` the explanations of the inputs that differ from the baseline were read. It is that of x.",
     _read_elsewhere),
    ("`mismatch` counts one side alone, attributions of 0 to features that do something. The other side is missing.",
     dict(differ=lambda a, b: a & ~b)),
    ("`mismatch` counts one side alone, features that do nothing and have an attribution. The other side is missing.",
     dict(differ=lambda a, b: b & ~a)),
    ("`mismatch` is the union of both sets. Leave out what is in both.", dict(differ=np.logical_or)),
    ("For `mismatch` a feature does nothing if *no* row of `others` changes the score.",
     dict(idle=lambda d: (np.abs(d) <= TINY).any())),
    ("For `mismatch` changes that cancel are none here. Look at each row's by itself.",
     dict(idle=lambda d: abs(d.mean()) <= TINY)),
    ("For `mismatch` whole rows of `others` were taken. One feature at a time, all the others as in x.",
     dict(change=lambda x, others, j: others)))
