"""Checks of assignment 07 on LIME: a weighted ridge regression, and all its parts put together."""

import numpy as np

from coursegrade.kit.same import same

from .black_box import PASSED_ON, boxed, either, game, on_boxes, other_way, rows, thrifty, words_of
from .copies import NO, perturbed
from .nearness import proximity, weights_of

__all__ = ["fit", "lime"]

LINE = "β (d,), the intercept, R²"


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
                   "scores that do not vary": (Z[:4], np.full(4, 3.5), np.array([0.5, 0.75, 0.5, 0.25]), 1.0)},
          returns=LINE, instead="np.linalg",
          otherwise="Look at β first, then at the intercept, then at R². The line goes through the weighted means: "
                    "ȳ = β₀ + β·z̄.",
          hints={"ingular matrix": "Without a ridge the equations may have many solutions, and `solve` refuses to "
                                   "choose. np.linalg.lstsq(M, v)[0] is the one of least length.",
                 "shapes": "Z is (n, d), and the weights (n,) belong to its rows: weights[:, None] * Z."},
          promises={r"positive weights $\pi$ $(n,)$ and a ridge $\rho \geq 0$": lambda Z, y, weights, ridge: (
                        weights.min() > 0 and ridge >= 0)})
def fit(Z, y, weights, ridge, *, intercept="free", power=0.5, means=lambda pi: pi, at_0=None, r2=None):
    """fit(Z, y, weights, ridge): (β (d,), intercept, R²) of a weighted ridge regression; the intercept goes free."""
    n, d = Z.shape
    root, means = weights ** power, means(weights)
    first = np.ones((n, 1)) if intercept == "penalised" else np.zeros((n, 0))
    Z, y = np.hstack([first, Z]).astype(float), np.asarray(y, float)
    mean, mean_y = (means @ Z / means.sum(), means @ y / means.sum()) if intercept == "free" else (0 * Z[0], 0.0)
    A = np.vstack([root[:, None] * (Z - mean), np.sqrt(ridge) * np.eye(Z.shape[1])])
    beta = np.linalg.lstsq(A, np.append(root * (y - mean_y), np.zeros(Z.shape[1])), rcond=1e-9)[0]
    level = float(beta[0] if intercept == "penalised" else mean_y - mean @ beta)
    beta, Z = beta[-d:].round(9) + 0.0, Z[:, -d:]
    caught = (r2 or _caught)(y, Z @ beta + level, weights)
    return beta, round(at_0(Z, y, weights, beta) if at_0 else level, 9), round(caught, 9)


def _caught(y, line, weights, mean=None):
    spread = weights @ (y - (weights @ y / weights.sum() if mean is None else mean)) ** 2
    return float(1 - weights @ (y - line) ** 2 / spread) if spread > 1e-20 else 1.0


def _scaled(scale):
    """fit with other weights."""
    return lambda Z, y, weights, ridge: fit.reference(Z, y, scale(weights), ridge)


fit.mistakes(
    ("The intercept is penalised, too. It goes free: no ridge on it. (Or: centre Z and y first.)",
     lambda Z, y, weights, ridge: fit.reference(Z, y, weights, ridge, intercept="penalised" if ridge else "free")),
    ("β is not the smallest: what never changes, a column or a sum of columns, is the intercept's business. Centre Z "
     "first, so that only the length of β counts.",
     lambda Z, y, weights, ridge: fit.reference(Z, y, weights, ridge, intercept="free" if ridge else "penalised")),
    ("The line was forced through 0. It has an intercept.", dict(intercept="none")),
    ("The weights change nothing here.", _scaled(np.ones_like)),
    ("The weights came in twice: π where √π is right. Each square is multiplied by its weight once, so a row by its "
     "*root*.", dict(power=1)),
    ("The weights came in only half: π belongs, once, between Zᵀ and Z, and between Zᵀ and y. (Or √π, to the rows of "
     "Z and of y.)", dict(power=0.25)),
    ("Z and y were centred by their plain means. Weights count in the means, too.", dict(means=np.ones_like)),
    ("The ridge changes nothing here.", lambda Z, y, weights, ridge: fit.reference(Z, y, weights, 0.0)),
    ("The weights were made to sum to one. With a ridge their size matters.", _scaled(lambda pi: pi / pi.sum())),
    ("β is right. The intercept is the mean of y only where β is 0: the line goes through the mean of y *at the mean "
     "of Z*.", dict(at_0=lambda Z, y, weights, beta: weights @ y / weights.sum())),
    ("β is right. In the intercept the means are weighted means.",
     dict(at_0=lambda Z, y, weights, beta: y.mean() - Z.mean(0) @ beta)),
    ("The line is right. R² counts all samples alike here; its sums are weighted, too.",
     dict(r2=lambda y, line, weights: _caught(y, line, np.ones_like(y)))),
    ("The line is right. In R² the mean of y is a weighted mean, too.",
     dict(r2=lambda y, line, weights: _caught(y, line, weights, y.mean()))),
    ("The line is right. That is the share that is *left*; R² is 1 minus it.",
     dict(r2=lambda y, line, weights: 1 - _caught(y, line, weights))))


@fit.suspect
def _(got, Z, y, weights, ridge):
    (beta, intercept, _), right = got, fit.reference(Z, y, weights, ridge)
    if same(beta, right[0]):
        return ("These scores do not vary, and R² would be 0/0: it is 1 then. (Ask whether all scores are equal: a sum "
                "of squares may miss 0 by rounding.)") if not np.ptp(y) else None
    if abs(beta).max() > 1e6:
        return ("β is huge: something was divided by a number that is 0 but for rounding. Where many lines fit, only "
                "np.linalg.lstsq and pinv look for such numbers; solve and inv do not.")
    line, best = (Z @ b + at_0 for b, at_0 in ((beta, intercept), right[:2]))
    return ("This line fits as well as any, but there is one with a smaller β. Where the samples cannot tell words "
            "apart many lines fit alike: np.linalg.lstsq takes the solution of least length, solve does not."
            ) if not ridge and np.allclose(line, best) else None


# -- lime ------------------------------------------------------------------------------------------------------------

LIKED = {"": -0.5, "good": 2.0, "not good": -3.25, "film": 0.5}
FILM, BAD = ["not", "a", "good", "film"], ["bad", "film", ",", "bad"]
SOME = rows("1111", "0111", "1101", "0011", "1000", "0110", "1010", "0001")
FEW = rows("111", "011", "100", "101", "110", "001")
AGAIN = rows("111", "011", "011", "010", "100", "111", "010", "010")


def _asked_once(f, masks):
    """Scores (n,) of masks, each different one asked about once."""
    different, which = np.unique(masks, axis=0, return_inverse=True)
    return f(different)[which.ravel()]


@on_boxes((1, 2), {"a sum of words, no ridge": ({"": 0.25, "bad": -1.5, "film": 0.75}, BAD, FEW, "replace", 25, 0.0),
                   "replace": (LIKED, FILM, SOME, "replace", 25, 1.0),
                   "delete, and a word twice": ({"#": 0.5, "bad": -2.0, "bad film": 1.25, "[UNK]": 3.0}, BAD, FEW,
                                                "delete", 25, 0.5),
                   "a word again and again": ({"no": -1.0, "fun": 0.5, "no plot": -0.75}, NO, FEW, "replace", 25, 0.5),
                   "a wider kernel": (LIKED, FILM, SOME, "replace", 70, 0.25),
                   "masks that come again": ({"bad": -2.0, "film ,": 1.25, "bad ,": 0.75}, BAD, AGAIN, "replace", 25,
                                             1.0)},
          returns=LINE, given=boxed, instead="your own functions", lend=("perturbed", "proximity", "fit"),
          also=thrifty(lambda box, document, masks, *others: len({mask.tobytes() for mask in masks}),
                       "Masks come again; their copies need not be asked about again."),
          uses=lambda box, document, masks, by, width, ridge: [
              *((perturbed, (document, mask, by)) for mask in either(np.unique(masks, axis=0))),
              (proximity, (masks, width)),
              (fit, (masks, game(*boxed(box, document, by))(masks), weights_of(masks, width), ridge))],
          otherwise="Take the masks and the scores as they come: none drawn, added or shifted. Then print what one "
                    "function hands to the next: n masks, n scores, n weights.",
          hints={r"\bfit\b.*\n.*('list' object|tuple|inhomogeneous)":
                 "`fit` takes arrays: np.array(…) makes one of a list, and `proximity` returns two things, of which "
                 "only the first is weights.",
                 r"\bfit\b.*\n.*(shape|align|broadcast)":
                 "There is one score for each mask, (n,). Was predict asked about the different masks only? Then "
                 "its scores have to be handed back to all n."},
          promises={r"the masks $(n, d)$ over the $d \geq 1$ distinct words": lambda predict, document, masks, *more: (
                        masks.shape[1] == len(words_of(document)) > 0)})
def lime(predict, document, masks, by, width, ridge, *, ask=game, scores=_asked_once, weigh=weights_of):
    """lime(predict, document, masks, by, width, ridge): (β (d,), intercept, R²) over the distinct words."""
    return fit.reference(masks, scores(ask(predict, document, by), masks), weigh(masks, width), ridge)


def _with(**fixed):
    """lime with a width or a ridge of its own."""
    def answer(predict, document, masks, by, width, ridge):
        given = {"width": width, "ridge": ridge} | fixed
        return lime.reference(predict, document, masks, by, given["width"], given["ridge"])

    return answer


lime.mistakes(
    ("All masks weigh the same here. Where is `proximity`? (Its width is handed on as it is.)",
     dict(weigh=lambda masks, width: np.ones(len(masks)))),
    ("The width is 25 here, whatever `width` says.", _with(width=25)),
    ("The ridge is 1 here, whatever `ridge` says.", _with(ridge=1.0)),
    ("The ridge changes nothing here.", _with(ridge=0.0)),
    (PASSED_ON, dict(ask=other_way)),
    ("A mask that comes again was fitted only once. It need not be *asked* again, but it counts again.",
     lambda predict, document, masks, *others: lime.reference(predict, document, np.unique(masks, axis=0), *others)),
    ("The scores stand beside other masks. Which of the different masks is each of the n?",
     dict(scores=lambda f, masks: np.resize(f(np.unique(masks, axis=0)), len(masks)))),
    ("The line was fitted to the words that are *gone*. Its features are the masks: 1 where a word is kept.",
     lambda predict, document, masks, by, width, ridge: fit.reference(
         ~masks, _asked_once(game(predict, document, by), masks), weights_of(masks, width), ridge)))
