"""Checks of assignment 14 on what a score loses: under deletion, under small moves, and with the top features kept."""

from attention_questions.prelude import Question, kind, np, same

from . import solution
from .models import LIBRARY, floats, head, of_rows

# -- aopc ------------------------------------------------------------------------------------------------------------

WORDS = {"fine": (1.0, 1.5), "cast": (0.5, 1.0), "dull": (1.5, -2.0), "the": (-0.5, -0.5), "plot": (0.0, 0.5)}
MOVED_UP = "Once a token is deleted, all behind it have moved up: places in the order are those of the whole document."
FILLS, PREDICT = ["[UNK]", "the", None], head(WORDS, later=0.25, empty=0.5)


aopc = Question(solution.aopc, (2, 2), {
    "a decision for": (PREDICT, ["cast", "fine", "the", "plot", "plot"],
                       np.array([[-2.0, -1.0, -2.0, 2.0, -1.0], [3.0, 3.0, -1.0, 2.0, -2.0]]), FILLS),
    "a decision against": (PREDICT, ["dull", "plot", "dull", "the", "fine"],
                           np.array([[-1.0, -1.0, 0.0, 2.0, -1.0], [2.0, 3.0, 1.0, 1.0, 0.5]]), FILLS),
    "a score of 0": (PREDICT, ["so", "so"], np.array([[2.0, 1.0], [1.0, 2.0]]), ["fine", "dull"]),
    "one token": (PREDICT, ["dull"], np.array([[-1.0]]), ["[UNK]", None])},
    returns="table (m, fills), winners (fills,)", forbidden=LIBRARY, instead="`predict`",
    otherwise="The last case by hand: f = −2 for the whole document, 0 with [UNK] and 0.5 without any token. "
              "Towards the decision *against* these are falls by 2 and 2.5, at one of two steps: 1 and 1.25.",
    hints={"pop index|assignment index|list index": MOVED_UP,
           "got a single one": "`predict` takes a list of documents: predict([document])[0] scores one."})


def _deleted_from_what_is_left(at):
    """An edit: one token after the other is deleted at this place of what is left by then."""
    return ("[[word for word in copy if word is not None] for copy in copies] → [document]\n"
            "                for t in np.argsort(rank):\n"
            "                    left = copies[-1]\n"
            f"                    at = {at}\n"
            "                    copies.append(left[:at] + left[at + 1:])")


aopc.mistakes(
    ("Of a decision *against*, the tokens that pull the score down go first: the sign is missing in the order.",
     "-s * row → -row"),
    ("The order goes by size. A token that speaks against the decision goes last.", "-s * row → -np.abs(row)"),
    ("Of equal attributions the *later* token goes first here, as where a sorted order is turned round by [::-1]. "
     "np.argsort(-values, kind=\"stable\") lets the earlier go first.",
     '-s * row, kind="stable") → s * row, kind="stable")[::-1]'),
    ("The least important token goes first here.", "-s * row → s * row"),
    ("The fall is counted downwards always. Of a decision *against* the score rises: towards the decision, that is a "
     "fall.", "s * (whole → (whole"),
    ("Where the fill is None, the token is deleted. Here something stands in its place.", "fill is None → False"),
    ("Divided by T. Steps 0 to T are T + 1, with the untouched document.", "np.mean → 1 / T * np.sum"),
    ("These are sums over the steps. A mean is due.", "np.mean → np.sum"),
    ("A rise counts as a fall here, by its size. It makes the area smaller.", "s * (whole → np.abs(whole"),
    ("Each token was taken away alone. At step k, the first k are gone together.", "rank[t] >= k → rank[t] != k - 1"),
    ("With a token, its equals elsewhere in the document went as well. Each place has its own attribution.",
     "rank[t] >= k → min(rank[i] for i in range(T) if document[i] == word) >= k"),
    (MOVED_UP, _deleted_from_what_is_left("min(t, len(left) - 1)")),
    ("`remove` takes the first of equal tokens away, wherever the one that is meant stands.",
     _deleted_from_what_is_left("left.index(document[t])")),
    ("`np.sign` of 0 is 0, and a score of exactly 0 decides *for*.", "1 if whole >= 0 else -1 → np.sign(whole)"),
    ("A score of exactly 0 decides *for*: at least 0.", "whole >= 0 → whole > 0"),
    ("`winners` has the smallest area. The steeper the score falls, the better.", "argmax → argmin"))


# -- infidelity ------------------------------------------------------------------------------------------------------

PRODUCT = of_rows("x_0 · x_1 − 2 x_2", lambda X: X[:, 0] * X[:, 1] - 2 * X[:, 2])
BEND = of_rows("max(x_0, x_1) + x_2 · x_3 of four features", lambda X: X[:, :2].max(1) + X[:, 2] * X[:, 3])
SUM = of_rows("2 x_0 − x_1", lambda X: 2 * X[:, 0] - X[:, 1])


infidelity = Question(solution.infidelity, (2, 2), {
    "three features": (PRODUCT, *floats([2, 3, 1], [[3, 2, -2], [1, 1, -1], [-1, 0, 4]],
                                        [[1, 0, 0.5], [2, 3, 0], [0, 1, -1], [1, 3, 1]])),
    "fewer moves than features": (BEND, *floats([1, 2, 3, -1], [[1, 0, 2, -1], [0, 0, 0, 0]],
                                                [[1, 1, 0, -1], [0, 2, 3, 0]])),
    "a feature that never moves": (PRODUCT, *floats([1, 1, 2], [[1, 1, -2], [0, 0, 3]],
                                                    [[1, 1, 0], [0.5, 1, 0], [1, 0, 0]])),
    "a sum": (SUM, *floats([1, -1], [[2, -1], [4, -2]], [[1, 0], [0.5, -1], [1, 1]]))},
    returns="raw (m,), scaled (m,), best (d,)", forbidden=LIBRARY, instead="least squares",
    otherwise="The last case by hand: a sum loses 2, 2 and 1 in these moves, which is I · φ for φ = (2, −1). So "
              "its raw value is 0, and that of its double is the mean of 4, 4 and 1.",
    hints={"takes inputs in rows": "`f` takes rows: f(x[None]) scores x, and f(x − moves) all moved inputs.",
           "Singular": "Fewer moves than features, or one that never moves: many φ are equally good, and no "
                       "matrix has an inverse. np.linalg.lstsq finds the shortest of them."})
RAW, SCALED = "((said - lost) ** 2)", "((c[:, None] * said - lost) ** 2)"
SQUARES, FIT = "np.where(squares > 0, squares, 1)", "np.linalg.lstsq(moves, lost, rcond=None)[0]"
infidelity.mistakes(
    ("The moves were added. The moved input is x − I.", "x - moves → x + moves"),
    ("What is lost is f(x) − f(x − I), in this order.", "f(x[None]) - f(x - moves) → f(x - moves) - f(x[None])"),
    ("These are sums over the moves. A mean is due.", f"{RAW}.mean → {RAW}.sum", f"{SCALED}.mean → {SCALED}.sum"),
    ("These are mean sizes of the differences. Mean squares are due.", f"{RAW} → np.abs(said - lost)",
     f"{SCALED} → np.abs(c[:, None] * said - lost)"),
    ("For `scaled` the factor makes both sides equally long. It is the one with the least mean square that is due.",
     f"said @ lost / {SQUARES} → np.sqrt(lost @ lost / {SQUARES})"),
    ("For `scaled` the factor is upside down: c = Σ (I · φ) Δ / Σ (I · φ)².", f"{SQUARES} → (lost @ lost)"),
    *(("A factor may be negative: an attribution may have all signs wrong.", f"said @ lost → {above_0}")
      for above_0 in ("np.abs(said @ lost)", "np.maximum(said @ lost, 0)")),
    ("The errors' own mean was taken off. An error that is the same in all moves is one, too.",
     f"{RAW}.mean → (said - lost).var", f"{SCALED}.mean → (c[:, None] * said - lost).var"),
    ("`best` is moves.T @ Δ: that is right for moves of length 1 that are orthogonal. Fit all of φ together.",
     f"{FIT} → moves.T @ lost"),
    ("`best` was fitted with an intercept. There is none in I · φ.",
     "(moves, lost → (moves - moves.mean(0), lost - lost.mean()"),
    ("`best` takes each feature by itself. Moves change several at once: fit all of φ together.",
     f"{FIT} → moves.T @ lost / np.maximum((moves ** 2).sum(0), 1e-300)"))


@infidelity.suspect
def _(got, f, x, phis, moves):
    _, scaled, best = got
    if kind(scaled) == "a NumPy array" and np.isnan(scaled).any():
        yield "Where I · φ is 0 in all moves, as for zeros, every factor does the same: what is 0/0 here counts as 0."
    due = solution.infidelity(f, x, phis, moves)[2]
    if kind(best) == "a NumPy array" and (best.shape, best.dtype) == (due.shape, due.dtype) and (
            same(moves @ best, moves @ due) and not same(best, due)):
        yield "`best` fits as well as can be, and is not the shortest φ that does."


# -- complexity ------------------------------------------------------------------------------------------------------

PLUS = of_rows("x_0 · x_1 + 2 x_2 − x_3", lambda X: X[:, 0] * X[:, 1] + 2 * X[:, 2] - X[:, 3])
FLAT = of_rows("5, whatever x is", lambda X: np.full(len(X), 5.0))
RISING = PLUS, *floats([3, 0.5, 1, 2], [-0.5, -1, -3, 2], [[0, -1, -1, 1], [2, 0, 2, 2]])


complexity = Question(solution.complexity, (1, 0), {
    "the loss rises again": (*RISING, 2.0), "exactly ε": (*RISING, 1.25),
    "just enough": (PLUS, *floats([1, 2, 0, 1], [2, 1, -3, 1], [[1, 1, 1, 2], [0, 2, 1, 1], [1, 0, 0, 1]]), 0.5),
    "nothing is needed": (FLAT, np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.zeros((3, 2)), 0.0),
    "no tolerance": (PLUS, *floats([1, 1, 1, 3], [4, 1, 2, 3], [[0, 0, 0, 0]]), 0.0)},
    promises={"epsilon: a number, at least 0": lambda f, x, phi, background, epsilon: epsilon >= 0},
    returns="losses (d + 1,), k", forbidden=LIBRARY, instead="`f`",
    otherwise="With all d features kept, nothing is left to replace: the last loss is 0. With none, each row of "
              "the background is scored as it is. Are your first and last loss so?",
    hints={"takes inputs in rows": "`f` takes rows: make all mixed inputs, (n, d), and ask once for each k."})
LOSS = "np.mean((f(rows) - here) ** 2)"
FIRST = "next(k for k, loss in enumerate(losses) if loss <= epsilon)"
complexity.mistakes(
    ("Features go by the size of their attribution: what speaks against counts as much.", "-np.abs(phi) → -phi"),
    ("Of equal sizes the later feature came first here, as where a sorted order is turned round by [::-1]. "
     "np.argsort(-sizes, kind=\"stable\") lets the earlier come first.",
     '-np.abs(phi), kind="stable") → np.abs(phi), kind="stable")[::-1]'),
    ("`k` is where the loss is least. The first loss that is at most ε is enough.",
     f"{FIRST} → int(np.argmin(losses))"),
    ("The smallest attribution was kept first, in the order of the formula as printed. Its top k are the *last* k.",
     "-np.abs → np.abs"),
    ("The top k were replaced, and the rest kept. The k features that matter most keep their values.",
     "rows[:, order[:k]] = x[order[:k]] → rows[:, order[k:]] = x[order[k:]]"),
    ("First the mean over the background was taken, then the square. It is the mean of squares that is due.",
     f"{LOSS} → np.mean(f(rows) - here) ** 2"),
    ("These are roots of mean squares. Mean squares are due.", f"{LOSS} → np.sqrt({LOSS})"),
    ("These are sums over the background. A mean is due.", "np.mean → np.sum"),
    ("The rows of the background were averaged first. Score each row, then take the mean of the squares.",
     "background.copy() → background.mean(0, keepdims=True)"),
    ("These are mean sizes. Mean squares are due.", f"{LOSS} → np.mean(np.abs(f(rows) - here))"),
    ("A loss of exactly ε is allowed: at most ε.",
     f"{FIRST} → next((k for k, loss in enumerate(losses) if loss < epsilon), len(x))"),
    ("`k` is where the loss *stays* at most ε. The first time counts.",
     f"{FIRST} → next(k for k in range(len(losses)) if max(losses[k:]) <= epsilon)"),
    ("`k` is one too many: k = 0 keeps nothing, and the first loss is its.", f"{FIRST} → {FIRST} + 1"))
