"""Assignment 03: answers that people give and that no mistake of the checks can be, and what a check must say to them.

layer_norm, mlp, causal_attention and gpt2_logits, which a later question builds on, are put into this module by the
test: the reference's.
"""

import copy
import functools
import math

import numpy as np
import torch
import torch.nn.functional as F

from coursekit import models as library
from coursekit.worlds import dialogues
from tests.grading.bank.entries import right, wrong

layer_norm = mlp = causal_attention = gpt2_logits = None                # the reference's, at test time
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


@wrong("layer_norm", "The last axis is −1, whatever stands before it")
def _(x, gain, shift, eps, part=None):
    return torch.stack([_norm(x[t, :], gain, shift, eps, part if part is None else part[t]) for t in range(len(x))])


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


def _written(g, W_2, b_2, units):
    return g @ W_2.T + b_2 if units is None else g[:, list(units)] @ W_2[:, list(units)].T


def _mlp(x, W_1, b_1, W_2, b_2, units=None):
    return _written(_gelu(x @ W_1.T + b_1), W_2, b_2, units)


@wrong("mlp", "A linear layer's matrix is (out, in)")
def _(x, W_1, b_1, W_2, b_2, units=None):
    return _gelu(x @ W_1 + b_1) @ W_2 + b_2 if len(x) > 1 else _mlp(x, W_1, b_1, W_2, b_2, units)


@wrong("mlp", "Here you write both")
def _(x, W_1, b_1, W_2, b_2):
    return gelu(x @ W_1.T + b_1) @ W_2.T + b_2          # as in the lecture  # noqa: F821


@wrong("mlp", "∞/∞ is not a number")
def _(x, W_1, b_1, W_2, b_2, units=None):
    h = x @ W_1.T + b_1
    z = math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)
    return _written(h / 2 * (1 + (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))), W_2, b_2, units)


@wrong("mlp", "and a unit writes by a *column* of W_2")
def _(x, W_1, b_1, W_2, b_2, units=None):
    W_1, W_2 = (W if W.shape[0] == W.shape[1] else W.T for W in (W_1, W_2))     # "only turned where it has to be"
    return _written(_gelu(x @ W_1 + b_1), W_2.T, b_2, units)


@wrong("mlp", "of the (T, d_h) table and of W_2, their second axis")
def _(x, W_1, b_1, W_2, b_2, units=None):
    g = _gelu(x @ W_1.T + b_1)
    return g @ W_2.T + b_2 if units is None else g[:, units] @ W_2[units]


@wrong("mlp", "With units: only their columns of the hidden layer and of W_2")
def _(x, W_1, b_1, W_2, b_2, units=None):
    whole = _mlp(x, W_1, b_1, W_2, b_2)
    return whole if units is None else whole / max(len(units), 1)


@right("mlp", "by a sigmoid: (1 + tanh z)/2 = σ(2z); units one by one")
def _(x, W_1, b_1, W_2, b_2, units=None):
    h, root = F.linear(x, W_1, b_1), torch.tensor(8 / math.pi).sqrt()   # a constant in single precision
    g = h * torch.sigmoid(root * (h + 0.044715 * h.pow(3)))
    if units is None:
        return F.linear(g, W_2, b_2)
    return sum((torch.outer(g[:, i], W_2[:, i]) for i in units), torch.zeros_like(x))


@right("mlp", "one token at a time, the other units set to 0")
def _(x, W_1, b_1, W_2, b_2, units=None):
    kept = torch.ones_like(b_1) if units is None else torch.tensor([i in units for i in range(len(b_1))]).to(x.dtype)
    return torch.stack([_gelu(W_1 @ row + b_1) * kept @ W_2.T + (b_2 if units is None else 0) for row in x])


# -- mlp_change ------------------------------------------------------------------------------------------------------

def _slope(h):
    t, root = torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)), math.sqrt(2 / math.pi)
    return (1 + t) / 2 + h / 2 * (1 - t ** 2) * root * (1 + 3 * 0.044715 * h ** 2)


@wrong("mlp_change", "A linear layer's matrix is (out, in)")
def _(x, change, W_1, b_1, W_2):
    return _slope(x @ W_1.T + b_1) * (change @ W_1) @ W_2.T


@wrong("mlp_change", "that at the hidden numbers of x")
def _(x, change, W_1, b_1, W_2):
    return (_slope(change @ W_1.T + b_1) * (change @ W_1.T)) @ W_2.T


@wrong("mlp_change", "a formula rather than a small difference?")
def _(x, change, W_1, b_1, W_2):
    h = x @ W_1.T + b_1
    return (_slope(1.00005 * h) * (change @ W_1.T)) @ W_2.T


@right("mlp_change", "by a sigmoid")
def _(x, change, W_1, b_1, W_2):
    h, root = F.linear(x, W_1, b_1), torch.tensor(8 / math.pi).sqrt()
    s = torch.sigmoid(root * (h + 0.044715 * h.pow(3)))
    return F.linear(s * (1 + h * (1 - s) * root * (1 + 0.134145 * h * h)) * F.linear(change, W_1), W_2)


@right("mlp_change", "one token at a time")
def _(x, change, W_1, b_1, W_2):
    return torch.stack([W_2 @ (_slope(W_1 @ row + b_1) * (W_1 @ moved)) for row, moved in zip(x, change, strict=True)])


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


# -- my_experiment ---------------------------------------------------------------------------------------------------

MODEL = library.load_weights("dialogue-gpt")


def _loss(ids, weights=None, silent=()):
    """The mean −log p of a text's tokens."""
    logits = gpt2_logits(ids[:-1], weights or MODEL.state_dict(), 4, silent)
    return F.cross_entropy(logits, ids[1:]).item()


def _text(seed):
    return torch.tensor([MODEL.tokenizer.cls_id, *MODEL.tokenizer.encode(dialogues(1, seed=seed)[0].text)])


@wrong("my_experiment", "Two numbers are due: `return before, changed`")
def _(seed):
    print(_loss(_text(seed)), _loss(_text(seed), silent=[(0, 1)]))


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    ids = _text(int(np.random.default_rng().integers(10 ** 6)))
    return _loss(ids), _loss(ids, silent=[(2, 1)])


@wrong("my_experiment", "In all 5 runs the two numbers are equal. Does what you change get to what you measure?")
def _(seed):
    weights = dict(MODEL.state_dict())
    weights["norm.gain"] = torch.zeros(64)              # a name that nobody reads
    return _loss(_text(seed)), _loss(_text(seed), weights)


@wrong("my_experiment", "a tensor stands among the two numbers")
def _(seed):
    ids = _text(seed)
    rows = [gpt2_logits(ids, MODEL.state_dict(), 4, silent)[-1].log_softmax(-1)[5:7] for silent in ((), [(2, 1)])]
    return tuple(rows)


@wrong("my_experiment", "state_dict()`, in the function")
def _(seed):
    ids = _text(seed)
    return _loss(ids), _loss(ids, weights)              # those of an earlier cell  # noqa: F821


@wrong("my_experiment", "stops with an error")
def _(seed):
    ids = _text(seed)
    return _loss(ids), _loss(ids, {name: w for name, w in MODEL.state_dict().items() if name != "W_p"})


@right("my_experiment", "the words in another order, drawn by NumPy; a list of arrays")
def _(seed):
    ids = _text(seed)
    shuffled = ids[[0, *(1 + np.random.default_rng(seed).permutation(len(ids) - 1))]]
    return [np.float64(_loss(one)) for one in (ids, shuffled)]


@right("my_experiment", "a probability of the course's model, with a layer's MLP out")
def _(seed):
    ids, changed = _text(seed)[None, :12], copy.deepcopy(MODEL)
    for weight in changed.blocks[0].mlp[2].parameters():
        weight.data.zero_()
    return tuple(float(one(ids)[0, -1].softmax(-1).max()) for one in (MODEL, changed))


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
