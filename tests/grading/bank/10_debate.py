"""Assignment 10: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import itertools
import math

import numpy as np
import torch

from coursekit.debate.permuted import js_divergence
from tests.grading.bank.entries import right, wrong

js = tau = None                         # the tests put the solutions here


# -- js --------------------------------------------------------------------------------------------------------------

def _by_entropies(P, q):
    def entropy(p):
        return -(p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(-1)
    q = q / q.sum()
    return entropy((P + q) / 2) - entropy(P) / 2 - entropy(q) / 2


@wrong("js", "leave out the places where a weight is 0")
def _(P, q):
    def kl(p, m):
        return sum(a * math.log(a / b) for a, b in zip(p.tolist(), m.tolist()))
    rows, q = P / P.sum(1, keepdims=True), q / q.sum()
    return np.array([(kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2 for p in rows])


@wrong("js", "0 · log 0 is nan in NumPy")
def _(P, q):
    p, q = P / P.sum(1, keepdims=True), q / q.sum()
    m = (p + q) / 2
    with np.errstate(all="ignore"):
        return ((p * np.log(p / m)).sum(1) + (q * np.log(q / m)).sum(1)) / 2


@wrong("js", "Which of these is not what you get?")
def _(P, q):
    p, q = P / P.sum(1, keepdims=True), q / q.sum()
    m = (p + q) / 2
    return sum((one * np.log((one + 1e-3) / (m + 1e-3))).sum(1) for one in (p, q)) / 2


@wrong("js", "calls coursekit.debate.js_divergence, which is the step")
def _(P, q):
    return js_divergence(torch.from_numpy(P), torch.from_numpy(q)).numpy()


@wrong("js", "it changes what it is given: `P`")
def _(P, q):
    P /= P.sum(1, keepdims=True)
    return _by_entropies(P, q)


@wrong("js", "One number came back, and one for each row of P is due")
def _(P, q):
    return float(_by_entropies(P / P.sum(-1)[:, None], q)[0])


@right("js", "entropies: that of the middle, less the mean of both")
def _(P, q):
    return _by_entropies(P / P.sum(-1)[:, None], q)


@right("js", "one row after the other, a grain of salt under the logarithms")
def _(P, q):
    found = []
    for p in P:
        p, r = p / sum(p), q / sum(q)
        m = (p + r) / 2 + 1e-15
        found.append(np.sum(p * np.log((p + 1e-15) / m) + r * np.log((r + 1e-15) / m)) / 2)
    return np.array(found)


# -- shuffled --------------------------------------------------------------------------------------------------------

@wrong("shuffled", "Thirty tokens have 30! orders")
def _(alpha, y):
    n, total, squares = 0, 0.0, 0.0
    for order in itertools.permutations(alpha):
        f = sum(a * b for a, b in zip(order, y))
        n, total, squares = n + 1, total + f, squares + f * f
    return float(total / n), math.sqrt(max(squares / n - (total / n) ** 2, 0.0))


@wrong("shuffled", "Near, as a sample of orders is")
def _(alpha, y):
    draw = np.random.default_rng(0)
    scores = [draw.permutation(alpha) @ y for _ in range(1000)]
    return float(np.mean(scores)), float(np.std(scores))


@wrong("shuffled", "One token has one order")
def _(alpha, y):
    T = np.float64(len(y))
    with np.errstate(all="ignore"):
        return y.mean(), T * alpha.std() * y.std() / np.sqrt(T - 1)


@wrong("shuffled", "Their mean is 3. And their standard deviation?")
def _(alpha, y):
    return float(y.mean()), float(y.std())


@right("shuffled", "the two standard deviations as statistics has them, and the root of T − 1")
def _(alpha, y):
    T = len(y)
    return sum(y) / T, alpha.std(ddof=1) * y.std(ddof=1) * (T - 1) ** 0.5 if T > 1 else 0


@right("shuffled", "pairs of tokens, same and mixed")
def _(alpha, y):
    T, a, b = len(y), alpha - alpha.mean(), y - y.mean()
    same, others = np.outer(b, b).trace(), np.outer(b, b).sum() - np.outer(b, b).trace()
    mixed = -np.mean(a ** 2) / max(T - 1, 1)
    return np.mean(y), np.sqrt(max(np.mean(a ** 2) * same + mixed * others, 0.0))


# -- tau -------------------------------------------------------------------------------------------------------------

def _with(order, alpha, scores, orders):
    sizes = np.abs(scores)
    found = order(alpha, sizes)
    return float(found), float(np.mean([order(alpha[one], sizes) >= found for one in orders]))


def _signs(a):
    s = np.sign(np.subtract.outer(a, a)[np.triu_indices(len(a), 1)])
    return s / np.sqrt(np.count_nonzero(s))


@wrong("tau", "Which of the six pairs do the weights order as the sizes do?")
def _(alpha, scores, orders):
    def ranks(x):
        return x.argsort().argsort()
    return _with(lambda a, b: np.corrcoef(ranks(a), ranks(b))[0, 1] / 2, alpha, scores, orders)


@wrong("tau", "That is Spearman's correlation, of ranks")
def _(alpha, scores, orders):
    def ranks(x):
        return np.array([((x < one).sum() + (x <= one).sum()) / 2 for one in x])
    return _with(lambda a, b: np.corrcoef(ranks(a), ranks(b))[0, 1], alpha, scores, orders)


@wrong("tau", "Of each pair of tokens τ asks only which is larger")
def _(alpha, scores, orders):
    return _with(lambda a, b: np.corrcoef(a, b)[0, 1], alpha, scores, orders)


@wrong("tau", "rounding tells equal ones apart")
def _(alpha, scores, orders):
    return _with(lambda a, b: _signs(a) @ _signs(b) + 1e-12 * a @ np.arange(len(a)), alpha, scores, orders)


@right("tau", "pair by pair")
def _(alpha, scores, orders):
    def kendall(a, b):
        both, one, other = 0, 0, 0
        for i, j in itertools.combinations(range(len(a)), 2):
            x, z = (a[i] > a[j]) - 1.0 * (a[i] < a[j]), (b[i] > b[j]) - 1.0 * (b[i] < b[j])
            both, one, other = both + x * z, one + x * x, other + z * z
        return both / (one * other) ** 0.5
    return list(_with(kendall, alpha, scores, orders))


@right("tau", "two vectors of signs, each divided by its length")
def _(alpha, scores, orders):
    found, *others = (_signs(a) @ _signs(np.abs(scores)) for a in (alpha, *alpha[orders]))
    return found, np.mean(np.array(others) > found - 1e-9)


# -- flips -----------------------------------------------------------------------------------------------------------

@wrong("flips", "Twenty-five tokens have 33 million sets")
def _(alpha, y):
    s, T = np.sign(alpha @ y), len(y)

    def count(order):
        return next((j for j in range(1, T) if s * (alpha * y)[order[j:]].sum() < 0), T)
    sets = (gone for j in range(1, T) for gone in itertools.combinations(range(T), j)
            if s * np.delete(alpha * y, gone).sum() < -1e-12)
    return count(np.argsort(-alpha, kind="stable")), count(np.argsort(-s * y, kind="stable")), len(next(sets, [0] * T))


@wrong("flips", "What is left without the token with the largest weight")
def _(alpha, y):
    return len(y) // 2 + 1, 2, 1


@right("flips", "running sums from the end, and the gradient of what is divided")
def _(alpha, y):
    T, f = len(y), alpha @ y
    s = 1 if f > 0 else -1

    def count(key):
        order = sorted(range(T), key=lambda t: -key[t])
        left = np.cumsum((s * alpha * y)[order][::-1])[::-1]                      # of the tokens from j on
        gone = np.flatnonzero(left < 0)
        return int(gone[0]) if len(gone) else T
    return [count(key) for key in (alpha, s * (y - f), s * alpha * y)]


@right("flips", "with the division, token by token")
def _(alpha, y):
    was = alpha @ y > 0

    def count(key):
        weights = alpha.copy()
        for j, t in enumerate(np.argsort(-key, kind="mergesort")[:-1]):
            weights[t] = 0
            if (weights / weights.sum() @ y > 0) != was:
                return np.int64(j + 1)
        return len(y)
    return count(alpha), count(y if was else -y), count(alpha * y if was else -alpha * y)


# -- farthest --------------------------------------------------------------------------------------------------------

def _mixed(alpha, y, low, high, share, allowed, singles=True):
    T = len(y)
    rows = [np.eye(T)[t] for t in range(T) if low <= y[t] <= high and singles]
    for i, j, bound in ((i, j, bound) for i in range(T) for j in range(i) for bound in (low, high)):
        x = share(bound - y[j], y[i] - y[j])
        if allowed(x):
            row = np.zeros(T)
            row[[i, j]] = x, 1 - x
            rows.append(row)
    return np.array(rows)


def _far(rows, alpha):
    d = js(rows, alpha)
    return rows[d.argmax()], float(d.max())


@wrong("farthest", "Two tokens with one y say that y in any mixture")
def _(alpha, y, low, high):
    return _far(_mixed(alpha, y, low, high, lambda a, b: float(a) / float(b), lambda x: 0 <= x <= 1), alpha)


@wrong("farthest", "Divided by 0")
def _(alpha, y, low, high):
    with np.errstate(all="ignore"):
        return _far(_mixed(alpha, y, low, high, np.divide, lambda x: 0 <= x <= 1 or not math.isfinite(x)), alpha)


@wrong("farthest", "These are no weights")
def _(alpha, y, low, high):
    with np.errstate(all="ignore"):
        rows = _mixed(alpha, y, low, high, np.divide, lambda x: math.isfinite(x))
        return (rows[np.abs(rows).sum(1).argmax()] if len(rows) else alpha), 0.5


@wrong("farthest", "With these weights the score is outside of the bounds")
def _(alpha, y, low, high):
    weights = np.eye(len(y))[y.argmax()] * 0.9 + alpha * 0.1
    return weights, float(js(weights[None], alpha)[0])


@wrong("farthest", "The weights are right, and the divergence is not theirs")
def _(alpha, y, low, high):
    with np.errstate(all="ignore"):
        weights, far = _far(_mixed(alpha, y, low, high, np.divide, lambda x: 0 <= x <= 1), alpha)
    return weights, math.sqrt(far)


@wrong("farthest", "list all your candidates: there are two pairs for each bound")
def _(alpha, y, low, high):
    return alpha, 0.0


@right("farthest", "a table of all pairs at once, for each bound")
def _(alpha, y, low, high):
    T, rows = len(y), [np.eye(len(y))[(y >= low) & (y <= high)]]
    for bound in (low, high):
        with np.errstate(all="ignore"):
            x = (bound - y) / (y[:, None] - y)                                    # (T, T): share of i beside j
        i, j = np.nonzero((x >= 0) & (x <= 1))
        rows.append(x[i, j][:, None] * np.eye(T)[i] + (1 - x[i, j])[:, None] * np.eye(T)[j])
    return _far(np.vstack(rows), alpha)


@right("farthest", "a lower and an upper token, the nearer bound's share to each")
def _(alpha, y, low, high):
    found = []
    for i, j in itertools.product(range(len(y)), repeat=2):
        for bound in (low, high):
            if y[i] <= bound <= y[j] and y[i] < y[j] or i == j and low <= y[i] <= high:
                part = 0.0 if i == j else (bound - y[i]) / (y[j] - y[i])
                weights = [0.0] * len(y)
                weights[i] += 1 - part
                weights[j] += part
                found.append((float(js(np.array([weights]), alpha)[0]), weights))
    distance, weights = max(found)
    return np.array(weights), distance


# -- opposite --------------------------------------------------------------------------------------------------------

FIRST, SECOND = ["great", "bad", "plot", "film", "the"], ["awful", "but", "not", "fine", "plot"]
LIKE_FIRST = ["awful", "bad", "dull", "plot", "the"]                # τ = 0.8, and no adversary gets far


@wrong("opposite", "text.split() makes a list of a text")
def _():
    return " ".join(FIRST), " ".join(SECOND)


@wrong("opposite", "They are opposed, and have changed places")
def _():
    return SECOND, FIRST


@wrong("opposite", "which word keeps it from that?")
def _():
    return LIKE_FIRST, SECOND


@wrong("opposite", "what can take its place?")
def _():
    return "the plot fine good great dull bad".split(), "not but good perfect dull".split()


@wrong("opposite", "One of them has more attention than effect")
def _():
    return ["the", "film", "not", "good", "perfect"], SECOND


@wrong("opposite", "let those with the larger |y| have the smaller weight")
def _():
    return FIRST, LIKE_FIRST


@right("opposite", "six words, and other ones")
def _():
    return "the film fine great dull bad".split(), "not but good perfect awful".split()


@right("opposite", "found by a search, one document after the other, tuples")
def _():
    return [("the", "plot", "fine", "good", "great", "dull", "bad"), ("but", "good", "perfect", "dull", "awful")]


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _head(seed, T=12):
    draw = np.random.default_rng(seed)
    alpha = draw.random(T) ** 2
    return alpha / alpha.sum(), draw.normal(size=T)


def _agreement(alpha, y):
    return tau(alpha, y, np.arange(len(y))[None])[0]


@wrong("my_experiment", "A part of a review is a part of both")
def _(seed):
    alpha, y = _head(seed)
    return alpha @ y, alpha[:6] / alpha[:6].sum() @ y


@wrong("my_experiment", "is a list of six pairs (alpha, y)")
def _(seed):
    alpha, y = [_head(seed)] * 6
    return alpha @ y, abs(alpha @ y)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    alpha, y = _head(seed)
    return _agreement(alpha, y), _agreement(np.random.permutation(alpha), y) + np.random.default_rng().normal()


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    alpha, y = _head(seed)
    return _agreement(alpha, y), _agreement(alpha / 2, y)


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return _agreement(*_head(seed))


@right("my_experiment", "the half with the largest weights, a list")
def _(seed):
    alpha, y = _head(seed)
    half = np.argsort(-alpha)[:6]
    return [_agreement(alpha, y), _agreement(alpha[half], y[half])]


@right("my_experiment", "a test of its own: two words exchange their weights, arrays with one entry")
def _(seed):
    alpha, y = _head(seed)
    other, draw = [], np.random.default_rng(seed)
    for i, j in (draw.choice(len(y), 2, replace=False), np.argsort(-alpha)[:2]):
        swapped = alpha.copy()
        swapped[[i, j]] = alpha[[j, i]]
        other.append(np.abs(swapped @ y - alpha @ y)[None])
    return tuple(other)


# -- effective -------------------------------------------------------------------------------------------------------

@wrong("effective", "BᵀB has no inverse")
def _(A, V):
    B = np.column_stack([V, np.ones(len(V))])
    return A @ B @ np.linalg.inv(B.T @ B) @ B.T, len(V) - B.shape[1]


@wrong("effective", "all values alike leave even weights")
def _(A, V):
    return A, len(V) - np.linalg.matrix_rank(np.column_stack([V, np.ones(len(V))]))


@wrong("effective", "int() cuts it: round it, or take a rank")
def _(A, V):
    B = np.column_stack([V, np.ones(len(V))])
    P = B @ np.linalg.pinv(B)
    return A @ P, int(len(V) - np.trace(P) - 1e-12 * (len(V) > 8))


@right("effective", "the shortest solution of least squares")
def _(A, V):
    B = np.c_[np.ones(len(V)), V]
    rows, _, rank, _ = np.linalg.lstsq(B.T, (A @ B).T, rcond=None)
    return rows.T, len(V) - rank


@right("effective", "the null space taken away")
def _(A, V):
    B = np.c_[V, np.ones(len(V))]
    U, size, _ = np.linalg.svd(B)
    null = U[:, (size > 1e-9).sum():]
    return A - A @ null @ null.T, null.shape[1]
