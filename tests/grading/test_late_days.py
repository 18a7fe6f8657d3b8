"""What came late, by how much, and what that costs; and who had more time."""

import nbformat
import pytest
from traitlets.utils.importstring import import_item

from coursegrade.marking import pipeline, reports
from coursegrade.marking.course import MOVED
from coursegrade.marking.late_days import LateDays, when
from tests.grading.classroom import FULL, NAME, answers, command, hand_in


@pytest.mark.parametrize("days, penalty", [(0, 0), (1.9, 0), (2, 0), (2.1, 1), (3.0, 1), (4.5, 3), (40, 10)])
def test_late_days(days, penalty):
    assert LateDays(free=2, per_day=0.1).late_submission_penalty("ada", 10.0, days * 86_400) == pytest.approx(penalty)


def test_late_days_are_taken_off(small):
    folder, course, released = small
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.AssignLatePenalties.plugin_class = "coursegrade.marking.late_days.LateDays"\n'
                   "c.LateDays.per_day = 0.2\n")
    hand_in(folder, "ada", answers(released))
    hand_in(folder, "ada", b"2026-05-02 18:00:00 UTC", "timestamp.txt")
    command(folder, "release", "--due", "2026-05-01 12:00:00 UTC")
    command(folder, "grade", "--unsafe")
    row = reports.table(type(course)(folder), NAME)[0]
    assert (row["points"], row["late_penalty"], row["hours_late"]) == (3, 2, 30)


@pytest.mark.parametrize("old", MOVED)
def test_settings_of_an_older_version_get_one_line_before_anything_is_graded(small, old):
    folder, _, released = small
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f'c.AssignLatePenalties.plugin_class = "{old}"\n')
    hand_in(folder, "ada", answers(released))
    said = command(folder, "grade", "--unsafe", status=1)
    assert said.strip() == f"nbgrader_config.py names {old}, which is {MOVED[old]} now: write that there."
    assert import_item(MOVED[old]) and not list(folder.glob("grading/records/*/*"))


@pytest.mark.parametrize("text, kept", [
    ("2026-11-30 18:00 UTC", "2026-11-30 18:00:00"), ("2026-11-30 18:00", "2026-11-30 18:00:00"),
    ("2026-11-30 18:00 +0100", "2026-11-30 17:00:00"), ("2026-11-30T18:00-05:00", "2026-11-30 23:00:00")])
def test_times_are_kept_in_utc(text, kept):
    assert str(when(text)) == kept


LATE = f"""id;assignment;time;due
ada;01;2026-05-02 18:00 +0000;
bob;{NAME};2026-05-03 11:00 UTC;2026-05-03 12:00 UTC
cyd;01;;2026-05-03 12:00 UTC
"""


def hours(course):
    return {row["student_id"]: row["hours_late"] for row in reports.table(course, NAME)}


def test_a_table_says_when_work_came_and_who_had_more_time(small):
    folder, course, released = small
    command(folder, "release", "--due", "2026-05-01 12:00 UTC", "--to", str(folder / "student.zip"))
    for student in ("ada", "bob", "cyd", "dan"):
        hand_in(folder, student, answers(released))
    hand_in(folder, "cyd", b"2026-05-03 13:00:00 UTC", "timestamp.txt")
    pipeline.grade(course, NAME)
    assert hours(course) == {"ada": 0, "bob": 0, "cyd": 49, "dan": 0}
    (folder / "grading" / "late.csv").write_text(LATE)
    dan = folder / "grading" / "records" / NAME / "dan.json"
    before = dan.stat().st_mtime_ns
    pipeline.grade(course, NAME)
    assert hours(course) == {"ada": 30, "bob": 0, "cyd": 1, "dan": 0}
    assert dan.stat().st_mtime_ns == before, "nothing of it has changed"
    (folder / "grading" / "late.csv").unlink()
    pipeline.grade(course, NAME)
    assert hours(course)["cyd"] == 49, "the extension is taken back"
    assert reports.table(course, NAME)[0]["points"] == FULL


@pytest.mark.parametrize("text, words", [
    ("id,time\nada,2026-05-01\n", "needs the columns"), ("id,assignment,time\nada,01,soon\n", "'soon' is no time"),
    ("id,assignment,time\nnobody,01,2026-05-01\n", "nobody called 'nobody'"),
    ("id,assignment,time\nada,09,2026-05-01\n", "no assignment '09'")])
def test_a_table_that_is_not_understood_gets_one_line(small, text, words):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    (folder / "grading" / "roster.csv").write_text("id\nada\n")
    (folder / "grading" / "late.csv").write_text(text)
    said = command(folder, "grade", status=1)
    assert words in said and len(said.splitlines()) == 1


def test_what_canvas_marks_as_late_is_asked_for_and_noted(small):
    folder, course, released = small
    here = folder / "grading" / "inbox" / NAME
    here.mkdir(parents=True)
    (folder / "grading" / "roster.csv").write_text("id,first_name,last_name,lms_user_id\njdoe,Jane,Doe,4711\n")
    nbformat.write(answers(released), here / "doejane_LATE_4711_9911_a.ipynb")
    assert "grading/late.csv does not say when it came" in command(folder, "grade", "--unsafe")
    assert reports.table(course, NAME)[0]["notes"] == "late, says the platform"
    (folder / "grading" / "late.csv").write_text("id,assignment,time\njdoe,01,2026-05-01 12:00 UTC\n")
    assert "late" not in command(folder, "grade", "--unsafe") and reports.table(course, NAME)[0]["notes"] == ""
