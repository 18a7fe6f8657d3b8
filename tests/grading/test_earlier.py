"""Assignment 07: a later answer is not blamed for what an earlier one does that it calls."""

import importlib.util
import itertools
import re

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from coursegrade import check
from coursegrade.kit import limit
from coursegrade.kit.score import forget
from coursegrade.marking.cells import LockedCell
from coursegrade.marking.execute import run_notebook
from tests.grading.bank.assignments import ASSIGNMENTS

HERE = ASSIGNMENTS["07_perturbation"]
NUMBERS = itertools.count()
CALL_IT = ["leave_one_out", "lime", "shapley", "kernel_shap", "shapley_from_orders"]
TURNED = ("if not kept", "if kept")
SLIPS = {"lime": {"lime": ("weights, ridge)", "weights, 0.7)")},
         "shapley": {"shapley": ("(d * math.comb", "(math.comb")}}
UNWEIGHTED = ("root = np.sqrt(weights)", "root = np.ones(len(y)); mean, mean_y = Z.mean(0), y.mean()")


def cells(**slips):
    """The reference's cells, {question: source}; slips: {question: (what stands there, what to write in its place)}."""
    assert all(slip[0] in HERE.cells[question] for question, slip in slips.items())
    return {question: HERE.cells[question].replace(*slips.get(question, ("", "")))
            for question in ("imports", *HERE.questions)}


def student(folder, sources):
    """A module of these cells, so that the functions have their source, and know each other."""
    path = folder / f"student{next(NUMBERS)}.py"
    path.write_text("\n".join(sources.values()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(check_of, question, answers):
    with pytest.raises(check.CheckFailed) as failure:
        check_of(question, getattr(answers, question))
    return " ".join(str(failure.value).split())


@pytest.mark.parametrize("question", CALL_IT)
def test_the_earlier_function_is_named_with_its_mistake(question, tmp_path):
    answers = student(tmp_path, cells(perturbed=TURNED))
    text = said(HERE.visible, question, answers)
    assert text.startswith(f"✗ {question} calls `perturbed` (question 1), which is not right yet: begin there.")
    assert "True in the mask means that a word is *kept*" in text and "The sign" not in text


@pytest.mark.parametrize("question", SLIPS)
def test_one_early_slip_costs_once(question, tmp_path, capsys):
    forget()
    answers = student(tmp_path, cells(perturbed=TURNED))
    assert said(HERE.visible, "perturbed", answers)
    HERE.hidden(question, getattr(answers, question))
    assert "with `perturbed` answered by the course's own" in capsys.readouterr().out
    both_wrong = student(tmp_path, cells(perturbed=TURNED, **SLIPS[question]))
    hidden = said(HERE.hidden, question, both_wrong)
    assert "calls `perturbed` (question 1)" in hidden and not re.search(r" input +\w+ =", hidden)


def test_all_that_lime_builds_on_may_be_lent(tmp_path, capsys):
    forget()
    slips = {"perturbed": TURNED, "fit": UNWEIGHTED}
    answers = student(tmp_path, cells(**slips))
    assert all(said(HERE.visible, question, answers) for question in slips)
    HERE.hidden("lime", answers.lime)
    assert "with `perturbed` and `fit` answered" in capsys.readouterr().out


def test_through_a_function_of_the_students_own(tmp_path):
    sources = cells(perturbed=TURNED, shapley=("perturbed(document, mask, by) for", "copy_of(document, mask, by) for"))
    sources["perturbed"] += "\n\ndef copy_of(document, mask, by):\n    return perturbed(document, mask, by)\n"
    assert "calls `perturbed` (question 1)" in said(HERE.visible, "shapley", student(tmp_path, sources))


def test_fit_is_named_where_lime_suffers_from_it(tmp_path):
    text = said(HERE.visible, "lime", student(tmp_path, cells(fit=UNWEIGHTED)))
    assert "calls `fit` (question 2)" in text and "The weights change nothing here" in text


def test_a_changed_document_is_found_where_it_does_harm(tmp_path):
    slip = ("return [word", "document[:] = [word for word in document if word not in gone]\n        return [word")
    assert "it changes what it is given: `document`" in said(
        HERE.visible, "shapley", student(tmp_path, cells(perturbed=slip)))


def test_no_earlier_function_is_named_where_it_is_right(tmp_path, capsys):
    answers = student(tmp_path, cells(fit=("else 1.0", "else 0.0")))
    HERE.visible("kernel_shap", answers.kernel_shap)                    # takes the coefficients alone
    only_there = ('return ["[UNK]" if', 'return document if "[UNK]" in document else ["[UNK]" if')
    text = said(HERE.visible, "lime", student(tmp_path, cells(perturbed=only_there, lime=("ridge)\n    ### END",
                                                                                          "1.0)\n    ### END"))))
    assert "The ridge is 1 here" in text and "question 1" not in text


def test_an_earlier_function_that_is_empty_is_still_called_empty(tmp_path):
    sources = cells() | {"perturbed": "def perturbed(document, mask, by):\n    raise NotImplementedError()\n"}
    assert "calls `perturbed` (question 1), which is still empty" in said(
        HERE.visible, "lime", student(tmp_path, sources))


def test_a_tuple_in_the_place_of_an_array_is_named(tmp_path):
    answers = student(tmp_path, cells(perturbed=("mask) if not kept", "~mask) if kept")))
    HERE.visible("leave_one_out", answers.leave_one_out)
    text = said(HERE.visible, "shapley", answers)
    assert "calls `perturbed` (question 1)" in text and "np.array(mask, dtype=bool) makes an array" in text


@pytest.mark.parametrize("question", ["lime", "shapley", "shapley_from_orders"])
def test_python_s_true_and_false_in_a_mask_are_named(question, tmp_path):
    slips = {} if question != "lime" else {"lime": ("tuple(mask), len", "tuple(mask.tolist()), len")}
    answers = student(tmp_path, cells(perturbed=("if not kept", "if ~kept"), shapley_from_orders=(
        "tuple(np.argsort(walk) < k)", "tuple((np.argsort(walk) < k).tolist())"), **slips))
    HERE.visible("leave_one_out", answers.leave_one_out)
    text = said(HERE.visible, question, answers)
    assert "calls `perturbed` (question 1)" in text and "`~True` is −2" in text and "Do the weights" not in text


def test_a_slow_import_inside_an_answer_is_no_endless_loop(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(2.5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(limit, "SECONDS", 1.5)
    answers = student(tmp_path, cells(fit=("mean, mean_y =", "import slow_to_import\n    mean, mean_y =")))
    HERE.visible("fit", answers.fit)


def test_what_an_answer_needs_is_imported_before_its_time_is_measured(monkeypatch):
    def with_torch_func(f, e):
        return torch.func.grad(f)(e)

    def with_autograd(f, e):
        import json
        return json.dumps(torch.autograd.grad(f(e), e))

    names = []
    monkeypatch.setattr(limit.importlib, "import_module", names.append)
    limit.import_for(with_torch_func)
    limit.import_for(with_autograd)
    assert names == ["torch._dynamo", "json"]


def test_in_a_sandbox_as_well(sandbox):
    names = ["perturbed", *CALL_IT]
    sources = cells(perturbed=TURNED)
    locked = {"imports": LockedCell(HERE.cells["imports"], False)} | {
        f"check_{name}": LockedCell(HERE.cells[f"check_{name}"], True) for name in names}
    notebook = new_notebook(cells=[
        *(new_code_cell(source, metadata={"nbgrader": {"grade_id": "imports"}} if question == "imports" else {})
          for question, source in sources.items()),
        *(new_code_cell("", metadata={"nbgrader": {"grade_id": f"check_{name}"}}) for name in names)])
    outcome = run_notebook(notebook, locked, None, sandbox)
    assert outcome.state == "ran", outcome.notes
    errors = [output.evalue for cell in outcome.notebook.cells for output in cell.get("outputs", [])
              if output.output_type == "error"]
    lends = [name for name in CALL_IT if "perturbed" in HERE.check_of(name).lend]
    assert all("True in the mask means" in text for text in errors)
    assert ["calls `perturbed` (question 1)" in text for text in errors] == [False, *[True] * (5 - len(lends))]
    printed = "".join(output.text for cell in outcome.notebook.cells for output in cell.get("outputs", [])
                      if output.output_type == "stream")
    assert all(re.search(f"✓ {name}: .*, with `perturbed` answered by the course's own", printed) for name in lends)
