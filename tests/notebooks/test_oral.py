"""docs/oral.md: thirty questions of one form, and tables whose numbers their lectures have printed."""

import re

import nbformat
import pytest

from tools import notebooks

TEXT = (notebooks.ROOT / "docs" / "oral.md").read_text(encoding="utf8")
LEVELS = re.split(r"^## Level \d: ", TEXT, flags=re.M)[1:]
QUESTIONS = re.findall(r"^### (\d+)\. ([^\n]+) \(\[(\w+)\]\(\.\./(lectures/\w+\.ipynb)\)\)\n(.*?)(?=^##|\Z)", TEXT,
                       re.M | re.S)


def numbers(text):
    """The numbers of a text as they are written, without + and with a 0 before the point."""
    found = re.findall(r"(?<![\w.])[+−-]?(?:\d+\.?\d*|\.\d+)(?:e-\d+)?", text.replace(",", " "))
    return [re.sub(r"^(-?)\.", r"\g<1>0.", one.replace("−", "-").lstrip("+")) for one in found]


def printed(path):
    """All that the lecture's cells have printed."""
    cells = nbformat.read(notebooks.ROOT / path, as_version=4).cells
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "")
                     for cell in cells if cell.cell_type == "code" for output in cell.outputs)


def test_thirty_questions_in_three_levels():
    assert [int(number) for number, *_ in QUESTIONS] == [*range(1, 31)]
    assert [len(re.findall(r"^### ", level, re.M)) for level in LEVELS] == [10, 10, 10]
    assert [level.splitlines()[0] for level in LEVELS] == ["says it", "derives it", "criticises a table"]
    assert len(TEXT.split()) <= 2600
    assert len({lecture for _, _, lecture, *_ in QUESTIONS}) >= 15


@pytest.mark.parametrize("number, lecture, path, answer", [(one[0], *one[2:]) for one in QUESTIONS])
def test_each_has_what_is_expected_and_one_question_more(number, lecture, path, answer):
    assert notebooks.number(notebooks.ROOT / path) == lecture and (notebooks.ROOT / path).exists()
    assert re.findall(r"\*\*(Expected|Up|Down|Then):\*\*", answer) == ["Expected", "Up", "Down", "Then"]
    assert answer.rpartition("**Then:**")[2].strip().endswith(("?", ".")) and (int(number) > 20) == ("\n|" in answer)


@pytest.mark.parametrize("lecture, path, answer", [one[2:] for one in QUESTIONS[20:]])
def test_the_numbers_of_a_table_are_the_lecture_s(lecture, path, answer):
    rows = "\n".join(re.findall(r"^\|.*\|$", answer, re.M))
    assert re.search(r"\*Offered:\* “.+”", answer, re.S) and len(numbers(rows)) >= 4
    known = {*numbers(printed(path))}
    assert not [one for one in numbers(rows) if one not in known], f"lecture {lecture} does not print these"
