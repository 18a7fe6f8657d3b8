"""The page before a deadline: what is missing, damaged or behind is named, with what to do."""

import os
import re
import shutil
import time

import pytest

from coursegrade.marking import doctor, outcomes, pipeline
from coursegrade.marking.course import Course
from coursegrade.sandbox.kinds import GraderError
from tests.grading.classroom import NAME, answers, command, hand_in


@pytest.fixture
def marked(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    (folder / "grading" / "roster.csv").write_text("id\nada\nbob\n")
    pipeline.grade(course, NAME)
    return folder


def page(folder, status=0):
    """{what was looked at: [its lines]} as the command prints them."""
    found = {}
    for line in command(folder, "doctor", status=status).splitlines():
        if match := re.fullmatch(r"([✓!✗]) (\w+) +(.*)", line):
            found.setdefault(match[2], []).append(f"{match[1]} {match[3]}")
    return found


def test_all_is_well(marked):
    found = page(marked)
    assert [*found] == ["seed", "sandbox", "gradebook", "disk", "roster", "clock", "versions"]
    assert all(line.startswith("✓") for lines in found.values() for line in lines)


def test_a_course_in_which_nothing_was_done_yet_is_well_too(small):
    folder, *_ = small
    shutil.rmtree(folder / "grading")
    found = page(folder)
    assert found["seed"] == ["! there is no grading/seed yet: `release` makes one"]
    assert found["roster"][0].startswith("! there is no grading/roster.csv")


def lost_seed(folder):
    (folder / "grading" / "seed").unlink()


def short_seed(folder):
    (folder / "grading" / "seed").write_text("abc")


def lost_gradebook(folder):
    (folder / "gradebook.db").unlink()


def torn_gradebook(folder):
    path = folder / "gradebook.db"
    path.write_bytes(path.read_bytes()[:30_000])


def older_gradebook(folder):
    path = folder / "gradebook.db"
    old = path.read_bytes()
    pipeline.grade(Course(folder), NAME, again=["ada"])
    path.write_bytes(old)


@pytest.mark.parametrize("happens, where, words", [
    (lost_seed, "seed", "is gone: restore it"), (short_seed, "seed", "is damaged: restore it"),
    (lost_gradebook, "gradebook", "it is gone: `python -m coursegrade rebuild`"),
    (torn_gradebook, "gradebook", "it is damaged"),
    (older_gradebook, "gradebook", "does not have the marks of 1 submissions: `python -m coursegrade rebuild`")])
def test_what_stops_grading_is_named_with_what_to_do(marked, happens, where, words):
    happens(marked)
    found = page(marked, status=1)
    assert words in found[where][0] and found[where][0].startswith("✗")
    if where == "gradebook":
        command(marked, "rebuild")
        assert page(marked)["gradebook"] == ["✓ it has the marks of all that was graded"]


def test_without_a_sandbox(marked, monkeypatch):
    def none(unsafe):
        raise GraderError("There is no\n  sandbox here")

    monkeypatch.setattr(doctor, "choose", none)
    assert page(marked, status=1)["sandbox"] == ["✗ There is no sandbox here"]


def test_the_rest_is_a_warning(marked, monkeypatch):
    outcomes.path_of(Course(marked), NAME, "ada").unlink()
    (marked / "grading" / "roster.csv").write_text("id\nbob\n")
    ahead = marked / "grading" / "roster.csv"
    os.utime(ahead, (time.time() + 7200, time.time() + 7200))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 10**12, 10**6))
    found = page(marked)
    assert found["gradebook"][0].startswith("! of 1 submissions the file in grading/outcomes is gone")
    assert found["disk"][0].startswith("! 0.0 GB are free")
    assert "1 who handed in are not on it: ada" in found["roster"][0]
    assert found["clock"][0].startswith("! roster.csv is from the future")
