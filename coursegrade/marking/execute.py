"""Executes a submitted notebook: student code in a sandbox, the teacher's tests in a process that it never enters.

    outcome = run_notebook(nb, locked, files, kind, limits, asking)         an `Outcome`, see outcomes.py

`locked` is what the teacher locked, from the gradebook (`cells.locked_cells`), never from the submission: a cell runs
outside only if its id is there, and what runs is the teacher's text. Cells run in the notebook's order:

    a test (locked, graded)    outside; a name of the student's is a stand-in there (`outside.py`). Its hidden lines
                               wait until all else has run
    every other cell           inside. The imports of locked ones are also what tests can use without asking inside.

`Execute` does the same as a preprocessor of nbgrader, in the place of its own:

    c.Autograde.autograde_preprocessors = ["coursegrade.marking.execute.Execute", …]        the others unchanged
"""

import contextlib
import copy
import multiprocessing
import os
import resource
import signal
import sys
import threading

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Any, Instance, Unicode

from coursegrade import check, courses
from coursegrade.marking import answers, cells, outputs, repair, replay
from coursegrade.marking.course import Course
from coursegrade.marking.outcomes import Outcome
from coursegrade.marking.run import Asking, Run
from coursegrade.sandbox.kinds import GraderError, Limits, choose

TEST_MEMORY = 4 << 30                                                   # bytes, of the process that runs the tests
PATIENCE = 20                                                           # seconds beyond what the sandbox may take

# Each notebook's tests have a process of their own, so that no value of a student's can exhaust the grader's. They are
# forked from a server that has imported what is slow to import.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["coursegrade.marking.execute", "torch"])


def run_notebook(nb, locked, files=None, kind=None, limits=Limits(), asking=Asking()):
    """Execute `nb`, which is not changed, and return an `Outcome` within limits.submission seconds and a few more.

    files: {relative path: bytes} that came with the notebook. kind: of the sandbox; None asks `kinds.choose()`, which
    takes half a second. asking: how hidden tests are asked, see run.py. Raises `GraderError` if the grader's side does
    not work: that is nobody's zero.
    """
    ours, theirs = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=_run, args=(theirs, nb, locked, files, kind or choose(), limits, asking))
    process.start()
    theirs.close()
    found = None
    try:
        found = ours.recv()                                             # that it has started
        if ours.poll(limits.start + 2 * limits.submission + PATIENCE):
            found = ours.recv()
        else:
            found = _nothing_ran(nb, locked, "timed out", "the tests did not finish in time")
    except EOFError:
        found = (_nothing_ran(nb, locked, "crashed", "the process of the tests ended") if found else
                GraderError("The process of the tests did not start."))
    finally:
        process.terminate()                                             # it stops its sandbox …
        process.join(5)
        process.kill()                                                  # … which else dies with it
        process.join()
        ours.close()
    if isinstance(found, GraderError):
        raise found
    return found


def _run(pipe, *work):
    """In a process of its own: run a notebook and send the `Outcome`, or the `GraderError` that was in the way."""
    threading.Thread(target=_die_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    resource.setrlimit(resource.RLIMIT_DATA, (TEST_MEMORY, TEST_MEMORY))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with contextlib.suppress(ModuleNotFoundError):                      # not every course needs it
        import torch  # here: what runs nothing need not wait for it
        torch.set_num_threads(1)                                        # others run beside it
    pipe.send("started")
    try:
        if missing := [topic for topic in courses.here().TOPICS if not check.is_here(topic)]:
            raise GraderError(f"The checks of {', '.join(missing)} are not here: this is a copy for students. Grade in "
                              "the course's own folder.")
        run = Run(*work)
        pipe.send(Outcome(run.cells(), run.state, run.notes, run.unseen, run.verdicts, run.asked,
                          run.sandbox.was_starved))
    except GraderError as error:
        pipe.send(error)


def _die_with(grader):
    """When the grader is gone, however it ended, nobody waits for this notebook; its sandboxes die with it."""
    grader.join()
    os._exit(1)


def _nothing_ran(nb, locked, state, why):
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.cell_type == "code":
            is_test = cell.metadata.get("nbgrader", {}).get("grade_id") in locked
            cell.outputs = [outputs.error_output("Stopped", f"Not graded: {why}.")] if is_test else []
    return Outcome(nb, state, [why])


class Execute(NbGraderPreprocessor):
    """nbgrader's *Execute*, replaced. What is locked comes from the gradebook.

    The outcome's state and notes are kept in the notebook's metadata, under "coursegrade".
    """

    kind = Unicode("", help="the kind of sandbox, from coursegrade.sandbox.kinds.choose()").tag(config=True)
    limits = Instance(Limits, args=()).tag(config=True)
    outcome = Any()                                                     # of a run elsewhere; without one it is run here

    def preprocess(self, nb, resources):
        """The notebook, whose locked cells have the teacher's text by now, with the outcome's outputs."""
        outcome = self.outcome or self._run_here(nb, resources)
        theirs = outcome.notebook.cells
        if [cell.cell_type for cell in nb.cells] != [cell.cell_type for cell in theirs]:
            raise GraderError("nbgrader changed the cells of a notebook after it was run")
        for cell, other in zip(nb.cells, theirs, strict=True):
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = other.outputs, other.execution_count
            elif cell.cell_type == "raw":
                cell.cell_type, cell.source = "markdown", repair.fenced(cell.source)
        nb.metadata["coursegrade"] = {"state": outcome.state, "notes": outcome.notes}
        return nb, resources

    def _run_here(self, nb, resources):
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            locked = cells.locked_cells(gradebook, about["assignment"], about["notebook"])
        course = Course(CourseDirectory(config=self.config).root)
        files = dict(replay.files_in(resources.get("metadata", {}).get("path")))
        seed = answers.drawn_from(course.seed(), about["student"], nb, locked, files)
        asking = Asking((seed,), lends=about["assignment"] not in course.exams())
        return run_notebook(nb, locked, files, self.kind, self.limits, asking)
