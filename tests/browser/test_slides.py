"""Each deck in Chromium, opened from the disk: every slide, all its fragments shown, fits its page and can be read."""

import re

import pytest

from tests.browser.needed import needed
from tests.drawn import sampled, touches
from tools import decks, npm, slides

TOOL = ("tools/decks.py", "tools/slides.py", "tools/charts.py", "tools/tables.py", "tools/npm.py",
        "docs/site/slides", "docs/site/formulas", "docs/site/package", "tests/browser/test_slides.py")

DRAWN = 6 if touches(*TOOL) else 2


def of_deck(name, path):
    return path.startswith((f"docs/slides/{name}.", f"lectures/{name}_"))


@pytest.fixture(scope="module")
def built():
    """A function from a deck's name to its page, made once."""
    made = {}

    def path(name):
        if name not in made:
            made[name] = needed(lambda: slides.build(name))
        return made[name]
    return path


@pytest.mark.parametrize("deck", sampled(decks.names(), DRAWN, "slides", most=2, whose=of_deck))
def test_every_slide_fits_and_asks_for_nothing(deck, built, browser):
    path = built(deck)
    asked, complaints = [], []
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    slides.opened(tab, path)
    wrong = [f"{slide['title']}: {words}" for slide in tab.evaluate("measure()") for words in slides.faults(slide)]
    unnamed = tab.locator("img:not([alt]), img[alt='']").count()
    tab.close()
    assert not wrong and not complaints and not unnamed
    assert all(url.startswith((path.as_uri(), "data:")) for url in asked)
    text = re.sub('<p class="foot">.*?</p>', "", path.read_text(encoding="utf-8"))         # they lead to the book
    assert not re.search(r"""(src|href)=["']?(https?:|//)|url\(["']?(https?:|//)|@import""", text)


def test_letters_of_figures_are_measured(built, browser):
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    slides.opened(tab, built("07"))
    place = "Reveal.getSlides()[{}].querySelector('.output{}')"
    chart, picture = (next(i for i in range(30) if tab.evaluate(place.format(i, kind))) for kind in (" svg", " img"))

    def letters(i, size):
        scale = float(tab.evaluate(f"{place.format(i, '')}.dataset.scale"))
        return tab.evaluate("measure()")[i]["figure"] == pytest.approx(size * scale, rel=.01)

    assert letters(chart, 22)
    assert letters(picture, 12.5)                                       # of what does not say
    tab.evaluate(f"{place.format(picture, ' img')}.dataset.letters = 20")
    assert letters(picture, 20)
    tab.evaluate(f"{place.format(chart, ' text')}.setAttribute('font-size', 5)")
    assert any("16 are needed" in words for words in slides.faults(tab.evaluate("measure()")[chart]))
    tab.evaluate(f"{place.format(chart, ' svg')}.append({place.format(chart, ' text')}.cloneNode(true))")
    assert "cover each other" in str(slides.faults(tab.evaluate("measure()")[chart]))
    tab.close()


@pytest.mark.parametrize("deck", sampled(decks.names(), 1, "slides", most=0))
def test_printed_it_has_a_page_for_each_slide_and_axe_finds_nothing_serious(deck, built, browser):
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    slides.opened(tab, built(deck), "?print-pdf")
    assert tab.locator(".pdf-page").count() == len(decks.deck(deck)) + 1
    tab.add_script_tag(path=npm.package("axe-core") / "axe.min.js")
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    tab.close()
    assert not [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found
                if fault["impact"] in ("serious", "critical")]


def test_the_speaker_s_window_follows_and_leads(built, browser):
    deck = decks.deck("02")
    tab = browser.new_page()
    slides.opened(tab, built("02"))
    with tab.expect_popup() as opening:
        tab.keyboard.press("s")
    speaker = opening.value
    assert "You will" in speaker.inner_text("main")
    speaker.keyboard.press("ArrowRight")
    assert tab.locator("section.present h2").inner_text() == deck[0]["title"]
    assert deck[0]["notes"][:40] in speaker.inner_text("main")
    assert speaker.inner_text("#next") == deck[1]["title"]
    titles = [slide["title"] for slide in deck]
    asked = next(i for i, slide in enumerate(deck) if "answer" in slide)
    tab.evaluate(f"Reveal.slide({asked + 1})")
    assert speaker.inner_text("#next") == "the answer, on this slide"
    assert "Answer." in speaker.inner_text("#answer") and not tab.locator("section.present .answer.visible").count()
    core, _ = decks.minutes(deck[:asked])
    assert speaker.inner_text("#due").endswith(f"minute {core}")
    left = [slide["title"] for slide in deck[asked:] if slide["notes"].startswith("Optional")]
    assert all(title in speaker.inner_text("#skip") for title in left)
    assert speaker.inner_text("#picture h2") == titles[asked + 1]
    tab.close()


def test_a_handout_has_three_slides_a_page_and_no_answer(built, browser, tmp_path):
    deck = decks.deck("07")
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    slides.opened(tab, built("07"), "?handout")
    pdf = tab.pdf(path=tmp_path / "handout.pdf", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == -(-(len(deck) + 1) // 3)
    shown = tab.inner_text("body")
    assert "Predict first." in shown and "Answer." not in shown and not tab.locator(".answer, .visible").count()
    outputs = sum("cell" in slide and "predict" not in slide for slide in deck)
    assert tab.locator(".output").count() <= outputs
    assert tab.locator(".row").count() == len(deck) + 1 and tab.locator(".row .lines").count() == len(deck) + 1
    tab.close()


def test_the_right_choice_is_marked_with_the_answer(built, browser):
    deck = decks.deck("07")
    i = next(i for i, slide in enumerate(deck) if "choices" in slide)
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    slides.opened(tab, built("07"))
    tab.evaluate(f"Reveal.slide({i + 1})")
    lines = tab.locator("section.present .choices li")
    assert lines.count() == len(deck[i]["choices"]) and all(line.is_visible() for line in lines.all())
    assert not tab.locator("section.present .choices .visible").count()
    tab.keyboard.press("ArrowRight")
    [right] = tab.locator("section.present .choices .visible").all()
    assert right.inner_text().startswith(deck[i]["right"]) and tab.locator("section.present .answer").is_visible()
    tab.close()


def test_a_key_turns_a_slide_to_its_code_and_the_next_slide_is_not_turned(built, browser):
    deck = decks.deck("07")
    i = next(i for i, slide in enumerate(deck) if "cell" in slide and "code" not in slide)
    source = decks.section("07", deck[i]["cell"])[1]
    tab = browser.new_page(viewport={"width": slides.WIDTH, "height": slides.HEIGHT})
    slides.opened(tab, built("07"))
    tab.evaluate(f"Reveal.slide({i + 1})")
    code, shown = tab.locator("section.present .behind"), tab.locator("section.present .both")
    assert shown.is_visible() and not code.is_visible()
    tab.keyboard.press("c")
    assert code.inner_text().split() == source.split() and code.is_visible() and not shown.is_visible()
    tab.locator("section.present .foot button").click()
    assert shown.is_visible() and not code.is_visible()
    tab.keyboard.press("c")
    tab.evaluate(f"Reveal.slide({i})")
    tab.evaluate(f"Reveal.slide({i + 1})")
    assert shown.is_visible()
    with tab.expect_popup() as opening:
        tab.keyboard.press("s")
    opening.value.keyboard.press("c")
    assert code.is_visible()
    tab.close()
