"""The parts that every check is made of: its messages, the services on an answer, the score."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from coursegrade import check
from coursegrade.kit import services
from coursegrade.kit.question import question
from coursegrade.kit.score import forget
from coursegrade.kit.values import shown

# -- questions and their messages ------------------------------------------------------------------------------------

class Liar:
    """An object that is no data: whoever asks it anything is told off."""

    __class__ = torch.Tensor

    def __eq__(self, other):
        raise AssertionError("the check asked the object")

    __hash__ = None
    __array__ = __len__ = __iter__ = __float__ = __bool__ = __getitem__ = __repr__ = __str__ = __eq__
    shape = dtype = numpy = detach = tolist = item = property(__eq__)


@question((1, 1), {"two": (2,), "a list": ([1, 2],)}, forbidden=("math.fsum", "torch.exp"), instead="patience")
def double(x):
    """double(x): twice x."""
    return x * 2


def message(answer, *more):
    with pytest.raises(check.CheckFailed) as failure:
        double(answer, *more)
    return str(failure.value)


def test_success_is_one_friendly_line_and_returns_none(capsys):
    assert double(lambda x: x + x) is None
    assert capsys.readouterr().out == "✓ double: right on two; a list.\n"
    assert double(lambda x: x + x, {"secret": (3,), "other": (4,)}) is None
    assert capsys.readouterr().out == "✓ double: right on 2 more inputs.\n"


def test_failure_says_input_got_expected():
    assert message(lambda x: x + 1).splitlines() == [
        "✗ double is not right yet (two).", "", "  input     x = 2", "  got       3", "  expected  4",
        "  wrong     got 3, expected 4"]


def test_failure_shows_no_traceback():
    with pytest.raises(check.CheckFailed) as failure:
        double(lambda x: 1 / 0)
    lines = failure.value._render_traceback_()
    assert lines == str(failure.value).splitlines() and failure.value.__suppress_context__
    assert not any("Traceback" in line or "File " in line or "question.py" in line for line in lines)
    assert isinstance(failure.value, AssertionError)


def test_error_in_the_answer_names_its_line():
    def answer(x):
        half = x / 2
        return half / (x - x)

    text = message(answer)
    assert "ZeroDivisionError: float division by zero" in text
    assert "where     line 3 of answer:  return half / (x - x)" in text


def test_error_in_a_helper_of_the_answer_names_the_helper():
    def helper(x):
        return x.missing

    assert "line 2 of helper:  return x.missing" in message(lambda x: helper(x))


def no_arguments():
    return 4


no_arguments.__qualname__ = "double"        # as a student's function is called


@pytest.mark.parametrize("answer, words", [
    (lambda x: None, "Does it end with `return …`?"),
    (lambda x: abs, "Was it meant to be called, with brackets?"),
    (no_arguments, "Leave the first line of the function as it was: it takes 1 arguments."),
    (lambda x: unknown_name, "`unknown_name` is not known here"),           # noqa: F821
    (lambda x: exec("raise NotImplementedError"), "still empty"),
    (lambda x: exec("raise SystemExit"), "SystemExit"),
    (lambda x: torch.ones(2) + torch.ones(3), "Two shapes do not fit"),
    (lambda x: torch.ones(2, 3, 4) @ torch.ones(2, 3, 4), "Two shapes do not fit"),
    (lambda x: torch.ones(2) @ torch.ones(2).double(), "Two dtypes meet"),
    ("double", "and got a string"), (None, "and got None"), (4, "and got a whole number"),
])
def test_usual_mistakes(answer, words):
    assert words in " ".join(message(answer).split())


def test_infinite_recursion_is_explained():
    def answer(x):
        return answer(x)

    assert "calls itself without end" in message(answer)


def test_strange_results_do_not_break_a_check():
    cyclic = []
    cyclic.append(cyclic)
    for strange in (Liar(), cyclic, [Liar()], {"a": Liar()}, object(), range(10**12), torch.nn.Linear(1, 1),
                    "x" * 10**6, torch.zeros(0), torch.ones(10**6), [None] * 10**5, {(): ()}, float("nan"), 10**100,
                    10**400, 10**5000, [10**5000]):
        text = message(lambda x, strange=strange: strange)
        assert text.startswith("✗ double is not right yet (two).") and len(text) < 1500


def test_hidden_cases_tell_no_input():
    for answer in (lambda x: 98765, lambda x: x + 1, lambda x: [x], lambda x: [][x], lambda x: int(f"no {x}")):
        text = message(answer, {"a large number": (123456,)})
        assert "a large number" in text
        assert not [number for number in ("123456", "123457", "98765", "246912") if number in text]


def test_a_long_dictionary_of_tensors_is_shown_by_its_shapes():
    assert shown({"a": torch.ones(2)}) == "{'a': tensor([1., 1.])}"
    text = shown({f"weight {i}": torch.ones(3, i + 1) for i in range(9)})
    assert text.startswith("tensors: 'weight 0' (3, 1), 'weight 1' (3, 2)") and "1." not in text


def test_warnings_prints_and_stderr_of_the_answer_do_not_matter(capsys, recwarn):
    def answer(x):
        import warnings
        warnings.warn("careful")
        print("working")
        print("complaining", file=sys.stderr)
        return 2 * x

    double(answer)
    assert capsys.readouterr().err == "" and not recwarn.list


def test_an_answer_cannot_change_the_cases():
    def answer(x):
        if isinstance(x, list):
            x.extend(x)
            return x
        return 2 * x

    for _ in range(2):
        assert "it changes what it is given: `x`" in message(answer)
    double(lambda x: x * 2)


@pytest.mark.parametrize("argument, change, advice", [
    (np.array([1.0, 2.0]), lambda x: x.__imul__(1), None),
    (np.array([1.0, 2.0]), lambda x: x.__setitem__(0, 7.0), "`x.copy()` is one that you may change"),
    (torch.tensor([1.0, 2.0]), lambda x: x.add_(1), "`x.clone()` is a copy"),
    ([1, [2, 3]], lambda x: x[1].append(4), "`[*x]` is a new list"), ({"a": 1}, lambda x: x.pop("a"), "`dict(x)`"),
    ({1, 2}, lambda x: x.add(3), "`a | b` makes a new one")])
def test_an_answer_that_changes_what_it_is_given_is_told_so(argument, change, advice):
    @question((1, 1), {"a case": (argument,)})
    def length(x):
        return len(x)

    def answer(x):
        n = len(x)
        change(x)
        return n

    if advice is None:                                                  # the same values again are no change
        return length(answer)
    for _ in range(2):
        with pytest.raises(check.CheckFailed, match="it changes what it is given: `x`") as failure:
            length(answer)
        assert advice in " ".join(str(failure.value).split())
    length(len)


def test_a_question_may_say_itself_how_what_it_gives_is_changed():
    @question((1, 1), {"a case": (torch.ones(2),)}, hints={"changed": "An optimiser's step changes it."})
    def length(x):
        return len(x)

    with pytest.raises(check.CheckFailed, match=r"still needs `x` as it was. An optimiser's step changes it\."):
        length(lambda x: len(x.mul_(2)))


def test_seed_is_set_before_each_call():
    seen = []
    double(lambda x: seen.append((torch.rand(1).item(), np.random.rand(), __import__("random").random())) or x + x)
    double(lambda x: seen.append((torch.rand(1).item(), np.random.rand(), __import__("random").random())) or x + x)
    assert len(seen) == 4 and len(set(seen)) == 1


# -- services on an answer -------------------------------------------------------------------------------------------

def test_forbidden_functions_are_found_under_any_name():
    hidden = {"a": torch.exp, "b": math.fsum}
    assert "double calls torch.exp" in message(lambda x: hidden["a"](torch.tensor(0.0)) and x + x)
    assert "double calls torch.exp" in message(lambda x: torch.tensor(0.0).exp() and x + x)
    assert "double mentions math.fsum" in message(lambda x: x + x if x else math.fsum([x]))
    assert "double calls torch.exp" in message(lambda x: torch.exp(torch.tensor(0.0)) + [x]), "also where it then stops"


def test_forbidden_words_in_comments_and_strings_do_not_count():
    def answer(x):
        """Not torch.exp, not math.fsum."""
        return x + x    # torch.exp(x) would be wrong

    double(answer)


BANNED = ["torch.softmax", "torch.nn.Softmax", "numpy.random.choice", "coursekit.models.sample", "math.fsum"]


@pytest.mark.parametrize("imports, call, found", [
    ("import torch", "torch.softmax(u, 0)", "torch.softmax"), ("import torch as t", "t.softmax(u, 0)", "torch.softmax"),
    ("import torch.nn.functional as F", "F.softmax(u, 0)", "torch.softmax"),
    ("from torch import softmax as s", "s(u, 0)", "torch.softmax"),
    ("from torch import *", "softmax(u)", "torch.softmax"),
    ("from torch import nn", "nn.Softmax(0)(u)", "torch.nn.Softmax"),
    ("import torch", "(lambda v: torch.softmax(v, 0))(u)", "torch.softmax"),
    ("import numpy as np", "np.random.choice(3)", "numpy.random.choice"),
    ("import coursekit.models.decoding as d", "d.sample(u)", "coursekit.models.sample"),
    ("from coursekit import models as m", "m.sample(u)", "coursekit.models.sample"),
    ("from math import fsum", "fsum([1])", "math.fsum"), ("from math import *", "fsum([1])", "math.fsum")])
def test_what_an_answer_names_is_known_by_whatever_name_it_goes(imports, call, found):
    names = {}
    exec(f"{imports}\ndef f(u): return u if u else {call}", names)
    assert services.named(names["f"], BANNED) == [found]


@pytest.mark.parametrize("imports, call", [
    ("import random", "random.choice([1]) + random.sample([1], 1)"), ("import torch", "torch.exp(u)"),
    ("import numpy as np\nrng = np.random.default_rng(0)", "rng.choice(3) + rng.sample()"),
    ("from torch.distributions import Normal", "Normal(0, 1).sample()"), ("softmax = abs", "softmax(u)"),
    ("from coursekit.models import sample, greedy", "greedy(u)"), ("", "unknown.softmax(u)"),
    ("from torch import *\ndef softmax(u): return exp(u)", "softmax(u)")])
def test_what_has_the_same_name_elsewhere_is_another_one(imports, call):
    names = {}
    exec(f"{imports}\ndef f(u): return {call}", names)
    assert services.named(names["f"], BANNED) == []


def test_watch_leaves_everything_as_it_was():
    before, profile = torch.exp, sys.getprofile()
    with pytest.raises(ZeroDivisionError), services.watch(None, ["torch.exp", "coursekit.models.causal_mask"]) as seen:
        from coursekit.models import causal_mask
        causal_mask(2)
        1 / 0
    assert seen.calls == ["coursekit.models.causal_mask"]
    assert torch.exp is before and sys.getprofile() is profile


def test_a_class_is_known_by_its_own_methods_not_by_their_decorators():
    """`torch.no_grad()` and `contextmanager` wrap all functions in the same code: to use another of them is no use."""
    @torch.no_grad()
    def other():
        return 1

    from coursekit.models import GPT2, GPT2Config
    with services.watch(None, ["coursekit.models.GPT2"]) as seen:
        other()
    assert seen.calls == []
    model = GPT2(GPT2Config(5, 4, 4, 2, 1))
    with services.watch(None, ["coursekit.models.GPT2"]) as seen:
        model.step(torch.tensor([[1]]))
    assert "coursekit.models.GPT2" in seen.calls


def test_what_an_import_calls_is_no_call_of_the_answer(tmp_path, monkeypatch):
    (tmp_path / "makes_a_table.py").write_text("def logsumexp(x):\n    return x\n\n\nTABLE = logsumexp(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with services.watch(None, ["makes_a_table.logsumexp"]) as seen:
        import makes_a_table
    assert seen.calls == []
    with services.watch(None, ["makes_a_table.logsumexp"]) as seen:
        makes_a_table.logsumexp(1)
    assert seen.calls == ["makes_a_table.logsumexp"]


def test_watch_of_what_is_not_installed_watches_nothing():
    with services.watch(None, ["no_such_package.function", "math.no_such_function"]) as seen:
        math.exp(1)
    assert seen.calls == []


def test_vjp_gives_gradients_of_a_weighted_sum():
    x, y = torch.randn(3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)
    cotangent = torch.randn(3, dtype=torch.float64)
    by_x, by_y, nothing = services.vjp(lambda x, y, n: x * y + n, (x, y, 3), cotangent)
    assert torch.allclose(by_x, y * cotangent) and torch.allclose(by_y, x * cotangent) and nothing is None
    by_x, = services.vjp(lambda x: (x, 2 * x), (x,), [None, cotangent])
    assert torch.allclose(by_x, 2 * cotangent)
    assert services.vjp(lambda x: x.detach(), (x,), cotangent) == [None]
    assert not x.requires_grad


def test_services_go_to_the_stand_in_where_there_is_one():
    class Remote:
        seeds = 0
        watch, named, source, vjp, back = (lambda self, *args, name=name: (name, *args)
                                           for name in ("watch", "named", "source", "vjp", "back"))

        def seed(self):
            self.seeds += 1

    class StandIn:
        _remote = Remote()

        def __call__(self, x):
            return 2 * x

    answer = StandIn()
    assert services.run(answer, (3,)) == 6 and answer._remote.seeds == 1
    assert services.watch(answer, ["a"]) == ("watch", ["a"]) and services.source(answer) == ("source",)
    assert services.named(answer, ["a"]) == ("named", ["a"])
    assert services.vjp(answer, (1,), 2) == ("vjp", (1,), 2) and services.back(answer, (1,), [0]) == ("back", (1,), [0])


# -- score, seeds, imports -------------------------------------------------------------------------------------------

def test_score_counts_the_latest_check_of_each_question(capsys):
    forget()
    check.score()
    assert "No check has run here" in capsys.readouterr().out
    fold = check.attention.fold
    right, wrong = (lambda *a: (a[2].T @ (a[1] @ a[0]) / math.sqrt(len(a[1])), a[3].T @ a[4])), (lambda *a: None)
    failed = (wrong, "✗ does not pass yet", 0)
    empty = (lambda *a: exec("raise NotImplementedError"), "· still empty", 0)
    for answer, state, points in (empty, failed, (right, "✓ passes", 2), failed, empty):
        try:
            fold(answer)
        except check.CheckFailed:
            pass
        capsys.readouterr()
        check.score()
        out = capsys.readouterr().out
        line = next(line for line in out.splitlines() if line.split()[1:2] == ["fold"])
        assert state in line and f"{points} of 2 points" in line
        assert out.splitlines()[0] == "Assignment 02 · attention" and line.split()[0] == "4"
        assert "its check has not run" in out and "read by a person" in out
        assert f"\n{points} of 13 points so far; 9 more come when it is marked; 8 from a person" in out
        assert out.endswith("Together 30.\n")
    fold(right, {"other": fold.cases["d_e = 3, d_att = 2, d_out = 5"]})
    capsys.readouterr()
    check.score()
    out = capsys.readouterr().out
    assert "0 of 2 points, 3 of 3 by tests with other inputs" in out and "\n3 of 16 points so far; 6 more come" in out
    forget()


def test_unseen_depends_on_the_name_and_on_the_seed_alone(monkeypatch):
    def draw(name):
        return check.unseen(name).random(4).tolist()

    monkeypatch.delenv("COURSEGRADE_HIDDEN_SEED", raising=False)
    first, other = draw("a"), draw("b")
    assert draw("a") == first != other
    monkeypatch.setenv("COURSEGRADE_HIDDEN_SEED", "kept by the teacher")
    assert draw("a") != first
    monkeypatch.setenv("COURSEGRADE_HIDDEN_SEED", "")
    assert draw("a") == first


def test_importing_grade_is_light_and_topics_are_loaded_when_asked_for():
    code = ("import sys, coursegrade; a = {'torch', 'numpy', 'nbgrader'} & set(sys.modules); "
            "from coursegrade import check; b = {'torch', 'nbgrader', 'IPython'} & set(sys.modules); "
            "check.attention; print(a, b, 'torch' in sys.modules, 'nbgrader' in sys.modules)")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set() set() True False\n"


def test_a_topic_that_does_not_exist_is_refused_in_one_line():
    with pytest.raises(AttributeError, match="there is no check.tokenz: the topics are tokens, attention"):
        check.tokenz
