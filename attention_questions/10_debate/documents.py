"""The check of assignment 10 on two documents about which two tests of attention say opposite things."""

from attention_questions.prelude import Question, itertools, math, np

from . import solution

FEWEST, MOST, EPSILON = 5, 7, 0.01      # words, |Δp|
WORDS = {"the": (-1.5, 0.25), "film": (-1.0, 0.5), "plot": (-0.5, -0.5), "fine": (0.0, 1.0), "not": (1.5, -0.25),
         "but": (1.0, 0.1), "good": (0.5, 1.5), "great": (2.0, 2.0), "perfect": (-0.25, 4.0), "dull": (0.25, -1.5),
         "bad": (1.75, -2.0), "awful": (3.5, -3.0)}                     # log-weight and y, as in the notebook


def tests(document):
    """(τ of the weights with the exact Shapley values' sizes, divergence of the farthest adversary with |Δp| ≤ .01)."""
    s, y = np.array([WORDS[word] for word in document]).T
    e, n = np.exp(s), len(s)
    Z = np.array(list(itertools.product((0, 1), repeat=n)))
    F = (Z * e) @ y / np.maximum((Z * e).sum(1), 1e-300)
    share = [1 / n / math.comb(n - 1, k) for k in range(n)]
    phi = F @ [[share[z.sum() - 1] if there else -share[z.sum()] for there in z] for z in Z]
    alpha = e / e.sum()
    p = 1 / (1 + math.exp(-alpha @ y))
    low, high = (math.log(odds / (1 - odds)) for odds in (max(p - EPSILON, 1e-9), min(p + EPSILON, 1 - 1e-9)))
    return solution.tau(alpha, phi, np.arange(n)[None])[0], solution.farthest(alpha, y, low, high)[1]


opposite = Question(solution.opposite, (3, 0), {"your documents": ()},
    otherwise="Print both tests for your first document: which two words does attention put in another order than the "
              "sizes of their Shapley values? One of them has more attention than effect: what else could stand there?")


@opposite.judge
def _(got):
    due = f"two lists are due, each of {FEWEST} to {MOST} different words of the table"
    if type(got) not in (list, tuple) or len(got) != 2 or not all(type(one) in (list, tuple) for one in got):
        yield due, "Return two documents, each a list of words: text.split() makes one."
    if not all(_is_document(one) for one in got):
        yield due, "Words of the table, each at most once in a document, 5 to 7 in each."
    (one, far), (other, near) = map(tests, got)
    first = f"first document: τ = {one:.3f} and JS = {far:.3f}; at least 0.99 and 0.6 are due"
    if one < 0.99:
        yield first, None
    if far < 0.6:
        yield first, ("The first document's order is right. Its adversary must find two words with little attention, "
                      "between whose y the score lies: which word keeps it from that?")
    second = f"second document: τ = {other:.3f} and JS = {near:.3f}; at most 0 and 0.2 are due"
    if near > 0.2:
        yield second, ("The second document's adversary is still free. If one word has nearly all the attention and "
                       "the most extreme y, what can take its place?")
    if not other <= 1e-9:
        yield second, ("No adversary gets far from the second document. Its order is still too good: let the words "
                       "behind the first be the quieter, the more they say.")


def _is_document(words):
    return FEWEST <= len(words) <= MOST and all(isinstance(word, str) and word in WORDS for word in words) and (
        len({*words}) == len(words))
