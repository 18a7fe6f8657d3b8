"""Gradients as attributions: what they are, what they depend on, the axioms that integrated gradients keep."""

import copy
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit.explain.gradients import (
    gauss_legendre,
    gradient,
    gradient_x_input,
    integrated_gradients,
    noisy_copies,
    path_integral,
    slopes,
)

REVIEW = "not a good film , but the story is long and it was not dull".split()
DOCUMENTS = [REVIEW, ["good"], ["good"] * 5, ["zzz", "bad", "zzz"], []]
pytestmark = pytest.mark.filterwarnings("ignore:the mean of the gradient is zero")
ALL = [gradient, gradient_x_input, integrated_gradients]
SMOOTH = [partial(gradient, smooth=3), partial(gradient_x_input, smooth=3)]


def with_scores(model, more):
    """The same white box with another score from embeddings: more(e (…, T, d_e)) → (…) or (…, C)."""
    same = {name: getattr(model, name) for name in ("tokens", "own", "embed", "baseline")}
    return SimpleNamespace(**same, from_embeddings=more)


def test_smooth_is_a_loop_over_noisy_copies(white_box):
    """More copies than go through at once; what the noise leaves alone is the rows that are not the document's."""
    e, copies = white_box.embed(REVIEW).detach(), noisy_copies(white_box, REVIEW, white_box.embed(REVIEW).detach(), 150)
    own = white_box.own(REVIEW)
    mean = sum(slopes(white_box.from_embeddings, copy[None])[0] for copy in copies) / 150
    np.testing.assert_allclose(gradient(white_box, REVIEW, "l1", smooth=150).scores, mean.abs().sum(-1)[own], rtol=1e-4)
    np.testing.assert_allclose(gradient_x_input(white_box, REVIEW, smooth=150).scores, (mean * e).sum(-1)[own],
                               rtol=1e-4, atol=1e-6)
    pair = SimpleNamespace(tokens=white_box.tokens, own=white_box.own, separator=["but"])
    changed = (noisy_copies(pair, REVIEW, e, 2) != e).any(-1)                     # (2, T)
    assert [white_box.tokens(REVIEW)[row] for row in range(len(e)) if changed[:, row].all()] == [
        word for word in REVIEW[:11] if word != "but"]
    with pytest.raises(ValueError, match="^smooth must be a whole number, at least 1, got 0$"):
        gradient(white_box, REVIEW, smooth=0)


@pytest.mark.parametrize("explain", [*ALL, *SMOOTH])
def test_one_finite_score_for_each_own_token(white_box, explain):
    for document in DOCUMENTS:
        a = explain(white_box, document)
        assert a.tokens == tuple(document[:11]) and a.scores.shape == (len(document[:11]),)
        assert np.isfinite(a.scores).all() and a.target is None
        np.testing.assert_array_equal(a.scores, explain(white_box, document).scores)
    assert all(weight.grad is None for weight in white_box.parameters())


def test_gradient_mean_is_the_slope_along_the_diagonal(one_layer):
    """(f(e + εd) − f(e − εd))/2ε, d = (1, …, 1)/d_e at one token's row."""
    e = one_layer.embed(REVIEW).detach()
    direction = torch.eye(len(e))[:, :, None].double() / e.shape[1] * torch.ones(e.shape[1])     # (T, T, d_e)
    with torch.no_grad():
        up, down = (one_layer.from_embeddings(e + eps * direction) for eps in (1e-5, -1e-5))
    np.testing.assert_allclose(gradient(one_layer, REVIEW).scores, ((up - down) / 2e-5)[1:], atol=1e-8)


def test_layer_norms_make_the_mean_zero(three_layers):
    with pytest.warns(UserWarning, match="zero but for rounding") as told:
        a = gradient(three_layers, REVIEW, "mean")
    assert told[0].filename == __file__
    assert abs(a.scores).max() < 1e-12 and gradient(three_layers, REVIEW, "l2").scores.max() > 0.1


def test_by_default_the_mean_unless_it_is_zero_by_theorem(one_layer, three_layers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model, reduce in ((one_layer, "mean"), (three_layers, "l2")):
            a, b = gradient(model, REVIEW), gradient(model, REVIEW, reduce)
            assert a.method == b.method == f"gradient ({reduce})" and a.signed == b.signed == (reduce == "mean")
            np.testing.assert_array_equal(a.scores, b.scores)


def test_norms_have_no_sign_and_keep_their_order(white_box):
    mean, l1, l2 = (gradient(white_box, REVIEW, reduce) for reduce in ("mean", "l1", "l2"))
    d_e = white_box.W_e.shape[1]
    assert mean.signed and not l1.signed and not l2.signed
    assert (abs(mean.scores) * d_e <= l1.scores).all() and (l1.scores <= l2.scores * d_e ** 0.5).all()
    assert (l2.scores <= l1.scores).all() and l2.scores.min() > 0


def test_the_mean_depends_on_the_basis_and_the_rest_does_not(one_layer):
    """Rotate the embeddings, and every matrix that reads them: the same function, another G-avg (and another G-L1)."""
    rotation = torch.linalg.qr(torch.randn(12, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))[0]
    rotated = copy.deepcopy(one_layer)
    with torch.no_grad():
        for weight in (rotated.W_e, rotated.W_p, rotated.W_q, rotated.W_k, rotated.W_v):
            weight.copy_(weight @ rotation)
    np.testing.assert_allclose(rotated.predict([REVIEW]), one_layer.predict([REVIEW]), atol=1e-12)
    for explain, how in ((gradient, "l2"), (gradient_x_input, None), (gradient_x_input, "unk"),
                         (integrated_gradients, "unk")):
        before, after = (explain(model, REVIEW, how).scores for model in (one_layer, rotated))
        np.testing.assert_allclose(after, before, atol=1e-12)
    for reduce, share in (("mean", 0.3), ("l1", 0.03)):
        before, after = (gradient(model, REVIEW, reduce).scores for model in (one_layer, rotated))
        assert abs(after - before).max() > share * abs(before).max()
    assert np.corrcoef(gradient(rotated, REVIEW).scores, gradient(one_layer, REVIEW).scores)[0, 1] < 0.9


def test_on_a_linear_model_all_that_compare_with_unknown_words_agree(one_layer):
    """Without keys attention is even, the score is a sum over words, and replacing a word takes away its term."""
    linear = copy.deepcopy(one_layer)
    with torch.no_grad():
        linear.W_k.zero_()
    without = [[*REVIEW[:t], "[UNK]", *REVIEW[t + 1:]] for t in range(11)]
    effect = linear.predict([REVIEW]) - linear.predict(without)
    np.testing.assert_allclose(gradient_x_input(linear, REVIEW, "unk").scores, effect, atol=1e-12)
    np.testing.assert_allclose(integrated_gradients(linear, REVIEW, n_nodes=1).scores, effect, atol=1e-12)
    assert abs(gradient_x_input(linear, REVIEW).scores - effect).max() > 1e-3             # × e: towards another origin


@pytest.mark.parametrize("baseline", ["unk", "pad", "zero"])
def test_completeness(shipped, baseline):
    """Scores sum to what separates the document from the baseline; to 1e-4 where the path is smooth."""
    document = shipped.tokenizer.tokenize("The plot is a mess, but I loved every minute of this wonderful film.")
    with torch.no_grad():
        change = (shipped.from_embeddings(shipped.embed(document))
                  - shipped.from_embeddings(shipped.baseline(document, baseline))).item()
    a = integrated_gradients(shipped, document, baseline)
    remainder = change - a.scores.sum()
    assert a.about["remainder"] == pytest.approx(remainder, abs=1e-5) and abs(a.scores).sum() > 0.5
    assert abs(remainder) <= 1.01e-4
    assert a.about["n_nodes"] == 8 if hasattr(shipped, "fold") else a.about["n_nodes"] >= 64     # ReLUs take more
    if baseline == "unk":
        assert change == pytest.approx(np.diff(shipped.predict([["[UNK]"] * len(document), document])).item(), abs=1e-5)


def test_nodes_are_doubled_until_the_scores_are_complete(one_layer):
    few, enough, many = (integrated_gradients(one_layer, REVIEW, n_nodes=n) for n in (2, None, 400))
    assert abs(few.about["remainder"]) > 1e-4 >= abs(enough.about["remainder"])
    assert enough.about["n_nodes"] >= 8 and abs(many.about["remainder"]) < 1e-12
    np.testing.assert_allclose(enough.scores, many.scores, atol=1e-3)


def test_sensitivity_that_the_gradient_lacks():
    """f(x) = 1 − ReLU(1 − x) differs between 0 and 2 in its one input: the gradient at 2 is 0, the integral 1."""
    f, zero, two = (lambda x: 1 - (1 - x[:, 0]).relu()), torch.zeros(1), torch.tensor([2.0])
    assert slopes(f, two[None]).item() == 0
    for n in (None, 10, 1000):
        scores, about = path_integral(f, two, zero, n)
        assert scores.item() == pytest.approx(1, abs=1e-6) == 1 - about["remainder"]


def test_a_sum_right_by_accident_does_not_end_the_search():
    """Two steep steps, one up and one down: the change is 0, and so is the sum of any nodes that miss both."""
    def f(x):
        return torch.sigmoid(200 * (x[:, 0] - 0.3)) - torch.sigmoid(200 * (x[:, 1] - 0.3))
    few, about = path_integral(f, torch.ones(2), torch.zeros(2), 8)
    assert abs(few).max() < 0.01 and abs(about["remainder"]) < 1e-6
    scores, about = path_integral(f, torch.ones(2), torch.zeros(2))
    assert scores.tolist() == pytest.approx([1, -1], abs=1e-3) and about["n_nodes"] > 32


def test_a_smooth_function_gets_more_nodes_and_no_search_for_kinks():
    asked = []

    def f(x):
        asked.append(len(x))
        return torch.atan(12 * (x[:, 0] - 0.4))
    score, about = path_integral(f, torch.ones(1), torch.zeros(1))
    assert sum(asked) == 2 + 4 + 8 + 16 + 32 + 64 and about["n_nodes"] == 64
    assert score.item() == pytest.approx(np.arctan(7.2) + np.arctan(4.8), abs=1e-5)


@pytest.mark.parametrize("steep", [27, 29, 31])
def test_a_smooth_function_that_32_nodes_take_for_a_kink_is_asked_twice(steep):
    """At 32 nodes the steps halve as those of a kink do, at 64 they fall."""
    asked = []

    def f(x):
        asked.append(len(x))
        return torch.tanh(steep * (x[:, 0] - 0.3))
    score, about = path_integral(f, torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
    assert about["n_nodes"] == 128 and sum(asked) == 2 + 4 + 8 + 16 + 32 + 64 + 128
    assert score.item() == pytest.approx(np.tanh(0.7 * steep) + np.tanh(0.3 * steep), abs=1e-9)


def test_large_scores_are_complete_to_rounding():
    def f(x):
        return 1e6 * (x ** 2).sum(1)
    scores, about = path_integral(f, torch.full((3,), 0.7), torch.zeros(3))
    assert about["n_nodes"] == 8 and scores.sum().item() == pytest.approx(1.47e6, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_kinks_are_located(seed):
    """Σ_u v_u ReLU(w_u·x + b_u): on a straight path each unit is on for one stretch, whose length is its integral."""
    random = torch.Generator().manual_seed(seed)
    w, b, v, start, end = (torch.randn(*shape, generator=random, dtype=torch.float64)
                           for shape in ((60, 5), (60,), (60,), (5,), (5,)))
    there, here = w @ start + b, w @ end + b
    kink = (there / (there - here)).clamp(0, 1)
    on = torch.where(here > there, 1 - kink, kink) * ((here > 0) | (there > 0))           # share of the path, (60,)
    exact = (v * on) @ w * (end - start)
    scores, about = path_integral(lambda x: (x @ w.T + b).relu() @ v, end, start)
    nodes, _ = path_integral(lambda x: (x @ w.T + b).relu() @ v, end, start, about["n_nodes"])
    assert abs(about["remainder"]) <= 1e-4 and about["n_nodes"] >= 64
    assert (scores - exact).norm() < 1e-3 * exact.norm() and (scores - exact).norm() < (nodes - exact).norm() / 2


def test_implementation_invariance(one_layer):
    """The folded look-ups and all T × T attention weights are one function: explained alike."""
    plain = with_scores(one_layer, lambda e: one_layer.trace(e).score)
    for explain in ALL:
        np.testing.assert_allclose(explain(plain, REVIEW).scores, explain(one_layer, REVIEW).scores, atol=1e-12)


def test_a_token_like_the_baseline_gets_nothing(white_box):
    a = integrated_gradients(white_box, ["zzz", "bad", "zzz"])
    assert a.scores[0] == a.scores[2] == 0 != a.scores[1]


def test_several_classes(white_box):
    """Scores (f, −f, 2f): the class with the highest is explained unless another is asked for."""
    classes = with_scores(white_box, lambda e: torch.stack([f := white_box.from_embeddings(e), -f, 2 * f], -1))
    best = 2 if white_box.predict([REVIEW])[0] > 0 else 1
    for explain in ALL:
        nodes = {"n_nodes": 16} if explain is integrated_gradients else {}
        one = explain(white_box, REVIEW, **nodes)
        for target, factor in ((None, [1, -1, 2][best]), (0, 1), (1, -1), (2, 2)):
            a = explain(classes, REVIEW, target=target, **nodes)
            assert a.target == (best if target is None else target)
            np.testing.assert_allclose(a.scores, (factor if a.signed else abs(factor)) * one.scores, atol=1e-10)
        with pytest.raises(ValueError, match="class from 0 to 2"):
            explain(classes, REVIEW, target=3)
        with pytest.raises(ValueError, match="no class to choose"):
            explain(white_box, REVIEW, target=1)


def test_path_integral_pieces():
    f, start, end = (lambda x: (x ** 3).sum((1, 2))), torch.randn(2, 3).double(), torch.randn(2, 3).double()
    for chunk in (1, 3, 100):
        scores, about = path_integral(f, end, start, n_nodes=2, chunk=chunk)              # degree 3 = 2n − 1: exact
        torch.testing.assert_close(scores, end ** 3 - start ** 3)
        assert about["n_nodes"] == 2 and abs(about["remainder"]) < 1e-12
    for n in (1, 2, 7, 64):
        nodes, weights = gauss_legendre(n)
        assert 0 < nodes.min() <= nodes.max() < 1
        for power in range(2 * n):
            assert (weights * nodes ** power).sum() == pytest.approx(1 / (power + 1), abs=1e-14)


def test_a_path_too_rough_for_the_nodes_is_told(one_layer):
    def steep(x):
        return torch.sigmoid(400 * (x[:, 0] - 0.3))
    with pytest.warns(UserWarning, match="take more n_nodes"):
        path_integral(steep, torch.ones(1), torch.zeros(1), n_nodes=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path_integral(steep, torch.ones(1), torch.zeros(1), n_nodes=200)
    start, step = one_layer.baseline(REVIEW), one_layer.embed(REVIEW) - one_layer.baseline(REVIEW)
    jumps = with_scores(one_layer, lambda e: steep(((e - start) * step).sum((-2, -1))[:, None] / step.square().sum()))
    with pytest.warns(UserWarning, match="take more n_nodes") as told:
        integrated_gradients(jumps, REVIEW, n_nodes=8)
    assert told[0].filename == __file__


def test_bad_input_gets_one_line(white_box):
    black_box = SimpleNamespace(predict=white_box.predict)
    bad = [(lambda: gradient(white_box, REVIEW, "sum"), ValueError, "'mean', 'l1', 'l2', got 'sum'"),
           (lambda: integrated_gradients(white_box, REVIEW, "mask"), ValueError, "'unk', 'pad' or 'zero'"),
           (lambda: integrated_gradients(white_box, REVIEW, n_nodes=2.5), ValueError, "whole number"),
           (lambda: integrated_gradients(white_box, REVIEW, n_nodes=0), ValueError, "whole number"),
           (lambda: gradient(white_box, "a good film"), TypeError, "list of tokens")]
    bad += [(lambda explain=explain: explain(black_box, REVIEW), TypeError, "looks inside") for explain in ALL]
    for call, error, words in bad:
        with pytest.raises(error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
