"""The table of features: nothing in a token becomes markup, what is told is what was given, contexts are cut."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.show import features
from coursekit.show.html import escape, visible
from tests.show.test_coloured import OURS, Page

TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["<script>", '"', "&amp;", "a\nb", "\x00", "\ud800"]))


@settings(deadline=None, max_examples=50)
@given(TEXTS, st.lists(st.tuples(TEXTS, st.floats(0, 9, allow_subnormal=False)), min_size=1, max_size=6), TEXTS)
def test_strings_are_text_and_nothing_else(name, context, word):
    tokens, scores = zip(*context, strict=True)
    shown = features({name: (scores, [(list(tokens), scores)], [1.0])}, words=[word], title=name)
    page = Page(shown.html)
    assert page.tags <= OURS | {"thead", "img"} and not {"onclick", "onload", "href"} & page.attributes
    assert page.tokens == list(map(visible, tokens))
    assert f"raises {visible(word)} +1" in repr(shown) and escape(word) in shown.html


def test_numbers_are_those_of_the_activations():
    activations = torch.tensor([0.0, 0.0, 1.0, 1.0, 4.0])
    shown = features({"f": (activations, [], None), "dead": (np.zeros(3), [], None)}, title="two")
    assert repr(shown).splitlines() == ["two", "f: active on 3 of 5 tokens, mean 2, largest 4",
                                        "dead: active on none of 3 tokens"]
    assert re.findall(r'<img alt="([^"]*)"', shown.html) == [
        "Histogram of the activations above 0: active on 3 of 5 tokens, mean 2, largest 4."]


def test_contexts_are_cut_around_the_strongest_token_and_lit():
    tokens, scores = [f"t{i}" for i in range(30)], np.eye(30)[20] * 3
    shown = features({"f": (scores, [(tokens, scores), (tokens[:20], np.zeros(20))], None)})
    assert repr(shown).splitlines()[1:] == [
        f"  … {' '.join(tokens[10:20])} t20(+3) {' '.join(tokens[21:])}", f"  t0(0) {' '.join(tokens[1:11])} …"]
    styles = dict(zip(Page(shown.html).tokens, Page(shown.html).styles, strict=True))
    assert "background" in styles["t20"] and "background" not in styles["t19"]


def test_the_words_that_move_most_stand_first():
    shown = features({"f": ([1.0], [], [0.5, -3.0, 2.0, 0.0])}, words=["a", "b", "c", "d"], n=2)
    assert repr(shown).splitlines()[1] == "  raises c +2, a +0.5; lowers b -3, d 0"


@pytest.mark.parametrize("row, said", [
    (([[1.0]], [], None), "the activations of 'f' must have shape"),
    (([1.0], [(["a"], [1, 2])], None), "every token needs one score"),
    (([1.0], [([], [])], None), "a context needs at least one token"),
    (([1.0], [], [1.0]), "the effects of 'f' must have shape"),
])
def test_what_does_not_fit_is_said_in_one_line(row, said):
    with pytest.raises(ValueError, match=said):
        features({"f": row})
