"""Assignment 02: answers that people give, and what a check must say to them.

softmax and self_attention, which other questions build on, are put into this module by the test: the reference's.
"""

import functools
import math

import numpy as np
import torch

from coursekit import models as library
from tests.grading.bank.entries import right, wrong

softmax = self_attention = None     # the reference's, at test time
alias = functools.partial(torch.softmax, dim=-1)
_noise = np.random.default_rng(0)


# -- softmax ---------------------------------------------------------------------------------------------------------

@wrong("softmax", "Does it leave torch (NumPy, math)")
def _(u, axis):
    e = np.exp(u.numpy() - u.numpy().max(axis, keepdims=True))
    return torch.from_numpy(e / e.sum(axis, keepdims=True))


@wrong("softmax", "Stay with torch")
def _(u, axis):
    e = np.exp(u.numpy() - u.numpy().max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@wrong("softmax", "Do the maximum and the sum keep the axis")
def _(u, axis):
    e = torch.exp(u - u.amax(axis, keepdim=True))
    return e / e.sum(axis)


@wrong("softmax", "and sum to 0.999335")
def _(u, axis):
    e = torch.exp(u - u.amax(axis, keepdim=True))
    return e / (e.sum(axis, keepdim=True) + 1e-3)


@wrong("softmax", "has to be the largest score of *that* line")
def _(u, axis):
    e = torch.exp(u - u.max())      # one maximum for the whole table: rows that are all small become 0/0
    return e / e.sum(axis, keepdim=True)


@wrong("softmax", "its gradient is not a number")
def _(u, axis):
    gaps = u.unsqueeze(axis if axis < 0 else axis + 1) - u.unsqueeze(axis - 1 if axis < 0 else axis)
    return 1 / torch.exp(-gaps).sum(axis if axis < 0 else axis + 1)


@right("softmax", "by logsumexp")
def _(u, axis):
    return (u - torch.logsumexp(u, axis, keepdim=True)).exp()


@right("softmax", "a loop over lines")
def _(u, axis):
    moved = u.transpose(axis, -1)
    lines = []
    for line in moved.reshape(-1, moved.shape[-1]):
        e = torch.exp(line - max(line))
        lines.append(e / sum(e))
    return torch.stack(lines).reshape(moved.shape).transpose(axis, -1)


# -- look_up ---------------------------------------------------------------------------------------------------------

@wrong("look_up", "Return two things: output (d_out,), weights (T,).")
def _(q, k, v, tau):
    return softmax(k @ q / (tau * math.sqrt(len(q))), 0) @ v


@wrong("look_up", "what is in front of @?")
def _(q, k, v, tau):
    alpha = softmax(q @ k / (tau * math.sqrt(len(q))), 0)
    return alpha @ v, alpha


@wrong("look_up", "For a plain number there is math")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * torch.sqrt(len(q))), 0)
    return alpha @ v, alpha


@wrong("look_up", "it changes what it is given: `q`")
def _(q, k, v, tau):
    q /= tau * math.sqrt(len(q))
    alpha = softmax(k @ q, 0)
    return alpha @ v, alpha


@wrong("look_up", "the values, weighted by it and added up over the tokens")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(len(q))), 0)
    return alpha @ v.flip(0), alpha


@right("look_up", "a loop over the tokens")
def _(q, k, v, tau):
    scores = [sum(q * key) / (tau * len(q) ** 0.5) for key in k]
    top = max(scores)
    g = [torch.exp(score - top) for score in scores]
    alpha = [x / sum(g) for x in g]
    return sum(a * value for a, value in zip(alpha, v)), torch.stack(alpha)


@right("look_up", "einsum, and the query is scaled first")
def _(q, k, v, tau):
    q = q / tau * q.numel() ** -0.5
    alpha = torch.einsum("td,d->t", k, q).softmax(0)
    return [torch.einsum("t,to->o", alpha, v), alpha]


# -- self_attention --------------------------------------------------------------------------------------------------

def _self(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))
    if may_look is not None:
        scores = scores.masked_fill(~may_look, -math.inf)
    A = torch.softmax(scores, 1).nan_to_num(0.0)
    return A @ e @ W_v.T, A


@wrong("self_attention", "`is not None` asks that")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look if may_look else None)


@wrong("self_attention", "Or was −∞ multiplied by 0?")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))
    A = softmax(scores if may_look is None else scores + ~may_look * -math.inf, 1)
    return A @ e @ W_v.T, A


@wrong("self_attention", "The scores are not scaled: where is √d_att?")
def _(e, W_q, W_k, W_v, may_look=None):         # the mask is still to be written
    A = softmax(e @ W_q.T @ (e @ W_k.T).T, 1)
    return A @ e @ W_v.T, A


@wrong("self_attention", "the output is A times the values")
def _(e, W_q, W_k, W_v, may_look=None):
    output, A = _self(e, W_q, W_k, W_v, may_look)
    return output + e @ W_v.T, A


@wrong("self_attention", "in every row where the mask is False")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look if may_look is None else may_look | may_look.T)


@wrong("self_attention", "scaled_dot_product_attention")
def _(e, W_q, W_k, W_v, may_look=None):
    return library.scaled_dot_product_attention(e @ W_q.T, e @ W_k.T, e @ W_v.T, may_look)


@right("self_attention", "a root in single precision")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / torch.sqrt(torch.tensor(len(W_q)))
    A = softmax(scores if may_look is None else scores.masked_fill(~may_look, -math.inf), 1).nan_to_num()
    return A @ (e @ W_v.T), A


@right("self_attention", "one query at a time")
def _(e, W_q, W_k, W_v, may_look=None):
    T, rows = len(e), []
    for s in range(T):
        allowed = [t for t in range(T) if may_look is None or may_look[s, t]]
        row = torch.zeros(T, dtype=e.dtype)
        if allowed:
            scores = torch.stack([(W_q @ e[s]) @ (W_k @ e[t]) for t in allowed]) / len(W_q) ** 0.5
            row[allowed] = softmax(scores, 0)
        rows.append(row)
    A = torch.stack(rows)
    return A @ (e @ W_v.mT), A


# -- masked_weights --------------------------------------------------------------------------------------------------

def _window(T, w):
    s, t = torch.arange(T)[:, None], torch.arange(T)
    return (t <= s) & (s - t < w)


def _masked(scores, allowed):
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), 1)


@wrong("masked_weights", "not the mask and not the output")
def _(scores, w):
    return _window(len(scores), w)


@wrong("masked_weights", "it changes what it is given: `scores`")
def _(scores, w):
    scores[~_window(len(scores), w)] = -math.inf
    return softmax(scores, 1)


@wrong("masked_weights", "& binds more tightly than <=")
def _(scores, w):
    s, t = torch.arange(len(scores))[:, None], torch.arange(len(scores))
    return _masked(scores, s - w < t <= s)


@wrong("masked_weights", "Is exp taken of large scores")
def _(scores, w):
    g = torch.exp(scores) * _window(len(scores), w)                     # right, as long as no exponential overflows
    return g / g.sum(1, keepdim=True)


@wrong("masked_weights", "Which tokens have weight above zero in each row?")
def _(scores, w):
    s, t = torch.arange(len(scores))[:, None], torch.arange(len(scores))
    return _masked(scores, _window(len(scores), w) & ((s - t) % 2 == 0))


@right("masked_weights", "row by row")
def _(scores, w):
    A = torch.zeros_like(scores)
    for s in range(len(scores)):
        first = max(0, s - w + 1)
        A[s, first:s + 1] = softmax(scores[s, first:s + 1], 0)
    return A


@right("masked_weights", "two triangles, and weights divided again")
def _(scores, w):
    allowed = torch.ones_like(scores).tril().triu(1 - w)
    shifted = scores - torch.where(allowed > 0, scores, -math.inf).amax(1, keepdim=True)
    g = torch.where(allowed > 0, shifted, torch.full_like(shifted, -math.inf)).exp()
    return g / g.sum(1, keepdim=True)


# -- multi_head ------------------------------------------------------------------------------------------------------

def _heads(e, W_q, W_k, W_v, W_o, K):
    q, k, v = (torch.stack((e @ W.T).chunk(K, 1)) for W in (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return A @ v, A


def _side_by_side(x):
    return torch.cat(list(x), 1)


@wrong("multi_head", "The output is right. Put the maps on top of each other")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs) @ W_o.T, list(A)


@wrong("multi_head", "Are the matrices cut by rows?")
def _(e, W_q, W_k, W_v, W_o, K):
    heads = [self_attention(e, *head) for head in zip(*(W.chunk(K, 1) for W in (W_q, W_k, W_v)))]
    return torch.cat([output for output, _ in heads], 1) @ W_o.T, torch.stack([A for _, A in heads])


@wrong("multi_head", "put side by side (dim=1)?")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return torch.cat(list(outputs), 0) @ W_o.T, A


def _by_hand(e, heads, W_o):
    outputs, maps = zip(*(self_attention(e, *head) for head in heads))
    return torch.cat(outputs, 1) @ W_o.T, torch.stack(maps)


@wrong("multi_head", "`split(n)` into parts of n rows")
def _(e, W_q, W_k, W_v, W_o, K):
    return _by_hand(e, zip(W_q.split(K), W_k.split(K), W_v.split(K)), W_o)


@wrong("multi_head", "Look at one head alone")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v.flip(0), W_o, K)
    return _side_by_side(outputs) @ W_o.T, A


@right("multi_head", "one einsum for all heads")
def _(e, W_q, W_k, W_v, W_o, K):
    q, k, v = (torch.einsum("td,kad->kta", e, W.unflatten(0, (K, -1))) for W in (W_q, W_k, W_v))
    A = torch.einsum("ksa,kta->kst", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("kst,kto,dko->sd", A, v, W_o.unflatten(1, (K, -1))), A


@right("multi_head", "each head adds its share of the output")
def _(e, W_q, W_k, W_v, W_o, K):
    d_att, d_out, output, maps = len(W_q) // K, len(W_v) // K, 0, []
    for i in range(K):
        mine, own = slice(i * d_att, (i + 1) * d_att), slice(i * d_out, (i + 1) * d_out)
        head, A = self_attention(e, W_q[mine], W_k[mine], W_v[own])
        output = output + head @ W_o[:, own].T
        maps.append(A)
    return output, torch.stack(maps, dim=0)


# -- is_equivariant --------------------------------------------------------------------------------------------------

def _differs(layer, e, order, atol=1e-4):
    return not torch.allclose(layer(e[order]), layer(e)[order], atol=atol)


@wrong("is_equivariant", "One special reordering")
def _(layer, T, d):
    e = torch.randn(T, d)
    return not _differs(layer, e, torch.arange(T).flip(0))


@wrong("is_equivariant", "one try is not enough")
def _(layer, T, d):
    return not _differs(layer, torch.randn(T, d), torch.randperm(T))


@wrong("is_equivariant", "The layer was never called")
def _(layer, T, d):
    return T == 1


@wrong("is_equivariant", "The layer was called once")
def _(layer, T, d):
    e = torch.randn(T, d)
    return bool(torch.allclose(layer(e), e, atol=1.0))


@wrong("is_equivariant", "And with a tolerance?")
def _(layer, T, d):
    return all(torch.equal(layer(e[order]), layer(e)[order])
               for e, order in ((torch.randn(T, d), torch.randperm(T)) for _ in range(20)))


@wrong("is_equivariant", "`==` of two tensors compares every entry")
def _(layer, T, d):
    e, order = torch.randn(T, d), torch.randperm(T)
    return layer(e[order]) == layer(e)[order]


@right("is_equivariant", "a swap of every two rows")
def _(layer, T, d):
    e = torch.randn(T, d)
    out = layer(e)
    for i in range(T):
        for j in range(i):
            order = list(range(T))
            order[i], order[j] = j, i
            if (layer(e[order]) - out[order]).abs().max() > 1e-3:
                return False
    return True


@right("is_equivariant", "permutation matrices, and the largest gap as a tensor")
def _(layer, T, d):
    gaps = []
    for seed in range(30):
        generator = torch.Generator().manual_seed(seed)
        Pi = torch.eye(T)[torch.randperm(T, generator=generator)]
        E = torch.rand(T, d, generator=generator) * 2 - 1
        gaps.append((layer(Pi @ E) - Pi @ layer(E)).norm())
    return torch.stack(gaps).max() < 1e-3


# -- fold ------------------------------------------------------------------------------------------------------------

@wrong("fold", "the matrix changes sides: what becomes of it there?")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k @ (W_q @ e_cls) / math.sqrt(len(W_q)), W_v @ W_l


@wrong("fold", "Return two things: u (d_e,), w (d_e,).")
def _(e_cls, W_q, W_k, W_v, W_l):
    return torch.cat([W_k.T @ W_q @ e_cls / math.sqrt(len(W_q)), W_v.T @ W_l])


@wrong("fold", "whose product with e_t is W_ℓ · W_v e_t")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls / math.sqrt(len(W_q)), W_v.sum(0) * W_l.sum()


@right("fold", "by gradients of a linear function")
def _(e_cls, W_q, W_k, W_v, W_l):
    e = torch.zeros_like(e_cls, requires_grad=True)
    score, = torch.autograd.grad((W_q @ e_cls) @ (W_k @ e) / len(W_q) ** 0.5, e)
    value, = torch.autograd.grad(W_l @ (W_v @ e), e)
    return score, value


@right("fold", "coordinate by coordinate")
def _(e_cls, W_q, W_k, W_v, W_l):
    q, basis = W_q @ e_cls, torch.eye(len(e_cls), dtype=e_cls.dtype)
    u = torch.stack([q @ (W_k @ b) for b in basis]) / math.sqrt(len(q))
    return u, torch.stack([W_l @ (W_v @ b) for b in basis])


# -- cross_attention -------------------------------------------------------------------------------------------------

@wrong("cross_attention", "Are queries made of x, and both the keys and the values of memory?")
def _(x, memory, W_q, W_k, W_v, real=None):
    A = softmax(x @ W_q.T @ (x @ W_k.T).T / math.sqrt(len(W_q)), 1)
    return A @ (memory @ W_v.T), A


@wrong("cross_attention", "Queries are made of x with W_q")
def _(x, memory, W_q, W_k, W_v, real=None):
    q, k, v = x @ W_k.T, memory @ W_q.T, memory @ W_v.T
    scores = q @ k.T / math.sqrt(q.shape[1])
    A = softmax(scores if real is None else scores.masked_fill(~real, -math.inf), 1)
    return A @ v, A


@right("cross_attention", "one token at a time, padding thrown away")
def _(x, memory, W_q, W_k, W_v, real=None):
    places = torch.arange(len(memory)) if real is None else real.nonzero()[:, 0]
    A = torch.zeros(len(x), len(memory), dtype=x.dtype)
    for s, row in enumerate(x):
        A[s, places] = softmax((memory[places] @ W_k.T) @ (W_q @ row) / len(W_q) ** 0.5, 0)
    return A @ (memory @ W_v.T), A


@right("cross_attention", "einsum, and an added mask")
def _(x, memory, W_q, W_k, W_v, real=None):
    scores = torch.einsum("sd,ad,te,ae->st", x, W_q, memory, W_k) / math.sqrt(len(W_q))
    if real is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~real, -math.inf)
    A = scores.softmax(-1)
    return [torch.einsum("st,td,od->so", A, memory, W_v), A]


# -- they_disagree ---------------------------------------------------------------------------------------------------

@wrong("they_disagree", "Both pick the same word, 'boring'.")
def _():
    return "I expected a boring film, and it was not boring at all."


@wrong("they_disagree", "Between 5 and 20 are asked for")
def _():
    return "movies would"


@wrong("they_disagree", "Between 5 and 20 are asked for")
def _():
    return "One of the few movies that I would watch again. " * 3


@wrong("they_disagree", "Return the review: one text")
def _():
    return ["one", "of", "the", "few"]


@wrong("they_disagree", "Return the review: one text")
def _():
    return None


@right("they_disagree", "movies")
def _():
    return "one of the few movies that i would watch again"


@right("they_disagree", "with a full stop")
def _():
    return "One of the few movies that I would watch again!"


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _random(seed, T=8, scale=1.0):
    g = torch.Generator().manual_seed(seed)
    W_q, W_k, W_v = torch.randn(3, 4, 8, generator=g) / 8 ** 0.5
    return torch.randn(T, 8, generator=g), scale * W_q, W_k, W_v


@wrong("my_experiment", "it returns a number, and two numbers are")
def _(seed):
    return self_attention(*_random(seed))[1].max().item()


@wrong("my_experiment", "entries, and one number is")
def _(seed):
    return tuple(self_attention(*_random(seed, scale=scale))[1].amax(1) for scale in (1.0, 3.0))


@wrong("my_experiment", "Does what you draw depend on `seed`?")
def _(seed):
    return [self_attention(*_random(0, scale=scale))[1].max().item() for scale in (1.0, 3.0)]


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    e, W_q, W_k, W_v = _random(seed)
    e = e + _noise.normal()
    return [self_attention(e, scale * W_q, W_k, W_v)[1].max().item() for scale in (1.0, 3.0)]


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    e, W_q, W_k, W_v = _random(seed)
    return [self_attention(e, W_q, W_k, scale * W_v)[1].max().item() for scale in (1.0, 3.0)]


@right("my_experiment", "queries three times as long: the largest weight of a row")
def _(seed):
    return [self_attention(*_random(seed, scale=scale))[1].amax(1).mean() for scale in (1.0, 3.0)]


@right("my_experiment", "a mask of the future: the size of the outputs")
def _(seed):
    e, W_q, W_k, W_v = _random(seed)
    past = torch.ones(8, 8, dtype=torch.bool).tril()
    free, masked = (self_attention(e, W_q, W_k, W_v, may_look)[0] for may_look in (None, past))
    return float(free.norm()), float(masked.norm())
