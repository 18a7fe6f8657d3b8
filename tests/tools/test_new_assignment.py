"""A new assignment is held to what all are: it passes every test of its form, and those that ask for more say so."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tools import new_assignment
from tools.notebooks import ROOT

MADE = ["90_halves.ipynb", "__init__.py", "solution.py", "90_halves.py", "__init__.py"]


@pytest.fixture
def course(tmp_path):
    """A copy of the course without its assignments."""
    for name in ("attention_questions", "coursegrade", "coursekit", "tests/grading", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("[0-9][0-9]_*", "__pycache__"))
    for name in ("pyproject.toml", "nbgrader_config.py", "SYLLABUS.md", "tests/notebooks/test_formulas.py",
                 "tests/drawn.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("solutions", "exercises"):
        (tmp_path / name).mkdir()
    (tmp_path / "lectures").symlink_to(ROOT / "lectures")
    return tmp_path


def run(course, *arguments):
    return subprocess.run([sys.executable, "-m", *arguments], cwd=course, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(course), "OMP_NUM_THREADS": "1"})


@pytest.mark.bank
def test_it_passes_the_tests_of_all_assignments_but_those_that_ask_for_more_questions(course):
    assert [path.name for path in new_assignment.begin("90", "halves", "Halves", course)] == MADE
    released = run(course, "nbgrader", "generate_assignment", "90_halves", "--create", "--no-db")
    assert released.returncode == 0, released.stderr
    done = run(course, "pytest", "-q", "-p", "no:cacheprovider", "tests/grading/test_bank.py",
               "tests/grading/test_release.py", "tests/notebooks/test_formulas.py", "-m", "not slow",
               "-k", "(90_ or fresh) and not complains")
    failed = re.findall(r"^FAILED \S*::(\w+)", done.stdout, re.M)
    assert failed == ["test_the_student_does_the_experiment_and_is_told_how_long_it_takes",
                      "test_every_question_has_its_parts", "test_minutes_and_points_are_the_same_wherever_they_stand"]
    assert "4 to 9 questions beside its bonus" in done.stdout and "it takes 50 to 120 minutes" in done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 12, done.stdout


def test_a_topic_is_registered_where_the_others_are():
    register = (ROOT / new_assignment.REGISTER).read_text(encoding="utf-8")
    folders = [path.name for path in (ROOT / new_assignment.REGISTER).parent.glob("[0-9]*")]
    assert re.findall(r'"(\w+)"', new_assignment.TOPICS.search(register)[1]) == sorted(folders)


@pytest.mark.parametrize("number, topic, title, words", [
    ("9", "halves", "Halves", "two digits, such as 08, got '9'"), ("90", "Halves", "Halves", "got 'Halves'"),
    ("90", "class", "Halves", "got 'class'"), ("90", "score", "Halves", "got 'score'"),
    ("90", "a-b", "Halves", "small letters"), ("90", "halves", " ", "A title is one line"),
    ("90", "halves", "two\nlines", "A title is one line"), ("90", "tokens", "Halves", "There is 01_tokens already"),
    ("07", "halves", "Halves", "There is 07_perturbation already")])
def test_a_name_that_cannot_be_is_refused_in_one_line(course, number, topic, title, words):
    before = sorted(course.rglob("*"))
    with pytest.raises((ValueError, FileExistsError)) as refused:
        new_assignment.begin(number, topic, title, course)
    assert words in str(refused.value) and len(str(refused.value).splitlines()) == 1
    assert sorted(course.rglob("*")) == before


def test_nothing_is_written_over(course):
    bank = course / "tests" / "grading" / "bank" / "90_halves.py"
    bank.write_text("mine")
    with pytest.raises(FileExistsError, match="tests/grading/bank/90_halves.py exists already, and stays as it is"):
        new_assignment.begin("90", "halves", "Halves", course)
    assert bank.read_text() == "mine" and not list(course.glob("solutions/*"))
    bank.unlink()
    (course / "attention_questions" / "90_halves").write_text("a file where a folder is due")
    with pytest.raises(OSError, match="90_halves"):
        new_assignment.begin("90", "halves", "Halves", course)
    folders = "solutions", "tests", "attention_questions"
    assert not [path for name in folders for path in (course / name).rglob("*.tmp")]
    assert not list(course.glob("solutions/*/*")) and not bank.exists()
    (course / "attention_questions" / "90_halves").unlink()
    new_assignment.begin("90", "halves", "Halves", course)
    with pytest.raises(FileExistsError, match="There is 90_halves already"):
        new_assignment.begin("90", "halves", "Halves", course)
