"""Pages and marks go back to a whole class: packed as its platform takes them, and in one table of all assignments."""

import csv
import re
import shutil
import zipfile

import nbformat
import pytest

from coursegrade.marking import returning
from coursegrade.marking.course import Course
from tests.grading.classroom import NAME, NOTHING, answers, command

ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section
"    Points Possible",,,,
"Doe, Jane",4711,S01,jdoe,CS 1
"Il, Eve",4718,S02,ileve,CS 1
"Quinn, Sam",4719,S03,squinn,CS 2
"""


@pytest.fixture
def marked(small):
    """A course in which three have handed in on Canvas, Moodle and by hand."""
    folder, course, released = small
    (folder / "grading" / "roster.csv").write_text(ROSTER)
    here = folder / "grading" / "inbox" / NAME
    (here / "Eve Il_815_assignsubmission_file_").mkdir(parents=True)
    for name in ("doejane_LATE_4711_9911_mine.ipynb", "Eve Il_815_assignsubmission_file_/a.ipynb", "squinn.ipynb"):
        nbformat.write(answers(released, **({"mean": NOTHING} if "Eve" in name else {})), here / name)
    return folder, course


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_pages_go_back_under_the_names_that_the_platform_gave(marked):
    folder, course = marked
    command(folder, "grade", "--unsafe")
    said = command(folder, "feedback", "--zip")
    assert "to be returned by hand: squinn" in said
    canvas, moodle = (members(folder / "grading" / f"{NAME}-feedback-{name}.zip") for name in ("canvas", "moodle"))
    assert list(canvas) == ["doejane_LATE_4711_9911_mine.html"] and "Jane Doe" in canvas.popitem()[1]
    assert list(moodle) == [f"Eve Il_815_assignsubmission_file_/{NAME}.html"] and "Eve Il" in moodle.popitem()[1]


def test_of_a_pair_each_page_goes_to_one(marked):
    folder, course = marked
    command(folder, "choose", NAME, "squinn", "doejane_LATE_4711_9911_mine.ipynb")
    command(folder, "choose", NAME, "jdoe", "doejane_LATE_4711_9911_mine.ipynb")
    command(folder, "grade", "--unsafe")
    command(folder, "feedback")
    packed, left = returning.pack(course, NAME)
    assert left == ["squinn"] and sum(packed.values()) == 2
    [page] = members(folder / "grading" / f"{NAME}-feedback-canvas.zip").values()
    assert "Jane Doe" in page and "Sam Quinn" not in page, "whose hand-in it is by its name"


@pytest.mark.parametrize("entry, number", [
    ("doejane_4711_9911_02_attention.ipynb", 0), ("doejane_LATE_4711_9911_a.tar.gz", 0), ("doejane_4711_9911_a", 0)])
def test_canvas_finds_its_numbers_in_the_page_s_name(entry, number):
    name = returning.inside("canvas", entry, NAME)
    assert re.findall(r"(?<=_)\d+(?=_)", name)[:2] == ["4711", "9911"] and name.endswith(".html")


def rows(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_canvas_gets_back_what_it_knows_people_by(marked):
    folder, _ = marked
    command(folder, "grade", "--unsafe")
    command(folder, "export", NAME)
    jane = rows(folder / "grading" / f"{NAME}-canvas.csv")[2]
    assert list(jane.values())[:5] == ["Doe, Jane", "4711", "S01", "jdoe", "CS 1"]


def test_what_was_never_graded_is_left_out_in_a_line(marked):
    folder, course = marked
    shutil.copytree(course.source(NAME).parent, folder / "solutions" / "02_other")
    (folder / "solutions" / "02_other" / f"{NAME}.ipynb").rename(course.source("02_other"))
    (folder / "grading" / "inbox" / "02_other").mkdir()
    for name in "feedback", "export", "stats":
        assert f"Of {NAME}, 02_other nothing was graded yet" in command(folder, name, status=1)
    command(folder, "grade", NAME, "--unsafe")
    for released in False, True:                                        # the gradebook knows it then, as all missing
        if released:
            course.prepare("02_other")
            nbformat.write(answers(course.released("02_other")), folder / "grading/inbox/02_other/jdoe.ipynb")
        for name in "feedback", "export", "stats":
            said = command(folder, name)
            assert "Not graded yet, so left out: 02_other\n" in said and f"\n{NAME}: " in said
        assert "02_other (of 8)" not in rows(folder / "grading" / "marks.csv")[0]
    assert "02_other" in command(folder, "export", "02")


def test_one_table_has_all_assignments_with_their_weights(marked):
    folder, course = marked
    other = folder / "solutions" / "02_other"
    other.mkdir()
    shutil.copy(course.source(NAME), other / "02_other.ipynb")
    released = Course(folder).prepare("02_other")
    (folder / "grading" / "inbox" / "02_other").mkdir()
    nbformat.write(answers(released), folder / "grading" / "inbox" / "02_other" / "jdoe.ipynb")
    command(folder, "grade", "--unsafe")
    assert "grading/marks.csv" in command(folder, "export")
    eve, jane, _ = rows(folder / "grading" / "marks.csv")
    assert (jane["01_small (of 8)"], jane["02_other (of 8)"], eve["02_other (of 8)"]) == ("5", "5", "")
    assert eve["percent_of_what_has_points"] == "37.5"
    assert (jane["percent_of_all"], eve["percent_of_all"]) == ("62.5", "18.8")
    assert eve["not_final"] == "01_small: needs manual grading; 02_other: missing"
    (folder / "grading" / "weights.csv").write_text("assignment;weight\n01;3\n02;1\n")
    command(folder, "export")
    eve, jane, _ = rows(folder / "grading" / "marks.csv")
    assert eve["percent_of_all"] == "28.1" and jane["percent_of_all"] == "62.5"
    shutil.copytree(other, folder / "solutions" / "03_later")
    (folder / "solutions" / "03_later" / "02_other.ipynb").rename(Course(folder).source("03_later"))
    (folder / "grading" / "weights.csv").write_text("assignment;weight\n01;3\n03;4\n02;1\n")
    assert "marks.csv: 0 in percent_of_all, as nothing was graded yet: 03_later\n" in command(folder, "export")
    eve, jane, _ = rows(folder / "grading" / "marks.csv")
    assert (jane["percent_of_all"], jane["percent_of_what_has_points"]) == ("31.2", "62.5"), "5 of 8, of half"
    assert jane["not_final"].endswith("; 03_later: not graded yet")
    (folder / "grading" / "weights.csv").write_text("assignment;weight\n01;much\n")
    assert "needs the columns assignment and weight" in command(folder, "export", status=1)
