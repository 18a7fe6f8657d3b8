"""What a sparse autoencoder's features do in the model whose states it was trained on: look at them, and change them.

A function ids (n, T) → states (n, T, d) stands for the model, `stream_of(model, layer)` for one: what only looks works
on any model. What changes the states (`loss_recovered`, `clamp_feature`) is for a GPT2, which has `editing`. Everywhere
`where(ids)` says which tokens count, a boolean table (n, T); without it all do. Texts come as a list of batches of ids,
each (n, T), rows of one length together, so that nothing is padded: `by_length` makes them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from coursekit.models.gpt2 import GPT2

from .sae import SparseAutoencoder


def everywhere(ids):
    """True for every token of ids (n, T)."""
    return torch.ones_like(ids, dtype=torch.bool)


def by_length(rows: Sequence[Sequence[int]], size=64) -> tuple[list[torch.Tensor], list[int]]:
    """(batches, order): rows, lists of ids, as tensors (n, T) of rows of one length, at most `size` in each.

    The shortest come first; row i, counted through all batches as `Top.text` is, was rows[order[i]].

    >>> by_length([[5, 6], [7], [8, 9]])
    ([tensor([[7]]), tensor([[5, 6],
            [8, 9]])], [1, 0, 2])
    """
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    groups = [list(group) for _, group in groupby(order, key=lambda i: len(rows[i]))]
    return [torch.tensor([rows[i] for i in group[start:start + size]])
            for group in groups for start in range(0, len(group), size)], order


def stream_of(model: torch.nn.Module, layer: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """The function ids (n, T) → states (n, T, d_e): what block `layer` leaves (0: the embeddings).

    model: a GPT2, or one of transformers that gives `hidden_states`, as `pretrained_encoder()[0]` does.
    """
    if isinstance(model, GPT2):
        return lambda ids: model.run(ids)[0][layer]
    return lambda ids: model(ids, output_hidden_states=True).hidden_states[layer]


@torch.no_grad()
def collect_activations(states: Callable[[torch.Tensor], torch.Tensor], batches: Iterable[torch.Tensor],
                        path: str | Path, where=everywhere) -> np.ndarray:
    """Write the states (N, d) of all tokens that count to the .npy file `path`, batch by batch, and open it.

    Returned is an array that stays on disk: only the rows that one asks for are read, and `train_sae` takes it. One
    batch at a time is in memory. The file appears when it is whole; where anything goes wrong, nothing is left behind.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> collect_activations(lambda ids: ids[..., None] * torch.ones(2), [torch.tensor([[1, 2], [3, 4]])],
    ...         folder.name + "/states.npy", where=lambda ids: ids > 2)
    memmap([[3., 3.],
            [4., 4.]], dtype=float32)
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    N = sum(int(where(ids).sum()) for ids in batches)
    try:
        with part.open("wb") as file:
            for i, ids in enumerate(batches):
                H = states(ids)[where(ids)].float().numpy()                    # (m, d)
                if i == 0:
                    np.lib.format.write_array_header_1_0(
                        file, {"descr": "<f4", "fortran_order": False, "shape": (N, H.shape[1])})
                file.write(H.tobytes())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return np.load(path, mmap_mode="c")                        # changes to it would stay in memory


class Top(NamedTuple):
    """The n texts in which each of F features is most active, the strongest first; three tables (n, F).

    activation: the feature's largest in that text; text: which text, counted through all batches; position: of which
    token.
    """

    activation: torch.Tensor
    text: torch.Tensor
    position: torch.Tensor


@torch.no_grad()
def top_activating(sae: SparseAutoencoder, states: Callable[[torch.Tensor], torch.Tensor],
                   batches: Iterable[torch.Tensor], n=10, where=everywhere) -> Top:
    """The `Top` n texts of every feature of an autoencoder, in one pass over the batches.

    >>> from coursekit.models.sparse.sae import SparseAutoencoder
    >>> sae = SparseAutoencoder(d=2, F=1)
    >>> _ = sae.W_enc.data.copy_(torch.tensor([[1.0, 0.0]])), sae.W_dec.data.copy_(torch.tensor([[1.0], [0.0]]))
    >>> top = top_activating(sae, lambda ids: ids[..., None] * torch.ones(2), [torch.tensor([[1, 2], [9, 3]])], n=1)
    >>> top.activation.item(), top.text.item(), top.position.item()            # the first token of the second text
    (9.0, 1, 0)
    """
    best, seen = [], 0
    for ids in batches:
        a = sae.activations(states(ids)) * where(ids)[..., None]               # (m, T, F)
        value, position = a.max(1)
        tables = [value, (seen + torch.arange(len(ids)))[:, None].expand_as(position), position]
        if best:
            tables = [torch.cat(pair) for pair in zip(best, tables, strict=True)]
        order = tables[0].topk(min(n, len(tables[0])), dim=0).indices
        best, seen = [table.gather(0, order) for table in tables], seen + len(ids)
    return Top(*best)


def correlations(A: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Pearson's correlation (F, C) of every column of A (N, F), activations, with every column of Y (N, C), labels.

    A column that never changes correlates with nothing: 0.

    >>> correlations(torch.tensor([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]]), torch.tensor([[1.0], [2.0], [3.0]])).tolist()
    [[1.0], [0.0]]
    """
    A, Y = (F.normalize(table.double() - table.double().mean(0), dim=0) for table in (A, Y))
    return (A.T @ Y).float()


def logit_effects(model: torch.nn.Module, sae: SparseAutoencoder) -> torch.Tensor:
    """What one unit of each feature adds to the logit of every word, (D, F), if it went to the last norm directly.

    The column of a feature, less its mean, which the softmax does not see. The layers between are left out, and the
    norm's division: what a clamped feature does in fact is seen by clamping it (`clamp_feature`).
    """
    effects = model.W_e @ (model.norm.weight[:, None] * sae.directions() / sae.scale)
    return (effects - effects.mean(0)).detach()


@torch.no_grad()
def loss_recovered(model: torch.nn.Module, sae: SparseAutoencoder, batches: Iterable[torch.Tensor],
                   where=everywhere) -> float:
    """How much of a GPT2's loss survives when s(h) stands in for the states h that count: 1 if all does, 0 if no more
    than with zeros in their place, (loss with zeros − loss with s(h)) / (loss with zeros − loss); Bricken et al., 2023.
    """
    def loss(stand_in):
        with model.editing(sae.layer, lambda x, ids: torch.where(where(ids)[..., None], stand_in(x), x)):
            return sum(model.loss(ids) * ids[:, 1:].numel() for ids in batches)       # nats of all tokens

    zeros = loss(torch.zeros_like)
    return ((zeros - loss(sae)) / (zeros - loss(lambda x: x))).item()


@contextmanager
def clamp_feature(model: torch.nn.Module, sae: SparseAutoencoder, feature: int, value: float,
                  where=everywhere) -> Iterator[None]:
    """Inside `with clamp_feature(…):` the activation of a feature is `value`, wherever it counts (0: it is ablated).

    The state moves along the feature's direction by the difference, in place of being decoded anew: what the
    autoencoder cannot give back stays (Templeton et al., 2024). It holds while generating as well; with a cache,
    `where` sees the new tokens alone. For several features nest it: each leaves the others' sums alone.

    >>> from coursekit.models import GPT2, GPT2Config, greedy
    >>> from coursekit.models.sparse.sae import SparseAutoencoder
    >>> model, sae = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2)), SparseAutoencoder(12, 40, layer=1)
    >>> with clamp_feature(model, sae, feature=7, value=3.0, where=lambda ids: ids == 2):
    ...     len(greedy(model, [1, 2], n=5))
    5
    """
    if not 0 <= feature < sae.W_enc.shape[0]:
        raise ValueError(f"the autoencoder has features 0 to {sae.W_enc.shape[0] - 1}, got {feature}")
    direction, outer = sae.directions()[:, feature] / sae.scale, model.edits.get(sae.layer, lambda x, ids: x)

    def edit(x, ids):
        x = outer(x, ids)
        change = (value - sae.activations(x)[..., feature]) * where(ids)       # (n, t)
        return x + change[..., None] * direction

    with model.editing(sae.layer, edit):
        yield model
