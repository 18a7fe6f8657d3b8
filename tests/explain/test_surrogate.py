"""LIME for text: its law of sampling, its weights, its fit, and the documents that are hard."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.explain import lime
from coursekit.explain.surrogate import proximity, sample_masks, weighted_ridge

DOCUMENT = "the film is not good , the story is not bad".split()
LINEAR = {"not": -1.0, "good": 2.0, "bad": -2.5, "the": 0.25}


def places(documents):
    """Linear in the places of DOCUMENT: 1 for the first word, 2 for the second, … as long as it is not replaced."""
    return [sum(i + 1 for i, token in enumerate(d) if token != "[UNK]") for d in documents]


def words(documents):
    """Linear in which words occur, however often."""
    return [3 + sum(weight for word, weight in LINEAR.items() if word in d) for d in documents]


def both(documents):
    """Two classes."""
    return np.stack([words(documents), np.negative(words(documents))], 1)


def test_linear_models_are_returned():
    """Least squares with an intercept gives a linear model back, whatever the sampling and the weights."""
    replaced = lime(places, DOCUMENT, bow=False, ridge=0)
    np.testing.assert_allclose(replaced.scores, np.arange(1, 12), atol=1e-9)
    assert replaced.tokens == tuple(DOCUMENT) and replaced.about["intercept"] == pytest.approx(0, abs=1e-8)
    deleted = lime(words, DOCUMENT, bow=True, ridge=0, seed=3, kernel_width=10)
    assert deleted.tokens == ("the", "film", "is", "not", "good", ",", "story", "bad")
    assert (replaced.per, deleted.per) == ("place", "word")
    np.testing.assert_allclose(deleted.scores, [LINEAR.get(word, 0) for word in deleted.tokens], atol=1e-9)
    assert deleted.about["intercept"] == pytest.approx(3) and deleted.about["r2"] == pytest.approx(1)
    np.testing.assert_allclose(deleted.on(DOCUMENT).scores, [LINEAR.get(word, 0) for word in DOCUMENT], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(2, 30), st.floats(0.01, 10), st.integers(0, 2**31))
def test_ridge_minimises_its_loss(d, n, ridge, seed):
    """Against the same problem as ordinary least squares: one more row for each penalised coefficient."""
    random = np.random.default_rng(seed)
    Z, y, weights = random.integers(0, 2, (n, d)).astype(float), random.normal(size=n), random.random(n) + 0.01
    rows = np.vstack([np.sqrt(weights)[:, None] * np.column_stack([Z, np.ones(n)]),
                      np.sqrt(ridge) * np.eye(d, d + 1)])
    expected = np.linalg.lstsq(rows, np.concatenate([np.sqrt(weights) * y, np.zeros(d)]))[0]
    beta, intercept = weighted_ridge(Z, y, weights, ridge)
    np.testing.assert_allclose([*beta, intercept], expected, atol=1e-8)


def test_masks_follow_their_law():
    masks = sample_masks(4, 40_001, seed=1)
    assert masks.shape == (40_001, 4) and masks[0].all()
    off = (~masks[1:]).sum(1)
    np.testing.assert_allclose(np.bincount(off, minlength=5)[1:] / 40_000, 0.25, atol=0.01)       # s = d occurs
    pairs, counts = np.unique(masks[1:][off == 2], axis=0, return_counts=True)
    assert len(pairs) == 6
    np.testing.assert_allclose(counts / counts.sum(), 1 / 6, atol=0.02)


def test_proximity_is_a_gaussian_of_the_cosine_distance():
    masks = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]], bool)
    np.testing.assert_allclose(proximity(masks), np.exp(-np.array([0, 0.5, 1])**2 / (2 * 0.25**2)))
    np.testing.assert_allclose(proximity(masks, 50), np.exp(-np.array([0, 0.5, 1])**2 / (2 * 0.5**2)))


@pytest.mark.parametrize("bow", [True, False])
def test_same_seed_same_scores_on_every_call(white_box, bow):
    first = lime(white_box, DOCUMENT, 300, bow=bow)
    np.random.seed(5)
    again = lime(white_box, DOCUMENT, 300, bow=bow, progress=True)
    np.testing.assert_array_equal(first.scores, again.scores)
    assert np.random.random() == np.random.RandomState(5).random()                 # the global generator was not used
    assert not np.array_equal(first.scores, lime(white_box, DOCUMENT, 300, seed=1, bow=bow).scores)
    np.testing.assert_allclose(first.scores, lime(white_box.predict, DOCUMENT, 300, bow=bow).scores, atol=1e-9)


def test_constant_and_unknown(one_layer):
    """A constant model gives nothing; a word that the model does not know changes nothing when replaced."""
    constant = lime(lambda documents: [4.0] * len(documents), DOCUMENT)
    np.testing.assert_allclose(constant.scores, 0, atol=1e-12)
    assert constant.about["intercept"] == pytest.approx(4)
    unknown = lime(one_layer, ["good", "zzz", "film"], 2000, bow=False)
    assert abs(unknown.scores[1]) < 0.02 * abs(unknown.scores).max()


@pytest.mark.parametrize("bow", [True, False])
def test_edges(white_box, bow):
    for model in (white_box, white_box.predict):
        assert len(lime(model, [], bow=bow)) == 0
        full, empty = model([["good"], [] if bow else ["[UNK]"]]) if model == white_box.predict else \
            model.predict([["good"], [] if bow else ["[UNK]"]])
        one = lime(model, ["good"], 50, bow=bow, ridge=0)
        assert one.scores[0] == pytest.approx(full - empty)
        assert len(lime(model, ["good", "good"], 50, bow=bow)) == (1 if bow else 2)
    assert len(lime(white_box, DOCUMENT * 3, 50, bow=False)) == 11                  # what the model reads
    assert lime(white_box, DOCUMENT * 3, 50, bow=True).tokens == lime(white_box, DOCUMENT, 50, bow=True).tokens


def test_classes():
    good, bad = (lime(both, DOCUMENT, target=target) for target in (None, 1))
    assert good.target == 0 and bad.target == 1
    np.testing.assert_allclose(good.scores, -bad.scores)
    np.testing.assert_allclose(good.scores, lime(words, DOCUMENT).scores)


@pytest.mark.parametrize("wrong", [dict(n_samples=1), dict(n_samples=20.5), dict(seed="a"), dict(seed=-1),
                                   dict(kernel_width=0), dict(ridge=-1), dict(ridge=float("nan"))])
def test_one_line_for_wrong_input(wrong):
    with pytest.raises(ValueError, match=f"{[*wrong][0]} (must be a whole number|> 0 and ridge|≥ 0)") as error:
        lime(words, DOCUMENT, **wrong)
    assert "\n" not in str(error.value)


def test_chunks_are_bounded():
    sizes = []

    def model(documents):
        sizes.append(len(documents))
        return words(documents)

    lime(model, [f"word{i}" for i in range(30)], 2000)
    assert max(sizes) <= 256 and sum(sizes) <= 2000
