"""Assignment 08: answers that are no mistake of a list, and what a check must say to them; right ones in other words.

mean_score, which shapley may build on, and best_line are put into this module by the test: the reference's.
"""

import itertools
import math

import numpy as np
import torch

from tests.grading.bank.entries import right, wrong

best_line = mean_score = None       # the reference's, at test time


# -- two_ways --------------------------------------------------------------------------------------------------------

def _folded(e, q, W_k, W_v, W_l):
    """u and w (K, d_e), α and y (K, T)."""
    u, w = (W_k.mT @ q[..., None])[..., 0], (W_v.mT @ W_l[..., None])[..., 0]
    return u, w, torch.softmax(u @ e.T / W_k.shape[1] ** 0.5, 1), w @ e.T


@wrong("two_ways", "two_ways calls torch.autograd.grad, which is the step that this question is about")
def _(e, q, W_k, W_v, W_l):
    e = e.clone().requires_grad_()
    _, _, alpha, y = _folded(e, q, W_k, W_v, W_l)
    parts = (alpha.detach() * y).sum(), (alpha * y.detach()).sum()
    return tuple(torch.autograd.grad(part / len(q), e, retain_graph=True)[0] for part in parts)


@wrong("two_ways", "Take the largest score away first")
def _(e, q, W_k, W_v, W_l):
    u, w, _, y = _folded(e, q, W_k, W_v, W_l)
    g = (u @ e.T / W_k.shape[1] ** 0.5).exp()
    alpha = g / g.sum(1, keepdim=True)
    r = alpha * (y - (alpha * y).sum(1, keepdim=True))
    return alpha.T @ w / len(q), r.T @ u / len(q) / W_k.shape[1] ** 0.5


@wrong("two_ways", "Do one head first, by the folded maps")
def _(e, q, W_k, W_v, W_l):
    u, w, alpha, y = _folded(e, q, W_k, W_v, W_l)
    return alpha.T @ w / len(q), (alpha * (y - (alpha * y).sum(1, keepdim=True))).T @ w / len(q)


@right("two_ways", "token by token, with differences of values")
def _(e, q, W_k, W_v, W_l):
    by_value, by_key = torch.zeros_like(e), torch.zeros_like(e)
    for i, t in itertools.product(range(len(q)), range(len(e))):
        k, v = e @ W_k[i].T, e @ W_v[i].T
        scores = k @ q[i] / math.sqrt(W_k.shape[1])
        alpha = (scores - scores.logsumexp(0)).exp()
        by_value[t] += alpha[t] * (W_l[i] @ W_v[i]) / len(q)
        by_key[t] += alpha[t] * ((v[t] - alpha @ v) @ W_l[i]) * (q[i] @ W_k[i]) / math.sqrt(W_k.shape[1]) / len(q)
    return by_value, by_key


@right("two_ways", "the whole matrix of derivatives of a softmax")
def _(e, q, W_k, W_v, W_l):
    u, w, alpha, y = _folded(e, q, W_k, W_v, W_l)
    J = torch.diag_embed(alpha) - alpha[:, :, None] * alpha[:, None]      # (K, T, T)
    r = (J @ y[..., None])[..., 0] / W_k.shape[1] ** 0.5
    return torch.einsum("kt,kd->td", alpha, w) / len(q), torch.einsum("kt,kd->td", r, u) / len(q)


@right("two_ways", "pairs of tokens, and the root as a tensor in single precision")
def _(e, q, W_k, W_v, W_l):
    root, heads = torch.sqrt(torch.tensor(q.shape[1])), []
    for query, keys, values, last in zip(q, W_k, W_v, W_l, strict=True):
        weights = torch.outer(torch.ones(len(e)).to(e), torch.softmax((query @ keys @ e.T).div(root), dim=-1))
        gap = (e[:, None] - e[None]) @ (last @ values)                       # (T, T): y_t − y_s
        moved = (gap * weights * weights.T).sum(1) / root                    # α_t Σ_s α_s (y_t − y_s)
        heads.append(torch.stack([torch.outer(weights[0], last @ values), torch.outer(moved, query @ keys)]))
    return tuple(torch.stack(heads).mean(0))


# -- kept_law --------------------------------------------------------------------------------------------------------

@wrong("kept_law", "There are 2^d sets, too many to visit")
def _(p, m):
    d, total = len(p) - 1, np.zeros(len(p))
    for z in itertools.product((False, True), repeat=d):
        if not any(z[:m]):
            total[sum(z)] += p[sum(z)] / math.comb(d, sum(z))
    return total / total.sum()


@wrong("kept_law", "Three words by hand: write down the sets S")
def _(p, m):
    w = p * np.arange(len(p))[::-1] ** 2.0
    return w / w.sum()


@wrong("kept_law", "divide by what they add up to")
def _(p, m):
    return np.array([p[s] * math.comb(len(p) - 1 - s, m) for s in range(len(p))])


@wrong("kept_law", "math.comb and math.factorial know no end")
def _(p, m):
    d, first = len(p) - 1, np.append(1, np.cumprod(np.arange(1, len(p))))           # 0!, 1!, … in 64 bits
    w = np.array([p[s] * first[d - s] / first[d - s - m] if d - s >= m else 0.0 for s in range(d + 1)])
    return w / w.sum()


@right("kept_law", "one kept word after the other")
def _(p, m):
    d, law = len(p) - 1, np.array(p)
    for known in range(m):
        law = law * np.maximum(d - known - np.arange(d + 1), 0) / (d - known)
    return law / law.sum()


@right("kept_law", "numbers of sets of the words that stay")
def _(p, m):
    d = len(p) - 1
    ways = [p[s] * math.comb(d - s, m) if d - s >= m else 0.0 for s in range(d + 1)]
    return np.array([way / math.fsum(ways) for way in ways])


# -- best_line -------------------------------------------------------------------------------------------------------

def _table(scores, p):
    """Masks (2^d, d), their probabilities, scores (2^d,)."""
    d = scores.ndim
    Z = np.indices((2,) * d).reshape(d, -1).T
    return Z, np.array([p[d - sum(z)] / math.comb(d, sum(z)) for z in Z.tolist()]), scores.ravel()


@wrong("best_line", "One row for each of the 2^d masks, and d + 1 columns")
def _(scores, p):
    Z, pi, _ = _table(scores, p)
    return np.linalg.lstsq(np.sqrt(pi)[:, None] * Z, np.sqrt(pi) * scores, rcond=None)[0]


@wrong("best_line", "A ridge draws the line towards 0")
def _(scores, p):
    Z, pi, y = _table(scores, p)
    rows = np.column_stack([Z, np.ones(len(Z))])                          # with the ridge of assignment 07
    return np.linalg.solve((pi * rows.T) @ rows + np.eye(len(p)), (pi * y) @ rows)[:-1]


@wrong("best_line", "Print the table of masks beside their weights")
def _(scores, p):
    return np.array([scores.take(1, j).mean() for j in range(scores.ndim)])


@right("best_line", "expected values alone")
def _(scores, p):
    Z, pi, y = _table(scores, p)
    mean, mean_y = pi @ Z, pi @ y
    return np.linalg.solve((Z - mean).T @ (pi[:, None] * (Z - mean)), (Z - mean).T @ (pi * (y - mean_y)))


@right("best_line", "a division, for the matrix is v I + c 11ᵀ")
def _(scores, p):
    d, (Z, pi, y) = scores.ndim, _table(scores, p)
    s = np.arange(d + 1)
    one, two = p @ (d - s) / d, p @ ((d - s) * (d - s - 1)) / (d * (d - 1))
    r, v, c = (pi * y) @ Z - one * (pi @ y), one - two, two - one ** 2
    return (r - c * r.sum() / (v + d * c)) / v


# -- left_out --------------------------------------------------------------------------------------------------------

def _shares(s):
    g = np.exp(s - s.max())
    return g / g.sum()


@wrong("left_out", "lost when two scores are taken from each other")
def _(log_g, y, log_g_h, y_h):
    changed = np.where(np.eye(len(y), dtype=bool), log_g_h, log_g)
    told = np.where(np.eye(len(y), dtype=bool), y_h, y)
    return _shares(log_g) @ y - np.array([_shares(row) @ says for row, says in zip(changed, told)])


@wrong("left_out", "what may be taken from all logarithms first?")
def _(log_g, y, log_g_h, y_h):
    with np.errstate(all="ignore"):
        g, g_h = np.exp(log_g), np.exp(log_g_h)
        gone = ((g * y).sum() - g * y + g_h * y_h) / (g.sum() - g + g_h)
        return (g * (y - gone) - g_h * (y_h - gone)) / g.sum()


@wrong("left_out", "Take the example by hand")
def _(log_g, y, log_g_h, y_h):
    return _shares(log_g) * y.mean() - _shares(log_g_h) * y_h


@wrong("left_out", "expected a NumPy array")
def _(log_g, y, log_g_h, y_h):
    return float(_shares(log_g) @ y - _shares(log_g_h) @ y_h)


@wrong("left_out", "The logarithm of what the others weigh together")
def _(log_g, y, log_g_h, y_h):
    lost = []
    for j in range(len(y)):
        rest = math.log(np.exp(np.delete(log_g, j)).sum())
        m = _shares(np.delete(log_g, j)) @ np.delete(y, j)
        a, b = (math.exp(s[j] - np.logaddexp(s[j], rest)) for s in (log_g, log_g_h))
        lost.append(a * (y[j] - m) - b * (y_h[j] - m))
    return np.array(lost)


@wrong("left_out", "Begin with the others alone, which do not hold token j")
def _(log_g, y, log_g_h, y_h):
    rows = np.where(np.eye(len(y), dtype=bool), log_g_h, log_g)               # (T, T)
    A = np.exp(rows - rows.max(1, keepdims=True))
    gone = (A * np.where(np.eye(len(y), dtype=bool), y_h, y)).sum(1) / A.sum(1)
    g, g_h = np.exp(log_g - log_g.max()), np.exp(log_g_h - log_g.max())
    return (g * (y - gone) - g_h * (y_h - gone)) / g.sum()


@right("left_out", "all tokens at once, by the odds of each against the others")
def _(log_g, y, log_g_h, y_h):
    s = np.where(np.eye(len(y), dtype=bool), -np.inf, log_g)                  # (T, T): row j without token j
    rest = np.logaddexp.reduce(s, axis=1)
    m = np.exp(s - rest[:, None]) @ y
    a, b = (1 / (1 + np.exp(np.clip(rest - own, -700, 700))) for own in (log_g, log_g_h))
    return a * (y - m) - b * (y_h - m)


@right("left_out", "two softmaxes for each token, and the mean of the others")
def _(log_g, y, log_g_h, y_h):
    lost = []
    for j in range(len(y)):
        there, new = _shares(log_g), log_g.copy()
        new[j] = log_g_h[j]
        others = np.array([t != j for t in range(len(y))])
        m = _shares(log_g[others]) @ y[others]
        lost.append(there[j] * (y[j] - m) - _shares(new)[j] * (y_h[j] - m))
    return np.array(lost)


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _drawn(seed, d=4):
    """The scores of a softmax head on all masks, (2,)·d."""
    draw = np.random.default_rng(seed)
    g, y = np.exp(draw.normal(size=d)), draw.normal(size=d)
    z = np.indices((2,) * d)
    return np.tensordot(g * y, z, 1) / (1 + np.tensordot(g, z, 1))


@wrong("my_experiment", "A form is the function itself, without quotes")
def _(seed):
    form = "centred"
    return _drawn(seed).mean(), form(_drawn(seed)).mean()


@wrong("my_experiment", "[CLS], place 0, is never replaced")
def _(seed):
    parts = [times * np.random.default_rng(seed).normal(size=3) for times in (1, 3)]
    assert parts[0][0] == parts[1][0], "change [CLS] in both"           # as `off` has it
    return tuple(part.mean() for part in parts)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    return tuple(_drawn(None).max() * times for times in (1, 2))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    return tuple(_drawn(seed).mean() for _ in range(2))


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return _drawn(seed).mean()


@wrong("my_experiment", "its four arrays of one length, and perhaps a law of d + 1 numbers")
def _(seed):
    return 0.0, float((np.zeros(4 + seed) @ np.zeros(3)).sum())


@right("my_experiment", "the law of the masks")
def _(seed):
    laws = np.append(0, np.full(4, 1 / 4)), np.array([1, 4, 6, 4, 1]) / 16
    return [np.abs(best_line(_drawn(seed), p)).sum() for p in laws]


@right("my_experiment", "twice the score of all words, as tensors")
def _(seed):
    scores = _drawn(seed)
    return torch.tensor(scores[1, 1, 1, 1]), torch.tensor(2 * scores[1, 1, 1, 1])


# -- mean_score ------------------------------------------------------------------------------------------------------

def _integral(g, y, h, y_h, p, u, divide=False):
    lam = np.exp(u)[:, None]
    on, off = p * np.exp(-lam * g), (1 - p) * np.exp(-lam * h)
    F = on + off
    others = [F.prod(1) / F[:, t] if divide else np.delete(F, t, 1).prod(1) for t in range(len(g))]
    return float((lam * (on * g * y + off * h * y_h) * np.transpose(others)).sum() * (u[1] - u[0]))


def _whole_range(g, h):
    return np.arange(math.log(1e-18 / np.maximum(g, h).sum()), math.log(45 / np.minimum(g, h).sum()), 0.15)


@wrong("mean_score", "There are 2^T documents, too many to visit")
def _(g, y, g_h, y_h, p):
    total = 0.0
    for z in itertools.product((0, 1), repeat=len(g)):
        z = np.array(z)
        weight = np.where(z, g, g_h)
        total += np.where(z, p, 1 - p).prod() * (weight @ np.where(z, y, y_h)) / weight.sum()
    return float(total)


@wrong("mean_score", "Multiply those of the *other* tokens")
def _(g, y, g_h, y_h, p):
    with np.errstate(all="ignore"):
        return _integral(g, y, g_h, y_h, p, _whole_range(g, g_h), divide=True)


@wrong("mean_score", "λ counts in units of 1/D")
def _(g, y, g_h, y_h, p):
    return _integral(g, y, g_h, y_h, p, np.arange(-30, 5, 0.2))


@wrong("mean_score", "Near, but not exact")
def _(g, y, g_h, y_h, p):
    return _integral(g, y, g_h, y_h, p, np.arange(math.log(1e-3 / np.maximum(g, g_h).sum()), 4, 0.2))


@wrong("mean_score", "Take all p as 0 or 1 first")
def _(g, y, g_h, y_h, p):
    return float((p * g * y / g.sum() + (1 - p) * g_h * y_h / g_h.sum()).sum())


@right("mean_score", "a pair that grows token by token: the product, and its part with N")
def _(g, y, g_h, y_h, p):
    lam = np.exp(_whole_range(g, g_h))
    product, with_N = np.ones_like(lam), np.zeros_like(lam)
    for gt, yt, ht, vt, pt in zip(g, y, g_h, y_h, p):
        on, off = pt * np.exp(-lam * gt), (1 - pt) * np.exp(-lam * ht)
        with_N = with_N * (on + off) + product * (on * gt * yt + off * ht * vt)
        product = product * (on + off)
    return float((lam * with_N).sum() * 0.15)


@right("mean_score", "a law of D on both sides of the last token")
def _(g, y, g_h, y_h, p):
    u = _whole_range(g, g_h)
    lam = np.exp(u)[:, None]
    F = p * np.exp(-lam * g) + (1 - p) * np.exp(-lam * g_h)
    nu = p * np.exp(-lam * g) * g * y + (1 - p) * np.exp(-lam * g_h) * g_h * y_h
    before = np.cumprod(np.hstack([np.ones_like(lam), F[:, :-1]]), 1)
    behind = np.cumprod(np.hstack([np.ones_like(lam), F[:, :0:-1]]), 1)[:, ::-1]
    return float(np.trapezoid((lam * nu * before * behind).sum(1), u))


# -- shapley ---------------------------------------------------------------------------------------------------------

def _by_nodes(g, y, g_h, y_h, nodes, weights, words=None):
    spot = np.eye(len(g), dtype=bool)
    return np.array([sum(w * (mean_score(g, y, g_h, y_h, np.where(spot[j], 1.0, p))
                              - mean_score(g, y, g_h, y_h, np.where(spot[j], 0.0, p)))
                         for p, w in zip(nodes, weights)) for j in words or range(len(g))])


@wrong("shapley", "There are T! orders, too many to walk")
def _(g, y, g_h, y_h):
    phi = np.zeros(len(g))
    for order in map(list, itertools.permutations(range(len(g)))):
        for i, j in enumerate(order):
            there = [np.isin(range(len(g)), order[:n]) * 1.0 for n in (i + 1, i)]
            phi[j] += np.subtract(*(mean_score(g, y, g_h, y_h, p) for p in there)) / math.factorial(len(g))
    return phi


@wrong("shapley", "which rule integrates it without any error")
def _(g, y, g_h, y_h):
    return _by_nodes(g, y, g_h, y_h, (np.arange(5) + 0.5) / 5, np.full(5, 0.2))


@wrong("shapley", "leggauss wants one node at least")
def _(g, y, g_h, y_h):
    nodes, weights = np.polynomial.legendre.leggauss(len(g) // 2)
    return _by_nodes(g, y, g_h, y_h, (nodes + 1) / 2, weights / 2)


@wrong("shapley", "Two tokens by hand, four documents")
def _(g, y, g_h, y_h):
    return 2 * (g * y / g.sum() - g_h * y_h / g_h.sum())


@right("shapley", "as many nodes as tokens")
def _(g, y, g_h, y_h):
    nodes, weights = np.polynomial.legendre.leggauss(len(g))
    return _by_nodes(g, y, g_h, y_h, (nodes + 1) / 2, weights / 2)


@right("shapley", "a polynomial through T points, and its integral")
def _(g, y, g_h, y_h):
    T = len(g)
    p = 0.5 + 0.5 * np.cos(np.pi * (np.arange(T) + 0.5) / T)
    phi = np.zeros(T)
    for j in range(T):
        effect = [_by_nodes(g, y, g_h, y_h, [share], [1.0], [j])[0] for share in p]
        integral = np.polynomial.Chebyshev.fit(p, effect, T - 1, domain=[0, 1]).integ()
        phi[j] = integral(1) - integral(0)
    return phi


# -- fails -----------------------------------------------------------------------------------------------------------

@wrong("fails", "three lists of one length and three numbers")
def _():
    return 0.01, 0.0099, 1


@wrong("fails", "none below 0; together they are 1")
def _():
    return [0.01, -0.01], [0.0098, 0.01], [1.5, -0.5], 0.0098, 0.01, 1


@wrong("fails", "Y never changes here")
def _():
    return [0.01, -0.01], [0.01, 0.01], [0.5, 0.5], 0.01, 0.01, 1


@wrong("fails", "An example counts if what the lemma assumes is true of it")
def _():
    return [1.0, -1.0], [0.0098, 0.01], [0.5, 0.5], 0.0098, 0.01, 1


@wrong("fails", "divide every x, every y, c and C by 10")
def _():
    return [1.0, -1.0], [1.0, 2.0], [0.5, 0.5], 1.0, 2.0, 1


@wrong("fails", "The inequality fails here already. Now make it fail by more.")
def _():
    return [0.05, -0.05], [0.04, 0.05], [0.5, 0.5], 0.04, 0.05, 1


@right("fails", "three values, in arrays")
def _():
    C = 1e-6
    return C * np.array([1, 0, -1]), 1000 * C * np.array([0.98, 0.99, 1]), np.full(3, 1 / 3), 0.98 * C, C, 1000


@right("fails", "rare, and X one-sided")
def _():
    return (1e-5, 0.0), (0.999e-5, 1e-5), (0.25, 0.75), 0.999e-5, 1e-5, 1


# -- from_pairs ------------------------------------------------------------------------------------------------------

def _odd(differences):
    """Scores, shape (2,)·d, of a function whose pairs differ so: half on the one side, half taken away on the other."""
    return np.stack([-np.flip(differences), differences]) / 2


def _walked(differences):
    scores, d = _odd(differences), differences.ndim + 1
    phi = np.zeros(d)
    for z in itertools.product((0, 1), repeat=d):
        for j in range(d):
            if not z[j]:
                share = 1 / (d * math.comb(d - 1, sum(z)))
                phi[j] += share * (scores[z[:j] + (1,) + z[j + 1:]] - scores[z])
    return phi


@wrong("from_pairs", "Three words by hand: write down the six orders")
def _(differences):
    return np.full(differences.ndim + 1, differences.mean())


@wrong("from_pairs", "is a weight asked for a set of no words?")
def _(differences):
    d, phi = differences.ndim + 1, np.zeros(differences.ndim + 1)
    for rest in np.ndindex(differences.shape):
        s = 1 + sum(rest)
        inside, outside = 1 / (d * math.comb(d - 1, s - 1)), 1 / (d * math.comb(d - 1, d - s - 1))
        phi += differences[rest] * np.where([1, *rest], inside, -outside)
    return phi


@wrong("from_pairs", "it changes what it is given: `differences`")
def _(differences):
    differences /= 2
    return _walked(2 * differences)


@wrong("from_pairs", "expected a NumPy array")
def _(differences):
    return list(_walked(differences))


@right("from_pairs", "the definition, on a function that is odd")
def _(differences):
    return _walked(differences)


@right("from_pairs", "a table of all subsets with word 0, times weights")
def _(differences):
    d = differences.ndim + 1
    masks = np.indices(differences.shape).reshape(d - 1, 2 ** (d - 1)).T
    kept = np.hstack([np.ones((len(masks), 1)), masks])
    size = np.where(kept == 1, kept.sum(1, keepdims=True), d - kept.sum(1, keepdims=True)).astype(int)
    share = np.vectorize(lambda s: 1 / (s * math.comb(d, s)))(size)                   # each is at least 1
    return differences.ravel() @ ((2 * kept - 1) * share)


@right("from_pairs", "word after word, by means over sizes")
def _(differences):
    d, scores = differences.ndim + 1, _odd(differences)
    sizes = np.indices(scores.shape).sum(0)
    values = []
    for j in range(d):
        with_j, size = scores.take(1, j).ravel(), sizes.take(1, j).ravel()
        without, less = scores.take(0, j).ravel(), sizes.take(0, j).ravel()
        values.append(np.mean([with_j[size == s + 1].mean() - without[less == s].mean() for s in range(d)]))
    return np.array(values)
