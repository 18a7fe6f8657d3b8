"""Grades the submissions of an assignment: in parallel where student code runs, one after another where marks are kept.

For each submission: look at it (intake.py), run it in a sandbox (execute.py, on any `concurrent.futures.Executor`), let
nbgrader's own Autograde enter the marks into the gradebook, and last of all write the record (records.py). Whatever
happens to one of them is its own matter. Only what is wrong with the grader itself, a `GraderError`, stops the batch:
that is nobody's zero, and what was done until then is kept.
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
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import determine_grade, is_grade, is_solution
from tqdm import tqdm

from coursegrade import courses
from coursegrade.kit.limit import TooLong, limit
from coursegrade.marking import answers, cells, execute, heard, intake, late_days, records, replay, roster
from coursegrade.marking.course import CourseError, digest
from coursegrade.marking.files import shown, walk
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import GraderError, Limits, choose

WINDOW = 4                                                              # submissions in flight for each worker
READING = 30                                                            # seconds to read one submission
DRAWS = 50                                                              # of hidden inputs, before a release


def grade(course, assignment, again=None, unsafe=False, jobs=None, scheduler=None, limits=Limits()):
    """Bring the marks of an assignment up to date and return {student: Record}.

    again: students to grade even if nothing has changed. unsafe: without a sandbox. jobs: how many run at once; None:
    one for each core. scheduler: the address of a dask scheduler whose workers run them instead of this machine.
    """
    with course.alone():
        released, exam = course.prepare(assignment), assignment in course.exams()
        about = digest(courses.here().VERSION, course.source(assignment).read_bytes(), course.seed(), unsafe, limits,
                       exam)
        with course.gradebook() as gradebook:
            locked = cells.locked_cells(gradebook, assignment, assignment)
            entered = records.receipts(gradebook, assignment)
            for name, person in course.roster().items():
                gradebook.update_or_create_student(name, **person)
        todo, gone, times = [], 0, late_days.times(course, assignment)
        for name, folder in course.submitted(assignment).items():
            wanted = digest(about, *contents(folder), *([times[name]] if name in times else []))
            record = records.read(course, assignment, name)
            marked = course.grading / "autograded" / name / assignment / f"{assignment}.ipynb"
            lost = record and record.state != "rejected" and (
                not marked.exists() or record.receipt != entered.get(name))
            gone += bool(record and record.receipt and record.receipt != entered.get(name))
            if record and record.state == records.WAITING:
                tqdm.write(record.why, file=sys.stderr)
            if not record or lost or record.digest != wanted or name in (again or ()):
                todo.append((name, wanted))
        if gone:
            tqdm.write(f"{assignment}: the gradebook does not have the marks of {gone} submissions, so they are graded "
                       "again", file=sys.stderr)
        if todo:
            with workers(scheduler, jobs, unsafe) as (executor, count):
                _grade(course, assignment, released, locked, todo, executor, WINDOW * count, unsafe, limits, not exam)
        return records.read_all(course, assignment)


def _grade(course, assignment, released, locked, todo, executor, window, unsafe, limits, lends):
    """Run what is to do, and enter what comes back as it comes. What was slow because others had the processors is run
    again at the end, alone: its hidden inputs are the same, and it is asked only what the first run did not answer."""
    running, started, seed, again, others = {}, {}, course.seed(), [], course.others(assignment)
    asks, by_itself = answers.asked_by(locked, assignment), window == WINDOW or len(todo) == 1

    def finish(record):
        record.seconds = round(time.monotonic() - started[record.student], 1)
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
            verdicts.keep(outcome.verdicts)
            if outcome.starved and not (first or by_itself):
                again.append((record, checked, outcome))
            else:
                finish(enter(course, assignment, record, checked, first.and_then(outcome) if first else outcome))

    def start(record, checked, first=None):
        drawn = answers.drawn_from(seed, record.student, checked.notebook, locked, checked.files)
        path = records.path_of(course, assignment, record.student, "verdicts")
        verdicts = answers.Verdicts(path, digest(drawn, asks, lends))
        asking = Asking((drawn,), verdicts.known(), not (first or by_itself), lends)
        future = executor.submit(run, checked.notebook, locked, checked.files, asking, unsafe, limits)
        running[future] = record, checked, verdicts

    with tqdm(total=len(todo), desc=assignment, unit="submission", disable=None) as bar:
        try:
            for name, wanted in todo:
                while len(running) >= window:
                    collect()
                started[name] = time.monotonic()
                checked = take_in(course, assignment, name, released, others)
                if isinstance(checked, records.Record):
                    checked.digest = wanted
                    finish(checked)
                else:
                    record = records.Record(name, "graded", "", checked.notes, wanted)
                    start(record, checked)
            while running:
                collect()
            for record, checked, first in again:
                start(record, checked, first)
                collect(first)
        finally:
            for future in running:
                future.cancel()


def take_in(course, assignment, student, released, others):
    """Look at a submission, keep the repaired copy in grading/checked, and return it; or the record of a rejection."""
    try:
        if not roster.STUDENT.fullmatch(student):
            raise intake.Rejected(f"“{shown(student)}” cannot be an id, which has letters, digits and . _ @ + -")
        with limit(READING):
            checked = intake.look(course.submitted(assignment)[student], assignment, released, others)
        if (given := late_days.times(course, assignment).get(student)) and given.came:
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
            runs[name] = executor.submit(run, notebook, locked, files, asking, unsafe, limits)
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


def run(notebook, locked, files, asking, unsafe, limits):
    """Run one notebook: what a worker does, on this machine or another one. Returns execute.py's `Outcome`."""
    return execute.run_notebook(notebook, locked, files, sandbox(unsafe), limits, asking)


@functools.cache
def sandbox(unsafe):
    """The kind of sandbox of this machine, tried out once."""
    return choose(unsafe)


# ── where marks are kept ──────────────────────────────────────────────────────────────────────────────────────────

def enter(course, assignment, record, checked, outcome):
    """Enter what came of one submission into the gradebook; return its record. Until that is written there is none."""
    records.path_of(course, assignment, record.student).unlink(missing_ok=True)
    if outcome.state != "ran":
        record.state, record.why = outcome.state, "; ".join(outcome.notes)
    record.notes, record.unseen = [*record.notes, *outcome.notes], outcome.unseen
    late_days.extend(course, assignment, record.student)
    settings = course.directory(assignment, record.student, submitted_directory="grading/checked")
    converter = Autograde(coursedir=settings, config=course.config, force=True)
    converter.autograde_preprocessors = [execute.Execute(outcome=outcome), *(
        other for other in converter.autograde_preprocessors
        if getattr(other, "__name__", other).split(".")[-1] != "Execute")]
    try:
        with course.log():
            converter.start()
    except NbGraderException:
        record.state, record.why, record.digest = "crashed", "nbgrader did not take it in: see grading/nbgrader.log", ""
        return record
    heard.keep(course, assignment, record.student)
    with course.gradebook() as gradebook:
        record.receipt = records.receipt(gradebook, assignment, record.student)
        if record.state == "graded":
            record.state = records.by_hand(gradebook, assignment, record.student)
    return record


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
