"""Each question of each assignment against its bank: the reference passes, the stub and every wrong answer do not."""

import re
from collections import Counter

import pytest

from coursekit.grade import check
from tests.grading.bank.assignments import ASSIGNMENTS

QUESTIONS = [(name, question) for name, assignment in ASSIGNMENTS.items() for question in assignment.questions]
WRONG = [(name, *entry) for name, assignment in ASSIGNMENTS.items() for entry in assignment.wrong]
RIGHT = [(name, *entry) for name, assignment in ASSIGNMENTS.items() for entry in assignment.right]


def said(failure):
    return " ".join(str(failure.value).split())


@pytest.mark.parametrize("name, question", QUESTIONS)
def test_reference_passes(name, question, capsys):
    assignment = ASSIGNMENTS[name]
    assignment.visible(question, assignment.reference[question])
    assignment.hidden(question, assignment.reference[question])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(line.startswith(f"✓ {question}: right on") for line in lines)


@pytest.mark.parametrize("name, question", QUESTIONS)
@pytest.mark.parametrize("seed", ["", "another", "2026-11"])
def test_reference_passes_under_any_seed(name, question, seed, monkeypatch):
    monkeypatch.setenv("COURSEKIT_HIDDEN_SEED", seed)
    ASSIGNMENTS[name].hidden(question, ASSIGNMENTS[name].reference[question])


@pytest.mark.parametrize("name, question", QUESTIONS)
def test_stub_fails(name, question):
    def stub(*arguments):
        raise NotImplementedError()

    for check_of in (ASSIGNMENTS[name].visible, ASSIGNMENTS[name].hidden):
        with pytest.raises(check.CheckFailed, match="still empty"):
            check_of(question, stub)


@pytest.mark.parametrize("name, question", QUESTIONS)
def test_bank_is_large_enough(name, question):
    assert Counter(entry[0] for entry in ASSIGNMENTS[name].wrong)[question] >= 5
    assert Counter(entry[0] for entry in ASSIGNMENTS[name].right)[question] >= 2


@pytest.mark.parametrize("name, question, words, at_once, answer", WRONG,
                         ids=[f"{entry[1]}: {entry[2]}" for entry in WRONG])
def test_wrong_answer_fails_with_the_right_words(name, question, words, at_once, answer):
    """And without giving anything away: no line of the solution, and of hidden tests no input, result or error text."""
    assignment = ASSIGNMENTS[name]
    if at_once:
        with pytest.raises(check.CheckFailed) as failure:
            assignment.visible(question, answer)
        assert words in said(failure)
        not_own = [line for line in str(failure.value).splitlines() if not line.startswith("  where ")]
        assert not solution_lines(assignment, question, "\n".join(not_own))
    else:
        assignment.visible(question, answer)
    with pytest.raises(check.CheckFailed) as failure:
        assignment.hidden(question, answer)
    assert at_once or words in said(failure)
    assert not solution_lines(assignment, question, str(failure.value))
    assert not re.search(r"^  (input|got|expected|error|where)  ", str(failure.value), re.M)


def solution_lines(assignment, question, text):
    """The lines of the reference's solution that stand in a text."""
    solution = re.search(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", assignment.cells[question], re.S)[1]
    lines = [line.partition("#")[0].strip() for line in solution.splitlines()]
    return [line for line in lines if len(line) > 12 and line in text]


@pytest.mark.parametrize("name, question, idiom, answer", RIGHT, ids=[f"{entry[1]}: {entry[2]}" for entry in RIGHT])
def test_right_answer_passes(name, question, idiom, answer):
    ASSIGNMENTS[name].visible(question, answer)
    ASSIGNMENTS[name].hidden(question, answer)
