"""The check of assignment 09 on a document in which a line and a SLALOM disagree about the sign of a word."""

from attention_questions.prelude import Question, itertools, np
from coursegrade.kit.question import GATE

from . import solution
from .scores import score

MOST, KNOWN = 8, 0.9129      # tokens; the largest disagreement, found by trying all 43,757 documents
WORDS = solution.table       # importance and value of each word


def line(document):
    """Coefficients (n,) of the line with intercept nearest to F on all copies of a document without some tokens."""
    Z = np.array(list(itertools.product((0, 1), repeat=len(document))))
    F = [score([*itertools.compress(document, z)], WORDS) for z in Z]
    return np.linalg.lstsq(np.column_stack([Z, np.ones(len(Z))]), F, rcond=None)[0][:-1]


def disagreement(document):
    """(the word on whose sign the line and SLALOM disagree most, its value, its coefficient, by how much): the smaller
    of the two numbers' sizes where their signs differ, 0 elsewhere."""
    beta, v = line(document), np.array([WORDS[word][1] for word in document])
    apart = np.where(beta * v < 0, np.minimum(abs(beta), abs(v)), 0.0)
    j = int(apart.argmax())
    return document[j], v[j], beta[j], apart[j]


disagree = Question(solution.disagree, (2, 1), {"your document": ()}, known=KNOWN,
    why="Among words that say worse, *bad* takes attention from them, and so lifts the score. With four of them it "
        "does in nearly every company.",
    otherwise="Print the table for a document of two words, one that says much and one that says little: which of them "
              "lowers the score that the other has without it? Then see what more copies of a word do.")


@disagree.judge
def _(document):
    due = f"a list of 1 to {MOST} words of this SLALOM is due"
    if type(document) not in (list, tuple):
        yield due, "Return a list of words: text.split() makes one of a text, .tolist() of an array."
    if strange := [word for word in document if str(word) not in WORDS]:
        yield f"“{strange[0]}” is not in the table; {due}", "Words of the table, as they are written there."
    if not 0 < len(document) <= MOST:
        yield due, "Words of the table, as often as you like, 8 at most in all."
    word, v, beta, apart = disagreement(document)
    if not apart:
        yield "no word has a coefficient of the other sign than its value", None
    if apart < GATE * KNOWN:
        yield (f"they disagree most on “{word}”: SLALOM's value is {v:+.2f}, the line's coefficient {beta:+.2f}, a "
               f"disagreement of {apart:.2f}; {GATE * KNOWN:.2f} is due"), (
            "The line could not be clearer; but this word says too little on its own, so that SLALOM hardly has a sign "
            "for it. Is there one that says more?" if abs(v) < GATE * KNOWN else
            "The word says enough on its own, and the line does not turn it down enough yet. What must be around it, "
            "and how often?")


@disagree.measure
def _(document):
    return disagreement(document)[3]
