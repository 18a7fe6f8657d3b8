"""Thousands of perturbed documents for two small matrix products: the short cut that one layer of attention allows.

A head of AttentionClassifier scores N/D with D = Σ_t g_t and N = Σ_t g_t y_t, where g_t = exp(qᵀk_t/√d_att) and y_t is
what token t contributes. Replacing a word changes its own two terms and no other, so N and D are *linear in the mask*,
and f(mask) = mean over heads of N/D. This holds for replacement in place, not for deletion (the words behind move up),
and not with a second layer.
"""

import math

import numpy as np
import torch

from .documents import token_ids

_TINY = 1e-280              # below this a sum of exponentials has lost digits to underflow


def word_terms(model, document, mask_token="[UNK]"):
    """log g and y, each (2, T_max, K) in float64: [0] of the document, [1] with every word replaced by `mask_token`.

    Position 0 is [CLS], positions 1 … T are the words, the rest is padding; only words differ between [0] and [1].
    Lopardo, Precioso and Garreau (ICML 2024), Section 2: g_t and y_t, and g_{h,t} and y_{h,t}.
    """
    ids = token_ids(model, [document, [mask_token][:len(document)]]).numpy()      # (2, T_max)
    ids[1, 1:len(document) + 1] = ids[1, 1]
    words, places, _ = parts(model, ids[:, :len(document) + 2])                   # (2, T + 2, 2K): the last is padding
    terms = np.repeat(words[:, -1:], model.T_max, axis=1)                         # (2, T_max, 2K)
    terms[:, :words.shape[1]] = words
    return np.split(terms + places, 2, -1)


def head_terms(model, document, mask_token="[UNK]"):
    """log g and y, each (T + 3, T_max, K) in float64, of every token at every position.

    Rows: [CLS], the document's T words, `mask_token`, padding. Columns: positions, 0 being that of [CLS]. What
    replacing or deleting words does to a head can be read from here: a word that moves up is another entry of its row.
    """
    ids = token_ids(model, [document, [mask_token]]).numpy()
    row = np.concatenate([ids[0, :len(document) + 1], ids[1, 1:2], [model.tokenizer.pad_id]])
    words, places, _ = parts(model, row)
    return np.split(words[:, None] + places, 2, -1)


def parts(model, ids):
    """What tokens (…, 2K) and positions (T_max, 2K) add to the K numbers log g = e·u, then to the K numbers y = e·w, of
    an embedding e; and the directions u and w themselves, (d_e, 2K)."""
    with torch.no_grad():
        W_e, W_p, W_l, W_q, W_k, W_v = (
            W.numpy() for W in (model.W_e, model.W_p, model.W_l, model.W_q, model.W_k, model.W_v))
    W_p, W_l = W_p.astype(float), W_l.astype(float)                               # (T_max, d_e), (K, d_out)
    e_cls = W_e[model.tokenizer.cls_id] + W_p[0]
    q = W_q.astype(float) @ e_cls / math.sqrt(W_q.shape[1])                       # (K, d_att), scaled
    u, w = q[:, None] @ W_k.astype(float), W_l[:, None] @ W_v.astype(float)       # (K, 1, d_e) each
    directions = np.concatenate([u, w])[:, 0].T                                   # (d_e, 2K)
    return W_e[ids].astype(float) @ directions, W_p @ directions, directions


def replaced(model, document, mask_token="[UNK]"):
    """The function masks (n, T) → scores (n,) in float64: an AttentionClassifier's document, words replaced in place.

    Each head's g is divided by its largest, over the document and its replacements alike, so nothing overflows. Where
    all that a mask keeps then vanishes (the g of a peaky model may span hundreds of powers of ten), that mask is
    computed anew with its own largest g.

    >>> from coursekit.models import load_weights
    >>> model, masks = load_weights("imdb-tame"), np.array([[True, True], [True, False]])
    >>> asked = model.predict([["not", "good"], ["not", "[UNK]"]])
    >>> np.allclose(replaced(model, ["not", "good"])(masks), asked, atol=1e-4)
    True
    """
    log_g, y = word_terms(model, document, mask_token)
    g = np.exp(log_g - log_g.max((0, 1)))
    terms = np.concatenate([g, g * y], -1)                                        # (2, T_max, 2K)
    words, K = slice(1, len(document) + 1), g.shape[-1]
    always = (terms[0, 0] + terms[0, words.stop:].sum(0))[:, None]                # [CLS] and padding, (2K, 1)
    there, gone = terms[:, words].transpose(0, 2, 1)                              # (2K, T) each

    def score(masks):
        z = masks.T.astype(float)                                                 # (T, n)
        D, N = (there @ z + gone @ (1 - z) + always).reshape(2, K, -1)            # (K, n)
        lost = (D < _TINY).any(0)
        D[:, lost] = 1
        scores = (N / D).mean(0)
        if lost.any():
            stays = np.ones((lost.sum(), model.T_max, 1), bool)
            stays[:, words, 0] = masks[lost]
            own = np.where(stays, *log_g)                                         # (lost, T_max, K)
            alpha = np.exp(own - own.max(1, keepdims=True))
            alpha /= alpha.sum(1, keepdims=True)
            scores[lost] = (alpha * np.where(stays, *y)).sum(1).mean(1)
        return scores

    return score


def deleted(model, document):
    """The function masks (n, T) → scores (n,) for words deleted from an AttentionClassifier's document.

    Not factorised: every mask is a forward pass. But token ids are moved up directly, with no lists of words between.

    >>> from coursekit.models import load_weights
    >>> model, masks = load_weights("imdb-tame"), np.array([[True, True], [False, True]])
    >>> asked = model.predict([["not", "good"], ["good"]])
    >>> np.allclose(deleted(model, ["not", "good"])(masks), asked, atol=1e-4)
    True
    """
    ids = token_ids(model, [document])[0].numpy()

    def score(masks):
        moved = np.full((len(masks), model.T_max), model.tokenizer.pad_id)
        moved[:, 0] = ids[0]
        row, word = masks.nonzero()
        moved[row, masks.cumsum(1)[row, word]] = ids[word + 1]
        with torch.no_grad():
            return model(torch.from_numpy(moved)).double().numpy()

    return score
