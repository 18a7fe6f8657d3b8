"""The zip file for students: the course without solutions, hidden tests, marks, and what makes them."""

import os
import zipfile

from coursekit.grade.course import CourseError

FILES = ["README.md", "LICENSE", "SYLLABUS.md", "Makefile", "pyproject.toml", "constraints.txt", "environment.yml"]
FOLDERS = ["coursekit", "lectures", "docs", "tools"]
NEVER = {"__pycache__", ".ipynb_checkpoints"}
EPOCH = (1980, 1, 1, 0, 0, 0)                                           # the same contents give the same bytes


def write(course, assignments, path):
    """Write the bundle with these assignments to the zip file `path`; return the names in it."""
    wanted = {name: course.root / name for name in FILES if (course.root / name).is_file()}
    for folder in FOLDERS:
        for here, folders, names in os.walk(course.root / folder):
            folders[:] = [name for name in folders if name not in NEVER]
            for name in names:
                file = os.path.join(here, name)
                if not name.startswith(".") and not name.endswith((".pyc", ".tmp")) and not os.path.islink(file):
                    wanted[os.path.relpath(file, course.root)] = file
    for assignment in assignments:
        folder = course.grading / "release" / assignment
        for file in folder.rglob("*"):
            if file.is_file():
                wanted[str("exercises" / file.relative_to(folder.parent))] = file
    texts = [cell.source for assignment in assignments for cell in course.released(assignment).cells]
    if any(mark in text for text in texts for mark in ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS")):
        raise CourseError("A released notebook still has a solution or hidden test: are its markers complete?")
    temporary = path.with_name(path.name + ".tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(wanted):
            with open(wanted[name], "rb") as file:
                archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}", EPOCH), file.read(), zipfile.ZIP_DEFLATED)
    os.replace(temporary, path)
    return sorted(wanted)
