"""Assignment 07: answers that people give, and what a check must say to them.

perturbed, proximity and fit, which other questions build on, are put into this module by the test: the reference's.
"""

import itertools
import math

import numpy as np
import torch

from coursekit import explain as library
from coursekit.explain import lime as ready_lime
from coursekit.explain.surrogate import weighted_ridge
from tests.grading.bank.entries import right, wrong

perturbed = proximity = fit = None      # the reference's, at test time


def _words(document):
    return list(dict.fromkeys(document))


# -- perturbed -------------------------------------------------------------------------------------------------------

def _without(document, gone, by):
    return [word for word in document if word not in gone] if by == "delete" else [
        "[UNK]" if word in gone else word for word in document]


def _gone(words, mask):
    return {word for word, kept in zip(words, mask) if not kept}


@wrong("perturbed", "The mask was laid over the *places*")
def _(document, mask, by):
    kept = list(zip(document, mask))
    return [word for word, keep in kept if keep] if by == "delete" else [w if keep else "[UNK]" for w, keep in kept]


@wrong("perturbed", "The mask has an entry for each distinct *word*")
def _(document, mask, by):
    return [word if mask[t] else "[UNK]" for t, word in enumerate(document) if mask[t] or by == "replace"]


@wrong("perturbed", "As many words went as should, but other ones")
def _(document, mask, by):
    return _without(document, _gone(sorted(set(document)), mask), by)


@wrong("perturbed", "As many words went as should, but other ones")
def _(document, mask, by):
    return _without(document, _gone(_words(document[::-1])[::-1], mask), by)


@wrong("perturbed", "As many words went as should, but other ones")
def _(document, mask, by):
    from collections import Counter
    return _without(document, _gone([word for word, _ in Counter(document).most_common()], mask), by)


@wrong("perturbed", "as a set has them, which has no order")
def _(document, mask, by):
    shuffled = sorted(set(document), key=lambda word: word[::-1] + word)        # as list(set(…)) may do, but always
    return _without(document, _gone(shuffled, mask), by)


@wrong("perturbed", "nothing in it has a number")
def _(document, mask, by):
    words = set(document)
    return [word for word in document if mask[words.index(word)]]


@wrong("perturbed", "A list takes one number in its brackets")
def _(document, mask, by):
    return _without(document, _words(document)[~mask], by)


@wrong("perturbed", "*Food* is not *food*")
def _(document, mask, by):
    return _without(document, _gone(_words(word.lower() for word in document), mask), by)


@wrong("perturbed", "*Food* is not *food*")
def _(document, mask, by):
    gone = {word.lower() for word in _gone(_words(document), mask)}
    copy = [word if word.lower() not in gone else "[UNK]" for word in document]
    return copy if by == "replace" else [word for word in copy if word != "[UNK]"]


@wrong("perturbed", "*Food* is not *food*")
def _(document, mask, by):
    gone = _gone(_words(word.lower() for word in document), mask)
    copy = [word if word.lower() not in gone else "[UNK]" for word in document]
    return copy if by == "replace" else [word for word in copy if word != "[UNK]"]


@wrong("perturbed", "is a word of this document, with an entry of its own")
def _(document, mask, by):
    return _without(document, _gone([word for word in _words(document) if word != "[UNK]"], mask), by)


@wrong("perturbed", "what waits until no [UNK] is left waits for ever")
def _(document, mask, by):
    copy = list(document)
    for word in _gone(_words(document), mask):
        while word in copy:
            if by == "delete":
                copy.remove(word)
            else:
                copy[copy.index(word)] = "[UNK]"
    return copy


@wrong("perturbed", "A word was found inside another one")
def _(document, mask, by):
    text = " ".join(document)
    for word in _gone(_words(document), mask):
        text = text.replace(word, "[UNK]" if by == "replace" else "")
    return text.split()


@wrong("perturbed", "Nothing went here")
def _(document, mask, by):
    return _without(document, {word for word, kept in zip(_words(document), mask) if kept is False}, by)


@wrong("perturbed", "True in the mask means that a word is *kept*")
def _(document, mask, by):
    return _without(document, _gone(_words(document), ~mask), by)


@wrong("perturbed", "\"delete\" takes it out")
def _(document, mask, by):
    return _without(document, _gone(_words(document), mask), "replace")


@wrong("perturbed", "puts [UNK] in the place of a word")
def _(document, mask, by):
    return _without(document, _gone(_words(document), mask), "delete" if by != "delete" else "replace")


@wrong("perturbed", "Only the first occurrence of a word went")
def _(document, mask, by):
    copy = list(document)
    for word in _gone(_words(document), mask):
        if by == "delete":
            copy.remove(word)
        else:
            copy[copy.index(word)] = "[UNK]"
    return copy


@wrong("perturbed", "Some occurrences were skipped")
def _(document, mask, by):
    gone, copy = _gone(_words(document), mask), list(document)
    if by == "replace":
        return _without(document, gone, by)
    for word in copy:
        if word in gone:
            copy.remove(word)
    return copy


@wrong("perturbed", "has a word [UNK] of its own")
def _(document, mask, by):
    copy = _without(document, _gone(_words(document), mask), "replace")
    return [word for word in copy if word != "[UNK]"] if by == "delete" else copy


@wrong("perturbed", "Each token came back once")
def _(document, mask, by):
    copy = [w if keep else "[UNK]" for w, keep in zip(_words(document), mask)]
    return [word for word in copy if word != "[UNK]" or "[UNK]" in document] if by == "delete" else _without(
        document, _gone(_words(document), mask), by)


@wrong("perturbed", "Return a list of tokens, not one string")
def _(document, mask, by):
    return " ".join(_without(document, _gone(_words(document), mask), by))


@wrong("perturbed", "a string")
def _(document, mask, by):
    copy = _without(document, _gone(_words(document), mask), by)
    return [None if word == "[UNK]" else word for word in copy]


@wrong("perturbed", "`.tolist()` makes one")
def _(document, mask, by):
    return np.array(_without(document, _gone(_words(document), mask), by))


@wrong("perturbed", "it changes what it is given: `document`")
def _(document, mask, by):
    gone = _gone(_words(document), mask)
    if by == "delete":
        return [word for word in document if word not in gone]
    for t, word in enumerate(document):
        if word in gone:
            document[t] = "[UNK]"
    return document


@wrong("perturbed", "it changes what it is given: `mask`")
def _(document, mask, by):
    copy = _without(document, _gone(_words(document), mask), by)
    mask[:] = ~mask
    return copy


@wrong("perturbed", "`~True` is −2, which counts as true")
def _(document, mask, by):
    return _without(document, {word for word, kept in zip(_words(document), mask) if ~kept}, by)


@wrong("perturbed", "nothing is np.True_")
def _(document, mask, by):
    kept = {word for word, kept in zip(_words(document), mask) if kept is np.True_}
    return _without(document, set(document) - kept, by)


@wrong("perturbed", "np.array(mask, dtype=bool) makes an array of either kind")
def _(document, mask, by):
    return _without(document, {_words(document)[j] for j in np.flatnonzero(~mask)}, by)


@wrong("perturbed", "np.array(mask, dtype=bool) makes an array of either kind")
def _(document, mask, by):
    return _without(document, {_words(document)[j] for j in np.where(mask == False)[0]}, by)     # noqa: E712


@wrong("perturbed", "brackets pick no words by a tuple")
def _(document, mask, by):
    kept = set(np.array(_words(document), dtype=object)[mask])
    return _without(document, set(document) - kept, by)


@wrong("perturbed", "`mask == False` is one False")
def _(document, mask, by):
    return _without(document, {_words(document)[j] for j in np.flatnonzero(mask == False)}, by)  # noqa: E712


@wrong("perturbed", "right so far, but it changes what it is given: `document`")
def _(document, mask, by):
    gone = _gone(_words(document), mask)
    for t, word in enumerate(document):
        document[t] = "[UNK]" if word in gone else word
    return document if by == "replace" else [word for word in document if word != "[UNK]"]


@wrong("perturbed", "Does it end with `return")
def _(document, mask, by):
    gone = {word for word, kept in zip(dict.fromkeys(document), mask) if not kept}
    print([word for word in document if word not in gone] if by == "delete" else [
        "[UNK]" if word in gone else word for word in document])


@wrong("perturbed", "right on the inputs that you see", at_once=False)
def _(document, mask, by):
    gone = _gone(_words(document), mask)
    inside = {word for word in document if len(word) > 1 and any(word in other for other in gone)}
    return _without(document, gone | inside, by)


@wrong("perturbed", "*Food* is not *food*")
def _(document, mask, by):
    gone = {word.lower() for word in _gone(_words(document), mask)}
    return _without(document, gone | _gone(_words(document), mask), by)


@right("perturbed", "numbers of the words, and an array of strings")
def _(document, mask, by):
    if not document:
        return []
    words = _words(document)
    kept = np.array(mask)[[words.index(word) for word in document]]
    tokens = np.array(document, dtype=object)
    return tokens[kept].tolist() if by == "delete" else np.where(kept, tokens, "[UNK]").tolist()


@right("perturbed", "an index of the words that go")
def _(document, mask, by):
    words, kept = _words(document), np.array(mask, dtype=bool)
    return _without(document, [words[j] for j in np.flatnonzero(~kept)], by)


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


@wrong("leave_one_out", "The sign is turned round")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return scores[1:] - scores[0]


@wrong("leave_one_out", "It can be told to make booleans")
def _(predict, document, by):
    masks = ~np.eye(len(set(document)))
    scores = predict([document, *(perturbed(document, mask, by) for mask in masks)])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "Only one place went at a time")
def _(predict, document, by):
    copies = [document[:t] + ["[UNK]"] * (by == "replace") + document[t + 1:] for t in range(len(document))]
    scores = predict([document, *copies])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "Only the first occurrence of a word went")
def _(predict, document, by):
    places = [document.index(word) for word in _words(document)]
    scores = predict([document, *(document[:t] + ["[UNK]"] * (by == "replace") + document[t + 1:] for t in places)])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "Is it passed on to `perturbed`?")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, "replace")])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "Those are the scores of the copies")
def _(predict, document, by):
    return predict([document, *_left_out(document, by)])[1:]


@wrong("leave_one_out", "that of the document first")
def _(predict, document, by):
    return predict([document, *_left_out(document, by)])


@wrong("leave_one_out", "only one word was *kept* at a time")
def _(predict, document, by):
    d = len(set(document))
    scores = predict([perturbed(document, mask, by) for mask in [np.ones(d, dtype=bool), *np.eye(d, dtype=bool)]])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "The sign is lost")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return abs(scores[0] - scores[1:])


@wrong("leave_one_out", "predict was called 6 times")
def _(predict, document, by):
    whole = predict([document])
    return np.array([whole[0] - predict([copy])[0] for copy in _left_out(document, by)]).reshape(-1, *whole.shape[1:])


@wrong("leave_one_out", "predict was called 2 times")
def _(predict, document, by):
    copies = _left_out(document, by)
    return predict([document])[0] - predict(copies) if copies else predict([document])[1:]


@wrong("leave_one_out", "predict was asked about 10 documents, and only 6 of them differ")
def _(predict, document, by):
    d = len(set(document))
    scores = predict([copy for other in _left_out(document, by) for copy in (document, other)] or [document])
    return (scores[0::2] - scores[1::2]) if d else scores[1:]


@wrong("leave_one_out", "predict was asked about 7 documents, and 6 are enough")
def _(predict, document, by):
    copies = _left_out(document, by)
    scores = predict([document, *copies, perturbed(document, np.zeros(len(copies), dtype=bool), by)])
    return scores[0] - scores[1:-1]


@wrong("leave_one_out", "got a single one: predict([document])")
def _(predict, document, by):
    return predict(document) - np.array([predict(copy) for copy in _left_out(document, by)])


@wrong("leave_one_out", "Return a NumPy array")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return [scores[0] - score for score in scores[1:]]


@wrong("leave_one_out", "This model has several classes")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return scores[0] - scores[1:] if scores.ndim == 1 else (scores[0] - scores[1:])[:, scores[0].argmax()]


@wrong("leave_one_out", "a score is a row of three numbers here")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return np.array([float(scores[0]) - float(score) for score in scores[1:]])


@wrong("leave_one_out", "a score is a row of three numbers here")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    lost = np.zeros(len(set(document)))
    for j in range(len(lost)):
        lost[j] = scores[0] - scores[j + 1]
    return lost


@wrong("leave_one_out", "The right values are there, in another order")
def _(predict, document, by):
    words = sorted(set(document), reverse=True)
    gone = [perturbed(document, [other != word for other in _words(document)], by) for word in words]
    scores = predict([document, *gone])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "There is an axis too many")
def _(predict, document, by):
    return np.array([predict([document]) - predict([copy]) for copy in _left_out(document, by)])


@wrong("leave_one_out", "leave_one_out stops with an error (an empty document)")
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return np.stack([scores[0] - scores[j + 1] for j in range(len(set(document)))])


@wrong("leave_one_out", "calls `perturbed` (question 1), which is still empty")
def _(predict, document, by):
    def perturbed(document, mask, by):
        raise NotImplementedError()

    return predict([perturbed(document, [True], by)])


@wrong("leave_one_out", "calls coursekit.explain.evaluate_masks")
def _(predict, document, by):
    words, d = _words(document), len(set(document))
    masks = np.vstack([np.ones((1, d), dtype=bool), ~np.eye(d, dtype=bool)])
    groups = [words.index(word) for word in document]
    scores = library.evaluate_masks(predict, document, masks, by=by, groups=groups) if d else predict([[]])
    return scores[0] - scores[1:]


@wrong("leave_one_out", "right on the inputs that you see", at_once=False)
def _(predict, document, by):
    scores = predict([document, *_left_out(document, by)])
    return (scores[0] - scores[1:]).squeeze() if len(set(document)) > 1 else scores[0] - scores[1:]


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


# -- proximity -------------------------------------------------------------------------------------------------------

def _delta(masks):
    return 100 * (1 - np.sqrt(masks.sum(1) / masks.shape[1]))


def _both(exponents):
    scaled = np.exp(exponents - exponents.max())
    return np.exp(exponents), scaled.sum() ** 2 / (scaled ** 2).sum()


def _kernel(masks, width):
    return np.exp(-_delta(masks) ** 2 / (2 * width ** 2))


@wrong("proximity", "The distance is not multiplied by 100")
def _(masks, width):
    return _both(-(_delta(masks) / 100) ** 2 / (2 * width ** 2))


@wrong("proximity", "The cosine is not the share of words that is kept")
def _(masks, width):
    return _both(-(100 * (1 - masks.mean(1))) ** 2 / (2 * width ** 2))


@wrong("proximity", "The 2 in front of width² is missing")
def _(masks, width):
    return _both(-_delta(masks) ** 2 / width ** 2)


@wrong("proximity", "The distance is squared")
def _(masks, width):
    return _both(-_delta(masks) / (2 * width ** 2))


@wrong("proximity", "The width is squared")
def _(masks, width):
    return _both(-_delta(masks) ** 2 / (2 * width))


@wrong("proximity", "The width multiplies here")
def _(masks, width):
    return _both(-_delta(masks) ** 2 / 2 * width ** 2)


@wrong("proximity", "not (2·width)²")
def _(masks, width):
    return _both(-_delta(masks) ** 2 / (2 * width) ** 2)


@wrong("proximity", "That is the Euclidean distance")
def _(masks, width):
    return _both(-(100 * np.linalg.norm(1.0 - masks, axis=1)) ** 2 / (2 * width ** 2))


@wrong("proximity", "That is the cosine. The distance is 1 minus it.")
def _(masks, width):
    return _both(-(100 * np.sqrt(masks.mean(1))) ** 2 / (2 * width ** 2))


@wrong("proximity", "The words that are *gone* were counted")
def _(masks, width):
    return _both(-_delta(~masks) ** 2 / (2 * width ** 2))


@wrong("proximity", "Only the mask that keeps nothing is wrong")
def _(masks, width):
    z = masks.astype(float)
    with np.errstate(invalid="ignore"):
        cosine = z.sum(1) / (np.linalg.norm(z, axis=1) * np.sqrt(z.shape[1]))
    return _both(-(100 * (1 - cosine)) ** 2 / (2 * width ** 2))


@wrong("proximity", "Which number can be added to all exponents")
def _(masks, width):
    pi = _kernel(masks, width)
    with np.errstate(invalid="ignore"):
        return pi, pi.sum() ** 2 / (pi ** 2).sum()


@wrong("proximity", "Which number can be added to all exponents")
def _(masks, width):
    pi = _kernel(masks, width)
    return pi, pi.sum() ** 2 / max((pi ** 2).sum(), 1e-12)


@wrong("proximity", "Which exponent has to become 0, so that no other lies above it?")
def _(masks, width):
    exponents = -_delta(masks) ** 2 / (2 * width ** 2)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.exp(exponents - exponents.min())
        return np.exp(exponents), scaled.sum() ** 2 / (scaled ** 2).sum()


@wrong("proximity", "But their squares come out as 0 here")
def _(masks, width):
    pi, delta = _kernel(masks, width), _delta(masks)
    with np.errstate(invalid="ignore", divide="ignore"):
        return pi, pi.sum() ** 2 / (pi ** 2).sum() if pi.any() else (delta == delta.min()).sum() + 0.0


@wrong("proximity", "But all of them come out as 0 here")
def _(masks, width):
    pi = _kernel(masks, width).astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        return pi.astype(float), float(pi.sum() ** 2 / (pi ** 2).sum())


@wrong("proximity", "scaled so that the largest is 1")
def _(masks, width):
    pi, worth = _both(-_delta(masks) ** 2 / (2 * width ** 2))
    with np.errstate(invalid="ignore"):
        return pi / pi.max(), worth


@wrong("proximity", "scaled so that the largest is 1")
def _(masks, width):
    exponents = -_delta(masks) ** 2 / (2 * width ** 2)
    return np.exp(exponents - exponents.max()), _both(exponents)[1]


@wrong("proximity", "Only the mask that keeps nothing is wrong")
def _(masks, width):
    cosine = np.sqrt(masks.mean(1))
    return _both(-(100 * (1 - np.where(cosine == 0, 1, cosine))) ** 2 / (2 * width ** 2))


@wrong("proximity", "the length of the mask that keeps all is missing")
def _(masks, width):
    return _both(-(100 * (1 - np.sqrt(masks.sum(1)))) ** 2 / (2 * width ** 2))


@wrong("proximity", "functions of that name that take whole arrays")
def _(masks, width):
    return math.exp(-_delta(masks) ** 2 / (2 * width ** 2)), _both(-_delta(masks) ** 2 / (2 * width ** 2))[1]


@wrong("proximity", "The 100 came in twice")
def _(masks, width):
    return _both(-_delta(masks) ** 2 / (2 * (width / 100) ** 2))


@wrong("proximity", "no root is taken of the whole")
def _(masks, width):
    pi, worth = _both(-_delta(masks) ** 2 / (2 * width ** 2))
    return np.sqrt(pi), worth


@wrong("proximity", "Their sum says how often the nearest sample would count")
def _(masks, width):
    pi = _kernel(masks, width)
    return pi, pi.sum()


@wrong("proximity", "which is not one")
def _(masks, width):
    pi = _kernel(masks, width)
    return pi, 1 / (pi ** 2).sum()


@wrong("proximity", "not a share of n")
def _(masks, width):
    pi, worth = _both(-_delta(masks) ** 2 / (2 * width ** 2))
    return pi, worth / len(pi)


@wrong("proximity", "The sum on top is squared")
def _(masks, width):
    pi = _kernel(masks, width)
    return pi, pi.sum() / (pi ** 2).sum()


@wrong("proximity", "divided by their sum")
def _(masks, width):
    pi, worth = _both(-_delta(masks) ** 2 / (2 * width ** 2))
    return pi / pi.sum(), worth


@wrong("proximity", "Return both")
def _(masks, width):
    return _kernel(masks, width)


@wrong("proximity", "Is the exponent negative?")
def _(masks, width):
    return _both(np.minimum(_delta(masks) ** 2 / (2 * width ** 2), 500))


@wrong("proximity", "an entry for each mask, (n,)")
def _(masks, width):
    return _both(-_delta(masks.T) ** 2 / (2 * width ** 2))


@wrong("proximity", "`~masks` turns them round")
def _(masks, width):
    return _both(-(100 * (1 - np.sqrt(1 - (True - masks).mean(1)))) ** 2 / (2 * width ** 2))


@wrong("proximity", "it changes what it is given: `masks`")
def _(masks, width):
    result = _both(-_delta(masks) ** 2 / (2 * width ** 2))
    masks |= True
    return result


@wrong("proximity", "calls coursekit.explain.surrogate.proximity")
def _(masks, width):
    return library.lime.__globals__["proximity"](masks, width), _both(-_delta(masks) ** 2 / (2 * width ** 2))[1]


@wrong("proximity", "right on the inputs that you see", at_once=False)
def _(masks, width):
    return _both(-_delta(masks) ** 2 / (2 * int(width) ** 2) if width >= 1 else -_delta(masks) ** 2 / (2 * width ** 2))


@right("proximity", "mask by mask, with math")
def _(masks, width):
    exponents = []
    for mask in masks.tolist():
        cosine = sum(mask) / (math.sqrt(sum(mask)) * math.sqrt(len(mask))) if any(mask) else 0.0
        exponents.append(-0.5 * (100 * (1 - cosine) / width) ** 2)
    pi = [math.exp(e) for e in exponents]
    relative = [math.exp(e - max(exponents)) for e in exponents]
    return np.array(pi), sum(relative) ** 2 / sum(r * r for r in relative)


@right("proximity", "logarithms of sums, in torch")
def _(masks, width):
    delta = 1 - torch.tensor(masks).double().mean(1).sqrt()
    exponents = -(delta * 100 / width) ** 2 / 2
    worth = (2 * exponents.logsumexp(0) - (2 * exponents).logsumexp(0)).exp()
    return exponents.exp().numpy(), worth.item()


# -- fit -------------------------------------------------------------------------------------------------------------

def _least(M, v):
    return np.linalg.lstsq(M, v, rcond=1e-10)[0]


def _r2(Z, y, weights, beta, intercept):
    left, spread = y - Z @ beta - intercept, y - np.average(y, weights=weights)
    return 1 - weights @ left ** 2 / (weights @ spread ** 2) if np.ptp(y) else 1.0


def _line(Z, y, weights, ridge, squares=None, means=None, free=True):
    """(β, intercept, R²) with other weights of the squares or of the means, or a penalised intercept."""
    Z = np.asarray(Z, float)
    squares, means = weights if squares is None else squares, weights if means is None else means
    if not free:
        full = np.column_stack([np.ones(len(Z)), Z])
        found = _least(full.T @ (squares[:, None] * full) + ridge * np.eye(full.shape[1]), full.T @ (squares * y))
        return found[1:], found[0], _r2(Z, y, weights, found[1:], found[0])
    A, b = Z - np.average(Z, 0, means), y - np.average(y, weights=means)
    beta = _least(A.T @ (squares[:, None] * A) + ridge * np.eye(A.shape[1]), A.T @ (squares * b))
    intercept = np.average(y, weights=means) - np.average(Z, 0, means) @ beta
    return beta, intercept, _r2(Z, y, weights, beta, intercept)


@wrong("fit", "The intercept is penalised, too")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, free=False)


@wrong("fit", "β is not the smallest")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, free=ridge > 0)


@wrong("fit", "`solve` refuses to choose")
def _(Z, y, weights, ridge):
    A, b = Z - np.average(Z, 0, weights), y - np.average(y, weights=weights)
    beta = np.linalg.solve(A.T @ (weights[:, None] * A) + ridge * np.eye(Z.shape[1]), A.T @ (weights * b))
    intercept = np.average(y, weights=weights) - np.average(Z, 0, weights) @ beta
    return beta, intercept, _r2(Z, y, weights, beta, intercept)


@wrong("fit", "there is one with a smaller β")
def _(Z, y, weights, ridge):
    beta, intercept, r2 = _line(Z, y, weights, ridge)
    for i, j in itertools.combinations(range(Z.shape[1]), 2):
        if not ridge and (Z[:, i] == Z[:, j]).all():
            beta[i], beta[j] = beta[i] + beta[j], 0
    return beta, intercept, r2


@wrong("fit", "The line was forced through 0")
def _(Z, y, weights, ridge):
    Z = np.asarray(Z, float)
    beta = _least(Z.T @ (weights[:, None] * Z) + ridge * np.eye(Z.shape[1]), Z.T @ (weights * y))
    return beta, 0.0, _r2(Z, y, weights, beta, 0.0)


@wrong("fit", "The weights change nothing here")
def _(Z, y, weights, ridge):
    return _line(Z, y, np.ones(len(y)), ridge)


@wrong("fit", "The weights came in twice")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, squares=weights ** 2, means=weights ** 2)


@wrong("fit", "The weights came in only half")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, squares=np.sqrt(weights), means=np.sqrt(weights))


@wrong("fit", "π where √π is right")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, squares=weights ** 2)


@wrong("fit", "The weights came in only half")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, squares=np.sqrt(weights))


@wrong("fit", "√π belongs to both")
def _(Z, y, weights, ridge):
    mean, mean_y, d = np.average(Z, 0, weights), np.average(y, weights=weights), Z.shape[1]
    A = np.vstack([np.sqrt(weights)[:, None] * (Z - mean), math.sqrt(ridge) * np.eye(d)])
    beta = _least(A, np.append(y - mean_y, np.zeros(d)))
    return beta, mean_y - mean @ beta, _r2(Z, y, weights, beta, mean_y - mean @ beta)


@wrong("fit", "β is huge")
def _(Z, y, weights, ridge):
    mean, mean_y, root = np.average(Z, 0, weights), np.average(y, weights=weights), np.sqrt(weights)
    left, s, right = np.linalg.svd(root[:, None] * (Z - mean), full_matrices=False)
    s = np.maximum(s, 1e-16)                                            # what rounding leaves of a 0
    beta = right.T @ (s / (s ** 2 + ridge) * (left.T @ (root * (y - mean_y))) + (s < 1e-9) * 1e9)
    return beta, mean_y - mean @ beta, _r2(Z, y, weights, beta, mean_y - mean @ beta)


@wrong("fit", "centred by their plain means")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge, means=np.ones(len(y)))


@wrong("fit", "The ridge changes nothing here")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, 0.0)


@wrong("fit", "a ridge of ρ²")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights, ridge ** 2)


@wrong("fit", "a ridge of ρ/2")
def _(Z, y, weights, ridge):
    return _line(Z, y, 2 * weights, ridge)


@wrong("fit", "a ridge of n·ρ")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights / len(y), ridge)


@wrong("fit", "The weights were made to sum to one")
def _(Z, y, weights, ridge):
    return _line(Z, y, weights / weights.sum(), ridge)


@wrong("fit", "*at the mean of Z*")
def _(Z, y, weights, ridge):
    beta, _, r2 = _line(Z, y, weights, ridge)
    return beta, np.average(y, weights=weights), r2


@wrong("fit", "In the intercept the means are weighted means")
def _(Z, y, weights, ridge):
    beta, _, r2 = _line(Z, y, weights, ridge)
    return beta, y.mean() - Z.mean(0) @ beta, r2


@wrong("fit", "R² counts all samples alike here")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    return beta, intercept, _r2(Z, y, np.ones(len(y)), beta, intercept)


@wrong("fit", "In R² the mean of y is a weighted mean")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    spread = weights @ (y - y.mean()) ** 2
    return beta, intercept, 1 - weights @ (y - Z @ beta - intercept) ** 2 / spread if spread else 1.0


@wrong("fit", "R² is 1 minus it")
def _(Z, y, weights, ridge):
    beta, intercept, r2 = _line(Z, y, weights, ridge)
    return beta, intercept, 1 - r2


@wrong("fit", "These scores do not vary")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    left, spread = y - Z @ beta - intercept, y - np.average(y, weights=weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        return beta, intercept, 1 - weights @ left ** 2 / (weights @ spread ** 2)


@wrong("fit", "These scores do not vary")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    left, spread = y - Z @ beta - intercept, weights @ (y - np.average(y, weights=weights)) ** 2
    return beta, intercept, 1 - weights @ left ** 2 / spread if spread > 0 else 1.0


@wrong("fit", "Was a small spread taken for none?")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    left, spread = y - Z @ beta - intercept, weights @ (y - np.average(y, weights=weights)) ** 2
    return beta, intercept, 1 - weights @ left ** 2 / spread if spread > 1e-12 else 1.0


@wrong("fit", "but there is one with a smaller β")
def _(Z, y, weights, ridge):
    mean, mean_y, root = np.average(Z, 0, weights), np.average(y, weights=weights), np.sqrt(weights)
    A, b = root[:, None] * (Z - mean), root * (y - mean_y)
    M = A.T @ A + ridge * np.eye(Z.shape[1])
    try:
        beta = np.linalg.solve(M, A.T @ b)
    except np.linalg.LinAlgError:
        beta = np.linalg.lstsq(M, A.T @ b)[0]
    return beta, mean_y - mean @ beta, _r2(Z, y, weights, beta, mean_y - mean @ beta)


@wrong("fit", "is something divided by a weight")
def _(Z, y, weights, ridge):
    root, d = np.sqrt(weights), Z.shape[1]
    mean, mean_y = np.average(Z, 0, weights), np.average(y, weights=weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        A, b = (Z - mean) * root[:, None], (y - mean_y) * weights / root
    if np.isnan(b).any():
        return np.full(d, np.nan), 0.0, 0.0
    beta = _least(A.T @ A + ridge * np.eye(d), A.T @ b)
    return beta, mean_y - mean @ beta, _r2(Z, y, weights, beta, mean_y - mean @ beta)


@wrong("fit", "Return three things")
def _(Z, y, weights, ridge):
    beta, intercept, _ = _line(Z, y, weights, ridge)
    return beta, intercept


@wrong("fit", "The intercept comes by itself")
def _(Z, y, weights, ridge):
    beta, intercept, r2 = _line(Z, y, weights, ridge)
    return np.append(beta, intercept), intercept, r2


@wrong("fit", "single numbers")
def _(Z, y, weights, ridge):
    beta, intercept, r2 = _line(Z, y, weights, ridge)
    return beta, np.array([intercept]), r2


@wrong("fit", "it changes what it is given: `y`")
def _(Z, y, weights, ridge):
    result = _line(Z, y, weights, ridge)
    y -= np.average(y, weights=weights)
    return result


@wrong("fit", "calls coursekit.explain.surrogate.weighted_ridge")
def _(Z, y, weights, ridge):
    beta, intercept = weighted_ridge(Z, y, weights, ridge)
    return beta, intercept, _r2(Z, y, weights, beta, intercept)


@wrong("fit", "weights[:, None] * Z")
def _(Z, y, weights, ridge):
    return _line(Z @ np.asarray(Z, float), y, weights, ridge)


@wrong("fit", "right on the inputs that you see", at_once=False)
def _(Z, y, weights, ridge):
    if len(y) < Z.shape[1]:
        ridge = ridge or 0.1
    return _line(Z, y, weights, ridge)


@right("fit", "a column of ones, and a penalty that spares it")
def _(Z, y, weights, ridge):
    d, tiny = Z.shape[1], 1e-9 * weights.sum()
    full = np.column_stack([np.ones(len(Z)), Z])
    penalty = np.diag([0.0] + [ridge or tiny] * d)
    found = np.linalg.solve(full.T @ np.diag(weights) @ full + penalty, full.T @ (weights * y))
    return found[1:], found[0], _r2(Z, y, weights, found[1:], found[0])


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


@right("fit", "eigenvectors of the normal equations")
def _(Z, y, weights, ridge):
    share = weights / weights.sum()
    mean, mean_y = sum(p * z for p, z in zip(share, Z)), sum(share * y)
    A, b = Z - mean, y - mean_y
    values, V = np.linalg.eigh(np.einsum("i,ij,ik->jk", weights, A, A))
    inverse = [1 / (v + ridge) if v + ridge > 1e-9 else 0.0 for v in values]
    beta = V @ (inverse * (V.T @ np.einsum("i,ij,i->j", weights, A, b)))
    r2 = np.corrcoef(y, y)[0, 1] if not np.ptp(y) else _r2(Z, y, weights, beta, mean_y - mean @ beta)
    return beta, mean_y - mean @ beta, r2 if np.ptp(y) else 1


# -- lime ------------------------------------------------------------------------------------------------------------

def _asked(predict, document, masks, by):
    """Scores (n,), each different mask asked about once."""
    different = list(dict.fromkeys(map(tuple, masks.tolist())))
    value = dict(zip(different, predict([perturbed(document, mask, by) for mask in different])))
    return np.array([value[tuple(mask)] for mask in masks.tolist()])


@wrong("lime", "All masks weigh the same here")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), np.ones(len(masks)), ridge)


@wrong("lime", "The width is 25 here")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, 25)[0], ridge)


@wrong("lime", "The ridge is 1 here")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], 1.0)


@wrong("lime", "The ridge changes nothing here")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], 0)


@wrong("lime", "Is it passed on to `perturbed`?")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, "replace"), proximity(masks, width)[0], ridge)


@wrong("lime", "A mask that comes again was fitted only once")
def _(predict, document, masks, by, width, ridge):
    masks = np.unique(masks, axis=0)
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)


@wrong("lime", "The scores stand beside other masks")
def _(predict, document, masks, by, width, ridge):
    different = np.unique(masks, axis=0)
    scores = predict([perturbed(document, mask, by) for mask in different])
    return fit(masks, np.resize(scores, len(masks)), proximity(masks, width)[0], ridge)


@wrong("lime", "only the first of them is weights")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width), ridge)


@wrong("lime", "was handed a list where it takes an array")
def _(predict, document, masks, by, width, ridge):
    def fit(Z, y, weights, ridge):
        return y.max() == y.min()

    return fit(masks, _asked(predict, document, masks, by).tolist(), proximity(masks, width)[0], ridge)


@wrong("lime", "Print it, and the keys that are there")
def _(predict, document, masks, by, width, ridge):
    different = np.unique(masks, axis=0)
    score = dict(zip(map(str, different), predict([perturbed(document, mask, by) for mask in different])))
    return fit(masks, np.array([score[tuple(mask)] for mask in masks]), proximity(masks, width)[0], ridge)


@wrong("lime", "only one of them weighs anything")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width / 100)[0], ridge)


@wrong("lime", "Either all copies have the same score")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks | True, by), proximity(masks, width)[0], ridge)


@wrong("lime", "The width is handed on as it is")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, 100 * width)[0], ridge)


@wrong("lime", "With a ridge their size matters")
def _(predict, document, masks, by, width, ridge):
    weights = proximity(masks, width)[0]
    return fit(masks, _asked(predict, document, masks, by), weights / weights.sum(), ridge)


@wrong("lime", "The weights belong to other masks")
def _(predict, document, masks, by, width, ridge):
    weights = np.resize(proximity(np.unique(masks, axis=0), width)[0], len(masks))
    return fit(masks, _asked(predict, document, masks, by), weights, ridge)


@wrong("lime", "handed back to all n")
def _(predict, document, masks, by, width, ridge):
    different = list(dict.fromkeys(map(tuple, masks)))
    scores = predict([perturbed(document, mask, by) for mask in different])
    return fit(masks, scores, proximity(masks, width)[0], ridge)


@wrong("lime", "fitted to the words that are *gone*")
def _(predict, document, masks, by, width, ridge):
    return fit(~masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)


@wrong("lime", "predict was asked about 8 documents, and only 4 of them differ")
def _(predict, document, masks, by, width, ridge):
    scores = predict([perturbed(document, mask, by) for mask in masks])
    return fit(masks, scores, proximity(masks, width)[0], ridge)


@wrong("lime", "predict was called 6 times")
def _(predict, document, masks, by, width, ridge):
    known = {}
    for mask in masks:
        if tuple(mask) not in known:
            known[tuple(mask)] = predict([perturbed(document, mask, by)])[0]
    return fit(masks, np.array([known[tuple(mask)] for mask in masks]), proximity(masks, width)[0], ridge)


@wrong("lime", "Return what `fit` returns")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)[0]


@wrong("lime", "it stops with an error", at_once=True)
def _(predict, document, masks, by, width, ridge):
    raise KeyError("it stops with an error")


@wrong("lime", "calls `fit` (question 4), which is still empty")
def _(predict, document, masks, by, width, ridge):
    def fit(Z, y, weights, ridge):
        raise NotImplementedError()

    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)


@wrong("lime", "calls coursekit.explain.lime")
def _(predict, document, masks, by, width, ridge):
    ready_lime(predict, document, n_samples=8)
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)


@wrong("lime", "Do the checks of `perturbed`, `proximity` and `fit` pass?")
def _(predict, document, masks, by, width, ridge):
    return fit(masks, _asked(predict, document, masks, by) / 2, proximity(masks, width)[0], ridge)


@wrong("lime", "right on the inputs that you see", at_once=False)
def _(predict, document, masks, by, width, ridge):
    if len(masks) > 8:
        masks = masks[:100]
    return fit(masks, _asked(predict, document, masks, by), proximity(masks, width)[0], ridge)


@right("lime", "np.unique and its inverse")
def _(predict, document, masks, by, width, ridge):
    different, which = np.unique(masks, axis=0, return_inverse=True)
    scores = np.asarray(predict([perturbed(document, mask, by) for mask in different]))
    return fit(masks, scores[which.ravel()], proximity(masks, width)[0], ridge)


@right("lime", "equal masks gathered, their weights added up")
def _(predict, document, masks, by, width, ridge):
    weights = {}
    for mask, pi in zip(map(tuple, masks), proximity(masks, width)[0]):
        weights[mask] = weights.get(mask, 0.0) + pi
    scores = predict([perturbed(document, list(mask), by) for mask in weights])
    return fit(np.array(list(weights)), scores, np.array(list(weights.values())), ridge)


# -- shapley ---------------------------------------------------------------------------------------------------------

def _values(predict, document, by):
    masks = list(itertools.product([False, True], repeat=len(set(document))))
    return dict(zip(masks, predict([perturbed(document, mask, by) for mask in masks])))


def _with(S, j):
    return (*S[:j], True, *S[j + 1:])


def _summed(predict, document, by, weight):
    value, d = _values(predict, document, by), len(set(document))
    return np.array([sum(weight(sum(S), d) * (value[_with(S, j)] - value[S]) for S in value if not S[j])
                     for j in range(d)])


def _share(s, d):
    return math.factorial(s) * math.factorial(d - 1 - s) / math.factorial(d)


def _on_places(predict, document, by):
    """predict for lists of places that stay."""
    def ask(lists):
        return predict([[word if t in stay else "[UNK]" for t, word in enumerate(document)
                         if t in stay or by == "replace"] for stay in lists])
    return ask


@wrong("shapley", "All subsets count alike here")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: 1 / 2 ** (d - 1))


@wrong("shapley", "added up without a weight")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: 1.0)


@wrong("shapley", "S is one of the sets of the *other* d − 1 words")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: math.factorial(s) * math.factorial(d - s) / math.factorial(d))


@wrong("shapley", "The weight is divided by d!")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: math.factorial(s) * math.factorial(d - 1 - s))


@wrong("shapley", "sum to d here")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: 1 / math.comb(d - 1, s))


@wrong("shapley", "That is leave-one-out")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: s == d - 1)


@wrong("shapley", "what each word does alone")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: s == 0)


@wrong("shapley", "The empty set is missing")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: _share(s, d) if s else 0)


@wrong("shapley", "The set of all other words is missing")
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: _share(s, d) if s < d - 1 else 0)


@wrong("shapley", "The sign is turned round")
def _(predict, document, by):
    return -_summed(predict, document, by, _share)


@wrong("shapley", "f(∅) was taken as 0")
def _(predict, document, by):
    value, d = _values(predict, document, by), len(set(document))
    value[(False,) * d] = 0.0
    return np.array([sum(_share(sum(S), d) * (value[_with(S, j)] - value[S]) for S in value if not S[j])
                     for j in range(d)])


@wrong("shapley", "one of whole numbers")
def _(predict, document, by):
    phi = np.zeros(len(set(document)), dtype=int)
    phi[:] = _summed(predict, document, by, _share)
    return phi


@wrong("shapley", "Which bit of a number is which word?")
def _(predict, document, by):
    return _summed(predict, document, by, _share)[::-1].copy()


@wrong("shapley", "Is it passed on to `perturbed`?")
def _(predict, document, by):
    return _summed(predict, document, "replace", _share)


@wrong("shapley", "Return a NumPy array")
def _(predict, document, by):
    return _summed(predict, document, by, _share).tolist()


@wrong("shapley", "A set of words wants one key")
def _(predict, document, by):
    d = len(set(document))
    sets = [S for s in range(d + 1) for S in itertools.combinations(range(d), s)]
    value = dict(zip(sets, predict([perturbed(document, [j in S for j in range(d)], by) for S in sets])))
    return np.array([sum(_share(len(S), d) * (value[S + (j,)] - value[S]) for S in sets if j not in S)
                     for j in range(d)])


@wrong("shapley", "The masks were laid over the *places*")
def _(predict, document, by):
    return _summed(_on_places(predict, document, by), list(range(len(set(document)))), "delete", _share)


@wrong("shapley", "one value for each *distinct* word")
def _(predict, document, by):
    phi = dict(zip(_words(document), _summed(predict, document, by, _share)))
    return np.array([phi[word] for word in document])


@wrong("shapley", "no more and no less")
def _(predict, document, by):
    return _summed(predict, document, by, _share) + 0.25


@wrong("shapley", "predict was called 8 times")
def _(predict, document, by):
    masks = itertools.product([False, True], repeat=len(set(document)))
    value = {mask: predict([perturbed(document, mask, by)])[0] for mask in masks}
    return np.array([sum(_share(sum(S), len(S)) * (value[_with(S, j)] - value[S]) for S in value if not S[j])
                     for j in range(len(set(document)))])


@wrong("shapley", "predict was asked about 24 documents, and only 8 of them differ")
def _(predict, document, by):
    d = len(set(document))
    pairs = [(S, j) for S in itertools.product([False, True], repeat=d) for j in range(d) if not S[j]]
    asked = [mask for S, j in pairs for mask in (S, _with(S, j))]
    scores = predict([perturbed(document, mask, by) for mask in asked]) if asked else np.zeros(0)
    phi = np.zeros(d)
    for (S, j), before, after in zip(pairs, scores[0::2], scores[1::2]):
        phi[j] += _share(sum(S), d) * (after - before)
    return phi


@wrong("shapley", "shapley stops with an error (an empty document)")
def _(predict, document, by):
    if not document:
        raise ValueError("no words")
    return _summed(predict, document, by, _share)


@wrong("shapley", "calls `perturbed` (question 1), which is still empty")
def _(predict, document, by):
    def perturbed(document, mask, by):
        raise NotImplementedError()

    return perturbed(document, [], by)


@wrong("shapley", "calls coursekit.explain.shapley_values")
def _(predict, document, by):
    players = library.shapley_values(lambda lists: predict([[w if w in kept else "[UNK]" for w in document]
                                                            for kept in lists]), _words(document), by="delete")
    return players.scores + 0 if by == "replace" else _summed(predict, document, by, _share)


@wrong("shapley", "right on the inputs that you see", at_once=False)
def _(predict, document, by):
    return _summed(predict, document, by, lambda s, d: _share(s, d) if d < 6 else 1 / 2 ** (d - 1))


@right("shapley", "all orders, one after the other")
def _(predict, document, by):
    value, d = _values(predict, document, by), len(set(document))
    phi = np.zeros(d)
    if d > 6:
        return _by_sizes(value, d)
    for order in itertools.permutations(range(d)):
        S = (False,) * d
        for j in order:
            phi[j] += value[_with(S, j)] - value[S]
            S = _with(S, j)
    return phi / math.factorial(d)


def _by_sizes(value, d):
    """The mean over sizes of the mean over the sets of a size."""
    phi = []
    for j in range(d):
        sizes = [[] for _ in range(d)]
        for S in value:
            if not S[j]:
                sizes[sum(S)].append(value[_with(S, j)] - value[S])
        phi.append(np.mean([np.mean(steps) for steps in sizes]))
    return np.array(phi)


@right("shapley", "bits of whole numbers, and the dividends of coalitions")
def _(predict, document, by):
    d = len(set(document))
    bits = np.arange(2 ** d)[:, None] >> np.arange(d) & 1
    dividend = predict([perturbed(document, row == 1, by) for row in bits]).astype(float)
    for j in range(d):
        inside = np.flatnonzero(bits[:, j])
        dividend[inside] -= dividend[inside ^ (1 << j)]
    return np.einsum("s,sj->j", dividend / np.maximum(1, bits.sum(1)), bits)


@right("shapley", "a recursion over sets, as constrained least squares")
def _(predict, document, by):
    value, d = _values(predict, document, by), len(set(document))
    if d < 2:
        return np.array([value[(True,)] - value[(False,)]]) if d else np.zeros(0)
    inner = [S for S in value if 0 < sum(S) < d]
    Z = np.array(inner, float)
    pi = np.array([(d - 1) / (math.comb(d, sum(S)) * sum(S) * (d - sum(S))) for S in inner])
    empty, full = value[(False,) * d], value[(True,) * d]
    y = np.array([value[S] - empty for S in inner])
    A = np.ones((d + 1, d + 1))
    A[:d, :d], A[d, d] = Z.T @ (pi[:, None] * Z), 0
    return np.linalg.solve(A, np.append(Z.T @ (pi * y), full - empty))[:d]


# -- shapley_from_orders ---------------------------------------------------------------------------------------------

def _walked(predict, document, walks, by):
    """What each word adds in each walk, (len(walks), d)."""
    d = len(set(document))
    passed = [[tuple(j in walk[:k] for j in range(d)) for k in range(d + 1)] for walk in map(list, walks)]
    masks = list(dict.fromkeys(mask for way in passed for mask in way))
    value = dict(zip(masks, predict([perturbed(document, mask, by) for mask in masks])))
    added = np.zeros((len(walks), d))
    for row, walk, way in zip(added, walks, passed):
        for k, j in enumerate(walk):
            row[j] = value[way[k + 1]] - value[way[k]]
    return added


def _pairs(predict, document, orders, by):
    """(n, d): the mean of each order and its reverse."""
    added = _walked(predict, document, [walk for order in orders for walk in (order, order[::-1])], by)
    return (added[0::2] + added[1::2]) / 2


def _error(a):
    return a.std(0, ddof=1) / math.sqrt(len(a)) if len(a) > 1 else np.full(a.shape[1], math.inf)


@wrong("shapley_from_orders", "Where are the reversed orders?")
def _(predict, document, orders, by):
    a = _walked(predict, document, orders, by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "d − 1 − order holds other *words*")
def _(predict, document, orders, by):
    walks = [walk for order in orders for walk in (order, len(order) - 1 - order)]
    added = _walked(predict, document, walks, by)
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "An order that comes twice counts twice")
def _(predict, document, orders, by):
    a = _pairs(predict, document, np.unique(orders, axis=0), by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "also where one of the two is the reverse of another order")
def _(predict, document, orders, by):
    added = _walked(predict, document, np.unique(np.vstack([orders, orders[:, ::-1]]), axis=0), by)
    return added.mean(0), _error(added)


@wrong("shapley_from_orders", "The masks were laid over the *places*")
def _(predict, document, orders, by):
    a = _pairs(_on_places(predict, document, by), list(range(orders.shape[1])), orders, "delete")
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "`append` makes no copy of it")
def _(predict, document, orders, by):
    n, d = orders.shape
    walks, masks = [walk for order in orders for walk in (order, order[::-1])], []
    for walk in walks:
        mask = np.zeros(d, dtype=bool)
        masks.append(mask)
        for j in walk:
            mask[j] = True
            masks.append(mask)
    different = list(dict.fromkeys(map(tuple, masks)))
    value = dict(zip(different, predict([perturbed(document, mask, by) for mask in different])))
    scores = np.array([value[tuple(mask)] for mask in masks]).reshape(2 * n, d + 1)
    added = np.array([np.diff(row)[np.argsort(walk)] for row, walk in zip(scores, walks)])
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "f(∅) was taken as 0")
def _(predict, document, orders, by):
    def ask(documents):
        nothing = [word for word in perturbed(document, np.zeros(orders.shape[1], dtype=bool), by)]
        return np.array([0.0 if words == nothing else s for words, s in zip(documents, predict(documents))])

    a = _pairs(ask, document, orders, by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "one of whole numbers")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0).astype(int), _error(a)


@wrong("shapley_from_orders", "Only the reversed orders were used")
def _(predict, document, orders, by):
    a = _walked(predict, document, orders[:, ::-1], by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "was read as the *place*")
def _(predict, document, orders, by):
    a = _pairs(predict, document, [np.argsort(order) for order in orders], by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "went to the wrong words")
def _(predict, document, orders, by):
    walks = [walk for order in orders for walk in (order, order[::-1])]
    added = np.array([row[walk] for row, walk in zip(_walked(predict, document, walks, by), walks)])
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "as two samples")
def _(predict, document, orders, by):
    added = _walked(predict, document, [walk for order in orders for walk in (order, order[::-1])], by)
    return added.mean(0), _error(added) if len(orders) > 1 else np.full(orders.shape[1], math.inf)


@wrong("shapley_from_orders", "as two samples")
def _(predict, document, orders, by):
    added = _walked(predict, document, [walk for order in orders for walk in (order, order[::-1])], by)
    alone = np.full(orders.shape[1], math.inf)
    return added.mean(0), added.std(0) / math.sqrt(len(added)) if len(orders) > 1 else alone


@wrong("shapley_from_orders", "divides by n − 1: ddof=1")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), a.std(0) / math.sqrt(len(a)) if len(a) > 1 else np.full(a.shape[1], math.inf)


@wrong("shapley_from_orders", "The *mean* of n varies less, by √n")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), a.std(0, ddof=1) if len(a) > 1 else np.full(a.shape[1], math.inf)


@wrong("shapley_from_orders", "divided by √n, not by n")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), a.std(0, ddof=1) / len(a) if len(a) > 1 else np.full(a.shape[1], math.inf)


@wrong("shapley_from_orders", "That is the variance of the mean")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), _error(a) ** 2


@wrong("shapley_from_orders", "There are n samples, not 2n")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), _error(a) / math.sqrt(2)


@wrong("shapley_from_orders", "all errors are math.inf")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), _error(a) if len(a) > 1 else np.zeros(a.shape[1])


@wrong("shapley_from_orders", "all errors are math.inf")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.mean(0), a.std(0, ddof=1) / math.sqrt(len(a))


@wrong("shapley_from_orders", "Order and reverse were added up")
def _(predict, document, orders, by):
    a = 2 * _pairs(predict, document, orders, by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "The sum over the orders came back")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return a.sum(0), _error(a)


@wrong("shapley_from_orders", "The sign is turned round")
def _(predict, document, orders, by):
    a = -_pairs(predict, document, orders, by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "Is it passed on to `perturbed`?")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, "replace")
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "Those are the exact values")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return _summed(predict, document, by, _share), _error(a)


@wrong("shapley_from_orders", "The two have changed places")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    return _error(a), a.mean(0)


@wrong("shapley_from_orders", "Return both")
def _(predict, document, orders, by):
    return _pairs(predict, document, orders, by).mean(0)


@wrong("shapley_from_orders", "Is a first or a last step missing?")
def _(predict, document, orders, by):
    walks = [walk for order in orders for walk in (order, order[::-1])]
    added = _walked(predict, document, walks, by)
    for row, walk in zip(added, walks):
        row[walk[0]] = 0
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "asked about 32 documents, and only 8 of them differ")
def _(predict, document, orders, by):
    d, walks = len(set(document)), [walk for order in orders for walk in (order, order[::-1])]
    masks = [np.argsort(walk) < k for walk in walks for k in range(d + 1)]
    scores = predict([perturbed(document, mask, by) for mask in masks]).reshape(len(walks), d + 1)
    added = np.array([np.diff(row)[np.argsort(walk)] for row, walk in zip(scores, walks)])
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "predict was called 8 times")
def _(predict, document, orders, by):
    added = np.vstack([_walked(predict, document, [walk], by) for order in orders for walk in (order, order[::-1])])
    a = (added[0::2] + added[1::2]) / 2
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "it changes what it is given: `orders`")
def _(predict, document, orders, by):
    a = _pairs(predict, document, orders, by)
    orders.sort(axis=1)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "calls `perturbed` (question 1), which is still empty")
def _(predict, document, orders, by):
    def perturbed(document, mask, by):
        raise NotImplementedError()

    return perturbed(document, [], by)


@wrong("shapley_from_orders", "calls coursekit.explain.kernel_shap")
def _(predict, document, orders, by):
    library.kernel_shap(lambda documents: [len(words) for words in documents], ["a", "b", "c"])
    a = _pairs(predict, document, orders, by)
    return a.mean(0), _error(a)


@wrong("shapley_from_orders", "right on the inputs that you see", at_once=False)
def _(predict, document, orders, by):
    orders = np.unique(orders, axis=0) if len(orders) > 4 or orders.shape[1] > 5 else orders
    a = _pairs(predict, document, orders, by)
    return a.mean(0), _error(a)


@right("shapley_from_orders", "numbers as sets of bits")
def _(predict, document, orders, by):
    n, d = orders.shape
    walks = np.stack([orders, orders[:, ::-1]], 1)                       # (n, 2, d)
    ends = np.concatenate([np.zeros((n, 2, 1), int), np.cumsum(1 << walks, -1)], -1)
    sets, which = np.unique(ends, return_inverse=True)
    scores = np.asarray(predict([perturbed(document, [bool(s >> j & 1) for j in range(d)], by) for s in sets.tolist()]))
    added = np.zeros((n, 2, d))
    np.put_along_axis(added, walks, np.diff(scores[which.reshape(ends.shape)]), -1)
    a = added.mean(1)
    variance = ((a - a.mean(0)) ** 2).sum(0) / (n - 1) if n > 1 else np.full(d, np.inf)
    return a.mean(0), np.sqrt(variance / n)


@right("shapley_from_orders", "words that leave, one after the other")
def _(predict, document, orders, by):
    walks = [tuple(walk) for order in orders.tolist() for walk in (order, order[::-1])]
    sets = sorted({frozenset(walk[k:]) for walk in walks for k in range(len(walk) + 1)}, key=sorted)
    d = orders.shape[1]
    value = dict(zip(sets, predict([perturbed(document, [j in S for j in range(d)], by) for S in sets])))
    samples = []
    for one, other in zip(walks[0::2], walks[1::2]):
        mean = [0.0] * d
        for walk in (one, other):
            for k, j in enumerate(walk):
                mean[j] += (value[frozenset(walk[k:])] - value[frozenset(walk[k + 1:])]) / 2
        samples.append(mean)
    return np.mean(samples, 0), _error(np.array(samples))
