"""Curves and erasure on models whose answer is known, and on the shipped one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.evaluate import comprehensiveness, deletion_curve, insertion_curve, sufficiency
from coursekit.explain import Attribution, gradient_x_input, leave_one_out
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
    down, up = (curve(additive, document, truth(document), by=by, scores="log-odds").scores
                for curve in (deletion_curve, insertion_curve))
    size = abs(additive([document])[0])
    assert down[0] == up[-1] == pytest.approx(size) and down[-1] == up[0] == pytest.approx(0)
    assert len(down) == len(up) == len(document) + 1


@settings(deadline=None)
@given(words, st.integers(0, 10 ** 6))
def test_no_order_beats_the_truth_on_an_additive_model(document, seed):
    other = Attribution(document, np.random.default_rng(seed).normal(size=len(document)), "random")
    (down, worse), (up, better) = (
        [curve(additive, document, a, scores="log-odds").area for a in (truth(document), other)]
        for curve in (deletion_curve, insertion_curve))
    assert down <= worse + 1e-9 and up >= better - 1e-9


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
    nothing = deletion_curve(additive, [], Attribution([], [], "m"), scores="log-odds")
    assert nothing.scores.tolist() == [0] == [nothing.area]
    for curve, verb in ((deletion_curve, "taken away"), (insertion_curve, "brought in")):
        shown = curve(additive, document, truth(document)).plot().text
        assert f"over share of the tokens {verb} from 0 to 1: truth goes from" in shown


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
    once = Attribution(["good", "the"], [2, 0], "lime", per="word")
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


# -- what a black box predicts: log-odds or probabilities --------------------------------------------------------------


def likely(documents):
    """The probability that a document is praise, as most black boxes give it."""
    return np.array([0.1 if "awful" in document else 0.9 for document in documents])


def of_two_classes(documents):
    """The same in two columns."""
    return np.stack([1 - likely(documents), likely(documents)], 1)


AWFUL = ["an", "awful", "film"]
METRICS = [deletion_curve, insertion_curve, comprehensiveness, sufficiency]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("model", [likely, of_two_classes])
def test_probabilities_are_asked_about_and_never_taken_for_log_odds(metric, model):
    a = leave_one_out(model, AWFUL)
    with pytest.raises(ValueError, match='say scores="probability" if .*, scores="log-odds" if') as error:
        metric(model, AWFUL, a)
    assert "\n" not in str(error.value)
    metric(model, AWFUL, a, scores="log-odds")                                        # whoever says so means it


@pytest.mark.parametrize("model", [likely, of_two_classes])
def test_probabilities_are_read_as_they_are(model):
    a = leave_one_out(model, AWFUL)                                                   # "awful": for the first class
    assert comprehensiveness(model, AWFUL, a, bins=(0.3,), scores="probability") == pytest.approx(0.8)
    assert sufficiency(model, AWFUL, a, bins=(0.3,), scores="probability") == pytest.approx(0)
    np.testing.assert_allclose(deletion_curve(model, AWFUL, a, scores="probability").scores, [0.9, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(insertion_curve(model, AWFUL, a, scores="probability").scores, [0.1, 0.9, 0.9, 0.9])


def test_the_same_of_probabilities_and_of_their_log_odds():
    document = ["bad", "the", "good", "film"]
    for metric in (comprehensiveness, sufficiency):
        for by in ("replace", "delete"):
            assert metric(lambda ds: 1 / (1 + np.exp(-additive(ds))), document, truth(document), by=by,
                          scores="probability") == pytest.approx(metric(additive, document, truth(document), by=by))


def test_wrong_words_for_the_scores_and_probabilities_that_are_none():
    document = ["good", "bad"]
    with pytest.raises(ValueError, match="one of 'log-odds', 'probability', .* what the model predicts, got 'logits'"):
        deletion_curve(additive, document, truth(document), scores="logits")
    with pytest.raises(ValueError, match="predicts from -1 to 2: probabilities lie between 0 and 1"):
        deletion_curve(additive, document, truth(document), scores="probability")


def test_by_default_all_replace():
    counts = lambda documents: [2.0 * len(d) - 3 * d.count("[UNK]") for d in documents]      # noqa: E731
    for metric in METRICS:
        a = Attribution(AWFUL, [1, 2, 3], "m")
        one, other = (metric(counts, AWFUL, a, **how) for how in ({}, {"by": "replace"}))
        np.testing.assert_array_equal(getattr(one, "scores", one), getattr(other, "scores", other))
