"""Weights of small GPT-2s under the course's names, random ones and zeros; and what each part adds to a logit."""

import math

import torch

from coursekit.models import GPT2, GPT2Config


def blank_weights(D, T_max, d_e, L):
    """The weights of a GPT-2 of these sizes, under the course's names, all 0."""
    with torch.device("meta"):                                          # shapes, and no numbers
        empty = GPT2(GPT2Config(D, T_max, d_e, K=1, L=L))
    return {name: torch.zeros(w.shape) for name, w in empty.state_dict().items()}


def drawn_weights(D, T_max, d_e, L, rng):
    """Random weights of a GPT-2 of these sizes, under the course's names. rng: a NumPy generator.

    What blocks add is small beside the embeddings: otherwise many layers make much of rounding, and a right answer that
    adds in another order could be refused.
    """
    added = ("output.weight", "mlp.2.weight")

    def drawn(name, shape):
        deviation = 1.0 if name in ("W_e", "W_p") else 0.5 / math.sqrt(L) if name.endswith(added) else 0.5
        return torch.tensor(rng.normal(1.0 if "norm" in name and "weight" in name else 0.0, deviation, shape)).float()

    return {name: drawn(name, tuple(w.shape)) for name, w in blank_weights(D, T_max, d_e, L).items()}


@torch.no_grad()
def contributions(model, text, word, layer_norm, mlp, causal_attention):
    """What embeddings, heads and MLPs of a model add to the word's logit after the text, above that of an average word,
    by a student's functions: {part: number}. (Biases of the attentions and the last shift are left out.)"""
    parts, weights, tokenizer, K = {}, model.state_dict(), model.tokenizer, model.config.K
    ids = torch.tensor([tokenizer.cls_id, *tokenizer.encode(text)])
    x = parts["embeddings"] = weights["W_e"][ids] + weights["W_p"][:len(ids)]           # (T, d_e)
    for l in range(model.config.L):
        norm_1, qkv, output, norm_2, first, second = (
            (weights[f"blocks.{l}.{name}.weight"], weights[f"blocks.{l}.{name}.bias"]) for name in (
                "norm_attention", "attention.qkv", "attention.output", "norm_mlp", "mlp.0", "mlp.2"))
        rows = layer_norm(x, *norm_1, 1e-5)
        for i in range(K):
            alone = causal_attention(rows, *qkv, *output, K, [other for other in range(K) if other != i])
            parts[f"head {l}.{i}"] = alone - output[1]
        x = x + causal_attention(rows, *qkv, *output, K)
        parts[f"MLP {l}"] = mlp(layer_norm(x, *norm_2, 1e-5), *first, *second)
        x = x + parts[f"MLP {l}"]
    last = (x, weights["norm.weight"], weights["norm.bias"], 1e-5)
    logits = {part: layer_norm(*last, rows)[-1] @ weights["W_e"].T for part, rows in parts.items()}     # (D,) each
    return {part: (of[tokenizer.vocab[word]] - of.mean()).item() for part, of in logits.items()}
