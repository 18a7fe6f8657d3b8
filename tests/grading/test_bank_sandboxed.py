"""The bank once more, as submissions are marked: answers in a sandbox, tests outside. The marks must be the same."""

import ast
import inspect
import textwrap
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from coursekit.grade.marking.cells import LockedCell
from coursekit.grade.marking.execute import run_notebook
from coursekit.grade.sandbox.process import Limits
from tests.grading.bank.assignments import ASSIGNMENTS, NAMES
from tests.grading.sandboxed import kind_or_skip

LIMITS = Limits(call=5, submission=1000)


def student_cells(assignment):
    """(what the answers of a bank share, a function that gives an answer's source under its question's name)."""
    bank = Path(inspect.getsourcefile(assignment.right[0][-1])).read_text()
    kept = [node for node in ast.parse(bank).body if not getattr(node, "decorator_list", None)
            and getattr(node, "module", "") != "tests.grading.bank.entries"]

    def named(question, answer):
        node = ast.parse(textwrap.dedent(inspect.getsource(answer))).body[0]
        node.decorator_list, own = [], node.name
        node.name = question if own == "_" else own
        return ast.unparse(node) + ("" if own == "_" else f"\n{question} = {own}")

    return "\n".join(map(ast.unparse, kept)), named


def notebook_of(assignment):
    """(a notebook in which every answer of the bank is given and tested in turn, what is locked in it, [(id of its
    test, question, words or None, idiom or words)])."""
    shared, named = student_cells(assignment)
    cells, locked, wanted = [], {"imports": LockedCell(assignment.cells["imports"], False)}, []

    def test(source):
        name = f"test{len(locked)}"
        locked[name] = LockedCell(source, True)
        cells.append(new_code_cell("", metadata={"nbgrader": {"grade_id": name}}))
        return name

    cells.append(new_code_cell("", metadata={"nbgrader": {"grade_id": "imports"}}))
    cells.append(new_code_cell(shared))
    cells += [new_code_cell(assignment.cells[question]) for question in assignment.questions]
    answers = [(question, words, at_once, answer) for question, words, at_once, answer in assignment.wrong] + \
              [(question, None, False, answer) for question, _, answer in assignment.right]
    for question, words, at_once, answer in answers:
        cells.append(new_code_cell(named(question, answer)))
        visible, hidden = test(assignment.cells[f"check_{question}"]), test(assignment.cells[f"more_{question}"])
        wanted += [(visible, question, answer, words if at_once else None), (hidden, question, answer, words and "")]
        cells.append(new_code_cell(assignment.cells[question]))
    return new_notebook(cells=cells), locked, wanted


@pytest.mark.parametrize("name", NAMES)
def test_the_bank_gets_the_same_marks_in_a_sandbox(name):
    notebook, locked, wanted = notebook_of(ASSIGNMENTS[name])
    outcome = run_notebook(notebook, locked, None, kind_or_skip(), LIMITS)
    assert outcome.state == "ran", outcome.notes
    outputs = {cell.metadata.nbgrader.grade_id: cell.outputs
               for cell in outcome.notebook.cells if "nbgrader" in cell.metadata}
    different = []
    for test, question, answer, words in wanted:
        errors = [" ".join(output.evalue.split()) for output in outputs[test] if output.output_type == "error"]
        if bool(errors) != (words is not None) or errors and words not in errors[0]:
            different.append((question, inspect.getsource(answer), words, errors))
    assert not different, "\n\n".join(f"{question}\n{source}{words!r}\n{errors}"
                                      for question, source, words, errors in different)
