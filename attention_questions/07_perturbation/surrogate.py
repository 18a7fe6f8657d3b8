"""Checks of assignment 07 on LIME: a weighted ridge regression, and all its parts put together."""

from attention_questions.prelude import Question, np, same
from coursegrade.kit.mistakes import as_answer

from . import solution
from .black_box import ALWAYS, LIBRARY, boxed, either, rows, scores_of, thrifty
from .copies import BAD, NO, perturbed

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


fit = Question(solution.fit, (2, 3), {
    "a plane, no ridge": (X, 10 + X @ [2.0, -1.0, 0.5], PI, 0.0),
    "masks, ridge 1": (Z, Y + 5, W, 1.0), "masks, ridge 0.5": (Z, Y, 2 * W, 0.5),
    "words that always go together, no ridge": (*TWINS, 0.0), "a word that is always there, no ridge": (*STAYS, 0.0),
    "one of two words is always there, no ridge": (*NEVER, 0.0),
    "scores that do not vary": (Z[:4], np.full(4, 3.5), np.array([0.5, 0.75, 0.5, 0.25]), 1.0)},
    returns=LINE, forbidden=LIBRARY, instead="np.linalg",
    otherwise="Look at β first, then at the intercept: the line goes through the weighted means, ȳ = β₀ + β·z̄. If both "
              "are right: in R² what is left is y − β₀ − Zβ, and each square counts π times, above and below.",
    hints={"ingular matrix": "Without a ridge the equations may have many solutions, and `solve` refuses to choose. "
                             "np.linalg.lstsq(M, v)[0] is the one of least length.",
           "shapes": "Z is (n, d), and the weights (n,) belong to its rows: weights[:, None] * Z."},
    why="Centred by the weighted means, the line needs no intercept, and nothing has to be left out of the penalty. "
        "lstsq takes the solution of least length, where solve stops or takes any.",
    promises={r"positive weights $\pi$ $(n,)$ and a ridge $\rho \geq 0$": lambda Z, y, weights, ridge: (
                  weights.min() > 0 and ridge >= 0)})

MEANS, LEVEL = "np.average(Z, 0, weights), np.average(y, weights=weights)", "mean_y - mean @ beta"
LEFT, SPREAD = "((b - A @ beta) ** 2).sum()", "(b ** 2).sum()"              # R² is 1 − LEFT/SPREAD
NOT_CENTRED = f"{SPREAD} → (weights * (y - np.average(y, weights=weights)) ** 2).sum()"     # b is not, R² is right
_ONES = as_answer(       # the intercept is one coefficient of many, and has a part in the ridge, and in the length of β
    solution.fit, f"mean, mean_y = {MEANS} → Z, mean, mean_y = np.column_stack([np.ones(len(Z)), Z]), 0, 0",
    NOT_CENTRED, f"beta, {LEVEL} → beta[1:], beta[0]")
fit.mistakes(
    ("The intercept is penalised, too. It goes free: no ridge on it. (Or: centre Z and y first.)",
     lambda Z, y, weights, ridge: (_ONES if ridge else solution.fit)(Z, y, weights, ridge)),
    ("β is not the smallest: what never changes, a column or a sum of columns, is the intercept's business. Centre Z "
     "first, so that only the length of β counts.",
     lambda Z, y, weights, ridge: (solution.fit if ridge else _ONES)(Z, y, weights, ridge)),
    ("The line was forced through 0. It has an intercept.", f"{MEANS} → np.zeros(Z.shape[1]), 0.0", NOT_CENTRED),
    ("The weights change nothing here.", "mean, mean_y = → weights = np.ones(len(y))\n    mean, mean_y ="),
    ("The weights came in twice: π where √π is right. Each square is multiplied by its weight once, so a row by its "
     "*root*.", "np.sqrt(weights) → weights"),
    ("The weights came in only half: π belongs, once, between Zᵀ and Z, and between Zᵀ and y. (Or √π, to the rows of "
     "Z and of y.)", "np.sqrt(weights) → weights ** 0.25"),
    ("Z and y were centred by their plain means. Weights count in the means, too.", f"{MEANS} → Z.mean(0), y.mean()"),
    ("The ridge changes nothing here.", "ridge * np → 0 * np"),
    ("The ridge belongs on the diagonal only: ridge * np.eye(d). A number plus a matrix is added to *every* entry.",
     "ridge * np.eye(A.shape[1]) → ridge"),
    ("The ridge is squared here. It stands as it is on the diagonal of AᵀA. (Below A, as rows of samples, it would be "
     "its root.)", "ridge * np → ridge ** 2 * np"),
    ("The ridge is n times too large: the squares are added up, not averaged.", "ridge * np → len(y) * ridge * np"),
    ("The weights were made to sum to one. With a ridge their size matters.",
     "np.sqrt(weights) → np.sqrt(weights / weights.sum())"),
    ("β is right. The intercept is the mean of y only where β is 0: the line goes through the mean of y *at the mean "
     "of Z*.", f"{LEVEL} → mean_y"),
    ("β is right. In the intercept the means are weighted means.", f"{LEVEL} → y.mean() - Z.mean(0) @ beta"),
    ("The line is right. R² counts all samples alike here; its sums are weighted, too.",
     f"{LEFT} / {SPREAD} → ((y - mean_y - (Z - mean) @ beta) ** 2).sum() / ((y - y.mean()) ** 2).sum()"),
    ("The line is right. R² counts all samples alike here; its sums are weighted, too.",
     f"{LEFT} / {SPREAD} → ((y - mean_y - (Z - mean) @ beta) ** 2).sum() / ((y - mean_y) ** 2).sum()"),
    ("The line is right. In R² each square counts π times, above and below; not π² times.",
     f"{LEFT} / {SPREAD} → (weights * (b - A @ beta) ** 2).sum() / (weights * b ** 2).sum()"),
    ("The line is right. In R², what the line leaves is y − β₀ − Zβ, with the intercept.",
     f"{LEFT} → (weights * (y - Z @ beta) ** 2).sum()"),
    ("The line is right. Below, R² has the squares of y − ȳ, not those of y.", f"{SPREAD} → (weights * y ** 2).sum()"),
    ("The line is right. The penalty is no part of R².",
     f"{LEFT} / {SPREAD} → ({LEFT} + ridge * beta @ beta) / {SPREAD}"),
    ("The line is right. R² is no squared correlation: that does not see a slope that the ridge made smaller.",
     f"1 - {LEFT} / {SPREAD} → np.corrcoef(y, Z @ beta)[0, 1] ** 2"),
    ("The line is right. In R² the mean of y is a weighted mean, too.",
     f"{SPREAD} → (weights * (y - y.mean()) ** 2).sum()"),
    ("The line is right. That is the share that is *left*; R² is 1 minus it.", "@ beta, r2 → @ beta, 1 - r2"))


@fit.suspect
def _(got, Z, y, weights, ridge):
    (beta, intercept, _), right = got, solution.fit(Z, y, weights, ridge)
    if same(beta, right[0]) and not np.ptp(y):
        yield ("These scores do not vary, and R² would be 0/0: it is 1 then. (Ask whether all scores are equal: a sum "
               "of squares may miss 0 by rounding.)")
    if abs(beta).max() > 1e6:
        yield ("β is huge: something was divided by a number that is 0 but for rounding. Where many lines fit, only "
               "np.linalg.lstsq and pinv look for such numbers; solve and inv do not.")
    line, best = (Z @ b + at_0 for b, at_0 in ((beta, intercept), right[:2]))
    if not ridge and np.allclose(line, best) and np.linalg.norm(beta) > np.linalg.norm(right[0]) * (1 + 1e-6):
        yield ("This line fits as well as any, but there is one with a smaller β. Where the samples cannot tell words "
               "apart many lines fit alike: np.linalg.lstsq takes the solution of least length, solve does not.")


# -- lime ------------------------------------------------------------------------------------------------------------

LIKED, FILM = {"#": 0.25, "good": 2.0, "not good": -3.25, "film": 0.5}, ["not", "a", "good", "film"]
SOME = rows("1111", "0111", "1101", "0011", "1000", "0110", "1010", "0001")
FEW = rows("111", "011", "100", "101", "110", "001")
AGAIN = rows("111", "011", "011", "010", "100", "111", "010", "000")


def kernel(masks, width):
    """The weights (n,) of masks (n, d)."""
    return np.exp(-(100 * (1 - np.sqrt(masks.mean(1)))) ** 2 / (2 * width ** 2))


lime = Question(solution.lime, (1, 3), {
    "a sum of words, no ridge": ({"": 0.25, "bad": -1.5, "film": 0.75}, BAD, FEW, "replace", 25, 0.0),
    "replace": (LIKED, FILM, SOME, "replace", 25, 1.0),
    "delete, and a word twice": (
        {"#": 0.5, "bad": -2.0, "bad film": 1.25, "[UNK]": 3.0}, BAD, FEW, "delete", 25, 0.5),
    "a word again and again": ({"no": -1.0, "fun": 0.5, "no plot": -0.75}, NO, FEW, "replace", 25, 0.5),
    "a wider kernel": (LIKED, FILM, SOME, "replace", 70, 0.25),
    "masks that come again": ({"bad": -2.0, "film ,": 1.25, "bad ,": 0.75}, BAD, AGAIN, "replace", 25, 1.0)},
    returns=LINE, given=boxed, forbidden=LIBRARY, instead="your own functions", lend=("perturbed", "fit"),
    also=thrifty(lambda box, document, masks, *others: len({mask.tobytes() for mask in masks}),
                 "Masks come again; their copies need not be asked about again."),
    uses=lambda box, document, masks, by, width, ridge: [
        *((perturbed, (document, mask, by)) for mask in either(np.unique(masks, axis=0))),
        (fit, (masks, scores_of(box, document, masks, by), kernel(masks, width), ridge))],
    otherwise="Take the masks and the scores as they come: none drawn, added or shifted. Then print what one step "
              "hands to the next: n masks, n scores, n weights (1 for a mask that keeps all, e⁻² for one word of "
              "four and width 25).",
    why="A dictionary numbers the different masks as they come; the numbers then hand each score back to all its "
        "samples. The weights are of all n masks, for each sample counts.",
    hints={"(?i)not converge|nans?\\b|infs?\\b":
           "A mask may keep nothing: a vector of length 0 has no cosine, 0/0. The root of the share needs no division, "
           "and gives δ = 1 there.",
           "unhashable": "An array cannot be a key of a dictionary, and neither can a list: tuple(mask) can.",
           r"\bfit\b.*\n.*(shape|align|broadcast)":
           "There is one score for each mask, (n,), and one weight. Was predict asked about the different masks only? "
           "Then its scores have to be handed back to all n."},
    promises={r"the masks $(n, d)$ over the $d \geq 1$ distinct words": lambda predict, document, masks, *more: (
                  masks.shape[1] == len(set(document)) > 0)})
KERNEL = "np.exp(-delta ** 2 / (2 * width ** 2))"
lime.mistakes(
    ("The distance is not multiplied by 100.", "100 * → "),
    ("All masks weigh the same here. Where is the kernel?", f"{KERNEL} → np.ones(len(masks))"),
    ("The root is missing: δ is 1 minus the *root* of the share of words that a mask keeps.", "np.sqrt → "),
    ("The share is one of the d *distinct* words; a word that stands in two places counts once.",
     "masks.mean(1) → masks @ [document.count(word) for word in dict.fromkeys(document)] / len(document)"),
    ("That is the root of the kernel. Here the weights are the exponential itself; the root is taken of the share.",
     f"{KERNEL} → np.sqrt({KERNEL})"),
    ("The share of words that are *gone* was taken. A mask that keeps all has δ = 0.", "masks.mean → (~masks).mean"),
    ("That is the cosine, √share. The distance is 1 minus it.", "1 - np.sqrt → np.sqrt"),
    ("That is the root of the share that is *gone*. δ is 1 minus the root of the share that is kept.",
     "1 - np.sqrt(masks.mean(1)) → np.sqrt((~masks).mean(1))"),
    ("The *number* of words kept stands where their share is due, between 0 and 1.", "masks.mean(1) → masks.sum(1)"),
    ("The 2 in front of width² is missing.", "2 * width → width"),
    ("In the exponent both are squared, the distance and the width.", f"{KERNEL} → np.exp(-delta / (2 * width))"),
    ("In the exponent the width is squared, like the distance.", "width ** 2 → width"),
    ("`/ 2 * width ** 2` multiplies by width². The product below the line wants brackets.",
     "(2 * width ** 2) → 2 * width ** 2"),
    ("The 100 is squared, too: it stands inside of the bracket, beside δ.", "-delta ** 2 → -delta ** 2 / 100"),
    ("Near copies weigh most, and 1 at most. Is the exponent negative?", "-delta → delta"),
    ("The width is 25 here, whatever `width` says.", "width ** 2 → 25 ** 2"),
    ("The weights were divided by their sum. They stay as the formula gives them: a ridge of 1 is much beside small "
     "weights.", "weights, ridge → weights / weights.sum(), ridge"),
    ("The ridge is 1 here, whatever `ridge` says.", "weights, ridge → weights, 1.0"),
    ("The ridge changes nothing here.", "weights, ridge → weights, 0.0"),
    *ALWAYS,
    ("A mask that comes again was fitted only once. It need not be *asked* again, but it counts again.",
     "number = → masks = np.unique(masks, axis=0)\n    number ="),
    ("The scores stand beside other masks. Which of the different masks is each of the n?",
     "mask in number → mask in np.unique(masks, axis=0)", "scores[which] → np.resize(scores, len(masks))"),
    ("The line was fitted to the words that are *gone*. Its features are the masks: 1 where a word is kept.",
     "fit(masks → fit(~masks"))
