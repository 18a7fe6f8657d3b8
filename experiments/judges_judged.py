"""Which judge of explanations is right on which model: its ranking of explainers beside that by the exact values

Fifteen models with one layer of attention, whose Shapley values are known exactly: three trainings each of five kinds.
*Sums* are readers whose attention is even, *readers* and *sharp readers* have one head that may choose, *tame* and
*peaky* six, of word pieces of IMDB. All read the same five dozens of generated reviews. The explainers and the judges
are lecture 14's own; two judges more are lecture 14b's: steady (how little an explanation moves near a text,
`local_lipschitz`) and the marks of the grammar (`human_agreement`). Of each dozen: Kendall's tau between the order of
the explainers by a judge's mean and their order by the mean distance to the exact values; means equal to three digits,
and distances to four decimals, are ties. "Signed" are the six explainers with signs, "all" has two of sizes only.

Out came: where a model is a sum, or nearly, all that take words away are right. Where words hide each other, in the
readers, curves lose it, and the infidelity with the best factor keeps it: it asks about sets of all sizes.
"""

from functools import cache
from itertools import product

import numpy as np

from claims.pages import Page, reached, setup_cells
from coursekit.evaluate import human_agreement, local_lipschitz
from coursekit.evaluate.agreement import kendall
from coursekit.explain import exact_shapley
from coursekit.models import load_weights
from coursekit.show.charts import ranges
from coursekit.worlds import reviews, stand_in
from tools.train_imdb import trained_again

from .runner import grouped

SIZE = dict(dozens=5, n=12)
TOY = dict(dozens=1, n=2)
KINDS = {"sums": "readers-even", "tame": "imdb-tame", "peaky": "imdb-peaky", "readers": "readers-plain",
         "sharp readers": "readers-sharp"}
FROM_14 = "EXPLAINERS", "METRICS", "explained", "judged", "distance"


@cache
def lecture():
    """Lecture 14: its explainers, its judges, and how it asks them."""
    return Page("14", reached(setup_cells("14"), set(FROM_14)))


def cells(seeds):
    """Every kind, with every training."""
    return [dict(model=kind, seed=seed) for seed, kind in product(seeds, KINDS)]


def model_of(model, seed):
    """A model of KINDS. Raises FileNotFoundError where a further training of IMDB's is not there."""
    name = KINDS[model]
    return load_weights(name)[seed] if name.startswith("readers") else (
        trained_again(name, seed) if seed else load_weights(name))


def same_order(values, far):
    """Kendall's tau of means (M,) of a judge, larger is better, and of distances (M,)."""
    return float(kendall(np.array([float(f"{value:.3g}") for value in np.round(values, 6)]), -np.round(far, 4)))


def run(cell, dozens, n):
    """{"signed" and "all": {judge: a tau for each dozen}, "leave-one-out": its distance to the exact values}."""
    page, model, found = lecture(), model_of(**cell), {"signed": {}, "all": {}, "leave-one-out": []}
    steady = {who: lambda m, d, ask=ask: -local_lipschitz(m, d, ask, n_neighbours=2).constant
              for who, ask in page.EXPLAINERS.items()}
    for k in range(dozens):
        some = reviews(n, seed=60 + k)
        texts, marked = [list(review.tokens) for review in some], [stand_in(review) for review in some]
        given, exact = page.explained(model, texts), [exact_shapley(model, words) for words in texts]
        far = page.distance(model, texts, given, exact).mean(1)
        judged = {judge: page.judged(metric, model, texts, given) for judge, metric in page.METRICS.items()}
        judged["steady"] = np.array([[ask(model, words) for words in texts] for ask in steady.values()])
        judged["marks"] = np.array([[human_agreement([a], [review]).consensus for a, review in
                                     zip(one, marked, strict=True)] for one in given.values()])
        for judge, values in judged.items():
            for among, first in (("signed", 2), ("all", 0)):
                found[among].setdefault(judge, []).append(same_order(np.nanmean(values, 1)[first:], far[first:]))
        found["leave-one-out"].append(far[list(given).index("leave-one-out")])
    return found


def medians(records, among):
    """{kind: {judge: (median, lowest, highest) over trainings and dozens}}, the judges in the lecture's order."""
    found = {}
    for (kind,), numbers in grouped(records, "model").items():
        taus = {judge: np.array([one[among][judge] for one in numbers], float) for judge in numbers[0][among]}
        found[kind] = {judge: (np.nanmedian(x), np.nanmin(x), np.nanmax(x)) if np.isfinite(x).any() else [np.nan] * 3
                       for judge, x in taus.items()}
    return found


def report(records):
    """A row for each judge, of the signed explainers and of all."""
    rows = []
    for among in ("signed", "all"):
        found = medians(records, among)
        rows += [[among, judge, *("–" if np.isnan(of[judge][0]) else "{:+.2f} ({:+.2f} to {:+.2f})".format(*of[judge])
                                  for of in found.values())] for judge in next(iter(found.values()))]
    return rows, ["explainers", "judge", *medians(records, "all")]


def figure(records):
    """The signed explainers: a panel for each kind of model, a row for each judge."""
    found = medians(records, "signed")
    return ranges(list(next(iter(found.values()))), {kind: list(of.values()) for kind, of in found.items()})
