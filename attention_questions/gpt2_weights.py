"""Random weights of small GPT-2s, under the course's names."""

import math

import torch

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

    with torch.device("meta"):                                          # shapes, and no numbers
        empty = GPT2(GPT2Config(D, T_max, d_e, K=1, L=L))
    return {name: drawn(name, tuple(w.shape)) for name, w in empty.state_dict().items()}
