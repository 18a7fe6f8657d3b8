"""What heads, weights and states cause: take a head out, keep of the weights what can be seen behind them, put in what
another document has. Scores are log-odds."""

from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from coursekit.explain.asking import require_methods

from .permuted import CHUNK, one_score


def heads_kept(model, document, keep):
    """Log-odds (n,) with some heads silent: keep (n, L, K), true where a head may write. A silent one adds zero.

    >>> from coursekit.models import load_weights
    >>> heads_kept(load_weights("imdb-tame"), ["not", "good"], np.zeros((1, 1, 6), bool))       # no head, no score
    array([0.])
    """
    require_methods(model, "embed", "trace", explainer="heads_kept")
    scores = []
    with torch.no_grad():
        e = model.embed(document)
        for part in torch.as_tensor(np.asarray(keep), device=e.device).split(CHUNK):
            trace = model.trace(e.expand(len(part), *e.shape), lambda l, A, part=part: A * part[:, l, :, None, None])
            scores.append(trace.score)
    return torch.cat(scores).cpu().double().numpy()


class Pruned(NamedTuple):
    """score, a number: with all heads; without (L, K): with all but this one; alone (L, K): with this one only.

    >>> Pruned(1.0, np.array([[-0.5, 1.0]]), np.array([[1.0, -0.5]])).flips.tolist()
    [[True, False]]
    """

    score: float
    without: np.ndarray
    alone: np.ndarray

    @property
    def flips(self):
        """(L, K): does the decision change without this head?"""
        return (self.without > 0) != (self.score > 0)


def prune_heads(model, document):
    """The Pruned scores of a document: each head taken out, and all but each.

    Source: Michel, Levy and Neubig, NeurIPS 2019, sections 3.2 and 3.3. Kovaleva et al., EMNLP 2019, left the head in
    and gave it even weights.

    >>> from coursekit.models import load_weights
    >>> found = prune_heads(load_weights("imdb-tame"), ["not", "good"])
    >>> bool(np.isclose(found.alone.sum(), found.score)), found.without.shape     # one layer: heads add up
    (True, (1, 6))
    """
    with torch.no_grad():
        L, K = len(maps := model.trace(model.embed(document)).attentions), maps[0].shape[-3]
    each = np.eye(L * K, dtype=bool).reshape(-1, L, K)
    scores = heads_kept(model, document, np.concatenate([np.ones((1, L, K), bool), ~each, each]))
    return Pruned(float(one_score(model, scores[0])), *scores[1:].reshape(2, L, K))


def effective_attention(model, document):
    """The part of the weights (L, K, T, T) that the output can see: A P, P the projection on the columns of the values.

    With more tokens than a value has directions, many weights give one output: A P V = A V. What is taken off lies in
    the left null space of V. Rows need not sum to one, nor be positive. A model that pads to T_max has T = T_max, and
    where values are numbers (`AttentionClassifier`) what is left of a row is its score, times the values.
    Source: Brunner et al., ICLR 2020, section 3 (Eq. 6).

    >>> from types import SimpleNamespace
    >>> from coursekit.models.attention import Trace
    >>> A, values = torch.tensor([[[0.5, 0.5, 0.0]] * 3]), torch.tensor([[[1.0], [1.0], [0.0]]])
    >>> model = SimpleNamespace(embed=lambda d: None, trace=lambda e: Trace(None, [A], [values]))
    >>> effective_attention(model, ["good", "film"])[0, 0, 0].round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    require_methods(model, "embed", "trace", explainer="effective_attention")
    with torch.no_grad():
        trace = model.trace(model.embed(document))
    return np.stack([A.cpu().double().numpy() @ projection(V.cpu().double().numpy())
                     for A, V in zip(trace.attentions, trace.values, strict=True)])


def projection(V):
    """P (…, T, T), the projection on the span of the columns of V (…, T, d).

    >>> projection(np.array([[1.0], [1.0]])).round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    U, size, _ = np.linalg.svd(V, full_matrices=False)
    U = U * (size > 1e-6 * size.max(-1, keepdims=True))[..., None, :]
    return U @ np.swapaxes(U, -1, -2)


class Patched(NamedTuple):
    """score and donor, numbers: the log-odds of the document and of the other one; scores: with one thing of the
    other one put in, the rest computed from there.

    >>> Patched(1.0, 3.0, np.array([1.0, 2.0, 3.0])).share.tolist()
    [0.0, 0.5, 1.0]
    """

    score: float
    donor: float
    scores: np.ndarray

    @property
    def share(self):
        """The share of the way from the document's score to the donor's."""
        return (self.scores - self.score) / (self.donor - self.score)


def patch_activations(model, document, donor):
    """Patched scores (L + 1, T): the residual stream at one token, after layer l (0: the embeddings), is the donor's.

    donor: a document with as many tokens, best one that differs in a word. A row of `share` says where, after that
    layer, what makes the difference is. One layer without a stream has row 0 alone.
    Source: Vig et al., NeurIPS 2020, section 3; Meng et al., NeurIPS 2022, section 2 (causal tracing).

    >>> from coursekit.models import load_weights
    >>> found = patch_activations(load_weights("imdb-6layer"), ["a", "good", "film"], ["a", "bad", "film"])
    >>> found.share[0].round(3).tolist(), found.share[6].round(3).tolist()        # first the word, at last [CLS]
    ([0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    """
    (e, other), (score, there) = _pair(model, document, donor)
    T, states = len(e), []

    def run(layer, change, e):
        """The scores of e (n, T, d_e) with change(stream) in place of what the layer leaves."""
        def hook(module, x, y):
            return (change(y[0]), *y[1:]) if isinstance(y, tuple) else change(y)

        handle = layer.register_forward_hook(hook)
        try:
            return model.from_embeddings(e)
        finally:
            handle.remove()

    def patched(stream, state):
        """Copy t of the stream (T, T, d_e) with token t of a state (T, d_e)."""
        token = torch.arange(T)
        return stream.index_put((token, token), state)

    with torch.no_grad():
        for layer in model.layers():
            run(layer, lambda stream: states.append(stream[0]) or stream, other[None])
        copies = e.expand(T, T, -1)
        scores = [model.from_embeddings(patched(copies, other))]
        for layer, state in zip(model.layers(), states, strict=True):
            scores.append(run(layer, partial(patched, state=state), copies))
    return Patched(score, there, torch.stack(scores).cpu().double().numpy())


def patch_attention(model, document, donor):
    """Patched scores (2,): with the donor's attention weights in all heads and layers; and with the donor's words, that
    is, all its values, under the document's weights. Where to look, and what is there.

    donor: a document with as many tokens. The method is that of `patch_activations`; this split of it is ours.

    >>> from coursekit.models import load_weights
    >>> found = patch_attention(load_weights("imdb-tame"), ["a", "good", "film"], ["a", "bad", "film"])
    >>> bool(found.share[1] > found.share[0])
    True
    """
    (e, other), (score, there) = _pair(model, document, donor)
    with torch.no_grad():
        own, theirs = model.trace(e).attentions, model.trace(other).attentions
        scores = [model.trace(e, lambda l, A: theirs[l]).score, model.trace(other, lambda l, A: own[l]).score]
    return Patched(score, there, torch.stack(scores).cpu().double().numpy())


def _pair(model, document, donor):
    """Embeddings and log-odds of two documents with as many tokens."""
    require_methods(model, "embed", "from_embeddings", "trace", explainer="patching")
    with torch.no_grad():
        both = [model.embed(one) for one in (document, donor)]
        if len(both[0]) != len(both[1]):
            raise ValueError(f"patching needs documents with as many tokens, got {len(both[0])} and {len(both[1])}: "
                             "change a word for one that is one token as well")
        return both, [one_score(model, model.from_embeddings(e)).item() for e in both]
