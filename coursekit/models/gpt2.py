"""GPT-2 (Radford et al., 2019), block by block, able to carry the real weights.

Shapes: n sequences of T token ids, D words in the vocabulary, d_e embedding, K heads, L layers. The *residual stream*
is the table (n, T, d_e) that every layer reads and adds to.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from .attention import causal_mask, scaled_dot_product_attention
from .pretrained import gpt2_sizes, gpt2_weights, open_gpt2


def layer_norm(x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, eps=1e-05) -> torch.Tensor:
    """Every row of x (..., d) to mean 0 and variance 1, then times `gain` (d,) plus `shift` (d,) (Ba et al., 2016).

    The model calls PyTorch's fused version of it, which differs by rounding only.

    >>> layer_norm(torch.tensor([1.0, 3.0]), gain=torch.ones(2), shift=torch.zeros(2), eps=0)
    tensor([-1.,  1.])
    """
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).square().mean(-1, keepdim=True)               # divided by d, not by d − 1
    return gain * (x - mean) / torch.sqrt(variance + eps) + shift


def gelu(x: torch.Tensor) -> torch.Tensor:
    """GPT-2's GELU: x Φ(x), with a tanh in place of Φ (Hendrycks and Gimpel, 2016, section 2).

    The model calls PyTorch's fused version of it.

    >>> [round(y, 4) for y in gelu(torch.tensor([-2.0, 0.0, 2.0])).tolist()]
    [-0.0454, 0.0, 1.9546]
    """
    return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def next_token_loss(logits: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the next token in nats: the mean of −log softmax(logits)[following], over all tokens.

    logits (n, T, D); following (n, T) the ids that did come next. exp of it is the perplexity.

    >>> uniform = torch.zeros(1, 2, 50)                                 # 50 words, all equally likely: log 50 = 3.912
    >>> round(next_token_loss(uniform, torch.tensor([[7, 8]])).item(), 3)
    3.912
    """
    return F.cross_entropy(logits.flatten(0, 1), following.flatten())


class CausalAttention(nn.Module):
    """K heads of attention to the past, concatenated and projected (Vaswani et al., 2017, section 3.2.2).

    Parameters: `qkv`, queries, keys and values of all heads in one linear layer, and `output`.

    forward(x, past=None, mask=None, need_weights=False): x (n, t, d_e) asks the t₀ tokens of `past`, a pair (keys,
    values) of shape (n, K, t₀, d_e/K), and itself. `mask` is added to the scores, or boolean (True: may see); without
    one each token sees itself and what came before. Returns (output (n, t, d_e), (keys, values) with the new ones in,
    weights (n, K, t, t₀ + t)). Unless weights are asked for they are None, and PyTorch's fused kernel computes the same
    output faster.

    >>> output, (keys, values), weights = CausalAttention(d_e=6, K=2)(torch.randn(1, 3, 6), need_weights=True)
    >>> keys.shape, weights[0, 0, 0].tolist()                              # the first token sees itself alone
    (torch.Size([1, 2, 3, 3]), [1.0, 0.0, 0.0])
    """

    def __init__(self, d_e, K):
        super().__init__()
        self.K = K
        self.qkv = nn.Linear(d_e, 3 * d_e)
        self.output = nn.Linear(d_e, d_e)

    def forward(self, x, past=None, mask=None, need_weights=False):
        q, k, v = (h.unflatten(-1, (self.K, -1)).transpose(1, 2) for h in self.qkv(x).chunk(3, -1))   # (n, K, t, d_e/K)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        causal = mask is None and x.shape[1] > 1                        # a single token sees all: nothing to mask
        if need_weights:
            mixed, weights = scaled_dot_product_attention(q, k, v, causal_mask(x.shape[1]) if causal else mask)
        else:
            mixed, weights = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal), None
        return self.output(mixed.transpose(1, 2).flatten(2)), (k, v), weights


class GPT2Block(nn.Module):
    """One layer: x + attention(LN x), then x + MLP(LN x), as GPT-2 orders it ("pre-norm"). The MLP is 4 d_e wide."""

    def __init__(self, d_e, K, eps=1e-5):
        super().__init__()
        self.norm_attention = nn.LayerNorm(d_e, eps)
        self.attention = CausalAttention(d_e, K)
        self.norm_mlp = nn.LayerNorm(d_e, eps)
        self.mlp = nn.Sequential(nn.Linear(d_e, 4 * d_e), nn.GELU("tanh"), nn.Linear(4 * d_e, d_e))

    def forward(self, x, past=None, mask=None, need_weights=False):
        mixed, present, weights = self.attention(self.norm_attention(x), past, mask, need_weights)
        x = x + mixed
        return x + self.mlp(self.norm_mlp(x)), present, weights


@dataclass(frozen=True)
class GPT2Config:
    """Sizes of a GPT-2; the defaults are GPT-2 small's. T_max: the longest sequence; d_e must be a multiple of K.

    >>> GPT2Config(L=2, d_e=64, K=4).T_max
    1024
    """

    vocab_size: int = 50257
    T_max: int = 1024
    d_e: int = 768
    K: int = 12
    L: int = 12
    eps: float = 1e-5

    def __post_init__(self):
        if min(self.vocab_size, self.T_max, self.d_e, self.K, self.L) < 1 or self.d_e % self.K:
            raise ValueError(f"sizes must be positive and d_e a multiple of K (each head gets d_e/K), got {self}")


class KVCache(NamedTuple):
    """What a GPT-2 remembers of the tokens it has read: keys and values (n, K, T, d_e/K) of each layer.

    `padding` (n,): how many tokens on the left of each row are padding (None: nowhere any). A cache is never changed:
    `step` makes a longer one, so that two continuations may start from the same cache.

    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> _, cache = model.step(torch.tensor([[1, 2, 3]]))
    >>> _, longer = model.step(torch.tensor([[4]]), cache)
    >>> cache.length, longer.length
    (3, 4)
    """

    layers: list
    padding: torch.Tensor | None = None

    @property
    def length(self):
        """Tokens in the cache, padding included."""
        return self.layers[0][0].shape[2]

    def reorder(self, index):
        """The cache of the rows `index` (m,), in this order, a row as often as it is named: what beam search keeps."""
        layers = [(keys[index], values[index]) for keys, values in self.layers]
        return KVCache(layers, None if self.padding is None else self.padding[index])


class GPT2(nn.Module):
    """The decoder-only transformer of Radford et al. (2019): L blocks, a final norm, the embedding as output layer.

    forward(ids): logits (n, T, D) of ids (n, T); row t scores every word as the token after t. `model.step` does the
    same from a cache, `model.stream` shows the inside. Without dropout.

    >>> model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=12, K=3, L=2))
    >>> model(torch.tensor([[1, 2, 3]])).shape, sum(p.numel() for p in model.parameters())
    (torch.Size([1, 3, 10]), 4008)
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.W_e = nn.Parameter(torch.empty(config.vocab_size, config.d_e))
        self.W_p = nn.Parameter(torch.empty(config.T_max, config.d_e))
        self.blocks = nn.ModuleList(GPT2Block(config.d_e, config.K, config.eps) for _ in range(config.L))
        self.norm = nn.LayerNorm(config.d_e, config.eps)
        self.edits = {}
        if not self.W_e.is_meta:                                        # a shape without numbers awaits other weights
            self.initialize()

    def initialize(self):
        """Draw the embeddings and linear layers as GPT-2 does: normal with sd 0.02, but 0.02/√(2L) for the two layers
        of a block that write to the stream, so that 2L additions leave its size alone (section 2.3); biases are 0."""
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                writes = name.endswith(("attention.output.weight", "mlp.2.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * self.config.L) if writes else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def run(self, ids, cache=None, padding=None, need_weights=False):
        """All that a pass computes: (the residual streams, a list of L + 1 (n, t, d_e): the embeddings, then what each
        block leaves; the L pairs of keys and values; the L attention maps (n, K, t, T), or None)."""
        t0 = 0 if cache is None else cache.length
        T = t0 + ids.shape[-1]
        if ids.dim() != 2 or ids.dtype != torch.long or not 1 <= T - t0 <= T <= self.config.T_max:
            raise ValueError(f"expected ids (n, T) of whole numbers with 1 ≤ T ≤ {self.config.T_max}, got {ids.dtype} "
                             f"{tuple(ids.shape)}" + (f" after {t0} tokens" if t0 else ""))
        if ids.min() < 0 or ids.max() >= self.config.vocab_size:
            raise ValueError(f"ids must lie between 0 and {self.config.vocab_size - 1}, got {ids.min()} to {ids.max()}")
        position, mask = torch.arange(t0, T), None
        if padding is not None:                                         # the first real token of a row has position 0
            position = (position - padding[:, None]).clamp(min=0)
        if padding is not None or t0 and T - t0 > 1:
            column, row = torch.arange(T), torch.arange(t0, T)[:, None]
            mask = column <= row
            if padding is not None:                                     # padding sees itself, so that no row is empty
                mask = (mask & (column >= padding[:, None, None]) | (column == row))[:, None]      # (n, 1, t, T)
        x = self.edit(0, F.embedding(ids, self.W_e) + self.W_p[position], ids)
        streams, layers, maps = [x], [], []
        for l, block in enumerate(self.blocks):
            x, present, weights = block(x, cache and cache.layers[l], mask, need_weights)
            x = self.edit(l + 1, x, ids)
            streams.append(x)
            layers.append(present)
            maps.append(weights)
        return streams, layers, maps

    def logits(self, x):
        """Logits (..., D) of the last residual stream x (..., d_e): final norm, then the tied embedding, x W_eᵀ
        (Press and Wolf, 2017)."""
        return F.linear(self.norm(x), self.W_e)

    def forward(self, ids):
        return self.logits(self.run(ids)[0][-1])

    def loss(self, ids):
        """What training makes small: `next_token_loss` of ids (n, T), each token scored by those before it."""
        if ids.shape[-1] < 2:
            raise ValueError("a sequence of one token has no next token: the loss needs at least two")
        return next_token_loss(self(ids[:, :-1]), ids[:, 1:])

    @torch.no_grad()
    def step(self, ids, cache=None, padding=None):
        """Read some new tokens: (logits (n, D) of the token after the last one, the cache with the new tokens in it).

        ids (n, t), t ≥ 1 *new* tokens: the prompt at first, then one at a time. In a batch of unequal lengths the
        shorter prompts are padded on the left, by any token; `padding` (n,) says by how many. It goes into the cache,
        so give it with the prompt and not again. Without gradient.
        """
        if cache is not None:
            padding = cache.padding
        streams, layers, _ = self.run(ids, cache, padding)
        return self.logits(streams[-1][:, -1]), KVCache(layers, padding)

    def stream(self, ids):
        """The residual stream (L + 1, n, T, d_e) of ids (n, T): the embeddings, then what each block leaves."""
        return torch.stack(self.run(ids)[0])

    def attentions(self, ids):
        """Attention weights (L, K, T, T) of one sequence (T,), or (L, n, K, T, T) of ids (n, T); rows sum to one."""
        if ids.dim() == 1:
            return self.attentions(ids[None])[:, 0]
        return torch.stack(self.run(ids, need_weights=True)[2])

    def edit(self, layer, x, ids):
        """x, or what the edit of this layer (see `editing`) makes of it."""
        return self.edits[layer](x, ids) if layer in self.edits else x

    @contextmanager
    def editing(self, layer, edit):
        """Inside `with model.editing(l, edit):` every pass continues from edit(x, ids) in place of the stream x.

        x (n, t, d_e) is what block l leaves (l = 0: the embeddings), ids (n, t) the tokens it stands on.
        """
        if layer not in range(self.config.L + 1):
            raise ValueError(f"layer must be between 0 (the embeddings) and L = {self.config.L}, got {layer}")
        before, self.edits = self.edits, self.edits | {layer: edit}
        try:
            yield self
        finally:
            self.edits = before

    @classmethod
    def from_huggingface(cls, source):
        """The model with the weights of `source`, in float32 and evaluation mode.

        `source`: a GPT2LMHeadModel or GPT2Model of transformers; a folder with config.json and model.safetensors (one
        file or shards); or a name on the Hugging Face hub, such as "gpt2", which is looked up in the local cache and
        downloaded only if it is not there. Weights are read one at a time: GPT-2 small needs little more memory than
        its own 498 MB. Raises FileNotFoundError, TypeError or ValueError, in one line, and then nothing is built.
        """
        config, shapes, load = open_gpt2(source)
        with torch.device("meta"):                                      # shapes without numbers: takes no memory
            model = cls(GPT2Config(**gpt2_sizes(config)))
        weights = dict(gpt2_weights(model.state_dict(), shapes, load))
        model.load_state_dict(weights, assign=True)                     # every number is in memory once
        return model.eval()
