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

import ast
import contextlib
import functools
import importlib
import inspect
import re
import types

from coursekit.grade.kit import services
from coursekit.grade.kit.failure import CheckFailed
from coursekit.grade.kit.limit import SECONDS, TooLong, limit
from coursekit.grade.kit.same import difference, kind, same
from coursekit.grade.kit.score import points, record
from coursekit.grade.kit.words import SHAPES, advise, indented, shortened, shown, wrapped

EXACTLY = (0, 0)    # tolerance

COPY = {            # what an answer could change, and what to do instead
    "a list": "`+=`, `.append(…)` and `.pop(…)` change a list, also one inside a list; `[*{0}]` is a new list, and "
              "`a + b` makes one.",
    "a dictionary": "An assignment to an entry, `.pop(…)` and `del` change a dictionary; `dict({0})` is a copy that "
                    "you may change.",
    "a set": "`.add(…)` and `|=` change a set; `a | b` makes a new one.",
    "a tensor": "`+=`, an assignment to `{0}[…]`, and methods whose names end in _ change a tensor; "
                "`{0}.clone()` is a copy, and operations without _ make a new one.",
    "a NumPy array": "`+=`, `-=` and an assignment to `{0}[…]` change an array; `{0}.copy()` is one that you may "
                     "change."}


def question(points, cases, **options):
    """A decorator that turns a function, what is expected for given arguments, into the `Question` of that name.

    points: (of the check, of the hidden tests); tests hold the notebook to it. cases: {label: arguments}. Options:
    forbidden: full names of functions that the answer must not call; instead: what to use in their place;
    also: a function (answer, arguments) that raises CheckFailed for what results do not show;
    tolerance: (relative, absolute), as in `difference`;
    prepare: the case's arguments → what the answer is given (for functions that must not carry their truth with them);
    hints: what to ask when the answer stops or does not: {"shapes": …} if two do not fit, {"endless": …}, {"empty": …}
        if it calls another question's function that is still empty, {"nothing": …} if it returns
        nothing; or what to say of an error, under its name: {"IndexError": …};
    parts: names of the results, where there are several.
    """
    return lambda function: Question(function, points, cases, **options)


class Question:
    """A check: call it with a student's function. See `question`."""

    def __init__(self, function, points, cases, forbidden=(), instead="", also=None, tolerance=None,
                 prepare=None, hints=None, parts=()):
        functools.update_wrapper(self, function)
        self.name, self.topic = function.__name__, None                 # `announce` says of which topic it is one
        self.points, self.cases, self.tolerance, self.also = points, cases, tolerance, also
        self.forbidden, self.instead, self.prepare, self.hints = forbidden, instead, prepare, hints or {}
        self.parts = parts
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
        import_for(answer)
        for label, arguments in (cases or self.cases).items():
            self._try(answer, label, arguments, hidden)
        self._look_at_names(answer)
        record(self.topic, self.name, "passed", hidden)
        print(f"✓ {self.name}: right on " + (f"{len(cases)} more inputs." if cases else f"{'; '.join(self.cases)}."))

    def _try(self, answer, label, arguments, hidden):
        with services.watch(answer, self.forbidden) as seen:
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
        if changed and kind(changed[1]) == "a tensor":    # `also` may ask for gradients, which that breaks
            raise CheckFailed(self._changes(*changed))
        if self.also:
            try:
                with in_time(answer):
                    self.also(answer, arguments)
            except (TooLong, TimeoutError):
                raise CheckFailed(self._endless(answer, label, arguments, hidden)) from None
            except CheckFailed as failure:
                raise CheckFailed(f"✗ {self.name}: right so far, but there is something else.\n\n"
                                  + wrapped(str(failure))) from None
        if changed:
            raise CheckFailed(self._changes(*changed))

    def _run(self, answer, arguments):
        """The result, and (name, value, what it left) of the first argument that it has changed; None if none."""
        given = self.prepare(*arguments) if self.prepare else arguments
        if not (places := [i for i, value in enumerate(given) if kind(value) in COPY]):
            return services.run(answer, given), None
        got, left = services.back(answer, given, places)
        names = list(inspect.signature(self._expected).parameters)
        changed = [(names[i], given[i], value) for i, value in zip(places, left)
                   if not same(value, given[i], EXACTLY)]
        return got, changed[0] if changed else None

    def _compare(self, got, arguments, hidden):
        """What is wrong, in words (None if nothing is), and what was expected (None if many things would do)."""
        if self._judge:
            return self._judge(got, *services.copies(arguments)), None
        expected = self._expected(*services.copies(arguments))
        wrong = difference(got, expected, self.tolerance, numbers=not hidden)
        if wrong and self.parts:
            wrong = re.sub(r"^at \[(\d)\]", lambda at: self.parts[int(at[1])], wrong)
        return wrong, expected

    # -- what it says --------------------------------------------------------------------------------------------------

    def _explain(self, got, expected, wrong, label, arguments, hidden):
        likely = self._likely(got, arguments)
        if hidden:
            lines = [f"✗ {self.name}: right on the inputs that you see, not on another one ({label})."]
            lines += [] if self._judge else ["", *indented("wrong", wrong)]
        else:
            lines = [f"✗ {self.name} is not right yet ({label}).", "", *indented("input", self._input(arguments)),
                     *self._values(got, expected), *indented("wrong", wrong)]
        if likely:
            lines += ["", wrapped(likely)]
        return "\n".join(lines)

    def _values(self, got, expected):
        """Lines on what came back and what was expected. Of several results, and of many weights, only what differs."""
        if self.parts and expected is not None and type(got) in (list, tuple) and len(got) == len(self.parts):
            pairs = [(part, *pair) for part, *pair in zip(self.parts, got, expected) if not same(*pair, self.tolerance)]
            return [line for part, mine, due in pairs[:1] for title, value in (("got", mine), ("expected", due))
                    for line in indented(title, _named(part, shown(value)))]
        if kind(got) == kind(expected) == "a dictionary" and {kind(w) for w in expected.values()} == {"a tensor"}:
            mine = list(dict.keys(got))
            lines = {"missing": [key for key in expected if key not in mine],
                     "extra": [key for key in mine if key not in expected]}
            return [line for title, keys in lines.items() if keys for line in indented(title, shown(keys))]
        return [*indented("got", shown(got)), *(indented("expected", shown(expected)) if expected is not None else [])]

    def _likely(self, got, arguments):
        """The likeliest misconception behind a wrong result, or None."""
        if got is None:
            return self.hints.get("nothing", "The function returned nothing. Does it end with `return …`? (Printing a "
                                             "result does not return it.)")
        if kind(got).startswith("a function"):
            return "What came back is a function. Was it meant to be called, with brackets?"
        try:
            return self._suspect and self._suspect(got, *services.copies(arguments))
        except Exception:                                               # results may be anything: then no guess is made
            return None

    def _stopped(self, answer, error, label, arguments, hidden):
        name, what = self.name, type(error).__name__
        if isinstance(error, (TooLong, TimeoutError)):                  # of `limit`, of a sandbox
            return self._endless(answer, label, arguments, hidden)
        if isinstance(error, NotImplementedError):
            if other := self._empty_one(answer, error):
                return f"✗ {name} calls {other}, which is still empty.\n\n" + wrapped(
                    self.hints.get("empty", "Write it first."))
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
        if place := services.where(answer, error):
            lines += indented("where", place)
        advice = self.hints.get(what) or advise(error, self.name, len(arguments), self.hints.get("shapes", SHAPES))
        if advice:
            lines += ["", wrapped(advice)]
        return "\n".join(lines)

    def _empty_one(self, answer, error):
        """The question, with its number, whose empty function the answer has called; None if it is empty itself."""
        asked = list(points(self.topic)) if self.topic else []
        found = re.match(r"line \d+ of (\w+)", services.where(answer, error))
        if not found or found[1] == self.name or found[1] not in asked:
            return None
        return f"`{found[1]}` (question {asked.index(found[1]) + 1})"

    def _endless(self, answer, label, arguments, hidden):
        when = "in time" if hasattr(answer, "_remote") else f"after {SECONDS} seconds"
        lines = [f"✗ {self.name} has not come back {when} ({label})."]
        lines += [] if hidden else ["", *indented("input", self._input(arguments))]
        words = f"A `while` loop may never get on. {self.hints.get('endless', '')}"
        return "\n".join([*lines, "", wrapped(words)])

    def _changes(self, name, value, left):
        if kind(value) == kind(left) == "a dictionary" and list(value) == list(left):       # what is in it was changed
            key = next(key for key in value if not same(left[key], value[key], EXACTLY))
            if kind(value[key]) in COPY:
                return self._changes(f"{name}[{key!r}]", value[key], left[key])
        return (f"✗ {self.name}: right so far, but it changes what it is given: `{name}`.\n\n"
                + wrapped(f"Whoever calls it still needs `{name}` as it was. {COPY[kind(value)].format(name)}"))

    def _not_allowed(self, called):
        instead = f" and use {self.instead}" if self.instead else ""
        return (f"✗ {self.name} calls {called}, which is the step that this question is about.\n\n"
                + wrapped(f"Take it out{instead}. (Comparing your own result with it, in a cell of your own, is a "
                          f"good idea.)"))

    def _look_at_names(self, answer):
        if found := services.named(answer, self.forbidden):
            raise CheckFailed(self._not_allowed(found[0]).replace(" calls ", " mentions ", 1))

    def _input(self, arguments):
        names = inspect.signature(self._expected).parameters
        return "\n".join(_named(name, _described(value)) for name, value in zip(names, arguments))


def _named(name, text):
    """"name = text", the text's other lines under its first."""
    return f"{name} = " + text.replace("\n", "\n" + " " * (len(name) + 3))


def _described(value):
    """An argument of a case; of a function of this library the first line of its docstring, if it has one."""
    if type(value) is types.FunctionType and value.__doc__:
        return value.__doc__.partition("\n")[0]
    return shown(value)


def import_for(answer):
    """Import what the source of an answer imports, and torch._dynamo, which torch.func loads when it is first called:
    a slow import is no endless loop, and does not count as the answer's own time. (A sandbox has its own limit.)"""
    text, names = "" if hasattr(answer, "_remote") else services.source(answer), []
    with contextlib.suppress(SyntaxError):                              # a lambda's source may be half a line
        for node in ast.walk(ast.parse(text)):
            names += [node.module] if isinstance(node, ast.ImportFrom) else [
                alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if re.search(r"\bfunc\.|(?<!autograd\.)\b(grad|grad_and_value|jac\w+|vjp|jvp|linearize)\(", text):
        names.append("torch._dynamo")
    for name in names:
        with contextlib.suppress(Exception):                            # the answer will meet it, and say so
            importlib.import_module(name)


def in_time(answer):
    """A limit on the time of a call in this process. (A sandbox has its own.)"""
    return contextlib.nullcontext() if hasattr(answer, "_remote") else limit()
