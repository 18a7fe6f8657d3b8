"""What may be asked of a function that is lent: what the calling question's own reference asks of it on the same case.

A reference that answered anything would be an oracle: `quarter` could ask a lent `half` for what half's hidden tests
expect. So each argument must be one that was asked there, or came back there, or belongs to the case itself; or a piece
of such a value, a row of a matrix say, since people cut their loops differently. And whoever asks for anything else has
asked for the last time, and is not helped: else one could try until a question is answered, and know what to ask.

    >>> known = Known([["ab", "c"], [0.5, 1.25]])
    >>> "c" in known, [1.25] in known, [1.26] in known, ["c"] in known
    (True, True, False, False)
"""

import contextlib
import functools
import inspect

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from coursegrade.kit import services
from coursegrade.kit.same import kind

# Tolerances, for what was computed; whole numbers are what they are.
NEAR = (1e-3, 1e-4)     # relative, absolute: of arrays of one shape, which an answer may have computed in another order
PIECE = 1e-5            # of single numbers, which come from anywhere in the arrays


def asked(question, lenders, arguments):
    """What the question's reference asks of those of `lenders` (other questions) on a case: a `Known`."""
    given, values, beside = question._given(arguments), [*services.copies(arguments)], question.reference.__globals__
    with contextlib.ExitStack() as stack, contextlib.suppress(Exception):
        for other in lenders:
            stack.callback(setattr, other, "reference", other.reference)
            if beside.get(other.name) is other.reference:               # it is called by its name, as in the notebook
                stack.callback(beside.__setitem__, other.name, other.reference)
                beside[other.name] = _noting(other.reference, values)
            other.reference = _noting(other.reference, values)
        services.run(question.reference, given)
    if question.uses:
        values += [value for _, called_with in question.uses(*services.copies(arguments)) for value in called_with]
    return Known(values)


def only(function, known, free=()):
    """The function, for arguments that are known; `services.NotAsked` for others. free: names of parameters that may be
    anything, such as an axis."""
    offered = inspect.signature(function)

    @functools.wraps(function)
    def answer(*args, **kwargs):
        for name, value in offered.bind(*args, **kwargs).arguments.items():
            if name not in free and value not in known:
                raise services.NotAsked(f"it is lent for what is asked of it here, and `{name}` is something else")
        return function(*args, **kwargs)

    return answer


class Known:
    """Values of which pieces may be asked: `value in known`."""

    def __init__(self, values):
        self.texts, self.arrays, self.exactly = set(), [], set()        # the last: keys of the arrays, quick to look up
        for value in values:
            self._add(value)
        numbers = [array[np.isfinite(array)] for array in self.arrays]
        self.numbers = np.unique(np.concatenate([part for part in numbers if (part != part.round()).any()] or [[]]))

    def __contains__(self, value):
        if value is None or isinstance(value, (bool, np.bool_)):
            return True
        if (array := _array(value)) is not None:
            return _key(array) in self.exactly or self._made_of_numbers(array) or (
                any(_part_of(array, other) for other in self.arrays))
        if (text := _text(value)) is None and isinstance(value, (list, tuple, set, dict)):
            counts = value.values() if isinstance(value, dict) else ()              # {word: how often}
            return all(part in self for part in value) and all(
                type(count) is int or count in self for count in counts)
        return text in self.texts

    def _add(self, value):
        if (text := _text(value)) is not None:
            self.texts.add(text)
        if (array := _array(value)) is not None:
            if (key := _key(array)) not in self.exactly:
                self.arrays.append(array)
                self.exactly.add(key)
        elif isinstance(value, dict):
            self._add([*value, *value.values()])
        elif isinstance(value, (list, tuple, set)):
            for part in value:
                self._add(part)

    def _made_of_numbers(self, array):
        """Does each of its numbers stand somewhere in the known arrays, but for 0 and what is not finite?"""
        wanted = array[np.isfinite(array) & (array != 0)]
        if array.size > sum(other.size for other in self.arrays):
            return False
        if not len(wanted):
            return any((other == 0).any() for other in self.arrays)
        if not len(self.numbers):
            return False
        at = np.searchsorted(self.numbers, wanted)
        near = np.minimum(*(np.abs(self.numbers[np.clip(at - left, 0, len(self.numbers) - 1)] - wanted)
                            for left in (0, 1)))
        return bool((near <= PIECE * (array.dtype.kind == "f") * (1 + np.abs(wanted))).all())


def _noting(reference, values):
    @functools.wraps(reference)
    def noted(*args, **kwargs):
        result = reference(*args, **kwargs)
        values.extend([*services.copies(args), result])
        return result

    return noted


def _array(value):
    """Real numbers, in any container, as an array; None for anything else."""
    if kind(value) == "a tensor":
        value = value.detach().double().numpy() if value.is_floating_point() else value.numpy()
    elif isinstance(value, (list, tuple)):
        if not value or any(isinstance(part, (str, dict, set)) for part in value):
            return None
    elif not isinstance(value, (np.ndarray, bool, int, float, np.number)):
        return None
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        array = np.array(value)
        return array if array.dtype.kind in "bifu" else None
    return None


def _key(array):
    return array.shape, array.tobytes()


def _part_of(array, other):
    """Is it the other one, or turned, or one of its rows or columns, or, of floating-point numbers, a stretch of one?
    A row may come as a table of one row."""
    parts = [other, other.T, *(other if other.ndim > 1 else ()), *(other.T if other.ndim == 2 else ())]
    near = NEAR if array.dtype.kind == "f" else (0, 0)
    if array.shape[:1] == (1,) and array.ndim > 1:
        array = array[0]
    if any(part.shape == array.shape and np.allclose(array, part, *near, equal_nan=True) for part in parts):
        return True
    lines = [other, other.T] if other.ndim == 2 else [other[None]] if other.ndim == 1 else []
    return array.ndim == 1 and array.dtype.kind == "f" and any(
        np.isclose(sliding_window_view(table, len(array), 1), array, *near, equal_nan=True).all(-1).any()
        for table in lines if table.shape[1] >= len(array) > 0)


def _text(value):
    """A text, or several as a tuple; None for anything else."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return tuple(value)
    return value if isinstance(value, (str, bytes)) else None
