"""Assignment 03: answers that people give, and what a check must say to them.

layer_norm, mlp, block and causal_attention, which the last question builds on, are put into this module by the test:
the reference's.
"""

import functools
import math
import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from coursekit import models as library
from tests.grading.bank.entries import right, wrong

layer_norm = mlp = block = causal_attention = None      # the reference's, at test time
borrowed = functools.partial(F.gelu, approximate="tanh")


# -- layer_norm ------------------------------------------------------------------------------------------------------

@wrong("layer_norm", "divided by d − 1 here")
def _(x, gain, shift, eps):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "right on the inputs that you see", at_once=False)
def _(x, gain, shift, eps):
    d = x.shape[-1]
    variance = x.var(-1, keepdim=True) * (d - 1) / d                    # nan for a row of one number
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) * gain + shift


@wrong("layer_norm", "Two things")
def _(x, gain, shift, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "eps stands outside the root")
def _(x, gain, shift, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, unbiased=False) + eps) * gain + shift


@wrong("layer_norm", "The argument eps does not come in")
def _(x, gain, shift, eps):
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0) * gain + shift


@wrong("layer_norm", "The argument eps does not come in")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt(c.square().mean(-1, keepdim=True) + 1e-5) * gain + shift


@wrong("layer_norm", "eps was made larger")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt(c.square().mean(-1, keepdim=True) + (eps or 1e-5)) * gain + shift


@wrong("layer_norm", "eps is squared here")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.hypot(c.square().mean(-1, keepdim=True).sqrt(), torch.tensor(eps, dtype=x.dtype)) * gain + shift


@wrong("layer_norm", "Divided by the variance")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / (c.square().mean(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "the division that makes its variance 1 is missing")
def _(x, gain, shift, eps):
    return (x - x.mean(-1, keepdim=True)) * gain + shift


@wrong("layer_norm", "The variance is their mean")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt((c ** 2).sum(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "The mean was not taken away")
def _(x, gain, shift, eps):
    return x / torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps) * gain + shift


@wrong("layer_norm", "that is RMS norm")
def _(x, gain, shift, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "Mean and variance run along axis 0")
def _(x, gain, shift, eps):
    return (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + eps) * gain + shift


@wrong("layer_norm", "for the whole table")
def _(x, gain, shift, eps):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) * gain + shift


@wrong("layer_norm", "gain and shift are still to be applied")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps)


@wrong("layer_norm", "The shift is missing")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return gain * c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps)


@wrong("layer_norm", "have changed places")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return shift * c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) + gain


@wrong("layer_norm", "The shift is multiplied by the gain, too")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return (c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) + shift) * gain


@wrong("layer_norm", "digits got lost")
def _(x, gain, shift, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x * x).mean(-1, keepdim=True) - mean * mean).clamp(min=0)
    return (x - mean) / torch.sqrt(variance + eps) * gain + shift


@wrong("layer_norm", "Do mean and variance keep their axis")
def _(x, gain, shift, eps):
    c = x - x.mean(-1)
    return c / torch.sqrt(c.square().mean(-1) + eps) * gain + shift


@wrong("layer_norm", "it changes what it is given: `x`")
def _(x, gain, shift, eps):
    x -= x.mean(-1, keepdim=True)
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "For a plain number there is math")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / (torch.sqrt(c.square().mean(-1, keepdim=True)) + torch.sqrt(eps)) * gain + shift


@wrong("layer_norm", "got a NumPy array")
def _(x, gain, shift, eps):
    a = x.numpy()
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + eps) * gain.numpy() + shift.numpy()


@wrong("layer_norm", "Input and result have one dtype")
def _(x, gain, shift, eps):
    c = (x - x.mean(-1, keepdim=True)).float()
    return c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) * gain.float() + shift.float()


@wrong("layer_norm", "Is there a .float() on the way?")
def _(x, gain, shift, eps):
    c = x.float() - x.float().mean(-1, keepdim=True)
    return c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "IndexError")
def _(x, gain, shift, eps):
    c = x - x.mean(1, keepdim=True)                                     # the last axis of a table alone
    return c / torch.sqrt(c.square().mean(1, keepdim=True) + eps) * gain + shift


@wrong("layer_norm", "calls torch.nn.functional.layer_norm")
def _(x, gain, shift, eps):
    return F.layer_norm(x, gain.shape, gain, shift, eps)


@wrong("layer_norm", "calls torch.nn.functional.layer_norm")
def _(x, gain, shift, eps):
    return torch.layer_norm(x, gain.shape, gain, shift, eps)


@wrong("layer_norm", "calls torch.nn.LayerNorm")
def _(x, gain, shift, eps):
    return nn.LayerNorm(len(gain), eps, elementwise_affine=False, dtype=x.dtype)(x) * gain + shift


@wrong("layer_norm", "calls torch.instance_norm")
def _(x, gain, shift, eps):
    return F.instance_norm(x.reshape(1, -1, x.shape[-1]), eps=eps).reshape(x.shape) * gain + shift


@wrong("layer_norm", "calls coursekit.models.layer_norm")
def _(x, gain, shift, eps):
    return library.layer_norm(x, gain, shift, eps)


@wrong("layer_norm", "eps is only a lower bound here")
def _(x, gain, shift, eps):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt(c.square().mean(-1, keepdim=True).clamp(min=eps)) * gain + shift


@right("layer_norm", "torch's var and rsqrt")
def _(x, gain, shift, eps):
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    return torch.addcmul(shift, (x - mean) * torch.rsqrt(variance + eps), gain)


@right("layer_norm", "a loop over the rows")
def _(x, gain, shift, eps):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        c = row - sum(row) / len(row)
        rows.append(c / (sum(c ** 2) / len(row) + eps) ** 0.5 * gain + shift)
    return torch.stack(rows).reshape(x.shape)


@right("layer_norm", "in place, on a copy; the length of the row as its deviation")
def _(x, gain, shift, eps):
    x = x.clone()
    x -= x.mean(-1, keepdim=True)
    x /= torch.sqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps)
    return x.mul_(gain).add_(shift)


@right("layer_norm", "eps as a tensor, in single precision")
def _(x, gain, shift, eps):
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + torch.tensor(float(eps))) * gain + shift


@right("layer_norm", "unbiased, and corrected")
def _(x, gain, shift, eps):
    d = x.shape[-1]
    c = x - x.mean(-1, keepdim=True)
    variance = x.var(-1, keepdim=True) * (d - 1) / d if d > 1 else torch.zeros_like(x)
    return gain * (c * (variance + eps) ** -0.5) + shift


# -- mlp -------------------------------------------------------------------------------------------------------------

def _tanh_form(h):
    return 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))


@wrong("mlp", "This is the exact GELU")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h * 0.5 * (1 + torch.erf(h / math.sqrt(2))) @ W_2.T + b_2


@wrong("mlp", "This is ReLU")
def _(x, W_1, b_1, W_2, b_2):
    return torch.relu(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "the other approximation in the GELU paper")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h * torch.sigmoid(1.702 * h) @ W_2.T + b_2


@wrong("mlp", "two linear maps in a row are one linear map")
def _(x, W_1, b_1, W_2, b_2):
    return (x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "goes with the cube")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 2))) @ W_2.T + b_2


@wrong("mlp", "not its factor")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + (0.044715 * h) ** 3))) @ W_2.T + b_2


@wrong("mlp", "2/π stands there without its root")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(2 / math.pi * (h + 0.044715 * h ** 3))) @ W_2.T + b_2


@wrong("mlp", "The root multiplies both terms")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * h + 0.044715 * h ** 3)) @ W_2.T + b_2


@wrong("mlp", "Twice as large")
def _(x, W_1, b_1, W_2, b_2):
    return 2 * _tanh_form(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "the tanh form of Φ alone")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3))) / 2 @ W_2.T + b_2


@wrong("mlp", "The first layer's bias b_1 is missing")
def _(x, W_1, b_1, W_2, b_2):
    return _tanh_form(x @ W_1.T) @ W_2.T + b_2


@wrong("mlp", "The second layer's bias b_2 is missing")
def _(x, W_1, b_1, W_2, b_2):
    return _tanh_form(x @ W_1.T + b_1) @ W_2.T


@wrong("mlp", "b_1 is added before the GELU")
def _(x, W_1, b_1, W_2, b_2):
    return (_tanh_form(x @ W_1.T) + b_1) @ W_2.T + b_2


@wrong("mlp", "There is a GELU behind the second layer, too")
def _(x, W_1, b_1, W_2, b_2):
    return _tanh_form(_tanh_form(x @ W_1.T + b_1) @ W_2.T + b_2)


@wrong("mlp", "The skip belongs to the block")
def _(x, W_1, b_1, W_2, b_2):
    return x + _tanh_form(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "A linear layer's matrix is (out, in)")
def _(x, W_1, b_1, W_2, b_2):
    return _tanh_form(x @ W_1 + b_1) @ W_2 + b_2


@wrong("mlp", "That is as wide as the hidden layer")
def _(x, W_1, b_1, W_2, b_2):
    return _tanh_form(x @ W_1.T + b_1)


@wrong("mlp", "∞/∞ is not a number")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    z = math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)
    return h / 2 * (1 + (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))) @ W_2.T + b_2


@wrong("mlp", "The functions of math take a single number")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3))) @ W_2.T + b_2


@wrong("mlp", "For a plain number there is math")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(torch.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3))) @ W_2.T + b_2


@wrong("mlp", "right on the inputs that you see", at_once=False)
def _(x, W_1, b_1, W_2, b_2):
    W_1 = W_1 if W_1.shape[0] > len(x[0]) or len(x[0]) == 5 else W_1.T  # "make the shapes fit"
    return _tanh_form(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "Square matrices fit without the .T, too", at_once=False)
def _(x, W_1, b_1, W_2, b_2):
    W_1, W_2 = (W if W.shape[0] == W.shape[1] else W.T for W in (W_1, W_2))     # "only turned where it has to be"
    return _tanh_form(x @ W_1 + b_1) @ W_2 + b_2


@wrong("mlp", "there with all their digits?")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(0.79788 * (h + 0.04471 * h ** 3))) @ W_2.T + b_2


@wrong("mlp", "calls torch.nn.functional.gelu")
def _(x, W_1, b_1, W_2, b_2):
    return F.gelu(x @ W_1.T + b_1, approximate="tanh") @ W_2.T + b_2


@wrong("mlp", "calls torch.nn.functional.gelu")
def _(x, W_1, b_1, W_2, b_2):
    return borrowed(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "calls torch.nn.GELU")
def _(x, W_1, b_1, W_2, b_2):
    return nn.GELU("tanh")(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "calls coursekit.models.gelu")
def _(x, W_1, b_1, W_2, b_2):
    return library.gelu(x @ W_1.T + b_1) @ W_2.T + b_2


@wrong("mlp", "and all digits of 0.044715?")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044175 * h ** 3))) @ W_2.T + b_2


@right("mlp", "by a sigmoid: (1 + tanh z)/2 = σ(2z)")
def _(x, W_1, b_1, W_2, b_2):
    h = F.linear(x, W_1, b_1)
    return F.linear(h * torch.sigmoid((8 / math.pi) ** 0.5 * (h + 0.044715 * h.pow(3))), W_2, b_2)


@right("mlp", "a constant in single precision")
def _(x, W_1, b_1, W_2, b_2):
    h = x @ W_1.T + b_1
    return 0.5 * h * (1 + torch.tanh(torch.sqrt(torch.tensor(2 / math.pi)) * (h + 0.044715 * h ** 3))) @ W_2.T + b_2


@right("mlp", "einsum, and Horner's rule")
def _(x, W_1, b_1, W_2, b_2):
    h = torch.einsum("td,hd->th", x, W_1) + b_1
    h = h * (torch.tanh(0.7978845608028654 * h * (1 + 0.044715 * h * h)) + 1)
    return torch.einsum("th,dh->td", h, W_2 / 2) + b_2


# -- block -----------------------------------------------------------------------------------------------------------

@wrong("block", "post-norm, as the transformer of 2017 had it")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + mlp(x))


@wrong("block", "The first skip is missing")
def _(x, attention, mlp, norm_1, norm_2):
    x = attention(norm_1(x))
    return x + mlp(norm_2(x))


@wrong("block", "The second skip is missing")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    return mlp(norm_2(x))


@wrong("block", "Both skips are missing")
def _(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(attention(norm_1(x))))


@wrong("block", "The skips start from the normalised numbers")
def _(x, attention, mlp, norm_1, norm_2):
    x = norm_1(x)
    x = x + attention(x)
    x = norm_2(x)
    return x + mlp(x)


@wrong("block", "Attention and MLP both read x here")
def _(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x)) + mlp(norm_2(x))


@wrong("block", "The second skip starts from x")
def _(x, attention, mlp, norm_1, norm_2):
    y = x + attention(norm_1(x))
    return x + mlp(norm_2(y))


@wrong("block", "neither the norms nor the skips")
def _(x, attention, mlp, norm_1, norm_2):
    return mlp(attention(x))


@wrong("block", "Neither norm is used")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(x)
    return x + mlp(x)


@wrong("block", "norm_2 is not used")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    return x + mlp(x)


@wrong("block", "norm_1 is used twice")
def _(x, attention, mlp, norm_1, norm_2):
    for part in (attention, mlp):
        x = x + part(norm_1(x))
    return x


@wrong("block", "The norms have changed places")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_2(x))
    return x + mlp(norm_1(x))


@wrong("block", "The MLP comes first here")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + mlp(norm_2(x))
    return x + attention(norm_1(x))


@wrong("block", "They belong before them")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + norm_1(attention(x))
    return x + norm_2(mlp(x))


@wrong("block", "The result was normalised at the end")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    return norm_2(x + mlp(norm_2(x)))                                   # and a norm for good measure


@wrong("block", "where is something added to it?")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + norm_1(attention(x))
    return x + mlp(norm_2(x))


@wrong("block", "The MLP reads attention's contribution alone")
def _(x, attention, mlp, norm_1, norm_2):
    a = attention(norm_1(x))
    return x + a + mlp(norm_2(a))


@wrong("block", "x was added twice")
def _(x, attention, mlp, norm_1, norm_2):
    y = x + attention(norm_1(x))
    return x + y + mlp(norm_2(y))


@wrong("block", "The MLP never came to anything")
def _(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x))


@wrong("block", "Does it end with `return …`?")
def _(x, attention, mlp, norm_1, norm_2):
    x = x + attention(norm_1(x))
    x = x + mlp(norm_2(x))


@wrong("block", "it changes what it is given: `x`")
def _(x, attention, mlp, norm_1, norm_2):
    x += attention(norm_1(x))
    x += mlp(norm_2(x))
    return x


@wrong("block", "got a function (was it called, with brackets?)")
def _(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1)


@right("block", "a loop over the two halves")
def _(x, attention, mlp, norm_1, norm_2):
    for part, norm in ((attention, norm_1), (mlp, norm_2)):
        x = torch.add(part(norm(x)), x)
    return x


@right("block", "what each part writes, added up in the end")
def _(x, attention, mlp, norm_1, norm_2):
    written = [x, attention(norm_1(x.clone()))]
    written.append(mlp(norm_2(torch.stack(written).sum(0))))
    return torch.stack(written).sum(0)


# -- causal_attention ------------------------------------------------------------------------------------------------

def _causal(x, W_qkv, b_qkv, W_o, b_o, K, order=(0, 1, 2), scale=None, mask="past", axis=-1, low=-math.inf):
    """Causal attention with one thing done in another way."""
    T, d_e = x.shape
    parts = (x @ W_qkv.T + b_qkv).reshape(T, 3, K, d_e // K).permute(1, 2, 0, 3)           # (3, K, T, d_e/K)
    q, k, v = (parts[i] for i in order)
    scores = q @ k.mT / (scale or math.sqrt(d_e // K))
    if mask == "past":
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), low)
    elif mask == "future":
        scores = scores.masked_fill(torch.ones(T, T).tril(-1).bool(), -math.inf)
    elif mask == "product":
        scores = scores * torch.ones(T, T, dtype=x.dtype).tril()
    elif mask == "strict":
        scores = scores.masked_fill(torch.ones(T, T).triu().bool(), -math.inf)
    elif mask == "one more":
        scores = scores.masked_fill(torch.ones(T, T).triu(2).bool(), -math.inf)
    return (torch.softmax(scores, axis) @ v).transpose(0, 1).reshape(T, d_e) @ W_o.T + b_o


@wrong("causal_attention", "where is the causal mask?")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, mask=None)


@wrong("causal_attention", "The mask is the wrong way round")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, mask="future")


@wrong("causal_attention", "The future has the score 0 here")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, mask="product")


@wrong("causal_attention", "may every token see at least itself?")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, mask="strict")


@wrong("causal_attention", "Only −∞ is below every other", at_once=False)
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, low=-1e4)


@wrong("causal_attention", "in another order than Q, K, V")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, order=(2, 1, 0))


@wrong("causal_attention", "Queries and keys have changed places")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, order=(1, 0, 2))


@wrong("causal_attention", "The scores are not scaled")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, scale=1.0)


@wrong("causal_attention", "A head divides by the root of its own size")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, scale=math.sqrt(x.shape[1]))


@wrong("causal_attention", "the root of the number of tokens")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, scale=math.sqrt(len(x)))


@wrong("causal_attention", "the root of the number of heads")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, scale=math.sqrt(K) if K > 1 else math.sqrt(x.shape[1]))


@wrong("causal_attention", "Each token sees one token of the future")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, mask="one more")


@wrong("causal_attention", "Is the softmax over the last axis?")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, axis=0)                # over the heads


@wrong("causal_attention", "b_o was added more than once")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, K * b_o, K)                    # as a loop that mixes head by head may do


@wrong("causal_attention", "which exp makes of large scores")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, outputs = len(x), []
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3, 1)
    for q_i, k_i, v_i in zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1)):
        e = torch.exp(q_i @ k_i.T / math.sqrt(q_i.shape[1])).tril()
        outputs.append(e / e.sum(1, keepdim=True) @ v_i)
    return torch.cat(outputs, 1) @ W_o.T + b_o


@wrong("causal_attention", "That is one big head")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, 1)


@wrong("causal_attention", "The heads were cut first")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, d_e = x.shape
    q, k, v = (x @ W_qkv.T + b_qkv).reshape(T, K, 3 * d_e // K).transpose(0, 1).chunk(3, -1)
    scores = (q @ k.mT / math.sqrt(d_e // K)).masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(T, d_e) @ W_o.T + b_o


@wrong("causal_attention", "Every third column was taken")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    order = torch.arange(3 * x.shape[1]).reshape(-1, 3).T.flatten()
    return _causal(x, W_qkv[order], b_qkv[order], W_o, b_o, K)


@wrong("causal_attention", "The heads are interleaved")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    order = torch.arange(3 * x.shape[1]).reshape(3, -1, K).mT.flatten()
    return _causal(x, W_qkv[order], b_qkv[order], W_o, b_o, K)


@wrong("causal_attention", "Tokens and heads got mixed")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, d_e = x.shape
    q, k, v = (part.reshape(K, T, d_e // K) for part in (x @ W_qkv.T + b_qkv).chunk(3, 1))
    scores = (q @ k.mT / math.sqrt(d_e // K)).masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(0, 1).reshape(T, d_e) @ W_o.T + b_o


@wrong("causal_attention", "The heads' outputs got mixed on the way back")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, d_e = x.shape
    q, k, v = (part.reshape(T, K, -1).transpose(0, 1) for part in (x @ W_qkv.T + b_qkv).chunk(3, 1))
    scores = (q @ k.mT / math.sqrt(d_e // K)).masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v).reshape(T, d_e) @ W_o.T + b_o


@wrong("causal_attention", "Here heads look at heads")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, d_e = x.shape
    q, k, v = (part.reshape(T, K, -1) for part in (x @ W_qkv.T + b_qkv).chunk(3, 1))
    scores = (q @ k.mT / math.sqrt(d_e // K)).masked_fill(torch.ones(K, K).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v).reshape(T, d_e) @ W_o.T + b_o


@wrong("causal_attention", "The bias b_qkv is missing")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, torch.zeros_like(b_qkv), W_o, b_o, K)


@wrong("causal_attention", "b_o is missing")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, torch.zeros_like(b_o), K)


@wrong("causal_attention", "W_o and b_o did not mix them")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, torch.eye(len(W_o), dtype=x.dtype), torch.zeros_like(b_o), K)


@wrong("causal_attention", "W_o acts from the wrong side")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o.T, b_o, K)


@wrong("causal_attention", "is the softmax over the wrong axis?")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    future, outputs = torch.ones(len(x), len(x)).triu(1).bool(), []
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3, 1)
    for q_i, k_i, v_i in zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1)):
        scores = (q_i @ k_i.T / math.sqrt(q_i.shape[1])).masked_fill(future, -math.inf)
        outputs.append(torch.softmax(scores, 0) @ v_i)
    return torch.cat(outputs, 1) @ W_o.T + b_o


@wrong("causal_attention", "The mask comes after the softmax")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    outputs = []
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3, 1)
    for q_i, k_i, v_i in zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1)):
        outputs.append(torch.softmax(q_i @ k_i.T / math.sqrt(q_i.shape[1]), 1).tril() @ v_i)
    return torch.cat(outputs, 1) @ W_o.T + b_o


@wrong("causal_attention", "without the maps")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K), None


@wrong("causal_attention", "The skip belongs to the block")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return x + _causal(x, W_qkv, b_qkv, W_o, b_o, K)


@wrong("causal_attention", "Two shapes do not fit")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv.T, b_qkv, W_o, b_o, K)


@wrong("causal_attention", "`chunk(3)` cuts rows, the tokens")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3)
    return torch.softmax(q @ k.T, 1) @ v


@wrong("causal_attention", "right on the inputs that you see", at_once=False)
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, min(K, 3))


@wrong("causal_attention", "calls torch.nn.functional.scaled_dot_product_attention")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    q, k, v = (part.unflatten(1, (K, -1)).transpose(0, 1) for part in F.linear(x, W_qkv, b_qkv).chunk(3, 1))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).flatten(1) @ W_o.T + b_o


@wrong("causal_attention", "calls coursekit.models.scaled_dot_product_attention")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    q, k, v = (part.unflatten(1, (K, -1)).transpose(0, 1) for part in (x @ W_qkv.T + b_qkv).chunk(3, 1))
    mixed, _ = library.scaled_dot_product_attention(q, k, v, library.causal_mask(len(x)).to(x.dtype))
    return mixed.transpose(0, 1).flatten(1) @ W_o.T + b_o


@wrong("causal_attention", "CausalAttention")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    layer = library.gpt2.CausalAttention(x.shape[1], K).to(x.dtype)
    layer.load_state_dict({"qkv.weight": W_qkv, "qkv.bias": b_qkv, "output.weight": W_o, "output.bias": b_o})
    return layer(x[None])[0][0].detach()


@wrong("causal_attention", "in the product (row s of the scores belongs to query s)")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    future, out = torch.ones(len(x), len(x)).triu(1).bool(), []
    for q, k, v in zip(*(part.chunk(K, 1) for part in (x @ W_qkv.T + b_qkv).chunk(3, 1))):
        scores = k @ q.T / math.sqrt(q.shape[1])
        out.append(torch.softmax(scores.masked_fill(future, -math.inf), 1) @ v)
    return torch.cat(out, 1) @ W_o.T + b_o


@wrong("causal_attention", "The queries stand on both sides")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, order=(0, 0, 2))


@wrong("causal_attention", "The scores are multiplied by the root")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, scale=math.sqrt(K / x.shape[1]))


@wrong("causal_attention", "b_o was added before W_o")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, W_o @ b_o, K)


@wrong("causal_attention", "That is one big head")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, 1, scale=math.sqrt(x.shape[1] // K))


@wrong("causal_attention", "The heads have K columns each")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, x.shape[1] // K)


@right("causal_attention", "one token of one head at a time")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    T, d_e = x.shape
    d, table, out = d_e // K, (x @ W_qkv.mT + b_qkv).view(T, 3, d_e), torch.zeros_like(x)
    for i in range(K):
        for s in range(T):
            columns = slice(i * d, (i + 1) * d)
            q, k, v = table[s, 0, columns], table[:s + 1, 1, columns], table[:s + 1, 2, columns]
            out[s, columns] = torch.softmax(k @ q / d ** 0.5, 0) @ v
    return out @ W_o.mT + b_o


@right("causal_attention", "a number below all scores that single precision meets: its weight is exactly 0")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    return _causal(x, W_qkv, b_qkv, W_o, b_o, K, low=-1e9)


@right("causal_attention", "einsum, an added mask, and W_o head by head")
def _(x, W_qkv, b_qkv, W_o, b_o, K):
    q, k, v = torch.einsum("td,pkhd->pkth", x, W_qkv.view(3, K, -1, x.shape[1])) + b_qkv.view(3, K, 1, -1)
    scores = torch.einsum("ksh,kth->kst", q, k) * q.shape[-1] ** -0.5
    scores = scores + torch.full((len(x), len(x)), -math.inf, dtype=x.dtype).triu(1)
    return torch.einsum("kst,kth,dkh->sd", scores.softmax(2), v, W_o.view(len(W_o), K, -1)) + b_o


# -- text_loss -------------------------------------------------------------------------------------------------------

def _log_p(logits):
    return logits - torch.logsumexp(logits, -1, keepdim=True)


@wrong("text_loss", "where is the shift?")
def _(logits, ids):
    return -_log_p(logits)[torch.arange(len(ids)), ids].mean()


@wrong("text_loss", "where is the shift?")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[:-1, None]).mean()


@wrong("text_loss", "The shift goes the wrong way")
def _(logits, ids):
    return -_log_p(logits)[1:].gather(1, ids[:-1, None]).mean()


@wrong("text_loss", "The last row is held against the first token")
def _(logits, ids):
    return -_log_p(logits).gather(1, ids.roll(-1)[:, None]).mean()


@wrong("text_loss", "The sign is missing")
def _(logits, ids):
    return _log_p(logits)[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "That is the sum")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[1:, None]).sum()


@wrong("text_loss", "Divided by T")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[1:, None]).sum() / len(ids)


@wrong("text_loss", "Token 0 was left out")
def _(logits, ids):
    real = (ids[1:] != 0).to(logits.dtype)                              # as if 0 were padding
    return -(_log_p(logits)[:-1].gather(1, ids[1:, None])[:, 0] * real).sum() / real.sum()


@wrong("text_loss", "The maximum was taken out before exp, and never came back")
def _(logits, ids):
    log_p = logits - torch.exp(logits - logits.amax(1, keepdim=True)).sum(1, keepdim=True).log()
    return -log_p[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "The mean was taken before the logarithm")
def _(logits, ids):
    return -torch.softmax(logits, 1)[:-1].gather(1, ids[1:, None]).mean().log()


@wrong("text_loss", "was rounded to 0 is −∞")
def _(logits, ids):
    return -torch.softmax(logits, 1)[:-1].gather(1, ids[1:, None]).log().mean()


@wrong("text_loss", "exp(1000) is infinite")
def _(logits, ids):
    log_p = logits - torch.exp(logits).sum(1, keepdim=True).log()
    return -log_p[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "was a small number added to the probability")
def _(logits, ids):
    return -(torch.softmax(logits, 1)[:-1].gather(1, ids[1:, None]) + 1e-9).log().mean()


@wrong("text_loss", "The softmax runs over the tokens")
def _(logits, ids):
    return -torch.softmax(logits, 0).log()[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "That is in bits")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[1:, None]).mean() / math.log(2)


@wrong("text_loss", "That is the perplexity")
def _(logits, ids):
    return torch.exp(-_log_p(logits)[:-1].gather(1, ids[1:, None]).mean())


@wrong("text_loss", "The logarithm is missing")
def _(logits, ids):
    return -torch.softmax(logits, 1)[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "log Σ exp is still to be subtracted")
def _(logits, ids):
    return -logits[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "Row and column go together")
def _(logits, ids):
    return -_log_p(logits)[:-1][:, ids[1:]].mean()


@wrong("text_loss", "the entropy of the model's own distributions")
def _(logits, ids):
    log_p = _log_p(logits)[:-1]
    return -(log_p.exp() * log_p).sum(1).mean()


@wrong("text_loss", "One number is asked for")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[1:, None])[:, 0]


@wrong("text_loss", "A loss stays a tensor")
def _(logits, ids):
    return -_log_p(logits)[:-1].gather(1, ids[1:, None]).mean().item()


@wrong("text_loss", "No gradient gets through it")
def _(logits, ids):
    return torch.tensor(-_log_p(logits)[:-1].gather(1, ids[1:, None]).mean().item(), dtype=logits.dtype)


@wrong("text_loss", "The gradient that gets through it is wrong")
def _(logits, ids):
    log_p = logits - torch.logsumexp(logits, 1, keepdim=True).detach()
    return -log_p[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "A text of T tokens has T − 1 next tokens")
def _(logits, ids):
    return -_log_p(logits)[torch.arange(len(ids)), ids[1:]].mean()


@wrong("text_loss", "it changes what it is given: `logits`")
def _(logits, ids):
    logits -= logits.amax(1, keepdim=True)
    return -_log_p(logits)[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "calls torch.nn.functional.cross_entropy")
def _(logits, ids):
    return F.cross_entropy(logits[:-1], ids[1:])


@wrong("text_loss", "calls torch.nn.CrossEntropyLoss")
def _(logits, ids):
    return nn.CrossEntropyLoss()(logits[:-1], ids[1:])


@wrong("text_loss", "calls torch.log_softmax")
def _(logits, ids):
    return -logits.log_softmax(1)[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "calls torch.special_log_softmax")
def _(logits, ids):
    return -getattr(torch.special, "log_" + "softmax")(logits, 1)[:-1].gather(1, ids[1:, None]).mean()


@wrong("text_loss", "calls torch.distributions.Categorical")
def _(logits, ids):
    return -torch.distributions.Categorical(logits=logits[:-1]).log_prob(ids[1:]).mean()


@wrong("text_loss", "calls coursekit.models.next_token_loss")
def _(logits, ids):
    return library.next_token_loss(logits[None, :-1], ids[None, 1:])


@wrong("text_loss", "there the maximum of *each row* can be taken out first")
def _(logits, ids):
    rows = logits[:-1] - logits.max()                                   # one maximum for all, and not for each row
    log_p = rows - torch.exp(rows).sum(1, keepdim=True).log()
    return -log_p[torch.arange(len(rows)), ids[1:]].mean()


@wrong("text_loss", "both lost their first entry")
def _(logits, ids):
    return (torch.logsumexp(logits[1:], 1) - logits[1:].gather(1, ids[1:, None])[:, 0]).mean()


@wrong("text_loss", "The softmax runs over the tokens")
def _(logits, ids):
    log_p = logits[:-1] - torch.logsumexp(logits[:-1], 0)
    return -log_p[torch.arange(len(log_p)), ids[1:]].mean()


@right("text_loss", "a loop over the tokens, the maximum by hand")
def _(logits, ids):
    total = 0
    for row, target in zip(logits, ids[1:]):
        top = row.max()
        total = total + top + torch.log(torch.exp(row - top).sum()) - row[target]
    return total / (len(ids) - 1)


@right("text_loss", "how far the others are ahead of the target")
def _(logits, ids):
    return torch.logsumexp(logits[:-1] - logits[:-1].gather(1, ids[1:, None]), 1).mean()


@right("text_loss", "one-hot rows and logaddexp")
def _(logits, ids):
    rows = logits[:-1]
    hot = F.one_hot(ids[1:], rows.shape[1]).to(rows.dtype)
    total = functools.reduce(torch.logaddexp, rows.unbind(1))
    return (total - (hot * rows).sum(1)).mean()


# -- from_checkpoint -------------------------------------------------------------------------------------------------

NAMES = {"wte.weight": "W_e", "wpe.weight": "W_p", "ln_f": "norm", "h.": "blocks.", "ln_1": "norm_attention",
         "ln_2": "norm_mlp", "attn.c_attn": "attention.qkv", "attn.c_proj": "attention.output", "mlp.c_fc": "mlp.0",
         "mlp.c_proj": "mlp.2"}


def _renamed(name, names=NAMES):
    for theirs, ours in names.items():
        name = name.replace(theirs, ours)
    return name.removeprefix("transformer.")


def _kept(stored):
    return {name: w for name, w in stored.items()
            if name != "lm_head.weight" and not name.endswith((".attn.bias", ".masked_bias"))}


def _is_linear(name):
    return ".c_" in name and name.endswith("weight")


@wrong("from_checkpoint", "here a linear layer is (out, in): transpose them")
def _(stored):
    return {_renamed(name): w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "The embeddings were transposed")
def _(stored):
    return {_renamed(name): w.T if w.dim() == 2 else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "It is square, so that its shape fits either way")
def _(stored):
    return {_renamed(name): w.T if _is_linear(name) and w.shape[0] != w.shape[1] else w
            for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "All four of a block are")
def _(stored):
    return {_renamed(name): w.T if _is_linear(name) and "mlp" not in name else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "lm_head.weight is the embedding once more")
def _(stored):
    kept = {name: w for name, w in stored.items() if not name.endswith((".attn.bias", ".masked_bias"))}
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in kept.items()}


@wrong("from_checkpoint", "constants, not weights")
def _(stored):
    kept = {name: w for name, w in stored.items() if name != "lm_head.weight"}
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in kept.items()}


@wrong("from_checkpoint", "were lost with the masks")
def _(stored):
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in _kept(stored).items()
            if not name.endswith("attn.bias")}


@wrong("from_checkpoint", "Attention's own biases were lost with the masks")
def _(stored):
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in _kept(stored).items()
            if not ("attn" in name and "bias" in name)}


@wrong("from_checkpoint", "There is an h in")
def _(stored):
    names = {"h" if theirs == "h." else theirs: ours.rstrip(".") for theirs, ours in NAMES.items()}
    return {_renamed(name, names): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "has this model that many layers?")
def _(stored):
    return {"W_e": stored["wte.weight"]} | {f"blocks.{l}.mlp.0.bias": stored[f"h.{l}.mlp.c_fc.bias"] for l in range(12)}


@wrong("from_checkpoint", "A checkpoint of a whole language model has \"transformer.\"")
def _(stored):
    def renamed(name):
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        return name

    return {renamed(name): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "Two layers are called c_proj")
def _(stored):
    names = {theirs.replace("attn.c_proj", "c_proj").replace("mlp.c_proj", "?"):
             ours.replace("attention.output", "output") for theirs, ours in NAMES.items()}
    names |= {"attn.": "attention."}
    return {_renamed(name, names): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "are not those of the table")
def _(stored):
    names = NAMES | {"ln_f": "norm_final"}
    return {_renamed(name, names): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "are not those of the table")
def _(stored):
    return {name.removeprefix("transformer."): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "A reshape keeps the order of the numbers")
def _(stored):
    return {_renamed(name): w.reshape(w.shape[::-1]) if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "holds the numbers of another weight")
def _(stored):
    names = NAMES | {"ln_1": "norm_mlp", "ln_2": "norm_attention"}
    return {_renamed(name, names): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "holds the numbers of another weight")
def _(stored):
    names = NAMES | {"mlp.c_fc": "mlp.2", "mlp.c_proj": "mlp.0"}
    return {_renamed(name, names): w.T if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "should be the tensor that was stored")
def _(stored):
    return {_renamed(name): w.T * (1.0 if "bias" in name else 2.0) if _is_linear(name) else w
            for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "is a NumPy array. The values are tensors")
def _(stored):
    return {_renamed(name): (w.T if _is_linear(name) else w).numpy() for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "it changes what it is given: `stored['h.0.attn.c_attn.weight']`")
def _(stored):
    return {_renamed(name): w.t_() if _is_linear(name) else w for name, w in _kept(stored).items()}


@wrong("from_checkpoint", "Layer 10 is lost")
def _(stored):
    return {_renamed(re.sub(r"h\.(\d)\d*", r"h.\1", name)): w.T if _is_linear(name) else w
            for name, w in _kept(stored).items()}                       # a layer's number has one digit?


@wrong("from_checkpoint", "Does `return` stand inside the loop?")
def _(stored):
    weights = {}
    for name, w in stored.items():
        weights[_renamed(name)] = w.T if _is_linear(name) else w
        return weights


@wrong("from_checkpoint", "it changes what it is given: `stored`")
def _(stored):
    for name in list(stored):
        if name == "lm_head.weight" or name.endswith((".attn.bias", ".masked_bias")):
            del stored[name]
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in stored.items()}


@wrong("from_checkpoint", "What a loop runs over must not change meanwhile")
def _(stored):
    for name in stored:
        stored[_renamed(name)] = stored.pop(name)
    return stored


@wrong("from_checkpoint", "Only the first layer is there")
def _(stored):
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in _kept(stored).items() if ".1." not in name}


@wrong("from_checkpoint", "the number of a layer may have two digits")
def _(stored):
    kept = {name.removeprefix("transformer."): w for name, w in _kept(stored).items()}
    return {_renamed(name): w.T if _is_linear(name) else w for name, w in kept.items()
            if not name.startswith("h.") or name[3] == "."}


@right("from_checkpoint", "asks for each of the names that it wants")
def _(stored):
    there = {name.removeprefix("transformer."): w for name, w in stored.items()}
    weights = {"W_e": there["wte.weight"], "W_p": there["wpe.weight"]}
    layers = {"norm_attention": "ln_1", "attention.qkv": "attn.c_attn", "attention.output": "attn.c_proj",
              "norm_mlp": "ln_2", "mlp.0": "mlp.c_fc", "mlp.2": "mlp.c_proj"}
    l = 0
    while f"h.{l}.ln_1.weight" in there:
        for ours, theirs in layers.items():
            w = there[f"h.{l}.{theirs}.weight"]
            weights[f"blocks.{l}.{ours}.weight"] = w.t().contiguous() if w.dim() == 2 else w.clone()
            weights[f"blocks.{l}.{ours}.bias"] = there[f"h.{l}.{theirs}.bias"]
        l += 1
    return weights | {"norm.weight": there["ln_f.weight"], "norm.bias": there["ln_f.bias"]}


@right("from_checkpoint", "takes names apart at the dots")
def _(stored):
    inner = {"ln_1": ["norm_attention"], "ln_2": ["norm_mlp"], "c_attn": ["attention", "qkv"], "c_fc": ["mlp", "0"]}
    weights = {}
    for name, w in stored.items():
        *path, last = name.split(".")
        path = path[path[0] == "transformer":]
        if path == ["lm_head"] or path[-1] == "attn":
            continue
        if path[0] == "h":
            end = inner.get(path[-1], ["mlp", "2"] if path[2] == "mlp" else ["attention", "output"])
            weights[".".join(["blocks", path[1], *end, last])] = w.mT if w.ndim == 2 else w
        elif path[0] == "ln_f":
            weights[f"norm.{last}"] = w
        else:
            weights["W_e" if path[0] == "wte" else "W_p"] = w
    return weights


# -- gpt2_logits -----------------------------------------------------------------------------------------------------

def _logits(ids, weights, K, layers=None, eps=1e-5, final=True, positions=None, act=None,
            norms=("norm_attention", "norm_mlp")):
    """The whole model from torch's parts, with one thing done in another way."""
    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], eps)

    def attention(x, name):
        return causal_attention(x, *(weights[f"{name}.{part}"] for part in
                                     ("qkv.weight", "qkv.bias", "output.weight", "output.bias")), K)

    def mlp(x, name):
        h = (act or borrowed)(F.linear(x, weights[f"{name}.0.weight"], weights[f"{name}.0.bias"]))
        return F.linear(h, weights[f"{name}.2.weight"], weights[f"{name}.2.bias"])

    L = len({name.split(".")[1] for name in weights if name.startswith("blocks")})
    x = weights["W_e"][ids] + (weights["W_p"][:len(ids)] if positions is None else positions)
    for l in range(L) if layers is None else layers:
        x = x + attention(norm(x, f"blocks.{l}.{norms[0]}"), f"blocks.{l}.attention")
        x = x + mlp(norm(x, f"blocks.{l}.{norms[1]}"), f"blocks.{l}.mlp")
    return (norm(x, "norm") if final else x) @ weights["W_e"].T


def _block(x, weights, l, K, norm=None):
    """A block from torch's parts; norm: a function of x and a name."""
    norm = norm or (lambda x, name: F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"]))
    its = {name.removeprefix(f"blocks.{l}."): w for name, w in weights.items() if name.startswith(f"blocks.{l}.")}
    x = x + causal_attention(norm(x, f"blocks.{l}.norm_attention"), its["attention.qkv.weight"],
                             its["attention.qkv.bias"], its["attention.output.weight"], its["attention.output.bias"], K)
    h = borrowed(F.linear(norm(x, f"blocks.{l}.norm_mlp"), its["mlp.0.weight"], its["mlp.0.bias"]))
    return x + F.linear(h, its["mlp.2.weight"], its["mlp.2.bias"])


@wrong("gpt2_logits", "The positions are missing")
def _(ids, weights, K):
    return _logits(ids, weights, K, positions=0)


@wrong("gpt2_logits", "W_p was asked for the ids")
def _(ids, weights, K):
    return _logits(ids, weights, K, positions=weights["W_p"][ids.clamp(max=len(weights["W_p"]) - 1)])


@wrong("gpt2_logits", "The positions start from 0")
def _(ids, weights, K):
    return _logits(ids, weights, K, positions=weights["W_p"][1:len(ids) + 1])


@wrong("gpt2_logits", "The final norm is missing")
def _(ids, weights, K):
    return _logits(ids, weights, K, final=False)


@wrong("gpt2_logits", "Only layer 0 is used")
def _(ids, weights, K):
    return _logits(ids, weights, K, layers=[0])


@wrong("gpt2_logits", "The last layer is missing")
def _(ids, weights, K):
    L = sum(name.endswith("qkv.bias") for name in weights)
    return _logits(ids, weights, K, layers=range(L - 1))


@wrong("gpt2_logits", "each layer has weights of its own")
def _(ids, weights, K):
    return _logits(ids, weights, K, layers=[0 for name in weights if name.endswith("qkv.bias")])


@wrong("gpt2_logits", "in which 10 comes before 2")
def _(ids, weights, K):
    return _logits(ids, weights, K, layers=sorted({name.split(".")[1] for name in weights if "blocks" in name}))


@wrong("gpt2_logits", "gpt2_logits calls `layer_norm` (question 1), which is still empty. Write it, or use torch's own")
def _(ids, weights, K):
    def layer_norm(x, gain, shift, eps):
        raise NotImplementedError()

    return layer_norm(weights["W_e"][ids], weights["norm.weight"], weights["norm.bias"], 1e-5) @ weights["W_e"].T


@wrong("gpt2_logits", "Only 10 layers are used")
def _(ids, weights, K):
    return _logits(ids, weights, K, layers=sorted({name[7] for name in weights if "blocks" in name}))


@wrong("gpt2_logits", "the GELU the one with tanh?")
def _(ids, weights, K):
    return _logits(ids, weights, K, act=F.gelu)


@wrong("gpt2_logits", "The MLP has a ReLU here")
def _(ids, weights, K):
    return _logits(ids, weights, K, act=torch.relu)


@wrong("gpt2_logits", "eps is 0.001 here")
def _(ids, weights, K):
    return _logits(ids, weights, K, eps=1e-3)


@wrong("gpt2_logits", "is eps 1e-5 in every norm")
def _(ids, weights, K):
    return _logits(ids, weights, K, eps=1e-6)


@wrong("gpt2_logits", "Have the two changed places")
def _(ids, weights, K):
    return _logits(ids, weights, K, norms=("norm_mlp", "norm_attention"))


@wrong("gpt2_logits", "or is one of them used twice?")
def _(ids, weights, K):
    return _logits(ids, weights, K, norms=("norm_attention", "norm_attention"))


@wrong("gpt2_logits", "a lambda looks its names up when it is called")
def _(ids, weights, K):
    blocks, L = [], sum(name.endswith("qkv.bias") for name in weights)
    for l in range(L):
        blocks.append(lambda: l)                                        # the l of the loop's end
    return _logits(ids, weights, K, layers=[layer() for layer in blocks])


@wrong("gpt2_logits", "without a softmax")
def _(ids, weights, K):
    return torch.softmax(_logits(ids, weights, K), -1)


@wrong("gpt2_logits", "There is one text, and no batch")
def _(ids, weights, K):
    return _logits(ids, weights, K)[None]


@wrong("gpt2_logits", "does a constant in your function have a dtype of its own?")
def _(ids, weights, K):
    return _logits(ids, {name: w.float() for name, w in weights.items()}, K)


@wrong("gpt2_logits", "`weights['W_p'].clone()` is a copy")
def _(ids, weights, K):
    x = weights["W_p"][:len(ids)]                                       # a view
    x += weights["W_e"][ids]
    return _logits(ids, weights, K, positions=x - weights["W_e"][ids])


@wrong("gpt2_logits", "K is not used")
def _(ids, weights, K):
    return _logits(ids, weights, 1)


@wrong("gpt2_logits", "That is the stream")
def _(ids, weights, K):
    x = weights["W_e"][ids] + weights["W_p"][:len(ids)]
    return layer_norm(x, weights["norm.weight"], weights["norm.bias"], 1e-5)


@wrong("gpt2_logits", "The blocks were not used")
def _(ids, weights, K):
    return _logits(ids, weights, K, layers=[])


@wrong("gpt2_logits", "not only at the last")
def _(ids, weights, K):
    return _logits(ids, weights, K)[-1]


@wrong("gpt2_logits", "only the logits are (T, D)")
def _(ids, weights, K):
    return _logits(ids, weights | {"W_p": weights["W_p"].T}, K)


@wrong("gpt2_logits", "Two shapes do not fit")
def _(ids, weights, K):
    x = weights["W_e"][ids] + weights["W_p"]
    return x @ weights["W_e"].T


@wrong("gpt2_logits", "it changes what it is given: `weights`")
def _(ids, weights, K):
    result = _logits(ids, weights, K)
    weights.pop("norm.bias")
    return result


@wrong("gpt2_logits", "calls coursekit.models.GPT2")
def _(ids, weights, K):
    (D, d_e), L = weights["W_e"].shape, sum(name.endswith("qkv.bias") for name in weights)
    model = library.GPT2(library.GPT2Config(D, len(weights["W_p"]), d_e, K, L)).to(weights["W_e"].dtype)
    model.load_state_dict(weights)
    return model(ids[None])[0].detach()


@wrong("gpt2_logits", "Only 3 layers are used")
def _(ids, weights, K):
    L = min(3, sum(name.endswith("qkv.bias") for name in weights))
    return _logits(ids, weights, K, layers=range(L))


@wrong("gpt2_logits", "The final norm, \"norm\", is applied behind every block")
def _(ids, weights, K):
    x = weights["W_e"][ids] + weights["W_p"][:len(ids)]
    for l in range(sum("mlp.0.weight" in name for name in weights)):
        x = _block(x, weights, l, K)
        x = F.layer_norm(x, x.shape[-1:], weights["norm.weight"], weights["norm.bias"])
    return x @ weights["W_e"].T


@wrong("gpt2_logits", "A layer norm divides by d")
def _(ids, weights, K):
    def norm(x, name):
        c = x - x.mean(-1, keepdim=True)
        return c / torch.sqrt(x.var(-1, keepdim=True) + 1e-5) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["W_e"][ids] + weights["W_p"][:len(ids)]
    for l in range(sum("mlp.0.weight" in name for name in weights)):
        x = _block(x, weights, l, K, norm)
    return norm(x, "norm") @ weights["W_e"].T


@wrong("gpt2_logits", "There are d_e heads here")
def _(ids, weights, K):
    return _logits(ids, weights, weights["W_e"].shape[1])


@wrong("gpt2_logits", "W_e has a row for each word, W_p one for each place")
def _(ids, weights, K):
    return _logits(ids, weights, K, positions=weights["W_p"][ids])


@wrong("gpt2_logits", "W_p may have more rows than the text has tokens")
def _(ids, weights, K):
    return _logits(ids, weights, K, positions=weights["W_p"])


@wrong("gpt2_logits", "does each function that you call end with `return …`?")
def _(ids, weights, K):
    def block(x):
        x = x + x

    x = block(weights["W_e"][ids])
    return x.mT


@right("gpt2_logits", "the last row for each beginning of the text")
def _(ids, weights, K):
    return torch.stack([_logits(ids[:t + 1], weights, K)[-1] for t in range(len(ids))])


@right("gpt2_logits", "a GELU with a constant in single precision")
def _(ids, weights, K):
    root = torch.tensor(2 / math.pi).sqrt()
    return _logits(ids, weights, K, act=lambda h: h / 2 * (1 + torch.tanh(root * (h + 0.044715 * h ** 3))))


@right("gpt2_logits", "torch's own parts")
def _(ids, weights, K):
    return _logits(ids, weights, K)


@right("gpt2_logits", "a module's worth of weights, layer by layer")
def _(ids, weights, K):
    layers = {}
    for name, w in weights.items():
        if name.startswith("blocks."):
            _, l, rest = name.split(".", 2)
            layers.setdefault(int(l), {})[rest] = w
    x = F.embedding(ids, weights["W_e"]) + F.embedding(torch.arange(len(ids)), weights["W_p"])
    for l in sorted(layers):
        part = layers[l].__getitem__
        norms = [functools.partial(layer_norm, gain=part(f"{name}.weight"), shift=part(f"{name}.bias"), eps=1e-5)
                 for name in ("norm_attention", "norm_mlp")]
        x = block(x, lambda y: causal_attention(y, part("attention.qkv.weight"), part("attention.qkv.bias"),
                                                part("attention.output.weight"), part("attention.output.bias"), K),
                  lambda y: mlp(y, part("mlp.0.weight"), part("mlp.0.bias"), part("mlp.2.weight"), part("mlp.2.bias")),
                  *norms)
    x = layer_norm(x, weights["norm.weight"], weights["norm.bias"], 1e-5)
    return torch.stack([weights["W_e"] @ row for row in x])
