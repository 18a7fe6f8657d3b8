"""nbgrader's own commands in a course folder: they are as careful with student code as `make grade`."""

import os
import re
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_raw_cell
from nbgrader.converters import Autograde
from traitlets.config import PyFileConfigLoader

from coursegrade.kit.unseen import SEED, unseen
from coursegrade.marking import reports
from coursegrade.marking.answers import drawn_from
from coursegrade.marking.course import Course
from tests.grading.classroom import (
    FULL,
    HOSTILE,
    MARKUP,
    NAME,
    NOTHING,
    PICTURE,
    ROOT,
    SECRET,
    WITH_COURSE,
    WRONG,
    answers,
    cell,
    hand_in,
    make_course,
    teacher,
)
from tests.grading.sandboxed import locked_in


def nbgrader(folder, *arguments, **variables):
    """Run nbgrader's command in a course folder."""
    return subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=180, env=os.environ | WITH_COURSE | variables)


def points(course, student):
    """What a student has reached so far."""
    with course.gradebook() as gradebook:
        return sum(mark.points or 0 for marks in reports.questions(gradebook, NAME, student).values() for mark in marks)


def test_the_settings_have_all_that_nbgrader_does_and_the_sandbox_in_place_of_its_execute():
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    ours = [name.split(".")[-1] for name in settings.Autograde.autograde_preprocessors]
    assert ours == [kind.__name__ for kind in Autograde().autograde_preprocessors]
    assert settings.Autograde.autograde_preprocessors[0] == "coursegrade.marking.execute.Execute"


def test_autograde_runs_student_code_in_the_sandbox(small):
    folder, course, released = small
    outside = folder / "outside"
    hostile = answers(released, double=WRONG, mean=NOTHING)
    hostile.cells.insert(1, new_code_cell(HOSTILE + f"""
for path in ({str(folder / "solutions" / NAME / NAME)!r} + ".ipynb", {str(folder / "gradebook.db")!r}):
    print(os.path.exists(path))
open({str(outside)!r}, "w")"""))
    hand_in(folder, "mallory", hostile)
    hand_in(folder, "ada", answers(released))
    done = nbgrader(folder, "autograde", NAME)
    assert done.returncode == 0, done.stderr
    assert points(course, "ada") == FULL and points(course, "mallory") == 0
    assert not outside.exists()
    marked = nbformat.read(folder / "grading" / "autograded" / "mallory" / NAME / f"{NAME}.ipynb", as_version=4)
    told = str(marked.cells[1].outputs)
    assert "False\\nFalse" in told and "DNUOF" not in told and SECRET not in told and course.seed() not in told


def test_autograde_draws_hidden_inputs_from_the_courses_seed(tmp_path, sandbox, monkeypatch):
    folder = make_course(tmp_path / "course")
    course = Course(folder)
    handed_in = answers(course.prepare(NAME))
    with monkeypatch.context() as patch:
        patch.setenv(SEED, drawn_from(course.seed(), "ada", handed_in, locked_in(handed_in), {}))
        number = int(unseen("number").integers(2**62))
    lesson = teacher()
    lesson.cells.append(cell("from coursegrade.kit.unseen import unseen\n"
                             f"assert int(unseen('number').integers(2**62)) == {number}",
                             "more_numbers", grade=True, locked=True, points=1))
    nbformat.write(lesson, course.source(NAME))
    released = course.prepare(NAME)
    monkeypatch.delenv(SEED, raising=False)
    for student in ("ada", "bo"):
        hand_in(folder, student, answers(released))
    assert nbgrader(folder, "autograde", NAME).returncode == 0
    assert points(course, "ada") == FULL + 1 and points(course, "bo") == FULL


def test_without_a_sandbox_autograde_refuses(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released, mean=f"open({str(folder / 'outside')!r}, 'w')"))
    done = nbgrader(folder, "autograde", NAME, PATH=str(folder))        # there is no bwrap, no docker
    assert done.returncode == 1
    assert "There is no sandbox here" in done.stderr and "apt install bubblewrap" in done.stderr
    assert not (folder / "outside").exists() and not (folder / "grading" / "autograded" / "ada" / NAME).exists()
    assert points(course, "ada") == 0


def test_nbgraders_own_pages_show_what_students_wrote_and_run_nothing(small):
    folder, course, released = small
    work = answers(released, why=MARKUP)
    for about in ({"raw_mimetype": "text/html"}, {}):
        work.cells.append(new_raw_cell(MARKUP + "<div id='why' class='score tabbable'>", metadata=about))
    work.cells.append(new_code_cell(PICTURE))
    hand_in(folder, "mallory", work)
    assert nbgrader(folder, "autograde", NAME).returncode == 0
    assert nbgrader(folder, "generate_feedback", NAME).returncode == 0
    page = (folder / "grading" / "feedback" / "mallory" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page and "spy.png\"" not in page and "<svg" not in page
    assert not re.search(r"<[^>]*(onclick|javascript:|tabbable)", page)
