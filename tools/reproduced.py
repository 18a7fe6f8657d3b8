"""The page docs/reproduced.md: `python -m tools.reproduced` makes it of tools/reproduced.toml and of the kept results.

In the text of the data {slalom_table6: bert, 1 | SLALOM | usual} stands for a cell of a result's table: the one row
that has these labels, and a column's name. {range of slalom_table6: SLALOM | usual} is the smallest and the largest
number that such rows have there, {lecture 08: first slip} a link to the one section of a lecture whose heading has
these words. What cannot be found, or not only once, is an error in one line.
"""

import json
import re
import sys
import tomllib

from coursekit.results import result_of
from tools.notebooks import ROOT, find

DATA, PAGE = ROOT / "tools" / "reproduced.toml", ROOT / "docs" / "reproduced.md"
COLUMNS = "what the paper says", "paper", "ours", "the authors' public code", "verdict", "why"
VERDICTS = "reproduces", "half", "does not", "re-derived", "out of reach"
REFERENCE = re.compile(r"\{(range of |lecture )?([\w/]+): ([^{}]+)\}")


def cell(name, labels, column, several=False):
    """The texts that the rows with these labels have in a column of a result, one unless `several`.
    Raises ValueError, in one line."""
    result, where = result_of(name), f"{{{name}: {' | '.join([*labels, column])}}}"
    if result is None or column not in result["columns"]:
        raise ValueError(f"{where}: no such result" if result is None else
                         f"{where}: its columns are {', '.join(result['columns'])}")
    at = result["columns"].index(column)
    rows = [row for row in result["rows"] if not {*labels} - {str(each) for each in row} and row[at] is not None]
    if not rows or len(rows) > 1 and not several:
        raise ValueError(f"{where}: {len(rows)} rows of the table have these labels and a number there")
    return [str(row[at]) for row in rows]


def span(texts):
    """The smallest and the largest of numbers that stand at the beginning of texts.

    >>> span(["0.34 ± 0.06", "-0.1 ± 0.02", "0.32"])
    '−0.1 to 0.34'
    """
    numbers = sorted((text.split()[0] for text in texts), key=float)
    return " to ".join(dict.fromkeys((numbers[0], numbers[-1]))).replace("-", "−")


def link(lecture, words):
    """A link to a lecture that names one of its sections. Raises ValueError, in one line."""
    [path] = find(lecture)
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    headings = re.findall(r"^## \d+ · (.+)$", "\n".join("".join(each["source"]) for each in cells), re.M)
    found = [heading for heading in headings if words in heading]
    if len(found) != 1:
        raise ValueError(f"{{lecture {lecture}: {words}}}: {len(found)} of its sections are called so: "
                         f"{'; '.join(headings)}")
    return f"[{lecture}, *{found[0]}*](../lectures/{path.name})"


def filled(text):
    """A text with what its references stand for."""
    def told(found):
        kind, name, rest = found.groups()
        if kind == "lecture ":
            return link(name, rest)
        *labels, column = [part.strip() for part in rest.split(" | ")]
        texts = cell(name, labels, column, several=bool(kind))
        return span(texts) if kind else texts[0].replace("-", "−")
    return REFERENCE.sub(told, text)


def table(columns, rows):
    """A table in Markdown; newlines of the data are spaces."""
    return "\n".join(f"| {' | '.join(' '.join(each.split()) for each in row)} |"
                     for row in [columns, ["---"] * len(columns), *rows])


def row_of(claim):
    """The cells of a claim: what it is called in the paper, in bold, before what it says."""
    return [f"**{', '.join(claim['of'])}**: {claim['says']}",
            *(claim.get(key, "–") for key in ("paper", "ours", "code")), f"**{claim['verdict']}**", claim["why"]]


def count(claims):
    """How many rows have each verdict, in a sentence."""
    found = [claim["verdict"] for claim in claims]
    each = ", ".join(f"{verdict} {found.count(verdict)}" for verdict in VERDICTS)
    return f"Rows below: {len(found)} ({each})."


def page():
    """The whole page, from the data."""
    data = tomllib.loads(DATA.read_text(encoding="utf8"))
    told = count([claim for part in data["part"] for claim in part.get("claim", [])])
    parts = [f"# {data['title']}", data["intro"].replace("{count}", told)]
    for part in data["part"]:
        parts += [f"## {part['title']}", part.get("intro", "")]
        parts += [table(COLUMNS, map(row_of, part["claim"]))] if "claim" in part else []
        for one in part.get("table", []):
            parts += [f"**{one['title']}**", table(one["columns"], one["rows"]), one.get("below", "")]
        parts += [part.get("outro", "")]
    return filled("\n\n".join(part.strip() for part in parts if part.strip())) + "\n"


if __name__ == "__main__":
    try:
        PAGE.write_text(page(), encoding="utf8")
    except ValueError as error:
        sys.exit(str(error))
