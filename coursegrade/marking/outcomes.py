"""What grading found, one file for each hand-in: grading/outcomes/A/STUDENT.json. The gradebook is made from these.

An outcome stands under a key: of the student, the notebook as it was run, what asks (the assignment's questions, its
locked cells and the kit), the seed and the limits. The course's version is written inside and is no part of it: as long
as a key stays the same, nothing has to run again, whatever else has changed. Nothing in a file is executed; one that
cannot be read, or was written under another key, counts as none.

Work for an engine of your own is a file as well, and `python -m coursegrade run IN OUT` does it: see `Work`.
"""

import base64
import copy
import dataclasses
import json

import nbformat

from coursegrade import courses
from coursegrade.marking import records
from coursegrade.marking.cells import LockedCell
from coursegrade.marking.course import digest
from coursegrade.marking.files import whole
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import Limits

FOLDER = "outcomes"


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


def key(student, notebook, files, *about):
    """The key of a hand-in's outcome. about: what else decides it, texts."""
    cells = [f"{cell.cell_type} {cell.metadata.get('nbgrader', {}).get('grade_id', '')}\n{cell.source}"
             for cell in notebook.cells]
    return digest("outcome", student, len(cells), *cells, *(part for pair in sorted(files.items()) for part in pair),
                  *about)


def write(path, key, outcome):
    """Keep an outcome under its key: the outputs of the notebook's code cells, and all else that it says."""
    kept = {field.name: getattr(outcome, field.name) for field in dataclasses.fields(Outcome)
            if field.name != "notebook"}
    with whole(path) as file:
        json.dump({"key": key, "version": courses.here().VERSION, **kept,
                   "cells": [[cell.execution_count, cell.outputs] for cell in _code(outcome.notebook)]}, file)


def read(path, key, notebook):
    """The outcome that a file has for a notebook under this key; None where it has none, or cannot be read."""
    try:
        kept = json.loads(path.read_text())
        if kept.pop("key") != key:
            return None
        made, cells = copy.deepcopy(notebook), kept.pop("cells")
        for cell, (count, outputs) in zip(_code(made), cells, strict=True):
            cell.execution_count, cell.outputs = count, [nbformat.from_dict(output) for output in outputs]
        del kept["version"]
        return Outcome(made, **kept)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def path_of(course, assignment, student):
    """The file of a student's outcome."""
    return records.path_of(course, assignment, student, FOLDER)


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@dataclasses.dataclass
class Work:
    """One hand-in to be run, as a file that any engine can carry to a machine that has the course and a sandbox. It
    holds the hidden tests and the seed of their inputs: keep such files where students cannot read them."""

    key: str
    notebook: nbformat.NotebookNode
    locked: dict
    files: dict
    asking: Asking
    limits: Limits

    def write(self, path):
        """Write it to a file."""
        with whole(path) as file:
            json.dump({"key": self.key, "notebook": self.notebook, "asking": dataclasses.asdict(self.asking),
                       "locked": {name: dataclasses.asdict(cell) for name, cell in self.locked.items()},
                       "files": {name: base64.b64encode(data).decode() for name, data in self.files.items()},
                       "limits": dataclasses.asdict(self.limits)}, file)

    @classmethod
    def read(cls, path):
        """The work in a file."""
        kept = json.loads(path.read_text())
        return cls(kept["key"], nbformat.from_dict(kept["notebook"]),
                   {name: LockedCell(**cell) for name, cell in kept["locked"].items()},
                   {name: base64.b64decode(data) for name, data in kept["files"].items()},
                   Asking(**kept["asking"] | {"seeds": tuple(kept["asking"]["seeds"])}), Limits(**kept["limits"]))
