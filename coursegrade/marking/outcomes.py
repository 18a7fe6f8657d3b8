"""What grading found, one file for each hand-in: grading/outcomes/A/STUDENT.json. The gradebook is made from these.

An outcome stands under the key of the `Work` that was done: the student, the notebook as it was run, what asks (the
assignment's questions, its locked cells and the kit), the seed and the limits. The course's version is written inside
and is no part of it: as long as a key stays the same, nothing has to run again, whatever else has changed. Nothing in
a file is executed; one that cannot be read, or is of other work, counts as none.
"""

import base64
import copy
import dataclasses
import json

import nbformat

from coursegrade import courses
from coursegrade.marking import CourseError, answers, records
from coursegrade.marking.cells import LockedCell
from coursegrade.marking.course import digest
from coursegrade.marking.files import whole
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import Limits


@dataclasses.dataclass
class Outcome:
    """What came of a notebook: a copy with new outputs; "ran", "timed out" or "crashed"; what happened, in words; why
    hidden tests were not passed, for teachers alone; what hidden tests have said, once and for all; was any asked; was
    it slow because others had the processors? {grade_id: …} in `unseen` and `verdicts`."""

    notebook: nbformat.NotebookNode
    state: str
    notes: list
    unseen: dict = dataclasses.field(default_factory=dict)
    verdicts: dict = dataclasses.field(default_factory=dict)
    asked: bool = False
    starved: bool = False
    key: str = ""                                                       # of the work that was done

    def and_then(self, second):
        """What stands after a second run of the same, which asked what this one had not answered: all that this one
        showed, and the second one's verdicts. If this one had asked nothing, the second one as it is."""
        if not self.asked:
            return second
        both = dataclasses.replace(self, notebook=copy.deepcopy(self.notebook), starved=False,
                                   verdicts=second.verdicts | self.verdicts,
                                   unseen={name: why for name, why in self.unseen.items() if name in self.verdicts}
                                   | second.unseen)
        for mine, its in zip(both.notebook.cells, second.notebook.cells, strict=True):
            if mine.metadata.get("nbgrader", {}).get("grade_id") in {*second.verdicts} - {*self.verdicts}:
                mine.outputs = [*mine.outputs[:-1], its.outputs[-1]]
        return both


def write(path, outcome):
    """Keep an outcome: the outputs of the notebook's code cells, and all else that it says."""
    kept = {field.name: getattr(outcome, field.name) for field in dataclasses.fields(Outcome)
            if field.name != "notebook"}
    with whole(path) as file:
        json.dump({"version": courses.here().VERSION, **kept,
                   "cells": [[cell.execution_count, cell.outputs] for cell in _code(outcome.notebook)]}, file)


def read(path, work):
    """The outcome that a file has for this work; None where it has none, or that of other work, or cannot be read."""
    try:
        kept = json.loads(path.read_text())
        if kept["key"] != work.key:
            return None
        made, cells = copy.deepcopy(work.notebook), kept.pop("cells")
        for cell, (count, outputs) in zip(_code(made), cells, strict=True):
            cell.execution_count, cell.outputs = count, [nbformat.from_dict(output) for output in outputs]
        del kept["version"]
        return Outcome(made, **kept)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def path_of(course, assignment, student):
    """The file of a student's outcome."""
    return records.path_of(course, assignment, student, "outcomes")


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@dataclasses.dataclass(frozen=True)
class Work:
    """One hand-in to be run. As a file it can be carried to any machine that has the course and a sandbox; it holds the
    hidden tests and the seed of their inputs, so keep it where students cannot read it.

    student, assignment: whose, and of what. notebook, files: as intake has read them. locked, asking, limits: as in
    `execute.run_notebook`. unsafe: without a sandbox. rest: a text that stands for what else decides the outcome, and
    is not here.
    """

    student: str
    assignment: str
    notebook: nbformat.NotebookNode
    files: dict
    locked: dict
    asking: Asking
    limits: Limits
    unsafe: bool = False
    rest: str = ""

    @property
    def key(self):
        """What the outcome stands under. Also of what asks on the machine that this is worked out on: one with other
        questions gets another key."""
        cells = [f"{cell.cell_type} {cell.metadata.get('nbgrader', {}).get('grade_id', '')}\n{cell.source}"
                 for cell in self.notebook.cells]
        return digest("outcome", self.student, len(cells), *cells, *(
            part for pair in sorted(self.files.items()) for part in pair), answers.asked_by(
                self.locked, self.assignment), self.limits, self.unsafe, self.rest)

    def write(self, path):
        """Write it to a file."""
        with whole(path) as file:
            json.dump({**{field.name: getattr(self, field.name) for field in dataclasses.fields(self)},
                       "locked": {name: dataclasses.asdict(cell) for name, cell in self.locked.items()},
                       "files": {name: base64.b64encode(data).decode() for name, data in self.files.items()},
                       "asking": dataclasses.asdict(self.asking), "limits": dataclasses.asdict(self.limits)}, file)

    @classmethod
    def read(cls, path):
        """The work in a file. CourseError if it is none."""
        try:
            kept = json.loads(path.read_text())
            return cls(**kept | {
                "notebook": nbformat.from_dict(kept["notebook"]), "limits": Limits(**kept["limits"]),
                "locked": {name: LockedCell(**cell) for name, cell in kept["locked"].items()},
                "files": {name: base64.b64decode(data) for name, data in kept["files"].items()},
                "asking": Asking(**kept["asking"] | {"seeds": tuple(kept["asking"]["seeds"])})})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise CourseError(f"{path} is no file of `grade --queue`: {type(error).__name__}: {error}") from None
