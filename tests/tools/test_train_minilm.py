"""The training on top of the pretrained encoder, on a tiny random one: it learns, and goes on where it was stopped."""

import pytest
import torch
import transformers

from tools.train_minilm import adapt, adapters, fit, loss, planned

ROWS = [([1, word, 2] + [4] * (n % 5), int(word > 7)) for n, word in enumerate(list(range(5, 11)) * 20)]


def start():
    """(model, what is trained) of a small encoder, its low-rank changes in place."""
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=12, hidden_size=12, num_attention_heads=3, num_hidden_layers=2,
                                     intermediate_size=20, max_position_embeddings=16)
    model = transformers.BertForSequenceClassification(config).eval().requires_grad_(False)
    trained = adapters(model, rank=2)
    adapt(model, trained)
    return model, trained


def plan(steps):
    return planned([(ROWS, 8), (ROWS[:20], 4)], steps, torch.Generator().manual_seed(0))


def test_every_row_comes_once_a_pass_and_a_shorter_plan_is_the_beginning_of_a_longer():
    assert len(plan(20)) == 20 and plan(30)[:7] == plan(7)
    assert sorted(row for batch in plan(20) for row in batch) == sorted(ROWS + ROWS[:20])
    assert {len(batch) for batch in plan(20)} == {8, 4}


def test_it_learns_with_the_encoder_unchanged(tmp_path):
    model, trained = start()
    before = {name: weight.clone() for name, weight in model.base_model.named_parameters()}
    losses, seconds = fit(model, trained, plan(300), 0.02, tmp_path / "kept.pt")
    assert len(losses) == 300 and seconds > 0
    assert sum(losses[:20]) / 20 > 0.6 and sum(losses[-20:]) / 20 < 0.1
    assert all(torch.equal(before[name], weight) for name, weight in model.base_model.named_parameters())


def test_what_was_stopped_goes_on_to_the_same_end(tmp_path, monkeypatch):
    model, whole = start()
    losses, _ = fit(model, whole, plan(50), 0.01, tmp_path / "whole.pt")
    calls = []

    def stops(model, batch):
        calls.append(batch)
        if len(calls) == 33:
            raise KeyboardInterrupt
        return loss(model, batch)

    model, parts = start()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("tools.train_minilm.loss", stops)
        fit(model, parts, plan(50), 0.01, tmp_path / "parts.pt", every=10)
    model, parts = start()
    again, _ = fit(model, parts, plan(50), 0.01, tmp_path / "parts.pt", every=10)
    assert again == losses and all(torch.equal(value, parts[name]) for name, value in whole.items())
