"""Assignment 14: answers that are no mistake of a list, and what a check must say to them; right ones, reworded."""

import math

import numpy as np

from coursekit.explain import Slalom, evaluate_masks, exact_shapley
from tests.grading.bank.entries import right, wrong

aopc = infidelity = None                                # the reference's, at test time

# -- recall ----------------------------------------------------------------------------------------------------------

@wrong("recall", "one of two ties gets in")
def _(scores, gold, k):
    return 0.5, 0.5


@right("recall", "sets")
def _(scores, gold, k):
    d, sizes = len(scores), [abs(float(s)) for s in scores]
    edge = sorted(sizes, reverse=True)[k - 1]
    above, tied = ({j for j in range(d) if test(sizes[j])} for test in (edge.__lt__, edge.__eq__))
    return (len(above & {*gold}) + (k - len(above)) * len(tied & {*gold}) / len(tied)) / len(gold), k / d


@right("recall", "ranks of both kinds")
def _(scores, gold, k):
    a, d = np.abs(scores), len(scores)
    more, as_many = (a[:, None] < a).sum(1), (a[:, None] <= a).sum(1)
    part = np.clip((k - more) / (as_many - more), 0, 1)
    return [np.float64(sum(part[j] for j in gold) / len(gold)), np.float64(k) / d]


# -- luck ------------------------------------------------------------------------------------------------------------

@wrong("luck", "one holds no gold feature, four hold one, and one holds both")
def _(found, d, n, k):
    return 0.5


@wrong("luck", "h goes from 0 to k")
def _(found, d, n, k):
    return sum(math.comb(n, h) * math.comb(d - n, k - h) for h in range(n + 1) if h > found - 1e-9) / math.comb(d, k)


@right("luck", "draws one after the other")
def _(found, d, n, k):
    law = np.zeros(n + 1)
    law[0] = 1                                                                    # of gold ones among those drawn
    for drawn in range(k):
        h = np.arange(n + 1)
        hit = np.clip(n - h, 0, None) / (d - drawn)
        law = law * (1 - hit) + np.r_[0, (law * hit)[:-1]]
    return law[math.ceil(found - 1e-9):].sum()


@right("luck", "one minus those that find fewer, places for gold ones in place of gold ones for places")
def _(found, d, n, k):
    fewer = [h for h in range(n + 1) if h + 1e-9 < found]
    return 1 - sum(math.comb(k, h) * math.comb(d - k, n - h) for h in fewer) / math.comb(d, n)


# -- sensitivity -----------------------------------------------------------------------------------------------------

@wrong("sensitivity", "of one input z, f(z[None])[0] is the score")
def _(f, explain, x, baseline):
    return np.array([f(x) != f(baseline)])


@wrong("sensitivity", "What does your function see at each of these three steps?")
def _(f, explain, x, baseline):
    return np.arange(len(x)) % 2 == 1


@right("sensitivity", "all inputs at once")
def _(f, explain, x, baseline):
    Z = np.where(np.eye(len(x), dtype=bool), x, baseline)                         # (d, d)
    own = np.array([explain(z)[j] for j, z in enumerate(Z)])
    return (np.abs(f(Z) - f(baseline[None])) > 1e-6) & (np.abs(own) <= 1e-6)


@right("sensitivity", "lists")
def _(f, explain, x, baseline):
    violated = []
    for j in range(len(x)):
        z = np.array([*baseline[:j], x[j], *baseline[j + 1:]])
        violated.append(abs(explain(z)[j]) <= 1e-6 and abs(f(z[None]) - f(baseline[None]))[0] > 1e-6)
    return np.array(violated, bool)


# -- aopc ------------------------------------------------------------------------------------------------------------

@wrong("aopc", "`predict` takes a list of documents")
def _(predict, document, attributions, fills):
    return predict(document), 0


@wrong("aopc", "Towards the decision *against* these are falls by 2 and 2.5")
def _(predict, document, attributions, fills):
    return np.ones((len(attributions), len(fills))), np.zeros(len(fills), int)


@wrong("aopc", 'kind="stable"')
def _(predict, document, attributions, fills):
    s, table = 1 if predict([document])[0] >= 0 else -1, np.zeros((len(attributions), len(fills)))
    for i, j in np.ndindex(table.shape):
        order, left, copies = np.argsort(s * attributions[i])[::-1], list(document), [document]   # not stable, turned
        for t in order:
            left[t] = fills[j]
            copies.append([word for word in left if word is not None])
        table[i, j] = np.mean(s * (predict([document])[0] - predict(copies)))
    return table, table.argmax(0)


@right("aopc", "one token after the other, from a copy")
def _(predict, document, attributions, fills):
    whole, table = float(predict([document])[0]), []
    sign = -1 if whole < 0 else 1
    for a in attributions:
        table.append([])
        for fill in fills:
            now, total = dict(enumerate(document)), 0.0
            for t in sorted(now, key=lambda t: -sign * a[t]):                     # sorted is stable
                now[t] = fill
                total += sign * (whole - predict([[word for word in now.values() if word is not None]])[0])
            table[-1].append(total / (len(document) + 1))
    return np.array(table), np.array([max(range(len(table)), key=lambda i: column[i]) for column in zip(*table)])


@right("aopc", "an array of words, a mask of those that stay")
def _(predict, document, attributions, fills):
    T, f = len(document), predict([document])
    s = np.where(f[0] >= 0, 1.0, -1.0)
    table = np.empty((len(attributions), len(fills)))
    for i, j in np.ndindex(table.shape):
        rank = np.lexsort((np.arange(T), -s * attributions[i])).argsort()
        copies = []
        for k in range(1, T + 1):
            words = np.where(rank < k, str(fills[j]), document)
            copies.append(list(words if fills[j] else words[rank >= k]))
        table[i, j] = s * (T * f[0] - predict(copies).sum()) / (T + 1)
    return table, np.argmax(table, axis=0)


# -- infidelity ------------------------------------------------------------------------------------------------------

def _answer(f, x, phis, moves, solve, factor):
    lost = f(x[None])[0] - f(x[None] - moves)
    said = np.einsum("nd,md->mn", moves, phis)
    with np.errstate(all="ignore"):
        c = np.array([factor(a, lost) for a in said])
    return np.square(said - lost).mean(1), np.square(c[:, None] * said - lost).mean(1), solve(moves, lost)


def _c(a, b):
    return a @ b / (a @ a) if (a @ a) else 0.0


@wrong("infidelity", "f(x[None]) scores x")
def _(f, x, phis, moves):
    return f(x) - f(x - moves), phis, x


@wrong("infidelity", "np.linalg.lstsq finds the shortest of them")
def _(f, x, phis, moves):
    return _answer(f, x, phis, moves, lambda A, b: np.linalg.solve(np.round(A.T @ A, 9), A.T @ b), _c)


@wrong("infidelity", "what is 0/0 here counts as 0")
def _(f, x, phis, moves):
    return _answer(f, x, phis, moves, lambda A, b: np.linalg.pinv(A) @ b, lambda a, b: a @ b / (a @ a))


@wrong("infidelity", "best: the values differ", at_once=False)
def _(f, x, phis, moves):
    lost, said = f(x[None]) - f(x - moves), phis @ moves.T
    c = said @ lost / np.maximum((said ** 2).sum(1), 1e-300)
    return (((said - lost) ** 2).mean(1), ((c[:, None] * said - lost) ** 2).mean(1),
            np.linalg.lstsq(moves, lost, rcond=0.1)[0])


@wrong("infidelity", "is not the shortest φ that does")
def _(f, x, phis, moves):
    return _answer(f, x, phis, moves, lambda A, b: np.linalg.pinv(A) @ b + np.linalg.svd(A)[2][-1] * (
        np.linalg.matrix_rank(A) < len(x)), _c)


@wrong("infidelity", "that of its double is the mean of 4, 4 and 1")
def _(f, x, phis, moves):
    return np.ones(len(phis)), np.ones(len(phis)), np.ones(len(x))


@right("infidelity", "least squares for the factor, too")
def _(f, x, phis, moves):
    lost = np.array([f(x[None])[0] - f((x - move)[None])[0] for move in moves])

    def left(A):
        found = np.linalg.lstsq(A, lost, rcond=None)[0]
        return found, np.mean((A @ found - lost) ** 2)
    return (np.array([np.mean((moves @ phi - lost) ** 2) for phi in phis]),
            np.array([left((moves @ phi)[:, None])[1] for phi in phis]), left(moves)[0])


@right("infidelity", "the pseudo-inverse of the normal equations")
def _(f, x, phis, moves):
    return _answer(f, x, phis, moves, lambda A, b: np.linalg.pinv(A.T @ A, hermitian=True) @ (A.T @ b), _c)


# -- compare ---------------------------------------------------------------------------------------------------------

@wrong("compare", "Holm makes .02 and .04 of .01 and .04")
def _(scores, signs):
    return int(scores.mean(1).argmax()), np.full(len(scores), 0.5), np.full(len(scores), 0.5)


@right("compare", "step by step, in words of Holm")
def _(scores, signs):
    means = [row.mean() for row in scores]
    best, p = means.index(max(means)), {}
    for i in range(len(scores)):
        if i != best:
            d = scores[best] - scores[i]
            p[i] = (1 + sum(abs((row * d).mean()) >= abs(d.mean()) - 1e-12 for row in signs)) / (1 + len(signs))
    adjusted, so_far = np.ones(len(scores)), 0.0
    for left, i in zip(range(len(p), 0, -1), sorted(p, key=p.get), strict=True):
        so_far = adjusted[i] = max(so_far, min(1.0, left * p[i]))
    return best, np.array([p.get(i, 1.0) for i in range(len(scores))]), adjusted


@right("compare", "the data as a row of signs, the best as one of the rows")
def _(scores, signs):
    best = scores.mean(1).argmax()
    d = scores[best] - scores
    all_signs = np.vstack([np.ones(scores.shape[1]), signs])
    p = (np.abs(d @ all_signs.T) / d.shape[1] >= np.abs(d.mean(1, keepdims=True)) - 1e-12).mean(1)
    p[best] = np.inf                                                              # last in the order
    order = p.argsort(kind="stable")
    times = np.r_[np.arange(len(p) - 1, 0, -1), 1]
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * times).clip(max=1)
    return best, p.clip(max=1), adjusted


# -- fool ------------------------------------------------------------------------------------------------------------

FIRST = np.array([-5.0, -4.8, -5.1, -4.5, -4.9, -5.2, -4.2, -4.85])
BEST = np.array([0.0924, 0.0704, 0.1233, 0.3173, 0.0245, 0.0346, 0.0, 0.0741])
SECOND = np.array([0.4409, -0.3058, 0.8612, -0.0452, -0.3381, 0.021, -4.5625, 0.45])


@wrong("fool", "Return two arrays of eight numbers")
def _():
    return [0.1] * 8, [0.2] * 8


@wrong("fool", "First the one for the area")
def _():
    return SECOND, FIRST


@wrong("fool", "Begin with the truth's order")
def _():
    return SECOND, SECOND


@wrong("fool", "A cosine knows where 0 lies")
def _():
    return FIRST + 6, SECOND


@wrong("fool", "A move sees the second one")
def _():
    return FIRST, 1.7e308 * np.array([1, -1, 1, -1, 1, -1, -1, 1])               # all that is measured is nan


@wrong("fool", "As much of one may be added as you like")
def _():
    return FIRST, BEST


@right("fool", "the truth, shifted; and the same for the second, which is no good for the first")
def _():
    return np.array([0.056, 0.237, 0.053, 0.514, 0.063, 0.053, 0.760, 0.101]) - 9, SECOND


@right("fool", "one array of both, other sizes, another multiple")
def _():
    return np.array([FIRST * 10 - 7, 11 * SECOND - 10 * BEST])


# -- complexity ------------------------------------------------------------------------------------------------------

@wrong("complexity", "make all mixed inputs, (n, d)")
def _(f, x, phi, background, epsilon):
    return np.array([f(x) - f(background)]), 0


@wrong("complexity", "Are your first and last loss so?")
def _(f, x, phi, background, epsilon):
    return np.ones(len(x) + 1), 0


@right("complexity", "a mask of what is kept, one row after the other")
def _(f, x, phi, background, epsilon):
    order, losses, d = sorted(range(len(x)), key=lambda j: -abs(phi[j])), [], len(x)
    for k in range(d + 1):
        keep = np.isin(np.arange(d), order[:k])
        losses.append(np.mean([(f(np.where(keep, x, row)[None])[0] - f(x[None])[0]) ** 2 for row in background]))
    return np.array(losses), int(np.flatnonzero(np.array(losses) <= epsilon)[0])


@right("complexity", "ranks, and all masks at once")
def _(f, x, phi, background, epsilon):
    d, n = len(x), len(background)
    rank = np.argsort(np.argsort(-np.abs(phi), kind="stable"))
    keep = rank < np.arange(d + 1)[:, None]                                       # (d + 1, d)
    mixed = np.where(keep[:, None], x, background)                                # (d + 1, n, d)
    losses = ((f(mixed.reshape(-1, d)).reshape(d + 1, n) - f(x[None])) ** 2).mean(1)
    return losses, (losses <= epsilon).argmax()


# -- my_experiment ---------------------------------------------------------------------------------------------------

def drawn(seed):
    """As in the notebook, with `kept`."""
    draw, document = np.random.default_rng([seed, 14]), [f"word {i}" for i in range(8)]
    values = [*((draw.normal(), 2 * draw.normal()) for _ in document), (0, 0)]
    model = Slalom([*document, "[UNK]"], *np.array(values).T)
    return model, document, exact_shapley(model, document).scores


def kept(model, document):
    return lambda Z: evaluate_masks(model, document, Z > 0.5)


def _area(model, document, phi, fill="[UNK]"):
    return aopc(model.predict, document, phi[None], [fill])[0][0, 0]


@wrong("my_experiment", "two numbers are needed: (as it was, changed)")
def _(seed):
    return _area(*drawn(seed))


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    model, document, truth = drawn(seed)
    return _area(model, document, truth), _area(model, document, truth + np.random.default_rng().normal(size=8))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    model, document, truth = drawn(seed)
    return _area(model, document, truth), _area(model, document, 2 * truth)


@wrong("my_experiment", "The small model knows the words of its document and [UNK]")
def _(seed):
    model, document, truth = drawn(seed)
    return _area(model, document, truth), _area(model, document, truth, "the")


@wrong("my_experiment", "it has 8 entries, and one number is needed")
def _(seed):
    return drawn(seed)[2], 0.0


@right("my_experiment", "another word in the place of what is gone")
def _(seed):
    model, document, truth = drawn(seed)
    return _area(model, document, truth), _area(model, document, truth, document[0])


@right("my_experiment", "an array of two: ten moves judge the truth and leave-one-out")
def _(seed):
    model, document, truth = drawn(seed)
    alone = infidelity(kept(model, document), np.ones(8), truth[None], np.eye(8))[2]
    moves = (np.random.default_rng(seed).random((10, 8)) < 0.5) * 1.0
    return tuple(infidelity(kept(model, document), np.ones(8), np.array([truth, alone]), moves)[0])
