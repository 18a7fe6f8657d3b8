"""What is entered is what nbgrader's own Autograde enters, and it can be entered again, from nothing."""

import contextlib
import dataclasses
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from nbgrader.converters import Autograde

from coursegrade.__main__ import main
from coursegrade.marking import execute, outcomes, pipeline, records
from coursegrade.marking.course import Course
from coursegrade.marking.run import Asking
from coursegrade.sandbox.process import Limits
from tests.grading.classroom import DOUBLE, NAME, ROOT, WITH_COURSE, WRONG, answers, command, hand_in, start

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
    """(the work that a submission is, its outcome)."""
    batch = pipeline.Batch(course, NAME, False, Limits())
    work, _ = batch.work(student, pipeline.take_in(course, NAME, student, batch.released, {}, {}))
    return work, outcomes.read(outcomes.path_of(course, NAME, student), work)


def test_the_rows_and_the_notebook_are_those_of_nbgraders_own_autograde(graded, tmp_path):
    ours, folder = graded[0], shutil.copytree(graded[0], tmp_path / "course")
    with sqlite3.connect(folder / "gradebook.db") as database:
        for table in ("grade", "comment", "submitted_notebook", "submitted_assignment"):
            database.execute(f"delete from {table}")
    course = Course(folder)
    for student in STUDENTS:
        shutil.rmtree(folder / "grading" / "autograded" / student)
        outcome = known(Course(ours), student)[1]
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


def test_an_outcome_of_other_work_is_none(read):
    folder, course, released = read
    work, outcome = known(course, "ada")
    assert outcome.state == "ran" and outcome.key == work.key == records.read(course, NAME, "ada").key
    path = outcomes.path_of(course, NAME, "ada")
    for change in ({"student": "eve"}, {"rest": "another seed"}, {"limits": Limits(cell=1)}, {"unsafe": True},
                   {"files": {"a.txt": b""}}, {"locked": {}}, {"notebook": released}):
        assert outcomes.read(path, dataclasses.replace(work, **change)) is None, change
    assert outcomes.read(path, dataclasses.replace(work, asking=Asking(("other",)))) == outcome


def test_work_is_a_file_that_any_machine_can_do(read, tmp_path):
    folder, course, _ = read
    work, outcome = known(course, "ada")
    work = dataclasses.replace(work, files={"data/numbers.npy": bytes(range(256))},
                               asking=dataclasses.replace(work.asking, known={}))
    work.write(tmp_path / "work.json")
    assert outcomes.Work.read(tmp_path / "work.json") == work
    start(tmp_path, "run", "work.json", "found.json").communicate()
    found = outcomes.read(tmp_path / "found.json", work)
    assert found.state == "ran" and found.unseen == outcome.unseen and found.verdicts == outcome.verdicts
    (tmp_path / "torn.json").write_text("{")
    said = start(tmp_path, "run", "torn.json", "none.json").communicate()[1]
    assert "torn.json is no file of `grade --queue`" in said and not (tmp_path / "none.json").exists()


def test_a_queue_of_files_gives_the_marks_of_a_serial_run(small, tmp_path):
    """Three are run elsewhere, one of which comes back as another's, and one torn; then these two once more."""
    folder, course, released = small
    for name, double in (("ada", DOUBLE), ("bob", WRONG), ("cy", DOUBLE)):
        hand_in(folder, name, answers(released, double=double))
    hand_in(folder, "cut_off", b"{")
    queue = tmp_path / "queue" / NAME
    assert "3 to be run" in command(folder, "grade", "--queue", str(queue.parent))
    assert set(records.read_all(course, NAME)[name].state for name in ("ada", "bob")) == {records.WAITING}
    works = {path.name.partition(".")[0]: path for path in queue.glob("*.in.json")}
    assert [*sorted(works)] == ["ada", "bob", "cy"]
    for name, path in works.items():
        assert main(["run", str(path), str(queue / f"{name}.out.json")]) == 0
    shutil.copy(queue / "bob.out.json", queue / "ada.out.json")
    (queue / "cy.out.json").write_bytes((queue / "cy.out.json").read_bytes()[:-9])
    assert "2 to be run" in command(folder, "grade", "--queue", str(queue.parent))
    for name in ("ada", "cy"):
        assert main(["run", str(works[name]), str(queue / f"{name}.out.json")]) == 0
    assert "0 to be run" in command(folder, "grade", "--queue", str(queue.parent)) and not [*queue.glob("*.in.json")]
    serial = shutil.copytree(folder, tmp_path / "serial")
    for part in ("outcomes", "records", "autograded"):
        shutil.rmtree(serial / "grading" / part)
    (serial / "gradebook.db").unlink()
    command(serial, "grade")
    assert rows(serial) == rows(folder)


def eventually(found, seconds=120):
    """What a function finds at last."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            if (value := found()) is not None:
                return value
        time.sleep(0.1)
    raise AssertionError("it did not come")


@pytest.mark.slow
def test_a_worker_that_is_killed_and_one_with_other_questions_lose_nothing(small, tmp_path):
    """Three dask workers, of which one has mended a question that nobody else has, and one is killed in the middle."""
    distributed = pytest.importorskip("distributed")
    folder, course, released = small
    for number in range(12):
        hand_in(folder, f"s{number:02}", answers(released, double=WRONG if number % 3 else DOUBLE))
    dask = [sys.executable, "-m", "dask"]
    env = os.environ | WITH_COURSE
    serial = shutil.copytree(folder, tmp_path / "serial")
    command(serial, "grade")
    port = tmp_path / "scheduler.json"
    started = [subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                 "--scheduler-file", str(port)], env=env, stderr=subprocess.DEVNULL)]
    try:
        other = tmp_path / "other"
        shutil.copytree(ROOT / "attention_questions", other / "attention_questions")
        (other / "attention_questions" / "prelude.py").open("a").write("# mended\n")
        for path in (WITH_COURSE["PYTHONPATH"], WITH_COURSE["PYTHONPATH"],
                     os.pathsep.join([str(other), WITH_COURSE["PYTHONPATH"]])):
            started.append(subprocess.Popen([*dask, "worker", "--no-nanny", "--nthreads", "1", "--no-dashboard",
                                             "--local-directory", str(tmp_path), "--scheduler-file", str(port)],
                                            env=env | {"PYTHONPATH": path}, cwd=tmp_path,
                                            stderr=subprocess.DEVNULL))
        address = eventually(lambda: json.loads(port.read_text())["address"])
        with distributed.Client(address) as client:
            client.wait_for_workers(3, timeout=60)
        grading = start(folder, "grade", "--scheduler", address)
        found = folder / "grading" / "records" / NAME
        eventually(lambda: len([*found.glob("*.json")]) >= 3 or None)
        started[1].kill()
        said, _ = grading.communicate(timeout=300)
        assert grading.returncode == 0 and "crashed" in said and "has a worker other questions" in said
        started[3].kill()
        command(folder, "grade", "--scheduler", address)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert rows(folder) == rows(serial)
    assert {name: one.state for name, one in records.read_all(course, NAME).items()} == {
        name: one.state for name, one in records.read_all(Course(serial), NAME).items()}
