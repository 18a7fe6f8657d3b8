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
    "one token": (PREDICT, ["dull"], np.array([[-1.0], [2.0]]), ["[UNK]", None])},
    returns="table (m, fills), winners (fills,)", forbidden=LIBRARY, instead="`predict`",
    why="A token's rank says when it goes, so each copy is one pass over the document, in its own order, and nothing "
        "moves up where tokens are deleted.",
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
    ("Decisions *against* are judged as if they were *for*: where is s?", "1 if whole >= 0 else -1 → 1"),
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
    *(("The last copy is missing, from which all tokens have gone: k goes up to T.", "range(T + 1) → range(T)", *more)
      for more in ((), ("np.mean → 1 / (T + 1) * np.sum",))),
    *(("All copies are one and the same list, so each shows the end. Append `list(copy)`.",
       "- predict(copies) → - predict(copies[-1:])", *more) for more in ((), ("np.mean → T / (T + 1) * np.mean",))),
    *(("`copy = document` is no copy: what is written into it stays in the document. `list(document)` is one.",
       f"table[i, j] = → document = {left}\n            table[i, j] =", *more)
      for left in ("document if fill is None else [fill] * T", "[fill] * T")
      for more in ((), ("(whole - → (predict(copies)[0] -",),
                   ("np.mean → 1 / (T + 1) * np.sum", "- predict(copies) → - predict(copies)[1:]"))),
    ("Each copy is judged by its own decision. s is that of the whole document.",
     "s * (whole - predict(copies)) → np.where(predict(copies) >= 0, 1, -1) * (whole - predict(copies))"),
    *(("These are mean scores, the area *under* the curve. How far the score has fallen is due.",
       f"s * (whole - predict(copies)) → {times}predict(copies)") for times in ("", "s * ")),
    ("The signs are turned: a fall is f of the document less f of the copy.",
     "whole - predict(copies) → predict(copies) - whole"),
    ("That is the rule of trapezoids, in which the first step and the last count half. A plain mean is due.",
     "np.mean(s * (whole - predict(copies))) → np.trapezoid(s * (whole - predict(copies))) / T"),
    ("The falls are those of probabilities. f is in log-odds.",
     "whole - predict(copies) → 1 / (1 + np.exp(-whole)) - 1 / (1 + np.exp(-predict(copies)))"),
    ("The first k were *kept*, and the others taken away: that is sufficiency. Take the first k away.",
     "rank[t] >= k → rank[t] < T - k"),
    ("`winners` has the smallest area. The steeper the score falls, the better.", "argmax → argmin"),
    ("Of equal areas the *first* row wins.", "table.argmax(0) → len(table) - 1 - table[::-1].argmax(0)"),
    ("`winners` has the best fill of each attribution. Each fill has a winner of its own.", "argmax(0) → argmax(1)"),
    ("`winners` is the best row of all fills together. Each fill has a winner of its own.",
     "table.argmax(0) → table.mean(1).argmax()"))


@aopc.suspect
def _(got, predict, document, attributions, fills):
    s = 1 if predict([document])[0] >= 0 else -1
    for orders in ([np.argsort(-s * row) for row in attributions],
                   [np.argsort(s * row)[::-1] for row in attributions]):
        other = solution.aopc(predict, document, np.array([-s * np.argsort(order) for order in orders], float), fills)
        if all(map(same, got, other)):
            yield ("Of equal attributions the earlier does not always go first: np.argsort alone may put equal ones in "
                   "any order. np.argsort(-values, kind=\"stable\") keeps the earlier first.")


# -- infidelity ------------------------------------------------------------------------------------------------------

PRODUCT = of_rows("x_0 · x_1 − 2 x_2", lambda X: X[:, 0] * X[:, 1] - 2 * X[:, 2])
BEND = of_rows("max(x_0, x_1) + x_2 · x_3 of four features", lambda X: X[:, :2].max(1) + X[:, 2] * X[:, 3])
SUM = of_rows("2 x_0 − x_1", lambda X: 2 * X[:, 0] - X[:, 1])


infidelity = Question(solution.infidelity, (2, 3), {
    "three features": (PRODUCT, *floats([2, 3, 1], [[3, 2, -2], [1, 1, -1], [-1, 0, 4]],
                                        [[1, 0, 0.5], [2, 3, 0], [0, 1, -1], [1, 3, 1]])),
    "fewer moves than features": (BEND, *floats([1, 2, 3, -1], [[1, 0, 2, -1], [0, 0, 0, 0]],
                                                [[1, 1, 0, -1], [0, 2, 3, 0]])),
    "a feature that never moves": (PRODUCT, *floats([1, 1, 2], [[1, 1, -2], [0, 0, 3]],
                                                    [[1, 1, 0], [0.5, 1, 0], [1, 0, 0]])),
    "a sum": (SUM, *floats([1, -1], [[2, -1], [4, -2]], [[1, 0], [0.5, -1], [1, 1]]))},
    returns="raw (m,), scaled (m,), best (d,)", forbidden=LIBRARY, instead="least squares",
    why="With the moves as rows all is least squares: of one number for `scaled`, of d for `best`. lstsq takes the "
        "shortest where moves are too few; a normal equation would have no inverse there.",
    otherwise="The last case by hand: a sum loses 2, 2 and 1 in these moves, which is I · φ for φ = (2, −1). So "
              "its raw value is 0, and that of its double is the mean of 4, 4 and 1. The scaled value of both is 0.",
    hints={"takes inputs in rows": "`f` takes rows: f(x[None]) scores x, and f(x − moves) all moved inputs.",
           "Singular": "Fewer moves than features, or one that never moves: many φ are equally good, and no "
                       "matrix has an inverse. np.linalg.lstsq finds the shortest of them."})
NEARLY = "`best` is near the least, and not there. Is a penalty added, or a fit in steps cut short?"
RAW, SCALED = "((said - lost) ** 2)", "((c[:, None] * said - lost) ** 2)"
DOT = "np.where(said @ lost != 0, said @ lost, 1)"
SQUARES, FIT = "np.where(squares > 0, squares, 1)", "np.linalg.lstsq(moves, lost, rcond=None)[0]"
infidelity.mistakes(
    ("The moves were added. The moved input is x − I.", "x - moves → x + moves"),
    ("f was given the moves. It scores inputs: x − I.", "f(x - moves) → f(moves)"),
    ("The moves were taken for masks, x (1 − I). The moved input is x − I, whatever numbers I holds.",
     "x - moves → x * (1 - moves)"),
    ("That is the score after the move. What is lost is f(x) − f(x − I).", "f(x[None]) - f(x - moves) → f(x - moves)"),
    ("The moves were taken one after the other. Each starts from x: `x -= move` changes x itself.",
     "x - moves → x - np.cumsum(moves, 0)"),
    ("Each feature was compared with Δ by itself. The sum I · φ is due.",
     f"{RAW}.mean(1) → ((moves * phis[:, None] - lost[:, None]) ** 2).mean((1, 2))"),
    ("What is lost is f(x) − f(x − I), in this order.", "f(x[None]) - f(x - moves) → f(x - moves) - f(x[None])"),
    ("These are sums over the moves. A mean is due.", f"{RAW}.mean → {RAW}.sum", f"{SCALED}.mean → {SCALED}.sum"),
    ("These are mean sizes of the differences. Mean squares are due.", f"{RAW} → np.abs(said - lost)",
     f"{SCALED} → np.abs(c[:, None] * said - lost)"),
    ("For `scaled` the factor makes both sides equally long. It is the one with the least mean square that is due.",
     f"said @ lost / {SQUARES} → np.sqrt(lost @ lost / {SQUARES})"),
    *(("For `scaled` the factor is another quotient: c = Σ (I · φ) Δ / Σ (I · φ)².", f"said @ lost / {SQUARES} → {c}")
      for c in ("said @ lost / (lost @ lost)", f"lost @ lost / {DOT}", f"squares / {DOT}")),
    ("For `scaled` there is one factor for all attributions. Each has its own.",
     f"said @ lost / {SQUARES} → np.full(len(phis), (said @ lost).sum() / squares.sum())"),
    ("For `scaled` the factor makes both means equal. It is the one with the least mean square that is due.",
     f"said @ lost / {SQUARES} → lost.sum() / np.where(said.sum(1) != 0, said.sum(1), 1)"),
    ("`scaled` was fitted with an intercept. Only a factor may be chosen.",
     f"{SCALED}.mean(1) → lost.var() - np.cov(said, lost, ddof=0)[-1, :-1] ** 2 / said.var(1).clip(1e-300)"),
    *(("A factor may be negative: an attribution may have all signs wrong.", f"said @ lost → {above_0}")
      for above_0 in ("np.abs(said @ lost)", "np.maximum(said @ lost, 0)")),
    ("These are roots of mean squares. Mean squares are due.", f"{RAW}.mean(1) → {RAW}.mean(1) ** 0.5",
     f"{SCALED}.mean(1) → {SCALED}.mean(1) ** 0.5"),
    ("`scaled` has the factors c. The infidelity of c φ is due.", f"{SCALED}.mean(1) → c"),
    ("For `scaled` each φ was made as long as 1. The factor with the least mean square is due.",
     f"{SCALED} → ((said / np.linalg.norm(phis, axis=1, keepdims=True).clip(1e-300) - lost) ** 2)"),
    ("The errors' own mean was taken off. An error that is the same in all moves is one, too.",
     f"{RAW}.mean → (said - lost).var", f"{SCALED}.mean → (c[:, None] * said - lost).var"),
    *(("`best` is moves.T @ Δ: that is right for moves of length 1 that are orthogonal. Fit all of φ together.",
       f"{FIT} → moves.T @ lost{times}") for times in ("", " / len(lost)")),
    (NEARLY, f"{FIT} → np.linalg.solve(moves.T @ moves + 0.001 * np.eye(len(x)), moves.T @ lost)"),
    ("`best` is the best of those given. It is the φ with the least infidelity of *all*: fit it.",
     f"{FIT} → phis[((said - lost) ** 2).mean(1).argmin()]"),
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
    elif kind(best) == "a NumPy array" and (best.shape, best.dtype) == (due.shape, due.dtype) and (
            0 < np.abs(best - due).max() < 0.02 * np.abs(due).max()):
        yield NEARLY


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
    why="A copy of the background keeps its columns where nothing is written: so only the top k are touched, and one "
        "call scores all rows.",
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
