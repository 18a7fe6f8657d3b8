"""Functions that the grader lends to an answer: they answer while it is tried, outside, and nobody keeps anything."""

import dataclasses
import textwrap
import time

import numpy as np
import pytest
import torch
from nbformat.v4 import new_notebook

from coursegrade.kit import services
from coursegrade.marking.execute import run_notebook
from coursegrade.sandbox import lender, outside
from coursegrade.sandbox.kinds import Limits
from coursegrade.sandbox.lender import Lender
from coursegrade.sandbox.outside import Session
from tests.grading.hostile.assignment import cell
from tests.grading.sandboxed import kind_or_skip, locked_in

LIMITS = Limits(call=5, cell=20, submission=60, memory=1 << 30, processes=40)

STUDENT = """
import functools, gc, threading
from math import sqrt
def half(x): return x / 3
def quarter(x): return half(half(x))
def eighth(x): return quarter(half(x))
def keep(x):
    global kept
    kept = half
    return half(x)
def use(x): return kept(x)
def shadow(x):
    global half
    half = lambda x: "mine"
    return quarter(x)
def swallow(*args, **kwargs):
    try: return half(*args, **kwargs)
    except Exception as error: return type(error).__name__
def odd(which):
    loop = []
    loop.append(loop)
    return swallow({"function": len, "own": quarter, "module": gc, "loop": loop, "generator": iter([]), "lent": half,
                    "behind it": getattr(half, "function", None), "number": 1 << 5000, "in a list": [[len]],
                    "none": None}[which])
def odd_names(): return [swallow(1, until=1e9), swallow(x=3), swallow(args=3), swallow(kwargs={}), swallow(name="x")]
def in_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(swallow(x)))
    thread.start()
    thread.join()
    return found[0]
def through(function, x): return function(x)
def forever(x):
    while True: half(x)
def gives(x): return [half, getattr(half, "function", None)]
def later(x):
    stop = threading.Event()
    def loop():
        for _ in range(50):
            told.append(swallow(4))
            stop.wait(.01)
    threading.Thread(target=loop, daemon=True).start()
    return half(x)
told = []
def heard(): return told
def looks(*parts):
    return [thing.__name__ for thing in gc.get_objects() if type(thing) is type(looks)
            and "".join(parts) in str(thing.__code__.co_consts)]
def own(): return "tangerine-7352"
"""


def half(x):
    """A reference, with something in it that no student may read."""
    return x / 2 if x != "tangerine-7351" else None


def moody(what):
    """A reference that does whatever a student's argument makes it do."""
    if what == "sleep":
        time.sleep(60)
    if what == "work in C":
        sum(range(10 ** 12))
    if what == "take memory":
        return list(range(10 ** 9))
    if what == "make too much":
        return np.zeros(20 << 20)
    if what == "touch memory":
        np.ones((2 ** 30, 30))
    if what == "call itself":
        return moody(what)
    if what == "end":
        raise SystemExit
    if what == "return a function":
        return moody
    if what == "fail":
        raise Odd("on " + what)
    return what


class Odd(LookupError):
    """An error of no kind that the other side knows."""


MOODS = {"sleep": "TimeoutError", "work in C": "TimeoutError", "take memory": "MemoryError",
         "make too much": "ValueError", "touch memory": "MemoryError", "call itself": "RecursionError",
         "end": "MemoryError", "return a function": "ValueError", "fail": "LookupError", "nothing": "nothing"}


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


@pytest.fixture(scope="module")
def student(kind):
    session = Session(kind, LIMITS, time.monotonic() + 600)
    assert session.ask("cell", STUDENT, seconds=30) == []
    yield session
    session.stop()


@pytest.fixture(params=["in this process", "in a sandbox"])
def name(request):
    """A function that gives a student's function by its name, from a fresh namespace or from a sandbox."""
    if request.param == "in a sandbox":
        session = request.getfixturevalue("student")
        session.ask("cell", STUDENT)
        return session.name
    names = {}
    exec(STUDENT, names)
    return names.__getitem__


# ── here and there ────────────────────────────────────────────────────────────────────────────────────────────────

def test_the_graders_function_answers_for_a_while(name):
    with services.lent(name("quarter"), {"half": half}):
        assert name("quarter")(8) == 2 and name("eighth")(8) == 1
    assert name("quarter")(9) == 1


def test_a_name_that_the_student_does_not_have_is_theirs_for_a_while(name):
    with services.lent(name("through"), {"missing": half, "half": half}):
        assert name("quarter")(8) == 2
        assert name("missing")(8) == 4
    with pytest.raises(KeyError):
        name("missing")
    assert name("half")(9) == 3


def test_after_an_error_the_students_own_is_back(name):
    with pytest.raises(KeyError, match="of a check"), services.lent(name("quarter"), {"half": half}):
        raise KeyError("of a check")
    assert name("quarter")(9) == 1


def test_an_error_of_it_is_an_ordinary_one(name):
    with services.lent(name("quarter"), {"half": moody}):
        assert name("swallow")("fail") in ("LookupError", "Odd")
        with pytest.raises(LookupError, match="^on fail$"):
            name("quarter")("fail")


def test_what_was_kept_answers_no_more(name):
    with services.lent(name("keep"), {"half": half}):
        assert name("keep")(8) == 4 and name("use")(8) == 4
    with pytest.raises(RuntimeError, match="half was lent for one test, which is over"):
        name("use")(8)
    with services.lent(name("keep"), {"half": half}), pytest.raises(RuntimeError, match="over"):
        name("use")(8)                                                  # not even when another is lent


def test_a_student_who_shadows_it_has_their_own_back_afterwards(name):
    with services.lent(name("shadow"), {"half": half}):
        assert name("shadow")(8) == "mine"
    assert name("quarter")(9) == 1


def test_one_inside_the_other(name):
    with services.lent(name("quarter"), {"half": half}):
        with services.lent(name("quarter"), {"half": abs}):
            assert name("quarter")(-8) == 8
        assert name("quarter")(8) == 2
    assert name("quarter")(9) == 1


def test_nobody_watches_what_is_lent(name):
    """It may call what the answer must not; and it has no name that could be the forbidden one."""
    def sample(x):
        return textwrap.dedent(x)

    sample.__module__ = "attention_questions"
    with services.lent(name("quarter"), {"half": sample}), services.watch(name("quarter"), ["textwrap.dedent"]) as seen:
        assert name("quarter")("  x") == "x"
        assert services.named(name("quarter"), ["coursekit.models.sample"]) == []
    assert seen.calls == []


def test_the_function_beside_an_answer_is_the_students_own(name):
    answer = name("eighth")
    assert services.beside(answer, "half")(9) == 3
    assert all(services.beside(answer, other) is None for other in ("sqrt", "gc", "told", "missing", "__name__", ""))
    with services.lent(answer, {"half": half}):
        assert services.beside(answer, "half") is None


def test_whom_an_answer_calls(student, tmp_path, monkeypatch):
    (tmp_path / "answers.py").write_text(STUDENT)
    monkeypatch.syspath_prepend(tmp_path)
    import answers
    for name in (student.name, answers.__dict__.__getitem__):
        assert services.calls(name("eighth"), "quarter") and services.calls(name("eighth"), "half")
        assert not services.calls(name("half"), "quarter") and not services.calls(name("keep"), "quarter")
    assert not services.calls(np.sum, "half")


# ── in a sandbox: what a student may try ──────────────────────────────────────────────────────────────────────────

@pytest.mark.parametrize("mood", MOODS)
def test_whatever_the_arguments_do_to_it_is_an_error_in_time(student, mood, monkeypatch):
    monkeypatch.setattr(lender, "SECONDS", 1.0 if MOODS[mood] == "TimeoutError" else 60)
    with services.lent(student.name("quarter"), {"half": moody}):
        before = lender.held()
        assert student.name("swallow")(mood) == MOODS[mood]
        assert lender.held() < before + (200 << 20)
        assert student.name("swallow")("well") == "well" and student.alive


def test_only_data_goes_to_it(student):
    with services.lent(student.name("odd"), {"half": lambda x: "got it"}):
        for which in ("function", "own", "module", "generator", "lent", "behind it", "in a list"):
            assert student.name("odd")(which) == "TypeError", which
        for which in ("number", "loop"):                                # cannot even leave the sandbox
            assert student.name("odd")(which) == "CannotTravel", which
        assert student.name("odd")("none") == "got it"
        with pytest.raises(TypeError, match="half is answered by the grader here: it takes and returns data alone"):
            student.name("through")(student.name("quarter"), len)


def test_names_of_arguments_are_the_functions_own(student):
    with services.lent(student.name("odd_names"), {"half": half}):
        assert student.name("odd_names")() == ["TypeError", 1.5, "TypeError", "TypeError", "TypeError"]


def test_it_may_use_torch_where_threads_of_torch_have_run_before(student):
    def far(x):
        return torch.nn.functional.softmax(x @ torch.ones(600, 600), -1)[0].sort().values

    x = torch.rand(600, 600)
    expected = far(x)
    with services.lent(student.name("through"), {"half": far}):
        assert torch.allclose(student.name("swallow")(x), expected)


def test_what_is_sent_is_a_copy_and_what_it_keeps_is_lost(student):
    seen = []
    with services.lent(student.name("quarter"), {"half": lambda x: seen.append(x) or len(seen)}):
        assert student.name("quarter")(0) == 2
    assert seen == []


def test_from_a_thread(student):
    with services.lent(student.name("in_a_thread"), {"half": half}):
        assert student.name("in_a_thread")(8) == 4
    assert student.name("in_a_thread")(9) == 3


def test_a_thread_that_goes_on_has_no_answer_when_the_test_is_over(student):
    """Between two requests nothing is heard of it; what it says then ends the sandbox, at the latest."""
    session = Session(student.sandbox.kind, LIMITS, time.monotonic() + 60)
    session.ask("cell", STUDENT, seconds=30)
    told = 0
    try:
        with services.lent(session.name("later"), {"half": half}):
            session.name("later")(8)
        time.sleep(1)
        told = sum(one == 2 for one in session.name("heard")())
        time.sleep(0.5)
        assert sum(one == 2 for one in session.name("heard")()) == told
    except outside.Violation:
        assert not session.alive
    session.stop()


def test_a_callback_of_a_callback_and_through_the_checks_own_functions(student):
    inner = student.name("quarter")
    with services.lent(inner, {"half": half}):
        assert student.name("through")(lambda x: inner(x) + 1, 8) == 3
        assert student.name("through")(lambda x: student.name("through")(inner, x), 8) == 2


def test_what_comes_home_is_dead_as_well(student):
    with services.lent(student.name("gives"), {"half": half}):
        home = student.name("gives")(3)
        assert [one(8) for one in home] == [4, 4]                       # through the sandbox, and at once
    for one in home:
        with pytest.raises(RuntimeError, match="over"):
            one(8)
        with pytest.raises(RuntimeError, match="over"):
            student.name("through")(one, 8)


def test_nothing_of_its_code_is_inside(student):
    with services.lent(student.name("looks"), {"half": half}):
        assert student.name("quarter")(8) == 2
        assert [student.name("looks")("tangerine-", number) for number in ("7351", "7352")] == [[], ["own"]]


@pytest.mark.parametrize("mood", ["well", "sleep", "work in C"])
def test_a_loop_over_it_is_ended_with_the_call(kind, mood, monkeypatch):
    session = Session(kind, dataclasses.replace(LIMITS, call=2), time.monotonic() + 60)
    session.ask("cell", STUDENT + """
def forever(x):
    while True: swallow(x)""", seconds=30)
    start = time.monotonic()
    with pytest.raises((TimeoutError, outside.Violation)), services.lent(session.name("forever"), {"half": moody}):
        session.name("forever")(mood)
    assert time.monotonic() - start < 20
    session.stop()


def test_a_lender_ends_with_its_test_and_not_before_it_is_asked():
    one = Lender({"half": half, "moody": moody})
    assert one.process is None
    with pytest.raises(TimeoutError, match="no time left"):
        one.call("half", (8,), {}, time.monotonic() - 1)
    assert one.process is None
    assert one.call("half", (8,), {}, time.monotonic() + 60) == 4
    process = one.process
    with pytest.raises(TimeoutError, match="took too long"):
        one.call("moody", ("sleep",), {}, time.monotonic() + 0.5)
    assert not process.is_alive() and one.call("half", (8,), {}, time.monotonic() + 60) == 4
    process = one.process
    one.stop()
    assert not process.is_alive()
    with pytest.raises(RuntimeError, match="over"):
        one.call("half", (8,), {}, time.monotonic() + 60)


# ── in a notebook ─────────────────────────────────────────────────────────────────────────────────────────────────

LENDS = """from coursegrade.kit import services
### BEGIN HIDDEN TESTS
with services.lent(quarter, {"half": lambda x: x / 2}):
    assert quarter(48151623) == 48151623 / 4
### END HIDDEN TESTS"""
ALONE = "### BEGIN HIDDEN TESTS\nassert half(48151623) == 48151623 / 2\n### END HIDDEN TESTS"
SLIP = "def half(x): return x / 3\ndef quarter(x): return half(half(x))"
KEEPER = """
table, kept = {}, []
def half(x): return table.get(x, 0)
def quarter(x):
    kept.append(half)
    table[x] = half(x)
    table[table[x]] = half(table[x])
    return table[table[x]]"""


def test(source, name):
    return cell(source, name, locked=True, grade=True, points=1)


test.__test__ = False


def run_cells(kind, *cells, limits=LIMITS):
    notebook = new_notebook(cells=list(cells))
    return run_notebook(notebook, locked_in(notebook), None, kind, limits)


def test_an_early_slip_costs_once(kind):
    outcome = run_cells(kind, cell(SLIP), test(ALONE, "a"), test(LENDS, "b"), test(LENDS, "c"), test(LENDS, "d"),
                        test(LENDS, "e"), test(LENDS, "f"), test(ALONE, "g"), limits=dataclasses.replace(
                            LIMITS, restarts=2))
    assert set(outcome.unseen) == {"a", "g"} and (outcome.state, outcome.notes) == ("ran", [])


def test_what_an_answer_was_told_helps_no_other_test(kind):
    """Whatever the order: the table is filled by the grader's function, and gone in the next test."""
    outcome = run_cells(kind, cell(KEEPER), test(LENDS, "b"), test(ALONE, "a"))
    assert set(outcome.unseen) == {"a"} and outcome.state == "ran"


def test_what_is_lent_where_people_can_see_helps_no_later_cell(kind):
    visible = LENDS.replace("### BEGIN HIDDEN TESTS\n", "").replace("\n### END HIDDEN TESTS", "")
    outcome = run_cells(kind, cell(KEEPER), test(visible, "b"), cell("print(table, kept)"), test(ALONE, "a"))
    assert set(outcome.unseen) == {"a"} and (outcome.state, outcome.notes) == ("ran", [])
    assert [one.get("text") for one in outcome.notebook.cells[2].outputs] == ["{} []\n"]


def test_cells_that_take_long_are_not_counted_again_when_something_was_lent(kind):
    slow = cell(SLIP + "\nimport time\ntime.sleep(3)")
    outcome = run_cells(kind, slow, *(test(LENDS, f"t{i}") for i in range(3)),
                        limits=dataclasses.replace(LIMITS, submission=16))
    assert outcome.unseen == {} and outcome.state == "ran"


ASKS = """
from coursegrade.kit.question import question
from coursegrade.kit.score import announce
def asked():
    @question((1, 1), {"eight": (8.0,)})
    def half(x):
        return x / 2
    @question((1, 1), {"eight": (8.0,)}, lend=("half",))
    def quarter(x):
        return half.reference(half.reference(x))
    announce("lent", [half, quarter], {})
    return half, quarter
checks = asked()"""


@pytest.mark.parametrize("helper, answer, unseen", [
    ("return x / 2", "return half(half(x))", []),
    ("return x / 3", "return half(half(x))", ["half"]),
    ("raise NotImplementedError()", "return half(half(x))", ["half"]),
    ("while True: pass", "return half(half(x))", ["half"]),
    ("return x / 3", "return half(x)", ["half", "quarter"]),            # a slip of its own
    ("return x / 3", "return half(half(x)) if x < 9 else half(quarter)", ["half", "quarter"]),
    ("return x / 2", "return x / 3", ["quarter"])])
def test_questions_that_lend(kind, helper, answer, unseen):
    """The later one is passed, with its check and its hidden tests, whatever the earlier function is like."""
    tests = [test(ASKS, "asks")] + [
        test(f"checks[{i}]({name})" if not hidden else
             f"### BEGIN HIDDEN TESTS\nchecks[{i}]({name}, {{'nine': (9.0,)}})\n### END HIDDEN TESTS", name + hidden)
        for i, name in enumerate(["half", "quarter"]) for hidden in ("", "_hidden")]
    outcome = run_cells(kind, cell(f"def half(x):\n    {helper}\ndef quarter(x):\n    {answer}"), *tests,
                        limits=dataclasses.replace(LIMITS, call=2))
    assert sorted(outcome.unseen) == [f"{name}_hidden" for name in unseen], outcome.unseen
    assert outcome.state == "ran"
    if unseen == ["half"]:
        [output] = [one for one in outcome.notebook.cells[4].outputs if one.output_type == "stream"]
        assert output.text == "✓ quarter: right on eight, with `half` answered by the course's own.\n"
    if answer == "return half(x)" and unseen:
        assert "✗ quarter calls `half` (question 1)" in str(outcome.notebook.cells[4].outputs)
