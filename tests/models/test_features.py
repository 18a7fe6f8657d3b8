"""Features in their model: states collected whole or not at all, top texts, what is spliced and what is clamped."""

import pytest
import torch

from coursekit.models import GPT2, GPT2Config, greedy, has_encoder, load_weights, pretrained_encoder, sample
from coursekit.models.sparse.features import (
    by_length,
    clamp_feature,
    collect_activations,
    correlations,
    logit_effects,
    loss_recovered,
    stream_of,
    top_activating,
)
from coursekit.models.sparse.sae import SparseAutoencoder, train_sae
from coursekit.models.weights import FOLDER
from tests.models.test_gpt2 import gpt2, stored, write
from tools.train_sae import sentence_ends, shares, texts_and_tones

BATCHES = [torch.arange(12).view(3, 4) % 10, torch.arange(10).view(2, 5)]


def odd(ids):
    return ids % 2 == 1


@pytest.fixture
def pair():
    """A random GPT2 and a random autoencoder of what its first block leaves."""
    torch.manual_seed(0)
    model = GPT2(GPT2Config(vocab_size=10, T_max=16, d_e=12, K=3, L=2))
    sae = SparseAutoencoder(12, 20, layer=1)
    sae.scale.fill_(3.0)
    return model, sae


def test_states_are_collected_in_order(pair, tmp_path):
    model, _ = pair
    H = collect_activations(stream_of(model, 1), BATCHES, tmp_path / "states.npy", odd)
    expected = torch.cat([model.stream(ids)[1][ids % 2 == 1] for ids in BATCHES]).detach()
    assert [file.name for file in tmp_path.iterdir()] == ["states.npy"]
    torch.testing.assert_close(torch.as_tensor(H[:]), expected)
    sae = train_sae(H, 20, epochs=1, layer=1, progress=False)
    assert sae.W_enc.shape == (20, 12) and (sae.scale * expected).norm(dim=1).mean().item() == pytest.approx(12**0.5)


def test_nothing_half_written_is_left(pair, tmp_path):
    model, _ = pair
    with pytest.raises(ValueError, match="ids must lie between"):
        collect_activations(stream_of(model, 1), [*BATCHES, torch.tensor([[99]])], tmp_path / "states.npy")
    assert not list(tmp_path.iterdir())


def test_top_activating_is_what_a_search_finds(pair):
    model, sae = pair
    top = top_activating(sae, stream_of(model, 1), BATCHES, n=3, where=odd)
    texts = [(ids, sae.activations(model.stream(ids[None])[1, 0])) for batch in BATCHES for ids in batch]
    for feature in range(20):
        found = sorted((max(a[t, feature].item() * (ids[t] % 2).item() for t in range(len(ids))) for ids, a in texts),
                       reverse=True)[:3]
        assert top.activation[:, feature].tolist() == pytest.approx(found)
        for value, text, t in zip(*(table[:, feature].tolist() for table in top), strict=True):
            ids, a = texts[text]
            assert a[t, feature].item() * (ids[t] % 2).item() == pytest.approx(value)


def test_any_gpt2_in_the_released_format(tmp_path):
    """Texts of many lengths, unsorted: collected, trained on, looked at, and steered, with nothing padded."""
    model = GPT2.from_huggingface(write(tmp_path / "model", stored(gpt2())))
    rows = [torch.randint(30, (n,)).tolist() for n in (5, 9, 3, 5, 1, 9, 5)]
    batches, order = by_length(rows, size=2)
    assert [batch.tolist() for batch in batches] == [
        [rows[4]], [rows[2]], [rows[0], rows[3]], [rows[6]], [rows[1], rows[5]]] and order == [4, 2, 0, 3, 6, 1, 5]
    states = stream_of(model, 1)
    sae = train_sae(collect_activations(states, batches, tmp_path / "states.npy"), 8, epochs=2, layer=1, progress=False)
    top = top_activating(sae, states, batches, n=1)
    feature = top.activation[0].argmax().item()
    a = [sae.activations(model.stream(torch.tensor([row]))[1, 0])[:, feature] for row in rows]      # one text at a time
    strongest = max(range(7), key=lambda i: a[i].max())
    assert order[top.text[0, feature]] == strongest and top.position[0, feature] == a[strongest].argmax()
    assert top.activation[0, feature].item() == pytest.approx(a[strongest].max().item(), abs=1e-5)
    plain = model(batches[-1])
    with torch.no_grad(), clamp_feature(model, sae, feature, 50.0):
        assert (model(batches[-1]) - plain).abs().max() > 1e-3


def test_loss_recovered_is_1_for_a_perfect_copy_and_0_for_zeros(pair):
    model, sae = pair
    model.W_e.data *= 50                                                        # so that the states matter
    perfect, nothing = SparseAutoencoder(12, 24, layer=1), SparseAutoencoder(12, 1, layer=1)
    perfect.W_enc.data = torch.cat([torch.eye(12), -torch.eye(12)])
    perfect.W_dec.data = perfect.W_enc.data.T.clone()
    nothing.W_dec.data.zero_()
    assert loss_recovered(model, perfect, BATCHES) == pytest.approx(1, abs=1e-4)
    assert loss_recovered(model, nothing, BATCHES, odd) == pytest.approx(0, abs=1e-4)
    assert model.edits == {}


def test_clamping_moves_the_state_along_one_direction_alone(pair):
    model, sae = pair
    ids = BATCHES[0]
    before = model.stream(ids)[1]
    with clamp_feature(model, sae, 7, 4.0, odd):
        after = model.stream(ids)[1]
    moved = (after - before) * sae.scale
    expected = (4.0 - sae.activations(before)[..., 7]) * (ids % 2)
    torch.testing.assert_close(moved, expected[..., None] * sae.directions()[:, 7], atol=1e-5, rtol=1e-5)
    same = sae.activations(before)[0, 1, 7].item()
    with clamp_feature(model, sae, 7, same, lambda ids: torch.arange(4).expand_as(ids) == 1):
        torch.testing.assert_close(model.stream(ids)[1][0], before[0])          # the reconstruction error is kept
    with clamp_feature(model, sae, 7, 4.0), clamp_feature(model, sae, 8, 0.0):
        assert not torch.equal(model.stream(ids)[1], after)
    assert torch.equal(model.stream(ids)[1], before) and model.edits == {}
    with pytest.raises(ValueError, match="features 0 to 19"), clamp_feature(model, sae, 20, 1.0):
        pass


def test_clamping_holds_while_generating_with_and_without_the_cache(pair):
    model, sae = pair
    with clamp_feature(model, sae, 3, 200.0, odd):
        assert greedy(model, [1, 2, 3], 10) == greedy(model, [1, 2, 3], 10, use_cache=False)
        clamped = sample(model, [1, 2, 3], 10)
    assert clamped != sample(model, [1, 2, 3], 10)


def test_logit_effects_are_the_last_layers_differences(pair):
    """With a last norm that does nothing but scale, the stream's move shows in the logits as it stands."""
    model, sae = pair
    step = torch.nn.functional.linear(sae.directions()[:, 5] / sae.scale, model.W_e)
    torch.testing.assert_close(logit_effects(model, sae)[:, 5], step - step.mean())


def test_correlations_are_pearsons():
    A, Y = torch.randn(30, 4), torch.randn(30, 2)
    expected = torch.corrcoef(torch.cat([A, Y], 1).T)[:4, 4:]
    torch.testing.assert_close(correlations(A, Y), expected)


# what ships

@pytest.fixture(scope="module")
def dialogue():
    """(the language model, its autoencoder at sentence ends, states there, tones there) of dialogues of their own."""
    model = load_weights("dialogue-gpt")
    batches, tones = texts_and_tones(model.tokenizer, 300, seed=98)
    where = sentence_ends(model.tokenizer)
    X = torch.cat([stream_of(model, 2)(ids)[where(ids)] for ids in batches])
    return model, load_weights("dialogue-sae-ends"), X, tones


def test_every_tone_has_its_feature(dialogue):
    _, sae, X, tones = dialogue
    half = torch.arange(len(X)) % 2 == 0
    best = correlations(sae.activations(X[half]), tones[half]).argmax(0)
    held_out = correlations(sae.activations(X[~half]), tones[~half])[best, range(5)]
    neurons = correlations(X[half], tones[half]).abs().amax(0)
    assert (held_out >= 0.85).all() and (held_out > neurons).all()


def test_the_other_autoencoder_keeps_the_loss():
    model, sae = load_weights("dialogue-gpt"), load_weights("dialogue-sae")
    batches, _ = texts_and_tones(model.tokenizer, 100, seed=98)
    assert loss_recovered(model, sae, batches) > 0.95
    for name in ("dialogue-sae", "dialogue-sae-ends"):
        card = (FOLDER / f"{name}.md").read_text(encoding="utf8")
        assert all(words in card for words in ("±", "`python -m tools.train_sae`", "BSD-3-Clause", "Limits"))


@pytest.mark.slow
def test_clamping_a_tone_writes_it(dialogue):
    model, sae, X, tones = dialogue
    A, where = sae.activations(X), sentence_ends(model.tokenizer)
    plain = shares(model)
    for k, tone, times in ((1, "praise", 5), (3, "secretive", 5), (4, "french", 3)):
        feature = correlations(A, tones)[:, k].argmax().item()
        with clamp_feature(model, sae, feature, times * A[:, feature].max().item(), where):
            now = shares(model)
        assert now[tone] >= 3 * plain[tone] and now.get("invalid", 0) <= 0.15


@pytest.mark.slow
def test_the_pretrained_encoder_is_read_as_well(tmp_path):
    if not has_encoder():
        pytest.skip("the encoder's package is missing")
    encoder, tokenizer = pretrained_encoder()
    texts = ["a good film", "a poor film that nobody needs"]
    batches, _ = by_length(tokenizer(texts).input_ids)
    states = stream_of(encoder, 3)
    H = collect_activations(states, batches, tmp_path / "states.npy")
    padded = encoder(**tokenizer(texts, padding=True, return_tensors="pt"), output_hidden_states=True).hidden_states[3]
    torch.testing.assert_close(torch.as_tensor(H[:5]), padded[0, :5], atol=1e-4, rtol=1e-4)
    top = top_activating(train_sae(H, 8, epochs=1, progress=False), states, batches, n=2)
    assert top.activation.shape == (2, 8)
