"""The check of assignment 15 on an exact test, and on the exact interval that goes with it."""

from statistics import NormalDist

from attention_questions.prelude import Question, math

from . import solution

LIBRARY = tuple(f"coursekit.evaluate.{name}" for name in (
    "exact_binomial_test", "exact_interval", "binomial_power", "people_needed"))


exact = Question(solution.exact, (2, 2), {
    "nine of ten": (9, 10, 0.5, 0.95), "chance is a tenth": (4, 20, 0.1, 0.9),
    "chance is above a half": (5, 12, 0.7, 0.8), "none of five": (0, 5, 0.5, 0.95), "all of six": (6, 6, 0.75, 0.5),
    "as likely as another": (7, 9, 0.7, 0.95), "another is a bit likelier": (7, 13, 0.35, 0.9)},
    promises={"with probability `p`, $0 < p < 1$": lambda k, n, p, confidence: 0 < p < 1,
              "whole numbers, 0 ≤ k ≤ n, n from 1 on": lambda k, n, p, confidence: 0 <= k <= n >= 1,
              "numbers between 0 and 1": lambda k, n, p, confidence: 0 < confidence < 1},
    returns="p_value, low, high", forbidden=(*LIBRARY, "scipy.stats.binomtest"), instead="a sum of your own",
    otherwise="By hand, for 2 of 2 with p = 1/2: the four outcomes 0, 1, 1, 2 have 1/4 each. No likelier than 2 are 2 "
              "and 0: p value 1/2. And low is where π² = (1 − confidence)/2.",
    hints={"endless": "60 steps of bisection are more than enough: `for _ in range(60)`."})


def _approximate(k, n, p, confidence, wilson):
    """The p value is right, the interval is that of a normal distribution: plain (Wald's), or Wilson's."""
    z, m = NormalDist().inv_cdf((1 + confidence) / 2), k / n
    a = wilson * z * z / n
    middle, half = m + a / 2, z * math.sqrt((m * (1 - m) + a / 4) / n)
    return solution.exact(k, n, p, confidence)[0], (middle - half) / (1 + a), (middle + half) / (1 + a)


NO_LIKELIER, REST = "x for x in by_chance if x <= by_chance[k] * (1 + 1e-7)", "(1 - confidence) / 2"
exact.mistakes(
    ("The p value looks at one side: so many, or more. Two-sided, all outcomes count that are no likelier than k.",
     f"{NO_LIKELIER} → by_chance[k:]"),
    ("Twice the smaller tail. That is the same where p is ½ only: which outcomes are no likelier than k?",
     f"sum({NO_LIKELIER}) → min(2 * sum(by_chance[k:]), 2 * sum(by_chance[:k + 1]), 1.0)"),
    ("Another outcome is exactly as likely as k, and rounding hides it: compare with law[k] · (1 + 1e-7).",
     " * (1 + 1e-7) → "),
    ("The p value sums outcomes as far from n · p as k is. Far is not rare where p is not ½: compare probabilities.",
     f"{NO_LIKELIER} → x for h, x in enumerate(by_chance) if abs(h - n * p) >= abs(k - n * p) - 1e-9"),
    ("Outcomes that are exactly as likely as k were left out, k itself perhaps. Rounding may hide them, too.",
     "x <= by_chance[k] * (1 + 1e-7) → x < by_chance[k] * (1 - 1e-7)"),
    ("Outcomes that are likelier than k were counted, too. The factor is for rounding alone: 1 + 1e-7.",
     "(1 + 1e-7) → 1.01"),
    ("That is how likely k alone is.", f"sum({NO_LIKELIER}) → by_chance[k]"),
    ("Each end of the interval was given all that the confidence leaves. They share it.", f"{REST} → 1 - confidence"),
    ("Each tail is as likely as the confidence here. It is what the confidence leaves, (1 − confidence)/2.",
     f"{REST} → confidence / 2"),
    ("That is the interval for 95 %, whatever `confidence` is.", f"{REST} → 0.025"),
    ("That is the interval of a normal distribution, which knows nothing of 0 and 1. Turn the exact tests round.",
     lambda *given: _approximate(*given, wilson=False)),
    ("That is Wilson's interval: a good one, and an approximation. Turn the exact tests round.",
     lambda *given: _approximate(*given, wilson=True)),
    ("k itself is missing in the tails of the interval: P(X ≥ k), and P(X ≤ k).",
     "x[k:] → x[k + 1:]", "x[:k + 1] → x[:k]"))
