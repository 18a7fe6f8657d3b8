"""How a model is asked: what counts as a black box, what a white box must have, which tokens are read, what the scores
are, and how documents are asked about: each different one once, so many at a time.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import update_wrapper
from inspect import unwrap
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from tqdm.auto import tqdm

from coursekit.inputs import as_scores, as_strings
from coursekit.models.protocols import Predicts

from .attribution import Attribution

CHUNK = 256                     # documents that a model sees at a time: bounds the memory


def predictor(model_or_predict):
    """The function predict(documents) of a black box: an object that has one, or the function itself. TypeError for
    anything else, also for an estimator of scikit-learn, whose `predict` takes texts and gives labels, for a network
    that takes numbers, and for a model of transformers or a tokenizer without the other.

    >>> predictor(len) is len
    True
    """
    name = type(model_or_predict).__name__
    if hasattr(model_or_predict, "predict_proba") or hasattr(model_or_predict, "get_params"):
        raise TypeError(f"predict of {name} takes texts and gives labels or numbers, as in sklearn: "
                        "coursekit.own.own_model(model) makes a black box of it, or pass a function of lists of words")
    for part, does in ("get_input_embeddings", "reads numbers, not tokens"), ("convert_tokens_to_ids", "has no scores"):
        if hasattr(model_or_predict, part):
            raise TypeError(f"{name} of transformers {does}: "
                            "coursekit.own.own_model(model, tokenizer) makes of both what can be explained")
    predict = getattr(model_or_predict, "predict", model_or_predict)
    if not callable(predict) or predict is model_or_predict and isinstance(predict, torch.nn.Module):
        raise TypeError("a black box is a model with predict(documents), which are lists of words, or such a function, "
                        f"got {name}")
    return predict


def require_methods(model, *names, explainer,
                    instead="use a method that only calls predict, such as lime or kernel_shap"):
    """TypeError, in one line that ends in what to do instead, unless `model` has all these methods, which
    `coursekit.models.protocols` describes.

    >>> require_methods("a model?", "trace", explainer="rollout")         # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: rollout looks inside the model and needs trace; str has no trace: use a method that only calls ...
    """
    missing = [name for name in names if not hasattr(model, name)]
    if missing:
        name = type(getattr(model, "box", model)).__name__ + (f" ({model.family})" if hasattr(model, "family") else "")
        raise TypeError(f"{explainer} looks inside the model and needs {', '.join(names)}; {name} has no "
                        f"{', '.join(missing)}: {instead}")


def read_as(model_or_predict):
    """What a black box says that its scores are, in `gives`, or None: "log-odds" of two classes or logits of C, one of
    which is true (every white box that says nothing else), "probability", "multi-label": logits (n, C) of labels of
    which each is true or not by itself, or "regression": numbers that are not about classes at all.

    >>> read_as(len) is None
    True
    """
    model = _teller(model_or_predict)
    return getattr(model, "gives", "log-odds" if hasattr(model, "from_embeddings") else None)


def labels_of(model_or_predict):
    """The names of a model's classes in their order, which it says in `labels`; of one that says nothing, ().

    >>> labels_of(len)
    ()
    """
    return tuple(getattr(_teller(model_or_predict), "labels", ()))


def _teller(model_or_predict):
    """Who says what a black box is: what watches a function is what it watches, a method its model."""
    model = unwrap(model_or_predict)
    return getattr(model, "__self__", model)


def read_tokens(model_or_predict, document):
    """The document as a list of its tokens, without those that a white box does not read, for it cuts long ones.

    >>> from types import SimpleNamespace
    >>> read_tokens(SimpleNamespace(own=lambda document: [0, 1], tokens=lambda document: document[:2]), ["a", "b", "c"])
    ['a', 'b']
    """
    document = as_strings(document, "a document")
    if not hasattr(model_or_predict, "own"):
        return document
    tokens = model_or_predict.tokens(document)
    return [tokens[row] for row in model_or_predict.own(document)]


def of_own_tokens(model, document, scores, method, target=None, about=(), signed=True):
    """The Attribution of a document's own tokens, from the scores (T,) of all that a white box reads, as a tensor or an
    array: what special tokens and padding have is left out.

    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2])
    >>> of_own_tokens(model, ["good", "film"], np.array([7, 2, 1]), "by hand")
    by hand: good(+2) film(+1)
    """
    own, tokens = model.own(document), model.tokens(document)
    return Attribution([tokens[i] for i in own], scores[own], method, target, dict(about), signed)


def pick_class(scores, target, model=None) -> tuple[Any, int | None]:
    """(scores (n,) of one class, its number): from scores (n,), or (n, 1), with target None, or (n, C) with target or
    the class that row 0 scores highest. target may also be one of the model's `labels`, of a single score the last,
    which it speaks for. ValueError, in one line, where the two do not fit.

    >>> pick_class(np.array([[1.0, 3.0], [2.0, 0.0]]), None)               # row 0 is for class 1
    (array([3., 0.]), 1)
    """
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if isinstance(target, str):
        target = _number(target, labels_of(model), scores.ndim == 1)
    if scores.ndim == 1:
        if target is not None:
            raise ValueError(f"target={target!r}: this model gives a document one score: there is no class "
                             "to choose. Of two, positive scores speak for the second, negative ones for the first")
        return scores, None
    C = scores.shape[1]
    target = int(scores[0].argmax()) if target is None else target
    if isinstance(target, bool) or not hasattr(target, "__index__") or target not in range(C):
        raise ValueError(f"target must be a class from 0 to {C - 1}, got {target!r}")
    return scores[:, target], target


def _number(name, labels, single):
    """The number of the class of this name, None of a single score."""
    if name not in labels:
        raise ValueError(f"target={name!r}: this model's labels are {', '.join(labels)}" if labels else
                         f"target={name!r}: this model names no labels (in `labels`): say the number of a class")
    if single and name != labels[-1]:
        raise ValueError(f"target={name!r}: this model gives a document one score, which speaks for {labels[-1]!r}: "
                         f"what speaks for {name!r} has the other sign")
    return None if single else labels.index(name)


def asked(predict, documents):
    """Scores (n,) or (n, C) of n documents by a function of a black box, checked."""
    try:
        scores = predict(documents)
    except (AttributeError, TypeError, ValueError) as error:
        if re.search(r"\b(list|str|string|text)", str(error), re.IGNORECASE):
            error.add_note("a black box gets documents, lists of words: for a function of whole texts pass "
                           "lambda documents: f([' '.join(words) for words in documents])")
        raise
    return as_scores(scores, "what predict returns", len(documents))


def in_chunks(score, things, progress=False, what="documents", chunk=CHUNK):
    """Scores (n,) or (n, C) of n things by a function that takes at most `chunk` of them at once.

    >>> in_chunks(lambda things: 10.0 * things, np.arange(3), chunk=2)
    array([ 0., 10., 20.])
    """
    scores = []
    with tqdm(total=len(things), disable=not progress, desc=what, unit="document") as bar:
        for start in range(0, len(things), chunk):
            scores.append(score(things[start:start + chunk]))
            bar.update(len(scores[-1]))
    return np.concatenate(scores)


def each_once(score, keys, progress=False, what="documents"):
    """The same by score(places), which is asked about the first alone of those with equal keys.

    >>> each_once(lambda places: 10.0 * places, ["a", "b", "a"])
    array([ 0., 10.,  0.])
    """
    different = {}
    inverse = [different.setdefault(key, len(different)) for key in keys]
    return in_chunks(score, np.unique(inverse, return_index=True)[1], progress, what)[inverse]


def scores_of(model_or_predict, documents, progress=False):
    """Scores (n,) or (n, C) of documents by a black box, which sees equal ones once.

    >>> scores_of(lambda documents: [len(d) for d in documents], [["a"], ["a", "b"], ["a"]])
    array([1., 2., 1.])
    """
    predict, documents = predictor(model_or_predict), [tuple(document) for document in documents]
    return each_once(lambda places: asked(predict, [list(documents[i]) for i in places]), documents, progress)


@contextmanager
def remembering(model_or_predict: Predicts) -> Iterator[Any]:
    """`with remembering(model) as model`: inside, `predict` is asked about no document twice.

    The neighbours of a document, masked, are often the document, masked: where the swapped word is away.

    >>> asked = []
    >>> with remembering(lambda documents: [asked.append(d) or len(d) for d in documents]) as predict:
    ...     _ = predict([["good"], ["film"], ["good"]]), predict([["film"]])
    >>> asked
    [['good'], ['film']]
    """
    predict, scores = predictor(model_or_predict), {}

    def remembered(documents):
        if new := [document for document in documents if tuple(document) not in scores]:
            scores.update(zip(map(tuple, new), scores_of(predict, new), strict=True))
        return np.array([scores[tuple(document)] for document in documents])

    if not hasattr(model_or_predict, "predict"):
        yield update_wrapper(remembered, predict, assigned=())           # what it says of itself, such as `gives`
        return
    with patch.object(model_or_predict, "predict", remembered):
        yield model_or_predict
