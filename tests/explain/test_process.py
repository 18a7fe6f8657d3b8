"""Shapley values by a Gaussian process: its integrals are those of the definition, and its errors are what they say."""

import warnings
from math import comb

import numpy as np
import pytest
import torch

from coursekit.explain import by_spans, exact_interactions, exact_shapley, gp_shapley, kernel_shap, shapley_values
from coursekit.explain.process import _posterior, enumerated_pairs, pairs, regression
from coursekit.explain.product_kernel import kernels, pair_prior, pair_values, prior, values, white
from coursekit.explain.shapley import enumerated
from coursekit.models import load_weights

TWELVE = [f"w{i}" for i in range(12)]


def subsets(d):
    return (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)


def game(function, words=TWELVE):
    """A black box: function(set of the places that are kept) → score."""
    return lambda documents: [float(function({words.index(w) for w in one if w in words})) for one in documents]


def table(values):
    return game(lambda kept: values[sum(1 << i for i in kept)])


def grams(z, w):
    return [kernel.numpy() for kernel in kernels(torch.tensor(z), torch.tensor(np.arctanh(w)))]


def drawn(w, seed):
    """A game of 2^d scores whose odd and even parts are drawn from the prior with these w."""
    z, random = 2.0 * subsets(len(w)) - 1, np.random.default_rng(seed)
    odd, even = (np.linalg.cholesky(kernel + 1e-9 * np.eye(len(kernel))) @ random.normal(size=len(kernel))
                 for kernel in grams(z[len(z) // 2:], w))
    return np.concatenate([(even - odd)[::-1], even + odd])


def relative(found, right):
    return np.linalg.norm(found - right) / np.linalg.norm(right)


# -- the closed forms --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_values_interactions_and_covariances_of_the_kernels_are_those_of_the_definition(d):
    random = np.random.default_rng(d)
    w, every = random.uniform(0.02, 0.9, d), 2.0 * subsets(d) - 1
    z = np.vstack([np.ones((1, d)), every[random.permutation(2**d)[:6]]])
    odd, even = (kernel[:, len(z):] for kernel in grams(np.vstack([z, every]), w))
    plus, minus = (np.prod(1 + s * w * np.vstack([z, every])[:, None] * every, 2) for s in (1, -1))    # as written down
    np.testing.assert_allclose(odd, (plus - minus) / (np.prod(1 + w) - np.prod(1 - w)), atol=1e-12)
    np.testing.assert_allclose(even, (plus + minus - 2) / (np.prod(1 + w) + np.prod(1 - w) - 2), atol=1e-12)

    shapley = np.array([enumerated(subsets(d), row) for row in odd])                 # (pairs, d)
    np.testing.assert_allclose(values(z, w), shapley[:len(z)].T, atol=1e-12)
    np.testing.assert_allclose(prior(w), [enumerated(subsets(d), row) for row in shapley[len(z):].T], atol=1e-12)

    a, of_pairs = random.normal(size=len(z)), np.array([enumerated_pairs(subsets(d), row) for row in even])
    inverse = random.normal(size=(4, len(z)))
    mean, known = pair_values(z, w, a, inverse)
    np.testing.assert_allclose(mean, np.tensordot(a, of_pairs[:len(z)], 1), atol=1e-11)
    np.testing.assert_allclose(known, (np.tensordot(inverse, of_pairs[:len(z)], 1)**2).sum(0), atol=1e-9)
    twice = [[enumerated_pairs(subsets(d), of_pairs[len(z):, i, j])[i, j] for j in range(d)] for i in range(d)]
    np.testing.assert_allclose(pair_prior(w), twice, atol=1e-11)


def test_a_pair_that_stands_for_itself_has_the_values_of_a_score_that_is_1_there_alone():
    masks = subsets(5)
    alone, covariance = white(2.0 * masks - 1)
    for number, mask in enumerate(masks[1:-1], 1):
        score = np.array([(other == mask).all() * 1.0 - (other != mask).all() for other in masks])
        np.testing.assert_allclose(alone[:, number], enumerated(masks, score), atol=1e-12)
    np.testing.assert_allclose(covariance, alone[:, 1:-1] @ alone[:, 1:-1].T / 2, atol=1e-12)


def test_a_line_with_noise_is_found_as_kernel_shap_finds_it_and_its_intervals_hold():
    random, errors, inside = np.random.default_rng(0), [], []
    masks, slopes = subsets(12), random.normal(size=12)
    for seed in range(3):
        scores = masks @ slopes + 0.01 * random.normal(size=4096)
        true = enumerated(masks, scores)
        found = gp_shapley(table(scores), TWELVE, 1024, seed=seed, by="delete")
        kernel = kernel_shap(table(scores), TWELVE, 1022, seed=seed, by="delete")
        errors.append([relative(found.scores, true), relative(kernel.scores, true)])
        inside += [*(abs(found.scores - true) <= 1.645 * found.about["standard_errors"])]
    ours, theirs = np.mean(errors, 0)
    assert ours < 1.2 * theirs and np.mean(inside) > 0.75, (errors, np.mean(inside))


@pytest.mark.parametrize("d", [2, 3, 6])
def test_shapley_values_see_the_odd_part_alone_and_interactions_the_even_part_alone(d):
    masks, scores = subsets(d), np.random.default_rng(d).normal(size=2**d)
    odd, even = (scores - scores[::-1]) / 2, (scores + scores[::-1]) / 2              # [::-1]: of the complements
    np.testing.assert_allclose(enumerated(masks, odd), enumerated(masks, scores), atol=1e-12)
    np.testing.assert_allclose(enumerated(masks, even), 0, atol=1e-12)
    np.testing.assert_allclose(enumerated_pairs(masks, even), enumerated_pairs(masks, scores), atol=1e-12)
    np.testing.assert_allclose(enumerated_pairs(masks, odd), 0, atol=1e-12)


@pytest.mark.parametrize("d, n", [(2, 5), (7, 40), (7, 500), (14, 300), (16, 900), (30, 200), (150, 400)])
def test_pairs_are_distinct_and_every_beginning_has_sizes_alike(d, n):
    masks = pairs(d, n, 3)
    assert len(masks) == min(n, 2**(d - 1) - 1) and len(np.unique(np.vstack([masks, ~masks]), axis=0)) == 2 * len(masks)
    for some in (masks[:len(masks) // 3], masks):
        counts = np.bincount(some.sum(1), minlength=d // 2 + 1)[1:]
        room = [comb(d, size) // (1 + (2 * size == d)) for size in range(1, d // 2 + 1)]
        assert all(count >= min(counts.max() - 1, most) for count, most in zip(counts, room, strict=True))


# -- the estimate ------------------------------------------------------------------------------------------------------

def test_where_all_subsets_can_be_asked_it_is_exact():
    values = np.random.default_rng(0).normal(size=4096)
    found = gp_shapley(table(values), TWELVE, 4096, by="delete")
    np.testing.assert_allclose(found.scores, shapley_values(table(values), TWELVE, by="delete").scores, atol=1e-12)
    model = load_weights("imdb-peaky")
    document = "not a bad film , not at all".split()
    asked = gp_shapley(model, document, 256, interactions=True)
    np.testing.assert_allclose(asked.about["interactions"], exact_interactions(model, document), atol=1e-9)
    assert found.about["exact"] and "interactions" not in found.about
    assert [found.about["score"], found.about["baseline"]] == [values[-1], values[0]]
    lengths = game(len, ["a"])
    assert len(gp_shapley(lengths, [])) == 0 and gp_shapley(lengths, ["a"], interactions=True).scores == [1.0]


def test_a_line_is_found_and_the_values_add_up():
    slopes = np.random.default_rng(1).normal(size=12)
    line = gp_shapley(game(lambda kept: 3 + sum(slopes[i] for i in kept)), TWELVE, 64)
    np.testing.assert_allclose(line.scores, slopes, atol=1e-4)
    for seed in range(3):
        found = gp_shapley(table(np.random.default_rng(seed).normal(size=4096)), TWELVE, 100, seed=seed)
        assert found.scores.sum() == pytest.approx(found.about["score"] - found.about["baseline"], abs=1e-6)
        assert found.about["covariance"].sum() == pytest.approx(0, abs=1e-6)        # of their sum nothing is uncertain


@pytest.mark.parametrize("name", ["imdb-peaky", "imdb-tame"])
def test_nearer_than_kernel_shap_on_a_long_document(name):
    model = load_weights(name)
    document = model.tokenizer.tokenize("I expected a boring film, and it was not boring at all: the story is moving, "
                                        "the actors are great, and I would watch it again with my family tonight.")
    right = exact_shapley(model, document).scores
    ours = [relative(gp_shapley(model, document, 320, seed=seed).scores, right) for seed in range(3)]
    theirs = [relative(kernel_shap(model, document, 318, seed).scores, right) for seed in range(3)]
    assert np.mean(ours) < np.mean(theirs) and np.mean(ours) < 0.05


def test_interactions_of_a_long_document_from_the_same_calls():
    model = load_weights("imdb-peaky")
    document = model.tokenizer.tokenize("I expected a boring film, and it was not boring at all: it is moving.")
    right, above = exact_interactions(model, document), np.triu_indices(17, 1)
    found = gp_shapley(model, document, 400, interactions=True)
    assert relative(found.about["interactions"], right) < 0.1
    np.testing.assert_array_equal(found.scores, gp_shapley(model, document, 400).scores)
    inside = abs(found.about["interactions"] - right)[above] <= 3 * found.about["interaction_errors"][above]
    assert inside.mean() > 0.9 and 0 < found.about["interactions_unexplained"] < 0.1


def test_its_intervals_hold_what_they_promise():
    inside, of_pairs, above = [], [], np.triu_indices(10, 1)
    for seed in range(12):
        w = np.random.default_rng(seed).uniform(0.02, 0.5, 10)
        scores = drawn(w, seed)
        found = gp_shapley(table(scores), TWELVE[:10], 128, seed=seed, by="delete", interactions=True)
        inside += list(abs(found.scores - enumerated(subsets(10), scores)) <= 1.645 * found.about["standard_errors"])
        wrong = abs(found.about["interactions"] - enumerated_pairs(subsets(10), scores))
        of_pairs += list((wrong <= 1.645 * found.about["interaction_errors"])[above])
    assert 0.84 < np.mean(inside) < 0.97 and 0.84 < np.mean(of_pairs) < 0.98


@pytest.mark.parametrize("first, larger", [(0, "left out"), (50, "likelihood")])
def test_the_variance_is_that_of_the_likelihood_or_of_pairs_left_out_if_that_is_larger(first, larger):
    z = 2.0 * np.vstack([np.ones((1, 9), bool), pairs(9, 30, 0)]) - 1
    y = np.random.default_rng(0).normal(size=31)**3 + first * (np.arange(31) == 0)
    kernel = grams(z, np.full(9, 0.9))[0]
    variance, unexplained = _posterior(kernel, 0.1, y, 9)[2:]
    K, wrong = kernel + np.diag([0.0, *[0.1] * 30]), []
    for i in range(1, 31):
        others = np.delete(np.arange(31), i)
        pull = np.linalg.solve(K[np.ix_(others, others)], K[others, i])
        wrong.append([y[i] - pull @ y[others], K[i, i] - pull @ K[others, i]])
    wrong, expected = np.array(wrong).T                                              # and with which variance
    variances = {"likelihood": y @ np.linalg.solve(K, y) / 31, "left out": (wrong**2 / expected).mean()}
    assert max(variances, key=variances.get) == larger
    assert variance == pytest.approx(variances[larger] * 31 / (31 - 9), rel=1e-6)
    assert unexplained == pytest.approx(min(1, (wrong**2).mean() / (y[1:]**2).mean()), rel=1e-6)


def test_it_stops_when_the_error_is_small_enough_and_says_when_it_never_was():
    asked = []

    def predict(documents):
        asked.extend(documents)
        return game(lambda kept: len(kept & {0, 1}) + 0.5 * ({2, 3} <= kept))(documents)

    found = gp_shapley(predict, TWELVE, 4000, error=0.05)
    assert len(asked) == found.about["n_samples"] < 400
    assert np.sqrt(np.trace(found.about["covariance"])) <= 0.05 * np.linalg.norm(found.scores)
    noise = table(np.random.default_rng(5).normal(size=4096) + 4 * subsets(12)[:, 0])
    with pytest.warns(UserWarning, match="n_samples=200 did not reach error=0.01") as warned:
        gp_shapley(noise, TWELVE, 200, error=0.01, by="delete")
    assert warned[0].filename == __file__


def test_where_it_cannot_tell_it_says_so():
    """Of scores by lot no pair tells anything about another, of a majority too little."""
    with pytest.warns(UserWarning, match="do not trust these values") as warned:
        gp_shapley(table(np.random.default_rng(0).normal(size=4096)), TWELVE, 64, by="delete")
    with pytest.warns(UserWarning, match="do not trust these values"):
        gp_shapley(game(lambda kept: len(kept) > 6), TWELVE, 256)
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="left out 100% is not predicted"):
        gp_shapley(game(lambda kept: len(kept) == 12), TWELVE, 64)                             # all words or nothing


@pytest.mark.parametrize("hostile", [
    lambda kept: len(kept & {0, 1, 2}) % 2, lambda kept: (0 in kept) * len(kept & {1, 2, 3}),
    lambda kept: 3 * (0 in kept) + 0.1 * len(kept)], ids=["parity of three", "veto", "one decides"])
def test_a_few_words_that_work_together_are_found(hostile):
    right = shapley_values(game(hostile), TWELVE, by="delete").scores
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gp_shapley(game(hostile), TWELVE, 64, by="delete")
    assert relative(found.scores, right) < 0.02


def test_classes_spans_words_that_come_twice_and_words_that_do_nothing():
    def predict(documents):
        score = np.array(game(lambda kept: len(kept) + ({0, 1} <= kept))(documents))
        return np.stack([score, -3 * score, 0 * score], 1)

    first = gp_shapley(predict, TWELVE, 80)
    np.testing.assert_allclose(gp_shapley(predict, TWELVE, 80, target=1).scores, -3 * first.scores, atol=1e-6)
    assert first.target == 0 and not gp_shapley(predict, TWELVE, 80, target=2).scores.any()
    parts, names = by_spans(game(lambda kept: len(kept)), [TWELVE[:1], TWELVE[1:3], *([w] for w in TWELVE[3:])])
    np.testing.assert_allclose(gp_shapley(parts, names, 60).scores, [1, 2, *[1] * 9], atol=1e-3)
    twice = gp_shapley(lambda documents: [document.count("a") for document in documents], ["a", "a", *TWELVE[:8]], 60)
    np.testing.assert_allclose(twice.scores, [1, 1, *[0] * 8], atol=1e-3)


@pytest.mark.parametrize("options, words", [
    (dict(n_samples=20), "12 tokens need n_samples of at least 26, got 20"), (dict(n_samples=1.5), "n_samples"),
    (dict(error=2), "error is a part of the values' size, above 0 and below 1, such as 0.05, got 2"),
    (dict(error="small"), "error is a part"), (dict(seed=-1), "seed"), (dict(target=3), "target=3")])
def test_bad_input_gets_one_line(options, words):
    with pytest.raises(ValueError, match=words) as refused:
        gp_shapley(game(len), TWELVE, **options)
    assert "\n" not in str(refused.value)


def test_two_thousand_pairs_of_a_long_document_are_no_burden():
    """Not a test of time: of what overflows, and of memory."""
    z = 2.0 * np.vstack([np.ones((1, 150), bool), pairs(150, 1000, 0)]) - 1
    phi, covariance, _ = regression(z, z @ np.linspace(-1, 1, 150), z[:, 0] * z[:, 1])
    np.testing.assert_allclose(phi, 2 * np.linspace(-1, 1, 150), atol=1e-3)
    assert np.isfinite(covariance).all() and (np.diag(covariance) >= 0).all()
