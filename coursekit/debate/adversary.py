"""Another attention with the same prediction, as far from the model's as can be.

Where the score is linear in the weights there is nothing to search. The divergence is convex in the adversary's
weights, so over a convex set it is largest in a corner; the corners of "weights with a given sum that keep the score
within bounds" have at most two weights above zero, and all pairs of tokens are quickly tried. For this short cut we
have found no source.
"""

import numpy as np
import torch

from .permuted import TINY, Swap, given_attention, js_divergence, sigmoid


@torch.inference_mode(False)                                      # with gradients, whatever is around
def adversarial_attention(model, document, epsilon=0.01, search=False, starts=4, steps=80, seed=0):
    """The Swap (n = 1) of weights as far as possible from the model's (mean JS over heads and layers), |Δp| ≤ epsilon.

    One layer that sums numbers (`AttentionClassifier`): from the corners (above), the farthest if each head by itself
    keeps the score within the bounds. Other models, and with search=True all: Adam on the logits of the weights from
    `starts` random places, up JS and back where |Δp| is above epsilon; the best that is not, or the model's own.
    Source: Jain and Wallace, NAACL 2019, section 4.2.2 (Algorithm 1).

    >>> from coursekit.models import load_weights
    >>> swap = adversarial_attention(load_weights("imdb-tame"), "a good film , but far too long".split())
    >>> bool(swap.change <= 0.0101), bool(swap.js > 0.3), int((swap.attention > 0).sum(-1).max())
    (True, True, 2)
    """
    alpha, score, values = given_attention(model, document)
    with torch.no_grad():
        f = score(alpha[None]).item()
    if values is not None and not search:
        p = sigmoid(f)
        with np.errstate(divide="ignore"):
            odds = np.array([max(p - epsilon, 0), min(p + epsilon, 1)])
            low, high = np.log(odds / (1 - odds)) - f
        weights = torch.stack([_corner(a, y, low / len(values), high / len(values))
                             for a, y in zip(alpha[0].numpy(), values.numpy(), strict=True)])[None, None]
    else:
        weights = _searched(alpha, score, f, epsilon, starts, steps, seed)[None]
    with torch.no_grad():
        return Swap(f, score(weights).numpy(), weights.numpy(), alpha.numpy())


def _corner(alpha, y, low, high):
    """The weights (T,) with α's sum farthest from α (T,) among those with low ≤ (weights − α) · y ≤ high."""
    total = alpha.sum()
    a, y = alpha / total, y * total                                               # a sums to one, a · y is the head's
    here, T = a @ y, len(a)

    def gained(q):                                                                # a token's part of 2 JS − log 2
        m = np.maximum((a[:, None] + q) / 2, TINY)
        return (a[:, None] * (np.log(np.maximum(a[:, None] / m, TINY)) - np.log(2))
                + q * np.log(np.maximum(q / m, TINY)))

    best, where = -np.inf, None
    for bound in (here + low, here + high):
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (bound - y) / (y[:, None] - y)                                # (T, T): of i beside j
        share = np.where((share >= 0) & (share <= 1) & np.isfinite(share), share, np.nan)
        far = gained(share) + gained(1 - share.T).T
        if not np.isnan(far).all() and np.nanmax(far) > best:
            i, j = np.unravel_index(np.nanargmax(far), far.shape)
            best, where = far[i, j], (i, j, share[i, j])
    alone = np.where((y >= here + low) & (y <= here + high), gained(np.ones((T, 1)))[:, 0], -np.inf)
    if alone.max() > best:
        where = alone.argmax(), alone.argmax(), 1.0
    weights = np.zeros(T)
    i, j, share = where
    weights[j], weights[i] = 1 - share, share
    return torch.from_numpy(weights * total)


def _searched(alpha, score, f, epsilon, starts, steps, seed):
    """Weights (L, K, T) by gradient ascent: Jain and Wallace's search."""
    generator, total = torch.Generator().manual_seed(seed), alpha.sum(-1, keepdim=True)
    z = torch.randn(starts, *alpha.shape, generator=generator).double().requires_grad_()
    optimizer, best, farthest = torch.optim.Adam([z], 0.3), alpha, 0.0
    for _ in range(steps):
        weights = total * (alpha.clamp_min(TINY).log() + z).softmax(-1)           # (starts, L, K, T)
        js = js_divergence(weights, alpha).mean((-1, -2))
        change = (score(weights).sigmoid() - 1 / (1 + np.exp(-f))).abs()
        with torch.no_grad():
            distance = torch.where(change <= epsilon, js, -1)
            if distance.max() > farthest:
                farthest, best = distance.max().item(), weights[distance.argmax()].clone()
        optimizer.zero_grad()
        (30 * (change - epsilon / 2).clamp_min(0) - js).sum().backward()
        optimizer.step()
    return best.detach()
