"""The audit's page: what it asks for, what it refuses."""

import json
from html.parser import HTMLParser

import pytest

from attention_questions.audit import QUESTIONS, write_audit, written_answers
from coursekit.explain import Attribution

ANSWERS = dict.fromkeys(QUESTIONS, "Ten words and no more, of which none says <anything>.\n\nTruly.")
SHOWN = {"A case": Attribution(["<b>", "film"], [1, -1], "by hand")}


def test_the_page_holds_all_of_it_and_escapes_it(tmp_path):
    write_audit(tmp_path / "audit.html", "Mine & yours", ANSWERS, SHOWN)
    page = (tmp_path / "audit.html").read_text(encoding="utf8")
    HTMLParser().feed(page)
    assert page.count("<h2>") == len(QUESTIONS) == page.count("&lt;anything&gt;.\n\nTruly.")
    assert "<h1>Mine &amp; yours</h1>" in page
    assert "<b></span>" not in page and "http" not in page and "<script" not in page and page.count("<figure>") == 1


def test_what_is_missing_or_too_long_is_named(tmp_path):
    first, second, *_ = QUESTIONS
    wrong = ANSWERS | {first: "short", second: "word " * 61, "Another": "ten " * 10}
    with pytest.raises(ValueError, match=r"The model \(1 word, 10 to 80\); The question \(61 .*'Another'"):
        write_audit(tmp_path / "audit.html", "Mine", wrong, SHOWN)
    for shown in ({}, {str(i): SHOWN["A case"] for i in range(5)}):
        with pytest.raises(ValueError, match="one to four"):
            write_audit(tmp_path / "audit.html", "Mine", ANSWERS, shown)
    assert not list(tmp_path.iterdir())


def saved(path, *cells):
    path.write_text(json.dumps({"cells": [dict(cell_type=kind, source=text.splitlines(True)) for kind, text in cells]}))
    return path


def test_answers_are_read_from_the_last_cell_that_has_them(tmp_path):
    def text(of):
        return "".join(f"### {k} · A heading\n\n{of} *{k}*,\non `two` lines.\n\n2 * 3 * 4.\n" for k in range(1, 8))

    template = "Copy this:\n```\n" + "".join(f"### {k} · A heading\n…\n" for k in range(1, 8)) + "```"
    path = saved(tmp_path / "mine.ipynb", ("markdown", template), ("markdown", text("Mine")), ("code", text("not")))
    assert written_answers(path) == {q: f"Mine {k}, on two lines.\n2 * 3 * 4." for k, q in enumerate(QUESTIONS, 1)}
    # the statement's template, in a fence, is no answer
    no_such = template + "\n" + text("Mine").replace("### ", "## ")
    for damaged in (template, no_such, text("Mine").replace("### 4", "#### 4"), text("Mine") + "### 8 · More\n",
                    "nothing"):
        with pytest.raises(ValueError, match="no cell with the headings"):
            written_answers(saved(path, ("markdown", damaged)))
    with pytest.raises(ValueError, match="there is no notebook .*yours.ipynb here"):
        written_answers(tmp_path / "yours.ipynb")
