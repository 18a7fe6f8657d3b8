"""Checks of assignment 07 on perturbed documents, and on what the score loses when a word goes."""

from attention_questions.prelude import Question, kind, np, same

from . import solution
from .black_box import LIBRARY, PASSED_ON, TURNED, UNK, boxed, rows, thrifty

NO, BAD = ["no", "no", "fun", "no", "plot"], ["bad", "film", ",", "bad"]    # a word comes again before the last new one


# -- perturbed -------------------------------------------------------------------------------------------------------

FOOD = ["food", "Food", "food", ",", "bad", "mood", ",", "good"]         # 6 distinct words
WAY = ["no", "no", "not", "no", "way"]


perturbed = Question(solution.perturbed, (1, 1), {
    "replace": (FOOD, rows("100100")[0], "replace"), "delete": (FOOD, rows("100010")[0], "delete"),
    "delete, the same word in a row": (WAY, rows("010")[0], "delete"),
    "delete, and [UNK] is a word": ([UNK, "film", UNK, "!"], rows("101")[0], "delete"),
    "replace, and [UNK] is a word": (["a", UNK, "film", UNK, "!"], rows("1001")[0], "replace"),
    "nothing is kept, replace": (WAY, rows("000")[0], "replace"),
    "nothing is kept, delete": (WAY, rows("000")[0], "delete"),
    "a tuple as mask": (FOOD, (True, False, True, True, False, False), "delete"),
    "an empty document": ([], np.zeros(0, dtype=bool), "replace")},
    forbidden=LIBRARY, instead="a loop over the words",
    why="The words that go are collected in a set, by the mask; then each token is asked whether it is among them, so "
        "all its occurrences go.",
    otherwise="Print the distinct words, and those of them that go: are they the ones whose entry is False?",
    hints={r"^.*: .*a tuple": "The mask is a tuple here, and this line does with it what only arrays can do. "
                              "np.array(mask, dtype=bool) makes an array of either kind.",
           "IndexError|scalar index|'set' object":
           "The mask has an entry for each distinct *word*, by first occurrence: dict.fromkeys(document) has the words "
           "in that order (a set has none), and zip walks over words and mask together."},
    promises={"a mask with an entry for each of its **distinct** words": lambda document, mask, by: (
                  len(mask) == len(set(document)))})

STAYS = "[word for word in document if word not in gone]"
BY_PLACE = ("The mask was laid over the *places* of the document. It has an entry for each distinct word, and what it "
            "says holds for all occurrences of that word.")

perturbed.mistakes(
    (BY_PLACE, lambda document, mask, by: [
        word if kept else UNK for word, kept in zip(document, mask, strict=False) if kept or by == "replace"]),
    (BY_PLACE, "dict.fromkeys(document) → document"),
    ("The wrong words went. True in the mask means that a word is *kept*.", "if not kept → if kept"),
    (f"\"replace\" puts {UNK} in the place of a word, \"delete\" takes it out: `by` says which.",
     'by == "delete" → by == "replace"'),
    ("Only the first occurrence of a word went. When a word goes, it goes wherever it stands.",
     f"{STAYS} → [word for i, word in enumerate(document) if word not in gone or word in document[:i]]",
     "word in gone else word for word in document → "
     "word in gone and word not in document[:i] else word for i, word in enumerate(document)"),
    ("`remove` takes out the first occurrence only. When a word goes, it goes wherever it stands.",
     f"return {STAYS} → copy = list(document)\n        for word in gone:\n            copy.remove(word)\n"
     "        return copy"),
    ("*Food* and *food* are one word here. They are two: words are compared to the letter.",
     "if not kept} → if not kept}\n    gone = {word for word in document if word.lower() in map(str.lower, gone)}"),
    ("Every word went, and the mask is an array. NumPy's True is not Python's: `kept is True` never holds; `if kept` "
     "works with all masks.", "not kept → kept is not True"),
    (f"An empty string stands where {UNK} is due: a model is to read that something was there.",
     f'["{UNK}" if → ["" if'),
    ("Some occurrences were skipped: while a loop runs over a list, `remove` moves the rest up. Build a new list of "
     "what stays.", f"return {STAYS} → copy = list(document)\n        for word in copy:\n            if word in gone:\n"
                    "                copy.remove(word)\n        return copy"),
    (f"This document has a word {UNK} of its own, which is kept here. (Was everything that goes replaced first, and "
     f"then every {UNK} deleted?)", f'{STAYS} → [word for word in document if word not in gone and word != "{UNK}"]'),
    ("Every word went. The mask is a tuple of Python's True and False here: `~True` is −2, which counts as true, and "
     "nothing is np.True_. `not kept` works with all masks; np.array(mask, dtype=bool) makes an array of any.",
     "not kept → ~kept"),
    ("Nothing went here. (Only an array compares entry by entry: `mask == False` is one False for a tuple. And NumPy's "
     "False is not Python's: `kept is False` never is true.)", "not kept → False"),
    ("Each token came back once. The copy has all occurrences of the words that stay.",
     f"{STAYS} → [word for word in dict.fromkeys(document) if word not in gone]"))


@perturbed.suspect
def _(got, document, mask, by):
    if type(got) not in (list, tuple) or {kind(word) for word in got} - {"a string"}:
        yield f"Return a plain list of Python's strings, {UNK} among them. (`.tolist()` makes one of a NumPy array.)"
    stay = [got.count(word) >= document.count(word) for word in dict.fromkeys(document)]
    if sum(stay) == sum(map(bool, mask)) and list(got) == solution.perturbed(document, stay, by):
        yield ("As many words went as should, but other ones. Entry j of the mask belongs to the j-th distinct word, "
               "by *first* occurrence: not by the alphabet, nor by last occurrence, nor as a set has them, which has "
               "no order. (dict.fromkeys keeps it.)")


# -- leave_one_out ---------------------------------------------------------------------------------------------------

VIEW = {"": 0.5, "good": 2.0, "not good": -3.25, "film": 0.25, UNK: 0.125}
CLASSES = [{"good": 1.0, "#": 0.25}, {"": 0.5, "bad good": -2.0}, {"bad": 1.5, UNK: -0.25}]


def _one_less(document):
    """Masks (d + 1, d): all words, then all but each."""
    return np.vstack([np.ones(len(set(document)), bool), ~np.eye(len(set(document)), dtype=bool)])


leave_one_out = Question(solution.leave_one_out, (1, 0), {
    "replace": (VIEW, ["the", "film", "is", "not", "good"], "replace"),
    "a word that occurs twice": ({"bad": -2.0, "film": 0.75}, BAD, "replace"),
    "delete": ({"#": 0.5, "bad": -1.25, UNK: 4.0}, BAD, "delete"),
    "a word again and again": ({"no": -1.0, "fun": 0.5, "no plot": -0.75}, NO, "replace"),
    "three classes": (CLASSES, ["bad", "good", "bad", "bad"], "replace"),
    "one word": ({"": 1.0, "good": 0.5}, ["good"], "delete"), "an empty document": ({"": 1.0}, [], "replace")},
    returns="(d,)", given=boxed, forbidden=LIBRARY, instead="`perturbed` and one call of predict", lend=("perturbed",),
    also=thrifty(lambda box, document, by: 1 + len(set(document)),
                 "It takes the document itself, and a copy for each distinct word."),
    uses=lambda box, document, by: [(perturbed, (document, mask, by)) for mask in _one_less(document)],
    why="The document and all copies go into one list, so that one call is enough. NumPy subtracts rows of classes as "
        "it subtracts numbers.",
    otherwise="Print the copies: does copy j lack word j, and only that word?",
    hints={r"^three classes.*\n.*\n.*(length-1|0-dim|element with a sequence|scalar)":
           "This model has three classes: a score is a row of three numbers here, no single number, and the result is "
           "(d, 3). NumPy subtracts rows as well.",
           "ufunc 'invert'": "`~` turns True and False round, and np.eye(d) holds decimals. It can be told to make "
                             "booleans."})

LOSS = "scores[0] - scores[1:]"
leave_one_out.mistakes(
    (TURNED, f"{LOSS} → scores[1:] - scores[0]"),
    ("Only one place went at a time. Here a *word* goes, and with it all its occurrences; the result has an entry for "
     "each distinct word.",
     "perturbed(document, mask, by) for mask in masks → document, *("
     'document[:t] + ["[UNK]"] * (by == "replace") + document[t + 1:] for t in range(len(document)))'),
    PASSED_ON,
    ("Those are the scores of the copies. How much *less* is each than the score of the document?",
     f"{LOSS} → scores[1:]"),
    ("Those are all scores, that of the document first. Asked for are the differences.", f"{LOSS} → scores"),
    ("Here only one word was *kept* at a time. One word goes, and all others stay.", "~np.eye → np.eye"),
    ("The sign is lost. A word that speaks against the score gets a minus.", f"{LOSS} → abs({LOSS})"))


@leave_one_out.suspect
def _(got, box, document, by):
    right = solution.leave_one_out(*boxed(box, document, by))
    if right.ndim == 2 and got.ndim == 1:
        yield "This model has several classes: predict returns (n, C), and the result is (d, C)."
    if got.shape == right.shape and same(np.sort(got, 0), np.sort(right, 0)):
        yield "The right values are there, in another order. (A set has no order; dict.fromkeys keeps the first one.)"
