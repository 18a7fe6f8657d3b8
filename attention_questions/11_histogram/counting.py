"""Checks of assignment 11 on counting letters, and on the accuracy of those who count."""

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
    returns="counts (n, T)", forbidden=LIBRARY, instead="a comparison of the array with itself",
    otherwise="The second word by hand: in 0 0 0 1 0, how often is there what stands at place 0, and at place 3?")
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
     "equal.sum → np.tril(equal).sum"))


# -- by_count --------------------------------------------------------------------------------------------------------

WORDS = np.array([[2, 2, 1, 1, 1], [3, 2, 3, 2, 3], [1, 1, 1, 0, 0]])
SAID = np.array([[2, 1, 1, 1, 2], [3, 3, 2, 2, 2], [1, 0, 1, 3, 1]])


by_count = Question(solution.by_count, (1, 2), {
    "two words": (SAID[:2], WORDS[:2]), "with empty places": (SAID, WORDS),
    "always 1": (np.ones((2, 5), int), WORDS[:2]),
    "no letter occurs twice": (np.array([[3, 1, 1, 3, 2]]), np.array([[3, 3, 3, 1, 0]]))},
    promises={"At least one place is not empty": lambda said, truth: (truth > 0).any(),
              "0 in the truth where a place is empty": lambda said, truth: truth.min() >= 0},
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
