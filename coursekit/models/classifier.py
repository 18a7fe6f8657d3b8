"""The classifiers that the course explains: one layer of attention that is read out at [CLS], and a deeper transformer.

Both are black boxes and white boxes, as `coursekit.models.protocols` describes them. A document is a list of word
tokens; T counts them *and* the class token in front, as `tokens(document)` shows. Scores are log-odds: positive review
if the score is above 0.
"""

import math
from functools import partial

import torch
from torch import nn

from . import factorised
from .attention import Trace, sinusoidal_positions
from .blocks import Block
from .documents import as_document, as_embeddings, predict_in_chunks, token_ids


class WordClassifier(nn.Module):
    """What the two classifiers below share: a class token in front, word embeddings W_e (D, d_e), positions W_p."""

    chunk = 256                                                                   # documents that predict takes at once
    readout = 0                                                                   # the row that the score is read from

    def extra_repr(self):
        """The sizes, for print(model)."""
        return ", ".join(f"{name}={size}" for name, size in {"D": len(self.tokenizer.vocab), **self.config}.items())

    def tokens(self, document):
        """The T tokens that rows and columns stand for: [CLS] and the document, cut at T_max."""
        return ["[CLS]", *as_document(document)][:self.T_max]

    def own(self, document):
        """The rows of the document's own tokens: all but the class token's."""
        return list(range(1, len(self.tokens(document))))

    def predict(self, documents):
        """Log-odds (n,) of a positive review, for a list of documents, as a NumPy array."""
        return predict_in_chunks(self, documents, self.chunk)

    def embed(self, document):
        """Embeddings e_t = W_e[ξ_t] + W_p(t) (T, d_e) of [CLS] and the document."""
        T = len(self.tokens(document))
        return self.W_e[token_ids(self, [document])[0, :T]] + self.W_p[:T]

    def baseline(self, document, kind="unk"):
        """Embeddings (T, d_e) of a document as long that says nothing: each word is [UNK] ("unk"), padding ("pad", here
        the same) or the zero vector ("zero"). [CLS] and all positions stay."""
        T = len(self.tokens(document))
        if kind == "zero":
            return torch.cat([self.embed([]), self.W_p[1:T]])
        if kind not in ("unk", "pad"):
            raise ValueError(f"baseline must be 'unk', 'pad' or 'zero', got {kind!r}")
        return self.embed(["[UNK]"] * (T - 1))

    def attentions(self, document):
        """Attention weights (L, K, T, T) among the tokens: rows sum to one, less what goes to padding, if any."""
        T = len(self.tokens(document))
        return torch.stack(self.trace(self.embed(document)).attentions)[..., :T, :T]

    def cls_attention(self, document):
        """The class token's row of the last layer's attention weights (K, T)."""
        return self.attentions(document)[-1, :, 0]


class AttentionClassifier(WordClassifier):
    """One layer of K attention heads, queried by [CLS], then one linear map (Lopardo, Precioso and Garreau, ICML 2024).

    f(x) = (1/K) Σ_i W_ℓ⁽ⁱ⁾ Σ_t α_t⁽ⁱ⁾ v_t⁽ⁱ⁾ with α⁽ⁱ⁾ = softmax_t(qᵀk_t/√d_att): their Eqs. 1–9, no biases. Each
    document is padded to T_max with the embedding h, and the padding is attended to, as in the paper: the α of a
    document's own tokens sum to less than one (`padding_attention` has the rest).

    Only the query of [CLS] matters, so each head folds into two vectors, u = W_kᵀq/√d_att and w = W_vᵀW_ℓᵀ, and the
    score is a softmax of e·u times e·w. `forward` uses this; `forward(ids, folded=False)` computes all T_max × T_max
    attention weights as one would from the formulas. Both are equal up to rounding.

    tokenizer: a WordTokenizer, whose vocabulary gives D. Parameters: W_e (D, d_e), W_q and W_k (K, d_att, d_e),
    W_v (K, d_out, d_e), W_l (K, d_out); the positions W_p (T_max, d_e) are fixed waves with base T_max (Eq. 3).

    >>> from coursekit.text import WordTokenizer
    >>> tokenizer = WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good", "film"])
    >>> model = AttentionClassifier(tokenizer, T_max=4, d_e=6, d_att=2, d_out=2, K=1)
    >>> _ = model.W_q.data.zero_()                                         # queries that ask for nothing …
    >>> model.cls_attention(["good", "film"]).tolist()                     # … get an even answer
    [[0.25, 0.25, 0.25]]
    >>> model.padding_attention(["good", "film"])[0, 0, 0].item()          # the fourth place is padding
    0.25
    """

    def __init__(self, tokenizer, T_max=256, d_e=128, d_att=64, d_out=64, K=6):
        super().__init__()
        self.tokenizer, self.T_max = tokenizer, T_max
        self.config = dict(T_max=T_max, d_e=d_e, d_att=d_att, d_out=d_out, K=K)
        self.W_e = nn.Parameter(0.1 * torch.randn(len(tokenizer.vocab), d_e))
        self.W_q = nn.Parameter(torch.randn(K, d_att, d_e) / math.sqrt(d_e))
        self.W_k = nn.Parameter(torch.randn(K, d_att, d_e) / math.sqrt(d_e))
        self.W_v = nn.Parameter(torch.randn(K, d_out, d_e) / math.sqrt(d_e))
        self.W_l = nn.Parameter(torch.randn(K, d_out) / math.sqrt(d_out))
        self.register_buffer("W_p", sinusoidal_positions(T_max, d_e, base=T_max, start=1), persistent=False)

    # -- the score, from ids ------------------------------------------------------------------------------------------

    def fold(self, e_cls):
        """u and w (K, d_e): head i scores softmax_t(e_t·u_i) · (e_t·w_i), for a class token's e_cls (…, d_e)."""
        q = torch.einsum("kad,...d->...ka", self.W_q, e_cls)
        u = torch.einsum("kad,...ka->...kd", self.W_k, q) / math.sqrt(self.W_k.shape[1])
        return u, torch.einsum("kod,ko->kd", self.W_v, self.W_l)

    def logits(self, ids):
        """Folded look-ups, for every position of ids (n, T_max): log g = e·u and y = e·w, both (n, T_max, K)."""
        u, w = self.fold(self.W_e[self.tokenizer.cls_id] + self.W_p[0])
        directions = torch.cat([u, w]).T                                          # (d_e, 2K)
        return (nn.functional.embedding(ids, self.W_e @ directions) + self.W_p @ directions).chunk(2, -1)

    def forward(self, ids, folded=True):
        """Scores (n,) of token ids (n, T_max)."""
        if not folded:
            e = self.W_e[ids] + self.W_p                                          # (n, T_max, d_e)
            A, v = self.attend(e)                                 # (n, K, T_max, T_max), (n, K, T_max, d_out)
            return torch.einsum("nko,ko->n", (A @ v)[:, :, 0], self.W_l) / len(self.W_l)
        log_g, y = self.logits(ids)
        return (log_g.softmax(1) * y).sum(1).mean(-1)

    def attend(self, e):
        """Attention (…, K, T_max, T_max) among embeddings e (…, T_max, d_e), and the values (…, K, T_max, d_out)."""
        e = e.unsqueeze(-3)                                                       # (…, 1, T_max, d_e): for every head
        q, k, v = e @ self.W_q.mT, e @ self.W_k.mT, e @ self.W_v.mT
        return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), -1), v

    # -- the protocols ------------------------------------------------------------------------------------------------

    def score(self, documents):
        """Scores (n,) of documents as a tensor."""
        return self(token_ids(self, documents))

    def masked_scores(self, document, by, mask_token):
        """The short cut of `coursekit.models.factorised` as a function masks (n, T') → scores (n,), float64 where words
        are replaced; None for a class of one's own that computes its scores in another way."""
        if type(self).forward is not AttentionClassifier.forward:
            return None
        if by == "replace":
            return factorised.replaced(self, document, mask_token)
        return factorised.deleted(self, document)

    def head_terms(self, document, mask_token="[UNK]"):
        """log g and y (T + 3, T_max, K) of [CLS], the words, `mask_token` and padding at every position, or None for a
        class of one's own that computes its scores in another way."""
        if type(self).forward is not AttentionClassifier.forward:
            return None
        return factorised.head_terms(self, document, mask_token)

    def folded(self):
        """All that the scores are made of, in float64: what each word (D, 2K) and each position (T_max, 2K) adds to the
        K heads' log g, then to their y, and the directions (d_e, 2K) along which these are read off an embedding."""
        return factorised.parts(self, slice(None))

    def layers(self):
        """No layer: there is no residual stream behind the embeddings."""
        return []

    def queries_and_keys(self):
        """No layer: this model's queries and keys are products with matrices (see `coursekit.models.protocols`)."""
        return []

    def pad(self, e):
        """Embeddings (…, T, d_e) padded to T_max with h + W_p(t) (Eq. 4)."""
        T = as_embeddings(e, self.T_max, self.W_e.shape[1]).shape[-2]
        padding = self.W_e[self.tokenizer.pad_id] + self.W_p[T:]
        return torch.cat([e, padding.expand(*e.shape[:-2], *padding.shape).to(e.dtype)], -2)

    def from_embeddings(self, e):
        """Score (…) of embeddings e (…, T, d_e); differentiable in every row, the class token's included."""
        e = self.pad(e)                                                           # (…, T_max, d_e)
        u, w = self.fold(e[..., 0, :])
        alpha = (e @ u.mT).softmax(-2)                                            # (…, T_max, K)
        return (alpha * (e @ w.mT)).sum(-2).mean(-1)

    def trace(self, e, change=None):
        """One pass over embeddings e (…, T, d_e) with its attention weights [(…, K, T_max, T_max)], padding included.
        change(0, A): the weights to use in place of A.

        W_ℓ/K stands for the output map here, so that a value is one number, what the token adds to the score if all of
        the head's attention is on it. They are (…, K, T_max, 1), and score = Σ_i Σ_t α_t⁽ⁱ⁾ value_t⁽ⁱ⁾.
        """
        A, v = self.attend(self.pad(e))
        A = A if change is None else change(0, A)
        values = v @ self.W_l[..., None] / len(self.W_l)
        return Trace((A @ values)[..., 0, 0].sum(-1), [A], [values])

    def cls_attention(self, document):
        """The class token's row of the attention weights (K, T): the α of the paper (Eq. 8)."""
        e = self.embed(document)
        u, _ = self.fold(e[0])
        return (self.pad(e) @ u.mT).softmax(0)[:len(e)].T

    def padding_attention(self, document):
        """Attention (1, K, T) that each token pays to the padding behind the document."""
        e = self.embed(document)
        return self.attend(self.pad(e))[0][None, :, :len(e), len(e):].sum(-1)


class TransformerClassifier(WordClassifier):
    """What the one-layer model leaves out, put back: L layers with skip connections, layer norms and MLPs (cf. App. E).

    The class token's last state gives the score. Unlike AttentionClassifier it masks the padding, so that attention
    rows sum to one over the document. d_e must be a multiple of the K heads.

    >>> from coursekit.text import WordTokenizer
    >>> tokenizer = WordTokenizer(["[PAD]", "[UNK]", "[CLS]", "good", "film"])
    >>> model = TransformerClassifier(tokenizer, T_max=8, d_e=6, K=3, L=2)
    >>> model.predict([["good", "film"], ["film"]]).shape, model.attentions(["good", "film"]).shape
    ((2,), torch.Size([2, 3, 3, 3]))
    """

    chunk = 32

    def __init__(self, tokenizer, T_max=256, d_e=48, K=6, L=6):
        super().__init__()
        self.tokenizer, self.T_max = tokenizer, T_max
        self.config = dict(T_max=T_max, d_e=d_e, K=K, L=L)
        self.W_e = nn.Parameter(0.1 * torch.randn(len(tokenizer.vocab), d_e))
        self.register_buffer("W_p", 0.1 * sinusoidal_positions(T_max, d_e), persistent=False)
        self.blocks = nn.ModuleList(Block(d_e, K) for _ in range(L))
        self.norm, self.head = nn.LayerNorm(d_e), nn.Linear(d_e, 1)

    def encode(self, e, mask=None):
        """Score (…) of embeddings e (…, T, d_e)."""
        for block in self.blocks:
            e, _ = block(e, mask, need_weights=False)
        return self.from_states(e)

    def from_states(self, e):
        """Score (…) of the last block's states (…, T, d_e)."""
        return self.head(self.norm(e[..., self.readout, :])).squeeze(-1)

    def forward(self, ids, lengths):
        """Scores (n,) of token ids (n, T_max) whose first `lengths` (n,) are the document."""
        T = int(lengths.max())
        mask = (torch.arange(T) < lengths[:, None])[:, None, None]               # (n, 1, 1, T): keys but padding
        return self.encode(self.W_e[ids[:, :T]] + self.W_p[:T], mask)

    def score(self, documents):
        """Scores (n,) of documents as a tensor."""
        return self(token_ids(self, documents), torch.tensor([len(self.tokens(d)) for d in documents]))

    def from_embeddings(self, e):
        """Score (…) of embeddings e (…, T, d_e); differentiable."""
        return self.encode(as_embeddings(e, self.T_max, self.W_e.shape[1]))

    def trace(self, e, change=None):
        """One pass over embeddings e (…, T, d_e) with its attention weights (…, K, T, T) and values (…, K, T, d_e).
        change(l, A): the weights that layer l is to use in place of its own."""
        maps, values = [], []
        for l, block in enumerate(self.blocks):
            values.append(block.attention.written(block.norm_attention(e)))
            e, weights = block(e, change=None if change is None else partial(change, l))
            maps.append(weights)
        return Trace(self.from_states(e), maps, values)

    def layers(self):
        """The L modules whose first output is the residual stream (…, T, d_e)."""
        return list(self.blocks)

    def queries_and_keys(self):
        """The layers of queries and of keys, with the number of columns in which their output is that: all."""
        return [(layer, layer.out_features) for block in self.blocks
                for layer in (block.attention.query, block.attention.key)]
