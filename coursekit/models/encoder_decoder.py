"""Sequence to sequence: an encoder and a decoder that looks at it (Vaswani et al., 2017), and what each does alone.

Three architectures, one task: from a source sentence to a target sentence.

* `EncoderOnly`: every token sees every other; one answer per position (BERT's kind).
* `EncoderDecoder`: the decoder sees its own past, and through cross-attention all of the source (BART's and T5's kind).
* decoder-only: `GPT2`, on source and target written one after another (see `as_one_sequence`).

Shapes: n pairs, T_in tokens of source, T_out of target, D words, d_e embedding, K heads, L layers. Sentences are padded
on the right with id 0; 1 starts a target, 2 ends it.
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from coursekit.inputs import Document

from .attention import MultiHeadAttention, causal_mask, sinusoidal_positions
from .blocks import Block

PAD, START, END = 0, 1, 2


def to_ids(sentences: Sequence[Document], words: Sequence[str]) -> torch.Tensor:
    """Ids (n, T) of sentences (lists of words), each closed by [END] and padded; `words` lists the vocabulary by id.

    >>> to_ids([["b"], ["a", "b"]], ["[PAD]", "[START]", "[END]", "a", "b"])
    tensor([[4, 2, 0],
            [3, 4, 2]])
    """
    place = {word: i for i, word in enumerate(words)}
    unknown = {word for sentence in sentences for word in sentence} - place.keys()
    if unknown:
        raise ValueError(f"not in the vocabulary: {', '.join(sorted(map(str, unknown)))}")
    rows = [torch.tensor([place[word] for word in sentence] + [END]) for sentence in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def as_one_sequence(source: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What a decoder-only model reads: (ids (n, T), is_target (n, T)) of source, [START], target, unpadded inside.

    source (n, T_in) and target (n, T_out) as `to_ids` makes them; the source's [END] becomes [START]. The loss counts
    where `is_target` is True.

    >>> ids, is_target = as_one_sequence(torch.tensor([[3, 2, 0]]), torch.tensor([[5, 2]]))
    >>> ids.tolist(), is_target.int().tolist()
    ([[3, 1, 5, 2]], [[0, 0, 1, 1]])
    """
    rows = [(s[s != PAD], t[t != PAD]) for s, t in zip(source, target, strict=True)]
    ids = [torch.cat([s[:-1], torch.tensor([START]), t]) for s, t in rows]
    is_target = [torch.arange(len(s) + len(t)) >= len(s) for s, t in rows]
    return (nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=PAD),
            nn.utils.rnn.pad_sequence(is_target, batch_first=True, padding_value=False))


def target_loss(model: torch.nn.Module, ids: torch.Tensor, is_target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of a decoder-only model (`GPT2`) over the target's words alone, from `as_one_sequence`.

    >>> def knows_nothing(ids):                                            # of 50 words: log 50 = 3.912
    ...     return torch.zeros(*ids.shape, 50)
    >>> ids, is_target = as_one_sequence(torch.tensor([[3, 2]]), torch.tensor([[4, 2]]))
    >>> round(target_loss(knows_nothing, ids, is_target).item(), 3)
    3.912
    """
    counted = is_target[:, 1:]
    return F.cross_entropy(model(ids[:, :-1])[counted], ids[:, 1:][counted])


class Embedding(nn.Module):
    """Word vectors, scaled by √d_e, plus sinusoidal positions: (n, T) → (n, T, d_e) (Vaswani et al., 2017, 3.4-5)."""

    def __init__(self, D, T_max, d_e):
        super().__init__()
        self.words = nn.Embedding(D, d_e)
        nn.init.normal_(self.words.weight, std=d_e ** -0.5)
        self.register_buffer("positions", sinusoidal_positions(T_max, d_e), persistent=False)

    def forward(self, ids):
        D, (T_max, d_e) = self.words.num_embeddings, self.positions.shape
        if ids.dim() != 2 or ids.shape[1] > T_max or ids.min() < 0 or ids.max() >= D:
            raise ValueError(f"expected ids (n, T) between 0 and {D - 1} with T ≤ {T_max}, got {tuple(ids.shape)}")
        return d_e ** 0.5 * self.words(ids) + self.positions[:ids.shape[1]]


class Encoder(nn.Module):
    """L layers of self-attention in which every token sees every other: ids (n, T) → states (n, T, d_e)."""

    def __init__(self, D, T_max, d_e, K, L):
        super().__init__()
        self.embed = Embedding(D, T_max, d_e)
        self.blocks = nn.ModuleList(Block(d_e, K) for _ in range(L))
        self.norm = nn.LayerNorm(d_e)

    def forward(self, ids):
        x, seen = self.embed(ids), (ids != PAD)[:, None, None]           # (n, 1, 1, T): nobody looks at padding
        for block in self.blocks:
            x, _ = block(x, seen, need_weights=False)
        return self.norm(x)


class EncoderOnly(nn.Module):
    """An encoder with one linear layer on top of every position: logits (n, T, D_out) of ids (n, T).

    It answers all positions at once and none of its answers sees another. Trained to fill in words that were hidden it
    is BERT (Devlin et al., 2019): `targets` is then PAD except where a word is hidden.

    >>> EncoderOnly(D_in=6, D_out=5, d_e=8)(torch.tensor([[3, 4, 2]])).shape
    torch.Size([1, 3, 5])
    """

    def __init__(self, D_in, D_out, T_max=24, d_e=64, K=2, L=1):
        super().__init__()
        self.encoder, self.output = Encoder(D_in, T_max, d_e, K, L), nn.Linear(d_e, D_out)

    def forward(self, ids):
        return self.output(self.encoder(ids))

    def loss(self, ids, targets):
        """Mean cross-entropy at the positions whose target (n, T) is not PAD."""
        return F.cross_entropy(self(ids).flatten(0, 1), targets.flatten(), ignore_index=PAD)


class DecoderBlock(nn.Module):
    """One layer of a decoder: self-attention to the past, cross-attention to the encoder's states, MLP; pre-norm."""

    def __init__(self, d_e, K):
        super().__init__()
        self.norm_self, self.norm_cross, self.norm_mlp = (nn.LayerNorm(d_e) for _ in range(3))
        self.attention, self.cross = MultiHeadAttention(d_e, K), MultiHeadAttention(d_e, K)
        self.mlp = nn.Sequential(nn.Linear(d_e, 4 * d_e), nn.ReLU(), nn.Linear(4 * d_e, d_e))

    def forward(self, x, states, seen, causal, need_weights=False):
        x = x + self.attention(self.norm_self(x), mask=causal, need_weights=False)[0]
        mixed, weights = self.cross(self.norm_cross(x), states, seen, need_weights)
        x = x + mixed
        return x + self.mlp(self.norm_mlp(x)), weights


class EncoderDecoder(nn.Module):
    """The transformer of Vaswani et al. (2017), pre-norm, for pairs of sentences.

    D_in and D_out words in the two vocabularies, at most T_max tokens a side, K heads, L layers a side.
    forward(source (n, T_in), target (n, T_out)): logits (n, T_out, D_out); row t scores target[:, t] from the source
    and target[:, :t].

    >>> model = EncoderDecoder(D_in=6, D_out=5, d_e=8, K=2, L=3)
    >>> source, target = torch.tensor([[3, 5, 4, 2]]), torch.tensor([[4, 3, 2]])
    >>> model(source, target).shape, model.cross_attention(source, target).shape
    (torch.Size([1, 3, 5]), torch.Size([1, 3, 2, 3, 4]))
    """

    def __init__(self, D_in, D_out, T_max=24, d_e=64, K=2, L=1):
        super().__init__()
        self.encoder = Encoder(D_in, T_max, d_e, K, L)
        self.embed = Embedding(D_out, T_max, d_e)
        self.blocks = nn.ModuleList(DecoderBlock(d_e, K) for _ in range(L))
        self.norm, self.output = nn.LayerNorm(d_e), nn.Linear(d_e, D_out)

    def decode(self, states, seen, target, need_weights=False):
        """(logits (n, T_out, D_out), L cross-attention maps (n, K, T_out, T_in)) from the encoder's states."""
        before = F.pad(target[:, :-1], (1, 0), value=START)              # shifted: row t has read target[:, :t]
        x, causal, maps = self.embed(before), causal_mask(target.shape[1]), []
        for block in self.blocks:
            x, weights = block(x, states, seen, causal, need_weights)
            maps.append(weights)
        return self.output(self.norm(x)), maps

    def forward(self, source, target):
        return self.decode(self.encoder(source), (source != PAD)[:, None, None], target)[0]

    def loss(self, source, target):
        """Mean cross-entropy of the target's words, [END] included and padding left out."""
        return F.cross_entropy(self(source, target).flatten(0, 1), target.flatten(), ignore_index=PAD)

    def cross_attention(self, source, target):
        """Weights (n, L, K, T_out, T_in): row t is what the decoder looks at to say target[:, t]; rows sum to one."""
        maps = self.decode(self.encoder(source), (source != PAD)[:, None, None], target, need_weights=True)[1]
        return torch.stack(maps, 1)

    @torch.no_grad()
    def translate(self, source, max_length=None):
        """The target (n, T_out) by greedy choice, word by word, each row closed by [END] and padded."""
        max_length = max_length or self.embed.positions.shape[0]
        states, seen = self.encoder(source), (source != PAD)[:, None, None]
        target, open_ = source.new_zeros(len(source), 0), torch.ones(len(source), dtype=torch.bool)
        while open_.any() and target.shape[1] < max_length:
            logits, _ = self.decode(states, seen, F.pad(target, (0, 1)))
            word = logits[:, -1].argmax(-1).where(open_, PAD)            # (n,)
            target, open_ = torch.cat([target, word[:, None]], 1), open_ & (word != END)
        return target


def exact_match(answers: torch.Tensor, targets: torch.Tensor) -> float:
    """Share of rows of ids that agree word for word up to [END], however padded; answers (n, T), targets (n, T').

    >>> exact_match(torch.tensor([[4, 2, 0], [3, 4, 2]]), torch.tensor([[4, 2], [3, 2]]))
    0.5
    """
    T = max(answers.shape[1], targets.shape[1])
    answers, targets = (F.pad(x, (0, T - x.shape[1])) for x in (answers, targets))
    return (answers == targets).all(1).float().mean().item()


def alignment_accuracy(maps: torch.Tensor, alignments: Sequence[tuple]) -> torch.Tensor:
    """How often the strongest weight of a row is on the right source word, for each layer and head: (L, K).

    maps (n, L, K, T_out, T_in), as from `cross_attention`; alignments: n tuples, the source place of each target word.
    The row of [END] is not counted.

    >>> maps = torch.tensor([[[[[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]]]])    # the last row says [END]
    >>> alignment_accuracy(maps, [(0, 0)]).tolist()
    [[0.5]]
    """
    strongest = maps.argmax(-1)                                          # (n, L, K, T_out)
    right = [strongest[i, :, :, :len(places)] == torch.tensor(places) for i, places in enumerate(alignments)]
    return torch.cat(right, -1).float().mean(-1)
