"""Chefer et al.'s methods: equal to a slow version, conserved relevance, cross-attention, nothing left on the model."""

import copy

import numpy as np
import pytest
import torch

from coursekit.explain import cross_gradient_attention, gradient_attention, relevance_attention, relevance_rules
from coursekit.models import GPT2, EncoderDecoder, GPT2Config

DOCUMENT = "not a good film , but the story is dull".split()


def test_gradient_attention_is_its_formula(white_box):
    trace = white_box.trace(white_box.embed(DOCUMENT))
    sign = 1 if trace.score > 0 else -1
    slopes = torch.autograd.grad(trace.score, trace.attentions)
    R = np.eye(trace.attentions[0].shape[-1])
    for A, slope in zip(trace.attentions, slopes, strict=True):
        kept = np.maximum(sign * (A * slope).detach().numpy(), 0).mean(0)
        R = R + kept @ R
    np.testing.assert_allclose(gradient_attention(white_box, DOCUMENT).scores, R[0, 1:len(DOCUMENT) + 1], atol=1e-12)


def test_slopes_of_attention_are_those_of_small_changes(one_layer):
    """Here the score is linear in the weights: a change of one moves it by weight × slope, exactly."""
    trace = one_layer.trace(one_layer.embed(DOCUMENT))
    slope, = torch.autograd.grad(trace.score, trace.attentions)
    A = trace.attentions[0].detach().clone()
    A[1, 0, 3] = 0
    changed = (A @ trace.values[0])[:, 0].sum()
    assert (trace.score - changed).item() == pytest.approx((trace.attentions[0] * slope)[1, 0, 3].item())


def test_relevance_is_conserved_without_biases(three_layers):
    kept = {name: p.clone() for name, p in three_layers.named_parameters() if name.endswith("bias")}
    try:
        with torch.no_grad():
            for name in kept:
                three_layers.get_parameter(name).zero_()
        e = three_layers.embed(DOCUMENT).detach().requires_grad_()
        with relevance_rules(three_layers):
            score = three_layers.trace(e).score
            slope, = torch.autograd.grad(score, e)
        assert score.item() == pytest.approx(three_layers.from_embeddings(e).item())     # the rules leave the score
        assert (e * slope).sum().item() == pytest.approx(score.item(), rel=1e-4)         # but for the norms' ε
        plain, = torch.autograd.grad(three_layers.from_embeddings(e), e)
        assert abs((e * plain).sum().item() - score.item()) > 0.05 * abs(score.item())   # plain gradients do not
    finally:
        with torch.no_grad():
            for name, p in kept.items():
                three_layers.get_parameter(name).copy_(p)


def test_the_rules_go_when_their_block_ends(three_layers):
    before = three_layers.from_embeddings(three_layers.embed(DOCUMENT)).item()
    with pytest.raises(KeyError):
        with relevance_rules(three_layers):
            raise KeyError
    assert not any(module._forward_hooks for module in three_layers.modules())
    assert three_layers.from_embeddings(three_layers.embed(DOCUMENT)).item() == before


def test_one_layer_relevance_is_what_each_weight_adds(one_layer):
    """A linear read-out: R_A = A ⊙ value is exact, and Ā multiplies it by the slope once more, where both speak for."""
    trace = one_layer.trace(one_layer.embed(DOCUMENT))
    sign = 1 if trace.score > 0 else -1
    A, values = trace.attentions[0].detach()[:, 0], trace.values[0].detach()[..., 0]     # (K, T_max)
    expected = (A * (sign * values).clamp(min=0) ** 2).mean(0)[1:len(DOCUMENT) + 1]
    np.testing.assert_allclose(relevance_attention(one_layer, DOCUMENT).scores, expected, rtol=1e-9)


@pytest.mark.parametrize("explain", [gradient_attention, relevance_attention])
def test_what_speaks_against_the_prediction_has_no_relevance(explain, one_layer):
    """Two negative factors, slope and relevance, must not make a positive one."""
    model = copy.deepcopy(one_layer)
    with torch.no_grad():
        model.W_l[1:] = 0                                                                # one head decides
    trace = model.trace(model.embed(DOCUMENT))
    towards = (trace.score.sign() * trace.values[0])[0, 1:len(DOCUMENT) + 1, 0].detach().numpy()     # (T,)
    scores = explain(model, DOCUMENT).scores
    assert (towards < 0).any() and (scores[towards < 0] == 0).all() and (scores[towards > 0] > 0).all()


@pytest.mark.parametrize("explain", [gradient_attention, relevance_attention])
def test_scores_are_not_negative_and_documents_of_any_length_work(explain, white_box):
    a = explain(white_box, DOCUMENT)
    assert a.scores.min() >= 0 and not a.signed and a.tokens == tuple(DOCUMENT)
    assert len(explain(white_box, [])) == 0 and len(explain(white_box, ["film"])) == 1
    with pytest.raises(ValueError, match="target"):
        explain(white_box, DOCUMENT, target=1)
    with pytest.raises(TypeError, match="looks inside"):
        explain(lambda documents: 0, DOCUMENT)


# -- cross-attention ---------------------------------------------------------------------------------------------------


def copying():
    """An encoder-decoder whose target word t looks at source word t alone, and at no other."""
    torch.manual_seed(0)
    return EncoderDecoder(8, 8, T_max=8, d_e=16, K=2, L=2).double().eval()


@pytest.mark.parametrize("place", [0, 2])
def test_relevance_of_source_words(place):
    model, source, target = copying(), torch.tensor([[3, 4, 5, 6, 2]]), torch.tensor([[6, 5, 4, 2]])
    scores = cross_gradient_attention(model, source, target, place)
    assert scores.shape == (5,) and scores.min() >= 0 and scores.max() > 0
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_words_that_cross_attention_cannot_see_have_no_relevance():
    """With the second layer's and the encoder's mixing cut off, only the weights of the one cross-attention count."""
    model, source, target = copying(), torch.tensor([[3, 4, 5, 2]]), torch.tensor([[6, 5, 2]])
    with torch.no_grad():
        for block in model.encoder.blocks:
            block.attention.output.weight.zero_()
        for block in model.blocks:
            block.attention.output.weight.zero_()
        model.blocks[1].cross.output.weight.zero_()
    logits, maps = model.decode(model.encoder(source), (source != 0)[:, None, None], target, need_weights=True)
    slope, = torch.autograd.grad(logits[0, 1, 5], maps[0])
    expected = (slope * maps[0]).clamp(min=0).mean(1)[0, 1].detach()
    np.testing.assert_allclose(cross_gradient_attention(model, source, target, 1), expected, atol=1e-12)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="needs an EncoderDecoder"):
        cross_gradient_attention(GPT2(GPT2Config(8, 8, 8, 2, 1)), None, None, 0)
