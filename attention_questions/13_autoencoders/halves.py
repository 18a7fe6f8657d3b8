"""Check of assignment 13 on features that are chosen on one half of the data and reported on the other."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

from .directions import LIBRARY

__all__ = ["discover"]


def halves(n, F, C, seed, planted=0.0, dead=()):
    """A (n, F), Y (n, C), and as much again. Feature c has `planted` of label c; features in `dead` are all 0."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        Y = (rng.random((n, C)) < 0.4) * 1.0
        Y[:2] = [[0.0], [1.0]]
        A = np.maximum(rng.normal(size=(n, F)) + rng.normal(size=F), 0.0) * rng.uniform(0.2, 5.0, F)
        A[:, :C] += planted * Y
        made += [A.round(1), Y]
    for half, j in dead:
        made[2 * half][:, j] = 0.0
    return tuple(made)


def _middle(x):
    return x - x.mean(0)


def _cosine(A, Y):
    sizes = np.sqrt((A ** 2).sum(0))[:, None] * np.sqrt((Y ** 2).sum(0))
    return A.T @ Y / np.where(sizes > 0, sizes, 1.0)


def _pearson(A, Y):
    return _cosine(_middle(A), _middle(Y))


def _covariance(A, Y):
    return _middle(A).T @ _middle(Y) / len(A)


def _one_largest(A, Y, A_new, Y_new):
    r = np.sort(_pearson(A, Y), axis=0)
    return len(r) == 1 or (r[-1] - r[-2] > 1e-9).all()


def _none_constant(A, Y, A_new, Y_new):
    """But for what the statement allows: features that are all 0, and labels that do not occur in the new half."""
    varies = np.ptp(Y, axis=0).all() and (np.ptp(Y_new, axis=0) + ~Y_new.any(0)).all()
    return varies and all((np.ptp(x, axis=0) + ~x.any(0)).all() for x in (A, A_new))


def _here(r, chosen):
    return r[chosen, np.arange(len(chosen))]


@question((2, 2), {"six of each": halves(6, 3, 2, 2055, planted=1.0), "chance alone": halves(5, 4, 3, 2),
                   "one is dead in the first half": halves(8, 3, 1, 36, dead=[(0, 0)]),
                   "one is dead in the second": halves(8, 3, 3, 3, planted=9.0, dead=[(1, 0)]),
                   "halves of two sizes": (*halves(12, 6, 2, 4)[:2], *halves(5, 6, 2, 5)[2:])},
          promises={"no two are equally large": _one_largest, "No other column is constant.": _none_constant},
          returns="features (C,), found (C,), tested (C,)", forbidden=LIBRARY, instead="means and sums of your own",
          otherwise="Take one feature and one label by hand, and their correlation on the first half. Is it in your "
                    "table? Is it the largest of its label?")
def discover(A, Y, A_new, Y_new, *, r=_pearson, by=lambda r: r, on=0, told=_here, tested=_here):
    """discover(A, Y, A_new, Y_new): (each label's feature, by correlation, that on this half, that on the new one)."""
    first, second = r(A, Y), r(A_new, Y_new)
    both = r(np.concatenate([A, A_new]), np.concatenate([Y, Y_new]))
    chosen = by((first, second, both)[on]).argmax(0)
    return chosen, told(first, chosen), tested(second, chosen)


discover.mistakes(
    ("On the new half you chose again. What is reported there is the feature that was chosen on the first half.",
     dict(tested=lambda r, chosen: r.max(0))),
    ("The feature was chosen on the new half: then nothing is left to test it on.", dict(on=1)),
    ("The feature was chosen on both halves together. The new one must not have a say.", dict(on=2)),
    ("The largest *size* was taken. A feature of a label goes up with it: the largest correlation, with its sign.",
     dict(by=np.abs)),
    ("A dead feature was left out. Its correlation counts as 0, which is larger than all that are below 0.",
     dict(by=lambda r: np.where(r == 0, -1.0, r))),
    ("These are covariances. A correlation is divided by both standard deviations.", dict(r=_covariance)),
    ("Chosen by the covariance, or by means with and without the label: both are large for loud features. Divide by "
     "the standard deviations first.", lambda A, Y, A_new, Y_new: (
         (chosen := _covariance(A, Y).argmax(0)), _here(_pearson(A, Y), chosen),
         _here(_pearson(A_new, Y_new), chosen))),
    ("Means were not taken off: that is a cosine.", dict(r=_cosine)),
    ("What is below 0 counts as 0 here. A correlation has its sign.",
     dict(r=lambda A, Y: np.maximum(_pearson(A, Y), 0))),
    ("These are squared correlations.", dict(told=lambda r, chosen: _here(r, chosen) ** 2,
                                             tested=lambda r, chosen: _here(r, chosen) ** 2)),
    ("`tested` repeats `found`: it is due on the new half.", lambda A, Y, A_new, Y_new: (
        (chosen := _pearson(A, Y).argmax(0)), _here(_pearson(A, Y), chosen), _here(_pearson(A, Y), chosen))))


@discover.suspect
def _(got, A, Y, A_new, Y_new):
    if type(got) in (tuple, list) and any(kind(part) == "a NumPy array" and np.isnan(part.astype(float)).any()
                                          for part in got):
        return "A dead feature has the standard deviation 0, and 0/0 is nan: its correlation counts as 0."
    return None
