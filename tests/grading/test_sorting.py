"""Another course, below sorting/, goes the whole way with coursegrade: released, taken at home, handed in and marked.

Neither this course nor its library is to be had meanwhile, nor torch, which sorting does not need.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursegrade.courses import NAME as VARIABLE
from tests.grading.classroom import ROOT, cell, grade_id

NAME = "01_sorting"
COURSE, LIGHT = Path(__file__).parent / "sorting", str(ROOT / "tests" / "light")
HIDDEN = "coursekit", "attention_questions", "torch"
# Runs the notebook named on the command line as its reader would, and prints {id of a cell: what it says}.
RUN = """
import json, sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
print(json.dumps({cell.metadata.get("nbgrader", {}).get("grade_id", "mine"): "".join(
    output.get("text") or output.evalue for output in cell.outputs) for cell in notebook.cells if "outputs" in cell}))
"""
SLIP = ("found + a[i:] + b[j:]", "found")
# A cell of a student's: is the course's own package there, and what checks expect not?
LOOK = """import importlib, sorting
print("cards", sorting.cards(1))
for name in ("sorting_questions.01_sorting", "coursegrade.kit.question"):
    try:
        print(importlib.import_module(name))
    except ImportError:
        print("no", name)
"""


def notebook():
    """The teacher's notebook."""
    cells = []
    for part in (COURSE / "solutions" / NAME / f"{NAME}.py").read_text().split("# %% ")[1:]:
        head, source = part.split("\n", 1)
        name, *points = head.split()
        about = {"points": int(points[0]), "grade": True} if points else {}
        if name == "[markdown]":
            cells.append(new_markdown_cell(re.sub("^# ?", "", source.strip(), flags=re.M)))
        elif name.startswith(("check_", "more_")):
            cells.append(cell(source.strip(), name, locked=True, **about))
        elif points:
            cells.append(cell(re.sub("^# ", "", source.strip(), flags=re.M), name, "markdown", solution=True, **about))
        else:
            locked = name in ("imports", "score")
            cells.append(cell(source.strip(), name, locked=locked, solution=not locked))
    return new_notebook(cells=cells)


def answered(released, *slip):
    """The released notebook with the teacher's answers in it, in which a slip (old, new) was made."""
    known = {grade_id(one): one.source for one in notebook().cells}
    for one in released.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            source = "\n".join(line for line in known[grade_id(one)].split("\n") if "### " not in line)
            one.source = source.replace(*slip) if slip else source
    return released


@pytest.fixture(scope="module")
def course(tmp_path_factory, sandbox):
    """`course(command, …)` runs a command of coursegrade in the folder course.folder. The course has been released."""
    folder, installed = tmp_path_factory.mktemp("teacher") / "course", tmp_path_factory.mktemp("installed")
    shutil.copytree(COURSE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "solutions" / NAME / f"{NAME}.py").unlink()
    nbformat.write(notebook(), folder / "solutions" / NAME / f"{NAME}.ipynb")
    (installed / "coursegrade").symlink_to(ROOT / "coursegrade")
    for name in HIDDEN:
        (installed / f"{name}.py").write_text("raise ModuleNotFoundError(__name__)\n")
    environment = os.environ | {VARIABLE: "sorting_questions", "OMP_NUM_THREADS": "1",
                                "PYTHONPATH": os.pathsep.join(map(str, (folder, installed, LIGHT)))}

    def command(*arguments):
        done = subprocess.run([sys.executable, "-m", "coursegrade", *arguments], cwd=folder, env=environment,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    command.folder, command.said = folder, command("release")
    return command


@pytest.fixture(scope="module")
def student(course, tmp_path_factory):
    """The folder that a student unpacks."""
    shutil.unpack_archive(course.folder / "grading" / "student.zip", home := tmp_path_factory.mktemp("home"))
    return home / "student"


def released(student):
    """The notebook that students get."""
    return nbformat.read(student / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def test_students_get_their_course_and_nothing_of_another(course, student):
    assert f"with {NAME}." in course.said
    assert {path.name for path in student.iterdir()} == {
        "README.md", "coursegrade", "exercises", "lessons", "pyproject.toml", "sorting", "sorting_questions"}
    assert [path.name for path in (student / "lessons").iterdir()] == ["merging.md"]
    readme = (student / "README.md").read_text()
    assert readme.startswith("# Sorting, by hand") and f"`exercises/{NAME}/{NAME}.ipynb`" in readme
    assert "BEGIN" not in str(released(student)) and "NotImplementedError" in str(released(student))
    for path in student.rglob("*"):
        if path.is_file() and "coursegrade" not in path.parts:
            assert not re.search("attention|coursekit", path.read_text(), re.I), path


def test_it_is_taken_at_home(student, tmp_path):
    """Set up as the README says, in an environment of other people's packages alone."""
    home = shutil.copytree(student, tmp_path / "student")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home / ".venv")], check=True)
    paths = sysconfig.get_paths(vars={"base": str(home / ".venv"), "platbase": str(home / ".venv")})
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not path.name.startswith((*HIDDEN, "__editable__")) and path.suffix != ".pth":
            Path(paths["purelib"], path.name).symlink_to(path)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--no-build-isolation", "--target", paths["purelib"], str(home)], check=True)
    work = answered(released(student), *SLIP)
    work.cells.append(new_code_cell("import coursegrade, sorting\nprint(coursegrade.__file__, sorting.__file__)"))
    nbformat.write(work, home / "exercises" / NAME / f"{NAME}.ipynb")
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"PYTHONPATH": LIGHT}
    done = subprocess.run([Path(paths["scripts"], "python"), "-c", RUN, f"{NAME}.ipynb"], env=environment,
                          cwd=home / "exercises" / NAME, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["imports"] == "" and said["mine"].count(paths["purelib"]) == 2
    assert said["check_insert"].startswith("✓ insert: right on in between; the largest")
    assert "When one list is used up, what is left of the other was lost." in said["check_merge"]
    assert "merge_sort calls `merge` (question 3), which is not right yet" in said["check_merge_sort"]
    assert said["score"].startswith("Assignment 01 · sorting\n") and "3 of 5 points so far" in said["score"]


def test_it_is_graded(course, student):
    works = {"ada": answered(released(student)), "bob": answered(released(student), *SLIP), "eve": released(student)}
    works["bob"].cells.insert(2, new_code_cell(LOOK))
    for name, work in works.items():
        path = course.folder / "grading" / "submitted" / name / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(work, path)
    assert f"{NAME}: 2 needs manual grading, 1 graded" in course("grade")
    course("feedback")
    course("export", "01")
    with open(course.folder / "grading" / f"{NAME}.csv", newline="", encoding="utf-8-sig") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {name: row["points"] for name, row in rows.items()} == {"ada": "13", "bob": "10", "eve": "0"}
    assert [rows["bob"][f"{name} (of 3)"] for name in ("merge", "merge_sort", "sort_by")] == ["0", "3", "3"]
    folder = course.folder / "grading" / "feedback"
    pages = [(folder / name / NAME / f"{NAME}.html").read_text() for name in works]
    assert "what is left of the other was lost" in pages[1] and "`merge` answered by the course" in pages[1]
    assert all(line in pages[1] for line in ("cards [[", "no sorting_questions.01", "no coursegrade.kit.question"))
    assert not re.search("attention|coursekit", "".join(pages), re.I)
    assert re.search("merge .*what is left of the other was lost", course("stats"), re.S)
