"""The zip file for students: the course without solutions, hidden tests, marks, and what makes them.

The checks in it hold what they expect. For an examination they are left out: `check.<topic>` then says that answers are
looked at later (kit/later.py). Those of an examination (grading/exams) are in no later bundle either. With answers, a
check offers the course's own after three runs that failed.
"""

import os

from coursegrade import courses
from coursegrade.kit.reveal import MARK
from coursegrade.marking import CourseError, files

NEVER = {"__pycache__", ".ipynb_checkpoints"}
EXAM = """
In this copy the check cells say only that your answers are looked at when they are marked: try them out yourself.
"""


def write(course, assignments, path, exam=False, answers=False):
    """Write the bundle with these assignments to the zip file `path`; return the names in it. It has a README of its
    own, as the course's speaks of what students do not have, and the packages of the course and this one from wherever
    they lie. exam: without what the checks expect. answers: who has tried three times is shown the course's own.
    """
    about, never = courses.here(), NEVER | {*courses.here().NEVER}
    packages = {name: courses.folder(name) for name in ("coursegrade", about.__name__, *about.PACKAGES)}
    wanted = {name: course.root / name for name in about.FILES if (course.root / name).is_file()}
    for place, folder in ({name: course.root / name for name in about.FOLDERS} | packages).items():
        for here, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name not in never]
            for name in sorted({*names} - never):
                file = os.path.join(here, name)
                if not name.startswith(".") and not name.endswith((".pyc", ".tmp")) and not os.path.islink(file):
                    wanted[os.path.join(place, os.path.relpath(file, folder))] = file
    asked = tuple(f"{about.__name__}/{name}/" for name in (about.TOPICS.values() if exam else course.exams()))
    for name in [name for name in wanted if name.startswith((*about.TEACHERS, *asked))]:
        del wanted[name]
    if answers:
        wanted[f"{about.__name__}/{MARK}"] = b"Checks offer the course's answers, after three runs that failed.\n"
    for assignment in assignments:
        folder = course.grading / "release" / assignment
        for file in folder.rglob("*"):
            if file.is_file():
                wanted[str("exercises" / file.relative_to(folder.parent))] = file
    texts = [cell.source for assignment in assignments for cell in course.released(assignment).cells]
    if any(mark in text for text in texts for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS")):
        raise CourseError("A released notebook still has a solution or hidden test: are its markers complete?")
    lines = "\n".join(f"  - `exercises/{name}/{name}.ipynb`" for name in assignments)
    readme = (courses.folder() / "student.md").read_text(encoding="utf-8")
    wanted["README.md"] = (readme.replace("{assignments}", lines) + EXAM * exam).encode()
    files.write_zip(path, {f"{path.stem}/{name}": wanted[name] for name in sorted(wanted)})
    return sorted(wanted)

