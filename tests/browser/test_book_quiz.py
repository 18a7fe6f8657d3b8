"""The quizzes of the book say what Python says, are answered by keyboard alone, counted, and kept in the browser."""

import itertools
import json
import math
import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from coursegrade.selfcheck.answers import answer, as_number, in_unit, solution
from coursegrade.selfcheck.page import page as listed
from coursegrade.selfcheck.page import said, shuffled
from coursegrade.selfcheck.questions import kind, load, within
from coursegrade.selfcheck.words import inline, plain, rendered
from tests.browser.test_book import AXE
from tools import notebooks
from tools.npm import package

LECTURE = "lectures/02_attention.html"
JSON = re.compile(r'<script type="application/json" class="quiz" data-number="(\w+)">(.*?)</script>')
DIGITS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Nd"]
TYPED = ["", " ", "3/4", " 3 / 4 ", "75 %", "75%", "% 75", "50 % %", "%", "1,200 words", "1,200,000.5", "-1,200",
         "0,75", "0,750", "12,34", "1,2,3", "1.200,5", "1 200", "1\u00a0200", "−0.5", "−−1", "- 1", "-.5", "+1",
         "+1,200", "1.", ".", "1e3", "1E−3", "1e", "e1", "1_000", "1__0", "_1", "1_", "1/0", "0/0", "1/", "/2", "1/2/3",
         "nan", "NaN/1", "inf", "-Infinity", "1/inf", "1e999", "1/1e-400", "1e308/1e-10", "three", "0x10", "0b1", "1n",
         "True", "½", "²", "٣٫٥", "٣/٤", "１２", "1٠٠", "1,٢٠٠", "٣,٢٠٠", "\u20097\u3000", "\ufeff1", "7\x1c", "7\x85",
         "7\t%", "3/\t4", "words", "1 words", "1words words", "5 %words", "words 1", "1 word", *DIGITS]
UNITS = ["", "%", "words", "samples"]


def told(question, reply):
    """[is a reply right?, what is said], by Python."""
    try:
        right, why = answer(question, reply)
    except ValueError as error:
        return [None, rendered(str(error))]
    return [right, said(right, why)]


def replies(question):
    """[(a reply for Python, the same for quiz.js), …]: right ones, listed wrong ones, others, and none."""
    if kind(question) == "number":
        given = [question["number"], *(wrong["number"] for wrong in question["wrong"])]
        near = [number + share * within(question) for number in given for share in (-3, -1.01, -1, 1, 1.01, 3)]
        typed = [*map(repr, given + near), *(in_unit(question, number) for number in given), *TYPED[:60]]
        return [(text, text) for text in typed]
    if kind(question) == "choices":
        return [(None, -1), *((choice["text"], place) for place, choice in enumerate(question["choices"]))]
    texts = shuffled(question)
    return [([texts[i] for i in order], order) for order in itertools.permutations(range(len(texts)))]


def test_what_is_said_to_every_answer_is_what_python_says(page, address, book):
    pages = [path.read_text(encoding="utf-8") for path in sorted(book.glob("lectures/*.html"))]
    asked = {number: json.loads(text) for html in pages for number, text in JSON.findall(html)}
    assert set(asked) == {notebooks.number(path) for path in notebooks.find()} and len(asked) == len(pages)
    assert all("kept in this browser alone" in html and "Nothing\nis sent" not in html for html in pages)
    calls, expected = [], []
    for number, live in asked.items():
        for place, (question, data) in enumerate(zip(load(number), live, strict=True)):
            assert data["ask"] == rendered(f"**{place + 1}.** {question['ask']}")
            assert data["solution"] == rendered(solution(question))
            if kind(question) == "order":
                assert data["texts"] == [inline(text) for text in shuffled(question)]
            for reply, sent in replies(question):
                calls.append([number, place, sent])
                expected.append(told(question, reply))
    page.goto(address + LECTURE)
    found = page.evaluate("""({ asked, calls }) => calls.map(([number, place, reply]) =>
        quiz.answer(asked[number][place], reply))""", {"asked": asked, "calls": calls})
    wrong = [case for case in zip(calls, found, expected, strict=True) if case[1] != case[2]]
    assert len(calls) > 5_000 and wrong == [], wrong[:3]


def test_numbers_are_read_as_python_reads_them(page, address):
    page.goto(address + LECTURE)

    def same(typed):
        expected = []
        for text, unit in typed:
            try:
                expected.append(as_number(text, unit))
            except ValueError:
                expected.append(None)
        found = page.evaluate("typed => typed.map((given) => quiz.asNumber(...given))", typed)
        found = [number if number is not None and math.isfinite(number) else None for number in found]
        assert found == expected, [case for case in zip(typed, found, expected, strict=True) if case[1] != case[2]]

    same([(text, unit) for text in TYPED for unit in UNITS])
    letters = st.text("0123456789.,/%-−+eE_ infatyNwords\t\u00a0٣１", max_size=8)
    settings(max_examples=50)(given(st.lists(st.tuples(letters, st.sampled_from(UNITS)), min_size=20))(same))()


def test_a_quiz_is_answered_by_keyboard_alone_and_counted(page, address):
    complaints, asked = [], []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(address + LECTURE, wait_until="networkidle")
    page.evaluate("kept.set('predictions', 'a', 1)")
    live, forms = page.locator(".questions"), page.locator(".questions form")
    alert, counted = live.get_by_role("alert"), live.locator(".counted p")
    expect(forms).to_have_count(5)
    expect(page.locator(".live-quiz details").first).to_be_hidden()
    expect(counted).to_have_text("0 of 5 answered.")

    typed, show = forms.first.get_by_label("Your number:"), forms.first.get_by_role("button", name="Show the answer")
    typed.focus()
    for reply in ("", "a few"):                                             # none: it does not count
        typed.fill(reply)
        page.keyboard.press("Enter")
        expect(alert.first).to_have_text("Type a number, such as 0.75, 3/4 or 75 %.")
    expect(show).to_be_hidden()
    typed.fill("12/2")
    page.keyboard.press("Enter")
    expect(alert.first).to_contain_text("Not right. This is the value of the best key alone.")
    expect(alert.first.locator("mjx-container")).to_have_count(1)
    for button in ("Answer", "Show the answer"):
        page.keyboard.press("Tab")
        expect(forms.first.get_by_role("button", name=button, exact=True)).to_be_focused()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(alert.first).to_contain_text("5. The exponentials are")
    typed.focus()
    page.keyboard.type("0")                                                 # what was said is not said of another reply
    expect(alert.first).to_be_empty()
    typed.fill("5")
    page.keyboard.press("Enter")
    expect(alert.first).to_contain_text("✓ Right.")
    expect(show).to_be_hidden()
    expect(counted).to_have_text("1 of 5 answered.")

    right, lines = load("02")[1]["order"], forms.nth(1).locator("li")
    up, down = (forms.nth(1).get_by_role("button", name=f"Move {way}") for way in ("up", "down"))
    for to, text in enumerate(right[:-1]):                                  # to its place, from the top on
        at = next(i for i, line in enumerate(lines.all_inner_texts()) if text[:8] in line)
        up.nth(at).focus()
        for step in range(at, to, -1):                                      # the keyboard goes with the text
            page.keyboard.press("Enter")
            expect(lines.nth(step - 1)).to_contain_text(text[:8])
            expect((up if step > 1 else down).nth(step - 1)).to_be_focused()
            expect(forms.nth(1).get_by_role("status")).to_have_text(f"Now in place {step} of 5.")
    assert up.first.is_disabled() and down.last.is_disabled()
    forms.nth(1).get_by_role("button", name="Answer", exact=True).press("Enter")
    expect(alert.nth(1)).to_contain_text("✓ Right. The mask comes before")

    for place in (2, 3, 4):                                                 # the first of three: one of them is right
        group = forms.nth(place).get_by_role("group", name=f"{place + 1}.")
        group.get_by_role("radio").first.focus()
        page.keyboard.press("Enter")
        expect(alert.nth(place)).to_have_text("Choose one of the answers.")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(alert.nth(place)).to_contain_text("ight.")
    expect(counted).to_have_text("2 of 5 at the first try.")
    assert "$" not in live.inner_text() and "\\(" not in live.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 390

    page.add_script_tag(path=package("axe-core") / "axe.min.js")
    for theme in ("light", "dark"):
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        assert page.evaluate(AXE.replace("document", "'.questions'"), [{}]) == [], theme
    assert complaints == [] and all(url.startswith((address, "data:", "blob:")) for url in asked)


def test_who_comes_back_finds_the_first_tries_and_may_answer_again(page, address):
    page.goto(address + LECTURE)
    first = {"0": False, "1": True, "2": False, "3": True, "4": False}
    page.evaluate("first => { kept.set('quizzes', '02', first); kept.set('predictions', 'a', 1); }", first)
    page.reload()
    live = page.locator(".questions")
    alert, counted, typed = live.get_by_role("alert"), live.locator(".counted p"), live.get_by_label("Your number:")
    show, again = (live.get_by_role("button", name=name) for name in ("Show the answer", "Begin again"))
    expect(counted).to_have_text("2 of 5 at the first try.")
    assert [text[:1] for text in live.locator("small").all_inner_texts()] == list("✗✓✗✓✗")
    assert alert.all_inner_texts() == [""] * 5 and show.count() == 3
    typed.fill("5")
    typed.press("Enter")
    expect(alert.first).to_contain_text("✓ Right.")
    assert json.loads(page.evaluate("localStorage.course")) == {"quizzes": {"02": first}, "predictions": {"a": 1}}
    order = "buttons => buttons.map((button) => button.ariaLabel)"
    start, ups = shuffled(load("02")[1]), live.locator("li button:first-child")
    live.get_by_role("button", name="Move down").first.click()
    assert ups.evaluate_all(order) != [f"Move up: {plain(text)}" for text in start]
    again.press("Enter")
    expect(counted).to_have_text("0 of 5 answered.")
    expect(typed).to_be_focused()
    expect(typed).to_have_value("")
    assert json.loads(page.evaluate("localStorage.course")) == {"quizzes": {}, "predictions": {"a": 1}}
    assert ups.evaluate_all(order) == [f"Move up: {plain(text)}" for text in start]
    assert again.count() == show.count() == 0 and alert.all_inner_texts() == [""] * 5


def test_a_search_does_not_quote_the_data(page, address, book):
    html = (book / LECTURE).read_text(encoding="utf-8")
    page.goto(address + "search.html")
    text = page.evaluate("html => Search.htmlToText(html)", html)
    assert '"solution"' in html and "Put the steps of masked" in text and '"solution"' not in text


def test_on_paper_and_without_scripts_there_is_the_list_of_all_answers(page, address):
    page.goto(address + LECTURE, wait_until="networkidle")
    still, live = page.locator(".live-quiz > .still"), page.locator(".questions")
    assert still.is_hidden() and live.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert live.is_hidden() and "\\(" not in still.inner_text()
    whys = still.locator("details > :not(summary)")
    assert whys.count() > 13 and all(why.is_visible() for why in whys.all())
    quiet = page.context.browser.new_page(java_script_enabled=False)
    quiet.goto(address + LECTURE)
    quiet.locator(".still summary").first.click()
    expect(quiet.locator(".still dd").first).to_be_visible()
    assert quiet.locator(".questions").count() == 0
    assert quiet.locator(".still").inner_html() == quiet.evaluate("""html => {
        const made = document.createElement("div");
        made.innerHTML = html;
        made.querySelector("details").open = true;
        return made.innerHTML; }""", listed(load("02")))


REFUSED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError'); }"
ODD = "localStorage.course = '{nonsense'"


@pytest.mark.parametrize("script, stays", [(REFUSED, False), (FULL, False), (ODD, True)])
def test_a_quiz_counts_where_the_browser_keeps_nothing(page, address, script, stays):
    complaints = []
    page.on("pageerror", lambda error: re.search("quiz|kept|book", error.stack) and complaints.append(error.stack))
    page.add_init_script(f"if (!sessionStorage.begun) {{ {script} }}" if stays else script)
    page.goto(address + LECTURE)
    page.evaluate("sessionStorage.begun = 1")
    typed, counted = page.get_by_label("Your number:"), page.locator(".counted p")
    for reply in ("6", "5"):
        typed.fill(reply)
        typed.press("Enter")
        expect(counted).to_have_text("1 of 5 answered.")
    assert page.evaluate("[kept.get('quizzes', '02'), kept.get('predictions', 'a')]") == [{"0": False}, None]
    page.reload()
    expect(counted).to_have_text(f"{int(stays)} of 5 answered.")
    assert complaints == []
