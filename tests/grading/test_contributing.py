"""The example of CONTRIBUTING.md, "A question", is true: its check says what is printed there, and its tests hold."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from coursegrade import check
from tests.grading.bank import entries
from tools.exercises import solution

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ANSWER, QUESTION, CALL, BANK, HIDDEN = re.findall(r"^```python\n(.*?)^```", TEXT.partition("## A question")[2],
                                                  re.S | re.M)
[SAID] = re.findall(r"^```text\n(.*?)^```", TEXT.partition("## A question")[2], re.S | re.M)


@pytest.fixture
def names(monkeypatch, tmp_path):
    """What the example defines, made as its assignment would be, and its bank in two lists."""
    monkeypatch.setattr(entries, "WRONG", [])
    monkeypatch.setattr(entries, "RIGHT", [])
    cells = {"imports": "import torch\n\nfrom coursegrade import check", "row_means": ANSWER}
    notebook = new_notebook(cells=[new_code_cell(source, metadata={"nbgrader": {"grade_id": name}})
                                   for name, source in cells.items()])
    folder = tmp_path / "sixteen_means"
    folder.mkdir()
    (folder / "solution.py").write_text(solution(notebook, "16_means"), encoding="utf-8")
    (folder / "__init__.py").write_text(QUESTION, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = dict(vars(importlib.import_module("sixteen_means")))
    exec(BANK, found)
    return found


def hidden(names, answer):
    topic = SimpleNamespace(row_means=names["row_means"])
    exec(HIDDEN, names | {"check": SimpleNamespace(means=topic, unseen=check.unseen), "row_means": answer})


def test_the_check_says_what_is_printed(names):
    with pytest.raises(check.CheckFailed) as failure:
        exec(CALL, names)
    assert str(failure.value) == SAID.rstrip("\n")


def test_wrong_answers_are_told_so_and_right_ones_pass(names):
    wrong = names["row_means"].wrong_answers() + [(words, answer) for _, words, _, answer in entries.WRONG]
    assert len(wrong) == 4 and len(entries.RIGHT) == 1
    for words, answer in wrong:
        with pytest.raises(check.CheckFailed, match=re.escape(words)):
            names["row_means"](answer)
        with pytest.raises(check.CheckFailed):
            hidden(names, answer)
    for answer in [names["row_means"].reference, *(answer for _, _, answer in entries.RIGHT)]:
        names["row_means"](answer)
        hidden(names, answer)


def test_files_and_tests_that_it_names_are_there():
    named = re.findall(r"`((?:tests|tools|coursekit|coursegrade|docs|\.ci)/[\w./]*)`", TEXT)
    assert len(named) > 15 and not [path for path in named if not (ROOT / path).exists()
                                    and not path.endswith("16_means.py")]
