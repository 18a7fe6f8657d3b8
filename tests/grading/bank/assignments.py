"""The assignments, each with its cells and its bank: for test_bank.py, and for test_bank_sandboxed.py."""

import importlib.util
import re
from pathlib import Path

import nbformat

from coursegrade import check
from coursegrade.kit.score import questions
from tests.grading.bank import entries

ROOT = Path(__file__).parents[3]
NAMES = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir())
# What is said of answers that never end, or not in a lifetime.
ENDLESS = re.compile(r"has not come back|never get on|for ever\b|does it stop when|`for` loop over n tokens is|"
                     r"too many to|There are 2\^59 sets")
HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", re.S)


def asked_in(name):
    """The names of an assignment's questions, in order. (Its bank is not loaded for that.)"""
    topic = name.partition("_")[2]
    getattr(check, topic)                                               # announces its questions
    return [question.name for question in questions(topic)]


class Assignment:
    """A notebook's cells by grade_id, and its bank."""

    def __init__(self, name):
        notebook = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4)
        self.name, self.topic = name, name.partition("_")[2]
        self.cells = {cell.metadata.nbgrader.grade_id: cell.source
                      for cell in notebook.cells if "nbgrader" in cell.metadata}
        self.statements = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
        self.questions = asked_in(name)
        self.reference = {}
        given = [cell.source for cell in notebook.cells if "given" in cell.metadata.get("tags", [])]
        for source in [self.cells["imports"], *given, *map(self.cells.get, self.questions)]:
            exec(source, self.reference)
        self.wrong, self.right = self._bank(name)

    def _bank(self, name):
        entries.WRONG.clear(), entries.RIGHT.clear()
        spec = importlib.util.spec_from_file_location(f"bank_{name}", Path(__file__).with_name(f"{name}.py"))
        bank = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bank)
        for question in self.questions:
            if hasattr(bank, question):                                 # what later answers build on
                setattr(bank, question, self.reference[question])
        return list(entries.WRONG), list(entries.RIGHT)

    def check_of(self, question):
        """The `Question` of that name."""
        return getattr(getattr(check, self.topic), question)

    def wrong_answers(self, question):
        """[(words, does the visible check see it?, answer)] of the bank."""
        return [entry[1:] for entry in self.wrong if entry[0] == question]

    def right_answers(self, question):
        """[(idiom, answer)] of the bank."""
        return [entry[1:] for entry in self.right if entry[0] == question]

    def visible(self, question, answer):
        exec(self.cells[f"check_{question}"], {"check": check, question: answer})

    def hidden(self, question, answer):
        if f"more_{question}" not in self.cells:                        # an open task: what is handed in is the input
            return self.visible(question, answer)
        namespace = {}
        exec(self.cells["imports"], namespace)
        exec(HIDDEN.search(self.cells[f"more_{question}"])[1], namespace | {question: answer})


class Assignments(dict):
    """{name: Assignment}, each loaded when it is asked for."""

    def __missing__(self, name):
        self[name] = Assignment(name)
        return self[name]


ASSIGNMENTS = Assignments()
