"""Checks of assignment 11 on attention maps: what they depend on, and what is left when they are exchanged."""

from attention_questions.prelude import Question, np

from . import solution
from .counting import LIBRARY

IDS = np.array([[2, 0, 4, 0, 6, 0], [5, 5, 1, 3, 1, 5]])


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _equal(ids):
    """(n, T, T): do both places have the same letter?"""
    return ids[:, :, None] == ids[:, None]


# -- loudness --------------------------------------------------------------------------------------------------------

def _noisy(ids, own, same, noise, seed=0):
    """Maps (n, T, T) with these loudnesses, but for noise."""
    scores = np.where(np.eye(ids.shape[1]), np.log(own), np.log(same) * _equal(ids))
    return softmax(scores + noise * np.random.default_rng(seed).normal(size=scores.shape)), ids


loudness = Question(solution.loudness, (2, 2), {
    "exactly": _noisy(IDS, 5.0, 3.0, 0), "with noise": _noisy(IDS, 9.0, 1.5, 0.4),
    "the own place is quiet": _noisy(IDS[1:], 0.25, 2.0, 0.3, 1), "very sharp": _noisy(IDS, 3e4, 8e3, 1.0, 2)},
    promises={"All entries are above 0": lambda A, ids: A.min() > 0,
              "no place is empty": lambda A, ids: ids.min() >= 0,
              "some letter of some word has both an equal and a different one": lambda A, ids: any(
                  1 < n < ids.shape[1] for n in solution.tally(ids).flat)},
    returns="own, same", forbidden=("coursekit.worlds.histogram.nearest_ab",), instead="np.linalg.lstsq",
    otherwise="Take one row of the first case. Every entry is e^score over the same sum: what is the logarithm of one "
              "of them less that of another? Does your fit see that the sum is another one in each row?",
    hints={"matmul|shapes|dimension": "lstsq takes a table with a row for each entry of the maps, n·T·T of them, and a "
                                      "column for each unknown: reshape."})
loudness.mistakes(
    ("Each row of a softmax is divided by a sum of its own, and its logarithms are shifted by that: take the mean of "
     "each row away, on both sides.", " - part.mean(-1, keepdims=True) → "),
    ("The means of the rows were taken from log A alone: take them from the columns of the table as well.",
     "own, same, y = (part → y, = (part", "(own, same, np.log(A)) → [np.log(A)]"),
    ("The means were taken down the columns. A row of a map, A[i, j] over all j, lies along the last axis.",
     "mean(-1 → mean(-2"),
    ("One level for all rows: each row has a sum of its own, so each needs one.", "mean(-1, keepdims=True) → mean()"),
    ("A fit for each word, and then a mean. One fit is due, over all entries of all maps.",
     lambda A, ids: tuple(np.mean([solution.loudness(A[i:i + 1], ids[i:i + 1]) for i in range(len(A))], 0))),
    ("`own` is here how much louder the own place is than *other places with the same letter*. In the table, the "
     "second column is 0 at the own place.", " * (1 - own) → "),
    ("The least squares are right, and e^ is missing: a sum in the scores is a factor in the attention.", "np.exp → "),
    ("The fit is of A itself. A softmax multiplies: it is log A that is a sum.", "np.log(A) → A"),
    ("These are ratios of mean entries: rows whose sums are small count for more there. Fit the logarithms.",
     "own, same, y = → rest = A[own + same == 0].mean()\n"
     "    return float(A[own == 1].mean() / rest), float(A[same == 1].mean() / rest)\n    own, same, y ="),
    ("The two have changed places: own first, then the others with the same letter.",
     "float(first), float(second) → float(second), float(first)"))


# -- swap ------------------------------------------------------------------------------------------------------------

def model(kind):
    """(attend, predict) of a small model that counts: "by letters" (equal ones are w times as loud), "by names" (some
    letters are louder for all besides, and predict knows it) or "by places" (the own one is w times as loud); none
    of them says more than 3."""
    w = 4.0

    def known(ids):
        return 0.5 * (ids % 4)[:, None] * (kind == "by names")

    def attend(ids):
        if type(ids) is not np.ndarray or ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise ValueError("attend takes an array of whole numbers (n, T), as ids")
        return softmax(np.log(w) * (np.eye(ids.shape[1]) if kind == "by places" else _equal(ids)) + known(ids))

    def predict(ids, A):
        T = np.shape(ids)[-1]
        if np.ndim(ids) != 2 or np.shape(A) != (*np.shape(ids), T):
            raise ValueError("predict takes ids (n, T) and their maps (n, T, T)")
        own = (softmax(np.log(A) - known(ids)) * _equal(ids)).sum(-1)
        n = own * (T + w - 1) - w + 1 if kind == "by places" else own * T / (w * (1 - own) + own)
        return np.clip(np.round(n), 1, 3).astype(int)

    return attend, predict


FOUR = np.array([[2, 0, 4, 0, 6, 0], [5, 5, 1, 3, 1, 5], [2, 6, 5, 5, 3, 6], [6, 6, 6, 6, 0, 6]])
TURN, NAMES = np.array([2, 0, 3, 1]), np.array([3, 4, 6, 1, 2, 5, 0])


def _case(kind, order=TURN):
    """Which model, how it predicts, in words, and what else an answer is given."""
    return kind, "from what the own letter got", FOUR, order, NAMES


swap = Question(solution.swap, (2, 2), {
    "a model that compares letters": _case("by letters"), "one that reads names": _case("by names"),
    "one word keeps its own map": _case("by letters", np.array([3, 0, 2, 1])),
    "a model that knows only places": _case("by places")},
    promises={"Some word has a partner": lambda kind, said, ids, order, rename: (
                  (order != np.arange(len(ids))).any() and {*order} <= {*range(len(ids))}),
              "no place is empty": lambda kind, said, ids, order, rename: ids.min() >= 0,
              "`rename` is an array in which each letter number stands once": lambda kind, said, ids, order, rename: (
                  (np.sort(rename) == np.arange(len(rename))).all() and ids.max() < len(rename))},
    returns="own, partner, renamed", given=lambda kind, said, *rest: (*model(kind), *rest), lend=("tally",),
    forbidden=LIBRARY, instead="`attend` and `predict`",
    otherwise="Three calls of predict, all with the words themselves: only the maps differ. What is right is always "
              "the count in the words themselves, letter by letter.",
    hints={"attend takes|predict takes": "Read the line of the error: that is what the model said to what it was "
                                         "given.",
           "index": "rename[ids] renames all letters at once, and A[order] takes the maps in that order."})

OWN, PARTNERS = "(predict(ids, A) == right)", "A[order[moved]]"
swap.mistakes(
    ("Only in the second accuracy do words without a partner not count: the first and the third are over all words.",
     f"{OWN} → {OWN}[moved]", "renamed.mean → renamed[moved].mean"),
    ("A word counted as right only if all of its letters were. Accuracies are over letters.",
     f"{OWN} → {OWN}.all(1)", "partner.mean → partner.all(1).mean", "renamed.mean → renamed.all(1).mean"),
    ("In the second, the partner's *word* was given, with the own map. The word stays what it is, and gets the "
     "partner's map.", f"predict(ids[moved], {PARTNERS}) → predict(ids[order[moved]], A[moved])"),
    *(("In the second, each word got the map of its neighbour. Whose map it gets is said by `order`.",
       f"{PARTNERS} → np.roll(A, {by}, 0)[moved]") for by in (1, -1)),
    ("A word that is its own partner keeps its own map: nothing was exchanged there, so it does not count in the "
     "second accuracy.", "order != np.arange(len(ids)) → order >= 0"),
    ("In the third, the map is that of the renamed word, and predict is given the word itself: not both renamed, and "
     "not both as they were.", "predict(ids, attend → predict(rename[ids], attend"),
    ("Partners are turned round: word i gets the map of word order[i], so the maps in that order are A[order].",
     f"{PARTNERS} → A[np.argsort(order)[moved]]"),
    ("Letters are renamed the other way round: letter k is called rename[k].", "rename[ids] → np.argsort(rename)[ids]"),
    ("In the second, the right counts are those of the word itself, not those of the word whose map it got.",
     "right[moved] → right[order[moved]]"),
    ("The second is with the mean map of all words. Each word gets the map of its one partner.",
     f"{PARTNERS} → np.broadcast_to(A.mean(0), A[moved].shape)"),
    ("That is how often the answers stay what they were. Compare them with the right counts.",
     "right, A = tally(ids), attend(ids) → A = attend(ids)\n    right = predict(ids, A)"))
