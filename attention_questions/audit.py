"""An audit of an explanation, on two pages: questions to be answered, in so many words, and what was measured."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursekit.show.html import escape

# What an audit says, in this order, and in how many words at most.
QUESTIONS = {"The model: what it reads, what it says, how good it is, and whom it concerns": 80,
             "The question: who asks for an explanation, and what for": 60,
             "The explainers: which, with which settings, and why these": 80,
             "What the table shows: which are faithful, steady and short, and how sure that is": 120,
             "A case that is explained well, and one that is not": 100,
             "What this audit cannot tell, and what would change my mind": 80,
             "Advice: may this explanation be shown, to whom, with which warning": 60}
FENCED = re.compile(r"^```.*?^```[ \t]*$", re.M | re.S)
STYLE = ("@page{size:A4;margin:15mm}body{font:10pt/1.35 sans-serif;max-width:180mm;margin:auto;color-scheme:light;"
         "background:#fff;color:#111}h1{font-size:15pt}h2{font-size:10.5pt;margin:8pt 0 2pt}"
         "p{margin:0;white-space:pre-wrap}figure{margin:6pt 0;break-inside:avoid;font-size:85%}"
         "img{max-width:100%;max-height:75mm}table{font-size:85%}")


def written_answers(path: str | Path) -> dict[str, str]:
    """{question: text} of all `QUESTIONS`, as they stand in a saved notebook: in its last Markdown cell with a heading
    that begins with "### 1", each text behind its heading, "### 1 …" to "### 7 …". What stands in a fence (```), as the
    statement's template does, is no answer. Lines of a paragraph are joined, as Markdown does, and the marks of
    *emphasis* and `code` left out.

    Raises ValueError, in one line, where there is no such notebook, no such cell, or a heading is missing.

    >>> import tempfile
    >>> text = "".join(f"### {k} · Heading\\n\\nAnswer {k}.\\n" for k in range(1, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.ipynb")
    ...     n = path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": text}]}))
    ...     list(written_answers(path).values())[6]
    'Answer 7.'
    """
    if not Path(path).is_file():
        raise ValueError(f"there is no notebook {path} here: has yours another name? Put that in its place")
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    texts = [FENCED.sub("", "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
    parts = next((re.split(r"^### (\d).*$", text, flags=re.M)[1:] for text in reversed(texts)
                  if re.search(r"^### 1\b", text, re.M)), [])
    if parts[::2] != [str(k + 1) for k in range(len(QUESTIONS))]:
        raise ValueError(f"{path} has no cell with the headings ### 1 to ### {len(QUESTIONS)}, each once and in order: "
                         "copy them from the statement, and save the notebook (is it this file that you write in?)")
    return dict(zip(QUESTIONS, map(_plain, parts[1::2]), strict=True))


def _plain(markdown):
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", markdown.strip())]
    return re.sub(r"(\*\*?|`)(\S[^*`]*)\1", r"\2", "\n".join(paragraphs))


def write_audit(path: str | Path, title: str, answers: Mapping[str, str], shown: Mapping[str, Any]) -> None:
    """Write the audit as one HTML file, to be read anywhere and printed on two pages of A4.

    answers: {question: text}, of all `QUESTIONS`; shown: {caption: what a notebook can show}, the table of `report`
    and at most three more. Raises ValueError, in one line, for what is missing, and for what is too long.

    >>> write_audit("audit.html", "An audit", {}, {})                     # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: not there yet: ...
    """
    lengths = {question: len(answers.get(question, "").split()) for question in QUESTIONS}
    wrong = [f"{question.partition(':')[0]} ({lengths[question]} word{'s' * (lengths[question] != 1)}, 10 to {most})"
             for question, most in QUESTIONS.items() if not 10 <= lengths[question] <= most]
    wrong += [f"no question of the audit: {name!r}" for name in answers if name not in QUESTIONS]
    if wrong or not 1 <= len(shown) <= 4:
        raise ValueError(f"not there yet: {'; '.join(wrong) or 'show one to four results'}")
    parts = [f"<h2>{escape(question)}</h2><p>{_lines(answers[question])}</p>" for question in QUESTIONS]
    parts += [f"<figure>{thing._repr_html_()}<figcaption>{escape(name)}</figcaption></figure>"
              for name, thing in shown.items()]
    Path(path).write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
                          f"<style>{STYLE}</style><h1>{escape(title)}</h1>{''.join(parts)}</html>", encoding="utf8")


def _lines(text):
    return "\n".join(map(escape, text.strip().splitlines()))
