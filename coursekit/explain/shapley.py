"""Shapley values: the tokens are players, the score of a perturbed document is what those who stay earn together.

`shapley_values` follows the definition, by enumeration where that is possible; `kernel_shap` fits a linear model whose
exact solution they are (Lundberg and Lee, "A Unified Approach to Interpreting Model Predictions", NeurIPS 2017,
Theorem 2). Either way Σφ = f(document) − f(all tokens off), to rounding.
"""

import warnings
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .asking import pick_class, read_tokens
from .attribution import Attribution
from .masks import away, takes_mask_token

ENUMERATED = 16             # tokens up to which shapley_values visits all 2^d subsets
_MASKS_AT_ONCE = 4096


@takes_mask_token
def shapley_values(model_or_predict: Predicts, document: Document, n_permutations=100, seed=0, by: str | None = None,
                   target: int | str | None = None, progress=False) -> Attribution:
    """φ_i = mean of f(S ∪ {i}) − f(S) over all orders of the tokens, S being those before token i.

    Up to 16 tokens exact, with 2^d evaluations, 65,536 for 16 (`seed` and `n_permutations` do not matter then). Beyond,
    the mean over `n_permutations` random orders, half of them the other half reversed (antithetic: what depends on
    tokens in pairs is then exact); about n_permutations · d evaluations. by: as in `evaluate_masks`.
    target: the class if there are several, its number or name, by default the one with the highest score.
    Where a model offers its terms, `exact_shapley` has no need to sample.
    `about`: score and baseline (Σφ is their difference), exact, and standard_errors (d,) of sampled values.
    Raises ValueError, in one line, unless n_permutations is even and at least 4.

    >>> def both(documents):
    ...     return [3.0 * ("not" in d and "bad" in d) for d in documents]
    >>> shapley_values(both, ["not", "that", "bad"])
    Shapley values: not(+1.5) that(0) bad(+1.5)
    """
    n_permutations, seed = as_whole(n_permutations, "n_permutations", 4), as_whole(seed, "seed")
    if n_permutations % 2:
        raise ValueError(f"n_permutations must be even (an order and its reverse), got {n_permutations}")
    model, tokens = away(model_or_predict, by), read_tokens(model_or_predict, document)
    d = len(tokens)

    def evaluate(masks, target, progress=False) -> tuple[Any, int | None]:
        return pick_class(model.scores(tokens, masks, progress=progress), target, model)

    if d <= ENUMERATED:
        masks = (np.arange(2**d)[::-1, None] >> np.arange(d) & 1).astype(bool)    # (2^d, d), from all tokens to none
        scores, target = evaluate(masks, target, progress)
        phi, about = enumerated(masks, scores), dict[str, object](exact=True)
        full, empty = scores[0], scores[-1]
    else:
        (full, empty), target = evaluate(np.array([[True] * d, [False] * d]), target)
        random, samples, step = np.random.default_rng(seed), [], max(1, _MASKS_AT_ONCE // (2 * d))
        with tqdm(total=n_permutations, disable=not progress, desc="permutations") as bar:
            for start in range(0, n_permutations // 2, step):
                pairs = min(step, n_permutations // 2 - start)
                place = random.permuted(np.tile(np.arange(d), (pairs, 1)), axis=1)            # (pairs, d)
                first = (place[:, None] < np.arange(1, d)[:, None]).reshape(-1, d)            # the first 1 … d−1 tokens
                chosen, others = evaluate(np.vstack([first, ~first]), target)[0].reshape(2, pairs, d - 1)
                ends = np.full((pairs, 1), full - empty)
                steps = np.diff(np.hstack([-ends, chosen - others, ends])) / 2    # mean of an order and its reverse
                samples.append(np.take_along_axis(steps, place, 1))
                bar.update(2 * pairs)
        samples = np.vstack(samples)
        errors = samples.std(0, ddof=1) / np.sqrt(len(samples))
        phi = samples.mean(0)
        about = {"exact": False, "standard_errors": errors, "n_permutations": n_permutations, "seed": seed}
    about |= {"score": float(full), "baseline": float(empty)}
    return Attribution(tokens, phi, "Shapley values", target, about)


def enumerated(masks, scores):
    """φ (d,) from the scores of all 2^d masks: the weighted mean with a token minus the weighted mean without."""
    d, sizes = masks.shape[1], masks.sum(1)
    weight = np.array([0.0] + [1 / (d * comb(d - 1, s - 1)) for s in range(1, d + 1)])        # of s tokens, with it
    return (weight[sizes] * scores) @ masks - (weight[d - sizes] * scores) @ ~masks


@takes_mask_token
def kernel_shap(model_or_predict: Predicts, document: Document, n_samples: int | None = None, seed=0,
                by: str | None = None, target: int | str | None = None, progress=False) -> Attribution:
    """Shapley values by weighted least squares: exact once n_samples reaches 2^d − 2, an estimate before.

    Subsets come in pairs, S and its complement; sizes are enumerated from the outside in as far as the samples go, the
    others sampled by their weight. The constraint Σφ = f(document) − f(all tokens off) is solved exactly.
    n_samples: None takes 2d + 2048 for d tokens, as the package shap does, and 4d if that is more; the two evaluations
    of Σφ are not counted. by, target: as in `shapley_values`.
    `about`: score and baseline, exact, n_samples, seed, and standard_errors (d,) of an estimate: those of weighted
    least squares in which only the sampled pairs are chance, each residual divided by √(1 − its leverage) (HC2:
    MacKinnon and White, Journal of Econometrics 29, 1985); nan where the subsets do not tell two tokens apart.
    Warns where the standard errors exceed half of the scores, ‖errors‖ > ‖φ‖/2: what is seen then is mostly chance.
    Raises ValueError, in one line, for fewer than 4d samples (or all subsets): too few to determine d values well.

    >>> explanation = kernel_shap(lambda documents: [2.0 * ("good" in d) for d in documents], ["a", "good", "film"])
    >>> [(word, round(score, 3)) for word, score in explanation.top(1)]
    [('good', 2.0)]
    """
    tokens, seed = read_tokens(model_or_predict, document), as_whole(seed, "seed")
    d = len(tokens)
    n_samples = max(2 * d + 2048, 4 * d) if n_samples is None else as_whole(n_samples, "n_samples")
    if n_samples < min(4 * d, 2**d - 2):
        raise ValueError(f"{d} tokens need n_samples of at least {min(4 * d, 2**d - 2)}, got {n_samples}")
    masks, weights, n_drawn = coalition_pairs(d, n_samples, seed)
    every = np.vstack([np.ones(d, bool), np.zeros(d, bool), masks, ~masks])
    model = away(model_or_predict, by)
    scores, target = pick_class(model.scores(tokens, every, progress=progress), target, model)
    full, empty = scores[:2]
    inside, outside = scores[2:].reshape(2, -1)
    # φ = (full − empty)/d + ψ with Σψ = 0. The two equations of a pair have one left side, z − |S|/d, but for its sign.
    share = masks.sum(1, keepdims=True) / max(1, d)                               # |S|/d, (pairs, 1)
    rest = (inside - outside - (full - empty) * (2 * share[:, 0] - 1)) / 2
    root = np.sqrt(weights)
    X = root[:, None] * (masks - share)                                           # (pairs, d), rows sum to zero
    A = X.T @ X + 1 / max(1, d) + 1e-12 * np.eye(d)       # 1/d: Σψ = 0. 1e-12: tokens never told apart share evenly
    psi = np.linalg.solve(A, X.T @ (root * rest))
    phi = (full - empty) / max(1, d) + psi
    about = {"exact": 2 * len(masks) == 2**d - 2, "n_samples": n_samples, "seed": seed,
             "score": float(full), "baseline": float(empty)}
    if not about["exact"]:
        errors = about["standard_errors"] = _standard_errors(X, root * rest - X @ psi, A, n_drawn)
        rounding = 1e-6 * abs(scores).max()
        if not np.linalg.norm(errors) <= np.linalg.norm(phi) / 2 + rounding:
            warnings.warn(f"with n_samples={n_samples} the standard errors of KernelSHAP (about['standard_errors']) "
                          "exceed half of its scores, or are unknown: take more samples", stacklevel=3)
    return Attribution(tokens, phi, "KernelSHAP", target, about)


def _standard_errors(X, residuals, A, n):
    """(d,): what chance in the last n rows of X (pairs, d) does to A⁻¹ Xᵀy, as `kernel_shap` says."""
    inverse = np.linalg.inv(A)
    if abs(inverse).max(initial=0) > 1e9:                                         # held by nothing but the 1e-12
        return np.full(len(A), np.nan)
    pull = X @ inverse                                                            # of each row on each value
    residuals = residuals / np.sqrt((1 - (pull * X).sum(1)).clip(1e-9))
    pull = (pull * residuals[:, None])[len(X) - n:]
    return np.sqrt(n * pull.var(0, ddof=1)) if n > 1 else np.full(len(A), np.nan)


def coalition_pairs(d, n_samples, seed=0):
    """(masks (pairs, d), weights (pairs,), n): one half of each pair of complementary subsets, the pairs' weights, and
    how many of them, the last n, were drawn at random.

    The Shapley kernel gives all subsets of size s together a weight proportional to 1/(s(d − s)); here all weights sum
    to one. Sizes 1, 2, … (with d − 1, d − 2, …) are enumerated as long as their fair part of the samples left suffices.

    >>> masks, weights, n = coalition_pairs(3, 6)                          # of 3 tokens: each alone, and the other two
    >>> masks.astype(int).tolist(), weights.round(3).tolist(), n
    ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.333, 0.333, 0.333], 0)
    """
    sizes = np.arange(1, d // 2 + 1)
    weight = np.where(2 * sizes == d, 1, 2) / (sizes * (d - sizes))               # of sizes s and d − s together
    weight /= weight.sum() if d > 1 else 1
    left, masks, weights = n_samples // 2, [np.zeros((0, d), bool)], [np.zeros(0)]
    for s in sizes:
        pairs = comb(d, s) // (2 if 2 * s == d else 1)                            # d/2: the subsets with token 0
        if left * weight[s - 1] < pairs * weight[s - 1:].sum() * (1 - 1e-9):
            break
        subsets = np.zeros((pairs, d), bool)
        subsets[np.arange(pairs)[:, None], list(islice(combinations(range(d), s), pairs))] = True
        masks.append(subsets)
        weights.append(np.full(pairs, weight[s - 1] / pairs))
        left, sizes = left - pairs, sizes[1:]
    if len(sizes):
        random, weight = np.random.default_rng(seed), weight[-len(sizes):]
        drawn = sizes[np.searchsorted(weight.cumsum() / weight.sum(), random.random(left), side="right")]
        lots = random.random((left, d), dtype=np.float32)                         # S: the tokens with the s smallest
        masks.append(lots < np.sort(lots, axis=1)[np.arange(left), drawn][:, None])
        weights.append(np.full(left, weight.sum() / left))
    return np.vstack(masks), np.concatenate(weights), left if len(sizes) else 0
