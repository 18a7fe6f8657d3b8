"""Check of assignment 04 on the cache: new tokens are read behind those of which only keys and values are left."""

import math

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.library import ATTENTIONS
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same

__all__ = ["read_on"]


def _reading(t, T, d_e, d_att, d_out, seed):
    """Arguments of read_on: t new tokens after T."""
    shapes = (t, d_e), (d_att, d_e), (d_att, d_e), (d_out, d_e), (T, d_att), (T, d_out)
    return tuple(rounded(*shape, seed=seed + i) for i, shape in enumerate(shapes))


@question((2, 2), {"three new tokens after five": _reading(t=3, T=5, d_e=2, d_att=3, d_out=6, seed=40),
                   "one new token after four": _reading(t=1, T=4, d_e=2, d_att=3, d_out=6, seed=45),
                   "three new tokens after two": _reading(t=3, T=2, d_e=2, d_att=2, d_out=3, seed=50),
                   "two tokens, and an empty cache": _reading(t=2, T=0, d_e=3, d_att=2, d_out=1, seed=60)},
          parts=("output", "keys", "values"),
          tolerance=(1e-3, 1e-3),                                       # large scores make much of rounding
          forbidden=(*ATTENTIONS, "coursekit.models.gpt2.CausalAttention"), instead="matrix products and a softmax",
          hints={"shapes": "x @ W.T is (t, …); the cache has T rows, and with the new ones T + t. A mask of t rows "
                           "and T + t columns fits the scores.",
                 "empty": "Write it, or use torch.softmax here."})
def read_on(x, W_q, W_k, W_v, K, V):
    """read_on(x, W_q, W_k, W_v, K, V): (output (t, d_out), keys (T + t, d_att), values (T + t, d_out))."""
    return _read(x, W_q, W_k, W_v, K, V)


def _read(x, W_q, W_k, W_v, K, V, offset=None, mask=True, scale=None, forbidden=-math.inf, late=False,
          twice=False):
    keys, values = torch.cat([K, x @ W_k.T]), torch.cat([V, x @ W_v.T])
    q = x @ W_q.T if scale is None else x @ W_q.T * math.sqrt(len(W_q)) / scale
    may_look = torch.ones(len(x), len(keys), dtype=torch.bool)
    if mask:
        may_look = may_look.tril(len(K) if offset is None else offset)
    scores = (q @ keys.T / math.sqrt(len(W_q))).masked_fill(~may_look, forbidden)
    weights = torch.softmax(q @ keys.T / math.sqrt(len(W_q)), -1) * may_look if late else torch.softmax(scores, -1)
    return (torch.softmax(weights, -1) if twice else weights) @ values, keys, values


@read_on.suspect
def _(got, x, W_q, W_k, W_v, K, V):
    if type(got) not in (list, tuple) or len(got) != 3:
        return "Return all three: the output, the keys and the values, the new ones included."
    (output, keys, values), (right, all_keys, all_values) = got, _read(x, W_q, W_k, W_v, K, V)
    t, T = len(x), len(K)
    if same(keys, all_values) and same(values, all_keys):
        return "Keys and values have changed places: output, keys, values."
    if same(output, all_keys):
        return "The output comes first, then the keys, then the values."
    if T and (same(keys, K) or same(values, V)):
        return "The cache came back as it was. The new tokens' keys and values go into it, behind the old ones."
    if same(keys, x @ W_k.T) and T:
        return "Only the new keys came back. The cache is the old ones with the new ones behind them: torch.cat."
    if kind(keys) == "a tensor" and same(keys, torch.cat([x @ W_k.T, K])) and T:
        return "The new keys stand in front. They come behind the old ones: the order of the rows is that of the text."
    if not same(keys, all_keys):
        if x.shape[1] == K.shape[1] and same(keys, torch.cat([K, x])):
            return "What goes into the cache are keys, W_k x, not the vectors x themselves."
        if same(keys, torch.cat([K, x @ W_q.T])):
            return "Queries went into the cache. Nobody looks at a query later: it is keys that are kept, W_k x."
        if W_k.shape[0] == W_k.shape[1] and same(keys, torch.cat([K, x @ W_k])):
            return "The new keys are x @ W_k. With a row for each token, W_k x becomes x @ W_k.T."
        return "The keys are not right: the T rows of the cache, then W_k x for each new token."
    if not same(values, all_values):
        return "The values are not right: the T rows of the cache, then W_v x for each new token."
    if kind(output) != "a tensor":
        return None
    if same(output, right[-1:]) and t > 1 or kind(output) == "a tensor" and tuple(output.shape) == (V.shape[1],):
        return "The output has a row for each new token, (t, d_out), also when t is 1."
    if tuple(output.shape) != tuple(right.shape):
        return ("The output has a row for each *new* token: queries come from x alone, and the mask of the scores has "
                "as many rows, t.")
    if not output.isfinite().all():
        return ("There is a row of the scores in which everything was forbidden (a new token sees all T cached tokens, "
                "and itself), or exp was taken of a large score (torch.softmax takes the largest out first).")
    if t > 1 and same(output, _read(x, W_q, W_k, W_v, K, V, mask=False)[0]):
        return ("The new tokens see each other's future. New token i sees the T cached tokens and the new ones up to "
                "itself.")
    if t > 1 and same(output, _read(x, W_q, W_k, W_v, K, V, forbidden=0.0)[0]):
        return "The future has the score 0 here, and e⁰ = 1: it counts. Only a score of −∞ gives a weight of 0."
    if t > 1 and same(output, _read(x, W_q, W_k, W_v, K, V, late=True)[0]):
        return "The mask comes after the softmax, so rows no longer sum to one, and the future has been used."
    for offset, words in (
            (0, "The triangle of the mask begins at the wrong place: new token 0 sees only column 0. Its own column "
                "is T, so it sees the columns 0 to T."),
            (T - 1, "A new token does not see itself. It looks at the cache with its own key already in it."),
            (T + 1, "Each new token sees one token of the future. New token i sees the columns 0 to T + i."),
            (t, "The triangle of the mask moves to the right by as many places as tokens were read before, not by as "
                "many as are new.")):
        if offset != T and same(output, _read(x, W_q, W_k, W_v, K, V, offset=offset)[0]):
            return words
    cache, own = torch.softmax(x @ W_q.T @ K.T / math.sqrt(len(W_q)), -1) @ V, _read(x, W_q, W_k, W_v, K[:0], V[:0])[0]
    if T and same(output, cache):
        return "The new tokens see neither themselves nor each other: they look at the cache as it was."
    if T and same(output, cache + own):
        return ("The cache and the new tokens have a softmax each, so that the weights of a row sum to two. One softmax "
                "runs over both.")
    if T and same(output, own):
        return "The new tokens look only at each other. They see the whole cache as well."
    for scale, words in ((1, "The scores are not scaled: where is √d_att?"),
                         (math.sqrt(x.shape[1]), "The scores are divided by √d_e. It is √d_att, the length of a key."),
                         (math.sqrt(len(W_v)), "The scores are divided by √d_out. It is √d_att, the length of a key."),
                         (math.sqrt(T + t), "The scores are divided by the root of the number of tokens, not √d_att."),
                         (len(W_q), "The scores are divided by d_att. It is its square root.")):
        if same(output, _read(x, W_q, W_k, W_v, K, V, scale=scale)[0]):
            return words
    if same(output, _read(x, W_k, W_k, W_v, K, V)[0]):
        return "The queries are W_q x. Were keys used for them?"
    if same(output, _read(x, W_q, W_k, W_v, K, V, twice=True)[0]):
        return "The weights went through a second softmax: one makes weights of scores, and they sum to one already."
    return "The cache is right, the output is not. Over which axis is the softmax, and who may look where?"
