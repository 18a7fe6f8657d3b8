"""Checks of assignment 02: softmax, one query, self-attention, masks; heads.py has the rest."""

import math

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.differentiable import gradients_get_through
from coursekit.grade.kit.library import ATTENTIONS, SOFTMAXES
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import kind, same
from coursekit.grade.kit.score import announce
from coursekit.models import scaled_dot_product_attention, single_query_attention

from .heads import fold, is_equivariant, known, multi_head

__all__ = ["softmax", "look_up", "self_attention", "masked_weights", "multi_head", "known", "is_equivariant", "fold"]


def _differentiable(answer, arguments):
    u, axis = arguments
    gradients_get_through(answer, arguments, lambda leaf: torch.softmax(leaf, axis),
                          torch.arange(u.numel()).reshape(u.shape).to(u.dtype))


# -- softmax ---------------------------------------------------------------------------------------------------------

TABLE = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 4.0]])


@question((1, 1), {"three scores": (torch.tensor([0.0, 1.0, 2.0]), 0), "along the rows": (TABLE, 1),
                   "along the columns": (TABLE, 0), "scores of a thousand": (torch.tensor([1000.0, 999.0, 0.0]), 0),
                   "double precision": (TABLE.double(), 1)},
          forbidden=SOFTMAXES,
          instead="exp, a maximum and a sum", also=_differentiable,
          hints={"shapes": "Do the maximum and the sum keep the axis that they are taken along?"})
def softmax(u, axis):
    """softmax(u, axis): positive weights of the shape of u that sum to one along the axis."""
    return torch.softmax(u, axis)


@softmax.suspect
def _(got, u, axis):
    if kind(got) != "a tensor":
        return "Stay with torch from the first line to the last: gradients do not get through anything else."
    plain = torch.exp(u) / torch.exp(u).sum(axis, keepdim=True)
    if got.dtype != u.dtype:
        return "Scores and weights have one dtype. Does a constant in your function have another one?"
    if tuple(got.shape) != tuple(u.shape):
        return "As many weights as scores. Should a sum keep its axis (keepdim=True)?"
    if not plain.isfinite().all() and not got.isfinite().all():
        return ("exp(1000) is infinite in single precision, and infinity divided by infinity is not a number. Which "
                "number can be subtracted from all scores without changing the weights?")
    if not got.isfinite().all():
        return "There is a 0/0 or ∞ − ∞. Is it the largest score *along the axis* that is subtracted?"
    for other in range(u.dim()):
        if other != axis % u.dim() and same(got, torch.softmax(u, other)):
            return (f"The weights sum to one along axis {other}, asked for is axis {axis}. Is `axis` used in every "
                    "sum, and in the maximum?")
    if same(got, torch.softmax(u.flatten(), 0).reshape(u.shape)):
        return ("All weights together sum to one. Each line along the axis has a sum of its own: sum(axis, "
                "keepdim=True).")
    if same(got, torch.exp(u)) or same(got, torch.exp(u - u.amax(axis, keepdim=True))):
        return "These are exponentials that nobody divided by their sum."
    if same(got, u / u.sum(axis, keepdim=True)):
        return "Where is the exponential? Scores may be negative, weights may not."
    if (got < 0).any():
        return "There are negative weights. The exponential comes first, then the division."
    if not torch.allclose(got.sum(axis), torch.ones_like(got.sum(axis)), atol=1e-4):
        return (f"Along axis {axis} the weights should sum to one, and sum to "
                f"{got.sum(axis).flatten()[0].item():.6g}. Along which axis do you sum? Are numerator and denominator "
                "shifted alike, and is nothing added?")
    return "The sums are right, the weights are not: is it the natural exponential, and is nothing else done to u?"


# -- look_up ---------------------------------------------------------------------------------------------------------

K3, V3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]), torch.tensor([[10.0, 0], [0, 10], [5, 5]])
LENGTH_3 = rounded(5, 3, seed=18), rounded(5, 2, seed=19)


@question((1, 2), {"temperature 1": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 1.0),
                   "temperature 2": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 2.0),
                   "cold": (torch.tensor([0.0, 1, 0, 1]), K3, V3, 0.25),
                   "keys of length three": (torch.tensor([1.0, -1, 2]), *LENGTH_3, 2.0)},
          forbidden=ATTENTIONS, instead="your softmax and matrix products",
          hints={"shapes": "k is (T, d_att), v is (T, d_out), and the result of k @ q is (T,): what is in front of @?"})
def look_up(q, k, v, tau):
    """look_up(q, k, v, tau): (output (d_out,), weights (T,)) of one query, at temperature tau."""
    return single_query_attention(q / tau, k, v)


@look_up.suspect
def _(got, q, k, v, tau):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: output, alpha."
    (output, alpha), (right, weights) = got, look_up.__wrapped__(q, k, v, tau)
    if same(output, weights) and same(alpha, right):
        return "The two have changed places: first the output, then the weights."
    if same(alpha, weights):
        if same(output, weights @ k if k.shape == v.shape else None):
            return "The weights average the values, not the keys."
        if kind(output) == "a tensor" and tuple(output.shape) == tuple(v.shape):
            return "The weighted values are still to be added up, over the tokens."
        if same(output, v[weights.argmax()]):
            return "Only the value with the largest weight came back. The output is all values, weighted and added up."
        return "The weights are right; the output is the values, weighted by them and added up."
    d = len(q)

    def weighted(scores):
        return same(alpha, torch.softmax(scores, 0))

    if tau != 1 and weighted(k @ q / math.sqrt(d)):
        return "The temperature changes nothing here. It divides the scores."
    if tau != 1 and weighted(k @ q * tau / math.sqrt(d)):
        return "The temperature multiplies the scores here, and should divide them: hotter means flatter."
    if weighted(k @ q / tau):
        return "The scores are not scaled: where is √d_att?"
    if weighted(k @ q / (tau * d)):
        return "The scores are divided by d_att. It is its square root."
    if weighted(k @ q / (tau * math.sqrt(len(k)))):
        return "The scores are divided by √T, the number of tokens. It is the length of a key that counts."
    if weighted(k @ q / math.sqrt(tau * d)):
        return "The temperature stands under the root. It divides the scores as it is."
    if weighted(k @ q / (tau * math.sqrt(v.shape[1]))):
        return "The scores are divided by √d_out. It is √d_att, the length of a key."
    if weighted(k @ q / tau * math.sqrt(d)):
        return "The scores are multiplied by √d_att. In a / b * c only b divides: a / (b * c)."
    if same(alpha, torch.softmax(k @ q / math.sqrt(d), 0) / tau):
        return "The temperature divides the weights, which then do not sum to one. It divides the scores."
    if same(alpha, k @ q / (tau * math.sqrt(d))):
        return "These weights are scores: the softmax is missing."
    return None


# -- self_attention --------------------------------------------------------------------------------------------------

E3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 1]])          # T = 3, d_e = 4, d_att = 2, d_out = 5
W2 = [rounded(2, 4, seed=seed) for seed in (1, 2)]
WV = rounded(5, 4, seed=3)
LOOK = torch.tensor([[True, True, False], [True, True, True], [False, False, True]])
BLIND = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])


@question((2, 2), {"three tokens": (E3, *W2, WV), "with a mask": (E3, *W2, WV, LOOK),
                   "a token that may look at nothing": (E3, *W2, WV, BLIND)},
          forbidden=ATTENTIONS, instead="matrix products and your softmax")
def self_attention(e, W_q, W_k, W_v, may_look=None):
    """self_attention(e, W_q, W_k, W_v, may_look=None): (output (T, d_out), A (T, T)); empty rows give zeros."""
    return scaled_dot_product_attention(e @ W_q.T, e @ W_k.T, e @ W_v.T, may_look)


@self_attention.suspect
def _(got, e, W_q, W_k, W_v, may_look=None):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: output, A."
    (output, A), (right, weights) = got, self_attention.__wrapped__(e, W_q, W_k, W_v, may_look)
    if kind(A) != "a tensor" or kind(output) != "a tensor":
        return None
    if same(output, weights) and same(A, right):
        return "The two have changed places: first the output, then the weights."
    if same(A, weights):
        if tuple(output.shape) == tuple(e.shape) and same(output, weights @ e):
            return "The weights average the embeddings themselves. Average the values, W_v e_t."
        return "The weights are right; the output is A times the values, a row for each token."
    q, k = e @ W_q.T, e @ W_k.T
    scores, free = q @ k.T / math.sqrt(q.shape[-1]), torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), 1)
    if may_look is not None:
        empty = ~may_look.any(1)
        minus = scores.masked_fill(~may_look, -math.inf)
        if empty.any() and not A[empty].isfinite().all():
            return ("A token that may look at nothing has the weights 0/0. It gets zeros, as the question says: after "
                    "the softmax, or before it.")
        if not A[~empty].isfinite().all():
            return ("A row that may look at something is not a number: −∞ · 0 is nan. Put −∞ where the mask is False; "
                    "do not multiply.")
        if same(A, free):
            return "The mask changes nothing here."
        if same(A, torch.softmax(scores.masked_fill(~may_look.T, -math.inf), 1).nan_to_num()):
            return "The mask is transposed: token s may look at token t where may_look[s, t] is True, row s, column t."
        if empty.any() and same(A, weights.masked_fill(empty, 0)):
            return ("The *columns* of tokens that may look at nothing were set to zero. Their rows are meant: others "
                    "may look at them.")
        if same(A, torch.softmax(scores + may_look, 1)) or same(A, torch.softmax(scores + ~may_look, 1)):
            return "True and False were added to the scores, as 1 and 0. In place of a forbidden score put −∞."
        if same(A, torch.softmax(scores.masked_fill(may_look, -math.inf), 1).nan_to_num()):
            return "The mask is the wrong way round: True means that a token may be looked at."
        if same(A, free * may_look):
            return ("The weights were set to zero after the softmax, so rows no longer sum to one. Take the scores "
                    "away before the softmax: −∞ in their place.")
        if same(A, torch.softmax(scores * may_look, 1)) or same(A, torch.softmax(scores.masked_fill(~may_look, 0), 1)):
            return "A score of 0 is not “nothing”: exp(0) = 1. In place of a forbidden score put −∞."
        if same(A, torch.softmax(minus, 0).nan_to_num()):
            return "The columns sum to one, the rows should: is the softmax over the wrong axis?"
        if empty.any() and same(A[~empty], weights[~empty]):
            return "Only the rows of tokens that may look at nothing are wrong: weights and output are zero there."
        if same(A[:, 0:0], weights[:, 0:0]) and (A[~may_look] != 0).any():
            return "Tokens that may not be looked at still get some weight. Only a score of −∞ gives exactly 0."
    if same(A, torch.softmax(scores, 0)):
        return "The columns sum to one, the rows should: is the softmax over the wrong axis?"
    masked = torch.zeros_like(scores) if may_look is None else torch.where(may_look, 0.0, -math.inf)
    for wrong, words in ((q @ k.T, "The scores are not scaled: where is √d_att?"),
                         (q @ k.T / math.sqrt(e.shape[1]), "The scores are divided by √d_e. Queries and keys have "
                                                           "length d_att: their last axis."),
                         (q @ k.T / math.sqrt(len(e)), "The scores are divided by √T. It is √d_att, the length of a "
                                                       "query."),
                         (q @ k.T / q.shape[-1], "The scores are divided by d_att. It is its square root."),
                         (scores.T, "Queries and keys have changed places: row s of the scores belongs to the query "
                                    "of s.")):
        if same(A, torch.softmax(wrong + masked, 1).nan_to_num()):
            return words
    if W_q.shape[0] == W_q.shape[1] == W_k.shape[0]:
        if same(A, torch.softmax(e @ W_q @ (e @ W_k).T / math.sqrt(q.shape[-1]) + masked, 1).nan_to_num()):
            return "The matrices act from the wrong side. With a row for each token, W e_t becomes e @ W.T."
    return None


# -- masked_weights --------------------------------------------------------------------------------------------------

SCORES = torch.tensor([[0.5, -1.0, 0.3, 2.0], [0.2, 0.4, -0.6, 1.0], [1.0, 0.1, 0.7, -0.5], [-1.0, 0.6, 0.2, 0.9]])


@question((2, 2), {"the past and the present": (SCORES, 4), "a window of two": (SCORES, 2),
                   "a window of one": (SCORES, 1)},
          forbidden=("coursekit.models.causal_mask",), instead="a comparison of places, or torch.tril")
def masked_weights(scores, w):
    """masked_weights(scores, w): attention (T, T) in which token s looks at t = s − w + 1, …, s and nothing else."""
    return torch.softmax(scores.masked_fill(~_window(len(scores), w), -math.inf), 1)


def _window(T, w):
    s, t = torch.arange(T)[:, None], torch.arange(T)
    return (t <= s) & (t > s - w)


@masked_weights.suspect
def _(got, scores, w):
    if kind(got) != "a tensor" or tuple(got.shape) != tuple(scores.shape) or got.dtype == torch.bool:
        return "The result is the matrix of weights, (T, T), not the mask and not the output."
    T, may = len(scores), _window(len(scores), w)

    def weights(allowed):
        return torch.softmax(scores.masked_fill(~allowed, -math.inf), 1)

    if not got.isfinite().all():
        if same(got.nan_to_num(), weights(_window(T, w) & ~torch.eye(T, dtype=torch.bool)).nan_to_num()):
            return "The first row has nothing left to look at. A token may look at itself: the diagonal stays."
        if same(got.nan_to_num(), weights(~may).nan_to_num()):
            return ("The mask is the wrong way round: masked_fill writes −∞ where it is True, and these are the "
                    "forbidden places.")
        return ("A row is not a number: has it nothing left to look at, or is −∞ multiplied by something (−∞ · 0 is "
                "nan)? Is exp taken of large scores, or divided by a sum from which all weight was taken away?")
    if same(got, torch.softmax(scores, 1) * may):
        return ("That is the slide's mistake: rows no longer sum to one. Forbid before the softmax, with −∞, and not "
                "after it, with 0.")
    if any(same(got, torch.softmax(scores.masked_fill(~may, low), 1)) for low in (-1e2, -1e3, -1e4, -1e5)):
        return "A forbidden score was set to a large negative number, and scores may be lower still. Put −∞ there."
    if same(got, torch.softmax(scores.masked_fill(~may, 0), 1)) or same(got, torch.softmax(scores * may, 1)):
        return "A forbidden score was set to 0, and exp(0) = 1 is not nothing. Put −∞ there."
    if same(got, weights(may.T)) or same(got, weights(_window(T, T).T)):
        return "The mask is on the wrong side: these tokens look at the future. Row s, column t: allowed is t ≤ s."
    if w < T and same(got, weights(_window(T, T))):
        return "The future is hidden, but the past does not end: only w tokens may be looked at."
    if same(got, weights(_window(T, w + 1))):
        return "The window is one too wide: w counts the token itself."
    if w > 1 and same(got, weights(_window(T, w - 1))):
        return "The window is one too narrow: w counts the token itself."
    if same(got, weights(_window(T, w) | _window(T, w).T)):
        return "The window reaches into the future, too: only t ≤ s is allowed."
    if same(got, torch.softmax(scores.masked_fill(~may, -math.inf), 0).nan_to_num()):
        return "The columns sum to one, the rows should: is the softmax over the wrong axis?"
    return "Which tokens have weight above zero in each row? They should be s − w + 1, …, s, as far as they exist."


announce("attention", [softmax, look_up, self_attention, masked_weights, multi_head, is_equivariant, fold],
         {"reading attention": 6})
