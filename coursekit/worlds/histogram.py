"""The histogram task: say of every token how often it occurs in its sequence. One layer of attention
learns it in two ways.

DATAIAIAIA ↦ [1, 5, 1, 5, 3, 5, 3, 5, 3, 5]. The task is Weiss, Goldberg & Yahav's (ICML 2021), the question Cui,
Behrens, Krzakala & Zdeborová's (NeurIPS 2024), the model simpler than theirs: tied queries and keys, values as they
are, half of each embedding for the letter and half for its place. If W reads only places, attention is the same for
every text; if W reads only letters, it finds equal ones. Both count: the first because A ≈ aI + b11ᵀ makes the mix of
token i hold (a + nb) of its own letter and b of each other, the second because attention is soft, so that its own n
letters get nw/(nw + T − n).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from coursekit.inputs import as_text, as_whole
from coursekit.models import training

LETTERS, T, HALF = "ABDEGHILMNOPRST", 10, 32               # D = 15 letters, T tokens, d_e = 2 · HALF


def encode(text):
    """Ids (1, T) of a text of T = 10 letters out of LETTERS.

    >>> encode("DATAIAIAIA").tolist()
    [[2, 0, 14, 0, 6, 0, 6, 0, 6, 0]]
    """
    ids = [LETTERS.find(letter) for letter in as_text(text)]
    if len(ids) != T or -1 in ids:
        raise ValueError(f"expected {T} letters out of {LETTERS}, got {text!r}")
    return torch.tensor([ids])


def counts(ids):
    """How often each token occurs in its own row: (n, T) from ids (n, T). What a model is to say.

    >>> counts(encode("DATAIAIAIA")).tolist()
    [[1, 5, 1, 5, 3, 5, 3, 5, 3, 5]]
    """
    return (ids[:, :, None] == ids[:, None]).sum(-1)


def sample(n, kind="uniform", seed=0):
    """Ids (n, T) of n sequences.

    "uniform": letters are independent, so counts of 5 and more are hardly ever seen. "balanced": each sequence first
    draws its letters' chances, from a Dirichlet law of concentration 1/(D−1): then a token's count is nearly uniform on
    1 … T (beta-binomial: 1 + BetaBin(T−1, 1 + 1/(D−1), 1)).

    >>> [round((counts(sample(9000, kind)) == 10).double().mean().item(), 2) for kind in ("uniform", "balanced")]
    [0.0, 0.11]
    """
    n, D, random = as_whole(n, "n", 1), len(LETTERS), np.random.default_rng(as_whole(seed, "seed"))
    if kind not in ("uniform", "balanced"):
        raise ValueError(f"kind must be 'uniform' or 'balanced', got {kind!r}")
    if kind == "uniform":
        return torch.from_numpy(random.integers(D, size=(n, T)))
    below = random.dirichlet(np.full(D, 1 / (D - 1)), n).cumsum(1)[:, None]           # (n, 1, D)
    return torch.from_numpy((random.random((n, T, 1)) > below[..., :-1]).sum(-1))


class HistogramModel(nn.Module):
    """One attention layer with W_q = W_k = Wᵀ and W_v = I, a layer norm on what it mixed, an MLP. No skip connection.

    E = [W_e of the letters | W_p of the places] (T, 64); A = softmax(E W Wᵀ Eᵀ/√d_att); logits (T, T) = MLP(LN(A E)),
    of count c in column c − 1. `kind` says what W sees: "positional" and "semantic" set the other half of its rows to
    zero, "free" sees all. forward(ids (n, T), attention=None) mixes by `attention` (n, T, T) or (T, T) if it is given.

    W begins at `scale`/√d_e times normal numbers. From 1 on, a semantic model may become hard: all attention goes to
    the own letters, and the count is read off the *places* that are mixed with them.

    >>> model = HistogramModel("positional")
    >>> A = model.attention(encode("DATAIAIAIA"))
    >>> A.shape, torch.equal(A, model.attention(encode("BROTABROTA")))      # places only: the same for every text
    (torch.Size([1, 10, 10]), True)
    """

    def __init__(self, kind="free", scale=0.3):
        super().__init__()
        if kind not in ("positional", "semantic", "free"):
            raise ValueError(f"kind must be 'positional', 'semantic' or 'free', got {kind!r}")
        self.config = {"kind": kind, "scale": scale}
        d_e = d_att = 2 * HALF
        self.W_e, self.W_p = nn.Parameter(torch.randn(len(LETTERS), HALF)), nn.Parameter(torch.randn(T, HALF))
        self.W = nn.Parameter(scale * torch.randn(d_e, d_att) / d_e ** 0.5)
        self.norm = nn.LayerNorm(d_e)
        self.mlp = nn.Sequential(nn.Linear(d_e, 128), nn.ReLU(), nn.Linear(128, T))
        sees = {"semantic": [1.0, 0.0], "positional": [0.0, 1.0], "free": [1.0, 1.0]}[kind]
        self.register_buffer("sees", torch.tensor(sees).repeat_interleave(HALF)[:, None])       # (d_e, 1)

    def embed(self, ids):
        """E (n, T, d_e)."""
        return torch.cat([self.W_e[ids], self.W_p.expand(len(ids), -1, -1)], -1)

    def scores(self, ids):
        """What the softmax is taken of, (n, T, T)."""
        q = self.embed(ids) @ (self.sees * self.W)                                   # (n, T, d_att)
        return q @ q.mT / q.shape[-1] ** 0.5

    def attention(self, ids):
        """A (n, T, T); rows sum to one."""
        return self.scores(ids).softmax(-1)

    def forward(self, ids, attention=None):
        A = self.attention(ids) if attention is None else attention
        return self.mlp(self.norm(A @ self.embed(ids)))                              # (n, T, T)

    def predict(self, ids, attention=None):
        """Counts (n, T)."""
        with torch.no_grad():
            return self(ids, attention).argmax(-1) + 1

    def unfrozen(self):
        """A "free" copy: the half of W that was not seen begins at zero, so that it computes what this model does."""
        free = HistogramModel("free", self.config["scale"])
        free.load_state_dict(self.state_dict() | {"W": self.sees * self.W, "sees": torch.ones_like(self.sees)})
        return free


def loss(model, ids):
    """Mean cross-entropy of the counts of ids (n, T), in nats."""
    return nn.functional.cross_entropy(model(ids).flatten(0, 1), counts(ids).flatten() - 1)


def fit(model, steps, seed=0, lr=2e-2, batch=128, progress=True):
    """Train `model` in place on fresh sequences, a quarter of them uniform, the others balanced; returns it."""
    kinds = [sample(steps * size, kind, seed).view(steps, size, T)
             for kind, size in (("uniform", batch // 4), ("balanced", batch - batch // 4))]
    training.train(model, loss, lambda _: torch.cat(kinds, 1), epochs=1, lr=lr, warmup=0.3, seed=seed,
                   progress=progress)
    return model


def train(kind, seed=0, steps=1500, scale=0.3, progress=True):
    """A trained HistogramModel of this kind, in about 9 seconds of one processor. Far fewer steps do not converge.

    >>> train("semantic", steps=2, progress=False).config
    {'kind': 'semantic', 'scale': 0.3}
    """
    torch.manual_seed(as_whole(seed, "seed"))
    return fit(HistogramModel(kind, scale), steps, seed, progress=progress).eval()


def accuracy_by_count(model, ids):
    """Share of right answers (T,) among the tokens that occur 1, 2, …, T times; nan where there are none.

    >>> accuracy_by_count(HistogramModel(), encode("DATAIAIAIA")).isnan().nonzero().flatten().tolist()
    [1, 3, 5, 6, 7, 8, 9]
    """
    truth = counts(ids)
    right = model.predict(ids) == truth
    return torch.stack([right[truth == count].double().mean() for count in range(1, T + 1)])


class SwapTest(NamedTuple):
    """Accuracies with a model's own attention, with that of another sequence, with the mean map and with 1/T.

    >>> SwapTest(own=1.0, swapped=0.5, mean=0.5, uniform=0.1).swapped
    0.5
    """

    own: float
    swapped: float
    mean: float
    uniform: float


def swap_test(model, ids):
    """The SwapTest of a model on ids (n, T), n ≥ 2: sequence i gets the attention of sequence i − 1.

    Does attention depend on the letters? Where swapping changes nothing, it does not. Whoever always says 1 is right
    for (14/15)⁹ = .54 of the tokens of uniform sequences: that is no counting.

    >>> accuracies = swap_test(HistogramModel("positional"), sample(50))
    >>> accuracies.own == accuracies.swapped == accuracies.mean          # untrained, but it reads places only
    True
    """
    if len(ids) < 2:
        raise ValueError(f"swapping needs at least two sequences, got {len(ids)}")
    with torch.no_grad():
        A, truth = model.attention(ids), counts(ids)
    maps = [A, A.roll(1, 0), A.mean(0), torch.full((T, T), 1 / T)]
    return SwapTest(*((model.predict(ids, each) == truth).double().mean().item() for each in maps))


def nearest_ab(A):
    """(a, b) of the aI + b11ᵀ nearest to A (…, T, T) by least squares: each of its entries has the mean of its kind.

    >>> a, b = nearest_ab(0.5 * torch.eye(4) + 0.125)
    >>> a, b
    (0.5, 0.125)
    """
    diagonal = torch.eye(A.shape[-1], dtype=torch.bool)
    b = A[..., ~diagonal].mean().item()
    return A[..., diagonal].mean().item() - b, b


def occlusion(model, ids):
    """(n, T, T): how far the log-probability of token i's count falls, entry (i, j), with token j replaced.

    The count is the one that the model says before; the replacement is the first letter that the sequence lacks. The
    diagonal is zero: there nothing is asked, because the token that is counted would be gone.

    >>> occlusion(HistogramModel(), sample(3)).shape
    torch.Size([3, 10, 10])
    """
    absent = (ids[:, :, None] == torch.arange(len(LETTERS))).any(1).int().argmin(-1)          # (n,)
    with torch.no_grad():
        log_p, column = model(ids).log_softmax(-1), model.predict(ids)[..., None] - 1          # (n, T, T), (n, T, 1)
        falls = []
        for j in range(T):
            other = ids.clone()
            other[:, j] = absent
            falls.append((log_p - model(other).log_softmax(-1)).gather(-1, column))           # (n, T, 1)
    return torch.cat(falls, -1).masked_fill(torch.eye(T, dtype=torch.bool), 0.0)
