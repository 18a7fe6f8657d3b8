"""Checks of assignment 02 on one head: softmax, one query, self-attention, a window of the past."""

import math

import torch

from attention_questions.library import ATTENTIONS, SOFTMAXES
from coursegrade.kit.cases import rounded
from coursegrade.kit.differentiable import gradients_get_through
from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["softmax", "look_up", "self_attention", "masked_weights"]


# -- softmax ---------------------------------------------------------------------------------------------------------

def _differentiable(answer, arguments):
    u, axis = arguments
    gradients_get_through(answer, arguments, lambda leaf: torch.softmax(leaf, axis),
                          torch.arange(u.numel()).reshape(u.shape).to(u.dtype))


TABLE = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 4.0]])
OVERFLOW = ("exp(1000) is infinite in single precision, and infinity divided by infinity is not a number. Which number "
            "can be subtracted from all scores without changing the weights?")


@question((1, 1), {"three scores": (torch.tensor([0.0, 1.0, 2.0]), 0), "along the rows": (TABLE, 1),
                   "along the columns": (TABLE, 0), "scores of a thousand": (torch.tensor([1000.0, 999.0, 0.0]), 0),
                   "double precision": (TABLE.double(), 1)},
          forbidden=SOFTMAXES, instead="exp, a maximum and a sum", also=_differentiable, free=("axis",),
          hints={"shapes": "Do the maximum and the sum keep the axis that they are taken along?"},
          promises={"Scores may be as large as 1000 or as small as −1000": lambda u, axis: u.abs().max() <= 1000})
def softmax(u, axis, *, exp=torch.exp, shift=True, divide=True):
    """softmax(u, axis): positive weights of the shape of u that sum to one along the axis."""
    g = exp(u - u.amax(axis, keepdim=True)) if shift else exp(u)
    return g / g.sum(axis, keepdim=True) if divide else g


softmax.mistakes(
    (OVERFLOW, dict(shift=False)),
    ("These are exponentials that nobody divided by their sum.", dict(divide=False)),
    ("Where is the exponential? Scores may be negative, weights may not.",
     lambda u, axis: u / u.sum(axis, keepdim=True)),
    ("The weights sum to one along another axis than the one asked for. Is `axis` used in every sum, and in the "
     "maximum?", lambda u, axis: softmax.reference(u, 0)),
    ("All weights together sum to one. Each line along the axis has a sum of its own: sum(axis, keepdim=True).",
     lambda u, axis: softmax.reference(u.flatten(), 0).reshape(u.shape)),
    ("Is it the natural exponential?", dict(exp=torch.exp2)))


@softmax.suspect
def _(got, u, axis):
    if kind(got) != "a tensor":
        return "Stay with torch from the first line to the last: gradients do not get through anything else."
    if not got.isfinite().all():
        return OVERFLOW
    if not torch.allclose(got.sum(axis), torch.ones_like(got.sum(axis)), atol=1e-4):
        return (f"Along axis {axis} the weights should sum to one, and sum to "
                f"{got.sum(axis).flatten()[0].item():.6g}. Along which axis do you sum? Are numerator and denominator "
                "shifted alike, and is nothing added?")
    return None


# -- look_up ---------------------------------------------------------------------------------------------------------

K3, V3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]), torch.tensor([[10.0, 0], [0, 10], [5, 5]])
LENGTH_3 = rounded(5, 3, seed=18), rounded(5, 2, seed=19)


@question((1, 2), {"temperature 1": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 1.0),
                   "temperature 2": (torch.tensor([1.0, 0, 1, 0]), K3, V3, 2.0),
                   "cold": (torch.tensor([0.0, 1, 0, 1]), K3, V3, 0.25),
                   "keys of length three": (torch.tensor([1.0, -1, 2]), *LENGTH_3, 2.0)},
          returns="output (d_out,), weights (T,)", forbidden=ATTENTIONS, lend=("softmax",),
          instead="your softmax and matrix products",
          hints={"shapes": "k is (T, d_att), v is (T, d_out), and the result of k @ q is (T,): what is in front of @?"},
          otherwise="The scores (T,), divided; their softmax; the values, weighted by it and added up over the tokens.",
          promises={r"a temperature $\tau > 0$": lambda q, k, v, tau: tau > 0})
def look_up(q, k, v, tau, *, scale=lambda q, k, v, tau: tau * math.sqrt(len(q)),
            weigh=lambda s, tau: softmax.reference(s, 0), put=lambda alpha, k, v: alpha @ v):
    """look_up(q, k, v, tau): (output (d_out,), weights (T,)) of one query, at temperature tau."""
    alpha = weigh(k @ q / scale(q, k, v, tau), tau)
    return put(alpha, k, v), alpha


look_up.mistakes(
    ("The temperature changes nothing here. It divides the scores.", dict(scale=lambda q, k, v, tau: len(q) ** 0.5)),
    ("The temperature multiplies the scores here, and should divide them: hotter means flatter.",
     dict(scale=lambda q, k, v, tau: len(q) ** 0.5 / tau)),
    ("The scores are not scaled: where is √d_att?", dict(scale=lambda q, k, v, tau: tau)),
    ("The scores are divided by d_att. It is its square root.", dict(scale=lambda q, k, v, tau: tau * len(q))),
    ("The scores are divided by √T, the number of tokens. It is the length of a key that counts.",
     dict(scale=lambda q, k, v, tau: tau * len(k) ** 0.5)),
    ("The temperature stands under the root. It divides the scores as it is.",
     dict(scale=lambda q, k, v, tau: (tau * len(q)) ** 0.5)),
    ("The scores are divided by √d_out. It is √d_att, the length of a key.",
     dict(scale=lambda q, k, v, tau: tau * v.shape[1] ** 0.5)),
    ("The scores are multiplied by √d_att. In a / b * c only b divides: a / (b * c).",
     dict(scale=lambda q, k, v, tau: tau / len(q) ** 0.5)),
    ("The temperature divides the weights, which then do not sum to one. It divides the scores.",
     dict(scale=lambda q, k, v, tau: len(q) ** 0.5, weigh=lambda s, tau: torch.softmax(s, 0) / tau)),
    ("These weights are scores: the softmax is missing.", dict(weigh=lambda s, tau: s)),
    ("The weighted values are still to be added up, over the tokens.",
     dict(put=lambda alpha, k, v: alpha[:, None] * v)),
    ("Only the value with the largest weight came back. The output is all values, weighted and added up.",
     dict(put=lambda alpha, k, v: v[alpha.argmax()])))


# -- self_attention --------------------------------------------------------------------------------------------------

E3 = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 1]])          # T = 3, d_e = 4, d_att = 2, d_out = 5
W2 = [rounded(2, 4, seed=seed) for seed in (1, 2)]
WV = rounded(5, 4, seed=3)
LOOK = torch.tensor([[True, True, False], [True, True, True], [False, False, True]])
BLIND = torch.tensor([[False, True, True], [False, False, False], [False, True, True]])     # row 1, and column 0
FAR = torch.diag(torch.tensor([1e6, -1e6]))                              # scores of −7e11, where one may look
NEXT = torch.tensor([[False, True], [True, False]])
E5 = rounded(5, 6, seed=51), rounded(2, 6, seed=52), rounded(2, 6, seed=53), rounded(3, 6, seed=54)     # T = 5, d_e = 6


def _where_somebody_looks(e, W_q, W_k, W_v, may_look=None):
    """The call of softmax of whoever empties rows afterwards: a row that may look at nothing keeps its scores."""
    scores = (e @ W_q.T) @ (e @ W_k.T).T / len(W_q) ** 0.5
    hidden = torch.zeros_like(scores, dtype=torch.bool) if may_look is None else ~may_look
    return [(softmax, (scores.masked_fill(hidden & ~hidden.all(1, keepdim=True), -math.inf), 1))]


@question((2, 2), {"five tokens": E5, "with a mask": (E3, *W2, WV, LOOK),
                   "a token that may look at nothing": (E3, *W2, WV, BLIND),
                   "scores of zero": (torch.eye(2), torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[1.0, 3.0]]),
                                      torch.tensor([[False, True], [False, False]])),
                   "allowed scores far below zero": (FAR, torch.ones(2, 2), torch.eye(2), torch.eye(2), NEXT)},
          returns="output (T, d_out), A (T, T)", forbidden=ATTENTIONS, lend=("softmax",), uses=_where_somebody_looks,
          instead="matrix products and your softmax",
          otherwise="Row s of the scores: the query of s with every key, over √d_att; −∞ where it may not look; "
                    "softmax of each row; the output is A times the values.")
def self_attention(e, W_q, W_k, W_v, may_look=None, *, scale=lambda e, q: q.shape[1] ** 0.5, axis=1, fill=-math.inf,
                   empty=lambda may: ~may.any(1)[:, None], after=False, values=lambda e, W_v: e @ W_v.T):
    """self_attention(e, W_q, W_k, W_v, may_look=None): (output (T, d_out), A (T, T)); empty rows give zeros."""
    q, k = e @ W_q.T, e @ W_k.T                                         # (T, d_att)
    scores = q @ k.T / scale(e, q)                                      # (T, T)
    may = torch.ones_like(scores, dtype=torch.bool) if may_look is None else may_look
    A = softmax.reference(scores if after else scores.masked_fill(~may, fill), axis)
    A = A * may if after else A.masked_fill(empty(may), 0)
    return A @ values(e, W_v), A


def _with_mask(change):
    """What a mask that was changed first makes of it."""
    return lambda e, W_q, W_k, W_v, may_look=None: self_attention.reference(
        e, W_q, W_k, W_v, None if may_look is None else change(may_look))


def _added(e, W_q, W_k, W_v, may_look=None):
    scores = (e @ W_q.T) @ (e @ W_k.T).T / len(W_q) ** 0.5
    A = torch.softmax(scores if may_look is None else scores + may_look, 1)
    return A @ e @ W_v.T, A


def _columns_emptied(e, W_q, W_k, W_v, may_look=None):
    _, A = self_attention.reference(e, W_q, W_k, W_v, may_look)
    A = A if may_look is None else A * may_look.any(1)
    return A @ e @ W_v.T, A


def _weights_twice(e, W_q, W_k, W_v, may_look=None):
    A = torch.softmax(self_attention.reference(e, W_q, W_k, W_v, may_look)[1], 1)
    return A @ e @ W_v.T, A


LOW = ("Tokens that may not be looked at still get some weight. Only −∞ stands for “forbidden”: allowed scores may be "
       "lower than any other number.")
ATTENDING = (           # mistakes of whoever attends: of question 5, too
    ("The scores are not scaled: where is √d_att?", dict(scale=lambda e, q: 1.0)),
    ("The scores are divided by √d_e. Queries and keys have length d_att: their last axis.",
     dict(scale=lambda e, q: e.shape[1] ** 0.5)),
    ("The scores are divided by √T. It is √d_att, the length of a query.", dict(scale=lambda e, q: len(e) ** 0.5)),
    ("The scores are divided by d_att. It is its square root.", dict(scale=lambda e, q: q.shape[1])),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?", dict(axis=0)),
    ("The weights average the embeddings themselves. Average the values, W_v e_t.", dict(values=lambda e, W_v: e)),
    ("The weights were set to zero after the softmax, so rows no longer sum to one. Take the scores away before the "
     "softmax: −∞ in their place.", dict(after=True)),
    *((LOW, dict(fill=fill)) for fill in (-10.0, -1e4, -1e9)),
    ("A score of 0 is not “nothing”: exp(0) = 1. In place of a forbidden score put −∞.", dict(fill=0.0)))
NOTHING = ("A token that may look at nothing has the weights 0/0. It gets zeros, as the question says: after the "
           "softmax, or before it.")
self_attention.mistakes(
    *ATTENDING,
    ("Queries and keys have changed places: row s of the scores belongs to the query of s.",
     lambda e, W_q, W_k, W_v, may_look=None: self_attention.reference(e, W_k, W_q, W_v, may_look)),
    ("The keys were made with W_q, too. They have a matrix of their own, W_k.",
     lambda e, W_q, W_k, W_v, may_look=None: self_attention.reference(e, W_q, W_q, W_v, may_look)),
    ("There are two softmaxes, one on top of the other.", _weights_twice),
    ("The mask changes nothing here.", _with_mask(lambda mask: None)),
    ("The mask is transposed: token s may look at token t where may_look[s, t] is True, row s, column t.",
     _with_mask(lambda mask: mask.T)),
    ("The mask is the wrong way round: True means that a token may be looked at.", _with_mask(lambda mask: ~mask)),
    ("Nobody asked for a mask of the future here: without `may_look` all may look at all.",
     lambda e, W_q, W_k, W_v, may_look=None: self_attention.reference(
         e, W_q, W_k, W_v, torch.ones(len(e), len(e)).tril() > 0 if may_look is None else may_look)),
    *(("`any(0)` looks down a column: may somebody look *at* this token? Its row says what it may look at itself.",
       dict(empty=empty)) for empty in (lambda may: ~may.any(0)[:, None], lambda may: ~may.any(0))),
    (NOTHING, dict(empty=lambda may: may & ~may)),
    ("True and False were added to the scores, as 1 and 0. In place of a forbidden score put −∞.", _added),
    *(("The *columns* of tokens that may look at nothing were set to zero. Their rows are meant: others may look at "
       "them.", columns) for columns in (_columns_emptied, dict(empty=lambda may: ~may.any(1)))),
    ("Only the rows of tokens that may look at nothing are wrong: weights and output are zero there.",
     dict(fill=-1e9, empty=lambda may: may & ~may)))


@self_attention.suspect
def _(got, e, W_q, W_k, W_v, may_look=None):
    if may_look is None:
        return None
    rows = got[1].isfinite().all(1)
    if not rows[~may_look.any(1)].all():
        return NOTHING
    if not rows.all():
        return ("A row that may look at something is not a number: −∞ · 0 is nan. Put −∞ where the mask is False; do "
                "not multiply.")
    if (got[1][~may_look] != 0).any():
        return LOW
    return None


# -- masked_weights --------------------------------------------------------------------------------------------------

SCORES = torch.tensor([[0.5, -1.0, 0.3, 2.0], [0.2, 0.4, -0.6, 1.0], [1.0, 0.1, 0.7, -0.5], [-1.0, 0.6, 0.2, 0.9]])


def _window(T, w):
    s, t = torch.arange(T)[:, None], torch.arange(T)
    return (t <= s) & (t > s - w)


@question((2, 2), {"the past and the present": (SCORES, 4), "a window of two": (SCORES, 2),
                   "a window of one": (SCORES, 1), "scores far below zero": (1e10 * (SCORES - 3), 3),
                   "equal scores": (torch.zeros(3, 3), 2)},
          returns="weights (T, T)", forbidden=("coursekit.models.causal_mask",), lend=("softmax",),
          instead="a comparison of places, or torch.tril",
          hints={"Boolean value": "A comparison of tensors has many Trues and Falses; `and`, or a chain such as a < b "
                                  "<= c, wants one. `(a < b) & (b <= c)` goes entry by entry; & binds more tightly "
                                  "than <=, so the brackets count."},
          otherwise="Which tokens have weight above zero in each row? They should be s − w + 1, …, s, as far as they "
                    "exist.",
          promises={r"a window $w \geq 1$": lambda scores, w: w >= 1})
def masked_weights(scores, w, *, allowed=_window, fill=-math.inf, axis=1):
    """masked_weights(scores, w): attention (T, T) in which token s looks at t = s − w + 1, …, s and nothing else."""
    return softmax.reference(scores.masked_fill(~allowed(len(scores), w), fill), axis)


def _cut_after(scores, w):
    return torch.softmax(scores, 1) * _window(len(scores), w)


def _divided_again(scores, w):
    A = _cut_after(scores, w)
    return A / A.sum(1, keepdim=True)


masked_weights.mistakes(
    ("These are the weights of the slide: the future was taken away after the softmax, which had seen it. Take its "
     "scores away before.", _cut_after),
    *(("Forbidden places have a score that is low here, and scores may be lower still. Only −∞ is below all.",
       dict(fill=fill)) for fill in (-10.0, -1e9)),
    ("A forbidden score was set to 0, and exp(0) = 1 is not nothing. Put −∞ there.", dict(fill=0.0)),
    ("The mask is the wrong way round: masked_fill writes −∞ where it is True, and these are the forbidden places.",
     dict(allowed=lambda T, w: ~_window(T, w))),
    ("The mask is on the wrong side: these tokens look at the future. Row s, column t: allowed is t ≤ s.",
     dict(allowed=lambda T, w: _window(T, w).T)),
    ("The future is hidden, but the past does not end: only w tokens may be looked at.",
     dict(allowed=lambda T, w: _window(T, T))),
    ("The window is one too wide: w counts the token itself.", dict(allowed=lambda T, w: _window(T, w + 1))),
    ("The window is one too narrow: w counts the token itself.", dict(allowed=lambda T, w: _window(T, w - 1))),
    ("The window reaches into the future, too: only t ≤ s is allowed.",
     dict(allowed=lambda T, w: _window(T, w) | _window(T, w).T)),
    ("The first row has nothing left to look at. A token may look at itself: the diagonal stays.",
     dict(allowed=lambda T, w: _window(T, w) & ~torch.eye(T, dtype=torch.bool))),
    ("The columns sum to one, the rows should: is the softmax over the wrong axis?", dict(axis=0)))


@masked_weights.suspect
def _(got, scores, w):
    if got.dtype == torch.bool:
        return "The result is the matrix of weights, (T, T), not the mask and not the output."
    if not got.isfinite().all():
        return ("A row is not a number: has it nothing left to look at, or is −∞ multiplied by something (−∞ · 0 is "
                "nan)? Is exp taken of large scores, or divided by a sum from which all weight was taken away?")
    return None
