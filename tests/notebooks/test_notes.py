"""A lecture's notes for teachers: their minutes are those of its sections as they are."""

import re

import nbformat
import pytest

from tools import notebooks, pace

NOTES = notebooks.ROOT / "docs" / "notes"
LECTURES = {notebooks.number(path): path for path in notebooks.find()}
THERE = sorted(path.stem for path in NOTES.glob("*.md"))


def test_every_lecture_has_its_notes_and_nothing_else_lies_there():
    assert sorted(path.name for path in NOTES.iterdir()) == sorted(f"{number}.md" for number in LECTURES)


@pytest.mark.parametrize("number", THERE)
def test_the_minutes_are_those_of_the_lectures_sections(number):
    text = (NOTES / f"{number}.md").read_text(encoding="utf8")
    told = [(heading.strip(), int(minutes)) for heading, minutes in re.findall(r"^\| (.+) \| (\d+) \|$", text, re.M)]
    known = pace.sections(nbformat.read(LECTURES[number], as_version=4))
    see = f"copy the table that .venv/bin/python -m tools.pace {number} prints into docs/notes/{number}.md"
    assert [heading for heading, _ in told] == [heading for heading, _ in known], see
    assert all(abs(a - b) <= 2 for (_, a), (_, b) in zip(told, known, strict=True)), see


@pytest.mark.parametrize("number", THERE)
def test_notes_say_the_aim_what_goes_wrong_and_what_to_ask(number):
    text = (NOTES / f"{number}.md").read_text(encoding="utf8")
    parts = re.split(r"^## ", text, flags=re.M)
    assert "**Aim.**" in parts[0]
    assert [part.splitlines()[0] for part in parts[1:]] == ["Minutes", "What goes wrong", "Questions to ask"]
    assert len(re.findall(r"^- \*\*", parts[2], re.M)) >= 3 and len(re.findall(r"^\d\. ", parts[3], re.M)) >= 3
