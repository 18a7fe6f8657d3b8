"""The check of assignment 14 on a comparison of explainers, document by document, with Holm's correction."""

from attention_questions.prelude import Question, np

from . import solution
from .models import LIBRARY


def signs_of(n, R, seed):
    """R rows of n signs."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(R, n))


SCORES = np.array([[0.5, 0.2, 0.6, 0.3, 0.4, 0.3], [0.6, 0.5, 0.5, 0.6, 0.8, 0.4], [0.1, 0.3, 0.2, 0.5, 0.3, 0.3],
                   [0.7, 0.2, 0.6, 0.6, 0.3, 0.6], [0.0, 0.4, 0.1, 0.3, 0.2, 0.1]])
ONE_ALIKE = np.array([[0.5, 1.0, 0.75, 0.25, 0.5, 1.0], [1.0, 0.25, 0.5, 0.5, 1.0, 0.75],
                      [0.0, 0.25, 0.25, 0.5, 0.0, 0.25]])
ALIKE = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], [1.0, 1.0, 3.0, 4.0]])


compare = Question(solution.compare, (1, 1), {
    "five explainers": (SCORES, signs_of(6, 40, 3)), "two": (SCORES[:2], signs_of(6, 19, 1)),
    "equally good": (ALIKE, np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [-1, -1, -1, 1], [1, 1, -1, 1]])),
    "one is equally good": (ONE_ALIKE, signs_of(6, 40, 5)), "one": (SCORES[:1], signs_of(6, 9, 2))},
    promises={"whose entries are 1 and −1": lambda scores, signs: (
                  (np.abs(signs) == 1).all() and signs.shape[1] == scores.shape[1])},
    returns="best, p (m,), adjusted (m,)", forbidden=LIBRARY, instead="the rows of signs",
    why="One product of matrices has the means of all rows of signs for all explainers. Holm works on the sorted "
        "values and writes them back by the same order.",
    otherwise="By hand, for differences (1, 1) and the signs (1, −1), (−1, −1): mean 1; turned, 0 and −1. One of "
              "two is as large in size: p = (1 + 1)/(1 + 2). And Holm makes .02 and .04 of .01 and .04.")
FACTORS = "np.arange(m - 1, 0, -1)"
RAISED = f"np.maximum.accumulate(p[order] * {FACTORS})"
compare.mistakes(
    ("The documents were not paired: signs were turned for each row by itself. Take differences first, document by "
     "document.", "signs @ d.T → (signs @ scores[best])[:, None] - signs[::-1] @ scores.T"),
    ("`p` looks at one side. A mean difference as far below 0 is as extreme.", "np.abs(signs @ d.T) → signs @ d.T"),
    *(("The differences as they were count as one of the draws: 1 + above and below.",
       f"(1 + reached.sum(0)) / (1 + len(signs)) → reached.sum(0) / {below}")
      for below in ("len(signs)", "(1 + len(signs))")),
    ("Divided by R. The data count as one above, and so they do below: 1 + R.", "(1 + len(signs)) → len(signs)"),
    ("A mean that is just as far from 0 counts, and rounding may not tell: compare with |mean| − 1e-12.",
     "- 1e-12 → + 1e-12"),
    ("That is Bonferroni's correction, the same factor for all. Holm's falls with each step.",
     f"{RAISED} → p[order] * (m - 1)"),
    ("An adjusted value may not be smaller than the one before it: keep the largest so far.",
     "np.maximum.accumulate → "),
    ("The smallest p is multiplied by the number of comparisons. The best row is not compared with itself.",
     f"{FACTORS} → np.arange(m, 1, -1)"),
    *((words, f"{RAISED} → np.minimum.accumulate((p[order] * {factors})[::-1])[::-1]") for words, factors in (
        ("`adjusted` goes up where Holm goes down the list: that is Hochberg's way, which takes the smallest so far "
         "from the end.", FACTORS),
        ("That is the correction of Benjamini and Hochberg, for the share of false discoveries.",
         "(m - 1) / np.arange(1, m)"))),
    ("The factors go the wrong way: the smallest p is multiplied by M, the largest by 1.",
     f"{FACTORS} → np.arange(1, m)"),
    ("`adjusted` is in the order of p. Put each value back to its row.", "adjusted[order] → adjusted[others]"),
    ("The best row itself is compared with nothing, and has 1 in `p` and in `adjusted`.",
     "p[best] = 1.0 → p[best] = 0.0", "np.ones → np.zeros"),
    ("A row with the same mean as the best is compared with it, too, and counts among the M.",
     "i != best → scores[i].mean() < scores[best].mean()", f"{FACTORS} → np.arange(len(others), 0, -1)"),
    ("No p value is above 1.", f"np.minimum({RAISED}, 1) → {RAISED}"))
