"""Assignment 09: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import itertools
import math

import numpy as np

from coursekit import explain
from tests.grading.bank.entries import right, wrong

recover = slopes = None                                 # the reference's, at test time


def _softmax(s):
    e = np.exp(np.asarray(s) - max(s))
    return e / e.sum()


# -- soft_score ------------------------------------------------------------------------------------------------------

def _in_part(document, presence, s, v, top):
    there = [(part, word) for part, word in zip(presence, document) if part]
    weights = [part * np.exp(s[word] - top(s[word] for _, word in there)) for part, word in there]
    return float(sum(w * v[word] for w, (_, word) in zip(weights, there)) / sum(weights)) if there else 0.0


@wrong("soft_score", "exp of a thousand is infinite")
def _(document, presence, s, v):
    with np.errstate(all="ignore"):
        return _in_part(document, presence, s, v, lambda there: max(s[word] for word in document))


@wrong("soft_score", "ask for that first. The score is 0 then")
def _(document, presence, s, v):
    top = max(s[word] for word, part in zip(document, presence) if part)
    return _in_part(document, presence, s, v, lambda there: top)


@wrong("soft_score", "Write the weights λ·e^s of the case as a list")
def _(document, presence, s, v):
    return _in_part(document, presence, s, v, max) / 2


@right("soft_score", "the logarithms of the presences, beside the importances")
def _(document, presence, s, v):
    logs = [(s[word] + math.log(part), v[word]) for word, part in zip(document, presence.tolist()) if part]
    top = max([log for log, _ in logs], default=0)
    total = math.fsum(math.exp(log - top) for log, _ in logs)
    return math.fsum(math.exp(log - top) * value for log, value in logs) / total if logs else 0


@right("soft_score", "arrays of the tokens that are there")
def _(document, presence, s, v):
    kept = np.flatnonzero(presence)
    if not len(kept):
        return 0.0
    a = np.array([s[document[i]] for i in kept]) + np.log(presence[kept])
    return (_softmax(a) * np.array([v[document[i]] for i in kept])).sum()


# -- recover ---------------------------------------------------------------------------------------------------------

def _found(words, eta):
    level = sum(eta.values()) / len(words)
    return {word: float(eta[word] - level) for word in words}


def _from_the_ends(ask, words):
    """The words with the smallest and the largest value first, all others beside whichever of the two differs."""
    v = {word: ask([word]) for word in words}
    low, *others, high = sorted(words, key=lambda word: v[word])

    def gap(a, b):
        F = ask([a, b])
        return math.log(abs(F - v[b])) - math.log(abs(v[a] - F))

    eta = {low: 0.0, high: gap(high, low)}
    for word in others:
        eta[word] = gap(word, low) if v[word] > (v[low] + v[high]) / 2 else gap(word, high) + eta[high]
    return _found(words, eta), v


@wrong("recover", "each word alone, and each word but one in one pair")
def _(ask, words):
    for a, b in itertools.combinations(words, 2):
        ask([a, b])
    return _from_the_ends(ask, words)


@wrong("recover", "say it together as well, whatever")
def _(ask, words):
    v, eta = {word: ask([word]) for word in words}, {words[0]: 0.0}
    for word in words[1:]:
        F = np.float64(ask([word, words[0]]))
        with np.errstate(all="ignore"):
            eta[word] = np.log((F - v[words[0]]) / (v[word] - F))
    return _found(words, eta), v


@wrong("recover", "Read the line of the error")
def _(ask, words):
    return {word: ask(word) for word in words}, {}


@wrong("recover", "And α is a function of s_k − s_r alone: which?")
def _(ask, words):
    return {word: 0.25 for word in words}, {word: ask([word]) for word in words}


def _beside(ask, words, chosen):
    """Each word measured from the reference that `chosen` picks of the two ends, or the other if they say the same."""
    v = {word: ask([word]) for word in words}
    ends = sorted(words, key=v.get)[::len(words) - 1]
    F = ask(ends)
    eta = {ends[0]: 0.0, ends[1]: math.log((F - v[ends[0]]) / (v[ends[1]] - F))}
    for word in words:
        r = chosen([end for end in ends if v[end] != v[word]], v, word)
        if word not in eta:
            F = ask([word, r])
            eta[word] = eta[r] + math.log((F - v[r]) / (v[word] - F))
    return eta, v


@wrong("recover", "Noise of 0.001 is a large part of a short way")
def _(ask, words):
    eta, v = _beside(ask, words, lambda ends, v, word: min(ends, key=lambda end: abs(v[end] - v[word])))
    return _found(words, eta), v


@right("recover", "from the two ends")
def _(ask, words):
    return _from_the_ends(ask, words)


@right("recover", "by the weight of the reference")
def _(ask, words):
    v = {word: ask((word,)) for word in words}
    far = sorted(words, key=v.get)[::len(words) - 1]
    eta = {far[0]: 0.0}
    for word in [far[1], *words]:
        base = max(far if far[1] in eta else far[:1], key=lambda one: abs(v[one] - v[word]))
        if word not in eta:
            alpha = (ask((base, word)) - v[base]) / (v[word] - v[base])
            eta[word] = eta[base] - np.log(1 / alpha - 1)
    return [_found(words, eta), v]


@wrong("recover", "two dictionaries, `{word: number, …}` each")
def _(ask, words):
    s, v = _from_the_ends(ask, words)
    return np.array([*s.values()]), np.array([*v.values()])


# -- best_values -----------------------------------------------------------------------------------------------------

def _rows(documents, s):
    words = list(s)
    A = np.zeros((len(documents), len(words)))
    for i, document in enumerate(documents):
        for weight, word in zip(_softmax([s[word] for word in document]), document):
            A[i, words.index(word)] += weight
    return A


def _with_loss(A, v, scores, s):
    return dict(zip(s, v.tolist())), ((A @ v - scores) ** 2).mean()


@wrong("best_values", "a column of zeros")
def _(documents, scores, s):
    A = _rows(documents, s)
    return _with_loss(A, np.linalg.solve(A.T @ A, A.T @ scores), scores, s)


@wrong("best_values", "do the weights of its words add up to 1")
def _(documents, scores, s):
    A = _rows(documents, s) ** 2
    return _with_loss(A, np.linalg.lstsq(A, scores, rcond=None)[0], scores, s)


@wrong("best_values", "A word counts with e^s")
def _(documents, scores, s):
    A = np.array([[document.count(word) * s[word] for word in s] for document in documents])
    with np.errstate(all="ignore"):
        A = A / A.sum(1, keepdims=True)
    return _with_loss(A, np.linalg.lstsq(A, scores, rcond=None)[0], scores, s)


@right("best_values", "the pseudo-inverse")
def _(documents, scores, s):
    A = _rows(documents, s)
    return _with_loss(A, np.linalg.pinv(A) @ scores, scores, s)


@right("best_values", "normal equations of the words that occur")
def _(documents, scores, s):
    A = _rows(documents, s)
    there = np.flatnonzero(A.any(0))
    v = np.zeros(len(s))
    v[there] = np.linalg.solve(A[:, there].T @ A[:, there], A[:, there].T @ scores)
    return dict(zip(s, map(float, v))), float(np.linalg.norm(A @ v - scores) ** 2 / len(scores))


# -- slopes ----------------------------------------------------------------------------------------------------------

@wrong("slopes", "is 0 here, or has lost its digits")
def _(s, v):
    alpha = _softmax(s)
    pull = alpha * (v - alpha @ v)
    with np.errstate(all="ignore"):
        return pull, np.where(len(s) > 1, pull / (1 - alpha), v), alpha * v


@wrong("slopes", "Is the largest importance taken away first")
def _(s, v):
    with np.errstate(all="ignore"):
        alpha = np.exp(s) / np.exp(s).sum()
    lost = [alpha @ v - (_softmax(np.delete(s, i)) @ np.delete(v, i) if len(s) > 1 else 0.0) for i in range(len(s))]
    return alpha * (v - alpha @ v), np.array(lost), alpha * v


@wrong("slopes", "and what is F without the token?")
def _(s, v):
    alpha = _softmax(s)
    return alpha * (v - alpha @ v), alpha ** 2 * v, alpha * v


def _by_steps(s, v, h):
    alpha = _softmax(s)
    F = alpha @ v
    lost = [F - (_softmax(np.delete(s, i)) @ np.delete(v, i) if len(s) > 1 else 0.0) for i in range(len(s))]
    return ((F + h * alpha * v) / (1 + h * alpha) - F) / h, np.array(lost), alpha * v


@wrong("slopes", "is it the change of F over a small step?")
def _(s, v):
    return _by_steps(s, v, 1e-4)


@wrong("slopes", "is it the change of F over a small step?")
def _(s, v):
    return _by_steps(s, v, 1e-7)


@right("slopes", "sums over pairs, and the others' share of what a token says against them")
def _(s, v):
    alpha = _softmax(s)
    rest = [_softmax(np.delete(s, i)) @ np.delete(v, i) if len(s) > 1 else 0.0 for i in range(len(s))]
    pull = [sum(alpha[i] * alpha[j] * (v[i] - v[j]) for j in range(len(s))) for i in range(len(s))]
    return [np.array(pull), alpha * (v - rest), alpha * v]


@right("slopes", "the matrix of derivatives of a softmax, and logarithms with holes")
def _(s, v):
    alpha = _softmax(s)
    logs = np.tile(s, (len(s), 1))
    logs[np.diag_indices(len(s))] = -np.inf
    e = np.exp(logs - np.where(len(s) > 1, logs.max(1, keepdims=True), 0.0))
    lost = alpha @ v - (e @ v) / np.maximum(e.sum(1), 1e-300)
    return (np.diag(alpha) - np.outer(alpha, alpha)) @ v, lost, v * alpha


# -- by_size ---------------------------------------------------------------------------------------------------------

def _F(s, v, S):
    return _softmax(s[S]) @ v[S] if len(S) else 0.0


@wrong("by_size", "Do you go through the 9! orders?", at_once=False)
def _(s, v):
    n = len(s)
    table = np.zeros((n, n))
    for order in itertools.permutations(range(n)):
        for k, i in enumerate(order):
            table[i, k] += (_F(s, v, list(order[:k + 1])) - _F(s, v, list(order[:k]))) / math.factorial(n - 1)
    return table, table.mean(1)


@wrong("by_size", "nothing is left of the empty set, 0/0")
def _(s, v):
    e, table = np.exp(s), np.zeros((len(s), len(s)))
    for i in range(len(s)):
        with np.errstate(all="ignore"):
            table[i] = v[i] - (e[:0] @ v[:0]) / e[:0].sum()
    return table, table.mean(1)


@wrong("by_size", "what does the first add to nothing, and what to the other one?")
def _(s, v):
    table = np.outer(v, np.ones(len(s))) / 2
    return table, table.mean(1)


@right("by_size", "all masks in one table")
def _(s, v):
    n, e = len(s), np.exp(s - s.max())
    Z = np.array(list(itertools.product((0, 1), repeat=n)))
    F = (Z * e) @ v / np.maximum((Z * e).sum(1), 1e-300)
    table = np.zeros((n, n))
    for i in range(n):
        off = np.flatnonzero(Z[:, i] == 0)
        gain = F[off + 2 ** (n - 1 - i)] - F[off]
        table[i] = [gain[Z[off].sum(1) == k].mean() for k in range(n)]
    return table, table.mean(1)


@right("by_size", "from set to set by one more token, and Shapley's weights")
def _(s, v):
    n = len(s)
    table, phi = np.zeros((n, n)), np.zeros(n)
    for bits in range(2 ** n):
        S = [j for j in range(n) if bits >> j & 1]
        k = len(S)
        for i in set(range(n)) - set(S):
            e, f = np.exp(s[i] - max([*s[S], s[i]])), np.exp(s[S] - max([*s[S], s[i]]))
            gain = e / (e + f.sum()) * (v[i] - _F(s, v, S))
            table[i, k] += gain / math.comb(n - 1, k)
            phi[i] += gain * math.factorial(k) * math.factorial(n - 1 - k) / math.factorial(n)
    return table, phi


# -- disagree --------------------------------------------------------------------------------------------------------

@wrong("disagree", "Return a list of words: text.split() makes one of a text")
def _():
    return "bad terrible terrible terrible"


@wrong("disagree", "Words of the table, as often as you like")
def _():
    return ["bad"] + ["terrible"] * 8


@wrong("disagree", "Words of the table, as they are written there")
def _():
    return ["good", "Bad"]


@wrong("disagree", "no word has a coefficient of the other sign than its value")
def _():
    return ["good", "film"]


@wrong("disagree", "this word says too little on its own")
def _():
    return "not terrible terrible".split()


@wrong("disagree", "What must be around it, and how often?")
def _():
    return ["great", "perfect", "perfect", "perfect"]


@right("disagree", "a good word among better ones")
def _():
    return "good perfect perfect perfect perfect".split()


@right("disagree", "a bad word among worse ones")
def _():
    return "terrible", "bad", "terrible", "terrible", "terrible", "terrible"


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _noisy(seed, size=0.01):
    draw = np.random.default_rng(seed)
    return lambda words: {"a": 1.0, "b": -1.0, "ab": 0.5}["".join(sorted(words))] + size * draw.normal()


@wrong("my_experiment", "a dictionary stands among the two numbers")
def _(seed):
    return recover(_noisy(seed), ["a", "b"])


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    return tuple(recover(_noisy(None, size), ["a", "b"])[0]["a"] for size in (0.01, 0.1))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    return tuple(recover(_noisy(seed), ["a", "b"])[0]["a"] for _ in range(2))


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return recover(_noisy(seed), ["a", "b"])[0]["a"]


@wrong("my_experiment", "then there is no logarithm. That is a finding, too")
def _(seed):
    return tuple(math.log(1 - size) for size in (0.001, 1 + seed))


@right("my_experiment", "ten times the noise")
def _(seed):
    return tuple(recover(_noisy(seed, size), ["a", "b"])[0]["a"] for size in (0.001, 0.01))


@right("my_experiment", "no noise: how often two numbers of a token have different signs, in longer documents")
def _(seed):
    def share(n):
        draw = np.random.default_rng(seed)
        found = [slopes(draw.normal(size=n), 0.5 + draw.normal(size=n)) for _ in range(100)]
        return np.mean([derivative * printed < 0 for derivative, _, printed in found])
    return share(10), share(20)


@right("my_experiment", "a list of whole numbers, alike for most seeds")
def _(seed):
    return [0, int(seed == 2)]


# -- shapley ---------------------------------------------------------------------------------------------------------

def _by_nodes(s, v, n_nodes):
    """With all nodes, all λ and all tokens in one array, (n_nodes, M, n)."""
    x, w = np.polynomial.legendre.leggauss(n_nodes)
    p, a = (x[:, None, None] + 1) / 2, np.exp(s - s.max())
    lam = np.exp(np.arange(math.log(1e-18 / a.sum()), math.log(50 / a.min()), 0.2))[:, None]
    own = np.exp(-lam * a)
    logs, terms = np.log(p * own + 1 - p), p * own * a * v / (p * own + 1 - p)
    others = np.exp(logs.sum(2, keepdims=True) - logs)
    rest = terms.sum(2, keepdims=True) - terms
    return 0.1 * np.einsum("k,kmn,mn->n", w, others * (own * a * v - (1 - own) * rest), np.broadcast_to(lam, own.shape))


@wrong("shapley", "There are 2^59 sets beside each of 60 tokens")
def _(s, v):
    phi = np.zeros(len(s))
    for i, k in itertools.product(range(len(s)), repeat=2):
        for S in itertools.combinations([j for j in range(len(s)) if j != i], k):
            phi[i] += (_F(s, v, [i, *S]) - _F(s, v, list(S))) / len(s) / math.comb(len(s) - 1, k)
    return phi


@wrong("shapley", "calls coursekit.explain.Slalom, which is the step that this question is about")
def _(s, v):
    words = [f"w{i}" for i in range(len(s))]
    return explain.Slalom(words, s, v).shapley_values(words).scores


@wrong("shapley", "too few for a polynomial of degree n − 1")
def _(s, v):
    return _by_nodes(s, v, 2)


@wrong("shapley", "φ_1 is the mean of v_1 and of α_1 (v_1 − v_2)")
def _(s, v):
    return v + 1.0


@right("shapley", "all at once")
def _(s, v):
    return _by_nodes(s, v, len(s) // 2 + 1)


@right("shapley", "token by token")
def _(s, v):
    a, phi = np.exp(s - s.max()), np.zeros(len(s))
    lam = np.exp(np.arange(math.log(1e-18 / a.sum()), math.log(50 / a.min()), 0.25))
    for i, (x, w) in itertools.product(range(len(s)), zip(*np.polynomial.legendre.leggauss(len(s) // 2 + 1))):
        on, own = (x + 1) / 2 * np.exp(-np.outer(lam, np.delete(a, i))), np.exp(-lam * a[i])
        factors = on + (1 - x) / 2
        rest = (on / factors) @ np.delete(a * v, i)
        phi[i] += w / 8 * (lam * factors.prod(1) * (own * (rest + a[i] * v[i]) - rest)).sum()
    return phi
