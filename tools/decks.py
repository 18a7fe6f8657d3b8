"""A deck, read: the slides of docs/slides/NN.toml, looked over, and what each takes from a cell of its lecture.

docs/slides/README.md says what a slide may have; slides.py makes pages of it. Nothing is executed.
"""

import ast
import html
import re
import tomllib
import zlib
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from . import charts
from .tables import cells as cells_of
from .tables import words

ROOT = Path(__file__).resolve().parent.parent
DECKS = ROOT / "docs" / "slides"
FIELDS = {"title": str, "text": str, "cell": str, "box": str, "rows": str, "columns": str, "picture": bool,
          "draw": str, "axis": (list, str), "code": (bool, str), "predict": str, "choices": list, "right": str,
          "answer": str, "notes": str}
POINTS = re.compile(r"(?<![Ff]rom )\b(?:above|below)\b(?! (?:\d|[.−$-]|one half|zero|chance))|\b[Tt]his section\b"
                    r"|(?<!\d, )\b[Ss]ections? \d+|\bprevious\b")            # words that point out of a box
MINUTES = re.compile(r"(Optional, )?(\d+) minutes?\b")   # how notes begin
LETTERS, LINES, COLUMNS, BULLETS = 60, 12, 96, 5        # of a title; of code; of a list
PROMISE, BREATH, CORE, FIGURES = 30, 45, 75, 1 / 2      # words of a promise, of a title page; minutes; of all slides
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
    return read(name)["slide"]


def read(name):
    """What a deck's file says, looked over: its slides, and its promise where it has one."""
    path = DECKS / f"{name}.toml"
    where = f"docs/slides/{name}.toml"
    if not path.exists():
        raise DeckError(f"{where}: there is no such file")
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DeckError(f"{where}: {error}") from None
    cells = {cell.id: cell for cell in lecture(name).cells}
    if set(told) - {"slide", "promise"} or len(str(told.get("promise", "")).split()) > PROMISE:
        raise DeckError(f"{where}: above the slides stands promise, at most {PROMISE} words, and nothing else")
    for number, slide in enumerate(told.get("slide", []), 2):           # the first is the title page
        try:
            look_over(slide, cells)
        except ValueError as error:
            raise DeckError(f"{where}, slide {number} ({slide.get('title', 'no title')}): {error}") from None
    return told


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
    if {"choices", "right"} & set(slide):
        look_over_choices(slide)
    if not MINUTES.match(slide["notes"]):
        raise DeckError("the notes begin with “3 minutes”, or “Optional, 3 minutes” if the slide can be left out")
    if "cell" not in slide:
        if {"code", "box", "rows", "columns", "picture", "draw"} & set(slide):
            raise DeckError("code, box, rows, columns, picture or draw, and no cell")
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
        look_over_code(slide, cell)
    elif not shown(cell):
        raise DeckError(f"cell {cell.id} has no output to show")
    if slide.get("picture") and (cell.cell_type == "markdown" or "<img" not in shown(cell)):
        raise DeckError(f"picture, and cell {cell.id} shows none")
    if "axis" in slide and ("draw" not in slide or slide["axis"] != "log" and (
            len(slide["axis"]) != 2 or not slide["axis"][0] < slide["axis"][1])):
        raise DeckError('axis goes with draw, and is [low, high] or "log"')
    if slide.get("draw", "bars") not in charts.KINDS:
        raise DeckError(f"draw is one of {', '.join(charts.KINDS)}")
    output(slide, cell)


def look_over_code(slide, cell):
    """Raise DeckError if the code of the cell, or the definition that the slide names, is not there or does not fit."""
    if isinstance(slide["code"], str) and {"rows", "columns", "picture", "draw"} & set(slide):
        raise DeckError("beside the code of a definition no output is shown: no rows, columns, picture or draw")
    lines = code(slide, cell).splitlines()
    if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
        whose = f"{slide['code']} in cell" if isinstance(slide["code"], str) else "the code of cell"
        raise DeckError(f"{whose} {cell.id} has {len(lines)} lines of up to {max(map(len, lines))} letters, "
                        f"and {LINES} of {COLUMNS} fit")


def look_over_choices(slide):
    """Raise DeckError if the choices of a prediction are not two to four, one of them named as right."""
    choices, right = slide.get("choices", []), slide.get("right")
    if "predict" not in slide or not 2 <= len(choices) <= 4 or not all(isinstance(one, str) for one in choices):
        raise DeckError("choices are two to four texts, beside predict")
    if right not in list("ABCD"[:len(choices)]):
        raise DeckError(f"right is the letter of one of the choices, A to {'ABCD'[len(choices) - 1]}")


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


def code(slide, cell):
    """The code that a slide shows of its cell: all, or the lines of the definition that it names; "" if none.

    DeckError: nothing of that name is defined at the top level of the cell."""
    name = slide.get("code", False)
    if not isinstance(name, str):
        return cell.source if name else ""
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.Assign):
            told = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        else:
            told = [getattr(node, "name", None)]
        if name in told:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            return "\n".join(cell.source.splitlines()[first - 1:node.end_lineno])
    raise DeckError(f"cell {cell.id} defines no {name} at its top level")


def output(slide, cell):
    """What a slide shows of its cell, as HTML: all, or what it chooses, or a chart of that; "" of a Markdown cell, and
    beside the code of a definition, which prints nothing.

    ValueError, of which DeckError is one: there is nothing to choose, or it cannot be drawn so."""
    if cell.cell_type == "markdown" or isinstance(slide.get("code"), str):
        return ""
    what = shown(cell)
    if {"rows", "columns"} & set(slide):
        what = chosen(what, slide.get("rows", ""), slide.get("columns", ""))
    if "draw" in slide:
        key = f"k{zlib.crc32(slide['title'].encode())}-"
        return f'<div>{charts.draw(slide["draw"], what, key, slide.get("axis"))}</div>'
    if slide.get("picture"):
        what = re.sub("<table.*?</table>|<b>.*?</b>|<small>.*?</small>", "", what, flags=re.S)
    return what


def section(name, cell):
    """(the heading of the section of the lecture in which the cell of that id is, what there is to read of its code):
    the words of the Markdown, "" for what stands before the first; the cell's source or, of a cell of text, that of the
    next cell of code in the section, "" if there is none."""
    heading, found = "", False
    for one in lecture(name).cells:
        if one.cell_type == "markdown":
            headings = re.findall(r"^## (.+)$", one.source, re.M)
            if found and headings:
                break
            heading = (headings or [heading])[-1]
        found = found or one.id == cell
        if found and one.cell_type == "code":
            return heading, one.source
    return heading, ""


def chosen(output, rows="", columns=""):
    """A table (HTML) with the first column, those columns whose heads have a match of `columns`, and those rows of
    which the words, joined by " | ", have a match of `rows`."""
    lines = re.findall(r"<tr\b.*?</tr>", output, re.S)
    if not lines:
        raise DeckError("rows or columns, and the cell shows no table")
    kept = [i for i, head in enumerate(cells_of(lines[0])) if i == 0 or re.search(columns, words(head))]
    there = [line for line in lines[1:] if re.search(rows, " | ".join(map(words, cells_of(line))))]
    if len(kept) < 2 or not there:
        raise DeckError(f"no row {rows!r} or no column {columns!r} in the table")
    for line in lines:
        short = f"<tr>{''.join(cells_of(line)[i] for i in kept)}</tr>" if line in (lines[0], *there) else ""
        output = output.replace(line, short, 1)
    return output


def minutes(slides):
    """(minutes of the slides that are needed, of those that are optional), from the beginnings of their notes."""
    needed, optional = 0, 0
    for slide in slides:
        free, n = MINUTES.match(slide["notes"]).groups()
        needed, optional = (needed, optional + int(n)) if free else (needed + int(n), optional)
    return needed, optional


# Is a deck finished?

def figure(shown):
    """Is there something to look at in what a slide shows: a picture, a drawing, a chart, coloured words?"""
    return bool(re.search(r"<img|<svg|background(?:-color)?: ?rgba?\(", shown))


def count(name):
    """What `--check` says of a deck: slides behind the title page, those with a figure, those with code, minutes of the
    core and of what is optional, words of the title page."""
    slides, notebook = deck(name), lecture(name)
    cells = {cell.id: cell for cell in notebook.cells}
    figures = sum("cell" in slide and figure(output(slide, cells[slide["cell"]])) for slide in slides)
    core, optional = minutes(slides)
    return {"slides": len(slides), "figures": figures, "code": sum(bool(slide.get("code")) for slide in slides),
            "core": core, "optional": optional, "title": sum(len(part.split()) for part in opening(name))}


def opening(name):
    """(title, what the title page says below it): the deck's promise, or the question in the lecture's first cell."""
    title, question = re.match(r"# (.+)\n+((?:.+\n)+)", lecture(name).cells[0].source).groups()
    return title, read(name).get("promise", question)


def unfinished(name):
    """What a deck still needs before it is taught with, a list of lines: figures, slack, a title page in one breath."""
    found, told = [], count(name)
    if told["core"] > CORE:
        found.append(f"{told['core']} minutes without the optional slides, {CORE} fit: make some optional")
    if told["title"] > BREATH:
        found.append(f"the title page has {told['title']} words, {BREATH} are one breath: give the deck a promise")
    if told["figures"] < FIGURES * told["slides"]:
        found.append(f"{told['figures']} of {told['slides']} slides have a figure, half of them should")
    cells = {cell.id: cell for cell in lecture(name).cells if cell.cell_type == "markdown"}
    for number, slide in enumerate(deck(name), 2):
        box = boxes(cells[slide["cell"]].source, slide.get("box", "")) if slide.get("cell") in cells else ""
        found += [f"slide {number} ({slide['title']}): the box says “{there.group()}”, which is not on the slide: "
                  "say it in text, in place of cell" for there in POINTS.finditer(box)]
    return found
