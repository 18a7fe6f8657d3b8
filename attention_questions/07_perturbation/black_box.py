"""Black boxes for assignment 07, so small that everything about them can be worked out by hand, and what its questions
have in common.

A box is a table such as {"": 0.5, "good": 1.0, "not good": -3.0, "#": 0.25}: it adds 0.5 always, 1.0 if *good* is
there, −3.0 if *not* is there and *good* somewhere after it, and 0.25 for each token. A list of tables is a box with a
score for each class. A whole number is a box that gives every document a score of its own, the same each time.
What an answer gets in its place is a function, `predict(documents)`, that writes down what it was asked.
"""

import hashlib

from attention_questions.prelude import CheckFailed, kind, np, services

from . import solution

UNK = "[UNK]"
TURNED = "The sign is turned round: the score with the word, minus the score without it."
PASSED_ON = ("Replaced where deleting is asked for, or the other way round: is `by` passed on to `perturbed`?",
             'mask, by) → mask, "delete" if by == "replace" else "replace")')       # a mistake of three questions
ALWAYS = [(f"Words go by \"{way}\" here, whatever `by` says: pass it on to `perturbed`.",
           f'mask, by) → mask, "{way}")') for way in ("replace", "delete")]
LIBRARY = tuple(f"coursekit.explain.{name}" for name in (
    "evaluate_masks", "leave_one_out", "lime", "surrogate.proximity", "surrogate.weighted_ridge", "kernel_shap",
    "shapley_values"))


# -- boxes and documents ---------------------------------------------------------------------------------------------

def rows(*texts):
    """Masks from texts such as "101": 1 where a word is kept."""
    return np.array([[letter == "1" for letter in text] for text in texts])


def score(box, documents):
    """Scores (n,), or (n, C) for a list of boxes."""
    if type(box) is list:
        return np.stack([score(table, documents) for table in box], 1)
    return np.array([_drawn(box, document) if type(box) is int else _added(box, document) for document in documents])


def scores_of(box, document, masks, by):
    """Scores (n,) of the copies that masks (n, d) make of a document."""
    return score(box, [solution.perturbed(document, mask, by) for mask in masks])


def either(masks):
    """The masks (n, d) as arrays, and as tuples of Python's True and False."""
    return [*masks, *map(tuple, masks.tolist())]


def _added(table, document):
    def there(phrase):
        rest = iter(document)
        return all(word in rest for word in phrase.split())             # one behind the other

    return float(sum(value * (len(document) if phrase == "#" else there(phrase)) for phrase, value in table.items()))


def _drawn(seed, document):
    digest = hashlib.sha256("\n".join([str(seed), *document]).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2 ** 30 - 2              # between −2 and 2


def _read(documents):
    """Documents as lists of lists of strings, whatever arrays they came as; ValueError if they are none."""
    def plain(thing):
        if type(thing) in (list, tuple):
            return [plain(entry) for entry in thing]
        return thing if type(thing) is str else thing.tolist()          # an array, or a stand-in for one

    wanted = "predict takes a list of documents, each a list of strings"
    try:
        found = plain(documents)
    except AttributeError:
        inside = type(documents) in (list, tuple)
        raise ValueError(f"{wanted}; {'in it is something else' if inside else 'it got ' + kind(documents)}") from None
    if type(found) is not list or any(type(document) is str for document in found):
        raise ValueError("predict takes a list of documents, each a list of tokens, and got a list of strings. Is it a "
                         "single document, predict([document])? Or are the tokens of each joined to one string?")
    if any(type(document) is not list or any(type(word) is not str for word in document) for document in found):
        raise ValueError(f"{wanted}; in it is something else")
    return found


def as_predict(box, read=_read):
    """predict(documents) of a box; predict.calls has the documents of each call."""
    def predict(documents):
        documents = read(documents)
        predict.calls.append(documents)
        return score(box, documents)

    predict.calls = []
    return predict


def boxed(box, *others):
    """Arguments of an answer, with the box turned into its function."""
    return as_predict(box), *others


def thrifty(most, why):
    """For `also`: a function (answer, arguments) that raises CheckFailed unless one call of predict, with at most
    most(*arguments) documents and none of them twice, was enough."""
    def look(answer, arguments):
        given = boxed(*arguments)
        services.run(answer, given)
        calls, enough = given[0].calls, most(*arguments)
        if len(calls) > 1:
            raise CheckFailed(f"predict was called {len(calls)} times. Make the list of all copies first, and ask for "
                              "their scores in one call: a model reads many documents at once much faster than one by "
                              "one.")
        asked = [tuple(document) for document in calls[0]] if calls else []
        if len(asked) > len(set(asked)):
            raise CheckFailed(f"predict was asked about {len(asked)} documents, and only {len(set(asked))} of them "
                              f"differ. {why}")
        if len(asked) > enough:
            raise CheckFailed(f"predict was asked about {len(asked)} documents, and {enough} are enough. {why}")

    return look
