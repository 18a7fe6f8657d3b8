"""Assignment 15: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import math
from collections import defaultdict

import numpy as np

from tests.grading.bank.entries import right, wrong

# -- effective -------------------------------------------------------------------------------------------------------

@wrong("effective", "1/(1 − q) has no value at q = 1")
def _(scores, pieces, q):
    p = np.abs(np.bincount(pieces, scores))
    p = p / p.sum()
    return p, (p[p > 0] ** q).sum() ** (1 / (1 - q))


@wrong("effective", "Is it 0 · log 0, which is 0 here, or 0/0")
def _(scores, pieces, q):
    p = np.abs(np.bincount(pieces, scores))
    with np.errstate(all="ignore"):
        p = p / p.sum()
        return p, np.exp(-(p * np.log(p)).sum())


@wrong("effective", "Which of these do you get?")
def _(scores, pieces, q):
    p = np.abs(np.bincount(pieces, scores))
    return p / max(p.sum(), 1e-9), -1.0


@right("effective", "words in a dictionary, and powers of p weighed by p")
def _(scores, pieces, q):
    words = defaultdict(float)
    for score, word in zip(scores, pieces):
        words[word] += score
    sizes = np.array([abs(words[w]) for w in sorted(words)])
    if sizes.sum() == 0:
        return sizes, 0
    p = sizes / sizes.sum()
    some = p[p > 1e-12]
    if q == math.inf:
        return p, 1 / some.max()
    if q == 1:
        return p, np.prod(some ** -some)
    return p, np.sum(some * some ** (q - 1)) ** (-1 / (q - 1))


@right("effective", "a matrix of pieces, and logarithms")
def _(scores, pieces, q):
    into = np.eye(max(pieces) + 1)[pieces]                                        # (T, W)
    sizes = np.abs(scores @ into)
    total = np.linalg.norm(sizes, 1)
    p = sizes / total if total else sizes
    some = p[np.nonzero(p)]
    if not len(some):
        return p, 0.0
    if np.isinf(q):
        return p, total / sizes.max()
    return p, math.exp(-np.dot(some, np.log(some)) if q == 1 else math.log(np.power(some, q).sum()) / (1 - q))


# -- exact -----------------------------------------------------------------------------------------------------------

@wrong("exact", "60 steps of bisection are more than enough: `for _ in range(60)`.")
def _(k, n, p, confidence):
    low, high = 0.0, 1.0
    while high - low > -1:
        low = (low + high) / 2
    return 0.5, low, high


@wrong("exact", "low is where π² = (1 − confidence)/2")
def _(k, n, p, confidence):
    return 0.5, 0.25, 0.75


@wrong("exact", "the step that this question is about")
def _(k, n, p, confidence):
    from scipy.stats import binomtest

    found = binomtest(k, n, p)
    return found.pvalue, *found.proportion_ci(confidence)


@right("exact", "arrays, and ends that are known")
def _(k, n, p, confidence):
    h = np.arange(n + 1)
    ways = np.array([math.comb(n, j) for j in h], float)

    def law(chance):
        return ways * chance ** h * (1 - chance) ** (n - h)

    def root(f):                                                                  # f falls from above 0 to below it
        a, b = 0.0, 1.0
        while b - a > 1e-12:
            c = (a + b) / 2
            a, b = (c, b) if f(c) > 0 else (a, c)
        return a

    own, rest = law(p), (1 - confidence) / 2
    return (own[own <= own[k] + 1e-12].sum(), root(lambda c: rest - law(c)[k:].sum()) if k else 0.0,
            root(lambda c: law(c)[:k + 1].sum() - rest) if k < n else 1.0)


@right("exact", "the tail below, from the tail above")
def _(k, n, p, confidence):
    def chance(h, q):
        return math.exp(math.lgamma(n + 1) - math.lgamma(h + 1) - math.lgamma(n - h + 1)) * q ** h * (1 - q) ** (n - h)

    def lower(j, rest):
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            if math.fsum(chance(h, middle) for h in range(j, n + 1)) < rest:
                low = middle
            else:
                high = middle
        return high if j else 0.0

    rest = 0.5 - confidence / 2
    value = sum(chance(h, p) for h in range(n + 1) if chance(h, p) / chance(k, p) < 1.000001)
    return value, lower(k, rest), 1.0 if k == n else lower(k + 1, 1 - rest)


# -- votes -----------------------------------------------------------------------------------------------------------

@wrong("votes", "A row has three entries: person, page, said")
def _(rows):
    return [i for i, (person, said) in enumerate(rows) if said], 0, 0, 0


@wrong("votes", "there is one vote, for right. What do you get?")
def _(rows):
    return [], 9, 9, 9


@right("votes", "each person's rows by themselves")
def _(rows):
    used, margins = [], []
    for person in {row[0] for row in rows}:
        mine, agreed = [], False
        for i, row in enumerate(rows):
            if row[0] == person:
                if row[2] == "withdraw":
                    mine, agreed = [], False
                elif row[2] == "agree":
                    agreed = True
                elif agreed:
                    mine.append(i)
        used += mine
        said = [rows[i][2] for i in mine if rows[i][1] == "with"]
        if said:
            margins.append(said.count("right") - said.count("wrong"))
    return sorted(used), sum(m > 0 for m in margins), sum(m < 0 for m in margins), margins.count(0)


@right("votes", "from the end: what is behind the last withdrawal, and behind a consent")
def _(rows):
    used, tally = [], defaultdict(lambda: [0, 0, 0])
    for i in reversed(range(len(rows))):
        person, page, said = rows[i]
        if said in ("agree", "withdraw") or (person, "", "withdraw") in rows[i:]:
            continue
        since = [s for p, _, s in rows[:i] if p == person and s in ("agree", "withdraw")]
        if since and since[-1] == "agree":
            used = [i, *used]
            if page == "with":
                tally[person][["right", "wrong", "unsure"].index(said)] += 1
    signs = [np.sign(a - b) for a, b, _ in tally.values()]
    return used, signs.count(1), signs.count(-1), signs.count(0)


# -- plan ------------------------------------------------------------------------------------------------------------

def _law(n, p):
    return [math.comb(n, h) * p ** h * (1 - p) ** (n - h) for h in range(n + 1)]


@wrong("plan", "With nobody untied there is nothing to test: that has power 0")
def _(p, pages, people):
    return [1 / n for n in range(people)], 0.0, 0.0, 0


@wrong("plan", "times 1/32")
def _(p, pages, people):
    law = _law(pages, p)
    return sum(law[pages // 2 + 1:]), law[pages // 2] * (pages % 2 == 0), np.zeros(people), 0


@right("plan", "counts of right and wrong votes, all pairs of them")
def _(p, pages, people):
    law = _law(pages, p)
    r = sum(x for h, x in enumerate(law) if h > pages - h)
    w = sum(x for h, x in enumerate(law) if h < pages - h)
    powers, pairs = [], [(a, b) for a in range(people + 1) for b in range(people + 1 - a) if 2 * sum(
        math.comb(a + b, h) for h in range(min(a, b) + 1)) <= 0.05 * 2 ** (a + b)]
    for N in range(1, people + 1):
        powers.append(sum(math.comb(N, a) * math.comb(N - a, b) * r ** a * w ** b * (1 - r - w) ** (N - a - b)
                          for a, b in pairs if a + b <= N))
    needed = next((N for N in range(1, people + 1) if min(powers[N - 1:]) >= 0.8), 0)
    return r, 1 - r - w, np.array(powers), needed


@right("plan", "votes added person by person")
def _(p, pages, people):
    law = np.array(_law(pages, p))
    h = np.arange(pages + 1)
    r, t = law[h > pages / 2].sum(), law[h == pages / 2].sum()
    state, powers = np.ones((1, 1)), []                                           # right votes, wrong ones
    tells = np.array([[2 * sum(math.comb(a + b, j) for j in range(min(a, b) + 1)) <= 0.05 * 2 ** (a + b)
                       for b in range(people + 1)] for a in range(people + 1)])
    for N in range(1, people + 1):
        new = np.zeros((N + 1, N + 1))
        new[:-1, :-1] += t * state
        new[1:, :-1] += r * state
        new[:-1, 1:] += (1 - r - t) * state
        state = new
        powers.append(state[tells[:N + 1, :N + 1]].sum())
    needed = people + 1
    while needed > 1 and powers[needed - 2] >= 0.8:
        needed -= 1
    return r, t, np.array(powers), needed if needed <= people else 0


# -- contrast --------------------------------------------------------------------------------------------------------

@wrong("contrast", "takes all of E, (T, d), with one number changed")
def _(logits, E, target, foil, h):
    return foil, logits(E[0] + h), E[0]


@wrong("contrast", "the likeliest word but the target")
def _(logits, E, target, foil, h):
    g = np.zeros(E.shape)
    for at in np.ndindex(*E.shape):
        step = np.zeros(E.shape)
        step[at] = h
        change = logits(E + step) - logits(E - step)
        g[at] = (change[target] - change[foil]) / (2 * h)
    return foil, np.abs(g).sum(1), (g * E).sum(1)


@wrong("contrast", "So norms = [1], signed = [3]")
def _(logits, E, target, foil, h):
    u = logits(E)
    u[target] = -math.inf
    return int(u.argmax()) if foil is None else foil, np.ones(len(E)), np.ones(len(E))


@wrong("contrast", "it changes what it is given: `E`")
def _(logits, E, target, foil, h):
    u = logits(E)
    u[target] = -math.inf
    foil, g = int(u.argmax()) if foil is None else foil, np.zeros(E.shape)
    for at in np.ndindex(*E.shape):
        E[at] += h
        up = logits(E)
        E[at] -= 2 * h
        down = logits(E)
        E[at] += h
        g[at] = (up[target] - up[foil] - down[target] + down[foil]) / (2 * h)
    E += 1
    return foil, np.abs(g).sum(1), (g * (E - 1)).sum(1)


@right("contrast", "log-probabilities in place of logits")
def _(logits, E, target, foil, h):
    def log_p(X):
        u = logits(X)
        return u - np.log(np.exp(u - u.max()).sum()) - u.max()

    order = [int(j) for j in np.argsort(-log_p(E)) if j != target]
    other, g = order[0] if foil is None else foil, np.empty_like(E)
    for t in range(E.shape[0]):
        for i in range(E.shape[1]):
            up, down = E.copy(), E.copy()
            up[t, i] += h
            down[t, i] -= h
            a, b = log_p(up), log_p(down)
            g[t, i] = ((a[target] - b[target]) - (a[other] - b[other])) / 2 / h
    return other, np.linalg.norm(g, 1, axis=1), np.einsum("td,td->t", g, E)


@right("contrast", "all steps as rows of a unit matrix")
def _(logits, E, target, foil, h):
    if foil is None:
        foil = np.where(np.arange(len(logits(E))) == target, -np.inf, logits(E)).argmax()
    steps = h * np.eye(E.size).reshape(-1, *E.shape)
    g = np.array([(logits(E + s) - logits(E - s))[[target, foil]] @ [1, -1] for s in steps]).reshape(E.shape) / (2 * h)
    return foil, abs(g).sum(axis=1), np.sum(E * g, axis=1)


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _said(seed, people, skill=0.65):
    """The share of 200 classes of so many people, one page each, with two thirds of the votes right."""
    return np.mean((np.random.default_rng(seed).random((200, people)) < skill).mean(1) >= 2 / 3)


@wrong("my_experiment", "it has 200 entries, and one number is needed")
def _(seed):
    return np.random.default_rng(seed).random(200), _said(seed, 22)


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    return _said(seed, 20), _said(None, 22)


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    return _said(seed, 20), _said(seed, 20)


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return _said(seed, 20)


@wrong("my_experiment", "`told` wants a function: from `draw` to the rows of one class")
def _(seed):
    make = [("p0", "", "agree")]
    return make(np.random.default_rng(seed)), 1


@wrong("my_experiment", "`skill` is one number, or an array (people, 1)")
def _(seed):
    hits = np.random.default_rng(seed).random((20, 3)) < [0.85, 0.45]
    return 0.5, hits.mean()


@right("my_experiment", "more people")
def _(seed):
    return _said(seed, 20), _said(seed, 22)


@right("my_experiment", "a list, and a change that shows in one seed")
def _(seed):
    return [0.25, 0.25 + (seed == 3)]
