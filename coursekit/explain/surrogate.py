"""LIME for text (Ribeiro, Singh and Guestrin, KDD 2016), sampled, weighted and fitted as version 0.2.0.1 of its package
does it, down to the random numbers: the same seed draws the same masks.
"""

import numpy as np

from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .asking import pick_class, read_tokens
from .attribution import Attribution
from .masks import away, takes_mask_token


@takes_mask_token
def lime(model_or_predict: Predicts, document: Document, n_samples=1000, seed=0, kernel_width=25, bow=False,
         ridge=1.0, target: int | str | None = None, progress=False) -> Attribution:
    """The coefficients of a linear model, fitted to the scores of perturbed copies of the document.

    bow=False: every place is a feature of its own, and a word that is off is replaced by "[UNK]", or is what `away`
    says, as by the other explainers here and in the analysis of Lopardo, Precioso and Garreau (ICML 2024).
    bow=True, which is the package's default: the features are the *distinct* words, in order of first occurrence, and a
    word that is off is deleted wherever it occurs, so that the words behind it move up; `.on(document)` spreads the
    scores over the document.
    n_samples counts the document itself, which comes first. target: the class if there are several, its number or name,
    by default the one with the highest score. `about` has the linear model's intercept, its R² on the weighted samples,
    and the `standard_errors` of its coefficients.

    More samples lead to `exact_lime`, which computes the limit where a model offers its terms.
    Explain log-odds, not probabilities: the surrogate is linear. All tokens count, punctuation too. The package's
    `num_features=10` refits on ten words only; here all words stay.
    Raises ValueError, in one line, for fewer than two samples or a kernel width or ridge below zero.

    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) - 1.0 * ("bad" in d) for d in documents]
    >>> explanation = lime(likes, ["good", "film", ",", "good"], bow=True, ridge=0)
    >>> [(word, round(score, 3)) for word, score in explanation.top(1)]
    [('good', 2.0)]
    """
    n_samples, seed = as_whole(n_samples, "n_samples", 2), as_whole(seed, "seed")
    if not (kernel_width > 0 and ridge >= 0):
        raise ValueError(f"lime needs kernel_width > 0 and ridge ≥ 0, got {kernel_width} and {ridge}")
    tokens = read_tokens(model_or_predict, document)
    column = {word: j for j, word in enumerate(dict.fromkeys(tokens))}
    features, groups = (list(column), [column[t] for t in tokens]) if bow else (tokens, None)
    masks = sample_masks(len(features), n_samples, seed)
    scores = away(model_or_predict, "delete" if bow else None).scores(tokens, masks, groups, progress)
    scores, target = pick_class(scores, target, model_or_predict)
    weights = proximity(masks, kernel_width)
    beta, intercept = weighted_ridge(masks, scores, weights, ridge)
    errors, spread = (scores - masks @ beta - intercept, scores - np.average(scores, weights=weights))
    r2 = 1 - weights @ errors**2 / (weights @ spread**2) if weights @ spread**2 > 0 else 1.0
    about = {"intercept": intercept, "r2": float(r2), "n_samples": n_samples, "seed": seed, "bow": bow,
             "standard_errors": standard_errors(masks, errors, weights, ridge)}
    return Attribution(features, beta, "LIME", target, about, per="word" if bow else "place")


def sample_masks(d, n, seed=0):
    """n masks (n, d), the first of them all true: of the others, s uniform on 1 … d features are off, any s alike.

    s = d occurs. These are the masks that the package draws with `random_state=seed`.

    >>> sample_masks(3, 4, seed=0).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0]]
    """
    masks = np.ones((n, d), bool)
    if d:
        random = np.random.RandomState(seed)
        off = random.randint(1, d + 1, n - 1)
        orders = np.tile(np.arange(d), (n - 1, 1))
        for order in orders:
            random.shuffle(order)
        np.put_along_axis(masks[1:], orders, np.arange(d) >= off[:, None], axis=1)
    return masks


def proximity(masks, kernel_width=25):
    """Weights (n,) of masks: exp(−δ²/(2 width²)), δ being 100 times the cosine distance 1 − √(kept/d) to the full mask.

    The package's 25 is thus ν = 0.25 on distances between 0 and 1.

    >>> proximity(np.array([[True, True], [True, False]])).round(3)        # δ = 0 and 100 (1 − √½) = 29.3
    array([1.   , 0.503])
    """
    delta = 100 * (1 - np.sqrt(masks.sum(1) / max(1, masks.shape[1])))
    return np.exp(-delta**2 / (2 * kernel_width**2))


def weighted_ridge(Z, y, weights, ridge=1.0):
    """(β (d,), intercept) that minimise Σ_i w_i (y_i − β·Z_i − intercept)² + ridge ‖β‖²: no penalty on the intercept.

    With ridge = 0, and features that the rows of Z do not tell apart, the β of least norm.

    >>> beta, intercept = weighted_ridge(np.array([[1], [0]]), np.array([3, 1]), np.array([1, 1]), ridge=0)
    >>> beta.round(6).tolist(), round(intercept, 6)                        # y = 2 z + 1
    ([2.0], 1.0)
    """
    mean, mean_y = np.average(Z, 0, weights), np.average(y, weights=weights)
    root = np.sqrt(weights)
    X = root[:, None] * (Z - mean)                                                # (n, d), centred: no intercept left
    A, b = X.T @ X + ridge * np.eye(len(mean)), X.T @ (root * (y - mean_y))
    beta = np.linalg.solve(A, b) if ridge else np.linalg.lstsq(A, b)[0]
    return beta, float(mean_y - mean @ beta)


def standard_errors(Z, errors, weights, ridge=1.0):
    """Standard errors (d,) of `weighted_ridge`'s β, as if its errors (n,) were independent, with variance σ²/weight:
    σ² (A + λ)⁻¹ A (A + λ)⁻¹ with A = Σ_i w_i Z_i Z_iᵀ, Z centred, σ² = Σ_i w_i error_i²/(n − d − 1); nan for too few.

    Visani et al. (2022, section 3) have the formula; their package leaves Z as it is, though there is an intercept.

    >>> Z = np.array([[1], [1], [0], [0]])
    >>> standard_errors(Z, np.array([1, -1, 1, -1]), np.ones(4), ridge=0)     # σ² = 4/2, A = 1
    array([1.41421356])
    """
    n, d = np.shape(Z)
    if n <= d + 1:
        return np.full(d, np.nan)
    X = np.sqrt(weights)[:, None] * (Z - np.average(Z, 0, weights))               # (n, d)
    A = X.T @ X
    inverse = np.linalg.inv(A + ridge * np.eye(d)) if ridge else np.linalg.pinv(A, hermitian=True)
    return np.sqrt((inverse @ A * inverse).sum(1) * (weights @ errors**2 / (n - d - 1)))
