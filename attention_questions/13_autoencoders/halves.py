"""Check of assignment 13 on features that are chosen on one half of the data and reported on the other."""

from attention_questions.prelude import Question, kind, np

from . import solution
from .directions import LIBRARY


def halves(n, F, C, seed, planted=0.0, dead=()):
    """A (n, F), Y (n, C), and as much again. Feature c has `planted` of label c; features in `dead` are all 0."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        Y = (rng.random((n, C)) < 0.4) * 1.0
        Y[:2] = [[0.0], [1.0]]
        A = np.maximum(rng.normal(size=(n, F)) + rng.normal(size=F), 0.0) * rng.uniform(0.2, 5.0, F)
        A[:, :C] += planted * Y
        made += [A.round(1), Y]
    for half, j in dead:
        made[2 * half][:, j] = 0.0
    return tuple(made)


def _one_largest(A, Y, A_new, Y_new):
    A, Y = (x - x.mean(0) for x in (A, Y))
    sizes = np.outer(*(np.linalg.norm(x, axis=0) for x in (A, Y)))
    r = np.sort(A.T @ Y / np.where(sizes > 0, sizes, 1.0), axis=0)
    return len(r) == 1 or (r[-1] - r[-2] > 1e-9).all()


def _none_constant(A, Y, A_new, Y_new):
    """But for what the statement allows: features that are all 0, and labels that do not occur in the new half."""
    varies = np.ptp(Y, axis=0).all() and (np.ptp(Y_new, axis=0) + ~Y_new.any(0)).all()
    return varies and all((np.ptp(x, axis=0) + ~x.any(0)).all() for x in (A, A_new))


discover = Question(solution.discover, (2, 2), {
    "six of each": halves(6, 3, 2, 2055, planted=1.0), "chance alone": halves(5, 4, 3, 2),
    "one is dead in the first half": halves(8, 3, 1, 36, dead=[(0, 0)]),
    "one is dead in the second": halves(8, 3, 3, 3, planted=9.0, dead=[(1, 0)]),
    "halves of two sizes": (*halves(12, 6, 2, 4)[:2], *halves(5, 6, 2, 5)[2:])},
    promises={"no two are equally large": _one_largest, "No other column is constant.": _none_constant},
    returns="features (C,), found (C,), tested (C,)", forbidden=LIBRARY, instead="means and sums of your own",
    otherwise="Take one feature and one label by hand, and their correlation on the first half. Is it in your table? "
              "Is it the largest of its label?")

CHOSEN, TESTED = "first.argmax(0)", "correlation(A_new, Y_new)[features, labels]"
discover.mistakes(
    ("On the new half you chose again. What is reported there is the feature that was chosen on the first half.",
     f"{TESTED} → correlation(A_new, Y_new).max(0)"),
    ("The feature was chosen on the new half: then nothing is left to test it on.",
     f"{CHOSEN} → correlation(A_new, Y_new).argmax(0)"),
    ("The feature was chosen on both halves together. The new one must not have a say.",
     f"{CHOSEN} → correlation(np.concatenate([A, A_new]), np.concatenate([Y, Y_new])).argmax(0)"),
    ("The largest *size* was taken. A feature of a label goes up with it: the largest correlation, with its sign.",
     f"{CHOSEN} → abs(first).argmax(0)"),
    ("A dead feature was left out. Its correlation counts as 0, which is larger than all that are below 0.",
     f"{CHOSEN} → np.where(first == 0, -1.0, first).argmax(0)"),
    ("These are covariances. A correlation is divided by both standard deviations.",
     "x / np.where(x.any(0), np.linalg.norm(x, axis=0), 1) → x", "A.T @ Y → A.T @ Y / len(A)"),
    ("Chosen by the covariance, or by means with and without the label: both are large for loud features. Divide by "
     "the standard deviations first.", f"{CHOSEN} → ((A - A.mean(0)).T @ (Y - Y.mean(0))).argmax(0)"),
    ("Means were not taken off: that is a cosine.", "x - x.mean(0) → x"),
    ("What is below 0 counts as 0 here. A correlation has its sign.", "A.T @ Y → np.maximum(A.T @ Y, 0)"),
    ("These are squared correlations.",
     "first[features, labels] → first[features, labels] ** 2", f"{TESTED} → {TESTED} ** 2"),
    ("`tested` repeats `found`: it is due on the new half.", f"{TESTED} → first[features, labels]"))


@discover.suspect
def _(got, A, Y, A_new, Y_new):
    if type(got) in (tuple, list) and any(kind(part) == "a NumPy array" and np.isnan(part.astype(float)).any()
                                          for part in got):
        yield "A dead feature has the standard deviation 0, and 0/0 is nan: its correlation counts as 0."
