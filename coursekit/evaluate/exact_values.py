"""The test that no other metric can make: how far are scores from what they estimate? And which metric judges alike?"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from coursekit.explain.attribution import Attribution
from coursekit.explain.exact import exact_lime, exact_shapley
from coursekit.inputs import Document, as_array
from coursekit.models.protocols import HasTerms

from .agreement import kendall
from .calls import Measured, counting
from .intervals import Interval, bootstrap

EXACT: dict[str, Callable[..., Attribution]] = {"shapley": exact_shapley, "lime": exact_lime}


def distance_to_exact(model: HasTerms, document: Document, attribution: Attribution, truth="shapley") -> Measured:
    """1 − the cosine of the scores and the true ones: 0 if they are proportional, 1 if unrelated, 2 if opposite.

    Methods have different units, so only directions are compared; where the scores have no sign, with the sizes of the
    true ones. truth: "shapley" or "lime", of `exact_shapley` and `exact_lime` (of places, or of distinct words where
    the attribution is), for models with `head_terms`, words being replaced or what `away` says; or the true scores, an
    Attribution or (T,), for any other model.
    A `Measured`; nan where all scores of one are zero; `about`: truth, the true scores (T,).
    Raises ValueError, in one line, for another truth, or one of other tokens; TypeError for models without terms.

    >>> by_hand = Attribution(["good", "film"], [3, 4], "by hand")
    >>> round(distance_to_exact(None, ["good", "film"], by_hand, truth=[10, 0]), 3)            # the cosine is 3/5
    0.4
    """
    calls = 0
    if isinstance(truth, str):
        if truth not in EXACT:
            raise ValueError(f'truth must be "shapley", "lime" or the true scores, got {truth!r}')
        with counting(model) as (model, counter):
            truth = EXACT[truth](model, document, features=f"{attribution.per}s")
        calls = counter.calls
    if isinstance(truth, Attribution):
        if truth.tokens != attribution.tokens:
            truth = truth.on(attribution.tokens)
        truth = truth.scores
    x, y = attribution.scores, as_array(truth, "truth", (len(attribution),))
    if not attribution.signed:
        x, y = np.abs(x), np.abs(y)
    size = np.sqrt((x @ x) * (y @ y))
    return Measured(1 - x @ y / size if size else np.nan, calls, truth=y)


def ranks_as_truth(values: ArrayLike, distances: ArrayLike) -> Interval:
    """Does a metric rank explainers as their distance to the truth does? Kendall's τ_b as an Interval over documents.

    values, distances: (n, M) of n documents and M explainers, the metric's, of which more is better, and
    `distance_to_exact`'s. Explainers are ranked by their means over documents (nan left out); 1: the metric's order is
    the truth's, −1: its reverse, 0: it may as well be drawn. The interval draws documents anew, for both alike (the
    percentile bootstrap). It is wide, for M explainers have few pairs: with five, τ goes in steps of 0.2. An order that
    agrees in all pairs can only lose when documents are drawn, so τ = 1 stands at its interval's end; and width 0 says
    that no draw changes the order, as where values are few and tied, not that τ is certain.

    >>> ranks_as_truth([[0.9, 0.5, 0.1]], [[0.1, 0.2, 0.9]])[:3]
    (1.0, 1.0, 1.0)
    """
    values, distances = (np.asarray(part, float) for part in (values, distances))
    if values.ndim != 2 or values.shape != distances.shape or values.shape[1] < 2:
        raise ValueError("values and distances must both be (documents, explainers), with two explainers or more, got "
                         f"{values.shape} and {distances.shape}")
    n, rng = len(values), np.random.default_rng(0)
    rng.integers(n, size=n)                                                       # on the next draws, numbers hang

    def tau(rows):
        return kendall(np.nanmean(values[rows], -2), np.nanmean(-distances[rows], -2))

    low, high = bootstrap(tau, n, rng)
    return Interval(float(tau(np.arange(n))), float(low), float(high), n)
