"""Pages to print: they are those of the tool, notes lead to them, and they hold what the lectures need. How many pages
of A4 each takes is tried in tests/browser/test_paper.py."""

import re
from collections import Counter

import pytest

from tools import decks, paper, tables

SHEETS = paper.sheets()


def parts(name):
    """The words on the parts of a page."""
    return [tables.words(part) for part in re.findall("<div>(.*?)</div>", SHEETS[name], re.S)]


def test_what_is_committed_is_what_the_tool_makes():
    assert {path.stem: path.read_text(encoding="utf-8") for path in paper.PRINT.glob("*.html")} == SHEETS, (
        "python -m tools.paper")


def test_every_page_is_asked_for_and_every_page_asked_for_is_there():
    pages = [*paper.ROOT.glob("docs/notes/*.md"), *paper.ROOT.glob("docs/*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    assert {name for text in texts for name in re.findall(r"\]\((?:\.\./)?print/(\w+)\.html\)", text)} == set(SHEETS)


@pytest.mark.parametrize("path", sorted(paper.ROOT.glob("docs/notes/*.md")), ids=lambda path: path.stem)
def test_who_asks_for_something_printed_leads_to_its_page(path):
    bring = "".join(re.findall(r"\*\*Bring\.\*\*.*?\n\n", path.read_text(encoding="utf-8"), re.S))
    if re.search(r"\b(tiles|slips|cards|strip of paper)\b", bring, re.I):
        assert "../print/" in bring


def test_slips_are_the_tokens_of_the_lecture():
    [alt] = [one for one in re.findall(r'alt="(leave-one-out: Bar chart.*?)"', str(decks.lecture("07").cells))]
    assert parts("slips") == [word for word, _ in tables.table(f'<img alt="{alt}">')[1:]]


def test_tiles_suffice_for_each_word_of_the_lecture():
    text = str(decks.lecture("11").cells)
    for pair in (parts("tiles")[:16], parts("tiles")[16:]):
        for word in paper.WORDS:
            assert word in text and Counter(word) <= Counter(pair)


def test_brackets_are_those_of_the_notes_and_the_review_that_of_the_lecture():
    assert "".join(parts("brackets"))[:-1] == paper.STRING
    assert f"`{paper.STRING}`" in (paper.ROOT / "docs" / "notes" / "12.md").read_text(encoding="utf-8")
    assert all(review.startswith("I wanted to love this film.") for review in parts("review"))
    assert parts("cards") == list("ABCD")
