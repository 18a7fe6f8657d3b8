"""How each submission ended: one small file for each, written when everything else about it has been.

A record with the same digest as the submission means that there is nothing to do, which makes grading resumable: what
was killed half way has no record yet, and is done again. So is what the gradebook does not have: it keeps for each
submission the receipt of the record that its marks belong to, in a table of its own, which is in its copies as well. A
gradebook that is new, or an older copy, has no receipt, or another.
"""

import dataclasses
import json
import os
import secrets
import urllib.parse

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import func, inspect, select, text

from coursegrade.marking.course import digest
from coursegrade.marking.files import whole

STATES = ("graded", "needs manual grading", "rejected", "timed out", "crashed", "missing")
WAITING = "not graded yet"                                              # what `grade` has not seen has no state yet
TABLE, OLD = "coursegrade_receipts", "coursekit_receipts"                # the old name in 0.1.0, known until 0.4
COLUMNS = "assignment VARCHAR(128), student VARCHAR(128), receipt VARCHAR(32), PRIMARY KEY (assignment, student)"


@dataclasses.dataclass
class Record:
    """state: one of STATES, or WAITING. why: in words. notes: what intake mended and the sandbox saw.

    unseen: {grade_id: why a hidden test was not passed, and on which of its cases}. It is for the teacher alone: what
    people get to read must not depend on what hidden tests ask.
    digest: of all that decides the marks; "" means that it will be tried again.
    receipt: the same as in the gradebook, if its marks are this record's; "" if there are none.
    key: of the outcome that the marks were made from (outcomes.py).
    """

    student: str
    state: str
    why: str = ""
    notes: list = dataclasses.field(default_factory=list)
    digest: str = ""
    seconds: float = 0.0
    unseen: dict = dataclasses.field(default_factory=dict)
    receipt: str = ""
    key: str = ""


def write(course, assignment, record):
    """Keep a record."""
    with whole(path_of(course, assignment, record.student)) as file:
        file.write(json.dumps(dataclasses.asdict(record), indent=1) + "\n")


def read(course, assignment, student):
    """The record of one student, or None. Of a file that cannot be read, one that says so, and is as good as none."""
    path = path_of(course, assignment, student)
    try:
        return Record(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return Record(student, WAITING, f"{path.relative_to(course.root)} cannot be read, so it is graded again")


def read_all(course, assignment):
    """The `Record` of each student who is on the roster or handed something in, in order, with the states of hand
    marking as they are now, and receipts only of marks that are in the gradebook: {student: Record}."""
    handed_in, found = course.submitted(assignment), {}
    for name in sorted({*course.roster(), *handed_in}):
        if name not in handed_in:
            found[name] = Record(name, "missing", "nothing was handed in")
        else:
            found[name] = read(course, assignment, name) or Record(name, WAITING)
    with course.gradebook() as gradebook:
        given, states = receipts(gradebook, assignment), by_hand(gradebook, assignment)
        for name, record in found.items():
            if record.receipt and record.receipt != given.get(name):
                found[name] = Record(name, WAITING, "the gradebook does not have its marks, so they are entered again")
            elif record.state in ("graded", "needs manual grading"):
                record.state = states.get(name, record.state)
    return found


def graded(course, assignment):
    """Was anything of the assignment ever graded?"""
    return (course.grading / "records" / assignment).is_dir()


def by_hand(gradebook, assignment):
    """{student: "needs manual grading" or "graded"} of all submissions, as the gradebook has it at the moment."""
    rows = gradebook.db.execute(
        select(SubmittedAssignment.student_id, func.max(Grade.needs_manual_grade))
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == assignment).group_by(SubmittedAssignment.student_id))
    return {student: "needs manual grading" if waits else "graded" for student, waits in rows}


def receipt(key):
    """A new text that begins with the key of the outcome that marks were made from."""
    return key + secrets.token_hex(4)


def receive(gradebook, assignment, student, receipt):
    """Note in the gradebook that the marks of a submission are being entered. The table is made by `receipts`."""
    gradebook.db.execute(text(f"INSERT OR REPLACE INTO {TABLE} VALUES (:assignment, :student, :receipt)"),
                         {"assignment": assignment, "student": student, "receipt": receipt})


def receipts(gradebook, assignment):
    """{student: receipt} of the submissions of an assignment that the gradebook has."""
    there = gradebook.db.execute(text(
        f"SELECT r.student, r.receipt FROM {_table(gradebook)} r JOIN assignment a ON a.name = r.assignment "
        "JOIN submitted_assignment s ON s.assignment_id = a.id AND s.student_id = r.student "
        "WHERE r.assignment = :assignment"), {"assignment": assignment})
    return dict(there.all())


def token(gradebook, assignment):
    """What the gradebook has in the place of a receipt for what was given by hand (hand.py); "" for nothing yet."""
    return gradebook.db.scalar(text(f"SELECT receipt FROM {_table(gradebook)} WHERE assignment = :assignment "
                                    "AND student = ''"), {"assignment": assignment}) or ""


def _table(gradebook):
    """The name of the table of receipts, after it was made."""
    tables = inspect(gradebook.engine)
    if not tables.has_table(TABLE):
        gradebook.db.execute(text(f"ALTER TABLE {OLD} RENAME TO {TABLE}" if tables.has_table(OLD)
                                  else f"CREATE TABLE {TABLE} ({COLUMNS})"))
        gradebook.db.commit()
    return TABLE


def path_of(course, assignment, student, folder="records"):
    """The file of a student in a folder of grading/."""
    return course.grading / folder / assignment / f"{file_name(student)}.json"


def file_name(student):
    """A name for a file, for any name that a file system may have."""
    name = urllib.parse.quote(os.fsencode(student), safe="@+")
    return name if len(name) <= 200 else name[:170] + digest(name)
