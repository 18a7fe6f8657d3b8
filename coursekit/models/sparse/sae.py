"""Sparse autoencoders: states as sums of few features out of many (Bricken et al., 2023; Templeton et al., 2024).

s(h) = Σ_j a_j W_dec[:,j] + b_dec with a = σ(W_enc h + b_enc), trained to give back h from few features. A feature's
*activation* is a_j ‖W_dec[:,j]‖, its share in the state: the penalty is on it, so that nothing is gained by making a_j
small and W_dec large. Three σ, and what training makes small beside ‖h − s(h)‖²:

    "relu"       max(0, z)                                λ Σ_j a_j ‖W_dec[:,j]‖
    "topk"       the k largest of max(0, z), the rest 0   nothing (Gao et al., ICLR 2025)
    "jumprelu"   z where z > θ_j, else 0                  λ times the number of a_j > 0 (Rajamanoharan et al., 2024)
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from coursekit.models.training import minibatches, train

KINDS = "relu", "topk", "jumprelu"
CHUNK = 4096            # states that are looked at at once
BANDWIDTH = 0.1         # of the kernel that estimates a threshold's gradient, and the first θ; states have norm near √d


class Step(torch.autograd.Function):
    """1 where z > θ, else 0. Its gradient is 0; in its place θ gets one averaged over a neighbourhood: −1/ε where
    |z − θ| < ε/2, else 0 (Rajamanoharan et al., 2024, section 3). ε is BANDWIDTH; z (…, F), θ (F,)."""

    @staticmethod
    def forward(ctx, z, theta):
        ctx.save_for_backward(z, theta)
        return (z > theta).to(z)

    @staticmethod
    def backward(ctx, gradient):
        z, theta = ctx.saved_tensors
        near = (z - theta).abs() < BANDWIDTH / 2
        return None, -(near * gradient / BANDWIDTH).flatten(0, -2).sum(0)


class SparseAutoencoder(nn.Module):
    """An autoencoder of states h (…, d) with F features; forward(h) is s(h) (…, d).

    Parameters: W_enc (F, d), b_enc (F,), W_dec (d, F), b_dec (d,), and log_theta (F,) of "jumprelu"; "topk" needs k.
    `layer`: where in its model the states are from. Inside, everything is on h · `scale`, whose mean norm training
    makes √d, so that one λ means the same in any layer of any model; what goes in and comes out are the model's own h.

    >>> sae = SparseAutoencoder(d=4, F=16)
    >>> sae(torch.randn(3, 4)).shape, sae.activations(torch.randn(3, 4)).shape
    (torch.Size([3, 4]), torch.Size([3, 16]))
    """

    def __init__(self, d, F, kind="relu", k=None, layer=None):
        super().__init__()
        if kind not in KINDS or (kind == "topk") != (k is not None):
            raise ValueError(f'kind must be one of {KINDS}, and k is for "topk" alone, got {kind!r} with k={k}')
        self.config = {"d": d, "F": F, "kind": kind, "k": k, "layer": layer}
        self.kind, self.k, self.layer = kind, k, layer
        W = nn.functional.normalize(torch.randn(F, d), dim=1)
        self.W_enc, self.b_enc = nn.Parameter(W.clone()), nn.Parameter(torch.zeros(F))
        self.W_dec, self.b_dec = nn.Parameter(0.1 * W.T), nn.Parameter(torch.zeros(d))
        if kind == "jumprelu":
            self.log_theta = nn.Parameter(torch.full((F,), BANDWIDTH).log())
        self.register_buffer("scale", torch.tensor(1.0))

    def before(self, h):
        """z = W_enc h + b_enc (…, F) of states h (…, d)."""
        return nn.functional.linear(h * self.scale, self.W_enc, self.b_enc)

    def encode(self, h):
        """a = σ(z) (…, F) of states h (…, d)."""
        z = self.before(h)
        if self.kind == "jumprelu":
            return z * Step.apply(z, self.log_theta.exp())
        a = z.relu()
        if self.kind == "topk":
            values, features = a.topk(self.k)
            return torch.zeros_like(a).scatter(-1, features, values)
        return a

    def decode(self, a):
        """The states (…, d) that a (…, F) stands for."""
        return nn.functional.linear(a, self.W_dec, self.b_dec) / self.scale

    def forward(self, h):
        return self.decode(self.encode(h))

    def activations(self, h):
        """a_j(h) ‖W_dec[:,j]‖ (…, F): how far each feature moves the state, in units of 1/`scale`."""
        return self.encode(h) * self.W_dec.norm(dim=0)

    def directions(self):
        """W_dec (d, F) with columns of length 1, in which features move the state."""
        return nn.functional.normalize(self.W_dec, dim=0)

    def loss(self, h, lam):
        """What training makes small (see the top), as a mean over states h (n, d), in units of 1/`scale`."""
        a = self.encode(h)
        loss = (nn.functional.linear(a, self.W_dec, self.b_dec) - h * self.scale).square().sum(-1)
        if self.kind == "relu":
            loss = loss + lam * (a @ self.W_dec.norm(dim=0))
        elif self.kind == "jumprelu":
            loss = loss + lam * Step.apply(self.before(h), self.log_theta.exp()).sum(-1)
        return loss.mean()


def train_sae(H: torch.Tensor | np.ndarray, F: int, lam=2.0, kind="relu", k: int | None = None, epochs=10, batch=256,
              lr=0.001, scaled=True, layer: int | None = None, seed=0, progress=True) -> SparseAutoencoder:
    """A SparseAutoencoder with F features of the states H (n, d), a tensor or an array (on disk: see
    `collect_activations`).

    Adam, its rate falling to 0. W_enc begins with random rows of length 1, W_dec as a tenth of its transpose: at first
    the penalty is weak, so that few features die of it before they are of use. scaled=False leaves the states in their
    own size: what λ does then depends on it.
    """
    torch.manual_seed(seed)
    sae, H = SparseAutoencoder(H.shape[1], F, kind, k, layer), torch.as_tensor(H)        # what is on disk stays there
    some = H[:: max(1, len(H) // 10_000)].float()
    if scaled:
        sae.scale = H.shape[1] ** 0.5 / some.norm(dim=1).mean()
    sae.b_dec.data = some.mean(0) * sae.scale
    sae.b_enc.data = -sae.W_enc.data @ sae.b_dec.data           # z = W_enc (h − mean): nothing is dead from the start
    train(sae, lambda sae, rows: sae.loss(H[rows].float(), lam),
          lambda generator: [rows.sort().values for rows in minibatches(len(H), batch, generator)],
          epochs, lr, weight_decay=0.0, warmup=0.0, clip=None, seed=seed, progress=progress)
    return sae.requires_grad_(False)


class Quality(NamedTuple):
    """How well an autoencoder does on states: the share of their variance that it gives back, how many features are
    above 0 in the mean state (L0), and how many never are (dead)."""

    variance: float
    l0: float
    dead: int


@torch.no_grad()
def reconstruction_quality(sae: SparseAutoencoder, H: torch.Tensor | np.ndarray) -> Quality:
    """The `Quality` of an autoencoder on states H (n, d), read in chunks.

    >>> H = torch.eye(4)
    >>> reconstruction_quality(train_sae(H, 4, lam=0.01, epochs=200, lr=0.01, progress=False), H).variance > 0.9
    True
    """
    lost = squares = 0
    total, active = torch.zeros(H.shape[1], dtype=torch.float64), torch.zeros(sae.W_enc.shape[0])
    for start in range(0, len(H), CHUNK):
        h = torch.as_tensor(H[start:start + CHUNK]).float()
        a = sae.encode(h)
        lost += (sae.decode(a) - h).square().sum().item()
        squares, total = squares + h.double().square().sum(), total + h.double().sum(0)
        active += (a > 0).sum(0)
    variance = (squares - total @ total / len(H)).item()
    return Quality(1 - lost / variance, active.sum().item() / len(H), int((active == 0).sum()))


def max_cosine_similarity(W: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Of each true direction, a column of truth (d, m), the largest cosine with a column of W (d, F): (m,).

    >>> round(max_cosine_similarity(torch.eye(3), torch.tensor([[1.0], [1.0], [0.0]])).item(), 3)     # 1/√2
    0.707
    """
    W, truth = nn.functional.normalize(W, dim=0), nn.functional.normalize(truth, dim=0)
    return (truth.T @ W).amax(1)
