"""Boxes and arrows: what is drawn is what was given, and no string breaks out."""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.show import arrows, token_boxes
from coursekit.show.html import visible

SVG = "{http://www.w3.org/2000/svg}"


def drawing(shown):
    return ElementTree.fromstring(base64.b64decode(re.search(r"svg\+xml;base64,([^\"]+)", shown.html)[1]))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=6), min_size=1, max_size=5))
def test_any_string_can_be_drawn(tokens):
    n = len(tokens)
    A = np.full((n, n), 1 / n)
    words = [text.text or "" for text in drawing(arrows(A, tokens)).findall(f"{SVG}text")]
    assert [w.replace("␣", " ") for w in words] == [visible(t).replace("␣", " ") for t in tokens] * 2
    html = token_boxes([("<i>", tokens, range(n))]).html
    assert set(re.findall(r"<(\w+)", html)) <= {"table", "tbody", "tr", "th", "td", "div", "span", "code", "br"}
    html.encode("utf-8")


def test_lines_are_the_weights():
    A = np.array([[0.7, 0.3, 0.0], [0.01, 0.0, 0.99]])
    lines = drawing(arrows(A, ["a", "b"], ["x", "y", "z"])).findall(f".//{SVG}path")
    assert len(lines) == 3                                              # 0.01 is below 3 % of 0.99
    opacities = [float(line.get("opacity")) for line in lines]
    assert opacities == sorted(opacities) and opacities[-1] == 1
    assert [float(line.get("stroke-width")) for line in lines] == sorted(float(x.get("stroke-width")) for x in lines)


def test_alternative_text_of_arrows_says_where_the_weight_goes():
    shown = arrows([[0.7, 0.3], [0.2, 0.8]], ['"a"', "b"], ["x", "y"], title="one head")
    assert repr(shown) == ('one head: Attention from 2 queries to 2 keys. '
                           'Largest weight of each query: "a" → x 0.70; b → y 0.80.')
    assert 'alt="one head: Attention from 2 queries' in shown.html and 'query: &quot;a&quot; → x' in shown.html
    assert shown.html == arrows([[0.7, 0.3], [0.2, 0.8]], ['"a"', "b"], ["x", "y"], title="one head").html


def test_neighbouring_boxes_differ_and_ids_stand_below():
    html = token_boxes([("bytes", ["l", "ow", " log"], [7, 8, 900])]).html
    grounds = re.findall(r"border-radius:4px;background:(rgba[^\"]+)", html)
    assert grounds[0] == grounds[2] != grounds[1]
    assert re.findall(r"opacity:.8\">(\d+)<", html) == ["7", "8", "900"]
    assert "␣log" in html


def test_boxes_without_ids_and_without_tokens():
    assert repr(token_boxes([("words", ["low", "login"], None), ("none", [])])) == (
        "words  2 tokens  low | login\nnone   0 tokens")


@pytest.mark.parametrize("call, error, words", [
    (lambda: arrows([[1, 0]], ["a"]), ValueError, r"A must have shape \(1, 1\), got \(1, 2\)"),
    (lambda: arrows([[-1.0]], ["a"]), ValueError, "not negative"),
    (lambda: arrows([[np.nan]], ["a"]), ValueError, r"finite, got nan at index \(0, 0\)"),
    (lambda: arrows(np.zeros((0, 0)), []), ValueError, "at least one weight"),
    (lambda: arrows([[1]], "a"), TypeError, "queries must be a list of strings"),
    (lambda: token_boxes([]), ValueError, "at least one row"),
    (lambda: token_boxes(["ab"]), ValueError, "row 0 must be"),
    (lambda: token_boxes([("words", "low login")]), TypeError, r"tokens of row 0 \(words\)"),
    (lambda: token_boxes([("words", ["low"], [1, 2])]), ValueError, r"ids of row 0 \(words\) must have shape \(1,\)"),
    (lambda: token_boxes([("words", ["low"], [1.5])]), ValueError, "whole numbers"),
])
def test_bad_input_gets_one_clear_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
