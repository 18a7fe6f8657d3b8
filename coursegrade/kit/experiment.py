"""An experiment of one's own: change one thing, predict, run, and say what would have refuted it.

The function that a student writes takes a seed and returns two numbers, (as it was, changed). What can be checked is
that it is an experiment: the same seed gives the same numbers, and over five seeds the change does something. What it
is worth, a person says who reads the text beside it.
"""

import math
import numbers

from coursegrade.kit import services
from coursegrade.kit.limit import SECONDS
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.question import Question
from coursegrade.kit.same import kind

SEEDS = 5
TOGETHER = f"All runs of the check together have {SECONDS} seconds: ask for less in each."


def experiment(reference, points, **options):
    """The question of that kind. reference: the course's own experiment, seed → (as it was, changed)."""
    made = Question(reference, points, {f"seed {seed}": (seed,) for seed in range(SEEDS)}, also=_repeats,
                    returns="as it was, changed", **options)
    made.judge(_two_numbers)
    made.hints.setdefault("endless", TOGETHER)
    return made


def _two_numbers(got, seed):
    """What is wrong with what it returned.

    >>> [next(_two_numbers(got, 0), None) for got in ((0.5, 1), 3)]
    [None, 'it returns a whole number, and two numbers are needed: (as it was, changed)']
    """
    got = tuple(got) if _shape(got) == (2,) else got        # an array of two numbers is two numbers
    entries = got if isinstance(got, (list, tuple)) else ()
    if test := [entry for entry in (got, *entries) if hasattr(entry, "pvalue")]:
        yield (f"{kind(test[0])} is no number, but holds two, a statistic and its p-value",
               "What a function of scipy.stats gives has the statistic in it: `spearmanr(x, y).statistic`.")
    elif not isinstance(got, (list, tuple)) or len(got) != 2:
        yield f"it returns {kind(got)}, and two numbers are needed: (as it was, changed)"
    elif strange := [entry for entry in got if not isinstance(entry, numbers.Real) and math.prod(_shape(entry)) != 1]:
        size = len(strange[0]) if isinstance(strange[0], (list, tuple)) else math.prod(_shape(strange[0]))
        yield f"{kind(strange[0])} stands among the two numbers" + (
            f": it has {size} entries, and one number is needed; their mean, or one of them?" * (size > 1))
    elif wrong := [entry for entry in _plain(got) if not math.isfinite(entry)]:
        yield (f"a number is {wrong[0]}",
               "Is something divided by 0, is it the mean of nothing, or the logarithm of a weight that is 0? (A "
               "correlation is nan where all numbers of one side are equal.)")


def _shape(entry):
    return getattr(entry, "shape", (0,))            # of a tensor or an array; what has none is no number


def _plain(got):
    """Two numbers as Python's, also those of a tensor or an array with one entry."""
    return tuple(entry.item() if hasattr(entry, "item") else entry for entry in got)


def _repeats(answer, arguments):
    """Raises CheckFailed if the same seed gives other numbers, if all seeds give the same, or no difference."""
    first, again = (_plain(services.run(answer, arguments)) for _ in range(2))
    last = _plain(answer(*arguments))                                   # before this one no common seeds are set
    lives_on = ("Does something live on from call to call: a model, a tensor or a text that is changed in place, a "
                "list? Change copies, and load anew what was changed. ")
    for other, reason in ((again, lives_on), (last, "")):
        if first != other:
            raise CheckFailed(f"With seed {arguments[0]} it gave {first[0]:g} and {first[1]:g}, then {other[0]:g} and "
                              f"{other[1]:g}. {reason}Draw everything from a generator made with `seed`.")
    if arguments[0] == SEEDS - 1:
        pairs = [_plain(services.run(answer, (seed,))) for seed in range(SEEDS)]
        if all(math.isclose(*pair, rel_tol=1e-6) for pair in pairs):
            raise CheckFailed(f"In all {SEEDS} runs the two numbers are equal. Does what you change get to what you "
                              "measure? Or can your measure not move at all, such as a share of errors where there "
                              "are none?")
        if len({*pairs}) == 1:
            raise CheckFailed(f"All {SEEDS} seeds give the same two numbers. Does what you draw depend on `seed`? (Or "
                              "does the function use something of an earlier cell in place of what it draws?)")
