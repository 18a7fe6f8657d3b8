"""What is entered is what nbgrader's own Autograde enters, and it can be entered again, from nothing."""

import json
import shutil
import sqlite3

import pytest
from nbgrader.converters import Autograde

from coursegrade.marking import execute, outcomes, pipeline, records
from coursegrade.marking.course import Course
from coursegrade.sandbox.process import Limits
from tests.grading.classroom import NAME, WRONG, answers, command, hand_in

STUDENTS = ("half", "prints", "text_became_code", "exits", "untouched", "copied_answer")
ROWS = """select s.student_id, s.timestamp, s.extension, n.late_submission_penalty, c.name, c.type, g.auto_score,
g.manual_score, g.extra_credit, g.needs_manual_grade, m.auto_comment, m.manual_comment, m.id is null, g.id is null
from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id join base_cell c
left join grade g on g.notebook_id = n.id and g.cell_id = c.id
left join comment m on m.notebook_id = n.id and m.cell_id = c.id order by s.student_id, c.name, c.type"""


def rows(folder):
    """All that the gradebook has of submissions: {student: rows}."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        found = {}
        for student, *row in database.execute(ROWS):
            found.setdefault(student, []).append(row)
        return found


def marked(folder, student):
    return json.loads((folder / "grading" / "autograded" / student / NAME / f"{NAME}.ipynb").read_text())


def known(course, student):
    """(the submission as it was read, its outcome)."""
    released, record = course.released(NAME), records.read(course, NAME, student)
    checked = pipeline.take_in(course, NAME, student, released, {})
    return checked, outcomes.read(outcomes.path_of(course, NAME, student), record.key, checked.notebook)


def test_the_rows_and_the_notebook_are_those_of_nbgraders_own_autograde(graded, tmp_path):
    ours, folder = graded[0], shutil.copytree(graded[0], tmp_path / "course")
    with sqlite3.connect(folder / "gradebook.db") as database:
        for table in ("grade", "comment", "submitted_notebook", "submitted_assignment"):
            database.execute(f"delete from {table}")
    course = Course(folder)
    for student in STUDENTS:
        shutil.rmtree(folder / "grading" / "autograded" / student)
        checked, outcome = known(course, student)
        settings = course.directory(NAME, student, submitted_directory="grading/checked")
        converter = Autograde(coursedir=settings, config=course.config, force=True)
        converter.autograde_preprocessors = [execute.Execute(outcome=outcome), *(
            name for name in converter.autograde_preprocessors if not str(name).endswith(".Execute"))]
        with course.log():
            converter.start()
        theirs, mine = marked(folder, student), marked(ours, student)
        for one, other in zip(theirs["cells"], mine["cells"], strict=True):
            assert one == other, student
        assert theirs == mine, student
    assert {name: rows(folder)[name] for name in STUDENTS} == {name: rows(ours)[name] for name in STUDENTS}
    assert rows(ours)["half"][0][0] == "2026-05-03 12:00:00.000000"


def by_hand(folder, student, points, words):
    """Mark a text as a person does in formgrader."""
    with Course(folder).gradebook() as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, student)
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, 0.5, False
        gradebook.find_comment("why", NAME, NAME, student).manual_comment = words
        gradebook.db.commit()


@pytest.fixture
def read(small):
    """A course of two, whose texts have been read, one of them after the last command."""
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    hand_in(folder, "bob", answers(released, double=WRONG))
    pipeline.grade(course, NAME)
    by_hand(folder, "ada", 2, "Both, yes.")
    by_hand(folder, "bob", 1, "Why?")
    command(folder, "export")
    return folder, course, released


def test_a_lost_gradebook_is_made_anew_and_nothing_runs(read, monkeypatch):
    folder, course, released = read
    before = rows(folder)
    monkeypatch.setattr(pipeline, "run", None)
    for lose in (lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:40_000])):
        lose(folder / "gradebook.db")
        command(folder, "rebuild")
        assert rows(folder) == before
        assert records.read_all(course, NAME)["bob"].state == "graded"


def test_an_older_gradebook_gets_the_marks_and_what_was_given_by_hand(read, monkeypatch):
    folder, course, released = read
    before, run, path = rows(folder), pipeline.run, folder / "gradebook.db"
    old = path.read_bytes()
    by_hand(folder, "ada", 3, "On second thoughts, all of it.")
    hand_in(folder, "bob", answers(released))
    pipeline.grade(course, NAME)
    after = rows(folder)
    assert after != before
    path.write_bytes(old)
    monkeypatch.setattr(pipeline, "run", None)
    pipeline.grade(course, NAME)
    assert rows(folder) == after
    monkeypatch.setattr(pipeline, "run", run)


def test_a_torn_outcome_is_that_submissions_own_matter(read, monkeypatch):
    folder, course, released = read
    before, calls, run = rows(folder), [], pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda *work: calls.append(1) or run(*work))
    path = outcomes.path_of(course, NAME, "ada")
    path.write_bytes(path.read_bytes()[:-20])
    (folder / "gradebook.db").unlink()
    command(folder, "rebuild")
    command(folder, "grade")
    assert rows(folder) == before and len(calls) == 1


def test_another_version_of_the_course_runs_nothing_and_another_question_does(read, monkeypatch):
    folder, course, released = read
    calls, run = [], pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda *work: calls.append(1) or run(*work))
    from coursegrade import courses
    monkeypatch.setattr(courses.here(), "VERSION", "9.9")
    pipeline.grade(course, NAME)
    assert not calls
    pipeline.grade(course, NAME, limits=Limits(call=9))
    assert len(calls) == 2


def test_an_outcome_of_another_key_or_of_another_notebook_is_none(read):
    folder, course, released = read
    checked, outcome = known(course, "ada")
    path = outcomes.path_of(course, NAME, "ada")
    assert outcome.state == "ran" and outcomes.read(path, "another", checked.notebook) is None
    other, _ = known(course, "bob")
    assert outcomes.read(outcomes.path_of(course, NAME, "bob"), records.read(course, NAME, "ada").key,
                         other.notebook) is None
