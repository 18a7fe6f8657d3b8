"""How sure is a mean over documents? The bootstrap's answer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


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
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def interval(values: ArrayLike, confidence=0.95, seed=0, n_resamples=2000) -> Interval:
    """The Interval of the mean of values: (n,) of n documents, or (seeds, n) of several trained models.

    Documents are drawn anew with replacement, and so are models where there are several: a new mean each time, of which
    the middle share, `confidence`, is kept (the percentile bootstrap: Efron and Tibshirani, 1993, chapter 13).
    Documents with a nan are left out; where none is left, all is nan and n 0. With three models the interval is rough,
    and still better than none.

    >>> interval([1.0, 1.0, 1.0])
    Interval(mean=1.0, low=1.0, high=1.0, n=3)
    """
    values = np.atleast_2d(np.asarray(values, float))                             # (seeds, n)
    values = values[:, ~np.isnan(values).any(0)]
    S, n = values.shape
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0)
    rng = np.random.default_rng(seed)
    models = rng.integers(S, size=(n_resamples, S))
    documents = rng.integers(n, size=(n_resamples, n))
    share = (models[..., None] == np.arange(S)).mean(1)                           # (n_resamples, S): of each model
    means = np.take_along_axis(share @ values, documents, axis=1).mean(1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(values.mean()), float(low), float(high), n)
