"""Checks of assignment 03: causal attention, several heads from one matrix."""

import math
from itertools import permutations

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.library import ATTENTIONS
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind
from coursekit.models.gpt2 import CausalAttention

__all__ = ["causal_attention"]


def _fused(T, d_e, K, seed):
    """Arguments of causal_attention, small, so that no map is all zeros and ones."""
    shapes = (T, d_e), (3 * d_e, d_e), (3 * d_e,), (d_e, d_e), (d_e,)
    return (*(rounded(*shape, seed=seed + i) / 2 for i, shape in enumerate(shapes)), K)


def _large(T, d_e, K, seed):
    """The same, with scores of which no exp can be taken."""
    x, *weights = _fused(T, d_e, K, seed)
    return (16 * x, *weights)


@question((2, 3), {"two heads": _fused(T=4, d_e=6, K=2, seed=70), "one head": _fused(T=3, d_e=2, K=1, seed=60),
                   "three heads": _fused(T=5, d_e=6, K=3, seed=80),
                   "one token": _fused(T=1, d_e=4, K=2, seed=90), "large scores": _large(T=4, d_e=4, K=2, seed=95)},
          tolerance=(1e-3, 1e-3),                                       # large scores make much of rounding
          forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and torch.softmax",
          hints={"shapes": "x @ W_qkv.T is (T, 3·d_e). Cut into three, and each into heads, by columns, that makes (T, "
                           "d_e/K) for a head.",
                 "ValueError": "Does the cut make three parts? `chunk(3)` cuts rows, the tokens; `chunk(3, 1)` cuts "
                               "columns."})
def causal_attention(x, W_qkv, b_qkv, W_o, b_o, K):
    """causal_attention(x, W_qkv, b_qkv, W_o, b_o, K): (T, d_e), K heads of attention to the past, mixed by W_o."""
    with torch.device("meta"):
        layer = CausalAttention(x.shape[1], K)
    layer.load_state_dict({"qkv.weight": W_qkv, "qkv.bias": b_qkv, "output.weight": W_o, "output.bias": b_o},
                          assign=True)
    return layer(x[None], need_weights=True)[0][0].detach()


def _parts(h, K):
    return [part.unflatten(-1, (K, -1)).transpose(0, 1) for part in h.chunk(3, -1)]            # (K, T, d_e/K) each


def _heads_outside(h, K):
    return h.unflatten(-1, (K, 3, -1)).permute(2, 1, 0, 3)


def _every_third(h, K):
    return [h[:, i::3].unflatten(-1, (K, -1)).transpose(0, 1) for i in range(3)]


def _every_kth(h, K):
    return [part.unflatten(-1, (-1, K)).permute(2, 0, 1) for part in h.chunk(3, -1)]


def _reshaped(h, K):
    return [part.reshape(K, len(h), -1) for part in h.chunk(3, -1)]


def _side_by_side(mixed):
    return mixed.transpose(0, 1).flatten(1)                             # (K, T, d_e/K) → (T, d_e)


def _past(scores):
    return torch.ones_like(scores, dtype=torch.bool).tril()


def _softmax(scores, allowed):
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), -1).nan_to_num()


def _attend(x, W_qkv, b_qkv, W_o, b_o, K, cut=_parts, order=(0, 1, 2), scale=None, allowed=_past, weigh=_softmax,
            join=_side_by_side, project=lambda y, W_o, b_o: y @ W_o.T + b_o):
    """causal_attention with one thing done in another way."""
    parts = cut(x @ W_qkv.T + b_qkv, K)
    q, k, v = (parts[i] for i in order)
    scores = q @ k.mT / (scale or math.sqrt(q.shape[-1]))
    return project(join(weigh(scores, allowed(scores)) @ v), W_o, b_o)


def _anywhere(scores):
    return torch.ones_like(scores, dtype=torch.bool)


def _tokenwise(x, W_qkv, b_qkv, W_o, b_o, K, allowed):
    """Attention among the heads of each token, in place of attention among tokens."""
    q, k, v = (part.unflatten(-1, (K, -1)) for part in (x @ W_qkv.T + b_qkv).chunk(3, -1))     # (T, K, d_e/K)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return (_softmax(scores, allowed(scores)) @ v).flatten(1) @ W_o.T + b_o


LOWS = (-1e2, -1e3, -1e4, -1e5)
LOW = "The future has a large negative score here, and scores may be lower still. Only −∞ is below every other."
_ORDERS = {(1, 0, 2): "Queries and keys have changed places, in the cut (the queries come first in W_qkv) or in the "
                      "product (row s of the scores belongs to query s)."}
ATTENTION = [
    ({"allowed": _anywhere}, "Every token sees the whole text, the future too: where is the causal mask?"),
    ({"allowed": lambda s: torch.ones_like(s, dtype=torch.bool).triu()}, "The mask is the wrong way round: tokens see "
                                                                         "themselves and the future."),
    ({"allowed": lambda s: torch.ones_like(s, dtype=torch.bool).tril(-1)}, "A token does not see itself here. Only "
                                                                           "t > s is forbidden."),
    ({"allowed": lambda s: torch.ones_like(s, dtype=torch.bool).tril(1)}, "Each token sees one token of the future. "
                                                                          "Token s sees the tokens 0 to s."),
    ({"weigh": lambda s, may: torch.softmax(s, -1) * may}, "The mask comes after the softmax, so rows no longer sum to "
                                                           "one, and the future has been used."),
    *(({"weigh": lambda s, may, low=low: torch.softmax(s.masked_fill(~may, low), -1)}, LOW) for low in LOWS),
    ({"weigh": lambda s, may: torch.softmax(s * may, -1)}, "The future has the score 0 here, and e⁰ = 1: it counts. "
                                                           "Only a score of −∞ gives a weight of 0."),
    ({"weigh": lambda s, may: torch.softmax(s.masked_fill(~may, -math.inf), -2).nan_to_num()},
     "The columns sum to one, the rows should: is the softmax over the wrong axis?"),
    ({"weigh": lambda s, may: s * may}, "The softmax is missing."),
    ({"cut": _heads_outside}, "The heads were cut first, and then each into query, key and value. In GPT-2 it is the "
                              "other way round: first three blocks of d_e columns, Q, K and V, and then each into "
                              "heads."),
    ({"cut": _every_third}, "Every third column was taken. The queries are the first d_e columns of x W_qkvᵀ, the keys "
                            "the next d_e, the values the last."),
    ({"cut": _every_kth}, "The heads are interleaved: head i took every K-th column. Head 0 has the first d_e/K "
                          "columns of Q, head 1 the next ones."),
    ({"cut": _reshaped}, "Tokens and heads got mixed: first (T, d_e) to (T, K, d_e/K), then K to the front with "
                         "transpose. A reshape straight to (K, T, d_e/K) cuts elsewhere."),
    ({"join": lambda m: m.reshape(m.shape[1], -1)}, "The heads' outputs got mixed on the way back: from (K, T, d_e/K), "
                                                    "T comes to the front (transpose) before the heads are put side by "
                                                    "side."),
    ({"join": lambda m: m.permute(1, 2, 0).flatten(1)}, "The heads' outputs are interleaved. They stand side by side, "
                                                        "head after head."),
    ({"scale": 1}, "The scores are not scaled: where is the root?"),
    ({"order": (0, 0, 2)}, "The queries stand on both sides of the product: scores are queries times keys."),
    ({"order": (1, 1, 2)}, "The keys stand on both sides of the product: scores are queries times keys."),
    ({"project": lambda y, W_o, b_o: (y + b_o) @ W_o.T}, "b_o was added before W_o. It is added at the very end."),
    ({"project": lambda y, W_o, b_o: y}, "The heads stand side by side, as they should, but W_o and b_o did not mix "
                                         "them."),
    ({"project": lambda y, W_o, b_o: y @ W_o.T}, "The output's bias b_o is missing."),
    *(({"project": lambda y, W_o, b_o, n=n: y @ W_o.T + n * b_o}, "b_o was added more than once. It is added at the "
                                                                  "end, not for each head.") for n in (2, 3)),
    ({"project": lambda y, W_o, b_o: y @ W_o + b_o}, "W_o acts from the wrong side. It is (out, in), as in every "
                                                     "linear layer: y @ W_o.T."),
    *(({"order": order}, _ORDERS.get(order, "The three parts are in another order than Q, K, V: the queries come "
                                            "first, then the keys, then the values."))
      for order in permutations(range(3)) if order != (0, 1, 2)),
]


@causal_attention.suspect
def _(got, x, W_qkv, b_qkv, W_o, b_o, K):
    if type(got) in (list, tuple):
        return "Only the output is asked for here, (T, d_e), without the maps."
    if kind(got) != "a tensor":
        return None
    if got.dtype != x.dtype:
        return "Input and result have one dtype. Does a constant in your function have another one?"
    if not got.isfinite().all():
        return ("A row in which everything is forbidden is 0/0: may every token see at least itself? Is the softmax "
                "over the last axis? (−∞ · 0 is not a number either: masked_fill puts −∞ where it belongs. Nor is ∞/∞, "
                "which exp makes of large scores: torch.softmax knows better.)")
    if got.shape[-1:] == b_qkv.shape:
        return ("The result is 3·d_e wide: were the tokens cut into three? `chunk(3)` cuts rows, the tokens; `chunk(3, "
                "1)` cuts columns.")
    if tuple(got.shape) != tuple(x.shape):
        return "The output has the shape of x: a row of d_e numbers for each token."
    weights = W_qkv, b_qkv, W_o, b_o, K
    d_e = x.shape[1]
    return first_match(got, [
        *((_attend(x, *weights, **change), words) for change, words in ATTENTION),
        (_attend(x, *weights, scale=math.sqrt(d_e)), "The scores are divided by √d_e. A head divides by the root of "
                                                     "its own size, d_e/K."),
        (_attend(x, *weights, scale=math.sqrt(K / d_e)), "The scores are multiplied by the root, and should be divided "
                                                         "by it."),
        (_attend(x, *weights, scale=d_e / K), "The scores are divided by d_e/K. It is its square root."),
        (_attend(x, *weights, scale=math.sqrt(len(x))), "The scores are divided by the root of the number of tokens. "
                                                        "It is the root of a head's size, d_e/K."),
        (_attend(x, *weights, scale=math.sqrt(K)), "The scores are divided by the root of the number of heads. It is "
                                                   "the root of a head's size, d_e/K."),
        *((_tokenwise(x, *weights, allowed), "Here heads look at heads, for each token. The heads come to the front "
                                             "before the product: (K, T, d_e/K).") for allowed in (_past, _anywhere)),
        (_attend(x, W_qkv, 0 * b_qkv, W_o, b_o, K), "The bias b_qkv is missing."),
        *((_attend(x, W_qkv, b_qkv, W_o, b_o, 1, scale=scale), "That is one big head. Q, K and V are cut into K heads, "
                                                               "by columns.") for scale in (None, math.sqrt(d_e / K))),
        (_attend(x, W_qkv, b_qkv, W_o, b_o, d_e // K), "The heads have K columns each. There are K heads, of d_e/K "
                                                       "columns: `chunk` wants a number, `split` a size."),
        (x + _attend(x, *weights), "x was added at the end. The skip belongs to the block, not to attention."),
    ]) or ("Follow one head: are its queries, keys and values the columns i·d_e/K to (i + 1)·d_e/K of the three "
           "blocks? Does row s of its weights end at column s, and sum to one?")
