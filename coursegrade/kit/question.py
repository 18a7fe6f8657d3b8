"""A question of an assignment, declared in one place: what is expected, on which inputs, in which form, for how many
points, and the mistakes that a good teaching assistant would recognise.

    @question((2, 2), {"three scores": (torch.tensor([1., 2., 3.]), 0)}, returns="(n,)", forbidden=("torch.softmax",))
    def softmax(u, axis):                   # what is expected; the answer is compared with it
        g = torch.exp(u - u.amax(axis, keepdim=True))
        return g / g.sum(axis, keepdim=True)

    softmax.mistakes(                       # (words, what is done instead), the likeliest first: "old → new", in the
        ("e to the power of u, not 2.", "exp( → exp2("),                    # reference's own source, or a function
        ("The sum runs along the other axis.", lambda u, axis: softmax.reference(u, 1 - axis)))

Where the reference is the notebook's solution, it is written there alone, and this is called with what was made of it
(solution.py): softmax = Question(solution.softmax, (2, 2), …).

`softmax(answer)` then tries the answer on the cases; it must leave its arguments as they were. With
`softmax(answer, cases)`, cases that students do not see, nothing of the inputs gets into the message, only their labels
and what went wrong. What it would say of a case that everybody may see is kept beside it, in the failure's `in_full`.
"""

import contextlib
import functools
import inspect
import io
import re

from coursegrade.kit import earlier, errors, form, mistakes, reveal, score, services
from coursegrade.kit.limit import SECONDS, TooLong, import_for, in_time
from coursegrade.kit.messages import CheckFailed, named
from coursegrade.kit.same import difference, kind, same
from coursegrade.kit.values import described, shortened, shown

EXACTLY = (0, 0)    # tolerance
GATE, BEST = 0.8, 0.95      # of the best that is known, in an open task
SPECIAL = ("shapes", "endless", "empty", "nothing", "changed")     # hints that are no patterns

_only_shown = []        # where `collected` is open: what it collects

COPY = {            # what an answer could change, and what to do instead
    "a list": "`+=`, `.append(…)` and `.pop(…)` change a list, also one inside a list; `[*{0}]` is a new list "
              "(the lists in it stay what they were), and `a + b` makes one.",
    "a dictionary": "An assignment to an entry, `.pop(…)` and `del` change a dictionary; `dict({0})` is a copy that "
                    "you may change.",
    "a set": "`.add(…)` and `|=` change a set; `a | b` makes a new one.",
    "a tensor": "`+=`, an assignment to `{0}[…]`, and methods whose names end in _ change a tensor; "
                "`{0}.clone()` is a copy, and operations without _ make a new one.",
    "a NumPy array": "`+=`, `-=` and an assignment to `{0}[…]` change an array; `{0}.copy()` is one that you may "
                     "change."}


def question(points, cases, **options):
    """A decorator that turns a function, what is expected for given arguments, into the `Question` of that name.

    points: (of the check, of the hidden tests), both 0 for a bonus; tests hold the notebook to it. cases: {label:
    arguments}. Options:
    returns: the form of the results as the statement writes it, "output (T, d_e), A (K, T, T)"; see form.py;
    forbidden: full names of functions that the answer must not call; instead: what to use in their place;
    otherwise: the advice on a wrong result that no mistake explains;
    also: a function (answer, arguments) that raises CheckFailed for what results do not show;
    tolerance: (relative, absolute), as in `difference`;
    promises: {words of the statement: arguments of a case → do they keep it?}, what every input keeps, visible or
        hidden. Tests try them on 200 draws, and what breaks one when work is marked is drawn again;
    given: the case's arguments → what the answer is given, and the reference, and every mistake (for black boxes, whose
        functions must not carry their truth with them);
    hints: what to ask when the answer stops or does not: {"shapes": …} if two do not fit, {"endless": …}, {"empty": …}
        if it calls another question's function that is still empty, {"nothing": …} if it returns nothing, {"changed":
        …} if it changes what it is given; or what to say of an error, under a pattern in three lines: the case's label
        and the kinds of its arguments, the line where the answer stopped, the error's name and text;
    uses: the arguments of a case → [(an earlier question, the arguments it is called with there)]: tried before the
        answer is blamed, in place of the earlier question's own cases;
    lend: names of earlier questions whose functions are answered by the reference when work is marked, if the student's
        are wrong, so that one slip costs once. Only data may go in and out of them, and only what the reference of this
        question asks of theirs (so it calls them, or `uses` says what it asks): see lending.py;
    free: names of parameters, such as an axis, that may be anything when this question's own function is lent;
    why: two lines on the choice made in the course's answer, for who has it shown; see reveal.py;
    known: of an open task with a `measure`, the best value that we know. The check is a gate, at 80 % of it; a second
        test, `question.best(answer)`, asks for 95 %. So points are (at the gate, for the best).
    """
    return lambda function: Question(function, points, cases, **options)


@contextlib.contextmanager
def collected():
    """While it is open, questions ask nothing: each only notes what it was to be asked, as (question, cases)."""
    found = []
    _only_shown.append(found)
    try:
        yield found
    finally:
        _only_shown.remove(found)


class Question:
    """A check: call it with a student's function. See `question`."""

    def __init__(self, function, points, cases, returns="", forbidden=(), instead="", otherwise="", also=None,
                 tolerance=None, promises=None, given=None, hints=None, uses=None, lend=(), free=(), why="",
                 known=None):
        functools.update_wrapper(self, function)
        self.name, self.topic = function.__name__, None                 # `announce` says of which topic it is one
        self.points, self.cases, self.tolerance, self.also = points, cases, tolerance, also
        self.returns = form.parts_of(returns)
        self.forbidden, self.instead, self.otherwise, self.hints = forbidden, instead, otherwise, hints or {}
        self.promises, self.given, self.uses, self.lend, self.free = promises or {}, given, uses, lend, free
        self.reference, self._suspect, self._judge, self._mistakes, self.why = function, None, None, [], why
        self.known, self._measure, self._reached = known, None, None

    def mistakes(self, *pairs):
        """(words, what is done instead), the likeliest first; see mistakes.py."""
        self._mistakes += [(words, mistakes.as_answer(self.reference, *instead)) for words, *instead in pairs]

    def broken(self, arguments):
        """The first promise of the statement that the arguments of a case break, in its words; None if none.

        >>> root = question((1, 1), {}, promises={"x is not below 0": lambda x: x >= 0})(lambda x: x ** 0.5)
        >>> root.broken((4,)), root.broken((-4,))
        (None, 'x is not below 0')
        """
        return next((words for words, keeps in self.promises.items() if not keeps(*arguments)), None)

    def wrong_answers(self):
        """[(words, answer)] of the mistakes, to be handed in."""
        return list(self._mistakes)

    def suspect(self, function):
        """Decorator: (got, *arguments of the case) yields advice on a wrong result that no mistake explains; the first
        is said."""
        self._suspect = function
        return self

    def judge(self, function):
        """Decorator: (got, *arguments of the case) yields what is wrong, or (what is wrong, advice); the first counts.
        In place of a comparison with one right result."""
        self._judge = function
        return self

    def measure(self, function):
        """Decorator: (got, *arguments of the case) → how good a valid answer to an open task is; more is better."""
        self._measure = function
        return self

    def best(self, answer):
        """The second test of an open task: is it as good as the best that is known, or nearly?"""
        score.record(self.topic, self.name, "failed", hidden=True)
        self(answer)
        if not _only_shown:
            if self._reached < BEST * self.known:
                raise CheckFailed(f"From {BEST * self.known:.3g} on it has all points.",
                                  f"✗ {self.name}: {self._how()}.")
            score.record(self.topic, self.name, "passed", hidden=True)

    def _how(self):
        return f"yours {self._reached:.3g}, best known {self.known:.3g}"

    def __call__(self, answer, cases=None):
        hidden, tried = cases is not None, self.cases if cases is None else cases
        if not tried:
            raise ValueError(f"{self.name} was given no cases to be tried on")
        if _only_shown:
            _only_shown[-1].append((self, tried))
            return
        score.record(self.topic, self.name, "failed", hidden)
        if not callable(answer):
            raise CheckFailed("", f"✗ {self.name}: this check wants the function itself, without brackets or quotes, "
                                  f"and got {kind(answer)}.")
        import_for(answer)
        helped = ""
        try:
            self.attempt(answer, tried, hidden)
        except CheckFailed as failure:
            if failure.kind == "empty":
                score.record(self.topic, self.name, "empty", hidden)
                raise
            marking = hidden or hasattr(answer, "_remote")
            due = earlier.blame(self, answer, failure, hidden) or failure           # before anything is lent
            lent = earlier.with_lent(self, answer, tried, hidden) if marking else []
            if not lent:
                raise due if marking else reveal.offered(self, due) from None
            helped = f", with {' and '.join(lent)} answered by the course's own"
        where = f"{len(cases)} more inputs" if hidden else "; ".join(self.cases)
        how = f"; {self._how()}" if self._measure else ""
        enough = self._measure and self._reached >= BEST * self.known and self.points[1]
        print(f"✓ {self.name}: right on {where}{helped}{how}{', near enough for all points' if enough else ''}.")
        score.record(self.topic, self.name, "passed", hidden)

    def answer(self):
        """The course's answer, for who has tried three times; see reveal.py."""
        return reveal.answer(self)

    def attempt(self, answer, cases, hidden=False):
        """Try an answer on cases. If one fails: CheckFailed, with its label and arguments in the field `case`."""
        tried = []                                                      # (result, arguments)
        for label, arguments in cases.items():
            others = functools.partial(self._others, answer, tried, cases, hidden)
            try:
                tried.append((self._try(answer, label, arguments, hidden, others), arguments))
            except CheckFailed as failure:
                failure.case = label, arguments
                raise
        if found := services.named(answer, self.forbidden):
            raise self._not_allowed("mentions", found[0])

    def _try(self, answer, label, arguments, hidden, others):
        with services.watch(answer, self.forbidden) as seen:
            try:
                with in_time(answer):
                    got, changed = self._run(answer, arguments)
            except (Exception, SystemExit) as error:
                if seen.calls and not isinstance(error, (TooLong, TimeoutError)):
                    raise self._not_allowed("calls", seen.calls[0]) from None
                raise self._stopped(answer, error, label, arguments, hidden) from None
        if seen.calls:
            raise self._not_allowed("calls", seen.calls[0])
        wrong, expected = self._compare(got, arguments)
        if wrong:
            raise self._explain(answer, got, expected, wrong, label, arguments, hidden, others)
        if changed and kind(changed[1]) == "a tensor":    # `also` may ask for gradients, which that breaks
            raise self._changes(*changed)
        if self.also:
            try:
                with in_time(answer):
                    self.also(answer, arguments)
            except CheckFailed as failure:
                raise CheckFailed(failure.advice,
                                  f"✗ {self.name}: right so far, but there is something else.") from None
            except Exception as error:                                  # of the answer, which is called again there
                raise self._stopped(answer, error, label, arguments, hidden) from None
        if changed:
            raise self._changes(*changed)
        return got

    def _others(self, answer, tried, cases, hidden):
        """[(result, what makes its arguments, is it right?)] of cases beside the one that failed, for a mistake to
        explain: those tried before, and those to come; of hidden tests those that everybody sees, if they were passed.
        (In a sandbox nothing is called again, and nothing more.)"""
        found, here = [(*entry, True) for entry in tried], not hasattr(answer, "_remote")
        to_come = [*cases.values()][len(tried) + 1:] if here and not hidden else ()
        seen = self.cases.values() if hidden and not self._judge and score.passed(self.topic, self.name) else ()
        with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stdout(io.StringIO()):
            for who, those in ((answer, to_come), (self.reference, seen)):
                for arguments in those:
                    with in_time(answer):
                        found.append((self._run(who, arguments)[0], arguments, who is not answer))
        return [(got, functools.partial(self._given, arguments), right) for got, arguments, right in found]

    def _given(self, arguments):
        """What the reference and mistakes are given for the arguments of a case, anew each time."""
        return self.given(*arguments) if self.given else services.copies(arguments)

    def _run(self, answer, arguments):
        """The result, and (name, value, what it left) of the first argument that it has changed; None if none."""
        given = self.given(*arguments) if self.given else arguments
        if not (places := [i for i, value in enumerate(given) if kind(value) in COPY]):
            return services.run(answer, given), None
        got, left = services.back(answer, given, places)
        names = list(inspect.signature(self.reference).parameters)
        changed = [(names[i], given[i], value) for i, value in zip(places, left, strict=True)
                   if not same(value, given[i], EXACTLY)]
        return got, changed[0] if changed else None

    def _compare(self, got, arguments):
        """What is wrong, in words (None if nothing is), and what was expected (None if many things would do)."""
        if self._judge:
            try:
                return _first(self._judge(got, *services.copies(arguments))) or self._below(got, arguments), None
            except Exception:                                           # results may be anything
                return f"got {kind(got)}, and not what was asked for", None
        expected = services.run(self.reference, self._given(arguments))
        return self._difference(got, expected), expected

    def _below(self, got, arguments):
        """What to say of an open task's answer that is valid, and does not pass the gate; None of others."""
        if self._measure:
            self._reached = self._measure(got, *services.copies(arguments))
            if self._reached < GATE * self.known:
                return f"{self._how()}: the gate is at {GATE * self.known:.3g}"
        return None

    def _difference(self, got, expected, numbers=True):
        """What differs, in words; without numbers where the inputs are not to be told. None if nothing does."""
        wrong = difference(got, expected, self.tolerance, numbers=numbers)
        return re.sub(r"^at \[(\d)\]", lambda at: self.returns[int(at[1])].name, wrong) if (
            wrong and len(self.returns) > 1) else wrong

    # -- what it says --------------------------------------------------------------------------------------------------

    def _explain(self, answer, got, expected, wrong, label, arguments, hidden, others):
        wrong, judged = wrong if type(wrong) is tuple else (wrong, None)
        advice = self._likely(answer, got, expected, arguments, others, judged) or ""
        in_full = CheckFailed(
            advice, f"✗ {self.name} is not right {'on an input drawn for you' if hidden else 'yet'} ({label}).",
            [*self._input(arguments), *self._values(got, expected), ("wrong", wrong)])
        if not hidden:
            return in_full
        where = ("right on the inputs that you see, not on another one" if score.passed(self.topic, self.name) else
                 "not right on inputs that you do not see")
        rows = [] if self._judge else [("wrong", self._difference(got, expected, numbers=False))]
        return CheckFailed(advice, f"✗ {self.name}: {where} ({label}).", rows, in_full=in_full)

    def _values(self, got, expected):
        """Rows on what came back and what was expected. Of several results, and of many weights, only what differs."""
        if expected is None and self._judge:
            return [("got", shown(got))]
        if len(self.returns) > 1 and type(expected) in (list, tuple) and type(got) in (list, tuple) and (
                len(got) == len(expected) == len(self.returns)):
            part, mine, due = next(entry for entry in zip(self.returns, got, expected, strict=True)
                                   if not same(*entry[1:], self.tolerance))
            return [("got", named(part.name, shown(mine))), ("expected", named(part.name, shown(due)))]
        if kind(got) == kind(expected) == "a dictionary" and {kind(w) for w in expected.values()} == {"a tensor"}:
            mine = list(dict.keys(got))
            lines = {"missing": [key for key in expected if key not in mine],
                     "extra": [key for key in mine if key not in expected]}
            return [(title, shown(keys)) for title, keys in lines.items() if keys]
        return [("got", shown(got)), ("expected", shown(expected))]

    def _likely(self, answer, got, expected, arguments, others, judged):
        """The likeliest misconception behind a wrong result, or None. A mistake that is not proved is asked for."""
        if got is None:
            return self.hints.get("nothing", "The function returned nothing. Does it end with `return …`? (Printing a "
                                             "result does not return it.)")
        if kind(got).startswith("a function"):
            return "What came back is a function. Was it meant to be called, with brackets?"
        for guess in (lambda: mistakes.likeliest(self._mistakes, got, expected, lambda: self._given(arguments),
                                                 self.tolerance, others),
                      lambda: judged,
                      lambda: self._suspect and _first(self._suspect(got, *services.copies(arguments))),
                      lambda: form.about_form(self.returns, got, expected),
                      lambda: errors.first_line(self.reference, services.source(answer)),
                      lambda: " ".join(filter(None, [form.about_kind(self.returns, got, expected), self.otherwise]))):
            with contextlib.suppress(Exception):                        # results may be anything: then no guess is made
                if words := guess():
                    return words
        return self.otherwise

    def _stopped(self, answer, error, label, arguments, hidden):
        name, what = self.name, type(error).__name__
        if isinstance(error, (TooLong, TimeoutError)):                  # of `limit`, of a sandbox
            return self._endless(answer, label, arguments, hidden)
        if isinstance(error, NotImplementedError) and not str(error):   # torch's own has a text
            if other := earlier.empty_one(self, answer, services.where(answer, error)):
                return other
            return CheckFailed("", f"· {name} is still empty: write your answer in place of `raise "
                                   "NotImplementedError()`.", kind="empty")
        if isinstance(error, RecursionError):
            return CheckFailed(
                f"Your function has taken over the name: is there a call of {name}(…) in it that was meant for another "
                "function? If it calls itself on purpose, when does it stop?", f"✗ {name} calls itself without end.")
        place = services.where(answer, error)
        said = f"{label}: {', '.join(map(kind, arguments))}\n{place}\n{what}: {error}"
        hint = next((words for pattern, words in self.hints.items()
                     if pattern not in SPECIAL and re.search(pattern, said)), None)
        advice = hint or errors.first_line(self.reference, services.source(answer)) or errors.advise(
            error, name, len(arguments), self.hints.get("shapes", errors.SHAPES)) or ""
        drawn = " on an input drawn for you" * hidden
        in_full = CheckFailed(advice, f"✗ {name} stops with an error{drawn} ({label}).", [
            *self._input(arguments), ("error", f"{what}: {shortened(str(error))}"),
            *([("where", place)] if place else [])], "stopped")
        if not hidden:
            return in_full
        where = "right on the inputs that you see, but on another one" if score.passed(self.topic, name) else (
            "on inputs that you do not see")
        return CheckFailed("", f"✗ {name}: {where} ({label}) it stops with {what}.", (), "stopped", in_full)

    def _endless(self, answer, label, arguments, hidden):
        when = "in time" if hasattr(answer, "_remote") else f"after {SECONDS} seconds"
        loop = "A `while` loop may never get on. " * ("while" in services.source(answer))
        return CheckFailed(f"{loop}{self.hints.get('endless', '')}".strip(),
                           f"✗ {self.name} has not come back {when} ({label}).",
                           [] if hidden else self._input(arguments), "endless")

    def _changes(self, name, value, left):
        if kind(value) == kind(left) == "a dictionary" and list(value) == list(left):       # what is in it was changed
            key = next(key for key in value if not same(left[key], value[key], EXACTLY))
            if kind(value[key]) in COPY:
                return self._changes(f"{name}[{key!r}]", value[key], left[key])
        how = self.hints.get("changed", COPY[kind(value)].format(name))
        return CheckFailed(f"Whoever calls it still needs `{name}` as it was. {how}",
                           f"✗ {self.name}: right so far, but it changes what it is given: `{name}`.", kind="changed")

    def _not_allowed(self, does, called):
        instead = f" and use {self.instead}" if self.instead else ""
        return CheckFailed(
            f"Take it out{instead}. (Comparing your own result with it, in a cell of your own, is a good idea.)",
            f"✗ {self.name} {does} {called}, which is the step that this question is about.", kind="forbidden")

    def _input(self, arguments):
        """The row on the arguments of a case, in a list; none for a task that has no arguments."""
        names = inspect.signature(self.reference).parameters
        lines = [named(name, described(value)) for name, value in zip(names, arguments, strict=False)]
        return [("input", "\n".join(lines))] if lines else []


def _first(words):
    """The first of what is yielded that is not None or empty; None if there is none."""
    return next(filter(None, words), None)
