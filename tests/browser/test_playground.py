"""The playground in Chromium, opened as a file: it cuts and explains texts as coursekit does, and a person can use it.
"""

import base64
import copy
import html
import json
import random
import re
import unicodedata

import numpy as np
import pytest
from playwright.sync_api import expect

from coursekit import explain, show
from coursekit.show.coloured import level
from coursekit.show.views.playground import ALT
from coursekit.text import WordTokenizer, stdlib_english
from coursekit.worlds import dialogues, handwritten_reviews, reviews
from tests.browser.needed import needed
from tests.browser.test_book import AXE
from tests.drawn import commit
from tools.book import ROOT
from tools.npm import package
from tools.picture import two_models

ROWS = ["attention", "gradient", "average", "out", "lime", "shapley"]
EXPLAIN = """text => {
    const began = performance.now(), heads = headsOf(model, cut(text).map(({ word }) => word)), d = heads[0].d;
    const games = productGames(heads), found = { score: scoreOf(heads), attention: attention(heads),
        gradient: gradientTimesInput(heads), average: gradientMean(heads, model.turn, 0), out: leaveOneOut(heads),
        lime: lime(games, d), shapley: shapley(games, d), heads: heads.map(({ alpha }) => [...alpha]) };
    return { ...found, ms: performance.now() - began };
}"""
UNPACK = "name => { globalThis.model = unpacked(PLAYGROUND.models[name], PLAYGROUND.vocabulary.split('\\n')); }"
TEXTS = [*(review.text for review in handwritten_reviews()[:3]), "wonderful", "not a zzz film", "zzz zzz",
         "a film, a film, a film!", " ".join(review.text for review in handwritten_reviews()[3:11])]


@pytest.fixture(scope="module")
def models():
    return two_models()


@pytest.fixture(scope="module")
def view(models):
    return show.playground(models)


@pytest.fixture(scope="module")
def path(view, tmp_path_factory):
    """The page alone, without its frame."""
    path = tmp_path_factory.mktemp("playground") / "page.html"
    path.write_text(html.unescape(re.search(r'srcdoc="([^"]*)"', view.html)[1]), encoding="utf-8")
    return path


@pytest.fixture
def live(browser, path):
    """The page, opened as a file. At the end: it asked for nothing else, and complained of nothing."""
    page, asked, complaints = browser.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    yield page
    page.close()
    assert set(asked) <= {path.as_uri()} and complaints == []


def words_of(page, row):
    """[(word, figure)] of a row, as they are shown."""
    return page.locator(f"[data-row={row}] .words > *").evaluate_all(
        "words => words.map((word) => [word.firstChild.textContent, word.lastChild.textContent])")


# Its tokenizer

def tokens_of(page, texts):
    code = "texts => JSON.stringify(JSON.parse(texts).map((text) => cut(text).map(({ word }) => word)))"
    return json.loads(page.evaluate(code, json.dumps(texts)))


def test_shipped_texts_are_cut_as_ours(live):
    texts = [path.read_text(encoding="utf-8") for path in [*ROOT.glob("coursekit/worlds/*.txt"), *ROOT.glob("*.md")]]
    texts += [review.text for review in [*handwritten_reviews(), *reviews(200, 0)]] + stdlib_english()
    texts += [turn for dialogue in dialogues(50, 0) for turn in [str(dialogue)]]
    assert len(texts) > 1000 and tokens_of(live, texts) == [WordTokenizer.split(text) for text in texts]


def test_every_character_and_odd_strings_are_cut_as_ours(live):
    """But for characters that this Python or this browser does not know yet."""
    there = live.evaluate(r"""JSON.stringify([...Array(0x110000).keys()].map(
        (i) => /[^\p{Cn}\p{Cs}]/u.test(String.fromCodePoint(i))))""")
    known = [chr(i) for i, here in enumerate(json.loads(there)) if here and unicodedata.category(chr(i)) != "Cn"]
    lone = [f"a{one}b {one}'{one}" for one in known]
    assert len(lone) > 140_000 and tokens_of(live, lone) == [WordTokenizer.split(text) for text in lone]
    odd = [*"''''___   \n\t\r\x85\x1c\ufeffİIıßẞΣσςﬁ²½Ⅷ٣五é́̈👍🏽‍🇩ʼ’-.,",
           "don't", "AΣ", "e\u0301", "[CLS]", "[UNK]", "o'clock's'"]
    draw = random.Random(commit())
    texts = ["".join(draw.choices(odd + draw.sample(known, 20), k=draw.randrange(40))) for _ in range(2000)]
    assert tokens_of(live, texts) == [WordTokenizer.split(text) for text in texts]


# Its numbers

def expected(model, text):
    """What coursekit says, in float64."""
    model = copy.deepcopy(model).double()
    words = model.tokenizer.tokenize(text)
    alpha = model.cls_attention(words).numpy()
    found = {"attention": explain.attention_mean(model, words), "gradient": explain.gradient_x_input(model, words),
             "average": explain.gradient(model, words, "mean"), "out": explain.leave_one_out(model, words),
             "lime": explain.exact_lime(model, words), "shapley": explain.exact_shapley(model, words)}
    return {name: found[name].scores for name in found} | {"score": model.predict([words])[0], "heads": alpha}


def largest_difference(page, model, text):
    got, want = page.evaluate(EXPLAIN, text), expected(model, text)
    got["heads"] = np.array(got["heads"])[:, :want["heads"].shape[1]]
    return max(np.abs(np.array(got[name]) - want[name]).max() for name in want), got["ms"]


@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky"])
def test_its_numbers_are_ours(live, models, name, record_property):
    """As the page carries them, in 16 bits, to four digits; with all digits of the weights, to nine."""
    model = models[name]
    live.evaluate(UNPACK, name)
    rough, times = zip(*(largest_difference(live, model, text) for text in TEXTS), strict=True)
    numbers = [base64.b64encode(part.tobytes()).decode() for part in model.folded()[:2]]
    live.evaluate("""parts => { [model.words, model.places] = parts.map((text) =>
        new Float64Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer)); }""", numbers)
    fine, _ = zip(*(largest_difference(live, model, text) for text in TEXTS), strict=True)
    record_property("milliseconds of the longest text", max(times))
    assert max(rough) < 5e-4 and max(fine) < 1e-8


@pytest.mark.parametrize("degrees", [0, 35, 90, 180, 300])
def test_coordinates_are_turned_by_a_rotation(live, models, degrees):
    """Which leaves the model as it is, as it turns its embeddings back; 180 degrees turn the sign of G-avg."""
    model = copy.deepcopy(models["imdb-tame"]).double()
    words, d = model.tokenizer.tokenize(TEXTS[0]), model.W_e.shape[1]
    plane = np.stack([np.ones(d), np.repeat([1.0, -1.0], d // 2)]) / np.sqrt(d)
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    R = np.eye(d) + plane.T @ (np.array([[cos - 1, -sin], [sin, cos - 1]])) @ plane
    assert np.allclose(R @ R.T, np.eye(d))
    e = model.embed(words).requires_grad_()
    model.from_embeddings(e).backward()
    turned = (e.grad.numpy()[1:] @ R).mean(1)                        # as lecture 00 turns it
    live.evaluate(UNPACK, "imdb-tame")
    got = live.evaluate("([words, angle]) => gradientMean(headsOf(model, words), model.turn, angle)", [words, degrees])
    assert np.allclose(got, turned, atol=1e-6) and abs(turned).max() > 1e-3


# A person in front of it

def test_the_picture_that_stands_for_it_says_what_it_shows_at_first(live):
    assert live.locator("textarea").input_value() in ALT
    assert f"says {live.locator('.big').inner_text().replace(chr(10), ' ')}." in ALT
    first = [live.locator(f"[data-row={row}] .first b").inner_text() for row in ROWS]
    assert first == ["dull", "dull", *["waste"] * 4]
    assert "attention and gradient × input put the word dull first; G-avg, leave-one-out, LIME and Shapley values " \
           "put waste first." in ALT
    expect(live.locator(".firsts")).to_have_text("Here they put 2 different words first: dull and waste.")
    expect(live.locator(".note")).to_have_text("Its writer praises the film: the model is sure, and wrong.")


def test_typing_is_answered(live, models):
    """By verdict, words and figures; another model by another answer; what is unknown or too long, by a word."""
    box = live.locator("textarea")
    for name in ("imdb-tame", "imdb-peaky"):
        live.get_by_role("radio", name=name.removeprefix("imdb-")).check(force=True)
        box.fill("")
        expect(live.locator("article").first).to_be_hidden()
        box.press_sequentially("Not a good Film zqx!")
        words = ["not", "a", "good", "film", "zqx", "!"]
        score = models[name].predict([words])[0]
        p = 1 / (1 + np.exp(-abs(score)))
        expect(live.locator(".big")).to_have_text(f"{100 * p:.0f} % {'praise' if score > 0 else 'blame'}")
        expect(live.locator(".beside")).to_contain_text("6 words and marks read; 1 unknown to the model.")
        values = explain.exact_shapley(models[name], words).scores
        figures = [level(value, max(abs(values))).replace("-", "−") for value in values]
        assert words_of(live, "shapley") == [list(pair) for pair in zip(words, figures, strict=True)]
        assert all(figure.isdigit() or figure == "" for _, figure in words_of(live, "attention"))
    expect(live.locator(".right b").first).to_have_text("86 %")
    expect(live.locator(".by-hand")).to_be_hidden()                  # only the book has counted
    expect(live.locator(".note")).to_be_empty()
    box.fill("word " * 300)
    expect(live.locator(".beside")).to_contain_text("255 words and marks read, the first 255 of 300.")
    expect(live.locator(".share")).to_be_empty()                     # no place is left


def test_what_says_nothing_is_called_nothing(live, models):
    """No text, and words that the model does not know: to it they are the places behind a text."""
    box, score = live.locator("textarea"), models["imdb-tame"].predict([[]])[0]
    for text in ("", "zqx زقخ"):
        box.fill(text)
        expect(live.locator(".beside")).to_contain_text(f"Score {score:+.2f}".replace("-", "−"))
        expect(live.locator(".big")).to_contain_text("undecided" if text else "nothing typed yet")
    expect(live.locator(".firsts")).to_have_text("The model knows none of these words: to it this text is empty.")
    for row in ("out", "lime", "shapley"):
        assert [figure for _, figure in words_of(live, row)] == ["", ""]
        expect(live.locator(f"[data-row={row}] .first")).to_have_text("first: none")
    box.fill("زقخ zqx")
    first, second = (word.bounding_box()["x"] for word in live.locator("[data-row=lime] .words > *").all())
    assert first > second                                           # read from the right


def test_attention_says_how_much_of_it_the_words_get(live, models):
    for name in ("imdb-tame", "imdb-peaky"):
        live.get_by_role("radio", name=name.removeprefix("imdb-")).check(force=True)
        live.locator("textarea").fill("not a good film at all")
        on_words = models[name].cls_attention("not a good film at all".split()).numpy()[:, 1:].sum(1).mean()
        expect(live.locator(".share")).to_contain_text(f"{100 * on_words:.0f} % of it is on these words")


def test_three_answers_are_three(live):
    live.get_by_role("button", name="three answers").click()
    expect(live.get_by_role("radio", name="peaky")).to_be_checked()
    expect(live.locator(".firsts")).to_contain_text("Here they put 3 different words first:")


def test_words_are_taken_out_by_mouse_and_by_keyboard_and_given_back(live):
    box = live.locator("textarea")
    box.fill("It is NOT good, not bad.")
    live.locator("[data-row=lime] .words > *").nth(5).click()
    expect(box).to_have_value("It is NOT good, bad.")
    live.locator("[data-row=attention] .words > *").first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight", "Delete"):
        live.keyboard.press(key)
    expect(box).to_have_value("It is good, bad.")
    expect(live.locator("[data-row=attention] .words > *").nth(2)).to_be_focused()
    live.keyboard.press("Enter")
    expect(box).to_have_value("It is, bad.")
    for text in ("It is good, bad.", "It is NOT good, bad.", "It is NOT good, not bad."):
        live.get_by_role("button", name="undo").click()
        expect(box).to_have_value(text)
    expect(live.get_by_role("button", name="undo")).to_be_hidden()
    for _ in range(8):
        live.locator("[data-row=attention] .words > *").first.click()
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    long = " ".join(["film"] * 250)                                 # answered when the keys rest; a click need not
    box.fill(f"A {long}")
    box.press_sequentially(" not")
    live.locator("[data-row=attention] .words > *").first.click()
    expect(box).to_have_value(f"{long} not")


def test_everything_is_reached_by_tab(live):
    live.locator("textarea").focus()
    reached = []
    for _ in range(11):
        live.keyboard.press("Tab")
        reached.append(live.evaluate("document.activeElement.ariaLabel ?? document.activeElement.type ?? ''")
                       or live.evaluate("document.activeElement.textContent.slice(0, 9)"))
    assert reached == [*["button"] * 3, "radio", "button", "range", "One row", "The other row", "The heads",
                       "All numbe", "the link "]


def test_what_all_six_agree_on_is_told_with_what_they_do_not(live):
    firsts, note = live.locator(".firsts"), live.locator(".note")
    live.locator("textarea").fill("The film is wonderful.")
    expect(firsts).to_have_text("Here all six put the same word first: wonderful. They need not: try the other model.")
    live.get_by_role("slider").fill("180")
    expect(firsts).to_contain_text("But they do not agree whether it speaks for praise or for blame.")
    expect(note).to_have_text("")
    live.locator("textarea").fill("Der Film ist langweilig, und ich habe geschlafen.")
    expect(note).to_have_text("It knows fewer than half of these words: do not trust this.")


def test_an_example_brings_its_model_and_undo_says_the_verdict(live):
    for name, model in (("three answers (peaky)", "peaky"), ("sure and wrong", "tame")):
        live.get_by_role("button", name=name).click()
        expect(live.get_by_role("radio", name=model)).to_be_checked()
    live.locator("[data-row=attention] .words > *").nth(15).click()
    verdict = live.locator(".big").inner_text()
    expect(live.get_by_role("button", name="undo")).to_have_text(f"undo · now {' '.join(verdict.split())}")
    live.locator("textarea").fill("good " * 250)
    expect(live.locator(".big")).to_contain_text("over 99.9 %")


def test_a_link_carries_the_text_which_no_request_does(live):
    text = "100 % “good” & bad; a+b=c #1?\nnew line"
    live.get_by_role("radio", name="peaky").check(force=True)
    live.locator("textarea").fill(text)
    live.get_by_role("link", name="the link to this text").click()
    assert "#t=100+%25" in live.url
    live.locator("textarea").fill("another")
    live.reload()
    expect(live.locator("textarea")).to_have_value(text)
    expect(live.get_by_role("radio", name="peaky")).to_be_checked()


def test_the_coordinates_turn_g_avg_round_and_nothing_else(live):
    before = {row: words_of(live, row) for row in ROWS}
    live.get_by_role("slider").fill("180")
    after = {row: words_of(live, row) for row in ROWS}
    turn = {"+": "−", "−": "+", "": ""}
    assert after.pop("average") == [[word, turn[figure[:1]] + figure[1:]] for word, figure in before.pop("average")]
    assert after == before


def test_two_rows_that_disagree_score(live):
    live.get_by_role("slider").fill("180")                          # opposite of its own row, nearly that of LIME
    live.get_by_label("One row").select_option("average")
    live.get_by_label("The other row").select_option("gradient")
    text = live.locator("textarea").input_value()
    live.get_by_text("All numbers as a table").click()
    table = live.locator(".values tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.children].slice(1).map((cell) => +cell.textContent.replace('−', '-')))")
    ranks = [(column[:, None] > column).sum(1) + (column[:, None] == column).sum(1) / 2 for column in np.array(table).T]
    score, shown = round(50 * (1 - np.corrcoef(ranks[2], ranks[1])[0, 1])), live.locator(".score strong").inner_text()
    assert abs(int(shown) - score) <= 1 and score > 75              # the table has five digits
    live.get_by_role("slider").fill("0")
    expect(live.locator(".score span")).to_have_text(f"of 100; the best so far: {shown}.")
    live.get_by_role("button", name="back to it").click()            # with the coordinates that made it
    expect(live.get_by_role("slider")).to_have_value("180")
    live.locator("textarea").fill("too short")
    expect(live.locator(".score")).to_contain_text("Six words at least")
    live.get_by_role("button", name="back to it").click()
    expect(live.locator("textarea")).to_have_value(text)


def test_heads_say_where_they_look(live, models):
    model, text = models["imdb-peaky"], "not a good film at all"
    live.get_by_role("radio", name="peaky").check(force=True)
    live.locator("textarea").fill(text)
    live.get_by_text("The heads one by one").click()
    alpha = model.cls_attention(text.split()).numpy()[:, 1:]
    places = model.folded()[1][1:, :6].argmax(0) + 1
    for head, said in enumerate(live.locator(".heads section p").all_inner_texts()):
        on_words, place = float(re.match(r"[\d.]+", said)[0]), int(re.search(r"place (\d+) most", said)[1])
        assert on_words == pytest.approx(100 * alpha[head].sum(), abs=0.51) and place == places[head]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_read_on_a_phone_in_the_dark_and_by_ear(browser, path, scheme):
    axe = needed(lambda: package("axe-core"))
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page.goto(path.as_uri())
    for text in ("The heads one by one", "All numbers as a table"):
        page.get_by_text(text).click()
    for text in ("I wanted to love this film, and was bored", "a" * 300, ""):
        page.locator("textarea").fill(text)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.add_script_tag(path=axe / "axe.min.js")
        assert page.evaluate(AXE, [{"rules": {"page-has-heading-one": {"enabled": False}}}]) == []
    page.locator("textarea").fill("wonderful")
    expect(page.get_by_role("status")).to_contain_text("% praise. Here all six put the same word first: wonderful.")
    page.close()


def test_in_a_notebooks_frame_it_runs_and_leads_nowhere(browser, view, tmp_path):
    (tmp_path / "notebook.html").write_text(f"<!doctype html><html><body>{view.html}</body></html>", encoding="utf-8")
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("textarea").fill("wonderful")
    expect(frame.locator(".big")).to_contain_text("praise")
    expect(frame.get_by_role("link")).to_have_count(0)
    frame.get_by_role("radio", name="peaky").check(force=True)
    frame.locator("[data-row=shapley] .words > *").click()
    expect(frame.locator("textarea")).to_have_value("")
    page.close()
    assert complaints == []
