"""What a check may ask of an answer besides its results: whom it calls, its source, gradients, changed arguments.

An answer is the function that a student wrote. Here it lies in the same process. When submissions are graded it runs in
a sandbox, and what the check holds is a stand-in with an attribute `_remote` that offers the same four services there:
`_remote.watch(names)`, `.source()`, `.vjp(args, cotangent)`, `.back(args, positions)`, and sets seeds there
(`.seed()`). Only data comes back.
"""

import ast
import contextlib
import copy
import importlib
import inspect
import linecache
import random
import sys
import textwrap
import threading
import traceback
import warnings

import numpy as np


def run(answer, args):
    """answer(*copies of args), after seeds were set. Its warnings, and what it writes to stderr, do not count."""
    if hasattr(answer, "_remote"):
        answer._remote.seed()
    return _quietly(answer, copies(args))


def _quietly(answer, args):
    seed()
    with warnings.catch_warnings(), contextlib.redirect_stderr(sys.stdout):
        warnings.simplefilter("ignore")
        return answer(*args)


def seed(number=0):
    """Set the seeds of random, NumPy and, where it is loaded, torch."""
    random.seed(number)
    np.random.seed(number)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(number)


def copies(args):
    """A copy of the arguments that an answer may change as it likes. (Functions are not copied.)"""
    return tuple(copy.deepcopy(argument) for argument in args)


def source(answer):
    """The source text of an answer, "" if there is none to be had."""
    if hasattr(answer, "_remote"):
        return answer._remote.source()
    try:
        return textwrap.dedent(inspect.getsource(answer))
    except (OSError, TypeError):
        return ""


def where(answer, error):
    """The student's line that an exception of an answer came through, as `line_of` words it; "" if it is not known."""
    if hasattr(answer, "_remote"):
        return getattr(error, "_line", "")
    return line_of(error, getattr(answer, "__globals__", None))


def line_of(error, names):
    """The last line that an exception came through of the functions whose global names are the dictionary `names`.

    >>> names = {"__name__": "student"}
    >>> exec("def half(x):\\n    return x / 0", names)
    >>> try:
    ...     names["half"](1)
    ... except ZeroDivisionError as error:
    ...     line_of(error, names)
    'line 2 of half'
    """
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_globals is names]
    if not frames:
        return ""
    frame, line = frames[-1]
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return f"line {line - frame.f_code.co_firstlineno + 1} of {frame.f_code.co_name}" + (f":  {text}" if text else "")


def back(answer, args, positions):
    """Run an answer; return (its result, [the arguments at `positions` as it left them]).

    >>> back(lambda tokens: tokens.pop(), (["a", "b"],), [0])
    ('b', [['a']])
    """
    if hasattr(answer, "_remote"):
        return answer._remote.back(args, positions)
    given = copies(args)
    return _quietly(answer, given), [given[i] for i in positions]


def vjp(answer, args, cotangent):
    """Gradients of Σ output · cotangent with respect to the arguments (a vector-Jacobian product).

    cotangent: a tensor of the output's shape; for an answer that returns a tuple, such a tensor or None for each entry.
    Returns a list with one entry per argument: its gradient, or None where it is no floating-point tensor or the
    gradient does not reach it.

    >>> import torch
    >>> vjp(lambda x, y: x * y, (torch.tensor(2.0), torch.tensor(5.0)), torch.tensor(1.0))
    [tensor(5.), tensor(2.)]
    """
    if hasattr(answer, "_remote"):
        return answer._remote.vjp(args, cotangent)
    import torch

    def differentiable(x):
        return isinstance(x, torch.Tensor) and x.is_floating_point()

    given = [x.detach().requires_grad_() if differentiable(x) else x for x in copies(args)]
    inputs = [x for x in given if differentiable(x)]
    output = _quietly(answer, given)
    pairs = zip(output, cotangent) if isinstance(output, (tuple, list)) else [(output, cotangent)]
    total = sum((out * weight).sum() for out, weight in pairs if weight is not None)
    if not (isinstance(total, torch.Tensor) and total.requires_grad):
        return [None] * len(given)
    found = iter(torch.autograd.grad(total, inputs, allow_unused=True))
    return [next(found) if differentiable(x) else None for x in given]


def watch(answer, names):
    """A context manager whose `.calls` lists which of the named functions ran inside it, in order, by any name.

    names: full names such as "torch.softmax" or "coursekit.models.MultiHeadAttention" (a class: making one or using
    it). For torch's functions the last part of the name counts, so that `u.softmax(0)` and
    `torch.nn.functional.softmax` are "torch.softmax" too. What is not installed is not watched.

    It does not matter under which name, alias or container an answer keeps the function: what is watched is the code
    that runs, not the name by which it was called.

    >>> import textwrap
    >>> shorter = {"alias": textwrap.dedent}
    >>> with watch(shorter, ["textwrap.dedent"]) as seen:
    ...     _ = shorter["alias"]("  two")
    >>> seen.calls
    ['textwrap.dedent']
    """
    return answer._remote.watch(names) if hasattr(answer, "_remote") else Watch(names)


class Watch:
    """`watch` in this process: Python's profiler sees Python functions, torch's function mode its own."""

    def __init__(self, names):
        self.calls = []
        self._codes, self._torch = {}, {}
        for name in names:
            if name.startswith("torch."):
                self._torch[name.rpartition(".")[2]] = name
            for code in _codes(_find(name)):
                self._codes[code] = name

    def __enter__(self):
        self._before = sys.getprofile()
        if self._torch:
            self._mode = _torch_mode(self._torch, self.calls)
            self._mode.__enter__()
        if self._codes:
            threading.setprofile(self._profile)
            sys.setprofile(self._profile)
        return self

    def __exit__(self, *error):
        if self._codes:
            sys.setprofile(self._before)
            threading.setprofile(None)
        if self._torch:
            self._mode.__exit__(*error)

    def _profile(self, frame, event, _):
        if event == "call" and frame.f_code in self._codes:
            self.calls.append(self._codes[frame.f_code])


def _torch_mode(names, calls):
    from torch.overrides import TorchFunctionMode

    class Record(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "").strip("_")
            if name in names:
                calls.append(names[name])
            return function(*args, **(kwargs or {}))

    return Record()


def _find(name):
    """The object with this full name; None if its module is not there."""
    path = name.split(".")
    for cut in range(len(path) - 1, 0, -1):
        try:
            thing = importlib.import_module(".".join(path[:cut]))
        except ImportError:
            continue
        for part in path[cut:]:
            thing = getattr(thing, part, None)
        return thing
    return None


def _codes(thing):
    """The code objects that run when a function or a class (its methods) is used, and no decorator's."""
    if inspect.isclass(thing):
        members = [getattr(member, "__func__", member) for member in vars(thing).values()]
        return [inspect.unwrap(member).__code__ for member in members if inspect.isfunction(member)]
    return [inspect.unwrap(thing).__code__] if inspect.isfunction(thing) else []


def mentions(text, names):
    """Which of the named functions a source text mentions, as an attribute (`u.softmax`) or in an import.

    Text that is no Python mentions nothing.

    >>> mentions("from torch import softmax as s\\ndef f(u): return s(u)", ["torch.softmax", "torch.exp"])
    ['torch.softmax']
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            used |= {alias.name.rpartition(".")[2] for alias in node.names}
    return [name for name in names if name.rpartition(".")[2] in used]
