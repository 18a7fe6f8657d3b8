"""Shapley values of any model from few calls, with error bars: regression on pairs of subsets by a Gaussian process.

With z ∈ {−1, 1}^d (a token is kept, or gone) Shapley values see only the odd part of a score, f°(z) = (f(z) − f(−z))/2.
So what is asked are pairs, a subset and its complement, no pair twice. The prior of f° is a process with the covariance

    k(z, z') = ½ (Π_j (1 + w_j z_j z'_j) − Π_j (1 − w_j z_j z'_j)),    0 < w_j < 1:

linear for small w, interactions of all odd orders for large ones. k(z, ·) is a difference of two product games, whose
Shapley values are an integral of a polynomial (Owen, "Multilinear extensions of games", Management Science 18, 1972):
those of the posterior mean, and their covariance, are in closed form. Gaussian processes on games: Chau, Muandet and
Sejdinovic (NeurIPS 2023); ShaplEIG (2026) has a product kernel, OddSHAP (2026) the odd part; we have found no source
for the odd kernel in closed form.
"""

import warnings
from itertools import combinations
from math import comb

import numpy as np

from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .asking import pick_class, read_tokens
from .attribution import Attribution
from .masks import away
from .shapley import enumerated

SCALES = (0.001, 0.003, 0.01, 0.03, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.85)      # of w
POWERS = (0.0, 0.25, 0.5, 1.0)                                                   # of a token's relevance in w
NUGGETS = (1e-10, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)                                  # variance that no kernel explains
CHOSEN_ON = 500                                                                  # pairs on which these are chosen


def gp_shapley(model_or_predict: Predicts, document: Document, n_samples=512, error: float | None = None, seed=0,
               by: str | None = None, target: int | None = None, progress=False) -> Attribution:
    """Shapley values by a Gaussian process on pairs of subsets: for the same calls nearer than KernelSHAP, with errors.

    n_samples: evaluations at most, at least 2d + 2; where all 2^d subsets are no more, they are enumerated. error: stop
    as soon as the standard error of all values together, √Σ errors², is below this part of ‖φ‖, 0.05 say. by, target:
    as in `shapley_values`. Σφ = f(document) − f(all tokens off), as there.
    `about`: score and baseline, exact, n_samples (asked), seed; of an estimate also standard_errors (d,), covariance
    (d, d), for sums and differences of values, and `unexplained`, what part of the pairs' variance the process does not
    predict when a pair is left out. Warns where that is more than a half: then the score is no such process, and values
    and errors are not to be trusted; and where `error` was not reached.
    Raises ValueError, in one line, for too few samples.

    >>> def bad(documents):
    ...     return [-2.0 * ("bad" in d) + 3.0 * ("not" in d and "bad" in d) for d in documents]
    >>> explanation = gp_shapley(bad, ["not", "bad", *"abcdefghijklmnopqr"], n_samples=200)
    >>> [(word, round(score, 2)) for word, score in explanation.top(2)]
    [('not', 1.5), ('bad', -0.5)]
    """
    model, tokens = away(model_or_predict, by), read_tokens(model_or_predict, document)
    d, seed, n_samples = len(tokens), as_whole(seed, "seed"), as_whole(n_samples, "n_samples")
    if error is not None and not (isinstance(error, (int, float)) and 0 < error < 1):
        raise ValueError(f"error is a part of the values' size, above 0 and below 1, such as 0.05, got {error!r}")
    if 2**d <= n_samples:
        masks = (np.arange(2**d)[::-1, None] >> np.arange(d) & 1).astype(bool)
        scores, target = pick_class(model.scores(tokens, masks, progress=progress), target)
        about = {"exact": True, "score": float(scores[0]), "baseline": float(scores[-1])}
        return Attribution(tokens, enumerated(masks, scores), "Shapley values", target, about)
    if n_samples < 2 * d + 2:
        raise ValueError(f"{d} tokens need n_samples of at least {2 * d + 2}, got {n_samples}")
    (full, empty), target = pick_class(model.scores(tokens, np.array([[True] * d, [False] * d])), target)
    kept, y = pairs(d, n_samples // 2 - 1, seed), np.array([(full - empty) / 2])
    upto = max(d, 32) if error else len(kept)
    while True:
        new = kept[len(y) - 1:upto]
        scores = pick_class(model.scores(tokens, np.vstack([new, ~new]), progress=progress), target)[0]
        y = np.append(y, (scores[:len(new)] - scores[len(new):]) / 2)
        phi, covariance, unexplained = regression(2.0 * np.vstack([[True] * d, kept[:len(y) - 1]]) - 1, y)
        reached = error and np.sqrt(np.trace(covariance)) <= error * np.linalg.norm(phi)
        if reached or upto >= len(kept):
            break
        upto *= 2
    about = {"exact": False, "n_samples": 2 * len(y), "seed": seed, "score": float(full), "baseline": float(empty),
             "standard_errors": np.sqrt(np.diag(covariance)), "covariance": covariance, "unexplained": unexplained}
    if unexplained > 0.5:
        warnings.warn(f"of a pair that is left out the process predicts little ({unexplained:.0%} of the variance is "
                      "left): do not trust these values and their errors", stacklevel=2)
    elif error and not reached:
        warnings.warn(f"n_samples={n_samples} did not reach error={error:g}: take more, or see standard_errors",
                      stacklevel=2)
    return Attribution(tokens, phi, "Shapley values, process", target, about)


def pairs(d, n, seed):
    """At most n distinct pairs as masks (≤ n, d) of the smaller subset: sizes alike, small layers whole, and so is each
    beginning of them. All tokens and none are not among them.

    >>> pairs(4, 7, 0).sum(1).tolist(), len(pairs(4, 100, 0))
    ([1, 2, 1, 2, 1, 2, 1], 7)
    """
    random, sizes = np.random.default_rng(seed), np.arange(1, d // 2 + 1)
    room = np.array([min(comb(d, int(size)) // (2 if 2 * size == d else 1), n) for size in sizes])
    level = next(level for level in range(n + 1) if np.minimum(room, level).sum() >= min(n, room.sum()))
    layers = []
    for size, take in zip(sizes, np.minimum(room, level), strict=True):
        if comb(d, int(size)) <= max(8 * take, 1024):
            chosen = np.array([c for c in combinations(range(d), size) if 2 * size < d or c[0] == 0])
            chosen = chosen[random.permutation(len(chosen))[:take]]
        else:
            chosen = random.random((2 * take, d)).argpartition(size, axis=1)[:, :size]
        masks = np.zeros((len(chosen), d), bool)
        np.put_along_axis(masks, chosen, True, 1)
        masks[(2 * size == d) & ~masks[:, 0]] ^= True                                # of two halves that with token 0
        _, first = np.unique(masks, axis=0, return_index=True)
        layers.append(masks[np.sort(first)[:take]])
    turn = np.concatenate([np.arange(len(masks)) for masks in layers])
    return np.vstack(layers)[np.argsort(turn, kind="stable")[:n]]


def regression(z, y):
    """(φ (d,), its covariance (d, d), the part of the variance that pairs do not predict of another), of pairs z (n, d)
    of ±1 with y (n,), the first being all tokens, without noise. Hyperparameters by marginal likelihood."""
    relevance = abs(_line(z, y))
    relevance = np.maximum(relevance / max(relevance.max(), 1e-300), 1e-3)
    few = slice(0, CHOSEN_ON + 1)
    scale, power, nugget = _likeliest(z[few], y[few], relevance)
    w = _weights(relevance, scale, power)
    inverse = np.linalg.inv(np.linalg.cholesky(_gram(z, w, nugget)))                 # of the lower factor
    weighted, own = inverse @ y, (inverse**2).sum(0)                                 # own: the diagonal of K⁻¹
    a = inverse.T @ weighted
    left_out = a[1:] / own[1:]                                                       # y less what the others predict
    variance = max(weighted @ weighted / len(y), (left_out**2 * own[1:]).mean())     # of the process; and as left out
    values = _values(z, w)
    known = values @ inverse.T
    unexplained = (left_out**2).mean() / max((y[1:]**2).mean(), 1e-300)
    covariance = variance * (_prior(w) - known @ known.T)
    covariance[np.diag_indices(len(w))] = np.diag(covariance).clip(0)                # not below 0 by rounding
    return values @ a, covariance, float(unexplained)


def _line(z, y):
    """The straight line (d,) through pairs, ridge, that holds the first one."""
    rows = np.where(np.arange(len(y)) == 0, 1e3, 1.0)
    return np.linalg.solve((z.T * rows) @ z + 1e-6 * len(y) * np.eye(z.shape[1]), z.T @ (rows * y))


def _weights(relevance, scale, power):
    return np.clip(scale * relevance**power, 1e-7, 0.97)


def _gram(z, w, nugget):
    """Covariance (n, n) of pairs with itself, k(1, 1) being 1, and the nugget on all but the first."""
    c = np.arctanh(w)
    inner, most = (z * c) @ z.T, c.sum()
    K = (np.exp(inner - most) - np.exp(-inner - most)) / -np.expm1(-2 * most)
    K[np.diag_indices(len(z))] += np.where(np.arange(len(z)) == 0, 0.0, nugget) + 1e-11
    return K


def _likeliest(z, y, relevance):
    """(scale, power, nugget) of the largest marginal likelihood, one after the other until none of them moves."""
    known: dict = {}

    def likelihood(choice):
        if choice not in known:
            try:
                root = np.linalg.cholesky(_gram(z, _weights(relevance, *choice[:2]), choice[2]))
                variance = max(float((np.linalg.solve(root, y)**2).mean()), 1e-300)
                known[choice] = -len(y) * np.log(variance) / 2 - np.log(np.diag(root)).sum()
            except np.linalg.LinAlgError:
                known[choice] = -np.inf
        return known[choice]

    choice, before = (0.15, 0.5, 1e-6), None
    while choice != before:
        before = choice
        for i, grid in enumerate((SCALES, POWERS, NUGGETS)):
            choice = max(((*choice[:i], value, *choice[i + 1:]) for value in grid), key=likelihood)
    return choice


def _values(z, w):
    """(d, n): Shapley values of k(z_m, ·), w_j z_j ∫ Π_{i≠j} (1 + w_i z_i u) du over [−1, 1], by Gauss and Legendre."""
    nodes, parts = np.polynomial.legendre.leggauss((len(w) + 1) // 2)
    total = np.zeros_like(z)
    for u, part in zip(nodes, parts, strict=True):
        factors = 1 + w * z * u
        total += part * np.exp(np.log(factors).sum(1, keepdims=True) - _most(w)) / factors
    return (w * z * total).T


def _prior(w):
    """(d, d): the covariance of the Shapley values under the prior, the same integral over both arguments of k."""
    nodes, parts = np.polynomial.legendre.leggauss(min(len(w) // 2 + 1, 128))
    uv, part = np.outer(nodes, nodes).ravel(), np.outer(parts, parts).ravel()
    uv, same = np.unique(uv.round(15), return_inverse=True)                          # symmetric: an eighth is enough
    factors = 1 + w[:, None] * uv
    product = np.bincount(same.ravel(), part) * np.exp(np.log(factors).sum(0) - _most(w))
    ratio = w[:, None] / factors
    covariance = (ratio * product * uv) @ ratio.T
    covariance[np.diag_indices(len(w))] = ratio @ product
    return covariance


def _most(w):
    """log of what k(1, 1) is before it is made 1."""
    most = np.arctanh(w).sum()
    return np.log1p(-w**2).sum() / 2 + most + np.log(-np.expm1(-2 * most)) - np.log(2)
