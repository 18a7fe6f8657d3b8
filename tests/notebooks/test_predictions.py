"""A question that opens with *Predict first* is answered in a fold, and not by the text around it.

A learner's copy begins without results, so only the text can tell too early."""

import re
from itertools import takewhile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import notebooks
from tools.pace import counted

FOLD = re.compile(r"<details>.*?</details>", re.S)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")


def blocks(cells):
    """(kind, text) of every paragraph, fold and code cell in order; kinds: Q question, H heading, D fold, P other text,
    C code."""
    for cell in cells:
        if cell.cell_type == "code":
            yield "C", cell.source
            continue
        folds = FOLD.findall(cell.source)
        for text in re.split(r"\n\s*\n", FOLD.sub("\n\n\0\n\n", cell.source)):
            if text := text.strip():
                kind = "Q" if re.match(r"\W*Predict first", text) else "H" if re.match("#+ ", text) else "P"
                yield ("D", folds.pop(0)) if text == "\0" else (kind, text)


def numbers(texts):
    """The numbers with a decimal point or at least three digits: {".5", "1024"} of "2 texts, 0.5 of 1,024"."""
    found = {number.replace(",", "").lstrip("0") for number in NUMBER.findall(" ".join(texts).replace("{,}", ""))}
    return {number for number in found if "." in number or len(number) > 2}


def told_too_early(cells):
    """What is wrong with the questions of these cells, one line each; [] if nothing is."""
    parts, wrong = list(blocks(cells)), []
    for at, (kind, question) in enumerate(parts, start=1):
        if kind != "Q" or [kind for kind, _ in parts[at:at + 1]] == ["Q"]:     # of several in a row the last counts
            continue
        after = list(takewhile(lambda part: part[0] not in "QH", parts[at:]))
        answer = re.match("P*C*D", "".join(kind for kind, _ in after))
        if not answer or "<summary>Answer" not in after[answer.end() - 1][1]:
            wrong.append(f"put the answer in a fold before any text that follows the result: {question}")
            continue
        known = numbers(text for kind, text in parts[:at] if kind != "C")
        ends = parts[at + len(after):][:1]
        in_view = [text for kind, text in after if kind == "P"] + [text for kind, text in ends if kind == "H"]
        if said := numbers([after[answer.end() - 1][1]]) - known & numbers(in_view):
            wrong.append(f"the answer's {', '.join(sorted(said))} stands in view as well: {question}")
    return wrong


@pytest.mark.parametrize("path", notebooks.find(), ids=lambda path: path.stem)
def test_no_text_in_view_answers_a_question(path):
    cells = nbformat.read(path, as_version=4).cells
    assert sum(kind == "Q" for kind, _ in blocks(cells)) == counted(cells).predictions, "begin a paragraph with each"
    assert told_too_early(cells) == []


QUESTION = "*Predict first.* Of the 256 words, which share has an e: 0.4 or 0.7?"
ANSWER = "<details><summary>Answer</summary>\n\n.712, in 1,024 texts.\n</details>"


def lecture(*parts):
    """Cells of the texts given; what begins with print is code."""
    return [(new_code_cell if part.startswith("print") else new_markdown_cell)(part) for part in parts]


@pytest.mark.parametrize("parts", [
    (QUESTION, "print(share)", ANSWER, "So 0.7 it is."),
    (f"{QUESTION}\n\nEach counts once.\n\n{ANSWER}", "print(share)", "Of 256 words most."),
    (f"{QUESTION}\n\n{QUESTION}\n\nWrite two numbers down.", "print(1)", "print(2)", f"{ANSWER}\n\nThat is many."),
    ("In 1024 texts it is .712.", QUESTION, "print(share)", ANSWER, "So 0.712 of 1,024.", "## The next section")])
def test_an_answer_in_a_fold_passes(parts):
    assert told_too_early(lecture(*parts)) == []


@pytest.mark.parametrize("word, parts", [
    ("fold", (QUESTION, "print(share)", "Most words have one.")),                       # no fold
    ("fold", (QUESTION, "print(share)", f"Most words have one.\n\n{ANSWER}")),          # text comes first
    ("fold", (QUESTION, "print(share)", f"## Next\n\n{ANSWER}")),                       # in another section
    ("fold", (QUESTION, "print(share)", ANSWER.replace("Answer", "Hint"))),
    ("fold", (f"{QUESTION}\n\n{ANSWER}\n\n{QUESTION}", "print(share)", "Most words have one.")),
    (".712", (QUESTION, "print(share)", f"{ANSWER}\n\nIt is 0.712 here.")),             # behind the fold
    (".712", (f"{QUESTION}\n\nIt will be 0.712.\n\n{ANSWER}", "print(share)")),         # before it
    ("1024", (QUESTION, "print(share)", ANSWER, "## All 1,024 texts"))])                # in the next heading
def test_an_answer_in_view_is_refused(word, parts):
    assert [line for line in told_too_early(lecture(*parts)) if word in line]
