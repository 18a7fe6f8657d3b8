"""Attention in every form the course needs: one query, many, masked, additive, several heads, positions.

Shapes: `...` any leading (batch, head) dimensions, T_q queries, T keys and values, d_att the size of a query or key,
d_out the size of a value, d_e the size of an embedding, K heads.
"""

import math
from typing import NamedTuple

import torch
from torch import nn


def _check(q, k, v):
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not torch.is_tensor(x):
            raise TypeError(f"{name} must be a torch tensor, got {type(x).__name__}: wrap it in torch.tensor(...)")
        if not x.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, got {x.dtype}: call {name}.float()")
        if x.dim() < 2:
            raise ValueError(f"{name} must have shape (..., T, d), got {tuple(x.shape)}: one row per token")
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"q, k and v must share one dtype, got {q.dtype}, {k.dtype}, {v.dtype}: convert two of them")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"every key needs one value: k has {k.shape[-2]} rows, v has {v.shape[-2]}")


def _mix(scores, v, mask):
    """Mask scores (..., T_q, T), softmax over the keys, average the values: what every attention does last."""
    if mask is not None:
        if mask.dim() < 2 or mask.shape[-1] != scores.shape[-1] or mask.shape[-2] not in (1, scores.shape[-2]):
            raise ValueError(f"mask must have shape (..., T_q, T) = {tuple(scores.shape[-2:])}, "
                             f"got {tuple(mask.shape)}")
        if mask.dtype == torch.bool:                                    # True: this query may look at this key
            scores = scores.masked_fill(~mask, -math.inf)
        elif mask.is_floating_point():                                  # 0 or −∞, added (a bias works as well)
            scores = scores + mask
        else:
            raise TypeError(f"mask must be boolean (True = may attend) or floating (0 or -inf), got {mask.dtype}")
    nothing = (scores == -math.inf).all(-1, keepdim=True)               # a row with every key masked would be 0/0 …
    weights = torch.softmax(scores.masked_fill(nothing, 0.0), -1)       # (..., T_q, T)
    weights = weights.masked_fill(nothing, 0.0)                         # … it gets no attention at all
    return weights @ v, weights


def scaled_dot_product_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                                 mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of every query to every key: softmax(q kᵀ/√d_att + M) v (Vaswani et al., 2017, Eq. 1).

    q (..., T_q, d_att), k (..., T, d_att), v (..., T, d_out) floating tensors of one dtype. `mask` (..., T_q, T) is
    boolean (True: may attend) or floating and *added* to the scores (0: may attend, −∞: may not).
    Returns (output (..., T_q, d_out), weights (..., T_q, T)). Each row of weights sums to one, except that a query
    whose every key is masked attends to nothing: its weights and its output are zero.
    Raises TypeError or ValueError, in one line, for wrong types and shapes.

    >>> q, k, v = torch.tensor([[1., 0.]]), torch.eye(2), torch.tensor([[10.], [20.]])
    >>> output, weights = scaled_dot_product_attention(q, k, v)
    >>> [round(w, 2) for w in weights[0].tolist()], round(output.item(), 2)     # softmax(1/√2, 0)
    ([0.67, 0.33], 13.3)
    """
    _check(q, k, v)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys must have the same size d_att: q has {q.shape[-1]}, k has {k.shape[-1]}")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])           # (..., T_q, T)
    return _mix(scores, v, mask)


def single_query_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                           mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one query q (d_att,) to T keys (T, d_att) with values (T, d_out) (Phuong and Hutter, 2022, Alg. 3).

    `mask` (T,), boolean (True: may attend) or added. Returns (output (d_out,), weights (T,)).

    >>> output, weights = single_query_attention(torch.zeros(2), torch.eye(2), torch.tensor([[10.], [20.]]))
    >>> weights.tolist(), output.tolist()                                # a query that matches nothing averages
    ([0.5, 0.5], [15.0])
    """
    if not torch.is_tensor(q) or q.dim() != 1:
        raise ValueError("q must be one query, a tensor of shape (d_att,): for many use scaled_dot_product_attention")
    output, weights = scaled_dot_product_attention(q[None], k, v, None if mask is None else mask[None])
    return output[0], weights[0]


def additive_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor,
                       w: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Additive attention: softmax over t of wᵀ tanh(W_q q_s + W_k k_t) (Bahdanau, Cho and Bengio, ICLR 2015, A.1.2).

    q (..., T_q, d_q) and k (..., T, d_k) may differ in size; W_q (d_att, d_q), W_k (d_att, d_k), w (d_att,).
    Returns (output (..., T_q, d_out), weights (..., T_q, T)), masked as in scaled_dot_product_attention.

    >>> q, k, v = torch.zeros(1, 1), torch.tensor([[0.0], [1.0]]), torch.tensor([[10.0], [20.0]])
    >>> one = torch.ones(1, 1)
    >>> output, weights = additive_attention(q, k, v, W_q=one, W_k=one, w=torch.ones(1))
    >>> [round(w, 2) for w in weights[0].tolist()], round(output.item(), 1)     # softmax(tanh 0, tanh 1)
    ([0.32, 0.68], 16.8)
    """
    _check(q, k, v)
    if W_q.shape[-1] != q.shape[-1] or W_k.shape[-1] != k.shape[-1] or not W_q.shape[0] == W_k.shape[0] == w.shape[0]:
        raise ValueError(f"expected W_q (d_att, {q.shape[-1]}), W_k (d_att, {k.shape[-1]}) and w (d_att,), got "
                         f"{tuple(W_q.shape)}, {tuple(W_k.shape)} and {tuple(w.shape)}")
    hidden = torch.tanh((q @ W_q.T).unsqueeze(-2) + (k @ W_k.T).unsqueeze(-3))   # (..., T_q, T, d_att)
    return _mix(hidden @ w, v, mask)


def causal_mask(T: int) -> torch.Tensor:
    """The mask (T, T) of attention to the past: M[s, t] = 0 if t ≤ s, −∞ if t > s. It is *added* to the scores.

    >>> causal_mask(3).tolist()
    [[0.0, -inf, -inf], [0.0, 0.0, -inf], [0.0, 0.0, 0.0]]
    """
    if T < 1:
        raise ValueError(f"T must be at least 1, got {T}: a mask needs a token")
    return torch.full((T, T), -math.inf).triu(1)


def sinusoidal_positions(T: int, d: int, base=10000, start=0, order="sin-cos") -> torch.Tensor:
    """Positional embeddings (T, d): waves of d/2 frequencies, sine and cosine side by side.

    Row i holds position t = start + i. Frequency j = 0 … d/2 − 1 turns at base^(−2j/d) radians a token. The defaults
    are Vaswani et al. (2017), section 3.5. With `base=T_max, start=1` it is what AttentionClassifier uses, after
    Lopardo, Precioso and Garreau (2024, Eq. 3), who number the frequencies from j = 1. `order="cos-sin"` puts the
    cosine of each pair first.

    >>> [round(x, 3) for x in sinusoidal_positions(2, 4)[1].tolist()]
    [0.841, 0.54, 0.01, 1.0]
    """
    if T < 1 or d < 2 or d % 2:
        raise ValueError(f"need at least one position and an even d (sine and cosine come in pairs), got T={T}, d={d}")
    if order not in ("sin-cos", "cos-sin"):
        raise ValueError(f"order must be 'sin-cos' or 'cos-sin', got {order!r}")
    t = torch.arange(start, start + T, dtype=torch.float64)[:, None]              # (T, 1)
    angle = t * float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)  # (T, d/2)
    pair = (angle.sin(), angle.cos()) if order == "sin-cos" else (angle.cos(), angle.sin())
    return torch.stack(pair, -1).reshape(T, d).to(torch.get_default_dtype())


class Trace(NamedTuple):
    """One forward pass of a classifier, opened: its `score`, and for each of its L layers what attention did.

    attentions: L tensors (K, T, T) in the graph of the score, so that torch.autograd.grad(score, attentions) works.
    values: L tensors (K, T, d): what head i writes for token t if all attention goes there, W_o⁽ⁱ⁾ v_t⁽ⁱ⁾ (biases of
    the values included, that of W_o not). A head's output is attention @ value (Kobayashi et al., EMNLP 2020).
    """

    score: torch.Tensor
    attentions: list
    values: list


class MultiHeadAttention(nn.Module):
    """K attentions side by side, concatenated and projected (Vaswani et al., 2017, section 3.2.2).

    d_e input and output size, K heads, d_att the size of a head's queries and keys and d_out of its values (both d_e/K
    unless given). Parameters: `query`, `key`, `value`, nn.Linear layers that hold the K heads one after another, and
    `output`. With the same weights it equals torch.nn.MultiheadAttention(batch_first=True).

    forward(x, context=None, mask=None): x (..., T_q, d_e) asks, context (..., T, d_e) answers: x itself
    (self-attention) unless given (cross-attention). `mask` broadcasts to (..., K, T_q, T). Returns (output
    (..., T_q, d_e), weights (..., K, T_q, T)); with need_weights=False the weights are None and PyTorch's fused kernel
    saves time and memory. change(weights) -> the weights to mix with in their place.

    >>> attention = MultiHeadAttention(d_e=6, K=3)
    >>> output, weights = attention(torch.randn(5, 6))                     # T = 5
    >>> output.shape, weights.shape
    (torch.Size([5, 6]), torch.Size([3, 5, 5]))
    """

    def __init__(self, d_e, K, d_att=None, d_out=None, bias=True):
        super().__init__()
        if d_e % K and (d_att is None or d_out is None):
            raise ValueError(f"d_e = {d_e} does not split into K = {K} heads: choose a multiple, or give d_att, d_out")
        d_att, d_out = d_att or d_e // K, d_out or d_e // K
        self.K = K
        self.query = nn.Linear(d_e, K * d_att, bias)
        self.key = nn.Linear(d_e, K * d_att, bias)
        self.value = nn.Linear(d_e, K * d_out, bias)
        self.output = nn.Linear(K * d_out, d_e, bias)

    def split(self, x):
        """One head after another (..., T, K·d) → one head beside another (..., K, T, d)."""
        return x.unflatten(-1, (self.K, -1)).transpose(-3, -2)

    def written(self, x):
        """What head i writes where all attention goes to token t: W_o⁽ⁱ⁾ v_t⁽ⁱ⁾, (..., K, T, d_e) of x (..., T, d_e).

        With the weights A of forward(x), its output is Σ_i (A @ written(x))_i plus the bias of `output`.
        """
        W_o = self.output.weight.T.unflatten(0, (self.K, -1))               # (K, d_out, d_e): W_o by heads, transposed
        return self.split(self.value(x)) @ W_o

    def forward(self, x, context=None, mask=None, need_weights=True, change=None):
        context = x if context is None else context
        if x.shape[-1] != self.query.in_features or context.shape[-1] != self.key.in_features:
            raise ValueError(f"expected embeddings of size d_e = {self.query.in_features}, "
                             f"got x {tuple(x.shape)} and context {tuple(context.shape)}")
        q, k, v = self.split(self.query(x)), self.split(self.key(context)), self.split(self.value(context))
        if need_weights:
            mixed, weights = scaled_dot_product_attention(q, k, v, mask)    # (..., K, T_q, d_out), (..., K, T_q, T)
            if change is not None:
                weights = change(weights)
                mixed = weights @ v
        else:
            mixed, weights = nn.functional.scaled_dot_product_attention(q, k, v, mask), None
        return self.output(mixed.transpose(-3, -2).flatten(-2)), weights
