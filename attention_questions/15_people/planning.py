"""The check of assignment 15 on the plan of a study: power when people vote and some are tied, and people needed."""

from math import comb

import numpy as np

from coursegrade.kit.question import question

__all__ = ["plan"]

ALPHA, POWER = 0.05, 0.8


def _law(n, p):
    return np.array([comb(n, h) * p ** h * (1 - p) ** (n - h) for h in range(n + 1)])


def _two_sided(law):
    """p values of 0 … n right votes, by chance ½."""
    return np.minimum(2 * np.minimum(law.cumsum(), law[::-1].cumsum()[::-1]), 1)


def _one_sided(law):
    return law[::-1].cumsum()[::-1]


def _without_ends(law):
    return 2 * np.minimum(law.cumsum() - law, law[::-1].cumsum()[::-1] - law)


def _alone(n, share, test=_two_sided, above=0):
    """The power of n votes without ties."""
    return _law(n, share)[(test(_law(n, 0.5)) <= ALPHA) & (np.arange(n + 1) > above * n / 2 - 1)].sum()


def _over_ties(N, right, tied, alone=_alone):
    share = right / (1 - tied)
    return sum(chance * alone(n, share) for n, chance in enumerate(_law(N, 1 - tied)))


def _from_then_on(powers):
    low = np.flatnonzero(powers < POWER)
    return 0 if len(powers) - 1 in low else int(low[-1]) + 2 if len(low) else 1


def _first(powers):
    return int(np.argmax(powers >= POWER)) + 1 if (powers >= POWER).any() else 0


def _last(powers):
    return _from_then_on(powers) or len(powers)


@question((2, 2), {"four pages": (0.7, 4, 30), "one page": (0.75, 1, 45), "chance": (0.5, 2, 12),
                   "three pages": (0.2, 3, 24)},
          promises={"with the same probability `p`, $0 < p < 1$": lambda p, pages, people: 0 < p < 1,
                    "whole numbers from 1 on": lambda p, pages, people: pages >= 1 <= people},
          returns="right, tied, powers (people,), needed", forbidden=tuple(f"coursekit.evaluate.{name}" for name in (
              "exact_binomial_test", "exact_interval", "binomial_power", "people_needed")),
          instead="sums of your own",
          otherwise="By hand, for two pages and p = 1/2: a quarter vote right, a quarter wrong, half are tied. Of six "
                    "untied votes only 0 and 6 are rare enough, p = 1/32. So powers[5] is the chance that all six are "
                    "untied, 1/64, times 1/32.",
          hints={"ZeroDivisionError": "With nobody untied there is nothing to test: that has power 0."})
def plan(p, pages, people, *, wins=lambda h, pages: 2 * h > pages, ties=lambda h, pages: 2 * h == pages,
         power=_over_ties, needed=_from_then_on):
    """plan(p, pages, people): how likely a person's vote is right, and tied; the power (people,) of the sign test of
    the votes of 1 … people; and the fewest from which on it is at least .8, 0 if it is not at the end."""
    h, law = np.arange(pages + 1), _law(pages, p)
    right, tied = law[wins(h, pages)].sum(), law[ties(h, pages)].sum()
    powers = np.array([power(N, right, tied) for N in range(1, people + 1)])
    return float(right), float(tied), powers, needed(powers)


plan.mistakes(
    ("`needed` is the first number of people with a power of .8. The power goes up in a saw, and falls below it again: "
     "from which number on does it stay?", dict(needed=_first)),
    ("A vote is right with *more* than half of the pages. Half of them is a tie.",
     dict(wins=lambda h, pages: 2 * h >= pages)),
    ("Ties were counted among the wrong votes, so that nobody drops out. They are no votes.",
     dict(power=lambda N, right, tied: _alone(N, right))),
    ("Of the *untied* votes a larger part is right: right/(1 − tied).",
     dict(power=lambda N, right, tied: sum(c * _alone(n, right) for n, c in enumerate(_law(N, 1 - tied))))),
    ("The number of untied votes was fixed at its mean. It is drawn as well: weigh the powers of all numbers of them.",
     dict(power=lambda N, right, tied: _alone(round(N * (1 - tied)), right / (1 - tied)))),
    ("The test looks at one side. Two-sided, so many wrong votes would tell as well.",
     dict(power=lambda N, right, tied: _over_ties(N, right, tied, lambda n, s: _alone(n, s, _one_sided)))),
    ("The test says “not chance” on the side of the wrong votes, too. That counts.",
     dict(power=lambda N, right, tied: _over_ties(N, right, tied, lambda n, s: _alone(n, s, above=1)))),
    ("powers[0] is for nobody here. It is for one person.",
     dict(power=lambda N, right, tied: _over_ties(N - 1, right, tied))),
    ("Half of the ties were counted as right. They are no votes.",
     dict(power=lambda N, right, tied: _alone(N, right + tied / 2))),
    ("The tails of the test lack their ends: so many *or more*, so few *or fewer*.",
     dict(power=lambda N, right, tied: _over_ties(N, right, tied, lambda n, s: _alone(n, s, _without_ends)))),
    ("`needed` is a number of people. powers[0] is for one person.",
     dict(needed=lambda powers: max(_from_then_on(powers) - 1, 0))),
    ("`needed` is 0 where the power is below .8 at the end.", dict(needed=_last)))
