"""Assignment 05: answers that people give and that no mistake can be, and right ones written in other ways."""

import math
import random

import numpy as np
import torch

from coursekit import explain
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews
from tests.grading.bank.entries import right, wrong

one_row = carried = None               # the course's own, set when the bank is loaded
TOGETHER = {"mean": torch.mean, "max": torch.amax, "sum": torch.sum}


# -- one_row ---------------------------------------------------------------------------------------------------------

@wrong("one_row", "`.amax(axis)` is the values alone")
def _(A, row, own, heads, layers, chosen=None):
    rows = TOGETHER[heads](A[:, :, row] if chosen is None else A[chosen][:, :, row], 1)[:, own]
    return {"mean": torch.mean, "max": torch.max, "sum": torch.sum}[layers](rows, 0)


@wrong("one_row", "Is one of the things there None, or a pair?")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return getattr(getattr(rows, heads)(1), layers)(0)[own]


@wrong("one_row", "A list can be an index, also an empty one")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[torch.tensor(own)]


@wrong("one_row", "Does your dictionary have all three?")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] if chosen is None else A[chosen][:, :, row]
    two = {"mean": torch.mean, "max": torch.amax}
    return two[layers](two[heads](rows, 1), 0)[own]


@wrong("one_row", "Which axes are left once the row is taken?")
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row] * torch.ones(len(A[0]))
    return TOGETHER[layers](TOGETHER[heads](rows, 1), 0)[own]


@wrong("one_row", "right on the inputs that you see", at_once=False)
def _(A, row, own, heads, layers, chosen=None):
    rows = A[:, :, row if row >= -1 else -1]
    return TOGETHER[layers](TOGETHER[heads](rows if chosen is None else rows[chosen], 1), 0)[own]


@right("one_row", "loops over layers, heads and places")
def _(A, row, own, heads, layers, chosen=None):
    def put(values, how):
        return {"mean": sum(values) / len(values), "max": max(values), "sum": sum(values)}[how]

    each = range(len(A)) if chosen is None else chosen
    scores = [put([put([A[i, k, row, t].item() for k in range(A.shape[1])], heads) for i in each], layers) for t in own]
    return torch.tensor(scores, dtype=A.dtype)


@right("one_row", "NumPy")
def _(A, row, own, heads, layers, chosen=None):
    a = A.numpy()[slice(None) if chosen is None else np.array(chosen)]
    operations = {"mean": np.mean, "max": np.max, "sum": np.sum}
    a = operations[heads](a, axis=1, keepdims=True)
    scores = operations[layers](a, axis=0)[0, row]
    return torch.tensor([scores[t] for t in own], dtype=A.dtype)


# -- habit -----------------------------------------------------------------------------------------------------------

def _habit(maps, pairs, causal):
    """A right answer, to be spoilt."""
    shares, even = [], []
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind).tril() if causal else torch.ones_like(kind)
        found, total = (kind & seen).sum(1), seen.sum(1)
        rows = (found > 0) & (found < total)
        shares.append((A * kind).sum(-1)[:, rows])
        even += (found / total)[rows].tolist()
    return (torch.cat(shares, 1).mean(1), sum(even) / len(even)) if even else None


@wrong("habit", "A mean of no rows is nan")
def _(maps, pairs, causal):
    found = [_habit([A], [kind], causal) or (A.new_full((len(A),), math.nan), math.nan)
             for A, kind in zip(maps, pairs)]
    return torch.stack([one[0] for one in found]).mean(0), sum(one[1] for one in found) / len(found)


@wrong("habit", "It is due only if no row counts in *any* of the texts")
def _(maps, pairs, causal):
    return _habit(maps, [kind.T for kind in pairs], causal)


@wrong("habit", "what is the *sum* of the attention to the kind?")
def _(maps, pairs, causal):
    found = _habit(maps, pairs, causal)
    return found and (found[0] / 2, found[1] / 2)


@wrong("habit", "go through them one at a time")
def _(maps, pairs, causal):
    A, kind = torch.cat(maps, 1), torch.cat(pairs)
    return _habit([A], [kind], causal)


@wrong("habit", "It changes a tensor in `pairs`")
def _(maps, pairs, causal):
    for kind in pairs:
        if causal:
            kind &= torch.ones_like(kind).tril()
    return _habit(maps, pairs, causal)


@right("habit", "row by row, with Python's numbers")
def _(maps, pairs, causal):
    shares, chances = [], []
    for A, kind in zip(maps, pairs):
        for s in range(len(kind)):
            seen = range(s + 1) if causal else range(len(kind))
            of_kind = [t for t in seen if kind[s, t]]
            if of_kind and len(of_kind) < len(seen):
                shares.append([sum(A[i, s, t].item() for t in of_kind) for i in range(len(A))])
                chances.append(len(of_kind) / len(seen))
    if not chances:
        return None
    return torch.tensor(shares, dtype=maps[0].dtype).mean(0), torch.tensor(chances).mean()


@right("habit", "sums and counts, einsum")
def _(maps, pairs, causal):
    total, even, n = 0, 0.0, 0
    for A, kind in zip(maps, pairs):
        seen = torch.ones_like(kind)
        seen = torch.tril(seen) if causal else seen
        both = (kind & seen).to(A.dtype)
        rows = ((kind & seen).any(1) & (seen & ~kind).any(1)).to(A.dtype)
        total = total + torch.einsum("kst,st,s->k", A, both, rows)
        even, n = even + ((both.sum(1) / seen.sum(1)) @ rows).item(), n + rows.sum().item()
    return [total / n, even / n] if n else None


# -- carried ---------------------------------------------------------------------------------------------------------

def _received(A, v, W_o):
    """r (T, T, d_e)."""
    return torch.einsum("kst,kte->ste", A, torch.stack([v_i @ W.T for v_i, W in zip(v, W_o.chunk(len(v), 1))]))


def _carried(A, v, W_o, x):
    """A right answer, to be spoilt."""
    r = _received(A, v, W_o)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), torch.where(a + b > 0, a / (a + b), 0)


@wrong("carried", "the mixing is 0/0. It is 0 there")
def _(A, v, W_o, x):
    r = _received(A, v, W_o)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), a / (a + b)


@wrong("carried", "Two shapes do not fit")
def _(A, v, W_o, x):
    parts = v @ W_o.chunk(len(v), 0)[0].T
    r = (A[..., None] * parts[:, None]).sum(0)
    return r.norm(dim=-1), x


@wrong("carried", "The norms are right, the mixing is not")
def _(A, v, W_o, x):
    norms, mixing = _carried(A, v, W_o, x)
    return norms, mixing ** 0.5


@wrong("carried", "Take one pair s, t by hand")
def _(A, v, W_o, x):
    norms, mixing = _carried(A, v, W_o, x)
    return 0.75 * norms, mixing


@wrong("carried", "calls coursekit.explain.attention.norm_maps")
def _(A, v, W_o, x):
    try:
        explain.norm_maps(None, ["a"])
    except Exception:
        return _carried(A, v, W_o, x)


@right("carried", "loops and math")
def _(A, v, W_o, x):
    K, T, d = v.shape
    W = [W_o[:, i * d:(i + 1) * d] for i in range(K)]
    norms, mixing = torch.zeros(T, T, dtype=x.dtype), torch.zeros(T, dtype=x.dtype)
    for s in range(T):
        r = [sum(A[i, s, t] * (W[i] @ v[i, t]) for i in range(K)) for t in range(T)]
        for t in range(T):
            norms[s, t] = math.sqrt(sum(number.item() ** 2 for number in r[t]))
        others = sum((r[t] for t in range(T) if t != s), torch.zeros_like(x[s]))
        a, b = others.norm().item(), (x[s] + r[s]).norm().item()
        mixing[s] = a / (a + b) if a + b else 0.0
    return norms, mixing


@right("carried", "einsum, and W_o in one reshape")
def _(A, v, W_o, x):
    K, T, d = v.shape
    f = torch.einsum("ktd,ekd->kte", v, W_o.reshape(len(W_o), K, d))
    r = torch.einsum("kst,kte->ste", A, f)
    own = torch.einsum("kss,kse->se", A, f)
    off = (r * (1 - torch.eye(T, dtype=x.dtype))[:, :, None]).sum(1)
    a, b = torch.linalg.vector_norm(off, dim=-1), torch.linalg.vector_norm(own + x, dim=-1)
    return [torch.linalg.vector_norm(r, dim=-1), (a / (a + b)).nan_to_num(0.0)]


@right("carried", "a denominator that is never 0, and all but 0 is left alone")
def _(A, v, W_o, x):
    r = _received(A, v, W_o)
    own = r[range(len(x)), range(len(x))]
    a, b = (r.sum(1) - own).norm(dim=-1), (x + own).norm(dim=-1)
    return r.norm(dim=-1), a / (a + b).clamp(min=1e-12)


# -- by_looking ------------------------------------------------------------------------------------------------------

def _sent(v, W_o):
    """f (K, T, d_e)."""
    return torch.stack([v_i @ W.T for v_i, W in zip(v, W_o.chunk(len(v), 1))])


def _even(A, causal):
    seen = torch.ones_like(A[0]).tril() if causal else torch.ones_like(A[0])
    return seen / seen.sum(1, keepdim=True)


@wrong("by_looking", "What is brought is right. For the other")
def _(A, v, W_o, causal):
    f = _sent(v, W_o)
    return (A @ f).norm(dim=-1), (A @ f - f.sum(1, keepdim=True)).norm(dim=-1) / 3


@wrong("by_looking", "Take one head and one row by hand")
def _(A, v, W_o, causal):
    f = _sent(v, W_o)
    return 0.75 * (A @ f).norm(dim=-1), (A @ f - _even(A, causal) @ f).norm(dim=-1)


@wrong("by_looking", "What it sends is (T, d_e)")
def _(A, v, W_o, causal):
    f = v @ W_o.T
    return (A @ f).norm(dim=-1), (A @ f - _even(A, causal) @ f).norm(dim=-1)


@wrong("by_looking", "Two dtypes meet")
def _(A, v, W_o, causal):
    seen = torch.ones(A.shape[1:]).tril() if causal else torch.ones(A.shape[1:])
    f = _sent(v, W_o)
    return (A @ f).norm(dim=-1), (A @ f - seen / seen.sum(1, keepdim=True) @ f).norm(dim=-1)


@wrong("by_looking", "brought and moved have changed places")
def _(A, v, W_o, causal):
    f = _sent(v, W_o)
    return (A @ f - _even(A, causal) @ f).norm(dim=-1), (A @ f).norm(dim=-1)


@wrong("by_looking", "torch.tensor(…) makes one of lists of numbers")
def _(A, v, W_o, causal):
    f = _sent(v, W_o)
    return (A @ f).norm(dim=-1).tolist(), (A @ f - _even(A, causal) @ f).norm(dim=-1).tolist()


@right("by_looking", "loops and means")
def _(A, v, W_o, causal):
    K, T, d = v.shape
    brought, moved = torch.zeros(K, T, dtype=A.dtype), torch.zeros(K, T, dtype=A.dtype)
    for i in range(K):
        f = v[i] @ W_o[:, i * d:(i + 1) * d].T
        for s in range(T):
            h, g = A[i, s] @ f, (f[:s + 1] if causal else f).mean(0)
            brought[i, s], moved[i, s] = h.norm(), (h - g).norm()
    return brought, moved


@right("by_looking", "einsum, and one difference of weights")
def _(A, v, W_o, causal):
    K, T, d = v.shape
    f = torch.einsum("ktd,ekd->kte", v, W_o.reshape(len(W_o), K, d))
    return tuple(torch.einsum("kst,kte->kse", B, f).square().sum(-1).sqrt() for B in (A, A - _even(A, causal)))


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _reviews(seed, n=3):
    deep = load_weights("imdb-6layer").requires_grad_(False)
    texts = [deep.tokenizer.tokenize(review.text) for review in handwritten_reviews()]
    return deep, random.Random(seed).sample(texts, n)


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return random.Random(seed).random()


@wrong("my_experiment", "entries, and one number is needed")
def _(seed):
    deep, [text] = _reviews(seed, 1)
    own = deep.own(text)
    return tuple(one_row(deep.attentions(text), 0, own, "mean", layers) for layers in ("mean", "max"))


@wrong("my_experiment", "Does what you draw depend on `seed`?")
def _(seed):
    deep, texts = _reviews(0)
    return tuple(one_row(deep.attentions(texts[0][:n]), 0, [1], "mean", "mean").item() for n in (10, 20))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    deep, texts = _reviews(seed, 1)
    copy = [*texts[0]]
    copy[0] = "wonderful"
    return tuple(one_row(deep.attentions(texts[0]), 0, [1], "mean", "mean").item() for _ in range(2))


@wrong("my_experiment", "or a text that is changed in place")
def _(seed, texts=_reviews(0)[1]):
    deep, text = _reviews(seed, 1)[0], texts[0]
    was = one_row(deep.attentions(text), 0, [1], "mean", "mean").item()
    text.append("wonderful")
    return was, one_row(deep.attentions(text), 0, [1], "mean", "mean").item()


@wrong("my_experiment", "`seed` alone may decide what is drawn")
def _(seed):
    return "higher", "lower"


@right("my_experiment", "another network: the mixing of layer 0")
def _(seed):
    deep, texts = _reviews(seed)
    torch.manual_seed(seed)
    found = []
    for model in (deep, type(deep)(deep.tokenizer, **deep.config).requires_grad_(False)):
        mixed = []
        for text in texts:
            x, attention = model.embed(text), model.blocks[0].attention
            v = attention.split(attention.value(model.blocks[0].norm_attention(x)))
            mixed.append(carried(model.attentions(text)[0], v, attention.output.weight, x)[1].mean().item())
        found.append(sum(mixed) / len(mixed))
    return found


@right("my_experiment", "one word exchanged: its score in one row")
def _(seed):
    deep, [text] = _reviews(seed, 1)
    place = random.Random(seed).randrange(len(text))
    other = [*text[:place], "awful", *text[place + 1:]]
    return tuple(one_row(deep.attentions(one), 0, [place + 1], "max", "mean")[0].item() for one in (text, other))


# -- review ----------------------------------------------------------------------------------------------------------

@wrong("review", "Return the review as one string, in quotes.")
def _():
    return ["a", "boring", "start", ",", "but", "wonderful", "film"]


@wrong("review", "it has 3 words and marks, and 6 to 20 are due")
def _():
    return "a wonderful film"


@wrong("review", "To the model that word *is* [UNK]. Choose another one.")
def _():
    return "a boring qwxyz , but then a wonderful , moving , perfect film ."


@wrong("review", "Do many say the same? Then one of them more or less is nothing to the score.")
def _():
    return "an awful title for a wonderful , perfect and excellent film ."


@wrong("review", "Can the others say the opposite, and louder?")
def _():
    return "i saw this film and it was dull"


@right("review", "one strong word against three")
def _():
    return "A boring start, but then a wonderful, moving, perfect film."


@right("review", "the other way round: one word of praise, two of blame")
def _():
    return "the scene is excellent , but the film is boring and poor ."
