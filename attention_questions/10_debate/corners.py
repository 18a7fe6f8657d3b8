"""Checks of assignment 10 on what the score does not see: the farthest weights with nearly one score, and the part of
attention that every output is blind to."""

from attention_questions.prelude import Question, kind, np, same

from . import solution
from .weights import LIBRARY

# -- farthest --------------------------------------------------------------------------------------------------------

farthest = Question(solution.farthest, (2, 4), {
    "five tokens": (np.array([3, 7, 4, 5, 1]) / 20, np.array([0.5, 0.0, -3.0, 1.0, 1.5]), -0.6, 0.1),
    "three tokens": (np.array([0.5, 0.3, 0.2]), np.array([2.0, -1.0, 1.5]), 0.9, 1.1),
    "five others": (np.array([0.05, 0.15, 0.2, 0.5, 0.1]), np.array([-4.0, -0.5, 2.5, -3.5, -2.5]), -1.975, -1.175),
    "wide bounds": (np.array([0.15, 0.3, 0.4, 0.1, 0.05]), np.array([-1.5, -3.5, -0.5, -1.0, 2.5]), -1.85, -1.25),
    "a weight of zero": (np.array([0.6, 0.3, 0.0, 0.1]), np.array([2.0, -1.0, -1.5, 3.0]), 1.1, 1.3),
    "one within the bounds, one outside": (np.array([10, 6, 10, 1]) / 27, np.array([2.0, 1.0, 1.5, -1.0]), -0.02, 2.28),
    "all say the same": (np.array([0.2, 0.5, 0.3]), np.full(3, 1.5), 1.4, 1.6),
    "one token": (np.ones(1), np.array([2.0]), 1.9, 2.1)},
    promises={r"$\text{low} < f < \text{high}$": lambda alpha, y, low, high: low < alpha @ y < high,
              "At most one weight of `alpha` is 0": lambda alpha, y, low, high: (
                  alpha.min() >= 0 and (alpha == 0).sum() < 2 and abs(alpha.sum() - 1) < 1e-9)},
    returns="weights (T,), divergence", forbidden=LIBRARY, instead="`js`", lend=("js",),
    why="Singles and pairs on a bound are all the corners there are, at most T². All of them are listed, and js "
        "takes them at once.",
    otherwise="Take the example of the statement, three tokens, and list all your candidates: there are two pairs for "
              "each bound, and no single token. Has each a score of 0.9 or 1.1? Which of the four is farthest by `js`?",
    hints={"ZeroDivision": "Two tokens with one y say that y in any mixture: no share is special. Such a pair is left "
                           "out; each of its tokens alone is a candidate of its own."})
SHARE = "(bound - y[j]) / (y[i] - y[j])"
BEST = "rows[distances.argmax()], distances.max()"
farthest.mistakes(
    ("Single tokens are missing: one whose y lies within the bounds keeps the score on its own.",
     "if low <= says <= high → if False"),
    ("A single token is allowed only if its y lies within the bounds.", " if low <= says <= high → "),
    ("Pairs were tried only if one token is above both bounds and the other below both. One of them may lie within the "
     "bounds: it is their mixture that must lie on one.",
     "y[i] != y[j] and → max(y[i], y[j]) > high and min(y[i], y[j]) < low and"),
    ("Mixtures of two tokens are missing: there are corners on the bounds, too.",
     "itertools.combinations(range(T), 2) → ()"),
    ("Only the tokens with the smallest and the largest y were mixed. A corner may have any two tokens.",
     "itertools.combinations(range(T), 2) → [(y.argmin(), y.argmax())]"),
    *(("Only neighbours were mixed. A corner may have any two tokens.",
       f"itertools.combinations(range(T), 2) → itertools.pairwise({tokens})")
      for tokens in ("range(T)", "np.argsort(y, kind='stable')")),
    ("Only the lower bound was tried. The score may be anywhere between both, and each has its corners.",
     "(low, high) → (low,)"),
    ("Only the upper bound was tried. The score may be anywhere between both, and each has its corners.",
     "(low, high) → (high,)"),
    ("The pairs were made for the score in the middle of the bounds. Corners lie on a bound.",
     "(low, high) → ((low + high) / 2,)"),
    ("The pairs were made for the score f itself. It may move, and corners lie on a bound.",
     "(low, high) → (alpha @ y,)"),
    ("The two shares of a pair have changed places: the score is not within the bounds.", "= x, 1 - x → = 1 - x, x"),
    ("A share outside of 0 … 1 was cut to it, and the pair then says something else. Leave such a pair out.",
     f" and 0 <= (x := {SHARE}) <= 1 → ", f"row = np.zeros(T) → x, row = np.clip({SHARE}, 0, 1), np.zeros(T)"),
    ("These are the nearest corner's weights. The farthest is due.",
     f"{BEST} → rows[distances.argmin()], distances.min()"),
    ("`weights` is the row itself, an array (T,), and not its place among the candidates.",
     "rows[distances.argmax()] → distances.argmax()"),
    ("By another distance these are the farthest, as by the sum of |weights − alpha|. Here it is your `js`.",
     f"return {BEST} → best = np.abs(rows - alpha).sum(1).argmax()\n    return rows[best], distances[best]"))


@farthest.suspect
def _(got, alpha, y, low, high):
    if type(got) not in (tuple, list) or len(got) != 2 or kind(got[0]) != "a NumPy array" or got[0].shape != y.shape:
        return
    if not np.isfinite(got[0]).all():
        yield "Divided by 0: a pair of tokens with one y has no share. Each of its tokens is tried alone."
    if abs(got[0].sum() - 1) > 1e-6 or got[0].min() < -1e-9:
        yield "These are no weights: none is below 0, and they add up to 1."
    if not low - 1e-6 <= got[0] @ y <= high + 1e-6:
        yield "With these weights the score is outside of the bounds."
    if same(got[0], solution.farthest(alpha, y, low, high)[0]):
        yield "The weights are right, and the divergence is not theirs: js(weights[None], alpha)[0]."


# -- effective -------------------------------------------------------------------------------------------------------

effective = Question(solution.effective, (1, 0), {
    "five tokens, values in a line": (np.array([[0.8, 0.2, 0.0, 0.0, 0.0], [0.1, 0.3, 0.3, 0.2, 0.1]]),
                                      np.array([[1.0], [1.0], [0.0], [0.0], [-1.0]])),
    "five tokens, two directions": (np.array([[0.5, 0.2, 0.1, 0.1, 0.1]]),
                                    np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, 0.5], [0.0, 0.0]])),
    "the second direction is the first": (np.array([[0.5, 0.2, 0.2, 0.1]]),
                                          np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0], [-1.0, -2.0]])),
    "all values alike": (np.array([[0.5, 0.3, 0.2]]), np.full((3, 2), 1.5)),
    "as many directions as tokens": (np.array([[0.7, 0.3]]), np.array([[1.0, 2.0], [-1.0, 0.5]])),
    "nine tokens": (np.arange(1, 10)[None] / 45, 4 * np.arange(36).reshape(9, 4) ** 2 % 9 - 2.0)},
    promises={"rows that add up to 1": lambda A, V: abs(A.sum(1) - 1).max() < 1e-9},
    returns="E (n, T), free", forbidden=LIBRARY, instead="np.linalg",
    why="A column of ones makes the sum one more thing that is seen. The pseudo-inverse does not mind columns "
        "that depend on each other, and a rank counts them right.",
    otherwise="In the first case tokens 0 and 1 say the same: in each row of E they have the same weight. And all "
              "values alike leave even weights, since only the sum is seen. Are yours?",
    hints={"Singular": "Where columns depend on each other, BᵀB has no inverse. np.linalg.pinv(B) does without."})
effective.mistakes(
    ("Rows of E need not add up to 1 here: the column of ones beside the values is missing.",
     "np.hstack([V, np.ones((len(V), 1))]) → V"),
    ("That is what the output cannot see. Take it away from A.", "return A → return A - A"),
    ("E is right where the columns stand at right angles and have length 1. Others need an inverse between.",
     "np.linalg.pinv(B) → B.T"),
    ("Where a column says what the others say, QR gives a direction too many.",
     "B @ np.linalg.pinv(B) → (Q := np.linalg.qr(B)[0]) @ Q.T"),
    ("`free` is T less the rank of the values: that the sum stays 1 costs one direction more, unless the values know "
     "the sum already.", "matrix_rank(B) → matrix_rank(V)"),
    ("`free` counts columns. Those that depend on others take no freedom: it is their rank that counts.",
     "np.linalg.matrix_rank(B) → B.shape[1]"),
    ("`free` is the rank, the directions that are seen.", "len(V) - np.linalg → np.linalg"))


@effective.suspect
def _(got, A, V):
    if type(got) in (tuple, list) and len(got) == 2 and got[1] == solution.effective(A, V)[1] - 1:
        yield ("`free` is one too few. Is it T less a trace? That is 3.9999999 where 4 is due, and int() cuts it: "
               "round it, or take a rank.")
