"""What explainers ask of a model: two protocols, and no base class. A model of one's own needs these methods, no more.

A document is a list of tokens (strings). T counts the tokens that the model reads, its special ones included; d_e is
the size of an embedding, K the heads, L the layers, n the documents, C the classes. Scores are log-odds, or logits of
C > 2 classes.

    leave_one_out, lime, kernel_shap, shapley_values,
    gp_shapley, fit_slalom, fidelity,
    curves, comprehensiveness, sufficiency,
    sensitivity_axiom, non_sensitivity, monotonicity,
    effective_complexity, infidelity                       BlackBox, or its function `predict` alone
    attention_mean, attention_max, attention_sum           WhiteBox: tokens, own, readout, attentions
    norm_attention, rollout, attention_flow,
    gradient_attention                                     WhiteBox: tokens, own, readout, embed, trace
    gradient, gradient_x_input, integrated_gradients       WhiteBox: tokens, own, embed, baseline, from_embeddings
    relevance_attention                                    as gradient_attention, a torch.nn.Module with
                                                           `queries_and_keys() -> [(layer, n), …]`: the layers whose
                                                           output has queries or keys in its first n columns
    head_patterns                                          tokens, attentions
    exact_lime, exact_shapley, exact_interactions,
    lime_limit, distance_to_exact                          head_terms, of models whose score is a mean of N/D

A black box may have a short cut, `masked_scores(document, by, mask_token)`: a function masks (n, T') → scores (n,) of
the document under masks, or None where it has none to offer. Who is asked for masks uses it in place of `predict`.

A model may say what its scores are, `gives` (`coursekit.explain.asking.read_as`), and what its classes are called,
`labels`, C strings: an explainer's `target` is then a number or one of them.

A model that reads pairs of texts as one document may say what stands between them, `separator`, a list of tokens: these
stay under any mask.

A model whose score is the mean over K heads of N/D, with D = Σ_t g_t and N = Σ_t g_t y_t over positions, offers its
terms by `head_terms(document, mask_token)`: log g and y, both (T + 3, T_max, K), of a token that is always there, the
document's T words, `mask_token` and padding (the rows) at every position (the columns). log g = −∞ means "not there".
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import torch

from coursekit.inputs import Document

from .attention import Trace


@runtime_checkable
class BlackBox(Protocol):
    """Whatever predicts: `isinstance(model, BlackBox)` asks whether the method is there.

    >>> class Lover:
    ...     def predict(self, documents):
    ...         return [document.count("love") for document in documents]
    >>> isinstance(Lover(), BlackBox), isinstance(Lover(), WhiteBox)
    (True, False)
    """

    def predict(self, documents: list[Document]):
        """Scores (n,) or (n, C) of n documents, as an array."""


@runtime_checkable
class WhiteBox(BlackBox, Protocol):
    """A classifier that can be looked into: AttentionClassifier, TransformerClassifier, HuggingFaceClassifier."""

    tokenizer: object           # `convert_tokens_to_ids` and the id of what is unknown: mask tokens are looked up there
    readout: int                # the row that the score is read from: 0, the class token's, or −1, the last

    def tokens(self, document: Document) -> list[str]:
        """The T tokens that rows and columns stand for: the document cut to what is read, special tokens put in."""

    def own(self, document: Document) -> list[int]:
        """The rows of the document's own tokens among them."""

    def embed(self, document: Document) -> torch.Tensor:
        """Embeddings (T, d_e)."""

    def baseline(self, document: Document, kind: str) -> torch.Tensor:
        """Embeddings (T, d_e) of a document as long that says nothing; kind: "unk", "pad" or "zero"."""

    def from_embeddings(self, e: torch.Tensor) -> torch.Tensor:
        """Scores (…) or (…, C) of embeddings e (…, T, d_e), differentiable."""

    def trace(self, e: torch.Tensor, change=None) -> Trace:
        """One pass over embeddings (…, T, d_e): the score, and each layer's attention weights and values in its graph.
        change(l, A) -> the weights (…, K, T, T) that layer l is to use in place of its own, A."""

    def attentions(self, document: Document) -> torch.Tensor:
        """Attention weights (L, K, T, T): rows from, columns to."""


class HasTerms(Protocol):
    """A model whose score is a mean of N/D: AttentionClassifier, Slalom."""

    def head_terms(self, document: Document, mask_token: str):
        """log g and y (T + 3, T_max, K), as the top of this file has them, or None."""


Predict = Callable[[list[Document]], Any]                 # documents → scores (n,) or (n, C), whatever NumPy reads
Predicts = BlackBox | Predict
