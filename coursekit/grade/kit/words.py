"""The words of checks: values and errors as people can read them, and what to do about the usual errors."""

import re
import sys
import textwrap

from coursekit.grade.kit.same import kind

SHAPES = "Write the shape of each line behind it as a comment: where is one transposed?"
LONGEST = 400       # characters of a value that a message shows

USUAL = [           # (types of errors, what they say, what to do about it)
    (KeyError, "", "A key that is not in a dictionary has no value that could be looked up or added to: `key in "
                   "counts` asks first, and `counts.get(key, 0)` is 0 for it."),
    (TypeError, "unhashable type: 'numpy", "An array cannot be a key of a dictionary, nor an element of a set. A tuple "
                                          "can: tuple(…)."),
    (TypeError, "unhashable type", "A list cannot be a key of a dictionary, nor an element of a set. A tuple can: "
                                   "tuple(…)."),
    (ValueError, "values to unpack", "There are more, or fewer, parts than names for them. (A loop over a dictionary "
                                     "gives its keys alone; `.items()` gives keys and values.)"),
    (RuntimeError, "selected index k out of range", "topk cannot give more than there are: cut k to the number of "
                                                    "entries first."),
    (RuntimeError, "changed (size )?during iteration", "What a loop runs over must not change meanwhile: loop over a "
                                                       "copy, list(…), or write the results into something new."),
    ((RuntimeError, ValueError), "expects? a non-empty TensorList|expected a non-empty list",
     "torch.stack and torch.cat want at least one tensor: may the list be empty here?"),
    (RuntimeError, "infer dtype of NoneType", "A None cannot stand in a tensor."),
    (TypeError, "does not support item assignment", "A tuple cannot be changed. Build a new list, piece by piece, and "
                                                    "make a tuple of it at the end."),
    ((RuntimeError, ValueError), "[Bb]oolean value of Tensor|truth value of an array",
     "`if`, `and`, `or`, `not` and a < b < c want one True or False, and a tensor has many. Is there an argument? "
     "`is not None` asks that. For each entry: `&`, `|`, `~`. For all of them: .all() or .any()."),
    (TypeError, "NoneType", "Something is None there: an argument that was left out, or what came back from a function "
                            "without `return`?"),
    (TypeError, r"^sort\(\) ", "torch's sort with `stable` wants every argument by its name: .sort(dim=-1, "
                             "descending=True, stable=True)."),
    (TypeError, "return_types", "`.max(axis)` and `.min(axis)` return two things, the values and where they stand; "
                                "`.amax(axis)` and `.amin(axis)` only the values."),
    (TypeError, r"must be Tensor, not (int|float)", "torch's functions take tensors. For a plain number there is math: "
                                                    "math.sqrt(…)."),
    ((ValueError, TypeError, RuntimeError), "only one element tensors|only (length-1|0-dimensional) arrays|"
     "cannot be converted to Scalar", "The functions of math take a single number, and so do float and int. "
                                      "torch's and NumPy's own take many: torch.exp for tensors, np.exp for arrays."),
    (ValueError, "expected sequence of length", "torch.tensor wants rows that are equally long. Are all of them "
                                                "padded, and cut, by then?"),
]


def advise(error, name, n_arguments, shapes=SHAPES):
    """A hint for errors that are often one mistake."""
    text = str(error)
    for kinds, words, advice in USUAL:
        if isinstance(error, kinds) and re.search(words, text):
            return advice
    if isinstance(error, TypeError) and name in text and "positional argument" in text:
        return f"Leave the first line of the function as it was: it takes {n_arguments} arguments."
    if isinstance(error, NameError) and (found := re.search(r"name '(\w+)' is not defined", text)):
        return f"`{found[1]}` is not known here: is it spelled as where you defined it, and has that cell run?"
    if isinstance(error, (RuntimeError, ValueError, IndexError)) and re.search(
            "[Ss]izes? of tensor|shapes cannot be mult|inconsistent tensor size|size mismatch|not be broadcast|"
            "shape of the mask", text):
        return f"Two shapes do not fit. {shapes}"
    if isinstance(error, RuntimeError) and ("dtype" in text or "expected scalar type" in text):
        return "Two dtypes meet. Does a constant that you make have the input's dtype (dtype=x.dtype, if that is x)?"
    return None


def wrapped(text):
    """The last words of a message, in lines of moderate length."""
    return textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def indented(title, text):
    """A line of a message, `title` in a column of its own, and the text's other lines under the first."""
    first, *more = str(text).splitlines() or [""]
    return [f"  {title:<10}{first}", *(" " * 12 + line for line in more)]


def shown(value):
    """A value as a message shows it: data as Python writes it, cut when long; everything else by its kind alone."""
    if kind(value) == "a tensor":
        torch = sys.modules["torch"]
        return shortened(torch._tensor_str._str(value.detach()) if value.numel() <= 60 else
                         f"a tensor of shape {tuple(value.shape)}, dtype {str(value.dtype).removeprefix('torch.')}")
    if type(value) is set and value and all(type(entry) is str for entry in value):
        return shortened("{" + ", ".join(map(repr, sorted(value))) + "}")   # the same order each time
    if not is_data(value):
        return kind(value).partition(" (")[0]
    text = repr(value)
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
