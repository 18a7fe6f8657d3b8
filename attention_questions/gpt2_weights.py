"""Random weights of small GPT-2s, under the course's names, and a pass through them."""

import functools
import math

import torch
from torch.func import functional_call

from coursekit.models import GPT2, GPT2Config


def drawn_weights(D, T_max, d_e, L, rng):
    """Random weights of a GPT-2 of these sizes, under the course's names. rng: a NumPy generator.

    What blocks add is small beside the embeddings: otherwise many layers make much of rounding, and a right answer that
    adds in another order could be refused.
    """
    added = ("output.weight", "mlp.2.weight")

    def drawn(name, shape):
        deviation = 1.0 if name in ("W_e", "W_p") else 0.5 / math.sqrt(L) if name.endswith(added) else 0.5
        return torch.tensor(rng.normal(1.0 if "norm" in name and "weight" in name else 0.0, deviation, shape)).float()

    return {name: drawn(name, tuple(w.shape)) for name, w in _empty(D, T_max, d_e, 1, L).state_dict().items()}


def n_layers(weights):
    """How many blocks weights have, under the course's names."""
    return sum(name.endswith("qkv.weight") for name in weights)


def library_logits(ids, weights, K):
    """The logits (T, D) that the library's GPT-2 gives with these weights for one text (T,)."""
    (D, d_e), T_max = weights["W_e"].shape, len(weights["W_p"])
    return functional_call(_empty(D, T_max, d_e, K, n_layers(weights)), weights, (ids[None],))[0]


@functools.cache
def _empty(D, T_max, d_e, K, L):
    with torch.device("meta"):
        return GPT2(GPT2Config(D, T_max, d_e, K, L))
