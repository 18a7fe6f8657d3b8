"""Checks of assignment 06: what a change of coordinates leaves alone, and the gradient of a whole attention head."""

import torch

from coursekit.grade.kit.cases import rounded
from coursekit.grade.kit.mistakes import first_match
from coursekit.grade.kit.question import question
from coursekit.grade.kit.same import difference, kind, same

from .integrals import slopes_at

__all__ = ["survivors", "head_slopes"]

AUTOGRAD = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward", "torch.func.grad",
            "torch.func.grad_and_value", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd",
            "torch.func.linearize", "torch.autograd.functional.jacobian", "torch.autograd.functional.vjp",
            "torch.autograd.functional.jvp", "torch.autograd.forward_ad.make_dual",
            "coursekit.explain.gradients.slopes")


# -- survivors -------------------------------------------------------------------------------------------------------

REDUCTIONS = {
    "mean": lambda G, e, start: G.mean(1),
    "L1": lambda G, e, start: G.abs().sum(1),
    "share": lambda G, e, start: G.abs().sum(1) / G.abs().sum(),
    "L2": lambda G, e, start: G.norm(dim=1),
    "first": lambda G, e, start: G[:, 0],
    "times e": lambda G, e, start: (G * e).sum(1),
    "times step": lambda G, e, start: (G * (e - start)).sum(1),
    "length": lambda G, e, start: (e - start).norm(dim=1),
    "distance": lambda G, e, start: (e - 1).norm(dim=1),
    "sometimes": lambda G, e, start: torch.where((G * e).sum(1) > G.norm(dim=1), G.mean(1), 0.0),
}
SHEAR, STRETCH = torch.tensor([[1.0, 2.0], [0.0, 1.0]]).double(), torch.tensor([[4.0, 0.0], [0.0, 0.5]]).double()
ROTATION = torch.tensor([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
SIGNS = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).double()     # another order, and a sign
SHIFT = torch.tensor([2.0, -1.0]).double()

given = []          # [G, e, start] of each call of the latest reductions, in order


def _tables(M, c=None):
    """Arguments of an answer with all reductions: 60 tokens, drawn from a seed of their own."""
    draw = torch.Generator().manual_seed(len(M))
    return (tuple(REDUCTIONS), M, torch.zeros(len(M)).double() if c is None else c,
            *(torch.randn(60, len(M), generator=draw, dtype=torch.float64) for _ in range(3)))


def _careful(reductions, M, c, *tables):
    """The arguments of an answer: reductions that say what they cannot take, and keep in `given` what they took."""
    given.clear()

    def careful(name, reduction):
        def reduce(G, e, start):
            for word, x in (("G", G), ("e", e), ("e⁰", start)):
                if kind(x) != "a tensor" or x.dim() != 2 or x.shape[1] != len(M) or x.shape != G.shape:
                    found = f"a tensor {tuple(x.shape)}" if kind(x) == "a tensor" else kind(x)
                    raise ValueError(f"the reduction {name!r} takes three tables (T, {len(M)}), and for {word} it got "
                                     f"{found}")
            given.append([x.detach().clone() for x in (G, e, start)])
            return reduction(*(x.detach().double() for x in (G, e, start))).to(G.dtype)
        reduce.__qualname__ = f"the reduction {name!r}"                 # as Python calls it if an argument is missing
        return reduce

    return {name: careful(name, reduction) for name, reduction in _named(reductions).items()}, M, c, *tables


def _named(reductions):
    return reductions if kind(reductions) == "a dictionary" else {name: REDUCTIONS[name] for name in reductions}


@question((2, 2), {"a shear": _tables(SHEAR), "a stretch": _tables(STRETCH), "a rotation": _tables(ROTATION),
                    "another order, and a sign": _tables(SIGNS), "a shear and a shift": _tables(SHEAR, SHIFT),
                    "a shift alone": _tables(torch.eye(2).double(), SHIFT),
                    "turned by 180° around the point (1, 1)": _tables(-torch.eye(2).double(), 0 * SHIFT + 2)},
           prepare=_careful,
           hints={"shapes": "A token is a row of e, and M times each row is x @ M.T: which sides of G and of a matrix "
                            "have the same length?",
                  "KeyError": "There is no such name, or no longer: .remove takes a name out of a set only once, and "
                              ".discard does not mind if it has gone before."})
def survivors(reductions, M, c, G, e, start):
    """survivors(reductions, M, c, G, e, start): the set of names of the reductions that z = M x + c leaves alone."""
    moved = G @ torch.linalg.inv(M), e @ M.T + c, start @ M.T + c
    return {name for name, reduction in _named(reductions).items()
            if torch.allclose(reduction(G, e, start), reduction(*moved), atol=1e-7)}


@survivors.judge
def _(got, *arguments):
    right = survivors.reference(*arguments)
    if kind(got) != "a set":
        return f"got {kind(got).partition(' (')[0]}, expected a set of names"
    if not all(type(name) is str for name in got):
        return difference(got, right)
    missing, extra = sorted(right - got), sorted(got - right)
    return "; ".join([f"{', '.join(map(repr, missing))} should be there"] * bool(missing)
                     + [f"{', '.join(map(repr, extra))} should not"] * bool(extra)) or None


@survivors.suspect
def _(got, reductions, M, c, *tables):
    if kind(got) != "a set":
        return ("Return a set of names: `set()` is an empty one, `.add(name)` puts a name in, and `set(…)` makes one "
                "of a list, or of the keys of a dictionary.")
    right, names = survivors.reference(reductions, M, c, *tables), set(_named(reductions))
    if not got <= names:
        return "The names are the keys of the dictionary `reductions`, as they stand there."
    if any(x.dtype != torch.float64 for call in given for x in call):
        return ("Some of your tables are not in double precision, and in single precision rounding is far larger than "
                "what torch.allclose lets pass.")
    moved = [call for call in given if not same(call, tables)]
    if len(moved) == len(given):
        return ("No reduction was asked about G, e and start as they are given. Ask each one twice, in the old "
                "coordinates and in the new ones, and compare.")
    if not moved:
        return ("The reductions were asked about the tables as they are, and about no others. What do G, e and start "
                "become in the new coordinates?")
    if words := _wrongly_moved(moved[0], M, c, *tables):
        return words
    if got == names - right:
        return "Those are the ones that do change. Asked for are those that stay."
    if more := sorted(got - right):
        return (f"{more[0]!r} does change, at some tokens. Are the numbers compared token by token, for *all* tokens, "
                "and is nothing but rounding let through? (A sum over tokens, or a mean, hides much.)")
    return (f"{sorted(right - got)[0]!r} stays here, up to rounding. Is there a tolerance in the comparison "
            "(torch.allclose)?")


def _wrongly_moved(call, M, c, G, e, start):
    """What is wrong with what a reduction was given for the tables in the new coordinates, in words; None if nothing
    that is known."""
    inverse = torch.linalg.inv(M)
    slopes = [
        (G, "Only the points were moved. The slopes change as well, in the opposite way: where e is stretched, f gets "
            "flatter."),
        (G @ M.T, "The slopes were moved as points are, by M. They go the opposite way: if e becomes twice as long, "
                  "slopes become half as steep."),
        (G @ M.T + c, "The slopes were moved as points are, shift and all. A shift changes no slope, and where e is "
                      "stretched, slopes get flatter."),
        (G @ inverse + c, "The slopes were shifted by c. A shift changes no slope."),
        (G @ inverse.T, "The slopes are G @ inv(M).T here: the right matrix, turned the wrong way. Solve H_t·(M Δx) = "
                        "G_t·Δx for a column H_t, and then write a token as a row."),
        (G @ M, "The slopes were multiplied by M. If e becomes twice as long, slopes become half as steep.")]

    def points(x, name, other):
        return [
            (x, f"{name} stays in the old coordinates. It is a table of embeddings, as {other} is, and both move."),
            (x + c, f"{name} was shifted by c, but not multiplied by M."),
            (x @ M.T, f"The shift c did not reach {name}. It moves every point."),
            ((x + c) @ M.T, f"For {name} the shift came first, and M moved it, too: M (x + c). Asked for is M x + c."),
            *((moved, f"M is the wrong way round for {name}. With a token in each row, M x becomes x @ M.T.")
              for moved in (x @ M, x @ M + c))]

    parts = [(e @ M.T + c, points(e, "e", "start")), (start @ M.T + c, points(start, "start", "e")),
             (G @ inverse, slopes)]
    for got, (due, variants) in zip((call[1], call[2], call[0]), parts):
        if not same(got, due) and (words := first_match(got, variants)):
            return words
    return None


# -- head_slopes -----------------------------------------------------------------------------------------------------

def _drawn(T, d_e, seed):
    return tuple(rounded(*shape, seed=seed + i).double() for i, shape in enumerate([(T, d_e), (d_e, d_e), (d_e,)]))


E3, M3, W3 = _drawn(T=3, d_e=2, seed=61)
TIE = torch.tensor([[1.0, 0.0], [1.0, 2.0], [1.0, -1.0]]).double()      # three equal scores, whatever M's second column


@question((2, 2), {"three tokens": (E3, M3, W3), "one token": (E3[:1], M3, W3),
                   "five tokens in three dimensions": _drawn(T=5, d_e=3, seed=64),
                   "scores of some thousands": (E3, 4000 * M3, W3),
                   "a tie of large scores": (TIE, torch.tensor([[40000.0, 10000.0], [0, 20000.0]]).double(), W3)},
          forbidden=AUTOGRAD, instead="your formula", tolerance=(1e-9, 1e-10),
          hints={"shapes": "α and y are (T,), the result is (T, d_e): α[:, None] is a column, torch.outer a table."})
def head_slopes(e, M, w):
    """head_slopes(e, M, w): the slopes (T, d_e) of Σ_t α_t e_t·w, α = softmax_t(e_t·M e_0), row 0 included."""
    return slopes_at(lambda x: _head(x, M, w), e[None])[0]


def _head(e, M, w):
    return torch.softmax(e @ M @ e[0], 0) @ (e @ w)


def _formula(e, M, w, share=lambda alpha, y: alpha * (y - alpha @ y), s=None, query=None, back=None):
    """(slopes with the query held fixed, what row 0 has in addition); share: α, y → how f changes with each score."""
    alpha, y = torch.softmax(e @ M @ e[0] if s is None else s, 0), e @ w
    share, query, back = share(alpha, y), M @ e[0] if query is None else query, M.T if back is None else back
    return torch.outer(alpha, w) + torch.outer(share, query), back @ (share @ e)


SHARES = [          # wrong ones: α, y → how f changes with each score
    (lambda alpha, y: alpha * y, "The mean is missing. A token that gets more attention takes it away from the others: "
                                 "its y counts less the average, f."),
    (lambda alpha, y: y - alpha @ y, "The second part lacks its factor α_t: a token without any attention has no "
                                     "slope."),
    (lambda alpha, y: alpha * (1 - alpha) * y, "Each score changes its own weight here. It changes all the others as "
                                               "well: they have to make room."),
    (lambda alpha, y: alpha * (y - y.mean()), "The average that is taken away is f: each y counts with its α there."),
    (lambda alpha, y: alpha * (alpha @ y - y), "The sign of one part is turned round: more attention for a token whose "
                                               "y is above f raises f."),
]


@head_slopes.suspect
def _(got, e, M, w):
    if kind(got) != "a tensor" or tuple(got.shape) != tuple(e.shape):
        return "The result is a table of slopes, as large as e: (T, d_e)."
    if not got.isfinite().all():
        return ("Something is not a number. Is exp taken of a large score? Subtract the largest score first, or use "
                "torch.softmax.")
    if got.dtype != e.dtype:
        return "The result is in double precision, as e is."
    alpha, query, root = torch.softmax(e @ M @ e[0], 0), M @ e[0], len(M) ** 0.5
    (fixed, more), first = _formula(e, M, w), torch.zeros_like(e)
    first[0] = 1

    def total(fixed, more, rows=first):
        return fixed + rows * more

    right, near = total(fixed, more), "Near, but not exact. (Finite differences get no nearer; a formula does.)"
    if same(got, right):
        return near
    values, r = torch.outer(alpha, w), alpha * (e @ w - alpha @ e @ w)                  # r: how f changes with s_t
    own = r[0]
    otherwise = [(_formula(e, M, w, share), words) for share, words in SHARES]
    back, forth = _formula(e, M, w, back=M)[1], _formula(e, M, w, query=M.T @ e[0])[0]
    words = first_match(got, [(table, words) for table, words in [
        (fixed, "All rows but row 0 are right. There e_0 was treated as any other token; but it asks, too, and so it "
                "changes the score of *every* token, its own included."),
        (total(fixed, more, torch.ones_like(e)), "What row 0 has in addition was given to every row. Only e_0 asks."),
        (total(fixed, more - own * (M.T @ e[0])),
         "Nearly: e_0 looks at itself as well. In e_0·M e_0 it stands twice, so t = 0 belongs to the sum, too."),
        (total(fixed, own * (M.T @ e[0])), "Row 0 has only its own score as the one that asks. e_0 stands in the score "
                                           "of *every* token: the sum runs over all t."),
        *((total(fixed, more - part), "Row 0 is not complete: e_0 is looked at as any other token is, and asks *in "
                                      "addition*.") for part in (fixed[0], own * query, alpha[0] * w)),
        (total(fixed, -more), "What row 0 has in addition has the wrong sign."),
        (total(fixed, back), "In row 0 a matrix is the wrong way round: e_t·M e_0 = (Mᵀ e_t)·e_0."),
        (total(forth, more), "e_t·M e_0 is (M e_0)·e_t. Here M is transposed for the tokens that are looked at."),
        (total(forth, back), "M has to stand the other way round in both places: e_t·M e_0 is (M e_0)·e_t, and "
                             "(Mᵀ e_t)·e_0."),
        *((total(*parts), "M is transposed inside the scores: s_t is e_t·M e_0, so that M turns e_0.")
          for parts in (_formula(e, M.T, w), _formula(e, M, w, s=e @ M.T @ e[0]))),
        *((total(*parts), "The scores were divided by a root. M stands for W_kᵀ W_q / √d_att: that has been done.")
          for parts in (_formula(e, M / root, w), _formula(e, M, w, s=e @ query / root))),
        *((total(*parts), words) for parts, words in otherwise),
        *((total(*mixed), words + " (One of two places has it right.)") for (bad, worse), words in otherwise
          for mixed in ((bad, more), (fixed, worse))),
        *((total(wrong, more), words) for wrong, words in (
            (torch.outer(r, w) + torch.outer(r, query), "y_t = e_t·w stands in f with the weight α_t: w comes in α_t "
                                                        "times. Here it comes in as often as the score does."),
            (values + torch.outer(alpha, query), "Right for y_t. The score s_t does not change f by α_t, but by how "
                                                 "much f changes with s_t."))),
        (otherwise[0][0][0], "Two things: the mean is missing (more attention for one is less for the others), and so "
                             "is what row 0 has in addition, because it asks."),
        (values, "That is the slope with the attention held fixed. The weights depend on e, too."),
        (total(values, more), "The weights depend on e_t as a key, not only on e_0 as a query."),
        (right - values, "That is how the weights change. What they weigh changes, too: y_t = e_t·w."),
        (-right, "The sign is turned round."),
        (right / len(e), "Nothing is divided by T: the weights sum to one."),
    ] if not same(table, right)])
    if words:
        return words
    if (got - right).norm() < 2e-3 * right.norm():
        return near
    if len(e) > 1 and same(got[1:], right[1:]):
        return ("All rows but row 0 are right. e_0 stands in every score, s_t = e_t·M e_0: add up over t how f changes "
                "with s_t, times how s_t changes with e_0.")
    if (e @ M @ e[0]).abs().max() > 1000:
        return ("Right as long as scores are ordinary, and not here, where they are tens of thousands. Are differences "
                "of f in it, however small their step? At such scores the weights jump within any step; a formula has "
                "none.")
    return ("Derive it in two steps: how f changes with each score s_t (it is α_t times something), and how s_t "
            "changes with e_t, and with e_0. Then what y_t = e_t·w adds.")
