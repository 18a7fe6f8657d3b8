"""Assignment 07: answers that no mistake of a check can be, wrong and right.

perturbed, fit, lime and shapley, which other questions build on, are put into this module by the test: the reference's.
"""

import itertools
import math

import numpy as np
import torch

from coursekit.models import load_weights
from tests.grading.bank.entries import right, wrong

perturbed = fit = lime = shapley = None     # the reference's, at test time
peaky = load_weights("imdb-peaky")


def _words(document):
    return list(dict.fromkeys(document))


# -- perturbed -------------------------------------------------------------------------------------------------------

def _without(document, gone, by):
    return [word for word in document if word not in gone] if by == "delete" else [
        "[UNK]" if word in gone else word for word in document]


def _gone(words, mask):
    return {word for word, kept in zip(words, mask) if not kept}


@wrong("perturbed", "The mask has an entry for each distinct *word*")
def _(document, mask, by):
    return [word if mask[t] else "[UNK]" for t, word in enumerate(document) if mask[t] or by == "replace"]


@wrong("perturbed", "as a set has them, which has no order")
def _(document, mask, by):
    shuffled = sorted(set(document), key=lambda word: word[::-1] + word)        # as list(set(…)) may do, but always
    return _without(document, _gone(shuffled, mask), by)


@wrong("perturbed", "are they the ones whose entry is False?")
def _(document, mask, by):
    return sorted(_without(document, _gone(_words(document), mask), by))


@wrong("perturbed", "Return a plain list of Python's strings")
def _(document, mask, by):
    return np.array(_without(document, _gone(_words(document), mask), by))


@wrong("perturbed", "np.array(mask, dtype=bool) makes an array of either kind")
def _(document, mask, by):
    return _without(document, {_words(document)[j] for j in np.flatnonzero(~mask)}, by)


@right("perturbed", "numbers of the words, and an array of strings")
def _(document, mask, by):
    if not document:
        return []
    words = _words(document)
    kept = np.array(mask)[[words.index(word) for word in document]]
    tokens = np.array(document, dtype=object)
    return tokens[kept].tolist() if by == "delete" else np.where(kept, tokens, "[UNK]").tolist()


@right("perturbed", "a loop that numbers the words as it meets them")
def _(document, mask, by):
    number, copy = {}, ()
    for word in document:
        if word not in number:
            number[word] = len(number)
        if mask[number[word]]:
            copy += (word,)
        elif by == "replace":
            copy += ("[UNK]",)
    return copy


# -- leave_one_out ---------------------------------------------------------------------------------------------------

def _left_out(document, by):
    masks = ~np.eye(len(set(document)), dtype=bool)
    return [perturbed(document, mask, by) for mask in masks]


@wrong("leave_one_out", "It can be told to make booleans")
def _(predict, document, by):
    masks = ~np.eye(len(set(document)))
    scores = predict([document, *(perturbed(document, mask, by) for mask in masks)])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "predict was called 6 times")
def _(predict, document, by):
    whole = predict([document])
    return np.array([whole[0] - predict([copy])[0] for copy in _left_out(document, by)]).reshape(-1, *whole.shape[1:])


@wrong("leave_one_out", "does copy j lack word j, and only that word?")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return (scores[0] - scores[1:]) / scores[0]


@wrong("leave_one_out", "This model has several classes")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return scores[0] - scores[1:] if scores.ndim == 1 else (scores[0] - scores[1:])[:, scores[0].argmax()]


@wrong("leave_one_out", "a score is a row of three numbers here")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return np.array([float(scores[0]) - float(score) for score in scores[1:]])


@wrong("leave_one_out", "The right values are there, in another order")
def _(predict, document, by):
    words = sorted(set(document), reverse=True)
    gone = [perturbed(document, [other != word for other in _words(document)], by) for word in words]
    scores = predict([document, *gone])
    return scores[0] - scores[1:]


@right("leave_one_out", "arrays of strings are documents, too")
def _(predict, document, by):
    words, tokens = _words(document), np.array(document)
    if not document:
        return predict([[]])[1:]
    copies = [np.where(tokens == word, "[UNK]", tokens) if by == "replace" else tokens[tokens != word]
              for word in words]
    scores = predict([tokens, *copies])
    return scores[:1] - scores[1:]


@right("leave_one_out", "the document last, words of NumPy's own kind")
def _(predict, document, by):
    copies = []
    for word in np.unique(document) if document else []:
        copies.append(tuple(w if w != word else np.str_("[UNK]") for w in document if w != word or by == "replace"))
    *others, whole = predict((*copies, tuple(document)))
    place = {str(word): j for j, word in enumerate(np.unique(document))}
    found = [whole - others[place[word]] for word in _words(document)]
    return np.array(found) if found else np.zeros((0, *np.shape(whole)))


# -- fit -------------------------------------------------------------------------------------------------------------

def _centred(Z, y, weights):
    """The means, and rows of Z and of y that are centred and weighed."""
    mean, mean_y, root = np.average(Z, 0, weights), np.average(y, weights=weights), np.sqrt(weights)
    return mean, mean_y, root[:, None] * (Z - mean), root * (y - mean_y)


def _line(beta, Z, y, weights):
    mean, mean_y, A, b = _centred(Z, y, weights)
    return beta, mean_y - mean @ beta, 1 - ((b - A @ beta) ** 2).sum() / (b ** 2).sum() if np.ptp(y) else 1.0


@wrong("fit", "`solve` refuses to choose")
def _(Z, y, weights, ridge):
    _, _, A, b = _centred(Z, y, weights)
    return _line(np.linalg.solve(A.T @ A + ridge * np.eye(Z.shape[1]), A.T @ b), Z, y, weights)


@wrong("fit", "but there is one with a smaller β")
def _(Z, y, weights, ridge):
    _, _, A, b = _centred(Z, y, weights)
    M = A.T @ A + ridge * np.eye(Z.shape[1])
    try:
        beta = np.linalg.solve(M, A.T @ b)
    except np.linalg.LinAlgError:
        beta = np.linalg.lstsq(M, A.T @ b)[0]
    return _line(beta, Z, y, weights)


@wrong("fit", "β is huge")
def _(Z, y, weights, ridge):
    _, _, A, b = _centred(Z, y, weights)
    left, s, right = np.linalg.svd(A, full_matrices=False)
    s = np.maximum(s, 1e-16)                                            # what rounding leaves of a 0
    return _line(right.T @ (s / (s ** 2 + ridge) * (left.T @ b) + (s < 1e-9) * 1e9), Z, y, weights)


@wrong("fit", "These scores do not vary")
def _(Z, y, weights, ridge):
    mean, mean_y, A, b = _centred(Z, y, weights)
    beta = np.linalg.lstsq(A.T @ A + ridge * np.eye(Z.shape[1]), A.T @ b)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return beta, mean_y - mean @ beta, 1 - ((b - A @ beta) ** 2).sum() / (b ** 2).sum()


@wrong("fit", "If both are right: in R² what is left is y − β₀ − Zβ")
def _(Z, y, weights, ridge):
    _, _, A, b = _centred(Z, y, weights)
    beta, intercept, r2 = _line(np.linalg.lstsq(A.T @ A + ridge * np.eye(Z.shape[1]), A.T @ b)[0], Z, y, weights)
    return beta, intercept, r2 ** 2


@wrong("fit", "weights[:, None] * Z")
def _(Z, y, weights, ridge):
    return np.linalg.lstsq(weights * Z, weights * y)


@right("fit", "a column of ones, and a penalty that spares it")
def _(Z, y, weights, ridge):
    d, tiny = Z.shape[1], 1e-9 * weights.sum()
    full = np.column_stack([np.ones(len(Z)), Z])
    penalty = np.diag([0.0] + [ridge or tiny] * d)
    found = np.linalg.solve(full.T @ np.diag(weights) @ full + penalty, full.T @ (weights * y))
    return _line(found[1:], Z, y, weights)


@right("fit", "rows below for the ridge, in torch, with the pseudo-inverse")
def _(Z, y, weights, ridge):
    Z, y, pi = (torch.tensor(np.asarray(x)).double() for x in (Z, y, weights))
    mean, mean_y = pi @ Z / pi.sum(), pi @ y / pi.sum()
    A = torch.cat([pi.sqrt()[:, None] * (Z - mean), math.sqrt(ridge) * torch.eye(Z.shape[1]).double()])
    b = torch.cat([pi.sqrt() * (y - mean_y), torch.zeros(Z.shape[1]).double()])
    beta = torch.linalg.pinv(A, rtol=1e-10) @ b
    intercept = mean_y - mean @ beta
    left, spread = (pi * (y - Z @ beta - intercept) ** 2).sum(), (pi * (y - mean_y) ** 2).sum()
    return beta.numpy(), intercept.item(), (1 - left / spread).item() if y.max() > y.min() else 1.0


# -- lime ------------------------------------------------------------------------------------------------------------

def _asked(predict, document, masks, by):
    """Scores (n,), each different mask asked about once."""
    different = list(dict.fromkeys(map(tuple, masks.tolist())))
    value = dict(zip(different, predict([perturbed(document, mask, by) for mask in different])))
    return np.array([value[tuple(mask)] for mask in masks.tolist()])


def _kernel(masks, width):
    return np.exp(-(100 * (1 - np.sqrt(masks.sum(1) / masks.shape[1]))) ** 2 / (2 * width ** 2))


@wrong("lime", "An array cannot be a key of a dictionary")
def _(predict, document, masks, by, width, ridge):
    number = {}
    which = [number.setdefault(mask, len(number)) for mask in masks]
    scores = predict([perturbed(document, mask, by) for mask in number])
    return fit(masks, scores[which], _kernel(masks, width), ridge)


@wrong("lime", "a vector of length 0 has no cosine")
def _(predict, document, masks, by, width, ridge):
    z = masks.astype(float)
    with np.errstate(invalid="ignore"):
        cosine = z.sum(1) / (np.linalg.norm(z, axis=1) * np.sqrt(z.shape[1]))
    weights = np.exp(-(100 * (1 - cosine)) ** 2 / (2 * width ** 2))
    return fit(masks, _asked(predict, document, masks, by), weights, ridge)


@wrong("lime", "handed back to all n")
def _(predict, document, masks, by, width, ridge):
    different = list(dict.fromkeys(map(tuple, masks)))
    scores = predict([perturbed(document, mask, by) for mask in different])
    return fit(masks, scores, _kernel(masks, width), ridge)


@wrong("lime", "predict was called 6 times")
def _(predict, document, masks, by, width, ridge):
    value = {tuple(mask): predict([perturbed(document, mask, by)])[0] for mask in np.unique(masks, axis=0)}
    return fit(masks, np.array([value[tuple(mask)] for mask in masks]), _kernel(masks, width), ridge)


@wrong("lime", "none drawn, added or shifted")
def _(predict, document, masks, by, width, ridge):
    masks = np.random.default_rng(0).random(masks.shape) < 0.5
    return fit(masks, _asked(predict, document, masks, by), _kernel(masks, width), ridge)


@wrong("lime", "right on the inputs that you see", at_once=False)
def _(predict, document, masks, by, width, ridge):
    weights = _kernel(masks, width) if width < 1000 else np.ones(len(masks))
    return fit(masks, _asked(predict, document, masks, by), weights, ridge)


@right("lime", "np.unique and its inverse")
def _(predict, document, masks, by, width, ridge):
    different, which = np.unique(masks, axis=0, return_inverse=True)
    scores = np.asarray(predict([perturbed(document, mask, by) for mask in different]))
    return fit(masks, scores[which.ravel()], _kernel(masks, width), ridge)


@right("lime", "equal masks gathered, their weights added up; the cosine mask by mask")
def _(predict, document, masks, by, width, ridge):
    weights = {}
    for mask in map(tuple, masks.tolist()):
        cosine = sum(mask) / math.sqrt(sum(mask)) / math.sqrt(len(mask)) if any(mask) else 0.0
        weights[mask] = weights.get(mask, 0.0) + math.exp(-0.5 * (100 * (1 - cosine) / width) ** 2)
    scores = predict([perturbed(document, list(mask), by) for mask in weights])
    return fit(np.array(list(weights)), scores, np.array(list(weights.values())), ridge)


# -- shapley ---------------------------------------------------------------------------------------------------------

def _values(predict, document, by):
    masks = list(itertools.product([False, True], repeat=len(set(document))))
    return dict(zip(masks, predict([perturbed(document, mask, by) for mask in masks])))


def _with(S, j):
    return (*S[:j], True, *S[j + 1:])


def _share(s, d):
    return math.factorial(s) * math.factorial(d - 1 - s) / math.factorial(d)


def _summed(predict, document, by):
    value, d = _values(predict, document, by), len(set(document))
    return np.array([sum(_share(sum(S), d) * (value[_with(S, j)] - value[S]) for S in value if not S[j])
                     for j in range(d)])


@wrong("shapley", "A set of words wants one key")
def _(predict, document, by):
    d = len(set(document))
    sets = [S for s in range(d + 1) for S in itertools.combinations(range(d), s)]
    value = dict(zip(sets, predict([perturbed(document, [j in S for j in range(d)], by) for S in sets])))
    return np.array([sum(_share(len(S), d) * (value[S + (j,)] - value[S]) for S in sets if j not in S)
                     for j in range(d)])


@wrong("shapley", "no more and no less")
def _(predict, document, by):
    return _summed(predict, document, by) + 0.3


@wrong("shapley", "predict was called 8 times")
def _(predict, document, by):
    return _summed(lambda documents: np.concatenate([predict([one]) for one in documents]), document, by)


@wrong("shapley", "The sum is right, the shares are not")
def _(predict, document, by):
    return np.sort(_summed(predict, document, by))[::-1].copy()


@right("shapley", "bits of whole numbers, and the dividends of coalitions")
def _(predict, document, by):
    d = len(set(document))
    bits = np.arange(2 ** d)[:, None] >> np.arange(d) & 1
    dividend = predict([perturbed(document, row == 1, by) for row in bits]).astype(float)
    for j in range(d):
        inside = np.flatnonzero(bits[:, j])
        dividend[inside] -= dividend[inside ^ (1 << j)]
    return np.einsum("s,sj->j", dividend / np.maximum(1, bits.sum(1)), bits)


@right("shapley", "sets without an order")
def _(predict, document, by):
    d = len(set(document))
    sets = [frozenset(S) for s in range(d + 1) for S in itertools.combinations(range(d), s)]
    value = dict(zip(sets, predict([perturbed(document, tuple(j in S for j in range(d)), by) for S in sets])))
    return np.array([sum((value[S | {j}] - value[S]) / d / math.comb(d - 1, len(S)) for S in sets if j not in S)
                     for j in range(d)])


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _text(seed):
    words = "a the film not very good bad awful but .".split()
    return np.random.default_rng(seed).choice(words, 7, replace=False).tolist()


def _one_run(seed, ridge=0.0):
    masks = np.random.default_rng(seed).random((60, 7)) < 0.5
    return lime(peaky.predict, _text(seed), masks, "replace", 25, ridge)


def _distance(seed, by):
    masks = np.array(list(itertools.product([False, True], repeat=7)))
    beta = lime(peaky.predict, _text(seed), masks, by, 25, 0.0)[0]
    return abs(beta - shapley(peaky.predict, _text(seed), by)).max()


@wrong("my_experiment", "and two numbers are needed: (as it was, changed)")
def _(seed):
    return _one_run(seed)[2]


@wrong("my_experiment", "and one number is needed; their mean, or one of them?")
def _(seed):
    return _one_run(seed)[0], _one_run(seed, 1.0)[0]


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    masks = np.random.default_rng().random((60, 7)) < 0.5
    return tuple(lime(peaky.predict, _text(seed), masks, by, 25, 0.0)[2] for by in ("replace", "delete"))


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    return tuple(_distance(seed, "replace") for by in ("replace", "delete"))


@wrong("my_experiment", "hand over `peaky.predict`, not the model `peaky`")
def _(seed):
    return tuple(shapley(peaky, _text(seed), by).max() for by in ("replace", "delete"))


@wrong("my_experiment", "its coefficients are the first, [0]")
def _(seed):
    return tuple(np.std([_one_run(seed, ridge), _one_run(seed + 1, ridge)], 0).mean() for ridge in (0.0, 1.0))


@right("my_experiment", "deleted, not replaced")
def _(seed):
    return [_distance(seed, by) for by in ("replace", "delete")]


@right("my_experiment", "backwards: is the word furthest from 0 the same one?")
def _(seed):
    document = _text(seed)
    there, back = (np.abs(shapley(peaky.predict, words, "replace")) for words in (document, document[::-1]))
    return document[there.argmax()] == document[0], np.float32(back.max())


# -- kernel_shap -----------------------------------------------------------------------------------------------------

def _in_kernel(masks, ends=1e6):
    d = masks.shape[1]
    return np.array([(d - 1) / (math.comb(d, s) * s * (d - s)) if 0 < s < d else ends for s in masks.sum(1).tolist()])


@wrong("kernel_shap", "NumPy's numbers give inf, and no error")
def _(predict, document, masks, by):
    d, kept = masks.shape[1], masks.sum(1)
    weights = np.array([(d - 1) / (math.comb(d, s) * s * (d - s)) for s in kept])
    return fit(masks, predict([perturbed(document, mask, by) for mask in masks]), weights, 0.0)[0]


@wrong("kernel_shap", "of four words kept 1, 2 or 3 they are ¼, ⅛ and ¼")
def _(predict, document, masks, by):
    scores = predict([perturbed(document, mask, by) for mask in masks])
    return fit(masks, scores, np.sqrt(_in_kernel(masks)), 0.0)[0] + 0.01


@wrong("kernel_shap", "predict was called 8 times")
def _(predict, document, masks, by):
    scores = np.concatenate([predict([perturbed(document, mask, by)]) for mask in masks])
    return fit(masks, scores, _in_kernel(masks), 0.0)[0]


@right("kernel_shap", "heavier ends")
def _(predict, document, masks, by):
    scores = predict([perturbed(document, mask, by) for mask in masks])
    return fit(masks, scores, _in_kernel(masks, 3e7), 0)[0]


@right("kernel_shap", "least squares of weighted rows, with a column of ones")
def _(predict, document, masks, by):
    scores, root = predict([perturbed(document, mask, by) for mask in masks]), np.sqrt(_in_kernel(masks))
    full = np.column_stack([masks - masks.mean(0), np.ones(len(masks))])
    return np.linalg.lstsq(root[:, None] * full, root * scores, rcond=1e-12)[0][:-1]


# -- shapley_from_orders ---------------------------------------------------------------------------------------------

def _walked(predict, document, walks, by):
    """What each word adds in each walk, (len(walks), d)."""
    d = len(set(document))
    passed = [[tuple(j in walk[:k] for j in range(d)) for k in range(d + 1)] for walk in map(list, walks)]
    masks = list(dict.fromkeys(mask for way in passed for mask in way))
    value = dict(zip(masks, predict([perturbed(document, mask, by) for mask in masks])))
    added = np.zeros((len(walks), d))
    for row, walk, way in zip(added, walks, passed):
        row[walk] = np.diff([value[mask] for mask in way])
    return added


def _both_ways(orders):
    return [walk for order in orders for walk in (order, order[::-1])]


def _means(added):
    """(estimate, errors) of what words add in orders and reverses."""
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), a.std(0, ddof=1) / math.sqrt(len(a)) if len(a) > 1 else np.full(a.shape[1], math.inf)


@wrong("shapley_from_orders", "all errors are math.inf")
def _(predict, document, orders, by):
    estimate, errors = _means(_walked(predict, document, _both_ways(orders), by))
    return estimate, np.where(np.isinf(errors), 0.0, errors)


@wrong("shapley_from_orders", "Is a first or a last step missing?")
def _(predict, document, orders, by):
    added = _walked(predict, document, _both_ways(orders), by)
    for row, walk in zip(added, _both_ways(orders)):
        row[walk[0]] = 0
    return _means(added)


@wrong("shapley_from_orders", "The sum is right, the shares are not")
def _(predict, document, orders, by):
    estimate, errors = _means(_walked(predict, document, _both_ways(orders), by))
    return np.sort(estimate), errors


@wrong("shapley_from_orders", "predict was called 8 times")
def _(predict, document, orders, by):
    return _means(np.vstack([_walked(predict, document, [walk], by) for walk in _both_ways(orders)]))


@wrong("shapley_from_orders", "asked about 32 documents, and only 8 of them differ")
def _(predict, document, orders, by):
    walks, d = _both_ways(orders), orders.shape[1]
    masks = [np.argsort(walk) < k for walk in walks for k in range(d + 1)]
    scores = predict([perturbed(document, mask, by) for mask in masks]).reshape(len(walks), d + 1)
    return _means(np.array([np.diff(row)[np.argsort(walk)] for row, walk in zip(scores, walks)]))


@wrong("shapley_from_orders", "Only sets that an order or its reverse passes through are needed")
def _(predict, document, orders, by):
    """The scores of all 2^d masks, and then the walks."""
    walks, d = _both_ways(orders), orders.shape[1]
    masks = np.array(list(itertools.product((False, True), repeat=d)))
    scores = predict([perturbed(document, mask, by) for mask in masks])
    powers = 2 ** np.arange(d)[::-1]
    rows = np.array([scores[(np.argsort(walk) < np.arange(d + 1)[:, None]) @ powers] for walk in walks])
    return _means(np.array([np.diff(row)[np.argsort(walk)] for row, walk in zip(rows, walks)]))


@right("shapley_from_orders", "all orders, then all reverses; errors from a matrix of covariances")
def _(predict, document, orders, by):
    n = len(orders)
    added = _walked(predict, document, np.vstack([orders, orders[:, ::-1]]), by)
    a = (added[:n] + added[n:]) / 2
    errors = np.sqrt(np.atleast_2d(np.cov(a.T)).diagonal() / n) if n > 1 else np.full(orders.shape[1], np.inf)
    return np.average(a, 0), errors


@right("shapley_from_orders", "words that leave, one after the other")
def _(predict, document, orders, by):
    walks = [tuple(walk) for walk in _both_ways(orders.tolist())]
    sets = sorted({frozenset(walk[k:]) for walk in walks for k in range(len(walk) + 1)}, key=sorted)
    d = orders.shape[1]
    value = dict(zip(sets, predict([perturbed(document, [j in S for j in range(d)], by) for S in sets])))
    added = np.zeros((len(walks), d))
    for row, walk in zip(added, walks):
        for k, j in enumerate(walk):
            row[j] = value[frozenset(walk[k:])] - value[frozenset(walk[k + 1:])]
    return _means(added)


# -- apart -----------------------------------------------------------------------------------------------------------

@wrong("apart", "Return the text itself, in quotes")
def _():
    return ["awful", "waste"]


@wrong("apart", "Marks count as words, a word that comes again does not")
def _():
    return "The worst waste of an awful film, boring and dull"


@wrong("apart", "furthest apart is “waste”: LIME -1.85, Shapley -2.28, a distance of 0.43; 1.0 is due")
def _():
    return "An awful, terrible waste of time."


@right("apart", "praise twice over")
def _():
    return "Wonderful excellent"


@right("apart", "one word again and again")
def _():
    return "worst " * 5 + "awful " * 5
