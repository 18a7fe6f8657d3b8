"""The page that a student gets: complete, harmless, and without anything that is not theirs to see."""

import html
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursegrade.marking import feedback
from coursegrade.marking.markdown import markdown
from coursegrade.marking.outputs import UNSEEN
from coursegrade.marking.records import Record
from coursegrade.marking.reports import Mark
from tests.grading.classroom import NAME, SECRET, answers, cell, command, hand_in


@pytest.fixture
def page(graded):
    feedback = graded[0] / "grading" / "feedback"
    return lambda student: (feedback / student / NAME / f"{NAME}.html").read_text(encoding="utf-8")


def text(page):
    """A page without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


@pytest.mark.parametrize("source", ["x = '<b>'\n" * 3000, "x = '<b>'" + " \n" * 5000])
def test_code_that_is_not_coloured_is_escaped_once(source, monkeypatch):
    """Colouring takes time that grows as the square of a run of empty lines: nobody can hold up a class's pages."""
    monkeypatch.delattr(feedback, "highlight")
    shown = feedback.code(source)
    assert shown.__html__().startswith("x = &#x27;&lt;b&gt;&#x27;") and "&amp;" not in shown


def test_everybody_who_handed_in_has_a_page(graded, course):
    pages = {path.parent.parent.name for path in (graded[0] / "grading" / "feedback").rglob("*.html")}
    assert pages == set(course.submitted(NAME)) - {"=cmd"}


def test_what_nbgraders_exchange_gave_lies_beside_the_page_for_release_feedback(graded):
    page, came = (graded[0] / "grading" / kind / "half" / NAME for kind in ("feedback", "submitted"))
    assert {path.name for path in page.iterdir()} == {f"{NAME}.html", *feedback.EXCHANGE}
    for name in feedback.EXCHANGE:
        assert (page / name).read_bytes() == (came / name).read_bytes()


def test_it_has_the_own_notebook_the_marks_and_what_the_checks_said(page):
    half = text(page("half"))
    assert "return [4 for value in values]" in half and "Doubling and taking the mean" in half
    assert "✗ double, the tests you see: 0 of 1 points" in half and "✓ mean, the tests you see: 2 of 2 points" in half
    assert "why: to be read by a person, 3 points" in half
    assert "Is it twice each <b>value</b>?" in half, "the check's own words, escaped"
    assert "A test that you do not see was not passed." in half and "Other numbers are tried here." in half
    assert "numpy.sh was left out" in half
    plain = text(page("plain"))
    assert "✓ double" in plain and "✓ double, the tests you do not see: 2 of 2 points" in plain


def test_hidden_tests_are_in_no_page(graded, course):
    for path in (graded[0] / "grading" / "feedback").rglob("*.html"):
        said = text(path.read_text())
        assert SECRET not in said and "BEGIN HIDDEN" not in said and "-1.5" not in said and "14, -3.0" not in said
    marked = graded[0] / "grading" / "autograded" / "plain" / NAME / f"{NAME}.ipynb"
    assert SECRET in marked.read_text(), "where it is looked for"


def test_nothing_is_loaded_and_nothing_runs(graded):
    for path in (graded[0] / "grading" / "feedback").rglob("*.html"):
        page = path.read_text()
        assert not re.search(r"<(script|link|iframe|object|embed|svg|base|form)\b", page, re.I), path
        assert re.search(r"default-src 'none'", page)
        for tag in re.findall(r"<[a-zA-Z][^>]*>", page):
            assert not re.search(r"\son\w+\s*=", tag), tag
            assert not re.search(r"javascript:", tag), tag
            for source in re.findall(r"\ssrc\s*=\s*[\"']?([^\"'\s>]*)", tag):
                assert source.startswith("data:image/png;base64,"), tag
        assert "url(" not in page and "@import" not in page


def test_outputs_are_text_and_pictures(page):
    prints = page("prints")
    assert prints.count('<img src="data:image/png;base64,iVBOR') == 1
    assert "red &lt;i&gt;text&lt;/i&gt;" in prints and "\x1b" not in prints
    outputs = "".join(re.findall(r'<pre class="output">.*?</pre>', prints, re.S))
    assert "red" in outputs and "alert" not in outputs
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in prints and "[spy]" in prints


def test_the_rejected_learn_why(page):
    assert "It could not be marked: there is no notebook that can be read" in text(page("cut_off"))
    assert "is a PDF, not a notebook" in text(page("a_pdf"))


def test_the_same_marks_give_the_same_bytes(graded, page):
    before = {student: page(student) for student in ("plain", "half", "exits")}
    command(graded[0], "feedback")
    assert {student: page(student) for student in before} == before


def test_a_text_that_waits_has_no_points_yet(page):
    half = page("half")
    row = ('<tr><td>{}</td><td><a href="#q2">why</a></td><td class="number">{}</td><td class="number">3</td>'
           '<td>{}</td></tr>')
    assert row.format("", "", "to be read by a person") in half
    assert "<th>together, so far</th>" in half
    assert row.format("✗", 0, "") in page("untouched"), "nothing was written, so there is nothing to read"


def test_the_table_says_where_points_were_lost_and_leads_there(page):
    half = page("half")
    for number, sign, name in (0, "✗", "double"), (1, "✓", "mean"):
        assert f'<td>{sign}</td><td><a href="#q{number}">{name}</a></td>' in half
    assert re.findall(r'id="(q\d)"', half) == ["q0", "q1", "q2"]
    assert half.index('id="q0"') < half.index("✗ double, the tests you see") < half.index('id="q1"')


def test_a_page_has_one_heading_of_the_first_rank(page):
    for student in ("half", "plain"):
        assert page(student).count("<h1>") == 1 and "<h2>Small numbers</h2>" in page(student)
    assert not re.search(r"\b(check|more)_\w+[^(]*points", text(page("half")))


def test_the_title_has_the_name_on_the_roster(page):
    assert f"<title>{NAME}: Half Ada</title>" in page("half") and f"<h1>{NAME}: Half Ada</h1>" in page("half")
    assert f"<title>{NAME}: warns</title>" in page("warns"), "who is on no roster has an id alone"


def test_of_the_teachers_texts_headings_are_shown_and_of_the_students_all():
    released = new_notebook(cells=[
        new_markdown_cell("# Numbers\n\nLong words, [a link](../there.ipynb), $x^2$"),
        cell("import math", "imports", locked=True),
        new_markdown_cell("## One\n```\n# pseudocode\n```"), cell("", "one", solution=True),
        cell("one()", "check_one", grade=True, locked=True), new_markdown_cell("More words."),
        cell("YOUR ANSWER", "why", "markdown", grade=True, solution=True), new_markdown_cell("## Handing in\n\nSave."),
        cell("check.score()", "score", locked=True)])
    handed_in = new_notebook(cells=[*released.cells, new_markdown_cell("More words. And mine.")])
    handed_in.cells[6] = cell("# My answer\n\nhas words", "why", "markdown", grade=True, solution=True)
    marks = {"one": [Mark("check_one", 1, 1)], "why": [Mark("why", None, 3)]}
    made = feedback.shown(handed_in, released, marks, {})
    assert [text(str(part["markdown"] or part["code"])).strip() for part in made] == [
        "Numbers", "One", "", "one()", "My answer\nhas words", "Handing in", "More words. And mine."]
    made = feedback.shown(new_notebook(cells=handed_in.cells[:-1]), released, marks, {})
    assert "My answer" in made[-1]["markdown"], "no heading without anything below it"


@pytest.mark.parametrize("said, lines", [
    ("· one is still empty: write.", ["· one is still empty: write."]),
    ("✗ one is not right.", ["✗ one is not right.", UNSEEN])])
def test_an_empty_answer_is_called_empty_once(said, lines):
    tests = [cell(name, name, grade=True, locked=True) for name in ("check_one", "more_one")]
    for test, words in zip(tests, (said, UNSEEN), strict=True):
        test.outputs = [new_output("error", ename="CheckFailed", evalue=words, traceback=[words])]
    made = new_notebook(cells=tests)
    marks = {"one": [Mark("check_one", 0, 1), Mark("more_one", 0, 2)]}
    assert [words for part in feedback.shown(made, made, marks, {}) for _, words in part["outputs"]] == lines


def test_what_turns_the_direction_of_writing_is_shown_as_a_sign():
    own = new_notebook(cells=[new_code_cell("if a:\n\tb = 1  # \u202e } \u2066\x07\n"),
                              new_markdown_cell("one\ntwo \u202eeerht")])
    code, words = feedback.shown(own, new_notebook(), {}, {})
    assert text(code["code"]) == "if a:\n\tb = 1  # \ufffd } \ufffd\ufffd\n"
    assert words["markdown"] == "<p>one\ntwo \ufffdeerht</p>\n" == markdown("one\ntwo \u202eeerht")


def test_marks_and_words_of_a_person_are_in_it(small):
    folder, course, released = small
    hand_in(folder, "ada", answers(released))
    command(folder, "grade", "--unsafe")
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.find_comment("why", NAME, NAME, "ada").manual_comment = "Yes, <linear>!"
        gradebook.db.commit()
    command(folder, "feedback")
    said = (folder / "grading" / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    assert "Everything is marked." in said and "✗ why: 2.5 of 3 points" in said and "Yes, &lt;linear&gt;!" in said
    assert "7.5" in said


def test_every_state_with_a_page_has_words():
    assert set(feedback.WORDS) == {"graded", "needs manual grading", "timed out", "crashed", "rejected"}
    assert Record("ada", "missing").state not in feedback.WORDS
