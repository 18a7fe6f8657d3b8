"""The board: boxes where they belong, lines from column to column, and the same told in words."""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.show import board
from coursekit.show.html import visible

SVG = "{http://www.w3.org/2000/svg}"


def drawing(shown):
    return ElementTree.fromstring(base64.b64decode(re.search(r"svg\+xml;base64,([^\"]+)", shown.html)[1]))


def lines(shown):
    return drawing(shown).findall(f".//{SVG}path")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.text(max_size=6), min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_strings_can_be_drawn_and_none_is_lost(boxes):
    shown = board([(f"column {k}", names) for k, names in enumerate(boxes)])
    texts = [text.text or "" for text in drawing(shown).findall(f"{SVG}text")]
    assert texts == [word for k, names in enumerate(boxes) for word in (f"column {k}", *map(visible, names))]


@pytest.mark.parametrize("sizes, expected", [((3, 3), 3), ((1, 3), 3), ((3, 1), 3), ((2, 3), 6), ((1, 4, 4, 1), 12),
                                             ((2,), 0)])
def test_columns_alike_are_joined_box_by_box_and_others_all_with_all(sizes, expected):
    assert len(lines(board([("x", ["a"] * n) for n in sizes]))) == expected


def test_lines_do_not_cross_between_columns_alike_and_end_at_the_next_box():
    shown = board([("x", ["a", "b"]), ("y", ["c", "d"])])
    boxes = [(float(r.get("x")), float(r.get("y"))) for r in drawing(shown).findall(f"{SVG}rect")[1:]]
    for line, box in zip(lines(shown), boxes[2:], strict=True):
        start, end = (tuple(map(float, point.split())) for point in line.get("d")[1:].split("L"))
        assert start[1] == end[1] == box[1] + 13 and end[0] == box[0] - 2


def test_a_line_is_as_thick_as_its_weight():
    shown = board([("α", ["a", "b", "c"], np.array([0.8, 0.2, 0.0])), ("sum", ["s"])])
    assert [float(line.get("stroke-width")) for line in lines(shown)] == [4.6, 1.6, 0.6]
    assert {line.get("stroke-width") for line in lines(board([("α", ["a", "b"]), ("sum", ["s"])]))} == {"1.4"}


def test_alternative_text_says_every_box_in_its_column():
    shown = board([("query", ["<q>"]), ("scores", ["2", "0"])], title="A look-up")
    assert repr(shown) == "A look-up: From left to right, query: <q>; scores: 2, 0."
    assert 'alt="A look-up: From left to right, query: &lt;q&gt;; scores: 2, 0."' in shown.html


@pytest.mark.parametrize("columns, error, words", [
    ([], ValueError, "at least one column"),
    ([("x", [])], ValueError, "at least one box"),
    ([("x", "abc")], TypeError, "the boxes of 'x' must be a list of strings"),
    ([("x", ["a"], [1, 2])], ValueError, r"the weights of 'x' must have shape \(1,\)"),
    ([("x", ["a"], [-1])], ValueError, "not be negative"),
])
def test_one_clear_line(columns, error, words):
    with pytest.raises(error, match=words) as caught:
        board(columns)
    assert "\n" not in str(caught.value)
