"""Small inputs for checks that one can read."""

import torch


def rounded(*shape, seed):
    """Normal random numbers with one decimal, that one can read."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(10).round().div(10)
