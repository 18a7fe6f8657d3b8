"""Run a model with attention weights that are not its own: shuffled, spread evenly, or zero where they were largest.

All look at the row of the token that the classifier reads out, in every layer, and there at the document's own tokens:
what these get together stays theirs, and what goes to [CLS], [SEP] or padding stays there. Scores are log-odds.
"""

from typing import NamedTuple

import numpy as np
import torch

from coursekit.explain.asking import read_as, require_methods

CHUNK = 8                               # copies of a document that go through a deep model at once
TINY = 1e-30


def given_attention(model, document):
    """(α (L, K, T), score, values): the weights on the T own tokens; a function that runs the model with others in
    their place, (n, L, K, T) → log-odds (n,), differentiable; and values (K, T) where the score is rest + Σ α · values,
    as in one layer that sums numbers (`AttentionClassifier`), which then is not run again. None for other models.

    model: a white box, on any device; what comes out, and what `score` takes, is on the CPU, in double precision.

    >>> from coursekit.models import load_weights
    >>> alpha, score, values = given_attention(load_weights("imdb-tame"), ["not", "good"])
    >>> alpha.shape, score(torch.stack([alpha, 0 * alpha])).shape, values.shape
    (torch.Size([1, 6, 2]), torch.Size([2]), torch.Size([6, 2]))
    """
    require_methods(model, "embed", "trace", "own", "readout", explainer="given_attention")
    own, row = model.own(document), model.readout
    with torch.no_grad():
        e = model.embed(document)
        trace = model.trace(e)
    one_score(model, trace.score)
    alpha = torch.stack(trace.attentions)[:, :, row][..., own].cpu().double()     # (L, K, T)
    if len(alpha) == 1 and trace.values[0].shape[-1] == 1:
        values = trace.values[0][:, own, 0].cpu().double()                        # (K, T)
        rest = trace.score.cpu() - (alpha[0] * values).sum()
        return alpha, lambda weights: rest + (weights[:, 0] * values).sum((-1, -2)), values

    def score(weights):
        parts = []
        for part in weights.to(e).split(CHUNK):
            def change(layer, A, part=part):
                A = A.clone()
                A[..., row, own] = part[:, layer]                                 # (n, K, T)
                return A
            parts.append(model.trace(e.expand(len(part), *e.shape), change).score)
        return torch.cat(parts).cpu().double()

    return alpha, score, None


class Swap(NamedTuple):
    """What a model says with its own attention and with others: score, a number; scores (n,), log-odds; attention
    (n, L, K, T), the weights given, and own (L, K, T), the model's.

    >>> swap = Swap(0.0, np.array([np.log(3)]), np.array([[[[1.0, 0.0]]]]), np.array([[[0.0, 1.0]]]))
    >>> swap.change.round(2).tolist(), swap.js.round(3).tolist(), swap.flips.tolist()   # ½ → ¾, as far as can be
    ([0.25], [0.693], [True])
    """

    score: float
    scores: np.ndarray
    attention: np.ndarray
    own: np.ndarray

    @property
    def change(self):
        """|Δp| (n,): how far the probability moves; half the L1 distance of the two distributions over classes."""
        return np.abs(sigmoid(self.scores) - sigmoid(self.score))

    @property
    def js(self):
        """Jensen–Shannon divergences (n,) from the model's weights, mean over layers and heads."""
        return js_divergence(*(torch.as_tensor(part) for part in (self.attention, self.own))).mean((-1, -2)).numpy()

    @property
    def flips(self):
        """(n,): is the decision another one?"""
        return (self.scores > 0) != (self.score > 0)


def swap(model, document, others):
    """The Swap of a document for others(α (L, K, T)) → weights (n, L, K, T): any experiment of one's own."""
    alpha, score, _ = given_attention(model, document)
    weights = others(alpha)
    with torch.no_grad():
        scores = score(torch.cat([alpha[None], weights])).numpy()
    return Swap(float(scores[0]), scores[1:], weights.numpy(), alpha.numpy())


def permuted_attention(model, document, n=100, seed=0):
    """The Swap for n random orders of the weights, each order the same in all heads and layers.

    Source: Jain and Wallace, NAACL 2019, section 4.2.1, who look at the median of `change`, n = 100.

    >>> from coursekit.models import load_weights
    >>> swap = permuted_attention(load_weights("imdb-tame"), "a good film , but far too long".split(), n=10)
    >>> bool((np.sort(swap.attention) == np.sort(swap.own)).all()), swap.change.shape
    (True, (10,))
    """
    rng = np.random.default_rng(seed)

    def shuffled(alpha):
        return torch.stack([alpha[..., rng.permutation(alpha.shape[-1])] for _ in range(n)])

    return swap(model, document, shuffled)


def uniform_attention(model, document):
    """The Swap (n = 1) for even weights. The model was not trained with them; those of
    `load_weights("readers-even")` were.

    Source: what Wiegreffe and Pinter, EMNLP 2019, section 3.2, train with, here put into a trained model.

    >>> from coursekit.models import load_weights
    >>> uniform_attention(load_weights("imdb-tame"), ["not", "good"]).flips.shape
    (1,)
    """
    return swap(model, document, lambda alpha: alpha.mean(-1, keepdim=True).expand_as(alpha)[None])


@torch.inference_mode(False)                                      # with gradients, whatever is around
def decision_flips(model, document, orders=(), seed=0):
    """{order: share of the own tokens whose weights must be zeroed before the decision changes}; 1 if it never does.

    Weights are zeroed in the order of size of: the attention, mean over heads and layers; the gradient of the decision
    in it, its product with the weights, and chance. What a token loses goes to those that are left, in proportion;
    one is always left. orders: more of them, {name: scores (T,)}, the largest first.
    Source: Serrano and Smith, ACL 2019, section 4 and figure 5.

    >>> from coursekit.models import load_weights
    >>> flips = decision_flips(load_weights("imdb-tame"), "a good film , but far too long".split())
    >>> list(flips)
    ['attention', 'gradient', 'gradient × attention', 'chance']
    """
    alpha, score, _ = given_attention(model, document)
    start = alpha[None].clone().requires_grad_()
    f = score(start)
    f, slope = f.item(), (torch.autograd.grad(f.sum(), start)[0][0] * f.sign()).detach().mean((0, 1)).numpy()
    weights, T = alpha.mean((0, 1)).numpy(), alpha.shape[-1]
    product = (torch.from_numpy(slope) * alpha).mean((0, 1)).numpy()
    orders = {"attention": weights, "gradient": slope, "gradient × attention": product,
              "chance": np.random.default_rng(seed).random(T), **dict(orders)}
    shares = {}
    for name, scores in orders.items():
        places = np.argsort(np.argsort(-np.asarray(scores), kind="stable"))
        mask = torch.from_numpy(places >= np.arange(T)[:, None])                  # row j: the first j are zeroed
        beta = alpha * mask[:, None, None]                                        # (T, L, K, T)
        beta = beta * alpha.sum(-1, keepdim=True) / beta.sum(-1, keepdim=True).clamp_min(TINY)
        with torch.no_grad():
            other = (score(beta) > 0).numpy() != (f > 0)
        shares[name] = float(other.argmax() / T) if other.any() else 1.0
    return shares


def one_score(model, score):
    """The score of a document; ValueError, in one line, where it is no log-odds: of more than two classes, of none."""
    if read_as(model) == "regression":
        raise ValueError("this asks what becomes of log-odds, and the model predicts a number and no class")
    if score.ndim:
        raise ValueError(f"this asks what becomes of log-odds, the model scores {len(score)} classes: take one of two")
    return score


def js_divergence(p, q):
    """Jensen–Shannon divergence of weights (…, T), each first divided by its sum: 0 for equal ones, log 2 at most.

    >>> p, q = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0])
    >>> js_divergence(p, p).item(), round(js_divergence(p, q).item(), 3)
    (0.0, 0.693)
    """
    p, q = (part / part.sum(-1, keepdim=True).clamp_min(TINY) for part in (p, q))
    m = ((p + q) / 2).clamp_min(TINY)
    return ((p * (p / m).clamp_min(TINY).log()).sum(-1) + (q * (q / m).clamp_min(TINY).log()).sum(-1)) / 2


def sigmoid(f):
    """Probabilities of log-odds, as arrays."""
    return torch.as_tensor(f, dtype=torch.float64).sigmoid().numpy()
