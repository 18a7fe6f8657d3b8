"""Shapley values against their definition and their axioms; KernelSHAP against them."""

import warnings
from itertools import permutations
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.explain import kernel_shap, shapley_values
from coursekit.explain.shapley import coalition_pairs
from coursekit.models import load_weights

FOUR = ["not", "a", "good", "film"]
LONG = [f"word{i}" for i in range(24)]
BOTH = [shapley_values, kernel_shap]


def game(d, seed=0, order=None):
    """A random black box over documents of d tokens "word0" …; with `order`, tokens interact in groups of that size."""
    random = np.random.default_rng(seed)
    if order is None:
        table = random.normal(size=2**d)
        return lambda documents: [table[sum(2**int(t[4:]) for t in doc if t != "[UNK]")] for doc in documents]
    groups = [random.choice(d, order, replace=False) for _ in range(30)]
    weights = random.normal(size=30)

    def predict(documents):
        kept = [{int(token[4:]) for token in doc if token != "[UNK]"} for doc in documents]
        return [sum(w for w, group in zip(weights, groups, strict=True) if kept_here.issuperset(group))
                for kept_here in kept]

    predict.values = np.zeros(d)                                                # a group splits its weight evenly
    for weight, group in zip(weights, groups, strict=True):
        predict.values[group] += weight / order
    return predict


def two_classes(documents):
    scores = np.array([2.0 * ("good" in d) - ("not" in d and "good" in d) for d in documents])
    return np.stack([scores, -3 * scores], 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_definition_and_what_follows_from_it(d, seed):
    """The mean over all orders, by loops. Efficiency; KernelSHAP with all subsets is the same."""
    predict, document = game(d, seed), [f"word{i}" for i in range(d)]

    def value(kept):
        return predict([[token if i in kept else "[UNK]" for i, token in enumerate(document)]])[0]

    phi, orders = np.zeros(d), list(permutations(range(d)))
    for order in orders:
        for place, i in enumerate(order):
            phi[i] += (value(order[:place + 1]) - value(order[:place])) / len(orders)
    exact, kernel = shapley_values(predict, document), kernel_shap(predict, document, 2**d)
    np.testing.assert_allclose(exact.scores, phi, atol=1e-10)
    np.testing.assert_allclose(kernel.scores, phi, atol=1e-9)
    assert exact.about["exact"] and kernel.about["exact"]
    assert exact.scores.sum() == pytest.approx(value(range(d)) - value([]), abs=1e-10)


def test_symmetry_and_dummies():
    phi = shapley_values(lambda docs: [5.0 * ("not" in d and "good" in d) for d in docs], FOUR).scores
    np.testing.assert_allclose(phi, [2.5, 0, 2.5, 0], atol=1e-12)


def test_sixteen_tokens_are_enumerated_in_one_go():
    predict = game(16, order=3)
    np.testing.assert_allclose(shapley_values(predict, LONG[:16]).scores, predict.values, atol=1e-10)


def test_permutations_are_exact_where_tokens_meet_in_pairs():
    """An order and its reverse: of each pair, every token comes first once."""
    predict = game(24, order=2)
    attribution = shapley_values(predict, LONG, n_permutations=4)
    np.testing.assert_allclose(attribution.scores, predict.values, atol=1e-10)
    np.testing.assert_allclose(attribution.about["standard_errors"], 0, atol=1e-10)
    assert not attribution.about["exact"]


def test_standard_errors_tell_the_error():
    predict = game(24, order=5)
    z = []
    for seed in range(8):
        attribution = shapley_values(predict, LONG, n_permutations=60, seed=seed)
        errors = attribution.about["standard_errors"]
        z.append((attribution.scores - predict.values) / np.maximum(errors, 1e-12))
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.4
    assert abs(shapley_values(predict, LONG, n_permutations=1000).scores - predict.values).max() < 0.1


def groups_of_four(masks):
    """A game of 14 tokens for masks (n, 14), in which groups of two, three and four of them interact."""
    random, scores = np.random.default_rng(1), np.zeros(len(masks))
    for size in (1, 2, 3, 4) * 12:
        scores += random.normal() * masks[:, random.choice(14, size, replace=False)].all(1)
    return scores


@pytest.mark.parametrize("calls", [5, 10])
@pytest.mark.parametrize("name", ["groups", "imdb-peaky"])
def test_kernel_shaps_standard_errors_are_as_large_as_its_errors(name, calls):
    """Their mean square over 200 seeds beside the variance over these seeds, of all words together and of each."""
    words = "the acting is brilliant but the story is not good and a mess".split() + ["."]
    short_cut = groups_of_four if name == "groups" else load_weights(name).masked_scores(words, "replace", "[UNK]")
    model = SimpleNamespace(predict=None, masked_scores=lambda *asked: short_cut)
    model.predict = lambda documents: short_cut(np.array([[token != "[UNK]" for token in d] for d in documents]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [kernel_shap(model, words, calls * len(words), seed) for seed in range(200)]
    promised = np.mean([np.square(a.about["standard_errors"]) for a in found], 0)
    seen = np.var([a.scores for a in found], 0, ddof=1)
    print(f"{name}, {calls} calls a word: {promised.sum() / seen.sum():.2f}")
    assert 0.8 < promised.sum() / seen.sum() < 1.25
    assert (0.6 < promised / seen).all() and (promised / seen < 1.6).all()


def test_kernel_shap_warns_where_its_scores_are_mostly_chance():
    predict = game(24, order=5)
    with pytest.warns(UserWarning, match="n_samples=96 the .* exceed half of its scores.* take more samples") as told:
        noisy = kernel_shap(predict, LONG, 96)
    assert len(told) == 1 and told[0].filename == __file__
    assert np.linalg.norm(noisy.about["standard_errors"]) > np.linalg.norm(noisy.scores) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "standard_errors" not in kernel_shap(game(5), LONG[:5]).about, "nothing is left to chance"
        assert (kernel_shap(lambda ds: [1.1] * len(ds), LONG, 96).about["standard_errors"] < 1e-12).all()
        steady = kernel_shap(predict, LONG, 3000)
    assert np.linalg.norm(steady.about["standard_errors"]) < np.linalg.norm(steady.scores) / 2


def test_subsets_that_do_not_tell_two_tokens_apart_leave_their_errors_unknown():
    masks = [coalition_pairs(7, 28, seed)[0] for seed in range(3000)]
    seed = next(seed for seed, z in enumerate(masks) if len(np.unique(z, axis=1).T) < 7)
    with pytest.warns(UserWarning, match="exceed half"):
        assert np.isnan(kernel_shap(game(7, order=3), LONG[:7], 28, seed).about["standard_errors"]).all()


def test_sampled_kernel_shap_comes_close_and_closer():
    predict = game(24, order=3)
    off = [np.mean([np.linalg.norm(kernel_shap(predict, LONG, n, seed=s).scores - predict.values) for s in range(6)])
           for n in (200, 3200)]
    assert off[1] < off[0] / 2.5 and off[1] < 0.1 * np.linalg.norm(predict.values)


@pytest.mark.parametrize("explain", BOTH)
@pytest.mark.parametrize("d", [3, 16, 20, 24])
def test_scores_sum_to_the_difference(explain, d):
    attribution = explain(game(d, order=3), LONG[:d])
    score, baseline = game(d, order=3)([LONG[:d], ["[UNK]"] * d])
    assert attribution.about["score"] == pytest.approx(score)
    assert attribution.about["baseline"] == pytest.approx(baseline)
    assert attribution.scores.sum() == pytest.approx(score - baseline, abs=1e-11)


@pytest.mark.parametrize("explain", BOTH)
@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky"])
def test_same_seed_same_scores_on_every_call(explain, name):
    shipped = load_weights(name)
    document = "i wanted to love this film , but the story is not good and the ending is a mess .".split()
    first, again = explain(shipped, document), explain(shipped, document, progress=True)
    np.testing.assert_array_equal(first.scores, again.scores)
    other = explain(shipped, document, seed=1)
    assert not np.array_equal(first.scores, other.scores)
    assert first.scores.sum() == pytest.approx(other.scores.sum(), abs=1e-4)
    asked = explain(shipped.predict, document)
    np.testing.assert_allclose(first.scores, asked.scores, atol=1e-3 * abs(asked.scores).max())


@pytest.mark.parametrize("explain", BOTH)
@pytest.mark.parametrize("by", ["replace", "delete"])
def test_edges(explain, by, white_box):
    for model in (white_box, white_box.predict):
        assert len(explain(model, [], by=by)) == 0
        one = explain(model, ["good"], by=by)
        assert one.scores[0] == pytest.approx(one.about["score"] - one.about["baseline"]) != 0
        assert explain(model, ["good", "film"], by=by).scores.shape == (2,)
    same = explain(white_box, ["good", "good"], by="delete")
    assert same.scores[0] == pytest.approx(same.scores[1])
    assert len(explain(white_box, FOUR * 10, by=by)) == 11                          # what the model reads


@pytest.mark.parametrize("explain", BOTH)
def test_classes(explain):
    np.testing.assert_allclose(explain(two_classes, FOUR).scores, [-0.5, 0, 1.5, 0], atol=1e-9)
    np.testing.assert_allclose(explain(two_classes, FOUR, target=1).scores, [1.5, 0, -4.5, 0], atol=1e-9)
    assert explain(two_classes, FOUR).target == 0


def test_one_line_for_wrong_input():
    for n_permutations in (2, 5, 10.0):
        with pytest.raises(ValueError, match="n_permutations must be (even|a whole number)"):
            shapley_values(two_classes, FOUR, n_permutations)
    with pytest.raises(ValueError, match="n_samples must be a whole number"):
        kernel_shap(two_classes, FOUR, 200.5)
    with pytest.raises(ValueError, match="seed must be a whole number"):
        kernel_shap(two_classes, FOUR, seed=None)
    with pytest.raises(ValueError, match="24 tokens need n_samples of at least 96, got 95"):
        kernel_shap(two_classes, LONG, 95)
    with pytest.raises(ValueError, match="3 tokens need n_samples of at least 6, got 5"):
        kernel_shap(two_classes, FOUR[:3], 5)


def test_samples_grow_with_the_document():
    for d in (9, 100, 600, 1100):
        a = kernel_shap(lambda documents: [d.count("a") for d in documents], ["a"] * d)
        assert a.about["n_samples"] == max(2 * d + 2048, 4 * d) and a.about["exact"] == (d == 9)
        np.testing.assert_allclose(a.scores, 1, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**31))
def test_coalitions_have_the_kernel_s_weights(d, seed):
    n = min(2**d - 2, 4 * d + seed % 200)
    masks, weights, n_drawn = coalition_pairs(d, n, seed)
    sizes = masks.sum(1)
    assert len(masks) == n // 2 and n_drawn <= n // 2 and (1 <= sizes).all() and (sizes <= d // 2).all()
    assert weights.sum() == pytest.approx(1)


def test_sampled_sizes_follow_the_kernel_too():
    masks, weights, n_drawn = coalition_pairs(20, 40_000)
    s = np.arange(1, 11)
    kernel = np.where(s == 10, 1, 2) / (s * (20 - s))
    assert np.bincount(masks.sum(1))[1:4].tolist() == [20, 190, 1140]               # enumerated; the others sampled
    np.testing.assert_allclose(np.bincount(masks.sum(1), weights)[1:] / kernel * kernel.sum(), 1, atol=0.06)


def test_all_subsets_once_when_there_are_samples_enough():
    masks, weights, n_drawn = coalition_pairs(7, 126)
    both = np.vstack([masks, ~masks])
    assert len(np.unique(both, axis=0)) == 126
    kernel = np.array([1 / (comb(7, s) * s * (7 - s)) for s in both.sum(1).tolist()])
    np.testing.assert_allclose(np.tile(weights, 2), 2 * kernel / kernel.sum())


def test_too_few_different_subsets_still_give_an_answer():
    """Seven tokens and 28 samples: now and then two tokens are never told apart, and then share what they have."""
    predict = game(7, order=3)
    for seed in range(300):
        attribution = kernel_shap(predict, LONG[:7], 28, seed)
        assert abs(attribution.scores).max() < 100
        difference = attribution.about["score"] - attribution.about["baseline"]
        assert attribution.scores.sum() == pytest.approx(difference, abs=1e-6)
