"""Superposition: what features share, and whether an autoencoder finds them; slowly, three seeds."""

import pytest
import torch

from coursekit.models import max_cosine_similarity, train_sae
from coursekit.worlds import superposition
from coursekit.worlds.superposition import FEATURES, D, interference, random_directions, sample


def test_a_model_without_superposition_gives_its_features_back():
    """W = the first D unit vectors: these pass as they are, the others are lost, and nothing interferes."""
    model, x = superposition.ToyModel(), sample(50, share=0.5)
    model.W.data = torch.eye(D, FEATURES)
    assert torch.equal(model(x)[:, :D], x[:, :D]) and not model(x)[:, D:].any()
    assert not interference(model.W).any()


def test_interference_is_the_sum_of_squares():
    W = random_directions(seed=3)
    expected = [sum((W[:, i] @ W[:, j]).item() ** 2 for j in range(FEATURES) if j != i) for i in range(FEATURES)]
    torch.testing.assert_close(interference(W), torch.tensor(expected))


@pytest.mark.slow
def test_dense_features_get_a_dimension_each_or_none():
    importance = 0.9 ** torch.arange(FEATURES)
    W = superposition.train(share=1.0, importance=importance, progress=False).W
    length = W.square().sum(0)
    assert (length[:D // 2] > 0.9).all() and (length[-FEATURES // 2:] < 0.1).all()
    assert (interference(W)[:D // 2] < 0.2).all()


def found(W, lam, seed, scaled=True):
    """Mean largest cosine of the directions W with those that an autoencoder finds in 100,000 states."""
    x = sample(100_000, seed=seed + 100)
    sae = train_sae(x[x.any(1)] @ W.T, FEATURES, lam, epochs=30, batch=512, lr=0.01, scaled=scaled, seed=seed,
                    progress=False)
    return max_cosine_similarity(sae.W_dec, W).mean()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_64_directions_in_16_dimensions_are_found(seed):
    W = superposition.train(seed=seed, progress=False).W
    assert (W.square().sum(0) > 1).all() and (interference(W) > 3).all()        # all are there, all share
    assert found(W, lam=1.0, seed=seed) >= 0.99
    W = random_directions(seed)
    assert found(W, lam=2.0, seed=seed) >= 0.97
    assert found(W, lam=2.0, seed=seed, scaled=False) < 0.9
