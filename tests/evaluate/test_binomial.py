"""The exact test against all outcomes, its power against the same, how many people are needed; and compactness."""

import itertools
import math

import numpy as np
import pytest

from coursekit.explain import Attribution
from coursekit.people import binomial_power, compactness, exact_binomial_test, exact_interval, people_needed


def enumerated(n, p):
    """The probability (n + 1,) of each number of successes, from all 2ⁿ outcomes."""
    found = np.zeros(n + 1)
    for outcome in itertools.product([0, 1], repeat=n):
        found[sum(outcome)] += math.prod(p if x else 1 - p for x in outcome)
    return found


@pytest.mark.parametrize("n, p", [(1, 0.5), (7, 0.5), (9, 0.3), (6, 0.0)])
def test_it_is_the_sum_over_all_outcomes(n, p):
    pmf = enumerated(n, p)
    for k in range(n + 1):
        due = {"greater": pmf[k:].sum(), "less": pmf[:k + 1].sum(), "two-sided": pmf[pmf <= pmf[k] * (1 + 1e-9)].sum()}
        for alternative, value in due.items():
            assert exact_binomial_test(k, n, p, alternative) == pytest.approx(value, abs=1e-12)
    rejects = [exact_binomial_test(k, n, p) <= 0.2 for k in range(n + 1)]
    assert binomial_power(0.8, n, 0.2, p) == pytest.approx(enumerated(n, 0.8)[rejects].sum(), abs=1e-12)


def test_chance_alone_is_rejected_at_most_so_often():
    assert all(binomial_power(0.5, n) <= 0.05 for n in range(1, 200))


def test_so_many_are_enough_and_one_fewer_is_not():
    for p in (0.7, 0.89, 0.2, 1.0):
        n = people_needed(p, power=0.9)
        assert binomial_power(p, n - 1) < 0.9 <= min(binomial_power(p, m) for m in range(n, 3 * n))
    with pytest.raises(ValueError, match="more than 2,000"):
        people_needed(0.5)


def test_the_interval_holds_what_the_tests_do_not_reject():
    low, high = exact_interval(7, 12)
    for end, alternative in ((low, "greater"), (high, "less")):
        assert exact_binomial_test(7, 12, end, alternative) == pytest.approx(0.025, abs=1e-9)
    assert exact_interval(0, 5)[0] == 0 and exact_interval(5, 5)[1] == 1


def test_what_is_no_question_is_refused():
    for call in [lambda: exact_binomial_test(6, 5), lambda: exact_binomial_test(1, 0), lambda: binomial_power(1.2, 5),
                 lambda: exact_binomial_test(1, 5, -0.1), lambda: exact_binomial_test(1, 5, alternative="more")]:
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("scores, share, due", [
    ([1, -1, 1, 1], 0.9, (4, 1.0, 4.0)), ([9, 0, -1, 0], 0.9, (1, 0.25, None)), ([9, 0, -1, 0], 1.0, (2, 0.5, None)),
    ([0, 0, 0], 0.9, (0, 0.0, 0.0)), ([0, -5, 0], 0.5, (1, 1 / 3, 1.0))])
def test_the_size_of_an_explanation(scores, share, due):
    found = compactness(Attribution(["w"] * len(scores), scores, "by hand"), share)
    assert found[:2] == pytest.approx(due[:2]) and (due[2] is None or found.effective == pytest.approx(due[2]))
    assert found.tokens == 0 or 1 <= found.effective <= np.count_nonzero(scores) + 1e-9
    with pytest.raises(ValueError, match="share"):
        compactness(Attribution(["w"], [1], "by hand"), 0)
