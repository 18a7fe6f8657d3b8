"""Each question of each assignment against everything that may be handed in: the course's own solution, with which its
check compares, its mistakes, and the bank of answers that were written by hand. All advice is said to somebody."""

import re
import types

import pytest

from coursegrade import check
from coursegrade.kit import experiment, limit, services
from coursegrade.kit.score import forget
from tests.drawn import sampled, touches
from tests.grading.bank.assignments import ASSIGNMENTS, ENDLESS, NAMES, asked_in

MOST = 8                                # answers of a question that are written by hand: the others are mistakes
DRAWN = len(NAMES) if touches("coursegrade/kit/", "tests/grading/test_bank.py") else 8          # assignments
QUESTIONS = [(name, question) for name in NAMES for question in asked_in(name)]
IDS = ["-".join(pair) for pair in QUESTIONS]
each_question = pytest.mark.parametrize("name, question", QUESTIONS, ids=IDS)
LEFT = {one.values[0] for one in sampled(NAMES, DRAWN, "bank") if not isinstance(one, str)}     # to `make test-all`
each_drawn = pytest.mark.parametrize("name, question", [
    pytest.param(*pair, marks=[pytest.mark.slow] * (pair[0] in LEFT)) for pair in QUESTIONS], ids=IDS)


@pytest.fixture(autouse=True)
def nothing_has_failed_yet():
    forget()                            # else hidden tests would lend what failed in another test


def said(check_of, question, answer):
    """What a check says to an answer, in one line; "" if it passes."""
    try:
        check_of(question, answer)
    except check.CheckFailed as failure:
        return str(failure)
    return ""


def in_one_line(text):
    return " ".join(text.split())


@pytest.mark.bank
@pytest.mark.parametrize("name", NAMES)
def test_all_questions_of_a_notebook_are_announced_and_all_of_the_bank_is_tried(name):
    assignment = ASSIGNMENTS[name]
    asked = [cell.removeprefix("check_") for cell in assignment.cells if cell.startswith("check_")]
    module = getattr(check, assignment.topic)
    assert assignment.questions == asked
    assert all(hasattr(module, question) for question in asked)
    assert {entry[0] for entry in [*assignment.wrong, *assignment.right]} <= set(asked)


@each_question
def test_results_have_the_form_that_their_messages_speak_of(name, question):
    asked = ASSIGNMENTS[name].check_of(question)
    if not asked._judge:
        result = services.run(asked.reference, asked._given(next(iter(asked.cases.values()))))
        for part, value in zip(asked.returns, result if len(asked.returns) > 1 else [result], strict=True):
            assert not part.axes or "..." in part.axes or len(value.shape) == len(part.axes), part


@each_question
def test_the_solution_passes(name, question, capsys):
    assignment = ASSIGNMENTS[name]
    assignment.visible(question, assignment.reference[question])
    assignment.hidden(question, assignment.reference[question])
    lines = [line for line in capsys.readouterr().out.splitlines() if line[0] != " "]       # open tasks print more
    assert len(lines) == 2 and all(line.startswith(f"✓ {question}: right on") for line in lines)


@each_question
def test_the_stub_is_called_empty(name, question):
    def stub(*arguments):
        raise NotImplementedError()

    for check_of in (ASSIGNMENTS[name].visible, ASSIGNMENTS[name].hidden):
        assert "still empty" in said(check_of, question, stub)


@pytest.mark.bank
@each_drawn
def test_wrong_answers_fail_with_the_right_words_and_all_advice_is_said(name, question, monkeypatch):
    """Without giving anything away: no line of the solution, and of hidden tests no input, result or error text."""
    assignment, problems, heard = ASSIGNMENTS[name], [], []
    asked = assignment.check_of(question)
    monkeypatch.setattr(limit, "SECONDS", 1)
    mistakes = [(words, True, answer) for words, answer in asked.wrong_answers()]
    for words, at_once, answer in [*mistakes, *assignment.wrong_answers(question)]:
        with monkeypatch.context() as patch:
            if ENDLESS.search(words):
                patch.setattr(limit, "SECONDS", 0.5)
            if any(answer is mistake for *_, mistake in mistakes):      # these may call what they stand for
                patch.setattr(asked, "forbidden", ())
            seen, unseen = (said(check_of, question, answer) for check_of in (assignment.visible, assignment.hidden))
        heard += [seen, unseen]
        first = seen if at_once else unseen
        problem = ("the visible check passes" if at_once and not seen else
                   "the visible check does not pass" if seen and not at_once else
                   "the hidden tests pass" if not unseen else
                   "other words" if in_one_line(words) not in in_one_line(first) else
                   "a line of the solution is told" if leaks(assignment, question, seen, unseen) else "")
        if problem:
            problems.append(f"{problem}: {words}\n{first}")
    problems += [f"never said, by no answer of the bank and no mistake: {text}" for text in advice_of(asked)
                 if in_one_line(text) not in in_one_line("\n".join(heard))]
    assert not problems, "\n\n".join(problems)


def leaks(assignment, question, seen, unseen):
    """Does a message hold a line of the solution, or that of hidden tests an input, a result, an error's text?"""
    solution = re.search(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", assignment.cells[question], re.S)[1]
    lines = [line for line in (line.partition("#")[0].strip() for line in solution.splitlines()) if len(line) > 12]
    own = [line for line in seen.splitlines() if not line.startswith("  where ")]
    return (any(line in text for line in lines for text in ("\n".join(own), unseen))
            or f"more_{question}" in assignment.cells
            and re.search(r"^  (input|got|expected|error|where)  ", unseen, re.M))


def advice_of(asked):
    """The texts that a question may say beside its mistakes: its hints, and those in its own functions. What the kit
    says of all experiments is tried in test_open_tasks.py."""
    texts = [asked.otherwise, *(hint for hint in asked.hints.values() if hint != experiment.TOGETHER)]
    functions = [found for found in (asked._suspect, asked._judge, asked.also)
                 if found and not found.__module__.startswith("coursegrade.")]
    for function in functions:                                          # grows meanwhile
        codes = [function.__code__]
        for code in codes:
            codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
            texts += [text for text in code.co_consts if isinstance(text, str) and text != function.__doc__]
            called = (function.__globals__.get(one) for one in code.co_names)
            functions += [one for one in called if isinstance(one, types.FunctionType) and one not in functions
                          and one.__module__.startswith("attention_questions.")]
    return [text for text in texts if text and len(text) > 25 and " " in text]


@pytest.mark.bank
@each_drawn
def test_right_answers_pass(name, question):
    assignment = ASSIGNMENTS[name]
    for idiom, answer in assignment.right_answers(question):
        for check_of in (assignment.visible, assignment.hidden):
            assert not (text := said(check_of, question, answer)), f"{idiom}\n{text}"


@pytest.mark.slow
@each_question
def test_right_answers_pass_under_any_seed(name, question, monkeypatch):
    assignment = ASSIGNMENTS[name]
    answers = [("the solution", assignment.reference[question]), *assignment.right_answers(question)]
    for seed in range(40 if f"more_{question}" in assignment.cells else 1):          # else nothing is drawn
        monkeypatch.setenv("COURSEGRADE_HIDDEN_SEED", str(seed))
        for idiom, answer in answers:
            assert not (text := said(assignment.hidden, question, answer)), f"{idiom}, seed {seed}\n{text}"


@each_question
def test_only_what_no_mistake_can_be_is_written_by_hand(name, question):
    assignment = ASSIGNMENTS[name]
    by_hand = [entry for entry in [*assignment.wrong, *assignment.right] if entry[0] == question]
    assert len(by_hand) <= MOST
    wrong = [*assignment.check_of(question).wrong_answers(), *assignment.wrong_answers(question)]
    assert len(wrong) >= 5, f"{len(wrong)} wrong answers, mistakes included: five are due"
    assert len(assignment.right_answers(question)) >= 2, "two right answers, written differently, are due in the bank"
