"""Plausibility: indices at their two ends, one unit for all methods, models that are the same but not alike."""

from functools import partial

import numpy as np
import pytest
import torch

from coursekit.evaluate import consistency, implementation_invariance, local_lipschitz
from coursekit.evaluate.plausibility import stability
from coursekit.explain import Attribution, exact_lime, exact_shapley, gradient, leave_one_out, lime, shapley_values
from coursekit.models import load_weights

DOCUMENT = "the plot is not bad , and the acting is brilliant but far too long for such a thin story .".split()


@pytest.fixture(scope="module")
def model():
    return load_weights("imdb-tame")


@pytest.mark.parametrize("explainer", [gradient, exact_lime, leave_one_out])
def test_what_draws_nothing_is_perfectly_consistent(model, explainer):
    assert consistency(model, DOCUMENT, explainer) == (True, 0, 1, 1)


def test_more_samples_are_more_consistent(model):
    few, many = (consistency(model, DOCUMENT, partial(lime, n_samples=n)) for n in (40, 1000))
    assert many.spread < few.spread and few.vsi < many.vsi and not many.deterministic


def test_the_indices_count_common_words_and_overlapping_intervals():
    def run(scores, error):
        return Attribution(["a", "b", "c"], scores, "by hand", about={"standard_errors": np.full(3, error)})

    scores = [3, 2, 0], [3, 0, 2], [5, 2, 0]
    got = stability([run(s, 0.1) for s in scores], k=2)                  # a is common to all pairs, b to the last one
    assert got.vsi == pytest.approx((1 + 2 + 1) / (2 * 3))
    assert got.csi == pytest.approx((1 / 3 + 1) / 2)                    # a: one pair of three overlaps, b: its only one
    assert stability([run(s, 9.0) for s in scores], k=2).csi == 1
    assert np.isnan(stability([Attribution(["a", "b", "c"], s, "by hand") for s in scores]).csi)


def test_spread_is_the_length_of_the_standard_deviations_in_that_of_the_mean():
    runs = np.random.default_rng(0).normal([5, 1, 2], size=(4, 3))
    got = stability([Attribution(["a", "b", "c"], scores, "by hand") for scores in runs])
    assert got.spread == pytest.approx(np.sqrt(runs.var(0, ddof=1).sum()) / np.sqrt((runs.mean(0) ** 2).sum()))


def test_standard_errors_of_lime_are_those_of_its_seeds_on_average(model):
    runs = [lime(model, DOCUMENT, 300, seed) for seed in range(40)]
    said = np.mean([run.about["standard_errors"] for run in runs], 0)
    seen = np.std([run.scores for run in runs], 0, ddof=1)
    assert 0.5 < np.median(said / seen) < 2


@pytest.mark.parametrize("tokens", [[], ["a"], ["a", "b"]])
def test_one_run_is_no_comparison_and_neither_are_two_documents(tokens):
    with pytest.raises(ValueError, match="at least two attributions of the same tokens"):
        stability([Attribution([token], [1], "by hand") for token in tokens])


def rotated(model, seed=0):
    """The same function in another basis of the embedding space."""
    other = load_weights("imdb-tame").double()
    d_e = other.W_e.shape[1]
    Q = torch.linalg.qr(torch.randn(d_e, d_e, generator=torch.Generator().manual_seed(seed), dtype=torch.double))[0]
    with torch.no_grad():
        for name in ("W_e", "W_p", "W_q", "W_k", "W_v"):
            getattr(other, name).copy_(getattr(other, name) @ Q)
    return other


def test_a_rotation_of_the_embeddings_moves_the_mean_gradient_and_nothing_that_sees_the_function_alone(model):
    models = [load_weights("imdb-tame").double(), rotated(model)]
    far = {name: implementation_invariance(models, DOCUMENT, explainer) for name, explainer in {
        "mean": gradient, "l2": partial(gradient, reduce="l2"), "shapley": exact_shapley, "sampled": shapley_values,
    }.items()}
    assert far["mean"] > 0.5 and max(far["l2"], far["shapley"], far["sampled"]) < 1e-6
    with pytest.raises(ValueError, match="same function"):
        implementation_invariance([model, load_weights("imdb-peaky")], DOCUMENT, leave_one_out)
    with pytest.raises(ValueError, match="got one"):
        implementation_invariance([model], DOCUMENT, leave_one_out)


def test_the_lipschitz_constant_has_no_unit_and_grows_with_the_search(model):
    def scaled(model, document, factor=1.0):
        a = leave_one_out(model, document)
        return Attribution(a.tokens, factor * a.scores, a.method)

    one = local_lipschitz(model, DOCUMENT, scaled, n_neighbours=6)
    thousand = local_lipschitz(model, DOCUMENT, partial(scaled, factor=1000.0), n_neighbours=6)
    assert one.constant == pytest.approx(thousand.constant) and one.document == thousand.document
    assert one.distance <= 0.75 and sum(a != b for a, b in zip(one.document, DOCUMENT, strict=True)) == 1
    assert one == local_lipschitz(model, DOCUMENT, scaled, n_neighbours=6, start=scaled(model, DOCUMENT))
    assert one.constant <= local_lipschitz(model, DOCUMENT, scaled, n_neighbours=2 * len(DOCUMENT)).constant


def test_half_of_the_neighbours_are_sought_where_the_explanation_moved_most(model):
    asked = []

    def moves_more_behind(model, document):
        asked.append(tuple(document))
        return Attribution(document, [1.0 + 1000.0 ** t * (token != DOCUMENT[t]) for t, token in enumerate(document)],
                           "by hand")

    found = local_lipschitz(model, DOCUMENT, moves_more_behind, n_neighbours=8)
    places = [next(t for t, token in enumerate(x) if token != DOCUMENT[t]) for x in asked[1:]]
    assert len(set(asked)) == len(asked) == 9 and len(set(places[:4])) == 4
    assert places[4:] == [max(places[:4])] * 4 and found.document in asked
    before, after = model.predict([DOCUMENT, list(found.document)])
    assert found.score_change == pytest.approx(abs(after - before)) != 0


def test_the_lipschitz_constant_of_a_constant_is_zero_and_without_neighbours_there_is_none(model):
    def constant(model, document):
        return Attribution(document, np.ones(len(document)), "constant")

    assert local_lipschitz(model, DOCUMENT, constant, n_neighbours=2).constant == 0
    assert np.isnan(local_lipschitz(model, DOCUMENT, constant, delta=0.01).constant)
    assert np.isnan(local_lipschitz(model, [], constant).constant)
    with pytest.raises(TypeError, match="looks inside"):
        local_lipschitz(len, DOCUMENT, constant)
