"""Each metric with a case that it gets right and one that fools it, on models whose answer is known."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.evaluate import (
    deletion_curve,
    distance_to_exact,
    effective_complexity,
    infidelity,
    monotonicity,
    non_sensitivity,
    ranks_as_truth,
    recall_of_important_features,
    roar,
    sensitivity_axiom,
    weight_randomisation,
)
from coursekit.explain import (
    Attribution,
    exact_lime,
    exact_shapley,
    gradient,
    gradient_x_input,
    integrated_gradients,
    leave_one_out,
    lime,
    shapley_values,
)
from coursekit.models import load_weights, train_bag_of_words
from coursekit.models.bag_of_words import BagOfWords
from coursekit.worlds import gold_model, linear_documents

WORTH = {"good": 2.0, "bad": -3.0, "film": 0.5, "dull": -1.0, "the": 0.0}
words = st.lists(st.sampled_from(sorted(WORTH)), min_size=2, max_size=8)


def additive(documents):
    """Log-odds that add up, [UNK] counting nothing."""
    return np.array([sum(WORTH.get(word, 0.0) for word in document) for document in documents])


def classes(documents):
    """The same as logits of three classes."""
    return np.stack([-additive(documents), additive(documents), 0 * additive(documents)], 1)


def by_hand(document, scores=None, **more):
    return Attribution(document, [WORTH[word] for word in document] if scores is None else scores, "by hand", **more)


def noise(document, seed=0):
    return Attribution(document, np.random.default_rng(seed).normal(size=len(document)), "noise")


# -- recall ------------------------------------------------------------------------------------------------------------


def test_recall_is_the_slides_and_chance_is_k_of_T():
    features = Attribution(list("abcdef"), [0, 0, 0, 3, 4, 5], "m")
    for gold in ([1, 3, 5], ["b", "d", "f"]):
        assert recall_of_important_features(features, gold) == pytest.approx(2 / 3)
    rng, gold = np.random.default_rng(0), [1, 3]
    drawn = [recall_of_important_features(Attribution(list("abcdefgh"), rng.normal(size=8), "m"), gold, k=4)
             for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(drawn[0].about["chance"], abs=0.03) and drawn[0].about["chance"] == 0.5
    assert np.isnan(recall_of_important_features(features, ["z"])) and drawn[0].calls == 0
    with pytest.raises(ValueError, match="gold has the place 6, and the last token of this attribution has place 5"):
        recall_of_important_features(features, [6])


def test_the_gold_model_uses_ten_words_at_most_and_shapley_values_share_its_weights():
    documents, _, labels = linear_documents(600)
    model = gold_model(documents, labels, n_words=4)
    assert set(model.weights) == {"perfect", "worst", "bad", "best"}                  # the four largest of LINEAR_WORDS
    document = ["perfect", "the", "perfect", "bad", "ok"]
    shared = [model.weights.get(word, 0.0) / document.count(word) for word in document]
    np.testing.assert_allclose(shared, shapley_values(model, document).scores, atol=1e-12)


def test_recall_rewards_what_only_looks_at_the_gold_words_and_is_fooled_by_a_word_that_occurs_twice():
    model = BagOfWords({"good": 2.0, "dull": -1.0})
    once, twice = ["good", "the", "dull"], ["good", "the", "film", "good", "dull"]
    assert recall_of_important_features(leave_one_out(model, once), model.weights) == 1
    assert recall_of_important_features(Attribution(once, [-1e-3, 0, 9], "wrong sign"), model.weights) == 1   # fooled
    assert recall_of_important_features(leave_one_out(model, twice), model.weights) == pytest.approx(2 / 3)   # good: 0
    assert recall_of_important_features(shapley_values(model, twice), model.weights) == 1


# -- axioms ------------------------------------------------------------------------------------------------------------


def saturated():
    """f(x) = 1 − ReLU(1 − x) of one token's embedding x = 2, and 0 for [UNK]: the slides' example."""
    def embed(document):
        return torch.tensor([[2.0 if token == "x" else 0.0] for token in document])

    def f(e):
        return 1 - torch.relu(1 - e.sum((-1, -2)))

    return SimpleNamespace(own=lambda document: [0], tokens=list, embed=embed, from_embeddings=f,
                           baseline=lambda document, kind: torch.zeros(1, 1),
                           predict=lambda documents: [f(embed(document)).item() for document in documents])


def test_the_gradient_breaks_the_axiom_and_integrated_gradients_keep_it():
    model = saturated()
    assert sensitivity_axiom(model, ["x"], gradient(model, ["x"], "mean")) == 1
    assert sensitivity_axiom(model, ["x"], integrated_gradients(model, ["x"])) == 0
    assert sensitivity_axiom(model, ["x"], noise(["x"])) == 0                                                  # fooled


@settings(deadline=None)
@given(words)
def test_additive_models_are_judged_rightly(document):
    assert sensitivity_axiom(additive, document, by_hand(document)) == 0
    assert non_sensitivity(additive, document, by_hand(document)) == 0
    blind = Attribution(document, [0.0] * len(document), "blind")
    influential = sum(WORTH[word] != 0 for word in document)
    assert sensitivity_axiom(additive, document, blind) == non_sensitivity(additive, document, blind) == influential
    assert non_sensitivity(additive, document, noise(document)) == len(document) - influential


@pytest.mark.parametrize("document", [[], ["good"], ["good", "bad"] * 150])
def test_no_word_one_word_and_more_words_than_are_read(document):
    model = load_weights("imdb-tame")
    a = gradient_x_input(model, document)
    T = len(a)
    assert T == min(len(document), 255)
    for metric in (sensitivity_axiom, non_sensitivity, monotonicity):
        assert metric(model, document, a).calls == T + 1
    drawn = monotonicity(model, document, a, background=[["the"]], n_samples=2)
    assert len(drawn.about["expected_loss"]) == T and (np.isnan(drawn) or -1 <= drawn <= 1)
    assert np.isnan(effective_complexity(model, document, a, -1)) and infidelity(model, document, a, n_samples=3) >= 0


def test_redundancy_fools_non_sensitivity():
    model, document = BagOfWords({"good": 2.0}), ["good", "good", "film"]
    found = non_sensitivity(model, document, shapley_values(model, document))          # 1 and 1: each alone may go
    assert found == 2 and found.about["unjust"] == (0, 1) and found.calls == 4
    assert non_sensitivity(model, document, leave_one_out(model, document)) == 0       # 0, 0, 0
    with pytest.raises(ValueError, match="tolerance says what counts as zero"):
        non_sensitivity(model, document, leave_one_out(model, document), tolerance=-1)
    with pytest.raises(ValueError, match="of another document"):
        sensitivity_axiom(model, document, by_hand(["film"]))


# -- monotonicity and effective complexity -----------------------------------------------------------------------------


def test_monotonicity_is_a_rank_correlation_with_the_loss():
    document = ["bad", "dull", "the", "film", "good"]
    assert monotonicity(additive, document, by_hand(document), loss="squared") == pytest.approx(1)
    e = monotonicity(additive, document, by_hand(document)).about["expected_loss"]     # the label is what is predicted
    np.testing.assert_allclose(e, np.logaddexp(0, [1.5, -0.5, -1.5, -2.0, -3.5]))
    signs = monotonicity(additive, document, by_hand(document), label=1).about["expected_loss"]
    np.testing.assert_allclose(signs, np.logaddexp(0, [-1.5, 0.5, 1.5, 2.0, 3.5]))
    for loss in ("cross-entropy", "squared", "zero-one"):
        assert -1 <= monotonicity(classes, document, by_hand(document), loss=loss) <= 1
    assert np.isnan(monotonicity(additive, [], by_hand([])))
    own = monotonicity(additive, document, by_hand(document), loss=lambda label, f: abs(f - label), label=0)
    np.testing.assert_allclose(own.about["expected_loss"], [1.5, 0.5, 1.5, 2, 3.5])


def test_cross_entropy_and_a_label_that_goes_against_the_grain_fool_it():
    """Sizes rise with |change|, the loss with its sign: words for the prediction raise it, those against lower it."""
    document = ["good", "film", "dull", "the"]
    truth = by_hand(document)
    assert monotonicity(additive, document, truth, loss="squared") == pytest.approx(1)
    assert monotonicity(additive, document, truth) < 0.5
    assert monotonicity(additive, document, truth, label=0) < monotonicity(additive, document, truth)


def test_the_law_of_the_background_and_its_samples():
    document = ["good", "the"]
    always = monotonicity(additive, document, by_hand(document), loss="squared", background=[["film"]], n_samples=3)
    np.testing.assert_allclose(always.about["expected_loss"], [1.5**2, 0.5**2])
    assert not always.about["standard_error"].any() and always.calls == 3              # it, film the, good film
    drawn = monotonicity(additive, document, by_hand(document), loss="squared", background=[["film", "bad"]],
                         n_samples=4000, seed=1).about
    expected = [(1.5**2 + 5**2) / 2, (0.5**2 + 3**2) / 2]
    assert (abs(drawn["expected_loss"] - expected) < 4 * drawn["standard_error"]).all()
    beside = monotonicity(additive, document, by_hand(document), loss="squared",
                          background=lambda tokens, place: ["film"] if place else ["bad"])
    np.testing.assert_allclose(beside.about["expected_loss"], [25, 0.25])
    with pytest.raises(ValueError, match="no words to draw for place 0"):
        monotonicity(additive, document, by_hand(document), background=[])
    with pytest.raises(ValueError, match="got by='delete'"):
        monotonicity(additive, document, by_hand(document), background=[document], by="delete")
    with pytest.raises(ValueError, match="loss must be one of cross-entropy, squared, zero-one"):
        monotonicity(additive, document, by_hand(document), loss="hinge")


def test_effective_complexity_counts_tokens_and_takes_any_order_of_enough():
    document = ["the", "good", "film", "the"]
    right, wrong = (by_hand(document, scores) for scores in ([0, 2, 0.5, 0], [2, 0, 0.5, 1]))
    assert effective_complexity(additive, document, right, 0.2) == 1
    assert effective_complexity(additive, document, wrong, 0.2) == 4
    assert np.isnan(effective_complexity(additive, document, right, 0.01)) and right.top(1)[0][0] == "good"
    upside_down = by_hand(document, [0, -2, 9, 0])
    assert effective_complexity(additive, document, upside_down, 0.7) == 0             # fooled: a lax ε takes anything
    assert effective_complexity(classes, document, right, 0.2) == 1


# -- infidelity --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(words, st.integers(0, 99))
def test_only_what_adds_up_has_no_infidelity(document, seed):
    truth = by_hand(document)
    assert infidelity(additive, document, truth, seed=seed) == pytest.approx(0)
    tenfold = by_hand(document, 10 * truth.scores)
    assert infidelity(additive, document, tenfold, normalize=True, seed=seed) == pytest.approx(0)
    if truth.scores.any():
        assert infidelity(additive, document, tenfold, seed=seed) > 0                  # same direction, other unit


def test_infidelity_prefers_a_fit_to_its_own_masks_to_the_true_values():
    both, document = lambda documents: [1.0 * ({"not", "bad"} <= set(d)) for d in documents], ["not", "bad"]
    masks = [[0, 1], [1, 0], [0, 0], [0, 0]]                                           # its law of masks: 1 or 2 off
    true = shapley_values(both, document)
    np.testing.assert_allclose(true.scores, 0.5)
    assert infidelity(both, document, true, masks) == pytest.approx(0.125)
    assert infidelity(both, document, by_hand(document, [0.6, 0.6]), masks) == pytest.approx(0.1)     # least squares
    sampled = infidelity(both, document, true, n_samples=4000)
    assert abs(sampled - 0.125) < 4 * sampled.about["standard_error"] and sampled.calls == 4         # equal ones once
    for wrong in ([[2, 2]], np.ones((0, 2)), [[True]]):
        with pytest.raises(ValueError, match=r"expected masks \(n, 2\)"):
            infidelity(both, document, true, wrong)


# -- retraining and randomisation --------------------------------------------------------------------------------------


def test_roar_sees_what_counts_and_is_fooled_by_words_that_repeat_one_another():
    rng, quiet = np.random.default_rng(0), dict(taus=[0, 25, 50, 100], progress=False)
    labels = rng.permutation([0, 1] * 60)
    filler = ["the", "film", "was", "a", "plot", "here"]
    alone = [["good" if y else "dull", *rng.permutation(filler)[:3]] for y in labels]
    learn = lambda documents, labels: train_bag_of_words(documents, labels, least=1)   # noqa: E731
    found = roar(learn, alone, labels, leave_one_out, **quiet)
    assert found.accuracy[0] == 1 and found.accuracy[1] < 0.75 < found.random[1]
    both = [[*document[:2], "fun" if y else "flat", document[2]] for document, y in zip(alone, labels, strict=True)]
    one_word = lambda documents, labels: gold_model(documents, labels, n_words=1, least=1)    # noqa: E731
    fooled = roar(one_word, both, labels, leave_one_out, **quiet)
    assert fooled.accuracy[1] == 1                                # the model is read rightly, the next takes the twin
    cousin = roar(one_word, both, labels, leave_one_out, retrain=False, **quiet)
    assert cousin.accuracy[0] == 1 and cousin.accuracy[1] < 0.75
    assert "gone" in found.plot().text and found.calls == 120 * 5
    with pytest.raises(ValueError, match="taus in per cent"):
        roar(learn, alone, labels, leave_one_out, taus=[0, 200])


def test_shuffled_weights_are_seen_by_what_reads_them_and_not_by_what_ignores_them():
    model, documents = load_weights("imdb-tame"), ["a good film but far too long".split(), "not a bad plot".split()]
    before = {name: weight.clone() for name, weight in model.state_dict().items()}

    def lengths(model, document):
        return Attribution(document, [len(token) for token in document], "length")

    ignorant = weight_randomisation(model, documents, lengths, progress=False)
    assert all(value == pytest.approx(1) for value in ignorant.values())
    reading = weight_randomisation(model, documents, gradient_x_input, progress=False)
    assert reading["W_e"] < 0.9 and reading["W_e"].calls and len(reading["W_e"].about["values"]) == 2
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    deep = weight_randomisation(load_weights("imdb-6layer"), documents[:1], lengths, progress=False)
    assert list(deep) == ["head", "norm", *(f"blocks.{l}" for l in range(5, -1, -1)), "W_e"]
    with pytest.raises(TypeError, match="a torch.nn.Module with parameters, got BagOfWords"):
        weight_randomisation(BagOfWords({}), documents, lengths)


def test_what_trains_or_shuffles_shows_a_bar_unless_told_not_to(capsys):
    documents, labels = [["good", "soup"], ["dull", "soup"]] * 4, [1, 0] * 4
    for more, bars in (({}, 3), (dict(progress=False), 0)):
        roar(lambda documents, labels: BagOfWords(WORTH), documents, labels, leave_one_out, taus=[50], **more)
        weight_randomisation(load_weights("imdb-tame"), documents[:1], gradient_x_input, **more)
        shown = capsys.readouterr().err
        assert sum(f"{name}: 100%" in shown for name in ("explained", "retrained", "shuffled")) == bars
        assert bool(shown) == bool(bars)


# -- the truth ---------------------------------------------------------------------------------------------------------


def test_the_distance_is_zero_for_the_truth_in_any_unit_and_seen_by_no_order_of_removals():
    model, document = load_weights("imdb-tame"), "a good film but not too long".split()
    true, limit = exact_shapley(model, document), exact_lime(model, document)
    assert distance_to_exact(model, document, by_hand(document, 3 * true.scores)) == pytest.approx(0)
    assert distance_to_exact(model, document, by_hand(document, -true.scores)) == pytest.approx(2)
    assert distance_to_exact(model, document, by_hand(document, abs(true.scores), signed=False)) == pytest.approx(0)
    assert distance_to_exact(model, document, limit, truth="lime") == pytest.approx(0)
    assert np.isnan(distance_to_exact(model, document, by_hand(document, 0 * true.scores)))
    bow = lime(model, document + ["good"], 3000, bow=True)
    assert distance_to_exact(model, document + ["good"], bow, truth="shapley") < 0.2
    ranks = by_hand(document, np.sign(true.scores) * 10.0 ** np.argsort(np.argsort(abs(true.scores))))
    assert distance_to_exact(model, document, ranks) > 0.1
    np.testing.assert_array_equal(deletion_curve(model, document, ranks).scores,
                                  deletion_curve(model, document, true).scores)
    with pytest.raises(ValueError, match='"shapley", "lime" or the true scores'):
        distance_to_exact(model, document, true, truth="banzhaf")
    with pytest.raises(ValueError, match="truth must have shape"):
        distance_to_exact(model, document, true, truth=[1, 2])


def test_metrics_are_ranked_by_kendalls_tau():
    distances = np.tile([0.1, 0.2, 0.3, 0.9], (6, 1)) + 0.01 * np.arange(6)[:, None]
    assert ranks_as_truth(-distances, distances)[:3] == (1, 1, 1)
    assert ranks_as_truth(-distances[:, [1, 0, 2, 3]], distances).mean == pytest.approx(2 / 3)
    noisy = ranks_as_truth(np.random.default_rng(0).normal(size=(6, 4)), distances)
    assert noisy.low < noisy.high and noisy.n == 6
    with pytest.raises(ValueError, match="two explainers or more"):
        ranks_as_truth([1, 2], [1, 2])
