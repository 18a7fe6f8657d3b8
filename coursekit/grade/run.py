"""The run of one notebook, in a process that runs the teacher's tests and nothing of a student's; see execute.py."""

import builtins
import contextlib
import copy
import dataclasses
import io
import os
import signal
import stat
import time
import warnings
from pathlib import Path

from nbformat.v4 import new_output

from coursekit.grade.cells import definition, hidden_lines, imports, plain_python
from coursekit.grade.checks import answers
from coursekit.grade.outputs import TEST_CELL, UNSHOWN, Outputs, error_output, failure, lines_of
from coursekit.grade.outside import Session
from coursekit.grade.protocol import Violation, clean
from coursekit.grade.walls import GraderError

STOPPED = "Your code was stopped: it ended its process, or used too much time or memory."
MAX_FILES, MAX_BYTES = 500, 50 << 20                                    # what a submission may bring along


@dataclasses.dataclass
class Done:
    """A cell that was run inside: had a hidden test asked before? did its sandbox, did the untold one survive it?"""

    source: str
    told: bool
    survived: bool = False
    survived_untold: bool = True


class Run:
    """Runs a notebook's cells in their order, each on its side, and survives what they do.

    nb, locked, folder, kind, limits: as in `execute.run_notebook`. `cells()` returns the notebook with its outputs;
    then `state` is "ran", "timed out" or "crashed", and `notes` says what happened.
    """

    def __init__(self, nb, locked, folder, kind, limits):
        self.nb, self.locked, self.folder, self.kind, self.limits = copy.deepcopy(nb), locked, folder, kind, limits
        self.state, self.notes = "ran", []
        self.session, self.starts, self.until = None, 0, time.monotonic() + 2 * limits.start
        self.done = []                                                  # of each cell run inside
        self.outputs = Outputs()
        self.told, self.untold, self.untold_starts = False, None, 0     # has a hidden test asked? see _untold
        self.names = Names()
        for name, cell in locked.items():
            if not cell.graded:
                self._import(name, imports(cell.source))

    def cells(self):
        """Run every cell; return the notebook."""
        tests, late = dict(self.locked), []                             # each runs once, however often it was copied
        try:
            self._alive()
            self.until = self.session.until = time.monotonic() + self.limits.submission
            for number, cell in enumerate(self.nb.cells, 1):
                if cell.cell_type != "code":
                    continue
                cell.outputs, cell.execution_count = [], None
                mine = tests.pop(cell.metadata.get("nbgrader", {}).get("grade_id"), None)
                if mine and mine.graded:
                    cell.outputs = self._test(mine.source)
                elif (source := mine.source if mine else cell.source).strip():
                    cell.outputs = self._inside(source, f"cell {number}")
                    cell.execution_count = len(self.done)
                    late += [cell] if self.told else []
            for cell in late if self.state != "ran" else ():            # where it stopped may tell a hidden input
                cell.outputs = []
        finally:
            for session in filter(None, (self.session, self.untold)):
                session.stop()
        return self.nb

    # ── the sandboxes ─────────────────────────────────────────────────────────────────────────────────────────────

    def _alive(self):
        """Make sure that there is a sandbox which has run what came before, but for the cells that brought one down."""
        self._in_time()
        while not (self.session and self.session.alive):
            if self.starts > self.limits.restarts:
                self._give_up("crashed", f"its sandbox was started {self.starts} times, and stopped each time")
            self.starts += 1
            self.session = self._new_session()
            with contextlib.suppress(Violation):
                for cell in self.done:
                    if cell.survived:
                        cell.survived = False                           # unless it survives this time too
                        self._outputs(self.session, cell.source)
                        cell.survived = True

    def _new_session(self):
        session = Session(self.kind, self.limits, self.until, self._source)
        for name, content in files_in(self.folder):
            session.ask("file", name, content)
        return session

    def _untold(self):
        """A second sandbox that no hidden test ever asked, after the same cells; and the outputs of the last of them.

        Once a hidden test has called an answer, student code knows its inputs and could print them. What people get to
        see after that comes from here: outputs of later cells, messages of visible tests. Not even whether a later cell
        showed anything, failed or died in the first sandbox makes a difference here: a student could tell a hidden
        input by that, bit by bit. It is started when needed.
        """
        if not (self.untold and self.untold.alive):
            if self.untold_starts > self.limits.restarts:
                raise Violation("its sandbox was stopped again and again")
            self.untold_starts += 1
            self.untold, self.caught_up = self._new_session(), 0
        outputs = []
        for cell in self.done[self.caught_up:]:
            self.caught_up += 1
            outputs = []
            if cell.survived_untold if cell.told else cell.survived:
                cell.survived_untold = False
                outputs = self._outputs(self.untold, cell.source)
                cell.survived_untold = True
        return self.untold, outputs

    def _outputs(self, session, source):
        """The outputs of a cell run in a sandbox, as they came; UNSHOWN in their place if they cannot travel."""
        try:
            return session.ask("cell", source, seconds=self.limits.cell)
        except Exception:                                               # but not a Violation
            return UNSHOWN

    def _in_time(self):
        if time.monotonic() > self.until:
            self._give_up("timed out", f"the {self.limits.submission:.0f} seconds of this notebook are over")

    def _give_up(self, state, why):
        if self.state == "ran":
            self.state = state
            self.notes.append(why)
        raise Violation(why)

    # ── cells ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _inside(self, source, where):
        """Run a cell inside; return its outputs. Whatever it does, the next one has a sandbox, if any are left."""
        outputs = []
        try:
            self._alive()
            self.done.append(Done(source, self.told))
            outputs = self._outputs(self.session, source)
            self.done[-1].survived = True
        except Violation as violation:
            if self.state != "ran":                                     # there is no sandbox any more, nor will be
                return []
            if not self.told:
                self.notes.append(f"{where} was stopped: {violation}")
                return [error_output("Stopped", f"This cell was stopped: {violation}.")]
            if (note := "cells were stopped after hidden tests had run") not in self.notes:
                self.notes.append(note)                                 # not how many, which or why: see _untold
        if self.told:
            try:
                outputs = self._untold()[1]
            except Violation as violation:
                return [error_output("Stopped", f"This cell was stopped: {violation}.")]
        return self.outputs.of(outputs)

    def _test(self, source):
        """Run a test cell outside; return its outputs: what it printed, and an error if it failed."""
        hidden = hidden_lines(source)
        self.told = self.told or bool(hidden)
        try:
            self._alive()
            printed, error = self._attempt(self.session, source)
        except Violation as violation:
            printed, error = "", violation
        outputs = [failure(error, source)] if error else []
        if self.told and isinstance(error, Violation):                  # why could tell a hidden input: see _untold
            outputs = [error_output("Stopped", STOPPED)]
        elif error and self.told and not hidden & lines_of(error):
            seen = "\n".join("" if number in hidden else line for number, line in enumerate(source.split("\n"), 1))
            try:
                printed, error = self._attempt(self._untold()[0], seen)
            except Violation as violation:
                printed, error = "", violation
            outputs = [failure(error, seen) if error else error_output("Failed", (
                "This test failed after others had run, and passes without them: do calls depend on one another?"))]
        if self.session.alive and (lines := imports(source)):
            self._inside(lines, "the imports of a test")                # as in a notebook that runs in one process
        if text := clean(printed, 20_000):
            outputs.insert(0, new_output("stream", name="stdout", text=text))
        return outputs

    def _attempt(self, session, source):
        """Run a test against a sandbox, within the seconds of a cell; return (what it printed, its error or None)."""
        try:
            code = compile(plain_python(source), TEST_CELL, "exec")
        except SyntaxError as error:
            raise GraderError(f"a test cell is no Python: {error}") from None
        printed = io.StringIO()
        self.names.fetch, self.names.fetched = session.name, {}
        session.until = min(self.until, time.monotonic() + self.limits.cell)
        signal.signal(signal.SIGALRM, _too_slow)
        signal.setitimer(signal.ITIMER_REAL, self.limits.cell + 5)
        try:
            answers.seed(0)
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
            session.until = self.until
            session.forget_functions()
        return printed.getvalue(), None

    def _source(self, name):
        return definition(name, [cell.source for cell in self.done])

    def _import(self, cell, lines):
        try:
            exec(lines, self.names)
        except Exception as error:
            raise GraderError(f"the locked cell {cell!r} imports what the grader does not have: {error}") from None


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


def files_in(folder):
    """(relative path, bytes) of the plain files that came with a notebook: no notebooks, links or hidden files."""
    size, count = 0, 0
    for here, folders, names in os.walk(folder) if folder else ():
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(here, name)
            if name.startswith(".") or name.endswith(".ipynb") or not stat.S_ISREG(path.lstat().st_mode):
                continue
            size, count = size + path.lstat().st_size, count + 1
            if size > MAX_BYTES or count > MAX_FILES:
                return
            yield str(path.relative_to(folder)), path.read_bytes()


def _too_slow(*_):
    raise Violation("the test did not finish in time")
