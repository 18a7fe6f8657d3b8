"""Twelve people hand in assignment 02 on Canvas, and a thirteenth does not."""

import copy
import json
import zipfile
from typing import NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.grading.classroom import HOSTILE, at, grade_id

NAME = "02_attention"
POINTS = {"softmax": 2, "self_attention": 4, "multi_head": 4, "fold": 5, "my_experiment": 3, "they_disagree": 1,
          "look_up": 1, "masked_weights": 1, "cross_attention": 1}
ALL, TEXT = sum(POINTS.values()), "reading_attention"
WAITS = "needs manual grading"
WRONG = "def softmax(u, axis):\n    return torch.exp(u) / torch.exp(u).sum()"
ENDLESS = "def softmax(u, axis):\n    while True:\n        pass"


def solved(released, solution, *questions, text=False):
    """What students get, with the solution's answers to some questions, and to the text if wanted."""
    made = copy.deepcopy(released)
    for name in [*questions, *[TEXT] * text]:
        lines = solution.cells[at(solution, name)].source.splitlines()
        made.cells[at(made, name)].source = "\n".join(line for line in lines if "### " not in line)
    return made


def with_answer(notebook, source, place="softmax"):
    """With another answer to a question."""
    notebook.cells[at(notebook, place)].source = source
    return notebook


def without_checks(notebook):
    """Somebody has thrown away all checks, and put a cell that is no Python on top."""
    notebook.cells = [cell for cell in notebook.cells if not str(grade_id(cell)).startswith(("check_", "more_"))]
    notebook.cells.insert(0, new_code_cell("this is no Python"))
    return notebook


class Student(NamedTuple):
    """number: Canvas's; entry: the name of what was handed in, as Canvas gives it; work: a notebook, bytes, or None.
    state and points: those before a person has read the text."""

    id: str
    first: str
    last: str
    number: int
    entry: str
    work: object
    state: str
    points: int | None


def class_of_twelve(released, solution):
    """[Student] of a class that was given the notebook `released`."""
    def work(*questions, text=False):
        return solved(released, solution, *questions, text=text)

    half, mine = ["softmax", "look_up", "self_attention"], f"{NAME}.ipynb"
    few = sum(POINTS[name] for name in half)
    people = [
        ("jdoe", "Jane", "Doe", mine, work(*POINTS, text=True), WAITS, ALL),                     # late, says Canvas
        ("squinn", "Sam", "Quinn", f"{NAME}-1.ipynb", work(*POINTS, text=True), WAITS, ALL),     # has more time
        ("half", "Ada", "Half", mine, work(*half, text=True), WAITS, few),
        ("wrong", "Bo", "Wrong", mine, with_answer(work(), WRONG), "graded", 0),
        ("empty", "Cy", "Empty", mine, released, "graded", 0),
        ("cut", "Di", "Cut", mine, json.dumps(work(*POINTS))[:5000].encode(), "rejected", None),
        ("paper", "Ed", "Paper", "answers.pdf", b"%PDF-1.7", "rejected", None),
        ("other", "Flo", "Other", mine, new_notebook(cells=[new_code_cell("1 + 1")]), "rejected", None),
        ("typo", "Gil", "Typo", mine, with_answer(work(*POINTS), "def fold(", "fold"), "graded", ALL - POINTS["fold"]),
        ("tidy", "Hal", "Tidy", "my answers.ipynb", without_checks(work(*POINTS)), "graded", ALL),
        ("sly", "Ivy", "Sly", mine, with_answer(work(*half), HOSTILE + WRONG), "graded", few - POINTS["softmax"]),
        ("loop", "Jo", "Loop", mine, with_answer(work(*half), ENDLESS), "graded", few - POINTS["softmax"]),
        ("absent", "Kim", "Absent", "", None, "missing", None)]
    return [Student(name, first, last, 4711 + i,
                    f"{(last + first).lower()}{'_LATE' * (name == 'jdoe')}_{4711 + i}_{9911 + i}_{file}", *rest)
            for i, (name, first, last, file, *rest) in enumerate(people)]


def download(people, path):
    """Write the zip file that Canvas would give."""
    with zipfile.ZipFile(path, "w") as archive:
        for student in people:
            if student.work is not None:
                archive.writestr(student.entry, student.work if isinstance(student.work, bytes) else
                                 nbformat.writes(student.work))
