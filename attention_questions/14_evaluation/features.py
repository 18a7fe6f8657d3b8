"""Checks of assignment 14 on the recall of important features, on the axiom of sensitivity, and on features that do
nothing."""

from attention_questions.prelude import Question, np

from . import solution
from .models import LIBRARY, floats, of_rows

# -- recall ----------------------------------------------------------------------------------------------------------

recall = Question(solution.recall, (1, 2), {
    "ties": (np.array([-0.25, -0.25, -0.5, 0.25, 0.0, 0.0, -1.0, 0.25]), [0, 4, 7], 5),
    "six features": (np.array([0.1, -2.0, 0.5, 3.0, 1.0, -0.4]), [1, 3, 5], 3),
    "all scores alike": (np.zeros(5), [2, 0], 1), "none is found": (np.array([3.0, -2.0, 0.5, 0.1]), [2, 3], 2),
    "everything is important": (np.array([1.0, -1.0, 3.0]), [2], 3),
    "more gold than places": (np.array([2.0, -3.0, 1.0, -1.0, 1.0, 0.0, 0.5]), [1, 0, 3, 2, 4], 3)},
    promises={"a list of different places, counted from 0":
                  lambda scores, gold, k: len({*gold}) == len(gold) > 0 and {*gold} <= {*range(len(scores))},
              "k: a whole number, 1 to d": lambda scores, gold, k: 1 <= k <= len(scores)},
    returns="recall, chance, luck", forbidden=LIBRARY, instead="a sum of your own",
    otherwise="Take four features of sizes 3, 1, 1, 0 with gold [0, 1] and k = 2: one of two ties gets in, and "
              "1.5 of two gold features are found on average. Of two drawn at random, how many are to be gold?")
PART, ENOUGH = "above + tied * (k - above.sum()) / tied.sum()", "h >= found - 1e-9"
recall.mistakes(
    ("Scores count by their size: a feature that speaks loudly against is important, too.", "np.abs(scores) → scores"),
    ("Of equal sizes the earlier goes first here. The order of features is nobody's merit: take the mean over all ways "
     "to break the tie.", f"{PART} → np.argsort(np.argsort(-sizes, kind='stable')) < k"),
    ("All that are tied with the last of the k got in. Together they have only the places that are left.",
     f"{PART} → above | tied"),
    ("Those tied with the last of the k were left out. They share the places that are left.", f"{PART} → above"),
    ("Divided by k: that is precision. Of how many *gold* features is this the share?", "found / n → found / k"),
    ("`chance` is the share of gold features among all. Each gold feature is drawn with which probability?",
     "k / d → n / d"),
    ("A sum of thirds may come out as 3.0000000000000004: compare with found − 1e-9.", f"{ENOUGH} → h >= found"),
    ("`luck` rounds what is found down. Where that is 1.5 on average, a draw with 1 does not do as well.",
     f"{ENOUGH} → h >= int(found + 1e-9)"),
    ("`luck` counts draws that find more. As many are enough.", f"{ENOUGH} → h > found + 1e-9"),
    ("`luck` counts draws that find exactly as many, or the next whole number. More are as good.",
     f"{ENOUGH} → found - 1e-9 <= h < found + 1 - 1e-9"),
    ("`luck` leaves out draws without a gold feature. They do as well where the explanation finds none.",
     f"{ENOUGH} → h >= max(found - 1e-9, 1)"),
    ("`luck` draws with replacement, one feature twice perhaps. Count the sets of k different ones.",
     "math.comb(n, h) * math.comb(d - n, k - h) → math.comb(k, h) * n ** h * (d - n) ** (k - h)",
     "math.comb(d, k) → d ** k"))


# -- sensitivity -----------------------------------------------------------------------------------------------------

MIXED = of_rows("min(x_0, 1) + x_1 · x_2 − 2 x_3 + 0.00000001 x_4 + 0.000008 x_5, of six features", lambda X: (
    np.minimum(X[:, 0], 1) + X[:, 1] * X[:, 2] - 2 * X[:, 3] + 1e-8 * X[:, 4] + 8e-6 * X[:, 5]))
PLATEAU = of_rows("1 − ReLU(1 − x)", lambda X: 1 - np.maximum(1 - X[:, 0], 0))


def _mixed_product(z):
    """input times gradient, and 0 for x_5"""
    return z * np.array([float(z[0] < 1), z[2], z[1], -2.0, 1e-8, 0.0])


sensitivity = Question(solution.sensitivity, (2, 2), {
    "six features": (MIXED, _mixed_product, *floats([2, 0, 0.5, 2, -3, 1], [2, -1, -1, 3, 2, -1],
                                                    [[1.5, 4, 1, 2, 3, 0.5], [3, 3, 2, 2, -1, 3]])),
    "many zeros": (MIXED, _mixed_product, *floats([2, 0, 0, 0, 0, 0], [0, -1, 1, 0, -1, 0.5],
                                                  [[0, -1, 4, 1, -1, 0.5], [1, 0.5, 0.5, -1, 1, -0.5]])),
    "a zero beside x_1": (MIXED, _mixed_product, *floats([0.5, 2, 0, 1, 0, 1], [0, -1, 1, 0, -1, 0.5],
                                                         [[1, -1, 0, 2, 1, 0.5], [0, 3, 0, -1, -1, 3]])),
    "1 − ReLU(1 − x), its gradient": (PLATEAU, lambda z: (z < 1) * 1.0, *floats([2], [0], [[3], [0.5]])),
    "1 − ReLU(1 − x), integrated": (PLATEAU, lambda z: np.minimum(z, 1), *floats([2], [0], [[3]])),
    "1 − ReLU(1 − x), from 3": (PLATEAU, lambda z: z / 2, *floats([2], [3], [[0.5]]))},
    returns="violated (d,), mismatch", forbidden=LIBRARY, instead="`f` and `explain`",
    otherwise="By hand, for 1 − ReLU(1 − x) at x = 2 from 0: f goes from 0 to 1, the gradient at 2 is 0. So the "
              "axiom is violated. What does your function see at each of these three steps?",
    hints={"takes inputs in rows": "`f` takes rows and gives an array: of one input z, f(z[None])[0] is the "
                                   "score. `explain` takes z as it is."})
MOVED, SILENT = "abs(f(z[None])[0] - start) > 1e-6", "abs(explain(z)[j]) <= 1e-6"
IDLE, ZERO = "np.all(np.abs(f(rows) - here) <= 1e-6)", "np.abs(explain(x)) <= 1e-6"
ONE_ARRAY = "z = baseline.copy() → z = baseline = baseline.copy()"      # as after `z = baseline`
sensitivity.mistakes(
    ("For the axiom, x_j was put back to the baseline, and all others stayed as in x. It speaks of an input that "
     "differs from the *baseline* in one feature.", "z = baseline.copy() → z = x.copy()",
     "z[j] = x[j] → z[j] = baseline[j]", "- start → - here", "explain(z) → explain(x)"),
    ("For the axiom the explanation of x was read. Explain the input that differs from the baseline in one feature.",
     "explain(z) → explain(x)"),
    *(("Each feature starts from the baseline anew. `z = baseline` is no copy, and keeps what is written into it.",
       ONE_ARRAY, *more) for more in (("z[j] = → start = f(baseline[None])[0]\n        z[j] =",), ())),
    ("`violated` asks for a score that rises. One that falls differs as well.", "abs(f(z → (f(z"),
    ("`violated` asks whether all attributions are 0. Only that of feature j counts.",
     f"{SILENT} → np.all(np.abs(explain(z)) <= 1e-6)"),
    ("`violated` is turned round: True where the axiom is *not* kept.", "return violated → return ~violated"),
    ("`violated` asks for a *positive* attribution. A negative one is not 0, and keeps the axiom.",
     "abs(explain(z)[j]) → explain(z)[j]"),
    ("`violated` is True where the two scores are equal. The axiom says nothing of such features.",
     "start) > → start) <="),
    ("`violated` is True for each feature without an attribution. Did the score change?", f"{MOVED} and → "),
    ("Where the score does not change, the axiom asks for nothing: an attribution may be anything there.",
     f"{MOVED} and {SILENT} → ({MOVED}) == ({SILENT})"),
    *(("Is it really 0? Up to 0.000001 counts as 0, of changes and of attributions.", *edits) for edits in (
        (f"{MOVED} and {SILENT} → f(z[None])[0] != start and explain(z)[j] == 0", f"{IDLE} → np.all(f(rows) == here)",
         f"{ZERO} → explain(x) == 0"), (f"{ZERO} → explain(x) == 0",))),
    ("A change of 0.000004 is one: only up to 0.000001 counts as 0. np.isclose and np.allclose have other limits, but "
     "for rtol=0, atol=1e-6.", "start) > 1e-6 → start) > 3e-5", "here) <= 1e-6 → here) <= 3e-5"),
    ("For `mismatch` the explanations of the inputs that differ from the baseline were read. It is that of x.",
     "explain(x) → np.array([explain(np.where(np.arange(d) == j, x, baseline))[j] for j in range(d)])"),
    ("`mismatch` counts one side alone, attributions of 0 to features that do something. The other side is missing.",
     "zero != idle → zero & ~idle"),
    ("`mismatch` counts one side alone, features that do nothing and have an attribution. The other side is missing.",
     "zero != idle → idle & ~zero"),
    ("`mismatch` is the union of both sets. Leave out what is in both.", "zero != idle → zero | idle"),
    ("For `mismatch` a feature does nothing if *no* row of `others` changes the score.", "np.all → np.any"),
    ("For `mismatch` changes that cancel are none here. Look at each row's by itself.",
     f"{IDLE} → abs(np.mean(f(rows) - here)) <= 1e-6"),
    ("For `mismatch` whole rows of `others` were taken. One feature at a time, all the others as in x.",
     "rows[:, j] = others[:, j] → rows = others"))
