"""A metric's number that also says what it cost: how many documents the model was asked about."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from math import prod
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch


class Measured(float):
    """A float with `calls`, the documents that a model scored for it, and `about`, what else the metric has to tell.

    It computes and prints as the float that it is; it can be copied and pickled.

    >>> cost = Measured(0.25, calls=6, threshold=0.1)
    >>> cost, cost + 1, cost.calls, cost.about
    (0.25, 1.25, 6, {'threshold': 0.1})
    """

    def __new__(cls, value, calls=0, **about):
        self = super().__new__(cls, value)
        self.calls, self.about = calls, about
        return self

    def __getnewargs_ex__(self):                                        # for copies and pickles
        return (float(self), self.calls), self.about


ROWS = {"predict": len, "from_embeddings": lambda e: prod(e.shape[:-2]), "trace": lambda e: prod(e.shape[:-2]),
        "attentions": lambda document: 1, "cls_attention": lambda document: 1, "head_terms": lambda document: 1}


@contextmanager
def counting(model_or_predict: Any) -> Iterator[tuple[Any, Any]]:
    """`with counting(model) as (model, counter)`: counter.calls is how many documents `model` is asked about inside.

    model_or_predict: a black or white box, whose methods are watched until the end of the block and which stays what it
    is (no copies of it should be made meanwhile), or a function, in whose place the one given back is to be called.
    Counted are the documents of predict and of the short cut masked_scores, the rows (…) of embeddings (…, T, d_e), and
    each document looked into (attentions, cls_attention, head_terms). A method that calls another counts once. A
    backward pass is not counted. Blocks may stand in one another.

    >>> with counting(lambda documents: [len(d) for d in documents]) as (predict, counter):
    ...     _ = predict([["good", "film"], ["film"]])
    >>> counter.calls
    2
    """
    counter = SimpleNamespace(calls=0, inside=False)

    def counted(method, rows):
        @wraps(method)
        def call(first, *rest, **more):
            if counter.inside:
                return method(first, *rest, **more)
            counter.calls, counter.inside = counter.calls + rows(first), True
            try:
                return method(first, *rest, **more)
            finally:
                counter.inside = False
        return call

    if not hasattr(model_or_predict, "predict"):
        yield (counted(model_or_predict, len) if callable(model_or_predict) else model_or_predict), counter
        return
    model = model_or_predict
    watched = {name: counted(getattr(model, name), rows) for name, rows in ROWS.items() if hasattr(model, name)}
    if hasattr(model, "masked_scores"):
        short_cut = model.masked_scores
        watched["masked_scores"] = lambda *asked: (score := short_cut(*asked)) and counted(score, len)
    with patch.multiple(model, **watched):
        yield model, counter
