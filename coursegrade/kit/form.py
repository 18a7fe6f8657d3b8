"""The form of a question's results: how many there are, their names, and the names of their axes.

It is written as statements write it, `"output (T, d_e), A (K, T, T)"`; kinds, shapes and dtypes are those of what was
expected. What can be said of a wrong form needs nothing else, so that no question has to say it.
"""

import itertools
import re
from dataclasses import dataclass

from coursegrade.kit.same import kind, one_by_one, same

NUMBERS = ("two", "three", "four", "five", "six")
ARRAYS = ("a tensor", "a NumPy array")


@dataclass(frozen=True)
class Part:
    """One result: its name, "" if it has none, and the names of its axes, () if nothing is said of them."""

    name: str
    axes: tuple = ()

    def __str__(self):
        return " ".join(filter(None, [self.name, f"({', '.join(self.axes)}{',' * (len(self.axes) == 1)})"
                                      if self.axes else ""]))


def parts_of(returns):
    """The parts of a text such as "β (d,), the intercept, R²".

    >>> [str(part) for part in parts_of("β (d,), the intercept, R²")]
    ['β (d,)', 'the intercept', 'R²']
    """
    texts = re.split(r",\s*(?![^(]*\))", returns)                        # at commas outside of brackets
    found = [re.fullmatch(r"([^(]*?)\s*(?:\((.*)\))?", text.strip()) for text in texts]
    return tuple(Part(match[1], tuple(axis.strip() for axis in (match[2] or "").split(",") if axis.strip()))
                 for match in found)


def about_form(parts, got, expected):
    """What is wrong with the form of a result, in words; None if nothing is, or if it says itself (a list, no tensor).

    >>> about_form(parts_of("t, v, change"), (1, 4), (4, 1, 0.5))
    'Return three things: t, v, change.'
    >>> about_form(parts_of("t, v, change"), (1, 4, 0.5), (4, 1, 0.5))
    't and v have changed places: return t, v, change.'
    """
    if len(parts) == 1:                                                 # also of a question that says nothing of it
        return _about_one(parts[0], got, expected)
    if type(expected) not in (list, tuple):                             # None, for one: nothing was to be found
        return None
    due, got = ", ".join(map(str, parts)), one_by_one(got, expected)
    if type(got) not in (list, tuple) or len(got) != len(parts):
        return f"Return {dict(enumerate(NUMBERS, 2)).get(len(parts), len(parts))} things: {due}."
    for order in itertools.permutations(range(len(parts))):
        moved = [i for i, place in enumerate(order) if i != place]
        if moved and not same(got, expected) and all(same(got[i], expected[place]) for i, place in enumerate(order)):
            names = [parts[i].name for i in moved]
            return f"{', '.join(names[:-1])} and {names[-1]} have changed places: return {due}."
    return next(filter(None, (_about_one(*entry) for entry in zip(parts, got, expected, strict=True))), None)


def about_kind(parts, got, expected):
    """Said of one kind of thing in the place of another; None if it may stand there, or is no slip of a type.

    >>> about_kind(parts_of("free"), 0.5, [1]), about_kind(parts_of("x, y"), (1, 2.5), (1, 3))
    ('`free` is a number, and a list is due.', '`y` is a number, and a whole number is due.')
    """
    if len(parts) > 1:
        return next(filter(None, (about_kind([part], *pair) for part, *pair in zip(parts, got, expected, strict=True))),
                    None)
    stand_in = {"a number": ("a whole number", *ARRAYS), "a whole number": ("an enormous whole number", *ARRAYS),
                "a list": ("a tuple",), "a tuple": ("a list", "a NumPy array")}
    found, due = kind(got), kind(expected)
    if found == due or "None" in (found, due) or due in ARRAYS or found in stand_in.get(due, ()):
        return None
    return f"{_the(parts[0])} is {found}, and {due} is due."


def _about_one(part, got, expected):
    if kind(expected) in ARRAYS and type(got) is tuple and any(kind(entry) in ARRAYS for entry in got):
        return "Several results came back where one is due: which of them is asked for?"
    if kind(expected) == "a NumPy array" and type(got) in (list, tuple):
        return f"{_the(part)} is a NumPy array: np.array(…) makes one of a list."
    if kind(expected) in ARRAYS and kind(got) in ARRAYS and kind(got) != kind(expected):
        make = "torch.as_tensor(…)" if kind(expected) == "a tensor" else "np.asarray(…)"
        return f"{_the(part)} is {kind(expected)}: {make} makes one of {kind(got)}."
    if kind(expected) in ("a number", "a whole number") and kind(got) in ARRAYS and got.shape:
        return f"A single number is due{_of(part)}."
    if kind(expected) not in ARRAYS or kind(got) != kind(expected):
        return None
    shape, due = tuple(got.shape), tuple(expected.shape)
    if shape != due:
        return _about_shape(part, got, expected, shape, due)
    dtypes = [str(array.dtype).removeprefix("torch.") for array in (got, expected)]
    if dtypes[0] != dtypes[1]:
        return (f"{_the(part)} has the dtype {dtypes[0]}, and {dtypes[1]} is due here. Does a constant, or an array or "
                "tensor that you make, need a dtype (dtype=…, or that of what came in)?")
    return None


def _about_shape(part, got, expected, shape, due):
    axes = part.axes if len(part.axes) == len(due) and "..." not in part.axes else ()
    wanted = f"({', '.join(axes)}) = {due}" if len(axes) > 1 else str(due)
    if len(shape) == len(due) and sorted(shape) == sorted(due):
        orders = itertools.permutations(range(len(due)))
        if any(tuple(got.shape[i] for i in order) == due and same(_turned(got, order), expected) for order in orders):
            return f"The numbers are right. Its axes stand in another order: {wanted} is due{_of(part)}."
        return f"{_the(part)} has the shape {shape}, and {wanted} is due: is something transposed?"
    extra = [i for i in range(len(shape)) if shape[:i] + shape[i + 1:] == due]
    if extra:
        return (f"{_the(part)} has an axis too many, of length {shape[extra[0]]}: its shape is {shape}, and {wanted} "
                "is due.")
    missing = [i for i in range(len(due)) if due[:i] + due[i + 1:] == shape]
    if missing:
        name = f" ({axes[missing[0]]})" if axes else ""
        return f"{_the(part)} has the shape {shape}: an axis{name} is missing, {wanted} is due."
    wrong = [i for i, pair in enumerate(zip(shape, due, strict=False)) if pair[0] != pair[1]]
    if len(shape) == len(due) and axes and len(wrong) == 1:
        i = wrong[0]
        return f"{_the(part)} has length {shape[i]} along axis {i}, where {axes[i]} = {due[i]} is due."
    return f"{_the(part)} has the shape {shape}, and {wanted} is due."


def _turned(array, order):
    return array.permute(order) if kind(array) == "a tensor" else array.transpose(order)


def _of(part):
    return f" for {_the(part)}" if part.name else ""


def _the(part):
    return f"`{part.name}`" if re.fullmatch(r"\w+", part.name) else part.name or "The result"
