"""Attention: equal to PyTorch's own on the same weights, right on the edges, one clear line for bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from coursekit.models import (
    MultiHeadAttention,
    additive_attention,
    causal_mask,
    scaled_dot_product_attention,
    single_query_attention,
    sinusoidal_positions,
)

sizes = st.integers(1, 6)


def qkv(T_q, T, d_att, d_out, seed=0, batch=(), dtype=torch.float32, scale=1.0):
    g = torch.Generator().manual_seed(seed)
    shapes = (*batch, T_q, d_att), (*batch, T, d_att), (*batch, T, d_out)
    return [scale * torch.randn(shape, generator=g, dtype=dtype) for shape in shapes]


@settings(max_examples=60, deadline=None)
@given(sizes, sizes, sizes, sizes, st.sampled_from([(), (2,), (2, 3)]), st.integers(0, 99))
def test_equals_torch(T_q, T, d_att, d_out, batch, seed):
    q, k, v = qkv(T_q, T, d_att, d_out, seed, batch)
    output, weights = scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(output, nn.functional.scaled_dot_product_attention(q, k, v))
    torch.testing.assert_close(weights.sum(-1), torch.ones(*batch, T_q))
    assert weights.shape == (*batch, T_q, T)


@settings(max_examples=60, deadline=None)
@given(sizes, sizes, st.integers(0, 99))
def test_masks_equal_torch_and_empty_rows_get_zero(T_q, T, seed):
    q, k, v = qkv(T_q, T, 3, 2, seed, (2,))
    allowed = torch.rand(2, T_q, T, generator=torch.Generator().manual_seed(seed)) < 0.5
    allowed[0, 0] = False                                                          # nothing to look at
    added = torch.zeros(2, T_q, T).masked_fill(~allowed, -math.inf)
    for mask in (allowed, added):
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        assert (weights[~allowed] == 0).all() and (output[0, 0] == 0).all()
        full = allowed.any(-1)
        theirs = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        torch.testing.assert_close(output[full], theirs[full])


def test_a_fully_masked_row_does_not_poison_gradients():
    q, k, v = (x.requires_grad_() for x in qkv(2, 3, 4, 4))
    output, _ = scaled_dot_product_attention(q, k, v, torch.tensor([[True, True, False], [False, False, False]]))
    output.sum().backward()
    for x in (q, k, v):
        assert torch.isfinite(x.grad).all()
    assert (q.grad[1] == 0).all() and q.grad[0].abs().sum() > 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_keeps_the_dtype(dtype):
    output, weights = scaled_dot_product_attention(*qkv(2, 3, 4, 5, dtype=dtype))
    assert output.dtype == weights.dtype == dtype


def test_one_token_and_extreme_scores():
    q, k, v = qkv(1, 1, 4, 2)
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.item() == 1 and torch.equal(output, v)
    q, k, v = qkv(3, 5, 4, 2, scale=1e4)                                           # scores of 10⁸: exp would overflow
    output, weights = scaled_dot_product_attention(q, k, v)
    assert torch.isfinite(output).all() and torch.allclose(weights.sum(-1), torch.ones(3))


@pytest.mark.parametrize("change, words", [
    (lambda q, k, v: (q.numpy(), k, v), "q must be a torch tensor"),
    (lambda q, k, v: (q, k.long(), v), "k must hold floating-point numbers"),
    (lambda q, k, v: (q, k, v.double()), "must share one dtype"),
    (lambda q, k, v: (q[0], k, v), "q must have shape"),
    (lambda q, k, v: (q, k[:, :2], v), "same size d_att"),
    (lambda q, k, v: (q, k, v[:2]), "every key needs one value"),
    (lambda q, k, v: (q, k, v, torch.ones(5, 3)), "mask must have shape"),
    (lambda q, k, v: (q, k, v, torch.ones(2, 3, dtype=torch.int64)), "mask must be boolean"),
])
def test_bad_input_gets_one_line(change, words):
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        scaled_dot_product_attention(*change(*qkv(2, 3, 4, 5)))
    assert "\n" not in str(caught.value)


def test_single_query_is_one_row_of_many():
    q, k, v = qkv(4, 3, 5, 2)
    many, weights = scaled_dot_product_attention(q, k, v)
    mask = torch.tensor([True, False, True])
    for s in range(4):
        one, alpha = single_query_attention(q[s], k, v)
        torch.testing.assert_close(one, many[s])
        torch.testing.assert_close(alpha, weights[s])
        assert single_query_attention(q[s], k, v, mask)[1][1] == 0
    with pytest.raises(ValueError, match="one query"):
        single_query_attention(q, k, v)


def test_causal_mask_lets_nobody_see_the_future():
    q, k, v = qkv(5, 5, 4, 3)
    output, weights = scaled_dot_product_attention(q, k, v, causal_mask(5))
    assert (weights.triu(1) == 0).all() and (weights.tril() > 0).sum() == 15
    torch.testing.assert_close(output, nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
    later = [x.clone() for x in (k, v)]
    for x in later:
        x[3:] = 100.0
    torch.testing.assert_close(scaled_dot_product_attention(q, *later, causal_mask(5))[0][:3], output[:3])
    assert causal_mask(1).tolist() == [[0.0]]
    with pytest.raises(ValueError, match="at least 1"):
        causal_mask(0)


def test_self_attention_is_permutation_equivariant_but_not_with_a_causal_mask():
    E = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    order = torch.tensor([3, 1, 5, 0, 4, 2])
    output, A = scaled_dot_product_attention(E, E, E)
    moved, A_moved = scaled_dot_product_attention(E[order], E[order], E[order])
    torch.testing.assert_close(moved, output[order])
    torch.testing.assert_close(A_moved, A[order][:, order])
    masked = scaled_dot_product_attention(E, E, E, causal_mask(6))[0]
    masked_moved = scaled_dot_product_attention(E[order], E[order], E[order], causal_mask(6))[0]
    assert (masked_moved - masked[order]).abs().max() > 0.1


def test_additive_attention_follows_its_formula():
    g = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(2, 3, generator=g), torch.randn(4, 5, generator=g), torch.randn(4, 2, generator=g)
    W_q, W_k, w = torch.randn(6, 3, generator=g), torch.randn(6, 5, generator=g), torch.randn(6, generator=g)
    output, weights = additive_attention(q, k, v, W_q, W_k, w)
    scores = torch.tensor([[float(w @ torch.tanh(W_q @ q[s] + W_k @ k[t])) for t in range(4)] for s in range(2)])
    torch.testing.assert_close(weights, scores.softmax(-1))
    torch.testing.assert_close(output, weights @ v)
    _, batched = additive_attention(q.expand(7, 2, 3), k.expand(7, 4, 5), v.expand(7, 4, 2), W_q, W_k, w)
    torch.testing.assert_close(batched[3], weights)
    assert additive_attention(q, k, v, W_q, W_k, w, torch.tensor([[True, True, False, True]]))[1][1, 2] == 0
    with pytest.raises(ValueError, match="expected W_q"):
        additive_attention(q, k, v, W_k, W_q, w)


def test_positions_are_vaswanis_and_the_papers():
    P = sinusoidal_positions(50, 16)
    for t, j in ((0, 0), (7, 3), (49, 7)):
        assert P[t, 2 * j] == pytest.approx(math.sin(t / 10_000 ** (2 * j / 16)), abs=1e-6)
        assert P[t, 2 * j + 1] == pytest.approx(math.cos(t / 10_000 ** (2 * j / 16)), abs=1e-6)
    paper = sinusoidal_positions(256, 128, base=256, start=1, order="cos-sin")
    assert paper[4, 2 * 9] == pytest.approx(math.cos(5 / 256 ** (18 / 128)), abs=1e-6)
    assert paper[4, 2 * 9 + 1] == pytest.approx(math.sin(5 / 256 ** (18 / 128)), abs=1e-6)
    distance = (P[3:40] @ P[0:37].T).diagonal()                                    # P_t·P_{t+3} depends on 3 alone
    torch.testing.assert_close(distance, distance[0].expand(37), atol=1e-4, rtol=0)
    for T, d in ((0, 4), (3, 5)):
        with pytest.raises(ValueError, match="even d"):
            sinusoidal_positions(T, d)
    with pytest.raises(ValueError, match="sin-cos"):
        sinusoidal_positions(3, 4, order="cos")


def torch_twin(layer, d_e, K, bias):
    twin = nn.MultiheadAttention(d_e, K, bias=bias, batch_first=True)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([layer.query.weight, layer.key.weight, layer.value.weight]))
        twin.out_proj.weight.copy_(layer.output.weight)
        if bias:
            twin.in_proj_bias.copy_(torch.cat([layer.query.bias, layer.key.bias, layer.value.bias]))
            twin.out_proj.bias.copy_(layer.output.bias)
    return twin


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_multi_head_equals_torch(K, bias):
    torch.manual_seed(K)
    layer = MultiHeadAttention(8, K, bias=bias)
    twin = torch_twin(layer, 8, K, bias)
    x, context = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
    for other, mask in ((None, None), (context, None), (None, causal_mask(5))):
        output, weights = layer(x, other, mask)
        keys = x if other is None else other
        theirs, their_weights = twin(x, keys, keys, attn_mask=mask, average_attn_weights=False)
        torch.testing.assert_close(output, theirs)
        torch.testing.assert_close(weights, their_weights)
        torch.testing.assert_close(layer(x, other, mask, need_weights=False)[0], output)


def test_multi_head_sizes():
    layer = MultiHeadAttention(10, 3, d_att=4, d_out=2)
    output, weights = layer(torch.randn(6, 10))
    assert output.shape == (6, 10) and weights.shape == (3, 6, 6)
    with pytest.raises(ValueError, match="does not split"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="size d_e = 10"):
        layer(torch.randn(6, 8))
