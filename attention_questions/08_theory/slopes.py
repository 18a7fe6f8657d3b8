"""Check of assignment 08 on the gradient of a layer, split into the two ways on which a token acts."""

import torch

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["two_ways"]

NOT_BY = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
          "torch.func.vjp", "torch.func.jacrev", "torch.func.jacfwd", "torch.autograd.functional.jacobian",
          "coursekit.explain.gradient_closed_form")


def drawn(T, d_e, d_att, d_out, K, seed, times=1.0):
    """Arguments with small whole numbers over 2, in double precision; `times` makes the queries larger."""
    generator = torch.Generator().manual_seed(seed)
    e, q, W_k, W_v, W_l = (torch.randint(-3, 4, shape, generator=generator) / 2 for shape in (
        (T, d_e), (K, d_att), (K, d_att, d_e), (K, d_out, d_e), (K, d_out)))
    return e.double(), times * q.double(), W_k.double(), W_v.double(), W_l.double()


def _less_mean(alpha, y):
    return y - (alpha * y).sum(1, keepdim=True)


@question((1, 2), {"one head": drawn(T=3, d_e=2, d_att=4, d_out=1, K=1, seed=3),
                   "two heads": drawn(T=4, d_e=3, d_att=2, d_out=2, K=2, seed=5),
                   "large scores": drawn(T=3, d_e=2, d_att=4, d_out=3, K=2, seed=8, times=400.0)},
          returns="by_value (T, d_e), by_key (T, d_e)", forbidden=NOT_BY, instead="the formula",
          tolerance=(1e-6, 1e-6),                         # √d_att may be in single precision, torch.tensor(2.0).sqrt()
          otherwise="Do one head first, by the folded maps: u = W_kᵀq and w = W_vᵀW_ℓ are vectors (d_e,), and y = e·w "
                    "are T numbers. Print y and its mean under α before you go on.")
def two_ways(e, q, W_k, W_v, W_l, *, inside=0.5, outside=0.5, axis=1, over=None, less=_less_mean,
             share=lambda alpha: alpha, value=lambda alpha: alpha, width=lambda W_k: W_k.shape[1], sign=1):
    """two_ways(e, q, W_k, W_v, W_l): (by_value (T, d_e), by_key (T, d_e)), the two parts of Theorem 4.1's gradient."""
    u, w = torch.einsum("kad,ka->kd", W_k, q), torch.einsum("kod,ko->kd", W_v, W_l)         # (K, d_e) each
    alpha, y = torch.softmax(u @ e.T / width(W_k) ** inside, axis), w @ e.T                 # (K, T)
    by_key = share(alpha) * less(alpha, y) / width(W_k) ** outside
    over = over or len(q)
    return value(alpha).T @ w / over, sign * by_key.T @ u / over


two_ways.mistakes(
    ("`by_key` lacks a root: the score is qᵀk_t/√d_att, so what the key does is divided by √d_att, too.",
     dict(outside=0)),
    ("The scores inside the softmax are to be divided by √d_att.", dict(inside=0)),
    ("There is no √d_att at all, neither in the scores nor in what the key does.", dict(inside=0, outside=0)),
    ("The root is that of d_att, the length of a query. Here it is that of d_e.", dict(width=lambda W_k: W_k.shape[2])),
    ("The heads were added up. f is their mean.", dict(over=1)),
    ("In `by_key` the mean is missing: more attention for one token is less for all others, so v_t counts by how far "
     "it is from Σ α_s v_s.", dict(less=lambda alpha, y: y)),
    ("The mean in `by_key` counts all tokens alike. It is the head's output: each v_s counts with its α_s.",
     dict(less=lambda alpha, y: y - y.mean(1, keepdim=True))),
    ("`by_key` was centred with the output of all heads. Each head has a mean of its own.",
     dict(less=lambda alpha, y: y - (alpha * y).sum(1).mean())),
    ("`by_key` lacks the factor α_t: a token that gets no attention does not change the score.",
     dict(share=torch.ones_like)),
    ("In `by_key` each score changes its own weight alone, α_t(1 − α_t). It changes the weights of the others as well.",
     dict(share=lambda alpha: alpha * (1 - alpha), less=lambda alpha, y: y)),
    ("`by_value` is what a value does with the weight that it has: α_t is missing.", dict(value=torch.ones_like)),
    ("The softmax ran over the heads. Within each head the weights of the T tokens add up to 1.", dict(axis=0)),
    ("`by_key` has the wrong sign: v_t less the mean, not the mean less v_t.", dict(sign=-1)))


@two_ways.suspect
def _(got, *arguments):
    if any(kind(part) == "a tensor" and not part.isfinite().all() for part in got):
        return "Something is not a number: exp of a large score is infinite. Take the largest score away first."
    return None
