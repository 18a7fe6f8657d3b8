"""Checks of assignment 10 on two sets of weights: how far apart they are, and what shuffling them does to a score."""

import math

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["js", "shuffled"]

LIBRARY = (*(f"coursekit.debate.{name}" for name in (
    "js_divergence", "adversarial_attention", "decision_flips", "effective_attention", "permuted_attention")),
    "coursekit.evaluate.rank_agreement", "scipy.spatial.distance.jensenshannon", "scipy.spatial.distance.cdist",
    "scipy.stats.entropy", "scipy.stats.kendalltau")


# -- js --------------------------------------------------------------------------------------------------------------

def _divided(p):
    return p / p.sum(-1, keepdims=True)


def _kl(p, q, log=np.log):
    """The divergence of Kullback and Leibler of weights (…, T) from others, over the places where p is not 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * log(p / q), 0.0).sum(-1)


def _both(p, q, middle, log):
    m = middle(p, q)
    return (_kl(p, m, log) + _kl(q, m, log)) / 2


@question((1, 2), {"two rows": (np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]), np.array([0.25, 0.25, 0.5])),
                   "sums that are not 1": (np.array([[1.0, 3.0], [0.2, 0.2]]), np.array([4.0, 1.0])),
                   "zeros": (np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [6.0, 2.0, 0.0]]),
                             np.array([0.75, 0.25, 0.0])),
                   "one token": (np.array([[3.0]]), np.array([1.0]))},
          returns="divergences (n,)", forbidden=LIBRARY, instead="the formula",
          promises={"No weight is below 0": lambda P, q: min(P.min(), q.min()) >= 0,
                    "no row is all zeros": lambda P, q: P.any(1).all() and q.any()},
          otherwise="Rows and q are divided by their sums first. Then by hand, for p = (1, 0) and q = (1/2, 1/2): m = "
                    "(3/4, 1/4), KL(p, m) = log 4/3, and KL(q, m) is the mean of log 2/3 and log 2. Which of these is "
                    "not what you get?",
          hints={"math domain|ZeroDivision": "0 · log 0 counts as 0, and has no logarithm: leave out the "
                                             "places where a weight is 0."})
def js(P, q, *, share=_divided, other=_divided, middle=lambda p, q: (p + q) / 2, log=np.log, both=_both,
       tell=lambda d: d):
    """js(P, q): (n,), the Jensen–Shannon divergences, in nats, of weights P (n, T) from q (T,), each divided first."""
    return tell(both(share(P), other(q), middle, log))


def _where_both(p, q, middle, log):
    m, both = middle(p, q), (p > 0) & (q > 0)
    return (_kl(p * both, m, log) + _kl(q * both, m, log)) / 2


def _undivided_middle(P, q):
    return _both(_divided(P), _divided(q), lambda *_: (P + q) / 2, np.log)


def _late_middle(P, q):
    return _both(_divided(P), _divided(q), lambda *_: _divided(P + q), np.log)


FIRST = "Weights are divided by their sums first, each row of P by its own and q by its own."
js.mistakes(
    (FIRST, dict(share=lambda p: p)),
    (FIRST, dict(share=lambda p: p, other=lambda q: q)),
    *(("The middle lies between the *divided* weights. Here P and q were divided too late.", late)
      for late in (_undivided_middle, _late_middle)),
    ("P was divided by the sums of its columns. Each row has its own: sum(1, keepdims=True).",
     dict(share=lambda p: p / np.maximum(p.sum(0), 1e-300))),
    ("P was divided by the sum of all its rows. Each row has its own sum.", dict(share=lambda p: p / p.sum())),
    ("Twice as much as is due: it is the *mean* of two divergences from the middle.", dict(tell=lambda d: 2 * d)),
    ("The middle is half the sum of p and q; the half is missing.", dict(middle=lambda p, q: p + q)),
    ("That is the divergence of Kullback and Leibler from p to q, infinite where q is 0. Both are compared with the "
     "middle m.", dict(both=lambda p, q, *_: _kl(p, q))),
    ("That is the first half alone, p against m. The other is q against m.",
     dict(both=lambda p, q, *_: _kl(p, (p + q) / 2))),
    ("Places where only one of the two weights is above 0 were left out. Leave out of KL(p, m) where p is 0, and of "
     "KL(q, m) where q is 0: each has its own.", dict(both=_where_both)),
    ("These are bits. With the natural logarithm the largest value is log 2 = 0.693.", dict(log=np.log2)),
    ("The root of the divergence is a distance, and another number.", dict(tell=np.sqrt)))


@js.suspect
def _(got, P, q):
    if kind(got) == "a NumPy array" and np.isnan(got).any():
        return "0 · log 0 is nan in NumPy, and counts as 0 here: sum over the places where the weight is above 0."
    return None


# -- shuffled --------------------------------------------------------------------------------------------------------

WEIGHTS = {"and `alpha` adds up to 1": lambda alpha, *_: alpha.min() >= 0 and abs(alpha.sum() - 1) < 1e-9}
ALPHA, Y = np.array([0.5, 0.3, 0.15, 0.05]), np.array([2.0, -1.0, 0.5, 4.0])


def _from_middle(x):
    return x - x.mean()


def _no_middle(x):
    return x


@question((1, 2), {"three tokens": (np.array([0.5, 0.5, 0.0]), np.array([1.0, 2.0, 6.0])), "four tokens": (ALPHA, Y),
                   "all attention on one": (np.eye(5)[1], np.array([3.0, -2.0, 1.0, 0.0, 0.5])),
                   "even attention": (np.full(4, 0.25), Y), "one token": (np.ones(1), np.array([-1.5])),
                   "thirty tokens": (np.arange(1, 31) / 465, np.arange(30) % 7 - 2.0)},
          returns="mean, sd", forbidden=LIBRARY, instead="your formula", promises=WEIGHTS,
          otherwise="The first case by hand: three orders differ, with the scores 1.5, 3.5 and 4. Their mean is 3. And "
                    "their standard deviation?",
          hints={"endless": "Thirty tokens have 30! orders. The mean and the spread over all of them need none."})
def shuffled(alpha, y, *, middle=lambda alpha, y: y.mean(), a=_from_middle, b=_from_middle, over=lambda T: T - 1,
             root=math.sqrt):
    """shuffled(alpha, y): mean and standard deviation of the score Σ α_π(t) y_t over all T! orders π."""
    T = len(y)
    var = (a(alpha) ** 2).sum() * (b(y) ** 2).sum() / over(T) if T > 1 else 0.0
    return float(middle(alpha, y)), root(var)


shuffled.mistakes(
    ("The mean is the score itself. Each weight comes to each token equally often: what has that token then, on "
     "average?", dict(middle=lambda alpha, y: alpha @ y)),
    ("`sd` is the variance. Its root is due.", dict(root=float)),
    ("Divided by T: so it would be if each weight drew a token for itself. In an order no two draw the same one, which "
     "leaves T − 1.", dict(over=lambda T: T)),
    ("The average of a_π(s) · a_π(t) was −same / T. How many pairs s ≠ t are there, if (s, t) and (t, s) are two?",
     dict(over=lambda T: T * T / (T + 1))),
    ("`mixed` is twice too large: pairs s ≠ t count as (s, t) and as (t, s) on both sides, or on neither.",
     dict(over=lambda T: T * (T - 1) / (T + 1))),
    ("For `sd` the weights have not lost their mean 1/T: even attention stays the same in every order.",
     dict(a=_no_middle)),
    ("For `sd` the values y have not lost their mean: if all say the same, no order changes the score.",
     dict(b=_no_middle)),
    ("For `sd` the mean square was taken of both: one 1/T too many.", dict(over=lambda T: T * T)),
    ("The mean is a sum of the values y: each has the weight 1/T on average.",
     dict(middle=lambda alpha, y: y.sum())))


@shuffled.suspect
def _(got, alpha, y):
    if type(got) in (tuple, list) and len(got) == 2 and {kind(part) for part in got} == {"a number"}:
        if np.isnan(got).any():
            return "One token has one order: its sd is 0, and not 0/0."
        if got[0] != y.mean() and np.allclose(got, shuffled.reference(alpha, y), rtol=0.1, atol=0.02):
            return "Near, as a sample of orders is. All of them are due, exactly: which products of weights come up?"
    return None
