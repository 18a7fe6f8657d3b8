"""A question of an assignment, and what a good teaching assistant says about an answer to it.

    @question((2, 2), {"three scores": (torch.tensor([1., 2., 3.]), 0)}, forbidden=("torch.softmax",))
    def softmax(u, axis):
        "softmax(u, axis): what the answer must return, for people."
        return …                            # what is expected; the answer is compared with it

    @softmax.suspect
    def _(got, u, axis):
        return "…" if … else None           # the likeliest misconception behind a wrong result

`softmax(answer)` then tries the answer on the cases. With `softmax(answer, cases)`, cases that students do not see,
nothing of the inputs gets into the message, only their labels and what went wrong.
"""

import contextlib
import functools
import inspect
import linecache
import re
import sys
import textwrap
import traceback

from coursekit.grade.checks import answers
from coursekit.grade.checks.failure import CheckFailed
from coursekit.grade.checks.limit import SECONDS, TooLong, limit
from coursekit.grade.checks.same import difference, kind
from coursekit.grade.checks.score import record

SHAPES = "Write the shape of each line behind it as a comment: where is one transposed?"
LONGEST = 400       # characters of a value that a message shows


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
        record(self.topic, self.name, False, hidden)
        if not callable(answer):
            raise CheckFailed(f"✗ {self.name}: this check wants the function itself, without brackets or quotes, "
                              f"and got {kind(answer)}.")
        for label, arguments in (cases or self.cases).items():
            self._try(answer, label, arguments, hidden)
        self._look_at_source(answer)
        record(self.topic, self.name, True, hidden)
        print(f"✓ {self.name}: right on " + (f"{len(cases)} more inputs." if cases else f"{'; '.join(self.cases)}."))

    def _try(self, answer, label, arguments, hidden):
        with answers.watch(answer, self.forbidden) as seen:
            try:
                with in_time(answer):
                    got = answers.run(answer, self.prepare(*arguments) if self.prepare else arguments)
            except (Exception, SystemExit) as error:
                raise CheckFailed(self._stopped(answer, error, label, arguments, hidden)) from None
        if seen.calls:
            raise CheckFailed(self._not_allowed(seen.calls[0]))
        wrong, expected = self._compare(got, arguments, hidden)
        if wrong:
            raise CheckFailed(self._explain(got, expected, wrong, label, arguments, hidden))
        if self.also:
            try:
                with in_time(answer):
                    self.also(answer, arguments)
            except TooLong:
                raise CheckFailed(self._endless(label, arguments, hidden)) from None
            except CheckFailed as failure:
                raise CheckFailed(f"✗ {self.name}: the results are right, but there is something else.\n\n"
                                  + wrapped(str(failure))) from None

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
        if isinstance(error, TooLong):
            return self._endless(label, arguments, hidden)
        if isinstance(error, NotImplementedError):
            return f"· {name} is still empty: write your answer in place of `raise NotImplementedError()`."
        if isinstance(error, RecursionError):
            return f"✗ {name} calls itself without end.\n\n" + wrapped(
                f"Your function has taken over the name: is there a call of {name}(…) in it that was meant for another "
                "function? If it calls itself on purpose, when does it stop?")
        place = "" if hidden else students_line(answer, error)
        if hidden:
            return f"✗ {name}: right on the inputs that you see, but on another one ({label}) it stops with {what}."
        lines = [f"✗ {name} stops with an error ({label}).", "", *indented("input", self._input(arguments)),
                 *indented("error", f"{what}: {shortened(str(error))}"), *(indented("where", place) if place else [])]
        if advice := advise(error, self.name, len(arguments), self.hints.get("shapes", SHAPES)):
            lines += ["", wrapped(advice)]
        return "\n".join(lines)

    def _endless(self, label, arguments, hidden):
        lines = [f"✗ {self.name} has not come back after {SECONDS} seconds ({label})."]
        lines += [] if hidden else ["", *indented("input", self._input(arguments))]
        words = f"A `while` loop may never get on. {self.hints.get('endless', '')}"
        return "\n".join([*lines, "", wrapped(words)])

    def _not_allowed(self, called):
        instead = f" and use {self.instead}" if self.instead else ""
        return (f"✗ {self.name} calls {called}, which does what you are asked to write.\n\n"
                + wrapped(f"Take it out{instead}. (Comparing your own result with it, in a cell of your own, is a "
                          f"good idea.)"))

    def _look_at_source(self, answer):
        if found := answers.mentions(answers.source(answer), self.forbidden):
            raise CheckFailed(self._not_allowed(found[0]).replace(" calls ", " mentions ", 1))

    def _input(self, arguments):
        names = inspect.signature(self._expected).parameters
        return "\n".join(f"{name} = " + shown(value).replace("\n", "\n" + " " * (len(name) + 3))
                         for name, value in zip(names, arguments))


def in_time(answer):
    """A limit on the time of a call in this process. (A sandbox has its own.)"""
    return contextlib.nullcontext() if hasattr(answer, "_remote") else limit()


def advise(error, name, n_arguments, shapes=SHAPES):
    """A hint for errors that are often one mistake."""
    text = str(error)
    if isinstance(error, TypeError) and name in text and "positional argument" in text:
        return f"Leave the first line of the function as it was: it takes {n_arguments} arguments."
    if isinstance(error, NameError) and (found := re.search(r"name '(\w+)' is not defined", text)):
        return f"`{found[1]}` is not known here: is it spelled as where you defined it, and has that cell run?"
    if isinstance(error, (RuntimeError, ValueError)) and re.search(r"size of tensor|shapes cannot be mult|inconsistent "
                                                                   r"tensor size|size mismatch", text):
        return f"Two shapes do not fit. {shapes}"
    if isinstance(error, RuntimeError) and ("dtype" in text or "expected scalar type" in text):
        return "Two dtypes meet. Does a constant that you make have the dtype of the input (dtype=u.dtype)?"
    return None


def students_line(answer, error):
    """Where in the student's own code an error came up: “line 3 of softmax: e / e.sum()”; "" if that is not known."""
    home = getattr(answer, "__globals__", None)
    if home is None:
        return ""
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_globals is home]
    if not frames:
        return ""
    frame, line = frames[-1]
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    within = line - frame.f_code.co_firstlineno + 1
    return f"line {within} of {frame.f_code.co_name}" + (f":  {text}" if text else "")


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
    return shortened(repr(value)) if is_data(value) else kind(value).partition(" (")[0]


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
