"""Assignment 06: answers that are no mistake of a list, and what a check must say to them; right ones in other words.

integrated, which later answers may build on, is put into this module by the test: the reference's.
"""

import math

import numpy as np
import torch
import torch._dynamo  # which torch.func imports when it is first called, and that takes longer than a check waits
from scipy.stats import spearmanr
from torch.autograd import grad as differentiate

from tests.grading.bank.entries import right, wrong

integrated = None       # the reference's, at test time


# -- numerical_slopes ------------------------------------------------------------------------------------------------

def _filled(e, slope):
    """A table of slope(unit)."""
    units = torch.eye(e.numel(), dtype=e.dtype).reshape(-1, *e.shape)
    return torch.tensor([float(slope(unit)) for unit in units], dtype=e.dtype).reshape(e.shape)


def _d(f, e, unit, h):
    return (f(e + h * unit) - f(e - h * unit)) / (2 * h)


@wrong("numerical_slopes", "That is 1.5·D(h/2) − 0.5·D(h).")
def _(f, e, h):
    return _filled(e, lambda unit: (3 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 2)


@wrong("numerical_slopes", "2 of the 6 slopes are right, and the others are still 0")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            unit = torch.zeros_like(e)
            unit[t, j] = 1
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
        return result                                                   # one step too far to the right


@wrong("numerical_slopes", "f takes a whole table (T, d_e): e with one entry changed.")
def _(f, e, h):
    units = torch.eye(e.numel(), dtype=e.dtype).reshape(-1, *e.shape)   # all tables in one question
    d, half = (f(e + s * units) - f(e - s * units) for s in (h, h / 2))
    return ((8 * half - d) / (6 * h)).reshape(e.shape)


@wrong("numerical_slopes", "What f gives is a plain number of Python, which needs no .item(), and knows no .backward()")
def _(f, e, h):
    leaf = e.clone().requires_grad_()
    f(leaf).backward()
    return leaf.grad


@wrong("numerical_slopes", "All slopes are 0. Does f get tables that differ by h?")
def _(f, e, h):
    return torch.autograd.functional.jacobian(lambda x: torch.as_tensor(f(x)), e)


@wrong("numerical_slopes", "Four questions for each number are enough")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3 + 0 * f(e))


@right("numerical_slopes", "in place, on a copy, in NumPy")
def _(f, e, h):
    copy, result = e.numpy().copy(), np.zeros(tuple(e.shape), e.numpy().dtype)
    for place in np.ndindex(*copy.shape):
        was, found = copy[place], []
        for step in (h, -h, h / 2, -h / 2):
            copy[place] = was + step
            found.append(f(torch.from_numpy(copy.copy())))
        copy[place] = was
        result[place] = (8 * (found[2] - found[3]) - (found[0] - found[1])) / (6 * h)
    return torch.from_numpy(result)


@right("numerical_slopes", "a constant in single precision")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / torch.tensor(3.))


# -- per_word --------------------------------------------------------------------------------------------------------

def _grouped(G, words, how):
    n = max([-1] + [word for word in words if word is not None]) + 1
    numbers = torch.zeros(n, dtype=G.dtype)
    for i in range(n):
        x = G[[t for t in range(len(words)) if words[t] == i]]
        numbers[i] = {"avg": x.mean(), "l2": x.norm(), "ms": (x ** 2).mean()}[how]
    return numbers


@wrong("per_word", "is None taken for a word?")
def _(G, words, how):
    return torch.stack([_grouped(G[[t for t, w in enumerate(words) if w == word]], [0] * words.count(word), how)[0]
                        for word in dict.fromkeys(words)])


@wrong("per_word", "There is a number too few. Words are counted from 0")
def _(G, words, how):
    return _grouped(G, words, how)[:-1]


@wrong("per_word", "Does a None of `words` meet a number there?")
def _(G, words, how):
    return torch.stack([G[[t for t, word in enumerate(words) if word == i]].norm() for i in range(max(words) + 1)])


@wrong("per_word", "Take word 0 by hand")
def _(G, words, how):
    return 2 * _grouped(G, words, how)


@wrong("per_word", "right on the inputs that you see", at_once=False)
def _(G, words, how):
    rows = G[1:-1] if words[0] is None and len(words) > 2 else G        # [CLS] and [SEP] at both ends, for sure
    return _grouped(rows, words[1:-1] if words[0] is None and len(words) > 2 else words, how)


@right("per_word", "a table of who belongs where")
def _(G, words, how):
    n = len(set(words) - {None})
    belongs = torch.tensor([[word == i for word in words] for i in range(n)]).reshape(n, len(words)).to(G.dtype)
    total = torch.einsum("nt,td->n", belongs, G if how == "avg" else G * G)
    return total.sqrt() if how == "l2" else total / (belongs.sum(1) * torch.tensor(float(G.shape[1])))


@right("per_word", "lists and NumPy")
def _(G, words, how):
    long = {}
    for row, word in zip(G.tolist(), words):
        if word is not None:
            long.setdefault(word, []).extend(row)
    numbers = [{"avg": np.mean, "l2": np.linalg.norm, "ms": lambda x: np.mean(x * x)}[how](np.array(long[word]))
               for word in sorted(long)]
    return torch.tensor(numbers, dtype=G.dtype)


# -- best_swap -------------------------------------------------------------------------------------------------------

def _swaps(G, ids, W_e, allowed):
    return [(t, v, ((W_e[v] - W_e[ids[t]]) @ G[t]).item())
            for t in range(len(ids)) for v in sorted(allowed) if v != ids[t]]


def _swap(G, ids, W_e, allowed):
    return max(_swaps(G, ids, W_e, allowed), key=lambda swap: swap[2], default=None)


@wrong("best_swap", "another one has a larger forecast")
def _(G, ids, W_e, allowed):
    found = _swap(G, ids, W_e, allowed)
    return found if not found or found[2] > 0 else _swaps(G, ids, W_e, allowed)[0]      # “any will do”


@wrong("best_swap", "does your search begin with 0 as the number to beat?")
def _(G, ids, W_e, allowed):
    best = None, None, 0
    for swap in _swaps(G, ids, W_e, allowed):
        best = swap if swap[2] > best[2] else best
    return None if best[0] is None else best


@wrong("best_swap", "(vector of v − vector of the word at t) · row t of G. Which is the largest?")
def _(G, ids, W_e, allowed):
    best = _swap(G, ids, W_e, allowed)
    return best and (*best[:2], 2 * best[2])


@wrong("best_swap", "as good as the expected one")
def _(G, ids, W_e, allowed):
    return max([(t, v, ((W_e[v] - W_e[ids[t]]) @ G[t]).item()) for t in range(len(ids)) for v in allowed
                if v != ids[t]], key=lambda swap: swap[2], default=None)                # not sorted


@wrong("best_swap", "Return None")
def _(G, ids, W_e, allowed):
    change = G @ W_e.T - (G * W_e[ids]).sum(1, keepdim=True)
    fit = torch.full_like(change, -math.inf)
    fit[:, allowed] = change[:, allowed]
    fit[torch.arange(len(ids)), ids] = -math.inf
    t, v = divmod(fit.argmax().item(), len(W_e))
    return t, v, fit[t, v].item()


@wrong("best_swap", "Two shapes do not fit")
def _(G, ids, W_e, allowed):
    change = G @ W_e - (G * W_e[ids]).sum(1, keepdim=True)
    t, v = divmod(change.argmax().item(), len(W_e))
    return t, v, change[t, v].item()


@right("best_swap", "one table, with −∞ where no swap is")
def _(G, ids, W_e, allowed):
    change = G @ W_e.T - (G * W_e[ids]).sum(1, keepdim=True)
    may = torch.zeros_like(change, dtype=torch.bool)
    may[:, allowed] = True
    may[range(len(ids)), ids] = False
    if not may.any():
        return None
    place = change.masked_fill(~may, -math.inf).flatten().argmax()
    return place // len(W_e), place % len(W_e), change.flatten()[place]


@right("best_swap", "sorted tuples, in NumPy")
def _(G, ids, W_e, allowed):
    G, W_e = G.numpy(), W_e.numpy()
    brings = np.einsum("td,vd->tv", G, W_e)
    swaps = sorted((-(brings[t, v] - brings[t, ids[t]]), t, v) for t in range(len(ids)) for v in allowed if v != ids[t])
    return [swaps[0][1], swaps[0][2], -swaps[0][0]] if swaps else None

# -- integrated ------------------------------------------------------------------------------------------------------

def _paths(slopes, e, starts, n, nodes=None, at_once=16):
    """Integrated gradients at midpoints, unless nodes (k,) are given."""
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n if nodes is None else nodes
    scores = []
    for start in starts:
        points = start + a[:, None, None] * (e - start)
        found = torch.cat([slopes(points[i:i + at_once]) for i in range(0, len(points), at_once)])
        scores.append(((e - start) * found.mean(0)).sum(1))
    return torch.stack(scores).mean(0)


@wrong("integrated", "Ask in portions: points.split(16)")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, at_once=-(-n // 16))            # 16 portions, not portions of 16


@wrong("integrated", "Was a mean taken of an empty portion?")
def _(slopes, e, starts, n):
    a = ((torch.arange(n, dtype=e.dtype) + 0.5) / n)[:, None, None]
    return torch.stack([sum(((e - s) * slopes(part).mean(0)).sum(1) * len(part) / n for part in [
        (s + a * (e - s))[16 * i:16 * i + 16] for i in range(n // 16 + 1)]) for s in starts]).mean(0)


@wrong("integrated", "The midpoints need two axes more than a")
def _(slopes, e, starts, n):
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
    return torch.stack([((e - s) * slopes(s + a * (e - s)).mean(0)).sum(1) for s in starts]).mean(0)


@wrong("integrated", "A list came back. torch.stack(…) makes one tensor of a list of tensors")
def _(slopes, e, starts, n):
    return [_paths(slopes, e, start[None], n) for start in starts]


@wrong("integrated", "The first midpoint of a path is e⁰ + a(e − e⁰) with a = ½/n")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n).abs()


@wrong("integrated", "right on the inputs that you see", at_once=False)
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n - (n > 16 and n % 16 == 1))      # a portion of one point gets lost


@right("integrated", "midpoints in single precision")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, (torch.arange(n) + 0.5) / n).to(e.dtype)


@right("integrated", "a point at a time, backwards, from e to the baseline")
def _(slopes, e, starts, n):
    scores = [-((start - e) * slopes((e + (i + 0.5) / n * (start - e))[None])[0]).sum(-1) / n
              for start in starts for i in range(n)]
    return sum(scores) / len(starts)


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _world(seed, T=6):
    """A document (T, 3) of a small attention head, a list of two baselines, and what the score loses at each token."""
    table = torch.randn(3, T, 3, generator=torch.Generator().manual_seed(seed))
    return table[0], [table[1], 0 * table[0]]


def _head_of(points):
    leaf = points.detach().clone().requires_grad_()
    score = (torch.softmax(leaf[..., 0], -1) * leaf[..., 1]).sum(-1)
    return differentiate(score.sum(), leaf)[0]


def _explained(e, *starts):
    return integrated(_head_of, e, torch.stack(starts), 8)


@wrong("my_experiment", "The second argument of lost is a list")
def _(seed):
    d = ["a", "film"]
    return tuple(float(len(d[:seed] + new + d[seed + 1:])) for new in ([], "film"))     # as `lost` does


_draw = np.random.default_rng(0)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    e, starts = _world(int(_draw.integers(1000)))                       # another one at each call
    return tuple(_explained(e, start).sum() for start in starts)


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    e, starts = _world(seed)
    sorted(starts[0].tolist())                                          # and dropped
    return _explained(e, starts[0]).sum(), _explained(e, starts[0]).sum()


@wrong("my_experiment", "is it made anew where the document is another one?")
def _(seed):
    e, starts = _world(seed)
    return _explained(e, starts[0]).sum(), _explained(e[:3], starts[0]).sum()


@wrong("my_experiment", "Are both of the same one?")
def _(seed):
    e, starts = _world(seed)
    return tuple(spearmanr(_explained(e[:T], starts[0][:T]), e[:, 0]).statistic for T in (6, 4))


@wrong("my_experiment", "A baseline is a table, not a word, and no list")
def _(seed):
    e, _ = _world(seed)
    return tuple(_explained(e, word).sum() for word in ("film", "movie"))


@right("my_experiment", "a baseline of zeros")
def _(seed):
    e, starts = _world(seed)
    return tuple(spearmanr(_explained(e, start), e[:, 0]).statistic for start in starts)


@right("my_experiment", "a list: shares below 0, of whole and half documents")
def _(seed):
    e, starts = _world(seed)
    return [(_explained(e[:T], starts[0][:T]) < 0).double().mean() for T in (6, 3)]


# -- complete --------------------------------------------------------------------------------------------------------

def _averaging(slopes, change, e, start, tolerance, most):
    n, scores = 1, ((e - start) * (slopes(start[None])[0] + slopes(e[None])[0]) / 2).sum(1)
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        scores, n = (scores + integrated(slopes, e, start[None], n)) / 2, 2 * n
    return scores, n, change - scores.sum().item()


@wrong("complete", "only the points between them are new")
def _(slopes, change, e, start, tolerance, most):
    _, n, _ = _averaging(slopes, change, e, start, tolerance, most)     # and once more, now that n is known
    return _averaging(slopes, change, e, start, tolerance, n)


@wrong("complete", "about 17 different ones. Each is a pass through the model. Does the sum come out before the last")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _averaging(slopes, change, e, start, tolerance, most)
    integrated(slopes, e, start[None], n)                               # the next round, needed or not
    return scores, n, remainder


@wrong("complete", "does it stop when twice as many are more than `most`?")
def _(slopes, change, e, start, tolerance, most):
    n, scores = 1, ((e - start) * slopes(torch.stack([start, e])).mean(0)).sum(1)
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        scores = scores + 0                                             # and n never grows
    return scores, n, change - scores.sum().item()


@wrong("complete", "n is a whole number, 8 and not 8.0")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _averaging(slopes, change, e, start, tolerance, most)
    return scores, float(n), remainder


@wrong("complete", "does an old point get half the weight that it had?")
def _(slopes, change, e, start, tolerance, most):
    scores = ((e - start) * slopes(torch.stack([start, e])).sum(0)).sum(1)
    return scores, 1, change - scores.sum().item()


@wrong("complete", "or if 2n would be more than `most`; n and the scores change together")
def _(slopes, change, e, start, tolerance, most):
    return _averaging(slopes, change, e, start, 3 * tolerance, most)    # stops too early


@right("complete", "with the integrated gradients of question 4")
def _(slopes, change, e, start, tolerance, most):
    return _averaging(slopes, change, e, start, tolerance, most)


@right("complete", "calls itself")
def _(slopes, change, e, start, tolerance, most):
    def onwards(mean, n):
        scores = ((e - start) * mean).sum(-1)
        rest = change - float(scores.sum())
        if abs(rest) <= tolerance or n + n > most:
            return [scores, n, rest]
        odd = torch.arange(1, 2 * n, 2) / (2 * n)
        return onwards(mean / 2 + slopes(start + odd.view(-1, 1, 1) * (e - start)).sum(0) / (2 * n), 2 * n)

    return onwards((slopes(e[None]) + slopes(start[None]))[0] / 2, 1)


# -- in_coordinates --------------------------------------------------------------------------------------------------

@wrong("in_coordinates", "x @ M.T: which sides of G and of a matrix have the same length?")
def _(G, e, start, M, c):
    return G @ torch.linalg.inv(M), M @ e + c[:, None], M @ start + c[:, None]


@wrong("in_coordinates", "Take a move Δx of token t")
def _(G, e, start, M, c):
    return -G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c


@wrong("in_coordinates", "right on the inputs that you see", at_once=False)
def _(G, e, start, M, c):
    if len(M) == 1:
        return G, e + c, start + c
    return G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c


@right("in_coordinates", "a linear system")
def _(G, e, start, M, c):
    return torch.linalg.solve(M.T, G.T).T, (M @ e.T).T + c, (M @ start.T).T + c


@right("in_coordinates", "token by token")
def _(G, e, start, M, c):
    back = torch.inverse(M).T
    return [torch.stack(rows) for rows in zip(*[
        (back @ g, M @ x + c, M @ x0 + c) for g, x, x0 in zip(G, e, start)])]


# -- without_baseline ------------------------------------------------------------------------------------------------

@wrong("without_baseline", "What is G_t multiplied by?")
def _(G, e):
    return (G * e).sum(1)


@wrong("without_baseline", "0/0 is nan, and so is the root")
def _(G, e):
    return ((G * e) / (e - e)).sum(1)


@wrong("without_baseline", "every number is to be twice as large. Here they become 1 times as large")
def _(G, e):
    return torch.ones(len(e), dtype=e.dtype)


@wrong("without_baseline", "all numbers are 0, and 0 explains nothing")
def _(G, e):
    return (G * (e - e)).sum(1)


@wrong("without_baseline", "the products are added up over its coordinates")
def _(G, e):
    return G * (e - e.mean(0))


@wrong("without_baseline", "leave out what is drawn at random")
def _(G, e):
    return (G * (e - e[torch.randint(len(e), (1,))])).sum(1)


@right("without_baseline", "compared with the average of the other tokens")
def _(G, e):
    others = (e.sum(0) - e) / (len(e) - 1)
    return torch.einsum("td,td->t", G, e - others)


@right("without_baseline", "compared with the token before")
def _(G, e):
    return torch.stack([G[t] @ (e[t] - e[t - 1]) for t in range(len(e))])


# -- head_slopes -----------------------------------------------------------------------------------------------------

def _parts(e, M, w, alpha=None):
    """α, r (T,), and what the lecture's formula gives (T, d_e)."""
    alpha, y = torch.softmax(e @ M @ e[0], 0) if alpha is None else alpha, e @ w
    r = alpha * (y - alpha @ y)
    return alpha, r, torch.outer(alpha, w) + torch.outer(r, M @ e[0])


def _first(found, more):
    found = found.clone()
    found[0] += more
    return found


def _by_differences(e, M, w, h):
    def f(e):
        return torch.softmax(e @ M @ e[0], 0) @ (e @ w)

    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3)


@wrong("head_slopes", "Is exp taken of a large score?")
def _(e, M, w):
    s = torch.exp(e @ M @ e[0])
    _, r, found = _parts(e, M, w, s / s.sum())
    return _first(found, r @ e @ M)


@wrong("head_slopes", "Near, but not exact. (Finite differences get no nearer; a formula does.)")
def _(e, M, w):
    return _by_differences(e, M, w, 0.1)


@wrong("head_slopes", "Are differences of f in it, however small their step?")
def _(e, M, w):
    return _by_differences(e, M, w, 1e-3)


@wrong("head_slopes", "add up over t how f changes with s_t")
def _(e, M, w):
    alpha, _, found = _parts(e, M, w)
    return _first(found, alpha @ e @ M)


@wrong("head_slopes", "head_slopes calls torch.autograd.grad")
def _(e, M, w):
    leaf = e.clone().requires_grad_()
    return differentiate(torch.softmax(leaf @ M @ leaf[0], 0) @ (leaf @ w), leaf)[0]


@wrong("head_slopes", "Derive it in two steps")
def _(e, M, w):
    _, r, found = _parts(e, M, w)
    return 2 * _first(found, r @ e @ M)


@right("head_slopes", "from the matrix of the softmax's slopes")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    by_score = (torch.diag(alpha) - torch.outer(alpha, alpha)) @ y      # ∂α_s/∂s_t, times y_s
    table = torch.einsum("t,d->td", alpha, w) + torch.einsum("t,de,e->td", by_score, M, e[0])
    asks = torch.einsum("t,td,de->e", by_score, e, M)
    return table + torch.nn.functional.one_hot(torch.tensor(0), len(e)).to(e)[:, None] * asks


@right("head_slopes", "loops and NumPy")
def _(e, M, w):
    e, M, w = e.numpy(), M.numpy(), w.numpy()
    s = np.array([x @ M @ e[0] for x in e])
    alpha = np.exp(s - s.max())
    alpha /= alpha.sum()
    y = e @ w
    found = np.zeros(e.shape)
    for t in range(len(e)):
        change = alpha[t] * (y[t] - sum(alpha * y))
        found[t] += alpha[t] * w + change * (M @ e[0])
        found[0] += change * (M.T @ e[t])
    return torch.tensor(found)
