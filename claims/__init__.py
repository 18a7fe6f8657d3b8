"""What the lectures say, run again on texts, seeds and trainings that their pages do not use.

`claims/02_attention.py` has those of lecture 02. A claim is a sentence that stands in the lecture, its deck, notes or
quiz, and a function of one replication: `name(page, run)` returns whether the sentence holds there, or a number that
must lie `between` two bounds. `page` is the lecture (`pages.py`): what its cells tagged `claim-setup` define, so that
a claim asks the functions that the reader sees. `runner.py` runs them, `checked.py` says what is wrong with them, and
`written.py` makes docs/claims.md of what came out.

    @claim("02.1", "At GPT-2's width of 768 the largest weight is mostly three to five times the smallest.",
           over="20 other draws of words and weights", runs=range(20, 40), here=0, between=(3, 5), at_least=15)
    def largest_by_smallest(page, seed):
        A = page.initial_attention(0.02, 768, seed=seed)
        return A.max() / A.min()
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median as middle_of
from typing import Any

from experiments.runner import plain

RECORDED = 2                    # replications of a claim that trains for minutes, at least
FEWEST = 5                      # of any other


@dataclass(frozen=True)
class Claim:
    """A sentence and how it is tried: made by `claim`."""
    number: str                 # "02.3": the third of lecture 02
    sentence: str
    over: str                   # what varies, in words
    runs: Sequence              # what the function is asked with, a JSON value for each replication
    here: Any                   # what the page itself uses, None if it is not one of the kind
    between: tuple[float, float] | None
    median: tuple[float, float] | None
    at_least: int
    trains: bool
    function: Callable

    @property
    def lecture(self) -> str:
        """The number of the lecture: "02"."""
        return self.number.partition(".")[0]

    @property
    def requires(self) -> str:
        """What must hold, in words: "at least 18 of 20", "all: from 2.5 to 5.5", "the median: at most 0"."""
        n = len(self.runs)
        which = "the median" if self.median else "all" if self.at_least == n else f"at least {self.at_least} of {n}"
        low, high = self.between or self.median or (None, None)
        if low is None:
            return which
        return f"{which}: " + (f"{low:g}" if low == high else f"at most {high:g}" if low == -inf else
                               f"at least {low:g}" if high == inf else f"from {low:g} to {high:g}")

    def holds(self, value) -> bool:
        """Does the sentence hold in a replication that gave this value?"""
        if value is None:                                                       # not a number
            return False
        low, high = self.between or self.median or (True, True)
        return bool(low <= value <= high)

    def verdict(self, values: Sequence) -> bool:
        """Does what must hold hold for the values of all replications?"""
        if self.median:
            return None not in values and self.holds(middle_of(values))
        return sum(map(self.holds, values)) >= self.at_least


def claim(number: str, sentence: str, *, over: str, runs: Sequence, here: Any = None,
          between: tuple[float, float] | None = None, median: tuple[float, float] | None = None,
          at_least: int | None = None, trains: bool = False) -> Callable[[Callable], Claim]:
    """Makes a claim of the function below it, which takes (page, run) and returns a number or a truth.

    over: what varies, in words: that over which the sentence generalises. runs: one JSON value (a seed, a text, a name)
    for each replication; here: that of the page itself, which is shown beside and does not count. between: the bounds
    of the number (without them the function says itself whether the sentence holds), in all replications or `at_least`
    so many. median: the bounds of the numbers' median instead. trains: for minutes, so that only `make claims-all` runs
    it. Raises ValueError for the page's own run among the replications, for one that is there twice, for too few, for
    two ways to judge, and for what every page would hold.
    """
    runs, here, fewest = plain(list(runs)), plain(here), RECORDED if trains else FEWEST
    if again := [run for i, run in enumerate(runs) if run in [here, *runs[:i]]]:
        raise ValueError(f"claim {number}: {again[0]!r} is the page's own run or there twice: take it out of runs")
    if len(runs) < fewest:
        raise ValueError(f"claim {number}: {len(runs)} replications, expected at least {fewest}")
    if median and (between or at_least):
        raise ValueError(f"claim {number}: median= is judged by itself, without between= and at_least=")
    if (-inf, inf) in (between, median) or at_least is not None and not 0 < at_least <= len(runs):
        raise ValueError(f"claim {number} says nothing: at_least= from 1 to {len(runs)}, and a bound on one side")
    return lambda function: Claim(number, sentence, over, runs, here, between, median,
                                  len(runs) if at_least is None else at_least, trains, function)
