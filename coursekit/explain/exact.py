"""Exact explanations of one attention layer in polynomial time: LIME's limit, Shapley values, Banzhaf values.

A softmax head is a mixture of product games (products.py), so what is a mean over random subsets can be had without
visiting them:

- A semivalue is a mean over the share p of words present (Owen, "Multilinear extensions of games", Management Science
  1972) of a polynomial of degree d − 1, so Gauss–Legendre quadrature with d/2 nodes is exact. For product games this is
  known (QuadraSHAP, arXiv:2605.05870; product kernels: Mohammadi, Chau and Muandet, arXiv:2505.16516).
- LIME's least squares need sums over the subsets of one size, and no more.

For the softmax head as such a mixture, and for LIME's limit, we have found no source.
"""

from math import comb

import numpy as np

from coursekit.inputs import Document, as_array, as_whole
from coursekit.models.protocols import HasTerms

from .attribution import Attribution
from .gradients import gauss_legendre
from .masks import away, takes_mask_token
from .products import by_shares, by_size, read_game, rows_of
from .surrogate import proximity


@takes_mask_token
def exact_shapley(model: HasTerms, document: Document, features="places", semivalue="shapley") -> Attribution:
    """φ_j = Σ_S q(|S|) (f(S ∪ {j}) − f(S)), exact but for rounding, for documents of any length.

    model: with `head_terms` (`coursekit.models.protocols`), such as AttentionClassifier. Words are replaced by "[UNK]",
    or as `away` says, away(model, "delete") for one. features: "places", or "words": distinct words that come and go
    together (deleted ones then couple, which is refused if a word repeats).
    semivalue: "shapley"; "banzhaf", every S alike; or a pair (p, weights) of arrays: the mean over a law of the share p
    of words present, 0 < p < 1, with q(s) = Σ_i weights_i p_i^s (1−p_i)^{d−1−s} (Dubey, Neyman and Weber, 1981).
    Time: replaced, O(d) for each node of λ and p; deleted, O(d²) for each node of λ. `about`: score, baseline (all
    words off), lambda_nodes, and, replaced, p_nodes and p_error, how far half as many are away (0: exact by degree).

    Two words with g = 1 and y = 6 beside a [CLS] with g = 1, y = 0, nothing where they are gone: 0, 6/2 and 12/3 with
    0, 1 and 2 words kept, so each gets ½ (3 − 0) + ½ (4 − 3) = 2.

    >>> from types import SimpleNamespace
    >>> log_g, y = np.full((5, 3, 1), -np.inf), np.zeros((5, 3, 1))        # rows: [CLS], two words, mask, padding
    >>> log_g[:3], y[1:3] = 0, 6
    >>> two = SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))
    >>> exact_shapley(two, ["good", "film"])
    Shapley values: good(+2) film(+2)
    """
    model = away(model)
    names, game = read_game(model, document, features, "exact_shapley")
    kind = f"{semivalue.capitalize()} values" if isinstance(semivalue, str) else "semivalue"
    nodes, d = rows_of(game), len(names)
    about = {"by": model.by, "exact": True, "lambda_nodes": len(nodes[0])}
    if model.by == "replace":
        phi, more = _by_share(game, nodes, semivalue)
        about |= more | {"score": game.score(0), "baseline": game.score(1)}
    else:
        q = _size_weights(semivalue, d)                                           # of S without j, by size
        with_j, sums = by_size(game, nodes, np.append(0, q) + np.append(q, 0))   # also of S with j
        phi = with_j - np.append(q, 0) @ sums
        about |= {"score": sums[-1] + game.centre.mean(), "baseline": sums[0] + game.centre.mean()}
    return Attribution(names, phi, kind, None, about, per=features[:-1])


def exact_interactions(model: HasTerms, document: Document) -> np.ndarray:
    """I_ij (d, d): the mean of f(S ∪ {i, j}) − f(S ∪ {i}) − f(S ∪ {j}) + f(S), with 0 on the diagonal.

    The Shapley interaction index of Grabisch and Roubens (1999), S having each size from 0 to d − 2 equally often.
    Words are always replaced: with deletion two words do not factorise. In the products over words a pair is two
    factors left out, so all pairs together cost two matrix products for each node of p.

    In the example of `exact_shapley`, I = 4 − 3 − 3 + 0:

    >>> from types import SimpleNamespace
    >>> log_g, y = np.full((5, 3, 1), -np.inf), np.zeros((5, 3, 1))
    >>> log_g[:3], y[1:3] = 0, 6
    >>> two = SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))
    >>> exact_interactions(two, ["good", "film"]).round(9).tolist()
    [[0.0, -2.0], [-2.0, 0.0]]
    """
    _, game = read_game(away(model, "replace"), document, "places", "exact_interactions")
    pairs, _ = _by_share(game, rows_of(game), "shapley", pairs=True)
    np.fill_diagonal(pairs, 0)
    return pairs


@takes_mask_token
def exact_lime(model: HasTerms, document: Document, by: str | None = None, features="places", n: int | None = None,
               kernel_width=25, ridge=1.0) -> Attribution:
    """The coefficients to which those of `lime` converge with more and more samples.

    The law of the masks is the package's: s uniform on 1 … d features are off, any s alike, weighted by its kernel.
    n: None, the limit itself (there the ridge does not matter). A number: the solution for the expected sums of n
    samples, the document itself first and `ridge` included; the mean of `lime` over seeds differs from it by O(1/n), as
    least squares are not linear in their sums. by: as in `evaluate_masks`. model, features: as in `exact_shapley`; the
    package's bow=True is by="delete" with features="words", our `lime`'s default "replace" with "places".
    Time O(d²) for each node of λ. `about`: intercept, score, baseline, lambda_nodes.
    One feature alone is always off in these masks: its limit takes the document itself in.

    In the example of `exact_shapley` the limit without kernel never sees both words: masks 10 and 01 score 3, mask 00
    scores 0, and 3 z₁ + 3 z₂ fits them all.

    >>> from types import SimpleNamespace
    >>> log_g, y = np.full((5, 3, 1), -np.inf), np.zeros((5, 3, 1))
    >>> log_g[:3], y[1:3] = 0, 6
    >>> two = SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))
    >>> exact_lime(two, ["good", "film"], kernel_width=np.inf)
    LIME, exact: good(+3) film(+3)
    """
    model = away(model, by)
    names, game = read_game(model, document, features, "exact_lime")
    law, ridge = size_law(len(names), n, kernel_width, ridge)
    nodes = rows_of(game)
    weights = law / [float(comb(len(names), k)) for k in range(len(law))]         # of a mask, by the number kept
    sums_z, sums = by_size(game, nodes, weights)
    beta, intercept = fit(law, sums_z, weights @ sums, ridge)
    base = game.centre.mean()
    about = {"intercept": intercept + base, "score": sums[-1] + base, "baseline": sums[0] + base, "n": n,
             "by": model.by, "lambda_nodes": len(nodes[0])}
    return Attribution(names, beta, "LIME, exact", None, about, per=features[:-1])


def size_law(d, n=None, kernel_width=25, ridge=1.0):
    """(weights (d + 1,) of all masks with 0 … d features kept, ridge): LIME's law of n samples; n=None: n → ∞, ridge 0.

    >>> size_law(2, n=5, kernel_width=np.inf)[0].tolist()                  # itself; of four others two keep one of two
    [2.0, 2.0, 1.0]
    """
    if not (kernel_width > 0 and ridge >= 0):
        raise ValueError(f"lime needs kernel_width > 0 and ridge ≥ 0, got {kernel_width} and {ridge}")
    samples = 1 if n is None else as_whole(n, "n", 2) - 1
    law = np.append(np.full(d, samples / max(1, d)), n is not None or d == 1)
    return law * proximity(np.tri(d + 1, d, -1, bool), kernel_width), 0.0 if n is None else ridge


def fit(law, sums_z, total, ridge):
    """(β (d,), intercept) of weighted ridge regression on all masks, given the `law` of their sizes, Σ π f z_j (d,) and
    Σ π f: the matrix of these least squares is v I + q 11ᵀ, so that nothing is solved."""
    d = len(sums_z)
    kept = np.arange(d + 1) / max(1, d)
    m0, m1 = law.sum(), law @ kept
    m2 = law @ (kept * np.maximum(d * kept - 1, 0)) / max(1, d - 1)               # two given features are kept
    if not d:
        return sums_z, float(total / (m0 or 1))
    v, q = m1 - m2 + ridge, m2 - m1**2 / m0 if m0 else 0.0
    if not min(v, v + d * q) > 1e-12 * m0:
        raise ValueError("kernel_width is so small that masks of one size have all the weight: take a wider kernel")
    r = sums_z - m1 / m0 * total
    beta = (r - q * r.sum() / (v + d * q)) / v
    return beta, float((total - m1 * beta.sum()) / m0)


def _by_share(game, nodes, semivalue, pairs=False):
    """φ (d,) of a semivalue, or with `pairs` I (d, d), and what to say about it: the mean over the share p of words."""
    if not (isinstance(semivalue, str) and semivalue == "shapley"):
        return by_shares(game, nodes, *_shares_law(semivalue), pairs), {}
    values, n, most = None, 8, max(1, (game.y.shape[1] + 1) // 2)                 # `most` nodes are exact by degree
    while True:
        n, before = min(n, most), values
        values = by_shares(game, nodes, *(part.numpy() for part in gauss_legendre(n)), pairs)
        error = 0.0 if n == most else np.inf if before is None else abs(values - before).max()
        if error <= 1e-13 * abs(values).max(initial=0):
            return values, {"p_nodes": n, "p_error": float(error)}
        n *= 2


def _shares_law(semivalue):
    """(p, weights) of a semivalue that is not Shapley's, or one line."""
    if isinstance(semivalue, str):
        if semivalue != "banzhaf":
            raise ValueError(f'semivalue must be "shapley", "banzhaf" or a pair (p, weights), got {semivalue!r}')
        return np.array([0.5]), np.array([1.0])
    p, weights = (as_array(part, "each part of semivalue", (None,)) for part in semivalue)
    if len(p) != len(weights) or not ((0 < p) & (p < 1)).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-9:
        raise ValueError("a semivalue is a law (p, weights) of the share of words present: 0 < p < 1, as many weights, "
                         "none below 0, that sum to 1 (leave_one_out is p = 1)")
    return p, weights


def _size_weights(semivalue, d):
    """q (d,): the weight of each set of s other words, s = 0 … d − 1."""
    s = np.arange(d)
    if isinstance(semivalue, str) and semivalue == "shapley":
        return np.array([1 / (d * comb(d - 1, k)) for k in range(d)])
    p, weights = _shares_law(semivalue)
    return (p**s[:, None] * (1 - p)**(d - 1 - s)[:, None]) @ weights
