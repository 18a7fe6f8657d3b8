"""One page of ✓, ! and ✗ before a deadline: is all there that grading needs, and does it fit together?

What is ✗ has to be mended first, and the line says how; ! is a warning.
"""

import shutil
import sqlite3
import time
from importlib.metadata import version
from pathlib import Path

from coursegrade import courses
from coursegrade.marking import CourseError, outcomes, records
from coursegrade.sandbox.kinds import GraderError, choose

ROOM = 500_000                                                          # bytes of a hand-in and all its copies
FINE, WARNING, WRONG = "✓", "!", "✗"
REBUILD = "python -m coursegrade rebuild"


def examine(course, unsafe=False):
    """Yield (FINE, WARNING or WRONG, what was looked at, what was found and what to do) for each thing."""
    for look in (seed, sandbox, gradebook, disk, roster, clock, versions):
        for sign, words in look(course, unsafe):
            yield sign, look.__name__, words


def seed(course, _):
    """The seed of the hidden tests."""
    if not (course.grading / "seed").exists():
        yield (WARNING, "there is no grading/seed yet: `release` makes one") if not _graded(course) else (
            WRONG, "grading/seed is gone: restore it; another one changes all hidden numbers")
        return
    try:
        course.seed()
        yield FINE, "grading/seed is there"
    except CourseError as error:
        yield WRONG, str(error)


def sandbox(_, unsafe):
    """What students' code runs in."""
    try:
        kind = choose(unsafe)
        yield (WARNING, "none, as you said --unsafe") if unsafe else (FINE, f"{kind}: all walls hold")
    except GraderError as error:
        yield WRONG, " ".join(str(error).split())


def gradebook(course, _):
    """The database, beside what was found and given."""
    kind, _, path = course.directory("").db_url.partition("sqlite:///")
    if kind:
        yield WARNING, "it is no SQLite file: nothing of it was looked at"
    elif not Path(path).exists():
        yield (WRONG, f"it is gone: `{REBUILD}`") if _graded(course) else (FINE, "there is none yet")
    elif damage := _damage(path):
        yield WRONG, f"it is damaged ({damage}): `{REBUILD}`"
    else:
        missing, unread = 0, 0
        with course.gradebook() as book:
            for name in _graded(course):
                entered = records.receipts(book, name)
                for student in course.submitted(name):
                    record = records.read(course, name, student)
                    missing += bool(record and record.receipt and record.receipt != entered.get(student))
                    unread += bool(record and record.key and not outcomes.path_of(course, name, student).exists())
        if missing:
            yield WRONG, f"it does not have the marks of {missing} submissions: `{REBUILD}`"
        if unread:
            yield WARNING, f"of {unread} submissions the file in grading/outcomes is gone: if the gradebook is lost, " \
                           "they have to be run again"
        if not missing:
            yield FINE, "it has the marks of all that was graded"


def disk(course, _):
    """Room for what is to be written."""
    count = sum(len(course.submitted(name)) for name in course.assignments())
    need, free = (1 << 30) + 2 * ROOM * count, shutil.disk_usage(course.root).free
    words = f"{free / 1e9:.1f} GB are free"
    yield (FINE, words) if free > need else (
        WARNING, f"{words}, and {need / 1e9:.1f} are wished for: make room, for example in grading/backups")


def roster(course, _):
    """The class, and who handed in without being in it."""
    try:
        people = course.people()
    except CourseError as error:
        yield WARNING, str(error)
        return
    if not people:
        yield WARNING, "there is no grading/roster.csv: nobody is known to be missing, and marks have no names"
        return
    strangers = sorted({student for name in course.assignments() for student in course.submitted(name)} - {*people})
    yield (WARNING, f"{len(strangers)} who handed in are not on it: {', '.join(strangers[:5])}"
           + " …" * (len(strangers) > 5)) if strangers else (FINE, f"{len(people)} people")


def clock(course, _):
    """The time of this machine, by the files that it wrote."""
    now = time.time()
    ahead = [path for path in course.grading.glob("*") if path.stat().st_mtime > now + 60]
    yield (WARNING, f"{ahead[0].name} is from the future: is the clock of this machine right? It says "
           f"{time.strftime('%Y-%m-%d %H:%M %Z')}") if ahead else (FINE, time.strftime("%Y-%m-%d %H:%M %Z"))


def versions(course, _):
    """The course and nbgrader."""
    yield FINE, f"{courses.here().__name__} {courses.here().VERSION}, nbgrader {version('nbgrader')}"


def _graded(course):
    """The assignments of which something was graded."""
    return [name for name in course.assignments() if records.graded(course, name)]


def _damage(path):
    """What SQLite finds wrong with a file, in a line; "" for nothing."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            said = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            return "" if said == "ok" else " ".join(said.split())
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        return str(error)
