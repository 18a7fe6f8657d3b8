"""What questions are made of: forms, mistakes, earlier functions, tolerances, the score's last lines."""

import json
import re
import types

import numpy as np
import pytest
import torch

from coursegrade import check
from coursegrade.kit import score
from coursegrade.kit.form import about_form, about_kind, parts_of
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.mistakes import ASKED
from coursegrade.kit.question import question
from coursegrade.kit.same import difference, same
from coursegrade.kit.values import shown

# -- the form of results ---------------------------------------------------------------------------------------------

A = torch.arange(12.0).reshape(3, 2, 2)
FORM = parts_of("output (T, d), A (K, T, T)")


@pytest.mark.parametrize("got, words", [
    ((torch.ones(2, 4), A.permute(1, 2, 0)), "Its axes stand in another order: (K, T, T) = (3, 2, 2) is due for `A`"),
    ((torch.ones(2, 4), A[0]), "`A` has the shape (2, 2): an axis (K) is missing, (K, T, T) = (3, 2, 2) is due."),
    ((torch.ones(2, 4), A[None]), "`A` has an axis too many, of length 1"),
    ((torch.rand(4, 2), A), "`output` has the shape (4, 2), and (T, d) = (2, 4) is due: is something transposed?"),
    ((torch.ones(2, 4), A[:2]), "`A` has length 2 along axis 0, where K = 3 is due."),
    ((torch.ones(2, 4), A.double()), "`A` has the dtype float64, and float32 is due"),
    ((A, torch.ones(2, 4)), "output and A have changed places: return output (T, d), A (K, T, T)."),
    (torch.ones(2, 4), "Return two things: output (T, d), A (K, T, T)."),
    ((torch.ones(2, 4),), "Return two things"),
    ((torch.ones(2, 4), A + 1), None),
    ((torch.ones(2, 4), A.tolist()), None),
])
def test_what_is_said_of_a_wrong_form(got, words):
    found = about_form(FORM, got, (torch.ones(2, 4), A))
    assert (words in found) if words else found is None


def test_a_form_of_arrays_and_one_that_says_nothing():
    table = np.arange(6).reshape(2, 3)
    assert "stand in another order" in about_form(parts_of(""), table.T, table)
    found = about_form(parts_of("x (..., d)"), torch.ones(2), torch.ones(3))
    assert found == "`x` has the shape (2,), and (3,) is due."


@pytest.mark.parametrize("got, due, words", [
    (0.5, [1], "`free` is a number, and a list is due."), (np.ones(2), {"a": 1}, "array, and a dictionary is due."),
    (1.5, 1, "`free` is a number, and a whole number is due."), (range(3), [0], "a range (wrap it in list(...)), and"),
    ((3,), [1], None), (3, 2.5, None), (np.array(3.0), 2.0, None), (None, 3, None), (3, None, None),
    (np.array([1.0, 2.0]), (1.0, 3.0), None), (2 ** 2000, 7, None)])
def test_a_slip_of_types_is_told_as_one(got, due, words):
    found = about_kind(parts_of("free"), got, due)
    assert words in found if words else found is None
    assert about_kind(parts_of("x, free"), (1, got), (1, due)) == found


def test_a_slip_of_types_stands_before_the_general_sentence():
    @question((1, 1), {"one": (1,)}, otherwise="Count once more.")
    def places(x):
        return [x]

    assert said(places, lambda x: {x: 1}).advice == "The result is a dictionary, and a list is due. Count once more."
    assert said(places, lambda x: [2]).advice == "Count once more."


def test_a_list_for_a_numpy_array_and_an_array_for_a_number_are_named():
    line = parts_of("β (d,), the intercept")
    assert about_form(line, ([1.0], 2.0), (np.ones(1), 2.0)) == "`β` is a NumPy array: np.array(…) makes one of a list."
    assert "np.asarray(…) makes one of a tensor" in about_form(line, (torch.ones(1), 2.0), (np.ones(1), 2.0))
    assert about_form(line, (np.ones(1), np.ones(1)), (np.ones(1), 2.0)) == "A single number is due for the intercept."
    assert about_form(line, (np.ones(1), np.float32(3)), (np.ones(1), 2.0)) is None


# -- mistakes --------------------------------------------------------------------------------------------------------

@question((1, 1), {"three": ([1.0, 2.0, 6.0],), "two": ([2.0, 5.0],)}, returns="mean, spread",
          otherwise="Add all up first.")
def moments(x):
    """The mean of some numbers, sum(x) / len(x), and their variance."""
    mean = sum(x) / len(x)
    return mean, sum((value - mean) ** 2 for value in x) / len(x)


moments.mistakes(("Divided by n − 1.", "sum(x) / len(x) → sum(x) / max(1, len(x) - 1)"),
                 ("That is the standard deviation.",
                  "mean, sum( → mean, (sum(", "in x) / len(x) → in x) / len(x)) ** 0.5"),
                 ("Only the first one.", lambda x: (x[0], 0.0)))


def said(asked, answer, *more):
    with pytest.raises(CheckFailed) as failure:
        asked(answer, *more)
    return failure.value


def test_each_mistake_is_told_its_own_words_as_a_whole_and_by_its_first_wrong_part():
    for words, answer in moments.wrong_answers():
        assert said(moments, answer).advice == words
        assert said(moments, answer, {"another": ([1.0, 1.0, 7.0],)}).advice == ASKED.format(words)
    assert said(moments, lambda x: (x[0], 17.0)).advice == "Only the first one."
    assert said(moments, lambda x: (sum(x) / len(x), 1.0)).rows[1:3] == [
        ("got", "spread = 1.0"), ("expected", "spread = 4.66666666667")]
    assert said(moments, lambda x: (0.0, 0.0)).advice == "Add all up first."


def test_the_advice_stands_under_the_headline_and_the_rows_below():
    text = str(said(moments, lambda x: (0.0, 0.0)))
    assert text.splitlines()[:3] == ["✗ moments is not right yet (three).", "  Add all up first.", ""]
    assert text.splitlines()[-1].startswith("  wrong     mean: got 0, expected 3")


@pytest.mark.parametrize("edits, words", [
    (["len(y) → 2"], "'len(y)' stands 0 times in its source, and should once"),
    (["len(x) → 2"], "'len(x)' stands 2 times"), (["their variance → 0"], "stands 0 times"),     # of the docstring
    (["mean, sum → sum", "mean, sum → 0"], "the edit 'mean, sum → 0' of moments: 'mean, sum' stands 0 times")])
def test_an_edit_that_no_longer_applies_is_an_error_where_the_check_is_loaded(edits, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        moments.mistakes(("Something.", *edits))
    assert len(moments.wrong_answers()) == 3


def test_an_edit_that_is_no_python_is_shown():
    with pytest.raises(SyntaxError) as error:
        moments.mistakes(("Something.", "return mean → return return"))
    assert "moments, edited: ('return mean → return return',)" in error.value.filename


def test_a_mistake_that_is_right_on_a_case_is_not_named_there():
    cases = {"alone": ([3.0],), "two": ([2.0, 4.0],)}
    assert said(moments, lambda x: (x[0], 0.0), cases).advice == "Only the first one."
    assert moments(moments.reference) is None


def test_a_mistake_is_named_if_it_explains_all_cases_and_asked_for_if_it_does_not(capsys):
    @question((1, 1), {"three": (3,), "two": (2,), "five": (5,)}, otherwise="Once more.")
    def square(x):
        return x * x

    def often(x):
        print("working")
        return 2 * x if x > 2 else 7

    square.mistakes(("That is twice x.", lambda x: 2 * x))
    assert said(square, lambda x: x + x).advice == "That is twice x."
    assert said(square, often).advice == ASKED.format("That is twice x.")
    assert capsys.readouterr().out == "working\n"                       # the cases to come are tried in silence
    assert said(square, lambda x: x + x if x == 3 else 7).advice == "Once more."         # most others speak against it
    mostly = {"four": (4,), "three": (3,), "two": (2,)}
    assert said(square, lambda x: 2 * x if x == 3 else x * x, mostly).advice == "Once more."       # it is right on four
    assert said(square, lambda x: 2 * x, {"three": (3,)}).advice == ASKED.format("That is twice x.")


def test_of_mistakes_that_agree_in_a_case_the_one_that_explains_most_is_named():
    @question((1, 1), {"one": (1,), "three": (3,), "four": (4,)})
    def square(x):
        return x * x

    square.mistakes(("That is half of it.", lambda x: x / 2), ("That is x + 1.", lambda x: x + 1),
                    ("That is twice x.", lambda x: 2 * x))
    assert said(square, lambda x: 2 * x).advice == "That is twice x."


def test_parameters_in_another_order_are_named(tmp_path, monkeypatch):
    @question((1, 1), {"a": ("ab", 2)})
    def repeat(text, n):
        return text * n

    (tmp_path / "turned.py").write_text("def repeat(n, text):\n    return text.upper() * n\n")
    monkeypatch.syspath_prepend(tmp_path)
    import turned
    assert said(repeat, turned.repeat).advice == (
        "Its parameters have changed places: the first line is def repeat(text, n).")


def test_what_a_judge_or_a_second_look_meets_is_no_traceback():
    @question((1, 1), {"one": (1,)})
    def anything(x):
        return [x]

    @anything.judge
    def _(got, x):
        if not got[0]:
            yield "nothing there", "Put something in."
            raise ZeroDivisionError             # the first counts, and no more is asked

    assert said(anything, lambda x: 5).rows[-1] == ("wrong", "got a whole number, and not what was asked for")
    failure = said(anything, lambda x: [0])
    assert failure.advice == "Put something in." and failure.rows[-1] == ("wrong", "nothing there")
    anything.judge(lambda got, x: [])
    anything.also = lambda answer, arguments: answer("no number")
    failure = said(anything, lambda x: x + 1)
    assert failure.kind == "stopped" and failure.headline == "✗ anything stops with an error (one)."


def test_an_error_of_torch_is_not_taken_for_the_stub():
    def of_whole_numbers(x):
        raise NotImplementedError('"softmax" not implemented for \'Long\'')

    assert said(moments, of_whole_numbers).kind == "stopped"
    assert said(moments, lambda x: exec("raise NotImplementedError()")).kind == "empty"


def test_two_arrays_in_the_place_of_one():
    assert about_form(parts_of("β (d,)"), (np.ones(2), 1.0), np.ones(2)).startswith("Several results came back")


# -- earlier functions -----------------------------------------------------------------------------------------------

@question((1, 1), {"two": (2,)})
def half(x):
    """half(x)"""
    return x / 2


@question((1, 1), {"eight": (8,)}, lend=("half",))
def quarter(x):
    """quarter(x)"""
    return half.reference(half.reference(x))


SOURCE = """
def half(x):
    {half}

def quarter(x):
    {quarter}
"""


@pytest.fixture
def student(tmp_path, monkeypatch):
    """student(half, quarter) → their module: two functions with these bodies."""
    for asked in (half, quarter):
        monkeypatch.setattr(asked, "topic", asked.topic)
    monkeypatch.setattr(score, "_topics", dict(score._topics))
    monkeypatch.setattr(score, "_results", {})
    score.announce("parts", [half, quarter], {})
    monkeypatch.syspath_prepend(tmp_path)

    def write(of_half, of_quarter, name="answers"):
        path = tmp_path / f"{name}.py"
        path.write_text(SOURCE.format(half=of_half, quarter=of_quarter))
        module = types.ModuleType(name)
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        return module

    return write


def test_an_earlier_function_that_is_wrong_is_named(student):
    answers = student("return x / 3", "return half(half(x))")
    text = str(said(quarter, answers.quarter))
    assert text.startswith("✗ quarter calls `half` (question 1), which is not right yet: begin there.")
    assert "half is not right yet (two)" in text
    assert "question 1" not in str(said(quarter, student("return x / 2", "return half(x)").quarter))
    empty = student("raise NotImplementedError()", "return half(half(x))")
    assert "calls `half` (question 1), which is still empty" in str(said(quarter, empty.quarter))
    helper = student("return x / 2", "return third(x)\n\ndef third(x):\n    raise NotImplementedError()")
    assert str(said(quarter, helper.quarter)).startswith("✗ quarter calls `third`, which is still empty.")


def test_one_early_slip_costs_once(student, capsys):
    answers = student("return x / 3", "return half(half(x))")
    said(half, answers.half)
    capsys.readouterr()
    assert quarter(answers.quarter, {"more": (12,)}) is None
    assert capsys.readouterr().out == (
        "✓ quarter: right on 1 more inputs, with `half` answered by the course's own.\n")
    assert answers.half(6) == 2                                         # it has its own function back
    said(quarter, student("return x / 3", "return half(x)").quarter, {"more": (12,)})       # wrong with any `half`


# -- numbers ---------------------------------------------------------------------------------------------------------

def test_double_precision_is_compared_as_single_and_small_numbers_count():
    x = torch.linspace(0.1, 3, 7).double()
    single = x * torch.tensor(1 / 3).double()
    assert same(single, x / 3) and not same(single, x / 3, (1e-9, 1e-12))
    assert not same(x * 1.01e-4, x * 1e-4) and not same(x * 1.001, x)
    assert same(torch.full((2,), 1e-10).double(), torch.zeros(2).double())


def test_numbers_that_differ_are_shown_with_the_digits_in_which_they_do():
    got, due = np.array([19.3812, 1.0]), np.array([19.3841, 1.0])
    assert difference(got, due).endswith("got 19.381, expected 19.384")
    assert difference(1.0, 1.5) == "got 1, expected 1.5"


def test_results_of_several_tensors_are_shown_one_below_the_other():
    assert shown((torch.ones(2, 2), torch.zeros(1))) == (
        "[0] = tensor([[1., 1.],\n              [1., 1.]])\n[1] = tensor([0.])")


# -- the score -------------------------------------------------------------------------------------------------------

def test_the_score_says_when_the_written_answer_is_still_empty(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(score, "_results", {("tokens", "merge", False): "passed"})
    assert check.tokens

    def last_lines(text):
        cells = [{"cell_type": "markdown", "source": [about], "metadata": {"nbgrader": {"solution": solution}}}
                 for about, solution in (("YOUR ANSWER HERE is what stands there", False), (text, True))]
        (tmp_path / "01_tokens.ipynb").write_text(json.dumps({"cells": cells}))
        score.score()
        return capsys.readouterr().out

    assert "empty in the saved file" in last_lines("YOUR ANSWER HERE")
    assert "read by a person" in last_lines("My view: …")
    out = last_lines("")
    assert out.startswith("Assignment 01 · tokens\n") and "   2  merge " in out


def test_the_score_speaks_of_hidden_tests_only_where_there_are_any(monkeypatch, capsys):
    monkeypatch.setattr(score, "_results", {("perturbation", "apart", False): "passed"})
    assert check.perturbation
    score.score()
    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines() if line.startswith("   ")}
    assert lines["apart"].endswith("passes                  1 of 1 points")
    assert lines["fit"].endswith("0 of 2 points, and 3 by tests that you do not see")
