"""A model whose two ways of attending change places as data grow: Cui, Behrens, Krzakala & Zdeborová's (NeurIPS 2024).

Two tokens z_1, z_2 ~ N(0, σ²I) in d dimensions. A teacher mixes them partly by what they are, softmax(hhᵀ) z with
h_ℓ = Q*·z_ℓ/√d, and partly by where they stand, A z. The student softmax(ggᵀ) x, g_ℓ = Q·x_ℓ/√d, sees x_1, x_2 = z_1 +
1/√d, z_2 − 1/√d. Its loss on n = αd sequences has a positional and a semantic minimum; from α ≈ 1.26 on the semantic
one is lower.
"""

from typing import NamedTuple

import numpy as np
import torch

from coursekit.inputs import as_whole

SIGMA, OMEGA, LAMBDA, A = 0.5, 0.3, 0.01, ((0.6, 0.4), (0.4, 0.6))
THEORY = {1.24: (0.00269, 0.00271), 1.36: (0.00295, 0.00287), 2.0: (0.00452, 0.00360)}   # α: loss per d, (pos., sem.)


class Problem(NamedTuple):
    """Sequences x (n, 2, d), targets y (n, 2, d), the teacher's Q (d,) and fresh ones, x_test and y_test.

    >>> Problem._fields
    ('x', 'y', 'Q', 'x_test', 'y_test')
    """

    x: torch.Tensor
    y: torch.Tensor
    Q: torch.Tensor
    x_test: torch.Tensor
    y_test: torch.Tensor


def problem(alpha, d=250, seed=0):
    """The Problem with n = αd sequences to learn from, and 1,000 to test with.

    >>> problem(1.2, d=50).x.shape
    torch.Size([60, 2, 50])
    """
    d, random = as_whole(d, "d", 2), np.random.default_rng(as_whole(seed, "seed"))
    Q = torch.from_numpy(random.normal(size=d))
    parts = []
    for n in (round(alpha * d), 1000):
        z = torch.from_numpy(random.normal(0, SIGMA, (n, 2, d)))
        y = (1 - OMEGA) * _attend(Q, z) + OMEGA * torch.tensor(A, dtype=z.dtype) @ z
        parts += [z + torch.tensor([[1.0], [-1.0]]) / d ** 0.5, y]
    return Problem(parts[0], parts[1], Q, *parts[2:])


def _attend(Q, x):
    """softmax(ggᵀ) x, g = xQ/√d: (n, 2, d)."""
    g = x @ Q / len(Q) ** 0.5                                              # (n, 2)
    return (g[:, :, None] * g[:, None]).softmax(-1) @ x


def _error(outputs, y):
    """Σ ‖ŷ − y‖²/2d over the sequences."""
    return (outputs - y).square().sum() / (2 * y.shape[-1])


class Minimum(NamedTuple):
    """A minimum: its loss per d, its error ‖ŷ − y‖²/2d per fresh sequence, overlaps 1ᵀQ/d and Q*ᵀQ/d (no sign), and Q.

    >>> Minimum(loss=0.0036, test=0.0015, positional=0.0, semantic=0.6, Q=None).semantic
    0.6
    """

    loss: float
    test: float
    positional: float
    semantic: float
    Q: torch.Tensor


def minimise(data, start):
    """The Minimum that L-BFGS reaches from start "positional", Q = 1/√d, or "semantic", Q = Q*.

    At d = 250 it takes a tenth of a second; losses then vary by 3e-4 from seed to seed.

    >>> minimum = minimise(problem(2, d=60), "semantic")
    >>> minimum.semantic > minimum.positional
    True
    """
    if start not in ("positional", "semantic"):
        raise ValueError(f"start must be 'positional' or 'semantic', got {start!r}")
    d = len(data.Q)
    Q = (torch.full_like(data.Q, d ** -0.5) if start == "positional" else data.Q.clone()).requires_grad_()
    optimizer = torch.optim.LBFGS([Q], max_iter=200, tolerance_grad=1e-7, tolerance_change=1e-12,
                                  line_search_fn="strong_wolfe")

    def loss():
        return _error(_attend(Q, data.x), data.y) + LAMBDA / 2 * Q.square().sum()

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    optimizer.step(closure)
    with torch.no_grad():
        test = _error(_attend(Q, data.x_test), data.y_test) / len(data.x_test)
        return Minimum(loss().item() / d, test.item(), abs(Q.mean().item()), abs((data.Q @ Q).item()) / d, Q.detach())


def linear(data):
    """The error per fresh sequence of the best fixed mix ŷ = Bx, B (2, 2) by least squares: it knows only places.

    >>> linear(problem(2, d=60)) > 0
    True
    """
    x, y = (part.mT.flatten(0, 1) for part in (data.x, data.y))            # (n·d, 2)
    B = torch.linalg.lstsq(x, y).solution.T
    return (_error(B @ data.x_test, data.y_test) / len(data.x_test)).item()
