"""What a check may ask of an answer besides its results: whom it calls, its source, gradients, changed arguments.

An answer is the function that a student wrote. Here it lies in the same process. When submissions are graded it runs in
a sandbox, and what the check holds is a stand-in with an attribute `_remote` that offers the same four services there:
`_remote.watch(names)`, `.source()`, `.vjp(args, cotangent)`, `.back(args, positions)`, and sets seeds there
(`.seed()`). Only data comes back.
"""

import ast
import collections
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
import types
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
    thing = inspect.unwrap(getattr(thing, "__func__", thing))           # of a class method its function
    return [thing.__code__] if inspect.isfunction(thing) else []


def used(answer):
    """The full names of what the source of an answer uses, see `full_names`."""
    elsewhere = {name: value.__name__ for name, value in getattr(answer, "__globals__", {}).items()
                 if type(value) is types.ModuleType} if not hasattr(answer, "_remote") else {}
    return full_names(source(answer), elsewhere)


def full_names(text, modules=None):
    """The full names of what a source text uses, as far as its imports tell them; for an attribute of something else
    ".attribute" alone.

    modules: {name: full name} of what was imported elsewhere. Text that is no Python uses nothing.

    >>> sorted(full_names("import torch.nn as nn\\nF = nn.functional\\ny = F.gelu(x.T)"))
    ['.T', 'torch.nn', 'torch.nn.functional', 'torch.nn.functional.gelu']
    """
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    known = collections.defaultdict(set, {name: {path} for name, path in (modules or {}).items()})
    stars, own = [], {getattr(node, "name", None) or getattr(node, "arg", None) for node in nodes}

    def paths(node):
        match node:
            case ast.Name(id=name):
                return known[name] or {f"{module}.{name}" for module in stars if name not in own}
            case ast.Attribute(value=value, attr=name) | ast.Call(
                    func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                return {f"{path}.{name}" for path in paths(value) or [""]}
        return set()

    for node in nodes:
        for alias in getattr(node, "names", []) if isinstance(node, (ast.Import, ast.ImportFrom)) else []:
            if alias.name == "*":
                stars.append(node.module)
            elif isinstance(node, ast.ImportFrom):
                known[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
            else:
                first = alias.name.partition(".")[0]
                known[alias.asname or first].add(alias.name if alias.asname else first)
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            own.add(node.targets[0].id)
            known[node.targets[0].id] |= paths(node.value)
    return {path for node in nodes for path in paths(node)}


def mentions(paths, names):
    """Which of the named functions are among some `full_names`. As for `watch`, a package's functions of one name are
    one; and if tensors have it as a method, so is an attribute of something that is not known (`u.softmax`).

    >>> mentions(full_names("from torch import softmax as s\\ndef f(u): return s(u)"), ["torch.softmax", "torch.exp"])
    ['torch.softmax']
    >>> mentions({"math.exp", "random.choice", ".choice"}, ["torch.exp", "numpy.random.choice"])
    []
    """
    found = {_ends(path) for path in paths}
    return [name for name in names if _ends(name) in found or name.startswith("torch.") and _find(
        f"torch.Tensor.{_ends(name)[1]}") and ("", _ends(name)[1]) in found]


def _ends(path):
    """The first and the last part of a full name."""
    return path.partition(".")[0], path.rpartition(".")[2].strip("_")
