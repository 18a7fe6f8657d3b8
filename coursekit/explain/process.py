"""Shapley values of any model from few calls, with error bars: regression on pairs of subsets by a Gaussian process.

With z ∈ {−1, 1}^d (a token is kept, or gone) Shapley values see only the odd part of a score, f°(z) = (f(z) − f(−z))/2,
and interactions of two tokens the even part alone, f⁺(z) = (f(z) + f(−z))/2. So what is asked are pairs, a subset and
its complement, no pair twice: they know both. The prior of f is a process whose covariance, a product, falls into

    k°(z, z') = ½ (Π_j (1 + w_j z_j z'_j) − Π_j (1 − w_j z_j z'_j)),    0 < w_j < 1,

of the odd part (linear for small w, interactions of all odd orders for large ones) and the sum, less 1, of the even
part, whose mean is free. Both tell which tokens count: w is found by the marginal likelihood of both. k°(z, ·) is a
difference of two product games, whose Shapley values are an integral of a polynomial (Owen, "Multilinear extensions of
games", Management Science 18, 1972): those of the posterior mean, and their covariance, are in closed form. Gaussian
processes on games: Chau, Muandet and Sejdinovic (NeurIPS 2023); ShaplEIG (2026) has a product kernel, OddSHAP (2026)
the odd part; we have found no source for the two halves of the kernel in closed form.
"""

import warnings
from itertools import combinations
from math import comb

import numpy as np
import torch

from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .asking import pick_class, read_tokens
from .attribution import Attribution
from .masks import away
from .product_kernel import hollow, kernels, pair_prior, pair_values, prior, values, white
from .shapley import enumerated

CHOSEN_ON = 256                                     # pairs on which w is chosen, of long documents four a token
STARTS = (0.01, 0.08, 0.25, 0.7)                    # sizes of w from which its search may begin
STEPS = 12                                          # of the search: more of them are slower, and no nearer
WIDEST = 2.1                                        # artanh of the largest w
FREE = 100.0                                        # prior variance of the even part's mean, the kernel's being 1


def gp_shapley(model_or_predict: Predicts, document: Document, n_samples=512, error: float | None = None, seed=0,
               by: str | None = None, target: int | str | None = None, progress=False,
               interactions=False) -> Attribution:
    """Shapley values by a Gaussian process on pairs of subsets: mostly nearer than KernelSHAP, and with errors.

    n_samples: evaluations at most, at least 2d + 2; where all 2^d subsets are no more, they are enumerated. error: stop
    as soon as the standard error of all values together, √Σ errors², is below this part of ‖φ‖, 0.05 say. by, target:
    as in `shapley_values`. Σφ = f(document) − f(all tokens off), as there.
    `about`: score and baseline, exact, n_samples (asked), seed; of an estimate also standard_errors (d,), covariance
    (d, d), for sums and differences of values, and `unexplained`, what part of the pairs' variance the process does not
    predict when a pair is left out. Warns where that is more than a tenth, for then the score is no such process, and
    values and errors are not to be trusted; and where `error` was not reached.
    interactions: `about` has, from the same calls, also interactions (d, d), the Shapley interaction index that
    `exact_interactions` returns for models with terms, of an estimate with interaction_errors (d, d) and
    `interactions_unexplained`, of the pairs' even parts.
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
        scores, target = pick_class(model.scores(tokens, masks, progress=progress), target, model)
        about = {"exact": True, "score": float(scores[0]), "baseline": float(scores[-1])}
        if interactions:
            about["interactions"] = enumerated_pairs(masks, scores)
        return Attribution(tokens, enumerated(masks, scores), "Shapley values", target, about)
    if n_samples < 2 * d + 2:
        raise ValueError(f"{d} tokens need n_samples of at least {2 * d + 2}, got {n_samples}")
    (full, empty), target = pick_class(model.scores(tokens, np.array([[True] * d, [False] * d])), target, model)
    kept, whole, rest = pairs(d, n_samples // 2 - 1, seed), np.array([full]), np.array([empty])    # of each pair
    upto = max(d, 32) if error else len(kept)
    while True:
        new = kept[len(whole) - 1:upto]
        scores = pick_class(model.scores(tokens, np.vstack([new, ~new]), progress=progress), target)[0]
        whole, rest = np.append(whole, scores[:len(new)]), np.append(rest, scores[len(new):])
        z = 2.0 * np.vstack([[True] * d, kept[:len(whole) - 1]]) - 1
        phi, covariance, unexplained, *of_pairs = regression(z, (whole - rest) / 2, (whole + rest) / 2, interactions)
        reached = error and np.sqrt(np.trace(covariance)) <= error * np.linalg.norm(phi)
        if reached or upto >= len(kept):
            break
        upto *= 2
    about = {"exact": False, "n_samples": 2 * len(whole), "seed": seed, "score": float(full), "baseline": float(empty),
             "standard_errors": np.sqrt(np.diag(covariance)), "covariance": covariance, "unexplained": unexplained}
    if interactions:
        about |= dict(zip(("interactions", "interaction_errors", "interactions_unexplained"), of_pairs, strict=True))
    if unexplained > 0.1:
        warnings.warn(f"of the variance of pairs that are left out {unexplained:.0%} is not predicted: this score is "
                      "no such process, do not trust these values and their errors", stacklevel=2)
    if error and not reached:
        warnings.warn(f"n_samples={n_samples} did not reach error={error:g}: take more, or see standard_errors",
                      stacklevel=2)
    return Attribution(tokens, phi, "Shapley values, process", target, about)


def enumerated_pairs(masks, scores):
    """Interactions (d, d) from the scores of all 2^d masks: the mean over the sizes of S, of 0 to d − 2, of that of
    f(S ∪ {i, j}) − f(S ∪ {i}) − f(S ∪ {j}) + f(S); 0 on the diagonal."""
    d, sizes = masks.shape[1], masks.sum(1)
    weight = np.array([1 / ((d - 1) * comb(d - 2, s)) for s in range(d - 1)] + [0.0, 0.0])    # of s others; [−1]: none
    both, one, none = ((weight[sizes - less] * scores)[:, None] for less in (2, 1, 0))
    crossed = (masks * one).T @ ~masks
    return hollow((masks * both).T @ masks - crossed - crossed.T + (~masks * none).T @ ~masks)


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


def regression(z, odd, even, interactions=False):
    """What pairs z (n, d) of ±1 with odd and even parts (n,) tell, the first being all tokens, without noise: φ (d,),
    its covariance (d, d), what part of the variance pairs do not predict of another; and of interactions the same
    three, their errors (d, d) in place of a covariance."""
    few = slice(0, max(CHOSEN_ON, 4 * z.shape[1]) + 1)
    w, nuggets = chosen(z[few], odd[few], even[few])
    odd_kernel, even_kernel = (kernel.numpy() for kernel in kernels(torch.tensor(z), torch.tensor(np.arctanh(w))))
    a, inverse, variance, unexplained = _posterior(odd_kernel, nuggets[0], odd, len(w))
    alone, all_alone = white(z)                                                      # no noise: a part of the score
    of_pairs = values(z, w) + nuggets[0] * alone * (np.arange(len(z)) > 0)
    known = of_pairs @ inverse.T
    covariance = variance * (prior(w) + nuggets[0] * all_alone - known @ known.T)
    covariance[np.diag_indices(len(w))] = np.diag(covariance).clip(0)                # not below 0 by rounding
    found = of_pairs @ a, covariance, unexplained
    if not interactions:
        return found
    a, inverse, variance, unexplained = _posterior(even_kernel + FREE, nuggets[1], even - even.mean(), len(w))
    mean, known = pair_values(z, w, a, inverse)
    return *found, mean, np.sqrt(variance * (pair_prior(w) - known).clip(0)), unexplained


def chosen(z, odd, even):
    """w (d,) and the two nuggets, variances of what no kernel explains: of the largest posterior density, by L-BFGS.

    artanh w is a level times a power of a token's relevance, in the straight line through the pairs, times what is its
    own; level, power, nuggets and logarithm of the rest are normal, with the means and standard deviations below."""
    rows = np.where(np.arange(len(odd)) == 0, 1e3, 1.0)                              # the line holds the first one
    line = np.linalg.solve((z.T * rows) @ z + 1e-6 * len(z) * np.eye(z.shape[1]), z.T @ (rows * odd))
    relevance = torch.tensor(np.log(np.maximum(abs(line) / max(abs(line).max(), 1e-300), 1e-3)))
    z, own = torch.tensor(z), [0.0] * z.shape[1]
    targets = torch.tensor(odd), torch.tensor(even - even.mean())
    mean = torch.tensor([-2, 0.5, np.log(1e-5), np.log(1e-5), *own], dtype=torch.float64)
    spread = torch.tensor([3, 0.5, 5, 5, *[1.0] * len(own)], dtype=torch.float64)

    def settings(p):
        return torch.exp(p[0] + p[1] * relevance + p[4:]).clamp(1e-7, WIDEST), torch.exp(p[2:4])

    def unlikely():
        total = (((p - mean) / spread)**2).sum() / 2
        c, nuggets = settings(p)
        for kernel, nugget, free, y in zip(kernels(z, c), nuggets, (0, FREE), targets, strict=True):
            root, wrong = torch.linalg.cholesky_ex(kernel + free + torch.diag(_noise(len(y), nugget)))
            variance = (torch.linalg.solve_triangular(root, y[:, None], upper=False)**2).mean() + 1e-300
            total = total + len(y) * torch.log(variance) / 2 + torch.log(root.diagonal()).sum()
            if wrong or not total.isfinite():
                return torch.tensor(1e300)
        return total

    best = [1e300, mean]

    def closure():
        p.grad = torch.zeros_like(p)
        cost = unlikely()
        if cost < 1e300:
            cost.backward()
        if cost < best[0]:
            best[:] = cost.item(), p.detach().clone()
        return cost

    for size in STARTS:
        p = torch.cat([torch.tensor([np.log(size)]), mean[1:]]).requires_grad_(True)
        closure()
    p = best[1].clone().requires_grad_(True)
    torch.optim.LBFGS([p], max_iter=STEPS, line_search_fn="strong_wolfe").step(closure)
    c, nuggets = settings(best[1])
    return torch.tanh(c).numpy(), nuggets.numpy()


def _noise(n, nugget):
    return torch.cat([torch.zeros(1), torch.ones(n - 1)]) * nugget + 1e-11


def _posterior(kernel, nugget, y, d):
    """Of values y (n,): K⁻¹ y, the inverse of K's lower factor, the process' variance, and what part of y's variance is
    left when a pair is left out."""
    inverse = np.linalg.inv(np.linalg.cholesky(kernel + np.diag(_noise(len(y), nugget).numpy())))
    weighted, own = inverse @ y, (inverse**2).sum(0)                                 # own: the diagonal of K⁻¹
    a = inverse.T @ weighted
    left_out = a[1:] / own[1:]                                                       # y less what the others predict
    variance = max(weighted @ weighted / len(y), (left_out**2 * own[1:]).mean())     # of the process; and as left out
    variance *= len(y) / (len(y) - d)                                                # w has been fitted, d numbers
    return a, inverse, variance, min(1.0, float((left_out**2).mean() / max((y[1:]**2).mean(), 1e-300)))
