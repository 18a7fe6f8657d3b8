"""What is kept is whole, or named in one line; nothing that is lost or older gives marks in silence."""

import errno
import os
import shutil
import sqlite3

import pytest

from coursegrade.kit.unseen import SEED
from coursegrade.marking import download, files, pipeline, records, tables
from coursegrade.marking.course import BACKUPS, Course, CourseError
from tests.grading.classroom import NAME, ROOT, WRONG, answers, command, hand_in
from tests.grading.test_pipeline import rows


@pytest.fixture
def course(tmp_path, template, monkeypatch):
    monkeypatch.delenv(SEED, raising=False)
    return Course(shutil.copytree(template, tmp_path / "course"))


def lines(course, *arguments):
    """What a command that stops says."""
    said = command(course.root, *arguments, status=1)
    assert "Traceback" not in said
    return said.splitlines()


# ── written whole ─────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        monkeypatch.setattr(files.os, name, lambda *a, name=name, real=getattr(os, name): (done.append(name), real(*a)))
    with files.whole(tmp_path / "new" / "a.txt") as file:
        file.write("one")
    assert done == ["fsync", "replace"] and (tmp_path / "new" / "a.txt").read_text() == "one"
    with pytest.raises(ZeroDivisionError), files.whole(tmp_path / "new" / "a.txt") as file:
        file.write("two" + 1 / 0)
    assert [path.read_text() for path in (tmp_path / "new").iterdir()] == ["one"]


def test_nothing_else_replaces_files():
    for path in (ROOT / "coursegrade" / "marking").glob("*.py"):
        assert ("os.replace(" in path.read_text()) == (path.name == "files.py"), path.name


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_gets_one_line_and_leaves_nothing_half_written(course, monkeypatch):
    hand_in(course.root, "ada", b"no notebook")
    before = {*course.root.rglob("*.*")}
    monkeypatch.setattr(files.os, "fsync", full)
    for arguments, path in ((["export", NAME], f"grading/{NAME}.csv"), (["grade"], "grading/backups/gradebook-")):
        line, = lines(course, *arguments)
        assert "No space left" in line and path in line
    assert {path.name for path in {*course.root.rglob("*.*")} - before} <= {".lock"}


def test_a_full_disk_rejects_nobodys_work(small, monkeypatch):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    monkeypatch.setattr(pipeline.nbformat, "write", full)
    line, = lines(course, "grade")
    assert line.startswith(f"{folder}: No space left")
    assert records.read(course, NAME, "ada") is None


@pytest.mark.parametrize("data", [b"", b"x" * 30_000, None], ids=["empty", "garbage", "cut"])
def test_a_gradebook_that_is_none_gets_one_line(course, data):
    path = course.root / "gradebook.db"
    hand_in(course.root, "ada", b"no notebook")
    path.write_bytes(path.read_bytes()[:30_000] if data is None else data)
    line, = lines(course, "export", NAME)
    assert "gradebook" in line and ("`rebuild` makes it anew" in line or "`grade` first" in line)


def test_a_run_makes_one_backup_however_many_assignments_it_is_about(course, monkeypatch):
    shutil.copytree(course.source(NAME).parent, course.root / "solutions" / "02_more")
    (course.root / "solutions" / "02_more" / f"{NAME}.ipynb").rename(course.source("02_more"))
    for name in (NAME, "02_more"):
        (course.root / "grading" / "submitted" / "ada" / name).mkdir(parents=True)
    monkeypatch.setattr(pipeline, "grade", lambda *work: {})
    for run in range(1, BACKUPS + 3):
        command(course.root, "grade")
        assert len(list((course.grading / "backups").iterdir())) == min(run, BACKUPS)


# ── the seed, the entries, the examinations ───────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("data", [b"", b"0123456789abcde\n", b"\0" * 33, b"\xff" * 5])
def test_a_seed_that_is_empty_short_or_torn_is_refused(course, data):
    hand_in(course.root, "ada", b"no notebook")
    (course.grading / "seed").write_bytes(data)
    line, = lines(course, "grade")
    assert "grading/seed is damaged: restore it" in line
    assert (course.grading / "seed").read_bytes() == data


def test_a_new_seed_is_long_whole_and_the_teachers_alone(course, monkeypatch):
    seed, path = course.seed(), course.grading / "seed"
    assert len(seed) == 32 and course.seed() == seed and path.stat().st_mode & 0o777 == 0o600
    path.unlink()
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError):
        course.seed()
    assert not [*course.grading.glob("seed*")]
    monkeypatch.setenv(SEED, "too short")
    with pytest.raises(CourseError, match="needs 16 signs"):
        course.seed()


@pytest.mark.parametrize("text", ['{"ada": ["a.ip', "[1]", '{"ada": 3}'])
def test_a_torn_file_of_entries_is_named(course, text):
    (course.grading / "entries").mkdir()
    (course.grading / "entries" / f"{NAME}.json").write_text(text)
    hand_in(course.root, "ada", b"no notebook")
    for name in ("intake", "export"):
        line, = lines(course, name, NAME)
        assert f"grading/entries/{NAME}.json is damaged: delete it" in line
    (course.grading / "entries" / f"{NAME}.json").unlink()
    download.keep_names(course, NAME, {"ada": ["a.ipynb"]}, {})
    assert download.names_of(course, NAME) == {"ada": ["a.ipynb"]}


def test_which_assignments_are_examinations_is_kept_until_a_person_changes_it(course):
    assert course.exams() == set()
    assert course.exams([NAME]) == course.exams() == {NAME}
    line, = lines(course, "release", "01")
    assert f"{NAME}: released as an examination. Say --exam again" in line
    (course.grading / "exams").write_text(f"{NAME[:-2]}\n")
    hand_in(course.root, "ada", b"no notebook")
    line, = lines(course, "grade")
    assert f"grading/exams names '{NAME[:-2]}'" in line


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────

def test_an_older_gradebook_gives_no_old_marks_and_is_brought_up_to_date(small, tmp_path, capsys):
    folder, course, released = small
    hand_in(folder, "ada", answers(released, double=WRONG))
    hand_in(folder, "bob", answers(released))
    pipeline.grade(course, NAME)
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "bob")
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    copy = course.backup()
    hand_in(folder, "ada", answers(released))
    hand_in(folder, "new", answers(released))
    pipeline.grade(course, NAME)
    shutil.copy(copy, folder / "gradebook.db")
    table = rows(folder)
    assert {name: (row["state"], row["points"]) for name, row in table.items()} == {
        "ada": (records.WAITING, ""), "bob": ("graded", "7"), "new": (records.WAITING, "")}
    assert "the gradebook does not have its marks" in table["ada"]["why"]
    assert f"{NAME}: not graded yet, so without points: ada, new" in command(folder, "export")
    capsys.readouterr()
    pipeline.grade(course, NAME)
    assert "does not have the marks of 2 submissions" in capsys.readouterr().err
    assert {name: row["points"] for name, row in rows(folder).items()} == {"ada": "5", "bob": "7", "new": "5"}


def test_a_lost_gradebook_is_filled_again(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    (folder / "gradebook.db").unlink()
    line, = lines(course, "export")
    assert f"does not know {NAME}" in line
    assert pipeline.grade(course, NAME)["ada"].state == "needs manual grading" and rows(folder)["ada"]["points"] == "5"
    with sqlite3.connect(folder / "gradebook.db") as database:
        database.execute("delete from submitted_assignment")
    assert rows(folder)["ada"]["state"] == records.WAITING


def test_a_run_that_was_lost_shows_no_marks_of_an_earlier_hand_in(small, monkeypatch):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    hand_in(folder, "ada", answers(released, double=WRONG))
    monkeypatch.setattr(pipeline, "run", full)
    assert pipeline.grade(course, NAME)["ada"].state == "crashed" and rows(folder)["ada"]["points"] == ""


def test_a_torn_record_is_one_line_and_one_submissions_matter(small, capsys):
    folder, course, released = small
    for student in ("ada", "bob"):
        hand_in(folder, student, answers(released))
    pipeline.grade(course, NAME)
    path, other = (records.path_of(course, NAME, student) for student in ("ada", "bob"))
    before = other.stat().st_mtime_ns
    for text in (path.read_text()[:40], "[]", '{"student": "ada", "mark": 1}'):
        path.write_text(text)
        assert rows(folder)["ada"]["state"] == records.WAITING and rows(folder)["bob"]["points"] == "5"
    capsys.readouterr()
    pipeline.grade(course, NAME)
    said = capsys.readouterr().err
    assert said.count(f"grading/records/{NAME}/ada.json cannot be read") == 1 and "Traceback" not in said
    assert rows(folder)["ada"]["points"] == "5" and other.stat().st_mtime_ns == before


def test_an_assignment_that_becomes_an_examination_is_graded_again(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    before = pipeline.grade(course, NAME)["ada"]
    course.exams([NAME])
    assert pipeline.grade(course, NAME)["ada"].receipt != before.receipt
    assert "(an examination: nothing was lent)" in command(folder, "grade")


def test_a_table_is_written_whole(tmp_path, monkeypatch):
    tables.write(tmp_path / "a.csv", [{"a": 1}])
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="a.csv"):
        tables.write(tmp_path / "a.csv", [{"a": 2}])
    assert [path.read_text() for path in tmp_path.iterdir()] == ["a\n1\n"]


# ── deep folders ──────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_folder_is_walked_so_deep_and_no_deeper(tmp_path):
    (tmp_path / "/".join("abcde")).mkdir(parents=True)
    assert [here for here, _, _ in files.walk(tmp_path, 3)] == [
        str(tmp_path.joinpath(*"abcde"[:depth])) for depth in range(4)]
