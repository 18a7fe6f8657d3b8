"""Assignment 10's open task is judged by the words that its notebook shows, and by the same exact values."""

import itertools
import math

import numpy as np
import pytest

from coursegrade import check
from tests.grading.bank.assignments import ASSIGNMENTS, ROOT, nbformat


def test_the_check_knows_the_words_and_both_tests_of_the_notebook(capsys):
    cells = nbformat.read(ROOT / "solutions/10_debate/10_debate.ipynb", as_version=4).cells
    [source] = [cell.source for cell in cells if cell.source.startswith("table = {")]
    [bounds] = [cell.source for cell in cells if cell.source.startswith("def bounds(")]
    names = {"np": np, "math": math, "itertools": itertools, "display": print,
             "show": type("show", (), {"table": lambda rows, *more: rows}), **{
                 name: ASSIGNMENTS["10_debate"].reference[name] for name in ("tau", "farthest")}}
    exec(bounds.partition("epsilons =")[0] + source, names)
    assert names["table"] == check.debate.documents.WORDS
    capsys.readouterr()
    names["both_tests"](document := ["awful", "but", "good", "plot", "great", "dull"])
    tau, js = check.debate.documents.tests(document)
    assert f"τ = {tau:.3f}, JS = {js:.3f}" in capsys.readouterr().out
    s, y = np.array([names["table"][word] for word in document]).T
    assert names["shapley"](s, y).sum() == pytest.approx(np.exp(s) / np.exp(s).sum() @ y)
