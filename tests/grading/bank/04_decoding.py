"""Assignment 04: answers that people give, and what a check must say to them.

tempered, which another question builds on, is put into this module by the test: the reference's.
"""

import bisect
import itertools
import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.functional import softmax as borrowed

from coursekit import models as library
from tests.grading.bank.entries import right, wrong

tempered = None     # the reference's, at test time


# -- tempered --------------------------------------------------------------------------------------------------------

def _exp(u):
    e = torch.exp(u - u.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _limits(logits, tau):
    """The right answer."""
    if tau == 0:
        likeliest = (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
        return likeliest / likeliest.sum(-1, keepdim=True)
    return _exp((logits - logits.amax(-1, keepdim=True)) / tau)


@wrong("tempered", "Nothing can be divided by a temperature of 0")
def _(logits, tau):
    return _exp(logits / tau)


@wrong("tempered", "Two tokens are equally likely here")
def _(logits, tau):
    if tau == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return _exp(logits / tau)


@wrong("tempered", "the sum is more than one")
def _(logits, tau):
    if tau == 0:
        return (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
    return _exp(logits / tau)


@wrong("tempered", "A comparison gives True and False")
def _(logits, tau):
    if tau == 0:
        return logits == logits.amax(-1, keepdim=True)
    return _exp(logits / tau)


@wrong("tempered", "That is temperature 1")
def _(logits, tau):
    return _exp(logits / (tau or 1))


@wrong("tempered", "In some row every exp was rounded to 0")
def _(logits, tau):
    e = torch.exp((logits - logits.max()) / tau) if tau else (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
    return e / e.sum(-1, keepdim=True)                                  # one maximum for the whole table


@wrong("tempered", "nearly equal is not equal")
def _(logits, tau):
    if tau == 0:
        likeliest = torch.isclose(logits, logits.amax(-1, keepdim=True)).to(logits.dtype)
        return likeliest / likeliest.sum(-1, keepdim=True)
    return _exp(logits / tau)


@wrong("tempered", "nearly equal is not equal")
def _(logits, tau):
    return _exp((logits - logits.amax(-1, keepdim=True)) / max(tau, 1e-3))


@wrong("tempered", "Is each logit divided by the temperature")
def _(logits, tau):
    return _limits(logits, 0 if tau < 1e-3 else tau)


@wrong("tempered", "the largest logit of *each row* counts")
def _(logits, tau):
    if tau == 0:
        likeliest = (logits == logits.max()).to(logits.dtype)
        return likeliest / likeliest.sum(-1, keepdim=True)
    return _exp(logits / tau)


@wrong("tempered", "exp of a large number is infinite")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp(logits / tau)
    return e / e.sum(-1, keepdim=True)


@wrong("tempered", "exp of a large number is infinite")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp((logits - logits.mean(-1, keepdim=True)) / tau)
    return e / e.sum(-1, keepdim=True)


@wrong("tempered", "The temperature changes nothing here")
def _(logits, tau):
    return _limits(logits, 0) if tau == 0 else _exp(logits)


@wrong("tempered", "hotter means flatter")
def _(logits, tau):
    return _limits(logits, tau) if tau in (0, math.inf) else _exp(logits * tau)


@wrong("tempered", "The temperature divides the probabilities")
def _(logits, tau):
    return _limits(logits, tau) if tau in (0, math.inf) else _exp(logits) / tau


@wrong("tempered", "went through a second softmax")
def _(logits, tau):
    return _limits(logits, 0) if tau == 0 else _exp(_exp(logits) / tau)


@wrong("tempered", "The columns sum to one, the rows should")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp((logits - logits.amax(0)) / tau)
    return e / e.sum(0)


@wrong("tempered", "The whole table sums to one")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp((logits - logits.max()) / tau)
    return e / e.sum()


@wrong("tempered", "keep the axis that they are taken along?")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp((logits - logits.amax(-1)) / tau)
    return e / e.sum(-1)


@wrong("tempered", "it changes what it is given: `logits`")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    logits -= logits.amax(-1, keepdim=True)
    return _exp(logits / tau)


@wrong("tempered", "Return a tensor")
def _(logits, tau):
    return _limits(logits, tau).tolist()


@wrong("tempered", "calls torch.softmax")
def _(logits, tau):
    return _limits(logits, 0) if tau == 0 else borrowed(logits / tau, -1)


@wrong("tempered", "calls torch.softmax")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    return (logits / tau).softmax(-1)


@wrong("tempered", "calls coursekit.models.tempered_softmax")
def _(logits, tau):
    return library.tempered_softmax(logits, tau).to(logits.dtype) if tau else _limits(logits, 0)


@wrong("tempered", "Is there a power 1/τ?")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, tau)
    p = _exp(logits) ** (1 / tau)
    return p / p.sum(-1, keepdim=True)


@wrong("tempered", "Nearly right: digits got lost")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, tau)
    e = torch.exp(logits - logits.amax(-1, keepdim=True)) ** (1 / tau)
    return e / e.sum(-1, keepdim=True)


@wrong("tempered", "Nor is a small temperature 0.")
def _(logits, tau):
    return _exp((logits - logits.amax(-1, keepdim=True)) / max(tau, 1e-6))


@wrong("tempered", "The whole table sums to one")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, tau)
    e = torch.exp((logits - logits.amax(-1, keepdim=True)) / tau)
    return e / e.sum()


@right("tempered", "powers of probabilities")
def _(logits, tau):
    shifted = logits - torch.max(logits, dim=-1, keepdim=True)[0]
    if tau == 0:
        winners = torch.where(shifted < 0, torch.zeros_like(logits), torch.ones_like(logits))
        return winners / winners.sum(dim=-1).unsqueeze(-1)
    return torch.exp(shifted / tau - torch.logsumexp(shifted / tau, -1, keepdim=True))


@right("tempered", "τ as a tensor, in single precision; divided first")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    u = logits / torch.tensor(float(tau))
    return _exp(u)


@right("tempered", "row by row, in NumPy")
def _(logits, tau):
    rows = logits.reshape(-1, logits.shape[-1]).numpy()
    made = []
    for row in rows:
        with np.errstate(divide="ignore", invalid="ignore"):
            e = (row == row.max()).astype(row.dtype) if tau == 0 else np.exp((row - row.max()) / tau)
        made.append(e / e.sum())
    return torch.from_numpy(np.stack(made).astype(rows.dtype)).reshape(logits.shape)


# -- keep_top_k ------------------------------------------------------------------------------------------------------

def _rescaled(p):
    return p / p.sum(-1, keepdim=True)


def _kth(p, k):
    return p.topk(min(k, p.shape[1])).values[:, -1:]


@wrong("keep_top_k", "a row no longer sums to one")
def _(p, k):
    return p * (p >= _kth(p, k))


@wrong("keep_top_k", "Tokens exactly as likely as the k-th stay as well")
def _(p, k):
    values, places = p.topk(min(k, p.shape[1]))
    return _rescaled(torch.zeros_like(p).scatter(1, places, values))


@wrong("keep_top_k", "selected index k out of range")
def _(p, k):
    return _rescaled(p * (p >= p.topk(k).values[:, -1:]))


@wrong("keep_top_k", "The k likeliest of the whole table were kept")
def _(p, k):
    return _rescaled(p * (p >= p.flatten().topk(min(k, p.numel())).values[-1]))


@wrong("keep_top_k", "k was cut to the number of rows")
def _(p, k):
    return _rescaled(p * (p >= p.topk(min(k, len(p))).values[:, -1:]))


@wrong("keep_top_k", "One row's threshold is used for all")
def _(p, k):
    return _rescaled(p * (p >= _kth(p, k)[0]))


@wrong("keep_top_k", "That is the k-th smallest")
def _(p, k):
    return _rescaled(p * (p >= p.sort(-1).values[:, min(k, p.shape[1]) - 1:][:, :1]))


@wrong("keep_top_k", "topk cannot give more than there are")
def _(p, k):
    return _rescaled(p * (p >= p.topk(k).values[:, -1:]))


@wrong("keep_top_k", "Does a sum or a maximum keep its axis?")
def _(p, k):
    kept = p * (p >= _kth(p, k))
    return kept / kept.sum(-1)


@wrong("keep_top_k", "Equal numbers were counted once")
def _(p, k):
    return _rescaled(torch.stack([row * (row >= row.unique()[-min(k, len(row.unique()))]) for row in p]))


@wrong("keep_top_k", "The right tokens are left, with wrong numbers")
def _(p, k):
    return _rescaled((p >= _kth(p, k)).to(p.dtype))


@wrong("keep_top_k", "All rows together sum to one")
def _(p, k):
    kept = p * (p >= _kth(p, k))
    return kept / kept.sum()


@wrong("keep_top_k", "nearly flat: divide by the sum instead")
def _(p, k):
    return torch.softmax(p.masked_fill(p < _kth(p, k), -math.inf), -1)


@wrong("keep_top_k", "sorted. Place i belongs to token i")
def _(p, k):
    kept = p.sort(dim=-1, descending=True).values
    kept[:, k:] = 0
    return _rescaled(kept)


@wrong("keep_top_k", "a token that may not be drawn keeps its place")
def _(p, k):
    return _rescaled(p.topk(min(k, p.shape[1])).values)


@wrong("keep_top_k", "The k-th is missing")
def _(p, k):
    return _rescaled(p * (p > _kth(p, k)))


@wrong("keep_top_k", "in some row nothing was left")
def _(p, k):
    return _rescaled(p * (p > _kth(p, k)) if k == 1 else p * (p >= _kth(p, k)))


@wrong("keep_top_k", "Those are the least likely")
def _(p, k):
    return _rescaled(p * (p <= p.sort(-1).values[:, min(k, p.shape[1]) - 1:][:, :1]))


@wrong("keep_top_k", "All rows keep the tokens that the first row keeps")
def _(p, k):
    return _rescaled(p * (p[0] >= _kth(p, k)[0]))


@wrong("keep_top_k", "it changes what it is given: `p`")
def _(p, k):
    p[p < _kth(p, k)] = 0
    return _rescaled(p)


@wrong("keep_top_k", "right on the inputs that you see", at_once=False)
def _(p, k):
    return _rescaled(torch.stack([row * (row >= sorted(row.tolist())[-min(k, 4, len(row))]) for row in p]))


@wrong("keep_top_k", "Does it end with `return")
def _(p, k):
    print(_rescaled(p * (p >= _kth(p, k))))


@wrong("keep_top_k", "calls coursekit.models.keep_top_k")
def _(p, k):
    return library.keep_top_k(p, k)


@wrong("keep_top_k", "There is one too many: that is the (k + 1)-th largest")
def _(p, k):
    return _rescaled(p * (p >= p.sort(-1, descending=True).values[:, min(k, p.shape[1] - 1)][:, None]))


@wrong("keep_top_k", "There is one too many: that is the (k + 1)-th largest")
def _(p, k):
    return _rescaled(p * (p >= p.topk(k + 1).values[:, -1:]))


@wrong("keep_top_k", "k may be larger than D: then all stay")
def _(p, k):
    return _rescaled(p * (p >= p.sort(-1, descending=True).values[:, k - 1][:, None]))


@wrong("keep_top_k", "k may be larger than D: then all stay")
def _(p, k):
    return _rescaled(p * (p >= torch.tensor([sorted(row)[-k] for row in p.tolist()], dtype=p.dtype)[:, None]))


@wrong("keep_top_k", "Only the likeliest of each row are left, whatever k is")
def _(p, k):
    return _rescaled(p * (p >= p.topk(min(k, p.shape[1])).values[:, :1]))


@wrong("keep_top_k", "k was cut to the number of rows")
def _(p, k):
    return _rescaled(p * (p >= p.topk(min(k, len(p))).values[:, -1:]))


@wrong("keep_top_k", "k is larger than D here")
def _(p, k):
    return _rescaled(p * (p >= _kth(p, min(k, max(1, p.shape[1] - 1)))))


@right("keep_top_k", "by ranks: fewer than k are likelier")
def _(p, k):
    likelier = (p[:, None, :] > p[:, :, None]).sum(-1)
    return torch.nn.functional.normalize(p * (likelier < k), p=1, dim=-1)


@right("keep_top_k", "lists and loops")
def _(p, k):
    rows = []
    for row in p.tolist():
        smallest = sorted(row)[-k] if k <= len(row) else 0
        kept = [x if x >= smallest else 0.0 for x in row]
        rows.append([x / sum(kept) for x in kept])
    return torch.tensor(rows, dtype=p.dtype)


# -- keep_nucleus ----------------------------------------------------------------------------------------------------

def _nucleus(p, mass, enough=lambda before, share, mass: before >= mass, stable=True):
    """The nucleus of each row, where a token stays out once `enough` says so; not rescaled."""
    ordered, token = p.sort(dim=-1, descending=True, stable=stable)
    inside = ~enough(ordered.cumsum(-1) - ordered, ordered, mass)
    return p * torch.zeros_like(inside).scatter(-1, token, inside)


@wrong("keep_nucleus", "The token with which the sum reaches the mass is missing")
def _(p, mass):
    return _rescaled(_nucleus(p, mass, lambda before, share, mass: before + share > mass))


@wrong("keep_nucleus", "The token with which the sum reaches the mass is missing")
def _(p, mass):
    kept = torch.zeros_like(p)
    for row, out in zip(p, kept):
        held = 0
        for token in row.argsort(descending=True, stable=True):
            held += row[token]
            if held >= mass:
                break
            out[token] = row[token]
    return _rescaled(kept)


@wrong("keep_nucleus", "There is a token too many")
def _(p, mass):
    return _rescaled(_nucleus(p, mass, lambda before, share, mass: before > mass))


@wrong("keep_nucleus", "a row no longer sums to one")
def _(p, mass):
    return _nucleus(p, mass)


@wrong("keep_nucleus", "All rows together sum to one")
def _(p, mass):
    kept = _nucleus(p, mass)
    return kept / kept.sum()


@wrong("keep_nucleus", "nearly flat: divide by the sum instead")
def _(p, mass):
    return torch.softmax(p.masked_fill(_nucleus(p, mass) == 0, -math.inf), -1)


@wrong("keep_nucleus", "bring them back to their places")
def _(p, mass):
    return _rescaled(_nucleus(p, mass)).sort(-1, descending=True).values


@wrong("keep_nucleus", "the mask belongs to the *sorted* places")
def _(p, mass):
    ordered = p.sort(dim=-1, descending=True).values
    return _rescaled(p * (ordered.cumsum(-1) - ordered < mass))


@wrong("keep_nucleus", "gather does the opposite")
def _(p, mass):
    ordered, token = p.sort(dim=-1, descending=True)
    inside = ordered.cumsum(-1) <= mass
    inside[:, 0] = True
    return _rescaled(p * inside.gather(1, token))


@wrong("keep_nucleus", "wants every argument by its name")
def _(p, mass):
    ordered, token = p.sort(-1, descending=True, stable=True)
    return _rescaled(ordered)


@wrong("keep_nucleus", "The tokens were added up in the order of their ids")
def _(p, mass):
    return _rescaled(p * (p.cumsum(-1) - p < mass))


@wrong("keep_nucleus", "The least likely were added up first")
def _(p, mass):
    ordered, token = p.sort(dim=-1, stable=True)
    return _rescaled(p * torch.zeros_like(p).scatter(-1, token, (ordered.cumsum(-1) - ordered < mass).to(p.dtype)))


@wrong("keep_nucleus", "All tokens that tie at the edge were kept")
def _(p, mass):
    kept = _nucleus(p, mass)
    return _rescaled(p * (p >= kept.masked_fill(kept == 0, 2).amin(-1, keepdim=True)))


@wrong("keep_nucleus", "those with smaller ids are in")
def _(p, mass):
    return _rescaled(_nucleus(p.flip(-1), mass).flip(-1))


@wrong("keep_nucleus", "One row decides for all")
def _(p, mass):
    ordered, token = p.sort(dim=-1, descending=True, stable=True)
    size = int((ordered[0].cumsum(0) - ordered[0] < mass).sum())
    kept = torch.zeros_like(p).scatter(-1, token[:, :size], ordered[:, :size])
    return _rescaled(kept)


@wrong("keep_nucleus", "The sum went on from the row before")
def _(p, mass):
    kept, held = torch.zeros_like(p), 0
    for row, mine in zip(p, kept):
        for token in row.argsort(descending=True, stable=True):
            mine[token] = row[token]
            held += row[token]
            if held >= mass:
                break
    return _rescaled(kept)


@wrong("keep_nucleus", "The right tokens are left, with wrong numbers")
def _(p, mass):
    kept = _nucleus(p, mass)
    return kept / (kept.sum(-1, keepdim=True) + 1e-3)                   # "so that nothing is divided by 0"


@wrong("keep_nucleus", "gather does the opposite")
def _(p, mass):
    ordered, token = p.sort(dim=-1, descending=True)
    out = ordered.cumsum(-1) > mass
    out[:, 1:] = out[:, :-1].clone()
    out[:, 0] = False
    return _rescaled(p.masked_fill(out.gather(-1, token), 0))


@wrong("keep_nucleus", "those with smaller ids are in")
def _(p, mass):
    ordered, token = p.sort(dim=-1)                                     # the least likely go, as libraries do it
    out = ordered.cumsum(-1) <= 1 - mass
    out[:, -1] = False
    return _rescaled(p.masked_fill(torch.zeros_like(out).scatter(-1, token, out), 0))


@wrong("keep_nucleus", "Is it read here as if it were a single row (D,)?")
def _(p, mass):
    kept, total = torch.zeros_like(p), 0.0
    for token in p.argsort(descending=True, stable=True):
        if total >= mass:
            break
        kept[token] = p[token]
        total += p[token]
    return kept / kept.sum()


@wrong("keep_nucleus", "The numbers are right, at the wrong places")
def _(p, mass):
    kept, order = _nucleus(p, mass), p.argsort(dim=-1, descending=True, stable=True)
    return _rescaled(kept.gather(-1, order).gather(-1, order))


@wrong("keep_nucleus", "mass is no bound for a single token")
def _(p, mass):
    return _rescaled(p * (p >= 1 - mass))


@wrong("keep_nucleus", "it changes what it is given: `p`")
def _(p, mass):
    p[_nucleus(p, mass) == 0] = 0
    return _rescaled(p)


@wrong("keep_nucleus", "`if`, `and`, `or`, `not`")
def _(p, mass):
    held, kept = 0, torch.zeros_like(p)
    for token in p.argsort(dim=-1, descending=True).T:
        kept = kept.scatter(-1, token[:, None], p.gather(-1, token[:, None]))
        held = held + p.gather(-1, token[:, None])
        if held >= mass:
            break
    return _rescaled(kept)


@wrong("keep_nucleus", "calls coursekit.models.keep_nucleus")
def _(p, mass):
    return library.keep_nucleus(p, mass)


@right("keep_nucleus", "what the likelier ones hold, by a table of comparisons")
def _(p, mass):
    ids = torch.arange(p.shape[1])
    ahead = (p[:, None, :] > p[:, :, None]) | (p[:, None, :] == p[:, :, None]) & (ids < ids[:, None])
    before = (ahead * p[:, None, :]).sum(-1)
    return torch.where(before < mass, p, 0).div(torch.where(before < mass, p, 0).sum(1)[:, None])


@right("keep_nucleus", "recursion: the likeliest, then the nucleus of the rest")
def _(p, mass):
    def take(row, mass):
        if mass <= 0 or not (row > 0).any():
            return torch.zeros_like(row)
        token = row.argmax()
        rest = row.index_fill(0, token, 0)
        return take(rest, mass - row[token].item()).index_fill(0, token, row[token].item())

    return _rescaled(torch.stack([take(row, mass) for row in p]))


@right("keep_nucleus", "sorted lists, and fewer tokens as long as it is enough")
def _(p, mass):
    made = []
    for row in p:
        order = sorted(range(len(row)), key=lambda token: (-row[token].item(), token))
        size = next((s for s in range(1, len(row)) if row[order[:s]].sum() >= mass), len(row))
        made.append([row[i] / row[order[:size]].sum() if i in order[:size] else 0.0 for i in range(len(row))])
    return torch.tensor(made, dtype=p.dtype)


# -- draw ------------------------------------------------------------------------------------------------------------

@wrong("draw", "no stretch holds it: then it is the last token")
def _(p, u):
    end = 0.0
    for token, share in enumerate(p.tolist()):
        end += share
        if u < end:
            return token


@wrong("draw", "Is it < where ≤ stands?")
def _(p, u):
    end = last = 0.0
    for token, share in enumerate(p.tolist()):
        end, last = end + share, token if share else last
        if share and u <= end:
            return token
    return last


@wrong("draw", "Is it < where ≤ stands?")
def _(p, u):
    return min(int((p.cumsum(0) < u).sum()), len(p) - 1)


@wrong("draw", "That token has probability 0")
def _(p, u):
    return min(int(torch.searchsorted(p.cumsum(0), u, right=True)), len(p) - 1)


@wrong("draw", "There is no token 3: the ids go from 0 to 2. Rounding")
def _(p, u):
    return int(torch.searchsorted(p.cumsum(0), u, right=True))


@wrong("draw", "That is the likeliest token")
def _(p, u):
    return int(p.argmax())


@wrong("draw", "The stretches lie in the order of the ids, not sorted by size")
def _(p, u):
    shares, order = p.sort(descending=True)
    return int(order[min(int((shares.cumsum(0) <= u).sum()), len(p) - 1)])


@wrong("draw", "The stretches lie in the order of the ids, not sorted by size")
def _(p, u):
    return min(int((p.sort(descending=True).values.cumsum(0) <= u).sum()), len(p) - 1)


@wrong("draw", "`.item()` takes it out of a tensor")
def _(p, u):
    return (p.cumsum(0) > u).nonzero()[:1]


@wrong("draw", "Then it is the last token that has any probability")
def _(p, u):
    inside = [token for token in range(len(p)) if p[token] > 0]
    ends = p.cumsum(0)
    return next((token for token in inside if u < ends[token]), max(inside, key=lambda token: p[token]))


@wrong("draw", "Then it is the last token that has any probability")
def _(p, u):
    return torch.argmax((p.cumsum(0) > u).float())


@wrong("draw", "calls torch.multinomial")
def _(p, u):
    torch.manual_seed(int(u * 1000))
    return int(torch.multinomial(p, 1))


@wrong("draw", "which is the step that this question is about")
def _(p, u):
    return random.choices(range(len(p)), p.tolist())[0]


@wrong("draw", "in the order of the ids, from 0 upwards")
def _(p, u):
    ends = p.flip(0).cumsum(0)
    return max(0, len(p) - 1 - int((ends <= u).sum()))


@wrong("draw", "That is its neighbour")
def _(p, u):
    starts = p.cumsum(0) - p
    return max(0, int((starts <= u).sum()) - 2)


@wrong("draw", "That is its neighbour")
def _(p, u):
    return int((p.cumsum(0) <= u).sum()) + 1


@wrong("draw", "Was p divided by its sum?")
def _(p, u):
    ends = p.double().cumsum(0)
    return (ends / ends[-1] > u).to(torch.long).argmax()


@wrong("draw", "Is u held against each probability alone?")
def _(p, u):
    for token, share in enumerate(p.tolist()):
        if u < share:
            break
    return token


@right("draw", "what is left of u, token by token")
def _(p, u):
    last = None
    for token, share in enumerate(p.tolist()):
        if share > 0:
            last = token
            if u < share:
                break
        u -= share
    return last


@right("draw", "bisection, and back from zeros")
def _(p, u):
    token = bisect.bisect_right(list(itertools.accumulate(p.tolist())), u)
    while token >= len(p) or p[token] == 0:
        token -= 1
    return token


@right("draw", "as a tensor without dimensions")
def _(p, u):
    ends = p.double().cumsum(0)
    return torch.where((ends > u).any(), (ends > u).to(torch.long).argmax(), p.nonzero()[-1, 0])


# -- greedy ----------------------------------------------------------------------------------------------------------

def _loop(next_logits, prompt, n, eos=None, banned=lambda text: False, stable=True):
    """Greedy decoding; banned(text) says whether a text may not be continued in this way."""
    ids = list(prompt)
    for _ in range(n):
        order = next_logits(ids).argsort(descending=True, stable=stable).tolist()
        token = next((token for token in order if not banned(ids + [token])), None)
        if token is None:
            break
        ids.append(token)
        if token == eos:
            break
    return ids[len(prompt):]


def _repeats(text, m, first=0, step=1):
    return m is not None and any(text[i:i + m] == text[-m:] for i in range(first, len(text) - m, step))


def _right(next_logits, prompt, n, eos, m):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text, m))


@wrong("greedy", "Only the new ids are asked for")
def _(next_logits, prompt, n, eos=None, m=None):
    return prompt + _right(next_logits, prompt, n, eos, m)


@wrong("greedy", "Only the new ids are asked for, at most n of them")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    while len(ids) < n:
        ids.append(int(next_logits(ids).argmax()))
    return ids


@wrong("greedy", "gives the same list a second name")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = prompt
    for _ in range(n):
        ids.append(int(next_logits(ids).argmax()))
    return ids[len(prompt):]


@wrong("greedy", "The group with which the old text ends was not looked at")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and text[-m:] in [
        text[i:i + m] for i in range(len(text) - 1 - m)])


@wrong("greedy", "The end itself is missing")
def _(next_logits, prompt, n, eos=None, m=None):
    made = _right(next_logits, prompt, n, eos, m)
    return made[:-1] if made and made[-1] == eos else made


@wrong("greedy", "It does not stop at the end")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, n, eos or None, m)               # the id 0 is an id, too


@wrong("greedy", "Groups of ids are compared, not their digits")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and len(text) > m and
                 str(text[-m:])[1:-1] in str(text[:-1])[1:-1])          # 1, 2 stands in 11, 2


@wrong("greedy", "There are too few")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, max(0, n - 1), eos, m)


@wrong("greedy", "There is a token too many")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, max(1, n), eos, m)


@wrong("greedy", "Return a plain list of ids, whole numbers")
def _(next_logits, prompt, n, eos=None, m=None):
    return [float(token) for token in _right(next_logits, prompt, n, eos, m)]


@wrong("greedy", "that one is not forbidden, and it is likelier")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and any(
        sorted(text[i:i + m]) == sorted(text[-m:]) for i in range(len(text) - m)))


@wrong("greedy", "New token number 24 makes the last m tokens stand there for the second time", at_once=False)
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text[-20:], m))


@wrong("greedy", "It stops too early", at_once=False)
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    for _ in range(n):
        tried = next_logits(ids).argsort(descending=True, stable=True).tolist()[:4]
        if not (free := [token for token in tried if not _repeats(ids + [token], m)]):
            break
        ids.append(free[0])
        if free[0] == eos:
            break
    return ids[len(prompt):]


@wrong("greedy", "It does not stop at the end")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, n, None, m)


@wrong("greedy", "Only a *new* token ends the text")
def _(next_logits, prompt, n, eos=None, m=None):
    return [] if eos in prompt else _right(next_logits, prompt, n, eos, m)


@wrong("greedy", "There is a token too many")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, n + 1, eos, m)


@wrong("greedy", "without those of the prompt")
def _(next_logits, prompt, n, eos=None, m=None):
    return _right(next_logits, prompt, max(0, n - len(prompt)), eos, m)


@wrong("greedy", "as without m")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos)


@wrong("greedy", "Of equally likely tokens take the one with the smallest id")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(lambda ids: _Last(next_logits(ids)), prompt, n, eos, lambda text: _repeats(text, m))


class _Last:
    """Logits whose ties are broken in favour of the last id."""

    def __init__(self, logits):
        self.logits = logits

    def argsort(self, **options):
        return len(self.logits) - 1 - self.logits.flip(0).argsort(**options)


@wrong("greedy", "The prompt counts, too")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text[len(prompt):], m))


@wrong("greedy", "the text ends where it is")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    for _ in range(n):
        logits = next_logits(ids).clone()
        for token in range(len(logits)):
            if _repeats(ids + [token], m):
                logits[token] = -math.inf
        ids.append(int(logits.argmax()))
        if ids[-1] == eos:
            break
    return ids[len(prompt):]


@wrong("greedy", "It stops too early")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    for _ in range(n):
        token = int(next_logits(ids).argmax())
        if _repeats(ids + [token], m):
            break
        ids.append(token)
        if token == eos:
            break
    return ids[len(prompt):]


@wrong("greedy", "Only repetitions right behind each other are seen")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and text[-2 * m:-m] == text[-m:])


@wrong("greedy", "a token too few")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m and _repeats(text, max(1, m - 1)))


@wrong("greedy", "How many of the old tokens does a group hold")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m and _repeats(text, m + 1))


@wrong("greedy", "Groups may begin at every place")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text, m, step=m or 1))


@wrong("greedy", "a token too few")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and text[-1] in text[:-1])


@wrong("greedy", "A token comes twice, as without m.")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and any(
        text[i:i + m] == text[:-1][-(m - 1):] + text[-1:] for i in range(len(text) - m)))


@wrong("greedy", "Is the new token put behind the text before the model is asked next?")
def _(next_logits, prompt, n, eos=None, m=None):
    return [int(next_logits(prompt).argmax())] * n


@wrong("greedy", "next_logits wants the whole text so far")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    for _ in range(n):
        ids.append(int(next_logits(ids[-1:]).argmax()))
    return ids[len(prompt):]


@wrong("greedy", "next_logits takes one text, a list of ids, and got a tensor (1, 2)")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = torch.tensor([prompt])
    for _ in range(n):
        ids = torch.cat([ids, next_logits(ids).argmax().view(1, 1)], 1)
    return ids[0, len(prompt):].tolist()


@wrong("greedy", "Every token was banned. Does the last group find itself?")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and any(
        text[i:i + m] == text[-m:] for i in range(len(text))))


@wrong("greedy", "it changes what it is given: `prompt`")
def _(next_logits, prompt, n, eos=None, m=None):
    made = _right(next_logits, prompt, n, eos, m)
    prompt += made
    return made


@wrong("greedy", "Return a list of ids")
def _(next_logits, prompt, n, eos=None, m=None):
    return torch.tensor(_right(next_logits, prompt, n, eos, m))


@wrong("greedy", "coursekit.models.greedy")
def _(next_logits, prompt, n, eos=None, m=None):
    return library.greedy(_Model(next_logits), prompt, n, eos, use_cache=False)


class _Model:
    """A model for coursekit's loops, of a function."""

    def __init__(self, next_logits):
        self.next_logits, self.config = next_logits, library.GPT2Config(vocab_size=50)

    def step(self, ids, cache=None, padding=None):
        return torch.stack([self.next_logits(row) for row in ids.tolist()]), None


@wrong("greedy", "The token `eos` can be banned, too")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: text[-1] != eos and _repeats(text, m))


@wrong("greedy", "Groups of ids are compared, not their digits")
def _(next_logits, prompt, n, eos=None, m=None):
    return _loop(next_logits, prompt, n, eos, lambda text: m is not None and len(text) > m and
                 "".join(map(str, text[-m:])) in "".join(map(str, text[:-1])))


@wrong("greedy", "If all tokens are banned, the text ends")
def _(next_logits, prompt, n, eos=None, m=None):
    ids = list(prompt)
    for _ in range(n):
        order = next_logits(ids).argsort(descending=True, stable=True).tolist()
        ids.append([token for token in order if not _repeats(ids + [token], m)][0])
        if ids[-1] == eos:
            break
    return ids[len(prompt):]


@right("greedy", "banned tokens from a set of groups, and a loop with while")
def _(next_logits, prompt, n, eos=None, m=None):
    ids, new = tuple(prompt), []
    while len(new) < n and (not new or new[-1] != eos):
        logits = next_logits(list(ids))
        groups = set() if m is None else {ids[i:i + m] for i in range(len(ids) - m + 1)}
        allowed = [t for t in range(len(logits)) if m is None or (*ids, t)[-m:] not in groups]
        if not allowed:
            return new
        new.append(max(allowed, key=lambda t: (logits[t].item(), -t)))
        ids = (*ids, new[-1])
    return new


@right("greedy", "recursion, and tensors in the list")
def _greedy(next_logits, prompt, n, eos=None, m=None):
    if n == 0:
        return []
    for token in torch.sort(next_logits(prompt), descending=True, stable=True).indices:
        text = [*prompt, token.item()]
        windows = [] if m is None else list(zip(*(text[i:] for i in range(m))))
        if not windows or windows[-1] not in windows[:-1]:
            return [token] + ([] if token == eos else _greedy(next_logits, text, n - 1, eos, m))
    return []


# -- read_on ---------------------------------------------------------------------------------------------------------

def _read(x, W_q, W_k, W_v, K, V, scale=None, offset=None, axis=-1, keys=None, forbidden=-math.inf):
    """read_on with one thing done in another way."""
    keys = torch.cat([K, x @ W_k.T]) if keys is None else keys
    values = torch.cat([V, x @ W_v.T])
    scores = x @ W_q.T @ keys.T / (scale or math.sqrt(len(W_q)))
    allowed = torch.ones_like(scores, dtype=torch.bool).tril(len(K) if offset is None else offset)
    return torch.softmax(scores.masked_fill(~allowed, forbidden), axis) @ values, keys, values


@wrong("read_on", "The triangle of the mask begins at the wrong place")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, offset=0)


@wrong("read_on", "The new tokens see each other's future")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, offset=1000)


@wrong("read_on", "A new token does not see itself")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, offset=len(K) - 1)


@wrong("read_on", "Each new token sees one token of the future")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, offset=len(K) + 1)


@wrong("read_on", "where is √d_att?")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=1.0)


@wrong("read_on", "divided by √d_e")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=math.sqrt(x.shape[1]))


@wrong("read_on", "the root of the number of tokens")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=math.sqrt(len(x) + len(K)))


@wrong("read_on", "The cache came back as it was")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V)[0], K, V


@wrong("read_on", "The new keys stand in front")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V)[0], torch.cat([x @ W_k.T, K]), torch.cat([x @ W_v.T, V])


@wrong("read_on", "The output comes first")
def _(x, W_q, W_k, W_v, K, V):
    output, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return keys, values, output


@wrong("read_on", "The future has the score 0 here")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, forbidden=0.0)


@wrong("read_on", "The mask comes after the softmax")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    weights = torch.softmax(x @ W_q.T @ keys.T / math.sqrt(len(W_q)), -1)
    return weights.tril(len(K)) @ values, keys, values


@wrong("read_on", "The scores are divided by √d_out")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=math.sqrt(len(W_v)))


@wrong("read_on", "The scores are divided by the root of the number of tokens")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=math.sqrt(len(K) + len(x)))


@wrong("read_on", "The scores are divided by d_att")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, scale=len(W_q))


@wrong("read_on", "or exp was taken of a large score", at_once=False)
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    e = torch.exp(x @ W_q.T @ keys.T / math.sqrt(len(W_q))).tril(len(K))
    return e / e.sum(1, keepdim=True) @ values, keys, values


@wrong("read_on", "Keys and values have changed places")
def _(x, W_q, W_k, W_v, K, V):
    output, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return output, values, keys


@wrong("read_on", "Queries went into the cache")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, keys=torch.cat([K, x @ W_q.T]))


@wrong("read_on", "Only the new keys came back")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V)[0], x @ W_k.T, x @ W_v.T


@wrong("read_on", "The new tokens see neither themselves nor each other")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return torch.softmax(x @ W_q.T @ K.T / math.sqrt(len(W_q)), -1) @ V, keys, values


@wrong("read_on", "The new tokens look only at each other")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return _read(x, W_q, W_k, W_v, K[:0], V[:0])[0], keys, values


@wrong("read_on", "Return all three")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V)[0]


@wrong("read_on", "The output has a row for each new token")
def _(x, W_q, W_k, W_v, K, V):
    output, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return output[-1], keys, values


@wrong("read_on", "Over which axis is the softmax")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    return torch.softmax(x @ W_q.T @ keys.T / math.sqrt(len(W_q)), 0) @ values, keys, values


@wrong("read_on", "A mask of t rows and T + t columns")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    scores = x @ W_q.T @ keys.T / math.sqrt(len(W_q))
    mask = torch.ones(len(keys), len(keys), dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ values, keys, values


@wrong("read_on", "A mask of t rows and T + t columns")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    scores = x @ W_q.T @ keys.T / math.sqrt(len(W_q))
    scores[torch.ones(len(x), len(x)).tril() == 0] = -math.inf
    return torch.softmax(scores, -1) @ values, keys, values


@wrong("read_on", "it changes what it is given: `K`")
def _(x, W_q, W_k, W_v, K, V):
    made = _read(x, W_q, W_k, W_v, K, V)
    K.zero_()
    return made


@wrong("read_on", "scaled_dot_product_attention")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    mask = torch.ones(len(x), len(keys), dtype=torch.bool).tril(len(K))
    return F.scaled_dot_product_attention(x @ W_q.T, keys, values, mask), keys, values


@wrong("read_on", "not by as many as are new")
def _(x, W_q, W_k, W_v, K, V):
    return _read(x, W_q, W_k, W_v, K, V, offset=len(x))


@wrong("read_on", "The weights went through a second softmax")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    scores = x @ W_q.T @ keys.T / math.sqrt(len(W_q))
    forbidden = torch.ones_like(scores).triu(len(K) + 1).bool()
    return torch.softmax(torch.softmax(scores.masked_fill(forbidden, -math.inf), -1), -1) @ values, keys, values


@wrong("read_on", "A mask of t rows and T + t columns")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    scores = x @ W_q.T @ keys.T / math.sqrt(len(W_q))
    future = torch.ones(len(keys), len(keys)).triu(1).bool()
    return torch.softmax(scores.masked_fill(future, -math.inf), -1) @ values, keys, values


@wrong("read_on", "queries come from x alone")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    future = torch.ones(len(keys), len(keys)).triu(1).bool()
    scores = keys @ keys.T / math.sqrt(len(W_q))
    return torch.softmax(scores.masked_fill(future, -math.inf), -1) @ values, keys, values


@wrong("read_on", "One softmax runs over both")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _read(x, W_q, W_k, W_v, K, V)
    own = _read(x, W_q, W_k, W_v, K[:0], V[:0])[0]
    return own + torch.softmax(x @ W_q.T @ K.T / math.sqrt(len(W_q)), -1) @ V, keys, values


@right("read_on", "one token at a time")
def _(x, W_q, W_k, W_v, K, V):
    outputs = []
    for new in x:
        K, V = torch.vstack((K, W_k @ new)), torch.vstack((V, W_v @ new))
        weights = tempered(K @ (W_q @ new) * K.shape[1] ** -0.5, 1)
        outputs.append((weights[:, None] * V).sum(0))
    return [torch.stack(outputs), K, V]


@right("read_on", "a full square of scores, of which the last rows are wanted")
def _(x, W_q, W_k, W_v, K, V):
    T, t = len(K), len(x)
    keys, values = torch.cat((K, torch.einsum("td,ad->ta", x, W_k))), torch.cat((V, torch.einsum("td,od->to", x, W_v)))
    queries = torch.cat((torch.zeros_like(K), x @ W_q.T))
    future = torch.triu(torch.full((T + t, T + t), -math.inf, dtype=x.dtype), 1)
    return torch.softmax(queries @ keys.T / math.sqrt(W_q.shape[0]) + future, 1)[T:] @ values, keys, values


# -- beam_search -----------------------------------------------------------------------------------------------------

def _beam(next_logits, prompt, n, width, eos=None, alpha=0.0, what=torch.log_softmax, each=False, ended="kept",
          rank=lambda total, length: total, score=lambda total, length, alpha: total / length ** alpha, order=True):
    """beam_search with one thing done in another way."""
    beams = [(0.0, [])]
    for _ in range(n):
        longer = []
        for total, ids in beams:
            if ids and ids[-1] == eos and ended != "continued":
                longer += [(total, ids)] * (ended == "kept")
                continue
            shares = what(next_logits(prompt + ids), -1).tolist()
            new = [(total + share, ids + [token]) for token, share in enumerate(shares)]
            longer += sorted(new, reverse=True)[:width] if each else new
        longer.sort(key=lambda beam: rank(beam[0], len(beam[1])), reverse=True)
        beams = longer if each else longer[:width]
    pairs = [(ids, score(total, len(ids), alpha)) for total, ids in beams]
    return sorted(pairs, key=lambda pair: -pair[1]) if order else pairs


@wrong("beam_search", "Logits were added up")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, what=lambda logits, axis: logits)


@wrong("beam_search", "Probabilities were added up")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, what=torch.softmax)


@wrong("beam_search", "That is a probability")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, score=lambda total, length, alpha: math.exp(total))


@wrong("beam_search", "The scores have the wrong sign")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return [(ids, -score) for ids, score in _beam(next_logits, prompt, n, width, eos, alpha)]


@wrong("beam_search", "The continuations of *all* beams compete")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, each=True)


@wrong("beam_search", "A beam that has ended was continued")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, ended="continued")


@wrong("beam_search", "Beams that have ended compete with all others")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    ended, beams = [], [(0.0, [])]
    for _ in range(n):                                                  # who has ended keeps a place for good
        shares = [(total, ids, next_logits(prompt + ids).log_softmax(-1).tolist()) for total, ids in beams]
        longer = sorted(((total + share, ids + [token]) for total, ids, row in shares
                         for token, share in enumerate(row)), reverse=True)[:width - len(ended)]
        ended += [beam for beam in longer if beam[1][-1] == eos]
        beams = [beam for beam in longer if beam[1][-1] != eos]
    pairs = [(ids, total / len(ids) ** alpha) for total, ids in ended + beams]
    return sorted(pairs, key=lambda pair: -pair[1])


@wrong("beam_search", "The search stopped too early")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    for steps in range(1, n + 1):
        pairs = _beam(next_logits, prompt, steps, width, eos, alpha)
        if pairs[0][0][-1] == eos:                                      # the best has ended
            break
    return pairs


@wrong("beam_search", "It has no place of its own")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams, aside = [(0.0, [])], []
    for _ in range(n):
        longer = [(total + share, ids + [token]) for total, ids in beams
                  for token, share in enumerate(next_logits(prompt + ids).log_softmax(-1).tolist())]
        longer.sort(key=lambda beam: -beam[0])
        aside += [beam for beam in longer[:width] if beam[1][-1] == eos]
        beams = [beam for beam in longer[:width] if beam[1][-1] != eos]
    pairs = [(ids, total / len(ids) ** alpha) for total, ids in sorted(beams + aside, key=lambda beam: -beam[0])]
    return sorted(pairs[:width], key=lambda pair: -pair[1])


@wrong("beam_search", "It has no place of its own")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        done = [beam for beam in beams if beam[1] and beam[1][-1] == eos]
        longer = [(total + share, ids + [token]) for total, ids in beams if (total, ids) not in done
                  for token, share in enumerate(next_logits(prompt + ids).log_softmax(-1).tolist())]
        beams = done + sorted(longer, key=lambda beam: -beam[0])[:width - len(done)]
    return sorted([(ids, total / len(ids) ** alpha) for total, ids in beams], key=lambda pair: -pair[1])


@wrong("beam_search", "A score is nan")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, what=lambda logits, axis: logits.log())


@wrong("beam_search", "change the one list that all continuations of a beam share")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        longer = []
        for total, ids in beams:
            if ids and ids[-1] == eos:
                longer.append((total, ids))
                continue
            for token, share in enumerate(next_logits(prompt + ids).log_softmax(-1).tolist()):
                ids.append(token)
                longer.append((total + share, ids))
        beams = sorted(longer, key=lambda beam: -beam[0])[:width]
    return sorted([(ids, total / len(ids) ** alpha) for total, ids in beams], key=lambda pair: -pair[1])


@wrong("beam_search", "topk cannot give more than there are")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        longer = []
        for total, ids in beams:
            if ids and ids[-1] == eos:
                longer.append((total, ids))
                continue
            shares, tokens = next_logits(prompt + ids).log_softmax(-1).topk(width)
            longer += [(total + share, ids + [token]) for share, token in zip(shares.tolist(), tokens.tolist())]
        beams = sorted(longer, key=lambda beam: -beam[0])[:width]
    return sorted([(ids, total / len(ids) ** alpha) for total, ids in beams], key=lambda pair: -pair[1])


@wrong("beam_search", "A beam that has ended was continued")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        longer = []
        for total, ids in beams:
            if ids and ids[-1] == eos:
                longer.append((total, ids + [eos]))                     # filled up
                continue
            shares = next_logits(prompt + ids).log_softmax(-1).tolist()
            longer += [(total + share, ids + [token]) for token, share in enumerate(shares)]
        beams = sorted(longer, reverse=True)[:width]
    return [(ids, total / len(ids) ** alpha) for total, ids in beams]


@wrong("beam_search", "A beam that has ended was continued")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos or None, alpha)     # the id 0 is an id, too


@wrong("beam_search", "Beams that have ended are lost")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, ended="lost")


@wrong("beam_search", "The penalty was used inside the search")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, rank=lambda total, length: total / length ** alpha)


@wrong("beam_search", "The scores are not divided")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos)


@wrong("beam_search", "The length counts the new tokens")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha,
                 score=lambda total, length, alpha: total / (length + len(prompt)) ** alpha)


@wrong("beam_search", "The length counts the new tokens, without those of the prompt")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, order=False,
                 score=lambda total, length, alpha: total / (length + len(prompt)) ** alpha)


@wrong("beam_search", "The score is *divided* by")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, score=lambda total, length, alpha: total * length ** alpha)


@wrong("beam_search", "the best *score* first, after the division")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, order=False)


@wrong("beam_search", "Only the new ids are asked for")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return [(prompt + ids, score) for ids, score in _beam(next_logits, prompt, n, width, eos, alpha)]


@wrong("beam_search", "Only the best came back")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha)[:1]


@wrong("beam_search", "one for each beam, also when there is a single one")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha)[0]


@wrong("beam_search", "In a pair the new ids come first")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return [(score, ids) for ids, score in _beam(next_logits, prompt, n, width, eos, alpha)]


@wrong("beam_search", "Are all `width` beams continued, by every token?")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    first = _beam(next_logits, prompt, n, 1, eos, alpha)
    return first + _beam(next_logits, prompt, n, width, eos, alpha)[1:]


@wrong("beam_search", "Only a *new* token ends a text")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    made = _beam(next_logits, prompt, n, width, eos, alpha)
    return [([], 0.0)] if prompt[-1] == eos or eos in prompt else made


@wrong("beam_search", "next_logits wants the whole text so far")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(lambda ids: next_logits(ids[len(prompt):] or prompt), prompt, n, width, eos, alpha)


@wrong("beam_search", "right on the inputs that you see", at_once=False)
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    def log(logits, axis):
        return torch.softmax(logits, axis).log()                        # −∞ for what is very unlikely
    return _beam(next_logits, prompt, n, width, eos, alpha, what=log)


@wrong("beam_search", "The least likely beams were kept")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha, rank=lambda total, length: -total)


@wrong("beam_search", "expected 2. Is each beam continued by *every* token?")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        beams = [(total + share.item(), ids + [token.item()]) for total, ids in beams
                 for share, token in zip(*next_logits(prompt + ids).log_softmax(-1).topk(1))]
    return [(ids, total / len(ids) ** alpha) for total, ids in beams]


@wrong("beam_search", "coursekit.models.beam_search")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    found = library.beam_search(_Cached(next_logits), prompt, n, width, alpha, eos)
    return [(hypothesis.ids, hypothesis.score) for hypothesis in found.hypotheses]


class _Cached(_Model):
    """The same, with a cache that holds the text itself."""

    def step(self, ids, cache=None, padding=None):
        texts = ids if cache is None else torch.cat([cache.ids, ids], 1)
        return super().step(texts)[0], _Texts(texts)


class _Texts:
    def __init__(self, ids):
        self.ids = ids

    def reorder(self, index):
        return _Texts(self.ids[index])


@wrong("beam_search", "The end itself is missing")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return [([token for token in ids if token != eos], score)
            for ids, score in _beam(next_logits, prompt, n, width, eos, alpha)]


@wrong("beam_search", "Only beams that have ended came back")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    pairs = _beam(next_logits, prompt, n, width, eos, alpha)
    return [pair for pair in pairs if pair[0][-1] == eos] or pairs


@wrong("beam_search", "The length is one too many")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _beam(next_logits, prompt, n, width, eos, alpha,
                 score=lambda total, length, alpha: total / (length + 1) ** alpha)


@right("beam_search", "texts with their prompts, in a dictionary")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    start = len(prompt)
    beams = {tuple(prompt): 0.0}
    for _ in range(n):
        longer = {}
        for text, total in beams.items():
            if len(text) > start and text[-1] == eos:
                longer[text] = total
                continue
            logits = next_logits(list(text)).double()
            for token, y in enumerate(logits):
                longer[(*text, token)] = total + (y - torch.logsumexp(logits, 0)).item()
        best = sorted(longer, key=longer.get)[-width:]
        beams = {text: longer[text] for text in best}
    pairs = [[list(text[start:]), total / (len(text) - start) ** alpha] for text, total in beams.items()]
    return sorted(pairs, key=lambda pair: pair[1])[::-1]


@right("beam_search", "tensors and topk")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams, totals = [[]], torch.zeros(1, dtype=torch.float64)
    for _ in range(n):
        rows = []
        for ids, total in zip(beams, totals):
            log_p = F.log_softmax(next_logits(torch.tensor(prompt + ids)).double(), 0)
            over = bool(ids) and ids[-1] == eos
            stay = torch.full((1,), 0.0 if over else -math.inf, dtype=torch.float64)
            go = torch.full_like(log_p, -math.inf) if over else log_p
            rows.append(total + torch.cat([go, stay]))
        table = torch.stack(rows)
        best = table.flatten().topk(min(width, int(table.isfinite().sum())))
        width_of_row, old = table.shape[1], beams
        beams = [old[i // width_of_row] + [i % width_of_row] * (i % width_of_row < width_of_row - 1)
                 for i in best.indices.tolist()]
        totals = best.values
    lengths = torch.tensor([len(ids) for ids in beams], dtype=torch.float64)
    scores = totals / lengths.pow(alpha)
    return [(beams[i], scores[i]) for i in scores.argsort(descending=True).tolist()]
