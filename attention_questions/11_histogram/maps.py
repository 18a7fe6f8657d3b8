"""Checks of assignment 11 on counting letters, and on attention maps: what they depend on, and what is left when they
are exchanged."""

from attention_questions.prelude import Question, np

from . import solution

LIBRARY = tuple(f"coursekit.worlds.histogram.{name}" for name in ("counts", "accuracy_by_count", "swap_test"))


# -- tally -----------------------------------------------------------------------------------------------------------

tally = Question(solution.tally, (1, 1), {
    "two words": (np.array([[2, 0, 14, 0, 6], [0, 0, 0, 1, 0]]),),
    "a word with two empty places": (np.array([[5, 0, 5, 5, -1, -1]]),),
    "nothing but one letter": (np.array([[7, -1, -1]]),)},
    promises={"they are filled up with $-1$": lambda ids: (
        ids.min() >= -1 and (np.diff((ids < 0).astype(int), axis=1) >= 0).all())},
    why="A comparison of every place with every other needs no loop and no list of letters. Empty places are equal to "
        "each other, too: so they are put to 0 at the end.",
    returns="counts (n, T)", forbidden=LIBRARY, instead="a comparison of the array with itself",
    otherwise="The second word by hand: in 0 0 0 1 0, how often is there what stands at place 0, and at place 3?",
    hints={"broadcast|shapes": "The table says of each two places of a word whether they are equal, (n, T, T). Its sum "
                               "over the last axis is (n, T)."})
tally.mistakes(
    ("An empty place holds no letter, so nothing is counted there: 0. (Empty places are equal to each other, too.)",
     "np.where(ids >= 0, equal.sum(-1), 0) → equal.sum(-1)"),
    ("0 is a letter like any other: only a place with −1 is empty.", "ids >= 0 → ids > 0"),
    ("An empty place has the count 0, and not −1.", "sum(-1), 0 → sum(-1), -1"),
    ("These are the *other* places with the same letter. A letter counts itself.", "sum(-1) → sum(-1) - 1"),
    ("These are counts over all words. Each word is counted on its own.", "ids[:, None] → ids.ravel()"),
    ("That is how often each letter of the alphabet occurs. Say of each *place* how often its letter occurs.",
     lambda ids: np.array([np.bincount(row[row >= 0], minlength=15) for row in ids])),
    ("Letters are counted up to here alone, from the left. Count those to the right as well.",
     "equal.sum → np.tril(equal).sum"),
    ("Compared with the same place of the other words. Compare with the other places of its own word.",
     "equal.sum(-1) → (ids[:, None] == ids).sum(1)"))


# -- by_count --------------------------------------------------------------------------------------------------------

WORDS = np.array([[2, 2, 1, 1, 1], [3, 2, 3, 2, 3], [1, 1, 1, 0, 0]])
SAID = np.array([[2, 1, 1, 1, 2], [3, 3, 2, 2, 2], [1, 0, 1, 3, 1]])


by_count = Question(solution.by_count, (1, 1), {
    "two words": (SAID[:2], WORDS[:2]), "with empty places": (SAID, WORDS),
    "always 1": (np.ones((2, 5), int), WORDS[:2]),
    "no letter occurs twice": (np.array([[3, 1, 1, 3, 2]]), np.array([[3, 3, 3, 1, 0]]))},
    promises={"At least one place is not empty": lambda said, truth: (truth > 0).any(),
              "0 in the truth where a place is empty": lambda said, truth: truth.min() >= 0},
    why="Empty places go first, so that no share can count them. Which counts there are is read off the truth: nothing "
        "need be known of T, and nothing is divided by 0.",
    returns="rows, base", forbidden=LIBRARY, instead="your own means",
    otherwise="Two words by hand: at how many of the ten places is the true count 1, 2, 3? And at how many of those is "
              "what was said right?",
    hints={"empty slice|invalid value": "A count that no place has gets no entry: only those that occur."})

ACCURACY, BASE = "(said[has] == count).mean()", "max(share for share, _ in rows.values())"
by_count.mistakes(
    ("Places with the true count 0 are empty: they are no row, and count in no share.", "truth > 0 → truth >= 0"),
    ("Grouped by what was *said*: that is how far its answers can be trusted. Group by the true count.",
     "said, truth, rows → truth, said, rows"),
    ("The second number is a share of *all* letters. Of those with this true count, how many are right?",
     f"{ACCURACY} → (has & (said == count)).mean()"),
    ("The second number is how often it was right *when this was said*. Of the letters with this true count, how many "
     "are right?", f"{ACCURACY} → (said[has] == count).sum() / max((said == count).sum(), 1)"),
    ("A place is empty where the *truth* is 0, whatever was said there. A model that says 0 elsewhere is wrong there.",
     "truth > 0 → (truth > 0) & (said > 0)"),
    ("The two numbers of a count have changed places: first its share, then how many of its answers are right.",
     "return rows, → return {count: pair[::-1] for count, pair in rows.items()},"),
    ("A share is of all letters: a number from 0 to 1, not how many there are.", "has.mean() → has.sum()"),
    ("The base rate is that of the *best* constant answer, and 1 need not be the best.",
     f"{BASE} → rows.get(1, (0.0, 0.0))[0]"),
    ("The base rate is not the accuracy of these answers: it is what somebody reaches who always says the same.",
     f"{BASE} → sum(share * right for share, right in rows.values())"),
    ("That is the count itself. The base rate is how often always saying it is right.",
     f"{BASE} → max(rows, key=lambda count: rows[count][0])"),
    ("The base rate is not one over the number of counts: some counts have many more places than others.",
     f"{BASE} → 1 / len(rows)"),
    ("The empty places were left out of the rows, and not of the shares: they have to add up to 1.",
     "has.mean() → has.sum() / there.size"))


@by_count.suspect
def _(got, said, truth):
    if type(got[0]) is dict and {*got[0]} > {*truth[truth > 0].tolist()}:
        yield "Only counts that occur in the truth get an entry. Which of yours has no place at all?"


IDS = np.array([[2, 0, 4, 0, 6, 0], [5, 5, 1, 3, 1, 5]])


def softmax(scores):
    """Weights of scores, along their last axis."""
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


loudness = Question(solution.loudness, (1, 2), {
    "exact maps": _noisy(IDS, 5.0, 3.0, 0), "maps with noise": _noisy(IDS, 9.0, 1.5, 0.4),
    "a quiet own place": _noisy(IDS[1:], 0.25, 2.0, 0.3, 1), "very sharp maps": _noisy(IDS, 3e4, 8e3, 1.0, 2)},
    promises={"All entries are above 0": lambda A, ids: A.min() > 0,
              "no place is empty": lambda A, ids: ids.min() >= 0,
              "some letter of some word has both an equal and a different one": lambda A, ids: any(
                  1 < n < ids.shape[1] for n in solution.tally(ids).flat)},
    why="With the mean of each row away from all three, the sums that a softmax divides by are gone, and a fit with "
        "two unknowns is left. The logarithm makes sums of factors, and the exponential turns them back.",
    returns="own, same", forbidden=("coursekit.worlds.histogram.nearest_ab",), instead="np.linalg.lstsq",
    otherwise="Take one row of the first case. Every entry is e^score over the same sum: what is the logarithm of one "
              "of them less that of another? Does your fit see that the sum is another one in each row?",
    hints={"matmul|shapes|dimension": "lstsq takes a table with a row for each entry of the maps, n·T·T of them, and a "
                                      "column for each unknown: reshape."})
loudness.mistakes(
    ("Each row of a softmax is divided by a sum of its own, and its logarithms are shifted by that: take the mean of "
     "each row away, on both sides.", " - part.mean(-1, keepdims=True) → "),
    ("One level for each map: each *row* of it has a sum of its own, so each needs one.", "mean(-1 → mean((-2, -1)"),
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
    *(("The fit is of A itself. A softmax multiplies: it is log A that is a sum.", "np.log(A) → A", *more)
      for more in ([], ["np.exp → "])),
    ("Two fits, one for each number: both columns belong into one table, or the one takes what is the other's.",
     "own, same, y = → one = lambda x: float(np.exp((x := x - x.mean(-1, keepdims=True)).ravel() @ (np.log(A)"
     " - np.log(A).mean(-1, keepdims=True)).ravel() / (x ** 2).sum()))\n"
     "    return one(own), one(same)\n    own, same, y ="),
    *(("A logarithm to another base is not undone by e^. Take np.log.", f"np.log(A) → {log}(A)")
      for log in ("np.log2", "np.log10")),
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
    "a model that compares letters": _case("by letters"), "a model that reads names": _case("by names"),
    "a word that keeps its own map": _case("by letters", np.array([3, 0, 2, 1])),
    "a model that knows only places": _case("by places")},
    promises={"Some word has another one as its partner": lambda kind, said, ids, order, rename: (
                  (order != np.arange(len(ids))).any() and {*order} <= {*range(len(ids))}),
              "no place is empty": lambda kind, said, ids, order, rename: ids.min() >= 0,
              "`rename` is an array in which each letter number stands once": lambda kind, said, ids, order, rename: (
                  (np.sort(rename) == np.arange(len(rename))).all() and ids.max() < len(rename))},
    why="`predict` is always given the words themselves, and only the maps are another's. The words without a partner "
        "are taken out before the second mean, not counted as right or wrong.",
    returns="own, partner, renamed", given=lambda kind, said, *rest: (*model(kind), *rest), lend=("tally",),
    forbidden=LIBRARY, instead="`attend` and `predict`",
    otherwise="Three calls of predict, all with the words themselves: only the maps differ. What is right is always "
              "the count in the words themselves, letter by letter.",
    hints={"attend takes|predict takes": "Read the line of the error: that is what the model said to what it was "
                                         "given.",
           "index": "rename[ids] renames all letters at once, and A[order] takes the maps in that order."})

OWN, PARTNERS = "(predict(ids, A) == right)", "A[order[moved]]"
swap.mistakes(
    *(("Only in the second accuracy do words without a partner not count: the first and the third are over all words.",
       *edits) for edits in ([f"{OWN} → {OWN}[moved]", "renamed.mean → renamed[moved].mean"],
                             ["renamed.mean → renamed[moved].mean"])),
    *(("A word counted as right only if all of its letters were. Accuracies are over letters.", *edits) for edits in (
        [f"{OWN} → {OWN}.all(1)", "partner.mean → partner.all(1).mean", "renamed.mean → renamed.all(1).mean"],
        ["partner.mean → partner.all(1).mean"], ["renamed.mean → renamed.all(1).mean"])),
    ("In the second, the partner's *word* was given, with the own map. The word stays what it is, and gets the "
     "partner's map.", f"predict(ids[moved], {PARTNERS}) → predict(ids[order[moved]], A[moved])"),
    *(("In the second, each word got the map of its neighbour. Whose map it gets is said by `order`.",
       f"{PARTNERS} → np.roll(A, {by}, 0)[moved]") for by in (1, -1)),
    ("A word that is its own partner keeps its own map: nothing was exchanged there, so it does not count in the "
     "second accuracy.", "order != np.arange(len(ids)) → order >= 0"),
    ("Words without a partner count here as wrong in the second accuracy. They do not count at all: divide by the "
     "letters of the others.", "partner.mean() → partner.sum() / right.size"),
    ("These are the shares of *wrong* counts. An accuracy is the share of right ones.",
     "A) == right) → A) != right)", "== right[moved] → != right[moved]", "(rename[ids])) == → (rename[ids])) !="),
    ("In the third, the map is that of the renamed word, and predict is given the word itself: not both renamed, and "
     "not both as they were.", "predict(ids, attend → predict(rename[ids], attend"),
    ("In the third, the renamed *word* was given, with the map of the word itself. It is the other way round.",
     "predict(ids, attend(rename[ids])) → predict(rename[ids], A)"),
    ("Partners are turned round: word i gets the map of word order[i], so the maps in that order are A[order].",
     f"{PARTNERS} → A[np.argsort(order)[moved]]"),
    ("Letters are renamed the other way round: letter k is called rename[k].", "rename[ids] → np.argsort(rename)[ids]"),
    ("In the second, the right counts are those of the word itself, not those of the word whose map it got.",
     "right[moved] → right[order[moved]]"),
    ("The second is with the mean map of all words. Each word gets the map of its one partner.",
     f"{PARTNERS} → np.broadcast_to(A.mean(0), A[moved].shape)"),
    *(("That is how often the answers stay what they were. Compare them with the right counts.", *edits) for edits in (
        ["right, A = tally(ids), attend(ids) → A = attend(ids)\n    right = predict(ids, A)"],
        ["== right[moved] → == predict(ids, A)[moved]",
         "(rename[ids])) == right → (rename[ids])) == predict(ids, A)"])))


@swap.suspect
def _(got, kind, said, ids, order, rename):
    if any(np.isscalar(entry) and entry > 1 for entry in got):
        yield "An accuracy is a share, from 0 to 1."
    if any(np.isscalar(entry) and np.isnan(entry) for entry in got):
        yield "The mean of nothing is nan. Which words count in the second accuracy?"
