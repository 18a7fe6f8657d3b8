"""The classifiers: folded equals unfolded, the protocols agree with one another, edges and errors."""

import numpy as np
import pytest
import torch

from coursekit.models import AttentionClassifier, TransformerClassifier
from coursekit.models.documents import token_ids
from coursekit.text import WordTokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "good", "bad", "not", "film", "the", "."]
DOCUMENTS = [["the", "film", "good", "."], ["not", "good"], [], ["zzz", "bad", "zzz"], ["film"] * 40]


def attention_classifier(T_max=12):
    torch.manual_seed(0)
    return AttentionClassifier(WordTokenizer(WORDS), T_max=T_max, d_e=16, d_att=6, d_out=5, K=3).eval()


def transformer_classifier():
    torch.manual_seed(0)
    return TransformerClassifier(WordTokenizer(WORDS), T_max=12, d_e=12, K=3, L=2).eval()


models = pytest.mark.parametrize("build", [attention_classifier, transformer_classifier])


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_folded_equals_unfolded_with_its_gradients(dtype, tolerance):
    model = attention_classifier().to(dtype)
    ids = token_ids(model, DOCUMENTS)
    gradients = []
    for folded in (True, False):
        model.zero_grad()
        scores = model(ids, folded=folded)
        scores.square().sum().backward()
        gradients.append([scores.detach(), *(p.grad.clone() for p in model.parameters())])
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)
    assert all(g.abs().sum() > 0 for g in gradients[0])


def test_a_fresh_layer_keeps_the_size_of_what_it_reads():
    torch.manual_seed(0)
    model = AttentionClassifier(WordTokenizer(WORDS))
    for W in (model.W_q, model.W_k, model.W_v, model.W_l):
        assert 0.9 < (torch.randn(1000, W.shape[-1]) @ W.mT).std() < 1.1


def test_the_formula_of_the_paper_by_loops():
    """f = 1/K Σ_i W_ℓ Σ_t α_t v_t, written out head by head and token by token (Eqs. 1–9)."""
    model = attention_classifier().double()
    document = ["not", "good", "zzz"]
    ids = token_ids(model, [document])[0]
    score = 0.0
    for i in range(3):
        e = [model.W_e[j] + model.W_p[t] for t, j in enumerate(ids)]
        q = model.W_q[i] @ e[0]
        g = torch.stack([torch.exp(q @ (model.W_k[i] @ e_t) / 6 ** 0.5) for e_t in e])
        alpha = g / g.sum()
        torch.testing.assert_close(model.cls_attention(document)[i], alpha[:4])
        score += model.W_l[i] @ sum(a * (model.W_v[i] @ e_t) for a, e_t in zip(alpha, e, strict=True)) / 3
    assert model.predict([document])[0] == pytest.approx(score.item(), abs=1e-9)


@models
def test_black_box(build):
    model = build()
    scores = model.predict(DOCUMENTS)
    assert isinstance(scores, np.ndarray) and scores.shape == (5,) and len(set(scores.round(5))) == 5
    one_by_one = np.concatenate([model.predict([document]) for document in DOCUMENTS])
    np.testing.assert_allclose(scores, one_by_one, atol=1e-5)
    np.testing.assert_allclose(model.predict(DOCUMENTS * 300)[:5], scores, atol=1e-5)      # several chunks
    assert model.predict([]).shape == (0,)


@models
def test_white_box_agrees_with_the_black_box(build):
    model = build()
    for document in DOCUMENTS:
        e, A, T = model.embed(document), model.attentions(document), len(model.tokens(document))
        assert e.shape[0] == T == min(12, len(document) + 1)
        assert model.from_embeddings(e).item() == pytest.approx(model.predict([document])[0].item(), abs=1e-5)
        assert A.shape[1:] == (3, T, T) and (A >= 0).all()
        torch.testing.assert_close(model.cls_attention(document), A[-1, :, 0])
    batch = torch.stack([model.embed(["good", "film"]), model.embed(["bad", "film"])])
    torch.testing.assert_close(model.from_embeddings(batch)[1], model.from_embeddings(batch[1]))


@models
def test_from_embeddings_is_differentiable_in_every_row(build):
    e = build().embed(["not", "good"]).detach().requires_grad_()
    build().from_embeddings(e).backward()
    assert (e.grad.abs().sum(1) > 0).all()


@models
def test_own_rows_are_the_documents(build):
    model = build()
    for document in DOCUMENTS:
        assert [model.tokens(document)[i] for i in model.own(document)] == document[:11]


@models
def test_trace_is_the_score_opened(build):
    model = build().double()
    for document in DOCUMENTS:
        e, T = model.embed(document), len(model.tokens(document))
        trace = model.trace(e)
        assert trace.score.item() == pytest.approx(model.from_embeddings(e).item(), abs=1e-9)
        assert [A[..., :T, :T].tolist() for A in trace.attentions] == model.attentions(document).tolist()
        gradients = torch.autograd.grad(trace.score, trace.attentions)
        for A, values, gradient in zip(trace.attentions, trace.values, gradients, strict=True):
            assert gradient.shape == A.shape == (3, *values.shape[1:2] * 2)
        assert (gradients[-1][:, 0] != 0).all() and not gradients[-1][:, 1:].any()         # only [CLS] is read out
    batch = torch.stack([model.embed(["good", "film"]), model.embed(["bad", "film"])])
    torch.testing.assert_close(model.trace(batch).score, model.from_embeddings(batch))


@models
def test_attention_can_be_changed(build):
    model = build().double()
    e, donor = model.embed(["good", "film"]), model.embed(["bad", "film"])
    given = model.trace(donor).attentions
    changed = model.trace(e, lambda layer, A: given[layer])
    assert all(torch.equal(A, B) for A, B in zip(changed.attentions, given, strict=True))
    assert changed.score != model.trace(e).score == model.trace(e, lambda layer, A: A).score
    assert not any(A.any() for A in model.trace(e, lambda layer, A: 0 * A).attentions)


def test_values_are_what_heads_write():
    """attention @ values, summed over heads: the score itself, or what a layer adds to its states (less a bias)."""
    model, document = attention_classifier(), ["not", "good"]
    with torch.no_grad():
        score, (A,), (values,) = model.trace(model.embed(document))
    assert (A @ values)[:, 0].sum().item() == pytest.approx(score.item(), abs=1e-6)
    model = transformer_classifier()
    e = model.embed(document)
    trace = model.trace(e)
    for block, A, values in zip(model.blocks, trace.attentions, trace.values, strict=True):
        layer = block.attention
        torch.testing.assert_close((A @ values).sum(0) + layer.output.bias, layer(block.norm_attention(e))[0])
        e, _ = block(e)


@models
def test_baselines_keep_the_class_token_and_positions(build):
    model = build()
    for document in DOCUMENTS:
        e, T = model.embed(document), len(model.tokens(document))
        unknown, zero = model.baseline(document), model.baseline(document, "zero")
        torch.testing.assert_close(unknown, model.embed(["zzz"] * len(document)))
        torch.testing.assert_close(model.baseline(document, "pad"), unknown)
        assert torch.equal(zero[1:], model.W_p[1:T]) and torch.equal(zero[0], e[0]) and torch.equal(unknown[0], e[0])
    with pytest.raises(ValueError, match="'unk', 'pad' or 'zero'"):
        model.baseline(DOCUMENTS[0], "mask")


def test_rows_of_attention_and_the_padding_sum_to_one():
    model = attention_classifier()
    for document in DOCUMENTS:
        total = model.attentions(document).sum(-1) + model.padding_attention(document)
        torch.testing.assert_close(total, torch.ones_like(total))
    assert model.padding_attention(DOCUMENTS[-1]).abs().max() == 0                          # no room for padding


def test_the_transformer_masks_its_padding():
    model = transformer_classifier()
    A = model.attentions(["not", "good"])
    torch.testing.assert_close(A.sum(-1), torch.ones(2, 3, 3))
    beside, alone = model.predict([["not", "good"], ["film"] * 11])[0], model.predict([["not", "good"]])[0]
    np.testing.assert_allclose(beside, alone, atol=1e-5)


@models
def test_unknown_words_are_padding_and_long_documents_are_cut(build):
    model = build()
    assert token_ids(model, [["zzz", "bad"]])[0].tolist()[:4] == [2, 0, 4, 0]
    np.testing.assert_allclose(model.predict([["film"] * 11]), model.predict([["film"] * 11 + ["bad"]]), atol=1e-6)
    assert model.tokens(["film"] * 40) == ["[CLS]"] + ["film"] * 11


def test_order_matters_only_through_positions():
    model = attention_classifier()
    with_positions = model.predict([["not", "good"], ["good", "not"]])
    assert abs(with_positions[0] - with_positions[1]) > 1e-4
    model.W_p.zero_()
    np.testing.assert_allclose(*model.predict([["not", "good"], ["good", "not"]]), atol=1e-6)


@models
def test_bad_input_gets_one_line(build):
    model = build()
    for bad in ("a good film", ["a good film"]):
        with pytest.raises(TypeError, match="list"):
            model.predict(bad)
    with pytest.raises(TypeError, match="list of tokens"):
        model.embed("a good film")


@models
def test_wrong_embeddings_get_one_line(build):
    for wrong in (torch.zeros(3, 5), torch.zeros(13, build().W_e.shape[1])):
        with pytest.raises(ValueError, match="use embed"):
            build().from_embeddings(wrong)


@models
def test_it_shows_its_sizes(build):
    model = build()
    assert f"D=9, T_max={model.T_max}, " in repr(model) and f"K={model.config['K']}" in repr(model)


@models
def test_ids_are_no_tokens(build):
    """They would all be unknown words, without a word."""
    for ask in (lambda m: m.predict([[3, 4]]), lambda m: m.embed([3, 4]), lambda m: m.predict([3, 4])):
        with pytest.raises(TypeError, match=r"a document is a list of tokens \(strings\), got int: use tokenizer"):
            ask(build())
    assert build().predict([np.array(["good", "film"])]).shape == (1,)
