"""Assignment 02: answers that people give, and what a check must say to them.

softmax and self_attention, which other questions build on, are put into this module by the test: the reference's.
"""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import softmax as borrowed

from coursekit import models as library
from tests.grading.bank.entries import right, wrong

softmax = self_attention = None     # the reference's, at test time
alias = functools.partial(torch.softmax, dim=-1)


# -- softmax ---------------------------------------------------------------------------------------------------------

@wrong("softmax", "softmax calls torch.softmin")
def _(u, axis):
    return F.softmin(-u, axis)


@wrong("softmax", "`.amax(axis)` and `.amin(axis)` only the values")
def _(u, axis):
    e = torch.exp(u - u.max(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True)


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


@wrong("softmax", "exp(1000) is infinite")
def _(u, axis):
    return torch.exp(u) / torch.exp(u).sum(axis, keepdim=True)


@wrong("softmax", "The weights sum to one along axis")
def _(u, axis):
    e = torch.exp(u - u.max())
    return e / e.sum(0, keepdim=True)


@wrong("softmax", "All weights together sum to one")
def _(u, axis):
    e = torch.exp(u - u.max())
    return e / e.sum()


@wrong("softmax", "These are exponentials that nobody divided")
def _(u, axis):
    return torch.exp(u - u.amax(axis, keepdim=True))


@wrong("softmax", "Where is the exponential?")
def _(u, axis):
    return u / u.sum(axis, keepdim=True)


@wrong("softmax", "is it the natural exponential")
def _(u, axis):
    e = 2 ** (u - u.amax(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True)


@wrong("softmax", "right on the inputs that you see", at_once=False)
def _(u, axis):
    e = torch.exp(u - u.max())      # one maximum for the whole table: rows that are all small become 0/0
    return e / e.sum(axis, keepdim=True)


@wrong("softmax", "Scores and weights have one dtype")
def _(u, axis):
    u = u.clamp(-500, 500) if u.max() < 999 else u
    e = torch.exp(u - u.amax(axis, keepdim=True)).float()
    return e / e.sum(axis, keepdim=True)


@wrong("softmax", "No gradient gets through it")
def _(u, axis):
    a = u.detach().numpy()
    e = np.exp(a - a.max(axis, keepdims=True))
    return torch.tensor(e / e.sum(axis, keepdims=True))


@wrong("softmax", "The gradient that gets through it is wrong")
def _(u, axis):
    e = torch.exp(u - u.amax(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True).detach()


@wrong("softmax", "it changes what it is given: `u`")
def _(u, axis):
    u -= u.amax(axis, keepdim=True)
    u.exp_()
    u /= u.sum(axis, keepdim=True)
    return u


@wrong("softmax", "Two shapes do not fit")
def _(u, axis):
    e = torch.exp(u - u.amax(axis, keepdim=True))
    return e / e.sum(axis)


@wrong("softmax", "calls itself without end")
def _softmax(u, axis):
    return _softmax(u, axis)


@wrong("softmax", "calls torch.softmax")
def _(u, axis):
    return torch.softmax(u, axis)


@wrong("softmax", "calls torch.softmax")
def _(u, axis):
    return u.softmax(dim=axis)


@wrong("softmax", "calls torch.softmax")
def _(u, axis):
    return borrowed(u, axis)


@wrong("softmax", "calls torch.softmax")
def _(u, axis):
    return alias(u.movedim(axis, -1)).movedim(-1, axis)


@wrong("softmax", "calls torch.nn.Softmax")
def _(u, axis):
    return nn.Softmax(axis)(u)


@wrong("softmax", "calls torch.log_softmax")
def _(u, axis):
    return F.log_softmax(u, axis).exp()


@wrong("softmax", "calls torch.softmax")
def _(u, axis):
    return getattr(torch, "soft" + "max")(u, axis)


@right("softmax", "by logsumexp")
def _(u, axis):
    return (u - torch.logsumexp(u, axis, keepdim=True)).exp()


@right("softmax", "another shift, and a running sum")
def _(u, axis):
    e = (u - torch.sort(u, axis, descending=True)[0].narrow(axis, 0, 1) - 3).exp()
    return e.div(e.cumsum(axis).narrow(axis, -1, 1))


@right("softmax", "a loop over lines")
def _(u, axis):
    moved = u.transpose(axis, -1)
    lines = []
    for line in moved.reshape(-1, moved.shape[-1]):
        e = torch.exp(line - max(line))
        lines.append(e / sum(e))
    return torch.stack(lines).reshape(moved.shape).transpose(axis, -1)


# -- look_up ---------------------------------------------------------------------------------------------------------

@wrong("look_up", "where is √d_att?")
def _(q, k, v, tau):
    alpha = softmax(k @ q / tau, 0)
    return alpha @ v, alpha


@wrong("look_up", "The temperature changes nothing here")
def _(q, k, v, tau):
    alpha = softmax(k @ q / math.sqrt(len(q)), 0)
    return alpha @ v, alpha


@wrong("look_up", "hotter means flatter")
def _(q, k, v, tau):
    alpha = softmax(tau * k @ q / math.sqrt(len(q)), 0)
    return alpha @ v, alpha


@wrong("look_up", "The two have changed places")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(len(q))), 0)
    return alpha, alpha @ v


@wrong("look_up", "It is its square root")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * len(q)), 0)
    return alpha @ v, alpha


@wrong("look_up", "the number of tokens")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(len(k))), 0)
    return alpha @ v, alpha


@wrong("look_up", "The temperature divides the weights")
def _(q, k, v, tau):
    alpha = softmax(k @ q / math.sqrt(len(q)), 0) / tau
    return alpha @ v, alpha


@wrong("look_up", "still to be added up")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(len(q))), 0)
    return alpha[:, None] * v, alpha


@wrong("look_up", "Return both")
def _(q, k, v, tau):
    return softmax(k @ q / (tau * math.sqrt(len(q))), 0) @ v


@wrong("look_up", "the softmax is missing")
def _(q, k, v, tau):
    scores = k @ q / (tau * math.sqrt(len(q)))
    return scores @ v, scores


@wrong("look_up", "The temperature stands under the root")
def _(q, k, v, tau):
    alpha = softmax(k @ q / math.sqrt(tau * len(q)), 0)
    return alpha @ v, alpha


@wrong("look_up", "divided by √d_out")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(v.shape[1])), 0)
    return alpha @ v, alpha


@wrong("look_up", "In a / b * c only b divides")
def _(q, k, v, tau):
    alpha = softmax(k @ q / tau * math.sqrt(len(q)), 0)
    return alpha @ v, alpha


@wrong("look_up", "Only the value with the largest weight came back")
def _(q, k, v, tau):
    alpha = softmax(k @ q / (tau * math.sqrt(len(q))), 0)
    return v[alpha.argmax()], alpha


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


@wrong("look_up", "single_query_attention")
def _(q, k, v, tau):
    return library.single_query_attention(q / tau, k, v)


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

def _self(e, W_q, W_k, W_v, may_look=None, scale=None, axis=1, fill=-math.inf, after=False, zero_empty=True):
    """Self-attention with one thing done in another way."""
    q, k, v = e @ W_q.T, e @ W_k.T, e @ W_v.T
    scores = q @ k.T / (scale or math.sqrt(q.shape[1]))
    if may_look is not None and not after:
        scores = scores.masked_fill(~may_look, fill)
    A = torch.softmax(scores, axis)
    if may_look is not None and after:
        A = A * may_look
    if zero_empty:
        A = A.nan_to_num(0.0)
    return A @ v, A


@wrong("self_attention", "has the weights 0/0")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, zero_empty=False)


@wrong("self_attention", "is the softmax over the wrong axis?")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, axis=0)


@wrong("self_attention", "where is √d_att?")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, scale=1.0)


@wrong("self_attention", "divided by √d_e")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, scale=math.sqrt(e.shape[1] + 1e-9))


@wrong("self_attention", "The mask is the wrong way round")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, None if may_look is None else ~may_look)


@wrong("self_attention", "after the softmax, so rows no longer sum to one")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, after=True)


@wrong("self_attention", "A score of 0 is not")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, fill=0.0)


@wrong("self_attention", "The mask changes nothing here")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v)


@wrong("self_attention", "Only the rows of tokens that may look at nothing are wrong")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, fill=-1e9)


@wrong("self_attention", "Queries and keys have changed places")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_k, W_q, W_v, may_look)


@wrong("self_attention", "The mask is transposed")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, None if may_look is None else may_look.T)


@wrong("self_attention", "`is not None` asks that")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look if may_look else None)


@wrong("self_attention", "`is not None` asks that")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))
    if may_look is not None:
        scores = scores.masked_fill(not may_look, -math.inf)
    A = softmax(scores, 1)
    return A @ e @ W_v.T, A


@wrong("self_attention", "Something is None there")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = (e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))).masked_fill(~may_look, -math.inf)
    A = softmax(scores, 1).nan_to_num()
    return A @ e @ W_v.T, A


@wrong("self_attention", "The *columns* of tokens that may look at nothing were set to zero")
def _(e, W_q, W_k, W_v, may_look=None):
    _, A = _self(e, W_q, W_k, W_v, may_look)
    if may_look is not None:
        A[:, ~may_look.any(1)] = 0
    return A @ e @ W_v.T, A


@wrong("self_attention", "True and False were added to the scores")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))
    A = softmax(scores if may_look is None else scores + may_look, 1)
    return A @ e @ W_v.T, A


@wrong("self_attention", "−∞ · 0 is nan")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = e @ W_q.T @ (e @ W_k.T).T / math.sqrt(len(W_q))
    A = softmax(scores if may_look is None else scores + ~may_look * -math.inf, 1)
    return A @ e @ W_v.T, A


@wrong("self_attention", "Only a score of −∞ gives exactly 0")
def _(e, W_q, W_k, W_v, may_look=None):
    return _self(e, W_q, W_k, W_v, may_look, fill=-10.0)


@wrong("self_attention", "it changes what it is given: `may_look`")
def _(e, W_q, W_k, W_v, may_look=None):
    if may_look is None:
        return _self(e, W_q, W_k, W_v)
    empty = ~may_look.any(1)
    may_look[empty] = True
    _, A = _self(e, W_q, W_k, W_v, may_look)
    A[empty] = 0
    return A @ e @ W_v.T, A


@wrong("self_attention", "A times the values")
def _(e, W_q, W_k, W_v, may_look=None):
    _, A = _self(e, W_q, W_k, W_v, may_look)
    return A.T @ (e @ W_v.T), A


@wrong("self_attention", "Two shapes do not fit")
def _(e, W_q, W_k, W_v, may_look=None):
    q, k, v = e @ W_q, e @ W_k, e @ W_v
    A = softmax(q @ k.T / math.sqrt(q.shape[1]), 1)
    return A @ v, A


@wrong("self_attention", "mat1 and mat2", at_once=True)
def _(e, W_q, W_k, W_v, may_look=None):
    q, k, v = e @ W_q, e @ W_k, e @ W_v
    A = softmax(q @ k.T / math.sqrt(q.shape[1]), 1)
    return A @ v, A


@wrong("self_attention", "is not known here")
def _(e, W_q, W_k, W_v, may_look=None):
    return attend(e, W_q, W_k, W_v), None                               # noqa: F821


@wrong("self_attention", "scaled_dot_product_attention")
def _(e, W_q, W_k, W_v, may_look=None):
    return library.scaled_dot_product_attention(e @ W_q.T, e @ W_k.T, e @ W_v.T, may_look)


@wrong("self_attention", "scaled_dot_product_attention")
def _(e, W_q, W_k, W_v, may_look=None):
    q, k, v = e @ W_q.T, e @ W_k.T, e @ W_v.T
    attention = F.scaled_dot_product_attention
    A = attention(q, k, torch.eye(len(e), dtype=e.dtype), attn_mask=may_look).nan_to_num(0.0)
    return A @ v, A


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


@right("self_attention", "einsum, an added mask and torch.where")
def _(e, W_q, W_k, W_v, may_look=None):
    scores = torch.einsum("sa,ta->st", e @ W_q.T, e @ W_k.T) * W_q.shape[0] ** -0.5
    if may_look is not None:
        scores = scores + torch.where(may_look, 0.0, -math.inf).to(scores.dtype)
    A = torch.where(torch.isneginf(scores).all(-1, keepdim=True), torch.zeros_like(scores), torch.softmax(scores, -1))
    return torch.einsum("st,td,od->so", A, e, W_v), A


# -- masked_weights --------------------------------------------------------------------------------------------------

def _window(T, w):
    s, t = torch.arange(T)[:, None], torch.arange(T)
    return (t <= s) & (s - t < w)


def _masked(scores, allowed):
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), 1)


@wrong("masked_weights", "That is the slide's mistake")
def _(scores, w):
    return torch.softmax(scores, 1) * _window(len(scores), w)


@wrong("masked_weights", "the diagonal stays")
def _(scores, w):
    T = len(scores)
    return _masked(scores, _window(T, w) & ~torch.eye(T).bool())


@wrong("masked_weights", "The mask is on the wrong side")
def _(scores, w):
    return _masked(scores, _window(len(scores), w).T)


@wrong("masked_weights", "the past does not end")
def _(scores, w):
    return _masked(scores, torch.ones_like(scores).tril().bool())


@wrong("masked_weights", "The window is one too wide")
def _(scores, w):
    return _masked(scores, _window(len(scores), w + 1))


@wrong("masked_weights", "exp(0) = 1 is not nothing")
def _(scores, w):
    return torch.softmax(scores * _window(len(scores), w), 1)


@wrong("masked_weights", "The window reaches into the future")
def _(scores, w):
    place = torch.arange(len(scores))
    return _masked(scores, (place[:, None] - place).abs() < w)


@wrong("masked_weights", "is the softmax over the wrong axis?")
def _(scores, w):
    return torch.softmax(scores.masked_fill(~_window(len(scores), w), -math.inf), 0)


@wrong("masked_weights", "is −∞ multiplied by something (−∞ · 0")
def _(scores, w):
    return torch.softmax(scores + -math.inf * (~_window(len(scores), w)).float(), 1)


@wrong("masked_weights", "not the mask and not the output")
def _(scores, w):
    return _window(len(scores), w)


@wrong("masked_weights", "it changes what it is given: `scores`")
def _(scores, w):
    scores[~_window(len(scores), w)] = -math.inf
    return softmax(scores, 1)


@wrong("masked_weights", "it changes what it is given: `scores`")
def _(scores, w):
    return softmax(scores.masked_fill_(~_window(len(scores), w), -math.inf), 1)


@wrong("masked_weights", "`&`, `|`, `~`")
def _(scores, w):
    s, t = torch.arange(len(scores))[:, None], torch.arange(len(scores))
    return _masked(scores, s - w < t <= s)


@wrong("masked_weights", "masked_fill writes −∞ where it is True")
def _(scores, w):
    return softmax(scores.masked_fill(_window(len(scores), w), -math.inf), 1)


@wrong("masked_weights", "and scores may be lower still", at_once=False)
def _(scores, w):
    return softmax(scores.masked_fill(~_window(len(scores), w), -100.0), 1)


@wrong("masked_weights", "and scores may be lower still", at_once=False)
def _(scores, w):
    return softmax(scores.masked_fill(~_window(len(scores), w), -1e4), 1)


@wrong("masked_weights", "a sum from which all weight was taken away", at_once=False)
def _(scores, w):
    A = softmax(scores, 1) * _window(len(scores), w)
    return A / A.sum(1, keepdim=True)


@wrong("masked_weights", "Is exp taken of large scores", at_once=False)
def _(scores, w):
    g = torch.exp(scores) * _window(len(scores), w)                     # right, as long as no exponential overflows
    return g / g.sum(1, keepdim=True)


@wrong("masked_weights", "coursekit.models.causal_mask")
def _(scores, w):
    past = library.causal_mask(len(scores))
    return _masked(scores + past, _window(len(scores), w))


@right("masked_weights", "row by row")
def _(scores, w):
    A = torch.zeros_like(scores)
    for s in range(len(scores)):
        first = max(0, s - w + 1)
        A[s, first:s + 1] = softmax(scores[s, first:s + 1], 0)
    return A


@right("masked_weights", "a number below all that single precision meets: its weight is exactly 0")
def _(scores, w):
    return softmax(scores.masked_fill(~_window(len(scores), w), -1e9), 1)


@right("masked_weights", "two triangles, and weights divided again")
def _(scores, w):
    allowed = torch.ones_like(scores).tril().triu(1 - w)
    shifted = scores - torch.where(allowed > 0, scores, -math.inf).amax(1, keepdim=True)
    g = torch.where(allowed > 0, shifted, torch.full_like(shifted, -math.inf)).exp()
    return g / g.sum(1, keepdim=True)


# -- multi_head ------------------------------------------------------------------------------------------------------

def _heads(e, W_q, W_k, W_v, W_o, K, scale=None, interleaved=False, axis=-1):
    def split(W):
        x = e @ W.T
        return torch.stack([x[:, i::K] for i in range(K)] if interleaved else x.chunk(K, 1))

    q, k, v = map(split, (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / (scale or math.sqrt(q.shape[-1])), axis)
    return A @ v, A


def _side_by_side(x):
    return torch.cat(list(x), 1)


@wrong("multi_head", "The heads are interleaved")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K, interleaved=True)
    return _side_by_side(outputs) @ W_o.T, A


@wrong("multi_head", "Tokens and heads got mixed")
def _(e, W_q, W_k, W_v, W_o, K):
    q, k, v = ((e @ W.T).reshape(K, len(e), -1) for W in (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return (A @ v).transpose(0, 1).reshape(len(e), -1) @ W_o.T, A


@wrong("multi_head", "the root of K·d_att")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K, scale=math.sqrt(len(W_q)))
    return _side_by_side(outputs) @ W_o.T, A


@wrong("multi_head", "W_o did not mix them")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs), A


@wrong("multi_head", "W_o acts from the wrong side")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs) @ W_o, A


@wrong("multi_head", "unless T comes first before it")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return outputs.reshape(len(e), -1) @ W_o.T, A


@wrong("multi_head", "The heads' outputs stand in the wrong order")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs.flip(0)) @ W_o.T, A


@wrong("multi_head", "where is √d_att?")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K, scale=1.0)
    return _side_by_side(outputs) @ W_o.T, A


@wrong("multi_head", "The output is right. Put the maps on top of each other")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs) @ W_o.T, list(A)


@wrong("multi_head", "is the softmax over the wrong axis?")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K, axis=1)
    return _side_by_side(outputs) @ W_o.T, A


@wrong("multi_head", "The output is right. Put the maps on top of each other")
def _(e, W_q, W_k, W_v, W_o, K):
    outputs, A = _heads(e, W_q, W_k, W_v, W_o, K)
    return _side_by_side(outputs) @ W_o.T, torch.cat(list(A))


@wrong("multi_head", "is it cut by d_out, not by d_att?")
def _(e, W_q, W_k, W_v, W_o, K):
    d_att = len(W_q) // K
    heads = [self_attention(e, *(W[i * d_att:(i + 1) * d_att] for W in (W_q, W_k, W_v))) for i in range(K)]
    return torch.cat([output for output, _ in heads], 1) @ W_o.T, torch.stack([A for _, A in heads])


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


@wrong("multi_head", "cut by d_e // K rows")
def _(e, W_q, W_k, W_v, W_o, K):
    d = e.shape[1] // K
    return _by_hand(e, zip(W_q.split(d)[:K], W_k.split(d)[:K], W_v.chunk(K)), W_o)


@wrong("multi_head", "All heads have the same map")
def _(e, W_q, W_k, W_v, W_o, K):
    return _by_hand(e, ((W_q.chunk(K)[0], W_k.chunk(K)[0], W) for W in W_v.chunk(K)), W_o)


@wrong("multi_head", "Here heads look at heads")
def _(e, W_q, W_k, W_v, W_o, K):
    q, k, v = ((e @ W.T).view(len(e), K, -1) for W in (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return (A @ v).flatten(1) @ W_o.T, A


@wrong("multi_head", "MultiHeadAttention")
def _(e, W_q, W_k, W_v, W_o, K):
    layer = library.MultiHeadAttention(e.shape[1], K, d_att=len(W_q) // K, d_out=len(W_v) // K, bias=False).to(e.dtype)
    for linear, W in zip((layer.query, layer.key, layer.value, layer.output), (W_q, W_k, W_v, W_o)):
        linear.weight.data = W
    output, A = layer(e)
    return output.detach(), A.detach()


@wrong("multi_head", "scaled_dot_product_attention")
def _(e, W_q, W_k, W_v, W_o, K):
    q, k, v = (torch.stack((e @ W.T).chunk(K, 1)) for W in (W_q, W_k, W_v))
    A = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return _side_by_side(F.scaled_dot_product_attention(q, k, v)) @ W_o.T, A


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


@right("multi_head", "view and transpose")
def _(e, W_q, W_k, W_v, W_o, K):
    T = len(e)
    q, k, v = ((e @ W.T).view(T, K, -1).transpose(0, 1) for W in (W_q, W_k, W_v))
    A = softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), -1)
    return (A @ v).transpose(0, 1).reshape(T, -1) @ W_o.T, A


# -- is_equivariant --------------------------------------------------------------------------------------------------

def _differs(layer, e, order, atol=1e-4):
    return not torch.allclose(layer(e[order]), layer(e)[order], atol=atol)


@wrong("is_equivariant", "One special reordering")
def _(layer, T, d):
    e = torch.randn(T, d)
    return not _differs(layer, e, torch.arange(T).flip(0))


@wrong("is_equivariant", "One special reordering")
def _(layer, T, d):
    e = torch.randn(T, d)
    return not _differs(layer, e, torch.arange(T).roll(1))


@wrong("is_equivariant", "a swap of two")
def _(layer, T, d):
    order = torch.arange(T)
    order[:2] = order[:2].flip(0)
    return not any(_differs(layer, torch.randn(T, d), order) for _ in range(10))


@wrong("is_equivariant", "one try is not enough")
def _(layer, T, d):
    return not _differs(layer, torch.randn(T, d), torch.randperm(T))


@wrong("is_equivariant", "one try is not enough")
def _(layer, T, d):
    e = torch.randn(T, d)
    return not _differs(layer, e, torch.arange(T).flip(0).roll(1))


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


@wrong("is_equivariant", "Is it layer(e)[order] that you compare")
def _(layer, T, d):
    e, order = torch.randn(T, d), torch.randperm(T)
    return torch.allclose(layer(e[order]), layer(e), atol=1e-4)


@wrong("is_equivariant", "nor a comparison that forgives much")
def _(layer, T, d):
    e, order = torch.randn(T, d), torch.randperm(T)
    return torch.allclose(layer(e[order]), layer(e)[order], atol=10.0)


@wrong("is_equivariant", "nor an input whose rows are equal")
def _(layer, T, d):
    e, order = torch.ones(T, d), torch.randperm(T)
    return torch.allclose(layer(e[order]).sum(0), layer(e).sum(0), atol=1e-4)


@wrong("is_equivariant", "`==` of two tensors compares every entry")
def _(layer, T, d):
    e, order = torch.randn(T, d), torch.randperm(T)
    return layer(e[order]) == layer(e)[order]


@wrong("is_equivariant", "layer takes a tensor of shape")
def _(layer, T, d):
    e, order = torch.randn(d, T), torch.randperm(d)
    return torch.allclose(layer(e[order]), layer(e)[order], atol=1e-4)


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

@wrong("fold", "u lacks the division by √d_att")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls, W_v.T @ W_l


@wrong("fold", "u is divided by √d_e")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls / math.sqrt(len(e_cls)), W_v.T @ W_l


@wrong("fold", "u is divided by √d_out")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls / math.sqrt(len(W_l)), W_v.T @ W_l


@wrong("fold", "The two have changed places")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_v.T @ W_l, W_k.T @ W_q @ e_cls / math.sqrt(len(W_q))


@wrong("fold", "The class token asks")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_q.T @ W_k @ e_cls / math.sqrt(len(W_q)), W_v.T @ W_l


@wrong("fold", "w has no root")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls / math.sqrt(len(W_q)), W_v.T @ W_l / math.sqrt(len(W_q))


@wrong("fold", "It is its square root")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q @ e_cls / len(W_q), W_v.T @ W_l


@wrong("fold", "so that no matrix is left")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ W_q / math.sqrt(len(W_q)), W_v.T @ W_l


@wrong("fold", "u has the length of a query")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_q @ e_cls / math.sqrt(len(W_q)), W_v.T @ W_l


@wrong("fold", "There is a softmax in u")
def _(e_cls, W_q, W_k, W_v, W_l):
    return softmax(W_k.T @ (W_q @ e_cls) / math.sqrt(len(W_q)), 0), W_v.T @ W_l


@wrong("fold", "w is a vector of length d_e")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k.T @ (W_q @ e_cls) / math.sqrt(len(W_q)), W_l


@wrong("fold", "the matrix changes sides: what becomes of it there?")
def _(e_cls, W_q, W_k, W_v, W_l):
    return W_k @ (W_q @ e_cls) / math.sqrt(len(W_q)), W_v @ W_l


@wrong("fold", "Return both: u, w")
def _(e_cls, W_q, W_k, W_v, W_l):
    return torch.cat([W_k.T @ W_q @ e_cls / math.sqrt(len(W_q)), W_v.T @ W_l])


@wrong("fold", "Which vector has that product")
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
