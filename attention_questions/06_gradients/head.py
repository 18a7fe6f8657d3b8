"""Check of assignment 06: the slopes of a whole attention head, the one who asks included."""

from attention_questions.prelude import Question, kind, rounded, same, torch

from . import solution

AUTOGRAD = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
            "torch.func.grad_and_value", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd",
            "torch.func.linearize", "torch.autograd.functional.jacobian", "torch.autograd.functional.vjp",
            "torch.autograd.functional.jvp", "torch.autograd.forward_ad.make_dual",
            "coursekit.explain.gradients.slopes")


def _drawn(T, d_e, seed):
    return tuple(rounded(*shape, seed=seed + i).double() for i, shape in enumerate([(T, d_e), (d_e, d_e), (d_e,)]))


E3, M3, W3 = _drawn(T=3, d_e=2, seed=61)
TIE = torch.tensor([[1.0, 0.0], [1.0, 2.0], [1.0, -1.0]]).double()      # three equal scores, whatever M's second column


head_slopes = Question(solution.head_slopes, (1, 0), {
    "three tokens": (E3, M3, W3), "one token": (E3[:1], M3, W3),
    "five tokens in three dimensions": _drawn(T=5, d_e=3, seed=64),
    "nine tokens in one dimension": _drawn(T=9, d_e=1, seed=67),
    "scores of some thousands": (E3, 4000 * M3, W3),
    "a tie of large scores": (TIE, torch.tensor([[40000.0, 10000.0], [0, 20000.0]]).double(), W3)},
    returns="(T, d_e)", forbidden=AUTOGRAD, instead="your formula", tolerance=(1e-9, 1e-10),
    otherwise="Derive it in two steps: how f changes with each score s_t (it is α_t times something), and how s_t "
              "changes with e_t, and with e_0. Then what y_t = e_t·w adds.",
    promises={"scores may be as large as 100,000": lambda e, M, w: (e @ M @ e[0]).abs().max() <= 100_000})

FIXED, NOT_ASKED, MEAN_MISSING = " + torch.outer(r, M @ e[0]) → ", "found[0] += r @ e @ M → ", " - alpha @ y → "
head_slopes.mistakes(
    ("All rows but row 0 are right. There e_0 was treated as any other token; but it asks, too, and so it changes the "
     "score of *every* token, its own included.", NOT_ASKED),
    ("What row 0 has in addition was given to every row. Only e_0 asks.", "found[0] += → found +="),
    ("Row 0 has only its own score as the one that asks. e_0 stands in the score of *every* token: the sum runs over "
     "all t.", "r @ e @ M → r[0] * (e[0] @ M)"),
    ("What row 0 has in addition has the wrong sign.", "found[0] += → found[0] -="),
    ("In row 0 a matrix is the wrong way round: e_t·M e_0 = (Mᵀ e_t)·e_0.", "r @ e @ M → M @ (r @ e)"),
    ("e_t·M e_0 is (M e_0)·e_t. Here M is transposed for the tokens that are looked at.", "(r, M @ → (r, M.T @"),
    ("M is transposed inside the scores: s_t is e_t·M e_0, so that M turns e_0.",
     "alpha, y = → M = M.T\n    alpha, y ="),
    ("The mean is missing. A token that gets more attention takes it away from the others: its y counts less the "
     "average, f.", MEAN_MISSING),
    ("The second part lacks its factor α_t: a token without any attention has no slope.", "r = alpha * → r ="),
    ("The average that is taken away is f: each y counts with its α there.", "alpha @ y → y.mean()"),
    ("Two things: the mean is missing (more attention for one is less for the others), and so is what row 0 has in "
     "addition, because it asks.", MEAN_MISSING, NOT_ASKED),
    ("Right for y_t. The score s_t does not change f by α_t, but by how much f changes with s_t.",
     "(r, M @ e[0]) → (alpha, M @ e[0])"),
    ("That is the slope with the attention held fixed. The weights depend on e, too.", FIXED, NOT_ASKED),
    ("That is how the weights change. What they weigh changes, too: y_t = e_t·w.", "torch.outer(alpha, w) + → "),
    ("The weights depend on e_t as a key, not only on e_0 as a query.", FIXED))


@head_slopes.suspect
def _(got, e, M, w):
    if kind(got) != "a tensor" or got.shape != e.shape:
        return
    if not got.isfinite().all():
        yield ("Something is not a number. Is exp taken of a large score? Subtract the largest score first, or use "
               "torch.softmax.")
    right = solution.head_slopes(e, M, w)
    if got.dtype == right.dtype and (got - right).norm() < 2e-3 * right.norm():
        yield "Near, but not exact. (Finite differences get no nearer; a formula does.)"
    if len(e) > 1 and same(got[1:], right[1:]):
        yield ("All rows but row 0 are right. e_0 stands in every score, s_t = e_t·M e_0: add up over t how f changes "
               "with s_t, times how s_t changes with e_0.")
    if (e @ M @ e[0]).abs().max() > 1000:
        yield ("Right as long as scores are ordinary, and not here, where they are tens of thousands. Are differences "
               "of f in it, however small their step? At such scores the weights jump within any step; a formula has "
               "none.")
