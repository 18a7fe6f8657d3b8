"""What functions take, and the one line they answer with when they are given something else.

`as_…` reads what people pass in and returns it in one form, or raises a TypeError or ValueError that says what was
wrong, what was expected and, where it can, what to do. `format_score` and `plural` are the way back: numbers as people
read them. All rooms may use this file; it loads nothing, NumPy only with the first array.
"""

import reprlib

Document = list[str]                        # its tokens

__all__ = ["Document", "as_array", "as_labels", "as_scored", "as_scores", "as_strings", "as_text", "as_texts",
           "as_tokens", "as_weights", "as_whole", "format_score", "plural"]


def as_text(text):
    """`text` itself if it is a string, else TypeError."""
    if not isinstance(text, str):
        raise TypeError(f"expected one text (a string), got {type(text).__name__} {reprlib.repr(text)}: "
                        "for several texts call once for each")
    return text


def as_texts(texts):
    """The texts to train on as a list of strings; else TypeError, or ValueError if there is nothing in them."""
    if isinstance(texts, str):
        raise TypeError("expected a list of texts, got one string: write train([text], vocab_size)")
    try:
        texts = list(texts)
    except TypeError:
        raise TypeError(f"expected a list of texts (strings), got {type(texts).__name__}") from None
    for text in texts:
        as_text(text)
    if not any(texts):
        raise ValueError("nothing to learn from: texts is empty, or holds only empty strings; give at least one text")
    return texts


def as_tokens(tokens):
    """The tokens as a list; TypeError for a single string, which is a text that nobody has cut yet.

    >>> as_tokens(("a", "b"))
    ['a', 'b']
    """
    if isinstance(tokens, str):
        raise TypeError("expected a list of tokens, got one string: tokenize(text) makes the list")
    return list(tokens)


def as_strings(values, name):
    """`values` as a list of strings. Raises TypeError in one line for a single string or for anything else.

    >>> as_strings("film", "tokens")
    Traceback (most recent call last):
    TypeError: tokens must be a list of strings, got the single string 'film': split it first
    """
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, got the single string {_short(values)}: split it first")
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings, got {_short(values)}") from None
    if set(map(type, values)) <= {str}:
        return values
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a list of strings, got {_short(value)} at index {i}")
    return [str(value) for value in values]


def as_whole(value, name, least=0):
    """`value` as an int. Raises ValueError in one line if it is no whole number or below `least`.

    >>> as_whole(3, "n_samples", 2)
    3
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {_short(value)}")
    return value.__index__()


def as_array(values, name, shape):
    """`values` as a float64 array of the given shape, in which None stands for any size.

    Lists, numpy arrays and torch tensors (detached, any dtype, any device) are read.
    Raises ValueError in one line if it is not an array of finite real numbers with this shape.

    >>> as_array([[1, 2]], "A", (None, 2))
    array([[1., 2.]])
    """
    import numpy as np

    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USMmc":                     # text, dates and complex numbers convert, but are no scores
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {_short(values)}") from None
    same = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not same:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where if len(where) > 1 else where[0]}")
    return array


def as_weights(A, shape):
    """Attention weights A as an array of the given shape, as from `as_array`: not empty, and none below zero.

    >>> as_weights([[0.9, 0.1]], (None, 2))
    array([[0.9, 0.1]])
    """
    A = as_array(A, "A", shape)
    if not A.size:
        raise ValueError(f"A must hold at least one weight, got shape {A.shape}")
    if A.min() < 0:
        raise ValueError(f"A must hold attention weights, which are not negative, got {A.min():.3g}")
    return A


def as_scores(values, name, n):
    """`values` as the scores of n documents, an array (n,), or (n, C) of C classes; ValueError as from `as_array`.

    One column (n, 1), as a network with one output gives it, is a score for each document (n,), and no class.

    >>> as_scores([[1, 2, 3]], "scores", 1).shape, as_scores([[1], [2]], "scores", 2)
    ((1, 3), array([1., 2.]))
    """
    import numpy as np

    scores = as_array(values, name, (n, None)[:max(1, np.ndim(values))])
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def as_labels(labels, n):
    """The labels of n documents, 0 or 1, as an array (n,) of floats; ValueError unless both are there.

    >>> as_labels([1, 0, 1], 3)
    array([1., 0., 1.])
    """
    import numpy as np

    y = np.array(labels)
    if y.shape != (n,) or {*y.tolist()} != {0, 1}:
        raise ValueError(f"expected a label for each document, 0 or 1, both there, got {len(y)} for {n}")
    return y.astype(float)


def as_scored(tokens, scores):
    """(tokens, scores) as a list of strings and an array of the same length, or one clear line.

    >>> as_scored(["good", "film"], [2, 1])
    (['good', 'film'], array([2., 1.]))
    """
    tokens = as_strings(tokens, "tokens")
    scores = as_array(scores, "scores", (None,))
    if len(tokens) != len(scores):
        raise ValueError(f"every token needs one score: got {len(tokens)} tokens and {len(scores)} scores")
    return tokens, scores


def format_score(value):
    """A score as people read it: three significant digits and its sign.

    >>> format_score(0.42), format_score(-1.23456e-5), format_score(0)
    ('+0.42', '-1.23e-05', '0')
    """
    return f"{value:+.3g}" if value else "0"


def plural(n, noun):
    """A number and its noun.

    >>> plural(1, "row"), plural(3, "row"), plural(2, "query")
    ('1 row', '3 rows', '2 queries')
    """
    if n == 1:
        return f"1 {noun}"
    return f"{n} {noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{n} {noun}s"


def _short(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 40 else text[:37] + "..."
