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

from sqlalchemy import inspect, text

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
    """

    student: str
    state: str
    why: str = ""
    notes: list = dataclasses.field(default_factory=list)
    digest: str = ""
    seconds: float = 0.0
    unseen: dict = dataclasses.field(default_factory=dict)
    receipt: str = ""


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
        given = receipts(gradebook, assignment)
        for name, record in found.items():
            if record.receipt and record.receipt != given.get(name):
                found[name] = Record(name, WAITING, "the gradebook does not have its marks, so it is graded again")
            elif record.state in ("graded", "needs manual grading"):
                record.state = by_hand(gradebook, assignment, name)
    return found


def by_hand(gradebook, assignment, student):
    """"needs manual grading" or "graded", as the gradebook has it at the moment."""
    waits = gradebook.find_submission(assignment, student).needs_manual_grade
    return "needs manual grading" if waits else "graded"


def receipt(gradebook, assignment, student):
    """Note in the gradebook that the marks of a submission have been entered; return the receipt, a new text."""
    row = {"assignment": assignment, "student": student, "receipt": secrets.token_hex(16)}
    gradebook.db.execute(text(f"CREATE TABLE IF NOT EXISTS {TABLE} ({COLUMNS})"))
    gradebook.db.execute(text(f"DELETE FROM {TABLE} WHERE assignment = :assignment AND student = :student"), row)
    gradebook.db.execute(text(f"INSERT INTO {TABLE} VALUES (:assignment, :student, :receipt)"), row)
    gradebook.db.commit()
    return row["receipt"]


def receipts(gradebook, assignment):
    """{student: receipt} of the submissions of an assignment that the gradebook has."""
    tables = inspect(gradebook.engine)
    if not tables.has_table(TABLE):
        if not tables.has_table(OLD):
            return {}
        gradebook.db.execute(text(f"ALTER TABLE {OLD} RENAME TO {TABLE}"))
        gradebook.db.commit()
    return dict(gradebook.db.execute(text(
        f"SELECT r.student, r.receipt FROM {TABLE} r JOIN assignment a ON a.name = r.assignment "
        "JOIN submitted_assignment s ON s.assignment_id = a.id AND s.student_id = r.student "
        "WHERE r.assignment = :assignment"), {"assignment": assignment}).all())


def path_of(course, assignment, student, folder="records"):
    """The file of a student in a folder of grading/, for any name that a file system may have."""
    name = urllib.parse.quote(os.fsencode(student), safe="@+")
    if len(name) > 200:
        name = name[:170] + digest(name)
    return course.grading / folder / assignment / f"{name}.json"
