"""Checks of assignment 15 on explanations: how long one is, and why this word rather than that one."""

from attention_questions.prelude import Question, math, np

from . import solution

# -- effective -------------------------------------------------------------------------------------------------------

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
    why="The pieces are added up before any size is taken, so that pieces which pull against each other leave little.\n"
        "Words of size 0 go first: then no logarithm and no power of 0 can disturb the sums.",
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
    if any(np.isnan(part).any() for part in got):
        yield "There is a nan. Is it 0 · log 0, which is 0 here, or 0/0, where no word has a score?"


# -- contrast --------------------------------------------------------------------------------------------------------

def _language_model(T, d, D, seed):
    """logits(E) (D,) of a small made-up model that reads embeddings (T, d), with a cubic bend."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(T * d, 4)), rng.normal(size=(4, D))

    def logits(E):
        E = np.asarray(E, float)
        if E.shape != (T, d):
            raise ValueError(f"the model reads embeddings {(T, d)}, and got the shape {E.shape}")
        u = E.ravel() @ A / T                                                                       # (4,)
        return (u + 0.4 * u ** 2 - 0.2 * u ** 3) @ B

    logits.__doc__ = f"a made-up model: embeddings {(T, d)} → {D} logits"
    return logits


def _no_tie(u, target):
    most, next_one = np.sort(np.delete(u, target))[::-1][:2]
    return most - next_one > 1e-9


def _case(T, d, D, seed, target, foil, h):
    """The arguments of a case."""
    E = np.round(np.random.default_rng(seed + 1).normal(size=(T, d)), 2)
    return _language_model(T, d, D, seed), E, target, foil, h


contrast = Question(solution.contrast, (1, 2), {
    "a foil": _case(3, 2, 5, 1, 2, 0, 0.5), "the runner-up": _case(2, 3, 6, 3, 1, None, 0.1),
    "the target is likeliest": _case(2, 2, 4, 5, 1, None, 0.2)},
    promises={"the likeliest word other than the target": lambda logits, E, target, foil, h: (
                  foil not in (target, -1) and _no_tie(logits(E), target)),
              "a number above 0": lambda logits, E, target, foil, h: h > 0},
    returns="foil, norms (T,), signed (T,)", instead="differences of `logits`",
    forbidden=("coursekit.people.contrastive_gradient", "coursekit.people.generated_attributions"),
    otherwise="Take a model with logits (E[0, 0], 2 · E[0, 0]), target 1 and foil 0, at E = [[3]]: the difference "
              "grows by 1 for each 1 of E. So norms = [1], signed = [3].",
    why="One loop over all numbers of E asks twice for each, and keeps the whole vector of logits: the difference of\n"
        "target and foil is taken of the two answers, so that what all words share is gone before it is divided.",
    hints={"and got the shape": "`logits` takes all of E, (T, d), with one number changed.",
           "NoneType|array element|scalar": "Where `foil` is None, choose it first: the likeliest word but the "
                                            "target."})

CHANGE, NORMS, SIGNED = "logits(up) - logits(down)", "np.abs(g).sum(1)", "(g * E).sum(1)"
ONE_SIDE = "Steps go to one side. To both sides, what is bent cancels: (D(E + h) − D(E − h))/(2h)."
contrast.mistakes(
    ("This explains the target alone. Take the foil's logit away, at both steps.", " - change[foil] → "),
    ("The difference is the wrong way round: target less foil.",
     "change[target] - change[foil] → change[foil] - change[target]"),
    ("These are slopes of probabilities. What all words share cancels in the difference of *logits*.",
     f"{CHANGE} → softmax(logits(up)) - softmax(logits(down))",
     "g = np → def softmax(u):\n        return np.exp(u) / np.exp(u).sum()\n    g = np"),
    ("Without a foil, the target was compared with itself. The likeliest *other* word is due.", " if j != target → "),
    ("The foil 0 was taken for none. 0 is a word, and `not foil` is true of it: ask `foil is None`.",
     "if foil is None → if not foil"),
    ("Without a foil, the second word of the order was taken. If the target is not the first, the first is the foil.",
     "next(int(j) for j in np.argsort(-logits(E)) if j != target) → int(np.argsort(-logits(E))[1])"),
    ("All slopes are 0: `up = E` is no copy, so that one step takes back the other. `E.copy()` makes one.",
     "E.copy(), E.copy() → E, E"),
    (ONE_SIDE, "logits(down) → logits(E)", "(2 * h) → h"),
    ("A difference over two steps of h was divided by one.", "(2 * h) → h"),
    (ONE_SIDE, "logits(up) → logits(E)", "(2 * h) → h"),
    ("`/ 2 * h` multiplies by h. Put brackets around 2h.", "(2 * h) → 2 * h"),
    ("The step is another one than h.", "g = np → h = 1e-4\n    g = np"),
    ("These are means over the coordinates. L1: the sum of the sizes.", f"{NORMS} → np.abs(g).mean(1)"),
    ("`signed` keeps its signs: slopes and embeddings of both signs cancel.", f"{SIGNED} → np.abs(g * E).sum(1)"),
    ("These are L2 norms. L1: the sum of the sizes.", f"{NORMS} → np.sqrt((g * g).sum(1))"),
    ("Slopes of both signs cancel in `norms`. Take their sizes first.", f"{NORMS} → np.abs(g.sum(1))"),
    ("`signed` is each slope times its embedding.", f"{SIGNED} → g.sum(1)"))
