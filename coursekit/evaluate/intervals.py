"""How sure is a mean over documents? The bootstrap's answer, and Student's where documents are few."""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

DRAWS = 2000


class Interval(NamedTuple):
    """A mean, the interval that holds it with the given confidence, and over how many documents.

    >>> print(Interval(0.5, 0.4, 0.6, 30))
    0.50 [0.40, 0.60]
    """

    mean: float
    low: float
    high: float
    n: int

    def __str__(self):
        return f"{self.mean:.2f}" + (f" [{self.low:.2f}, {self.high:.2f}]" if self.n != 1 else "")


def interval(values: ArrayLike, confidence=0.95) -> Interval:
    """The Interval of the mean of values: (n,) of n documents, or (seeds, n) of several trained models.

    Documents are drawn anew with replacement, and so are models where there are several: a new mean each time, of which
    the middle share, `confidence`, is kept (the percentile bootstrap: Efron and Tibshirani, 1993, chapter 13). Drawn
    from fewer than ten documents that is too short: of three, it holds the mean 74 times in 100. So there it is
    stretched about the mean to the length of Student's t interval, which keeps what it promises where values are about
    normal; it may then end outside of what the values can be. Of one document nothing is known: nan.
    Documents with a nan are left out; where none is left, all is nan and n 0. With three models the interval is rough,
    and still better than none.

    >>> interval([1.0, 1.0, 1.0])
    Interval(mean=1.0, low=1.0, high=1.0, n=3)
    >>> print(interval([0.4, 0.5, 0.6]))                                          # the three values' range: 0.4 to 0.6
    0.50 [0.23, 0.77]
    """
    values = np.atleast_2d(np.asarray(values, float))                             # (seeds, n)
    values = values[:, ~np.isnan(values).any(0)]
    S, n = values.shape
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0)
    rng, mean = np.random.default_rng(0), values.mean()
    models = rng.integers(S, size=(DRAWS, S))
    share = (models[..., None] == np.arange(S)).mean(1)                           # (DRAWS, S): of each model
    ends = bootstrap(lambda rows: np.take_along_axis(share @ values, rows, axis=1).mean(1), n, rng, confidence)
    if n == 1:
        ends = [np.nan, np.nan]
    elif n < 10:
        longer = student(confidence, n - 1) / NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(n / (n - 1))
        ends = mean + longer * (ends - mean)
    return Interval(float(mean), float(ends[0]), float(ends[1]), n)


def bootstrap(statistic: Callable, n: int, rng: np.random.Generator, confidence=0.95) -> np.ndarray:
    """The ends of the middle share, `confidence`, of what a statistic is where n documents are drawn anew.

    statistic: a function of the documents' rows, drawn with replacement, (draws, n) → (draws,); its nans do not count.

    >>> print(bootstrap(lambda rows: np.array([4.0, 5.0, 6.0])[rows].mean(1), 3, np.random.default_rng(0)).round(2))
    [4. 6.]
    """
    return np.nanquantile(statistic(rng.integers(n, size=(DRAWS, n))), [(1 - confidence) / 2, (1 + confidence) / 2])


def student(confidence: float, df: int) -> float:
    """t such that Student's distribution with df degrees of freedom has `confidence` between −t and t.

    With t = √df tan θ its density goes like cos(θ)^(df − 1), which is summed here.

    >>> round(student(0.95, 2), 3)
    4.303
    """
    theta = np.linspace(0, np.pi / 2, 20_001)
    middle = (theta[1:] + theta[:-1]) / 2
    area = np.append(0, np.cumsum(np.cos(middle) ** (df - 1)))
    return float(np.sqrt(df) * np.tan(np.interp(confidence, area / area[-1], theta)))
