"""Checks of assignment 03: causal attention, several heads from one matrix, some of them silent."""

import math

import torch

from attention_questions.library import ATTENTIONS
from coursegrade.kit.cases import rounded
from coursegrade.kit.question import question
from coursegrade.kit.same import same

__all__ = ["causal_attention"]


def _fused(T, d_e, K, seed, size=1, silent=None):
    """Arguments of causal_attention; with size 16 scores of which no exp can be taken."""
    shapes = (T, d_e), (3 * d_e, d_e), (3 * d_e,), (d_e, d_e), (d_e,)
    x, *weights = (rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes))
    return (size * x, *weights, K, *([silent] if silent is not None else []))


def _parts(h, K):
    return [part.unflatten(-1, (K, -1)).transpose(0, 1) for part in h.chunk(3, -1)]            # (K, T, d_e/K) each


def _side_by_side(mixed):
    return mixed.transpose(0, 1).flatten(1)                             # (K, T, d_e/K) → (T, d_e)


def _past(scores):
    return torch.ones_like(scores, dtype=torch.bool).tril()


def _weights(scores, allowed):
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), -1).nan_to_num()


def _quiet(mixed, silent):
    return torch.stack([0 * head if i in silent else head for i, head in enumerate(mixed)])


@question((2, 3), {"two heads": _fused(T=4, d_e=6, K=2, seed=70), "one head": _fused(T=3, d_e=2, K=1, seed=60),
                   "three heads": _fused(T=5, d_e=6, K=3, seed=80), "one token": _fused(T=1, d_e=4, K=2, seed=90),
                   "large scores": _fused(T=4, d_e=4, K=2, seed=95, size=16),
                   "head 2 of three is silent": _fused(T=5, d_e=6, K=3, seed=80, silent=[2]),
                   "two of three are silent": _fused(T=4, d_e=6, K=3, seed=75, silent=[1, 0]),
                   "all are silent": _fused(T=3, d_e=4, K=2, seed=65, silent=[0, 1])},
          tolerance=(1e-3, 1e-3), returns="(T, d_e)",                   # large scores make much of rounding
          forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and torch.softmax",
          otherwise="Follow one head: are its queries, keys and values the columns i·d_e/K to (i + 1)·d_e/K of the "
                    "three blocks? Does row s of its weights end at column s, and sum to one? A silent head gives "
                    "zeros where its output would stand.",
          hints={"shapes": "x @ W_qkv.T is (T, 3·d_e). Cut into three, and each into heads, by columns, that makes (T, "
                           "d_e/K) for a head. A silent head keeps its place: zeros stand where its output would.",
                 "ValueError": "Does the cut make three parts? `chunk(3)` cuts rows, the tokens; `chunk(3, 1)` cuts "
                               "columns."})
def causal_attention(x, W_qkv, b_qkv, W_o, b_o, K, silent=(), *, cut=_parts, order=(0, 1, 2), scale=None, allowed=_past,
                     weigh=_weights, quiet=_quiet, join=_side_by_side, project=lambda y, W_o, b_o: y @ W_o.T + b_o):
    """causal_attention(x, W_qkv, b_qkv, W_o, b_o, K, silent): (T, d_e), K heads of attention to the past, mixed by W_o;
    the heads in silent give 0."""
    parts = cut(x @ W_qkv.T + b_qkv, K)
    q, k, v = (parts[i] for i in order)
    scores = q @ k.mT / (scale(x.shape[1], K) if scale else math.sqrt(q.shape[-1]))
    mixed = weigh(scores, allowed(scores)) @ v
    return project(join(quiet(mixed, silent) if len(silent) else mixed), W_o, b_o)


def _tokenwise(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    """Attention among the heads of each token, in place of attention among tokens."""
    q, k, v = (part.unflatten(-1, (K, -1)) for part in (x @ W_qkv.T + b_qkv).chunk(3, -1))     # (T, K, d_e/K)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return (_weights(scores, _past(scores)) @ v).flatten(1) @ W_o.T + b_o


def _rows_cleared(x, W_qkv, b_qkv, W_o, b_o, K, silent=()):
    speaks = torch.tensor([i not in silent for i in range(K)]).repeat_interleave(len(W_o) // K)
    return causal_attention.reference(x, W_qkv, b_qkv, W_o * speaks[:, None], b_o, K)


SCALED = "The root is that of a head's size, d_e/K: scores are divided by it. "

LOWER_STILL = "The future has a large negative score here, and scores may be lower still. Only −∞ is below every other."

causal_attention.mistakes(
    ("Every token sees the whole text, the future too: where is the causal mask?", dict(allowed=lambda s: s == s)),
    ("The mask is the wrong way round: tokens see themselves and the future.",
     dict(allowed=lambda s: torch.ones_like(s, dtype=torch.bool).triu())),
    ("A token does not see itself here. Only t > s is forbidden.",
     dict(allowed=lambda s: torch.ones_like(s, dtype=torch.bool).tril(-1))),
    ("Each token sees one token of the future. Token s sees the tokens 0 to s.",
     dict(allowed=lambda s: torch.ones_like(s, dtype=torch.bool).tril(1))),
    (LOWER_STILL, dict(weigh=lambda scores, may: torch.softmax(scores.masked_fill(~may, -10), -1))),
    ("The future has the score 0 here, and e⁰ = 1: it counts. Only a score of −∞ gives a weight of 0.",
     dict(weigh=lambda scores, may: torch.softmax(scores * may, -1))),
    ("The mask comes after the softmax, so rows no longer sum to one, and the future has been used.",
     dict(weigh=lambda scores, may: torch.softmax(scores, -1) * may)),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?",
     dict(weigh=lambda scores, may: torch.softmax(scores.masked_fill(~may, -math.inf), -2).nan_to_num())),
    ("The heads were cut first, and then each into query, key and value. In GPT-2 it is the other way round: first "
     "three blocks of d_e columns, Q, K and V, and then each into heads.",
     dict(cut=lambda h, K: h.unflatten(-1, (K, 3, -1)).permute(2, 1, 0, 3))),
    ("The heads are interleaved: head i took every K-th column. Head 0 has the first d_e/K columns of Q, head 1 the "
     "next ones.", dict(cut=lambda h, K: [part.unflatten(-1, (-1, K)).permute(2, 0, 1) for part in h.chunk(3, -1)])),
    ("Tokens and heads got mixed: first (T, d_e) to (T, K, d_e/K), then K to the front with transpose. A reshape "
     "straight to (K, T, d_e/K) cuts elsewhere.",
     dict(cut=lambda h, K: [part.reshape(K, len(h), -1) for part in h.chunk(3, -1)])),
    ("The heads' outputs got mixed on the way back: from (K, T, d_e/K), T comes to the front (transpose) before the "
     "heads are put side by side.", dict(join=lambda mixed: mixed.reshape(mixed.shape[1], -1))),
    ("Here heads look at heads, for each token. The heads come to the front before the product: (K, T, d_e/K).",
     _tokenwise),
    ("The scores are not scaled: where is the root?", dict(scale=lambda d_e, K: 1)),
    (SCALED + "Here it is √d_e, of all heads together.", dict(scale=lambda d_e, K: math.sqrt(d_e))),
    (SCALED + "Here it is d_e/K itself.", dict(scale=lambda d_e, K: d_e / K)),
    ("Queries and keys have changed places, in the cut (the queries come first in W_qkv) or in the product (row s of "
     "the scores belongs to query s).", dict(order=(1, 0, 2))),
    ("b_o was added before W_o. It is added at the very end.", dict(project=lambda y, W_o, b_o: (y + b_o) @ W_o.T)),
    ("With all heads silent the output's bias b_o is left, in every row.",
     lambda x, W_qkv, b_qkv, W_o, b_o, K, silent=(): causal_attention.reference(
         x, W_qkv, b_qkv, W_o, b_o * (len(silent) < K), K, silent)),
    ("The heads stand side by side, as they should, but W_o and b_o did not mix them.",
     dict(project=lambda y, W_o, b_o: y)),
    ("The output's bias b_o is missing.", dict(project=lambda y, W_o, b_o: y @ W_o.T)),
    ("b_o was added more than once. It is added at the end, not for each head.",
     lambda x, W_qkv, b_qkv, W_o, b_o, K, silent=(): causal_attention.reference(
         x, W_qkv, b_qkv, W_o, K * b_o, K, silent)),
    ("W_o acts from the wrong side. It is (out, in), as in every linear layer: y @ W_o.T.",
     dict(project=lambda y, W_o, b_o: y @ W_o + b_o)),
    ("The bias b_qkv is missing.",
     lambda x, W_qkv, b_qkv, *others: causal_attention.reference(x, W_qkv, 0 * b_qkv, *others)),
    ("That is one big head. Q, K and V are cut into K heads, by columns.",
     lambda x, W_qkv, b_qkv, W_o, b_o, K, silent=(): causal_attention.reference(x, W_qkv, b_qkv, W_o, b_o, 1)),
    ("The heads have K columns each. There are K heads, of d_e/K columns: `chunk` wants a number, `split` a size.",
     lambda x, W_qkv, b_qkv, W_o, b_o, K, silent=(): causal_attention.reference(
         x, W_qkv, b_qkv, W_o, b_o, x.shape[1] // K)),
    ("Nobody is silent here: the heads whose numbers stand in `silent` give zeros in place of their output.",
     lambda x, W_qkv, b_qkv, W_o, b_o, K, silent=(): causal_attention.reference(x, W_qkv, b_qkv, W_o, b_o, K)),
    ("Rows of W_o were cleared. Head i comes into the output through the *columns* i·d_e/K to (i + 1)·d_e/K of W_o.",
     _rows_cleared))


@causal_attention.suspect
def _(got, x, *rest):
    if not got.isfinite().all() and x.abs().max() > 8:
        return ("∞/∞ is not a number, and exp makes ∞ of large scores: take the largest score of the row away first. "
                "torch.softmax does.")
    if not got.isfinite().all():
        return ("A row in which everything is forbidden is 0/0: may every token see at least itself? Is the softmax "
                "over the last axis? (−∞ · 0 is not a number either: masked_fill puts −∞ where it belongs.)")
    for low in (-1e4, -1e5):
        if same(got, causal_attention.reference(
                x, *rest, weigh=lambda scores, may, low=low: torch.softmax(scores.masked_fill(~may, low), -1))):
            return LOWER_STILL
    return None
