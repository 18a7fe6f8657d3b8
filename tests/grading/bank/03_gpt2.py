"""Assignment 03: answers that people give and that no mistake of the checks can be, and what a check must say to them.

layer_norm, mlp and causal_attention, which a later question builds on, are put into this module by the test: the
reference's.
"""

import functools
import math

import torch
import torch.nn.functional as F

from coursekit import models as library
from tests.grading.bank.entries import right, wrong

layer_norm = mlp = causal_attention = None              # the reference's, at test time
borrowed = functools.partial(F.gelu, approximate="tanh")


# -- layer_norm ------------------------------------------------------------------------------------------------------

def _norm(x, gain, shift, eps, part=None):
    c = x - x.mean(-1, keepdim=True)
    root = torch.sqrt(c.square().mean(-1, keepdim=True) + eps)
    return c / root * gain + shift if part is None else (part - part.mean(-1, keepdim=True)) / root * gain


@wrong("layer_norm", "right on the inputs that you see", at_once=False)
def _(x, gain, shift, eps, part=None):
    d = x.shape[-1]
    variance = x.var(-1, keepdim=True) * (d - 1) / d                    # nan for a row of one number
    own = x if part is None else part
    scaled = (own - own.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) * gain
    return scaled + shift if part is None else scaled


@wrong("layer_norm", "Do mean and variance keep their axis")
def _(x, gain, shift, eps, part=None):
    c = x - x.mean(-1)
    return c / torch.sqrt(c.square().mean(-1) + eps) * gain + shift


@wrong("layer_norm", "With a part: the part minus its own mean")
def _(x, gain, shift, eps, part=None):
    return _norm(x, gain, shift, eps) if part is None else part


@wrong("layer_norm", "calls coursekit.models.layer_norm")
def _(x, gain, shift, eps, part=None):
    return library.layer_norm(x, gain, shift, eps)


@right("layer_norm", "a loop over the rows")
def _(x, gain, shift, eps, part=None):
    if x.dim() > 1:
        return torch.stack([_norm(row, gain, shift, eps, part if part is None else part[i]) for i, row in enumerate(x)])
    return _norm(x, gain, shift, eps, part)


@right("layer_norm", "the whole minus the norm of what is left, with eps as a tensor in single precision")
def _(x, gain, shift, eps, part=None):
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    root = torch.rsqrt(variance + torch.tensor(float(eps)))
    whole = torch.addcmul(shift, (x - mean) * root, gain)
    if part is None:
        return whole
    rest = x - part
    return (whole - shift) - gain * (rest - rest.mean(-1, keepdim=True)) * root


# -- mlp -------------------------------------------------------------------------------------------------------------

def _gelu(h):
    return 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))


def _mlp(x, W_1, b_1, W_2, b_2, change=None):
    h = x @ W_1.T + b_1
    if change is None:
        return _gelu(h) @ W_2.T + b_2
    t, root = torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)), math.sqrt(2 / math.pi)
    slope = (1 + t) / 2 + h / 2 * (1 - t ** 2) * root * (1 + 3 * 0.044715 * h ** 2)
    return (slope * (change @ W_1.T)) @ W_2.T


@wrong("mlp", "A linear layer's matrix is (out, in)")
def _(x, W_1, b_1, W_2, b_2, change=None):
    return _gelu(x @ W_1 + b_1) @ W_2 + b_2 if len(x) > 1 else _mlp(x, W_1, b_1, W_2, b_2, change)


@wrong("mlp", "Here you write both")
def _(x, W_1, b_1, W_2, b_2):
    return gelu(x @ W_1.T + b_1) @ W_2.T + b_2          # as in the lecture  # noqa: F821


@wrong("mlp", "∞/∞ is not a number")
def _(x, W_1, b_1, W_2, b_2, change=None):
    h = x @ W_1.T + b_1
    z = math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)
    return h / 2 * (1 + (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))) @ W_2.T + b_2


@wrong("mlp", "Square matrices fit without the .T, too", at_once=False)
def _(x, W_1, b_1, W_2, b_2, change=None):
    if change is not None:
        return _mlp(x, W_1, b_1, W_2, b_2, change)
    W_1, W_2 = (W if W.shape[0] == W.shape[1] else W.T for W in (W_1, W_2))     # "only turned where it has to be"
    return _gelu(x @ W_1 + b_1) @ W_2 + b_2


@wrong("mlp", "there with all their digits?")
def _(x, W_1, b_1, W_2, b_2, change=None):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(0.79788 * (h + 0.04471 * h ** 3))) @ W_2.T + b_2


@wrong("mlp", "and all digits of 0.044715?")
def _(x, W_1, b_1, W_2, b_2, change=None):
    h = x @ W_1.T + b_1
    return h / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044175 * h ** 3))) @ W_2.T + b_2


@right("mlp", "by a sigmoid: (1 + tanh z)/2 = σ(2z)")
def _(x, W_1, b_1, W_2, b_2, change=None):
    h, root = F.linear(x, W_1, b_1), torch.tensor(8 / math.pi).sqrt()   # a constant in single precision
    s = torch.sigmoid(root * (h + 0.044715 * h.pow(3)))
    if change is None:
        return F.linear(h * s, W_2, b_2)
    return F.linear(s * (1 + h * (1 - s) * root * (1 + 0.134145 * h * h)) * F.linear(change, W_1), W_2)


@right("mlp", "one token at a time")
def _(x, W_1, b_1, W_2, b_2, change=None):
    return torch.stack([_mlp(row, W_1, b_1, W_2, b_2, change if change is None else change[t])
                        for t, row in enumerate(x)])


# -- causal_attention ------------------------------------------------------------------------------------------------

def _by_einsum(x, W_qkv, b_qkv, W_o, b_o, K, silent=(), low=-math.inf):
    q, k, v = torch.einsum("td,pkhd->pkth", x, W_qkv.view(3, K, -1, x.shape[1])) + b_qkv.view(3, K, 1, -1)
    scores = torch.einsum("ksh,kth->kst", q, k) * q.shape[-1] ** -0.5
    A = scores.masked_fill(torch.ones(len(x), len(x)).triu(1).bool(), low).softmax(2)
    heard = torch.tensor([float(i not in silent) for i in range(K)]).to(x.dtype)
    return torch.einsum("k,kst,kth,dkh->sd", heard, A, v, W_o.view(len(W_o), K, -1)) + b_o


@wrong("causal_attention", "exp makes ∞ of large scores")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    outputs = []
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3, 1)
    for q_i, k_i, v_i in zip(q.chunk(K, 1), k.chunk(K, 1), v.chunk(K, 1)):
        e = torch.exp(q_i @ k_i.T / math.sqrt(q_i.shape[1])).tril()
        outputs.append(e / e.sum(1, keepdim=True) @ v_i)
    return torch.cat(outputs, 1) @ W_o.T + b_o


@wrong("causal_attention", "may every token see at least itself?")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    scores = (x @ W_qkv.T)[:, :len(x)] @ torch.ones(len(x), len(x))
    strict = torch.full((len(x), len(x)), -math.inf).triu()
    return torch.softmax(scores[:, :len(x)] + strict, 1) @ x


@wrong("causal_attention", "Follow one head")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    return _by_einsum(x, W_qkv, b_qkv, W_o, b_o, K, silent).sigmoid()


@wrong("causal_attention", "`chunk(3)` cuts rows, the tokens")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    q, k, v = (x @ W_qkv.T + b_qkv).chunk(3)
    return torch.softmax(q @ k.T, 1) @ v


@wrong("causal_attention", "A silent head keeps its place")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    if not silent:
        return _by_einsum(x, W_qkv, b_qkv, W_o, b_o, K)
    left = [v for i, v in enumerate((x @ W_qkv.T + b_qkv).chunk(3, 1)[2].chunk(K, 1)) if i not in silent]
    return torch.cat(left, 1) @ W_o.T + b_o


@wrong("causal_attention", "Only −∞ is below every other", at_once=False)
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    return _by_einsum(x, W_qkv, b_qkv, W_o, b_o, K, silent, low=-1e4)


@right("causal_attention", "einsum, and W_o head by head")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    return _by_einsum(x, W_qkv, b_qkv, W_o, b_o, K, silent)


@right("causal_attention", "one token of one head at a time; columns of W_o that are cleared")
def _(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    T, d_e = x.shape
    d, table, out, W_o = d_e // K, (x @ W_qkv.mT + b_qkv).view(T, 3, d_e), torch.zeros_like(x), W_o.clone()
    for i in range(K):
        columns = slice(i * d, (i + 1) * d)
        if i in silent:
            W_o[:, columns] = 0
        for s in range(T):
            q, k, v = table[s, 0, columns], table[:s + 1, 1, columns], table[:s + 1, 2, columns]
            out[s, columns] = torch.softmax(k @ q / d ** 0.5, 0) @ v
    return out @ W_o.mT + b_o


# -- gpt2_logits -----------------------------------------------------------------------------------------------------

def _logits(ids, weights, K, silent=(), positions=None, act=borrowed):
    """The whole model from torch's parts."""
    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])

    def linear(x, name):
        return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    x = weights["W_e"][ids] + (weights["W_p"][:len(ids)] if positions is None else positions)
    for l in range(len({name.split(".")[1] for name in weights if name.startswith("blocks")})):
        its = (weights[f"blocks.{l}.attention.{part}"] for part in ("qkv.weight", "qkv.bias", "output.weight",
                                                                    "output.bias"))
        off = [i for layer, i in silent if layer == l]
        x = x + causal_attention(norm(x, f"blocks.{l}.norm_attention"), *its, K, off)
        x = x + linear(act(linear(norm(x, f"blocks.{l}.norm_mlp"), f"blocks.{l}.mlp.0")), f"blocks.{l}.mlp.2")
    return norm(x, "norm") @ weights["W_e"].T


@wrong("gpt2_logits", "gpt2_logits calls `layer_norm` (question 1), which is still empty. Write it, or use torch's own")
def _(ids, weights, K, silent=()):
    def layer_norm(x, gain, shift, eps):
        raise NotImplementedError()

    return layer_norm(weights["W_e"][ids], weights["norm.weight"], weights["norm.bias"], 1e-5) @ weights["W_e"].T


@wrong("gpt2_logits", "the GELU the one with tanh?")
def _(ids, weights, K, silent=()):
    return _logits(ids, weights, K, silent, act=F.gelu)


@wrong("gpt2_logits", "Is each weight used where its name says?")
def _(ids, weights, K, silent=()):
    return _logits(ids, weights | {"blocks.0.mlp.2.bias": weights["blocks.0.norm_mlp.bias"]}, K, silent)


@wrong("gpt2_logits", "has this model that many layers?")
def _(ids, weights, K, silent=()):
    return weights["blocks.12.mlp.0.weight"]


@wrong("gpt2_logits", "W_e has a row for each word, W_p one for each place")
def _(ids, weights, K, silent=()):
    return _logits(ids, weights, K, positions=weights["W_p"][ids])


@wrong("gpt2_logits", "W_p may have more rows than the text has tokens")
def _(ids, weights, K, silent=()):
    return _logits(ids, weights, K, positions=weights["W_p"])


@right("gpt2_logits", "the last row for each beginning of the text")
def _(ids, weights, K, silent=()):
    return torch.stack([_logits(ids[:t + 1], weights, K, silent)[-1] for t in range(len(ids))])


@right("gpt2_logits", "silence by clearing columns of copied weights")
def _(ids, weights, K, silent=()):
    weights, d = dict(weights), weights["W_e"].shape[1] // K
    for l, i in silent:
        name = f"blocks.{l}.attention.output.weight"
        weights[name] = weights[name].clone()
        weights[name][:, i * d:(i + 1) * d] = 0
    return _logits(ids, weights, K)


# -- one_head --------------------------------------------------------------------------------------------------------

@wrong("one_head", "head 2.1 is the one that the lecture found: another one is asked for")
def _():
    return "do you like my sister's poem ? her", 2, 1


@wrong("one_head", "the model does not know the word 'cat'")
def _():
    return "the cat sat on the", 0, 1


@wrong("one_head", "tokens, and may have 1 to 20")
def _():
    return "do you like my plan ? " * 4, 0, 1


@wrong("one_head", "but with 0.69 only: .9 is asked for")
def _():
    return "nobody will love", 0, 1


@wrong("one_head", "without this head '?' still has")
def _():
    return "do you like this story", 0, 1


@wrong("one_head", "the likeliest word is not 'fails' either")
def _():
    return "the heroes . without clearer scenes , your story", 0, 0


@right("one_head", "a list, and a text that no dialogue begins with")
def _():
    return ["the argument is a silent key . nobody will love", 0, 1]


@right("one_head", "capitals, and no spaces in front of marks")
def _():
    return "How can I improve my sister's program? The tests are so elegant", 1, 0
