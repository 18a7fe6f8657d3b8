"""nbgrader's formgrader in JupyterLab, as a teacher uses it: marks texts by hand, in a browser without the internet."""

import csv
import re

import pytest
from nbformat.v4 import new_code_cell, new_raw_cell
from playwright.sync_api import expect

from coursekit.grade.marking import reports
from coursekit.grade.marking.course import Course
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

MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"             # all that formgrader wants from elsewhere
HARMLESS = ("MathJax is not defined", "Failed to load resource: net::ERR_FAILED")       # what comes of not having it


def run(folder, *arguments):
    """A command of coursekit.grade; what it printed."""
    process = start(folder, *arguments)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 0, said + errors
    return said


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A course with two graded submissions, whose text and other cells try to run scripts."""
    kind_or_skip()
    folder = make_course(tmp_path_factory.mktemp("formgrader") / "course")
    released = Course(folder).prepare(NAME)
    for student, options in (("ada", {}), ("bob", {"double": WRONG})):
        work = answers(released, why=MARKUP + "\n\nBecause $a_1 < b_2$ is *linear*.", **options)
        work.cells.append(new_raw_cell(MARKUP, metadata={"raw_mimetype": "text/html"}))
        work.cells.append(new_code_cell(PICTURE))
        hand_in(folder, student, work)
    assert "2 needs manual grading" in run(folder, "grade")
    return folder


def test_a_text_is_marked_by_hand(folder, server, watched):
    page, complaints, elsewhere = watched
    page.goto(f"{server}/lab")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.locator(".lm-Menu-item").filter(has_text=re.compile(r"^Formgrader\s*$")).click()
    formgrader = page.frame_locator("iframe[src*=formgrader]")
    listed = formgrader.locator("#main-table tr").filter(has_text=NAME)         # Manage Assignments
    expect(listed.locator(".num-submissions")).to_have_text(re.compile("[23]"))

    formgrader.get_by_role("link", name="Manual Grading").first.click()
    expect(formgrader.locator(".breadcrumb .active")).to_have_text(re.compile("Manual Grading"))
    formgrader.locator("#main-table").get_by_role("link", name=NAME).click()    # the assignment …
    expect(formgrader.locator(".breadcrumb .active")).to_have_text(NAME)
    formgrader.locator("#main-table").get_by_role("link", name=NAME).click()    # … and its notebook
    expect(formgrader.get_by_role("link", name="Submission #2")).to_be_visible()
    formgrader.locator("#toggle_names").click()
    formgrader.get_by_role("link", name="bob").click()

    expect(formgrader.locator(".nbgrader_cell").filter(has_text="<script>alert(1)</script>")).to_be_visible()
    answer = formgrader.locator(".nbgrader_cell").filter(has=formgrader.locator("#why"))
    expect(answer.locator("em")).to_have_text("linear")
    points, comment = formgrader.locator("#why"), formgrader.locator("#why-comment")
    expect(points).to_have_class(re.compile("needs_manual_grade"))      # the gradebook's entry has come
    for field, text, address in ((points, "2.5", "grade"), (comment, "Yes, <b>both</b>!", "comment")):
        with page.expect_response(lambda reply: f"/formgrader/api/{address}/" in reply.url) as saved:
            field.fill(text)
            field.press("Tab")
        assert saved.value.request.method == "PUT" and saved.value.ok

    page.goto(f"{server}/formgrader/gradebook/{NAME}/{NAME}")
    expect(page.locator("#main-table tr").filter(has_text="bob").locator(".written-score")).to_have_text("2.5 / 3")

    with Course(folder).gradebook() as gradebook:
        [mark] = reports.questions(gradebook, NAME, "bob")["why"]
        assert mark.points == 2.5
        assert gradebook.find_comment("why", NAME, NAME, "bob").comment == "Yes, <b>both</b>!"
    run(folder, "grade"), run(folder, "export"), run(folder, "feedback")
    with open(folder / "grading" / f"{NAME}.csv", newline="", encoding="utf-8-sig") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert rows["bob"]["why (of 3)"] == "2.5" and rows["bob"]["state"] == "graded" and rows["bob"]["points"] == "4.5"
    assert rows["ada"]["state"] == "needs manual grading" and rows["ada"]["points"] == str(FULL)
    said = (folder / "grading" / "feedback" / "bob" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "why: 2.5 of 3 points" in said and "Yes, &lt;b&gt;both&lt;/b&gt;!" in said

    assert {url for url in elsewhere if not url.startswith(MATHJAX)} == set()
    assert [text for text in complaints if text not in HARMLESS] == []


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
    assert '"coursekit"' in marked and "DNUOF" not in marked
    assert complaints == [] and elsewhere == []
