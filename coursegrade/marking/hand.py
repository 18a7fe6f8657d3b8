"""What people gave by hand, in a file of its own: grading/by_hand/A.json. The gradebook can be made anew from the
outcomes of runs, and from this.

    {"token": …, "due": time or null, "given": {student: {"key": of the outcome that was looked at,
                                                          "grades": {cell: [points, extra credit, still to be read?]},
                                                          "comments": {cell: text}}}}

Commands that read the gradebook bring the file up to date. Each change of it has a token, which the gradebook keeps as
well: if that is another one, the gradebook is new or an older copy, and gets what the file has.
"""

import datetime
import json
import secrets
import sys

from nbgrader.api import BaseCell, Comment, Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select, update
from tqdm import tqdm

from coursegrade.marking import records
from coursegrade.marking.files import whole

NOTHING = {"token": "", "due": None, "given": {}}


def read(course, assignment):
    """The file's dictionary; without one, of nothing. A file that cannot be read is named, and set aside."""
    path = course.grading / "by_hand" / f"{assignment}.json"
    try:
        kept = json.loads(path.read_text())
        return {name: kept[name] for name in NOTHING}
    except FileNotFoundError:
        return NOTHING
    except (ValueError, KeyError, TypeError):
        path.replace(path.with_suffix(".damaged"))
        tqdm.write(f"{path} cannot be read, and is {path.stem}.damaged now: what was given by hand is in the gradebook "
                   "alone", file=sys.stderr)
        return NOTHING


def keep(course, assignment, gradebook, keys):
    """Bring the file up to date, or the gradebook where it is behind. keys: {student: key of the outcome} of those
    whose marks in the gradebook are the present ones; of all others the file keeps what it has."""
    before = read(course, assignment)
    try:
        page = gradebook.find_assignment(assignment)
    except MissingEntry:                                                # a new gradebook, which has nothing yet
        return
    behind = before["token"] != records.token(gradebook, assignment)
    if behind:
        page.duedate = page.duedate or (before["due"] and datetime.datetime.fromisoformat(before["due"]))
        _restore(gradebook, assignment, before["given"])
    found = {student: given for student, given in before["given"].items() if student not in keys}
    due = page.duedate and page.duedate.isoformat()
    for student, part, cell, value in _given(gradebook, assignment):
        if student in keys:
            found.setdefault(student, {"key": keys[student], "grades": {}, "comments": {}})[part][cell] = value
    if behind or (due, found) != (before["due"], before["given"]):
        token = secrets.token_hex(16)
        with whole(course.grading / "by_hand" / f"{assignment}.json") as file:
            json.dump({"token": token, "due": due, "given": found}, file, indent=1)
        records.receive(gradebook, assignment, "", token)
        gradebook.db.commit()


def _given(gradebook, assignment):
    """(student, "grades" or "comments", cell, what was given there) of all that the gradebook has."""
    for part, kind, given, columns in (
            ("grades", Grade, Grade.manual_score.is_not(None) | Grade.extra_credit.is_not(None),
             (Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)),
            ("comments", Comment, Comment.manual_comment.is_not(None), (Comment.manual_comment,))):
        for student, cell, *values in gradebook.db.execute(_cells(kind, gradebook, assignment, *columns).where(given)):
            yield student, part, cell, values if part == "grades" else values[0]


def _cells(kind, gradebook, assignment, *columns):
    """The query for (student, cell, …columns) of all submissions; kind: Grade or Comment."""
    return (select(SubmittedAssignment.student_id, BaseCell.name, *columns)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(kind, kind.notebook_id == SubmittedNotebook.id).join(BaseCell, BaseCell.id == kind.cell_id)
            .where(SubmittedAssignment.assignment_id == gradebook.find_assignment(assignment).id)
            .order_by(SubmittedAssignment.student_id))


def _restore(gradebook, assignment, given):
    """Give the gradebook what the file has, where it has these submissions."""
    for part, kind in ("grades", Grade), ("comments", Comment):
        for student, cell, row in gradebook.db.execute(_cells(kind, gradebook, assignment, kind.id)).all():
            value = given.get(student, {}).get(part, {}).get(cell)
            if value is not None:
                values = dict(zip(("manual_score", "extra_credit", "needs_manual_grade"), value, strict=True)
                              ) if kind is Grade else {"manual_comment": value}
                gradebook.db.execute(update(kind.__table__).where(kind.__table__.c.id == row).values(**values))
    gradebook.db.commit()
