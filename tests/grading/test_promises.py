"""What statements promise of their inputs, as code: kept by all that is asked, and drawn again where it is not."""

import contextlib
import io

import pytest
from nbformat.v4 import new_notebook

from coursegrade import check
from coursegrade.kit.question import collected
from coursegrade.kit.unseen import SEED
from coursegrade.marking.execute import run_notebook
from coursegrade.marking.run import Asking
from coursegrade.sandbox.kinds import Limits
from tests.grading.bank.assignments import ASSIGNMENTS, HIDDEN, NAMES, asked_in
from tests.grading.hostile.assignment import cell
from tests.grading.sandboxed import kind_or_skip, locked_in

SEEDS, ALL = [f"c{i}" for i in range(20)], [f"c{i}" for i in range(20, 200)]


def asked_by(assignment, cell):
    """[(question, cases)] that the hidden tests of a cell would ask."""
    names = {}
    exec(assignment.cells["imports"], names)
    with collected() as found, contextlib.redirect_stdout(io.StringIO()):
        exec(HIDDEN.search(assignment.cells[cell])[1], names | dict.fromkeys(assignment.questions))
    return found


def broken(asked):
    """What is broken of promises, in lines: question, case, words."""
    return [f"{question.name}, {label}: {words}" for question, cases in asked for label, arguments in cases.items()
            if (words := question.broken(arguments))]


def under(name, seeds, monkeypatch):
    """What hidden tests of an assignment break of their promises, under these seeds."""
    assignment, problems = ASSIGNMENTS[name], []
    for seed in seeds:
        monkeypatch.setenv(SEED, seed)
        for name_of in assignment.cells:
            if name_of.startswith("more_") and HIDDEN.search(assignment.cells[name_of]):
                problems += [f"{line} ({seed})" for line in broken(asked_by(assignment, name_of))]
    return problems


@pytest.mark.parametrize("name", NAMES)
def test_promises_stand_in_the_statements_word_for_word(name):
    assignment = ASSIGNMENTS[name]
    stubs = [assignment.cells[question].partition("### BEGIN SOLUTION")[0] for question in asked_in(name)]
    text = " ".join("\n".join(assignment.statements + stubs).split())
    for question in asked_in(name):
        for words in ASSIGNMENTS[name].check_of(question).promises:
            assert words in text, f"{question}: {words}"


def spoilt(value):
    """Values that are like one, and not."""
    if isinstance(value, str):
        return [value[::-1], value + ")", value + "x", "([([" + value, value * 99]
    if isinstance(value, (list, tuple)):
        inner = [[*value[:i], other, *value[i + 1:]] for i, part in enumerate(value) for other in spoilt(part)]
        return [type(value)(other) for other in [*inner, [*value, *value], [*value, *value[-1:]], value[:1]]]
    if isinstance(value, dict):
        return [value | {key: other} for key, part in value.items() for other in spoilt(part)]
    if isinstance(value, (bool, int, float)):
        return [-value - 1, 0, 1, value + 0.5, 1000, None]
    if hasattr(value, "shape"):
        return [0 * value, 2 * value - 3, value * 1.5, value * 0 + 7,
                *([value[:1], value[:0], value[..., :1]] if value.shape else [])]
    return []


@pytest.mark.parametrize("name", NAMES)
def test_each_promise_says_something_that_an_input_may_break(name):
    for question in map(ASSIGNMENTS[name].check_of, asked_in(name)):
        tries = [[*arguments[:i], other, *arguments[i + 1:]] for arguments in question.cases.values()
                 for i, value in enumerate(arguments) for other in spoilt(value)]
        for words, keeps in question.promises.items():
            found = False
            for arguments in tries:
                with contextlib.suppress(Exception):
                    found = found or not keeps(*arguments)
            assert found, f"{question.name}: no input of `spoilt` breaks the promise “{words}”: what does it say?"


@pytest.mark.parametrize("name", NAMES)
def test_inputs_keep_what_the_statements_promise(name, monkeypatch):
    visible = [(asked, asked.cases) for asked in map(ASSIGNMENTS[name].check_of, asked_in(name))]
    problems = broken(visible) + under(name, SEEDS, monkeypatch)
    assert not problems, "\n".join(problems)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_under_180_more_seeds_as_well(name, monkeypatch):
    problems = under(name, ALL, monkeypatch)
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


# ── when work is marked ───────────────────────────────────────────────────────────────────────────────────────────

ASKS = """
from coursegrade import check
from coursegrade.kit.question import question
def asks():
    @question((1, 1), {"four": (4.0,)}, promises={"x is above 0": lambda x: x > 0})
    def root(x):
        return x ** 0.5
    return root
asked = asks()"""
DRAWN = """
### BEGIN HIDDEN TESTS
asked(root, {"drawn": (float(check.unseen("root").normal()),)})
### END HIDDEN TESTS"""


def test_what_breaks_a_promise_is_drawn_again(kind, monkeypatch):
    draws = []
    for seed in ("a", "b", "c", "d", "e"):
        monkeypatch.setenv(SEED, seed)
        draws.append(float(check.unseen("root").normal()))
    assert min(draws) < 0 < max(draws)

    def run(student, seeds):
        nb = new_notebook(cells=[
            cell(student), cell(ASKS, "asks", locked=True, grade=True, points=1),
            cell(DRAWN, "more", locked=True, grade=True, points=1)])
        return run_notebook(nb, locked_in(nb), None, kind, Limits(call=2, cell=10, submission=30), Asking(seeds=seeds))

    careless = "def root(x):\n    if x <= 0:\n        raise ValueError('below 0')\n    return x ** 0.5"
    assert run(careless, ("a", "b", "c", "d", "e")).unseen == {}
    wrong = [run("def root(x): return 2.0", (seed,)).verdicts["more"] for seed in ("a", "b", "a", "b")]
    assert wrong[:2] == wrong[2:] and not wrong[0]["passed"]            # the same again, whatever was drawn first
    assert "x = " in wrong[0]["said"] and wrong[0]["said"] != wrong[1]["said"]
