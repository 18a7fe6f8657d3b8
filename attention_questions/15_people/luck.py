"""The check of assignment 15 on an exact test, and on the exact interval that goes with it."""

from math import comb, sqrt
from statistics import NormalDist

from coursegrade.kit.question import question

__all__ = ["exact"]


def _law(n, p):
    return [comb(n, h) * p ** h * (1 - p) ** (n - h) for h in range(n + 1)]


def _no_likelier(law, k, n, p):
    return sum(x for x in law if x <= law[k] * (1 + 1e-7))


def _bisected(holds):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _clopper_pearson(k, n, rest, more=0):
    return (_bisected(lambda p: sum(_law(n, p)[k + more:]) < rest / 2),
            _bisected(lambda p: sum(_law(n, p)[:k + 1 - more]) >= rest / 2))


def _wald(k, n, rest):
    z, m = NormalDist().inv_cdf(1 - rest / 2), k / n
    return m - z * sqrt(m * (1 - m) / n), m + z * sqrt(m * (1 - m) / n)


def _wilson(k, n, rest):
    z, m = NormalDist().inv_cdf(1 - rest / 2), k / n
    half = z * sqrt(m * (1 - m) / n + (z / n) ** 2 / 4)
    return (m + z * z / n / 2 - half) / (1 + z * z / n), (m + z * z / n / 2 + half) / (1 + z * z / n)


@question((2, 2), {"nine of ten": (9, 10, 0.5, 0.95), "chance is a tenth": (4, 20, 0.1, 0.9),
                   "chance is above a half": (5, 12, 0.7, 0.8), "none of five": (0, 5, 0.5, 0.95),
                   "all of six": (6, 6, 0.75, 0.5), "as likely as another": (7, 9, 0.7, 0.95),
                   "another is a bit likelier": (7, 13, 0.35, 0.9)},
          promises={"with probability `p`, $0 < p < 1$": lambda k, n, p, confidence: 0 < p < 1,
                    "whole numbers, 0 ≤ k ≤ n, n from 1 on": lambda k, n, p, confidence: 0 <= k <= n >= 1,
                    "numbers between 0 and 1": lambda k, n, p, confidence: 0 < confidence < 1},
          returns="p_value, low, high", forbidden=tuple(f"coursekit.evaluate.{name}" for name in (
              "exact_binomial_test", "exact_interval", "binomial_power", "people_needed")) + ("scipy.stats.binomtest",),
          instead="a sum of your own",
          otherwise="By hand, for 2 of 2 with p = 1/2: the four outcomes 0, 1, 1, 2 have 1/4 each. No likelier than 2 "
                    "are 2 and 0: p value 1/2. And low is where π² = (1 − confidence)/2.",
          hints={"endless": "60 steps of bisection are more than enough: `for _ in range(60)`."})
def exact(k, n, p, confidence, *, value=_no_likelier, interval=_clopper_pearson, each=1.0):
    """exact(k, n, p, confidence): the two-sided exact p value of k right answers of n; and the ends of the interval of
    all chances that neither one-sided test rejects."""
    return min(value(_law(n, p), k, n, p), 1.0), *interval(k, n, (1 - confidence) * each)


exact.mistakes(
    ("The p value looks at one side: so many, or more. Two-sided, all outcomes count that are no likelier than k.",
     dict(value=lambda law, k, n, p: sum(law[k:]))),
    ("Twice the smaller tail. That is the same where p is ½ only: which outcomes are no likelier than k?",
     dict(value=lambda law, k, n, p: 2 * min(sum(law[k:]), sum(law[:k + 1])))),
    ("Another outcome is exactly as likely as k, and rounding hides it: compare with law[k] · (1 + 1e-7).",
     dict(value=lambda law, k, n, p: sum(x for x in law if x <= law[k]))),
    ("The p value sums outcomes as far from n · p as k is. Far is not rare where p is not ½: compare probabilities.",
     dict(value=lambda law, k, n, p: sum(x for h, x in enumerate(law) if abs(h - n * p) >= abs(k - n * p) - 1e-9))),
    ("Outcomes that are exactly as likely as k were left out, k itself perhaps. Rounding may hide them, too.",
     dict(value=lambda law, k, n, p: sum(x for x in law if x < law[k] * (1 - 1e-7)))),
    ("Outcomes that are likelier than k were counted, too. The factor is for rounding alone: 1 + 1e-7.",
     dict(value=lambda law, k, n, p: sum(x for x in law if x <= law[k] * 1.01))),
    ("That is how likely k alone is.", dict(value=lambda law, k, n, p: law[k])),
    ("Each end of the interval was given all that the confidence leaves. They share it.", dict(each=2.0)),
    ("Each tail is as likely as the confidence here. It is what the confidence leaves, (1 − confidence)/2.",
     dict(interval=lambda k, n, rest: _clopper_pearson(k, n, 1 - rest))),
    ("That is the interval for 95 %, whatever `confidence` is.",
     dict(interval=lambda k, n, rest: _clopper_pearson(k, n, 0.05))),
    ("That is the interval of a normal distribution, which knows nothing of 0 and 1. Turn the exact tests round.",
     dict(interval=_wald)),
    ("That is Wilson's interval: a good one, and an approximation. Turn the exact tests round.",
     dict(interval=_wilson)),
    ("k itself is missing in the tails of the interval: P(X ≥ k), and P(X ≤ k).",
     dict(interval=lambda k, n, rest: _clopper_pearson(k, n, rest, 1))))
