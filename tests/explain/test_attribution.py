"""Attributions: immutable, escaped, mergeable; and the groups of pieces that spell a word."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.explain import Attribution, lime
from coursekit.explain.asking import pick_class, predictor, require_methods
from coursekit.text import BytePairTokenizer, word_groups

PIECES = ["[CLS]", "[SEP]", "un", "##able", "##", "Ġfilm", "Ġ", "film", ",", "'t", "▁a", "", "Ċ"]
pieces = st.lists(st.sampled_from(PIECES), max_size=9)


def test_nothing_of_it_can_be_changed():
    scores = np.array([1.0, 2.0])
    a = Attribution(["a", "b"], scores, "m", about={"seed": 0})
    scores[0] = 7
    assert a.scores.tolist() == [1, 2] and a.tokens == ("a", "b")
    with pytest.raises(ValueError):
        a.scores[0] = 3
    for change in (lambda about: about.update(seed=1), lambda about: about.pop("seed"), lambda about: about.clear(),
                   lambda about: about.__setitem__("seed", 1), lambda about: about.__ior__({"seed": 1})):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(a.about)
    assert a.about == {"seed": 0}
    with pytest.raises(AttributeError):
        a.method = "other"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)),
                                    lambda a: Attribution(**dataclasses.asdict(a)),
                                    lambda a: Attribution.from_dict(json.loads(json.dumps(a.to_dict())))])
def test_copies_are_the_same_and_as_fixed(copied):
    a = Attribution(["a", "b"], [1.5, -2], "m", np.int64(1),
                    {"errors": np.array([0.5, 1]), "n": np.int64(3), "how": "delete"}, signed=False)
    b = copied(a)
    assert (b.tokens, b.scores.tolist(), b.method, b.target, b.signed) == (("a", "b"), [1.5, -2], "m", 1, False)
    assert list(b.about["errors"]) == [0.5, 1] and b.about["n"] == 3 and b.about["how"] == "delete"
    with pytest.raises(ValueError):
        b.scores[0] = 3
    with pytest.raises(TypeError, match="cannot be changed"):
        b.about["n"] = 4


def test_what_was_not_made_by_to_dict_is_refused():
    kept = Attribution(["a"], [1], "m").to_dict()
    for wrong in ({**kept, "more": 1}, {"tokens": ["a"], "scores": [1]}, ["a"]):
        with pytest.raises(ValueError, match="what to_dict makes, .* about, method, per, scores, signed, target, tok"):
            Attribution.from_dict(wrong)


OLD = {"tokens": ["good", "film"], "scores": [2.0, 1.0], "method": "LIME", "target": None, "signed": True,
       "about": {"seed": 0, "bow": True, "distinct": True}}                       # as to_dict made it before `per`


@pytest.mark.parametrize("read", [Attribution.from_dict, lambda old: Attribution(*(
    old[name] for name in ("tokens", "scores", "method", "target", "about", "signed")))], ids=["file", "pickle"])
def test_what_older_versions_kept_is_still_read(read):
    a = read(OLD)
    assert a.per == "word" and a.about == {"seed": 0, "bow": True} and OLD["about"]["distinct"]
    assert a.spread(["good", "good"]).scores.tolist() == [2, 2]
    assert read(OLD | {"about": {"seed": 0}}).per == "place"


def test_scores_are_spread_where_they_are_of_words():
    a = Attribution(["a", "b"], [1, 2], "m")
    assert a.spread(["a", "b", "b"]) is a and a.per == a.words().per == "place"
    assert dataclasses.replace(a, per="word").spread(["a", "b", "b"]).scores.tolist() == [1, 2, 2]
    with pytest.raises(ValueError, match='per must be "place" or "word", got \'token\''):
        dataclasses.replace(a, per="token")


def test_it_is_a_sequence_of_pairs():
    a = Attribution(["a", "b", "c"], [1, 2, 3], "m", per="word")
    assert list(a) == [("a", 1), ("b", 2), ("c", 3)] == [a[i] for i in range(len(a))] and a[-1] == a[np.int64(2)]
    assert a[1:].tokens == ("b", "c") and a[1:].scores.tolist() == [2, 3] and a[1:].per == "word"
    with pytest.raises(IndexError):
        a[3]


def test_a_mean_is_over_seeds_and_nothing_else():
    seeds = [Attribution(["a", "b"], [x, 1], "m", 0) for x in (1, 2, 6)]
    mean = Attribution.mean(seeds)
    assert list(mean) == [("a", 3), ("b", 1)] and mean.target == 0 and mean.about["n"] == 3
    np.testing.assert_allclose(mean.about["sd"], [7 ** 0.5, 0])
    assert Attribution.mean(seeds[:1]).scores.tolist() == [1, 1]
    once = [Attribution(["a"], [x], "m", per="word") for x in (1, 2)]
    assert Attribution.mean(once).on(["a", "a"]).scores.tolist() == [1.5, 1.5]
    assert Attribution.mean(once).per == "word"
    others = (Attribution(["a", "c"], [1, 1], "m", 0), Attribution(["a", "b"], [1, 1], "other", 0),
              Attribution(["a", "b"], [1, 1], "m", 1), Attribution(["a", "b"], [1, 1], "m", 0, signed=False))
    for wrong in ([], *([*seeds, other] for other in others)):
        with pytest.raises(ValueError, match="a mean takes attributions of the same tokens"):
            Attribution.mean(wrong)


@pytest.mark.parametrize("tokens, scores, message", [
    (["a"], [1, 2], "every token needs one score"), (["a"], [np.nan], "finite"), ("ab", [1, 2], "list of strings")])
def test_what_does_not_fit_is_refused(tokens, scores, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Attribution(tokens, scores, "m")


def test_html_is_escaped_and_names_the_class():
    a = Attribution(["<script>", "b"], [1, -1], "m & m", target=2)
    assert "<script>" not in a._repr_html_() and "m &amp; m, class 2" in a._repr_html_()
    assert repr(a) == "m & m, class 2: <script>(+1) b(-1)"


def test_top_prefers_the_earlier_of_equals_and_an_empty_one_shows_itself():
    assert [t for t, _ in Attribution(["a", "b", "c"], [1, -3, 3], "m").top(2)] == ["b", "c"]
    empty = Attribution([], [], "m")
    assert empty.top() == [] and len(empty.words()) == 0 and "(no tokens)" in repr(empty)


@given(pieces)
def test_groups_hold_every_token_once_and_in_order(tokens):
    groups = word_groups(tokens)
    assert [place for _, places in groups for place in places] == list(range(len(tokens)))
    assert all(word or tokens[places[0]] == "" for word, places in groups)
    a = Attribution(tokens, np.arange(len(tokens)), "m")
    assert a.words().scores.sum() == pytest.approx(a.scores.sum())


def test_groups_of_byte_pairs_are_words():
    text = "Unwatchable café, isn't it? Truly"
    tokens = BytePairTokenizer.train([text, "able watch is it"], 300).tokenize(text)
    assert "".join(tokens) != text and [word for word, _ in word_groups(tokens)][:3] == ["Unwatchable", "café", ","]
    assert [word for word, _ in word_groups(["film", "'s", "end"])] == ["film", "'s", "end"]    # no marks
    assert word_groups(["▁", "Un", "watch", "▁", "…", "▁"]) == [("Unwatch", [0, 1, 2]), ("…", [3, 4]), ("▁", [5])]
    assert word_groups(["▁", "[]", "▁", "[CLS]"]) == [("[]", [0, 1]), ("▁", [2]), ("[CLS]", [3])]


@given(st.lists(st.sampled_from(["naïve", "café", "film", "…", "日本", "🙂", "so", ",", "1"]), min_size=1, max_size=6))
def test_words_do_not_depend_on_where_their_bytes_are_cut(words):
    text = " " + " ".join(words)
    spelled = [[word for word, _ in word_groups(tokenizer.tokenize(text)) if word.strip()] for tokenizer in
               (BytePairTokenizer.train(["a"], 257), BytePairTokenizer.train([text] * 9, 400))]       # bytes, and words
    assert spelled[0] == spelled[1]


def test_on_spreads_scores_of_distinct_words_only():
    with pytest.raises(ValueError, match="several"):
        Attribution(["a", "a"], [1, 2], "m").on(["a"])


def test_plot_shows_the_bars_in_order():
    assert "good +2, bad -3" in Attribution(["good", "bad"], [2, -3], "m").plot().text
    assert "bad -3" in Attribution(["good", "bad"], [2, -3], "m").plot(k=1).text


def test_classes_are_chosen_or_refused():
    table = np.array([[1.0, 5.0], [9.0, 0.0]])
    scores, target = pick_class(table, None)
    assert target == 1 and scores.tolist() == [5, 0]
    assert pick_class(table, 0)[0].tolist() == [1, 9] and pick_class(table[:, 0], None)[1] is None
    for scores, target in ((table, 2), (table, "a"), (table, True), (table[:, 0], 0)):
        with pytest.raises(ValueError, match="target"):
            pick_class(scores, target)


def test_boxes_that_do_not_fit_get_one_line():
    with pytest.raises(TypeError, match="rollout looks inside .* has no attentions: use"):
        require_methods(object(), "attentions", explainer="rollout")
    with pytest.raises(TypeError, match="a black box is a model with predict.* got int"):
        predictor(3)


def test_a_classifier_of_scikit_learn_is_told_from_a_black_box():
    class Pipeline:
        def predict(self, texts):
            return [text.lower() for text in texts]

        predict_proba = predict

    with pytest.raises(TypeError, match="predict of Pipeline takes texts .* pass a function") as error:
        lime(Pipeline(), ["a", "film"])
    assert "\n" not in str(error.value)
