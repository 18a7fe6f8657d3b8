"""The check of assignment 15 on the plan of a study: power when people vote and some are tied, and people needed."""

from attention_questions.prelude import Question

from . import solution
from .luck import LIBRARY

plan = Question(solution.plan, (2, 2), {
    "four pages": (0.7, 4, 30), "one page": (0.75, 1, 45), "chance": (0.5, 2, 12), "three pages": (0.2, 3, 24)},
    promises={"with the same probability `p`, $0 < p < 1$": lambda p, pages, people: 0 < p < 1,
              "whole numbers from 1 on": lambda p, pages, people: pages >= 1 <= people},
    returns="right, tied, powers (people,), needed", forbidden=LIBRARY, instead="sums of your own",
    otherwise="By hand, for two pages and p = 1/2: a quarter vote right, a quarter wrong, half are tied. Of six untied "
              "votes only 0 and 6 are rare enough, p = 1/32. So powers[5] is the chance that all six are untied, 1/64, "
              "times 1/32.",
    hints={"ZeroDivisionError": "With nobody untied there is nothing to test: that has power 0."})

SHARE, OVER_TIES = "right / (1 - tied)", "law(N, 1 - tied) @ alone[:N + 1]"
plan.mistakes(
    ("`needed` is the first number of people with a power of .8. The power goes up in a saw, and falls below it again: "
     "from which number on does it stay?", "1 + max(( → next((", "< 0.8), default=0) → >= 0.8), 0)"),
    ("A vote is right with *more* than half of the pages. Half of them is a tie.", "2 * h > pages → 2 * h >= pages"),
    ("Ties were counted among the wrong votes, so that nobody drops out. They are no votes.",
     f"{SHARE} → right", f"{OVER_TIES} → alone[N]"),
    ("Of the *untied* votes a larger part is right: right/(1 − tied).", f"{SHARE} → right"),
    ("The number of untied votes was fixed at its mean. It is drawn as well: weigh the powers of all numbers of them.",
     f"{OVER_TIES} → alone[round(N * (1 - tied))]"),
    ("The test looks at one side. Two-sided, so many wrong votes would tell as well.",
     "2 * np.minimum(below, below[::-1]) → below[::-1]"),
    ("The test says “not chance” on the side of the wrong votes, too. That counts.",
     "[tails <= 0.05] → [(tails <= 0.05) & (2 * np.arange(n + 1) > n)]"),
    ("powers[0] is for nobody here. It is for one person.", "range(1, people + 1)]) → range(people)])"),
    ("Half of the ties were counted as right. They are no votes.",
     f"{SHARE} → right + tied / 2", f"{OVER_TIES} → alone[N]"),
    ("The tails of the test lack their ends: so many *or more*, so few *or fewer*.",
     ".cumsum() → .cumsum() - law(n, 0.5)"),
    ("`needed` is a number of people. powers[0] is for one person.", "needed if needed → needed - 1 if needed"),
    ("`needed` is 0 where the power is below .8 at the end.",
     "needed if needed <= people else 0 → min(needed, people)"))
