"""Attention as attribution: the right row, the right columns; words from pieces; norms as their paper defines them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.explain import (
    attention_flow,
    attention_max,
    attention_mean,
    attention_sum,
    norm_attention,
    rollout,
    word_attention,
)
from coursekit.explain.attention import norm_maps
from coursekit.text import BytePairTokenizer, WordPieceTokenizer

DOCUMENT = "not a good film , but the story is dull".split()
ALL = [attention_mean, attention_max, attention_sum, norm_attention, rollout, attention_flow]


def read_out(model):
    return model.attentions(DOCUMENT).detach().numpy()[:, :, 0, 1:]                 # (L, K, T − 1)


def test_heads_and_layers_are_aggregated_as_the_names_say(white_box):
    row = read_out(white_box)
    for explain, reduce in ((attention_mean, np.mean), (attention_max, np.max), (attention_sum, np.sum)):
        a = explain(white_box, DOCUMENT)
        assert a.tokens == tuple(DOCUMENT) and not a.signed
        np.testing.assert_allclose(a.scores, reduce(row, axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(attention_mean(white_box, DOCUMENT, layer=-1).scores, row[-1].mean(0), rtol=1e-12)
    with pytest.raises(ValueError, match="layer must be between 0 and"):
        attention_mean(white_box, DOCUMENT, layer=3)


@pytest.mark.parametrize("explain", ALL)
def test_documents_of_any_length(explain, white_box):
    assert len(explain(white_box, [])) == 0
    assert explain(white_box, ["film"]).tokens == ("film",) and not explain(white_box, ["film"]).signed
    long = ["film"] * 30
    assert len(explain(white_box, long)) == white_box.T_max - 1                      # what it read
    with pytest.raises(TypeError, match="looks inside the model"):
        explain(object(), DOCUMENT)


# -- words from pieces -------------------------------------------------------------------------------------------------


TEXT = "Unwatchable films are rewatchable , aren't they ? films"
PIECES = {"word pieces": ["[CLS]", *WordPieceTokenizer.train([TEXT], 50).tokenize(TEXT), "[SEP]"],
          "byte pairs": BytePairTokenizer.train([TEXT], 270).tokenize(TEXT)}


@settings(deadline=None)
@given(st.sampled_from(sorted(PIECES)), st.integers(0, 10 ** 6))
def test_rows_of_words_sum_to_one(name, seed):
    tokens = PIECES[name]
    A = torch.randn(2, 3, len(tokens), len(tokens), generator=torch.manual_seed(seed)).softmax(-1)
    weights, words = word_attention(A, tokens)
    assert weights.shape == (2, 3, len(words), len(words)) and len(words) < len(tokens)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)


def test_the_other_way_round_rows_do_not_sum_to_one():
    """Mean over what is attended to, sum over what attends: rows then miss one."""
    A = np.full((3, 3), 1 / 3)
    weights, _ = word_attention(A, ["play", "##ing", "chess"])
    other, _ = word_attention(A.T, ["play", "##ing", "chess"])
    assert np.allclose(weights.sum(1), 1) and np.allclose(other.T.sum(1), [4 / 3, 2 / 3])


def test_words_need_a_square_of_their_tokens():
    with pytest.raises(ValueError, match="T = 2 tokens"):
        word_attention(np.eye(3), ["a", "b"])


# -- norms -------------------------------------------------------------------------------------------------------------


def test_norms_are_those_of_the_vectors_that_attention_adds(three_layers):
    x = three_layers.embed(DOCUMENT)
    for l, block in enumerate(three_layers.blocks):
        layer, y = block.attention, block.norm_attention(x)
        mixed, A = layer(y)
        v = layer.split(layer.value(y))                                              # (K, T, d_e/K)
        terms = torch.einsum("kst,ktd->stkd", A, v).flatten(2) @ layer.output.weight.T       # (T, T, d_e)
        torch.testing.assert_close(terms.sum(1) + layer.output.bias, mixed)
        np.testing.assert_allclose(norm_maps(three_layers, DOCUMENT)[l, 0], terms.norm(dim=-1).detach(), rtol=1e-10)
        x = block(x)[0]


def test_a_token_without_value_has_no_norm_whatever_its_weight(one_layer):
    words = ["good", "film"]
    norms, weights = norm_attention(one_layer, words), attention_mean(one_layer, words)
    alpha = one_layer.cls_attention(words)[:, 1:]
    v = torch.einsum("kod,td,ko->kt", one_layer.W_v, one_layer.embed(words)[1:], one_layer.W_l) / len(one_layer.W_l)
    np.testing.assert_allclose(norms.scores, (alpha * v).sum(0).abs().detach(), rtol=1e-10)
    assert weights.scores.min() > 0


# -- rollout and flow --------------------------------------------------------------------------------------------------


def test_rollout_is_the_product_of_the_layers(three_layers):
    A = three_layers.attentions(DOCUMENT).detach().mean(1).numpy()
    half = [(a + np.eye(len(a))) / 2 for a in A]
    expected = (half[2] @ half[1] @ half[0])[0]
    assert expected.sum() == pytest.approx(1)
    np.testing.assert_allclose(rollout(three_layers, DOCUMENT).scores, expected[1:], rtol=1e-10)


def test_one_layer_of_rollout_and_flow_is_the_mean_attention(one_layer):
    mean = attention_mean(one_layer, DOCUMENT).scores
    for explain in (rollout, attention_flow):
        np.testing.assert_allclose(explain(one_layer, DOCUMENT).scores, mean / 2, rtol=1e-9)


def test_flow_is_between_the_narrowest_path_and_what_the_source_sends(three_layers):
    A = (three_layers.attentions(["good", "film"]).detach().mean(1).numpy() + np.eye(3)) / 2           # (3, 3, 3)
    for t, flow in enumerate(attention_flow(three_layers, ["good", "film"]).scores, start=1):
        paths = [min(A[2, 0, i], A[1, i, j], A[0, j, t]) for i in range(3) for j in range(3)]
        assert max(paths) - 1e-12 <= flow <= min(1, A[0, :, t].sum()) + 1e-12
        cuts = [sum(A[2, 0, i] for i in range(3) if i not in one)                    # minimum over all cuts
                + sum(A[1, i, j] for i in one for j in range(3) if j not in two)
                + sum(A[0, j, t] for j in two)
                for one in subsets() for two in subsets()]
        assert flow == pytest.approx(min(cuts))


def subsets():
    return [tuple(i for i in range(3) if bits >> i & 1) for bits in range(8)]
