"""Values as people can read them, of types that are known to be harmless."""

import re
import sys
import textwrap
import types

import numpy as np

from coursegrade.kit.messages import named
from coursegrade.kit.same import kind

LONGEST = 400       # characters of a value that a message shows
LONG_NUMBER = re.compile(r"-?\d+\.\d{12,}(?:e[+-]\d+)?")              # 0.25 is shown, not 0.2500000000000003


def described(value):
    """An argument of a case as a message shows it; of a function the first line of its docstring, if it has one."""
    if type(value) is types.FunctionType and value.__doc__:
        return value.__doc__.partition("\n")[0]
    return shown(value)


def shown(value):
    """A value as a message shows it: data as Python writes it, cut when long; everything else by its kind alone."""
    numbers = kind(value) == "a NumPy array" and value.dtype.kind in "fiu"
    tiny = numbers and 0 < np.abs(value).max(initial=0) < 1e-4
    with np.printoptions(precision=5, suppress=not tiny, legacy="1.25"):    # 0.5, neither 5e-01 nor np.float64(0.5)
        return _shown(value)


def _shown(value):
    if kind(value) == "a tensor":
        torch = sys.modules["torch"]
        return shortened(torch._tensor_str._str(value.detach()) if value.numel() <= 60 else
                         f"a tensor of shape {tuple(value.shape)}, dtype {str(value.dtype).removeprefix('torch.')}")
    if type(value) is set and value and all(type(entry) is str for entry in value):
        return shortened("{" + ", ".join(map(repr, sorted(value))) + "}")   # the same order each time
    if type(value) in (list, tuple) and value and {kind(entry) for entry in value} <= {"a tensor", "a NumPy array"}:
        return shortened("\n".join(named(f"[{i}]", _shown(entry)) for i, entry in enumerate(value)))
    if not is_data(value):
        return kind(value).partition(" (")[0]
    text = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.12g}", repr(value))
    if len(text) > LONGEST and kind(value) == "a dictionary" and {kind(w) for w in dict.values(value)} == {"a tensor"}:
        text = "tensors: " + ", ".join(f"{key!r} {tuple(w.shape)}" for key, w in dict.items(value))
        return textwrap.fill(shortened(text), 88)
    return shortened(text)


def is_data(value, depth=8):
    """Is it, to the bottom, of types whose `repr` is Python's or torch's own?"""
    if type(value) in (list, tuple, set, frozenset):
        return depth > 0 and all(is_data(entry, depth - 1) for entry in value)
    if kind(value) == "a dictionary":
        return depth > 0 and all(is_data(entry, depth - 1) for pair in dict.items(value) for entry in pair)
    return kind(value) in ("None", "a string", "True or False", "a whole number", "a number", "a tensor",
                           "a NumPy array")


def shortened(text):
    """The text, cut in the middle if it is long, between two words where there are any."""
    if len(text) <= LONGEST:
        return text
    head, tail = re.sub(r"(?<=\s)\S{,60}$", "", text[:LONGEST - 60]), re.sub(r"^\S{,40}(?=\s)", "", text[-50:])
    return f"{head.rstrip()} […] {tail.lstrip()}"
