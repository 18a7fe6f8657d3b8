"""Slides to teach a lecture with: `python -m tools.slides` makes build/slides/NN.html, one file a deck, which opens
without a network; `python -m tools.slides 02` that one.

    python -m tools.slides 02 --check           what is too high, too wide or too small, slide by slide, in Chromium
    python -m tools.slides 02 --png folder      the same, and a picture of each slide in that folder

A deck is a list of slides in docs/slides/NN.toml, which decks.py reads. Figures, tables, boxes and formulas come from
the committed lecture by the ids of its cells; nothing is executed.
"""

import argparse
import html
import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from . import npm
from .address import address, site
from .decks import (
    MINUTES,
    ROOT,
    DeckError,
    boxes,
    code,
    count,
    deck,
    lecture,
    names,
    opening,
    output,
    read,
    section,
    unfinished,
)

SITE, BUILT = ROOT / "docs" / "site", ROOT / "build" / "slides"
WIDTH, HEIGHT, TEXT, CODE, FIGURE = 1280, 720, 24, 18, 16       # of a page, and its smallest letters
WIDE = 78                                               # letters of a line: code with longer ones is in CODE px
FORMULA = "\x02{}\x03"                                  # where a formula will stand


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


def title_page(name, write):
    """The first slide: the lecture's title, the deck's promise or the lecture's question; as notes, what else the
    lecture's first cell says."""
    (title, question), first = opening(name), lecture(name).cells[0].source
    notes = first.partition("\n")[2] if "promise" in read(name) else re.search(r"\*\*You will\*\*.*", first, re.S)[0]
    number, _, words = title.partition(" · ")
    return (f'<section><div class="page first"><p class="course">Attention, explained? · {number}</p>'
            f"<h1>{html.escape(words)}</h1>{write(question)}</div>"
            f'<aside class="notes">{write(notes)}</aside></section>')


def choices(slide, at, write):
    """The choices of a vote, A to D; with the answer the right one is marked."""
    lines = ""
    for letter, words in zip("ABCD", slide["choices"], strict=False):
        marked = f' class="right fragment custom"{at}' if letter == slide["right"] else ""
        lines += f"<li{marked}><b>{letter}</b> {write.markdown.renderInline(words)}</li>"
    return f'<ul class="choices">{lines}</ul>'


def foot(name, slide, book, write):
    """Where in the lecture the slide's cell is, a link to it in the book if its address is known; and its code, which
    key C shows in place of the slide, where the slide itself does not show all of it."""
    heading, source = section(name, slide["cell"])
    [path] = (ROOT / "lectures").glob(f"{name}_*.ipynb")
    words = f"Lecture {name}" + f", {write.markdown.renderInline(heading)}" * bool(heading)
    if book is not None:
        words = f'<a href="{book}lectures/{path.stem}.html#cell-{name}-{slide["cell"]}">{words}</a>'
    if not source or slide.get("code") is True:
        return f'<p class="foot">{words}</p>'
    return f'<p class="foot">{words} <button>C: code</button></p>{listing(source, "code behind")}'


def listing(source, kind):
    """Lines of Python as HTML, in colour; those with long lines in smaller letters."""
    wide = " wide" * (max(map(len, source.splitlines())) > WIDE)
    return f'<pre class="{kind}{wide}">{highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip()}</pre>'


def page(name, slide, cells, book, write):
    """A slide as a section. Where something is predicted, what the cell shows comes with the answer."""
    cell, later = cells.get(slide.get("cell")), " fragment" * ("predict" in slide)
    at = ' data-fragment-index="0"' * bool(later)       # answer and output come with the same click
    above, words, shows = "", write(slide.get("text", "")), ""
    if cell is not None and cell.cell_type == "markdown":
        source = boxes(cell.source, slide.get("box", ""))
        words += f'<div class="{"tall" if len(source) > 700 else "short"}">{write(source)}</div>'
    elif cell is not None:
        if lines := code(slide, cell):
            above = listing(lines, "code")
        if what := output(slide, cell):
            shows = f'<div class="output{later}"{at}><div class="fit">{what}</div></div>'
    if "predict" in slide:
        vote = choices(slide, at, write) if "choices" in slide else ""
        words += f'<div class="predict">{write("<b>Predict first.</b> " + slide["predict"])}{vote}</div>'
    if "answer" in slide:
        words += f'<div class="answer fragment"{at}>{write("<b>Answer.</b> " + slide["answer"])}</div>'
    words = words and f'<div class="words">{words}</div>'
    below = foot(name, slide, book, write) if "cell" in slide else ""
    free, due = MINUTES.match(slide["notes"]).groups()
    return (f'<section data-minutes="{due}"{" data-optional" * bool(free)}>'
            f'<div class="page"><h2>{write.markdown.renderInline(slide["title"])}</h2>{above}'
            f'<div class="both">{words}{shows}</div>{below}</div>'
            f'<aside class="notes">{write(slide["notes"])}</aside></section>')


def make(name, book=None):
    """The deck of a lecture as one page of HTML, with all that it needs inside.

    book: the address of the book, to which the feet of slides lead; the public one if there is one."""
    slides, notebook, write = deck(name), lecture(name), Writer()
    cells = {cell.id: cell for cell in notebook.cells}
    book = book or (site(address()) if address() else None)
    sections = [title_page(name, write)] + [page(name, slide, cells, book, write) for slide in slides]
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
            f'<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>{style}</style>'
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
    if slide["figure"] is not None and slide["figure"] < FIGURE - .05:
        found.append(f"the figure has letters of {slide['figure']:.1f} px, {FIGURE} are needed: less text, or draw")
    if slide["covered"]:
        found.append(f"letters of the chart cover each other: {slide['covered']}")
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
                letters = "" if slide["figure"] is None else f"  figure, letters of {slide['figure']:.0f} px"
                print(f"{path.stem:>4}{number:>4}  {slide['bottom']:>4.0f} px  {slide['title']}{letters}"
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
            print("{}: {slides} slides, {figures} with a figure, {code} with code; {core} minutes, and {optional} "
                  "optional; {title} words on the title page".format(path.stem, **count(path.stem)))
            print("".join(f"     ✗ {words}\n" for words in unfinished(path.stem)), end="")
    if wanted.png:
        wanted.png.mkdir(parents=True, exist_ok=True)
    if wanted.check or wanted.png:
        fine = check(paths, wanted.png)
        sys.exit(not fine or any(unfinished(path.stem) for path in paths))


if __name__ == "__main__":
    main()
