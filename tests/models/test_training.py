"""The training loop: it learns, it repeats itself, it looks between epochs, it says when it diverges."""

import pytest
import torch
from torch import nn

from coursekit.models import minibatches, train

X = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
Y = X @ torch.tensor([1.0, -2.0, 0.5])


def fit(**options):
    torch.manual_seed(1)
    model = nn.Linear(3, 1)
    options = dict(epochs=30, lr=0.05, weight_decay=0.0, progress=False) | options

    def loss(m, rows):
        return (m(X[rows]).squeeze(1) - Y[rows]).square().mean()

    return model, train(model, loss, lambda g: minibatches(200, 20, g), **options)


def test_minibatches_are_a_partition():
    batches = minibatches(10, 4, torch.Generator().manual_seed(0))
    assert [len(b) for b in batches] == [4, 4, 2] and sorted(torch.cat(batches).tolist()) == list(range(10))


def test_it_learns_the_line():
    model, history = fit()
    torch.testing.assert_close(model.weight[0], torch.tensor([1.0, -2.0, 0.5]), atol=0.01, rtol=0)
    assert len(history) == 30 and history[-1]["loss"] < 0.01 * history[0]["loss"]


def test_same_seed_same_weights():
    (a, _), (b, _), (c, _) = fit(epochs=2), fit(epochs=2), fit(epochs=2, seed=5)
    assert torch.equal(a.weight, b.weight) and not torch.equal(a.weight, c.weight)


def test_the_learning_rate_rises_and_falls():
    seen = []
    class Spy(torch.optim.AdamW):
        def step(self, *args, **kwargs):
            seen.append(self.param_groups[0]["lr"])
            return super().step(*args, **kwargs)
    original, torch.optim.AdamW = torch.optim.AdamW, Spy
    try:
        fit(epochs=2, lr=1.0, warmup=0.5)
        fit(epochs=1, lr=1.0, warmup=None)
    finally:
        torch.optim.AdamW = original
    assert seen[:10] == pytest.approx([(i + 1) / 10 for i in range(10)])
    assert seen[10:20] == pytest.approx([(20 - i) / 10 for i in range(10, 20)])
    assert seen[20:] == [1.0] * 10


def test_what_validate_says_stands_in_the_history():
    scores = iter([0.1, 0.9, 0.5])
    model, history = fit(validate=lambda model: next(scores), epochs=3)
    assert [row["score"] for row in history] == [0.1, 0.9, 0.5] and not model.training


def test_divergence_is_said():
    with pytest.raises(FloatingPointError, match="lower lr"):
        torch.manual_seed(0)
        train(nn.Linear(3, 1), lambda m, rows: m(X[rows]).sum() * float("inf"), lambda g: minibatches(200, 20, g), 1,
              progress=False)
