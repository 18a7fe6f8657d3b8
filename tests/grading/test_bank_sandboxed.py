"""The bank once more, as submissions are marked: answers in a sandbox, tests outside. The marks must be the same.

A commit tries the assignments that it changes, and four that are drawn anew with each, or all if it changes the sandbox
or what checks are made of: all their right answers, and of the wrong ones a sample, one for each way in which something
travels between the two (`WAYS`), and two that are drawn. `make test-all` tries every answer.
"""

import ast
import inspect
import random
import re
import textwrap
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from coursegrade.marking.cells import LockedCell
from coursegrade.marking.execute import run_notebook
from coursegrade.sandbox.process import Limits
from tests.drawn import commit, sampled, touches
from tests.grading.bank.assignments import ASSIGNMENTS, ENDLESS, NAMES

DRAWN = len(NAMES) if touches("coursegrade/sandbox/", "coursegrade/kit/") else 4          # assignments
LIMITS = Limits(call=5, submission=1000)
SHORT = Limits(call=1, submission=1000)                                 # for answers that never come back
WAYS = {                                                                # what is said of an answer …
    "exception": re.compile(r"A tuple can: |`is not None` asks|has this model that many|do not fit|refuses to choose"),
    "changed argument": re.compile("changes what it is given"),
    "endless": ENDLESS,
    "no data": re.compile(r"got a (function|generator|map|dict_keys|range)|came back is a function"),
    "callback": re.compile(r"\w takes (a|one|at most|three) |got a (single|tensor)"),  # by a function of the check's
    "forbidden call": re.compile(r"\bcalls (torch|coursekit)\."),
}


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


def sample(assignment, seed):
    """Of an assignment's wrong answers, one for each of WAYS that has one, and two drawn by the seed (a text)."""
    draw, order = random.Random(seed), list(assignment.wrong)
    draw.shuffle(order)
    chosen = order[:2]
    for said in WAYS.values():
        chosen += [entry for entry in order if said.search(entry[1])][:1]
    return [entry for entry in assignment.wrong if entry in chosen]


def notebook_of(assignment, wrong, right):
    """(a notebook in which these answers are given and tested in turn, what is locked in it, [(id of a test, question,
    answer, the words that it must say, or None if it must pass)])."""
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
    answers = [(question, words, at_once, answer) for question, words, at_once, answer in wrong] + \
              [(question, None, False, answer) for question, _, answer in right]
    for question, words, at_once, answer in answers:
        cells.append(new_code_cell(named(question, answer)))
        wanted.append((test(assignment.cells[f"check_{question}"]), question, answer, words if at_once else None))
        if more := assignment.cells.get(f"more_{question}"):                # an open task has no hidden tests
            wanted.append((test(more), question, answer, words and ""))
        cells.append(new_code_cell(assignment.cells[question]))
    return new_notebook(cells=cells), locked, wanted


def mark(assignment, wrong, right, limits, kind):
    """Run these answers in a sandbox; what is said of those that it says something else of than the bank, as text."""
    notebook, locked, wanted = notebook_of(assignment, wrong, right)
    outcome = run_notebook(notebook, locked, None, kind, limits)
    assert outcome.state == "ran", outcome.notes
    outputs = {cell.metadata.nbgrader.grade_id: cell.outputs
               for cell in outcome.notebook.cells if "nbgrader" in cell.metadata}
    different = []
    for test, question, answer, words in wanted:
        errors = [" ".join(output.evalue.split()) for output in outputs[test] if output.output_type == "error"]
        if bool(errors) != (words is not None) or errors and words not in errors[0]:
            different.append(f"{question}\n{inspect.getsource(answer)}{words!r}\n{errors}")
    return "\n\n".join(different)


def mark_all(assignment, wrong, right, kind):
    """`mark`, with short limits for those that never come back."""
    endless = [entry for entry in wrong if ENDLESS.search(entry[1])]
    different = mark(assignment, [entry for entry in wrong if entry not in endless], right, LIMITS, kind)
    assert not different, different
    different = endless and mark(assignment, endless, [], SHORT, kind)
    assert not different, different


@pytest.mark.parametrize("name", sampled(NAMES, DRAWN, "sandboxed"))
def test_a_sample_of_the_bank_gets_the_same_marks_in_a_sandbox(name, sandbox):
    assignment = ASSIGNMENTS[name]
    mark_all(assignment, sample(assignment, commit() + name), assignment.right, sandbox)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_bank_gets_the_same_marks_in_a_sandbox(name, sandbox):
    mark_all(ASSIGNMENTS[name], ASSIGNMENTS[name].wrong, ASSIGNMENTS[name].right, sandbox)


@pytest.mark.parametrize("way", WAYS)
def test_of_each_way_to_travel_there_is_an_answer(way):
    assert any(WAYS[way].search(words) for name in NAMES for _, words, *_ in ASSIGNMENTS[name].wrong)
