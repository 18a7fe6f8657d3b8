"""Grades the submissions of an assignment: in parallel where student code runs, one after another where marks are kept.

For each submission: look at it (intake.py); run it in a sandbox (execute.py, on any `concurrent.futures.Executor`),
unless what a run would find is known already (outcomes.py); enter the marks into the gradebook (entering.py), and last
of all write the record (records.py). Whatever happens to one of them is its own matter. Only what is wrong with the
grader itself, a `GraderError`, stops the batch: that is nobody's zero, and what was done until then is kept.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import multiprocessing
import operator
import os
import shutil
import sys
import time
from pathlib import Path

import nbformat
from nbgrader.api import Student
from nbgrader.utils import determine_grade, is_grade, is_solution
from tqdm import tqdm

from coursegrade import courses
from coursegrade.kit.limit import TooLong, limit
from coursegrade.marking import (
    answers,
    cells,
    execute,
    hand,
    intake,
    late_days,
    outcomes,
    records,
    replay,
    roster,
)
from coursegrade.marking.course import CourseError, digest
from coursegrade.marking.entering import Ledger
from coursegrade.marking.files import shown, walk
from coursegrade.marking.outcomes import Work
from coursegrade.marking.records import file_name
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import GraderError, Limits, choose

WINDOW = 4                                                              # submissions in flight for each worker
IN, OUT = "{}.in.json", "{}.out.json"                                    # files of a queue
OTHER = "another run came back in its place: has a worker other questions than this machine?"
READING = 30                                                            # seconds to read one submission
DRAWS = 50                                                              # of hidden inputs, before a release


def grade(course, assignment, again=None, unsafe=False, jobs=None, scheduler=None, limits=Limits()):
    """Bring the marks of an assignment up to date and return {student: Record}.

    again: students to run even if nothing has changed. unsafe: without a sandbox. jobs: how many run at once; None:
    one for each core. scheduler: the address of a dask scheduler whose workers run them instead of this machine.
    """
    with course.alone():
        batch = Batch(course, assignment, unsafe, limits)
        todo = batch.look(again or ())
        if todo:
            with workers(scheduler, jobs, unsafe) as (executor, count), batch.ledger() as ledger:
                _grade(batch, todo, executor, WINDOW * count, ledger)
        return records.read_all(course, assignment)


def queued(course, assignment, folder, unsafe=False, limits=Limits()):
    """Enter what has been run in a folder, and write what is to be run there: NAME.in.json, from which `python -m
    coursegrade run` makes NAME.out.json, on any machine. Returns the files that are to be run."""
    for stale in folder.glob(IN.format("*")):
        stale.unlink()
    _enter_known(course, assignment, unsafe, limits, folder)
    return sorted(folder.glob(IN.format("*")))


def rebuild(course, assignment):
    """Enter all outcomes that are known into the gradebook, and what was given by hand; nothing runs. Returns {student:
    Record}; who has no outcome waits for `grade`."""
    _enter_known(course, assignment, False, Limits())
    return records.read_all(course, assignment)


def _enter_known(course, assignment, unsafe, limits, queue=None):
    with course.alone():
        batch = Batch(course, assignment, unsafe, limits)
        with batch.ledger() as ledger:
            _grade(batch, batch.look(()), None, 1, ledger, queue)


class Batch:
    """What a run of the grader has to know of an assignment, and which of its submissions there is something to do for.
    """

    def __init__(self, course, assignment, unsafe, limits):
        self.course, self.assignment, self.unsafe, self.limits = course, assignment, unsafe, limits
        self.released, self.exam = course.prepare(assignment), assignment in course.exams()
        self.seed, self.others = course.seed(), course.others(assignment)
        with course.gradebook() as gradebook:
            self.locked = cells.locked_cells(gradebook, assignment, assignment)
            self.entered = records.receipts(gradebook, assignment)
            enrol(gradebook, course.roster())
        self.asks = answers.asked_by(self.locked, assignment)
        self.lost = set()

    def look(self, again):
        """[(student, digest of all that decides the marks, is it to be run in any case?)] of what is to be done."""
        course, assignment = self.course, self.assignment
        todo, current, times = [], {}, late_days.times(course, assignment)
        about = digest(courses.here().VERSION, course.source(assignment).read_bytes(), self.asks, self.seed,
                       self.unsafe, self.limits, self.exam)
        for name, folder in course.submitted(assignment).items():
            wanted = digest(about, *contents(folder), *([times[name]] if name in times else []))
            record = records.read(course, assignment, name)
            marked = course.grading / "autograded" / name / assignment / f"{assignment}.ipynb"
            if record and record.receipt:
                if record.receipt != self.entered.get(name):
                    self.lost.add(name)
                else:
                    current[name] = record.key
            if record and record.state == records.WAITING:
                tqdm.write(record.why, file=sys.stderr)
            gone = record and record.state != "rejected" and (not marked.exists() or name not in current)
            if not record or gone or record.digest != wanted or name in again:
                todo.append((name, wanted, name in again))
        with course.gradebook() as gradebook:
            hand.keep(course, assignment, gradebook, current)
        if self.lost:
            tqdm.write(f"{assignment}: the gradebook does not have the marks of {len(self.lost)} submissions, so they "
                       "are entered again", file=sys.stderr)
        return todo

    def ledger(self):
        """The gradebook, open for entries; each record is written when its marks are there."""
        return Ledger(self.course, self.assignment, functools.partial(records.write, self.course, self.assignment),
                      self.lost)

    def work(self, student, checked, again=False):
        """(what is to be run of a submission, where what its hidden tests say is kept). again: as in `Asking`."""
        drawn = answers.drawn_from(self.seed, student, checked.notebook, self.locked, checked.files)
        path = records.path_of(self.course, self.assignment, student, "verdicts")
        verdicts = answers.Verdicts(path, digest(drawn, self.asks, not self.exam))
        asking = Asking((drawn,), verdicts.known(), again, not self.exam)
        return Work(student, self.assignment, checked.notebook, checked.files, self.locked, asking, self.limits,
                    self.unsafe, digest(self.seed, self.exam)), verdicts


def _grade(batch, todo, executor, window, ledger, queue=None):
    """Run what is to do, and enter what comes back as it comes; without an executor, only what is known. What was slow
    because others had the processors is run again at the end, alone: its hidden inputs are the same, and it is asked
    only what the first run did not answer."""
    running, started, again = {}, {}, []
    course, assignment, by_itself = batch.course, batch.assignment, window == WINDOW or len(todo) == 1

    def finish(record, checked=None, outcome=None):
        record.seconds = round(time.monotonic() - started[record.student], 1)
        if outcome:
            ledger.add(record, checked, outcome)
        else:
            records.write(course, assignment, record)
        bar.update()

    def collect(first=None):
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            record, checked, verdicts = running.pop(future)
            try:
                outcome = future.result()
            except GraderError:
                raise
            except Exception as error:                                  # a worker was lost, perhaps: tried again
                record.state, record.why, record.digest = "crashed", f"its run was lost ({type(error).__name__})", ""
                finish(record)
                continue
            if outcome.key != record.key:
                record.state, record.why, record.digest = "crashed", OTHER, ""
                finish(record)
                continue
            verdicts.keep(outcome.verdicts)
            if outcome.starved and not (first or by_itself):
                again.append((record, checked, outcome))
            else:
                outcome = first.and_then(outcome) if first else outcome
                outcomes.write(outcomes.path_of(course, assignment, record.student), outcome)
                finish(record, checked, outcome)

    def start(record, checked, first=None):
        work, verdicts = batch.work(record.student, checked, not (first or by_itself))
        running[executor.submit(run, work)] = record, checked, verdicts

    with tqdm(total=len(todo), desc=assignment, unit="submission", disable=None) as bar:
        try:
            for name, wanted, anew in todo:
                while len(running) >= window:
                    collect()
                started[name] = time.monotonic()
                checked = take_in(course, assignment, name, batch.released, batch.others, ledger.times)
                if isinstance(checked, records.Record):
                    checked.digest = wanted
                    finish(checked)
                    continue
                work, verdicts = batch.work(name, checked)
                record = records.Record(name, "graded", "", checked.notes, wanted, key=work.key)
                known = None if anew else outcomes.read(outcomes.path_of(course, assignment, name), work)
                if not known and queue and (known := outcomes.read(queue / OUT.format(file_name(name)), work)):
                    verdicts.keep(known.verdicts)
                    outcomes.write(outcomes.path_of(course, assignment, name), known)
                if known:
                    finish(record, checked, known)
                elif executor:
                    start(record, checked)
                else:
                    records.path_of(course, assignment, name).unlink(missing_ok=True)
                    if queue:
                        work.write(queue / IN.format(file_name(name)))
            while running:
                collect()
            for record, checked, first in again:
                start(record, checked, first)
                collect(first)
        finally:
            for future in running:
                future.cancel()


def take_in(course, assignment, student, released, others, times):
    """Look at a submission, keep the repaired copy in grading/checked, and return it; or the record of a rejection.
    times: those of `late_days.times`."""
    try:
        if not roster.STUDENT.fullmatch(student):
            raise intake.Rejected(f"“{shown(student)}” cannot be an id, which has letters, digits and . _ @ + -")
        with limit(READING):
            checked = intake.look(course.submission(assignment, student), assignment, released, others)
        if (given := times.get(student)) and given.came:
            checked.timestamp = f"{given.came:%Y-%m-%d %H:%M:%S} UTC"
    except intake.Rejected as error:
        return records.Record(student, "rejected", str(error))
    except TooLong:
        return records.Record(student, "rejected", "it took too long to read")
    except Exception as error:                                          # a file that breaks what reads it
        return records.Record(student, "rejected", f"it could not be read ({type(error).__name__})")
    try:                                                                # what else fails here is the teacher's disk
        keep(checked, course.grading / "checked" / student / assignment, assignment)
    except (FileExistsError, IsADirectoryError, NotADirectoryError):
        return records.Record(student, "rejected", f"a folder in it is called {assignment}.ipynb or {intake.TIMESTAMP}")
    return checked


def keep(checked, folder, assignment):
    """Write a `Checked` submission to a folder, in the place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in checked.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(checked.notebook, folder / f"{assignment}.ipynb")
    if checked.timestamp:
        (folder / intake.TIMESTAMP).write_text(checked.timestamp + "\n")


def try_solutions(course, assignments, unsafe=False, limits=Limits()):
    """Run the teacher's own notebooks as if they were handed in, with the inputs of DRAWS hand-ins: these depend on the
    secret seed, and nobody has tried them before. CourseError if a solution does not get all points for its code.
    There is more time than for a hand-in, as none is run again.
    """
    runs, asking = {}, Asking(tuple(digest(course.seed(), "tried", i) for i in range(DRAWS)))
    limits = dataclasses.replace(limits, call=limits.call * 3, cell=limits.cell * 3, submission=limits.submission * 10,
                                 cpu=limits.cpu * 10)
    with workers(None, None, unsafe) as (executor, _):
        for name in assignments:
            with course.gradebook() as gradebook:
                locked = cells.locked_cells(gradebook, name, name)
            notebook = nbformat.read(course.source(name), as_version=4)
            files = dict(replay.files_in(course.source(name).parent))
            runs[name] = executor.submit(run, Work("", name, notebook, files, locked, asking, limits, unsafe))
        for _ in tqdm(concurrent.futures.as_completed(runs.values()), desc="marking the solutions", total=len(runs),
                      unit="assignment", disable=None):
            pass
    missed = [f"{name}, {cell.metadata.nbgrader.grade_id}{stopped(cell)}" for name, future in runs.items()
              for cell in future.result().notebook.cells
              if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)
              and operator.lt(*determine_grade(cell))]
    if missed:
        busy = any(future.result().starved for future in runs.values())
        raise CourseError(f"The solutions themselves do not get all points on {DRAWS} draws with the seed in "
                          f"grading/seed ({'; '.join(missed)}): " + (
                              "other work had the processors, so try again when they are free."
                              if busy else "mend the tests or the solutions first."))


def stopped(cell):
    """What ended a test cell from outside, for a message: too long a time is the machine's fault, perhaps."""
    return "".join(f": {output.evalue}" for output in cell.outputs if output.get("ename") == "Stopped")


# ── where student code runs ───────────────────────────────────────────────────────────────────────────────────────

@contextlib.contextmanager
def workers(scheduler, jobs, unsafe):
    """(executor, how many run at once). Here threads will do: each notebook is run by processes of its own anyway."""
    if scheduler is None:
        sandbox(unsafe)                                                 # no use starting if there is none
        count = jobs or len(os.sched_getaffinity(0))
        with concurrent.futures.ThreadPoolExecutor(count) as executor:
            yield executor, count
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise CourseError("--scheduler needs dask.distributed: pip install distributed") from None
    try:
        client = Client(scheduler, timeout="5s")
    except (OSError, ValueError) as error:
        raise CourseError(f"There is no dask scheduler at {scheduler}: {error}") from None
    with client, client.get_executor(pure=False, retries=1) as executor:
        count = sum(client.nthreads().values())
        if not count:
            raise CourseError(f"The scheduler at {scheduler} has no workers: "
                              f"start some with `dask worker --no-nanny {scheduler}`.")
        # A daemon may not start others, as one day nobody would end them.
        if any(client.run(lambda: multiprocessing.current_process().daemon).values()):
            raise CourseError("The workers may not start processes: start them with `dask worker --no-nanny …`.")
        yield executor, count


def run(work):
    """Do a `Work`, on this machine or another one: return its `Outcome`, with the key that the work has here."""
    outcome = execute.run_notebook(work.notebook, work.locked, work.files, sandbox(work.unsafe), work.limits,
                                   work.asking)
    return dataclasses.replace(outcome, key=work.key)


@functools.cache
def sandbox(unsafe):
    """The kind of sandbox of this machine, tried out once."""
    return choose(unsafe)


# ── where marks are kept ──────────────────────────────────────────────────────────────────────────────────────────

def enrol(gradebook, roster):
    """Bring the gradebook's list of the class up to date; roster: {student: {column: text or None}}."""
    known = {student.id: student for student in gradebook.db.query(Student)}
    for name, person in roster.items():
        if name not in known:
            gradebook.db.add(Student(id=name, **person))
        else:
            for column, value in person.items():
                if getattr(known[name], column) != value:
                    setattr(known[name], column, value)
    gradebook.db.commit()


def contents(folder):
    """What decides whether a submission has changed: the names and bytes of its files, and where its links lead."""
    if folder.is_symlink():
        yield os.readlink(folder)
        return
    for path in sorted(Path(here, name) for here, folders, names in walk(folder) for name in [*folders, *names]):
        if path.is_symlink():
            yield from (path.relative_to(folder), os.readlink(path))
        elif path.is_file():
            with path.open("rb") as file:
                yield from (path.relative_to(folder), path.stat().st_size, file.read(intake.MAX_NOTEBOOK))
