"""A class from submissions to marks, by the real commands: each in its own state, whatever the others did."""

import concurrent.futures
import csv
import dataclasses
import json
import signal
import sqlite3
import time

import pytest

from coursegrade.marking import pipeline, records, reports
from coursegrade.marking.course import Course, CourseError
from coursegrade.sandbox.process import GraderError, Limits
from tests.grading.classroom import (
    DOUBLE,
    FULL,
    NAME,
    NOTHING,
    SECRET,
    WRONG,
    answers,
    command,
    fill,
    hand_in,
    odd,
    others,
    start,
)

CODE = [f"{name} (of {points})" for name, points in (("double", 3), ("mean", 2))]


def rows(folder):
    """{student: row of the exported table}."""
    reports.export(Course(folder), NAME)
    with open(folder / "grading" / f"{NAME}.csv", newline="", encoding="utf-8-sig") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def marks(folder):
    """All points in the gradebook, as the database has them."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        return sorted(database.execute(
            "select s.student_id, c.name, g.auto_score, g.manual_score, g.needs_manual_grade from grade g "
            "join submitted_notebook n on g.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id "
            "join base_cell c on g.cell_id = c.id"))


@pytest.fixture(scope="module")
def table(graded):
    return rows(graded[0])


def test_honest_work_gets_full_marks_however_odd(table, course):
    for student in odd(course.released(NAME)):
        assert [float(table[student][name]) for name in CODE] == [3, 2], student
        assert table[student]["state"] == "needs manual grading" and table[student]["why (of 3)"] == "", student


def test_each_of_the_others_has_its_state_and_points(table, course):
    for student, (_, state, points) in others(course.released(NAME)).items():
        row = table["'=cmd" if student == "=cmd" else student]
        assert row["state"] == state, student
        assert row["points"] == ("" if points is None else f"{points:g}"), student
        assert bool(row["why"]) == (state in ("rejected", "crashed")), student


def test_who_handed_in_nothing_is_missing_and_has_no_zero(table):
    for student in ("not_there", "formula"):
        assert table[student]["state"] == "missing" and table[student]["points"] == ""


def test_the_command_names_what_needs_a_look(graded):
    folder, said = graded
    assert "rejected   cut_off" in said and "crashed    exits" in said and "Traceback" not in said


def test_nothing_leaked_and_nothing_changed(graded, course):
    folder, said = graded
    seed = course.seed()
    for path in (folder / "grading" / "feedback").rglob("*.html"):
        text = path.read_text()
        assert SECRET not in text and seed not in text and "DNUOF" not in text
    notebook = json.loads((folder / "grading" / "autograded" / "hostile" / NAME / f"{NAME}.ipynb").read_text())
    told = str([cell.get("outputs") for cell in notebook["cells"]])
    assert SECRET not in told and seed not in told and "None []" in told
    handed_in = json.loads(others(course.released(NAME))["prints"][0])
    kept = json.loads((folder / "grading" / "submitted" / "prints" / NAME / f"{NAME}.ipynb").read_text())
    assert [{**cell, "id": 0} for cell in kept["cells"]] == [{**cell, "id": 0} for cell in handed_in["cells"]]
    assert not (folder / "grading" / "autograded" / "half" / NAME / "numpy.sh").exists()


def test_again_does_nothing_and_regrade_gives_the_same(graded):
    folder, before = graded[0], marks(graded[0])
    times = {path: path.stat().st_mtime_ns for path in (folder / "grading" / "records").rglob("*.json")}
    assert "crashed    exits" in command(folder, "grade")
    assert {path: path.stat().st_mtime_ns for path in times} == times
    command(folder, "regrade", "01", "half", "plain", "exits")
    assert {path.stem for path in times if path.stat().st_mtime_ns != times[path]} == {"half", "plain", "exits"}
    assert marks(folder) == before


def test_the_gradebook_is_backed_up_before_each_run(graded):
    copies = sorted((graded[0] / "grading" / "backups").glob("*.db"))
    assert copies
    with sqlite3.connect(copies[-1]) as database:
        assert database.execute("select count(*) from assignment").fetchone() == (1,)


def test_late_work_is_known_as_late(table):
    assert table["half"]["hours_late"] == "48" and table["plain"]["hours_late"] == "0"


def test_killed_half_way_it_goes_on_and_loses_nothing(small, graded):
    folder, course, released = small
    fill(folder, oddities=6)
    found = folder / "grading" / "records" / NAME
    for count in (2, 6):
        process = start(folder, "grade", "--jobs", "2")
        until = time.monotonic() + 120
        while len(list(found.glob("*.json"))) < count and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was over before it could be killed"
    done = {path: path.stat().st_mtime_ns for path in found.glob("*.json")}
    command(folder, "grade")
    assert {path: path.stat().st_mtime_ns for path in done} == done
    here = set(course.submitted(NAME))
    assert marks(folder) == [mark for mark in marks(graded[0]) if mark[0] in here]
    states, wanted = ({name: row["state"] for name, row in rows(place).items()} for place in (folder, graded[0]))
    assert states == {name: wanted[name] for name in states}


def test_new_work_replaces_old_and_hand_marks_stay(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released, double=WRONG))
    hand_in(folder, "bob", answers(released))
    pipeline.grade(course, NAME)
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "bob")
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    assert rows(folder)["bob"]["state"] == "graded" and rows(folder)["bob"]["points"] == "7"
    hand_in(folder, "ada", answers(released))
    hand_in(folder, "bob", answers(released, mean=NOTHING))
    assert pipeline.grade(course, NAME)["bob"].state == "needs manual grading"      # to be looked at again
    assert [rows(folder)[name]["points"] for name in ("ada", "bob")] == ["5", "5"]


def test_too_slow_is_timed_out_and_keeps_what_it_had(small):
    folder, course, released = small
    hand_in(folder, "slow", answers(released, mean="while True: pass"))
    hand_in(folder, "fine", answers(released))
    found = pipeline.grade(course, NAME, limits=Limits(call=2, cell=3, submission=3))
    assert found["slow"].state == "timed out" and "seconds" in found["slow"].why
    assert found["fine"].state == "needs manual grading"
    assert rows(folder)["slow"]["double (of 3)"] == "3" and rows(folder)["fine"]["points"] == str(FULL)


def test_who_was_slow_beside_others_gets_a_second_try_alone(small, monkeypatch):
    """The first three runs say that others had the processors."""
    folder, course, released = small
    for student in ("ada", "bo", "cy", "di"):
        hand_in(folder, student, answers(released))
    real, calls, at_once, most = pipeline.run, [], [], []

    def run(*work):
        calls.append(1)
        first = len(calls) <= 3
        at_once.append(1)
        outcome = real(*work)
        if len(calls) > 4:
            most.append(len(at_once))
        at_once.pop()
        return dataclasses.replace(outcome, state="timed out", notes=["slow"], verdicts={}, asked=False,
                                   starved=True) if first else outcome

    monkeypatch.setattr(pipeline, "run", run)
    found = pipeline.grade(course, NAME, jobs=2)
    assert {record.state for record in found.values()} == {"needs manual grading"} and len(calls) == 7
    assert max(most) == 1 and not any(record.notes for record in found.values())


def test_the_teachers_record_says_what_a_hidden_test_found(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released, double="def double(values):\n    return [2 * abs(v) for v in values]"))
    record = pipeline.grade(course, NAME)["ada"]
    assert list(record.unseen) == ["more_double"] and "AssertionError" in record.unseen["more_double"]
    command(folder, "feedback")
    command(folder, "export")
    everywhere = [path for part in ("autograded", "feedback") for path in (folder / "grading" / part).rglob("*.*")]
    for path in [*everywhere, *(folder / "grading").glob("*.csv")]:
        assert SECRET not in path.read_text(encoding="utf-8") or path.suffix == ".ipynb", path


def test_without_a_sandbox_nothing_is_graded(small, monkeypatch):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))

    def none(unsafe):
        raise GraderError("There is no sandbox here")

    monkeypatch.setattr(pipeline, "sandbox", none)
    with pytest.raises(GraderError):
        pipeline.grade(course, NAME)
    assert records.read(course, NAME, "ada") is None and rows(folder)["ada"]["state"] == records.WAITING
    assert rows(folder)["ada"]["points"] == ""


def test_the_command_refuses_without_a_sandbox_unless_told_so(small, monkeypatch, tmp_path):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))                             # there is no bwrap, no docker
        pipeline.sandbox.cache_clear()
        said = command(folder, "grade", status=1)
        assert "nothing was graded" in said and "Traceback" not in said
        assert not (folder / "grading" / "records").exists()
        command(folder, "grade", "--unsafe")
    assert rows(folder)["ada"]["points"] == str(FULL)
    unsafe = records.read(course, NAME, "ada").digest
    command(folder, "grade")
    assert records.read(course, NAME, "ada").digest != unsafe, "what ran without a sandbox runs again in one"


def test_a_lost_worker_is_one_submissions_matter(small, monkeypatch):
    folder, course, released = small
    for student in ("ada", "bob"):
        hand_in(folder, student, answers(released))
    run = pipeline.run

    def lost(notebook, *rest):
        if lost.left:
            lost.left -= 1
            raise concurrent.futures.process.BrokenProcessPool("gone")
        return run(notebook, *rest)

    lost.left = 1
    monkeypatch.setattr(pipeline, "run", lost)
    found = pipeline.grade(course, NAME, jobs=1)
    assert sorted(record.state for record in found.values()) == ["crashed", "needs manual grading"]
    found = pipeline.grade(course, NAME)
    assert [record.state for record in found.values()] == 2 * ["needs manual grading"]


def test_a_changed_test_grades_all_again(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    path = course.source(NAME)
    path.write_text(path.read_text().replace("3.0), 'the mean", "3.5), 'the mean"))
    pipeline.grade(course, NAME)
    assert rows(folder)["ada"]["mean (of 2)"] == "0"


def test_what_is_gone_is_graded_again(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    marked = folder / "grading" / "autograded" / "ada" / NAME / f"{NAME}.ipynb"
    marked.unlink()
    assert pipeline.grade(course, NAME)["ada"].state == "needs manual grading" and marked.exists()


def test_one_run_at_a_time(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    with course.alone():
        assert "Another run" in command(folder, "grade", status=1)


def test_a_class_can_be_graded_by_dask(small):
    distributed = pytest.importorskip("distributed")
    folder, course, released = small
    for student, double in (("ada", DOUBLE), ("bob", WRONG)):
        hand_in(folder, student, answers(released, double=double))
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False,
                                  dashboard_address=None) as cluster:
        pipeline.grade(course, NAME, scheduler=cluster.scheduler_address)
    assert [rows(folder)[name]["points"] for name in ("ada", "bob")] == ["5", "2"]


def test_workers_that_may_not_start_processes_are_refused(small):
    distributed = pytest.importorskip("distributed")
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        with pytest.raises(CourseError, match="--no-nanny"):
            pipeline.grade(course, NAME, scheduler=cluster.scheduler_address)
    assert records.read(course, NAME, "ada") is None


def test_a_scheduler_that_is_not_there(small):
    pytest.importorskip("distributed")
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    with pytest.raises(CourseError, match="no dask scheduler at tcp://127.0.0.1:9"):
        pipeline.grade(course, NAME, scheduler="tcp://127.0.0.1:9")


def test_mistakes_of_the_teacher_get_one_line(small, tmp_path_factory):
    folder, course, released = small
    assert "no course folder" in command(tmp_path_factory.mktemp("elsewhere"), "grade", status=1)
    assert "Nothing has been handed in" in command(folder, "grade", status=1)
    assert "no assignment '07'" in command(folder, "grade", "07", status=1)
    for text, words in (("name\nx\n", "no column “id”"), ("id\na\na\n", "there twice"), ("id\n../x\n", "signs other")):
        (folder / "grading" / "roster.csv").write_text(text)
        hand_in(folder, "ada", answers(released))
        said = command(folder, "grade", status=1)
        assert words in said and len(said.splitlines()) == 1
