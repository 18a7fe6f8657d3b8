"""Checks of assignment 07 on perturbed documents, and on what the score loses when a word goes."""

import numpy as np

from coursekit.grade.kit.same import kind, same

from .black_box import UNK, boxed, game, mistaken, on_boxes, other, perturb, score, thrifty, words_of

__all__ = ["perturbed", "leave_one_out"]


# -- perturbed -------------------------------------------------------------------------------------------------------

FOOD = ["food", "Food", "food", ",", "bad", "mood", ",", "good"]         # 6 distinct words
WAY = ["no", "no", "not", "no", "way"]


def _mask(*kept):
    return np.array(kept, dtype=bool)


@on_boxes((1, 1), {"replace": (FOOD, _mask(1, 0, 0, 1, 0, 0), "replace"),
                   "delete": (FOOD, _mask(1, 0, 0, 0, 1, 0), "delete"),
                   "delete, the same word in a row": (WAY, _mask(0, 1, 0), "delete"),
                   "delete, and [UNK] is a word": ([UNK, "film", UNK, "!"], _mask(1, 0, 1), "delete"),
                   "replace, and [UNK] is a word": (["a", UNK, "film", UNK, "!"], _mask(1, 0, 0, 1), "replace"),
                   "nothing is kept, replace": (WAY, _mask(0, 0, 0), "replace"),
                   "nothing is kept, delete": (WAY, _mask(0, 0, 0), "delete"),
                   "a tuple as mask": (FOOD, (True, False, True, True, False, False), "delete"),
                   "an empty document": ([], _mask(), "replace")},
          instead="a loop over the words",
          hints={r"^.*: .*a tuple": "The mask is a tuple here, and this line does with it what only arrays can do. "
                                    "np.array(mask, dtype=bool) makes an array of either kind.",
                 "IndexError": "The mask has an entry for each distinct *word*, and the document more places than "
                               "that.",
                 "scalar index": "A list takes one number in its brackets, no array. zip walks over words and mask "
                                 "together.",
                 "'set' object": "A set has no order, so nothing in it has a number. dict.fromkeys keeps each word "
                                 "once, in order.",
                 "endless": f"(Here {UNK} is a word of the document: what waits until no {UNK} is left waits for ever "
                            f"if it puts {UNK} there.)"})
def perturbed(document, mask, by):
    """perturbed(document, mask, by): a copy of the document in which the words that go are replaced or deleted."""
    return perturb(document, mask, by)


@perturbed.suspect
def _(got, document, mask, by):
    if kind(got) == "a string":
        return "Return a list of tokens, not one string: models read tokens."
    kinds = {kind(word) for word in got} if type(got) in (list, tuple) else {kind(got)}
    if kinds & {"a NumPy array", "a ndarray", "a str_"}:
        return "Return a plain list of Python's strings: `.tolist()` makes one of a NumPy array."
    if type(got) not in (list, tuple):
        return "Return a list of tokens."
    if "None" in kinds:
        return f"A word that is replaced becomes the token {UNK}, a string."
    right, words = perturb(document, mask, by), words_of(document)
    gone = [word for word, kept in zip(words, mask) if not kept]
    first = [word in gone and word not in document[:t] for t, word in enumerate(document)]
    places = [word if kept else UNK for word, kept in zip(document, mask)]
    kept_places, rest = [word for word, kept in zip(document, mask) if kept], document[len(mask):]
    skipped = list(document)
    for word in skipped:                                                # as `for …: if …: remove` does
        if word in gone:
            skipped.remove(word)
    by_place = ("The mask was laid over the *places* of the document. It has an entry for each distinct word, and what "
                "it says holds for all occurrences of that word.")
    once = "Only the first occurrence of a word went. When a word goes, it goes wherever it stands."
    replaced_first = [word for word in perturb(document, mask, "replace") if word != UNK]
    own = [word for word in words if word != UNK]
    text = " ".join(document)
    for word in gone:
        text = text.replace(word, UNK if by == "replace" else "")
    only_arrays = [
        (list(document), "Nothing went here. The mask is a tuple, which does not compute entry by entry as arrays do: "
                         "`mask == False` is one False."),
        (perturb(document, [False] * len(mask), by),
         "Every word went. The mask is a tuple of Python's True and False here: `~True` is −2, which counts as true, "
         "nothing is np.True_, and brackets pick no words by a tuple. `not kept` works with all masks; "
         "np.array(mask, dtype=bool) makes an array of any.")]
    return mistaken(got, right, [
        *(only_arrays if type(mask) is tuple else []),
        (perturb(document, mask, other(by)), f"`by` is {by!r} here: \"replace\" puts {UNK} in the place of a word, "
                                             "\"delete\" takes it out."),
        (perturb(document, [not kept for kept in mask], by), "The wrong words went. True in the mask means that a word "
                                                             "is *kept*."),
        *((wrong, by_place) for wrong in (places, places + rest, kept_places, kept_places + rest)),
        ([UNK if goes else word for word, goes in zip(document, first)], once),
        ([word for word, goes in zip(document, first) if not goes], once),
        (skipped, "Some occurrences were skipped: while a loop runs over a list, `remove` moves the rest up. Build a "
                  "new list of what stays."),
        (replaced_first if by == "delete" else right, f"This document has a word {UNK} of its own, which is kept here. "
         f"(Was everything that goes replaced first, and then every {UNK} deleted?)"),
        *((perturb(document, mask, by, list_), f"{UNK} is a word of this document, with an entry of its own in the "
                                               "mask.") for list_ in (own, own + [UNK])),
        *((wrong, "Words are compared to the letter: *Food* is not *food*. Was something made lower-case?")
          for wrong in _lowered(document, mask, by)),
        (text.split(), "A word was found inside another one. Compare whole tokens: a text forgets where they end."),
        (list(document), "Nothing went here. (NumPy's False is not Python's: `not kept` asks, `kept is False` never is "
                         "true.)"),
        (words_of(right), "Each token came back once. The copy has all occurrences of the words that stay.")]
    ) or _other_words(got, document, gone, by)


def _lowered(document, mask, by):
    """The copies in which the words were numbered, or compared, in small letters."""
    small = [word.lower() for word in document]
    for words, seen in ((words_of(small), document), (words_of(small), small), (words_of(document), small)):
        off = {word for word, kept in zip(words, mask) if not kept}
        off |= {word.lower() for word in off} if seen is small else set()
        pairs = [(word, name in off) for word, name in zip(document, seen)]
        yield [UNK if goes else word for word, goes in pairs if by == "replace" or not goes]


def _other_words(got, document, gone, by):
    """What is wrong if as many words went as should, but others; or if only the order is wrong."""
    words = words_of(document)
    went = [word for word in words if got.count(word) < document.count(word)]
    if len(went) == len(gone) and list(got) == perturb(document, [word not in went for word in words], by):
        return ("As many words went as should, but other ones. Entry j of the mask belongs to the j-th distinct word, "
                "by *first* occurrence: not by the alphabet, nor by last occurrence, nor as a set has them, which has "
                "no order. (dict.fromkeys keeps it.)")
    if sorted(got) == sorted(perturb(document, [word not in gone for word in words], by)):
        return "The right tokens are there, in another order. (A set has no order; a list, or dict.fromkeys, has.)"
    return None


# -- leave_one_out ---------------------------------------------------------------------------------------------------

VIEW = {"": 0.5, "good": 2.0, "not good": -3.25, "film": 0.25, UNK: 0.125}
CLASSES = [{"good": 1.0, "#": 0.25}, {"": 0.5, "bad good": -2.0}, {"bad": 1.5, UNK: -0.25}]


@on_boxes((1, 2), {"replace": (VIEW, ["the", "film", "is", "not", "good"], "replace"),
                   "a word that occurs twice": ({"bad": -2.0, "film": 0.75}, ["bad", "film", ",", "bad"], "replace"),
                   "delete": ({"#": 0.5, "bad": -1.25, UNK: 4.0}, ["bad", "film", ",", "bad"], "delete"),
                   "three classes": (CLASSES, ["bad", "good", "bad", "bad"], "replace"),
                   "one word": ({"": 1.0, "good": 0.5}, ["good"], "delete"),
                   "an empty document": ({"": 1.0}, [], "replace")},
          prepare=boxed, instead="`perturbed` and one call of predict",
          also=thrifty(lambda box, document, by: 1 + len(words_of(document)),
                       "It takes the document itself, and a copy for each distinct word."),
          uses=lambda box, document, by: [(perturbed, (document, mask, by)) for mask in _one_less(document)],
          hints={r"^three classes.*\n.*\n.*(length-1|0-dim|element with a sequence|scalar)":
                 "This model has three classes: a score is a row of three numbers here, no single number, and the "
                 "result is (d, 3). NumPy subtracts rows as well.",
                 "ufunc 'invert'": "`~` turns True and False round, and np.eye(d) holds decimals. It can be told to "
                                   "make booleans.",
                 "shapes": "predict returns one score for each document, or a row of C scores: what is the shape of "
                           "scores[1:]?"})
def leave_one_out(predict, document, by):
    """leave_one_out(predict, document, by): f(x) − f(x without the word) for each distinct word, an array."""
    scores = game(predict, document, by)(_one_less(document))
    return scores[0] - scores[1:]


def _one_less(document):
    """Masks (d + 1, d): all words, then all but each."""
    d = len(words_of(document))
    return np.vstack([np.ones(d, bool), ~np.eye(d, dtype=bool)])


def _by_place(box, document, by):
    without = [document[:t] + ([UNK] if by == "replace" else []) + document[t + 1:] for t in range(len(document))]
    scores = score(box, [document, *without])
    return scores[0] - scores[1:]


@leave_one_out.suspect
def _(got, predict, document, by):
    if kind(got) in ("a list", "a tuple"):
        return "Return a NumPy array: np.array(…) makes one of a list."
    if kind(got) == "a dictionary":
        return "Return the values alone, as an array, in the order of the words."
    if kind(got) != "a NumPy array":
        return "Return a NumPy array with an entry for each distinct word."
    words, f = words_of(document), game(predict, document, by)
    d, right = len(words), leave_one_out.__wrapped__(predict, document, by)
    scores = f(_one_less(document))
    alone, nothing = f(np.eye(d, dtype=bool)) if d else scores[1:], f(np.zeros((1, d), bool))
    by_place = _by_place(predict, document, by)
    if found := mistaken(got, right, [
            (-right, "The sign is turned round: f(x) − f(x without the word). A word that speaks *for* the score gets "
                     "a plus."),
            (by_place, "Only one place went at a time. Here a *word* goes, and with it all its occurrences; the result "
                       "has an entry for each distinct word."),
            (by_place[[document.index(word) for word in words]],
             "Only the first occurrence of a word went. When a word goes, it goes wherever it stands."),
            (leave_one_out.__wrapped__(predict, document, other(by)), f"`by` is {by!r} here. Is it passed on to "
                                                                      "`perturbed`?"),
            (scores[1:], "Those are the scores of the copies. How much *less* is each than the score of the document?"),
            (scores, "Those are all scores, that of the document first. Asked for are the differences."),
            (alone - nothing, "Here only one word was *kept* at a time. One word goes, and all others stay."),
            (scores[0] - alone, "Here only one word was *kept* at a time. One word goes, and all others stay."),
            (abs(right), "The sign is lost. A word that speaks against the score gets a minus."),
            (right.T, "The result is transposed: a row for each word, a column for each class.")]):
        return found
    if got.shape == (*right.shape, 1):
        return "There is an axis too many: predict([document]) is an array with one score in it."
    if got.shape == right.shape and same(np.sort(got, 0), np.sort(right, 0)):
        return "The right values are there, in another order. (A set has no order; dict.fromkeys keeps the first one.)"
    if right.ndim == 2 and got.ndim == 1:
        return "This model has several classes: predict returns (n, C), and the result is (d, C)."
    if got.ndim and len(got) == len(document) != d:
        return "There is an entry for each place. Asked for is one for each *distinct* word."
    return None
