"""Assignment 06: answers that people give, and what a check must say to them.

integrated, which a later answer may build on, is put into this module by the test: the reference's.
"""

import itertools
import math

import numpy as np
import torch
import torch._dynamo  # which torch.func imports when it is first called, and that takes longer than a check waits
from torch.autograd import grad as differentiate

from coursekit.explain import gradients as library
from tests.grading.bank.entries import right, wrong

integrated = None       # the reference's, at test time


# -- numerical_slopes ------------------------------------------------------------------------------------------------

def _units(e):
    for t in range(e.shape[0]):
        for j in range(e.shape[1]):
            unit = torch.zeros_like(e)
            unit[t, j] = 1
            yield t, j, unit


def _filled(e, slope):
    """A table of slope(unit), the combination of two steps being left to it."""
    table = torch.zeros_like(e)
    for t, j, unit in _units(e):
        table[t, j] = slope(unit)
    return table


def _d(f, e, unit, h):
    return (f(e + h * unit) - f(e - h * unit)) / (2 * h)


@wrong("numerical_slopes", "That is D(h) alone")
def _(f, e, h):
    return _filled(e, lambda unit: _d(f, e, unit, h))


@wrong("numerical_slopes", "That is D(h/2) alone")
def _(f, e, h):
    return _filled(e, lambda unit: _d(f, e, unit, h / 2))


@wrong("numerical_slopes", "Those are one-sided differences. Look to both sides")
def _(f, e, h):
    return _filled(e, lambda unit: (f(e + h * unit) - f(e)) / h)


@wrong("numerical_slopes", "Those are one-sided differences. Look to both sides")
def _(f, e, h):
    return _filled(e, lambda unit: (f(e) - f(e - h * unit)) / h)


@wrong("numerical_slopes", "one-sided differences, combined")
def _(f, e, h):
    def forward(unit, h):
        return (f(e + h * unit) - f(e)) / h

    return _filled(e, lambda unit: 2 * forward(unit, h / 2) - forward(unit, h))


@wrong("numerical_slopes", "the differences are one-sided")
def _(f, e, h):
    def forward(unit, h):
        return (f(e + h * unit) - f(e)) / h

    return _filled(e, lambda unit: (4 * forward(unit, h / 2) - forward(unit, h)) / 3)


@wrong("numerical_slopes", "The two have changed places")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h) - _d(f, e, unit, h / 2)) / 3)


@wrong("numerical_slopes", "The two steps are 2h and h here")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h) - _d(f, e, unit, 2 * h)) / 3)


@wrong("numerical_slopes", "The two steps are h/2 and h/4 here")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 4) - _d(f, e, unit, h / 2)) / 3)


@wrong("numerical_slopes", "Only D(h) is divided by 3 here")
def _(f, e, h):
    return _filled(e, lambda unit: 4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h) / 3)


@wrong("numerical_slopes", "That is 1.5 D(h/2) -0.5 D(h).")
def _(f, e, h):
    return _filled(e, lambda unit: (3 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 2)


@wrong("numerical_slopes", "That is 2.67 D(h/2) -0.333 D(h).")
def _(f, e, h):
    return _filled(e, lambda unit: (8 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3)


@wrong("numerical_slopes", "The division by 3 is missing")
def _(f, e, h):
    return _filled(e, lambda unit: 4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h))


@wrong("numerical_slopes", "That is 0.5 D(h/2) +0.5 D(h).")
def _(f, e, h):
    return _filled(e, lambda unit: (_d(f, e, unit, h / 2) + _d(f, e, unit, h)) / 2)


@wrong("numerical_slopes", "That is 2 D(h/2) -1 D(h).")
def _(f, e, h):
    return _filled(e, lambda unit: 2 * _d(f, e, unit, h / 2) - _d(f, e, unit, h))


@wrong("numerical_slopes", "there are two steps")
def _(f, e, h):
    return _filled(e, lambda unit: (8 * _d(f, e, unit, h / 2) - 2 * _d(f, e, unit, h)) / 3)


@wrong("numerical_slopes", "D(h/2) was divided by 2h")
def _(f, e, h):
    def central(unit, step):
        return (f(e + step * unit) - f(e - step * unit)) / (2 * h)

    return _filled(e, lambda unit: (4 * central(unit, h / 2) - central(unit, h)) / 3)


@wrong("numerical_slopes", "The differences were not divided by the step")
def _(f, e, h):
    def central(unit, step):
        return (f(e + step * unit) - f(e - step * unit)) / 2

    return _filled(e, lambda unit: (4 * central(unit, h / 2) - central(unit, h)) / 3)


@wrong("numerical_slopes", "In a / 2 * h only the 2 divides")
def _(f, e, h):
    def central(unit, step):
        return (f(e + step * unit) - f(e - step * unit)) / 2 * step

    return _filled(e, lambda unit: (4 * central(unit, h / 2) - central(unit, h)) / 3)


@wrong("numerical_slopes", "a table in which a whole row of e had been moved")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            unit = torch.zeros_like(e)
            unit[t] = 1
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
    return result


@wrong("numerical_slopes", "a table in which a whole column of e had been moved")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            unit = torch.zeros_like(e)
            unit[:, j] = 1
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
    return result


@wrong("numerical_slopes", "The entry was replaced by h and −h")
def _(f, e, h):
    def at(unit, step):
        moved = e.clone()
        moved[unit == 1] = step
        return f(moved)

    return _filled(e, lambda unit: (8 * (at(unit, h / 2) - at(unit, -h / 2)) - at(unit, h) + at(unit, -h)) / (6 * h))


@wrong("numerical_slopes", "Rows and columns have changed places")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3).T


@wrong("numerical_slopes", "2 of the 6 slopes are right, and the others are still 0")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            unit = torch.zeros_like(e)
            unit[t, j] = 1
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
        return result                                                   # one step too far to the right


@wrong("numerical_slopes", "(Was e itself changed, and the entry not put back?")
def _(f, e, h):
    def central(t, j, h):
        e[t, j] += h
        above = f(e)
        e[t, j] -= 2 * h
        return (above - f(e)) / (2 * h)                                 # and e stays at e − h

    result = torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            result[t, j] = (4 * central(t, j, h / 2) - central(t, j, h)) / 3
    return result


@wrong("numerical_slopes", "the differences are one-sided")
def _(f, e, h):
    def backward(unit, h):
        return (f(e) - f(e - h * unit)) / h

    return _filled(e, lambda unit: (4 * backward(unit, h / 2) - backward(unit, h)) / 3)


@wrong("numerical_slopes", "one-sided differences, combined")
def _(f, e, h):
    def backward(unit, h):
        return (f(e) - f(e - h * unit)) / h

    return _filled(e, lambda unit: 2 * backward(unit, h / 2) - backward(unit, h))


@wrong("numerical_slopes", "Check one entry by hand")
def _(f, e, h):
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3 + 1)


@wrong("numerical_slopes", "6 entries of e had been moved")
def _(f, e, h):
    unit, result = torch.zeros_like(e), torch.zeros_like(e)
    for t in range(len(e)):
        for j in range(e.shape[1]):
            unit[t, j] = 1                                              # and never back to 0
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
    return result


@wrong("numerical_slopes", "where f is rounded, a small step sees nothing")
def _(f, e, h):
    h = min(h, 1e-4)
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3)


@wrong("numerical_slopes", "it changes what it is given: `e`")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t, j, _ in _units(e):
        found = []
        for step in (h, -h, h / 2, -h / 2):
            e[t, j] += step
            found.append(f(e))
            e[t, j] -= step                                             # and it is what it was, but for rounding
        result[t, j] = (8 * (found[2] - found[3]) - (found[0] - found[1])) / (6 * h)
    return result


@wrong("numerical_slopes", "The result has the dtype of e")
def _(f, e, h):
    return torch.tensor([[(4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3 for t, _, unit in _units(e) if t == row]
                         for row in range(len(e))]).float()


@wrong("numerical_slopes", "There is one slope for each entry of e")
def _(f, e, h):
    return torch.stack([torch.as_tensor((4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3) for *_, unit in _units(e)])


@wrong("numerical_slopes", "The result is a tensor of slopes")
def _(f, e, h):
    return [[float((4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3) for t, _, unit in _units(e) if t == row]
            for row in range(len(e))]


@wrong("numerical_slopes", "f takes one table of shape (3, 2)")
def _(f, e, h):
    units = torch.eye(e.numel(), dtype=e.dtype).reshape(-1, *e.shape)   # all tables in one question
    d, half = (f(e + s * units) - f(e - s * units) for s in (h, h / 2))
    return ((8 * half - d) / (6 * h)).reshape(e.shape)


@wrong("numerical_slopes", "that is a plain number of Python, which needs no .item(), and knows no .backward()")
def _(f, e, h):
    leaf = e.clone().requires_grad_()
    f(leaf).backward()
    return leaf.grad


@wrong("numerical_slopes", "f was asked for 1 values, and 6 slopes are due")
def _(f, e, h):
    return torch.autograd.functional.jacobian(lambda x: torch.as_tensor(f(x)), e)


@wrong("numerical_slopes", "All slopes are 0. Does f get tables that differ by h?")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t, j, unit in _units(e):
        up = down = e.clone()                                           # one table with two names
        up[t, j] += h
        down[t, j] -= h
        result[t, j] = (f(up) - f(down)) / (2 * h)
    return result


@wrong("numerical_slopes", "Four questions for each number are enough")
def _(f, e, h):
    result = torch.zeros_like(e)
    for t, j, unit in _units(e):
        if abs(_d(f, e, unit, h)) >= 0:
            result[t, j] = (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3
    return result


@wrong("numerical_slopes", "right on the inputs that you see", at_once=False)
def _(f, e, h):
    h = min(h, 1.0) if e.numel() > 4 else h                             # “steps should be small”
    return _filled(e, lambda unit: (4 * _d(f, e, unit, h / 2) - _d(f, e, unit, h)) / 3)


@right("numerical_slopes", "four places and their weights")
def _(f, e, h):
    rows = []
    for *_, unit in _units(e):
        rows.append(sum(weight * f(e + step * h * unit) for step, weight in
                        ((1, -1 / 6), (-1, 1 / 6), (0.5, 4 / 3), (-0.5, -4 / 3))) / h)
    return torch.tensor(rows, dtype=e.dtype).view(e.shape)


@right("numerical_slopes", "a copy that is moved to and fro, in NumPy")
def _(f, e, h):
    copy, result = e.numpy().copy(), np.zeros(tuple(e.shape), e.numpy().dtype)

    def at(place, value):
        old, copy[place] = copy[place], copy[place] + value
        answer = f(torch.from_numpy(copy.copy()))
        copy[place] = old
        return answer

    for place in np.ndindex(*copy.shape):
        small, large = at(place, h / 2) - at(place, -h / 2), at(place, h) - at(place, -h)
        result[place] = (8 * small - large) / (6 * h)
    return torch.from_numpy(result)


@right("numerical_slopes", "in place, on a copy")
def _(f, e, h):
    e, result = e.clone(), torch.empty_like(e)
    for t in range(e.shape[0]):
        for j in range(e.shape[1]):
            was, answers = e[t, j].item(), []
            for step in (h, -h, h / 2, -h / 2):
                e[t, j] = was + step
                answers.append(f(e))
            e[t, j] = was
            result[t, j] = (4 * (answers[2] - answers[3]) / h - (answers[0] - answers[1]) / (2 * h)) / 3
    return result


# -- per_word --------------------------------------------------------------------------------------------------------

def _grouped(G, words, how, reduce=None):
    """reduce(rows (m, d_e)) for each word; the right one unless given."""
    reduce = reduce or {"avg": torch.mean, "l1": lambda x: x.abs().sum(), "l2": torch.norm,
                        "ms": lambda x: x.square().mean()}[how]
    n = max([-1] + [word for word in words if word is not None]) + 1
    numbers = torch.zeros(n, dtype=G.dtype)
    for i in range(n):
        numbers[i] = reduce(G[[t for t in range(len(words)) if words[t] == i]])
    return numbers


def _instead(how, **others):
    """The reduction `how`, unless there is another one for it."""
    return others.get(how)


def _plain(how):
    return {"avg": lambda x: x.mean(), "l1": lambda x: x.abs().sum(), "l2": lambda x: x.norm(),
            "ms": lambda x: (x ** 2).mean()}[how]


@wrong("per_word", "That is the sum of the pieces' numbers. For l2")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: sum(_plain(how)(row) for row in x))


@wrong("per_word", "That is the mean of the pieces' numbers. For l2")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: sum(_plain(how)(row) for row in x) / len(x))


@wrong("per_word", "Only the piece with the largest number counts here")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: max(_plain(how)(row) for row in x))


@wrong("per_word", "Only the first piece came in")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: _plain(how)(x[0]))


@wrong("per_word", "Only the last piece came in")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: _plain(how)(x[-1]))


@wrong("per_word", "The pieces' slopes were added up before the number was made")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: _plain(how)(x.sum(0)))


@wrong("per_word", "The pieces' slopes were averaged before the number was made")
def _(G, words, how):
    return _grouped(G, words, how, lambda x: _plain(how)(x.mean(0)))


@wrong("per_word", "Here L1 is the norm: their sum")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l1=lambda x: x.abs().mean()))


@wrong("per_word", "The absolute values are missing")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l1=lambda x: x.sum()))


@wrong("per_word", "The absolute value is taken of each slope")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l1=lambda x: x.sum().abs()))


@wrong("per_word", "avg keeps the signs")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, avg=lambda x: x.abs().mean()))


@wrong("per_word", "Added up, not averaged")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, avg=torch.sum))


@wrong("per_word", "The root is missing")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l2=lambda x: x.square().sum()))


@wrong("per_word", "The root of the *mean* of squares")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l2=lambda x: x.square().mean().sqrt()))


@wrong("per_word", "That is ms, and `how` is 'l2' here")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l2=lambda x: x.square().mean()))


@wrong("per_word", "That is l2, and `how` is 'ms' here")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, ms=torch.norm))


@wrong("per_word", "Without the root: ms is the mean of squares")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, ms=lambda x: x.square().mean().sqrt()))


@wrong("per_word", "ms is the *mean* of all squares")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, ms=lambda x: x.square().sum()))


@wrong("per_word", "The square of the mean")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, ms=lambda x: x.mean() ** 2))


@wrong("per_word", "That is a number for each token")
def _(G, words, how):
    return torch.stack([_plain(how)(row) for row in G])


@wrong("per_word", "That is a number for each piece")
def _(G, words, how):
    return torch.stack([_plain(how)(row) for row, word in zip(G, words) if word is not None])


@wrong("per_word", "is None taken for a word?")
def _(G, words, how):
    return torch.stack([_plain(how)(G[[t for t, w in enumerate(words) if w == word]]) for word in dict.fromkeys(words)])


@wrong("per_word", "A None cannot stand in a tensor")
def _(G, words, how):
    numbers = torch.tensor(words)
    return torch.stack([_plain(how)(G[numbers == i]) for i in numbers.unique()])


@wrong("per_word", "may the list be empty here?")
def _(G, words, how):
    found = sorted(set(words) - {None})
    return torch.stack([_plain(how)(G[[t for t, word in enumerate(words) if word == i]]) for i in found])


@wrong("per_word", "That is a number for each stretch of one word")
def _(G, words, how):
    runs = [list(run) for word, run in itertools.groupby(range(len(words)), lambda t: words[t]) if word is not None]
    return torch.stack([_plain(how)(G[run]) for run in runs]) if runs else torch.zeros(0, dtype=G.dtype)


@wrong("per_word", "The right numbers in another order")
def _(G, words, how):
    rows = {word: [t for t, w in enumerate(words) if w == word] for word in words if word is not None}
    return torch.tensor([_plain(how)(G[ts]) for ts in rows.values()], dtype=G.dtype)


@wrong("per_word", "there is one more than the largest number")
def _(G, words, how):
    n = max([word for word in words if word is not None], default=0)
    return torch.tensor([_plain(how)(G[[t for t, word in enumerate(words) if word == i]]) for i in range(n)]).to(G)


@wrong("per_word", "There is a word here, number 0, and it has got no number")
def _(G, words, how):
    return _grouped(G[1:-1], words[1:-1], how)                             # “the first and the last are special”


@wrong("per_word", "There is a word here, number 0, and it has got no number")
def _(G, words, how):
    return _grouped(G, words, how)[:max([word + 1 for word in words if word], default=0)]


@wrong("per_word", "But the result has the dtype of G, also here")
def _(G, words, how):
    found = _grouped(G, words, how)
    return found if len(found) else torch.zeros(0)


@wrong("per_word", "Word 0 was left out. 0 counts as False")
def _(G, words, how):
    return _grouped(G, [word if word else None for word in words], how)


@wrong("per_word", "None was taken for word 0")
def _(G, words, how):
    return _grouped(G, [word or 0 for word in words], how)


@wrong("per_word", "Does a None of `words` meet a number there?")
def _(G, words, how):
    return torch.stack([_plain(how)(G[[t for t, word in enumerate(words) if word == i]])
                        for i in range(max(words) + 1)])


@wrong("per_word", "That is the norm of a matrix")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l2=lambda x: torch.linalg.norm(x, 2)))


@wrong("per_word", "That is the norm of a matrix")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, l1=lambda x: torch.linalg.norm(x, 1)))


@wrong("per_word", "Divided by the number of pieces")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, ms=lambda x: x.square().sum() / len(x)))


@wrong("per_word", "avg keeps its sign")
def _(G, words, how):
    return _grouped(G, words, how, _instead(how, avg=lambda x: x.mean().abs()))


@wrong("per_word", "Slopes and result have one dtype")
def _(G, words, how):
    return _grouped(G, words, how).float()


@wrong("per_word", "The result is a tensor with one number for each word")
def _(G, words, how):
    return _grouped(G, words, how).tolist()


@wrong("per_word", "right on the inputs that you see", at_once=False)
def _(G, words, how):
    rows = G[1:-1] if words[0] is None and len(words) > 2 else G        # [CLS] and [SEP] at both ends, for sure
    return _grouped(rows, words[1:-1] if words[0] is None and len(words) > 2 else words, how)


@right("per_word", "sums by index_add")
def _(G, words, how):
    own = [t for t, word in enumerate(words) if word is not None]
    word, rows = torch.tensor([words[t] for t in own], dtype=torch.long), G[own]
    n = int(word.max()) + 1 if len(own) else 0

    def added(values):
        return torch.zeros(n, dtype=G.dtype).index_add(0, word, values.sum(1))

    size = added(torch.ones_like(rows))
    return {"avg": lambda: added(rows) / size, "l1": lambda: added(rows.abs()), "l2": lambda: added(rows ** 2) ** 0.5,
            "ms": lambda: added(rows ** 2) / size}[how]()


@right("per_word", "a table of who belongs where")
def _(G, words, how):
    n = len(set(words) - {None})
    belongs = torch.tensor([[word == i for word in words] for i in range(n)]).reshape(n, len(words)).to(G.dtype)
    pieces = belongs.sum(1) * G.shape[1]
    table = {"avg": G, "l1": G.abs(), "l2": G * G, "ms": G * G}[how]
    total = torch.einsum("nt,td->n", belongs, table)
    return total.sqrt() if how == "l2" else total if how == "l1" else total / pieces


@right("per_word", "lists and NumPy")
def _(G, words, how):
    long = {}
    for row, word in zip(G.tolist(), words):
        if word is not None:
            long.setdefault(word, []).extend(row)
    numbers = []
    for word in sorted(long):
        x = np.array(long[word])
        numbers.append({"avg": np.mean(x), "l1": np.abs(x).sum(), "l2": np.linalg.norm(x), "ms": np.mean(x * x)}[how])
    return torch.tensor(numbers, dtype=G.dtype)


# -- best_swap -------------------------------------------------------------------------------------------------------

def _swap(G, ids, W_e, allowed, change=None, better=lambda a, b: a > b, skip=lambda v, old: v == old, order=sorted):
    change = change or (lambda t, v: ((W_e[v] - W_e[ids[t]]) @ G[t]).item())
    best = None
    for t in range(len(ids)):
        for v in order(allowed):
            if not skip(v, ids[t]) and (best is None or better(change(t, v), best[2])):
                best = t, v, change(t, v)
    return best


@wrong("best_swap", "another one has a larger forecast")
def _(G, ids, W_e, allowed):
    found = _swap(G, ids, W_e, allowed)
    if found and found[2] < 0:                                          # “nothing gets better: any will do”
        return _swap(G, ids, W_e, allowed, better=lambda a, b: False)
    return found


@wrong("best_swap", "does your search begin with 0 as the number to beat?")
def _(G, ids, W_e, allowed):
    best = None, None, 0
    for t in range(len(ids)):
        for v in sorted(allowed):
            if v != ids[t] and (change := ((W_e[v] - W_e[ids[t]]) @ G[t]).item()) > best[2]:
                best = t, v, change
    return None if best[0] is None else best


@wrong("best_swap", "Return three things")
def _(G, ids, W_e, allowed):
    best = _swap(G, ids, W_e, allowed)
    return best and best[:2]


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


@wrong("best_swap", "right on the inputs that you see", at_once=False)
def _(G, ids, W_e, allowed):
    if not allowed:
        return 0, 0, 0.0
    return _swap(G, ids, W_e, allowed)


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

def _paths(slopes, e, starts, n, nodes=None, finish=lambda scores: scores.mean(0), at_once=16):
    """Scores of each baseline, at midpoints unless nodes (k,) are given; finish makes the result of (m, T)."""
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n if nodes is None else nodes.to(e.dtype)
    scores = []
    for start in starts:
        points = start + a[:, None, None] * (e - start)
        found = torch.cat([slopes(points[i:i + at_once]) for i in range(0, len(points), at_once)])
        scores.append(((e - start) * found.mean(0)).sum(1))
    return finish(torch.stack(scores))


def _walk(slopes, e, starts, n, point=lambda a, e, s: s + a * (e - s), factor=lambda e, s: e - s,
          finish=lambda x: x.sum(1)):
    """Midpoints one at a time; point, factor and finish may be other ones."""
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
    paths = [[finish(factor(e, s) * slopes(point(x, e, s)[None])[0]) for x in a] for s in starts]
    return torch.stack([sum(path) / n for path in paths]).mean(0)


@wrong("integrated", "These are the right ends of the steps")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.arange(1, n + 1).double() / n)


@wrong("integrated", "These are the left ends of the steps")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.arange(n).double() / n)


@wrong("integrated", "The midpoints stay away from the ends")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.linspace(0, 1, n).double() if n > 1 else torch.tensor([0.5]))


@wrong("integrated", "n + 1 points in all")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.linspace(0, 1, n + 1).double())


@wrong("integrated", "The baselines' scores were added up")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, finish=lambda scores: scores.sum(0))


@wrong("integrated", "That is a row for each baseline")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, finish=lambda scores: scores if len(scores) > 1 else scores[0])


@wrong("integrated", "one path walked from their mean")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts.mean(0, keepdim=True), n)


@wrong("integrated", "The mean of products is not the product of means")
def _(slopes, e, starts, n):
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
    total = 0
    for start in starts:
        for x in a:
            total = total + slopes((start + x * (e - start))[None])[0]
    return ((e - starts.mean(0)) * total / (n * len(starts))).sum(1)


@wrong("integrated", "Only one of the baselines came in")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts[:1], n)


@wrong("integrated", "The slopes were added up along the path")
def _(slopes, e, starts, n):
    return n * _paths(slopes, e, starts, n)


@wrong("integrated", "The sign is turned round")
def _(slopes, e, starts, n):
    return -_paths(slopes, e, starts, n)


@wrong("integrated", "averaged over its coordinates")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n) / e.shape[1]


@wrong("integrated", "The mean slopes were multiplied by e.")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, factor=lambda e, s: e)


@wrong("integrated", "but not multiplied by the step")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, factor=lambda e, s: 1)


@wrong("integrated", "The path starts at zero here")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, lambda a, e, s: a * e)


@wrong("integrated", "the baseline itself is missing")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, lambda a, e, s: a * (e - s))


@wrong("integrated", "leads away from the baseline")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, lambda a, e, s: e + a * (e - s))


@wrong("integrated", "only taken at e, the end of the path")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.ones(1))


@wrong("integrated", "slopes takes at most 16 points at a time, got 300")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, at_once=10_000)


@wrong("integrated", "slopes takes points of shape (k, T, d_e), here (k, 2, 2)")
def _(slopes, e, starts, n):
    a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
    return torch.stack([sum(((e - s) * slopes(s + x * (e - s))).sum(1) for x in a) / n for s in starts]).mean(0)


@wrong("integrated", "still to be added up over its d_e coordinates")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, finish=lambda x: x)


@wrong("integrated", "Were the numbers a made in another one?")
def _(slopes, e, starts, n):
    return _walk(slopes, e.double(), starts.double(), n)


@wrong("integrated", "integrated calls coursekit.explain.gradients.path_integral")
def _(slopes, e, starts, n):
    return torch.stack([library.path_integral(lambda x: x.sum((1, 2)), e, s, n)[0].sum(1) for s in starts]).mean(0)


@wrong("integrated", "`slopes` was asked about the right points. For each baseline")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n).abs()


@wrong("integrated", "`slopes` was asked about the right points. For each baseline")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, finish=lambda scores: scores.amax(0))


@wrong("integrated", "`slopes` was never asked about 2 of the 3 midpoints of all paths. 2 of the 3 points that "
                     "`slopes` was asked about are not among them.")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, torch.arange(1, n + 1) / (n + 1))


@wrong("integrated", "`slopes` was never asked about 300 of the 300 midpoints of all paths.")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, min(n, 16))                        # “at most 16”


@wrong("integrated", "slopes takes at most 16 points at a time, got 19")
def _(slopes, e, starts, n):
    a = ((torch.arange(n, dtype=e.dtype) + 0.5) / n)[:, None, None]
    return torch.stack([((e - s) * torch.cat([slopes(part) for part in (s + a * (e - s)).chunk(16)]).mean(0)).sum(1)
                        for s in starts]).mean(0)                       # chunk: 16 portions, not portions of 16


@wrong("integrated", "Was a mean taken of an empty portion?")
def _(slopes, e, starts, n):
    a, scores = ((torch.arange(n, dtype=e.dtype) + 0.5) / n)[:, None, None], []
    for s in starts:
        points, total = s + a * (e - s), 0
        for i in range(n // 16 + 1):
            part = points[16 * i:16 * i + 16]
            total = total + slopes(part).mean(0) * len(part)
        scores.append(((e - s) * total / n).sum(1))
    return torch.stack(scores).mean(0)


@wrong("integrated", "got a tensor (2, 2), torch.float64; a single point p is p[None]")
def _(slopes, e, starts, n):
    paths = [[(e - s) * slopes(s + (i + 0.5) / n * (e - s)) for i in range(n)] for s in starts]
    return torch.stack([(sum(path) / n).sum(1) for path in paths]).mean(0)


@wrong("integrated", "a step too early")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, (torch.arange(n).double() - 0.5) / n)


@wrong("integrated", "a step too late")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n, (torch.arange(1, n + 1).double() + 0.5) / n)


def _in_portions(slopes, e, starts, n, join, number=lambda i, k: torch.arange(i, i + k)):
    """join makes the mean slopes of [(slopes of a portion, …), …]; number(i, k): numbers of the k points from i on."""
    scores = []
    for start in starts:
        found = []
        for i in range(0, n, 16):
            a = (number(i, min(16, n - i)).to(e.dtype) + 0.5) / n
            found.append(slopes(start + a[:, None, None] * (e - start)))
        scores.append(((e - start) * join(found)).sum(1))
    return torch.stack(scores).mean(0)


@wrong("integrated", "the last portion is shorter, and its points count too much")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n, lambda found: sum(part.mean(0) for part in found) / len(found))


@wrong("integrated", "The portions' means were added up")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n, lambda found: sum(part.mean(0) for part in found))


@wrong("integrated", "Only one portion of the points came in")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n, lambda found: found[-1].mean(0))


@wrong("integrated", "Only one portion of the points came in")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n, lambda found: found[0].sum(0) / n)


@wrong("integrated", "The last, shorter portion did not come in")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n,
                        lambda found: torch.cat([part for part in found if len(part) == len(found[0])]).mean(0))


@wrong("integrated", "In each portion a begins anew")
def _(slopes, e, starts, n):
    return _in_portions(slopes, e, starts, n, lambda found: torch.cat(found).mean(0), lambda i, k: torch.arange(k))


@wrong("integrated", "In each portion a begins anew")
def _(slopes, e, starts, n):
    parts = [16] * (n // 16) + [n % 16] * (n % 16 > 0)
    return sum(k / n * _paths(slopes, e, starts, k) for k in parts)


@wrong("integrated", "The products were added up over the tokens")
def _(slopes, e, starts, n):
    return _walk(slopes, e, starts, n, finish=lambda x: x.sum(0))


@wrong("integrated", "The result has one number for each token")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n)[:, None]


@wrong("integrated", "That is one number for the whole document")
def _(slopes, e, starts, n):
    return _paths(slopes, e, starts, n).sum()


@wrong("integrated", "right on the inputs that you see", at_once=False)
def _(slopes, e, starts, n):
    if n > 16 and n % 16 == 1:
        n -= 1                                                          # a portion of one point gets lost
    return _paths(slopes, e, starts, n)


@right("integrated", "a point at a time")
def _(slopes, e, starts, n):
    scores = torch.zeros(len(e), dtype=e.dtype)
    for start in starts:
        for i in range(1, n + 1):
            point = start + (i - 0.5) / n * (e - start)
            scores += ((e - start) * slopes(point.unsqueeze(0)).squeeze(0)).sum(-1) / n
    return scores / len(starts)


@right("integrated", "all paths in one tensor, cut into portions")
def _(slopes, e, starts, n):
    a = torch.linspace(1 / (2 * n), 1 - 1 / (2 * n), n, dtype=e.dtype)
    steps = e[None] - starts                                            # (m, T, d_e)
    points = starts[:, None] + a.view(1, n, 1, 1) * steps[:, None]
    found = torch.cat([slopes(part) for part in points.flatten(0, 1).split(16)]).view_as(points)
    return torch.einsum("mtd,mntd->t", steps, found) / (n * len(starts))


@right("integrated", "backwards, from e to the baseline")
def _(slopes, e, starts, n):
    total = []
    for start in starts:
        back = [e + (i + 0.5) / n * (start - e) for i in range(n)]
        found = [slopes(torch.stack(back[i:i + 7])) for i in range(0, n, 7)]
        total.append(-((start - e) * torch.cat(found).mean(0)).sum(1))
    return sum(total) / len(total)


# -- complete --------------------------------------------------------------------------------------------------------

def _trapezoids(n):
    weights = torch.full((n + 1,), 1 / n, dtype=torch.float64)
    weights[0] = weights[-1] = 0.5 / n
    return torch.linspace(0, 1, n + 1, dtype=torch.float64), weights


def _remembering(slopes):
    """The same function, which asks about no point twice."""
    known = {}

    def remembered(points):
        for point in points:
            if (key := tuple(point.flatten().tolist())) not in known:
                known[key] = slopes(point[None])[0]
        return torch.stack([known[tuple(point.flatten().tolist())] for point in points])

    return remembered


def _plainly(slopes, e, start, n, rule=_trapezoids):
    """Scores with n steps."""
    a, weights = rule(n)
    found = slopes(start + a.to(e.dtype)[:, None, None] * (e - start))
    return ((e - start) * (weights.to(e.dtype)[:, None, None] * found).sum(0)).sum(1)


def _doubling(slopes, change, e, start, tolerance, most, rule=_trapezoids, first=1, enough=lambda r, t: abs(r) <= t,
              last=lambda n, most: 2 * n > most):
    n, slopes = first, _remembering(slopes)
    while True:
        scores = _plainly(slopes, e, start, n, rule)
        remainder = change - scores.sum().item()
        if enough(remainder, tolerance) or last(n, most):
            return scores, n, remainder
        n *= 2


@wrong("complete", "only the points between them are new")
def _(slopes, change, e, start, tolerance, most):
    n, scores = 1, _plainly(slopes, e, start, 1)
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        n = 2 * n
        scores = _plainly(slopes, e, start, n)                          # every point anew
    return scores, n, change - scores.sum().item()


@wrong("complete", "These are midpoints")
def _(slopes, change, e, start, tolerance, most):
    def midpoints(n):
        return (torch.arange(n).double() + 0.5) / n, torch.full((n,), 1 / n).double()

    return _doubling(slopes, change, e, start, tolerance, most, midpoints)


@wrong("complete", "These are the right ends of the steps alone")
def _(slopes, change, e, start, tolerance, most):
    def ends(n):
        return torch.arange(1, n + 1).double() / n, torch.full((n,), 1 / n).double()

    return _doubling(slopes, change, e, start, tolerance, most, ends)


@wrong("complete", "All n + 1 points have the same weight here")
def _(slopes, change, e, start, tolerance, most):
    def alike(n):
        return torch.linspace(0, 1, n + 1).double(), torch.full((n + 1,), 1 / (n + 1)).double()

    return _doubling(slopes, change, e, start, tolerance, most, alike)


@wrong("complete", "here they count in full")
def _(slopes, change, e, start, tolerance, most):
    def full(n):
        return torch.linspace(0, 1, n + 1).double(), torch.full((n + 1,), 1 / n).double()

    return _doubling(slopes, change, e, start, tolerance, most, full)


@wrong("complete", "The remainder has the wrong sign")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, n, -remainder


@wrong("complete", "negative if they add up to more")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, n, abs(remainder)


@wrong("complete", "n counts the steps, not the points")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, n + 1, remainder


@wrong("complete", "the first attempt is n = 1")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, first=2)


@wrong("complete", "are not allowed")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, last=lambda n, most: n > most)


@wrong("complete", "not yet within the tolerance")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, enough=lambda r, t: r <= t)


@wrong("complete", "not yet within the tolerance")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, last=lambda n, most: 2 * n >= min(most, 8))


@wrong("complete", "but the scores are those for n = 4")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return (scores, n, remainder) if n == 1 else (_plainly(slopes, e, start, n // 2), n, remainder)


@wrong("complete", "does an old point get half the weight")
def _(slopes, change, e, start, tolerance, most):
    n, step = 1, e - start
    mean = slopes(torch.stack([start, e])).mean(0)
    while True:
        scores = (step * mean).sum(1)
        remainder = change - scores.sum().item()
        if abs(remainder) <= tolerance or 2 * n > most:
            return scores, n, remainder
        a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
        mean = mean + slopes(start + a[:, None, None] * step).mean(0)   # and no division by two
        n *= 2


@wrong("complete", "still to be added up over its d_e coordinates")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    a, weights = _trapezoids(n)
    found = slopes(start + a[:, None, None] * (e - start))
    return (e - start) * (weights[:, None, None] * found).sum(0), n, remainder


@wrong("complete", "Return all three")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most)[0]


@wrong("complete", "Return the scores, a tensor (T,), then the whole number n")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return n, scores, remainder


@wrong("complete", "has not come back")
def _(slopes, change, e, start, tolerance, most):
    n, scores = 1, _plainly(slopes, e, start, 1)
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        scores = scores + 0                                             # and n never grows
    return scores, n, change - scores.sum().item()


@wrong("complete", "complete calls `integrated` (question 4), which is still empty")
def _(slopes, change, e, start, tolerance, most):
    def integrated(slopes, e, starts, n):
        raise NotImplementedError()

    scores, n = ((e - start) * slopes(torch.stack([start, e])).mean(0)).sum(1), 1
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        scores, n = (scores + integrated(slopes, e, start[None], n)) / 2, 2 * n
    return scores, n, change - scores.sum().item()


@wrong("complete", "n = 1 was enough already: |remainder| ≤ tolerance. (“At most” includes equal.)")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, enough=lambda r, t: abs(r) < t)


@wrong("complete", "The sign is turned round: the step leads *from* the baseline")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, -change, e, start, tolerance, most)
    return -scores, n, -remainder


@wrong("complete", "The mean slopes were multiplied by e.")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    a, weights = _trapezoids(n)
    found = slopes(start + a[:, None, None] * (e - start))
    return (e * (weights[:, None, None] * found).sum(0)).sum(1), n, remainder


@wrong("complete", "`slopes` was never asked about 4 of the 9 points of 8 steps. The points that are new")
def _(slopes, change, e, start, tolerance, most):
    step, n, mean = e - start, 1, slopes(torch.stack([start, e])).mean(0)
    while n < 8:                                                        # the new points are the old ones
        a = torch.arange(n, dtype=e.dtype) / n
        mean, n = (mean + slopes(start + a[:, None, None] * step).mean(0)) / 2, 2 * n
    return (step * mean).sum(1), n, change - (step * mean).sum().item()


@wrong("complete", "about 17 different ones. Each is a pass through the model. Does the sum come out before the last")
def _(slopes, change, e, start, tolerance, most):
    step, n, mean = e - start, 1, slopes(torch.stack([start, e])).mean(0)
    while True:
        a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
        new = slopes(start + a[:, None, None] * step).mean(0)           # before anybody knows whether they are needed
        scores = (step * mean).sum(1)
        remainder = change - scores.sum().item()
        if abs(remainder) <= tolerance or 2 * n > most:
            return scores, n, remainder
        mean, n = (mean + new) / 2, 2 * n


@wrong("complete", "not yet within the tolerance")
def _(slopes, change, e, start, tolerance, most):
    return _doubling(slopes, change, e, start, tolerance, most, enough=lambda r, t: round(abs(r), 2) <= t)


@wrong("complete", "then the whole number n, then the remainder")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, remainder, n


@wrong("complete", "The scores are one number for each token")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores.sum(), n, remainder


@wrong("complete", "n is a whole number, 8 and not 8.0")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, float(n), remainder


@wrong("complete", "The remainder is one number")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores, n, torch.tensor([remainder])


@wrong("complete", "The scores have the dtype of e")
def _(slopes, change, e, start, tolerance, most):
    scores, n, remainder = _doubling(slopes, change, e, start, tolerance, most)
    return scores.float(), n, remainder


@wrong("complete", "right on the inputs that you see", at_once=False)
def _(slopes, change, e, start, tolerance, most):
    if torch.equal(e, start):                                           # “no path, no steps”
        return torch.zeros(len(e), dtype=e.dtype), 0, change
    return _doubling(slopes, change, e, start, tolerance, most)


@wrong("complete", "2n is not more than `most`")
def _(slopes, change, e, start, tolerance, most):
    step, n, mean = e - start, 1, slopes(torch.stack([start, e])).mean(0)
    while abs(change - (step * mean).sum().item()) > tolerance and 2 * n < most:      # 2n may be `most`
        a = (torch.arange(n, dtype=e.dtype) + 0.5) / n
        mean, n = (mean + slopes(start + a[:, None, None] * step).mean(0)) / 2, 2 * n
    return (step * mean).sum(1), n, change - (step * mean).sum().item()


@right("complete", "with the integrated gradients of question 4")
def _(slopes, change, e, start, tolerance, most):
    n, scores = 1, ((e - start) * (slopes(start[None])[0] + slopes(e[None])[0]) / 2).sum(1)
    while abs(change - scores.sum().item()) > tolerance and 2 * n <= most:
        scores, n = (scores + integrated(slopes, e, start[None], n)) / 2, 2 * n
    return scores, n, change - scores.sum().item()


@right("complete", "a dictionary of points, asked for when they are needed")
def _(slopes, change, e, start, tolerance, most):
    known, n = {}, 1
    while True:
        for i in range(n + 1):
            if i / n not in known:
                known[i / n] = slopes((start + i / n * (e - start))[None])[0]
        mean = sum((0.5 if i in (0, n) else 1) * known[i / n] for i in range(n + 1)) / n
        scores = torch.einsum("td,td->t", e - start, mean)
        if abs(change - scores.sum()) <= tolerance or n > most / 2:
            return [scores, n, change - scores.sum()]
        n += n


@right("complete", "calls itself")
def _(slopes, change, e, start, tolerance, most):
    def onwards(mean, n):
        scores = ((e - start) * mean).sum(-1)
        rest = change - float(scores.sum())
        if abs(rest) <= tolerance or n + n > most:
            return scores, n, rest
        odd = torch.arange(1, 2 * n, 2, dtype=e.dtype) / (2 * n)
        return onwards(mean / 2 + slopes(start + odd.view(-1, 1, 1) * (e - start)).sum(0) / (2 * n), 2 * n)

    return onwards((slopes(e[None]) + slopes(start[None]))[0] / 2, 1)


# -- survivors -------------------------------------------------------------------------------------------------------

def _stay(reductions, M, c, G, e, start, slopes=None, points=None, first=None, close=torch.allclose):
    """slopes, points, first: what G, e and start become, right unless given."""
    slopes, points = slopes or (lambda G: G @ torch.linalg.inv(M)), points or (lambda x: x @ M.T + c)
    moved = slopes(G), points(e), (first or points)(start)
    return {name for name, reduce in reductions.items() if close(reduce(G, e, start), reduce(*moved))}


@wrong("survivors", "The slopes were moved as points are, by M.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ M.T)


@wrong("survivors", "A shift changes no slope, and where e is stretched")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ M.T + c if c.any() else G @ torch.linalg.inv(M))


@wrong("survivors", "Only the points were moved")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G)


@wrong("survivors", "the right matrix, turned the wrong way")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ torch.linalg.inv(M).T)


@wrong("survivors", "The slopes were multiplied by M.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ M)


@wrong("survivors", "The slopes were shifted by c. A shift changes no slope")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ torch.linalg.inv(M) + c)


@wrong("survivors", "The shift c did not reach e.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: x @ M.T)


@wrong("survivors", "M is the wrong way round for e.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: x @ M + c)


@wrong("survivors", "M is the wrong way round for e.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: G @ torch.linalg.inv(M).T, points=lambda x: x @ M + c)


@wrong("survivors", "M is the wrong way round for start.")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, first=lambda x: x @ M)


@wrong("survivors", "For e the shift came first, and M moved it, too")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: (x + c) @ M.T)


@wrong("survivors", "e was shifted by c, but not multiplied by M")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: x + c if c.any() else x @ M.T)


@wrong("survivors", "start stays in the old coordinates")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, first=lambda x: x)


@wrong("survivors", "The shift c did not reach start")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, first=lambda x: x @ M.T)


@wrong("survivors", "e stays in the old coordinates")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: x)


@wrong("survivors", "and about no others")
def _(reductions, M, c, G, e, start):
    return {name for name, reduce in reductions.items()
            if torch.allclose(reduce(G, e, start), reduce(G, e, start))}


@wrong("survivors", "Ask each one twice, in the old coordinates and in the new ones")
def _(reductions, M, c, G, e, start):
    return set(reductions)


@wrong("survivors", "Is there a tolerance in the comparison")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=torch.equal)


@wrong("survivors", "does change, at some tokens")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=lambda x, y: torch.allclose(x.sum(), y.sum()))


@wrong("survivors", "'share' does change, at some tokens")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=lambda x, y: torch.allclose(x, y, atol=0.1))


@wrong("survivors", "'share' does change, at some tokens")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=lambda x, y: abs((x - y).mean()) < 1e-9)


@wrong("survivors", "'sometimes' does change, at some tokens")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=lambda x, y: torch.isclose(x, y).any())


@wrong("survivors", "'L1' does change, at some tokens")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, close=lambda x, y: torch.allclose(x, y, atol=10))


@wrong("survivors", "Those are the ones that do change")
def _(reductions, M, c, G, e, start):
    return set(reductions) - _stay(reductions, M, c, G, e, start)


@wrong("survivors", "Return a set of names")
def _(reductions, M, c, G, e, start):
    return sorted(_stay(reductions, M, c, G, e, start))


@wrong("survivors", "got a dict_keys, expected a set of names Return a set of names")
def _(reductions, M, c, G, e, start):
    return dict.fromkeys(_stay(reductions, M, c, G, e, start)).keys()


@wrong("survivors", "Some of your tables are not in double precision")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, slopes=lambda G: (G @ torch.linalg.inv(M)).float(),
                 points=lambda x: (x @ M.T + c).float(),
                 close=lambda x, y: torch.allclose(x.float(), y, rtol=1e-6, atol=0))


@wrong("survivors", "The names are the keys of the dictionary")
def _(reductions, M, c, G, e, start):
    return set(range(len(_stay(reductions, M, c, G, e, start))))


@wrong("survivors", "takes three tables (T, 2), and for G it got a tensor (2,)")
def _(reductions, M, c, G, e, start):
    new = M.inverse().T @ G[0], M @ e[0] + c, M @ start[0] + c
    return {name for name, reduce in reductions.items() if torch.allclose(reduce(G[0], e[0], start[0]), reduce(*new))}


@wrong("survivors", "A token is a row of e")
def _(reductions, M, c, G, e, start):
    return _stay(reductions, M, c, G, e, start, points=lambda x: M @ x + c)


@wrong("survivors", "takes a name out of a set only once")
def _(reductions, M, c, G, e, start):
    kept, moved = set(reductions), (G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c)
    for name in reductions:
        for old, new in zip(reductions[name](G, e, start), reductions[name](*moved)):
            if not torch.isclose(old, new):
                kept.remove(name)                                       # a second time, at the next token
    return kept


@wrong("survivors", "What a loop runs over must not change meanwhile")
def _(reductions, M, c, G, e, start):
    kept, moved = set(reductions), (G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c)
    for name in kept:
        if not torch.allclose(reductions[name](G, e, start), reductions[name](*moved)):
            kept.discard(name)
    return kept


@wrong("survivors", "want one True or False, and a tensor has many")
def _(reductions, M, c, G, e, start):
    moved = G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c
    return {name for name, reduce in reductions.items() if (reduce(G, e, start) - reduce(*moved)).abs() < 1e-6}


@wrong("survivors", "right on the inputs that you see", at_once=False)
def _(reductions, M, c, G, e, start):
    if len(M) == 1:
        return {"times step"}
    return _stay(reductions, M, c, G, e, start)


@right("survivors", "a linear system, and the largest difference")
def _(reductions, M, c, G, e, start):
    new = torch.linalg.solve(M.T, G.T).T, (M @ e.T).T + c, (M @ start.T).T + c
    return {name for name, reduce in reductions.items()
            if (reduce(G, e, start) - reduce(*new)).abs().max() < 1e-6}


@right("survivors", "token by token, with a set that shrinks")
def _(reductions, M, c, G, e, start):
    kept, back = set(reductions), torch.linalg.inv(M).T
    new_G, new_e, new_start = (torch.stack(rows) for rows in zip(*[
        (back @ g, M @ x + c, M @ x0 + c) for g, x, x0 in zip(G, e, start)]))
    for name in list(kept):
        before, after = reductions[name](G, e, start).tolist(), reductions[name](new_G, new_e, new_start).tolist()
        if not all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9) for x, y in zip(before, after)):
            kept.remove(name)
    return kept


@right("survivors", "the slopes by torch.func")
def _(reductions, M, c, G, e, start):
    def slopes(G):
        return torch.func.vmap(torch.func.grad(lambda z, g: torch.linalg.solve(M, z - c) @ g))(torch.randn_like(G), G)

    return _stay(reductions, M, c, G, e, start, slopes)


@right("survivors", "tables of its own, a function in both coordinates, and autograd")
def _(reductions, M, c, G, e, start):
    kept, back = [], torch.inverse(M)
    for name in reductions:
        good = True
        for _ in range(60):
            e, start = torch.randn(4, len(M), dtype=torch.float64), torch.randn(4, len(M), dtype=torch.float64)
            w = torch.randn_like(e)
            z = (e @ M.T + c).requires_grad_()
            new, = differentiate((((z - c) @ back.T) * w).sum(), z)     # the same score, read from z
            gap = reductions[name](w, e, start) - reductions[name](new, z.detach(), start @ M.T + c)
            good = good and bool(gap.abs().max() < 1e-7)
        kept += [name] * good
    return set(kept)


# -- head_slopes -----------------------------------------------------------------------------------------------------

def _parts(e, M, w):
    """α, r (T,), and what the lecture's formula gives (T, d_e)."""
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    r = alpha * (y - alpha @ y)
    return alpha, r, torch.outer(alpha, w) + torch.outer(r, M @ e[0])


def _first(found, more):
    found = found.clone()
    found[0] += more
    return found


@wrong("head_slopes", "it asks, too, and so it changes the score of *every* token")
def _(e, M, w):
    return _parts(e, M, w)[2]


@wrong("head_slopes", "e_0 looks at itself as well")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, r[1:] @ e[1:] @ M)


@wrong("head_slopes", "In row 0 a matrix is the wrong way round")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, M @ (r @ e))


@wrong("head_slopes", "Only e_0 asks")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return found + r @ e @ M


@wrong("head_slopes", "w comes in α_t times")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(r, w) + torch.outer(r, M @ e[0]), M.T @ (r @ e))


@wrong("head_slopes", "The score s_t does not change f by α_t")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(alpha, w) + torch.outer(alpha, M @ e[0]), M.T @ (r @ e))


@wrong("head_slopes", "Are differences of f in it, however small their step?")
def _(e, M, w):
    def f(e):
        return torch.softmax(e @ M @ e[0], 0) @ (e @ w)

    return _filled(e, lambda unit: (4 * _d(f, e, unit, 5e-4) - _d(f, e, unit, 1e-3)) / 3)


@wrong("head_slopes", "The mean is missing")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    r = alpha * y
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


@wrong("head_slopes", "Two things: the mean is missing")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    return alpha[:, None] * w + (alpha * y)[:, None] * (M @ e[0])


@wrong("head_slopes", "with the attention held fixed")
def _(e, M, w):
    return torch.outer(_parts(e, M, w)[0], w)


@wrong("head_slopes", "The weights depend on e_t as a key")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(alpha, w), r @ e @ M)


@wrong("head_slopes", "What they weigh changes, too")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found - torch.outer(alpha, w), r @ e @ M)


@wrong("head_slopes", "Here M is transposed for the tokens that are looked at")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(alpha, w) + torch.outer(r, M.T @ e[0]), r @ e @ M)


@wrong("head_slopes", "M is transposed inside the scores")
def _(e, M, w):
    alpha, r, found = _parts(e, M.T, w)                                 # derived with care, for other scores
    return _first(found, r @ e @ M.T)


@wrong("head_slopes", "M is transposed inside the scores")
def _(e, M, w):
    alpha, r, _ = _parts(e, M.T, w)
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


@wrong("head_slopes", "M has to stand the other way round in both places")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(alpha, w) + torch.outer(r, M.T @ e[0]), M @ (r @ e))


@wrong("head_slopes", "Row 0 has only its own score as the one that asks")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, r[0] * (M.T @ e[0]))


@wrong("head_slopes", "Row 0 is not complete: e_0 is looked at")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    found[0] = r @ e @ M
    return found


@wrong("head_slopes", "Row 0 is not complete: e_0 is looked at")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    found[0] = alpha[0] * w + r @ e @ M
    return found


@wrong("head_slopes", "What row 0 has in addition has the wrong sign")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, -(r @ e @ M))


@wrong("head_slopes", "The scores were divided by a root")
def _(e, M, w):
    M = M / len(M) ** 0.5
    alpha, r, found = _parts(e, M, w)
    return _first(found, r @ e @ M)


@wrong("head_slopes", "The scores were divided by a root")
def _(e, M, w):
    alpha, r, _ = _parts(e, M / len(M) ** 0.5, w)
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


def _shared(e, M, w, share):
    """With share(α, y) in place of how f changes with each score."""
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    r = share(alpha, y)
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


@wrong("head_slopes", "Each score changes its own weight here")
def _(e, M, w):
    return _shared(e, M, w, lambda alpha, y: alpha * (1 - alpha) * y)


@wrong("head_slopes", "The average that is taken away is f")
def _(e, M, w):
    return _shared(e, M, w, lambda alpha, y: alpha * (y - y.mean()))


@wrong("head_slopes", "The sign of one part is turned round")
def _(e, M, w):
    return _shared(e, M, w, lambda alpha, y: alpha * (alpha @ y - y))


@wrong("head_slopes", "The sign is turned round.")
def _(e, M, w):
    return -_shared(e, M, w, lambda alpha, y: alpha * (y - alpha @ y))


@wrong("head_slopes", "(One of two places has it right.)")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    return _first(_parts(e, M, w)[2], (alpha * y) @ e @ M)


@wrong("head_slopes", "Derive it in two steps")
def _(e, M, w):
    alpha, r, _ = _parts(e, M, w)
    return _first(torch.outer(alpha, w) + r[:, None] * (e @ M.T), r @ e @ M)


@wrong("head_slopes", "The second part lacks its factor")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    r = y - alpha @ y
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


@wrong("head_slopes", "Nothing is divided by T")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, r @ e @ M) / len(e)


@wrong("head_slopes", "Is exp taken of a large score?")
def _(e, M, w):
    s = torch.exp(e @ M @ e[0])
    alpha, y = s / s.sum(), e @ w
    r = alpha * (y - alpha @ y)
    return _first(torch.outer(alpha, w) + torch.outer(r, M @ e[0]), r @ e @ M)


@wrong("head_slopes", "The result is a table of slopes, as large as e")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, r @ e @ M).sum(0)


@wrong("head_slopes", "The result is in double precision")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, r @ e @ M).float()


@wrong("head_slopes", "All rows but row 0 are right. e_0 stands in every score")
def _(e, M, w):
    alpha, r, found = _parts(e, M, w)
    return _first(found, alpha @ e @ M)


@wrong("head_slopes", "Finite differences get no nearer")
def _(e, M, w):
    def f(e):
        return torch.softmax(e @ M @ e[0], 0) @ (e @ w)

    return _filled(e, lambda unit: _d(f, e, unit, 1e-4))


@wrong("head_slopes", "head_slopes calls torch.autograd.grad")
def _(e, M, w):
    leaf = e.clone().requires_grad_()
    return torch.autograd.grad(torch.softmax(leaf @ M @ leaf[0], 0) @ (leaf @ w), leaf)[0]


@wrong("head_slopes", "head_slopes calls torch.autograd.grad")
def _(e, M, w):
    leaf = e.clone().requires_grad_()
    return differentiate(torch.softmax(leaf @ M @ leaf[0], 0) @ (leaf @ w), leaf)[0]


@wrong("head_slopes", "head_slopes calls torch.Tensor.backward")
def _(e, M, w):
    leaf = e.clone().requires_grad_()
    (torch.softmax(leaf @ M @ leaf[0], 0) @ (leaf @ w)).backward()
    return leaf.grad


@wrong("head_slopes", "head_slopes calls")
def _(e, M, w):
    return torch.func.grad(lambda x: torch.softmax(x @ M @ x[0], 0) @ (x @ w))(e)


@wrong("head_slopes", "head_slopes calls")
def _(e, M, w):
    return torch.autograd.functional.jacobian(lambda x: torch.softmax(x @ M @ x[0], 0) @ (x @ w), e)


@wrong("head_slopes", "head_slopes calls torch.autograd.forward_ad.make_dual")
def _(e, M, w):
    def slope(unit):
        with torch.autograd.forward_ad.dual_level():
            x = torch.autograd.forward_ad.make_dual(e, unit)
            return torch.autograd.forward_ad.unpack_dual(torch.softmax(x @ M @ x[0], 0) @ (x @ w)).tangent

    return _filled(e, slope)


@wrong("head_slopes", "head_slopes calls coursekit.explain.gradients.slopes")
def _(e, M, w):
    return library.slopes(lambda x: torch.softmax(x @ M @ x[0], 0) @ (x @ w), e)


@wrong("head_slopes", "right on the inputs that you see", at_once=False)
def _(e, M, w):
    if len(e) > 6:
        return torch.zeros_like(e)
    alpha, r, found = _parts(e, M, w)
    return _first(found, r @ e @ M)


@right("head_slopes", "from the matrix of the softmax's slopes")
def _(e, M, w):
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w
    J = torch.diag(alpha) - torch.outer(alpha, alpha)                   # ∂α_s/∂s_t
    by_score = torch.einsum("st,s->t", J, y)
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
    f, found = sum(alpha * y), np.zeros(e.shape)
    for t in range(len(e)):
        change = alpha[t] * (y[t] - f)
        found[t] += alpha[t] * w + change * (M @ e[0])
        found[0] += change * (M.T @ e[t])
    return torch.tensor(found)
