"""What hidden tests ask, how often, and what people get to read of it."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from nbformat.v4 import new_notebook

from coursegrade.kit.lending import Known
from coursegrade.marking import pipeline, records
from coursegrade.marking.answers import Verdicts, drawn_from
from coursegrade.marking.course import CourseError
from coursegrade.marking.execute import Outcome, run_notebook
from coursegrade.marking.outputs import error_output
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import Limits
from tests.grading.classroom import NAME, answers, at, hand_in
from tests.grading.hostile.assignment import cell
from tests.grading.sandboxed import kind_or_skip, locked_in

LIMITS = Limits(call=2, cell=10, submission=30, processes=40)
ASKS = """
from coursegrade import check
from coursegrade.kit.question import question
from coursegrade.kit.score import announce
def asked():
    @question((1, 1), {"eight": (8.0,)})
    def half(x):
        return x / 2
    @question((1, 1), {"eight": (8.0,)}, lend=("half",))
    def quarter(x):
        return half.reference(half.reference(x))
    announce("halves", [half, quarter], {})
    return half, quarter
checks = asked()"""
DRAWS = """
_rng = check.unseen("{name}")
checks[{i}]({name}, {{"seven": (7.0,), "drawn": (float(_rng.normal()),)}})"""
RIGHT = "def half(x): return x / 2\ndef quarter(x): return half(half(x))"


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


def check_cell(source, name, **about):
    return cell(source, name, locked=True, grade=True, points=1, **about)


def hidden(i, name):
    return check_cell(f"### BEGIN HIDDEN TESTS{DRAWS.format(i=i, name=name)}\n### END HIDDEN TESTS", f"more_{name}")


def notebook(student, *more):
    return new_notebook(cells=[
        cell(student), check_cell(ASKS, "asks"), check_cell("checks[0](half)", "check_half"), hidden(0, "half"),
        check_cell("checks[1](quarter)", "check_quarter"), hidden(1, "quarter"), *map(cell, more)])


def run(kind, student, *more, limits=LIMITS, **asking):
    nb = notebook(student, *more)
    return run_notebook(nb, locked_in(nb), None, kind, limits, Asking(**asking))


def shown(outcome, i):
    """All that a cell shows, as a text."""
    return "\n".join(line for one in outcome.notebook.cells[i].outputs
                     for line in (one.traceback if one.output_type == "error" else [one.get("text", str(one))]))


# ── what they are drawn from ──────────────────────────────────────────────────────────────────────────────────────

def test_inputs_hang_on_the_seed_the_student_and_all_of_the_students_code():
    nb, other, files = notebook(RIGHT, "x = 1"), notebook(RIGHT, "x = 2"), {"data.txt": b"1"}
    locked = locked_in(nb)
    drawn = drawn_from("seed", "ada", nb, locked, files)
    assert len({drawn, drawn_from("seed 2", "ada", nb, locked, files), drawn_from("seed", "bo", nb, locked, files),
                drawn_from("seed", "ada", other, locked, files), drawn_from("seed", "ada", nb, locked, {}),
                drawn_from("seed", "ada", nb, locked, {"data.txt": b"2"})}) == 6
    same = notebook(RIGHT, "x = 1")
    for number, one in enumerate(same.cells):
        one.id, one.execution_count = f"other-{number}", 7
        if number == 3:
            one.source += "\n# a check that was mended"
    assert drawn == drawn_from("seed", "ada", same, locked, files)


# ── what is told ──────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_drawn_case_is_told_in_numbers_and_a_fixed_one_by_name(kind):
    wrong = "def half(x): return x / 2 if x != 7 else 0\ndef quarter(x): return x / 4 if x in (7, 8) else 0.125"
    outcome = run(kind, wrong, seeds=("a",))
    fixed, drawn = shown(outcome, 3), shown(outcome, 5)
    assert "half: right on the inputs that you see, not on another one (seven)" in fixed
    assert "x = 7" not in fixed and "3.5" not in fixed, fixed
    assert "quarter is not right on an input drawn for you (drawn)" in drawn
    assert "got       0.125" in drawn and "expected" in drawn and "x = " in drawn
    again, others = run(kind, wrong, seeds=("a",)), run(kind, wrong, seeds=("b",))
    assert shown(again, 5) == drawn != shown(others, 5)


def test_an_error_on_a_drawn_case_is_told_whole(kind):
    outcome = run(kind, RIGHT.replace("return x / 2", "return x / 2 if x in (2, 4, 8, 7, 3.5) else int('no number')"))
    assert "half stops with an error on an input drawn for you (drawn)" in shown(outcome, 3)
    assert "invalid literal for int() with base 10: 'no number'" in shown(outcome, 3)


# ── a second try ──────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_verdict_stands_and_its_test_is_not_asked_again(kind):
    """What the code would answer now does not matter: it could have heard what is asked."""
    first = run(kind, "def half(x): return 4.0\ndef quarter(x): return x / 4", seeds=("a",))
    assert {name: known["passed"] for name, known in first.verdicts.items()} == {
        "more_half": False, "more_quarter": True}
    asked = "\nimport sys\nold = half\ndef half(x):\n    print('asked about', x, file=sys.stderr)\n    return old(x)"
    second = run(kind, RIGHT + asked, seeds=("a",), known=first.verdicts)
    assert not second.asked and second.verdicts == {}
    assert shown(second, 3) == shown(first, 3) and shown(second, 5) == shown(first, 5)
    assert second.unseen == first.unseen


def test_what_was_stopped_is_no_verdict_and_is_asked_again(kind):
    slow = "import time\ndef half(x):\n    time.sleep(9 * (x == 7))\n    return x / 2\ndef quarter(x): return x / 4"
    first = run(kind, slow, seeds=("a",))
    assert set(first.verdicts) == {"more_quarter"} and set(first.unseen) == {"more_half"} and first.asked
    second = run(kind, RIGHT + "\nprint('something else')", seeds=("a",), known=first.verdicts)
    both = first.and_then(second)
    assert set(second.verdicts) == {"more_half"} and both.unseen == {}
    assert "passed" in shown(both, 3) and "something else" not in str(both.notebook)


def test_the_second_run_is_all_there_is_if_the_first_asked_nothing(kind):
    first = run(kind, RIGHT, seeds=("a",))
    nothing = dataclasses.replace(first, asked=False)
    assert nothing.and_then("the second") == "the second"


def test_who_sleeps_is_slow_and_who_waits_for_a_processor_is_starved(kind):
    asleep = run(kind, RIGHT + "\nimport time\ntime.sleep(99)", limits=dataclasses.replace(LIMITS, cell=9), again=True)
    assert not asleep.starved and asleep.asked
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)  # some kernels share
            for _ in range(4 * os.cpu_count())]                                                   # by sessions
    try:
        waited = run(kind, RIGHT + "\nwhile True: pass", again=True,
                     limits=dataclasses.replace(LIMITS, cell=3, start=120))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert waited.starved and not waited.asked, "nothing hidden is asked of who gets a second run"


def test_the_same_answers_are_not_asked_twice_until_the_check_is_mended(small, monkeypatch):
    folder, course, released = small
    real, known = pipeline.run, []

    def run_(work):
        known.append((work.asking.seeds, {name: each["passed"] for name, each in work.asking.known.items()}))
        return real(work)

    monkeypatch.setattr(pipeline, "run", run_)
    passed = {"more_double": True}
    hand_in(folder, "ada", answers(released))
    pipeline.grade(course, NAME)
    marks = pipeline.grade(course, NAME, again=["ada"])
    asked = [seeds for seeds, _ in known]
    assert asked[0] == asked[1] and known[0][1] == {}
    path = records.path_of(course, NAME, "ada", "verdicts")
    key, = json.loads(path.read_text())
    path.write_text("torn")
    assert Verdicts(path, key).known() == {} and marks["ada"].state == "needs manual grading"
    pipeline.grade(course, NAME, again=["ada"])
    assert known[1][1] == passed and known[2][1] == {}, "what cannot be read is asked again"
    hand_in(folder, "ada", answers(released, double="def double(values):\n    return [value * 2 for value in values]"))
    pipeline.grade(course, NAME)
    assert known[3][0] != asked[0] and known[3][1] == {}, "other answers, other inputs"


def test_a_file_of_verdicts_keeps_the_first_one(tmp_path):
    path = tmp_path / "a" / "ada.json"
    Verdicts(path, "one").keep({"t": {"passed": False}})
    Verdicts(path, "one").keep({"t": {"passed": True}, "u": {"passed": True}})
    Verdicts(path, "two").keep({"t": {"passed": True}})
    assert Verdicts(path, "one").known() == {"t": {"passed": False}, "u": {"passed": True}}
    assert Verdicts(path, "two").known() == {"t": {"passed": True}} and Verdicts(path, "three").known() == {}
    assert [*path.parent.iterdir()] == [path]


# ── what is lent ──────────────────────────────────────────────────────────────────────────────────────────────────

ORACLE = """
found = []
def half(x):
    if found:
        raise ValueError(f"ORACLE {found}")
    return x / 3
def quarter(x):
    for other in (77.0, 3.0, 1e6, -1.0):
        try: found.append((other, half(other)))
        except Exception as error: print(type(error).__name__)
    return half(half(x))
"""


def test_a_lent_reference_answers_only_what_is_asked_of_it(kind):
    outcome = run(kind, ORACLE)
    assert "38.5" not in str(outcome.notebook) and "500000" not in str(outcome.notebook)
    assert "check_quarter" not in outcome.unseen and "LookupError" not in shown(outcome, 4)
    lent = run(kind, RIGHT.replace("x / 2", "x / 3"))
    assert shown(lent, 4).startswith("✓ quarter: right on eight, with `half` answered by the course's own.")
    assert set(lent.unseen) == {"more_half"}


SEARCH = """
def half(x): return x / 3
def quarter(x):
    for divisor in (5, 3, 2):
        try: return half(x / divisor)
        except LookupError: pass
"""


def test_who_searches_for_what_may_be_asked_is_not_helped(kind):
    outcome = run(kind, SEARCH)
    assert "quarter calls `half` (question 1), which is not right yet" in shown(outcome, 4)
    assert set(outcome.unseen) == {"more_half", "more_quarter"}
    lent = run(kind, SEARCH.replace("(5, 3, 2)", "(2, 3)"))
    assert "with `half` answered by the course's own" in shown(lent, 4)


def test_what_is_near_to_what_was_asked_may_be_asked_where_it_was_computed():
    known = Known([1000, 0.25, torch.tensor([[0.5, 1.5], [2.5, 3.5]])])
    assert all(value in known for value in (
        1000, 1000.1, 0.25001, torch.tensor([0.5, 1.5]), np.array([3.5, 0.0, 0.5]), [1.5, float("-inf")], [0.5 + 1e-7]))
    assert not any(value in known for value in (
        1001, 999, [1001], 0.26, 0.0, [0.0, 0.0], torch.tensor([0.5 + 7j, 1.5 - 7j]), 0.25 + 7j, np.array([0.25 + 7j]),
        np.array(["0.25"]), [[]], 1 << 2000))


def test_single_numbers_are_known_one_by_one():
    known = Known([8.0, 4.0, 2.0])
    assert all(value in known for value in (8.0, 4, 2.0)) and not any(value in known for value in ([8.0, 4.0], 6.0))


def test_nothing_is_lent_in_an_examination(kind):
    outcome = run(kind, RIGHT.replace("x / 2", "x / 3"), lends=False)
    assert "quarter calls `half` (question 1), which is not right yet" in shown(outcome, 4)


# ── before a release ──────────────────────────────────────────────────────────────────────────────────────────────

def test_a_release_tries_the_solutions_on_many_draws(small, monkeypatch):
    folder, course, _ = small
    seeds = []
    real = pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda work: (
        seeds.extend(work.asking.seeds), real(work))[1])
    pipeline.try_solutions(course, [NAME])
    assert len({*seeds}) == len(seeds) == pipeline.DRAWS == 50


def test_a_solution_that_had_no_processor_is_not_called_wrong(small, monkeypatch):
    _, course, released = small
    released.cells[at(released, "check_mean")].outputs = [error_output("Stopped", "too slow")]
    outcome = Outcome(released, "timed out", [], starved=True)
    monkeypatch.setattr(pipeline, "run", lambda *work: outcome)
    with pytest.raises(CourseError, match="other work had the processors, so try again"):
        pipeline.try_solutions(course, [NAME])
    outcome.starved = False
    with pytest.raises(CourseError, match="mend the tests or the solutions first"):
        pipeline.try_solutions(course, [NAME])


def test_one_bad_draw_among_many_is_found(kind):
    nb = notebook("def half(x): return x / 2 if x < 1.5 else 0.0\ndef quarter(x): return x / 4")
    nb.cells[2] = check_cell("pass", "check_half")
    nb.cells[3] = check_cell("### BEGIN HIDDEN TESTS\n"
                             "checks[0](half, {'drawn': (float(check.unseen('h').normal()),)})\n"
                             "### END HIDDEN TESTS", "more_half")
    outcome = run_notebook(nb, locked_in(nb), None, kind, LIMITS, Asking(tuple(map(str, range(50)))))
    assert set(outcome.unseen) == {"more_half"}
