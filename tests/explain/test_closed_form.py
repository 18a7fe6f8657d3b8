"""Theorem 4.1 against autograd, on random models of 1 to 8 heads and on the trained ones."""

import copy

import numpy as np
import pytest
import torch

from coursekit.explain import gradient, gradient_closed_form
from coursekit.models import AttentionClassifier, load_weights

from .conftest import small

DOCUMENT = "not a good film , not bad zzz".split()


def by_autograd(model, document, query_moves=True):
    """∇_e f (T, d_e), with the query free or held where it is."""
    e = model.embed(document).detach().requires_grad_()
    if query_moves:
        score = model.from_embeddings(e)
    else:
        padded = model.pad(e)
        u, w = model.fold(e[0].detach())
        score = ((padded @ u.mT).softmax(0) * (padded @ w.mT)).sum(0).mean()
    return torch.autograd.grad(score, e)[0].numpy()


@pytest.mark.parametrize("query_moves", [True, False])
@pytest.mark.parametrize("model", [*range(1, 9), "imdb-tame", "imdb-peaky"])
def test_equals_autograd(model, query_moves):
    if isinstance(model, str):
        model = copy.deepcopy(load_weights(model)).double()
    else:
        model = small(AttentionClassifier, seed=model, K=model, d_att=4, d_out=5)
    for document in (DOCUMENT, [], ["good"] * 20):
        ours, theirs = gradient_closed_form(model, document, query_moves), by_autograd(model, document, query_moves)
        assert ours.shape == theirs.shape and ours.dtype == float
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * max(1, abs(theirs).max()))


def test_only_the_class_token_moves_the_query(one_layer):
    free, held = (gradient_closed_form(one_layer, DOCUMENT, moves) for moves in (True, False))
    np.testing.assert_array_equal(free[1:], held[1:])
    assert abs(free[0] - held[0]).max() > 1e-3


def test_what_gradient_reduces(one_layer):
    rows = gradient_closed_form(one_layer, DOCUMENT)[1:]
    for reduce, scores in (("mean", rows.mean(1)), ("l1", abs(rows).sum(1)), ("l2", np.linalg.norm(rows, axis=1))):
        np.testing.assert_allclose(gradient(one_layer, DOCUMENT, reduce).scores, scores, rtol=1e-10, atol=1e-14)


def test_half_precision_weights_are_computed_with_in_float64():
    """The model itself, in float32, rounds."""
    model = load_weights("imdb-peaky")
    exact = gradient_closed_form(copy.deepcopy(model).double(), DOCUMENT)
    np.testing.assert_allclose(gradient_closed_form(model, DOCUMENT), exact, atol=2e-6 * abs(exact).max())


def test_others_are_refused(three_layers):
    with pytest.raises(TypeError, match="gradient_closed_form looks inside the model and needs .* no pad") as error:
        gradient_closed_form(three_layers, DOCUMENT)
    assert "\n" not in str(error.value)
