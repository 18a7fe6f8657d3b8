"""A notebook in two processes: what test cells see of a student's code, what is kept, and nbgrader around it."""

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.utils import determine_grade

from coursegrade.kit import services
from coursegrade.kit.same import difference, same
from coursegrade.kit.same import kind as kind_of
from coursegrade.kit.unseen import unseen
from coursegrade.marking import cells, execute, replay
from coursegrade.marking.cells import LockedCell
from coursegrade.marking.execute import run_notebook
from coursegrade.marking.outputs import Outputs, verdict
from coursegrade.marking.run import Asking
from coursegrade.sandbox import outside
from coursegrade.sandbox.kinds import GraderError, Limits
from coursegrade.sandbox.outside import Session
from coursegrade.sandbox.protocol import CannotTravel, Violation
from tests.grading.hostile.assignment import cell, submission, teacher
from tests.grading.sandboxed import kind_or_skip, locked_in

LIMITS = Limits(call=5, cell=10, submission=60, memory=1 << 30, processes=40)

STUDENT = """
import torch, numpy as np, coursekit
class Unit(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(float(n)))
        self._secret = 3
    def forward(self, x):
        return self.weight * x
    def __len__(self):
        return 7
    def __getitem__(self, key):
        return key
def same_again(*args, **kwargs): return [*args, kwargs]
def squares(x): return x ** 2
def counting(n):
    for i in range(n): yield i
def fails(kind, *args): raise kind_of[kind](*args)
class Mine(ValueError): pass
kind_of = {"value": ValueError, "mine": Mine, "stop": StopIteration, "exit": SystemExit, "key": KeyError}
def apply(function, values): return [function(value) for value in values]
def swallow(function):
    try: return function(1)
    except Exception: return "swallowed"
def empties(tokens): tokens.clear(); return "done"
def softmaxes(u): return torch.softmax(u, 0)
def draws(): return torch.rand(1).item()
def odd(): return [torch.ones(2).to_sparse(), torch.ones(2, device="meta"), torch.nested.nested_tensor([torch.ones(1)])]
number, text = 3, "hello"
"""


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


@pytest.fixture(scope="module")
def student(kind):
    session = Session(kind, LIMITS, time.monotonic() + 300)
    assert session.ask("cell", STUDENT, seconds=30) == []
    yield session
    session.stop()


# ── stand-ins ─────────────────────────────────────────────────────────────────────────────────────────────────────

def test_calls_with_data_give_data(student):
    f = student.name("same_again")
    given = [1, 2.5, None, "é", {"a": (1,)}, {3}, b"x"]
    assert f(*given, named=[True]) == [*given, {"named": [True]}]
    tensor, array = f(torch.eye(2), np.arange(3))[:2]
    assert torch.equal(tensor, torch.eye(2)) and np.array_equal(array, np.arange(3))
    assert student.name("number") == 3 and student.name("text") == "hello"
    with pytest.raises(KeyError):
        student.name("nothing")


def test_objects_stay_and_can_be_used(student):
    unit = student.name("Unit")(3)
    assert torch.equal(unit(torch.ones(3)), torch.arange(3.0)) and unit.weight.shape == (3,)
    assert len(unit) == 7 and unit["key"] == "key" and unit[1:2] == slice(1, 2)
    assert list(unit.state_dict()) == ["weight"]
    assert [p.tolist() for p in unit.parameters()] == [[0.0, 1.0, 2.0]]
    assert list(student.name("counting")(4)) == [0, 1, 2, 3]
    assert student.name("same_again")(unit)[0](torch.ones(3)).tolist() == [0, 1, 2]     # comes home as itself
    assert callable(unit) and not callable(student.name("counting")(1))
    with pytest.raises(AttributeError, match="public"):
        unit._secret
    with pytest.raises(AttributeError):
        unit.weight = 3
    assert not hasattr(unit, "__array__") and not hasattr(unit, "nothing") and bool(unit)


def test_tensors_that_do_not_hold_their_numbers_stay_and_are_told_in_one_line(student):
    for tensor in student.name("odd")():
        assert difference(tensor, torch.ones(2)).startswith("got a tensor that does not simply hold its numbers")


@pytest.mark.parametrize("name, expected", [
    ("tensor", torch.ones(1)), ("NumPy array", np.ones((2, 1))), ("list", [1]), ("number", 1.0), ("string", "a"),
    ("dictionary", {"a": 1}), ("set", {1}), ("whole number", 1)])
def test_a_class_that_is_called_like_data_is_none(student, name, expected):
    """An empty sequence of any shape equals everything of size one, if somebody only looks at what differs."""
    student.ask("cell", """
class Empty:
    shape, dtype = (1,), "torch.float32"
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return lambda *a, **k: self
    def __len__(self): return 0
    def __getitem__(self, key): raise IndexError
def posing(name): return type(name, (Empty,), {})()""")
    assert not same(student.name("posing")(name), expected)
    assert kind_of(student.name("posing")(name)).startswith("an object that calls itself")


def test_nothing_is_asked_for_a_comparison(student):
    unit = student.name("Unit")(3)
    assert unit != 3 and unit != student.name("Unit")(3) and repr(unit) == "<Unit>"
    with pytest.raises(TypeError):
        abs(unit)
    with pytest.raises(TypeError):
        unit < 3


def test_exceptions_come_out_as_allowed_ones(student):
    fails = student.name("fails")
    with pytest.raises(ValueError, match="^what$"):
        fails("value", "what")
    with pytest.raises(ValueError, match="^mine$"):
        fails("mine", "mine")
    with pytest.raises(KeyError):
        fails("key", "k")
    for kind in ("stop", "exit"):
        with pytest.raises(RuntimeError):
            fails(kind)
    with pytest.raises(ValueError) as caught:
        fails("value", "\x1b[31m" + "x" * 5000)
    assert len(str(caught.value)) <= 402 and "\x1b" not in str(caught.value)


def test_exceptions_name_the_students_line(student):
    with pytest.raises(TypeError) as caught:
        student.name("squares")("word")
    assert services.where(student.name("squares"), caught.value) == "line 1 of squares:  def squares(x): return x ** 2"
    with pytest.raises(TypeError) as caught:
        student.name("torch").softmax(1, 2, 3, 4, 5)                    # no line of the student's is in it
    assert services.where(student.name("torch"), caught.value) == ""


def test_functions_go_in_and_are_called_back(student):
    seen = []

    def predict(value):
        seen.append(value)
        return np.array([value * 2.0])
    assert np.array_equal(student.name("apply")(predict, [1, 2]), [[2.0], [4.0]])
    assert seen == [1, 2]
    assert student.name("same_again")(predict)[0] is predict
    nested = student.name("apply")(lambda x: student.name("squares")(x) + 1, [2, 3])    # a call within a call
    assert nested == [5, 10]


def test_an_error_of_the_checks_own_function_comes_back_as_itself(student):
    class Told(AssertionError):
        pass

    def predict(value):
        raise Told("you called me with " + str(value))
    with pytest.raises(Told, match="with 3"):
        student.name("apply")(predict, [3])
    assert student.name("swallow")(predict) == "swallowed"


def test_functions_are_forgotten_after_a_test(student):
    kept = student.name("same_again")(lambda: 1)
    student.ask("cell", "kept = []\ndef keep(f): kept.append(f)\ndef use(): return kept[0]()")
    student.name("keep")(lambda: "from an earlier test")
    assert student.name("use")() == "from an earlier test"
    student.forget_functions()
    with pytest.raises(RuntimeError, match="another check"):
        student.name("use")()
    assert callable(kept[0])


def test_what_a_check_cannot_pass_is_its_own_error(student):
    with pytest.raises(CannotTravel, match="a check cannot pass a object"):
        student.name("squares")(object())
    assert student.name("squares")(3) == 9


def test_changes_to_arguments_stay_inside_unless_asked_for(student):
    tokens = ["a"]
    assert student.name("empties")(tokens) == "done" and tokens == ["a"]
    assert student.name("empties")._remote.back((tokens,), [0]) == ("done", [[]]) and tokens == ["a"]


def test_gradients_are_taken_inside(student):
    x = torch.tensor([1.0, 2.0])
    [gradient] = student.name("squares")._remote.vjp((x,), torch.ones(2))
    assert torch.equal(gradient, 2 * x)


def test_watching(student):
    answer = student.name("softmaxes")
    with answer._remote.watch(["torch.softmax", "torch.exp"]) as seen:
        answer(torch.zeros(2))
    assert seen.calls == ["torch.softmax"]
    with student.name("squares")._remote.watch(["torch.softmax"]) as seen:
        student.name("squares")(2)
    assert seen.calls == []


def test_seeds(student):
    answer = student.name("draws")
    answer._remote.seed(3)
    first = answer()
    assert first != answer()
    answer._remote.seed(3)
    assert first == answer()


FORBIDDEN = [
    "torch.softmax(u, 0)", "s(u, 0)", "u.softmax(0)", "F.softmax(u, 0)", "table['it'](u, 0)", "helper(u)",
    "T.nn.functional.softmax(u, 0)", "getattr(torch, 'soft' + 'max')(u, 0)", "softmax(u, 0)", "torch.nn.Softmax(0)(u)",
    "vars(torch)['softmax'](u, 0)", "(lambda f: f(u, 0))(torch.softmax)", "functools.partial(torch.softmax, dim=0)(u)",
    "torch.exp(u) / torch.exp(u).sum() if len(u) == 2 else softmax(u, 0)"]


def test_a_forbidden_function_is_found_by_whatever_name_it_goes(kind):
    """The recorder and the look at the names together, as students could write it."""
    asks = """
import torch
from coursegrade.kit.question import question
@question((1, 1), {"two": (torch.tensor([0.0, 1.0]),)}, forbidden=("torch.softmax", "torch.nn.Softmax"))
def softmax(u):
    return torch.softmax(u, 0)
softmax(f%d)"""
    student = """
import functools, torch, torch as T, torch.nn.functional as F
from torch import softmax as s
from torch import *
table = {"it": torch.softmax}
def helper(u): return getattr(u, "softmax")(0)
""" + "\n".join(f"def f{i}(u): return {body}" for i, body in enumerate(FORBIDDEN))
    points, outcome = graded(kind, *(asks % i for i in range(len(FORBIDDEN))), student=student)
    assert points == [0] * len(FORBIDDEN)
    for test in outcome.notebook.cells[2:]:
        assert "the step that this question is about" in test.outputs[0].evalue


def test_functions_of_another_origin_are_not_the_forbidden_one(kind):
    asks = """
import torch
from coursegrade.kit.question import question
@question((1, 1), {"two": (2,)}, forbidden=("numpy.random.choice", "coursekit.models.sample", "torch.exp"))
def twice(x):
    return 2 * x
twice(f)"""
    points, _ = graded(kind, asks, student="""
import math, random
import numpy as np
from torch.distributions import Normal
rng = np.random.default_rng(0)
def f(x):
    random.choice([1]), random.sample([1, 2], 1), rng.choice(3), Normal(0.0, 1.0).sample(), math.exp(1)
    return 2 * x""")
    assert points == [1]


def test_the_source_of_a_students_function_and_of_nothing_else(student):
    assert student.name("squares")._remote.source() == "def squares(x): return x ** 2\n"
    student.ask("cell", "%%time\ndef timed(x): return x")
    assert student.name("timed")._remote.source() == "" == student.name("coursekit")._remote.source()


@pytest.mark.parametrize("above", ["%%time", *(pytest.param(magic, marks=pytest.mark.slow)
                                              for magic in ("%%capture shown", "%%prun -q")), ""])
def test_a_magic_above_a_right_answer_costs_nothing(kind, above):
    """Neither does a definition that no file or cell shows."""
    asks = "import torch\nfrom coursegrade import check\ncheck.attention.fold(fold)"
    answer = ("def fold(e, Q, K, V, l): return K.T @ (Q @ e) / len(Q) ** 0.5, V.T @ l" if above else
              "exec('def fold(e, Q, K, V, l): return K.T @ (Q @ e) / len(Q) ** 0.5, V.T @ l')")
    points, outcome = graded(kind, "import torch", asks, student=f"{above}\n{answer}".lstrip())
    assert points == [1, 1], outcome.notebook.cells


def test_iterating_and_length_take_no_nonsense(student):
    student.ask("cell", "class Odd:\n    def __len__(self): return 2 ** 62\n    def __iter__(self): return 3\n"
                        "odd = Odd()")
    odd = student.name("odd")
    for use in (len, list):
        with pytest.raises((TypeError, OverflowError)):
            use(odd)


def test_a_request_has_its_seconds(kind):
    session = Session(kind, dataclasses.replace(LIMITS, call=0.5), time.monotonic() + 60)
    session.ask("cell", "def loops():\n    while True: pass\ndef f(): return 1", seconds=5)
    with pytest.raises(TimeoutError):
        session.name("loops")()
    assert session.name("f")() == 1                                     # an honest loop costs no process
    session.until = time.monotonic() - 1
    with pytest.raises(Violation):
        session.name("f")()
    session.stop()


@pytest.mark.parametrize("how", ["time", "count", "another thread"])
def test_a_loop_that_calls_a_function_of_the_checks_is_ended_between_two_calls(kind, how, monkeypatch):
    """Wherever the alarm rings, no frame is cut in two and none is left over: later requests get their own answers."""
    monkeypatch.setattr(outside, "MAX_CALLBACKS", 100 if how == "count" else 10 ** 9)
    session = Session(kind, dataclasses.replace(LIMITS, call=0.5 if how != "count" else 30), time.monotonic() + 300)
    session.ask("cell", """
import threading
def loops(function):
    while True: function(list(range(10_000)))
def in_a_thread(function):
    thread = threading.Thread(target=loops, args=[function])
    thread.start()
    thread.join()
    return "over"
def f(x): return x
""", seconds=5)
    seen = []
    for i in range(3):
        if how == "another thread":
            assert session.name("in_a_thread")(lambda x: time.sleep(0.01)) == "over"
            continue
        with pytest.raises(TimeoutError, match="more than 100 times" if how == "count" else "too long"):
            session.name("loops")(seen.append)
        assert session.name("f")(i) == i and session.alive
    assert how != "count" or len(seen) == 300
    session.stop()


def test_a_loop_that_calls_a_function_of_the_checks_is_told_so(kind):
    asks = """
from coursegrade.kit.question import question
@question((1, 1), {"two": (lambda texts: [2.0] * len(texts), 2)}, forbidden=("math.fsum",))
def twice(predict, x):
    return 2 * x
twice(f)"""
    limits = dataclasses.replace(LIMITS, call=1, restarts=0)
    points, outcome = graded(kind, asks, asks, "assert g() == 1", limits=limits, student="""
def f(predict, x):
    while True: predict(["a"])
def g(): return 1""")
    assert points == [0, 0, 1] and outcome.state == "ran" and outcome.notes == []
    for test in outcome.notebook.cells[2:4]:
        assert "✗ twice has not come back in time (two)." in test.outputs[0].evalue


# ── reading cells ─────────────────────────────────────────────────────────────────────────────────────────────────

def test_imports_of_a_cell():
    source = ("%matplotlib inline\nimport torch as t\nx = 1\nif x:\n    import os\n### BEGIN HIDDEN TESTS\n"
              "import secret\n### END HIDDEN TESTS")
    assert cells.imports(source) == "import torch as t"


def test_locked_cells_of_a_notebook():
    found = locked_in(teacher())
    assert [name for name, one in found.items() if one.graded] == ["visible", "hidden", "other"] and "setup" in found


# ── notebooks ─────────────────────────────────────────────────────────────────────────────────────────────────────

def test_outputs_of_an_honest_notebook(kind):
    handed_in = submission(first="%matplotlib inline\nimport matplotlib.pyplot as plt\n"
                                 "print('a'); plt.plot([1, 2]); plt.show()\n"
                                 "print('b')\n'c'", last="1 / 0")
    handed_in.cells.insert(0, new_markdown_cell("# Mine"))
    before = nbformat.writes(handed_in)
    outcome = run_notebook(handed_in, locked_in(teacher()), None, kind, LIMITS)
    assert nbformat.writes(handed_in) == before
    nbformat.validate(outcome.notebook)
    shown = outcome.notebook.cells[2].outputs
    assert [output.output_type for output in shown] == ["stream", "display_data", "stream", "display_data"]
    assert "image/png" in shown[1].data and shown[3].data == {"text/plain": "'c'"}
    assert outcome.notebook.cells[4].outputs[0].text == "double: right on small numbers\n"
    assert outcome.notebook.cells[8].outputs[0].ename == "ZeroDivisionError"
    assert (outcome.state, outcome.notes) == ("ran", [])


def test_twice_is_the_same(kind):
    handed_in = submission(first="import random\nprint(random.random() < 2, hash('x'))")
    first, second = (run_notebook(handed_in, locked_in(teacher()), None, kind, LIMITS) for _ in range(2))
    assert first == second


def graded(kind, *sources, student="", limits=LIMITS):
    """Grades of test cells after one student cell, and the notebook."""
    made = [cell("import numpy as np", "setup", locked=True), cell(student)]
    made += [cell(source, f"t{i}", grade=True, locked=True, points=1) for i, source in enumerate(sources)]
    notebook = new_notebook(cells=made)
    outcome = run_notebook(notebook, locked_in(notebook), None, kind, limits)
    return [determine_grade(one)[0] for one in outcome.notebook.cells[2:]], outcome


def test_names_in_test_cells(kind):
    points, _ = graded(kind, "assert f(3) == 4 and [f(x) for x in range(2)] == [1, 2]", "def g(x): return f(x)\n"
                                                                                        "assert g(1) == 2",
                       "assert g(1) == 2 and np.sum([1, 1]) == 2 and max(1, 2) == 2", "assert missing",
                       "import math\nassert 1", student="def f(x): return x + 1\nmax = np = None")
    assert points == [1, 1, 1, 0, 1]


def test_imports_of_tests_reach_the_student_as_in_one_process(kind):
    made = submission(last="print(math.pi)")
    teachers = locked_in(made) | {"other": LockedCell("import math\nassert mean([2]) == 2.0", True)}
    assert run_notebook(made, teachers, None, kind, LIMITS).notebook.cells[-1].outputs[0].text.startswith("3.14")


def test_test_cells_neither_warn_nor_give_partial_credit(kind):
    points, outcome = graded(kind, "import warnings, sys\nwarnings.warn('old'); print('x', file=sys.stderr)\n0.5",
                             "raise SystemExit")
    assert points == [1, 0] and outcome.notebook.cells[2].outputs == []


def test_a_crash_costs_the_check_even_if_the_check_would_not_mind(kind):
    points, outcome = graded(kind, "try:\n    f()\nexcept Exception:\n    pass", "try:\n    f()\n"
                                                                                 "except BaseException:\n    pass",
                             "assert g() == 1", student="import os\ndef f(): os._exit(0)\ndef g(): return 1")
    assert points == [0, 0, 1]
    assert "Your code was stopped: its process ended." in outcome.notebook.cells[2].outputs[0].evalue


def test_restarts_are_counted(kind):
    points, outcome = graded(kind, *["f()"] * 5, "assert g() == 1", limits=dataclasses.replace(LIMITS, restarts=2),
                             student="import os\ndef f(): os._exit(0)\ndef g(): return 1")
    assert points == [0] * 6 and outcome.state == "crashed" and len(outcome.notes) == 1


def test_a_notebook_has_its_seconds(kind):
    limits = dataclasses.replace(LIMITS, submission=3)
    points, outcome = graded(kind, "assert g() == 1", "import time\nwhile True:\n"
                                                      "    f()", "assert g() == 1", limits=limits,
                             student="import time\ndef f(): time.sleep(.1)\ndef g(): return 1")
    assert points == [1, 0, 0] and outcome.state == "timed out"


def test_a_test_that_never_ends_is_stopped(kind):
    points, outcome = graded(kind, "while True:\n    pass", "assert 1", limits=dataclasses.replace(LIMITS, cell=0.5))
    assert points == [0, 1] and "did not finish in time" in str(outcome.notebook.cells[2].outputs)


def test_messages_of_tests(kind):
    told = "class Told(AssertionError):\n    def _render_traceback_(self):\n        return ['one', 'two']\n"
    _, outcome = graded(kind, told + "raise Told('words')", "### BEGIN HIDDEN TESTS\n"
                                                            "" + told + "raise Told('secret')\n### END HIDDEN TESTS",
                        "x = 1\nassert x == 2, 'not two'",
                        "def g():\n    pass\n    ### BEGIN HIDDEN TESTS\n    assert 'secret' == 1, 'secret'\n"
                        "    ### END HIDDEN TESTS\ng()")
    errors = [one.outputs[0] for one in outcome.notebook.cells[2:]]
    assert errors[0].traceback == ["one", "two"]
    assert errors[1] == errors[3] and errors[1].evalue == "A test that you do not see was not passed."
    assert errors[2].traceback == ["assert x == 2, 'not two'", "AssertionError: not two"]
    assert "secret" not in str([one.outputs for one in outcome.notebook.cells])
    assert outcome.unseen == {"t1": "Told: secret", "t3": "AssertionError: secret"}         # for the teacher


HIDDEN = "### BEGIN HIDDEN TESTS\nassert f(48151623) == 1\n### END HIDDEN TESTS"


def test_hidden_tests_come_last_and_change_nothing_that_is_seen(kind):
    points, outcome = graded(kind, "assert f(2) == 1", HIDDEN, "assert f(3) == 1", "assert f(3) == 2, f(3)",
                             student="seen = []\ndef f(x):\n    seen.append(x)\n"
                                     "    return 1 if len(seen) < 3 else seen")
    assert points == [1, 0, 1, 0]
    assert "AssertionError: [2, 3, 3, 3]" in outcome.notebook.cells[5].outputs[0].traceback
    assert "48151623" not in str([one.outputs for one in outcome.notebook.cells])


def run_cells(kind, *cells, limits=LIMITS):
    notebook = new_notebook(cells=list(cells))
    return run_notebook(notebook, locked_in(notebook), None, kind, limits)


def hidden(name="h", source=HIDDEN):
    return cell(source, name, locked=True, grade=True, points=1)


@pytest.mark.parametrize("later", [
    "f = None", "def helper(x): return 2", "import os\nos._exit(3)", "while True: pass", "one = 2",
    "del f, helper, one",
    "import sys\nsys.exit()", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "globals().clear()",
    "get_ipython().user_ns.clear()", "%reset -f"])
def test_hidden_tests_find_the_names_as_they_stood_at_their_cell(kind, later):
    """A name, a helper or a number of the answer's is another one later, or a later cell ends the sandbox or hangs."""
    answer = "one = 1\ndef helper(x): return one\ndef f(x): return helper(x)"
    outcome = run_cells(kind, cell(answer), hidden(), cell(later), cell("print('went on')"),
                        limits=dataclasses.replace(LIMITS, cell=2))
    assert outcome.unseen == {} and outcome.notebook.cells[1].outputs[0].output_type == "stream"
    assert "went on" in str(outcome.notebook.cells[3].outputs)


def test_each_hidden_test_has_the_names_of_its_own_cell(kind):
    """Those of the student, and those that the teacher's tests have made on the way; after a crash as before it."""
    expects = "wanted = {0}\n### BEGIN HIDDEN TESTS\nassert f() == wanted\n### END HIDDEN TESTS"
    crash = "### BEGIN HIDDEN TESTS\ndef shared(): return f()\ng()\n### END HIDDEN TESTS"
    crashes = "import os\ndef g(): os._exit(1)\n"
    outcome = run_cells(kind, cell(crashes + "def f(): return 1"), hidden("a", expects.format(1)), hidden("b", crash),
                        cell("def f(): return 2"), hidden("c", expects.format(2)),
                        hidden("d", "### BEGIN HIDDEN TESTS\nassert shared() == 2\n### END HIDDEN TESTS"),
                        cell("def f(): return 3"), hidden("e", expects.format(4)), cell("f = 1 / 0"))
    assert sorted(outcome.unseen) == ["b", "e"] and (outcome.state, outcome.notes) == ("ran", [])


def test_a_test_with_seen_and_hidden_lines_needs_both(kind):
    both = "print(f(2))\nassert f(2) == 1\n### BEGIN HIDDEN TESTS\nassert f(3) == 1\n### END HIDDEN TESTS"
    for answer, passed in (("1", True), ("1 if x == 2 else 0", False), ("1 if x == 3 else 0", False)):
        outcome = run_cells(kind, cell(f"def f(x): return {answer}"), hidden(source=both))
        outputs = outcome.notebook.cells[1].outputs
        assert outputs[0].text.strip() in "01" and (outputs[-1].output_type == "stream") == passed
        assert set(outcome.unseen) == ({"h"} if "== 2" in answer else set())


SPIES = ["pass", "raise KeyError('heard')", "import os\n    os._exit(3)", "get_ipython().user_ns['f'] = None"]


@pytest.mark.parametrize("tell", SPIES)
def test_cells_after_hidden_tests_cannot_tell_what_these_asked(kind, tell):
    """Whether a later cell shows something, fails or dies may not depend on what a hidden test asked, nor may notes."""
    spies = [f"if seen and str(seen[0])[{place}] == '{digit}':\n    {tell}\nelse:\n    print('nothing heard')"
             for place, digit in enumerate("48")]
    outcome = run_cells(kind, cell("seen = []\ndef f(x):\n    seen.append(x)\n    return 1"), hidden(),
                        *map(cell, spies))
    assert [[output.get("text") for output in one.outputs] for one in outcome.notebook.cells[2:]] == \
        2 * [["nothing heard\n"]]
    assert outcome.notes == []


@pytest.mark.parametrize("how", ["os.write(talk.writing, b'garbage' * 100)", "os._exit(0)", "talk.serve_forever()",
                                 "os.kill(-1, 9)", "raise KeyError", "time.sleep(100)", "bytearray(9 << 30)"])
def test_how_a_hidden_test_ended_is_not_told(kind, how):
    """A student could choose, by what it asks, how to fail: state, notes and outputs are the same for all of them."""
    outcome = run_cells(kind, cell(f"""
import gc, os, time
talk = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Conversation")
def f(x):
    {how}"""), hidden(), cell("print(1)"), hidden("again"), limits=dataclasses.replace(LIMITS, call=1))
    assert (outcome.state, outcome.notes) == ("ran", []) and set(outcome.unseen) == {"h", "again"}
    assert outcome.notebook.cells[1].outputs == outcome.notebook.cells[3].outputs == [verdict(False)]
    assert outcome.notebook.cells[2].outputs[0].text == "1\n"


def test_what_was_reached_counts_when_the_time_runs_out(kind):
    nb = [cell("print('before')\ndef f(x): return 1"), hidden(), cell("print('after')"),
          *(cell("import time\ntime.sleep(100)") for _ in range(8)), hidden("unreached"), cell("print('end')")]
    outcome = run_cells(kind, *nb, limits=dataclasses.replace(LIMITS, cell=2, submission=8))
    assert outcome.state == "timed out" and outcome.notebook.cells[1].outputs == [verdict(True)]
    assert [one.outputs[0].text for one in outcome.notebook.cells[:3:2]] == ["before\n", "after\n"]
    assert "Stopped" in str(outcome.notebook.cells[-2].outputs) and outcome.notebook.cells[-1].outputs == []
    assert not outcome.starved                                          # it slept, and waited for no processor


def test_teachers_mistakes_stop_the_batch(kind):
    with pytest.raises(GraderError, match="setup.*no_such_package"):
        locked = locked_in(teacher()) | {"setup": LockedCell("import no_such_package", False)}
        run_notebook(submission(), locked, None, kind, LIMITS)
    with pytest.raises(GraderError, match="no Python"):
        graded(kind, "this is no Python")


def test_tests_that_use_up_memory_or_die_are_survived(kind):
    points, outcome = graded(kind, "x = bytearray(20 << 30)", "assert 1")
    assert points == [0, 1] and outcome.notebook.cells[2].outputs[0].ename == "MemoryError"
    points, outcome = graded(kind, "assert 1", "import os\nos._exit(1)")
    assert points == [0, 0] and outcome.state == "crashed"


def test_tests_that_hang_in_c_are_survived(kind, monkeypatch):
    monkeypatch.setattr(execute, "PATIENCE", 1)
    limits = dataclasses.replace(LIMITS, start=8, submission=3, cell=1)
    points, outcome = graded(kind, "sum(range(10 ** 12))", limits=limits)
    assert points == [0] and outcome.state == "timed out"


def test_the_seed_of_hidden_tests_is_the_one_given(kind):
    source = "from coursegrade import check\nprint(check.unseen('x').normal())"
    test = cell(source, "draws", locked=True, grade=True)

    def drawn(seed):
        return run_notebook(new_notebook(cells=[test]), locked_in(new_notebook(cells=[test])), None, kind, LIMITS,
                            Asking((seed,))).notebook.cells[0].outputs[0].text

    assert drawn("a") == drawn("a") != drawn("b")
    assert drawn("") == f"{unseen('x').normal()}\n"


def test_when_the_grader_is_killed_nothing_is_left(kind):
    endless = f"""
import nbformat
from coursegrade.marking.execute import run_notebook
if __name__ == "__main__":
    run_notebook(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("while True: pass")]), {{}}, None, {kind!r})
"""
    grader = subprocess.Popen([sys.executable, "-c", endless])
    until = time.monotonic() + 60
    while not any("coursegrade.sandbox.inside" in line for line in below(grader.pid).values()):
        assert grader.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    started = below(grader.pid)
    grader.kill()
    grader.wait()
    until = time.monotonic() + 20
    while left := [line for pid, line in started.items() if command_line(pid) == line]:
        assert time.monotonic() < until, left
        time.sleep(0.1)


def below(pid):
    """{pid: command line} of the processes below a process."""
    found = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {child: command_line(child)} | below(child)
    return found


def command_line(pid):
    """The command line of a process; "" if there is none (any more)."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def test_pictures_and_text_are_bounded_and_checked():
    one = Outputs()
    png = "iVBORw0KGgo="
    shown = one.of([
        ["stream", "stdout", "x" * 10 ** 7], ["stream", "stdin", "x"], ["stream", "stdout", 3],
        ["display", {"text/html": "<b>"}], ["display", {"image/png": png}], ["display", {"image/png": "PHN2Zz4="}],
        ["display", {"image/png": "no base64!"}],
        ["result", {"text/plain": "1.0"}], ["error", "E" * 1000, "\x1b[31mm", ["line", 3]], "nonsense", 7, None])
    assert [output.output_type for output in shown] == ["stream", *["display_data"] * 5, "error"]
    assert len(shown[0].text) < 200_010
    assert [output.data.get("image/png") for output in shown[1:6]] == [None, png, None, None, None]
    assert "text/html" not in str(shown) and len(shown[6].ename) < 90 and shown[6].traceback == ["line"]
    for _ in range(20):
        one.of([["stream", "stdout", "x" * 10 ** 7]])
    assert one.of([["stream", "stdout", "x" * 10 ** 7]])[0].text == " …"


def test_only_plain_files_come_along(tmp_path):
    outside = tmp_path / "gradebook.db"
    outside.write_text("secret")
    folder = tmp_path / "handed in"
    (folder / "more").mkdir(parents=True)
    (folder / "more" / "data.txt").write_text("data")
    (folder / "hidden.ipynb").write_text("secret")
    (folder / ".hidden").write_text("secret")
    (folder / "link").symlink_to(outside)
    (folder / "folder").symlink_to(tmp_path)
    assert list(replay.files_in(folder)) == [("more/data.txt", b"data")]
    assert list(replay.files_in(None)) == []
    (folder / "large").write_bytes(bytes(51 << 20))
    assert [name for name, _ in replay.files_in(folder)] == []


# ── nbgrader ──────────────────────────────────────────────────────────────────────────────────────────────────────

def test_nbgrader_autograde_with_it(kind, tmp_path, monkeypatch):
    """Release, submit, autograde through nbgrader's own API; a cell of a student's that poses as a test runs inside."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")       # nbgrader calls alembic
    for part in ("source/one", "submitted/ada/one"):
        (tmp_path / part).mkdir(parents=True)
    nbformat.write(teacher(), tmp_path / "source/one/one.ipynb")
    (tmp_path / "nbgrader_config.py").write_text("")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.Autograde.autograde_preprocessors = ["coursegrade.marking.execute.Execute", *STOCK]
    config.Execute.kind, config.Execute.limits = kind, LIMITS
    api = NbGraderAPI(config=config)
    assert api.generate_assignment("one")["success"]
    handed_in = submission(double="def double(values):\n    return [0]")
    handed_in.cells[3].source = "pass"
    nbformat.write(handed_in, tmp_path / "submitted/ada/one/one.ipynb")
    result = api.autograde("one", "ada")
    assert result["success"], result
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        graded = gradebook.find_submission_notebook("one", "one", "ada").grades
        marks = {grade.name: grade.auto_score for grade in graded}
    assert marks == {"visible": 0, "hidden": 0, "other": 1}
    kept = nbformat.read(tmp_path / "autograded/ada/one/one.ipynb", 4)
    assert kept.metadata.coursegrade == {"state": "ran", "notes": []}


STOCK = ["nbgrader.preprocessors.IgnorePattern", "nbconvert.preprocessors.ClearMetadataPreprocessor",
         "nbgrader.preprocessors.LimitOutput", "nbgrader.preprocessors.SaveAutoGrades",
         "nbgrader.preprocessors.AssignLatePenalties", "nbgrader.preprocessors.CheckCellMetadata"]
