"""Curves and erasure on models whose answer is known, and on the shipped one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.evaluate import comprehensiveness, deletion_curve, insertion_curve, sufficiency
from coursekit.explain import Attribution, gradient_x_input
from coursekit.models import load_weights

WORTH = {"good": 2.0, "bad": -3.0, "film": 0.5, "dull": -1.0, "the": 0.0}
words = st.lists(st.sampled_from(sorted(WORTH)), min_size=1, max_size=8)


def additive(documents):
    """Log-odds that add up, [UNK] and the empty document counting nothing."""
    return np.array([sum(WORTH.get(word, 0.0) for word in document) for document in documents])


def three_classes(documents):
    f = additive(documents)
    return np.stack([f, -f, 0 * f + 0.1], 1)


def truth(document):
    return Attribution(document, [WORTH[word] for word in document], "truth")


@settings(deadline=None)
@given(words, st.sampled_from(["replace", "delete"]))
def test_curves_run_from_the_document_to_nothing_and_back(document, by):
    down, up = (curve(additive, document, truth(document), by=by).scores for curve in (deletion_curve, insertion_curve))
    size = abs(additive([document])[0])
    assert down[0] == up[-1] == pytest.approx(size) and down[-1] == up[0] == pytest.approx(0)
    assert len(down) == len(up) == len(document) + 1


@settings(deadline=None)
@given(words, st.integers(0, 10 ** 6))
def test_no_order_beats_the_truth_on_an_additive_model(document, seed):
    other = Attribution(document, np.random.default_rng(seed).normal(size=len(document)), "random")
    assert deletion_curve(additive, document, truth(document)).area <= \
        deletion_curve(additive, document, other).area + 1e-9
    assert insertion_curve(additive, document, truth(document)).area >= \
        insertion_curve(additive, document, other).area - 1e-9


def test_signed_scores_follow_the_prediction_and_unsigned_ones_their_size():
    document = ["bad", "the", "good"]
    assert deletion_curve(additive, document, truth(document)).scores.tolist() == [1, -2, -2, 0]       # bad first
    sizes = Attribution(document, [3, 0, 2], "sizes", signed=False)
    assert deletion_curve(additive, document, sizes).scores.tolist() == [1, -2, 0, 0]
    of_good = Attribution(document, [-3, 0, 2], "truth", target=0)                   # a class that is not predicted
    assert deletion_curve(three_classes, document, of_good).scores.tolist() == [-1, -3, -3, 0]


def test_area_is_the_mean_of_the_curve():
    document = ["good", "film"]
    assert deletion_curve(additive, document, truth(document)).area == pytest.approx((2.5 + 0.5) / 4 + 0.5 / 4)
    nothing = deletion_curve(additive, [], Attribution([], [], "m"))
    assert nothing.scores.tolist() == [0] == [nothing.area]
    assert "taken away" in deletion_curve(additive, document, truth(document)).plot().text


def test_erasure_counts_probabilities_as_its_paper_defines_them():
    document = ["bad", "the", "good", "film"]
    p = lambda f: 1 / (1 + np.exp(-f))                                               # noqa: E731 - of the negative class
    expected = p(0.5) - np.mean([p(-2.5), p(-2.5)])                                  # 25 % and 50 %: bad; bad and the
    assert comprehensiveness(additive, document, truth(document), bins=(0.25, 0.5)) == pytest.approx(expected)
    assert sufficiency(additive, document, truth(document), bins=(0.25, 0.5)) == pytest.approx(p(0.5) - p(3))
    first = Attribution(document, [1, 0, 0, 0], "m", target=1)
    z = np.exp(three_classes([document, document[1:]]))
    z /= z.sum(1, keepdims=True)
    assert comprehensiveness(three_classes, document, first, bins=(0.01,)) == pytest.approx(z[0, 1] - z[1, 1])
    assert comprehensiveness(additive, [], Attribution([], [], "m")) == 0


def test_scores_of_distinct_words_are_spread_and_other_documents_refused():
    document = ["good", "the", "good"]
    once = Attribution(["good", "the"], [2, 0], "lime", about={"distinct": True})
    assert deletion_curve(additive, document, once).scores.tolist() == [4, 2, 0, 0]
    with pytest.raises(ValueError, match="of another document: it begins with"):
        deletion_curve(additive, ["film"], truth(["bad"]))
    for bins in ((0, 0.5), 0.1, ()):
        with pytest.raises(ValueError, match="shares of the tokens"):
            sufficiency(additive, document, once, bins=bins)
    with pytest.raises(TypeError, match="expected an Attribution, .* got list"):
        deletion_curve(additive, document, [2.0, 0.0, 2.0])


def test_tokens_that_were_not_scored_stay():
    """A model that reads only a document's beginning scores only that: the rest is never taken away."""
    read = Attribution(["good"], [2], "m")
    assert deletion_curve(additive, ["good", "film"], read).scores.tolist() == [2.5, 0.5]


def test_a_white_box_that_reads_only_the_beginning():
    model = load_weights("imdb-tame")
    long = ["good", "bad"] * 200
    a = gradient_x_input(model, long)
    assert len(deletion_curve(model, long, a).scores) == len(a) + 1 == model.T_max
    assert comprehensiveness(model, long, a) == comprehensiveness(model, long[:model.T_max - 1], a)
