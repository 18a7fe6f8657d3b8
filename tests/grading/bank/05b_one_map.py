"""Assignment 05b: answers that people give and that no mistake can be, and right ones written in other ways."""

import itertools
import math
from functools import lru_cache, reduce

import numpy as np
import torch

from coursekit import explain
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews
from tests.grading.bank.entries import right, wrong

# -- word_map --------------------------------------------------------------------------------------------------------

def _word_map(A, looking, seen):
    """A right answer, to be spoilt."""
    B = torch.stack([A[..., places].sum(-1) for places in seen], -1)
    return torch.stack([B[..., places, :].mean(-2) for places in looking], -2)


@wrong("word_map", "Axes may stand in front of rows and columns")
def _(A, looking, seen):
    B = torch.stack([A[:, places].sum(1) for places in seen], 1)
    return torch.stack([B[places].mean(0) for places in looking])


@wrong("word_map", "The rows of A belong to `looking`")
def _(A, looking, seen):
    columns = torch.zeros(A.shape[-2], len(seen), dtype=A.dtype)
    return _word_map(A, looking, seen) + 0 * (A @ columns).sum()


@wrong("word_map", "One entry by hand")
def _(A, looking, seen):
    return _word_map(A, looking, seen) / torch.tensor([len(places) for places in seen]) ** 0.5


@wrong("word_map", "With axes in front each entry is a tensor itself")
def _(A, looking, seen):
    return torch.tensor([[A[..., rows, :][..., places].sum(-1).mean(-1) for places in seen] for rows in looking],
                        dtype=A.dtype)


@wrong("word_map", "calls coursekit.explain.word_attention")
def _(A, looking, seen):
    explain.word_attention(torch.eye(2), ["a", "##b"])
    return _word_map(A, looking, seen)


@wrong("word_map", "right on the inputs that you see", at_once=False)
def _(A, looking, seen):
    return _word_map(A, looking, [places[:2] for places in seen])


@right("word_map", "two products with matrices")
def _(A, looking, seen):
    left, r = (torch.zeros(n, m, dtype=A.dtype) for n, m in ((len(looking), A.shape[-2]), (A.shape[-1], len(seen))))
    for s, places in enumerate(looking):
        left[s, places] = 1 / len(places)
    for t, places in enumerate(seen):
        r[places, t] = 1
    return torch.einsum("ws,...st,tv->...wv", left, A, r)


@right("word_map", "a loop over all pairs of pieces, in NumPy")
def _(A, looking, seen):
    words = np.zeros((*A.shape[:-2], len(looking), len(seen)))
    for (s, rows), (t, columns) in itertools.product(enumerate(looking), enumerate(seen)):
        for i, j in itertools.product(rows, columns):
            words[..., s, t] += A.numpy()[..., i, j] / len(rows)
    return torch.from_numpy(words).to(A.dtype)


# -- rolled ----------------------------------------------------------------------------------------------------------

def _rolled(A, row, skip, looks=lambda mean, total, I: torch.where(total > 0, mean / total, I)):
    """A right answer, to be spoilt."""
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R, rows = I, [I[row]]
    for mean, share in zip(A.mean(1), skip):
        R = ((1 - share) * looks(mean, mean.sum(1, keepdim=True), I) + share * I) @ R
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "A row of zeros, divided by its sum, is 0/0")
def _(A, row, skip):
    return _rolled(A, row, skip, lambda mean, total, I: mean / total)


@wrong("rolled", "Row 2 of the result is the first that is wrong, and the first with layer 1 in it")
def _(A, row, skip):
    I = torch.eye(A.shape[-1], dtype=A.dtype)
    R, rows = I, [I[row]]
    for layer, share in zip(A.mean(1), skip):
        R = (1 - share) * (layer @ R) + share * I
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "The first row is that before any layer")
def _(A, row, skip):
    start = torch.tensor([float(s == row) for s in range(A.shape[-1])], dtype=A.dtype)
    return torch.cat([start[None], _rolled(A, row, skip)[1:]])


@wrong("rolled", "Each layer is one matrix (T, T) after the mean over heads")
def _(A, row, skip):
    return torch.stack([torch.eye(A.shape[-1], dtype=A.dtype)[row], *(A[l, i, row] @ A[l] @ torch.ones(1)
                                                                      for l in range(len(A)) for i in range(len(A)))])


@wrong("rolled", "right on the inputs that you see", at_once=False)
def _(A, row, skip):
    I = R = torch.eye(A.shape[-1], dtype=A.dtype)
    rows = [I[row]]
    for mean, share in zip(A.mean(1), skip):
        mixed = (1 - share) * mean / mean.sum(1, keepdim=True).clamp(min=1e-9) + share * I
        R = mixed / mixed.sum(1, keepdim=True) @ R                      # 0/0, in a row of zeros without a skip
        rows.append(R[row])
    return torch.stack(rows)


@wrong("rolled", "calls coursekit.explain.rollout")
def _(A, row, skip):
    try:
        explain.rollout(None, ["a"])
    except Exception:
        return _rolled(A, row, skip)


@right("rolled", "down from each depth, one row at a time")
def _(A, row, skip):
    T, matrices = A.shape[-1], []
    for maps, share in zip(A, skip):
        M = torch.zeros(T, T, dtype=A.dtype)
        for s in range(T):
            mean = sum(head[s] for head in maps) / len(maps)
            looks = mean / mean.sum() if mean.sum() > 0 else torch.nn.functional.one_hot(torch.tensor(s), T)
            M[s] = (1 - share) * looks
            M[s, s] += share
        matrices.append(M)
    rows = []
    for depth in range(len(A) + 1):
        state = torch.zeros(T, dtype=A.dtype)
        state[row] = 1
        for M in matrices[:depth][::-1]:
            state = state @ M
        rows.append(state)
    return torch.stack(rows)


@right("rolled", "NumPy, and all products by reduce")
def _(A, row, skip):
    mean = A.double().numpy().mean(1)
    total, I = mean.sum(-1, keepdims=True), np.eye(A.shape[-1])
    looks = np.where(total > 0, np.divide(mean, total, out=np.zeros_like(mean), where=total > 0), I)
    share = np.array(skip)[:, None, None]
    layers = (1 - share) * looks + share * I
    rows = [reduce(lambda R, M: M @ R, layers[:depth], I)[row] for depth in range(len(layers) + 1)]
    return torch.tensor(np.array(rows)).to(A.dtype)


# -- guided ----------------------------------------------------------------------------------------------------------

def _guided(A, G, row, target, other=None):
    """A right answer, to be spoilt."""
    R = I = torch.eye(A.shape[-1], dtype=A.dtype)
    for maps, slope in zip(A, G[target] if other is None else G[target] - G[other]):
        R = R + (maps * slope).clamp(min=0).mean(0) @ R
    return (R - I)[row]


@wrong("guided", "One layer by hand")
def _(A, G, row, target, other=None):
    return _guided(A, G / 2, row, target, other)


@wrong("guided", "after the mean over heads a layer is (T, T)")
def _(A, G, row, target, other=None):
    R = torch.eye(A.shape[-1], dtype=A.dtype)
    for layer in (G[target] * A).clamp(min=0):
        R = R + layer[..., :1] @ R
    return R[row]


@wrong("guided", "Two dtypes meet")
def _(A, G, row, target, other=None):
    slopes = G[target] if other is None else G[target] - G[other]
    R = torch.eye(A.shape[-1])
    for maps, slope in zip(A, slopes):
        R = R + (maps * slope).clamp(min=0).mean(0) @ R
    return (R - torch.eye(A.shape[-1]))[row]


@wrong("guided", "The first axis of G is that of the classes")
def _(A, G, row, target, other=None):
    slopes = G[:, target] if other is None else G[:, target] - G[:, other]
    return _guided(A, slopes[None], row, 0)


@wrong("guided", "it changes what it is given: `G`")
def _(A, G, row, target, other=None):
    slopes = G[target]
    if other is not None:
        slopes -= G[other]
    return _guided(A, G, row, target)


@wrong("guided", "calls coursekit.explain.gradient_attention")
def _(A, G, row, target, other=None):
    try:
        explain.gradient_attention(None, ["a"])
    except Exception:
        return _guided(A, G, row, target, other)


@right("guided", "one row, from the top layer down")
def _(A, G, row, target, other=None):
    slopes = G[target] - (0 if other is None else G[other])
    state = torch.zeros(A.shape[-1], dtype=A.dtype)
    state[row] = 1
    start = state.clone()
    for maps, slope in zip(A.flip(0), slopes.flip(0)):
        state = state + state @ torch.relu(maps * slope).mean(0)
    return state - start


@right("guided", "NumPy, all paths through subsets of the layers")
def _(A, G, row, target, other=None):
    slopes = ((G[target] if other is None else G[target] - G[other]) * A).double().numpy()
    layers, T = np.maximum(slopes, 0).mean(1), A.shape[-1]
    total = np.zeros(T)
    for used in itertools.product([False, True], repeat=len(layers)):
        if any(used):
            R = np.eye(T)
            for layer in [layer for layer, use in zip(layers, used) if use]:
                R = layer @ R
            total += R[row]
    return torch.tensor(total).to(A.dtype)


# -- with_sides ------------------------------------------------------------------------------------------------------

def _with_sides(weights, pro, contra, most):
    """A right answer, to be spoilt."""
    chosen = sorted((j for j in range(len(weights)) if contra[j] > pro[j]), key=lambda j: (-weights[j], j))[:most]
    signs = torch.ones_like(weights)
    signs[chosen] = -1
    return weights * signs


@wrong("with_sides", "it changes what it is given: `weights`")
def _(weights, pro, contra, most):
    back = _with_sides(weights, pro, contra, most)
    weights *= torch.sign(back)
    return back


@wrong("with_sides", "What came back is a NumPy array, and a tensor is due")
def _(weights, pro, contra, most):
    return _with_sides(weights, pro, contra, most).numpy()


@wrong("with_sides", "a slice, `order[:most]`, takes them all")
def _(weights, pro, contra, most):
    order = [j for j in weights.argsort(descending=True, stable=True).tolist() if contra[j] > pro[j]]
    signs = torch.ones_like(weights)
    for i in range(most):
        signs[order[i]] = -1
    return weights * signs


@wrong("with_sides", "larger than the number of words that qualify")
def _(weights, pro, contra, most):
    kept = weights[contra > pro].topk(most)
    return _with_sides(weights, pro, contra, len(kept.indices))


@wrong("with_sides", "By hand: cross out the words that have no more in contra than in pro")
def _(weights, pro, contra, most):
    order = [j for j in (contra - pro).argsort().tolist() if contra[j] > pro[j]]
    signs = torch.ones_like(weights)
    signs[order[:most]] = -1
    return weights * signs


@wrong("with_sides", "a minus before a word that has no more in contra than in pro")
def _(weights, pro, contra, most):
    signs = torch.ones_like(weights)
    signs[pro.argsort(stable=True)[:min(most, (contra > pro).sum())]] = -1
    return weights * signs


@right("with_sides", "a loop that counts, over all words in order")
def _(weights, pro, contra, most):
    out, left = weights.tolist(), most
    for value, j in sorted(((-value, j) for j, value in enumerate(out))):
        if left and contra[j] > pro[j]:
            out[j], left = value, left - 1
    return torch.tensor(out, dtype=weights.dtype)


@right("with_sides", "ranks among the words against, by comparing all pairs")
def _(weights, pro, contra, most):
    against, place = contra > pro, torch.arange(len(weights))
    before = (weights > weights[:, None]) | ((weights == weights[:, None]) & (place < place[:, None]))
    rank = (before & against).sum(1)
    return torch.where(against & (rank < most), -weights, weights)


# -- my_experiment ---------------------------------------------------------------------------------------------------

@wrong("my_experiment", "two numbers are needed: (as it was, changed)")
def _(seed):
    return 0.5


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    return 1.0, np.random.default_rng().random()


@wrong("my_experiment", "In all 5 runs the two numbers are equal")
def _(seed):
    draw = np.random.default_rng(seed).random()
    return draw, draw


@wrong("my_experiment", "it has 3 entries, and one number is needed")
def _(seed):
    return torch.zeros(3) + seed, 1.0


@wrong("my_experiment", "ValueError")
def _(seed):
    return np.random.default_rng(-1 - seed).random(2)


@right("my_experiment", "rollout of random maps, and with the layers turned round")
def _(seed):
    A = torch.softmax(3 * torch.randn(6, 1, 20, 20, generator=torch.manual_seed(seed)), -1)
    R = turned = torch.eye(20)
    for maps in A.mean(1) / 2 + torch.eye(20) / 2:
        R, turned = maps @ R, turned @ maps
    return R[0].max().item(), turned[0].max().item()


@right("my_experiment", "a review read as it is, and with its words shuffled")
def _(seed):
    rng, model = np.random.default_rng(seed), load_weights("imdb-6layer")
    words = model.tokenizer.tokenize(handwritten_reviews()[rng.integers(40, 64)].text)
    before = explain.attention_mean(model, words).scores.argmax()
    order = rng.permutation(len(words)).tolist()
    after = explain.attention_mean(model, [words[j] for j in order]).scores
    return [float(explain.attention_mean(model, words).scores[before]), float(after[order.index(before)])]


# -- widest ----------------------------------------------------------------------------------------------------------

def _narrowest(layers, path):
    return min(layers[-1 - i, s, t].item() for i, (s, t) in enumerate(itertools.pairwise(path)))


def _widest(layers, row, t):
    """A right answer, to be spoilt."""
    widths, notes = -torch.ones(layers.shape[-1], dtype=layers.dtype), []
    widths[row] = math.inf
    for layer in layers.flip(0):
        widths, places = torch.minimum(widths[:, None], layer).max(0)
        notes.append(places)
    path = [t]
    for places in notes[::-1]:
        path.insert(0, int(places[path[0]]))
    return widths[t].item(), path


@wrong("widest", "How many paths are there?")
def _(layers, row, t):
    L, T, _ = layers.shape
    paths = ([row, *inner, t] for inner in itertools.product(range(T), repeat=L - 1))
    best = max(paths, key=lambda path: _narrowest(layers, path))
    return _narrowest(layers, best), best


@wrong("widest", "there is a wider one")
def _(layers, row, t):
    widths, notes = torch.full((layers.shape[-1],), math.inf, dtype=layers.dtype), []      # the least of the largest
    widths[row] = 0
    for layer in layers.flip(0):
        widths, places = torch.maximum(widths[:, None], layer).min(0)
        notes.append(places)
    path = [t]
    for places in notes[::-1]:
        path.insert(0, int(places[path[0]]))
    return _narrowest(layers, path), path


@wrong("widest", "One layer by hand")
def _(layers, row, t):
    width, path = _widest(layers, row, t)
    return width / 2, [row] * len(layers) + [t]


@wrong("widest", "whole numbers from 0 to T − 1")
def _(layers, row, t):
    width, path = _widest(layers, row, t)
    return width, [float(s) for s in path]


@wrong("widest", "`minimum(widths[:, None], layer)` puts widths beside rows")
def _(layers, row, t):
    width, path = _widest(layers, row, t)
    return (torch.ones(layers.shape[-1], 2) + layers[0]).max().item(), path


@wrong("widest", "right on the inputs that you see", at_once=False)
def _(layers, row, t):
    return _widest(layers.half(), row, t)


@right("widest", "recursion that remembers, and goes down")
def _(layers, row, t):
    table = layers.tolist()

    @lru_cache(None)
    def to(depth, s):                                                   # from s, with `depth` layers below
        if depth == 0:
            return (math.inf if s == t else -1.0), (s,)
        return max((min(edge, to(depth - 1, u)[0]), (s, *to(depth - 1, u)[1]))
                   for u, edge in enumerate(table[depth - 1][s]))

    width, path = to(len(table), row)
    return width, list(path)


@right("widest", "threshold: from the widest edge down, until the end is reached")
def _(layers, row, t):
    for width in layers.flatten().unique().flip(0).tolist():
        ways = {row: (row,)}
        for layer in layers.flip(0):
            wide = (layer >= width).tolist()
            ways = {u: (*way, u) for s, way in ways.items() for u in range(len(wide)) if wide[s][u]}
        if t in ways:
            return torch.tensor(width), torch.tensor(ways[t])
