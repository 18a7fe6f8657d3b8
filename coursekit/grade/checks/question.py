"""A question of an assignment, and what a good teaching assistant says about an answer to it.

    @question((2, 2), {"three scores": (torch.tensor([1., 2., 3.]), 0)}, forbidden=("torch.softmax",))
    def softmax(u, axis):
        "softmax(u, axis): what the answer must return, for people."
        return …                            # what is expected; the answer is compared with it

    @softmax.suspect
    def _(got, u, axis):
        return "…" if … else None           # the likeliest misconception behind a wrong result

`softmax(answer)` then tries the answer on the cases; it must leave its arguments as they were. With
`softmax(answer, cases)`, cases that students do not see, nothing of the inputs gets into the message, only their labels
and what went wrong.
"""

import contextlib
import functools
import inspect
import re
import sys
import textwrap

from coursekit.grade.checks import answers
from coursekit.grade.checks.failure import CheckFailed
from coursekit.grade.checks.limit import SECONDS, TooLong, limit
from coursekit.grade.checks.same import difference, kind, same
from coursekit.grade.checks.score import record

SHAPES = "Write the shape of each line behind it as a comment: where is one transposed?"
SOFTMAXES = ("torch.softmax", "torch.log_softmax", "torch.softmin", "torch.special_softmax", "torch.nn.Softmax",
             "torch.nn.LogSoftmax", "torch.nn.Softmin", "scipy.special.softmax")     # where one is asked for
INSIDES = ("__wrapped__", "_expected", "grade.checks", "setprofile", "settrace", "_getframe", "gc.get_")
LONGEST = 400       # characters of a value that a message shows
EXACTLY = (0, 0)    # tolerance

COPY = {            # what an answer could change, and what to do instead
    "a list": "`+=`, `.append(…)` and `.pop(…)` change a list, also one inside a list; `[*{0}]` is a new list, and "
              "`a + b` makes one.",
    "a dictionary": "An assignment to an entry, `.pop(…)` and `del` change a dictionary; `dict({0})` is a copy that "
                    "you may change.",
    "a set": "`.add(…)` and `|=` change a set; `a | b` makes a new one.",
    "a tensor": "`+=`, an assignment to `{0}[…]`, and methods whose names end in _ change a tensor; "
                "`{0}.clone()` is a copy, and operations without _ make a new one."}


def question(points, cases, **options):
    """A decorator that turns a function, what is expected for given arguments, into the `Question` of that name.

    points: (of the check, of the hidden tests); tests hold the notebook to it. cases: {label: arguments}. Options:
    forbidden: full names of functions that the answer must not call; instead: what to use in their place;
    also: a function (answer, arguments) that raises CheckFailed for what results do not show;
    tolerance: (relative, absolute), as in `difference`;
    prepare: the case's arguments → what the answer is given (for functions that must not carry their truth with them);
    hints: what to ask when the answer stops or does not: {"shapes": …} if two do not fit, {"endless": …}.
    """
    return lambda function: Question(function, points, cases, **options)


class Question:
    """A check: call it with a student's function. See `question`."""

    def __init__(self, function, points, cases, forbidden=(), instead="", also=None, tolerance=None,
                 prepare=None, hints=None):
        functools.update_wrapper(self, function)
        self.name, self.topic = function.__name__, None                 # `announce` says of which topic it is one
        self.points, self.cases, self.tolerance, self.also = points, cases, tolerance, also
        self.forbidden, self.instead, self.prepare, self.hints = forbidden, instead, prepare, hints or {}
        self._expected, self._suspect, self._judge = function, None, None

    def suspect(self, function):
        """Decorator: (got, *arguments) → the likeliest misconception behind a wrong result, or None."""
        self._suspect = function
        return self

    def judge(self, function):
        """Decorator: (got, *arguments) → what is wrong, or None; in place of a comparison with one right result."""
        self._judge = function
        return self

    def __call__(self, answer, cases=None):
        hidden = cases is not None
        record(self.topic, self.name, "failed", hidden)
        if not callable(answer):
            raise CheckFailed(f"✗ {self.name}: this check wants the function itself, without brackets or quotes, "
                              f"and got {kind(answer)}.")
        for label, arguments in (cases or self.cases).items():
            self._try(answer, label, arguments, hidden)
        self._look_at_source(answer)
        record(self.topic, self.name, "passed", hidden)
        print(f"✓ {self.name}: right on " + (f"{len(cases)} more inputs." if cases else f"{'; '.join(self.cases)}."))

    def _try(self, answer, label, arguments, hidden):
        with answers.watch(answer, self.forbidden) as seen:
            try:
                with in_time(answer):
                    got, changed = self._run(answer, arguments)
            except (Exception, SystemExit) as error:
                raise CheckFailed(self._stopped(answer, error, label, arguments, hidden)) from None
        if seen.calls:
            raise CheckFailed(self._not_allowed(seen.calls[0]))
        wrong, expected = self._compare(got, arguments, hidden)
        if wrong:
            raise CheckFailed(self._explain(got, expected, wrong, label, arguments, hidden))
        if changed:
            raise CheckFailed(self._changes(*changed))
        if self.also:
            try:
                with in_time(answer):
                    self.also(answer, arguments)
            except TooLong:
                raise CheckFailed(self._endless(label, arguments, hidden)) from None
            except CheckFailed as failure:
                raise CheckFailed(f"✗ {self.name}: the results are right, but there is something else.\n\n"
                                  + wrapped(str(failure))) from None

    def _run(self, answer, arguments):
        """The result, and (name, value) of the first argument that the answer has changed; None if it changed none."""
        given = self.prepare(*arguments) if self.prepare else arguments
        if not (places := [i for i, value in enumerate(given) if kind(value) in COPY]):
            return answers.run(answer, given), None
        got, left = answers.back(answer, given, places)
        names = list(inspect.signature(self._expected).parameters)
        changed = [(names[i], given[i]) for i, value in zip(places, left) if not same(value, given[i], EXACTLY)]
        return got, next(iter(changed), None)

    def _compare(self, got, arguments, hidden):
        """What is wrong, in words (None if nothing is), and what was expected (None if many things would do)."""
        if self._judge:
            return self._judge(got, *answers.copies(arguments)), None
        expected = self._expected(*answers.copies(arguments))
        return difference(got, expected, self.tolerance, numbers=not hidden), expected

    # -- what it says --------------------------------------------------------------------------------------------------

    def _explain(self, got, expected, wrong, label, arguments, hidden):
        likely = self._likely(got, arguments)
        if hidden:
            lines = [f"✗ {self.name}: right on the inputs that you see, not on another one ({label})."]
            lines += [] if self._judge else ["", *indented("wrong", wrong)]
        else:
            lines = [f"✗ {self.name} is not right yet ({label}).", "", *indented("input", self._input(arguments)),
                     *indented("got", shown(got))]
            lines += indented("expected", shown(expected)) if expected is not None else []
            lines += indented("wrong", wrong)
        if likely:
            lines += ["", wrapped(likely)]
        return "\n".join(lines)

    def _likely(self, got, arguments):
        """The likeliest misconception behind a wrong result, or None."""
        if got is None:
            return "The function returned nothing. Does it end with `return …`? (Printing a result does not return it.)"
        if kind(got).startswith("a function"):
            return "What came back is a function. Was it meant to be called, with brackets?"
        try:
            return self._suspect and self._suspect(got, *answers.copies(arguments))
        except Exception:                                               # results may be anything: then no guess is made
            return None

    def _stopped(self, answer, error, label, arguments, hidden):
        name, what = self.name, type(error).__name__
        if isinstance(error, (TooLong, TimeoutError)):                  # of `limit`, of a sandbox
            return self._endless(label, arguments, hidden)
        if isinstance(error, NotImplementedError):
            record(self.topic, name, "empty", hidden)
            return f"· {name} is still empty: write your answer in place of `raise NotImplementedError()`."
        if isinstance(error, RecursionError):
            return f"✗ {name} calls itself without end.\n\n" + wrapped(
                f"Your function has taken over the name: is there a call of {name}(…) in it that was meant for another "
                "function? If it calls itself on purpose, when does it stop?")
        if hidden:
            return f"✗ {name}: right on the inputs that you see, but on another one ({label}) it stops with {what}."
        lines = [f"✗ {name} stops with an error ({label}).", "", *indented("input", self._input(arguments)),
                 *indented("error", f"{what}: {shortened(str(error))}")]
        if place := answers.where(answer, error):
            lines += indented("where", place)
        if advice := advise(error, self.name, len(arguments), self.hints.get("shapes", SHAPES)):
            lines += ["", wrapped(advice)]
        return "\n".join(lines)

    def _endless(self, label, arguments, hidden):
        lines = [f"✗ {self.name} has not come back after {SECONDS} seconds ({label})."]
        lines += [] if hidden else ["", *indented("input", self._input(arguments))]
        words = f"A `while` loop may never get on. {self.hints.get('endless', '')}"
        return "\n".join([*lines, "", wrapped(words)])

    def _changes(self, name, value):
        return (f"✗ {self.name}: the results are right, but it changes what it is given: `{name}`.\n\n"
                + wrapped(f"Whoever calls it still needs `{name}` as it was. {COPY[kind(value)].format(name)}"))

    def _not_allowed(self, called):
        instead = f" and use {self.instead}" if self.instead else ""
        return (f"✗ {self.name} calls {called}, which does what you are asked to write.\n\n"
                + wrapped(f"Take it out{instead}. (Comparing your own result with it, in a cell of your own, is a "
                          f"good idea.)"))

    def _look_at_source(self, answer):
        source = answers.source(answer)
        if found := answers.mentions(source, self.forbidden):
            raise CheckFailed(self._not_allowed(found[0]).replace(" calls ", " mentions ", 1))
        if found := [word for word in INSIDES if word in source]:
            raise CheckFailed(f"✗ {self.name} reaches into the check or into Python itself ({found[0]}).\n\n" + wrapped(
                "Write what it computes in a function of your own."))
        if not source and hasattr(answer, "_remote"):                   # made by exec, say, or put there by a name
            raise CheckFailed(f"✗ {self.name} is not defined by a statement in a cell.\n\n" + wrapped(
                f"Write `def {self.name}(…)` in the cell of the question."))

    def _input(self, arguments):
        names = inspect.signature(self._expected).parameters
        return "\n".join(f"{name} = " + shown(value).replace("\n", "\n" + " " * (len(name) + 3))
                         for name, value in zip(names, arguments))


def in_time(answer):
    """A limit on the time of a call in this process. (A sandbox has its own.)"""
    return contextlib.nullcontext() if hasattr(answer, "_remote") else limit()


USUAL = [           # (types of errors, what they say, what to do about it)
    (KeyError, "", "A key that is not in a dictionary has no value that could be looked up or added to: `key in "
                   "counts` asks first, and `counts.get(key, 0)` is 0 for it."),
    (TypeError, "unhashable type", "A list cannot be a key of a dictionary, nor an element of a set. A tuple can: "
                                   "tuple(…)."),
    (ValueError, "values to unpack", "There are more, or fewer, parts than names for them. (A loop over a dictionary "
                                     "gives its keys alone; `.items()` gives keys and values.)"),
    (RuntimeError, "changed (size )?during iteration", "What a loop runs over must not change meanwhile: write the "
                                                       "results into a new dictionary."),
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
     "cannot be converted to Scalar", "The functions of math take a single number. torch has the same ones for "
                                      "tensors: torch.sin, torch.exp, …"),
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
        return "Two dtypes meet. Does a constant that you make have the dtype of the input (dtype=u.dtype)?"
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
    """The text, cut in the middle if it is long."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST - 60]} […] {text[-50:]}"
