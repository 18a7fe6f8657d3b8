"""Checks of assignment 08: the law of LIME's masks, the line that is best under it, and leave-one-out, centred."""

from attention_questions.prelude import CheckFailed, Question, itertools, kind, np, services

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
    why="Bayes: p, times the share of the sets of s words that leave the m words out, divided by what all of these add "
        "up to. Whole numbers have no end in Python: forty words cost no more than four.",
    promises={r"for $0 \le m \le d$": lambda p, m: 0 <= m < len(p),
              "$p$ is such that the $m$ words are kept with a probability above 0": lambda p, m: p[:len(p) - m].any(),
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
    ("One word is known to be kept here, whatever m says.", "d - m → d - 1"),
    ("p is missing: each size was taken to be as likely as any other before anything is known.", "p * np → np"))


@kept_law.suspect
def _(got, p, m):
    if kind(got) == "a NumPy array" and got.shape == p.shape and abs(got.sum() - 1) > 1e-6 and len(p) < 22:
        yield "What comes out is a law, so its numbers add up to 1, and yours do not: divide by what they add up to."
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
    why="A row for each mask, times the root of its probability on both sides; the column of ones is the intercept, "
        "which is left off in the end. No ridge, no sampling: it is the limit.",
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
    ("The last of these belongs to the column of ones, and word 0 was left off: which of the d + 1 numbers are the "
     "words'?", "[0][:d] → [0][1:]"),
    ("Each mask got p[s] as its weight. p[s] belongs to *all* masks with s zeros together.", " / math.comb(d, s) → "),
    ("p[s] was multiplied by the number of masks that share it. Each mask has its part: divide.",
     " / math.comb(d, s) → * math.comb(d, s)"),
    ("LIME's own law was taken, 1 … d words with 1/d each. Here the law is p.", "p[s] / math → (s > 0) / d / math"),
    ("LIME's kernel came in as well. There is none here: a kernel would be a part of p.",
     "p[s] / math → np.exp(-(1 - (1 - s / d) ** 0.5) ** 2 / 2 / 0.25 ** 2) * p[s] / math"),
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


# -- left_out --------------------------------------------------------------------------------------------------------

THREE = np.log([1.0, 4.0, 2.0]), np.array([0.0, 3.0, -6.0]), np.log([1.0, 1.0, 0.5]), np.array([0.0, 1, 0])
QUIET = (np.array([0.0, -30.0, 1.0, -28.5]), np.array([1.0, 3.0, -2.0, 0.5]),
         np.array([0.0, -31.0, 0.5, -33.0]), np.array([1.0, -1.0, 0.0, 4.0]))
ALL = np.array([0.0, 40, 0]), np.array([1.0, 3, -2]), np.zeros(3), np.array([1.0, 5, 0])


def _to_its_own_digits(answer, arguments):
    """Raises CheckFailed if an entry is not right to seven digits of its own."""
    got, due = np.asarray(services.run(answer, arguments)), solution.left_out(*arguments)
    if (abs(got - due) > np.where(due == 0, 1e-12, 1e-7 * abs(due))).any():
        raise CheckFailed("A quiet token changes the score in its last digits, and these are lost when two scores are "
                          "taken from each other. How far is y_j from what the *others* say, and what is its share?")


left_out = Question(solution.left_out, (2, 2), {
    "three tokens, the first is [CLS]": THREE, "two tokens": tuple(part[1:] for part in THREE),
    "what replaces is louder": (THREE[0], THREE[1], THREE[2] + np.array([0.0, 2.0, 3.0]), THREE[3]),
    "quiet tokens": QUIET,
    "one outshouts the others": (np.array([60.0, 0, 1]), np.array([2.0, -1, 3]), np.array([58.0, -1, 2]),
                                 np.array([-1.0, 2, 0])),
    "logarithms of thousands": (QUIET[0] - 5000, QUIET[1], QUIET[2] - 5000, QUIET[3]),
    "one token has all the attention": ALL,
    "what replaces one has all the attention": (ALL[2], ALL[1], ALL[0], ALL[3])},
    returns="lost (T,)", tolerance=(1e-7, 1e-9), also=_to_its_own_digits,
    promises={r"$T \ge 2$": lambda log_g, y, log_g_h, y_h: {len(part) for part in (log_g, y, log_g_h, y_h)} in [
        {T} for T in range(2, 100)]},
    why="f lies between m, what the others say, and y_j, and f' between m and y_hj: so f − f' is share · (y_j − m) "
        "less share · (y_hj − m). A quiet token has small shares, and every digit of them is right.",
    otherwise="Take the example by hand: what do tokens 0 and 2 alone score, and from there, by how much do the second "
              "token and its replacement each move the score?",
    hints={"math domain|positive input": "The logarithm of what the others weigh together: their largest log g, plus "
                                         "the logarithm of the sum of exp(log g less that)."})
LOST = "a * (y[j] - m) - b * (y_h[j] - m)"
OTHER = ("new, told = log_g.copy(), y.copy()\n        new[j], told[j] = log_g_h[j], y_h[j]\n"
         "        old = np.exp(log_g - log_g.max()); one = np.exp(new - new.max())\n"
         "        f, gone = old @ y / old.sum(), one @ told / one.sum()\n        lost[j] = ")
left_out.mistakes(
    ("That is what is lost if the token goes altogether. Here something stands in its place, and says y_hj.",
     f"{LOST} → a * (y[j] - m)"),
    ("That is what the token says with its weight, less what replaces it says with its own. But whoever gets weight "
     "takes it from the others: what do they say?", f"{LOST} → a * y[j] - b * y_h[j]"),
    ("The two shares have two denominators: the token's is among the tokens that are there, and that of what replaces "
     "it among those that are there then.", "np.logaddexp(log_g_h[j], rest) → np.logaddexp(log_g[j], rest)"),
    *(("How far y_j and y_hj are counts from what the *others* say. In f and in f', from which yours are measured, the "
       "token or what replaces it has its share as well.",
       f"lost[j] = {LOST} → {OTHER}a * (y[j] - {centre}) - b * (y_h[j] - {centre})") for centre in ("f", "gone")),
    ("What replaces the token has a share of its own, with g_hj: the token's was given to it.",
     f"{LOST} → a * (y[j] - y_h[j])"),
    ("What replaces the token pulls the score its own way, and f' is taken away: its part is subtracted, not added.",
     f"{LOST} → {LOST.replace(' - b', ' + b')}"),
    ("The share of what replaces token j was taken among all replacements. Only token j is replaced, the others stay.",
     "np.logaddexp(log_g_h[j], rest) → np.logaddexp.reduce(log_g_h)"),
    ("Token j is among `rest`, and then once more beside it. `rest` is what the *others* weigh together.",
     "rest = s.max() + np.log(weights.sum()) → rest = np.logaddexp.reduce(log_g)"),
    ("The largest logarithm was taken from all, and not given back: log Σ exp(s) = max s + log Σ exp(s − max s).",
     "rest = s.max() + → rest ="),
    ("All tokens were replaced in f'. Only token j is, and the others stay.",
     f"lost[j] = {LOST} → all_h = np.exp(log_g_h - log_g_h.max())\n        {OTHER}f - all_h @ y_h / all_h.sum()"),
    ("That is the lecture's Δ_j(0)/G_0, which is right about. Exactly, one of the two, the centre or the denominator, "
     "belongs to the document with token j replaced.",
     f"lost[j] = {LOST} → {OTHER}a * (y[j] - f) - np.exp(log_g_h[j] - np.logaddexp(log_g[j], rest)) * (y_h[j] - f)"),
    ("That is what a small change does, α_j (y_j − f). A whole token is replaced here.",
     f"lost[j] = {LOST} → {OTHER}a * (y[j] - f)"),
    ("All other tokens count alike in your mean of them. They count with their g.",
     "weights @ says / weights.sum() → says.mean()"),
    ("The sign is turned round: the score with the token, less the score with what replaces it.",
     f"lost[j] = {LOST} → lost[j] = b * (y_h[j] - m) - a * (y[j] - m)"),
    ("That is f', the score with token j replaced. How much is *lost*?", f"lost[j] = {LOST} → {OTHER}gone"),
    ("The others were replaced as well. Only token j is, and all others stay.",
     "s, says = np.delete(log_g, j), np.delete(y, j) → s, says = np.delete(log_g_h, j), np.delete(y_h, j)"),
    *(("In the part of what replaces token j the others were replaced as well. They stay: m is the same twice.",
       f"lost[j] = {LOST} → s_h, says_h = np.delete(log_g_h, j), np.delete(y_h, j)\n"
       "        w_h = np.exp(s_h - s_h.max())\n        "
       f"{rest}lost[j] = a * (y[j] - m) - b * (y_h[j] - w_h @ says_h / w_h.sum())")
      for rest in ("", "b = np.exp(log_g_h[j] - np.logaddexp(log_g_h[j], s_h.max() + np.log(w_h.sum())))\n        ")))


@left_out.suspect
def _(got, *arguments):
    if kind(got) == "a NumPy array" and got.dtype.kind == "f" and not np.isfinite(got).all():
        yield ("Something is not a number: exp of some thousands is infinite, and of minus some thousands 0. Only "
               "ratios count: what may be taken from all logarithms first?")
    elif max(map(np.ptp, arguments[::2])) > 35 and max(map(np.max, arguments[::2])) > 35:
        yield ("Here one token may have all the attention, to the last digit. Then y_j − f (or y_hj − f') is a "
               "difference of two numbers that are equal in a double, and so is D less g_j. Begin with the others "
               "alone, which do not hold token j: m is what they score, and what do they weigh together?")
