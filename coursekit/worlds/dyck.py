"""Models that close brackets, with attention that shows the stack or does not.

Models and finding are those of Wen, Li, Liu & Risteski (NeurIPS 2023): many attention patterns reach the same accuracy.
The language and its samples are in `brackets`; `dyck` offers them too.
"""

from typing import NamedTuple

import torch
from torch import nn

from coursekit.inputs import as_whole
from coursekit.models import MultiHeadAttention, causal_mask, training
from coursekit.models.blocks import Block

from .brackets import BRACKETS, START, D, K, Run, T, closings, decode, depths, encode, pushdown, sample, stack_top

__all__ = ["BRACKETS", "START", "VARIANTS", "D", "DyckModel", "K", "Run", "StackLikeness", "T", "closing_accuracy",
           "closings", "counting_model", "decode", "depths", "encode", "loss", "pushdown", "sample", "stack_likeness",
           "stack_top", "train"]

VARIANTS = ("minimal", "linear-head", "uniform", "random", "large", "oracle", "position", "stack",
            "full", "full-linear", "full-learned")
D_E = 50


class DyckModel(nn.Module):
    """A causal transformer that predicts the next bracket: ids (n, 1 + T) → logits (n, 1 + T, 4).

    "minimal" is Wen et al.'s second layer on an ideal first one: a fixed one-hot embedding of (kind, depth), one head
    of attention without a skip connection, a layer norm, an MLP. Of it, "linear-head" has a linear map for the MLP;
    "uniform" attends evenly to the past; "random" keeps the queries and keys it was born with; "large" begins with ten
    times larger ones; "oracle" attends to the stack's top alone. "position" reads the place t as well, as one number;
    "stack" is a "position" that is also trained to attend to the stack's top: without places, attention could not tell
    equal brackets apart.
    "full" has two layers of `models.Block` with one head each and learned embeddings, without positions; "full-linear"
    adds t/T along a learned direction, "full-learned" a learned vector for each place (28 brackets at most).

    >>> model = DyckModel("uniform")
    >>> model.attentions(encode("()")[None])[0, 0, :2].tolist()
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    """

    def __init__(self, variant="minimal"):
        super().__init__()
        if variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
        self.variant, self.config = variant, {"variant": variant}
        self.norm = nn.LayerNorm(D_E)
        if variant.startswith("full"):
            self.W_e = nn.Parameter(torch.randn(2 * K + 1, D_E))
            rows = {"full": 0, "full-linear": 1, "full-learned": T + 1}[variant]
            self.W_p = nn.Parameter(torch.randn(rows, D_E))
            self.blocks = nn.ModuleList(Block(D_E, 1) for _ in range(2))
        else:
            self.attention = MultiHeadAttention(D_E, 1)
            queries = [*self.attention.query.parameters(), *self.attention.key.parameters()]
            for parameter in queries:
                parameter.data *= {"uniform": 0, "large": 10}.get(variant, 1)
                parameter.requires_grad_(variant not in ("uniform", "random"))
        linear = variant.startswith("full") or variant == "linear-head"
        self.head = nn.Linear(D_E, 2 * K) if linear else nn.Sequential(
            nn.Linear(D_E, 4 * D_E), nn.ReLU(), nn.Linear(4 * D_E, 2 * K))

    def embed(self, ids):
        """What attention reads, (n, 1 + T, d_e)."""
        if not self.variant.startswith("full"):
            e = nn.functional.one_hot(5 * depths(ids) + ids, D_E).float()         # at most 5·4 + 3
            if self.variant in ("position", "stack"):
                e[..., -1] = torch.arange(ids.shape[1]) / 4
            return e
        if self.variant == "full-learned":
            return self.W_e[ids] + self.W_p[:ids.shape[1]]
        return self.W_e[ids] + torch.arange(ids.shape[1])[:, None] / T * self.W_p.sum(0)

    def open(self, ids):
        """(logits (n, 1 + T, 4), attentions (L, n, 1 + T, 1 + T))."""
        x, mask, maps = self.embed(ids), causal_mask(ids.shape[1]), []
        if self.variant == "oracle":
            A = nn.functional.one_hot(stack_top(ids), ids.shape[1]).float()
            x, maps = self.attention.output(A @ self.attention.value(x)), [A[:, None]]
        elif not self.variant.startswith("full"):
            x, A = self.attention(x, mask=mask)
            maps = [A]
        else:
            for block in self.blocks:
                x, A = block(x, mask=mask)
                maps.append(A)
        return self.head(self.norm(x)), torch.stack(maps)[:, :, 0]

    def forward(self, ids):
        return self.open(ids)[0]

    def attentions(self, ids):
        """A (L, n, 1 + T, 1 + T), without a gradient."""
        with torch.no_grad():
            return self.open(ids)[1]


def loss(model, ids):
    """Mean cross-entropy of the next bracket, in nats; for "stack" also −log of the attention on the stack's top."""
    logits, maps = model.open(ids)
    value = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    if model.variant == "stack":
        on_top = maps[0].gather(-1, stack_top(ids)[..., None])[:, :-1, 0]             # (n, T)
        value = value - on_top[closings(ids)].clamp(min=1e-9).log().mean()
    return value


def train(variant="minimal", seed=0, steps=350, batch=64, progress=True):
    """A trained DyckModel: 3 to 10 seconds of one processor.

    >>> train("uniform", steps=2, progress=False).config
    {'variant': 'uniform'}
    """
    torch.manual_seed(as_whole(seed, "seed"))
    model = DyckModel(variant)
    ids = sample(steps * batch, seed).split(batch)
    lr = 6e-3 if variant.startswith("full") else 1e-2
    training.train(model, loss, lambda _: ids, epochs=1, lr=lr, seed=seed, progress=progress)
    return model.eval()


def counting_model():
    """A "linear-head" DyckModel with weights set by hand: uniform attention, and every bracket closed rightly.

    The mean of the past, times values of +1 for "opens kind j at depth d" and −1 for "closes" it, is 1/t for what is
    open and 0 for what is not. The layer norm removes 1/t (each row comes with its negative: the mean is 0), and 2^d
    lets what is deepest outweigh all that is below it.

    >>> closing_accuracy(counting_model(), sample(500))
    1.0
    """
    model = DyckModel("linear-head").requires_grad_(False).eval()
    for parameter in [*model.attention.parameters(), *model.head.parameters()]:
        parameter.zero_()
    model.attention.output.weight += torch.eye(D_E)
    for d in range(1, D + 1):
        for kind in range(0, 2 * K, 2):                                    # 0 opens kind 0, 1 closes it, …
            row = 2 * K * (d - 1) + kind
            for sign, r in ((1, row), (-1, row + 1)):
                model.attention.value.weight[r, 5 * d + kind] = sign
                model.attention.value.weight[r, 5 * d + kind + 1] = -sign
            model.head.weight[kind + 1, row] = 2 ** d
    return model


def closing_accuracy(model, ids, far=False):
    """How often the right kind of closing bracket is the likelier one, where a bracket closes; `far`: see `closings`.

    >>> closing_accuracy(DyckModel("oracle"), encode("([])")[None]) in (0, 0.5, 1)
    True
    """
    with torch.no_grad():
        kinds = model(ids)[:, :-1, 1::2].argmax(-1)                                   # (n, T): which kind
    return (2 * kinds + 1 == ids[:, 1:])[closings(ids, far)].double().mean().item()


class StackLikeness(NamedTuple):
    """Mean attention on the stack's top and mean entropy in nats, for each layer (L,), where a bracket closes next.

    >>> StackLikeness([0.07], [2.6]).top
    [0.07]
    """

    top: list
    entropy: list


def stack_likeness(model, ids):
    """The StackLikeness of a model's attention on ids (n, 1 + T).

    >>> stack_likeness(DyckModel("oracle"), encode("([])")[None])
    StackLikeness(top=[1.0], entropy=[0.0])
    """
    A, there = model.attentions(ids)[:, :, :-1], closings(ids)                        # (L, n, T, 1 + T), (n, T)
    on_top = A.gather(-1, stack_top(ids)[:, :-1, None].expand(len(A), -1, -1, 1))[..., 0]
    entropy = torch.special.entr(A).sum(-1)
    return StackLikeness(*([layer[there].mean().item() for layer in part] for part in (on_top, entropy)))
