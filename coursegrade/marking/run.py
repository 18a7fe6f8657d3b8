"""The run of one notebook, in a process that runs the teacher's tests and nothing of a student's; see execute.py."""

import builtins
import contextlib
import copy
import dataclasses
import io
import os
import signal
import time
import warnings

from nbformat.v4 import new_output

from coursegrade.kit import earlier, score, services, unseen
from coursegrade.kit.limit import TooLong
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import EXACTLY, collected
from coursegrade.kit.same import same
from coursegrade.marking.cells import hidden_lines, imports, plain_python, without_hidden
from coursegrade.marking.outputs import TEST_CELL, Outputs, error_output, failure, verdict
from coursegrade.marking.replay import Replay
from coursegrade.sandbox.process import GraderError
from coursegrade.sandbox.protocol import Violation, clean

STOPPED = (Violation, TimeoutError, TooLong, MemoryError)               # what ends a test without a verdict


@dataclasses.dataclass(frozen=True)
class Asking:
    """How hidden tests are asked. seeds: of their inputs, see kit/unseen.py; each is tried, until one is not passed.
    known: {grade_id: verdict} of an earlier run of the same answers; these are not asked again. again: is there to be
    a second run if others have the processors? Then no hidden test is asked if that was so before. lends: are earlier
    functions that are wrong answered by the course's own?"""

    seeds: tuple = ("",)
    known: dict = dataclasses.field(default_factory=dict)
    again: bool = False
    lends: bool = True


@dataclasses.dataclass
class Hidden:
    """A test whose hidden lines are still to run: its id, source and cell, the steps before it, the teacher's names."""

    name: str
    source: str
    cell: dict
    steps: int
    names: dict


class Run:
    """Runs a notebook's cells in their order, each on its side, and survives what they do; hidden tests come last.

    nb, locked, files, kind, limits, asking: as in `execute.run_notebook`. `cells()` returns the notebook with its
    outputs; then `state` is "ran", "timed out" or "crashed", `notes` says what happened, `unseen` why hidden tests were
    not passed, {grade_id: text}, and `verdicts` what they have said, {grade_id: verdict}: of those that were answered,
    rightly or wrongly, and not stopped.

    What cells show must not depend on what a hidden test asked, since student code could tell it there. So first
    everything else runs, and its outputs, state and notes stand. Then each hidden test finds the names as they were at
    its cell, whatever later cells made of them (not the insides of objects: what a later cell does to a list stays
    done). Of what happens from then on only this is shown: passed, or what the check says of the case that failed. If
    that was drawn, it is told in numbers: it was drawn for these answers alone. Others are named.
    """

    def __init__(self, nb, locked, files, kind, limits, asking):
        self.nb, self.locked, self.limits, self.asking = copy.deepcopy(nb), locked, limits, asking
        self.verdicts, self.asked = {}, False
        os.environ[unseen.SEED], earlier.lends = asking.seeds[0], asking.lends
        self.sandbox, self.state, self.notes, self.unseen = Replay(files or {}, kind, limits), "ran", [], {}
        self.outputs, self.names, self.number = Outputs(), Names(), 0
        self.defined = {}                                               # by hidden tests, for those after them
        for name, cell in locked.items():
            if not cell.graded:
                self._import(name, cell.source)

    def cells(self):
        """Run every cell; return the notebook."""
        try:
            self.sandbox.reach()
            self.sandbox.begin(self.limits.submission)
            hidden = list(self._seen())
            if self.sandbox.given_up:
                self.state, why = self.sandbox.given_up
                self.notes.append(why)
            if self.asking.again and self.sandbox.was_starved:          # the second run shows it all, as the first one
                return self.nb
            self.sandbox.begin(self.limits.submission / 2)
            for test in hidden:
                self._hidden(test)
        finally:
            self.sandbox.stop()
        return self.nb

    # ── cells ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _seen(self):
        """Run all that students may see, in the notebook's order; yield what is left to do, a `Hidden` each."""
        tests = dict(self.locked)                                       # each runs once, however often it was copied
        for number, cell in enumerate(self.nb.cells, 1):
            if cell.cell_type != "code":
                continue
            cell.outputs, cell.execution_count = [], None
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            mine = tests.pop(name, None)
            if mine and mine.graded:
                cell.outputs = self._test(without_hidden(mine.source))
                if hidden_lines(mine.source) and not any(one.output_type == "error" for one in cell.outputs):
                    self._inside(None, f"cell {number}")
                    yield Hidden(name, mine.source, cell, len(self.sandbox.steps), dict(self.names))
            elif (source := mine.source if mine else cell.source).strip():
                cell.outputs = self._inside(source, f"cell {number}")
                self.number += 1
                cell.execution_count = self.number

    def _inside(self, source, where):
        """Run a cell inside; return its outputs. Whatever it does, the next one has a sandbox, if any are left."""
        try:
            return self.outputs.of(self.sandbox.take(source))
        except Violation as violation:
            if self.sandbox.given_up:
                return []
            self.notes.append(f"{where} was stopped: {violation}")
            return [error_output("Stopped", f"This cell was stopped: {violation}.")]

    def _test(self, source):
        """Run a test cell outside; return its outputs: what it printed, and an error if it failed."""
        try:
            self.sandbox.reach()
            printed, error = self._attempt(source)
        except Violation as violation:
            printed, error = "", violation
        outputs = [failure(error, source)] if error else []
        if self.sandbox.alive and (lines := imports(source)):
            self._inside(lines, "the imports of a test")                # as in a notebook that runs in one process
        if text := clean(printed, 20_000):
            outputs.insert(0, new_output("stream", name="stdout", text=text))
        return outputs

    def _hidden(self, test):
        """Run a test with its hidden lines, on the names as they were; its cell then shows what came of it."""
        before, os.environ[unseen.SEED] = test.names | self.defined, self.asking.seeds[0]
        if known := self.asking.known.get(test.name):
            self._names_are(before)
            for question, _ in self._collect(test):                     # what it defines, others may need
                score.record(question.topic, question.name, "passed" if known["passed"] else "failed", hidden=True)
        else:
            self.asked = True
            for seed in self.asking.seeds:
                os.environ[unseen.SEED] = seed
                draw = self._draw(test, before)
                self._names_are(before)
                os.environ[unseen.DRAW] = draw
                if error := self._ask(test):
                    break
            os.environ[unseen.DRAW] = ""
            known = {"passed": not error, "said": self._said(test, before, error) if error else "",
                     "why": clean(f"{type(error).__name__}: {error}", 2000) if error else ""}
            if not isinstance(error, STOPPED) and getattr(error, "kind", "") != "endless":
                self.verdicts[test.name] = known
        self.defined |= {name: value for name, value in self.names.items() if before.get(name, self) is not value}
        if not known["passed"]:
            self.unseen[test.name] = known["why"]
        test.cell.outputs = [*test.cell.outputs, verdict(known["passed"], known["said"])]

    def _ask(self, test):
        """The error of a hidden test, or None if it was passed."""
        try:
            self.sandbox.reach(test.steps)
            self.sandbox.restore(test.steps)
            _, error = self._attempt(test.source)
            self.sandbox.restore(test.steps)                            # steps that are still to come begin here
        except (Exception, Violation) as violation:
            return violation
        return error

    def _said(self, test, names, error):
        """What the student reads of a hidden test that failed: the case as it is if it was drawn, else its label."""
        if not isinstance(error, CheckFailed) or error.kind == "empty":
            return ""
        if error.in_full and error.case:
            label, arguments = error.case
            after = dict(self.names)
            self._names_are(names)
            others = [cases[label] for _, cases in self._collect(test, draw="another") if label in cases]
            self._names_are(after)
            if others and not _alike(arguments, others[0]):
                return clean(str(error.in_full), 20_000)
        return clean(str(error), 20_000)

    def _draw(self, test, names):
        """The first draw of a hidden test's inputs in which all keep what their statements promise: "", "1", "2", …"""
        for draw in ("", *map(str, range(1, 10))):
            self._names_are(names)
            if not any(question.broken(arguments) for question, cases in self._collect(test, draw)
                       for arguments in cases.values()):
                return draw
        return ""

    def _collect(self, test, draw=""):
        """[(question, cases)] of a hidden test, of which nothing is asked; [] if it cannot be told without asking."""
        os.environ[unseen.DRAW] = draw
        self.names.fetch, self.names.fetched = lambda name: None, {}
        try:
            with collected() as found, contextlib.redirect_stdout(io.StringIO()):
                exec(compile(plain_python(test.source), TEST_CELL, "exec"), self.names)
            return found
        except Exception:
            return []
        finally:
            os.environ[unseen.DRAW] = ""

    def _names_are(self, names):
        self.names.clear()
        self.names.update(names)

    def _attempt(self, source):
        """Run a test against the sandbox, within the seconds of a cell; return (what it printed, its error or None)."""
        try:
            code = compile(plain_python(source), TEST_CELL, "exec")
        except SyntaxError as error:
            raise GraderError(f"a test cell is no Python: {error}") from None
        printed, session = io.StringIO(), self.sandbox.session
        self.names.fetch, self.names.fetched = session.name, {}
        session.until = min(self.sandbox.until, time.monotonic() + self.limits.cell)
        signal.signal(signal.SIGALRM, _too_slow)
        signal.setitimer(signal.ITIMER_REAL, self.limits.cell + 5)
        try:
            services.seed(0)
            session.ask("seed", 0)
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), \
                    warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, self.names)
            if not session.alive:                                       # whatever the check made of that
                raise Violation(session.sandbox.why or "its process ended")
        except GraderError:
            raise
        except (Exception, Violation, SystemExit) as error:
            return printed.getvalue(), error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            session.until = self.sandbox.until
            session.forget_functions()
        return printed.getvalue(), None

    def _import(self, cell, source):
        try:
            exec(imports(source), self.names)
        except Exception as error:
            raise GraderError(f"the locked cell {cell!r} imports what the grader does not have: {error}") from None


def _alike(some, others):
    """Are these arguments the same, as far as they are data?"""
    return all(callable(one) or same(one, other, EXACTLY) for one, other in zip(some, others, strict=True))


class Names(dict):
    """The names of the test cells: the teacher's imports and their own; what is missing is fetched from the sandbox.

    So a name of the student's never hides one of the teacher's, nor a builtin.
    """

    def __init__(self):
        super().__init__(__name__="__main__")
        self.fetch, self.fetched = None, {}

    def __missing__(self, name):
        if hasattr(builtins, name) or name.startswith("__") or not self.fetch:
            raise KeyError(name)
        if name not in self.fetched:
            self.fetched[name] = self.fetch(name)
        return self.fetched[name]


def _too_slow(*_):
    raise Violation("the test did not finish in time")
