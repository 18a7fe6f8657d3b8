"""Mistakes as answers: the words for the likeliest wrong ways, and what is done in them instead.

A mistake is (words, what is done). What is done is a function of what an answer is given; or one edit or several of the
reference's source, "old → new", each of a text that stands there once. It is advice in the notebook, where a result is
compared with what the mistake would give, and an entry of the tests' bank, where it is handed in.
"""

import ast
import functools
import inspect
import math
import textwrap

import numpy as np

from coursegrade.kit import services
from coursegrade.kit.same import kind, same

NAN = 4.25e17                           # a number that nothing else is
ASKED = "On this input your result is that of a slip that is often made. Is it yours? {}"


def as_answer(reference, *instead):
    """The answer of somebody who makes this mistake. Raises ValueError, in one line, for an edit that does not apply.

    >>> as_answer(textwrap.shorten, "w.fill( → len(")("Once, twice   and again.", 12)
    22
    >>> as_answer(textwrap.shorten, "width → 9")
    Traceback (most recent call last):
    ValueError: the edit 'width → 9' of shorten: 'width' stands 3 times in its source, and should once
    """
    if not isinstance(instead[0], str):
        return instead[0]
    source = _source(reference)
    for edit in instead:
        old, _, new = edit.partition(" →")
        if source.count(old) != 1:
            raise ValueError(f"the edit {edit!r} of {reference.__name__}: {old!r} stands {source.count(old)} times in "
                             "its source, and should once")
        source = source.replace(old, new.removeprefix(" "))
    names = dict(reference.__globals__)
    exec(compile(source, f"<{reference.__name__}, edited: {instead}>", "exec"), names)
    return names[reference.__name__]


@functools.cache
def _source(function):
    """The source of a function, without decorators and docstring."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    tree = ast.parse("".join(lines)).body[0]
    begin = tree.body[0].end_lineno if ast.get_docstring(tree) else tree.body[0].lineno - 1
    return "".join([*lines[tree.lineno - 1:tree.body[0].lineno - 1], *lines[begin:]])


def likeliest(mistakes, got, right, given, tolerance=None, others=list):
    """The words of the mistake (words, answer) behind a result that is not right, as a question unless it is proved;
    None if none gives it.

    given: makes the arguments of an answer anew. others: makes [(result, what makes its arguments, is it right?)] of
    other cases. A mistake must give what was right there; that which gives most of the results is the likeliest. It is
    none if it gives less than half of them, and proved if it gives all, one at least.
    Where results come in parts and a mistake does not give all of them, those up to the first wrong one decide.

    >>> mean = lambda x: sum(x) / len(x)
    >>> slips = [("The largest.", max), ("Divided by n − 1.", lambda x: sum(x) / (len(x) - 1))]
    >>> likeliest(slips, 3.0, 2.0, lambda: ([1.0, 2.0, 3.0],))
    'On this input your result is that of a slip that is often made. Is it yours? The largest.'
    >>> likeliest(slips, 3.0, 2.0, lambda: ([1.0, 2.0, 3.0],), others=lambda: [(8.0, lambda: ([3.0, 5.0],), False)])
    'Divided by n − 1.'
    """
    found = [(words, answer, upto) for words, answer in mistakes for value in _value(answer, given)
             if (upto := _agrees_up_to(got, right, value, tolerance)) != 0]
    if not found:
        return None
    cases, best = others(), None
    for words, answer, upto in found:
        fits = [_gives(answer, upto, *case[:2], tolerance) for case in cases]
        spoken_against = any(right and not fit for fit, (*_, right) in zip(fits, cases, strict=True))
        rank = sum(fits), upto is None
        if not spoken_against and 2 * sum(fits) >= len(cases) and (best is None or rank > best[0]):
            best = rank, words if all(fits) and cases else ASKED.format(words)
    return best and best[1]


def _agrees_up_to(got, right, value, tolerance):
    """How many parts of a mistake's value are what was got, up to the first that is not right: None as a whole, else
    their number, 0 if they are not."""
    if _alike(got, value, tolerance) and not same(right, value, tolerance):
        return None
    if type(got) not in (list, tuple) or type(right) is not tuple or len(got) != len(right):
        return 0
    wrong = next((i for i, pair in enumerate(zip(got, right, strict=True)) if not same(*pair, tolerance)), None)
    if wrong is None or type(value) not in (list, tuple) or len(value) != len(right) or (
            same(right[wrong], value[wrong], tolerance)):
        return 0
    return (wrong + 1) * _alike([*got[:wrong + 1]], [*value[:wrong + 1]], tolerance)


def _gives(answer, upto, got, given, tolerance):
    """Does a mistake give what was got in another case, up to this part?"""
    for value in _value(answer, given):
        if upto and type(got) in (list, tuple) and type(value) in (list, tuple):
            got, value = [*got[:upto]], [*value[:upto]]
        return _alike(got, value, tolerance)
    return False


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
