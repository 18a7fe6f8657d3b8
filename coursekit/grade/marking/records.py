"""How each submission ended: one small file for each, written when everything else about it has been.

A record with the same digest as the submission means that there is nothing to do, which makes grading resumable: what
was killed half way has no record yet, and is done again.
"""

import dataclasses
import json
import os
import urllib.parse

from nbgrader.api import MissingEntry

from coursekit.grade.marking.course import digest
from coursekit.grade.sandbox.protocol import clean

STATES = ("graded", "needs manual grading", "rejected", "timed out", "crashed", "missing")
WAITING = "not graded yet"                                              # what `grade` has not seen has no state yet


@dataclasses.dataclass
class Record:
    """state: one of STATES, or WAITING. why: in words. notes: what intake mended and the sandbox saw.

    unseen: {grade_id: why a hidden test was not passed, and on which of its cases}. It is for the teacher alone: what
    people get to read must not depend on what hidden tests ask.
    digest: of all that decides the marks; "" means that it will be tried again.
    """

    student: str
    state: str
    why: str = ""
    notes: list = dataclasses.field(default_factory=list)
    digest: str = ""
    seconds: float = 0.0
    unseen: dict = dataclasses.field(default_factory=dict)


def write(course, assignment, record):
    """Keep a record; either the old or the new file is there, whatever happens."""
    path = path_of(course, assignment, record.student)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(dataclasses.asdict(record), indent=1) + "\n")
    os.replace(temporary, path)


def read(course, assignment, student):
    """The record of one student, or None."""
    path = path_of(course, assignment, student)
    return Record(**json.loads(path.read_text())) if path.exists() else None


def read_all(course, assignment):
    """The `Record` of each student who is on the roster or handed something in, in order, and those of hand marking
    as they are now: {student: Record}."""
    handed_in, found = course.submitted(assignment), {}
    for name in sorted({*course.roster(), *handed_in}):
        if name not in handed_in:
            found[name] = Record(name, "missing", "nothing was handed in")
        else:
            found[name] = read(course, assignment, name) or Record(name, WAITING)
    with course.gradebook() as gradebook:
        for name, record in found.items():
            if record.state in ("graded", "needs manual grading"):
                record.state = by_hand(gradebook, assignment, name)
    return found


def by_hand(gradebook, assignment, student):
    """"needs manual grading" or "graded", as the gradebook has it at the moment."""
    try:
        waits = gradebook.find_submission(assignment, student).needs_manual_grade
    except MissingEntry:
        waits = False
    return "needs manual grading" if waits else "graded"


def shown(name):
    """A name from a file system, fit for a terminal and a table."""
    return clean(os.fsencode(name).decode("utf-8", "replace"), 100, lines=False)


def path_of(course, assignment, student, folder="records"):
    """The file of a student in a folder of grading/, for any name that a file system may have."""
    name = urllib.parse.quote(os.fsencode(student), safe="@+")
    if len(name) > 200:
        name = name[:170] + digest(name)
    return course.grading / folder / assignment / f"{name}.json"
