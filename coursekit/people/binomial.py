"""Is it more than chance, and how many people would one need to see it? Exact answers, for shares of right ones."""

import math

import numpy as np

from coursekit.inputs import as_whole


def exact_binomial_test(successes: int, n: int, p=0.5, alternative="two-sided") -> float:
    """The p value of `successes` among n independent answers, each right with probability p by chance.

    alternative: "greater" or "less", the probability of so many or more, or fewer; "two-sided": of all numbers that are
    no likelier than this one. Exact: a sum of binomial probabilities, for any n. Answers of one person are not
    independent, unless by chance alone each is: count people for what is to hold of people.

    >>> round(exact_binomial_test(9, 10, alternative="greater"), 6), round(11 / 1024, 6)      # ten ways of 9, one of 10
    (0.010742, 0.010742)
    """
    if as_whole(successes, "successes") > as_whole(n, "n", 1):
        raise ValueError(f"there are at most {n} successes among {n}, got {successes}")
    return float(_p_values(n, p, alternative)[successes])


def exact_interval(successes: int, n: int, confidence=0.95) -> tuple[float, float]:
    """(low, high) of the probability of a success: those p that neither one-sided exact test rejects at
    (1 − confidence)/2 (Clopper and Pearson, Biometrika 1934).

    >>> [round(end, 3) for end in exact_interval(9, 10)]
    [0.555, 0.997]
    """
    def end(alternative):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            rejected = exact_binomial_test(successes, n, middle, alternative) < (1 - confidence) / 2
            low, high = (middle, high) if rejected == (alternative == "greater") else (low, middle)
        return middle

    return end("greater") if successes else 0.0, end("less") if successes < n else 1.0


def binomial_power(p_true: float, n: int, alpha=0.05, p=0.5, alternative="two-sided") -> float:
    """How likely the exact test of n answers says "not chance" (p value ≤ alpha), if each is right with p_true.

    >>> round(binomial_power(0.8, 10), 3), round(binomial_power(0.5, 10), 3)                 # with p: at most alpha
    (0.376, 0.021)
    """
    return float(_pmf(n, p_true)[_p_values(as_whole(n, "n", 1), p, alternative) <= alpha].sum())


def people_needed(p_true: float, alpha=0.05, power=0.8, p=0.5, alternative="two-sided") -> int:
    """The fewest answers n for which the test has at least this power, and so for every larger n.

    The power goes up in a saw: one more answer can lower it, because the number that is needed jumps. A smaller n may
    have the power by luck of the saw. Raises ValueError, in one line, where more than 2,000 would be needed.

    >>> people_needed(0.89), people_needed(0.75), people_needed(0.6)
    (12, 35, 210)
    """
    powers, most = [], 16
    while most <= 4096:
        powers += [binomial_power(p_true, n, alpha, p, alternative) for n in range(len(powers) + 1, most + 1)]
        last = max((n for n, reached in enumerate(powers, start=1) if reached < power), default=0)
        if last < most / 2:
            return last + 1
        most *= 2
    raise ValueError(f"more than 2,000 answers would be needed to tell {p_true} from {p} with power {power}")


def _pmf(n, p):
    """Binomial probabilities (n + 1,) of 0 … n successes."""
    if not 0 <= p <= 1:
        raise ValueError(f"a probability must be from 0 to 1, got {p}")
    k = np.arange(n + 1)
    logs = np.concatenate([[0.0], np.log(np.arange(1, n + 1)).cumsum()])                     # log k!
    chances = [np.where(m, m * math.log(max(q, 1e-300)), 0.0) for m, q in ((k, p), (n - k, 1 - p))]
    return np.exp(logs[n] - logs - logs[::-1] + chances[0] + chances[1])


def _p_values(n, p, alternative):
    """p values (n + 1,) of 0 … n successes."""
    pmf = _pmf(n, p)
    if alternative == "two-sided":
        ordered = np.sort(pmf)
        at_most = np.searchsorted(ordered, pmf * (1 + 1e-7), "right")                        # equal ones, but rounding
        return ordered.cumsum()[at_most - 1].clip(max=1)
    if alternative not in ("greater", "less"):
        raise ValueError(f"alternative must be 'two-sided', 'greater' or 'less', got {alternative!r}")
    return (pmf[::-1].cumsum()[::-1] if alternative == "greater" else pmf.cumsum()).clip(max=1)
