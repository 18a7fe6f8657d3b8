"""Answers to assignment 13 that no mistake can be: errors, odd results, and right ones written differently."""

import math

import numpy as np
import torch

from coursekit.worlds import superposition
from tests.grading.bank.entries import right, wrong

best_code = None                                        # the reference's, at test time

# -- sharing ---------------------------------------------------------------------------------------------------------


@wrong("sharing", "0/0 is nan")
def _(W):
    with np.errstate(all="ignore"):
        U = W / np.linalg.norm(W, axis=0)
        cosines = np.abs(U.T @ U) * (1 - np.eye(W.shape[1]))
        return cosines.max(1), (W ** 2).sum(0) / ((U.T @ W) ** 2).sum(1)


@wrong("sharing", "Take the columns (2, 0) and (1, 1) by hand")
def _(W):
    return np.full(W.shape[1], 0.25), np.full(W.shape[1], 0.75)


@wrong("sharing", "the values differ", at_once=False)
def _(W):
    lengths = np.sqrt((W ** 2).sum(0))
    U = W / np.where(lengths > 1e-3, lengths, np.inf)
    near = np.abs(U.T @ U) * (1 - np.eye(len(lengths)))
    return near.max(1), np.where(lengths > 1e-3, lengths ** 2 / np.maximum(((U.T @ W) ** 2).sum(1), 1e-300), 0.0)


@wrong("sharing", "Return two things: nearest (F,), share (F,).")
def _(W):
    return (W ** 2).sum(0)


@wrong("sharing", "`nearest` is a NumPy array")
def _(W):
    return [0.5] * W.shape[1], np.ones(W.shape[1])


@right("sharing", "pair by pair")
def _(W):
    d, F = W.shape
    w = [W[:, j] for j in range(F)]
    size = [math.sqrt(x @ x) for x in w]
    nearest, share = np.zeros(F), np.zeros(F)
    for j in range(F):
        if size[j]:
            nearest[j] = max((abs(w[j] @ w[k]) / size[j] / size[k] for k in range(F) if k != j and size[k]), default=0)
            share[j] = size[j] ** 2 / sum((w[j] @ w[k] / size[j]) ** 2 for k in range(F))
    return nearest, share


@right("sharing", "from the table of inner products alone")
def _(W):
    G = np.einsum("ij,ik->jk", W, W)
    square = np.diag(G).copy()
    with np.errstate(all="ignore"):
        cosines = np.nan_to_num(G / np.sqrt(np.outer(square, square)))
        share = np.nan_to_num(square ** 2 / (G ** 2).sum(0))
    return np.abs(cosines - np.diag(np.diag(cosines))).max(0), share


# -- audit -----------------------------------------------------------------------------------------------------------

@wrong("audit", "States are rows of H, features are columns of W_dec")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    A = np.maximum(W_enc @ H.T + b_enc, 0)
    return A.mean(), 0.0, 0.0, []


@wrong("audit", "Take one state by hand: a, then s(h)")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    return 1.5, 0.5, 0.25, []


@wrong("audit", "Return four things: loss, variance, L0, dead.")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    return 1.5


@wrong("audit", "expected a list")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    loss, variance, l0, dead = _by_state(H, W_enc, b_enc, W_dec, b_dec, lam)
    return loss, variance, l0, np.array(dead)


@wrong("audit", "the step that this question is about")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    from coursekit.models.sparse.sae import SparseAutoencoder

    sae = SparseAutoencoder(H.shape[1], len(b_enc)).double()
    for name, value in (("W_enc", W_enc), ("b_enc", b_enc), ("W_dec", W_dec), ("b_dec", b_dec)):
        getattr(sae, name).data = torch.tensor(value)
    _, variance, l0, dead = _by_state(H, W_enc, b_enc, W_dec, b_dec, lam)
    return sae.loss(torch.tensor(H), lam).item(), variance, l0, dead


def _by_state(H, W_enc, b_enc, W_dec, b_dec, lam):
    d, F = W_dec.shape
    total = lost = on = 0
    seen = set()
    for h in H:
        a = [max(0.0, float(W_enc[j] @ h + b_enc[j])) for j in range(F)]
        s = b_dec + sum(a[j] * W_dec[:, j] for j in range(F))
        square = float(((h - s) ** 2).sum())
        total += square + lam * sum(a[j] * math.sqrt(W_dec[:, j] @ W_dec[:, j]) for j in range(F))
        lost, on, seen = lost + square, on + sum(x > 0 for x in a), seen | {j for j in range(F) if a[j] > 0}
    return total / len(H), 1 - lost / (H.var(0).sum() * len(H)), on / len(H), sorted(set(range(F)) - seen)


@right("audit", "state by state")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    return _by_state(H, W_enc, b_enc, W_dec, b_dec, lam)


@right("audit", "in tensors, with the variance as a quotient of variances")
def _(H, W_enc, b_enc, W_dec, b_dec, lam):
    H, W_enc, b_enc, W_dec, b_dec = map(torch.tensor, (H, W_enc, b_enc, W_dec, b_dec))
    A = torch.relu(torch.nn.functional.linear(H, W_enc, b_enc))
    error = H - torch.nn.functional.linear(A, W_dec, b_dec)
    loss = error.pow(2).sum() / len(H) + lam * (A * W_dec.norm(dim=0)).sum(1).mean()
    explained = 1 - error.pow(2).mean() / (H - H.mean(0, keepdim=True)).pow(2).mean()
    return loss, explained, torch.count_nonzero(A).item() / len(A), [j for j, a in enumerate(A.T) if not a.any()]


# -- best_code -------------------------------------------------------------------------------------------------------

@wrong("best_code", "one number for each state")
def _(H, W_dec, b_dec, lam, rounds):
    A, R = np.zeros((len(H), W_dec.shape[1])), H - b_dec
    for j, w in enumerate(W_dec.T):
        R = R - A[:, j] * w[:, None] @ np.ones((3, 7))
    return A


@wrong("best_code", "Take one state h = (3, 0)")
def _(H, W_dec, b_dec, lam, rounds):
    return np.full((len(H), W_dec.shape[1]), 0.125)


@wrong("best_code", "the values differ", at_once=False)
def _(H, W_dec, b_dec, lam, rounds):
    A = np.zeros((len(H), W_dec.shape[1]))
    for _ in range(rounds):
        old = A.copy()
        for j, w in enumerate(W_dec.T):
            r = H - b_dec - A @ W_dec.T + np.outer(A[:, j], w)
            A[:, j] = np.maximum(r @ w - lam / 2 * np.sqrt(w @ w), 0) / (w @ w)
        if np.abs(A - old).max() < 1e-3:
            break
    return A


@wrong("best_code", "it changes what it is given: `H`")
def _(H, W_dec, b_dec, lam, rounds):
    H -= b_dec
    return _inner(H @ W_dec, W_dec.T @ W_dec, lam, rounds)


@wrong("best_code", "`A` has the shape")
def _(H, W_dec, b_dec, lam, rounds):
    return _inner((H - b_dec) @ W_dec, W_dec.T @ W_dec, lam, rounds).T[:, :1] * np.ones((1, len(H) + 3))


def _inner(q, G, lam, rounds):
    """With inner products alone: q (n, F) of states with columns, G (F, F) of columns."""
    A, length = np.zeros_like(q), np.sqrt(np.diag(G))
    for _ in range(rounds):
        for j in range(len(G)):
            others = A @ G[:, j] - A[:, j] * G[j, j]
            A[:, j] = np.clip(q[:, j] - others - lam * length[j] / 2, 0, None) / G[j, j]
    return A


@right("best_code", "with inner products alone")
def _(H, W_dec, b_dec, lam, rounds):
    return _inner((H - b_dec) @ W_dec, W_dec.T @ W_dec, lam, rounds)


@right("best_code", "state by state, in directions of length 1")
def _(H, W_dec, b_dec, lam, rounds):
    sizes = np.linalg.norm(W_dec, axis=0)
    U, rows = W_dec / sizes, []
    for h in H:
        f = np.zeros(len(sizes))                                         # the activations
        for _ in range(rounds):
            for j in range(len(f)):
                f[j] = 0.0
                f[j] = max(0.0, (h - b_dec - U @ f) @ U[:, j] - lam / 2)
        rows.append(f / sizes)
    return np.array(rows)


# -- discover --------------------------------------------------------------------------------------------------------

@wrong("discover", "0/0 is nan")
def _(A, Y, A_new, Y_new):
    with np.errstate(all="ignore"):
        one, other = (np.corrcoef(a, y, rowvar=False)[:a.shape[1], a.shape[1]:] for a, y in ((A, Y), (A_new, Y_new)))
    features = np.nan_to_num(one, nan=-2).argmax(0)
    features = np.where(np.isnan(one).any(0), np.isnan(one).argmax(0), features)
    return features, one[features, np.arange(len(features))], other[features, np.arange(len(features))]


@wrong("discover", "Take one feature and one label by hand")
def _(A, Y, A_new, Y_new):
    features, found, _ = _by_pairs(A, Y, A_new, Y_new)
    return features, found / 7, found / 9


@wrong("discover", "Return three things: features (C,), found (C,), tested (C,).")
def _(A, Y, A_new, Y_new):
    return np.zeros(Y.shape[1], int), np.zeros(Y.shape[1])


@wrong("discover", "the step that this question is about")
def _(A, Y, A_new, Y_new):
    from coursekit.models.sparse.features import correlations

    one, other = (correlations(*map(torch.tensor, half)).double().numpy() for half in ((A, Y), (A_new, Y_new)))
    features, labels = one.argmax(0), np.arange(Y.shape[1])
    return features, one[features, labels], other[features, labels]


def _pearson(x, y):
    x, y = x - x.mean(), y - y.mean()
    return x @ y / math.sqrt(x @ x * (y @ y)) if x.any() and y.any() else 0.0


def _by_pairs(A, Y, A_new, Y_new):
    found = []
    for c in range(Y.shape[1]):
        r = [_pearson(A[:, j], Y[:, c]) for j in range(A.shape[1])]
        j = r.index(max(r))
        found.append((j, r[j], _pearson(A_new[:, j], Y_new[:, c])))
    return tuple(np.array(part) for part in zip(*found))


@right("discover", "pair by pair")
def _(A, Y, A_new, Y_new):
    return _by_pairs(A, Y, A_new, Y_new)


@right("discover", "whole numbers of another size, and a 0 among them")
def _(A, Y, A_new, Y_new):
    features, found, tested = _by_pairs(A, Y, A_new, Y_new)
    return features.astype(np.int32), np.array([0 if r == 0 else r for r in found.tolist()]), tested


@right("discover", "standard scores, and np.take_along_axis")
def _(A, Y, A_new, Y_new):
    def table(a, y):
        a, y = ((x - x.mean(0)) / np.where(x.std(0) == 0, 1, x.std(0)) for x in (a, y))
        return np.einsum("nf,nc->fc", a, y) / len(a)

    first = table(A, Y)
    features = np.argmax(first, axis=0)
    return features, first.max(0), np.take_along_axis(table(A_new, Y_new), features[None], 0)[0]


# -- clamp -----------------------------------------------------------------------------------------------------------

@wrong("clamp", "it changes what it is given: `H`")
def _(H, A, W_dec, wanted, where):
    for j, value in wanted.items():
        w = W_dec[:, j]
        H += np.outer(where * (value / np.linalg.norm(w) - A[:, j]), w)
    return H


@wrong("clamp", "Only one direction of a state is to move")
def _(H, A, W_dec, wanted, where):
    return H + 0.321


@wrong("clamp", "`where` has one entry for each place")
def _(H, A, W_dec, wanted, where):
    return H + where * np.ones((7, 5)) * W_dec[:, 0][:, None, None]


@wrong("clamp", "`H` has an axis too many")
def _(H, A, W_dec, wanted, where):
    return H[None]


@right("clamp", "decoded anew, and the error put back")
def _(H, A, W_dec, wanted, where):
    B = np.array(A)
    for j, value in wanted.items():
        B[where, j] = value / np.linalg.norm(W_dec[:, j])
    return B @ W_dec.T + (H - A @ W_dec.T)


@right("clamp", "place by place, all features in one product")
def _(H, A, W_dec, wanted, where):
    rows = []
    for h, a, here in zip(H, A, where):
        delta = np.array([here * (wanted[j] / math.hypot(*W_dec[:, j]) - a[j]) if j in wanted else 0.0
                          for j in range(len(a))])
        rows.append(h + W_dec @ delta)
    return np.array(rows)


# -- quiet -----------------------------------------------------------------------------------------------------------

@wrong("quiet", "feature 7 gets the activation 1.5")
def _():
    return [9, -6.0]


@wrong("quiet", "Must you stop there?")
def _():
    return {9: 0.0}


@wrong("quiet", "the feature of criticism is not among yours")
def _():
    return {7: -3.0, 2: 0.0}


@wrong("quiet", "Turn criticism further down, step by step")
def _():
    return {9: -3.0}


@wrong("quiet", "turn that one as well, after criticism")
def _():
    return {15: 0.2, 9: -6.0}


@wrong("quiet", "which tone grows meanwhile?")
def _():
    return {9: 5.0}


@right("quiet", "two features")
def _():
    return {9: -6.0, 15: 0.25}


@right("quiet", "another order, whole numbers among them")
def _():
    return {9: -6, 3: 0, 15: 0.2}


# -- batch_topk ------------------------------------------------------------------------------------------------------

@wrong("batch_topk", "Write down all a_j‖w_j‖ of all states")
def _(Z, W_dec, k):
    return np.zeros_like(Z)


@wrong("batch_topk", "n·k may be more than there are entries")
def _(Z, W_dec, k):
    A = np.maximum(Z, 0.0)
    activations = A * np.linalg.norm(W_dec, axis=0)
    return A * (activations >= np.sort(activations.ravel())[::-1][len(Z) * k - 1])


@wrong("batch_topk", "it changes what it is given: `Z`")
def _(Z, W_dec, k):
    Z[Z < 0] = 0
    scores = (Z * np.linalg.norm(W_dec, axis=0)).ravel()
    A = np.zeros(Z.size)
    best = np.argsort(-scores)[:len(Z) * k]
    A[best] = Z.ravel()[best]
    return A.reshape(Z.shape)


@right("batch_topk", "an argsort of all places")
def _(Z, W_dec, k):
    A = np.maximum(Z, 0.0)
    order = np.argsort(-(A * np.sqrt((W_dec ** 2).sum(0))), axis=None)
    A.reshape(-1)[order[len(Z) * k:]] = 0.0
    return A


@right("batch_topk", "torch.topk over the flat table")
def _(Z, W_dec, k):
    Z, W_dec = torch.tensor(Z), torch.tensor(W_dec)
    flat = (Z.relu() * W_dec.norm(dim=0)).flatten()
    kept = torch.zeros_like(flat, dtype=torch.bool)
    kept[flat.topk(min(len(Z) * k, len(flat))).indices] = True
    return (Z.relu() * kept.view_as(Z)).numpy()


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _world(seed):
    W = superposition.random_directions(seed).double().numpy()
    return W, superposition.sample(50, 0.05, seed).double().numpy()


def _found(W, X, lam=0.2, rounds=5):
    """The share of things that are there and found."""
    A = best_code(X @ W.T, W, np.zeros(16), lam, rounds)
    return ((A > 0) & (X > 0)).sum() / (X > 0).sum()


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return _found(*_world(seed))


@wrong("my_experiment", "it has 50 entries, and one number is needed")
def _(seed):
    W, X = _world(seed)
    return tuple((best_code(X @ W.T, W, np.zeros(16), lam, 5) > 0).sum(1).tolist() for lam in (0.2, 0.4))


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    W, X = _world(seed)
    return _found(W, X), _found(W, X * np.random.default_rng().uniform(0.5, 1.5, X.shape))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    W, X = _world(seed)
    return _found(W, X), _found(2 * W, X / 2)                            # the code halves, and what is found stays


@wrong("my_experiment", "compare it with as many columns of X")
def _(seed):
    W, X = _world(seed)
    A = best_code(X @ W.T, W[:, :48], np.zeros(16), 0.2, 5)
    return _found(W, X), ((A > 0) & (X > 0)).sum()


@right("my_experiment", "pairs that always come together")
def _(seed):
    W, X = _world(seed)
    paired = X.copy()
    paired[:, 32:] = X[:, :32]
    return [_found(W, X), _found(W, paired)]


@right("my_experiment", "how many features are on, with opposite directions, as a tensor")
def _(seed):
    W, X = _world(seed)
    W_opposite = np.hstack([W[:, :32], -W[:, :32]])
    return tuple(torch.tensor((best_code(X @ U.T, U, np.zeros(16), 0.2, 5) > 0).sum(1).mean())
                 for U in (W, W_opposite))
