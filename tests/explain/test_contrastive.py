"""Contrastive gradients against autograd through a forward pass written out, what they are blind to, and their rows."""

import numpy as np
import pytest
import torch

from coursekit.models import greedy, load_weights
from coursekit.people import contrastive_gradient, generated_attributions


@pytest.fixture(scope="module")
def model():
    return load_weights("dialogue-gpt")


@pytest.fixture(scope="module")
def asked(model):
    encode = model.tokenizer.encode
    return [model.tokenizer.cls_id, *encode("is my sister's plan ready ? the plan is weak .")], *encode("she he")


def by_hand(model, ids, weights):
    """Gradient (T, d_e) of Σ weight · logit at the words' embeddings, the pass written out block by block."""
    e = model.W_e.detach()[ids].clone().requires_grad_()
    x = (e + model.W_p[:len(ids)])[None]
    for block in model.blocks:
        x = block(x)[0]
    logits = model.logits(x)[0, -1]
    return torch.autograd.grad(sum(w * logits[i] for i, w in weights.items()), e)[0], e.detach()


def test_it_is_autograd(model, asked):
    ids, she, he = asked
    for foil, weights in [(he, {she: 1, he: -1}), (None, {she: 1})]:
        g, e = by_hand(model, ids, weights)
        for reduce, due in [("l1", g.abs().sum(1)), ("l2", g.norm(dim=1)), ("input", (g * e).sum(1))]:
            found = contrastive_gradient(model, ids, she, foil, reduce)
            np.testing.assert_allclose(found.scores, due.numpy(), rtol=1e-4, atol=1e-6)
            assert found.signed == (reduce == "input") and len(found) == len(ids)


def test_target_and_foil_change_places(model, asked):
    ids, she, he = asked
    there, back = (contrastive_gradient(model, ids, *pair, "input") for pair in [(she, he), (he, she)])
    np.testing.assert_allclose(there.scores, -back.scores, rtol=1e-5)
    assert there.method == "why she rather than he?" and back.method == "why he rather than she?"
    assert contrastive_gradient(model, ids, she, he).top(1)[0][0] == "sister's"


def test_each_new_token_has_its_row(model, asked):
    prompt = asked[0][:8]
    ids = prompt + greedy(model, prompt, 5)
    written = generated_attributions(model, ids, 8)
    assert [len(row) for row in written.rows] == [8, 9, 10, 11, 12] and len(written.tokens) == 13
    for t, row in zip(range(8, 13), written.rows, strict=True):
        logits = model.step(torch.tensor([ids[:t]]))[0][0]
        best, second = logits.topk(2).indices.tolist()                  # greedy wrote the first: the foil is the other
        assert row.about["words"] == [best, second] == [ids[t], second]
        assert (written.scores[t - 8, :t] == row.scores).all() and not written.scores[t - 8, t:].any()
    alone = generated_attributions(model, ids, 8, foils=[None] * 5)
    assert (alone.rows[2].scores == contrastive_gradient(model, ids[:10], ids[10]).scores).all()
    assert "<img" in written._repr_html_() and "5 rows" in str(written.plot("what each word hangs on"))


def test_what_is_not_there_is_said_in_one_line(model, asked):
    ids, she, he = asked
    for call in [lambda: contrastive_gradient(model, ids, she, she), lambda: contrastive_gradient(model, [], she),
                 lambda: contrastive_gradient(model, ids, she, 999), lambda: generated_attributions(model, ids, 0),
                 lambda: contrastive_gradient(model, ids, she, he, "mean"),
                 lambda: generated_attributions(model, ids, len(ids)),
                 lambda: generated_attributions(model, ids, 5, foils=[None])]:
        with pytest.raises(ValueError) as said:
            call()
        assert "\n" not in str(said.value)


def test_a_language_model_of_another_make_is_told_how_it_comes_in():
    import transformers

    config = transformers.GPT2Config(n_embd=12, n_head=2, n_layer=1, vocab_size=50)
    for call in (contrastive_gradient, generated_attributions):
        with pytest.raises(TypeError, match="GPT2LMHeadModel has no W_e, .* GPT2.from_huggingface.model.") as no:
            call(transformers.GPT2LMHeadModel(config), [1, 2, 3], 1)
        assert "\n" not in str(no.value)
