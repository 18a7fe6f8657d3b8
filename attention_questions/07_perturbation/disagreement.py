"""The check of assignment 07 on a text about which LIME and Shapley values disagree."""

import functools

import numpy as np

from coursegrade.kit.question import question

from .black_box import words_of
from .sharing import all_masks, shapley
from .surrogate import lime

__all__ = ["apart"]

MOST, WANTED = 8, 1.0       # distinct words, distance


@functools.cache
def _peaky():
    from coursekit.models import load_weights

    return load_weights("imdb-peaky")


def _compared(text):
    """(words, LIME's coefficients with all masks and without a ridge, Shapley values) of a text for `imdb-peaky`."""
    document, predict = _peaky().tokenizer.tokenize(text), _peaky().predict
    words = words_of(document)
    beta, _, _ = lime.reference(predict, document, all_masks(len(words)), "replace", 25, 0.0)
    return words, beta, shapley.reference(predict, document, "replace")


@question((1, 0), {"your text": ()},
          otherwise="Where the score is about a sum over the words, the two agree. Where does this model stop adding "
                    "up? Try words that say the same, and few others: what does a second one add to the first?")
def apart():
    """apart(): a text of at most 8 distinct words, one of which has values by LIME and Shapley at least 1 apart."""
    return "Worst waste"


@apart.judge
def _(text):
    if type(text) is not str:
        return "a text is due, one string"
    found = words_of(_peaky().tokenizer.tokenize(text))
    if not 0 < len(found) <= MOST:
        return f"this text has {len(found)} distinct words; 1 to {MOST} are due"
    words, beta, phi = _compared(text)
    j = np.argmax(abs(beta - phi))
    if (distance := abs(beta - phi)[j]) < WANTED:
        return (f"furthest apart is “{words[j]}”: LIME {beta[j]:+.2f}, Shapley {phi[j]:+.2f}, a distance of "
                f"{distance:.2f}; {WANTED} is due")
    return None


@apart.suspect
def _(text):
    if type(text) is not str:
        return "Return the text itself, in quotes: the check cuts it into words."
    if not 0 < len(words_of(_peaky().tokenizer.tokenize(text))) <= MOST:
        return "Marks count as words, a word that comes again does not. (The two explainers were not asked yet.)"
    return None


apart.mistakes(
    ("These words disagree, and their effects add up all the same: the two explainers see a sum.",
     lambda: "not good"),
    ("Words that the model hardly reads have nothing to disagree about.", lambda: "the film"))
