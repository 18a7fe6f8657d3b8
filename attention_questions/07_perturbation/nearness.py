"""Checks of assignment 07 on the weights of masks."""

import numpy as np

from .black_box import on_boxes, rows

__all__ = ["proximity"]


def _distance(masks):
    return 100 * (1 - np.sqrt(masks.mean(1)))


def _exponent(delta, width):
    return -delta ** 2 / (2 * width ** 2)


def _worth(pi):
    return pi.sum() ** 2 / (pi ** 2).sum()


@on_boxes((1, 2), {"width 60": (rows("1111", "1110", "0110", "1000", "1011"), 60),
                   "width 25": (rows("10011", "11111", "01111"), 25),
                   "a mask that keeps nothing": (rows("110", "000", "001"), 50),
                   "a narrow kernel": (rows("1110", "1111", "1001", "1111"), 0.25)},
          instead="the formula", returns="weights (n,), worth",
          otherwise="By hand: (True, False, False, False) and width 25 have the cosine ½ and the exponent −2.",
          promises={"The kernel is never so narrow here that all weights come out as 0": lambda masks, width: (
                        width > 0 and proximity.reference(masks, width)[0].any())})
def proximity(masks, width, *, distance=_distance, exponent=_exponent, weights=lambda pi: pi, worth=_worth):
    """proximity(masks, width): (the weights π (n,), how many equal samples they are worth)."""
    pi = np.exp(exponent(distance(masks), width))
    return weights(pi), round(float(worth(pi)), 7)


def weights_of(masks, width):
    """The weights (n,) alone."""
    return proximity.reference(masks, width)[0]


proximity.mistakes(
    ("The distance is not multiplied by 100.", dict(distance=lambda masks: _distance(masks) / 100)),
    ("The cosine is not the share of words that is kept: which root is in the length of a vector of zeros and ones?",
     dict(distance=lambda masks: 100 * (1 - masks.mean(1)))),
    ("That is the cosine. The distance is 1 minus it.", dict(distance=lambda masks: 100 * np.sqrt(masks.mean(1)))),
    ("The words that are *gone* were counted. A mask that keeps all has distance 0.",
     dict(distance=lambda masks: _distance(~masks))),
    ("The 2 in front of width² is missing.", dict(exponent=lambda delta, width: -delta ** 2 / width ** 2)),
    ("The distance is squared.", dict(exponent=lambda delta, width: -delta / (2 * width ** 2))),
    ("The width is squared.", dict(exponent=lambda delta, width: -delta ** 2 / (2 * width))),
    ("A weight is at most 1, that of the full mask. Is the exponent negative?",
     dict(exponent=lambda delta, width: delta ** 2 / (2 * width ** 2))),
    ("The weights were divided by their sum. They stay as the formula gives them.",
     dict(weights=lambda pi: pi / pi.sum())),
    ("The weights are right. Their sum says how often the nearest sample would count; it is not what they are worth.",
     dict(worth=np.sum)),
    ("The weights are right. On top stands the square of their sum, which is not one.",
     dict(worth=lambda pi: 1 / (pi ** 2).sum())),
    ("The weights are right. The sum on top is squared.", dict(worth=lambda pi: pi.sum() / (pi ** 2).sum())))


@proximity.suspect
def _(got, masks, width):
    pi, right, some = got[0], weights_of(masks, width), masks.any(1)
    if not some.all() and np.allclose(pi[some], right[some]) and not np.allclose(pi, right):
        return ("Only the mask that keeps nothing is wrong. It has length 0, and 0/0 is no number: its cosine counts "
                "as 0, its distance as 1.")
    return None
