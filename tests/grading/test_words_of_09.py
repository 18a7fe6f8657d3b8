"""Assignment 09's open task is judged by the line that its notebook shows."""

import itertools

import numpy as np

from coursegrade import check
from tests.grading.bank.assignments import ROOT, nbformat


def test_the_check_knows_the_line_of_the_notebook():
    cells = nbformat.read(ROOT / "solutions/09_slalom/09_slalom.ipynb", as_version=4).cells
    names = {"np": np, "itertools": itertools}
    for start in ("table = {", "def numbers_of(", "def line("):
        [source] = [cell.source for cell in cells if cell.source.startswith(start)]
        exec(source.partition("show.table(table")[0].partition("\n\n")[0], names)
    signs = check.slalom.signs
    document = ["good", "perfect", "not", "good", "awful"]
    np.testing.assert_allclose(names["line"](document), signs.line(document), atol=1e-12)
