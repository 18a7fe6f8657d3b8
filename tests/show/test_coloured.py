"""Coloured text: nothing in a token can become markup, signs and sizes show, and letters stay readable."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.explain import Attribution
from coursekit.show import compare, highlight
from coursekit.show.coloured import level, tint
from coursekit.show.html import visible

OURS = {"div", "span", "b", "br", "table", "tbody", "tr", "th", "td", "sub", "small", "details", "summary"}
TOKENS = ["the", "play", "##er", "<script>", "&amp;", '"', "'", "😀", "שלום", "a\nb", " x", "Ġy", "", "\x00", "\ud800"]
tokens_and_scores = st.lists(
    st.tuples(st.one_of(st.text(max_size=8), st.sampled_from(TOKENS)), st.floats(-1e6, 1e6)), max_size=12)


class Page(HTMLParser):
    """What a browser makes of a page: its tags, all attributes, and the text of each element that has a tooltip."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.tokens, self.titles, self.styles, self.names = set(), set(), [], [], [], []
        self.inside = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        attributes = dict(attributes)
        self.attributes |= set(attributes)
        self.inside = None
        if "title" in attributes:
            self.tokens.append("")
            self.titles.append(attributes["title"])
            self.styles.append(attributes["style"])
            self.inside = self.tokens
        elif tag == "th":
            self.names.append("")
            self.inside = self.names

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.inside[-1] += data


@settings(deadline=None, max_examples=50)
@given(tokens_and_scores, st.text(max_size=8))
def test_tokens_are_text_and_nothing_else(pairs, title):
    tokens, scores = [t for t, _ in pairs], [s for _, s in pairs]
    shown = highlight(tokens, scores, title=title)
    page = Page(shown.html)
    assert page.tokens == [visible(t) for t in tokens]
    assert page.tags <= OURS and page.attributes <= {"style", "title", "dir"}
    for token in tokens:
        assert visible(token) in repr(shown)
    shown.html.encode("utf-8"), repr(shown).encode("utf-8")             # a notebook can be saved with it


@settings(deadline=None, max_examples=50)
@given(tokens_and_scores, st.text(max_size=8))
def test_compare_escapes_tokens_and_names(pairs, name):
    tokens, scores = [t for t, _ in pairs], [s for _, s in pairs]
    page = Page(compare([(name, tokens, scores), ("<b>", tokens, scores)]).html)
    assert sorted(page.tokens) == sorted(2 * [visible(t) for t in tokens])
    assert set(page.names) == {visible(name), "<b>"}
    assert page.tags <= OURS and page.attributes <= {"style", "title", "dir", "scope"}


@given(st.text())
def test_visible_keeps_letters_and_one_line(text):
    shown = visible(text)
    assert len(shown) == len(text) and shown.splitlines() in ([], [shown])
    assert all(a == b for a, b in zip(text, shown, strict=True) if a.isprintable())


def test_control_characters_have_signs_of_their_own():
    signs = [visible(chr(code)) for code in range(32)]
    assert signs[9] == "⇥" and signs[10] == "↵" and visible("\x7f\x85") == "␡␡"
    assert all(ord(sign) == 0x2400 + code for code, sign in enumerate(signs) if code not in (9, 10))


def opacity(style):
    found = re.match(r"background:rgba\((\d+),(\d+),(\d+),([\d.]+)\)", style)
    return float(found[4]) if found else 0.0


@given(st.floats(0.01, 1e9), st.lists(st.floats(-1, 1), min_size=2, max_size=2))
def test_stronger_scores_have_stronger_colours(scale, parts):
    weak, strong = sorted((scale * p for p in parts), key=abs)
    assert opacity(tint(weak, scale)) <= opacity(tint(strong, scale)) <= opacity(tint(scale, scale))
    assert tint(-strong, scale).split(",")[-1] == tint(strong, scale).split(",")[-1]


def test_sign_shows_without_colour():
    positive, negative = Page(highlight(["a", "b"], [1, -1]).html).styles
    assert "solid" in positive and "dashed" in negative
    assert opacity(positive) == opacity(negative) > 0
    assert re.search(r"rgba\([\d,]+", positive)[0] != re.search(r"rgba\([\d,]+", negative)[0]


def figures(html):
    return re.findall(r"<sub>(?:<small>)?(.*?)(?:</small>)?</sub>", html)


def test_size_and_sign_show_without_colour_and_without_a_mouse():
    words, scores = ["a", "b", "c", "d"], [1.0, -0.5, 0.3, 0.01]
    stripped = re.sub(r' (style|title)="[^"]*"', "", highlight(words, scores).html)      # as GitHub shows it
    assert figures(stripped) == ["+9", "-4", "+3"]
    assert "<summary>scores</summary><div>a(+1) b(-0.5) c(+0.3) d(+0.01)</div>" in stripped
    stripped = re.sub(r' (style|title)="[^"]*"', "", compare([("x", words, scores), ("y", words, [0, 0, 0, -2])]).html)
    assert figures(stripped) == ["+9", "-4", "+3", "-9", "+9", "-9"]                     # the last two are the key's
    assert "<div>x: a(+1) b(-0.5) c(+0.3) d(+0.01)</div><div>y: a(0) b(0) c(0) d(-2)</div>" in stripped


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_figures_follow_the_scores(scores):
    found = [int(level(score, max(map(abs, scores))) or 0) for score in scores]
    assert all(a <= b for (_, a), (_, b) in pairwise(sorted(zip(scores, found, strict=True))))
    assert max(map(abs, found)) == (9 if any(scores) else 0)


def test_zero_and_all_zero_have_no_colour():
    assert [opacity(s) for s in Page(highlight(["a", "b"], [0, 3]).html).styles][0] == 0
    assert "rgba" not in highlight(["a", "b"], [0, -0.0]).html
    assert repr(highlight(["a", "b"], [0, -0.0])) == "a(0) b(0)"


def test_scale_is_shared_when_given():
    alone, shared = highlight(["a"], [1]), highlight(["a"], [1], scale=5)
    assert opacity(Page(alone.html).styles[0]) == pytest.approx(5 * opacity(Page(shared.html).styles[0]))
    assert opacity(Page(highlight(["a"], [9], scale=2).html).styles[0]) == opacity(Page(alone.html).styles[0])


def test_rows_of_compare_have_their_own_scale():
    words = ["not", "good"]
    page = Page(compare([("small", words, [1e-6, -5e-7]), ("large", words, [1e6, -5e5])]).html)
    assert page.styles[:2] == page.styles[2:]
    assert page.titles == ["+1e-06", "-5e-07", "+1e+06", "-5e+05"]


def test_compare_goes_on_in_bands_that_hold_every_token_once():
    words = [f"w{i}" for i in range(100)]
    page = Page(compare([("one", words, range(100)), ("two", words, range(100))]).html)
    assert page.names == ["one", "two"] * (len(page.names) // 2) and len(page.names) > 4
    assert sorted(page.tokens) == sorted(2 * words)


def test_compare_of_different_texts():
    shown = compare([("English", ["good", "film"], [1, 0]), ("Deutsch", ["guter", "Film", "!"], [1, 0, 0])])
    assert Page(shown.html).tokens == ["good", "film", "guter", "Film", "!"]
    assert repr(shown) == "English  good(+1) film(0)\nDeutsch  guter(+1) Film(0) !(0)"


def test_spaces_come_from_the_tokenizer():
    assert repr(highlight(["play", "##er", "won"], [0, 0, 0])) == "play(0)##er(0) won(0)"
    assert repr(highlight(["The", "Ġfilm", "s"], [0, 0, 0])) == "The(0)Ġfilm(0)s(0)"
    assert repr(highlight(["good", "film"], [0.42, -0.1])) == "good(+0.42) film(-0.1)"


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("letters, ground", [((17,) * 3, (255,) * 3), ((221,) * 3, (17,) * 3)], ids=["light", "dark"])
@pytest.mark.parametrize("sign", [1, -1])
def test_letters_stay_readable_on_every_colour(letters, ground, sign):
    for score in np.linspace(0.01, 1, 100):
        *rgb, alpha = map(float, re.search(r"rgba\(([\d.,]+)\)", tint(sign * score, 1.0))[1].split(","))
        behind = [alpha * c + (1 - alpha) * g for c, g in zip(rgb, ground, strict=True)]
        light, dark = sorted((luminance(letters), luminance(behind)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_text_colour_is_inherited():
    html = compare([("a", ["x"], [1])]).html + highlight(["x"], [1], title="t").html
    assert "opacity" not in html[html.index("positive") - 99:html.index("each row")]     # full contrast in the key
    assert not re.search(r"[;\"]color:", html)


def test_a_text_of_sixty_tokens_stays_small():
    words = (["the", "plot", "is", "thin", "but", "wonderfully", "acted", "."] * 8)[:60]
    assert len(highlight(words, np.linspace(-1, 1, 60), title="gradient × input").html) <= 12_000


def test_tensors_arrays_and_lists_are_the_same():
    words, scores = ["a", "b"], [0.5, -1.0]
    expected = highlight(words, scores).html
    assert highlight(words, np.float32(scores)).html == expected
    assert highlight(words, torch.tensor(scores, dtype=torch.bfloat16, requires_grad=True)).html == expected
    assert highlight(tuple(words), tuple(scores)).html == expected


def test_nothing_to_show():
    assert repr(highlight([], [])) == "(no tokens)" and "(no tokens)" in highlight([], []).html
    assert repr(compare([("a", [], [])])).strip() == "a"


@pytest.mark.parametrize("tokens, scores, options, error, words", [
    (["a", "b"], [1], {}, ValueError, "2 tokens and 1 scores"),
    (["a", "b"], [1, np.nan], {}, ValueError, "finite, got nan at index 1"),
    (["a"], [np.inf], {}, ValueError, "finite, got inf at index 0"),
    (["a"], ["x"], {}, ValueError, "real numbers"),
    (["a"], ["1"], {}, ValueError, "real numbers"),
    (["a"], [1j], {}, ValueError, "real numbers"),
    (["a"], [[1]], {}, ValueError, r"shape \(any,\), got \(1, 1\)"),
    ("ab", [1, 2], {}, TypeError, "single string 'ab'"),
    (["a", 3], [1, 2], {}, TypeError, "got 3 at index 1"),
    (None, [1], {}, TypeError, "list of strings, got None"),
    (["a"], [1], {"scale": 0}, ValueError, "positive finite"),
    (["a"], [1], {"scale": float("nan")}, ValueError, "positive finite"),
])
def test_bad_input_gets_one_clear_line(tokens, scores, options, error, words):
    with pytest.raises(error, match=words) as caught:
        highlight(tokens, scores, **options)
    assert "\n" not in str(caught.value)
    if not options:
        with pytest.raises(error, match=r"row 1 \(LIME\)") as caught:
            compare([("ok", ["a"], [1]), ("LIME", tokens, scores)])
        assert "\n" not in str(caught.value)


def test_compare_takes_attributions_as_they_are():
    """Of any length: one of three tokens is no triple."""
    words = ["a", "good", "film"]
    found = [Attribution(words, [0, 2, 1], "LIME", target=1), Attribution(words, [3, 0, 1], "m")]
    triples = [(one.title, one.tokens, one.scores) for one in found]
    assert compare(found).html == compare(triples).html and "LIME, class 1" in repr(compare(found))


def test_what_is_shown_saves_itself_as_a_page_and_a_plot_as_a_file(tmp_path):
    a = Attribution(["naïve", "映画"], [1, -2], "gradient × input")
    compare([a]).save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf8")
    assert compare([a]).html in page and '<meta charset="utf-8">' in page
    a.plot().save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("rows, words", [([], "at least one row"), ([("a", ["b"])], "row 0 must be an Attribution, or"),
                                         ([3], "row 0 must be an Attribution"), (["gradient"], "row 0 must be")])
def test_compare_wants_triples(rows, words):
    with pytest.raises(ValueError, match=words):
        compare(rows)
