"""Superposition: more features than dimensions, each a direction, few at a time. The toy model of Elhage et al. (2022).

m features x_i, each there with a small probability, go through d < m dimensions, h = Wx, and come back as
ReLU(Wᵀh + b). Where all are there at once, no more than d of them can pass; where few are, all m can: their directions,
the columns of W, share the dimensions, and the ReLU cuts off what they add to one another. Whether an autoencoder finds
the directions in the h alone can be checked here, because they are known.
"""

import torch
from torch import nn

from coursekit.inputs import as_whole
from coursekit.models import training

FEATURES, D = 64, 16


def sample(n, share=0.02, seed=0):
    """x (n, FEATURES): every feature is there with probability `share`, uniformly strong on [0, 1], else 0.

    >>> x = sample(1000, share=0.1)
    >>> x.shape, round((x > 0).float().mean().item(), 1), round(x[x > 0].mean().item(), 1)
    (torch.Size([1000, 64]), 0.1, 0.5)
    """
    generator = torch.Generator().manual_seed(as_whole(seed, "seed"))
    shape = as_whole(n, "n", 1), FEATURES
    return torch.rand(shape, generator=generator) * (torch.rand(shape, generator=generator) < share)


def random_directions(seed=0):
    """W (D, FEATURES) whose columns have length 1 and point anywhere: superposition that nobody trained.

    >>> random_directions().norm(dim=0).allclose(torch.ones(FEATURES))
    True
    """
    generator = torch.Generator().manual_seed(as_whole(seed, "seed"))
    return nn.functional.normalize(torch.randn(D, FEATURES, generator=generator), dim=0)


class ToyModel(nn.Module):
    """forward(x (n, FEATURES)) = ReLU(WᵀWx + b), W (D, FEATURES): feature i is the direction W[:, i].

    >>> ToyModel()(sample(5)).shape
    torch.Size([5, 64])
    """

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.randn(D, FEATURES) / D ** 0.5)
        self.b = nn.Parameter(torch.zeros(FEATURES))

    def forward(self, x):
        return (x @ self.W.T @ self.W + self.b).relu()


def train(share=0.02, importance=1.0, seed=0, steps=1000, progress=True):
    """A ToyModel trained to give x back, in about 2 seconds of one processor: the mean of Σ_i I_i (x_i − x̂_i)² falls.

    importance: I_i, one number or (FEATURES,); where it differs and all features are there at once (share 1), the most
    important get a dimension each, and most of the others nothing.

    >>> train(steps=2, progress=False).W.shape
    torch.Size([16, 64])
    """
    torch.manual_seed(as_whole(seed, "seed"))
    model, importance = ToyModel(), torch.as_tensor(importance)
    training.train(model, lambda model, x: (importance * (model(x) - x).square()).sum(-1).mean(),
                   lambda _: sample(steps * 1024, share, seed).view(steps, 1024, FEATURES), epochs=1, lr=2e-2,
                   weight_decay=0.0, warmup=0.0, clip=None, seed=seed, progress=progress)
    return model.requires_grad_(False)


def interference(W):
    """Σ_{j≠i} (ŵ_i · w_j)² for every column w_i of W (d, m): (m,). How much of the others lies in its direction.

    0: the direction is its own; ‖w_i‖² and more: others fill it as much as it does itself (Elhage et al., 2022).

    >>> interference(torch.tensor([[1.0, 0.6, 0.0], [0.0, 0.0, 2.0]]))      # two share the first dimension
    tensor([0.3600, 1.0000, 0.0000])
    """
    products = (nn.functional.normalize(W, dim=0).T @ W).square()          # (m, m)
    return products.sum(1) - products.diagonal()
