"""Checks of assignment 06: what becomes of slopes and points in other coordinates, and what stays as it is."""

from attention_questions.prelude import CheckFailed, Question, kind, rounded, same, services, torch

from . import solution

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
    promises={"with an invertible matrix $M$": lambda G, e, start, M, c: torch.linalg.matrix_rank(M) == len(M)})
in_coordinates.mistakes(
    ("Only the points were moved. The slopes change as well, in the opposite way: where e is stretched, f gets "
     "flatter.", "G @ torch.linalg.inv(M) → G"),
    ("The slopes were moved as points are, by M. They go the opposite way: if e becomes twice as long, slopes become "
     "half as steep.", "torch.linalg.inv(M) → M.T"),
    ("The slopes were shifted by c. A shift changes no slope.", "inv(M) → inv(M) + c"),
    ("The slopes are G @ inv(M).T here: the right matrix, turned the wrong way. Solve H_t·(M Δx) = G_t·Δx for a column "
     "H_t, and then write a token as a row.", "inv(M) → inv(M).T"),
    ("The slopes were multiplied by M. If e becomes twice as long, slopes become half as steep.",
     "torch.linalg.inv(M) → M"),
    ("e stays in the old coordinates. It is a table of embeddings, as start is, and both move.", "e @ M.T + c → e"),
    ("The shift c did not reach e. It moves every point.", "e @ M.T + c → e @ M.T"),
    ("The shift came first, and M moved it, too: M (x + c). Asked for is M x + c.",
     "e @ M.T + c → (e + c) @ M.T", "start @ M.T + c → (start + c) @ M.T"),
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
NAN = ("0/0 is nan, and so is the root of a number below 0; another number divided by 0 is infinite. Print what you "
       "divide by, and what you take a root of. (A row less itself is 0, and slopes have signs.)")


def _stays(answer, arguments):
    """Raise CheckFailed unless the numbers are the same in all coordinates, and slopes that are twice as steep make
    them twice as large."""
    G, e = arguments
    numbers, doubled = (services.run(answer, (steepness * G, e)) for steepness in (1, 2))
    if not same(doubled, 2 * numbers):
        raise CheckFailed("If all slopes are twice as steep, every number is to be twice as large.")
    for name, change in CHANGES.items():
        new = services.run(answer, solution.in_coordinates(G, e, e, *change(e.shape[1]))[:2])
        if not new.isfinite().all():
            raise CheckFailed(f"After {name} a number is nan or infinite. {NAN}")
        if not same(new, numbers):
            gap = ((new - numbers).abs().max() / numbers.abs().max()).item()
            raise CheckFailed(f"After {name} a number moves by {gap:.2g} of the largest one. What does that do to e, "
                              "to the difference of two rows of e, and to the product of such a difference and a "
                              "slope?")


without_baseline = Question(solution.without_baseline, (1, 1), {
    "four tokens": (rounded(4, 2, seed=71).double(), rounded(4, 2, seed=72).double()),
    "seven tokens": (rounded(7, 2, seed=73).double(), rounded(7, 2, seed=74).double())},
    returns="(T,)", also=_stays,
    promises={r"$(T, d_e)$ with $T \ge 2$": lambda G, e: len(G) == len(e) > 1})


@without_baseline.judge
def _(got, G, e):
    if kind(got) != "a tensor" or tuple(got.shape) != (len(e),):
        yield f"expected a tensor of {len(e)} numbers, one for each token"
    if not got.isfinite().all():
        yield f"{(~got.isfinite()).sum()} of the {len(e)} numbers are nan or infinite"
    yield "all numbers are 0, and 0 explains nothing" if (got.abs() < 1e-9).all() else None


@without_baseline.suspect
def _(got, G, e):
    yield None if got.isfinite().all() else NAN
