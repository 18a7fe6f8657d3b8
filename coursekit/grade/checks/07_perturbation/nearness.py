"""Checks of assignment 07 on the weights of masks."""

import numpy as np

from coursekit.grade.kit.same import kind, same

from .black_box import mistaken, on_boxes, vectors

__all__ = ["proximity"]

NUMBERS = ("a number", "a whole number")


def rows(*texts):
    """Masks from texts such as "101": 1 where a word is kept."""
    return np.array([[letter == "1" for letter in text] for text in texts])


def is_number(value):
    """Is it a number, or an array or a tensor without axes?"""
    return kind(value) in NUMBERS or kind(value) in ("a NumPy array", "a tensor") and tuple(value.shape) == ()


def _weights(delta, width):
    return np.exp(-delta ** 2 / (2 * width ** 2))


@on_boxes((1, 2), {"width 60": (rows("1111", "1110", "0110", "1000", "1011"), 60),
                   "width 25": (rows("10011", "11111", "01111"), 25),
                   "a mask that keeps nothing": (rows("110", "000", "001"), 50),
                   "a narrow kernel": (rows("1110", "1111", "1001", "1111"), 0.25),
                   "a narrow kernel, and no full mask": (rows("1110", "0111", "1000"), 0.424),
                   "a narrower one": (rows("1100", "1000", "0110", "0000"), 0.25)},
          instead="the formula", parts=("weights", "worth"),
          hints={"boolean subtract": "True and False cannot be subtracted: `~masks` turns them round, masks.sum(1) "
                                     "counts, masks.astype(float) makes numbers of them.",
                 "length-1|0-dim": "NumPy has functions of that name that take whole arrays.",
                 "shapes": "masks is (n, d), and there is one weight for each row: along which axis do you sum?"})
def proximity(masks, width):
    """proximity(masks, width): (the weights π (n,), how many equal samples they are worth)."""
    exponents = -(100 * (1 - np.sqrt(masks.mean(1)))) ** 2 / (2 * width ** 2)
    scaled = np.exp(exponents - exponents.max())
    return np.exp(exponents), round(float(scaled.sum() ** 2 / (scaled ** 2).sum()), 7)


def weights_of(masks, width):
    """The weights (n,) alone."""
    return proximity.__wrapped__(masks, width)[0]


@proximity.suspect
def _(got, masks, width):
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: the weights, and how many equal samples they are worth."
    if not vectors(got, len(masks)):
        return "The weights are a NumPy array with an entry for each mask, (n,)."
    pi, worth = got
    right, due = proximity.__wrapped__(masks, width)
    if same(pi, right):
        return _not_worth(worth, right, due)
    share, gone = masks.mean(1), ~masks
    if (share == 0).any() and same(pi[share > 0], right[share > 0]):
        return ("Only the mask that keeps nothing is wrong. It has length 0, and 0/0 is no number: its cosine counts "
                "as 0, its distance as 1.")
    if not np.isfinite(pi).all():
        return "There is a 0/0, or a number too large. The formula divides by the width, and in the cosine, alone."
    delta = 100 * (1 - np.sqrt(share))
    if found := mistaken(pi, right, [
            (_weights(delta / 100, width), "The distance is not multiplied by 100."),
            (_weights(delta * 100, width), "The 100 came in twice: the distance is multiplied by 100, the width stays "
                                           "as it is."),
            (_weights(100 * gone.mean(1), width), "The cosine is not the share of words that is kept: which root is in "
                                                  "the length of a vector of zeros and ones?"),
            (_weights(100 * (1 - np.sqrt(masks.sum(1))), width), "In the cosine the length of the mask that keeps "
                                                                 "all is missing."),
            (np.exp(-delta ** 2 / width ** 2), "The 2 in front of width² is missing."),
            (np.exp(-delta / (2 * width ** 2)), "The distance is squared."),
            (np.exp(-delta ** 2 / (2 * width)), "The width is squared."),
            (np.exp(-delta ** 2 / 2 * width ** 2), "The width multiplies here: in a / 2 * b only the 2 divides."),
            (np.exp(-delta ** 2 / (4 * width ** 2)), "The exponent is half of what it should be: 2·width² is meant, "
                                                     "not (2·width)², and no root is taken of the whole."),
            (_weights(100 * np.sqrt(gone.sum(1)), width), "That is the Euclidean distance. The cosine distance is "
                                                          "asked for."),
            (_weights(100 * np.sqrt(share), width), "That is the cosine. The distance is 1 minus it."),
            (_weights(100 * (1 - np.sqrt(gone.mean(1))), width), "The words that are *gone* were counted. A mask that "
                                                                 "keeps all has distance 0."),
            (right / max(1e-300, right.sum()), "The weights were divided by their sum. They stay as the formula gives "
                                               "them."),
            (right / max(1e-300, right.max()), "The weights were scaled so that the largest is 1. That is for the "
                                               "second number; the weights stay as the formula gives them.")
            ], (1e-6, 1e-250)):
        return found
    return "A weight is at most 1, that of the full mask. Is the exponent negative?" if (pi > 1 + 1e-9).any() else None


def _not_worth(worth, pi, due):
    """What is wrong with the second number, where the weights are right."""
    if not is_number(worth):
        return "The weights are right; what they are worth is one number."
    total, squares = pi.sum(), (pi ** 2).sum()
    if squares and not np.isfinite(float(worth)):
        return ("The weights are right. But something became too large for the computer, and inf/inf is no number. "
                "Which exponent has to become 0, so that no other lies above it?")
    if not squares:
        return (f"The weights are right. But {'their squares' if total else 'all of them'} come out as 0 here, because "
                "they are too small for the computer. Which number can be added to all exponents, before exp, without "
                "changing what they are worth?")
    return mistaken(float(worth), due, [
        (total, "The weights are right. Their sum says how often the nearest sample would count; it is not what they "
                "are worth."),
        (float(len(pi)), "The weights are right. But samples that weigh little are worth little."),
        (due / len(pi), "The weights are right. Asked for is a number of samples, not a share of n."),
        (1 / squares, "The weights are right. On top stands the square of their sum, which is not one."),
        (total / squares, "The weights are right. The sum on top is squared."),
        (squares / total ** 2, "The weights are right. What they are worth is turned upside down.")]) or (
        "The weights are right; what they are worth is (Σπ)²/Σπ².")
