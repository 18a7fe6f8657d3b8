"""The example of CONTRIBUTING.md, "An exercise", is true: its check says what is printed there, and its tests hold."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from coursegrade import check
from tests.grading.bank import entries

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUESTION, CALL, BANK, HIDDEN = re.findall(r"^```python\n(.*?)^```", TEXT.partition("## An exercise")[2], re.S | re.M)
[SAID] = re.findall(r"^```text\n(.*?)^```", TEXT.partition("## An exercise")[2], re.S | re.M)


@pytest.fixture
def names(monkeypatch):
    """What the example defines, and its bank in two lists."""
    monkeypatch.setattr(entries, "WRONG", [])
    monkeypatch.setattr(entries, "RIGHT", [])
    found = {}
    exec(QUESTION, found)
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
    for _, _, answer in entries.RIGHT:
        names["row_means"](answer)
        hidden(names, answer)
