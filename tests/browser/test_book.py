"""The book is made without a warning, has every lecture, links to nothing that is not there and asks nothing of any
other site."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from tools.book import ROOT
from tools.npm import package

EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}      # no end tag
NO_PROSE = {"code", "pre", "script", "style", "title"}


class Page(HTMLParser):
    """What a page links to and loads, the places in it, and its text but for code and formulas."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.prose, self.inside = [], [], {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given["id"]} if "id" in given else set()
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.loads += [given[name] for name in ("src", "href") if given.get(name) and tag != "a"]
        if tag not in EMPTY:
            math = "math" in given.get("class", "").split()
            self.inside.append((tag, math or tag in NO_PROSE))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(hidden for _, hidden in self.inside):
            self.prose.append(data)


def needed(make):
    """What needs npm: without it the test is skipped, but under CI it fails."""
    try:
        return make()
    except RuntimeError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The folder of the book, made for these tests."""
    needed(lambda: package("mathjax"))
    folder = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-m", "tools.book", folder / "book"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "book"


@pytest.fixture(scope="module")
def pages(book):
    """{name: Page}, of every page."""
    return {path.relative_to(book).as_posix(): Page(path.read_text(encoding="utf-8")) for path in book.rglob("*.html")
            if "_static" not in path.parts}


def test_every_lecture_assignment_and_page_is_there(pages):
    sources = [*ROOT.glob("lectures/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb"), *ROOT.glob("docs/**/*.md"),
               *(ROOT / name for name in ("SYLLABUS.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    wanted = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in sources}
    assert len(wanted) > 60 and wanted <= set(pages)
    listed = {urldefrag(link).url for link in pages["index.html"].links}
    assert {name for name in wanted if name.startswith("lectures/")} <= listed
    assert {"docs/teaching.html", "api/index.html", "exercises/index.html"} <= listed


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(book, pages):
    broken, elsewhere = [], []
    for name, page in pages.items():
        elsewhere += [f"{name}: {target}" for target in page.loads if target.startswith(("http:", "https:", "//"))]
        for target in page.links + page.loads:
            url, anchor = urldefrag(unquote(target))
            if re.match(r"[a-z]+:|//", url):
                continue
            place = urljoin(name, url.partition("?")[0]) if url else name
            there = anchor in pages[place].ids if place in pages else (book / place).is_file()
            broken += [] if there else [f"{name}: {target}"]
    assert broken == [] and elsewhere == []


def test_formulas_are_formulas(pages):
    raw = {name: re.findall(r".{0,30}\$.{0,30}", "".join(page.prose)) for name, page in pages.items()}
    assert {name: found for name, found in raw.items() if found} == {}


def test_the_library_is_described(pages):
    from coursekit import explain

    assert {f"coursekit.explain.{name}" for name in explain.__all__} <= pages["api/explain.html"].ids
