"""Checks of assignment 08 on LIME: the law of its masks, the line that is best under it, and its limit, centred."""

from attention_questions.prelude import Question, itertools, kind, np

from . import solution


def uniform(d):
    """LIME's law of the number of words removed: 1 … d, any alike."""
    return np.append(0.0, np.full(d, 1 / d))


# -- kept_law --------------------------------------------------------------------------------------------------------

SOME = np.array([0.1, 0.2, 0.4, 0.0, 0.2, 0.1])


kept_law = Question(solution.kept_law, (1, 2), {
    "three words, one is kept": (uniform(3), 1), "five words, two are kept": (uniform(5), 2),
    "another law": (SOME, 2), "all are kept": (SOME, 5), "nothing is known": (SOME, 0),
    "forty words, three are kept": (uniform(40), 3)},
    returns="probabilities (d + 1,)", tolerance=(1e-9, 1e-12),
    promises={r"for $0 \le m \le d$": lambda p, m: 0 <= m < len(p),
              "it can always happen that the $m$ words are kept": lambda p, m: p[:len(p) - m].any(),
              "Its size has the law $p$": lambda p, m: p.min() >= 0 and abs(p.sum() - 1) < 1e-9},
    otherwise="Three words by hand: write down the sets S with one, two and three words, and cross out those with word "
              "0 in them. Which share of each size is left?",
    hints={"endless": "There are 2^d sets, too many to visit. How many sets of s words leave m given ones out?"})
SHARE = "math.comb(d - m, s) / math.comb(d, s)"
kept_law.mistakes(
    ("That is the law of the printed proof: the sizes that cannot be are dropped, and the others stay as they were. "
     "But a large S seldom spares the m words: how likely is that, for each s?", f"{SHARE} → s <= d - m"),
    ("Nothing has changed. That the m words are kept says something about s: a large S would hardly spare them.",
     f"{SHARE} → 1"),
    ("These are the probabilities of *both*, s removed and the m words kept. Given the second, they add up to 1.",
     " / joint.sum() → "),
    ("That is the law if the m words are *removed*. They are kept: all of S is among the other d − m.",
     f"{SHARE} → math.comb(s, m)"),
    ("So it would be if each word were kept or not on its own. Once one is known to be kept, there are fewer places "
     "left among the kept for the next.", f"{SHARE} → (d - s) ** m"),
    ("p has a number for each s from 0 to d, so d is one less than its length.",
     "d = len(p) - 1 → d = len(p)", "range(d + 1) → range(d)"),
    ("Sets were counted, not weighed. S is any of the C(d, s) sets of its size, each as likely: which *share* of them "
     "leaves the m words out?", " / math.comb(d, s) → "),
    ("One word is known to be kept here, whatever m says.", "d - m → d - 1"))


@kept_law.suspect
def _(got, p, m):
    if len(p) > 21:
        yield ("Right for few words. Of forty there are more sets than NumPy's whole numbers can count, which end at "
               "2⁶³ and begin again below 0: math.comb and math.factorial know no end.")


# -- best_line -------------------------------------------------------------------------------------------------------

def game(d, f):
    """Scores, shape (2,)·d, of a function of the mask."""
    return np.array([float(f(*mask)) for mask in itertools.product((0, 1), repeat=d)]).reshape((2,) * d)


LINEAR = game(3, lambda a, b, c: 1 + 2 * a - b + 4 * c)
PAIR = game(3, lambda a, b, c: a + 4 * b * c - c)
FOUR = game(4, lambda a, b, c, d: (2 * a + 3 * b - c) / (1 + a + b + 3 * d))
UNEVEN = np.array([0.5, 0.1, 0.2, 0.2])


def _one_minimum(p):
    d = len(p) - 1
    masks = [(*z, 1) for z in itertools.product((0, 1), repeat=d) if p[d - sum(z)]]
    return np.linalg.matrix_rank(masks) == d + 1


best_line = Question(solution.best_line, (2, 2), {
    "a linear model": (LINEAR, uniform(3)), "a linear model, another law": (LINEAR, UNEVEN),
    "two words that need each other": (PAIR, uniform(3)), "the same, another law": (PAIR, UNEVEN),
    "a softmax of four words": (FOUR, uniform(4)), "two words": (FOUR[1, :, :, 1], uniform(2))},
    returns="β (d,)", tolerance=(1e-7, 1e-9), instead="np.linalg",
    forbidden=("coursekit.explain.lime", "coursekit.explain.lime_limit", "coursekit.explain.exact_lime",
               "coursekit.explain.surrogate.weighted_ridge"),
    promises={"$d$ is from 2 to 8": lambda scores, p: scores.shape in [(2,) * d for d in range(2, 9)],
              "$p$ is such that there is one minimum": lambda scores, p: (
                  scores.shape == (2,) * (len(p) - 1) and p.min() >= 0 and _one_minimum(p))},
    otherwise="Print the table of masks beside their weights, which of all masks with s zeros add up to p[s]. Then "
              "look at what goes into the least squares: the columns, the scores, and the root on both.",
    hints={"shapes": "One row for each of the 2^d masks, and d + 1 columns: scores.ravel() has the scores in the "
                     "order of itertools.product((0, 1), repeat=d)."})
FOUND = "np.linalg.lstsq(root[:, None] * rows, root * scores.ravel(), rcond=None)[0]"
best_line.mistakes(
    ("The right numbers, in the opposite order: in scores.ravel() the last word changes fastest, in your table of "
     "masks the first, as in the lecture's.", "repeat=d))) → repeat=d)))[:, ::-1]"),
    ("The first of these belongs to the column of ones: which of the d + 1 numbers are the words'?",
     "[masks, np.ones(len(masks))] → [np.ones(len(masks)), masks]"),
    ("Each mask got p[s] as its weight. p[s] belongs to *all* masks with s zeros together.", " / math.comb(d, s) → "),
    ("p[s] belongs to s words *removed*: it was taken for the number of ones.", "d - masks.sum(1) → masks.sum(1)"),
    ("All masks count alike here. Where is p?", "p[s] / math.comb(d, s) → 1.0"),
    ("The line was forced through 0. It has an intercept.", ", np.ones(len(masks)) → "),
    ("The weights came in twice: a *square* is multiplied by its weight once, so a row by its root.",
     "np.sqrt → np.array"),
    ("Only the rows were multiplied by the roots of the weights. The scores belong to the rows: both sides are.",
     "root * scores → scores"),
    *(("A ridge draws the line towards 0. Here there is none: the nearest line is asked for.",
       f"{FOUND} → np.linalg.solve(rows.T * root ** 2 @ rows + np.diag([{ridge}] * d + [{of_the_ones}]), "
       "rows.T * root ** 2 @ scores.ravel())") for ridge in (1.0, 1e-6) for of_the_ones in (ridge, 0.0)),
    ("All are 3/2 of what they should be. That is the printed factor; least squares know nothing of it.",
     "return → return 1.5 *"),
    ("The features are 1 where a word is *kept*.", "[masks, → [1 - masks,"),
    ("That is E[f | kept] − E[f | removed]. Where word j is gone, more others are gone as well, and this difference "
     "blames j for them. A line holds the others fixed.", f"return {FOUND}[:d] → pi, y = root ** 2, scores.ravel()\n"
     "    return (pi * y) @ masks / (pi @ masks) - (pi * y) @ (1 - masks) / (pi @ (1 - masks))"))


# -- centred ---------------------------------------------------------------------------------------------------------

def drawn(T, K, seed, times=1.0):
    """log g, y, log g_h, y_h (T, K), the first rows alike in both branches; `times` (K,) makes log g larger."""
    parts = np.random.default_rng(seed).integers(-4, 5, (4, T, K)) / 2
    parts[2:, :1] = parts[:2, :1]
    return parts[0] * times, parts[1], parts[2] * times, parts[3]


LOG_G, _, LOG_G_H, _ = drawn(4, 2, 7)


centred = Question(solution.centred, (1, 2), {
    "one head, a quarter removed": (*drawn(3, 1, 2), 0.25), "two heads": (*drawn(4, 2, 4), 0.5),
    "a model that always says 2": (LOG_G, np.full((4, 2), 2.0), LOG_G_H, np.full((4, 2), 2.0), 0.5),
    "nothing removed": (*drawn(4, 2, 4), 0.0),
    "log g of some thousands": (*drawn(4, 2, 21, times=np.array([1000.0, 1.0])), 0.75)},
    returns="(T,)", tolerance=(1e-9, 1e-11), forbidden=("coursekit.explain.lime_limit",), instead="the formula",
    otherwise="Take the first case by hand: G_x first, one number, then f̄_x, then Δ_j for the second token.")
CENTRE = "f = ((1 - x) * (g * y).sum(0) + x * (g_h * y_h).sum(0)) / G"
APART = "np.exp(log_g - most), np.exp(log_g_h - most) → np.exp(log_g - log_g.max(0)), np.exp(log_g_h - log_g_h.max(0))"
PRINTED = "(g * y / g.sum(0) - g_h * y_h / g_h.sum(0))"
centred.mistakes(
    ("The centre is missing: each y counts by how far it is from f̄_x. What does a model that always says 2 get here?",
     f"{CENTRE} → f = 0.0"),
    ("That is the printed formula, 3/2 included: without a centre, and each g over the sum of its own branch.",
     APART, f"(delta / G) → 1.5 * {PRINTED}"),
    ("That is the printed formula with the factor 1. A token also changes the denominator, which centring is about.",
     APART, f"(delta / G) → {PRINTED}"),
    ("The share removed is ½ here, whatever x says.", "most = → x = 0.5\n    most ="),
    ("x is the share that is *removed*: at x = 0 every word is there.", "most = → x = 1 - x\n    most ="),
    ("f̄_x is the score of the whole document here. It changes with x, as G_x does.",
     f"{CENTRE} → f = (g * y).sum(0) / g.sum(0)"),
    ("f̄_x is a mean of two scores here. Numerator and denominator are mixed first, and divided then.",
     f"{CENTRE} → f = (1 - x) * (g * y).sum(0) / g.sum(0) + x * (g_h * y_h).sum(0) / g_h.sum(0)"),
    ("The two branches were measured in different units. g and g_h stand in one sum: take one number from both.",
     APART),
    ("Δ_j is not divided by G_x yet.", "delta / G → delta"),
    ("The heads were added up. The score is their mean.", ".mean(1) → .sum(1)"),
    ("f̄_x was averaged over the heads first. Each head has a centre of its own.",
     "delta = → f = f.mean()\n    delta ="),
    ("The sign is turned round: what counts is the word, less what stands in its place.", "delta / G → -delta / G"))


@centred.suspect
def _(got, *arguments):
    if kind(got) == "a NumPy array" and got.dtype.kind == "f" and not np.isfinite(got).all():
        yield ("Something is not a number: exp of some thousands is infinite, and of minus some thousands 0. Only "
               "ratios *within* a head count: what may be taken from all its logarithms, of both branches, first?")
