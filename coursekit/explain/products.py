"""Means of a softmax head over random subsets of its words: a mixture of product games.

A head scores N/D with D = Σ_t g_t and N = Σ_t g_t y_t, where every word contributes one term if it is kept and another
if it is replaced. As N/D = ∫₀^∞ N e^{−λD} dλ, and e^{−λD} is a *product* over the words, means over random subsets
factorise. Kept independently with probability p, the words contribute Π_t (p e^{−λg_t} + (1−p) e^{−λg_{h,t}}). Of the
subsets of one size, products add up to an elementary symmetric polynomial, which a programme over (word, kept so far)
computes in O(d²) sums of positive terms; where words are deleted the number kept so far is also the position to which a
word moves up. The integral over λ is a sum of some hundred terms whose error is measured, for every D that can occur,
before they are used. docs/exact.md derives it; exact.py has what it is for.
"""

from typing import NamedTuple

import numpy as np

from .asking import read_tokens, require_methods

_LARGEST = 1000                                 # features: the sums over subsets of one size stay below 2^1000
_CELLS = 1 << 22                                # numbers that an array of intermediate results may hold
_ACCURACY = 1e-14                               # of 1/D, relative


class Heads(NamedTuple):
    """K heads on a document of d features: what each feature contributes if kept, [0], and if replaced, [1].

    log_g, y: (2, d, K). log_g0, y0: (K,), of all that is always there, [CLS] and padding, as one token.
    """

    log_g: np.ndarray
    y: np.ndarray
    log_g0: np.ndarray
    y0: np.ndarray

    def score(self, branch):
        """The score with every feature kept (0) or replaced (1)."""
        log_g = np.concatenate([self.log_g[branch], self.log_g0[None]])
        return merged(log_g, np.concatenate([self.y[branch], self.y0[None]]))[1].mean()

    @property
    def centre(self):
        """What y is counted from: N then has no part that is always there."""
        return self.y0


class Moves(NamedTuple):
    """K heads on a document whose words are deleted. log_g, y: (d, d, K), [t, i] being word t behind i others that are
    kept; log_pad, y_pad: (d, K), padding in the place of the word behind i others; log_g0, y0: (K,) as in `Heads`;
    centre: (K,), what y is counted from: the heads' scores of the whole document, so that little cancels."""

    log_g: np.ndarray
    y: np.ndarray
    log_pad: np.ndarray
    y_pad: np.ndarray
    log_g0: np.ndarray
    y0: np.ndarray
    centre: np.ndarray


def read_game(model, document, features, explainer):
    """(names of the d features, Heads if words are replaced or Moves if deleted), or one line that says why not. model:
    what `away` made."""
    if features not in ("places", "words"):
        raise ValueError(f'features must be "places" or "words", got {features!r}')
    require_methods(model.box, "head_terms", explainer=explainer)
    tokens = read_tokens(model, document)
    places = {}
    for t, token in enumerate(tokens):
        places.setdefault(token if features == "words" else t, []).append(t)
    names, groups = [tokens[group[0]] for group in places.values()], list(places.values())
    if model.by == "delete" and len(groups) < len(tokens):
        raise ValueError("repeated words that are deleted together do not factorise: take features='places', "
                         "by='replace', or lime and shapley_values")
    terms = model.head_terms(tokens, model.token)
    if terms is None:
        raise TypeError(f"{explainer} needs a score that is a mean of N/D, and {type(model.box).__name__} computes its "
                        "own in another way: use a method that only calls predict, such as lime or kernel_shap")
    log_g, y = (np.asarray(part, float) for part in terms)                        # (T + 3, T_max, K)
    T, t = len(tokens), np.arange(len(tokens))
    shaped = log_g.shape == y.shape and log_g.ndim == 3 and len(y) == T + 3 and y.shape[1] > T
    if not shaped or not (log_g < np.inf).all() or not np.isfinite(y).all():
        raise ValueError(f"head_terms of {T} tokens should give log g (finite or −inf) and y (finite), both "
                         f"({T + 3}, at least {T + 1}, K), got {log_g.shape} and {y.shape}, or other numbers")
    always = merged(*(np.concatenate([part[0, :1], part[-1, T + 1:]]) for part in (log_g, y)))
    on, off = ([part[row, t + 1] for part in (log_g, y)] for row in (t + 1, -2))              # log g, y (T, K) each
    if model.by == "delete":
        whole = merged(*(np.vstack([part, one]) for part, one in zip(on, always, strict=True)))[1]
        whole = np.where(np.isneginf(always[0]), 0, whole)                        # where D may be 0, N/D counts as 0
        words, places = slice(1, T + 1), slice(1, T + 1)
        return names, Moves(log_g[words, places], y[words, places], log_g[-1, places], y[-1, places], *always, whole)
    both = [[merged(branch[0][group], branch[1][group]) for group in groups] for branch in (on, off)]
    shape = (2, len(groups), 2, log_g.shape[-1])
    return names, Heads(*np.array(both).reshape(shape).transpose(2, 0, 1, 3), *always)


def merged(log_g, y):
    """(log g, y) (…,) of one token that stands for all along the first axis: their g add up, y is weighted with g.

    >>> log_g, y = merged(np.log([1, 3]), np.array([8.0, 0.0]))
    >>> round(float(np.exp(log_g)), 9), round(float(y), 9)
    (4.0, 2.0)
    """
    top = log_g.max(0, initial=-1e300)
    g = np.exp(log_g - top)
    total = g.sum(0)
    with np.errstate(divide="ignore"):
        return np.log(total) + top, (g * y).sum(0) / np.maximum(total, 1e-300)


def laplace_nodes(log_low, log_high):
    """(log λ (M,), c (M,)) such that Σ_m c_m λ_m D e^{−λ_m D} = 1 for every D from e^log_low to e^log_high.

    The trapezoid rule for ∫₀^∞ D e^{−λD} dλ after λ = exp(t − e^{−t}), doubly exponential on either side. The step is
    halved until the largest error on a grid of D is 1e-14, or rounding of log D for a range beyond e^50.

    >>> log_lam, c = laplace_nodes(np.log(2.0), np.log(5.0))
    >>> x = 3 * np.exp(log_lam)                                            # λ D with D = 3
    >>> len(c) < 50, bool(abs(c @ (x * np.exp(-x)) - 1) < 1e-14)
    (True, True)
    """
    width, step = float(log_high - log_low), 0.5
    grid = np.exp(np.linspace(-width, 0, 300))[:, None]                           # D / D_high
    while True:
        t = np.arange(-3.8, width + 3.9 + step, step)
        log_lam, c = t - np.exp(-t), step * (1 + np.exp(-t))
        x = grid * np.exp(np.minimum(log_lam, 600))
        if abs((x * np.exp(-x)) @ c - 1).max() < _ACCURACY * max(1, width / 50) or step < 0.1:
            return log_lam - log_high, c
        step /= 2


def _least(game):
    """(log g (d, K), of the branch or token with the smallest g at each place; the same with the largest)."""
    if isinstance(game, Heads):
        return game.log_g.min(0), game.log_g.max(0)
    reach = np.tri(len(game.log_g), dtype=bool)[..., None]                        # word t stands behind i ≤ t others
    low, high = (np.where(reach, game.log_g, limit) for limit in (np.inf, -np.inf))
    return np.minimum(low.min(0, initial=np.inf), game.log_pad), np.maximum(high.max(0, initial=-np.inf), game.log_pad)


def rows_of(game):
    """(head (R,), log λ (R,), c (R,)): the rows, a node of λ of one head each. With λD counted from its least value on,
    D_low, which c contains, f = Σ_r c_r λ_r N e^{−λ_r (D − D_low)}."""
    ends = np.array([np.logaddexp.reduce(np.concatenate([part, game.log_g0[None]])) for part in _least(game)])
    low = ends[0].copy()
    if np.isneginf(low).any():                                                    # D may be 0: then N is, and counts 0
        some = np.where(np.isfinite(game.log_g), game.log_g, np.inf).min((0, 1), initial=np.inf)
        ends = np.nan_to_num(np.where(np.isneginf(ends), some, ends), posinf=0)
    rows = [laplace_nodes(*end) for end in ends.T]
    head = np.repeat(np.arange(len(rows)), [len(c) for _, c in rows])
    log_lam, c = (np.concatenate(part) for part in zip(*rows, strict=True))
    return head, log_lam, c / len(rows) * np.exp(-np.exp(low[head] + log_lam))


def _part(log_g, y, low, log_lam):
    """A token's factor e^{−λ(g − g_low)}, and the same times λ g y, its part in N."""
    x = np.exp(np.minimum(log_g + log_lam, 600))
    factor = np.exp(np.exp(low + log_lam) - x)
    return factor, factor * x * y


def _chunks(nodes, cells):
    """The rows in chunks that hold `cells` numbers a row in bounded memory."""
    step = max(1, _CELLS // max(1, cells))
    return ([part[i:i + step] for part in nodes] for i in range(0, len(nodes[0]), step))


def by_shares(game, nodes, shares, weights, pairs):
    """Σ_i weights_i times the mean of f(S ∪ {j}) − f(S), or its like for pairs, each word being in S with chance p_i.

    With F = p A + (1 − p) B, A and B a word's factors, the mean of a row is P Σ_t ρ_t, P = Π_t F_t and ρ_t the word's
    part in N. Word j on instead of off changes it by P (α_j Σρ + γ_j), two words by P (α_i α_j Σρ + γ_i α_j + α_i γ_j).
    """
    d, low = game.y.shape[1], _least(game)[0]
    total = np.zeros((d, d) if pairs else d)
    for head, log_lam, c in _chunks(nodes, 8 * d):
        (A, An), (B, Bn) = (_part(log_g[:, head], y[:, head] - game.centre[head], low[:, head], log_lam)  # (d, R) each
                            for log_g, y in zip(game.log_g, game.y, strict=True))
        step, step_n = A - B, An - Bn
        for p, weight in zip(shares, weights, strict=True):
            F = B + p * step
            alpha, rho = step / F, (Bn + p * step_n) / F
            gamma = step_n / F - alpha * rho
            P = weight * c * F.prod(0)                                            # (R,)
            PR = P * rho.sum(0)
            if pairs:
                cross = (gamma * P) @ alpha.T
                total += (alpha * PR) @ alpha.T + cross + cross.T
            else:
                total += alpha @ PR + gamma @ P
    return total


def by_size(game, nodes, weights):
    """(Σ_S w(|S|) f(S) z_j (d,), Σ_{|S|=k} f(S) (d + 1,)), f counted from the game's centre.

    v[k] and n[k] add up the factors of the first t words over all subsets with k kept, and the same with the parts in N
    (the derivative, if each factor on or off were to grow with its part). Backwards, the derivatives of the weighted
    sum with respect to v and n; those that pass through word j's on-branch are what word j was kept for.
    """
    d = game.y.shape[1]
    if d > _LARGEST:
        raise ValueError(f"sums over subsets by size take at most {_LARGEST} features, got {d}: cut the document")
    with_j, sums = np.zeros(d), np.zeros(d + 1)
    for rows in _chunks(nodes, 2 * d * (d + 1)):
        c, (branches, (end, end_n)) = rows[2], _branches(game, *rows[:2])
        v, n, before = np.ones((1, len(c))), np.zeros((1, len(c))), []
        for a, an, b, bn in branches:
            before.append((v, n))
            next_v, next_n = np.zeros((2, len(v) + 1, len(c)))
            next_v[:-1], next_n[:-1] = b * v, b * n + bn * v
            next_v[1:] += a * v
            next_n[1:] += a * n + an * v
            v, n = next_v, next_n
        sums += (end * n + end_n * v) @ c
        slope_v, slope_n = (weights[:, None] * c * part for part in (end_n, end))
        for t in range(d - 1, -1, -1):
            (v, n), (a, an, b, bn) = before.pop(), branches[t]
            on_v, on_n = a * slope_v[1:] + an * slope_n[1:], a * slope_n[1:]
            with_j[t] += np.vdot(on_v, v) + np.vdot(on_n, n)
            slope_v, slope_n = on_v + b * slope_v[:-1] + bn * slope_n[:-1], on_n + b * slope_n[:-1]
    return with_j, sums


def _branches(game, head, log_lam):
    """For each word its factor and part in N if kept, then if off; and those of what follows the words, by how many are
    kept. Kept words have them (R,), or, where words move up, (t + 1, R), by how many before them are kept."""
    low, centre = _least(game)[0][:, head], game.centre[head]

    def part(log_g, y, low):
        return _part(log_g[..., head], y[..., head] - centre, low, log_lam)
    if isinstance(game, Heads):
        on, off = (part(log_g, y, low) for log_g, y in zip(game.log_g, game.y, strict=True))
        return list(zip(*on, *off, strict=True)), (1.0, 0.0)
    d = len(low)
    on = [(*part(game.log_g[t, :t + 1], game.y[t, :t + 1], low[:t + 1]), 1.0, 0.0) for t in range(d)]
    pad, always = (np.exp(np.minimum(log_g[..., head] + log_lam, 600)) for log_g in (game.log_pad, game.log_g0))
    excess = np.vstack([pad - np.exp(low + log_lam), 0 * always])                 # of the places behind 0 … d words
    slope = np.vstack([pad * (game.y_pad[:, head] - centre), always * (game.y0[head] - centre)])
    excess, slope = (np.cumsum(part[::-1], 0)[::-1] for part in (excess, slope))
    return on, (np.exp(-excess), np.exp(-excess) * slope)
