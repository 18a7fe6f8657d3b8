"""Whose each entry of a download is. Two hand-ins that claim one student count for nobody until the teacher has chosen:

    python -m coursegrade choose 02_sorting jdoe doejane_4711_9911_02_sorting.ipynb

writes grading/chosen.csv: assignment, student, entry.
"""

import contextlib
import csv

from coursegrade.marking import CourseError, download, roster
from coursegrade.marking.files import shown, whole

NOT_CHOSEN = "left out, because you chose another"
GONE = "chosen, but it is not in the inbox any more"
COLUMNS = ("assignment", "student", "entry")


def owned(found, chosen, say):
    """({student: labels of entries}, {student: labels of the entries to choose from}), of {label: Entry}.

    chosen: {student: labels}. What was chosen for somebody is nobody else's.
    """
    theirs, claims, doubtful = {}, {}, {}
    for student, labels in chosen.items():
        if here := [label for label in labels if label in found]:
            theirs[student] = here
        for label in set(labels) - set(here):
            say(GONE, f"{label} of {student}")
    given = {label for labels in theirs.values() for label in labels}
    for label, entry in found.items():
        if label in given:
            continue
        if entry.claim.doubt:
            say(entry.claim.doubt, label)
            for student in entry.claim.students - theirs.keys():
                doubtful.setdefault(student, []).append(label)
        elif entry.claim.owner in theirs:
            say(NOT_CHOSEN, label)
        else:
            claims.setdefault(entry.claim.owner, {}).setdefault(entry.claim.hand, []).append(label)
    for student, hands in claims.items():
        labels = [label for labels in hands.values() for label in labels]
        if len(hands) == 1:
            theirs[student] = labels
        else:
            doubtful[student] = labels + doubtful.get(student, [])
    return theirs, {student: labels for student, labels in sorted(doubtful.items()) if student not in theirs}


def choices(course, assignment):
    """{student: labels of entries} that the teacher has chosen, from grading/chosen.csv."""
    found = {}
    for row in chosen_rows(course):
        if row[0] == assignment:
            found.setdefault(row[1], []).append(row[2])
    return found


def chosen_rows(course):
    """The rows of grading/chosen.csv, without its head."""
    path = course.grading / "chosen.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [row for row in csv.reader(file) if len(row) == 3][1:]


def choose(course, assignment, student, names, folder=None):
    """Keep that these entries of the inbox, and no others, are the student's; without names, forget what was chosen."""
    people = course.roster()
    if people and student not in people or not roster.STUDENT.fullmatch(student):
        raise CourseError(f"There is nobody called {student!r} in grading/roster.csv.")
    with contextlib.ExitStack() as stack:
        known = {shown(label): label for label in download.entries(course, assignment, folder, stack, lambda *_: None)}
    if missing := [name for name in names if name not in known]:
        raise CourseError(f"There is no {missing[0]!r} in grading/inbox/{assignment}: give the name as `intake` does.")
    rows = [row for row in chosen_rows(course) if row[:2] != [assignment, student]]
    rows += [[assignment, student, known[name]] for name in names]
    with whole(course.grading / "chosen.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
