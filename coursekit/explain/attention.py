"""Attention weights as attributions: means, maxima and sums over heads and layers; words in place of pieces; norms.

All read the row of the token that the classifier reads out (BERT's [CLS], GPT-2's last token), and keep the columns of
the document's own tokens: what goes to [CLS], [SEP] or padding is left out, so that scores need not sum to one.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from coursekit.inputs import Document
from coursekit.models.protocols import WhiteBox
from coursekit.text import word_groups

from .asking import require_methods
from .attribution import Attribution


def attention_mean(model: WhiteBox, document: Document, layer: int | None = None) -> Attribution:
    """α-avg: the mean of the read-out row over all heads, and over all layers or of one (Lopardo et al., 2024, Eq. 10).

    model: a white box. layer: 0 … L−1, negative from the end, or None for all. Unsigned; between 0 and 1.

    >>> from types import SimpleNamespace
    >>> two_heads = torch.tensor([[[[0.2, 0.6, 0.2]] * 3, [[0.5, 0.1, 0.4]] * 3]])       # (L, K, T, T), all rows alike
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0,
    ...                         attentions=lambda d: two_heads)
    >>> attention_mean(model, ["good", "film"])                           # (0.6 + 0.1)/2 and (0.2 + 0.4)/2
    attention (mean): good(+0.35) film(+0.3)
    """
    return _read_out(model, document, layer, np.mean, "attention (mean)")


def attention_max(model: WhiteBox, document: Document) -> Attribution:
    """α-max: for each token the largest weight that any head of any layer gives it (their Eq. 11). As
    `attention_mean`.

    >>> from types import SimpleNamespace
    >>> two_heads = torch.tensor([[[[0.2, 0.6, 0.2]] * 3, [[0.5, 0.1, 0.4]] * 3]])       # (L, K, T, T), all rows alike
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0,
    ...                         attentions=lambda d: two_heads)
    >>> attention_max(model, ["good", "film"])
    attention (max): good(+0.6) film(+0.4)
    """
    return _read_out(model, document, None, np.max, "attention (max)")


def attention_sum(model: WhiteBox, document: Document) -> Attribution:
    """The sum over heads and layers: `attention_mean` times their number, so the order of tokens is the same.

    >>> from types import SimpleNamespace
    >>> two_heads = torch.tensor([[[[0.2, 0.6, 0.2]] * 3, [[0.5, 0.1, 0.4]] * 3]])       # (L, K, T, T), all rows alike
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0,
    ...                         attentions=lambda d: two_heads)
    >>> attention_sum(model, ["good", "film"])
    attention (sum): good(+0.7) film(+0.6)
    """
    return _read_out(model, document, None, np.sum, "attention (sum)")


def norm_attention(model: WhiteBox, document: Document) -> Attribution:
    """‖α_t f(x_t)‖: how long the vector is that a token sends to the read-out token (Kobayashi et al., 2020, Eq. 4).

    A large weight on a short value counts little. The vectors of a layer's heads are added before the norm is taken
    (their section 4.4); layers are averaged. Unsigned, in the units of the residual stream (of the score, for a model
    whose values are numbers).

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> A, values = torch.tensor([[[0.2, 0.6, 0.2]] * 3]), torch.tensor([[[1.0, 0.0], [0.1, 0.0], [3.0, 4.0]]])
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0,
    ...                         embed=lambda d: torch.zeros(3, 2), trace=lambda e: Trace(None, [A], [values]))
    >>> norm_attention(model, ["good", "film"])                           # 0.6 of length 0.1, and 0.2 of length 5
    attention × norm of the value: good(+0.06) film(+1)
    """
    return _reduced(model, document, norm_maps(model, document), None, np.mean, "attention × norm of the value")


def norm_maps(model: WhiteBox, document: Document) -> np.ndarray:
    """`norm_attention` for all pairs of tokens: ‖Σ_k α_{s,t}⁽ᵏ⁾ f⁽ᵏ⁾(x_t)‖, (L, 1, T, T), rows s (from), columns t.

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> A, values = torch.tensor([[[0.2, 0.6, 0.2]] * 3]), torch.tensor([[[1.0, 0.0], [0.1, 0.0], [3.0, 4.0]]])
    >>> model = SimpleNamespace(tokens=lambda d: ["[CLS]", *d], own=lambda d: [1, 2], readout=0,
    ...                         embed=lambda d: torch.zeros(3, 2), trace=lambda e: Trace(None, [A], [values]))
    >>> [round(float(norm), 3) for norm in norm_maps(model, ["good", "film"])[0, 0, 0]]
    [0.2, 0.06, 1.0]
    """
    require_methods(model, "embed", "trace", explainer="norm_attention")
    T = len(model.tokens(document))
    with torch.no_grad():
        trace = model.trace(model.embed(document))
        maps = [torch.einsum("kst,ktd->std", A[:, :T, :T], values[:, :T]).norm(dim=-1) if T else A[0, :0, :0]
                for A, values in zip(trace.attentions, trace.values, strict=True)]
    return torch.stack(maps)[:, None].cpu().numpy()


def word_attention(A: ArrayLike, tokens: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Attention among words, from attention among their pieces: (weights (…, W, W), the W words).

    A: (…, T, T) weights, rows from, columns to. What goes *to* a word is the sum over its pieces, what comes *from* it
    the mean over them (Clark et al., 2019, section 4.1). So rows still sum to what they did: a sum over all columns in
    groups is the sum over all columns, and a mean of rows that sum to one sums to one.

    >>> A = np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    >>> weights, words = word_attention(A, ["play", "##ing", "chess"])
    >>> words, weights.round(3).tolist()
    (['playing', 'chess'], [[0.725, 0.275], [0.4, 0.6]])
    """
    A = A.detach().cpu().numpy() if torch.is_tensor(A) else np.asarray(A, float)
    if A.ndim < 2 or A.shape[-2:] != (len(tokens), len(tokens)):
        raise ValueError(f"A must have shape (…, T, T) with T = {len(tokens)} tokens, got {A.shape}")
    groups = word_groups(tokens)
    member = np.zeros((len(groups), len(tokens)))                                # (W, T)
    for row, (_, places) in zip(member, groups, strict=True):
        row[places] = 1
    return member / member.sum(1, keepdims=True) @ A @ member.T, [word for word, _ in groups]


def _read_out(model, document, layer, reduce, method):
    require_methods(model, "attentions", "own", explainer=method)
    with torch.no_grad():
        maps = model.attentions(document).cpu().numpy()                                # (L, K, T, T)
    return _reduced(model, document, maps, layer, reduce, method)


def _reduced(model, document, maps, layer, reduce, method):
    """The own tokens of the read-out row of maps (L, K, T, T), reduced over heads and over all layers or one."""
    require_methods(model, "own", "readout", explainer=method)
    if layer is not None:
        L = len(maps)
        if layer not in range(-L, L):
            raise ValueError(f"layer must be between 0 and {L - 1} (or None for all), got {layer!r}")
        maps, method = maps[[layer]], f"{method}, layer {layer}"
    own, tokens = model.own(document), model.tokens(document)
    scores = reduce(maps[:, :, model.readout][..., own], axis=(0, 1)) if own else []
    return Attribution([tokens[i] for i in own], scores, method, signed=False)
