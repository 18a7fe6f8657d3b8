"""Checks of assignment 07 on the weights of masks."""

from attention_questions.prelude import Question, np

from . import solution
from .black_box import LIBRARY, rows

proximity = Question(solution.proximity, (1, 2), {
    "width 60": (rows("1111", "1110", "0110", "1000", "1011"), 60),
    "width 25": (rows("10011", "11111", "01111"), 25),
    "a mask that keeps nothing": (rows("110", "000", "001"), 50),
    "a narrow kernel": (rows("1110", "1111", "1001", "1111"), 0.25)},
    forbidden=LIBRARY, instead="the formula", returns="weights (n,), worth",
    otherwise="By hand: (True, False, False, False) and width 25 have the cosine ½ and the exponent −2.",
    promises={"The kernel is never so narrow here that all weights come out as 0": lambda masks, width: (
                  width > 0 and weights_of(masks, width).any())})


def weights_of(masks, width):
    """The weights (n,) alone."""
    return solution.proximity(masks, width)[0]


proximity.mistakes(
    ("The distance is not multiplied by 100.", "100 * → "),
    ("The cosine is not the share of words that is kept: which root is in the length of a vector of zeros and ones?",
     "np.sqrt → "),
    ("That is the cosine. The distance is 1 minus it.", "1 - np.sqrt → np.sqrt"),
    ("The words that are *gone* were counted. A mask that keeps all has distance 0.", "masks.mean → (~masks).mean"),
    ("The 2 in front of width² is missing.", "2 * width → width"),
    ("The distance is squared.", "delta ** 2 → delta"),
    ("The width is squared.", "width ** 2 → width"),
    ("A weight is at most 1, that of the full mask. Is the exponent negative?", "-delta → delta"),
    ("The weights were divided by their sum. They stay as the formula gives them.",
     "return weights → return weights / weights.sum()"),
    ("The weights are right. Their sum says how often the nearest sample would count; it is not what they are worth.",
     " ** 2 / (weights ** 2).sum() → "),
    ("The weights are right. On top stands the square of their sum, which is not one.", "weights.sum() ** 2 → 1"),
    ("The weights are right. The sum on top is squared.", "weights.sum() ** 2 → weights.sum()"))


@proximity.suspect
def _(got, masks, width):
    pi, right, some = got[0], weights_of(masks, width), masks.any(1)
    if not some.all() and np.allclose(pi[some], right[some]) and not np.allclose(pi, right):
        yield ("Only the mask that keeps nothing is wrong. It has length 0, and 0/0 is no number: its cosine counts "
               "as 0, its distance as 1.")
