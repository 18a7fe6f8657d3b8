"""The gradient of a one-layer attention classifier in closed form: Theorem 4.1 of Lopardo, Precioso and Garreau (2024).
"""

import math

import numpy as np

from coursekit.inputs import Document
from coursekit.models import AttentionClassifier

from .asking import require_methods


def gradient_closed_form(model: AttentionClassifier, document: Document, query_moves=True) -> np.ndarray:
    """∇_{e_t} f (T, d_e) in float64, one row for each of the model's tokens, [CLS] first. No autograd.

    Eq. 14: ∇_{e_t} f = (1/K) Σ_i [α_t W_vᵀW_ℓᵀ + (α_t/√d_att) W_ℓ(v_t − ṽ) W_kᵀq], all with head i's weights. A token
    counts through its value, and through its key as far as its value differs from the mean ṽ = Σ_s α_s v_s.
    The theorem holds q fixed, though q = W_q e_CLS: for [CLS] query_moves adds (1/√d_att) W_qᵀ Σ_s α_s W_ℓ(v_s − ṽ) k_s
    a head, which is what is missing to what autograd gives; query_moves=False leaves Eq. 14 as printed.

    model: with `embed`, `pad` and the weights W_q, W_k (K, d_att, d_e), W_v (K, d_out, d_e), W_l (K, d_out), that is
    AttentionClassifier. The means, sums of |·| and norms of the rows are G-avg, G-L1 and G-L2 (`gradient`).

    With keys that are zero attention is even, and every row is the value map W_vᵀW_ℓᵀ/T_max:

    >>> import torch
    >>> from coursekit.models import AttentionClassifier
    >>> from coursekit.text import WordTokenizer
    >>> model = AttentionClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good"]), 4, d_e=2, d_att=1, d_out=1, K=1)
    >>> for W, numbers in ((model.W_k, [0, 0]), (model.W_v, [4, 8]), (model.W_l, [3])):
    ...     _ = W.data.copy_(torch.tensor(numbers).reshape(W.shape))
    >>> gradient_closed_form(model, ["good"]).tolist()
    [[3.0, 6.0], [3.0, 6.0]]
    """
    require_methods(model, "embed", "pad", "W_q", "W_k", "W_v", "W_l", explainer="gradient_closed_form")
    e = model.embed(document).double()
    T, e = len(e), model.pad(e).detach().numpy()                                  # (T_max, d_e)
    W_q, W_k, W_v, W_l = (W.detach().double().numpy() for W in (model.W_q, model.W_k, model.W_v, model.W_l))
    scale = 1 / math.sqrt(W_k.shape[1])
    total = np.zeros((T, e.shape[1]))
    for q_map, k_map, v_map, l_map in zip(W_q, W_k, W_v, W_l, strict=True):
        q, k, y = q_map @ e[0], e @ k_map.T, e @ v_map.T @ l_map                  # (d_att,), (T_max, d_att), (T_max,)
        alpha = np.exp(scale * (k @ q - (k @ q).max()))
        alpha /= alpha.sum()
        off = alpha * (y - alpha @ y)                                             # α_t W_ℓ(v_t − ṽ)
        total += np.outer(alpha[:T], v_map.T @ l_map) + scale * np.outer(off[:T], k_map.T @ q)
        if query_moves:
            total[0] += scale * q_map.T @ (off @ k)
    return total / len(W_l)
