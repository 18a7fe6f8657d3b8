"""Checks of assignment 09 on finding a SLALOM: from single tokens and pairs, and by least squares."""

import zlib

from attention_questions.prelude import CheckFailed, Question, kind, math, np, same, services

from . import solution
from .scores import LIBRARY, score

# -- recover ---------------------------------------------------------------------------------------------------------

OTHERS = ("All words were measured from one, the {}. Without noise that is as good; with noise a word whose value is "
          "near that one's is lost. Choose for each word a reference far away.")
ALIKE = ("Two words that say the same, v_k = v_r, say it together as well, whatever their importances are: F − v_r and "
         "v_k − F are both 0. And under noise a pair of nearly one value may lie outside of both. Pair the word with "
         "one that is far away.")
LEVEL = ("All importances are off by the same number: the differences are right. Take away their *mean*, over all "
         "words, so that they add up to 0.")
SCALE = ("Some words are off by one number and the others by another: what was measured from a reference has that "
         "one's scale. A word has its distance from its reference *and* what that reference has.")
NOISY, NEAR = 0.02, 1e-6       # how far an importance may be off, with noise and without


def asked(model, words, noise=0.0):
    """Arguments of an answer, for a SLALOM {word: (importance, value)} that reads one or two tokens: ask(document), of
    which ask.calls has the documents, and the words. A document's score is off by up to `noise`, always alike."""
    def ask(document):
        if type(document) not in (list, tuple) or len(document) not in (1, 2) or not {*document} <= {*model}:
            raise ValueError("ask takes a list of one or two words of its vocabulary")
        ask.calls.append(tuple(document))
        draw = np.random.default_rng(zlib.crc32(" ".join(sorted(document)).encode()))
        return score(document, model) + noise * draw.uniform(-1, 1)

    ask.calls = []
    return ask, list(words)


def _case(noise=0.0, **model):
    return model, list(model), noise


def thrifty(answer, arguments):
    """Raise CheckFailed if more than 2|V| − 1 documents were asked about."""
    ask, words = asked(*arguments)
    services.run(answer, (ask, words))
    if len(ask.calls) > 2 * len(words) - 1:
        raise CheckFailed(f"ask was called {len(ask.calls)} times for {len(words)} words, and {2 * len(words) - 1} are "
                          "enough: each word alone, and each word but one in one pair. Keep what you were told.")


def _from_one(first, same=None):
    """An answer that measures all words from the one that `first` picks; those of the same value from the first other
    one, or they get the importance `same`."""
    def answer(ask, words):
        v = {word: ask([word]) for word in words}
        one = first(v, words)
        other = next(word for word in words if v[word] != v[one])

        def distance(k, r):
            F = ask([k, r])
            return math.log((F - v[r]) / (v[k] - F))

        eta = {one: 0.0, other: distance(other, one)}
        for word in words:
            if word not in eta:
                eta[word] = distance(word, one) if v[word] != v[one] else (
                    distance(word, other) + eta[other] if same is None else same)
        level = sum(eta.values()) / len(words)
        return {word: eta[word] - level for word in words}, v
    return answer


def _values(model):
    return [value for _, value in model.values()]


recover = Question(solution.recover, (2, 4), {
    "three words": _case(film=(-1.0, 0.5), good=(-0.5, 2.0), bad=(1.5, -3.0)),
    "the second says what the first says": _case(good=(1.0, 2.0), fine=(-0.5, 2.0), bad=(2.0, -3.0), film=(0.25, 0.5)),
    "all but the last say the same": _case(a=(0.0, 0.25), of=(-1.0, 0.25), the=(0.5, 0.25), good=(3.0, 2.0)),
    "values near each other": _case(film=(0.5, 0.3), plot=(-0.5, 0.31), the=(1.0, 0.31)),
    "two words": _case(good=(3.0, 1.0), bad=(-4.0, -1.0)),
    "noise of 0.001": _case(film=(0.5, 0.0), plot=(-0.75, 0.02), perfect=(-0.5, 3.0), great=(0.75, 2.97),
                            awful=(1.0, -2.999), terrible=(-1.0, -3.0), noise=0.001)},
    promises={"There are two words at least": lambda model, words, noise=0: {*words} == {*model} and len(words) > 1,
              "not all values are the same": lambda model, words, noise=0: len({*_values(model)}) > 1,
              "the smallest and the largest value are at least 5 apart, importances lie within ±1.5":
                  lambda model, words, noise=0: not noise or (
                      max(_values(model)) - min(_values(model)) >= 5
                      and max(abs(s) for s, _ in model.values()) <= 1.5)},
    returns="s, v", given=asked, also=thrifty, forbidden=LIBRARY, instead="`ask`",
    why="All words are measured from the two whose values lie furthest out, each from the farther one: then noise of "
        "0.001 is never much of the way between two values.",
    otherwise="Two words by hand: F = v_r + α(v_k − v_r) gives you α, the weight of word k in the pair. And α is a "
              "function of s_k − s_r alone: which?",
    hints={r"ask(\(\))? takes": "Read the line of the error: that is what the model said to your question.",
           "ZeroDivision|math domain": ALIKE})
recover.mistakes(
    ("The importances are turned round: the word whose value is nearer to the pair's score has the larger weight.",
     "(F - v[r]) / (v[k] - F) → (v[k] - F) / (F - v[r])"),
    (LEVEL, "eta[word] - level → eta[word]"), (LEVEL, "/ len(words) → / (len(words) - 1)"),
    ("That is log α, with α the word's weight in the pair. s_k − s_r is the log of α over the *other* one's weight.",
     "v[k] - F → v[k] - v[r]"),
    ("That is the word's weight in the pair, and not yet an importance.",
     "math.log((F - v[r]) / (v[k] - F)) → (F - v[r]) / (v[k] - v[r])"),
    ("That is e to the power of s_k − s_r: a logarithm is missing.", "math.log((F → ((F"),
    ("A word that says what the first one says got the importance of the first. Its pair with that word says nothing "
     "of importances: pair it with another one.", _from_one(lambda v, words: words[0], 0.0)),
    ("A word that says what the reference says got its importance. Their pair says nothing of importances: pair it "
     "with another one.", _from_one(lambda v, words: min(words, key=v.get), 0.0)),
    (SCALE, " + eta[r] → "),
    (OTHERS.format("first one"), _from_one(lambda v, words: words[0])),
    (OTHERS.format("one with the least value"), _from_one(lambda v, words: min(words, key=v.get))),
    (OTHERS.format("one with the largest value"), _from_one(lambda v, words: max(words, key=v.get))))



@recover.judge
def _(got, model, words, noise=0.0):
    if type(got) not in (tuple, list) or len(got) != 2 or any(kind(part) != "a dictionary" for part in got):
        said = kind(got) if type(got) not in (tuple, list) else ", ".join(map(kind, got))
        yield (f"got {said}; two dictionaries from words to numbers are due",
               "Importances and values are looked up by word: return two dictionaries, `{word: number, …}` each.")
    s, v = got
    if same(s, {word: model[word][1] for word in words}, (NEAR, NEAR)):
        yield "the importances are the model's values", "The two have changed places: importances, then values."
    level = sum(model[word][0] for word in words) / len(words)
    for what, mine, true in (("value", v, {word: model[word][1] for word in words}),
                             ("importance", s, {word: model[word][0] - level for word in words})):
        if mine.keys() != true.keys():
            yield f"the {what}s are those of {', '.join(mine)}; those of {', '.join(true)} are due", None
        if strange := [entry for entry in mine.values() if kind(entry) not in ("a number", "a whole number")]:
            yield f"{kind(strange[0])} stands among the {what}s; numbers are due", None
        off = {word: abs(mine[word] - true[word]) for word in true}
        if bad := [word for word in off if np.isnan(off[word])]:
            yield f"the {what} of {bad[0]} is no number", ALIKE
        word = max(off, key=off.get)
        if off[word] > (NOISY if noise else NEAR):
            by = sorted({round(mine[word] - true[word], 2 if noise else 6) for word in true})
            yield f"the {what} of {word} is {mine[word]:.6g}, and it should be {true[word]:.6g}", (
                LEVEL if len(by) == 1 else SCALE
                if len(by) == 2 < len(true) and what == "importance" else
                "Without noise it was right. How far apart are the values of the two words in this word's pair? Noise "
                "of 0.001 is a large part of a short way." if noise else None)


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


best_values = Question(solution.best_values, (1, 1), {
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
    why="With the importances fixed, the score is linear in the values: a table of weights, and least squares. Words "
        "that are nowhere have a column of zeros, and the shortest solution gives them 0.",
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
