"""Slides to teach a lecture with: `python -m tools.slides` makes build/slides/NN.html, one file a deck, which opens
without a network; `python -m tools.slides 02` that one.

    python -m tools.slides 02 --check           what is too high, too wide or too small, slide by slide, in Chromium
    python -m tools.slides 02 --png folder      the same, and a picture of each slide in that folder

A deck is a list of slides in docs/slides/NN.toml (CONTRIBUTING.md says what a slide may have). Figures, tables, boxes
and formulas come from the committed lecture by the ids of its cells; nothing is executed.
"""

import argparse
import html
import json
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from . import npm

ROOT = Path(__file__).resolve().parent.parent
DECKS, SITE, BUILT = ROOT / "docs" / "slides", ROOT / "docs" / "site", ROOT / "build" / "slides"
FIELDS = {"title": str, "text": str, "cell": str, "box": str, "rows": str, "columns": str, "code": bool, "predict": str,
          "answer": str, "notes": str}
MINUTES = re.compile(r"(Optional, )?(\d+) minutes?\b")   # how notes begin
LETTERS, LINES, COLUMNS, BULLETS = 60, 12, 70, 5        # of a title; of code; of a list
WIDTH, HEIGHT, TEXT, CODE = 1280, 720, 24, 18           # of a page, and its smallest letters
HEARD = r'<div class="heard">\1</div>'                  # what is there for screen readers alone
FORMULA = "\x02{}\x03"                                  # where a formula will stand


class DeckError(ValueError):
    """What is wrong with a deck, in one line that names the file and the slide."""


def names():
    """The lectures that have a deck: "02", "03b", …"""
    return sorted(path.stem for path in DECKS.glob("*.toml"))


def lecture(name):
    """The lecture of that number, as a notebook."""
    return nbformat.read(next((ROOT / "lectures").glob(f"{name}_*.ipynb")), as_version=4)


def deck(name):
    """The slides of docs/slides/NN.toml: dicts with the fields that CONTRIBUTING.md tells, all of them looked over.

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
        if {"code", "box", "rows", "columns"} & set(slide):
            raise DeckError("code, box, rows or columns, and no cell")
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


# From a deck to a page

class Writer:
    """Markdown to HTML, which keeps its formulas until MathJax draws them all at once."""

    def __init__(self):
        self.formulas = []                              # [tex, display]
        self.markdown = MarkdownIt("commonmark").enable("table").use(
            dollarmath_plugin, allow_space=False, double_inline=True, renderer=self.keep)

    def keep(self, tex, options):
        self.formulas.append([tex, options["display_mode"]])
        return FORMULA.format(len(self.formulas) - 1)

    def __call__(self, text):
        """Markdown as HTML; links become their words, for a deck stands alone."""
        return re.sub(r"</?a\b[^>]*>", "", self.markdown.render(text)).strip()

    def drawn(self, page):
        """(the page with its formulas drawn, the style that they need)"""
        command = [shutil.which("node") or "node", str(SITE / "formulas.js"), str(npm.package("mathjax"))]
        done = subprocess.run(command, input=json.dumps(self.formulas), capture_output=True, text=True, check=True)
        made = json.loads(done.stdout)
        for (tex, _), svg in zip(self.formulas, made["svg"], strict=True):
            if "error" in svg:
                raise DeckError(f"the formula {tex.strip()!r} cannot be read: {svg['error']}")
        return re.sub("\x02(\\d+)\x03", lambda found: made["svg"][int(found[1])], page), made["css"]


def title_page(first, write):
    """The first slide, from the lecture's first cell: its title, its question, and what it promises as notes."""
    title, question = re.match(r"# (.+)\n+((?:.+\n)+)", first).groups()
    notes = re.search(r"\*\*You will\*\*.*", first, re.S)[0]
    number, _, words = title.partition(" · ")
    return (f'<section><div class="page first"><p class="course">Attention, explained? · {number}</p>'
            f"<h1>{html.escape(words)}</h1>{write(question)}</div>"
            f'<aside class="notes">{write(notes)}</aside></section>')


def page(slide, cells, write):
    """A slide as a section. Where something is predicted, what the cell shows comes with the answer."""
    cell, later = cells.get(slide.get("cell")), " fragment" * ("predict" in slide)
    at = ' data-fragment-index="0"' * bool(later)       # answer and output come with the same click
    above, words, output = "", write(slide.get("text", "")), ""
    if cell is not None and cell.cell_type == "markdown":
        source = boxes(cell.source, slide.get("box", ""))
        words += f'<div class="{"tall" if len(source) > 700 else "short"}">{write(source)}</div>'
    elif cell is not None:
        if slide.get("code"):
            code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip()
            above = f'<pre class="code">{code}</pre>'
        if shown(cell):
            what = shown(cell)
            if {"rows", "columns"} & set(slide):
                what = chosen(what, slide.get("rows", ""), slide.get("columns", ""))
            output = f'<div class="output{later}"{at}><div class="fit">{what}</div></div>'
    if "predict" in slide:
        words += f'<div class="predict">{write("<b>Predict first.</b> " + slide["predict"])}</div>'
    if "answer" in slide:
        words += f'<div class="answer fragment"{at}>{write("<b>Answer.</b> " + slide["answer"])}</div>'
    words = words and f'<div class="words">{words}</div>'
    return (f'<section><div class="page"><h2>{write.markdown.renderInline(slide["title"])}</h2>{above}'
            f'<div class="both">{words}{output}</div></div>'
            f'<aside class="notes">{write(slide["notes"])}</aside></section>')


def make(name):
    """The deck of a lecture as one page of HTML, with all that it needs inside."""
    slides, notebook, write = deck(name), lecture(name), Writer()
    cells = {cell.id: cell for cell in notebook.cells}
    sections = [title_page(notebook.cells[0].source, write)] + [page(slide, cells, write) for slide in slides]
    try:
        body, formulas = write.drawn("\n".join(sections))
    except DeckError as error:
        raise DeckError(f"docs/slides/{name}.toml: {error}") from None
    reveal = npm.package("reveal.js") / "dist"
    style = (reveal / "reveal.css").read_text(encoding="utf-8") + (SITE / "slides.css").read_text(encoding="utf-8")
    script = (reveal / "reveal.js").read_text(encoding="utf-8") + (SITE / "slides.js").read_text(encoding="utf-8")
    script = script.replace("</script", r"<\/script")                    # which would end it here
    title = html.escape(re.match(r"# (.+)", notebook.cells[0].source)[1])
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{style}</style>'
            f'<style class="formulas">{formulas}</style></head>\n'
            f'<body><main><div class="reveal"><div class="slides">\n{body}\n</div></div></main>\n'
            f'<script>{script}</script></body></html>\n')


def build(name):
    """Write build/slides/NN.html; returns its path."""
    BUILT.mkdir(parents=True, exist_ok=True)
    path = BUILT / f"{name}.html"
    path.write_text(make(name), encoding="utf-8")
    return path


# For authors, and for the tests

def opened(tab, path, query=""):
    """Open a deck in a tab of a browser (playwright's), and wait until it can be used."""
    tab.goto(path.as_uri() + query)
    tab.wait_for_selector("html[data-ready]")


def faults(slide):
    """What is wrong with a slide that `measure` in slides.js has looked at: a list of words, empty if nothing is."""
    found = []
    if slide["bottom"] > HEIGHT + 1:
        found.append(f"{slide['bottom']:.0f} px high, {HEIGHT} fit")
    if slide["right"] > WIDTH + 1 or slide["left"] < -1:
        found.append(f"from {slide['left']:.0f} to {slide['right']:.0f} px wide, {WIDTH} fit")
    if slide["letters"] < TEXT:
        found.append(f"text of {slide['letters']:.0f} px, {TEXT} are needed")
    if slide["small"] < CODE - .5:
        found.append(f"code or output with letters of {slide['small']:.0f} px, {CODE} are needed")
    if slide["picture"] is not None and slide["picture"] < .95:
        found.append(f"the picture is too small: {slide['picture']:.2f} of its size in the lecture")
    if slide["raw"]:
        found.append(f"a formula was not read: {slide['raw']}")
    return found


@contextmanager
def chromium():
    """A headless browser, playwright's."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("There is no Chromium here (Debian: apt install chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def check(paths, folder=None):
    """Print what each slide measures and what is wrong; draw them into the folder if there is one. True if all fit."""
    fine = True
    with chromium() as browser:
        for path in paths:
            tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            opened(tab, path)
            for number, slide in enumerate(tab.evaluate("measure()"), 1):
                wrong = faults(slide)
                fine = fine and not wrong
                picture = "" if slide["picture"] is None else f"  picture × {slide['picture']:.1f}"
                print(f"{path.stem:>4}{number:>4}  {slide['bottom']:>4.0f} px  {slide['title']}{picture}"
                      + "".join(f"\n            ✗ {words}" for words in wrong))
                if folder is not None:
                    tab.evaluate(f"Reveal.slide({number - 1}, 0, 99)")
                    tab.screenshot(path=folder / f"{path.stem}_{number:02}.png")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", help="the number of a lecture; all if it is missing")
    parser.add_argument("--check", action="store_true", help="measure each slide in Chromium")
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="measure each, and draw it as FOLDER/NN_MM.png")
    wanted = parser.parse_args()
    try:
        paths = [build(name) for name in ([wanted.only] if wanted.only else names())]
    except (DeckError, RuntimeError) as error:
        sys.exit(str(error))
    print("\n".join(str(path.relative_to(ROOT)) for path in paths))
    if wanted.check or wanted.png:
        for path in paths:
            print("{}: {} minutes, and {} optional".format(path.stem, *minutes(deck(path.stem))))
    if wanted.png:
        wanted.png.mkdir(parents=True, exist_ok=True)
    if (wanted.check or wanted.png) and not check(paths, wanted.png):
        sys.exit(1)


if __name__ == "__main__":
    main()
