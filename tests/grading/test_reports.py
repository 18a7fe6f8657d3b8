"""Tables for the teacher and for learning platforms, what the class found hard, and the bundle."""

import csv
import subprocess
import sys
import zipfile

import pytest
from nbformat.v4 import new_output

from coursegrade.kit.messages import CheckFailed
from coursegrade.marking import bundle, heard, outputs, pipeline, reports, tables
from coursegrade.marking.course import CourseError, digest
from coursegrade.marking.records import STATES
from tests.grading.classroom import NAME, ROOT, SECRET, answers, command, hand_in


def read(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_every_row_has_one_state_and_points_only_where_there_are_some(course, graded):
    table = read(graded[0] / "grading" / f"{NAME}.csv")
    assert {row["student_id"] for row in table} == {*course.roster(), *course.submitted(NAME)} - {"=cmd"} | {"'=cmd"}
    for row in table:
        assert row["state"] in STATES
        assert (row["points"] == "") == (row["state"] in ("rejected", "missing")), row
        questions = [row[name] for name in ("double (of 3)", "mean (of 2)", "why (of 3)") if row[name]]
        assert sum(map(float, questions)) == float(row["points"] or 0)


def test_no_field_is_a_formula(graded):
    for path in (graded[0] / "grading").glob("*.csv"):
        if path.name != "roster.csv":
            with open(path, newline="", encoding="utf-8-sig") as file:
                fields = [field for row in csv.reader(file) for field in row]
            assert fields and not [field for field in fields if field.startswith(("=", "+", "@", "\t"))]


@pytest.mark.parametrize("sign", "=+-@\t\r＝＋－＠")
def test_a_field_that_could_be_a_formula_is_marked_as_text(sign):
    assert tables.field(f"{sign}1+1") == f"'{sign}1+1" and tables.field(f"1{sign}1") == f"1{sign}1"


def test_canvas_gets_its_columns(graded):
    table = read(graded[0] / "grading" / f"{NAME}-canvas.csv")
    assert list(table[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert table[0]["Student"] == "    Points Possible" and table[0][NAME] == "8"
    half = next(row for row in table if row["SIS User ID"] == "half")
    assert (half["Student"], half["ID"], half["SIS Login ID"]) == ("Ada, Half", "4712", "half@example.org")
    assert half[NAME] == "", "nobody has read the text"
    assert next(row for row in table if row["SIS User ID"] == "exits")[NAME] == ""
    assert next(row for row in table if row["SIS User ID"] == "cut_off")[NAME] == "", "empty changes nothing there"


def test_who_has_not_been_read_is_marked_everywhere(small):
    folder, course, released = small
    for student in ("ada", "bob"):
        hand_in(folder, student, answers(released))
    command(folder, "grade", "--unsafe")
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "bob")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    here = folder / "grading"
    assert "has read the text yet: ada\n" in command(folder, "export", NAME)
    assert (here / f"{NAME}.csv").read_bytes().startswith(b"\xef\xbb\xbf"), "spreadsheets need the mark"
    assert not (here / f"{NAME}-canvas.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert [(row["not_read"], row["points"]) for row in read(here / f"{NAME}.csv")] == [("why", "5"), ("", "8")]
    for platform, rows in ("canvas", slice(1, None)), ("moodle", slice(None)):
        assert [row[NAME] for row in read(here / f"{NAME}-{platform}.csv")[rows]] == ["", "8"]
    assert "points so far" in command(folder, "export", NAME, "--so-far")
    assert [row[NAME] for row in read(here / f"{NAME}-canvas.csv")[1:]] == ["5", "8"]


def test_moodle_gets_its_columns(graded):
    table = {row["ID number"]: row for row in read(graded[0] / "grading" / f"{NAME}-moodle.csv")}
    assert table["half"]["Email address"] == "half@example.org" and table["half"][NAME] == ""
    assert table["cut_off"]["Feedback"].startswith("Rejected: there is no notebook")
    assert table["not_there"][NAME] == "" and table["not_there"]["Feedback"] == "Missing: nothing was handed in."
    assert table["half"]["Feedback"] == "Needs manual grading. Not read yet: why; points may be added."


def test_stats_say_where_the_class_fell_over(graded):
    said = command(graded[0], "stats")
    assert "1 crashed" in said and "2 missing" in said
    double = said[said.index("\ndouble"):said.index("\nmean")]
    assert "Is it twice each <b>value</b>?" in double and "do not see" not in double, "one mistake, said once"
    assert SECRET not in said


def test_stats_count_one_mistake_once_whatever_its_numbers():
    said = {"wrong: row 0 sums to 0.57754, not 1": 1, "wrong: row 2 sums to 3, not 1": 2, "stops with KeyError": 2}
    assert reports.alike(said) == {"wrong: row 2 sums to 3, not 1 (and with other numbers)": 3,
                                   "stops with KeyError": 2}


def test_the_histogram_counts_everybody_once():
    lines = list(reports.histogram([0, 0.5, 7.9, 8, 8], 8))
    assert [int(line.split()[-1]) for line in lines] == [2, 0, 0, 0, 3] and "6.4 … 8" in lines[-1]
    assert len(list(reports.histogram([0, 0], 0))) == 5, "an assignment without points"


def test_stats_count_what_waits_and_share_out_what_is_marked(small):
    folder, course, released = small
    for student in ("ada", "bob", "cyd"):
        hand_in(folder, student, answers(released))
    command(folder, "grade", "--unsafe")
    said = command(folder, "stats")
    assert "points, before reading: median 5 of 8" in said and "3 wait for a reader" in said
    assert "of the points" not in said[said.index("\nwhy"):]
    for student, points in (("ada", 3), ("bob", 1.5)):
        with course.gradebook() as gradebook:
            grade = gradebook.find_grade("why", NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.db.commit()
    assert "75% of the points, 1 of 2 have them all; 1 waits for a reader" in command(folder, "stats")


@pytest.mark.parametrize("name, message, wanted", [
    ("ValueError", "=1+1 <b>mine</b>", "stops with ValueError"),
    ("AssertionError", "my own", "stops with AssertionError"),
    ("AssertionError", "the mean of 1 and 2", "the mean of 1 and 2"), ("KeyError", "", "stops with KeyError"),
    ("AssertionError", outputs.UNSEEN, outputs.UNSEEN),
    ("CheckFailed", "· f is still empty: write.", "· f is still empty: write."),
    ("Stopped", "Not graded: it took too long.", "Not graded: it took too long.")])
def test_words_of_a_students_error_are_not_repeated(name, message, wanted):
    output = new_output("error", ename=name, evalue=message)
    assert heard.summary(output, "assert same(mean([1, 2]), 1.5), 'the mean of 1 and 2'") == wanted


@pytest.mark.parametrize("message, wanted", [
    ("✗ f is not right yet (a).\n\n  input     x\n  wrong     shape (2,)\n\n  Along which axis?\n  Look again.",
     "Along which axis? Look again."),
    ("✗ f stops with an error (a).\n\n  input     x\n  error     KeyError: 'a'\n  where     line 3",
     "stops with KeyError"),
    ("✗ f stops with an error (a).\n\n  input     x = 3\n  error     ValueError: =1+1\n\n            <b>mine</b>",
     "stops with ValueError"),
    ("✗ f is not right yet (a).\n  Along which axis?\n  Look again.\n\n  input     x\n  wrong     shape (2,)",
     "Along which axis? Look again."),
    ("✗ f is not right yet (a).\n  Wrong.\n\n  input     a\n            b\n\n            c\n  wrong     shape",
     "Wrong."),
    ("✗ f calls g.\n  Take it out.", "Take it out."), ("✗ f: right on the inputs that you see.", None),
    ("· f is still empty: write.", "· f is still empty: write."), ("", "")])
def test_the_gist_of_a_message(message, wanted):
    assert heard.gist(message) == (message if wanted is None else wanted)


def test_the_gist_of_what_checks_say():
    for advice, rows in ("Rows sum to one.", [("input", "u = 3\n\n  Not this."), ("wrong", "shape")]), ("A " * 80, []):
        text = str(CheckFailed(advice, "✗ softmax is not right yet (two rows).", rows))
        assert heard.gist(text) == advice.strip()
    text = str(CheckFailed("", "✗ softmax is not right yet (two rows).", [("input", "u = 3"), ("wrong", "shape")]))
    assert heard.gist(text) == "wrong: shape"


# ── the bundle ────────────────────────────────────────────────────────────────────────────────────────────────────

def test_the_bundle_has_no_solution_no_hidden_test_and_no_seed(small, tmp_path):
    folder, course, released = small
    for name in ("docs/__pycache__", "lectures", "tests"):
        (folder / name).mkdir(parents=True)
    for name in ("README.md", "docs/notation.md", "docs/teaching.md", "docs/__pycache__/a.pyc", "lectures/00.ipynb",
                 "tests/test_a.py", ".env"):
        (folder / name).write_text("x")
    said = command(folder, "release", "--to", str(tmp_path / "student.zip"))
    assert "seed" in said and course.seed() not in said
    assert (folder / "grading" / "seed").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        packages = tuple(f"student/{name}/" for name in ("coursekit", "coursegrade", "attention_questions"))
        names = {name for name in archive.namelist() if not name.startswith(packages)}
        assert names == {f"student/{name}" for name in (
            "README.md", "docs/notation.md", "lectures/00.ipynb", f"exercises/{NAME}/{NAME}.ipynb")}
        assert {name + "__init__.py" for name in packages} < {*archive.namelist()}
        assert not [name for name in archive.namelist() if name.endswith(".pyc")]
        readme = archive.read("student/README.md").decode()
        text = b"".join(map(archive.read, names)).decode()
    assert SECRET not in text and "return [2 *" not in text and course.seed() not in text and "YOUR CODE HERE" in text
    assert "make lab" in readme and f"`exercises/{NAME}/{NAME}.ipynb`" in readme and r".venv\Scripts\python" in readme
    assert not any(word in readme for word in ("solutions", "make test", "make grade", "teaching.md", "{"))
    before = (tmp_path / "student.zip").read_bytes()
    command(folder, "release", "--to", str(tmp_path / "student.zip"))
    assert (tmp_path / "student.zip").read_bytes() == before


def test_without_a_sandbox_a_release_stops_before_it_begins(small, monkeypatch, tmp_path):
    folder, course, _ = small
    monkeypatch.setenv("PATH", str(tmp_path))                           # there is no bwrap, no docker
    monkeypatch.setattr(type(course), "prepare", None)
    pipeline.sandbox.cache_clear()
    assert "There is no sandbox here" in command(folder, "release", status=1)
    assert not (folder / "grading" / "student.zip").exists()


def test_commands_start_without_what_takes_seconds_to_import(template):
    code = (f"import sys; from coursegrade.__main__ import main; main(['intake', '--course', {str(template)!r}])\n"
            "import jsonschema; print(sys.modules['rfc3987_syntax'])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1:] == ["None"], done.stderr


def test_a_marker_that_was_left_in_stops_the_release(small, tmp_path):
    folder, course, _ = small
    path = folder / "grading" / "release" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text().replace("# Small numbers", "### BEGIN SOLUTION"))
    with pytest.raises(CourseError, match="still has a solution"):
        bundle.write(course, [NAME], tmp_path / "student.zip")
    assert not list(tmp_path.glob("student.zip*"))


UNLUCKY = digest("an unlucky seed, so to say", "tried", pipeline.DRAWS - 1)                # one draw of many


@pytest.mark.parametrize("old, new, words", [
    ("return sum(values) / len(values)", "return sum(values) / 3 + 1", f"({NAME}, check_mean)"),
    (f"secret = '{SECRET}'", f"import os; secret = os.environ['COURSEGRADE_HIDDEN_SEED'] != '{UNLUCKY}' or nothing",
     f"({NAME}, more_double)")])
def test_a_solution_that_misses_a_point_with_the_secret_seed_stops_the_release(small, tmp_path, old, new, words):
    folder, course, _ = small
    path = course.source(NAME)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    (folder / "grading" / "seed").write_text("an unlucky seed, so to say\n")
    said = command(folder, "release", "--due", "2026-11-30 18:00 UTC", "--to", str(tmp_path / "student.zip"), status=1)
    assert words in said and "mend the tests or the solutions" in said and len(said.splitlines()) == 1
    assert not list(tmp_path.glob("student.zip*"))
    with course.gradebook() as gradebook:
        assert gradebook.find_assignment(NAME).duedate is None
    if "seed" in new.lower():                                           # with another one it is right
        (folder / "grading" / "seed").write_text("a lucky seed, on the whole\n")
        command(folder, "release", "--to", str(tmp_path / "student.zip"))


@pytest.mark.parametrize("arguments, words", [
    (("release", "--due", "30.11.2026"), "2026-11-30 18:00 UTC"), (("release", "--due", "soon"), "no time"),
    (("intake", "01", "--from", "/nowhere"), "There is no folder or file /nowhere")])
def test_what_a_command_does_not_understand_gets_one_line(template, arguments, words):
    said = command(template, *arguments, status=1)
    assert words in said and len(said.splitlines()) == 1
