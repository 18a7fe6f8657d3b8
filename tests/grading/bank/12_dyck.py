"""Assignment 12: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import functools
import itertools

import numpy as np
import torch

from coursekit.models import load_weights
from coursekit.worlds import dyck
from tests.grading.bank.entries import right, wrong

read = votes = on_top = None        # the solution's, put here by the tests


# -- read ------------------------------------------------------------------------------------------------------------

def _followed(text, depth, ask=True):
    stack, tops = [(None, 0)], [0]
    for t, symbol in enumerate(text, 1):
        partner = {")": "(", "]": "[", "}": "{"}.get(symbol)
        if partner is None and len(stack) <= depth:
            stack.append((symbol, t))
        elif partner and stack[-1][0] == partner:
            stack.pop()
        else:
            return tops, t
        tops.append(stack[-1][1])
    return tops, None if len(stack) == 1 else len(text) + 1


@wrong("read", "Nothing is open, so nothing is on the stack")
def _(text, depth):
    stack, tops = [], [0]
    for t, symbol in enumerate(text, 1):
        if symbol in "([{":
            if len(stack) == depth:
                return tops, t
            stack.append((symbol, t))
        elif stack.pop()[0] + symbol not in ("()", "[]", "{}"):
            return tops, t
        tops.append(stack[-1][1] if stack else 0)
    return tops, len(text) + 1 if stack else None


@wrong("read", "Go through the text with a finger")
def _(text, depth):
    tops, error = _followed(text, depth)
    return [0, *tops[:-1]], error


@wrong("read", "Return two things: tops, error.")
def _(text, depth):
    return _followed(text, depth)[0]


@wrong("read", "expected a list")
def _(text, depth):
    tops, error = _followed(text, depth)
    return np.array(tops), error


@right("read", "START at the bottom of the stack")
def _(text, depth):
    return _followed(text, depth)


@right("read", "neighbours cancel, beginning by beginning")
def _(text, depth):
    tops = [0]
    for t in range(1, len(text) + 1):
        left = list(enumerate(text[:t], 1))
        i = 0
        while i + 1 < len(left):
            if left[i][1] + left[i + 1][1] in ("()", "[]", "{}"):
                del left[i:i + 2]
                i = max(i - 1, 0)
            else:
                i += 1
        if len(left) > depth or any(symbol in ")]}" for _, symbol in left):
            return tuple(tops), t
        tops.append(left[-1][0] if left else 0)
    return tuple(tops), 1 + len(text) if tops[-1] else None


# -- chances ---------------------------------------------------------------------------------------------------------

def _open(text):
    while (shorter := text.replace("()", "").replace("[]", "")) != text:
        text = shorter
    return text


@wrong("chances", "only a handful of heights")
def _(text, length, depth):
    def texts(begin):
        if len(begin) == length:
            return int(not _open(begin))
        return sum(texts(begin + symbol) for symbol in "()[]" if symbol in "([" and len(_open(begin)) < depth
                   or _open(begin)[-1:] + symbol in ("()", "[]"))

    found = np.array([texts(text + symbol) if symbol in "([" and len(_open(text)) < depth
                      or _open(text)[-1:] + symbol in ("()", "[]") else 0 for symbol in "()[]"])
    return int(found.sum()), found / found.sum()


def _counted(text, length, depth, number, more=1):
    """Texts, kinds and all, by a table of heights; its row for what is left when `more` brackets have been read."""
    height, left = len(_open(text)), length - len(text)
    table = np.zeros((left + 1, depth + 3), dtype=number)
    table[0, 1] = 1
    for m in range(1, left + 1):
        table[m, 1:-1] = table[m - 1, :-2] + 2 * table[m - 1, 2:]
    opening, closing = table[left - more, height + 2], table[left - more, height]
    p = np.array([opening, 0, opening, 0], dtype=number)
    if height:
        p[1 + 2 * (_open(text)[-1] == "[")] = closing
    return table[left, height + 1], (p / p.sum()).astype(float)


@wrong("chances", "NumPy's whole numbers run over")
def _(text, length, depth):
    return _counted(text, length, depth, np.int64)


@wrong("chances", "`/` and floats round it")
def _(text, length, depth):
    N, p = _counted(text, length, depth, float)
    return float(N), p


@wrong("chances", "which strings of four brackets begin with")
def _(text, length, depth):
    N, p = _counted(text, length, depth, object)
    return N + 1, p


@wrong("chances", "`p` is a NumPy array")
def _(text, length, depth):
    N, p = _counted(text, length, depth, object)
    return N, p.tolist()


@wrong("chances", "those with m − 1 symbols left")
def _(text, length, depth):
    return _counted(text, length, depth, object, 0)


@right("chances", "a table of whole numbers, kinds counted on the way")
def _(text, length, depth):
    return _counted(text, length, depth, object)


@right("chances", "with a memory")
def _(text, length, depth):
    @functools.cache
    def texts(left, height):
        if left == 0 or not 0 <= height <= depth:
            return int(left == height == 0)
        return texts(left - 1, height - 1) + 2 * texts(left - 1, height + 1)

    opened, left = _open(text), length - len(text) - 1
    whole = texts(left + 1, len(opened))
    share = {symbol: texts(left, len(opened) + 1) / whole for symbol in "(["}
    if opened:
        share[")" if opened[-1] == "(" else "]"] = texts(left, len(opened) - 1) / whole
    return whole, np.array([float(share.get(symbol, 0)) for symbol in "()[]"])


# -- by_distance -----------------------------------------------------------------------------------------------------

@wrong("by_distance", "The row at place t − 1 predicts the bracket at place t")
def _(logits, texts):
    return {t: (int(logits[0, t + 1, 1] > logits[0, t + 1, 3]), 1) for t in range(len(texts[0]) + 1)}


@wrong("by_distance", "which row is asked for the `]`")
def _(logits, texts):
    return {1: (5, 9), 3: (2, 2)}


@wrong("by_distance", "Does `read` stop early?")
def _(logits, texts):
    found = {}
    for z, text in zip(logits, texts):
        tops = read(text, 4)[0]
        for t in [t for t in range(1, len(text) + 1) if text[t - 1] in ")]"]:
            right, n = found.get(t - tops[t - 1], (0, 0))
            found[t - tops[t - 1]] = right + int((z[t - 1, 1] > z[t - 1, 3]) == (text[t - 1] == ")")), n + 1
    return found


@wrong("by_distance", "expected a dictionary")
def _(logits, texts):
    return [(1, 1)]


@wrong("by_distance", "the numbers differ", at_once=False)
def _(logits, texts):
    found = {}
    for z, text in zip(np.exp(logits), texts):                          # overflows where logits are large
        for t, (top, symbol) in enumerate(zip(read(text, len(text))[0], text)):
            if symbol in ")]":
                right, n = found.get(t + 1 - top, (0, 0))
                found[t + 1 - top] = right + int(z[t, "()[]".index(symbol)] > (z[t, 1] + z[t, 3]) / 2), n + 1
    return found


@wrong("by_distance", "the step that this question is about")
def _(logits, texts):
    ids = np.array([dyck.encode(text).tolist() for text in texts])
    tops = [dyck.stack_top(dyck.encode(text)[None])[0].tolist() for text in texts]
    found = {}
    for i, t in zip(*np.nonzero(ids % 2), strict=True):
        right, n = found.get(t - tops[i][t - 1], (0, 0))
        found[t - tops[i][t - 1]] = right + int(logits[i, t - 1, ids[i, t]] > logits[i, t - 1, 4 - ids[i, t]]), n + 1
    return found


@right("by_distance", "partners from the pointer, counts in arrays")
def _(logits, texts):
    T = len(texts[0])
    counts = np.zeros((T, 2), int)
    for z, text in zip(logits, texts):
        tops = read(text, T)[0]
        for t in [t for t in range(1, T + 1) if text[t - 1] in ")]"]:
            margin = z[t - 1, 1] - z[t - 1, 3]
            counts[t - tops[t - 1]] += (margin > 0) == (text[t - 1] == ")"), 1
    return {d: tuple(counts[d]) for d in range(T) if counts[d, 1]}


@right("by_distance", "the nearest place before it from which the text is balanced")
def _(logits, texts):
    pairs = []
    for i, text in enumerate(texts):
        for t in [t for t, symbol in enumerate(text) if symbol in ")]"]:
            s = next(s for s in range(t - 1, -1, -1) if not _open(text[s:t + 1]))
            pairs.append((t - s, float(np.argmax(logits[i, t, 1::2])) == ")]".index(text[t])))
    return {d: [sum(said for e, said in pairs if e == d), sum(e == d for e, _ in pairs)] for d, _ in pairs}


# -- on_top ----------------------------------------------------------------------------------------------------------

def _rows(A, texts):
    for a, text in zip(A, texts):
        for t, symbol in enumerate(text, 1):
            if symbol in ")]":
                yield a[t - 1, :t], read(text, len(text))[0][t - 1]


@wrong("on_top", "0 · log 0 is nan on a computer")
def _(A, texts):
    with np.errstate(all="ignore"):
        rows = [(a[top], 1 / len(a), -(a * np.log(a)).sum() / np.log(len(a))) for a, top in _rows(A, texts)]
    return tuple(map(float, np.mean(rows, 0)))


@wrong("on_top", "Is a spread divided by log 1")
def _(A, texts):
    with np.errstate(divide="ignore"):
        rows = [(a[top], 1 / len(a), -sum(w * np.log(w) for w in a if w) / np.log(len(a) - 1))
                for a, top in _rows(A, texts)]
    return tuple(map(float, np.mean(rows, 0)))


@wrong("on_top", "What are the three numbers?")
def _(A, texts):
    return 0.5, 0.25, 0.125


@wrong("on_top", "Return three things: top, even, spread.")
def _(A, texts):
    return float(np.mean([a[top] for a, top in _rows(A, texts)]))


@wrong("on_top", "these may have any")
def _(A, texts):
    return tuple(np.mean([(a[t - 1, read(text, 4)[0][t - 1]], 1 / t, -(a[t - 1, :t] * np.log(a[t - 1, :t] + 1e-9)).sum()
                           / np.log(t)) for a, text in zip(A, texts) for t in range(2, 1 + len(text))
                          if text[t - 1] in ")]"], 0).tolist())


@right("on_top", "logarithms to the base of the number of places")
def _(A, texts):
    rows = [(a[top], 1 / len(a), sum(-w * np.emath.logn(len(a), w) for w in a if w)) for a, top in _rows(A, texts)]
    return list(np.mean(rows, 0))


@right("on_top", "1 less the divergence from an even row")
def _(A, texts):
    tops, level, spread = [], [], []
    for a, top in _rows(A, texts):
        n = len(a)
        tops.append(a[top])
        level.append(1 / n)
        spread.append(1 - (a * np.log(np.where(a > 0, a * n, 1))).sum() / np.log2(n) / np.log(2))
    return np.mean(tops), np.mean(level), np.mean(spread)


# -- votes -----------------------------------------------------------------------------------------------------------

@wrong("votes", "Write each symbol's vote below it")
def _(text, base):
    return np.full(1 + len(text), 0.25), []


@wrong("votes", "A list of the *places* that are wrong is due")
def _(text, base):
    signs = np.array([1.0 if symbol in "[)" else -1.0 for symbol in text])
    m = np.cumsum(np.append(0.0, signs * np.power(float(base), _heights(text)))) / (1 + np.arange(1 + len(text)))
    return m, [False] * len(m)


@wrong("votes", "Return m with all its digits")
def _(text, base):
    signs = np.array([1.0 if symbol in "[)" else -1.0 for symbol in text])
    sums = np.cumsum(np.append(0.0, signs * np.power(float(base), _heights(text))))
    tops = read(text, 99)[0]
    return np.round(sums / (1 + np.arange(len(sums))), 4), [
        t for t, top in enumerate(tops) if top and sums[t] * signs[top - 1] <= 0]


@wrong("votes", "`m` has an axis too many")
def _(text, base):
    return np.zeros((1 + len(text), 1)), []


@wrong("votes", "Return two things: m (1 + T,), wrong.")
def _(text, base):
    return np.zeros(1 + len(text))


def _heights(text):
    """Depths (T,) of a text's brackets, by counting."""
    opens = np.array([symbol in "([" for symbol in text], dtype=int)
    return np.cumsum(2 * opens - 1) + 1 - opens


@right("votes", "cumulative sums, and the pointer for the tops")
def _(text, base):
    signs = np.array([1.0 if symbol in "[)" else -1.0 for symbol in text])
    sums = np.cumsum(np.append(0.0, signs * np.power(float(base), _heights(text))))
    tops = read(text, 99)[0]
    wrong = [t for t, top in enumerate(tops) if top and sums[t] * signs[top - 1] <= 0]
    return sums / (1 + np.arange(len(sums))), wrong


@right("votes", "an even map times the votes")
def _(text, base):
    signs = [1.0 if symbol in "[)" else -1.0 for symbol in text]
    v = np.array([0.0, *(sign * base ** int(d) for sign, d in zip(signs, _heights(text)))])
    A = np.tril(np.ones((len(v), len(v)))) / np.arange(1, len(v) + 1)[:, None]
    m, opened = A @ v, [_open(text[:t]) for t in range(len(v))]
    return m, [t for t, left in enumerate(opened)
               if left and np.sign(np.round(m[t], 9)) != (1 if left[-1] == "[" else -1)]


# -- fool ------------------------------------------------------------------------------------------------------------

@wrong("fool", "Return a text of round and square brackets")
def _():
    return "(([[{}]]))"


@wrong("fool", "that is the length of the texts that it was trained on")
def _():
    return "(([[" + "[]" * 40 + "]]))"


@wrong("fool", "Your own `read` says where")
def _():
    return "(([[][)])"


@wrong("fool", "nobody claims that it can")
def _():
    return "((([[" + "[]" * 5 + "]])))"


@wrong("fool", "Which pairs could drown the top?")
def _():
    return "[(())()]" * 3


@wrong("fool", "It errs already, but it is not sure enough")
def _():
    return "[((()()()()()()()))]"


@right("fool", "shorter")
def _():
    return "(([[][][][][][][]]))"


@right("fool", "two wrong ones")
def _():
    return "[[(" + "()" * 11 + ")]]"


# -- apart -----------------------------------------------------------------------------------------------------------

@wrong("apart", "Take one row of three places by hand")
def _(A, B, groups):
    return 0.123, 0.045


@wrong("apart", "Return two things: by place, by group.")
def _(A, B, groups):
    return float(abs(A - B)[:, 1:].sum(2).mean() / 2)


@right("apart", "text by text, with np.add.at")
def _(A, B, groups):
    found = []
    for a, b, own in zip(A, B, groups):
        x, y = np.zeros((2, len(a), own.max() + 1))
        np.add.at(x, (slice(None), own), a)
        np.add.at(y, (slice(None), own), b)
        found.append([abs(a - b)[1:].sum(1).mean(), abs(x - y)[1:].sum(1).mean()])
    return tuple(np.mean(found, 0) / 2)


@right("apart", "what one has more than the other, row by row")
def _(A, B, groups):
    n, T = len(A), A.shape[1]
    more = [[], []]
    for i, t in itertools.product(range(n), range(1, T)):
        gap = A[i, t] - B[i, t]
        more[0].append(gap[gap > 0].sum())
        more[1].append(sum(max(gap[groups[i] == g].sum(), 0) for g in set(groups[i].tolist())))
    return np.mean(more[0]), np.mean(more[1])


# -- my_experiment ---------------------------------------------------------------------------------------------------

_loaded = functools.cache(load_weights)


def drawn(seed, n=20, length=28):
    return [dyck.decode(ids) for ids in dyck.sample(n, seed, length)]


def margins(name, texts):
    for text in texts:
        if not dyck.pushdown(text, None).accepted:
            raise ValueError(f"{text!r} is not balanced")
    ids = torch.stack([dyck.encode(text) for text in texts])
    with torch.no_grad():
        z = _loaded(f"dyck-{name}")(ids)[:, :-1, 1::2].double()
    return ((z[..., 0] - z[..., 1]) * (2 - ids[:, 1:]))[ids[:, 1:] % 2 == 1].numpy()


@wrong("my_experiment", "One text alone is a list, too")
def _(seed):
    return tuple(margins(name, drawn(seed)[0]).mean() for name in ("minimal", "uniform"))


@wrong("my_experiment", "`drawn` gives a list of texts")
def _(seed):
    return margins("minimal", drawn(seed)).mean(), margins("minimal", drawn(seed) + "()()").mean()


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    early = drawn(seed, length=20)                      # what comes behind, no row has read
    return margins("minimal", early).min(), margins("minimal", [text + "()()" for text in early])[:-1].min()


@wrong("my_experiment", "All texts of one call have the same number of brackets")
def _(seed):
    return margins("minimal", [*drawn(seed), "()" + drawn(seed)[0]]).min(), 0


@wrong("my_experiment", "Turn both brackets of a pair, or neither")
def _(seed):
    return margins("minimal", drawn(seed)).min(), margins("minimal", [t.replace("[", "(") for t in drawn(seed)]).min()


@wrong("my_experiment", "`ask` returns two things, logits and maps")
def _(seed):
    ids = torch.stack([dyck.encode(text) for text in drawn(seed)])
    both = [part.detach().numpy() for part in _loaded("dyck-minimal").open(ids)]
    return on_top(both, drawn(seed)[:2])[0], 0.5


@right("my_experiment", "round becomes square, and square round")
def _(seed):
    turned = [text.translate(str.maketrans("()[]", "[]()")) for text in drawn(seed)]
    return [margins("minimal", some).min() for some in (drawn(seed), turned)]


@right("my_experiment", "votes in longer texts, as numbers of Python")
def _(seed):
    return tuple(sum(len(votes(text, 1.2)[1]) for text in drawn(seed, 20, T)) / (20 * T) for T in (28, 56))
