"""The tree that is drawn is the search that was made: a box a candidate, a line a parent; no string breaks out."""

import base64
import math
import re
from html import unescape
from xml.etree import ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.models import GPT2, GPT2Config, beam_search
from coursekit.show import beam_tree
from coursekit.show.html import visible

SVG = "{http://www.w3.org/2000/svg}"
FATES = ["kept", "finished", "dropped"]
FIRST = [(None, 0, math.log(0.6), -0.5, "kept"), (None, 1, math.log(0.4), -0.9, "kept")]


def drawing(shown):
    return ElementTree.fromstring(base64.b64decode(re.search(r"svg\+xml;base64,([^\"]+)", shown.html)[1]))


def boxes(shown):
    """(left edge, upper edge, width) of every box but the ground."""
    found = drawing(shown).findall(f"{SVG}rect")[1:]
    return [tuple(float(box.get(side)) for side in ("x", "y", "width")) for box in found]


@pytest.fixture(scope="module")
def search():
    torch.manual_seed(0)
    return beam_search(GPT2(GPT2Config(vocab_size=7, T_max=8, d_e=12, K=3, L=2)), [1], n=5, width=3, eos=4)


def test_a_box_for_every_candidate_and_a_line_to_its_parent(search):
    words = [f"word{i}" for i in range(7)]
    shown = beam_tree(search.steps, words, prompt="go", title="width 3")
    svg, candidates = drawing(shown), [c for step in search.steps for c in step]
    written = [text.text for text in svg.findall(f"{SVG}text")]
    assert sorted(w for w in written if w and w.startswith("word")) == sorted(words[c.token] for c in candidates)
    assert len(svg.findall(f".//{SVG}path")) == len(candidates) and "go" in written
    assert len({x for x, _, _ in boxes(shown)}) == len(search.steps) + 1         # a column a step, and the prompt
    dashed = [box for box in svg.findall(f"{SVG}rect") if box.get("stroke-dasharray")]
    assert len(dashed) == sum(c.fate == "dropped" for c in candidates) > 0
    best = search.hypotheses[0]
    told = f"Best finished: {' '.join(words[i] for i in best.ids)} {math.exp(best.log_probability):.3g}."
    assert shown.text.startswith("width 3: Beam search over ") and told in shown.text
    thick = [path for path in svg.findall(f".//{SVG}path") if path.get("stroke-width") == "4"]
    assert len(thick) == len(best.ids)


def test_the_alternative_text_is_short_and_the_tree_is_told_below(search):
    shown = beam_tree(search.steps, [f"word{i}" for i in range(7)], title="<width> 3")
    alt, = re.findall(r'<img alt="([^"]*)"', shown.html)
    assert len(alt) < 220 and " ".join(f"word{i}" for i in search.hypotheses[0].ids) in alt
    told, = re.findall("<details><summary>The picture in words</summary>(.*)</details>$", shown.html)
    assert unescape(told) == shown.text and told.count("Step ") == len(search.steps) and "<width>" not in shown.html
    assert beam_tree([FIRST], ["a", "b"]).text == "Beam search over 1 token. Step 1: kept a 0.6, b 0.4."


def test_no_two_boxes_overlap_and_all_are_inside(search):
    shown = beam_tree(search.steps, list("abcdefg"))
    svg, places = drawing(shown), boxes(shown)
    for i, (x, y, width) in enumerate(places):
        assert 0 <= x and x + width <= float(svg.get("width")) and 0 <= y and y + 20 <= float(svg.get("height"))
        assert all(x != x_ or abs(y - y_) >= 20 for x_, y_, _ in places[:i])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=6), min_size=2, max_size=4), st.text(max_size=5), st.sampled_from(FATES))
def test_any_string_can_be_drawn(words, prompt, fate):
    shown = beam_tree([FIRST, [(1, 1, -2.0, -1.0, fate)]], words, prompt, title=prompt)
    written = [text.text or "" for text in drawing(shown).findall(f"{SVG}text")]
    assert all(visible(word) in written for word in (words[0], words[1], prompt))
    assert set(re.findall(r"<(\w+)", shown.html)) <= {"div", "b", "img", "details", "summary"}
    shown.html.encode("utf-8")


def test_what_is_impossible_is_left_out():
    shown = beam_tree([[*FIRST, (None, 2, -math.inf, -math.inf, "dropped")]], ["it", "nobody", "never"])
    assert len(boxes(shown)) == 3 and "never" not in shown.text and "Best finished" not in shown.text


@pytest.mark.parametrize("steps, words, error, message", [
    ([], ["a"], ValueError, "at least one step"),
    ([[(None, 0, -math.inf, -math.inf, "kept")]], ["a"], ValueError, "one step with a candidate that is possible"),
    ([FIRST], "ab", TypeError, "words must be a list of strings"),
    ([FIRST], ["a"], ValueError, "candidate 1 of step 1 has the token 1: words names ids 0 to 0"),
    ([FIRST, [(5, 0, -1.0, -1.0, "kept")]], ["a", "b"], ValueError, "candidate 0 of step 2 has the parent 5"),
    ([[(None, 0, -1.0, -1.0, "lost")]], ["a"], ValueError, "'lost': expected one of 'kept', 'finished', 'dropped'"),
    ([[(None, 0)]], ["a"], ValueError, "candidate 0 of step 1 must be"),
])
def test_bad_input_gets_one_clear_line(steps, words, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        beam_tree(steps, words)
    assert "\n" not in str(caught.value)
