"""What LIME's coefficients of one attention layer tend to: Theorem 5.1 of Lopardo, Precioso and Garreau (ICML 2024) as
printed, put right, and step by step made exact. The steps are there to see what matters; the last is `exact_lime`.
"""

from dataclasses import replace

import numpy as np

from coursekit.inputs import Document
from coursekit.models.protocols import HasTerms

from .attribution import Attribution
from .exact import exact_lime, fit, size_law
from .gradients import gauss_legendre
from .masks import away
from .products import read_game

ORDERS = ("paper", "corrected", "centred", "integral", "mean-field", "delta", "exact")


def lime_limit(model: HasTerms, document: Document, order="exact", features="places",
               kernel_width=25) -> Attribution:
    """Approximate limits of `lime`'s coefficients, words always replaced, in O(d) to O(d²) for each of K heads.

    With g and y of word j kept, g_h and y_h of what replaces it in its place, x the share of words removed,
    G_x = (1−x) Σg + x Σg_h, f̄_x = N_x/G_x the mean-field score and Δ_j(x) = g_j (y_j − f̄_x) − g_hj (y_hj − f̄_x),
    sums going over all T_max positions and means over the heads:

    "paper"       3/2 (g_j y_j/Σg − g_hj y_hj/Σg_h): Theorem 5.1, Eq. 19, as printed
    "corrected"   the same with factor 1: given that word j is kept, s words are removed with probability
                  2(d−s)/(d(d−1)), not 1/d (appendix C); a model that is linear in the mask shows it
    "centred"     Δ_j(x)/G_x at the mean of x under LIME's kernel: a word also changes the denominator, and counts
                  through what sets it apart from the average (a constant model shows it); x = ½ for kernel_width=inf
    "integral"    6 ∫₀¹ x(1−x) Δ_j(x)/G_x dx, which is what many words tend to without kernel; with one the mean of
                  Δ_j(x)/G_x under x(1−x) times the kernel
    "mean-field"  E[N | s]/E[D | s] for every number s of words removed, then weighted least squares in closed form
    "delta"       the same to second order, with the variances of N and D
    "exact"       `exact_lime`

    model, features: as in `exact_shapley`. kernel_width: as in `exact_lime`; "paper" and "corrected" have no kernel.

    [CLS] with g = 1, y = 0; two words with g = 1 and y = 6, replaced by g = 1, y = 0: f = 6 (z₁ + z₂)/3 is linear.

    >>> from types import SimpleNamespace
    >>> log_g, y = np.zeros((5, 3, 1)), np.zeros((5, 3, 1))               # rows: [CLS], two words, mask, padding
    >>> y[1:3] = 6
    >>> two = SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))
    >>> lime_limit(two, ["good", "film"], "paper")
    LIME's limit (paper): good(+3) film(+3)
    >>> lime_limit(two, ["good", "film"], "centred")
    LIME's limit (centred): good(+2) film(+2)
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}, got {order!r}")
    model = away(model, "replace")
    names, heads = read_game(model, document, features, "lime_limit")
    law = size_law(len(names), None, kernel_width)
    if order == "exact":
        limit = exact_lime(model, document, features=features, kernel_width=kernel_width)
        return replace(limit, method="LIME's limit (exact)")
    with np.errstate(under="ignore"):
        top = np.maximum(heads.log_g.max((0, 1), initial=-np.inf), heads.log_g0)
        (g, g_h), g0 = np.exp(heads.log_g - top), np.exp(heads.log_g0 - top)      # (d, K) each, (K,)
    y, y_h = heads.y
    if order in ("paper", "corrected"):
        beta = (1.5 if order == "paper" else 1.0) * (g * y / (g0 + g.sum(0)) - g_h * y_h / (g0 + g_h.sum(0)))
        beta = beta.mean(1)
    else:
        parts = g, g_h, g * (y - heads.y0), g_h * (y_h - heads.y0), g0            # y counted from y0: no constant in N
        if order in ("centred", "integral"):
            beta = _continuous(*parts, kernel_width / 100, order)
        else:
            beta = _by_size(order == "delta", *parts, *law)
    return Attribution(names, beta, f"LIME's limit ({order})", per=features[:-1])


def _continuous(g, g_h, gy, gy_h, g0, nu, order):
    """Coefficients (d,) as if d were so large that the share x of words removed were a real number."""
    r, w = (part.numpy() for part in gauss_legendre(200))                     # r = √(1 − x): the kernel is smooth in it
    x = 1 - r**2
    w = w * r * np.exp(-(1 - r)**2 / (2 * nu**2)) * x * (1 - x)
    w /= w.sum()
    if order == "centred":
        x, w = np.array([w @ x]), np.ones(1)
    x = x[:, None]
    G = (1 - x) * g.sum(0) + x * g_h.sum(0) + g0                                  # (nodes, K)
    score = ((1 - x) * gy.sum(0) + x * gy_h.sum(0)) / G
    weights = w[:, None] / G / len(g0)
    return (gy - gy_h) @ weights.sum(0) - (g - g_h) @ (weights * score).sum(0)


def _by_size(delta, g, g_h, gy, gy_h, g0, law, ridge):
    """Coefficients (d,) of weighted least squares on E[f z_j | k kept] as ratios of means, or to second order."""
    d, k = len(g), np.arange(len(law))[:, None, None]
    on_D, on_N = g - g_h, gy - gy_h                                               # what keeping a word adds
    D, N = g0 + g_h.sum(0), gy_h.sum(0)                                           # every word replaced, (K,)
    sums = [part.sum(0) for part in (on_D, on_N, on_D**2, on_D * on_N)]
    total = _ratio(D, N, *sums, k, d, delta)[:, 0].mean(1)                        # E[f | k], (d + 1,)
    others = [part - own for part, own in zip(sums, (on_D, on_N, on_D**2, on_D * on_N), strict=True)]
    with_j = _ratio(D + on_D, N + on_N, *others, np.maximum(k - 1, 0), d - 1, delta).mean(2)        # (d + 1, d)
    return fit(law, (law * k[:, 0, 0] / max(1, d)) @ with_j, law @ total, ridge)[0]


def _ratio(D, N, sum_D, sum_N, sum_DD, sum_DN, k, m, delta):
    """E[N/D] when k of m words add their part to D and N, any k alike: the ratio of means, or to second order (delta).

    Sums over k of m numbers δ have variance k(m−k)/(m(m−1)) (Σδ² − (Σδ)²/m): Lemma D.3 with the 1/n variance."""
    m = max(1, m)
    D, N = D + k / m * sum_D, N + k / m * sum_N
    spread = k * (m - k) / (m * max(1, m - 1)) if delta else 0
    return N / D + spread * (N * (sum_DD - sum_D**2 / m) / D - (sum_DN - sum_D * sum_N / m)) / D**2
