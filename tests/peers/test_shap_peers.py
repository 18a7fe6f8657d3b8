"""Shapley values beside the package `shap`: exact, by KernelSHAP, and from permutations."""

import numpy as np
import pytest

from coursekit.explain import evaluate_masks, kernel_shap, shapley_values
from coursekit.models import load_weights

MODELS = {name: load_weights(f"imdb-{name}") for name in ("tame", "peaky")}
SHORT = "the plot is not good , but funny".split()
LONG = "i wanted to love this film , the acting is brilliant but the story is not good and i was bored".split()

models = pytest.mark.parametrize("name", ["peaky", pytest.param("tame", marks=pytest.mark.slow)])


def as_function(name, tokens):
    """Masks (n, d) of numbers → scores: the package explains ones, against a background of zeros."""
    return lambda kept: evaluate_masks(MODELS[name], tokens, kept > 0)


def vectors(tokens):
    return np.ones((1, len(tokens))), np.zeros((1, len(tokens)))


def kernel(name, tokens, n):
    import shap

    ones, zeros = vectors(tokens)
    explainer = shap.KernelExplainer(as_function(name, tokens), zeros)
    return explainer.shap_values(ones, nsamples=n, l1_reg=False, silent=True)[0]


@models
def test_exact_values(name):
    import shap

    ones, zeros = vectors(SHORT)
    theirs = shap.ExactExplainer(as_function(name, SHORT), zeros)(ones)
    ours = shapley_values(MODELS[name], SHORT)
    np.testing.assert_allclose(ours.scores, theirs.values[0], atol=1e-10)
    assert ours.about["baseline"] == pytest.approx(theirs.base_values[0])


@models
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_kernel_shap_with_all_subsets(name, d):
    """Both are exact then, and equal."""
    ours = kernel_shap(MODELS[name], SHORT[:d], 2**d)
    np.testing.assert_allclose(ours.scores, kernel(name, SHORT[:d], 2**d), atol=1e-8)
    np.testing.assert_allclose(ours.scores, shapley_values(MODELS[name], SHORT[:d]).scores, atol=1e-9)


@models
def test_kernel_shap_from_samples(name):
    """Different random subsets: ours are as near to the exact values as theirs, with some room for chance."""
    exact = shapley_values(MODELS[name], LONG[:14]).scores

    def off(phi):
        return np.linalg.norm(phi - exact)

    np.random.seed(0)
    theirs = np.mean([off(kernel(name, LONG[:14], 300)) for _ in range(10)])
    ours = np.mean([off(kernel_shap(MODELS[name], LONG[:14], 300, seed).scores) for seed in range(10)])
    assert 0 < ours < 1.5 * theirs and ours < 0.1 * np.linalg.norm(exact)


@models
def test_permutations(name):
    """Both sample; many of theirs lie within the standard errors of many of ours."""
    import shap

    ones, zeros = vectors(LONG)
    ours = shapley_values(MODELS[name], LONG, n_permutations=2000)
    explainer = shap.PermutationExplainer(as_function(name, LONG), zeros, seed=0)
    theirs = explainer(ones, max_evals=1000 * (2 * len(LONG) + 1), silent=True).values[0]
    errors = ours.about["standard_errors"]
    assert (errors > 0).all()
    assert np.mean(np.square((ours.scores - theirs) / errors)) < 4                 # 2 expected: each has its variance
    assert ours.scores.sum() == pytest.approx(theirs.sum(), abs=1e-9)
