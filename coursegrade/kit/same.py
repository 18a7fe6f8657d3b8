"""The one comparison of all checks: type, shape, dtype, finite, then values. NaN and empty arrays do not slip through.

What is compared has been converted by its exact type to plain data first. No method, operator or `__class__` of an
object that is not data is ever asked for anything: such an object differs from every expected value, whatever it says.

How strict? Tensors are tensors, with the expected dtype. A NumPy array of whole numbers may have any integer dtype, and
stand where floating-point numbers of these values are due. A list may be a tuple, a tuple of numbers a NumPy array, any
dictionary is a dictionary, and a number may be Python's, NumPy's or a tensor without dimensions, as long as it is
whole where a whole number is expected.
"""

import collections
import math
import sys

import numpy as np

# relative and absolute tolerance: about what a reordering of the arithmetic may change
# and as a constant in single precision does, also to results in double precision: who asks for more than that says so
TOLERANCE = {"float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2), "float32": (1e-4, 1e-5), "float64": (1e-4, 1e-5)}
DOUBLE = (1e-7, 1e-9)           # for a question that does: its numbers, but for a reordering in double precision
NUMBER = (1e-4, 1e-6)           # single numbers; they often were single precision once
DICTIONARIES = (dict, collections.Counter, collections.defaultdict, collections.OrderedDict)
DATA = {type(None): "None", str: "a string", bool: "True or False", int: "a whole number", float: "a number",
        list: "a list", tuple: "a tuple", set: "a set", frozenset: "a set", np.ndarray: "a NumPy array",
        np.bool_: "True or False", np.str_: "a string", **dict.fromkeys(DICTIONARIES, "a dictionary")}
ODD_TENSOR = "a tensor that does not simply hold its numbers (sparse, quantised, nested or without values)"


def kind(value):
    """What a value is, in words, by its exact type: "a tensor", "a list", "None", … Calls nothing of the value.

    >>> kind([]), kind(None), kind(range(3)), kind(iter([]))
    ('a list', 'None', 'a range (wrap it in list(...))', 'a list_iterator (wrap it in list(...))')
    """
    cls = type(value)
    if cls in _tensor_types():
        return "a tensor" if _is_plain(value) else ODD_TENSOR
    if cls is int and value.bit_length() > 1000:                        # no float, and perhaps too long to be shown
        return "an enormous whole number"
    if cls in DATA:
        return DATA[cls]
    if issubclass(cls, np.integer):
        return "a whole number"
    if issubclass(cls, np.floating):
        return "a number"
    if issubclass(cls, type):
        return f"the class {type.__getattribute__(value, '__name__')}"
    name = cls.__name__
    if cls.__module__ == "coursegrade.sandbox.outside":             # a stand-in for something in the sandbox
        name = object.__getattribute__(value, "_kind")
        if name in ("Tensor", "Parameter"):                             # what plain ones are comes as data
            return ODD_TENSOR
    if name in ("function", "method", "builtin_function_or_method"):
        return "a function (was it called, with brackets?)"
    lazy = name in ("range", "map", "zip", "filter", "generator", "dict_keys", "dict_values", "dict_items")
    said = f"a {name}" + " (wrap it in list(...))" * (lazy or name.endswith("_iterator"))
    known = said in ("a tensor", ODD_TENSOR, *DATA.values())
    return f"an object that calls itself {said}" if known else said     # anybody can name a class "tensor"


def same(got, expected, tolerance=None):
    """Is `got` what was expected? See `difference`, which says why not.

    >>> same([1, 2], (1, 2)), same(float("nan"), 1.0), same(np.zeros(0), np.zeros(3))
    (True, False, False)
    """
    return difference(got, expected, tolerance) is None


def difference(got, expected, tolerance=None, numbers=True, where=""):
    """The first thing in which `got` differs from `expected`, in words; None if there is nothing.

    expected: tensors, NumPy arrays, numbers, strings, None, and lists, tuples, dictionaries and sets of such; not NaN.
    tolerance: (relative, absolute) for floating-point values; None takes the dtype's.
    numbers: False keeps the values out of the words, for inputs that are not to be told.
    where: its place in what holds it, "[2]", with which the words then begin.

    >>> difference([1, 2, 3], [1, 2, 4])
    'at [2]: got 3, expected 4'
    >>> difference(np.array([[0.5, np.nan]]), np.array([[0.5, 0.5]]))
    'contains nan (not a number), for the first time at [0, 1]'
    """
    at = f"at {where}: " if where else ""
    exact = type(expected)
    if exact in _tensor_types() or exact is np.ndarray:
        return _arrays(got, expected, tolerance, numbers, at)
    if exact in (bool, np.bool_, int, float) or issubclass(exact, (np.integer, np.floating)):
        return _numbers(got, expected, tolerance, numbers, at)
    if exact in (list, tuple):
        return _sequences(got, expected, tolerance, numbers, where)
    if exact in DICTIONARIES:
        return _dictionaries(got, expected, tolerance, numbers, where)
    if kind(got) != kind(expected):
        return f"{at}got {kind(got)}, expected {kind(expected)}"
    if exact in (set, frozenset) and not all(type(x) in (str, int, bool, tuple) for x in got):
        return f"{at}the set holds things that are neither strings nor whole numbers"
    if got != expected:
        return at + (f"got {got!r}, expected {expected!r}" if numbers else f"{kind(got)[2:]}s differ")
    return None


def _numbers(got, expected, tolerance, numbers, at):
    if kind(got) in ("a tensor", "a NumPy array") and tuple(got.shape) == ():
        got = got.item()
    if kind(got) != kind(expected) and not (kind(expected) == "a number" and kind(got) == "a whole number"):
        return f"{at}got {kind(got)}, expected {kind(expected)}"
    close = got == expected
    if kind(expected) == "a number":
        if math.isnan(got):
            return f"{at}got nan (not a number)"
        relative, absolute = tolerance or NUMBER
        close = close or math.isfinite(expected) and abs(got - expected) <= absolute + relative * abs(expected)
    if close:
        return None
    return f"{at}{_apart(got, expected)}" if numbers else f"{at}the numbers differ"


def one_by_one(got, expected):
    """A NumPy array (n,) as the list of its numbers where a tuple of numbers is expected; everything else as it is.

    >>> one_by_one(np.array([4.5, 2.5]), (4, 2.0)), one_by_one(np.array([4, 2]), [4, 2])
    ([4.5, 2.5], array([4, 2]))
    """
    if type(got) is np.ndarray and got.ndim == 1 and type(expected) is tuple and all(
            kind(entry) in ("a number", "a whole number") for entry in expected):
        return got.tolist()
    return got


def _sequences(got, expected, tolerance, numbers, where):
    at, got = f"at {where}: " if where else "", one_by_one(got, expected)
    if type(got) not in (list, tuple):
        return f"{at}got {kind(got).replace('list(', type(expected).__name__ + '(')}, expected {kind(expected)}"
    if len(got) != len(expected):
        found = f"{len(got)} entries" if len(got) != 1 else "1 entry"
        return f"{at}{found}, expected {len(expected)}" if numbers else f"{at}the number of entries is wrong"
    pairs = enumerate(zip(got, expected, strict=True))
    return next(filter(None, (difference(*pair, tolerance, numbers, f"{where}[{i}]") for i, pair in pairs)), None)


def _dictionaries(got, expected, tolerance, numbers, where):
    at = f"at {where}: " if where else ""
    if type(got) not in DICTIONARIES:
        return f"{at}got {kind(got)}, expected a dictionary"
    plain = dict.items(got)                                             # a defaultdict must not grow while it is read
    for key, _ in plain:
        if kind(key) not in {kind(known) for known in expected} and expected:
            return f"{at}a key is {kind(key)}, expected {kind(next(iter(expected)))}"
    got = dict(plain)
    if missing := [key for key in expected if key not in got]:
        return f"{at}there is no {missing[0]!r}" if numbers else f"{at}{len(missing)} keys are missing"
    if extra := [key for key in got if key not in expected]:
        return f"{at}there is {extra[0]!r}, which should not be there" if numbers else f"{at}there are keys too many"
    found = (difference(got[key], expected[key], tolerance, numbers, f"{where}[{key!r}]" if numbers else "a key")
             for key in expected)
    return next(filter(None, found), None)


def _arrays(got, expected, tolerance, numbers, at):
    if kind(got) != kind(expected):
        return f"{at}got {kind(got)}, expected {kind(expected)}{_remedy(got) if kind(expected) == 'a tensor' else ''}"
    shape, wanted = tuple(got.shape), tuple(expected.shape)
    if shape != wanted:
        return f"{at}the shape is {shape}, expected {wanted}"
    dtype, due = _dtype(got), _dtype(expected)
    if dtype != due:
        whole = type(got) is np.ndarray and got.dtype.kind in "iu" and expected.dtype.kind in "if"
        if whole and _arrays(got.astype(due), expected, tolerance, numbers, at) is None:
            return None
        return f"{at}the dtype is {dtype}, expected {due}"
    a, b = _numpy(got), _numpy(expected)
    if due not in TOLERANCE:
        wrong = a != b
    else:
        if (nan := np.isnan(a)).any():
            return f"{at}contains nan (not a number)" + f", for the first time at {_place(nan)}" * bool(shape)
        infinite = np.isinf(a) & np.isfinite(b)
        if infinite.any():
            place = f", first at {_place(infinite)}" * bool(shape)
            return f"{at}contains {_short(a[infinite][0])} where a finite number is due{place}"
        relative, absolute = tolerance or TOLERANCE[due]
        if not tolerance and due == "float64":                          # small numbers in double precision count
            absolute *= min(1, max(np.abs(b[np.isfinite(b)]).max(initial=0), 0.01))
        with np.errstate(invalid="ignore"):                             # ∞ − ∞
            close = np.isfinite(b) & (np.abs(a - b) <= absolute + relative * np.abs(b))
        wrong = (a != b) & ~close
    if not wrong.any():
        return None
    if not numbers:
        return f"{at}the values differ"
    first = np.unravel_index(wrong.argmax(), wrong.shape)
    if not shape:
        return f"{at}{_apart(a[first], b[first])}"
    return (f"{at}{wrong.sum()} of {wrong.size} values differ, the first at {_place(wrong)}: "
            f"{_apart(a[first], b[first])}")


def _remedy(got):
    """What makes a tensor of a list of numbers, or of tensors."""
    kinds = {kind(entry) for entry in got} if type(got) is list else set()
    if kinds == {"a tensor"}:
        return ": torch.stack(...) makes one tensor of several"
    return ": wrap it in torch.tensor(...)" if kinds and kinds <= {"a number", "a whole number", "a list"} else ""


def _tensor_types():
    """The exact types of tensors; empty while torch is not loaded, because then nothing is a tensor."""
    torch = sys.modules.get("torch")
    return (torch.Tensor, torch.nn.Parameter) if torch and hasattr(torch, "nn") else ()


def _is_plain(tensor):
    """Does it hold its numbers one after another, so that they can be looked at?"""
    torch = sys.modules["torch"]
    return (tensor.layout is torch.strided and tensor.device.type != "meta"
            and not (tensor.is_nested or tensor.is_quantized))


def _dtype(array):
    return str(array.dtype).removeprefix("torch.")


def _numpy(array):
    """The values as a NumPy array; half precision as single, which NumPy has and which holds the same numbers."""
    if type(array) is np.ndarray:
        return array
    array = array.detach().cpu().resolve_conj().resolve_neg()
    return (array.float() if _dtype(array) in ("float16", "bfloat16") else array).numpy()


def _place(mask):
    return [int(i) for i in np.unravel_index(mask.argmax(), mask.shape)]


def _short(number):
    return f"{float(number):.4g}" if kind(number) == "a number" else str(number)


def _apart(got, expected):
    """Both numbers, with as many digits as tell them apart.

    >>> _apart(19.3812, 19.3815), _apart(2, 2.5), _apart(1 / 3, 1 / 3 + 1e-9)
    ('got 19.3812, expected 19.3815', 'got 2, expected 2.5', 'got 0.333333333, expected 0.333333334')
    """
    if kind(got) == kind(expected) == "a number":
        digits = next((d for d in range(4, 17) if f"{float(got):.{d}g}" != f"{float(expected):.{d}g}"), 17)
        return f"got {float(got):.{digits}g}, expected {float(expected):.{digits}g}"
    return f"got {_short(got)}, expected {_short(expected)}"
