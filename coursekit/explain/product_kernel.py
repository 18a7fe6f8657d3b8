"""The product kernel on pairs of subsets in its odd and its even half, and the Shapley values and interactions of both.

z ∈ {−1, 1}^d: a token is kept, or gone. With 0 < w_j < 1 and Π(z, z') = Π_j (1 + w_j z_j z'_j) the halves are
k°(z, z') ∝ Π(z, z') − Π(z, −z') and k⁺(z, z') ∝ Π(z, z') + Π(z, −z') − 2, each 1 where z = z'. As functions of z' they
are sums of two product games, whose Shapley values and interactions are integrals of polynomials (Owen, "Multilinear
extensions of games", Management Science 18, 1972), by Gauss and Legendre exact.
"""

import numpy as np
import torch


def kernels(z, c):
    """Covariances (n, n) of the odd and of the even parts of pairs, each 1 on its diagonal; c: artanh w."""
    inner, most = (z * c) @ z.T, c.sum()
    gone = torch.log(torch.cosh(c)).sum()

    def even(x):                                                                     # e^−gone cosh x − 1
        return torch.expm1(torch.log1p(2 * torch.sinh(x / 2)**2) - gone)

    return torch.sinh(inner) / torch.sinh(most), even(inner) / even(most)


def values(z, w):
    """(d, n): Shapley values of k°(z_m, ·), w_j z_j ∫ Π_{i≠j} (1 + w_i z_i u) du over [−1, 1]."""
    nodes, parts = np.polynomial.legendre.leggauss((len(w) + 1) // 2)
    total = np.zeros_like(z)
    for u, part in zip(nodes, parts, strict=True):
        factors = 1 + w * z * u
        total += part * np.exp(np.log(factors).sum(1, keepdims=True) - _most(w, -1)) / factors
    return (w * z * total).T


def prior(w):
    """(d, d): the covariance of the Shapley values under the prior, the same integral over both arguments of k°."""
    uv, product = _both(w, -1)
    ratio = w[:, None] / (1 + w[:, None] * uv)
    covariance = (ratio * product * uv) @ ratio.T
    covariance[np.diag_indices(len(w))] = ratio @ product
    return covariance


def white(z):
    """Of a score in which each pair stands for itself: the Shapley values (d, n) of 1 at z_m and −1 at −z_m, and the
    covariance (d, d) of all its values, if every pair has the variance 1."""
    d, size = z.shape[1], (z > 0).sum(1)[:, None]
    factorial = np.append(0, np.log(np.arange(1.0, d + 1)).cumsum())                 # its logarithm
    weight = np.append(0, np.exp(factorial[:-1] + factorial[-2::-1] - factorial[-1]))        # (s − 1)! (d − s)! / d!
    alone = np.where(z > 0, weight[size], -weight[d - size])
    return 2 * alone.T, 4 / d * weight[1:-1].sum() * (d * np.eye(d) - 1) / (d - 1)


def pair_values(z, w, a, inverse):
    """Interactions of two tokens (d, d) in the mean Σ_m a_m k⁺(z_m, ·), those of k⁺(z_m, ·) being
    2 w_i w_j z_i z_j ∫ Π_{k≠i,j} (1 + w_k z_k u) du; and the part of their prior's variance that is known."""
    nodes, parts = np.polynomial.legendre.leggauss(len(w) // 2 + 1)
    factors = 1 + nodes[:, None] * (w * z)[:, None]                                  # (n, nodes, d)
    product = 2 * parts * np.exp(np.log(factors).sum(2) - _most(w, 1))               # (n, nodes)
    ratio = (w * z)[:, None] / factors
    mean = np.tensordot((product * a[:, None])[:, :, None] * ratio, ratio, ((0, 1), (0, 1)))
    rows = (((product * ratio[:, :, i])[:, None] @ ratio)[:, 0] for i in range(len(w)))        # each (n, d)
    return hollow(mean), hollow(np.array([((inverse @ row)**2).sum(0) for row in rows]))


def pair_prior(w):
    """(d, d): the variance of the interactions under the prior."""
    uv, product = _both(w, 1)
    ratio = w[:, None] / (1 + w[:, None] * uv)
    return hollow(4 * (ratio * product) @ ratio.T)


def hollow(pairs):
    """(d, d) with 0 on the diagonal."""
    return pairs * (1 - np.eye(len(pairs)))


def _both(w, sign):
    """The products of two nodes u, v, and Π_j (1 + w_j u v) at each with its weight, over what k is before it is 1."""
    nodes, parts = np.polynomial.legendre.leggauss(min(len(w) // 2 + 1, 128))
    uv, part = np.outer(nodes, nodes).ravel(), np.outer(parts, parts).ravel()
    uv, same = np.unique(uv.round(15), return_inverse=True)                          # symmetric: an eighth is enough
    return uv, np.bincount(same.ravel(), part) * np.exp(np.log1p(w[:, None] * uv).sum(0) - _most(w, sign))


def _most(w, sign):
    """log of what k° (sign −1) or k⁺ (1) is on its diagonal before it is made 1."""
    most, gone = np.arctanh(w).sum(), np.log1p(-w**2).sum() / 2
    if sign < 0:
        return gone + most + np.log(-np.expm1(-2 * most)) - np.log(2)
    return np.log(np.expm1(gone + np.log1p(2 * np.sinh(most / 2)**2)))
