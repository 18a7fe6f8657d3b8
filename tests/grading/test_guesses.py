"""Guesses: shown beside what came out, folded without one, counted, never marked; and what a class believed."""

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from coursegrade import check
from coursegrade.kit import guesses, score
from coursegrade.marking import beliefs
from tests.grading.classroom import DOUBLE, NAME, WRONG, answers, cell, command, hand_in

RESULT = "from coursegrade import check\ncheck.guess('the share that doubles', share, 0.5, 'all of it', within=0.1)"


class Table:
    def _repr_html_(self):
        return "<table><tr><td>a & b</td></tr></table>"

    def __str__(self):
        return "a table"


@pytest.fixture(autouse=True)
def nothing_is_known():
    score.forget()
    yield
    score.forget()


def test_without_a_guess_what_came_out_is_folded_and_with_one_it_is_not():
    shown = check.guess("the largest <share>", None, 0.25, Table(), "2 < 3")
    html = shown._repr_html_()
    assert html.startswith("<details><summary>The largest &lt;share&gt;: no guess yet.")
    assert html.endswith("</summary><table><tr><td>a & b</td></tr></table><pre>2 &lt; 3</pre></details>")
    assert "table" not in repr(shown) and "0.25" not in html.split("</summary>")[0]
    shown = check.guess("the largest share", 0.3, np.float64(0.25), Table(), within=0.1)
    assert repr(shown) == "The largest share: you guessed 0.3, and it is 0.25. ✓ (within 0.1)\na table"
    assert shown._repr_html_().startswith("<p>The largest share") and "details" not in shown._repr_html_()


@pytest.mark.parametrize("guessed, found, within, right", [
    (3, 4, 1, True), (3, 4, 0.5, False), (0.1 + 0.2, 0.3, 0, True), (True, True, 0, True), (1, True, 0, True),
    (" Awful", "awful", 0, True), ("bad", "awful", 0, False), ([1, 2], (1, 2), 0, True), ([2, 1], [1, 2], 0, False),
    ([1], [1, 2], 0, False), (["a", "B"], np.array(["a", "b"]), 0, True), ([0.5, 2], np.array([0.45, 2.0]), 0.1, True)])
def test_what_counts_as_right(guessed, found, within, right):
    check.guess("it", guessed, found, within=within)
    assert guesses.counted() == (1, right, 1)


@pytest.mark.parametrize("guessed, found, due", [
    ("three", 3, "a number"), (3, "three", "a word in quotes"), (3, [1, 2], "a list"), ([1, "two"], [1, 2], "a number"),
    ({1: 2}, 3, "a number")])
def test_a_guess_of_another_kind_is_told_so_in_a_line(guessed, found, due):
    with pytest.raises(ValueError, match=f"and what comes out is {due}: guess that, or write None again") as error:
        check.guess("it", guessed, found)
    assert "\n" not in str(error.value) and guesses.counted() == (0, 0, 0)


def test_the_score_counts_them_and_the_latest_run_counts(capsys):
    for what, guessed in ("first", None), ("second", 2), ("third", 9), ("first", 1):
        check.guess(what, guessed, 2)
    score.score()
    assert "3 of 3 guessed, 1 right. Nobody marks that." in capsys.readouterr().out
    score.forget()
    score.score()
    assert "guessed" not in capsys.readouterr().out


def notebook(*sources):
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def test_guesses_are_read_and_nothing_is_run():
    asked = beliefs.asked(notebook("%matplotlib inline", "check.guess('the first', first, x, show.table(rows))",
                                   "y = 1\ncheck.guess('the second',\n            second, y, within=0.1)"))
    assert asked == {"first": "the first", "second": "the second"}
    odd = ("first = open('owned', 'w')", "first = (", "first = 10**10**10", "first = " + "-" * 900 + "1", "other = 3",
           "first = '" + 2000 * "x" + "'", "first: int = 3", "first, second = 1, 2", "if True:\n    first = 1",
           "first = " + 400 * "[" + 400 * "]", "\x00", "first += 1")
    assert beliefs.guessed(notebook(*odd), asked) == {}
    assert beliefs.guessed(notebook("first = -3", "second = ['a', .5]", *odd), asked) == {
        "first": -3, "second": ["a", .5]}


@pytest.mark.parametrize("values, words", [
    ([], ""), ([1], "1 other"), ([1, 1e300, 1], "2 × 1, 1 other"), ([1, float("nan")], "2 others"),
    (["<b>", "<B>"], "2 × <b>"), ([[1, 2], [1, 2]], "2 × [1, 2]"), ([10**400, 3, 3], "2 × 3, 1 other")])
def test_what_a_class_guessed_in_a_few_words(values, words):
    assert beliefs.summary(values) == words


def test_a_teacher_sees_what_the_class_believed_and_what_came_of_advice(small):
    folder, course, _ = small
    path = folder / "solutions" / NAME / f"{NAME}.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells += [new_code_cell("share = None"), cell(RESULT, "result", locked=True)]
    nbformat.write(source, path)
    released = course.prepare(NAME)

    def of(guess, double=DOUBLE):
        made = answers(released, double=double)
        made.cells[-2].source = f"share = {guess}"
        return made

    for student, guess in ("ada", ".45"), ("bob", ".9"), ("cyd", "None"), ("dee", "__import__('os').getcwd()"):
        hand_in(folder, student, of(guess, WRONG if student in ("bob", "cyd") else DOUBLE))
    command(folder, "grade", "--unsafe")
    said = command(folder, "stats")
    assert "guessed before looking" in said
    assert "      2 of 4  the share that doubles: median 0.675, half of them 0.562 to 0.788" in said
    assert "2 ×  Is it twice each <b>value</b>?\n" in said
    marked = nbformat.read(folder / "grading" / "autograded" / "ada" / NAME / f"{NAME}.ipynb", as_version=4)
    assert "you guessed 0.45, and it is 0.5. ✓ (within 0.1)" in str(marked.cells[-1].outputs)
    hand_in(folder, "bob", of(".9"))
    hand_in(folder, "cyd", of("None", WRONG.replace("4", "5")))
    command(folder, "grade", "--unsafe")
    assert "1 ×  Is it twice each <b>value</b>? (1 of 2 had it right at the next try)" in command(folder, "stats")
    command(folder, "regrade", NAME, "cyd", "--unsafe")                 # marked again: no next try
    for mended in source.cells:                                         # nor if the check is another
        mended.source = mended.source.replace("✗ double is not right yet.", "✗ double is not right.")
    nbformat.write(source, path)
    command(folder, "grade", "--unsafe")
    (folder / "grading" / "heard" / NAME / "ada.json").write_text("{")  # damaged: it decides nothing
    assert "(1 of 2 had it right at the next try)" in command(folder, "stats")
