"""coursegrade needs nothing of this course but what its package of questions says; old hand-ins are graded as ever."""

import importlib.metadata
import os
import pkgutil
import re
import sqlite3
import subprocess
import sys

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade

import coursegrade
from coursegrade import courses
from coursegrade.kit import unseen
from coursegrade.marking import pipeline, records
from coursegrade.marking.course import MOVED, Course
from coursegrade.marking.execute import run_notebook
from tests.grading.classroom import FULL, NAME, ROOT, answers, hand_in, teacher
from tests.grading.sandboxed import locked_in
from tools.closure import imported

MODULES = ["coursegrade", *sorted(found.name for found in pkgutil.walk_packages(coursegrade.__path__, "coursegrade."))]


@pytest.mark.parametrize("module", MODULES)
def test_it_imports_nothing_of_the_library_and_of_the_questions(module):
    assert not {name for name in imported(module) if not name.startswith("coursegrade")}


def test_it_names_no_course():
    """But for what was called otherwise when it was a part of this one, and is accepted."""
    folders = "|".join(courses.here().TOPICS.values())
    named = {name for path in (ROOT / "coursegrade").rglob("*.py") for name in re.findall(
        rf"[\w.]*(?:coursekit|attention_questions|{folders})[\w.]*", path.read_text(encoding="utf-8"), re.I)}
    assert named == {*MOVED, records.OLD, unseen.OLD}


def test_what_the_course_says_is_there():
    course = courses.here()
    assert course.__name__ == "attention_questions" and (courses.folder() / "student.md").exists()
    assert all((courses.folder() / folder / "__init__.py").exists() for folder in course.TOPICS.values())
    assert all((courses.folder() / name).exists() for name in course.SHOWN)
    assert all((ROOT / name).exists() for name in (*course.FILES, *course.FOLDERS))


def test_without_a_course_one_line_says_what_to_do(monkeypatch):
    monkeypatch.delenv(courses.NAME, raising=False)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [])
    with pytest.raises(ModuleNotFoundError, match="0 courses are installed here: install yours .* or set COURSEGRADE_"):
        courses.here.__wrapped__()


def test_a_course_may_be_named_by_a_variable(tmp_path):
    (tmp_path / "sorting").mkdir()
    (tmp_path / "sorting" / "__init__.py").write_text("TOPICS = {'bubbles': '01_bubbles'}\n")
    code = "from coursegrade import check; print(dir(check)[-1], type(check.bubbles).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {
        courses.NAME: "sorting", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
    assert done.stdout.split() == ["unseen", "Later"], done.stderr


def test_a_hand_in_that_began_on_an_old_bundle_is_graded(sandbox):
    """Cells of its own say `coursekit.grade`; the teacher's are put back as they are now."""
    work = answers(teacher())
    work.cells.insert(1, new_code_cell("from coursekit.grade import check\nfrom coursekit.grade.checks import same\n"
                                       "check.attention.softmax(len), same(1, 1)"))
    for cell in work.cells:
        cell.source = cell.source.replace("coursegrade.check", "coursekit.grade.checks")
    outcome = run_notebook(work, locked_in(teacher()), None, sandbox)
    assert outcome.state == "ran", outcome.notes
    assert not [output for output in outcome.notebook.cells[1].outputs if output.output_type == "error"]
    assert sum(determine_grade(cell)[0] or 0 for cell in outcome.notebook.cells
               if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")) == FULL


def test_at_home_an_old_notebook_asks_the_same_checks():
    code = """from coursekit.grade import check, quiz
from coursekit.grade.checks import CheckFailed
import torch
check.attention.softmax(lambda u, axis: torch.exp(u - u.amax(axis, keepdim=True)) / torch.exp(
    u - u.amax(axis, keepdim=True)).sum(axis, keepdim=True))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.startswith("✓ softmax"), done.stderr


# ── what was called otherwise in 0.1.0 ────────────────────────────────────────────────────────────────────────────

def test_a_seed_that_a_teachers_shell_sets_by_the_old_name_counts(tmp_path, monkeypatch):
    def draw():
        return unseen.unseen("a").random(4).tolist()

    monkeypatch.setenv(unseen.SEED, "kept by the teacher")
    drawn = draw()
    monkeypatch.delenv(unseen.SEED)
    monkeypatch.setenv(unseen.OLD, "kept by the teacher")
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "grading").mkdir()
    assert draw() == drawn and Course(tmp_path).seed() == "kept by the teacher"
    monkeypatch.setenv(unseen.SEED, "another")
    assert draw() != drawn


def test_a_gradebook_with_the_old_table_has_its_marks(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    with sqlite3.connect(folder / "gradebook.db") as database:
        database.execute(f"alter table {records.TABLE} rename to {records.OLD}")
    path = records.path_of(course, NAME, "ada")
    before = path.stat().st_mtime_ns
    assert pipeline.grade(course, NAME)["ada"].state == "needs manual grading"
    assert path.stat().st_mtime_ns == before, "nothing was to do"
    hand_in(folder, "ada", answers(released, double=None, why="Both are linear, I think."))
    assert pipeline.grade(course, NAME)["ada"].receipt and path.stat().st_mtime_ns != before
