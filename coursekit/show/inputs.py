"""Reading what people pass in: plain arrays of finite numbers, lists of strings, or one clear line of complaint."""

import numpy as np


def whole(value, name, least=0):
    """`value` as an int. Raises ValueError in one line if it is no whole number or below `least`.

    >>> whole(np.int64(3), "n_samples", 2)
    3
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {_short(value)}")
    return value.__index__()


def numbers(values, name, shape):
    """`values` as a float64 array of the given shape, in which None stands for any size.

    Lists, numpy arrays and torch tensors (detached, any dtype, any device) are read.
    Raises ValueError in one line if it is not an array of finite real numbers with this shape.

    >>> numbers([[1, 2]], "A", (None, 2))
    array([[1., 2.]])
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USMmc":                     # text, dates and complex numbers convert, but are no scores
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {_short(values)}") from None
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape))
    if not fits:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where if len(where) > 1 else where[0]}")
    return array


def strings(values, name):
    """`values` as a list of strings. Raises TypeError in one line for a single string or for anything else."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, got the single string {_short(values)}: split it first")
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings, got {_short(values)}") from None
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a list of strings, got {_short(value)} at index {i}")
    return [str(value) for value in values]


def scored(tokens, scores):
    """(tokens, scores) as a list of strings and an array of the same length, or one clear line."""
    tokens = strings(tokens, "tokens")
    scores = numbers(scores, "scores", (None,))
    if len(tokens) != len(scores):
        raise ValueError(f"every token needs one score: got {len(tokens)} tokens and {len(scores)} scores")
    return tokens, scores


def number(value):
    """A score as people read it: three significant digits and its sign.

    >>> number(0.42), number(-1.23456e-5), number(0)
    ('+0.42', '-1.23e-05', '0')
    """
    return f"{value:+.3g}" if value else "0"


def _short(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 40 else text[:37] + "..."
