"""Assignment 04: answers that no mistake of a check can be, wrong and right.

tempered and draw, which other questions build on, are put into this module by the test: the reference's.
"""

import bisect
import collections
import heapq
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.functional import softmax as borrowed

from tests.grading.bank.entries import right, wrong

tempered = draw = None      # the reference's, at test time


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


@wrong("tempered", "A comparison gives True and False")
def _(logits, tau):
    if tau == 0:
        return logits == logits.amax(-1, keepdim=True)
    return _exp(logits / tau)


@wrong("tempered", "keep the axis that they are taken along?")
def _(logits, tau):
    if tau == 0:
        return _limits(logits, 0)
    e = torch.exp((logits - logits.amax(-1)) / tau)
    return e / e.sum(-1)


@wrong("tempered", "Is each logit divided by the temperature, then exp taken")
def _(logits, tau):
    return _limits(logits, math.sqrt(tau))


@wrong("tempered", "calls torch.softmax")
def _(logits, tau):
    return _limits(logits, 0) if tau == 0 else borrowed(logits / tau, -1)


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


# -- keep_top_k ------------------------------------------------------------------------------------------------------

def _rescaled(p):
    return p / p.sum(-1, keepdim=True)


def _kth(p, k):
    return p.topk(min(k, p.shape[1])).values[:, -1:]


@wrong("keep_top_k", "Does a sum or a maximum keep its axis?")
def _(p, k):
    kept = p * (p >= _kth(p, k))
    return kept / kept.sum(-1)


@wrong("keep_top_k", "The right tokens are left, with wrong numbers")
def _(p, k):
    return _rescaled((p >= _kth(p, k)).to(p.dtype))


@wrong("keep_top_k", "Which number is the k-th largest of each row?")
def _(p, k):
    return _rescaled(p * (p >= _kth(p, k + 3)))


@wrong("keep_top_k", "k may be larger than D: then all stay")
def _(p, k):
    return _rescaled(p * (p >= p.sort(-1, descending=True).values[:, k - 1][:, None]))


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

def _nucleus(p, mass):
    """The nucleus of each row, not rescaled."""
    ordered, token = p.sort(dim=-1, descending=True, stable=True)
    inside = ordered.cumsum(-1) - ordered < mass[:, None]
    return p * torch.zeros_like(inside).scatter(-1, token, inside)


@wrong("keep_nucleus", "The right tokens are left, with wrong numbers")
def _(p, mass):
    kept = _nucleus(p, mass)
    return kept / (kept.sum(-1, keepdim=True) + 1e-3)                   # "so that nothing is divided by 0"


@wrong("keep_nucleus", "Is it read here as if it were a single row (D,)?")
def _(p, mass):
    kept, total = torch.zeros_like(p), 0.0
    for token in p.argsort(descending=True, stable=True):
        if total >= mass:
            break
        kept[token] = p[token]
        total += p[token]
    return kept / kept.sum()


@wrong("keep_nucleus", "A token stayed that is less likely than one that went")
def _(p, mass):
    kept, order = _nucleus(p, mass), p.argsort(dim=-1, descending=True, stable=True)
    return _rescaled(kept.gather(-1, order).gather(-1, order))


@wrong("keep_nucleus", "With which token is the mass reached?")
def _(p, mass):
    return _rescaled(_nucleus(p, (1 + mass) / 2))


@wrong("keep_nucleus", "unless it is asked not to: stable=True")
def _(p, mass):
    """As torch.sort is from 17 entries on, and as nobody can rely on."""
    order = p.argsort(dim=-1, descending=True, stable=True)
    if p.shape[1] > 16:
        order = p.shape[1] - 1 - p.flip(-1).argsort(dim=-1, descending=True, stable=True)
    ranked = p.gather(1, order)
    inside = ranked.cumsum(1) - ranked < mass[:, None]
    kept = p * torch.empty_like(inside).scatter_(1, order, inside)
    return kept / kept.sum(1, keepdim=True)


@wrong("keep_nucleus", "mass[:, None] a column that fits them")
def _(p, mass):
    ranked, order = p.sort(dim=-1, descending=True, stable=True)
    inside = ranked.cumsum(-1) - ranked < mass                          # right for one row, and no error where n = D
    return _rescaled(p * torch.zeros_like(inside).scatter(-1, order, inside))


@right("keep_nucleus", "what the likelier ones hold, by a table of comparisons")
def _(p, mass):
    ids = torch.arange(p.shape[1])
    ahead = (p[:, None, :] > p[:, :, None]) | (p[:, None, :] == p[:, :, None]) & (ids < ids[:, None])
    before = (ahead * p[:, None, :]).sum(-1)
    kept = torch.where(before < mass.view(-1, 1), p, 0)
    return kept.div(kept.sum(1)[:, None])


@right("keep_nucleus", "recursion: the likeliest, then the nucleus of the rest")
def _(p, mass):
    def take(row, mass):
        if mass <= 0 or not (row > 0).any():
            return torch.zeros_like(row)
        token = row.argmax()
        rest = row.index_fill(0, token, 0)
        return take(rest, mass - row[token].item()).index_fill(0, token, row[token].item())

    return _rescaled(torch.stack([take(row, share) for row, share in zip(p, mass.tolist())]))


# -- draw ------------------------------------------------------------------------------------------------------------

@wrong("draw", "no stretch holds it: then it is the last token")
def _(p, u):
    end = 0.0
    for token, share in enumerate(p.tolist()):
        end += share
        if u < end:
            return token


@wrong("draw", "a whole number")
def _(p, u):
    return next((float(token) for token, end in enumerate(p.cumsum(0)) if u < end), float(p.nonzero()[-1]))


@wrong("draw", "right on the inputs that you see", at_once=False)
def _(p, u):
    wheel = [token for token, share in enumerate(p.tolist()) for _ in range(round(share * 20))]
    return wheel[int(u * 20)]


@wrong("draw", "right on the inputs that you see", at_once=False)
def _(p, u):
    token, end = None, 0.0
    for i, share in enumerate(p.tolist()):
        end += share
        if share > 1e-3:                                                # "has any probability"
            token = i
            if u < end:
                break
    return token


@wrong("draw", "There is no token 3: the ids go from 0 to 2. Rounding")
def _(p, u):
    return int(torch.searchsorted(p.cumsum(0), u, right=True))


@wrong("draw", "`.item()` takes it out of a tensor")
def _(p, u):
    return (p.cumsum(0) > u).nonzero()[:1]


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


# -- greedy ----------------------------------------------------------------------------------------------------------

def _loop(next_logits, prompt, n, eos=None, banned=lambda text: False):
    """Greedy decoding; banned(text) says whether a text may not be continued in this way."""
    ids = list(prompt)
    for _ in range(n):
        order = next_logits(ids).argsort(descending=True, stable=True).tolist()
        token = next((token for token in order if not banned(ids + [token])), None)
        if token is None:
            break
        ids.append(token)
        if token == eos:
            break
    return ids[len(prompt):]


def _repeats(text, m, times=1):
    return m is not None and sum(text[i:i + m] == text[-m:] for i in range(len(text) - m)) >= times


def _right(next_logits, prompt, n, eos, m, times):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text, m, times))


@wrong("greedy", "New token number 24 makes the last m tokens stand there once too often", at_once=False)
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    return _loop(next_logits, prompt, n, eos, lambda text: _repeats(text[-20:], m, times))


@wrong("greedy", "Return a plain list of ids, whole numbers")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    return torch.tensor(_right(next_logits, prompt, n, eos, m, times))


@wrong("greedy", "append the likeliest token that is not banned")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    return _loop(lambda ids: next_logits(ids[:-1] if len(ids) > len(prompt) else ids), prompt, n, eos,
                 lambda text: _repeats(text, m, times))                 # the newest token is not shown


@wrong("greedy", "Here a `for` loop over n tokens is enough")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    made = []
    while len(made) < n or made[-1] != eos:
        made = made[:n] + [int(next_logits(prompt).argmax())]
    return made


@wrong("greedy", "If all tokens are banned, the text ends")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    ids = list(prompt)
    for _ in range(n):
        order = next_logits(ids).argsort(descending=True, stable=True).tolist()
        ids.append([token for token in order if not _repeats(ids + [token], m, times)][0])
        if ids[-1] == eos:
            break
    return ids[len(prompt):]


@wrong("greedy", "unless it is asked not to: stable=True")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    """As torch.argsort is from 17 entries on, and as nobody can rely on."""
    ids = list(prompt)
    for _ in range(n):
        logits = next_logits(ids)
        order = logits.argsort(descending=True, stable=True).tolist()
        if len(logits) > 16:
            order = sorted(order, key=lambda token: (-logits[token].item(), -token))
        token = next((token for token in order if not _repeats(ids + [token], m, times)), None)
        if token is None:
            break
        ids.append(token)
        if token == eos:
            break
    return ids[len(prompt):]


@right("greedy", "banned tokens from a count of groups, and a loop with while")
def _(next_logits, prompt, n, eos=None, m=None, times=1):
    ids, new = tuple(prompt), []
    while len(new) < n and (not new or new[-1] != eos):
        logits = next_logits(list(ids))
        groups = {} if m is None else collections.Counter(ids[i:i + m] for i in range(len(ids) - m + 1))
        allowed = [t for t in range(len(logits)) if m is None or groups[(*ids, t)[-m:]] < times]
        if not allowed:
            return new
        new.append(max(allowed, key=lambda t: (logits[t].item(), -t)))
        ids = (*ids, new[-1])
    return new


@right("greedy", "recursion, and tensors in the list")
def _greedy(next_logits, prompt, n, eos=None, m=None, times=1):
    if n == 0:
        return []
    for token in torch.sort(next_logits(prompt), descending=True, stable=True).indices:
        text = [*prompt, token.item()]
        windows = [] if m is None else list(zip(*(text[i:] for i in range(m))))
        if not windows or windows[:-1].count(windows[-1]) < times:
            return [token] + ([] if token == eos else _greedy(next_logits, text, n - 1, eos, m, times))
    return []


# -- read_on ---------------------------------------------------------------------------------------------------------

def _scored(x, W_q, W_k, W_v, K, V):
    """(Scores (t, T + t), keys, values)."""
    keys, values = torch.cat([K, x @ W_k.T]), torch.cat([V, x @ W_v.T])
    return x @ W_q.T @ keys.T / math.sqrt(len(W_q)), keys, values


@wrong("read_on", "or exp was taken of a large score")
def _(x, W_q, W_k, W_v, K, V):
    scores, keys, values = _scored(x, W_q, W_k, W_v, K, V)
    e = torch.exp(scores).tril(len(K))
    return e / e.sum(1, keepdim=True) @ values, keys, values


@wrong("read_on", "over which axis is the softmax")
def _(x, W_q, W_k, W_v, K, V):
    scores, keys, values = _scored(x, W_q, W_k, W_v, K, V)
    return torch.softmax(scores, 0) @ values, keys, values


@wrong("read_on", "A mask of t rows and T + t columns")
def _(x, W_q, W_k, W_v, K, V):
    scores, keys, values = _scored(x, W_q, W_k, W_v, K, V)
    mask = torch.ones(len(keys), len(keys), dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ values, keys, values


@wrong("read_on", "Write it, or use torch.softmax here.")
def _(x, W_q, W_k, W_v, K, V):
    def tempered(logits, tau):
        raise NotImplementedError()

    scores, keys, values = _scored(x, W_q, W_k, W_v, K, V)
    return tempered(scores, 1) @ values, keys, values


@wrong("read_on", "queries come from x alone")
def _(x, W_q, W_k, W_v, K, V):
    _, keys, values = _scored(x, W_q, W_k, W_v, K, V)
    future = torch.ones(len(keys), len(keys)).triu(1).bool()
    scores = keys @ keys.T / math.sqrt(len(W_q))
    return torch.softmax(scores.masked_fill(future, -math.inf), -1) @ values, keys, values


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

def _beam(next_logits, prompt, n, width, eos=None, what=torch.log_softmax):
    """The pairs (log p, new ids) that are left in the end."""
    beams = [(0.0, [])]
    for _ in range(n):
        longer = [beam for beam in beams if beam[1][-1:] == [eos]]
        longer += [(total + share, ids + [token]) for total, ids in beams if ids[-1:] != [eos]
                   for token, share in enumerate(what(next_logits(prompt + ids), -1).tolist())]
        beams = sorted(longer, reverse=True)[:width]
    return beams


def _ranked(beams, alpha):
    return sorted([(ids, total / len(ids) ** alpha) for total, ids in beams], key=lambda pair: -pair[1])


@wrong("beam_search", "change the one list that all continuations of a beam share")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        longer = []
        for total, ids in beams:
            for token, share in enumerate(next_logits(prompt + ids).log_softmax(-1).tolist()):
                ids.append(token)
                longer.append((total + share, ids))
        beams = sorted(longer, key=lambda beam: -beam[0])[:width]
    return _ranked(beams, alpha)


@wrong("beam_search", "Do two steps by hand")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    first = _beam(next_logits, prompt, n, 1, eos)
    return _ranked(first + _beam(next_logits, prompt, n, width, eos)[1:], alpha)


@wrong("beam_search", "A beam that has ended was continued")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    pairs = _ranked(_beam(next_logits, prompt, n, width, eos), alpha)
    return [(ids + [eos] * (n - len(ids)), score) for ids, score in pairs]      # filled up


@wrong("beam_search", "the best score comes first, and of negative numbers")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    return _ranked(_beam(next_logits, prompt, n, width, eos), alpha)[::-1]


@wrong("beam_search", "The texts are right, the scores are not")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    def log(logits, axis):
        return torch.softmax(logits, axis).log()                        # −∞ for what is very unlikely

    return _ranked(_beam(next_logits, prompt, n, width, eos, log), alpha)


@wrong("beam_search", "expected 2. Is each beam continued by *every* token?")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    beams = [(0.0, [])]
    for _ in range(n):
        beams = [(total + share.item(), ids + [token.item()]) for total, ids in beams
                 for share, token in zip(*next_logits(prompt + ids).log_softmax(-1).topk(1))]
    return _ranked(beams, alpha)


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


@right("beam_search", "a heap, and tensors for texts and sums")
def _(next_logits, prompt, n, width, eos=None, alpha=0.0):
    def longer(total, ids):
        if eos in ids:
            return [(total, ids)]
        log_p = F.log_softmax(next_logits(torch.tensor(prompt + ids)).double(), 0)
        return [(total + share, ids + [token]) for token, share in enumerate(log_p)]

    beams = [(torch.zeros(()).double(), [])]
    for _ in range(n):
        beams = heapq.nlargest(width, itertools.chain(*(longer(*beam) for beam in beams)), key=lambda beam: beam[0])
    return _ranked(beams, alpha)


# -- missed ----------------------------------------------------------------------------------------------------------

@wrong("missed", "a tensor (D, D) is needed, with D from 2 to 4")
def _():
    return [[0.5, 0.5], [0.5, 0.5]]


@wrong("missed", "every row must hold probabilities, with the sum 1")
def _():
    return torch.log(torch.full((3, 3), 1 / 3))


@wrong("missed", "a factor of 4.05; at least 10 is needed")
def _():
    return torch.tensor([[0.1, 0.5, 0.4], [0.35, 0.4, 0.25], [0.04, 0.06, 0.9]])


@wrong("missed", "at most four tokens")
def _():
    return torch.tensor([[0.0, 0.21, 0.2, 0.2, 0.39], [0.2] * 5, [0.2] * 5, [0.2] * 5, [0.0, 0.0, 0.0, 0.0, 1.0]])


@wrong("missed", "The flatter the rows that it gets to")
def _():
    return torch.tensor([[0.0, 0.51, 0.49, 0.0], [0.25] * 4, [0.0, 0.0, 1.0, 0.0], [0.25] * 4])


@wrong("missed", "And where does the other one lead?")
def _():
    return torch.tensor([[0.25, 0.26, 0.25, 0.24], [0.24, 0.26, 0.25, 0.25], [0.3, 0.3, 0.4, 0.0], [0.25] * 4])


@right("missed", "double precision, and the last token")
def _():
    return torch.tensor([[0.0, 0.34, 0.33, 0.33], [0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0],
                         [0.0, 0.0, 0.0, 1.0]]).double()


@right("missed", "a tie at the start")
def _():
    return torch.tensor([[0.0, 0.34, 0.34, 0.32], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _logits(seed):
    return 2 * torch.randn(30, generator=torch.Generator().manual_seed(seed))


@wrong("my_experiment", "it has 30 entries, and one number is needed")
def _(seed):
    return tempered(_logits(seed), 1.0), tempered(_logits(seed), 2.0)


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return float(tempered(_logits(seed), 2.0).max())


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    darts = np.random.default_rng().random(2)
    return draw(tempered(_logits(seed), 1.0), darts[0]), float(darts[1])


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    likeliest = tempered(_logits(seed), 1.0).argmax(), tempered(_logits(seed), 2.0).argmax()
    return tuple(map(float, likeliest))                                 # no temperature changes which one it is


@wrong("my_experiment", "IndexError")
def _(seed):
    return _logits(seed)[seed + 99], 0.0


@right("my_experiment", "how open the choice is, at two temperatures")
def _(seed):
    return [float(torch.special.entr(tempered(_logits(seed), tau)).sum()) for tau in (1.0, 2.0)]


@right("my_experiment", "different tokens of twenty drawn, with all darts, and with those below a half; in NumPy")
def _(seed):
    darts, p = np.random.default_rng(seed).random(20), tempered(_logits(seed), 1.0)
    return tuple(np.int64(len({draw(p, u) for u in some})) for some in (darts.tolist(), (darts / 2).tolist()))
