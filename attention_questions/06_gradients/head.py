"""Check of assignment 06: the slopes of a whole attention head, the one who asks included."""

import torch

from coursegrade.kit.cases import rounded
from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

__all__ = ["head_slopes"]

AUTOGRAD = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
            "torch.func.grad_and_value", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd",
            "torch.func.linearize", "torch.autograd.functional.jacobian", "torch.autograd.functional.vjp",
            "torch.autograd.functional.jvp", "torch.autograd.forward_ad.make_dual",
            "coursekit.explain.gradients.slopes")


def _drawn(T, d_e, seed):
    return tuple(rounded(*shape, seed=seed + i).double() for i, shape in enumerate([(T, d_e), (d_e, d_e), (d_e,)]))


E3, M3, W3 = _drawn(T=3, d_e=2, seed=61)
TIE = torch.tensor([[1.0, 0.0], [1.0, 2.0], [1.0, -1.0]]).double()      # three equal scores, whatever M's second column


@question((1, 0), {"three tokens": (E3, M3, W3), "one token": (E3[:1], M3, W3),
                   "five tokens in three dimensions": _drawn(T=5, d_e=3, seed=64),
                   "nine tokens in one dimension": _drawn(T=9, d_e=1, seed=67),
                   "scores of some thousands": (E3, 4000 * M3, W3),
                   "a tie of large scores": (TIE, torch.tensor([[40000.0, 10000.0], [0, 20000.0]]).double(), W3)},
          returns="(T, d_e)", forbidden=AUTOGRAD, instead="your formula", tolerance=(1e-9, 1e-10),
          otherwise="Derive it in two steps: how f changes with each score s_t (it is α_t times something), and how "
                    "s_t changes with e_t, and with e_0. Then what y_t = e_t·w adds.",
          promises={"scores may be as large as 100,000": lambda e, M, w: (e @ M @ e[0]).abs().max() <= 100_000})
def head_slopes(e, M, w, *, share=lambda alpha, y: alpha * (y - alpha @ y), value=lambda alpha, r: alpha,
                own=lambda alpha, r: r, key=lambda M, e: M @ e[0], asks=lambda r, e, M: r @ e @ M, rows=slice(1)):
    """head_slopes(e, M, w): the slopes (T, d_e) of Σ_t α_t e_t·w, α = softmax_t(e_t·M e_0), row 0 included."""
    alpha, y = torch.softmax(e @ M @ e[0], 0), e @ w                     # (T,), (T,)
    r = share(alpha, y)                                                 # (T,), how f changes with s_t
    found = torch.outer(value(alpha, r), w) + torch.outer(own(alpha, r), key(M, e))
    found[rows] += asks(r, e, M)
    return found


def _nothing(r, e, M):
    return 0 * e[0]


def _mean_missing(alpha, y):
    return alpha * y


head_slopes.mistakes(
    ("All rows but row 0 are right. There e_0 was treated as any other token; but it asks, too, and so it changes the "
     "score of *every* token, its own included.", dict(asks=_nothing)),
    ("What row 0 has in addition was given to every row. Only e_0 asks.", dict(rows=slice(None))),
    ("Row 0 has only its own score as the one that asks. e_0 stands in the score of *every* token: the sum runs over "
     "all t.", dict(asks=lambda r, e, M: r[0] * (e[0] @ M))),
    ("What row 0 has in addition has the wrong sign.", dict(asks=lambda r, e, M: -(r @ e @ M))),
    ("In row 0 a matrix is the wrong way round: e_t·M e_0 = (Mᵀ e_t)·e_0.", dict(asks=lambda r, e, M: M @ (r @ e))),
    ("e_t·M e_0 is (M e_0)·e_t. Here M is transposed for the tokens that are looked at.",
     dict(key=lambda M, e: M.T @ e[0])),
    ("M is transposed inside the scores: s_t is e_t·M e_0, so that M turns e_0.",
     lambda e, M, w: head_slopes.reference(e, M.T, w)),
    ("The mean is missing. A token that gets more attention takes it away from the others: its y counts less the "
     "average, f.", dict(share=_mean_missing)),
    ("The second part lacks its factor α_t: a token without any attention has no slope.",
     dict(share=lambda alpha, y: y - alpha @ y)),
    ("The average that is taken away is f: each y counts with its α there.",
     dict(share=lambda alpha, y: alpha * (y - y.mean()))),
    ("Two things: the mean is missing (more attention for one is less for the others), and so is what row 0 has in "
     "addition, because it asks.", dict(share=_mean_missing, asks=_nothing)),
    ("Right for y_t. The score s_t does not change f by α_t, but by how much f changes with s_t.",
     dict(own=lambda alpha, r: alpha)),
    ("That is the slope with the attention held fixed. The weights depend on e, too.",
     dict(key=lambda M, e: 0 * e[0], asks=_nothing)),
    ("That is how the weights change. What they weigh changes, too: y_t = e_t·w.",
     dict(value=lambda alpha, r: 0 * alpha)),
    ("The weights depend on e_t as a key, not only on e_0 as a query.", dict(key=lambda M, e: 0 * e[0])))


@head_slopes.suspect
def _(got, e, M, w):
    if kind(got) != "a tensor" or got.shape != e.shape:
        return None
    if not got.isfinite().all():
        return ("Something is not a number. Is exp taken of a large score? Subtract the largest score first, or use "
                "torch.softmax.")
    right = head_slopes.reference(e, M, w)
    if got.dtype == right.dtype and (got - right).norm() < 2e-3 * right.norm():
        return "Near, but not exact. (Finite differences get no nearer; a formula does.)"
    if len(e) > 1 and same(got[1:], right[1:]):
        return ("All rows but row 0 are right. e_0 stands in every score, s_t = e_t·M e_0: add up over t how f changes "
                "with s_t, times how s_t changes with e_0.")
    if (e @ M @ e[0]).abs().max() > 1000:
        return ("Right as long as scores are ordinary, and not here, where they are tens of thousands. Are differences "
                "of f in it, however small their step? At such scores the weights jump within any step; a formula has "
                "none.")
    return None
