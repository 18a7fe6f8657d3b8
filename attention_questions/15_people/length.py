"""The check of assignment 15 on the length of an explanation: an effective number of words."""

from attention_questions.prelude import Question, kind, math, np

from . import solution

effective = Question(solution.effective, (1, 2), {
    "pieces": (np.array([2.0, 2.0, 0.0, -4.0, 3.0, -1.0]), [0, 0, 1, 2, 3, 3], 1),
    "q = 2": (np.array([1.0, -3.0, 0.5, 0.5]), [0, 1, 2, 2], 2),
    "q = 0": (np.array([1.0, -1.0, 0.0, 5.0, 0.25]), [0, 0, 1, 2, 3], 0),
    "q = 0.5": (np.array([4.0, 1.0, 4.0]), [0, 1, 2], 0.5), "q = 0.95": (np.array([4.0, 0.5, 1.0]), [0, 1, 2], 0.95),
    "no end of q": (np.array([-3.0, 1.0, 2.0]), [0, 1, 2], math.inf), "nothing said": (np.zeros(3), [0, 1, 1], 1),
    "the second word first": (np.array([1.0, 3.0, -0.5, 1.0]), [1, 0, 2, 1], 2),
    "all pieces pull against each other": (np.array([2.0, 1.5, -2.0, -1.5]), [0, 1, 0, 1], 1)},
    promises={"numbers $0, \\dots, W - 1$, each at least once": lambda scores, pieces, q: (
                  len(pieces) == len(scores) and {*pieces} == {*range(max(pieces) + 1)}),
              "order $q \\ge 0$": lambda scores, pieces, q: q >= 0},
    returns="shares (W,), effective", forbidden=("coursekit.people.compactness",), instead="shares of your own",
    otherwise="By hand, for words of sizes 4, 2 and 2: shares 1/2, 1/4, 1/4. Of order 2 that is 1/(1/4 + 1/16 + 1/16) "
              "= 2.67 words, of order 1 it is 2.83, of order 0 it is 3. Which of these do you get?",
    hints={"ZeroDivisionError": "1/(1 − q) has no value at q = 1. The formula for that order is given."})

SUMS, SHARES, POWER = "np.bincount(pieces, scores)", "sizes / sizes.sum()", "** (1 / (1 - q))"
effective.mistakes(
    ("Sizes were taken before the pieces of a word were added up. Pieces that pull against each other leave little of "
     "their word.", f"np.abs({SUMS}) → np.bincount(pieces, np.abs(scores))"),
    ("A word's score is the sum of its pieces here, not their mean.", f"{SUMS} → {SUMS} / np.bincount(pieces)"),
    ("There is a share for each piece. A word that was cut in two is still one word.", f"{SUMS} → scores"),
    ("Scores count by their size: a word that speaks loudly against is read as well.", f"np.abs({SUMS}) → {SUMS}"),
    ("These shares are those of a softmax. A share is a size over the sum of all sizes.",
     f"{SHARES} → np.exp(sizes) / np.exp(sizes).sum()"),
    ("Where the pieces of each word cancel, no word has a score: look at the words' sums, not at the pieces.",
     "if not sizes.any() → if not scores.any()"),
    ("The shares stand in the order in which the words first appear. Entry w is the share of word w.",
     f"{SUMS} → {SUMS}[[*dict.fromkeys(pieces)]]"),
    ("Near q = 1 you take the formula of q = 1. It is for q = 1 alone.", "q == 1 → abs(q - 1) < 0.2"),
    ("For q = 1 that is the entropy. A number of words is e to the power of it.", "np.exp → "),
    ("For q = 1 the sign is missing: an entropy is −Σ p ln p.", "np.exp(- → np.exp("),
    ("Shares are divided by the sum of all sizes, not by the largest one.", "sizes.sum() → sizes.max()"),
    ("These are shares of squares. A share is a size over the sum of all sizes.",
     f"{SHARES} → sizes ** 2 / (sizes ** 2).sum()"),
    ("The last power is 1/(1 − q), and yours is 1 − q.", f"{POWER} → ** (1 - q)"),
    ("For q = 1 one base belongs to both: e to the power of an entropy in natural logarithms.", "np.log → np.log2"),
    ("For q = 0 words without any score were counted: 0 to the power of 0 is 1. Leave them out.",
     "(some ** q) → (p ** q)"),
    ("For q = ∞ the formula is another one, 1 over the largest share: p to the power of ∞ is 0.",
     "1 / some.max() → 1.0"),
    ("The last power is missing: 1/(1 − q), with its sign.", f" {POWER} → "),
    ("That is a norm, with 1/q. The power is 1/(1 − q).", f"{POWER} → ** (1 / q if q else 1)"))


@effective.suspect
def _(got, scores, pieces, q):
    if any(np.isnan(part).any() for part in got if kind(part) in ("a number", "a NumPy array")):
        yield "There is a nan. Is it 0 · log 0, which is 0 here, or 0/0, where no word has a score?"
