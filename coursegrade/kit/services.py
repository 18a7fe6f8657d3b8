"""What a check may ask of an answer besides its results: whom it calls, its source, gradients, changed arguments; and
what it may lend it.

An answer is the function that a student wrote. Here it lies in the same process. When submissions are graded it runs in
a sandbox, and what the check holds is a stand-in with an attribute `_remote` that offers the same services there:
`_remote.watch(names)`, `.named(names)`, `.source()`, `.vjp(args, cotangent)`, `.back(args, positions)`,
`.beside(name)`, `.lent(functions)`, and sets seeds there (`.seed()`). Only data comes back, or other such stand-ins.
"""

import collections
import contextlib
import copy
import dis
import inspect
import io
import keyword
import linecache
import random
import sys
import textwrap
import tokenize
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
        torch.default_generator.manual_seed(number)     # torch.manual_seed also notes the stack, for every other device


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

    In a lambda, or within brackets, it is a line of the function that they stand in.

    >>> exec("def inverses(xs):\\n    return [*map(lambda x: 1 / x, xs)]", names)
    >>> try:
    ...     names["inverses"]([2, 0])
    ... except ZeroDivisionError as error:
    ...     line_of(error, names)
    'line 2 of inverses'
    """
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_globals is names]
    if not frames:
        return ""
    codes, line = [frame.f_code for frame, _ in frames], frames[-1][1]
    code = next((code for code in reversed(codes) if code.co_name[0] != "<" and code.co_firstlineno <= line
                 and code.co_filename == codes[-1].co_filename), codes[-1])
    text = linecache.getline(code.co_filename, line).strip()
    return f"line {line - code.co_firstlineno + 1} of {code.co_name}" + (f":  {text}" if text else "")


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
    pairs = zip(output, cotangent, strict=True) if isinstance(output, (tuple, list)) else [(output, cotangent)]
    total = sum((out * weight).sum() for out, weight in pairs if weight is not None)
    if not (isinstance(total, torch.Tensor) and total.requires_grad):
        return [None] * len(given)
    found = iter(torch.autograd.grad(total, inputs, allow_unused=True))
    return [next(found) if differentiable(x) else None for x in given]


def beside(answer, name):
    """The student's function of that name, as the answer sees it; None if there is none. (What an answer has imported,
    or was lent, is not the student's.)

    >>> names = {}
    >>> exec("def half(x): return x / 2\\ndef quarter(x): return half(half(x))", names)
    >>> beside(names["quarter"], "half")(3), beside(names["quarter"], "third")
    (1.5, None)
    """
    if hasattr(answer, "_remote"):
        return answer._remote.beside(name)
    names = getattr(answer, "__globals__", {})
    found = names.get(name)
    return found if getattr(found, "__globals__", None) is names else None


def calls(answer, name, seen=()):
    """Does the answer call the student's function of that name, itself or through others of the student's?

    It looks at the names in the source alone (`map(half, xs)` counts, a comment does not): False where there is none.
    """
    words = _names(source(answer)) - {*seen}
    others = () if name in words else filter(None, (beside(answer, word) for word in words))
    return name in words or any(calls(other, name, {*seen, *words}) for other in others)


def _names(text):
    """The names in a piece of Python, which may be half a line.

    >>> sorted(_names("f = map(half, xs)  # not third(x)"))
    ['f', 'half', 'map', 'xs']
    """
    found = set()
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found |= {token.string} if token.type == tokenize.NAME and not keyword.iskeyword(token.string) else set()
    return found


@contextlib.contextmanager
def lent(answer, functions):
    """While it is open, the student's functions of these names are answered by those of the grader.

    functions: {name: function}. All that the student wrote and that looks a name up calls the grader's function in its
    place, which takes and returns data alone (in a sandbox; it runs outside of it, see sandbox/lender.py). Afterwards
    the student's own are back, and who has kept what was lent gets a RuntimeError from it. It gives the list of what
    was refused: once one of the functions has raised `NotAsked`, none of them answers any more.

    >>> names = {}
    >>> exec("def half(x): return x / 3\\ndef quarter(x): return half(half(x))", names)
    >>> with lent(names["quarter"], {"half": lambda x: x / 2}):
    ...     names["quarter"](1)
    0.25
    >>> names["quarter"](9)
    1.0
    """
    if hasattr(answer, "_remote"):
        with answer._remote.lent(functions) as refused:
            yield refused
        return
    names, refused = getattr(answer, "__globals__", {}), []
    there = [_Lent(name, function, refused) for name, function in functions.items()]
    own = {name: names[name] for name in functions if name in names}
    names.update(zip(functions, there, strict=True))
    try:
        yield refused
    finally:
        for name, stand_in in zip(functions, there, strict=True):
            stand_in.function = None
            names.pop(name, None)
        names.update(own)


class NotAsked(LookupError):
    """A lent function was asked for something that it is not lent for."""


class _Lent:
    """A function of the grader's in the place of a student's. It has no name, and nobody watches what it calls."""

    def __init__(self, name, function, refused):
        self.name, self.function, self.refused = name, function, refused

    def __call__(self, *args, **kwargs):
        if not self.function:
            raise RuntimeError(f"{self.name} was lent for one test, which is over")
        if self.refused:
            raise NotAsked(self.refused[0])
        before, Watch.looks = Watch.looks, False
        try:
            return self.function(*args, **kwargs)
        except NotAsked as error:
            self.refused.append(str(error))
            raise
        finally:
            Watch.looks = before


def watch(answer, names):
    """A context manager whose `.calls` lists which of the named functions ran inside it, in order, by any name.

    names: full names such as "torch.softmax" or "torch.nn.Linear" (a class: making one or using it). Only the package
    and the last part of a name count, so that `u.softmax(0)` and `torch.nn.functional.softmax` are "torch.softmax" too.
    It is a help for those who forgot, and easily got around by those who want to.

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

    looks = True                                                        # not while a function runs that was lent

    def __init__(self, names):
        self.calls, self._codes, self._names = [], {}, collections.defaultdict(list)
        for name in names:
            self._names[_ends(name)].append(name)
        torch = any(name.startswith("torch.") for name in names)
        self._mode = _torch_mode(self._saw) if torch else contextlib.nullcontext()

    def __enter__(self):
        self._before = sys.getprofile()
        self._mode.__enter__()
        if self._names:
            sys.setprofile(self._profile)
        return self

    def __exit__(self, *error):
        sys.setprofile(self._before)
        self._mode.__exit__(*error)

    def _profile(self, frame, event, _):
        if event == "call" and Watch.looks:
            code = frame.f_code
            if code not in self._codes:
                self._codes[code] = self._meant(str(frame.f_globals.get("__name__")), code.co_qualname)
            self.calls += self._codes[code] if self._codes[code] and not _importing(frame) else []

    def _saw(self, path):
        self.calls += self._meant("torch", path) if Watch.looks else []

    def _meant(self, module, path):
        """The names of a function, or of the class whose method it is: of those that end alike, the likest."""
        package, *inner = module.split(".")
        parts, found = path.split("."), []
        for part in parts:
            if names := self._names.get((package, part.strip("_"))):
                found.append(max(names, key=lambda name: len({*name.split(".")} & {*inner, *parts})))
        return found


def _importing(frame):
    """Does a frame run while a module is imported? What that calls is no call of the answer's: `import scipy.stats`
    makes distributions, and asks one for its entropy."""
    while frame and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _torch_mode(saw):
    from torch.overrides import TorchFunctionMode

    class Record(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            saw(getattr(function, "__qualname__", ""))
            return function(*args, **(kwargs or {}))

    return Record()


def named(answer, names):
    """Which of the named functions an answer names, whether it calls them or not. As for `watch`, the package and the
    last part of a name count.

    >>> import math
    >>> named(lambda x: x if x else math.exp(x), ["math.exp", "math.log"])
    ['math.exp']
    """
    if hasattr(answer, "_remote"):
        return answer._remote.named(names)
    paths, codes = set(), [answer.__code__] if hasattr(answer, "__code__") else []
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
        path = ""
        for step in dis.get_instructions(code):                         # math, then .exp
            if step.opname == "LOAD_GLOBAL":
                thing = answer.__globals__.get(step.argval)
                path = getattr(thing, "__name__", "") if isinstance(thing, types.ModuleType) else (
                    f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}")
            else:
                path = f"{path}.{step.argval}" if path and step.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
            paths.add(_ends(path))
    return [name for name in names if _ends(name) in paths]


def _ends(path):
    """The first and the last part of a full name."""
    return path.partition(".")[0], path.rpartition(".")[2].strip("_")
