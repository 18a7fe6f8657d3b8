"""The zip file for students: the course without solutions, hidden tests, marks, and what makes them.

The checks in it hold what they expect. For an examination they are left out: `check.<topic>` then says that answers are
looked at later (kit/later.py).
"""

import os
import zipfile
from pathlib import Path

from coursegrade import courses
from coursegrade.marking.course import CourseError
from coursegrade.marking.files import whole

NEVER = {"__pycache__", ".ipynb_checkpoints"}
EPOCH = (1980, 1, 1, 0, 0, 0)                                           # the same contents give the same bytes
EXAM = """
In this copy the check cells say only that your answers are looked at when they are marked: try them out yourself.
"""


def write(course, assignments, path, exam=False):
    """Write the bundle with these assignments to the zip file `path`; return the names in it. It has a README of its
    own, as the course's speaks of what students do not have, and the packages of the course and this one from wherever
    they lie. exam: without what the checks expect.
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
    asked = tuple(f"{about.__name__}/{name}/" for name in about.TOPICS.values())
    for name in [name for name in wanted if name.startswith((*about.TEACHERS, *asked * exam))]:
        del wanted[name]
    for assignment in assignments:
        folder = course.grading / "release" / assignment
        for file in folder.rglob("*"):
            if file.is_file():
                wanted[str("exercises" / file.relative_to(folder.parent))] = file
    texts = [cell.source for assignment in assignments for cell in course.released(assignment).cells]
    if any(mark in text for text in texts for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS")):
        raise CourseError("A released notebook still has a solution or hidden test: are its markers complete?")
    lines = "\n".join(f"  - `exercises/{name}/{name}.ipynb`" for name in assignments)
    with whole(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        def add(name, contents):
            archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}", EPOCH), contents, zipfile.ZIP_DEFLATED)

        readme = (courses.folder() / "student.md").read_text(encoding="utf-8")
        add("README.md", readme.replace("{assignments}", lines) + EXAM * exam)
        for name in sorted(wanted):
            add(name, Path(wanted[name]).read_bytes())
    return sorted([*wanted, "README.md"])

