"""The book is made without a warning, has every lecture, links to nothing that is not there and asks nothing of any
other site; its pages read on a phone, in the dark, by ear and without scripts."""

import ast
import html
import json
import random
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from playwright.sync_api import expect

from coursekit.models import load_weights
from tests.drawn import commit
from tools.book import ROOT, right_by_hand
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


@pytest.fixture(scope="module")
def pages(book):
    """{name: Page}, of every page but the deck and what is printed."""
    return {path.relative_to(book).as_posix(): Page(path.read_text(encoding="utf-8")) for path in book.rglob("*.html")
            if not {"_static", "slides", "print"} & {*path.parts}}


def test_every_lecture_assignment_and_page_is_there(pages):
    sources = [*ROOT.glob("lectures/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb"), *ROOT.glob("docs/*.md"),
               *ROOT.glob("docs/notes/*.md"),
               *(ROOT / name for name in ("README.md", "SYLLABUS.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    wanted = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in sources}
    assert len(wanted) > 60 and wanted <= set(pages)
    listed = {urldefrag(link).url for link in pages["index.html"].links}
    assert {name for name in wanted if name.startswith("lectures/")} <= listed
    assert {"docs/teaching.html", "docs/library.html", "README.html", "api/index.html",
            "exercises/index.html"} <= listed


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


def test_every_page_says_what_it_is_to_who_gets_a_link(book, pages):
    found = {}
    for name in pages:
        text = (book / name).read_text(encoding="utf-8")
        told = dict(re.findall(r'<meta (?:name|property)="(description|og:[\w:]+)" content="([^"]*)">', text))
        assert {"description", "og:title", "og:description", "og:image", "og:image:alt"} <= set(told), name
        assert 40 <= len(html.unescape(told["description"])) <= 202 and "<" not in html.unescape(told["og:title"]), name
        assert told["og:image"].startswith("https:") or (book / urljoin(name, told["og:image"])).is_file(), name
        found[name] = told["description"]
    assert "Which words made it say so" in found["index.html"] and len(set(found.values())) > 0.8 * len(found)


def test_predictions_theorems_pitfalls_and_errata_are_told_apart(book):
    for path in ROOT.glob("lectures/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        page = (book / "lectures" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert page.count('<p class="predict">') == len(re.findall(r"^\*Predict first", text, re.M)), path.name
        for kind in ("theorem", "pitfall", "erratum"):
            begun = re.findall(rf"(?<!\n> )(?<!\n>)\n> \*\*{kind.capitalize()}\b", text)
            assert len(re.findall(rf'<blockquote class="[^"]*\b{kind}\b', page)) == len(begun), (path.name, kind)
        answers = re.findall('<details class="answer"(?: open)?>', page)
        assert len(answers) == text.count("<details><summary>Answer"), path.name


class Unasked(HTMLParser):
    """The questions of a page that something visible below them answers: an output or an answer that is not folded,
    before the next heading or question; and those below which nothing is folded."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.asked, self.answered, self.pending, self.questions = [], False, [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        names = (given.get("class") or "").split()
        if tag in EMPTY:
            return
        self.inside.append((tag, tag == "details" and "open" not in given))
        if tag == "p" and "predict" in names:
            self.questions += 1
            self.pending.append(f"question {self.questions} has nothing folded below it")
            self.asked = True
        elif re.fullmatch("h[1-6]", tag):
            self.asked = False
        elif "result" in names:
            self.pending.clear()
        elif self.asked and {"answer", "cell_output"} & {*names}:
            if not any(folded for _, folded in self.inside[:-1]):
                self.answered.append(f"question {self.questions}: <{tag}>")

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass


def test_no_question_is_answered_by_what_is_visible(book):
    found, questions = {}, 0
    for path in (book / "lectures").glob("*.html"):
        page = Unasked(path.read_text(encoding="utf-8"))
        found[path.stem] = page.answered + page.pending
        questions += page.questions
    assert questions > 180 and not any(found.values()), found
    shown = '<p class="predict">How many?</p><div class="cell_output">4</div><h2>Next</h2>'
    assert Unasked(shown).answered and Unasked(shown).pending                       # the count can count


def test_a_prediction_is_kept_and_stands_beside_what_came_out(page, address):
    lecture = address + "lectures/13b_dictionaries.html"
    page.goto(lecture)
    boxes, folds = page.get_by_label("You predict"), page.locator("details.result")
    said, shown = page.locator("p.predicted:not(:empty)"), folds.first.locator(".cell_output").first
    assert boxes.count() == page.locator("p.predict").count() > folds.count()       # here two stand together
    expect(shown).to_be_hidden()
    boxes.nth(0).fill("TopK <b>most</b>")
    boxes.nth(0).press("Enter")
    expect(boxes.nth(1)).to_be_focused()
    expect(shown).to_be_hidden()                                                    # there is a second question
    boxes.nth(1).fill("30")
    page.get_by_role("button", name="Keep it").nth(1).click()
    expect(shown).to_be_in_viewport()
    expect(folds.nth(1).locator(".cell_output").first).to_be_hidden()
    for _ in range(2):
        counted = f"You predicted 2 of {boxes.count()}."
        expect(said).to_have_text(["You predicted: TopK <b>most</b>", "You predicted: 30", counted])
        page.reload()                                                               # and on another day
    expect(shown).to_be_visible()
    page.goto(address + "index.html")
    expect(page.locator("span.done")).to_have_text([re.compile(r"predicted 2 of \d")])
    page.goto(address + "docs/alone.html")
    expect(page.locator(".kept p")).to_have_text("Of yours this browser keeps: predictions 2, quizzes 0.")
    forget = page.get_by_role("button", name="Forget them")
    page.once("dialog", lambda dialog: dialog.dismiss())
    forget.click()
    expect(forget).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    forget.click()
    expect(page.locator(".kept")).to_have_text("Of yours this browser keeps nothing.")
    page.goto(lecture)
    expect(said).to_have_count(0)
    page.get_by_role("button", name="Unfold what came out").click()
    expect(folds.last.locator(".cell_output").first).to_be_visible()
    expect(said).to_have_count(0)
    page.get_by_role("button", name="Fold what came out").click()
    expect(folds.last.locator(".cell_output").first).to_be_hidden()


def test_where_the_browser_keeps_nothing_a_prediction_stands_until_the_page_is_left(page, address):
    page.add_init_script("""for (const name of ["setItem", "getItem"]) {
        const real = Storage.prototype[name];
        Storage.prototype[name] = function (key, ...rest) {
            if (key === "course") throw new Error("refused");
            return real.call(this, key, ...rest);
        };
    }""")
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address + "lectures/12_dyck.html")
    box = page.get_by_label("You predict").nth(1)
    box.fill("31")
    box.press("Enter")
    expect(page.locator("details.result").nth(1)).to_have_attribute("open", "")
    expect(page.locator("p.predicted:not(:empty)")).to_have_text(["You predicted: 31", re.compile("1 of ")])
    assert errors == []


def test_a_prediction_is_found_again_where_formulas_are_not_drawn(page, address):
    lecture, said = address + "lectures/15_people.html", page.locator("p.predicted:not(:empty)")
    page.goto(lecture, wait_until="networkidle")
    asked = page.locator("p.predict", has=page.locator("mjx-container")).first
    box = asked.locator("+ form").get_by_label("You predict")
    expect(box).to_have_accessible_description(re.compile("gives five words the numbers 4, −3, 2, 1 and 0"))
    box.fill("3")
    box.press("Enter")
    page.route("**/tex-chtml.js*", lambda route: route.abort())
    page.reload()
    expect(page.locator("mjx-container")).to_have_count(0)
    expect(said).to_have_text(["You predicted: 3", re.compile("1 of ")])


def test_formulas_are_formulas(pages):
    raw = {name: re.findall(r".{0,30}\$.{0,30}", "".join(page.prose)) for name, page in pages.items()}
    assert {name: found for name, found in raw.items() if found} == {}


def test_the_library_is_described(pages):
    offered = re.search(r"__all__ = (\[.*?\])", (ROOT / "coursekit" / "explain" / "__init__.py").read_text(), re.S)
    assert {f"coursekit.explain.{name}" for name in ast.literal_eval(offered[1])} <= pages["api/explain.html"].ids


AXE = """async ([rules]) => (await axe.run(document, {preload: false, elementRef: false, ...rules})).violations
    .filter(({impact}) => ["serious", "critical"].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.length} × ${nodes[0].html.slice(0, 150)}`)"""
BUT_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}
COLOURS = {"runOnly": ["color-contrast"]}               # the only rule for which the theme matters, and the slow one:
FEWER = """() => {                                      // one sample of each colour of code is enough for it
    const seen = new Set();
    for (const token of document.querySelectorAll(".highlight span"))
        if (seen.has(token.className)) token.remove(); else seen.add(token.className);
}"""


def complaints(page, address, name):
    """What is wrong with a page: messages, requests elsewhere, a phone's sideways scroll, what axe finds serious."""
    found, own = [], (address, "data:", "blob:")
    heard = {"console": lambda message: message.type == "error" and found.append(message.text),
             "pageerror": lambda error: found.append(str(error)),
             "request": lambda request: request.url.startswith(own) or found.append(request.url)}
    for event, react in heard.items():
        page.on(event, react)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(address + name, wait_until="networkidle")
    if page.locator(".math").count():
        expect(page.locator("mjx-container").first).to_be_attached()
    wide = page.evaluate("document.documentElement.scrollWidth")
    found += [f"{wide} pixels wide on a phone"] * (wide > 390)
    page.add_script_tag(path=package("axe-core") / "axe.min.js")
    found += page.evaluate(AXE, [BUT_COLOURS])
    page.evaluate(FEWER)
    for theme in ("light", "dark"):
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        found += [f"{theme}: {line}" for line in page.evaluate(AXE, [COLOURS])]
    for event, react in heard.items():
        page.remove_listener(event, react)
    return found


def test_drawn_pages_are_read_on_a_phone_in_the_dark_and_by_ear(page, address, pages):
    others = [name for name in sorted(pages) if not name.startswith(("api/", "lectures/"))]        # these take long
    names = ["lectures/10b_trained.html", *random.Random(commit()).sample(others, 2)]
    found = {name: complaints(page, address, name) for name in names}
    assert not any(found.values()), found


@pytest.mark.slow
def test_every_page_is_read_on_a_phone_in_the_dark_and_by_ear(page, address, pages):
    found = {name: complaints(page, address, name) for name in sorted(pages)}
    assert not any(found.values()), found


def test_the_explorer_is_live_with_the_data_of_the_lecture(page, address):
    page.goto(address + "lectures/05_reading_attention.html")
    explorer = page.locator(".live-explorer")
    page.locator("details.result", has=explorer).locator("summary").first.click()
    expect(explorer.get_by_role("button", name="layer 1")).to_have_attribute("aria-pressed", "true")
    expect(explorer.locator("p")).to_contain_text("? → sister's 0.99")                  # as its drawing says
    explorer.get_by_role("button", name="layer 0").click()
    expect(explorer.get_by_role("button", name="layer 0")).to_have_attribute("aria-pressed", "true")
    explorer.get_by_role("button", name="head 0").click()
    expect(explorer.locator("p")).to_contain_text("(mean of heads 0, 2)")
    explorer.get_by_role("listbox").press("Escape")
    expect(explorer.locator("p")).to_contain_text("Hover over a query")


def test_what_is_searched_is_found_and_teachers_notes_come_last(page, address):
    page.goto(address + "search.html?q=rollout")
    expect(page.locator("#search-results a", has_text="One map of many").first).to_be_visible()
    expect(page.locator("#search-results a[href*='docs/notes/']").first).to_be_visible()
    links = page.locator("#search-results li a").evaluate_all("links => links.map(({ href }) => href)")
    notes = ["docs/notes/" in link for link in links]
    assert not notes[0] and notes == sorted(notes)
    quoted = page.locator("#search-results .context")
    expect(quoted.nth(5)).to_be_visible()
    assert not any("Check yourself Take-away" in " ".join(text.split()) for text in quoted.all_inner_texts())


def test_who_comes_back_finds_what_was_typed(page, address):
    page.goto(address + "index.html")
    page.locator("textarea").fill("What a wonderful film")
    page.get_by_role("radio", name="peaky").check(force=True)
    score = page.locator(".playground .big").inner_text()
    page.locator(".doors a").first.click()
    page.go_back()
    expect(page.locator("textarea")).to_have_value("What a wonderful film")
    expect(page.get_by_role("radio", name="peaky")).to_be_checked()
    expect(page.locator(".playground .big")).to_have_text(re.compile(re.sub(r"\s+", r"\\s*", score)))


@pytest.mark.parametrize("served", [True, False])
def test_the_front_page_is_the_playground_and_three_doors_below(page, book, address, served):
    place, asked, complaints = (address if served else book.as_uri() + "/"), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(place + "index.html")
    box, heading = page.get_by_label("Type a film review"), page.locator(".bd-article h1")
    assert heading.bounding_box()["y"] < box.bounding_box()["y"] < 400
    doors = page.locator(".doors > div > p:first-child a")
    assert doors.evaluate_all("doors => doors.map((door) => door.getAttribute('href'))") == [
        "lectures/00_welcome.html", "docs/teaching.html", "docs/library.html"]
    box.fill("What a wonderful film")
    expect(page.locator(".playground .big")).to_contain_text("praise")
    expect(page.locator("[data-row=shapley] .words > *")).to_have_count(4)
    page.get_by_role("link", name="the link to this text").click()
    box.fill("")
    page.reload()
    expect(box).to_have_value("What a wonderful film")
    for name in ("imdb-tame", "imdb-peaky"):
        page.get_by_role("radio", name=name.removeprefix("imdb-")).check(force=True)
        expect(page.locator(".by-hand b")).to_have_text(right_by_hand(load_weights(name)))
    page.goto(place + "slides/02.html")
    expect(page).to_have_title(re.compile("02 · Attention"))
    feet = page.locator(".foot a").evaluate_all("all => all.map((one) => one.getAttribute('href').split('#'))")
    lecture = (book / "lectures" / "02_attention.html").read_text(encoding="utf-8")
    assert feet and all(to == "../lectures/02_attention.html" for to, _ in feet)
    assert all(lecture.count(f'id="{cell}"') == 1 for _, cell in feet)
    page.goto(place + "lectures/00_welcome.html")
    page.get_by_label("Type a film review").fill("What a wonderful film")
    expect(page.locator(".playground .big")).to_contain_text("praise")
    page.locator("[data-row=attention] .words button").nth(1).click()
    expect(page.locator("[data-row=attention] .words button").nth(1)).to_be_focused()
    leads = page.locator(".playground a[href$=html]").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert leads and all((book / "lectures" / lead).resolve().is_file() for lead in leads)
    page.goto(place + "index.html")
    headings = page.locator(".bd-article :is(h1, h2, h3, h4)")
    levels = headings.evaluate_all("headings => headings.map(({ tagName }) => +tagName[1])")
    assert levels[0] == 1 and all(below <= above + 1 for above, below in zip(levels, levels[1:], strict=False))
    assert complaints == [] and all(url.startswith((place, "data:", "blob:")) for url in asked)


def test_code_folds_and_stays_folded(page, address):
    page.goto(address + "lectures/02_attention.html")
    folded = page.locator(".tag_folded div.cell_input")
    cells = json.loads((ROOT / "lectures" / "02_attention.ipynb").read_text(encoding="utf-8"))["cells"]
    assert folded.count() == sum("folded" in cell["metadata"].get("tags", []) for cell in cells) > 5
    assert not any(cell.is_visible() for cell in folded.all())
    expect(page.locator("div.cell_input").first).to_be_visible()
    page.goto(address + "lectures/01_tokens.html")
    code = page.locator("div.cell_input")
    expect(code.first).to_be_visible()
    page.locator("details.code > summary").first.click()
    expect(code.first).to_be_hidden()
    expect(code.nth(1)).to_be_visible()
    page.get_by_role("button", name="Fold the code", exact=True).click()
    page.goto(address + "lectures/02_attention.html")
    assert code.count() > 10 and not any(cell.is_visible() for cell in code.all())
    page.get_by_role("button", name="Unfold the code").click()
    expect(code.first).to_be_visible()


def test_nothing_moves_when_the_scripts_come(page, address):
    code, places = ".tag_folded div.cell_input", []
    for scripts in (".js", "book.js", "{book,predict}.js"):
        page.route(f"**/_static/{scripts}*", lambda route: route.abort())
        page.goto(address + "lectures/02_attention.html")
        assert not any(cell.is_visible() for cell in page.locator(code).all())
        places.append(page.locator(".bd-article h1 ~ p").first.bounding_box()["y"])
    assert max(places) - min(places) < 3
    quiet = page.context.browser.new_page(java_script_enabled=False)
    quiet.goto(address + "lectures/02_attention.html")
    expect(quiet.locator(code).first).to_be_visible()


def test_what_unfolds_has_a_name_in_the_list_of_pages_too(page, address):
    page.goto(address + "lectures/12_dyck.html")
    expect(page.get_by_label("Pages of Assignments")).to_have_count(1)
    page.add_script_tag(path=package("axe-core") / "axe.min.js")
    assert page.evaluate(AXE, [{"runOnly": ["summary-name"]}]) == []


def test_figures_that_are_shown_small_open_large(page, address):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(address + "lectures/00_welcome.html")
    page.get_by_role("button", name="Unfold what came out").click()
    page.locator("button.enlarge:visible").first.click()
    large, dialog = page.locator("dialog.enlarged img"), page.locator("dialog.enlarged")
    shown = page.locator(".bd-article img").first
    assert large.bounding_box()["width"] > 1.15 * shown.bounding_box()["width"]
    assert large.get_attribute("alt") == shown.get_attribute("alt") and dialog.bounding_box()["width"] <= 390
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_sections_look_like_parts_of_what_they_stand_in(page, address):
    page.goto(address + "lectures/00_welcome.html")
    sizes = [page.locator(f".bd-article {tag}").first.evaluate(
        "head => ['fontSize', 'fontWeight'].map((name) => parseFloat(getComputedStyle(head)[name]))")
        for tag in ("h2", "h3")]
    assert sizes[0][0] > 1.2 * sizes[1][0] and sizes[0][1] >= sizes[1][1]


def test_without_scripts_drawings_and_colours_are_there_and_answers_are_printed(page, address):
    quiet = page.context.browser.new_page(java_script_enabled=False)
    quiet.goto(address + "lectures/05_reading_attention.html")
    assert quiet.locator(".live-explorer img").get_attribute("alt").startswith("Layer 1, head 2")
    quiet.goto(address + "lectures/00_welcome.html")
    assert quiet.locator(".cell_output [style*='background:rgba']").count() > 100
    quiet.goto(address + "index.html")
    assert quiet.locator("noscript img, .bd-article img").first.get_attribute("alt").startswith("The playground.")
    quiet.goto(address + "lectures/00_welcome.html")
    answer = quiet.locator(".bd-article details").first.locator(":scope > :not(summary)").first
    expect(answer).not_to_be_visible()
    quiet.emulate_media(media="print")
    expect(answer).to_be_visible()


def test_formulas_and_tables_fit_the_paper(page, address):
    page.set_viewport_size({"width": 640, "height": 900})                                   # A4 with its margins
    page.goto(address + "lectures/15_people.html", wait_until="networkidle")
    expect(page.locator("mjx-container[display]").first).to_be_attached()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    boxes = "boxes => boxes.map((box) => box.scrollWidth - box.clientWidth)"
    over = page.locator(".text_html, div.math").evaluate_all(boxes)
    assert len(over) > 10 and max(over) <= 2


def test_formulas_and_tables_fit_the_screen_of_a_laptop(page, address):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address + "lectures/15_people.html", wait_until="networkidle")
    fitted = page.locator("table[style*='--fit'] td, mjx-math[style*='--fit']")
    expect(fitted.first).to_be_attached()
    over = page.locator(".text_html, div.math").evaluate_all("b => b.map((box) => box.scrollWidth - box.clientWidth)")
    assert len(over) > 10 and max(over) <= 2
    size = fitted.first.evaluate("part => parseFloat(getComputedStyle(part).fontSize)")
    assert 12 <= size < 16
