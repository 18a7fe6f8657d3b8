"""Check of assignment 09 on the score of a document of which tokens are there in part, and what its checks share."""

from attention_questions.prelude import Question, kind, np

from . import solution

LIBRARY = tuple(f"coursekit.explain.{name}" for name in (
    "Slalom", "fit_slalom", "fit_slalom_data", "variable_projection", "exact_shapley", "shapley_values", "kernel_shap"))

S = {"good": 1.0, "bad": 2.0, "film": -1.0, "the": 0.0}
V = {"good": 2.0, "bad": -3.0, "film": 0.5, "the": 4.0}
LOUD = {"good": 1000.0, "bad": 1001.0, "film": -1000.0, "the": -1001.5}


def score(document, model):
    """F of a document under a SLALOM {word: (importance, value)}."""
    s, v = ({word: pair[i] for word, pair in model.items()} for i in (0, 1))
    return solution.soft_score(document, np.ones(len(document)), s, v)


# -- soft_score ------------------------------------------------------------------------------------------------------

soft_score = Question(solution.soft_score, (1, 2), {
    "all are there": (["good", "film"], np.ones(2), S, V),
    "a word twice": (["good", "bad", "good"], np.ones(3), S, V),
    "a word there, and gone": (["good", "bad", "good"], np.array([1.0, 1.0, 0.0]), S, V),
    "there in part": (["good", "bad", "film"], np.array([1.0, 0.5, 0.25]), S, V),
    "one is gone": (["good", "bad", "film"], np.array([1.0, 0.0, 1.0]), S, V),
    "importances of a thousand": ("film bad good film".split(), np.array([1, 0.5, 1, 1]), LOUD, V),
    "the loud ones are gone": (["bad", "film", "the"], np.array([0.0, 1.0, 0.5]), LOUD, V),
    "nothing is there": (["good", "bad"], np.zeros(2), S, V), "an empty document": ([], np.zeros(0), S, V)},
    returns="F", forbidden=LIBRARY, instead="the formula",
    why="Tokens that are gone are left out first, so that the largest importance is one that is there, and no "
        "exponential overflows.",
    promises={"an array of numbers from 0 (gone) to 1 (there)": lambda document, presence, s, v: (
                  presence.shape == (len(document),) and ((presence >= 0) & (presence <= 1)).all()),
              "are dictionaries from words to numbers, and hold more words than the document":
                  lambda document, presence, s, v: {*document} < {*s} == {*v}},
    otherwise="Write the weights λ·e^s of the case as a list, and what they add up to. Then take the mean of the "
              "values under them.",
    hints={"max\\(\\) arg|zero-size|empty sequence|ZeroDivision": "Where no token is there, nothing is the "
           "largest, and nothing is there to be divided by: ask for that first. The score is 0 then."})
ABOVE, KEPT = "weights @ [v[document[i]] for i in kept]", "kept = np.flatnonzero(presence)"
soft_score.mistakes(
    ("The largest importance was that of a token that is gone, and all others' weights became 0: take the largest of "
     "those that are there.", "a.max() → max(s[word] for word in document)",
     "weights.sum() → max(weights.sum(), 1e-300)"),                     # and whoever looks at 0/0 takes care of it so
    ("λ is missing below: what is gone still takes its part of the weight. It stands in both sums.",
     "weights.sum() → np.exp([s[word] - a.max() for word in document]).sum()"),
    ("λ is missing above: the sum of weights is smaller, and the sum of weighted values is not.",
     f"{ABOVE} → np.exp([s[word] - a.max() for word in document]) @ [v[word] for word in document]"),
    ("Each word was counted once. A word that stands there twice has two tokens, each with its weight.",
     f"{KEPT} → kept = [i for i in range(len(document)) if presence[i] and document[i] not in document[:i]]"),
    ("All tokens of a word had the presence of its first one. Each token has its own.",
     f"{KEPT} → presence = np.array([presence[document.index(word)] for word in document])\n    {KEPT}"),
    ("All tokens of a word had the presence of its last one. Each token has its own.",
     f"{KEPT} → presence = np.array([dict(zip(document, presence))[word] for word in document])\n    {KEPT}"),
    ("λ stands in the exponent here. Then a token with importance 0 cannot be removed; it is a factor before e^s.",
     "a = np.array([s[document[i]] for i in kept]) → kept = range(len(document))\n"
     "    a = presence * [s[word] for word in document]", "presence[kept] * np.exp → np.exp"),
    ("A token is there or not in this sum. It may be there to a half, and then has half its weight.",
     "presence[kept] * → "),
    ("The importances themselves were taken as weights: e^s is due.", "np.exp(a - a.max()) → a"),
    ("All tokens count alike here. Their weights are λ·e^s.", " * np.exp(a - a.max()) → "),
    ("The weights run over all words that have an importance. The sum is over the tokens of this document.",
     "weights.sum() → (weights.sum() + np.exp([s[word] - a.max() for word in s if word not in document]).sum())"),
    ("Importances and values have changed places: e^v is not due anywhere.", "kept = → s, v = v, s\n    kept ="))


@soft_score.suspect
def _(got, document, presence, s, v):
    if kind(got) == "a number" and not np.isfinite(got):
        yield ("That is no number. exp of a thousand is infinite, and 0/0 is nan. Only differences of importances "
               "count: which one may be taken from all, of the tokens that are there?")
