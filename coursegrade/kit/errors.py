"""What to do about the errors that answers most often stop with."""

import ast
import inspect
import re

SHAPES = "Write the shape of each line behind it as a comment: where is one transposed?"

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
    (TypeError, "'(tuple|str)' object does not support item assignment",
     "Tuples and strings cannot be changed. Build a new list, piece by piece, and make what is due of it at the end."),
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
    (OverflowError, "math range error", "math.exp of more than 709 is too large for a number. Where such powers are "
     "divided by their sum, only differences count: the largest exponent may be taken from all of them first."),
    (ValueError, "zero-size array to reduction|arg is an empty sequence|iterable argument is empty",
     "Nothing has no largest or smallest entry. Ask first whether anything is there: what is due if not?"),
    (ValueError, "expected sequence of length", "torch.tensor wants rows that are equally long. Are all of them "
                                                "padded, and cut, by then?"),
    ((RuntimeError, ValueError, IndexError), "[Ss]izes? of tensor|shapes cannot be mult|inconsistent tensor size|"
     "size mismatch|not be broadcast|Expected size for first two dimensions|shape of the mask|core dimension|"
     "not aligned", "Two shapes do not fit. {shapes}"),
    (RuntimeError, "infer output dtype|floating point|only floats", "That wants numbers with a point, and got whole "
                                                                    "ones or True and False: .float() makes them."),
    (RuntimeError, "dtype|expected scalar type", "Two dtypes meet. Does a constant that you make have the input's "
                                                 "dtype (dtype=x.dtype, if that is x)?"),
]


def advise(error, name, n_arguments, shapes):
    """A hint for errors that are often one mistake."""
    text = str(error)
    for kinds, words, advice in USUAL:
        if isinstance(error, kinds) and re.search(words, text):
            return advice.format(shapes=shapes)
    if isinstance(error, TypeError) and name in text and "positional argument" in text:
        return f"Leave the first line of the function as it was: it takes {n_arguments} arguments."
    if isinstance(error, NameError) and (found := re.search(r"name '(\w+)' is not defined", text)):
        return f"`{found[1]}` is not known here: is it spelled as where you defined it, and has that cell run?"
    return None


def first_line(reference, source):
    """What to say if an answer's parameters are those of the reference in another order; None if they are not.

    >>> first_line(lambda word, pieces: 0, "def cut(pieces, word):\\n    return 0")
    'Its parameters have changed places: the first line is def cut(word, pieces).'
    """
    due = list(inspect.signature(reference).parameters)
    try:
        function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    except (SyntaxError, StopIteration):                                # a lambda's source may be half a line
        return None
    mine = [argument.arg for argument in function.args.args]
    if mine == due or sorted(mine) != sorted(due):
        return None
    return f"Its parameters have changed places: the first line is def {function.name}({', '.join(due)})."
