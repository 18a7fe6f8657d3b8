"""A layer of a transformer: attention, then an MLP on every token, each added to what was there."""

from torch import nn

from .attention import MultiHeadAttention


class Block(nn.Module):
    """One pre-norm encoder layer: x + attention(LN x), then x + MLP(LN x).

    >>> import torch
    >>> x, weights = Block(d_e=6, K=2)(torch.randn(1, 5, 6))               # T = 5
    >>> x.shape, weights.shape
    (torch.Size([1, 5, 6]), torch.Size([1, 2, 5, 5]))
    """

    def __init__(self, d_e, K):
        super().__init__()
        self.norm_attention, self.norm_mlp = nn.LayerNorm(d_e), nn.LayerNorm(d_e)
        self.attention = MultiHeadAttention(d_e, K)
        self.mlp = nn.Sequential(nn.Linear(d_e, 4 * d_e), nn.ReLU(), nn.Linear(4 * d_e, d_e))

    def forward(self, x, mask=None, need_weights=True, change=None):
        mixed, weights = self.attention(self.norm_attention(x), mask=mask, need_weights=need_weights, change=change)
        x = x + mixed
        return x + self.mlp(self.norm_mlp(x)), weights
