"""coursegrade needs nothing of this course but what its package of questions says; old hand-ins are graded as ever."""

import importlib.metadata
import os
import pkgutil
import subprocess
import sys

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade

import coursegrade
from coursegrade import courses
from coursegrade.marking.execute import run_notebook
from tests.grading.classroom import FULL, ROOT, answers, teacher
from tests.grading.sandboxed import locked_in
from tools.closure import imported

MODULES = ["coursegrade", *sorted(found.name for found in pkgutil.walk_packages(coursegrade.__path__, "coursegrade."))]


@pytest.mark.parametrize("module", MODULES)
def test_it_imports_nothing_of_the_library_and_of_the_questions(module):
    assert not {name for name in imported(module) if not name.startswith("coursegrade")}


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
