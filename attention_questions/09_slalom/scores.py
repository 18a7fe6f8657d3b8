"""Check of assignment 09 on the score of a document of which tokens are there in part, and what its checks share."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["soft_score"]

LIBRARY = tuple(f"coursekit.explain.{name}" for name in (
    "Slalom", "fit_slalom", "fit_slalom_data", "variable_projection", "exact_shapley", "shapley_values", "kernel_shap"))

S = {"good": 1.0, "bad": 2.0, "film": -1.0, "the": 0.0}
V = {"good": 2.0, "bad": -3.0, "film": 0.5, "the": 4.0}
LOUD = {"good": 1000.0, "bad": 1001.0, "film": -1000.0, "the": -1001.5}


def alphas(s):
    """The softmax of importances (n,)."""
    e = np.exp(s - s.max())
    return e / e.sum()


# -- soft_score ------------------------------------------------------------------------------------------------------

def _soft(lam, s):
    return lam * np.exp(np.minimum(s - s[lam > 0].max(), 30.0))


def _whole(lam, s):
    return _soft(np.ones_like(lam), s)


@question((1, 2), {"all are there": (["good", "film"], np.ones(2), S, V),
                   "a word twice": (["good", "bad", "good"], np.ones(3), S, V),
                   "a word there, and gone": (["good", "bad", "good"], np.array([1.0, 1.0, 0.0]), S, V),
                   "there in part": (["good", "bad", "film"], np.array([1.0, 0.5, 0.25]), S, V),
                   "one is gone": (["good", "bad", "film"], np.array([1.0, 0.0, 1.0]), S, V),
                   "importances of a thousand": ("film bad good film".split(), np.array([1, 0.5, 1, 1]), LOUD, V),
                   "the loud ones are gone": (["bad", "film", "the"], np.array([0.0, 1.0, 0.5]), LOUD, V),
                   "nothing is there": (["good", "bad"], np.zeros(2), S, V),
                   "an empty document": ([], np.zeros(0), S, V)},
          returns="F", forbidden=LIBRARY, instead="the formula",
          promises={"an array of numbers from 0 (gone) to 1 (there)": lambda document, presence, s, v: (
                        presence.shape == (len(document),) and ((presence >= 0) & (presence <= 1)).all()),
                    "are dictionaries from words to numbers, and hold more words than the document":
                        lambda document, presence, s, v: {*document} < {*s} == {*v}},
          otherwise="Write the weights λ·e^s of the case as a list, and what they add up to. Then take the mean of the "
                    "values under them.",
          hints={"max\\(\\) arg|zero-size|empty sequence|ZeroDivision": "Where no token is there, nothing is the "
                 "largest, and nothing is there to be divided by: ask for that first. The score is 0 then."})
def soft_score(document, presence, s, v, *, above=_soft, below=None, over=lambda document, s: document):
    """soft_score(document, presence, s, v): F_λ of a document whose token i is there to the part presence[i]."""
    if not (presence > 0).any():
        return 0.0
    n, tokens = len(document), over(document, s)
    lam = np.append(presence, np.ones(len(tokens) - n))
    a, y = (np.array([table[word] for word in tokens]) for table in (s, v))
    return float(above(lam, a)[:n] @ y[:n] / (below or above)(lam, a).sum())


def _shifted(lam, s):
    return lam * np.exp(s - s.max())


def _once(document, presence, s, v):
    first = [document.index(word) for word in dict.fromkeys(document)]
    return soft_score.reference([document[i] for i in first], presence[first], s, v)


def _first_presence(document, presence, s, v):
    return soft_score.reference(document, np.array([presence[document.index(word)] for word in document]), s, v)


soft_score.mistakes(
    ("The largest importance was that of a token that is gone, and all others' weights became 0: take the largest of "
     "those that are there.", dict(above=_shifted, below=lambda lam, s: np.maximum(_shifted(lam, s), 1e-300))),
    ("λ is missing below: what is gone still takes its part of the weight. It stands in both sums.",
     dict(below=_whole)),
    ("λ is missing above: the sum of weights is smaller, and the sum of weighted values is not.",
     dict(above=_whole, below=_soft)),
    ("Each word was counted once. A word that stands there twice has two tokens, each with its weight.", _once),
    ("All tokens of a word had the presence of its first one. Each token has its own.", _first_presence),
    ("λ stands in the exponent here. Then a token with importance 0 cannot be removed; it is a factor before e^s.",
     dict(above=lambda lam, s: np.exp(np.minimum(lam * s - (lam * s).max(), 0)))),
    ("A token is there or not in this sum. It may be there to a half, and then has half its weight.",
     dict(above=lambda lam, s: _soft((lam > 0).astype(float), s))),
    ("The importances themselves were taken as weights: e^s is due.", dict(above=lambda lam, s: lam * s)),
    ("All tokens count alike here. Their weights are λ·e^s.", dict(above=lambda lam, s: lam)),
    ("The weights run over all words that have an importance. The sum is over the tokens of this document.",
     dict(over=lambda document, s: [*document, *(word for word in s if word not in document)])),
    ("Importances and values have changed places: e^v is not due anywhere.",
     lambda document, presence, s, v: soft_score.reference(document, presence, v, s)))


@soft_score.suspect
def _(got, document, presence, s, v):
    if kind(got) == "a number" and not np.isfinite(got):
        return ("That is no number. exp of a thousand is infinite, and 0/0 is nan. Only differences of importances "
                "count: which one may be taken from all, of the tokens that are there?")
    return None
