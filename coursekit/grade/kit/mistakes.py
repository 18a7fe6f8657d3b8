"""Mistakes as answers: the words for the likeliest wrong ways, and what is done in them instead.

A mistake is a pair (words, what is done). What is done is a dictionary, the reference's knobs (arguments that it takes
by name only), or a function of what an answer is given. It is advice in the notebook, where a result is compared with
what the mistake would give, and an entry of the tests' bank, where it is handed in.
"""

import functools
import math

import numpy as np

from coursekit.grade.kit import services
from coursekit.grade.kit.same import kind, same

NAN = 4.25e17                           # a number that nothing else is


def as_answer(reference, instead):
    """The answer of somebody who makes this mistake."""
    return functools.partial(reference, **instead) if isinstance(instead, dict) else instead


def likeliest(mistakes, got, right, given, tolerance=None):
    """The words of the first mistake (words, answer) that gives what was got, and not what is right; None if none does.

    given: makes the arguments of an answer anew. Where results come in parts and no mistake gives all of them, the
    first part that is wrong decides.

    >>> mean = lambda x: sum(x) / len(x)
    >>> likeliest([("Divided by n − 1.", lambda x: sum(x) / (len(x) - 1))], 3.0, 2.0, lambda: ([1, 2, 3],))
    'Divided by n − 1.'
    """
    values = []
    for words, answer in mistakes:
        for value in _value(answer, given):
            if _alike(got, value, tolerance) and not same(right, value, tolerance):
                return words
            values.append((words, value))
    if type(got) not in (list, tuple) or type(right) is not tuple or len(got) != len(right):
        return None
    wrong = next((i for i, pair in enumerate(zip(got, right, strict=True)) if not same(*pair, tolerance)), None)
    for words, value in values:
        if wrong is not None and type(value) in (list, tuple) and len(value) == len(right) and (
                _alike(got[wrong], value[wrong], tolerance) and not same(right[wrong], value[wrong], tolerance)):
            return words
    return None


def _value(answer, given):
    """[what the mistaken answer gives]; [] where it cannot be made with these arguments."""
    try:
        return [services.run(answer, given())]
    except Exception:
        return []


def _alike(got, value, tolerance):
    """As `same`, where nan is like nan: many a mistake is known by where it puts one."""
    return same(_without_nan(got), _without_nan(value), tolerance)


def _without_nan(value):
    if type(value) in (list, tuple):
        return [_without_nan(entry) for entry in value]
    if kind(value) == "a tensor" and value.is_floating_point():
        return value.nan_to_num(NAN, math.inf, -math.inf)
    if kind(value) == "a NumPy array" and value.dtype.kind == "f":
        return np.nan_to_num(value, nan=NAN, posinf=np.inf, neginf=-np.inf)
    return NAN if kind(value) == "a number" and math.isnan(value) else value
