"""Small inputs for checks that one can read."""

import torch


def rounded(*shape, seed):
    """Normal random numbers with one decimal, that one can read."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(10).round().div(10)


def numbers(text, *shape):
    """The numbers of a text as a tensor of this shape.

    >>> numbers("1 0  0.75 0.25", 2, 2).tolist()
    [[1.0, 0.0], [0.75, 0.25]]
    """
    return torch.tensor([float(number) for number in text.split()]).reshape(shape)
