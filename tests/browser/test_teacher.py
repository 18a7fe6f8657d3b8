"""A teacher's way, as docs/teaching.md prints it: from the release to marks, and texts marked by hand in a browser that
does not reach the internet. In `make test` with a small assignment and two students."""

import csv
import re
import shutil
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_raw_cell
from playwright.sync_api import expect

from coursegrade.marking import reports
from coursegrade.marking.course import Course
from tests.browser import class_of_twelve as twelve
from tests.browser import lab
from tests.grading.classroom import (
    FULL,
    HOSTILE,
    MARKUP,
    NAME,
    NOTHING,
    PICTURE,
    WRONG,
    answers,
    hand_in,
    make_course,
    start,
)
from tests.grading.sandboxed import kind_or_skip

GUIDE = (lab.ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"             # all that formgrader wants from elsewhere
HARMLESS = ("MathJax is not defined", "Failed to load resource: net::ERR_FAILED")       # what comes of not having it
COMMENT = "Yes, <b>both</b>!"


def run(folder, *arguments):
    """A command of coursegrade; what it printed."""
    process = start(folder, *arguments)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 0, said + errors
    return said


def printed(folder, command):
    """Give a command in the course's folder, as the teacher's guide prints it; what it said."""
    assert re.search(rf"^ *{re.escape(command)}(  .*)?$", GUIDE, re.M), f"docs/teaching.md does not print {command}"
    return lab.shell(folder, command)


def table(folder, name):
    """{student: row} of one of the tables in grading/, as exported."""
    with open(folder / "grading" / f"{name}.csv", newline="", encoding="utf-8-sig") as file:
        return {row.get("student_id") or row["ID"]: row for row in csv.DictReader(file)}


def pages(folder, name):
    """{name: text} of the feedback pages, as packed for Canvas."""
    with zipfile.ZipFile(folder / "grading" / f"{name}-feedback-canvas.zip") as archive:
        return {entry: archive.read(entry).decode() for entry in archive.namelist()}


def small_course(folder):
    """A course with a small assignment and two graded submissions, whose text and other cells try to run scripts."""
    make_course(folder)
    released = Course(folder).prepare(NAME)
    (folder / "grading" / "roster.csv").write_text("id,first_name,last_name,email,lms_user_id\nada,Ada,Love,,11\n"
                                                   "bob,Bob,Ross,,12\n")
    (folder / "grading" / "inbox" / NAME).mkdir(parents=True)
    with zipfile.ZipFile(folder / "grading" / "inbox" / NAME / "submissions.zip", "w") as download:
        for entry, options in (("loveada_11_101_mine.ipynb", {}), ("rossbob_12_102_mine.ipynb", {"double": WRONG})):
            work = answers(released, why=MARKUP + "\n\nBecause $a_1 < b_2$ is *linear*.", **options)
            work.cells.append(new_raw_cell(MARKUP, metadata={"raw_mimetype": "text/html"}))
            work.cells.append(new_code_cell(PICTURE))
            download.writestr(entry, nbformat.writes(work))
    assert "2 needs manual grading" in run(folder, "grade")


def whole_course(folder):
    """A clone of the course with one of its assignments, released and handed in by twelve, whose work is graded."""
    lab.fresh_course(folder)
    for path in (folder / "solutions").iterdir():
        if path.name != twelve.NAME:
            shutil.rmtree(path)
    printed(folder, "make setup")
    printed(folder, "mkdir -p grading/inbox/02_attention")
    said = printed(folder, '.venv/bin/python -m coursegrade release --due "2026-11-30 18:00 UTC"')
    assert "grading/student.zip" in said and "Due: 2026-11-30 18:00 UTC." in said
    shutil.unpack_archive(folder / "grading" / "student.zip", folder.parent)
    (folder.parent / "student" / ".venv").symlink_to(folder / ".venv")
    assert "your own copies" in lab.shell(folder.parent / "student", "make work")
    students = people(folder)
    head, jane = re.search(r"^ *(id,first_name,.*)\n *(jdoe,.*)$", GUIDE, re.M).groups()
    rows = [f"{one.id},{one.first},{one.last},,{one.number}" for one in students]
    (folder / "grading" / "roster.csv").write_text("\n".join([head, jane, *rows[1:]]) + "\n")
    late = re.search(r"^(id,assignment,time,due\n(?:.+\n)+?)```", GUIDE, re.M)[1]
    (folder / "grading" / "late.csv").write_text(late)
    twelve.download(students, folder / "grading" / "inbox" / twelve.NAME / "submissions.zip")
    assert "paper" in printed(folder, ".venv/bin/python -m coursegrade intake 02")
    printed(folder, "make grade")


def people(folder):
    """The class of twelve, whose work is made from what is in the bundle."""
    with zipfile.ZipFile(folder / "grading" / "student.zip") as bundle:
        given = bundle.read(f"student/exercises/{twelve.NAME}/{twelve.NAME}.ipynb").decode()
        assert "HIDDEN" not in given and not [name for name in bundle.namelist() if "solutions" in name]
    solution = nbformat.read(folder / "solutions" / twelve.NAME / f"{twelve.NAME}.ipynb", as_version=4)
    return twelve.class_of_twelve(nbformat.reads(given, as_version=4), solution)


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """The small course, or the whole one."""
    kind_or_skip()
    folder = tmp_path_factory.mktemp("teacher") / "course"
    folder.mkdir()
    request.param(folder)
    return folder


@pytest.fixture(scope="module")
def settings():
    """None: so has a teacher's JupyterLab nbgrader's menu, as the guide says."""
    assert re.search(r"`\.venv/bin/python -m jupyterlab`, then in the\s+menu \*Nbgrader → Formgrader\*", GUIDE)
    return ""


def submission(page, name, students, student):
    """Go from JupyterLab's menu to a student's notebook in formgrader, which lists so many; formgrader's frame."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.locator(".lm-Menu-item").filter(has_text=re.compile(r"^Formgrader\s*$")).click()
    formgrader = page.frame_locator("iframe[src*=formgrader]")
    listed = formgrader.locator("#main-table tr").filter(has_text=name)                     # Manage Assignments
    expect(listed.locator(".num-submissions")).to_have_text(re.compile(students))

    formgrader.get_by_role("link", name="Manual Grading").first.click()
    expect(formgrader.locator(".breadcrumb .active")).to_have_text(re.compile("Manual Grading"))
    formgrader.locator("#main-table").get_by_role("link", name=name).click()                # the assignment …
    expect(formgrader.locator(".breadcrumb .active")).to_have_text(name)
    formgrader.locator("#main-table").get_by_role("link", name=name).click()                # … and its notebook
    expect(formgrader.get_by_role("link", name="Submission #2", exact=True)).to_be_visible()
    formgrader.locator("#toggle_names").click()
    formgrader.get_by_role("link", name=student, exact=True).click()
    return formgrader


def marked(page, formgrader, question, points):
    """Give points and the comment to a text."""
    given, comment = formgrader.locator(f"#{question}"), formgrader.locator(f"#{question}-comment")
    expect(given).to_have_class(re.compile("needs_manual_grade"))           # the gradebook's entry has come
    for field, text, address in ((given, points, "grade"), (comment, COMMENT, "comment")):
        with page.expect_response(lambda reply: f"/formgrader/api/{address}/" in reply.url) as saved:
            field.fill(text)
            field.press("Tab")
        assert saved.value.request.method == "PUT" and saved.value.ok


@pytest.mark.parametrize("folder", [small_course], indirect=True, ids=["small"], scope="module")
def test_a_text_is_marked_by_hand(folder, server, watched):
    page, complaints, elsewhere = watched
    page.goto(f"{server}/lab")
    formgrader = submission(page, NAME, "[23]", "Ross, Bob")
    expect(formgrader.locator(".nbgrader_cell").filter(has_text="<script>alert(1)</script>")).to_be_visible()
    answer = formgrader.locator(".nbgrader_cell").filter(has=formgrader.locator("#why"))
    expect(answer.locator("em")).to_have_text("linear")
    marked(page, formgrader, "why", "2.5")
    page.goto(f"{server}/formgrader/gradebook/{NAME}/{NAME}")
    row = page.locator("#main-table tr").filter(has_text="Ross, Bob")
    expect(row.locator(".written-score")).to_have_text("2.5 / 3")
    with Course(folder).gradebook() as gradebook:
        [mark] = reports.questions(gradebook, NAME, "bob")["why"]
        assert mark.points == 2.5
        assert gradebook.find_comment("why", NAME, NAME, "bob").comment == COMMENT

    run(folder, "grade"), run(folder, "export"), run(folder, "feedback", "--zip")
    rows, canvas, said = table(folder, NAME), table(folder, f"{NAME}-canvas"), pages(folder, NAME)
    assert rows["bob"]["why (of 3)"] == "2.5" and rows["bob"]["state"] == "graded" and rows["bob"]["points"] == "4.5"
    assert rows["ada"]["state"] == "needs manual grading" and rows["ada"]["points"] == str(FULL)
    assert canvas["12"][NAME] == "4.5" and canvas["11"][NAME] == ""
    assert sorted(said) == ["loveada_11_101_mine.html", "rossbob_12_102_mine.html"]
    assert "why: 2.5 of 3 points" in said["rossbob_12_102_mine.html"]
    assert "Yes, &lt;b&gt;both&lt;/b&gt;!" in said["rossbob_12_102_mine.html"]

    assert {url for url in elsewhere if not url.startswith(MATHJAX)} == set()
    assert [text for text in complaints if text not in HARMLESS] == []


@pytest.mark.parametrize("folder", [small_course], indirect=True, ids=["small"], scope="module")
def test_the_autograde_button_runs_student_code_in_the_sandbox(folder, server, watched):
    page, complaints, elsewhere = watched
    hand_in(folder, "mallory", answers(Course(folder).released(NAME), double=HOSTILE + WRONG, mean=NOTHING))
    page.goto(f"{server}/formgrader/manage_submissions/{NAME}")
    row = page.locator("#main-table tr").filter(has_text="mallory")
    expect(row.locator(".status")).to_have_text("needs autograding")
    row.locator(".autograde a").click()
    expect(page.locator(".modal-title")).to_have_text("Success")
    with Course(folder).gradebook() as gradebook:
        assert sum(mark.points or 0 for marks in reports.questions(gradebook, NAME, "mallory").values()
                   for mark in marks) == 0
    marked = (folder / "grading" / "autograded" / "mallory" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert '"coursegrade"' in marked and "DNUOF" not in marked
    assert complaints == [] and elsewhere == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", [whole_course], indirect=True, ids=["whole"], scope="module")
def test_from_the_release_to_marks_of_twelve_by_the_commands_of_the_guide(folder, server, watched):
    page, complaints, elsewhere = watched
    students = people(folder)
    waiting = [one.id for one in students if one.state == twelve.WAITS]
    rows = table(folder, twelve.NAME)
    assert [(row["student_id"], row["state"], row["points"]) for row in sorted(rows.values(), key=str)] == sorted([
        (one.id, one.state, "" if one.points is None else str(one.points)) for one in students])
    assert rows["jdoe"]["hours_late"] == "15.5" and rows["squinn"]["hours_late"] == "0"
    assert table(folder, f"{twelve.NAME}-canvas")["4711"][twelve.NAME] == ""                # not read yet

    page.goto(f"{server}/lab?reset")
    for one in students[:len(waiting)]:
        formgrader = submission(page, twelve.NAME, "12", f"{one.last}, {one.first}")
        expect(formgrader.locator(".nbgrader_cell").filter(has=page.locator(f"#{twelve.TEXT}"))).to_be_visible()
        marked(page, formgrader, twelve.TEXT, "6.5")
        page.goto(f"{server}/lab?reset")

    printed(folder, "make grade")
    printed(folder, ".venv/bin/python -m coursegrade feedback 02 --zip")
    printed(folder, ".venv/bin/python -m coursegrade export")
    rows, canvas, said = (*(table(folder, twelve.NAME + kind) for kind in ("", "-canvas")), pages(folder, twelve.NAME))
    for one in students:
        total = "" if one.points is None else f"{one.points + 6.5 * (one.id in waiting):g}"
        assert rows[one.id]["state"] == ("graded" if one.id in waiting else one.state), one.id
        assert rows[one.id]["points"] == canvas[str(one.number)][twelve.NAME] == total, one.id
    assert (folder / "grading" / "marks.csv").exists()
    assert sorted(said) == sorted(one.entry.rpartition(".")[0] + ".html" for one in students if one.work is not None)
    jane = said[students[0].entry.replace(".ipynb", ".html")]
    assert "6.5 of 8 points" in jane and "Yes, &lt;b&gt;both&lt;/b&gt;!" in jane
    seed = (folder / "grading" / "seed").read_text().strip()
    assert not [name for name, text in said.items() if seed in text or "DNUOF" in text or "HIDDEN TESTS" in text]
    assert "softmax" in printed(folder, ".venv/bin/python -m coursegrade stats 02")
    assert {url for url in elsewhere if not url.startswith(MATHJAX)} == set()
    assert [text for text in complaints if text not in HARMLESS] == []
