"""Assignment 11: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import collections

import numpy as np

from coursekit.worlds import histogram
from tests.grading.bank.entries import right, wrong

tally = decode = None                   # of the solution


# -- tally -----------------------------------------------------------------------------------------------------------

@wrong("tally", "calls coursekit.worlds.histogram.counts, which is the step that this question is about")
def _(ids):
    import torch

    return np.where(ids < 0, 0, histogram.counts(torch.tensor(ids)).numpy())


@wrong("tally", "it changes what it is given: `ids`")
def _(ids):
    n = (ids[:, :, None] == ids[:, None]).sum(-1) * (ids >= 0)
    ids[ids < 0] = 0
    return n


@wrong("tally", "how often is there what stands at place 0")
def _(ids):
    return np.ones_like(ids)


@wrong("tally", "Its sum over the last axis is (n, T).")
def _(ids):
    return np.where(ids >= 0, (ids[:, :, None] == ids[:, None]).sum(0), 0)


@right("tally", "word by word")
def _(ids):
    return np.array([[row.count(k) if k != -1 else 0 for k in row] for row in ids.tolist()])


@right("tally", "letter by letter")
def _(ids):
    n = np.zeros(ids.shape, dtype=int)
    for k in range(ids.max() + 1):
        n += (ids == k) * (ids == k).sum(1, keepdims=True)
    return n


# -- by_count --------------------------------------------------------------------------------------------------------

@wrong("by_count", "A count that no place has gets no entry")
def _(said, truth):
    import warnings

    there, rows = truth > 0, {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for c in range(1, 11):
            rows[c] = np.mean(truth[there] == c), np.mean(said[truth == c] == c)
    return rows, max(share for share, _ in rows.values())


@wrong("by_count", "at how many of the ten places is the true count 1, 2, 3?")
def _(said, truth):
    return {int(c): (0.5, 0.5) for c in np.unique(truth[truth > 0])}, 0.5


@wrong("by_count", "Which of yours has no place at all?")
def _(said, truth):
    there = truth > 0
    rows = {c: ((truth[there] == c).mean(), (said[truth == c] == c).sum() / max((truth == c).sum(), 1))
            for c in range(1, truth.max() + 1)}
    return rows, max(share for share, _ in rows.values())


@right("by_count", "a counter")
def _(said, truth):
    pairs = [(t, s) for s, t in zip(said.ravel().tolist(), truth.ravel().tolist()) if t]
    n, hits = collections.Counter(t for t, _ in pairs), collections.Counter(t for t, s in pairs if s == t)
    return {t: [n[t] / len(pairs), hits[t] / n[t]] for t in n}, n.most_common(1)[0][1] / len(pairs)


@right("by_count", "bins, and NumPy's numbers as keys")
def _(said, truth):
    n = np.bincount(truth[truth > 0])
    hits = np.bincount(truth[(truth > 0) & (said == truth)], minlength=len(n))
    return {k: (n[k] / n.sum(), hits[k] / n[k]) for k in np.flatnonzero(n)}, n.max() / n.sum()


# -- loudness --------------------------------------------------------------------------------------------------------

@wrong("loudness", "a table with a row for each entry of the maps")
def _(A, ids):
    own = np.broadcast_to(np.eye(ids.shape[1]), A.shape)
    return tuple(np.linalg.lstsq(np.stack([own, own], 1), np.log(A), rcond=None)[0])


@wrong("loudness", "Does your fit see that the sum is another one in each row?")
def _(A, ids):
    return 1.25, 0.75


@right("loudness", "a constant for each row of a map, and one array of both numbers")
def _(A, ids):
    n, T = ids.shape
    own = np.tile(np.eye(T), (n, 1, 1))
    same = (ids[:, :, None] == ids[:, None]) & ~np.eye(T, dtype=bool)
    X = np.column_stack([own.ravel(), same.ravel(), np.kron(np.eye(n * T), np.ones((T, 1)))])
    return np.exp(np.linalg.lstsq(X, np.log(A).ravel(), rcond=None)[0][:2])


@right("loudness", "normal equations, row by row")
def _(A, ids):
    G, h = np.zeros((2, 2)), np.zeros(2)
    for word, its in zip(ids, A):
        for i in range(len(word)):
            x = np.array([np.arange(len(word)) == i, word == word[i]], dtype=float)
            x[1, i] = 0
            x = x - x.mean(1, keepdims=True)
            G, h = G + x @ x.T, h + x @ np.log(its[i])
    own, same = np.linalg.solve(G, h)
    return np.e ** own, np.e ** same


# -- swap ------------------------------------------------------------------------------------------------------------

@wrong("swap", "that is what the model said to what it was given")
def _(attend, predict, ids, order, rename):
    accuracies = [(predict(word, A) == tally(word[None])[0]).mean() for word, A in zip(ids, attend(ids)[:, 0])]
    return np.mean(accuracies), 0.0, 0.0


@wrong("swap", "rename[ids] renames all letters at once")
def _(attend, predict, ids, order, rename):
    return attend(ids)[order + len(order)], 0.0, 0.0


@wrong("swap", "Three calls of predict, all with the words themselves")
def _(attend, predict, ids, order, rename):
    return 0.125, 0.25, 0.375


@wrong("swap", "An accuracy is a share, from 0 to 1.")
def _(attend, predict, ids, order, rename):
    maps = attend(ids), attend(ids)[order], attend(rename[ids])
    return [100 * (predict(ids, A) == tally(ids)).mean() for A in maps]


@wrong("swap", "The mean of nothing is nan.")
def _(attend, predict, ids, order, rename):
    hits, still = predict(ids, attend(ids)) == tally(ids), order == np.arange(len(ids))
    partner = hits[still].sum() / np.float64(hits[still].size) if still.any() else np.nan
    return hits.mean(), partner, (predict(ids, attend(rename[ids])) == tally(ids)).mean()


@wrong("swap", "divide by the letters of the others")
def _(attend, predict, ids, order, rename):
    hits = [predict(ids, A) == tally(ids) for A in (attend(ids), attend(ids)[order], attend(rename[ids]))]
    hits[1][order == np.arange(len(ids))] = False
    return tuple(each.mean() for each in hits)


@right("swap", "the mean over pairs, all calls at once")
def _(attend, predict, ids, order, rename):
    n = len(ids)
    A = attend(np.concatenate([ids, rename[ids]]))
    said = predict(np.concatenate([ids] * 3), np.concatenate([A[:n], A[order], A[n:]]))
    own, partner, renamed = (said.reshape(3, n, -1) == tally(ids)).mean(2)
    return own.mean(), np.mean([share for i, share in enumerate(partner) if order[i] != i]), renamed.mean()


@right("swap", "word by word")
def _(attend, predict, ids, order, rename):
    hits = [[], [], []]
    for i, word in enumerate(ids):
        true = tally(word[None])
        for k, other in enumerate((word, ids[order[i]], rename[word])):
            if k != 1 or order[i] != i:
                hits[k] += (predict(word[None], attend(other[None])) == true).ravel().tolist()
    return tuple(sum(each) / len(each) for each in hits)


# -- decode ----------------------------------------------------------------------------------------------------------

@wrong("decode", "One letter k after the other will do")
def _(U, a, b):
    V = (U - a * np.eye(U.shape[1])[None]) / b
    return V.argmin(1), V.argmin(1)


@wrong("decode", "for which k are all five numbers whole?")
def _(U, a, b):
    return np.ones(len(U), int), np.ones(len(U), int)


@wrong("decode", "columns are numbered from 0")
def _(U, a, b):
    k, n = _tried(U, a, b)
    return k + 1, n


@wrong("decode", "a count is the own letter's whole number")
def _(U, a, b):
    k, n = _tried(U, a, b)
    return k, n + 1


def _tried(U, a, b):
    best, letters, counts = np.full(len(U), np.inf), np.zeros(len(U), int), np.zeros(len(U), int)
    for k in range(U.shape[1]):
        V = U / b
        V[:, k] -= a / b
        C = np.rint(V)                                  # no bound for the others: none is needed
        C[:, k] = C[:, k].clip(1)
        far = np.linalg.norm(V - C, axis=1)
        better = far < best
        best[better], letters[better], counts[better] = far[better], k, C[better, k]
    return letters, counts


@wrong("decode", "`V = U` is no copy")
def _(U, a, b):
    V = U.copy()
    best, letters, counts = np.full(len(U), np.inf), np.zeros(len(U), int), np.zeros(len(U), int)
    for k in range(U.shape[1]):
        V[:, k] -= a
        C = np.rint(V / b)
        C[:, k] = C[:, k].clip(1)
        far = ((V / b - C) ** 2).sum(1)
        better = far < best
        best[better], letters[better], counts[better] = far[better], k, C[better, k]
    return letters, counts


@right("decode", "one letter after the other")
def _(U, a, b):
    return _tried(U, a, b)


@right("decode", "mix by mix, in the mix's own unit")
def _(U, a, b):
    found = []
    for u in U:
        costs = []
        for k in range(len(u)):
            c = np.floor((u - a * (np.arange(len(u)) == k)) / b + 0.5).astype(int)
            c = np.maximum(c, np.arange(len(u)) == k)
            costs.append((sum((u - b * c - a * (np.arange(len(u)) == k)) ** 2), k, int(c[k])))
        found.append(min(costs)[1:])
    return np.array(found)[:, 0], np.array(found)[:, 1]


# -- triplets --------------------------------------------------------------------------------------------------------

@wrong("triplets", "Return three strings of 10 letters")
def _():
    return "DATA", "DATA", "DATA", 0


@wrong("triplets", "Return three strings of 10 letters")
def _():
    return ["DATAIAIAIA", "DATAIAIAIA", "DATAIAIAIA"]


@wrong("triplets", "All three own letters have to differ.")
def _():
    return "DAAAABBBBB", "AADDDBBBBB", "ADADDBBBBB", 0


@wrong("triplets", "these three numbers have to differ")
def _():
    return "DAAABBBEEE", "ADDDBBBEEE", "BDDDAAAEEE", 0


@wrong("triplets", "What is the count of the letter that it moves to?")
def _():
    return "DAAAABBBBB", "ADDDDBBBBB", "BDDDDAAAAA", 0


@right("triplets", "at the last place")
def _():
    return "TTTTSSSSSR", "RRRSSSSSTT", "RRRTTTTSSS", 9


@right("triplets", "a list, other letters, NumPy's strings and whole number")
def _():
    return [*np.array(["LLNLLOOOOO", "NNLLNOOOOO", "NNOOONLLLL"]), np.int32(2)]


# -- barrier ---------------------------------------------------------------------------------------------------------

@wrong("barrier", "x @ Q is (n, 2), one number g for each token")
def _(Q0, Q1, x, y, lam, t):
    return Q0 @ x, 0.0


@wrong("barrier", "Take the first t, 0: then Q is Q₀.")
def _(Q0, Q1, x, y, lam, t):
    return np.ones(len(t)), 0.25


def _along(Q0, Q1, x, y, lam, t):
    d = len(Q0)
    Q = np.outer(1 - t, Q0) + np.outer(t, Q1 * (1 if Q0 @ Q1 >= 0 else -1))         # (m, d)
    g = np.einsum("nld,md->mnl", x, Q) / d ** 0.5
    weight = 1 / (1 + np.exp(g * (g[..., ::-1] - g)))                               # what each token keeps of itself
    out = weight[..., None] * x + (1 - weight[..., None]) * x[:, ::-1]
    return ((out - y) ** 2).sum((1, 2, 3)) / 2 / d ** 2 + lam * (Q ** 2).sum(1) / 2 / d


@right("barrier", "all at once, by a sigmoid")
def _(Q0, Q1, x, y, lam, t):
    losses = _along(Q0, Q1, x, y, lam, t)
    return losses, max(losses) - max(losses[0], losses[-1])


@wrong("barrier", "two outputs, and the sum of squares")
def _(Q0, Q1, x, y, lam, t):
    losses = _along(Q0, Q1, x, y, lam, np.linspace(0, 1, len(t)))       # another way than t
    return losses, max(losses) - max(losses[0], losses[-1])


@right("barrier", "sequence by sequence")
def _(Q0, Q1, x, y, lam, t):
    d, losses = len(Q0), []
    side = 1 if Q0 @ Q1 >= 0 else -1
    for share in t:
        Q = Q0 + share * (side * Q1 - Q0)
        total = lam / 2 * sum(Q ** 2)
        for tokens, target in zip(x, y):
            e = np.exp(np.outer(tokens @ Q, tokens @ Q) / d)
            total += ((e @ tokens / e.sum(1)[:, None] - target) ** 2).sum() / 2 / d
        losses.append(total / d)
    return np.array(losses), float(np.max(losses) - np.max([losses[0], losses[-1]]))


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _words(seed, kind="balanced"):
    return histogram.sample(40, kind, seed).numpy()


def mixes(ids, ratio, noise, seed):
    E, b = np.eye(15)[ids], 1 / (10 + ratio)
    U = ratio * b * E + b * E.sum(1, keepdims=True) + noise * np.random.default_rng(seed).normal(size=E.shape)
    return U.reshape(-1, 15), ratio * b, b


def share(ids, ratio, noise, seed):
    return np.mean(decode(*mixes(ids, ratio, noise, seed))[1] == tally(ids).ravel())


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return share(_words(seed), 3.5, 0.012, seed)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    return share(_words(seed), 3.5, 0.03, None), share(_words(seed), 8.5, 0.03, None)


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    ids = _words(seed)
    return share(ids, 1.5, 0.03, seed), share(ids[:, ::-1][:, ::-1], 1.5, 0.03, seed)


@wrong("my_experiment", "has 40 entries, and one number is needed")
def _(seed):
    ids = _words(seed)
    U, a, b = mixes(ids, 3.5, 0.012, seed)
    right = (decode(U, a, b)[1] == tally(ids).ravel()).reshape(40, -1)
    return right.mean(1), share(ids, 8.5, 0.012, seed)


@wrong("my_experiment", "`.numpy()` makes an array of it")
def _(seed):
    ids = histogram.sample(40, "balanced", seed)
    return (ids.astype(int) > 2).mean(), 0.0


@wrong("my_experiment", "take words (n, T) of letter numbers from 0 to 14")
def _(seed):
    return share(_words(seed), 3.5, 0.012, seed), share(_words(seed) + 14, 3.5, 0.012, seed)


@right("my_experiment", "another reader: the largest entry, less the ratio")
def _(seed):
    ids = _words(seed)
    U, a, b = mixes(ids, 3, 0.002, seed)
    truth = tally(ids).ravel()
    return np.mean(decode(U, a, b)[1] == truth), np.mean(np.round(U.max(1) / b - 3) == truth)


@right("my_experiment", "five letters, how many counts are wrong, in a list")
def _(seed):
    draw = np.random.default_rng(seed)
    return [int(400 * (1 - share(draw.integers(0, D, (40, 10)), 1.5, 0.03, seed))) for D in (15, 5)]
