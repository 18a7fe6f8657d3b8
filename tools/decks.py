"""A deck, read: the slides of docs/slides/NN.toml, looked over, and what each takes from a cell of its lecture.

docs/slides/README.md says what a slide may have; slides.py makes pages of it. Nothing is executed.
"""

import html
import re
import tomllib
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROOT = Path(__file__).resolve().parent.parent
DECKS = ROOT / "docs" / "slides"
FIELDS = {"title": str, "text": str, "cell": str, "box": str, "rows": str, "columns": str, "picture": bool,
          "code": bool, "predict": str, "answer": str, "notes": str}
MINUTES = re.compile(r"(Optional, )?(\d+) minutes?\b")   # how notes begin
LETTERS, LINES, COLUMNS, BULLETS = 60, 12, 70, 5        # of a title; of code; of a list
HEARD = r'<div class="heard">\1</div>'                  # what is there for screen readers alone


class DeckError(ValueError):
    """What is wrong with a deck, in one line that names the file and the slide."""


def names():
    """The lectures that have a deck: "02", "03b", …"""
    return sorted(path.stem for path in DECKS.glob("*.toml"))


def lecture(name):
    """The lecture of that number, as a notebook."""
    return nbformat.read(next((ROOT / "lectures").glob(f"{name}_*.ipynb")), as_version=4)


def deck(name):
    """The slides of docs/slides/NN.toml: dicts with the fields that its README tells, all of them looked over.

    DeckError: a field is missing, unknown, too long, or names a cell that the lecture does not have."""
    path = DECKS / f"{name}.toml"
    where = f"docs/slides/{name}.toml"
    if not path.exists():
        raise DeckError(f"{where}: there is no such file")
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DeckError(f"{where}: {error}") from None
    cells = {cell.id: cell for cell in lecture(name).cells}
    for number, slide in enumerate(read.get("slide", []), 2):           # the first is the title page
        try:
            look_over(slide, cells)
        except DeckError as error:
            raise DeckError(f"{where}, slide {number} ({slide.get('title', 'no title')}): {error}") from None
    return read["slide"]


def look_over(slide, cells):
    """Raise DeckError if the slide is not as it should be; cells: those of the lecture, by id."""
    for field, value in slide.items():
        if not isinstance(value, FIELDS.get(field, ())):
            raise DeckError(f"no such field, or not of this kind: {field}. There are {', '.join(FIELDS)}")
    for field in ("title", "notes"):
        if not slide.get(field, "").strip():
            raise DeckError(f"{field} is missing")
    if len(slide["title"]) > LETTERS:
        raise DeckError(f"the title has {len(slide['title'])} letters, at most {LETTERS} fit")
    if len(re.findall(r"^ *(?:[-*]|\d+\.) ", slide.get("text", ""), re.M)) > BULLETS:
        raise DeckError(f"more than {BULLETS} bullets")
    if "answer" in slide and "predict" not in slide:
        raise DeckError("an answer without predict")
    if not MINUTES.match(slide["notes"]):
        raise DeckError("the notes begin with “3 minutes”, or “Optional, 3 minutes” if the slide can be left out")
    if "cell" not in slide:
        if {"code", "box", "rows", "columns", "picture"} & set(slide):
            raise DeckError("code, box, rows, columns or picture, and no cell")
        return
    cell = cells.get(slide["cell"])
    if cell is None:
        raise DeckError(f"the lecture has no cell {slide['cell']}")
    if cell.cell_type == "markdown":
        if slide.get("code"):
            raise DeckError(f"cell {cell.id} is text: it has no code")
        if not boxes(cell.source, slide.get("box", "")):
            raise DeckError(f"cell {cell.id} has no box, formula or table{' of that name' * ('box' in slide)} to show")
    elif slide.get("code"):
        lines = cell.source.splitlines()
        if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
            raise DeckError(f"the code of cell {cell.id} has {len(lines)} lines of up to {max(map(len, lines))} "
                            f"letters, and {LINES} of {COLUMNS} fit")
    elif not shown(cell):
        raise DeckError(f"cell {cell.id} has no output to show")
    if {"rows", "columns"} & set(slide):
        chosen(shown(cell) if cell.cell_type == "code" else "", slide.get("rows", ""), slide.get("columns", ""))
    if slide.get("picture") and (cell.cell_type == "markdown" or "<img" not in shown(cell)):
        raise DeckError(f"picture, and cell {cell.id} shows none")


# What a slide takes from a cell

MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, allow_space=False, double_inline=True)


def boxes(source, name=""):
    """The boxes (`> …`) of a Markdown cell, those with `name` in their first line; of one without boxes, its displayed
    formulas and tables."""
    lines, found = source.splitlines(), {"blockquote_open": [], "else": []}
    for token in MARKDOWN.parse(source):
        if token.level == 0 and token.type in ("blockquote_open", "math_block", "table_open"):
            part = lines[slice(*token.map)]
            found["blockquote_open" if token.type == "blockquote_open" else "else"].append(part)
    parts = found["blockquote_open"] or found["else"]
    return "\n\n".join("\n".join(part) for part in parts if name in part[0])


def shown(cell):
    """What a code cell shows, as HTML; "" where it shows nothing. What it prints beside a picture or table is left out,
    and so is the note that stands for a control."""
    rich = [output.data["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})]
    plain = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    plain = [f"<pre>{html.escape(text.rstrip())}</pre>" for text in plain
             if text and not text.startswith("[A control:")]
    heard = re.compile(r"<details[^>]*><summary>.*?</summary>(.*?)</details>", re.S)         # a picture in words
    return "".join(f"<div>{heard.sub(HEARD, part)}</div>" for part in rich or plain)


def chosen(output, rows="", columns=""):
    """A table (HTML) with the first column, those columns whose heads have a match of `columns`, and those rows of
    which the words, joined by " | ", have a match of `rows`."""
    def cells(row):
        return re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.S)

    def words(cell):
        return html.unescape(re.sub("<.*?>", "", cell))

    lines = re.findall(r"<tr\b.*?</tr>", output, re.S)
    if not lines:
        raise DeckError("rows or columns, and the cell shows no table")
    kept = [i for i, head in enumerate(cells(lines[0])) if i == 0 or re.search(columns, words(head))]
    there = [line for line in lines[1:] if re.search(rows, " | ".join(map(words, cells(line))))]
    if len(kept) < 2 or not there:
        raise DeckError(f"no row {rows!r} or no column {columns!r} in the table")
    for line in lines:
        short = f"<tr>{''.join(cells(line)[i] for i in kept)}</tr>" if line in (lines[0], *there) else ""
        output = output.replace(line, short, 1)
    return output


def minutes(slides):
    """(minutes of the slides that are needed, of those that are optional), from the beginnings of their notes."""
    needed, optional = 0, 0
    for slide in slides:
        free, n = MINUTES.match(slide["notes"]).groups()
        needed, optional = (needed, optional + int(n)) if free else (needed + int(n), optional)
    return needed, optional
