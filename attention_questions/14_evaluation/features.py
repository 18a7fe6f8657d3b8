"""Checks of assignment 14 on the recall of important features, on how lucky it is, and on the axiom of sensitivity."""

from attention_questions.prelude import Question, np

from . import solution
from .models import LIBRARY, floats, of_rows

# -- recall ----------------------------------------------------------------------------------------------------------

recall = Question(solution.recall, (1, 1), {
    "six features": (np.array([0.1, -2.0, 0.5, 3.0, 1.0, -0.4]), [1, 3, 5], 3),
    "ties": (np.array([-0.25, -0.25, -0.5, 0.25, 0.0, 0.0, -1.0, 0.25]), [0, 4, 7], 5),
    "all scores alike": (np.zeros(5), [2, 0], 1), "none is found": (np.array([3.0, -2.0, 0.5, 0.1]), [2, 3], 2),
    "everything is important": (np.array([1.0, -1.0, 3.0]), [2], 3),
    "more gold than places": (np.array([2.0, -3.0, 1.0, -1.0, 1.0, 0.0, 0.5]), [1, 0, 3, 2, 4], 3)},
    promises={"a list of different places counted from 0":
                  lambda scores, gold, k: len({*gold}) == len(gold) > 0 and {*gold} <= {*range(len(scores))},
              "k: a whole number, 1 to d": lambda scores, gold, k: 1 <= k <= len(scores)},
    returns="recall, chance", forbidden=LIBRARY, instead="a mean of your own",
    why="A feature's part of a place is its chance to get in when ties are broken at random, and a mean of sums is "
        "the sum of means: so no order of the ties has to be tried.",
    otherwise="Take four features of sizes 3, 1, 1, 0 with gold [0, 1] and k = 2: one of two ties gets in, and "
              "1.5 of two gold features are found on average.")
PART, MEAN = "above + tied * (k - above.sum()) / tied.sum()", "part[gold].mean()"
recall.mistakes(
    ("Scores count by their size: a feature that speaks loudly against is important, too.", "np.abs(scores) → scores"),
    ("Of equal sizes the earlier goes first here. The order of features is nobody's merit: take the mean over all ways "
     "to break the tie.", f"{PART} → np.argsort(np.argsort(-sizes, kind='stable')) < k"),
    ("Of equal sizes the *later* goes first here, as where a sorted order is turned round. Take the mean over all ways "
     "to break the tie.", f"{PART} → np.argsort(np.argsort(sizes, kind='stable')) >= len(sizes) - k"),
    ("All that are tied with the last of the k got in. Together they have only the places that are left.",
     f"{PART} → above | tied"),
    ("Those tied with the last of the k were left out. They share the places that are left.", f"{PART} → above"),
    ("Those on the edge share all k places here. Some places are taken by the features above it.",
     "(k - above.sum()) → k"),
    ("Each on the edge counts as a half here. Their part hangs on how many there are, and on how many places are left.",
     f"{PART} → above + 0.5 * tied"),
    ("Those on the edge share one place here. How many are left for them?", "(k - above.sum()) → 1"),
    ("The edge is the k-th *smallest* size here. The k largest are important.", "[len(sizes) - k] → [k - 1]"),
    ("Divided by k: that is precision. Of how many *gold* features is this the share?",
     f"{MEAN} → part[gold].sum() / k"),
    ("This is how many gold features are found. Which share of them is it?", f"{MEAN} → part[gold].sum()"),
    ("The places in `gold` are counted from 0: `scores[0]` is the first.", "part[gold] → part[np.array(gold) - 1]"),
    ("`chance` is the share of gold features among all. Each gold feature is drawn with which probability?",
     "k / len(sizes) → len(gold) / len(sizes)"),
    ("`chance` is how many gold features a draw finds on average. Which share of them is it?",
     "k / len(sizes) → k * len(gold) / len(sizes)"),
    ("`chance` is the most that k places can find. What do they find on average?",
     "k / len(sizes) → min(1, k / len(gold))"),
    ("`chance` is how often one set of k is drawn. In which share of all draws is *one* feature?",
     "k / len(sizes) → 1 / math.comb(len(sizes), k)"))


# -- luck ------------------------------------------------------------------------------------------------------------

luck = Question(solution.luck, (1, 0), {
    "a tie": (1.5, 8, 3, 5), "a quarter": (1.25, 10, 4, 6),
    "a sum of thirds": (3 * (1 / 3 + 1e-16) + 2.0000000000000004, 12, 5, 6),
    "none is found": (0.0, 9, 4, 3), "all are found": (2.0, 6, 2, 3), "more gold than places": (2.0, 9, 7, 3),
    "three hundred": (4.0, 300, 12, 60)},
    promises={"found: a number; d, n, k": lambda found, d, n, k: 0 <= found <= min(n, k) + 1e-9 and max(n, k) <= d},
    returns="luck", forbidden=(), instead="math.comb",
    why="Whole numbers of Python have no limit, so the ways are counted exactly and divided once.",
    hints={"k must be a non-negative": "math.comb's k is your k − h here: h goes from 0 to k."},
    otherwise="By hand: four features, two gold, k = 2. Of the six pairs, one holds no gold feature, four hold one, "
              "and one holds both. Which does your sum count for found = 1?")
ENOUGH = "h >= found - 1e-9"
luck.mistakes(
    ("A sum of thirds may come out as 3.0000000000000004: compare with found − 1e-9.", f"{ENOUGH} → h >= found"),
    ("What is found is rounded down. Where it is 1.5 on average, a draw with 1 does not do as well.",
     f"{ENOUGH} → h >= int(found + 1e-9)"),
    ("What is found is rounded. Where it is 1.25 on average, a draw with 1 does not do as well.",
     f"{ENOUGH} → h >= round(found)"),
    ("That is the probability of finding fewer.", "ways / → 1 - ways /"),
    ("Divided by the ways to choose the gold ones. k of d features are drawn.", "math.comb(d, k) → math.comb(d, n)"),
    ("What is not gold is chosen among all d. How many others are there?",
     "math.comb(d - n, k - h) → math.comb(d, k - h)"),
    ("Draws that find more are counted. As many are enough.", f"{ENOUGH} → h > found + 1e-9"),
    ("Draws are counted that find exactly as many, or the next whole number. More are as good.",
     f"{ENOUGH} → found - 1e-9 <= h < found + 1 - 1e-9"),
    ("Draws without a gold feature are left out. They do as well where the explanation finds none.",
     f"{ENOUGH} → h >= max(found - 1e-9, 1)"),
    ("Draws in which all k are gold are left out: h goes up to k.", "range(k + 1) → range(k)"),
    ("The ways were counted, and not divided by all ways to draw.", "ways / math.comb(d, k) → ways"),
    ("These draws are with replacement, one feature twice perhaps. Count the sets of k different ones.",
     "math.comb(n, h) * math.comb(d - n, k - h) → math.comb(k, h) * n ** h * (d - n) ** (k - h)",
     "math.comb(d, k) → d ** k"))


# -- sensitivity -----------------------------------------------------------------------------------------------------

MIXED = of_rows("min(x_0, 1) + x_1 · x_2 − 2 x_3 + 0.00000001 x_4 + 0.000008 x_5, of six features", lambda X: (
    np.minimum(X[:, 0], 1) + X[:, 1] * X[:, 2] - 2 * X[:, 3] + 1e-8 * X[:, 4] + 8e-6 * X[:, 5]))
PLATEAU = of_rows("1 − ReLU(1 − x)", lambda X: 1 - np.maximum(1 - X[:, 0], 0))


def _mixed_product(z):
    """input times gradient, and 0 for x_5"""
    return z * np.array([float(z[0] < 1), z[2], z[1], -2.0, 1e-8, 0.0])


sensitivity = Question(solution.sensitivity, (1, 1), {
    "six features": (MIXED, _mixed_product, *floats([2, 0, 0.5, 2, -3, 1], [2, -1, -1, 3, 2, -1])),
    "many zeros": (MIXED, _mixed_product, *floats([2, 0, 0, 0, 0, 0], [0, -1, 1, 0, -1, 0.5])),
    "a zero beside x_1": (MIXED, _mixed_product, *floats([0.5, 2, 0, 1, 0, 1], [0, -1, 1, 0, -1, 0.5])),
    "1 − ReLU(1 − x), its gradient": (PLATEAU, lambda z: (z < 1) * 1.0, *floats([2], [0])),
    "1 − ReLU(1 − x), integrated": (PLATEAU, lambda z: np.minimum(z, 1), *floats([2], [0])),
    "1 − ReLU(1 − x), from 3": (PLATEAU, lambda z: z / 2, *floats([2], [3]))},
    returns="violated (d,)", forbidden=LIBRARY, instead="`f` and `explain`",
    why="Each feature gets an input and an explanation of its own; the explanation of x is never asked for, since the"
        " axiom speaks of inputs that differ from the baseline in one feature.",
    otherwise="By hand, for 1 − ReLU(1 − x) at x = 2 from 0: f goes from 0 to 1, the gradient at 2 is 0. So the "
              "axiom is violated. What does your function see at each of these three steps?",
    hints={"takes inputs in rows": "`f` takes rows and gives an array: of one input z, f(z[None])[0] is the "
                                   "score. `explain` takes z as it is."})
MOVED, SILENT = "abs(f(z[None])[0] - start) > 1e-6", "abs(explain(z)[j]) <= 1e-6"
sensitivity.mistakes(
    *(("x_j was put back to the baseline, and all others stayed as in x. The axiom speaks of an input that differs "
       "from the *baseline* in one feature.", "z = baseline.copy() → z = x.copy()",
       "z[j] = x[j] → z[j] = baseline[j]", *more)
      for more in (("- start → - f(x[None])[0]", "explain(z) → explain(x)"), ("- start → - f(x[None])[0]",), ())),
    ("The inputs start from zeros. They are the baseline, but for one feature.", "baseline.copy() → np.zeros(len(x))"),
    ("The scores were compared with that of x. The axiom compares with the baseline's.",
     "f(baseline[None]) → f(x[None])"),
    ("The explanation of x was read. Explain the input that differs from the baseline in one feature.",
     "explain(z) → explain(x)"),
    *(("Each feature starts from the baseline anew. `z = baseline` is no copy, and keeps what is written into it.",
       "z = baseline.copy() → z = baseline = baseline.copy()", *more)
      for more in (("z[j] = → start = f(baseline[None])[0]\n        z[j] =",), ())),
    ("Nothing is violated here. Do the two scores ever differ? `z = baseline` is no copy, and changes the baseline, "
     "too.", f"{MOVED} and → False and"),
    ("You ask for a score that rises. One that falls differs as well.", "abs(f(z → (f(z"),
    ("You ask whether all attributions are 0. Only that of feature j counts.",
     f"{SILENT} → np.all(np.abs(explain(z)) <= 1e-6)"),
    ("That is turned round: True where the axiom is *not* kept.", "return violated → return ~violated"),
    ("You ask for a *positive* attribution. A negative one is not 0, and keeps the axiom.",
     "abs(explain(z)[j]) → explain(z)[j]"),
    ("It is True where the two scores are equal. The axiom says nothing of such features.", "start) > → start) <="),
    ("It is True for each feature without an attribution. Did the score change?", f"{MOVED} and → "),
    ("Where the score does not change, the axiom asks for nothing: an attribution may be anything there.",
     f"{MOVED} and {SILENT} → ({MOVED}) == ({SILENT})"),
    ("Is it really 0? Up to 0.000001 counts as 0, of changes and of attributions.",
     f"{MOVED} and {SILENT} → f(z[None])[0] != start and explain(z)[j] == 0"),
    ("A change of 0.000004 is one: only up to 0.000001 counts as 0. np.isclose and np.allclose have other limits, but "
     "for rtol=0, atol=1e-6.", "start) > 1e-6 → start) > 3e-5"))
