"""Checks of assignment 07 on LIME: a weighted ridge regression, and all its parts put together."""

import numpy as np

from coursekit.grade.kit.same import same

from .black_box import CLOSE, KEY, boxed, either, game, mistaken, on_boxes, other, thrifty, vectors, words_of
from .copies import perturbed
from .nearness import is_number, proximity, rows, weights_of

__all__ = ["fit", "lime"]

LINE = ("β", "intercept", "R²")


# -- fit -------------------------------------------------------------------------------------------------------------

X, PI = np.array([[1.0, 0, 2], [0, 1, 1], [3, 1, 0], [1, 2, 2], [0, 0, 1]]), np.array([1.0, 0.5, 0.25, 2.0, 1.0])
Z = rows("111", "110", "011", "100", "001", "010")
Y, W = np.array([4.0, 3.5, 1.0, 3.0, 0.5, 1.5]), np.array([1.0, 0.75, 0.5, 0.25, 0.5, 0.25])
TWINS = (rows("1101", "1100", "0001", "0010", "1111"), np.array([2.0, 1.5, 0.0, 1.0, 4.0]),
         np.array([1.0, 0.5, 0.5, 0.25, 1.0]))
NEVER = (rows("1001", "0011", "1000", "1101", "1000", "0111"), np.array([4.0, 3.5, 3.5, 3.0, 2.0, 0.5]),
         np.array([0.3, 0.4, 0.3, 0.8, 0.1, 0.3]))
STAYS = rows("101", "100", "111", "110"), np.array([6.0, 4.0, 5.0, 2.5]), np.array([1.0, 0.5, 0.5, 0.25])


@on_boxes((2, 3), {"a plane, no ridge": (X, 10 + X @ [2.0, -1.0, 0.5], PI, 0.0),
                   "masks, ridge 1": (Z, Y + 5, W, 1.0), "masks, ridge 0.5": (Z, Y, 2 * W, 0.5),
                   "words that always go together, no ridge": (*TWINS, 0.0),
                   "a word that is always there, no ridge": (*STAYS, 0.0),
                   "one of two words is always there, no ridge": (*NEVER, 0.0),
                   "a weight of 0": (Z, Y - [0, 0, 0, 0, 50, 0], W * [1, 1, 1, 1, 0, 1], 0.25),
                   "tiny scores": (Z, 1e-7 * Y, W, 0.5),
                   "scores that do not vary": (Z[:4], np.full(4, 3.6), np.array([0.5, 0.9, 0.4, 0.9]), 1.0)},
          instead="np.linalg", tolerance=CLOSE, parts=LINE,
          hints={"ingular matrix": "Without a ridge the equations may have many solutions, and `solve` refuses to "
                                   "choose. np.linalg.lstsq(M, v)[0] is the one of least length.",
                 "numpy boolean": "Z may hold True and False, which cannot be subtracted: Z.astype(float).",
                 "shapes": "Z is (n, d), and the weights (n,) belong to its rows: weights[:, None] * Z."})
def fit(Z, y, weights, ridge):
    """fit(Z, y, weights, ridge): (β (d,), intercept, R²) of a weighted ridge regression; the intercept goes free."""
    return _fit(Z, y, weights, ridge)


def _fit(Z, y, weights, ridge, intercept="free", powers=(0.5, 0.5), means=None):
    """fit with one thing done in another way. intercept: "free", "penalised" or "none"; powers: of the weights by which
    the rows of Z and those of y are multiplied; means: weights of the means that are subtracted, by default the same.
    (The last two for β alone.)"""
    n, d = Z.shape
    of_Z, of_y = (weights ** power for power in powers)
    means = weights if means is None else means
    first = np.ones((n, 1)) if intercept == "penalised" else np.zeros((n, 0))
    Z, y = np.hstack([first, Z]).astype(float), np.asarray(y, float)
    mean, mean_y = (means @ Z / means.sum(), means @ y / means.sum()) if intercept == "free" else (0 * Z[0], 0.0)
    A = np.vstack([of_Z[:, None] * (Z - mean), np.sqrt(ridge) * np.eye(Z.shape[1])])
    beta = np.linalg.lstsq(A, np.append(of_y * (y - mean_y), np.zeros(Z.shape[1])), rcond=1e-9)[0]
    at_0 = float(beta[0] if intercept == "penalised" else mean_y - mean @ beta)
    r2 = _r2(y, Z[:, -d:] @ beta[-d:] + at_0, weights)
    return beta[-d:].round(7) + 0.0, round(at_0, 7), round(r2, 7)


def _r2(y, line, weights, mean=None):
    spread = weights @ (y - (weights @ y / weights.sum() if mean is None else mean)) ** 2
    return float(1 - weights @ (y - line) ** 2 / spread) if spread > 1e-20 else 1.0


@fit.suspect
def _(got, Z, y, weights, ridge):
    if type(got) not in (list, tuple) or len(got) != 3:
        return "Return three things: β (d,), the intercept, R²."
    if not vectors(got, Z.shape[1]):
        return "β is a NumPy array with an entry for each column of Z, (d,). The intercept comes by itself, behind it."
    if not all(map(is_number, got[1:])):
        return "The intercept and R² are single numbers."
    beta, intercept, r2 = got[0], *map(float, got[1:])
    right, n, numbers = _fit(Z, y, weights, ridge), len(Z), Z.astype(float)
    if not same(beta, right[0], CLOSE):
        return _not_beta(beta, intercept, right, Z, y, weights, ridge)
    if not same(intercept, right[1], CLOSE):
        return mistaken(intercept, right[1], [
            (weights @ y / weights.sum(), "β is right. The intercept is the mean of y only where β is 0: the line goes "
                                          "through the mean of y *at the mean of Z*."),
            (y.mean() - numbers.mean(0) @ beta, "β is right. In the intercept the means are weighted means.")]) or (
            "β is right, the intercept is not. What does the line give at the weighted mean of Z?")
    if not np.ptp(y):
        return ("These scores do not vary, and R² would be 0/0: it is 1 then. (Ask whether all scores are equal: a sum "
                "of squares may miss 0 by rounding.)")
    line = numbers @ right[0] + right[1]
    return mistaken(r2, right[2], [
        (_r2(y, line, np.ones(n)), "The line is right. R² counts all samples alike here; its sums are weighted, too."),
        (_r2(y, line, weights, y.mean()), "The line is right. In R² the mean of y is a weighted mean, too."),
        (_r2(y, line, weights, 0.0), "The line is right. R² compares the scores with their mean, not with 0."),
        (1.0, "The line is right. R² is 1 only if it meets all scores, or if these do not vary *at all*. (Was a small "
              "spread taken for none?)"),
        (1 - right[2], "The line is right. That is the share that is *left*; R² is 1 minus it.")]) or (
        "The line is right, R² is not: 1 − Σπ(y − line)²/Σπ(y − ȳ)², with the weighted mean ȳ.")


def _not_beta(beta, intercept, right, Z, y, weights, ridge):
    """What is wrong with the coefficients."""
    if not np.isfinite(beta).all():
        return "There is a 0/0: is something divided by a weight, which may be 0, or by a spread?"
    if abs(beta).max() > 1e6:
        return ("β is huge: something was divided by a number that is 0 but for rounding. Where many lines fit, only "
                "np.linalg.lstsq and pinv look for such numbers; solve and inv do not.")
    n, given = len(Z), (Z, y, weights)
    penalised = "The intercept is penalised, too. It goes free: no ridge on it. (Or: centre Z and y first.)"
    if not ridge:
        penalised = ("β is not the smallest: what never changes, a column or a sum of columns, is the intercept's "
                     "business. Centre Z first, so that only the length of β counts.")
    if found := mistaken(beta, right[0], [
            (_fit(*given, ridge, intercept="penalised")[0], penalised),
            (_fit(*given, ridge, intercept="none")[0], "The line was forced through 0. It has an intercept."),
            (_fit(Z, y, np.ones(n), ridge)[0], "The weights change nothing here."),
            *((_fit(*given, ridge, powers=(1, 1), means=means)[0], "The weights came in twice: π where √π is right. "
               "Each square is multiplied by its weight once, so a row by its *root*.")
              for means in (weights, weights ** 2)),
            *((_fit(*given, ridge, powers=(0.25, 0.25), means=means)[0], "The weights came in only half: π belongs, "
               "once, between Zᵀ and Z, and between Zᵀ and y. (Or √π, to the rows of Z and of y.)")
              for means in (weights, weights ** 0.5)),
            *((_fit(*given, ridge, powers=powers)[0], "The rows of Z and those of y were not multiplied by the "
               "same: √π belongs to both.") for powers in ((0.5, 0), (0, 0.5), (0.5, 1), (1, 0.5))),
            (_fit(*given, ridge, means=np.ones(n))[0], "Z and y were centred by their plain means. Weights count in "
                                                       "the means, too."),
            (_fit(*given, 0.0)[0], "The ridge changes nothing here."),
            (_fit(*given, ridge ** 2)[0], "This is the line for a ridge of ρ². The ridge is ρ."),
            (_fit(*given, ridge / 2)[0], "This is the line for a ridge of ρ/2: is something else counted twice?"),
            (_fit(*given, n * ridge)[0], "This is the line for a ridge of n·ρ: squares are added up, not averaged."),
            (_fit(Z, y, weights / weights.sum(), ridge)[0], "The weights were made to sum to one. With a ridge their "
                                                            "size matters.")]):
        return found
    line, best = (np.sqrt(weights) * (Z @ b + at_0) for b, at_0 in ((beta, intercept), right[:2]))
    if not ridge and same(line, best, CLOSE):
        return ("This line fits as well as any, but there is one with a smaller β. Where the samples cannot tell words "
                "apart many lines fit alike: np.linalg.lstsq takes the solution of least length, solve does not.")
    return None


# -- lime ------------------------------------------------------------------------------------------------------------

LIKED = {"": -0.5, "good": 2.0, "not good": -3.25, "film": 0.5}
FILM, BAD = ["not", "a", "good", "film"], ["bad", "film", ",", "bad"]
SOME = rows("1111", "0111", "1101", "0011", "1000", "0110", "1010", "0001")
FEW = rows("111", "011", "100", "101", "110", "001")
AGAIN = rows("111", "011", "011", "010", "100", "111", "010", "010")


@on_boxes((1, 2), {"a sum of words, no ridge": ({"": 0.25, "bad": -1.5, "film": 0.75}, BAD, FEW, "replace", 25, 0.0),
                   "replace": (LIKED, FILM, SOME, "replace", 25, 1.0),
                   "delete, and a word twice": ({"#": 0.5, "bad": -2.0, "bad film": 1.25, "[UNK]": 3.0}, BAD, FEW,
                                                "delete", 25, 0.5),
                   "a wider kernel": (LIKED, FILM, SOME, "replace", 70, 0.25),
                   "masks that come again": ({"bad": -2.0, "film ,": 1.25, "bad ,": 0.75}, BAD, AGAIN, "replace", 25,
                                             1.0)},
          prepare=boxed, instead="your own functions", tolerance=CLOSE, parts=LINE,
          also=thrifty(lambda box, document, masks, *others: len({mask.tobytes() for mask in masks}),
                       "Masks come again; their copies need not be asked about again."),
          uses=lambda box, document, masks, by, width, ridge: [
              *((perturbed, (document, mask, by)) for mask in either(np.unique(masks, axis=0))),
              (proximity, (masks, width)),
              (fit, (masks, game(box, document, by)(masks), weights_of(masks, width), ridge))],
          hints={r"\bfit\b.*\n'list' object": "`fit` was handed a list where it takes an array: np.array(…) makes one.",
                 r"\bfit\b.*\n.*(tuple|inhomogeneous)": "`fit` was handed a tuple where it takes an array: `proximity` "
                                                       "returns two things, and only the first of them is weights.",
                 "KeyError": KEY,
                 "shapes": "There is one score for each mask, (n,). Was predict asked about the different masks only? "
                           "Then its scores have to be handed back to all n."})
def lime(predict, document, masks, by, width, ridge):
    """lime(predict, document, masks, by, width, ridge): (β (d,), intercept, R²) over the distinct words."""
    return _fit(masks, game(predict, document, by)(masks), weights_of(masks, width), ridge)


@lime.suspect
def _(got, predict, document, masks, by, width, ridge):
    if type(got) not in (list, tuple) or len(got) != 3:
        return "Return what `fit` returns: β, the intercept, R²."
    if not vectors(got, len(words_of(document))):
        return "β has an entry for each distinct word, (d,)."
    f, pi = game(predict, document, by), weights_of(masks, width)
    scores, otherwise = f(masks), game(predict, document, other(by))(masks)
    in_order, first = np.unique(masks, axis=0, return_index=True)
    seen = masks[np.sort(first)]

    def beta(masks, scores, weights, ridge=ridge):
        return _fit(masks, scores, weights, ridge)[0]

    mixed = "The scores stand beside other masks. Which of the different masks is each of the n?"
    return mistaken(got[0], beta(masks, scores, pi), [
        (np.zeros(masks.shape[1]), "All of β is 0. Either all copies have the same score, or only one of them weighs "
         "anything: print both. (`width` and `proximity` use the same units.)"),
        (beta(masks, scores, np.ones(len(masks))), "All masks weigh the same here. Where is `proximity`?"),
        (beta(masks, scores, weights_of(masks, 25)), "The width is 25 here, whatever `width` says."),
        *((beta(masks, scores, weights_of(masks, width * factor)), "The width is handed on as it is: `width` and "
           "`proximity` use the same units.") for factor in (0.01, 100)),
        (beta(masks, scores, pi, 1.0), "The ridge is 1 here, whatever `ridge` says."),
        (beta(masks, scores, pi, 0.0), "The ridge changes nothing here."),
        (beta(masks, scores, pi / pi.sum()), "The weights were divided by their sum. With a ridge their size matters."),
        (beta(masks, scores, np.resize(weights_of(in_order, width), len(masks))), "The weights belong to other masks. "
         "There is one for each of the n masks, in their order."),
        (beta(masks, otherwise, pi), f"`by` is {by!r} here. Is it passed on to `perturbed`?"),
        (beta(seen, f(seen), weights_of(seen, width)), "A mask that comes again was fitted only once. It "
         "need not be *asked* again, but it counts again."),
        (beta(masks, np.resize(f(in_order), len(masks)), pi), mixed),
        (beta(masks, np.resize(f(seen), len(masks)), pi), mixed),
        (beta(~masks, scores, pi), "The line was fitted to the words that are *gone*. Its features are the masks: 1 "
                                   "where a word is kept.")]) or (
        "Do the checks of `perturbed`, `proximity` and `fit` pass? Then look at what is handed from one to the next.")
