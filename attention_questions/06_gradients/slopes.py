"""Checks of assignment 06 on slopes: of a black box, in other coordinates, and of a head with the one who asks."""

from attention_questions.prelude import CheckFailed, Question, kind, rounded, same, services, torch

from . import solution
from .paths import described, function

# -- numerical_slopes ------------------------------------------------------------------------------------------------

E32, E31 = torch.tensor([[1.0, 2.0], [0.0, -1.0], [0.5, 1.5]]).double(), torch.tensor([[0.5], [1.0], [-1.0]]).double()


def _black_box(f, e, h):
    """What an answer gets in place of f: a function of one table that returns a number, and counts in `.asked`."""

    def ask(table):
        if kind(table) != "a tensor" or table.shape != e.shape or not table.is_floating_point():
            raise ValueError(f"f takes one table of shape {tuple(e.shape)} with floating-point numbers, got "
                             f"{described(table)}")
        ask.asked += 1
        return float(function(f)(table.detach().double()))

    ask.asked = 0
    return ask, e, h


def _four_questions(answer, arguments):
    f, e, h = _black_box(*arguments)
    services.run(answer, (f, e, h))
    if f.asked > 4 * e.numel():
        raise CheckFailed(f"For {e.numel()} numbers it asks f {f.asked} times. Four questions for each number are "
                          "enough, and a black box is paid by the question.")


numerical_slopes = Question(solution.numerical_slopes, (1, 2), {
    "curved": ("(e.exp() + e ** 3).sum()", E32, 1.5), "cubes": ("(e ** 3).sum()", E32.float(), 0.25),
    "tokens that meet": ("e[0, 0] * e[1, 1] ** 2 + e[1, 0]", E32, 3.0),
    "rounded to one decimal": ("torch.round(e.exp().sum(), decimals=1)", E31, 0.5),
    "one number": ("e.sin().sum()", torch.tensor([[0.1]]).double(), 0.3)},          # 0.1 + 0.3 − 0.3 ≠ 0.1
    returns="(T, d_e)", given=_black_box, also=_four_questions,
    why="A new table for each entry leaves e as it is. Both steps go through the same line, so that a slip in "
        "the difference cannot be in one of them alone.",
    promises={"the table of these numbers, $(T, d_e)$": lambda f, e, h: (
                  e.dim() == 2 and e.is_floating_point() and h > 0)},
    otherwise="Check one entry by hand: four values of f, with this entry moved by h, −h, h/2 and −h/2, and no other. "
              "(Was e itself changed, and the entry not put back? e.clone() is a copy.)",
    hints={"f takes one table": "f takes a whole table (T, d_e): e with one entry changed.",
           "AttributeError|'float' object is not (iter|subs)": "What f gives is a plain number of Python, which needs "
           "no .item(), and knows no .backward() and no autograd.grad. No gradient gets out of a black box; ask it "
           "four times for each entry."})

COMBINED, SIDES = "(4 * half - whole) / 3", "f(e + step * unit) - f(e - step * unit)"
numerical_slopes.mistakes(
    ("That is D(h) alone: its error is still in it. Combine it with D(h/2).", f"{COMBINED} → whole"),
    ("That is D(h/2) alone. Combine it with D(h).", f"{COMBINED} → half"),
    ("Those are one-sided differences. Look to both sides: f(e + h) less f(e − h), over 2h.",
     f"({SIDES}) / (2 * step) → (f(e + step * unit) - f(e)) / step"),
    ("The two steps are 2h and h here. They are h and h/2.", "(h, h / 2) → (2 * h, h)"),
    ("The two steps are h/2 and h/4 here. They are h and h/2.", "(h, h / 2) → (h / 2, h / 4)"),
    ("The sign is turned round: f at the larger place less f at the smaller one.",
     f"{SIDES} → f(e - step * unit) - f(e + step * unit)"),
    ("A whole row of e was moved. Move one entry, and leave all others where they are.", "unit[t, j] → unit[t]"),
    ("The entries that came before are still moved: does each entry get a new table of zeros?",
     "            unit = torch.zeros_like(e)\n → ", "result = → unit = torch.zeros_like(e)\n    result ="),
    ("The entry was replaced by h and −h. It is to be moved *by* them, from where it is.",
     f"{SIDES} → f(e * (1 - unit) + step * unit) - f(e * (1 - unit) - step * unit)"),
    ("Nearly the true slopes. Asked for is the combination of the steps h and h/2, as large as they are: where f is "
     "rounded, a small step sees nothing.", "(h, h / 2) → (1e-4, 1e-4 / 2)"))


@numerical_slopes.suspect
def _(got, f, e, h):
    if same(got, torch.zeros_like(e)):
        yield ("All slopes are 0. Does f get tables that differ by h? And no gradient gets out of a black box: each "
               "entry has four questions of its own.")
    (_, whole), (_, half), *_ = numerical_slopes.wrong_answers()
    right, large, small = (slopes(*_black_box(f, e, h)) for slopes in (solution.numerical_slopes, whole, half))
    if same(got[got != 0], right[got != 0]):
        yield (f"{(got != 0).sum()} of the {got.numel()} slopes are right, and the others are still 0. Does `return` "
               "stand inside a loop?")
    parts = torch.stack([small.flatten(), large.flatten()], 1).double()
    factors = torch.linalg.lstsq(parts, got.reshape(-1, 1).double()).solution
    if len(parts) > 2 and torch.linalg.matrix_rank(parts, rtol=1e-3) == 2 and same(parts @ factors, got.reshape(-1, 1)):
        a, b = factors.flatten().tolist()
        if abs(a - 4 / 3) > 1e-3:                                       # else only the dtype is another
            yield (f"That is {a:.3g}·D(h/2) {'−' if b < 0 else '+'} {abs(b):.3g}·D(h). Are these the factors that are "
                   "asked for, and is each difference divided by the distance of its two points?")


# -- in_coordinates --------------------------------------------------------------------------------------------------

def _tables(T, M, c, seed):
    """G, e and start, drawn, then M and c."""
    return (*(rounded(T, len(M), seed=seed + i).double() for i in range(3)),
            torch.tensor(M).double(), torch.tensor(c).double())


in_coordinates = Question(solution.in_coordinates, (2, 2), {
    "a shear and a shift": _tables(3, [[1.0, 2.0], [0.0, 1.0]], [2.0, -1.0], seed=61),
    "a rotation": _tables(1, [[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]], [0.0] * 3, seed=64),
    "a shift alone": _tables(2, [[1.0, 0.0], [0.0, 1.0]], [2.0, -1.0], seed=67)},
    returns="new_G (T, d_e), new_e (T, d_e), new_start (T, d_e)",
    otherwise="Take a move Δx of token t: G_t·Δx is what it does to the score, and H_t·(M Δx) is what it does in "
              "the new coordinates. Solve for H_t; points become M x + c. Then write a token as a row.",
    hints={"shapes": "A token is a row of e, and M times each row is x @ M.T: which sides of G and of a matrix have "
                     "the same length?"},
    why="G = H M for whole tables, as each row of G is a row of H times M: so M is taken off on the right. "
        "Points are rows, too, and M times a row is the row times the transposed of M.",
    promises={"with an invertible matrix $M$": lambda G, e, start, M, c: torch.linalg.matrix_rank(M) == len(M)})
in_coordinates.mistakes(
    ("Only the points were moved. The slopes change as well, in the opposite way: where e is stretched, f gets "
     "flatter.", "G @ torch.linalg.inv(M) → G"),
    ("The slopes were moved as points are, by M. They go the opposite way: if e becomes twice as long, slopes become "
     "half as steep.", "torch.linalg.inv(M) → M.T"),
    ("The slopes were moved as points are, M x + c. They go the opposite way: if e becomes twice as long, slopes "
     "become half as steep, and a shift changes none.", "torch.linalg.inv(M) → M.T + c"),
    ("The slopes were divided by the diagonal of M. That is enough only where all its other entries are 0.",
     "@ torch.linalg.inv(M) → / M.diag()"),
    ("The slopes were shifted by c. A shift changes no slope.", "inv(M) → inv(M) + c"),
    ("The slopes are G @ inv(M).T here: the right matrix, turned the wrong way. Solve H_t·(M Δx) = G_t·Δx for a column "
     "H_t, and then write a token as a row.", "inv(M) → inv(M).T"),
    ("The slopes were multiplied by M. If e becomes twice as long, slopes become half as steep.",
     "torch.linalg.inv(M) → M"),
    ("e stays in the old coordinates. It is a table of embeddings, as start is, and both move.", "e @ M.T + c → e"),
    ("The shift c did not reach e. It moves every point.", "e @ M.T + c → e @ M.T"),
    ("The shift came first, and M moved it, too: M (x + c). Asked for is M x + c.",
     "e @ M.T + c → (e + c) @ M.T", "start @ M.T + c → (start + c) @ M.T"),
    ("The shift c was taken away. Points move *by* c: M x + c.", "e @ M.T + c → e @ M.T - c",
     "start @ M.T + c → start @ M.T - c"),
    ("M is the wrong way round for e. With a token in each row, M x becomes x @ M.T.", "e @ M.T → e @ M"),
    ("The points were moved by the inverse of M. They go by M itself, z = M x + c; the inverse is for slopes.",
     "e @ M.T → e @ torch.linalg.inv(M).T", "start @ M.T → start @ torch.linalg.inv(M).T"),
    ("start stays in the old coordinates. It is a table of embeddings, as e is, and both move.",
     "start @ M.T + c → start"),
    ("The shift c did not reach start. It moves every point, and the baseline is one.",
     "start @ M.T + c → start @ M.T"))


# -- without_baseline ------------------------------------------------------------------------------------------------

CHANGES = {         # d_e → M, c
    "a shift": lambda d_e: (torch.eye(d_e).double(), torch.full((d_e,), 2.0).double()),
    "a stretch": lambda d_e: (torch.diag(torch.arange(d_e) + 0.5).double(), torch.zeros(d_e).double()),
    "a shear and a shift": lambda d_e: (torch.ones(d_e, d_e).triu().double(), torch.full((d_e,), -3.0).double())}
MOVES = {           # what is likely if the numbers survived all changes before this one
    "a shift": "Every row of e moves by the same c, so that the difference of two rows stays, and a row alone, or less "
               "the sum of several, does not. What is G_t multiplied by?",
    "a stretch": "Where a coordinate gets longer, its slopes get flatter. Only the product of a slope and a difference "
                 "in the *same* coordinate stays. Slopes alone, lengths and distances, and a mean over coordinates do "
                 "not.",
    "a shear and a shift": "A shear mixes the coordinates, and the *sum* of a token's products stays. What is made in "
                           "each column alone does not: its largest, smallest or middle entry is another row's "
                           "afterwards, and a size of single products, as in a norm, is another one."}
NAN = ("0/0 is nan, and so is the root of a number below 0; another number divided by 0 is infinite. Print what you "
       "divide by, and what you take a root of. (A row less itself is 0, and slopes have signs.)")


def _stays(answer, arguments):
    """Raise CheckFailed unless the numbers are the same in all coordinates, and slopes that are twice as steep make
    them twice as large."""
    G, e = arguments
    numbers, doubled = (services.run(answer, (steepness * G, e)) for steepness in (1, 2))
    if not same(doubled, 2 * numbers):
        times = ((doubled * numbers).sum() / (numbers * numbers).sum()).item()
        raise CheckFailed("If all slopes are twice as steep, every number is to be twice as large. Here they become "
                          f"{times:.2g} times as large, taken together. (A square makes 4 of 2. What is divided by its "
                          "own size, or has no G in it, stays: 1.)")
    for name, change in CHANGES.items():
        new = services.run(answer, solution.in_coordinates(G, e, e, *change(e.shape[1]))[:2])
        if not new.isfinite().all():
            raise CheckFailed(f"After {name} a number is nan or ∞. {NAN}")
        if not same(new, numbers):
            gap = ((new - numbers).abs().max() / numbers.abs().max()).item()
            raise CheckFailed(f"After {name} a number moves by {gap:.2g} times the largest one. {MOVES[name]}")
    drawn = [answer(G, e) for _ in range(5)]                            # before these no common seeds are set
    if not all(same(one, numbers) for one in drawn):
        raise CheckFailed("With the same G and e it gives other numbers each time: leave out what is drawn at random.")


without_baseline = Question(solution.without_baseline, (1, 1), {
    "four tokens": (rounded(4, 2, seed=71).double(), rounded(4, 2, seed=72).double()),
    "seven tokens": (rounded(7, 2, seed=73).double(), rounded(7, 2, seed=74).double())},
    returns="(T,)", also=_stays,
    why="The mean of the document moves with its tokens as a baseline would, and nobody has to choose it. So "
        "each number compares a token with the average one, its place included.",
    promises={r"$(T, d_e)$ with $T \ge 2$": lambda G, e: len(G) == len(e) > 1})


@without_baseline.judge
def _(got, G, e):
    due = f"expected a tensor of {len(e)} numbers, one for each token"
    if kind(got) != "a tensor":
        yield f"got {kind(got)}, {due}"
    if tuple(got.shape) != (len(e),):
        yield f"the shape is {tuple(got.shape)}, {due}", (
            "A token has d_e slopes and gets one number: the products are added up over its coordinates.")
    if not got.isfinite().all():
        yield f"{(~got.isfinite()).sum()} of the {len(e)} numbers are nan or infinite", NAN
    if (got.abs() < 1e-9).all():
        yield "all numbers are 0, and 0 explains nothing"


# -- head_slopes -----------------------------------------------------------------------------------------------------

AUTOGRAD = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
            "torch.func.grad_and_value", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd",
            "torch.func.linearize", "torch.autograd.functional.jacobian", "torch.autograd.functional.vjp",
            "torch.autograd.functional.jvp", "torch.autograd.forward_ad.make_dual",
            "coursekit.explain.gradients.slopes")


def _drawn(T, d_e, seed):
    return tuple(rounded(*shape, seed=seed + i).double() for i, shape in enumerate([(T, d_e), (d_e, d_e), (d_e,)]))


E3, M3, W3 = _drawn(T=3, d_e=2, seed=61)
TIE = torch.tensor([[1.0, 0.0], [1.0, 2.0], [1.0, -1.0]]).double()      # three equal scores, whatever M's second column


head_slopes = Question(solution.head_slopes, (1, 0), {
    "three tokens": (E3, M3, W3), "one token": (E3[:1], M3, W3),
    "five tokens in three dimensions": _drawn(T=5, d_e=3, seed=64),
    "nine tokens in one dimension": _drawn(T=9, d_e=1, seed=67),
    "scores of some thousands": (E3, 4000 * M3, W3),
    "a tie of large scores": (TIE, torch.tensor([[40000.0, 10000.0], [0, 20000.0]]).double(), W3)},
    returns="(T, d_e)", forbidden=AUTOGRAD, instead="your formula", tolerance=(1e-9, 1e-10),
    otherwise="Derive it in two steps: how f changes with each score s_t (it is α_t times something), and how s_t "
              "changes with e_t, and with e_0. Then what y_t = e_t·w adds.",
    why="What a token does through its value, and as one that is looked at, is the lecture's formula. What e_0 "
        "does as the one that asks is one more product: each score's effect, times how that score moves with "
        "e_0.",
    promises={"scores may be as large as 100,000": lambda e, M, w: (e @ M @ e[0]).abs().max() <= 100_000})

FIXED, NOT_ASKED, MEAN_MISSING = " + torch.outer(r, M @ e[0]) → ", "found[0] += r @ e @ M → ", " - alpha @ y → "
head_slopes.mistakes(
    ("All rows but row 0 are right. There e_0 was treated as any other token; but it asks, too, and so it changes the "
     "score of *every* token, its own included.", NOT_ASKED),
    ("What row 0 has in addition was given to every row. Only e_0 asks.", "found[0] += → found +="),
    ("Row 0 has only its own score as the one that asks. e_0 stands in the score of *every* token: the sum runs over "
     "all t.", "r @ e @ M → r[0] * (e[0] @ M)"),
    ("What row 0 has in addition has the wrong sign.", "found[0] += → found[0] -="),
    ("In row 0 a matrix is the wrong way round: e_t·M e_0 = (Mᵀ e_t)·e_0.", "r @ e @ M → M @ (r @ e)"),
    ("e_t·M e_0 is (M e_0)·e_t. Here M is transposed for the tokens that are looked at.", "(r, M @ → (r, M.T @"),
    ("M is transposed inside the scores: s_t is e_t·M e_0, so that M turns e_0.",
     "alpha, y = → M = M.T\n    alpha, y ="),
    ("The mean is missing. A token that gets more attention takes it away from the others: its y counts less the "
     "average, f.", MEAN_MISSING),
    ("The second part lacks its factor α_t: a token without any attention has no slope.", "r = alpha * → r ="),
    ("The average that is taken away is f: each y counts with its α there.", "alpha @ y → y.mean()"),
    ("Two things: the mean is missing (more attention for one is less for the others), and so is what row 0 has in "
     "addition, because it asks.", MEAN_MISSING, NOT_ASKED),
    ("Right for y_t. The score s_t does not change f by α_t, but by how much f changes with s_t.",
     "(r, M @ e[0]) → (alpha, M @ e[0])"),
    ("That is the slope with the attention held fixed. The weights depend on e, too.", FIXED, NOT_ASKED),
    ("That is how the weights change. What they weigh changes, too: y_t = e_t·w.", "torch.outer(alpha, w) + → "),
    ("The weights depend on e_t as a key, not only on e_0 as a query.", FIXED))


@head_slopes.suspect
def _(got, e, M, w):
    if not got.isfinite().all():
        yield ("Something is not a number. Is exp taken of a large score? Subtract the largest score first, or use "
               "torch.softmax.")
    right = solution.head_slopes(e, M, w)
    if got.dtype == right.dtype and (got - right).norm() < 2e-3 * right.norm():
        yield "Near, but not exact. (Finite differences get no nearer; a formula does.)"
    if len(e) > 1 and same(got[1:], right[1:]):
        yield ("All rows but row 0 are right. e_0 stands in every score, s_t = e_t·M e_0: add up over t how f changes "
               "with s_t, times how s_t changes with e_0.")
    if (e @ M @ e[0]).abs().max() > 1000:
        yield ("Right as long as scores are ordinary, and not here, where they are tens of thousands. Are differences "
               "of f in it, however small their step? At such scores the weights jump within any step; a formula has "
               "none.")
