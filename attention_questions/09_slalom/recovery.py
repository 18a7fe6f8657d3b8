"""Checks of assignment 09 on finding a SLALOM: from single tokens and pairs, and by least squares."""

from attention_questions.prelude import CheckFailed, Question, kind, np, services

from . import solution
from .scores import LIBRARY, score

# -- recover ---------------------------------------------------------------------------------------------------------

def asked(model, words):
    """Arguments of an answer, for a SLALOM {word: (importance, value)} that reads one or two tokens: ask(document), of
    which ask.calls has the documents, and the words."""
    def ask(document):
        if type(document) not in (list, tuple) or len(document) not in (1, 2) or not {*document} <= {*model}:
            raise ValueError("ask takes a list of one or two words of its vocabulary")
        ask.calls.append(tuple(document))
        return score(document, model)

    ask.calls = []
    return ask, list(words)


def _case(**model):
    return model, list(model)


def thrifty(answer, arguments):
    """Raise CheckFailed if more than 2|V| − 1 documents were asked about."""
    ask, words = asked(*arguments)
    services.run(answer, (ask, words))
    if len(ask.calls) > 2 * len(words) - 1:
        raise CheckFailed(f"ask was called {len(ask.calls)} times for {len(words)} words, and {2 * len(words) - 1} are "
                          "enough: each word alone, and each word but the first in one pair. Keep what you were told.")


recover = Question(solution.recover, (2, 3), {
    "three words": _case(film=(-1.0, 0.5), good=(0.5, 2.0), bad=(2.0, -3.0)),
    "the second says what the first says": _case(good=(1.0, 2.0), fine=(-0.5, 2.0), bad=(2.0, -3.0), film=(0.25, 0.5)),
    "all but the last say the same": _case(a=(0.0, 0.25), of=(-1.0, 0.25), the=(0.5, 0.25), bad=(3.0, -2.0)),
    "values near each other": _case(film=(0.5, 0.3), plot=(-0.5, 0.31), the=(1.0, 0.31)),
    "two words": _case(good=(3.0, 1.0), bad=(-4.0, -1.0))},
    promises={"There are two words at least": lambda model, words: {*words} == {*model} and len(words) > 1,
              "not all values are the same": lambda model, words: len({model[word][1] for word in words}) > 1},
    returns="s, v", given=asked, also=thrifty, forbidden=LIBRARY, instead="`ask`",
    otherwise="Two words by hand: F = v_r + α(v_k − v_r) gives you α, the weight of word k in the pair. And α is a "
              "function of s_k − s_r alone: which?",
    hints={"StopIteration": "There is a second reference here that was not found: any word whose value is not that of "
                            "the first, however near the two are.",
           r"ask(\(\))? takes": "Read the line of the error: that is what the model said to your question.",
           "ZeroDivision|math domain": "Two words that say the same, v_k = v_r, say it together as well, whatever "
                                       "their importances are: pair the word with another one."})
recover.mistakes(
    ("The importances are turned round: the word whose value is nearer to the pair's score has the larger weight.",
     "(F - v[r]) / (v[k] - F) → (v[k] - F) / (F - v[r])"),
    ("These are importances relative to a word, and they do not add up to 0 yet.", "eta[word] - level → eta[word]"),
    ("That is log α, with α the word's weight in the pair. s_k − s_r is the log of α over the *other* one's weight.",
     "v[k] - F → v[k] - v[r]"),
    ("That is the word's weight in the pair, and not yet an importance.",
     "math.log((F - v[r]) / (v[k] - F)) → (F - v[r]) / (v[k] - v[r])"),
    ("A word that says what the first one says got the importance of the first. Its pair with that word says nothing "
     "of importances: pair it with another one.", "distance(word, other) + eta[other] → 0.0"),
    ("A word that was paired with a second reference has its importance relative to *that*: its distance to the first "
     "word is missing.", " + eta[other] → "))


@recover.suspect
def _(got, model, words):
    found = got[0].values()
    if any(kind(number) == "a number" and not np.isfinite(number) for number in found):
        yield ("An importance is no number: F − v_r and v_k − F are both 0 where two words have one value. Which "
               "other word can such a word be paired with?")


# -- best_values -----------------------------------------------------------------------------------------------------

IMPORTANCES = {"good": 1.0, "bad": 2.0, "film": -1.0, "the": 0.0}
DOCUMENTS = [["good"], ["good", "film"], ["bad", "film", "film"], ["bad", "good"], ["film", "good", "good", "bad"],
             ["film"], ["bad", "film"]]
EMPTY = ("The sum of squares that lstsq returns is empty where a column of the table is: compute the loss from the "
         "table, the values and the scores.")
HEARD = np.array([2.0, 1.5, -3.5, -1.0, 0.25, 0.5, -2.0])


def _table(documents, s):
    """The weights (n, V) that a SLALOM with these importances gives the words."""
    rows = np.array([[document.count(word) for word in s] for document in documents]) * np.exp(list(s.values()))
    return rows / rows.sum(1, keepdims=True)


best_values = Question(solution.best_values, (2, 2), {
    "some documents": (DOCUMENTS, HEARD, {word: IMPORTANCES[word] for word in ("good", "bad", "film")}),
    "a word that is nowhere": (DOCUMENTS, HEARD, IMPORTANCES),
    "all importances 0": (DOCUMENTS[1:], HEARD[1:], dict.fromkeys(("film", "bad", "good"), 0.0)),
    "one word": ([["no"], ["no", "no"], ["no"]], np.array([-1.0, -2.5, -1.0]), {"no": 3.0})},
    promises={"none of them empty, their `scores` $(n,)$, and the importances of all words":
                  lambda documents, scores, s: all(documents) and {*sum(documents, [])} <= {*s},
              "the values of words that do occur have one best choice": lambda documents, scores, s: (
                  np.linalg.matrix_rank(_table(documents, s)) == len({*sum(documents, [])})),
              "No importance is so large that $e^{s}$ overflows here": lambda documents, scores, s: (
                  max(map(abs, s.values())) < 300)},
    returns="v, the loss", forbidden=LIBRARY, instead="np.linalg.lstsq",
    otherwise="Print your table A for the document *film, good, good, bad*: do the weights of its words add up to 1, "
              "and has *good* twice that of one *good*? The loss is the mean of (A v − scores)².",
    hints={"SVD": "A row of your table is no number: it was divided by its sum, 0. A word counts with e^s, and sums of "
                  "those are above 0.",
           "axis 0 with size 0": EMPTY, "Singular": "A word that is in no document leaves a column of zeros, and "
                                                    "AᵀA has no inverse. np.linalg.lstsq gives such a word 0."})
FIT, LOSS = "v = np.linalg.lstsq(A, scores, rcond=None)[0]", "np.mean((A @ v - scores) ** 2)"
best_values.mistakes(
    ("A word that stands in a document twice has twice the weight of one that stands there once: it was counted once.",
     "document.count(word) → (word in document)"),
    ("The weights of a document's words do not add up to 1 here: divide each row by its sum.",
     "A /= A.sum(1, keepdims=True) → "),
    ("The importances were left out: these are shares of words, as if each s were 0.", "math.exp(s[word]) → 1.0"),
    ("Each row was divided by the number of tokens. A softmax divides by the sum of what e^s makes of them.",
     "A.sum(1, keepdims=True) → np.array([[len(document)] for document in documents])"),
    ("SLALOM has no intercept: what a document says is all in its tokens' values.",
     f"{FIT} → A = np.column_stack([A, np.ones(len(A))])\n    {FIT}", "strict=True → strict=False"),
    (EMPTY, f"{FIT} → v, squares = np.linalg.lstsq(A, scores, rcond=None)[:2]",
     f"{LOSS} → squares.sum() / len(scores)"),
    ("The loss is a sum of squares here. It is their mean.", "np.mean → np.sum"),
    ("The loss is the root of what is due.", f"{LOSS} → np.sqrt({LOSS})"))
