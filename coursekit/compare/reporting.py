"""One table: what every explainer of a model is worth, on the same documents, with intervals and corrected tests.

Each pair of a document and an explainer is a cell of its own, computed on one thread from nothing but the two: so the
numbers are the same in any order and with any number of workers, and a report that was stopped goes on where it was.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coursekit import explain, show
from coursekit.evaluate.agreement import human_agreement
from coursekit.evaluate.calls import counting
from coursekit.evaluate.exact_values import distance_to_exact
from coursekit.evaluate.faithfulness import comprehensiveness, sufficiency
from coursekit.evaluate.intervals import interval
from coursekit.evaluate.plausibility import explained, local_lipschitz, stability, takes_seed
from coursekit.explain.asking import read_as, read_tokens, remembering
from coursekit.explain.attribution import Explainer
from coursekit.inputs import Document
from coursekit.models.protocols import Predicts
from coursekit.show.charts import ranges
from coursekit.worlds import AnnotatedReview

from .explainers import BASELINE, course_explainers, has_terms
from .fingerprints import scores_alone, settings, weights_of
from .jobs import compute, one_thread

# What a row has, and whether more is better. Faithful: the first two and the distance; plausible: the others.
METRICS = {"comprehensiveness": True, "sufficiency": False, "distance": False, "AUROC": True, "VSI": True,
           "spread": False, "Lipschitz": False, "seconds": False, "calls": False}


def report(model: Predicts, documents: Sequence[Document], explainers: Mapping[str, Explainer] | None = None,
           reviews: Sequence[AnnotatedReview] | None = None, path: str | Path | None = None, workers=1, progress=True,
           n_seeds=5, n_neighbours=8, scores: Mapping[str, Callable] | None = None) -> "Report":
    """A Report: one row for each explainer, over documents (lists of tokens).

    explainers: {name: explainer}, by default `course_explainers(model)`. reviews: AnnotatedReviews of the documents,
    where people's marks are known (`stand_in` for the grammar's), for AUROC. Columns, ↑ where more is better:

    comprehensiveness ↑, sufficiency ↓   `comprehensiveness`, `sufficiency`, of words replaced
    distance ↓        `distance_to_exact`, to the exact Shapley values where the model offers its terms
    AUROC ↑           `human_agreement` with the consensus
    VSI ↑, spread ↓   `consistency` over `n_seeds` seeds; what takes no seed is asked twice
    Lipschitz ↓       `local_lipschitz` with `n_neighbours`, where the model has embeddings
    seconds, calls ↓  of one explanation: on one thread; documents that the model was asked about

    What does not apply is nan. path: a file of JSON lines that keeps each cell as soon as it is there; called again,
    the report goes on from it. workers: so many processes (explainers must then be functions of a module or partials of
    them), or the address of a dask scheduler, such as "tcp://host:8786". scores: what the model predicts, as in
    `deletion_curve`.
    Raises ValueError, in one line, where `path` keeps a report of something else, and for reviews that do not fit.

    >>> from coursekit.models import load_weights
    >>> table = report(load_weights("imdb-tame"), [["a", "good", "film"], ["not", "bad"]], n_neighbours=2,
    ...                explainers={"leave-one-out": explain.leave_one_out}, progress=False)
    >>> table.rows["leave-one-out"]["calls"].mean                          # of three words 4, of two 3
    3.5
    """
    documents = [read_tokens(model, document) for document in documents]
    explainers = course_explainers(model) if explainers is None else dict(explainers)
    if reviews is not None and len(reviews) != len(documents):
        raise ValueError(f"every document needs its review, got {len(reviews)} for {len(documents)}")
    how = dict(n_seeds=n_seeds, n_neighbours=n_neighbours, scores=scores, seed=0, delta=0.75,     # as older files say
               reviews=None if reviews is None else [review.marked_by for review in reviews][:1])
    cells = {name: [(i, name, settings(explainer) if path else "") for i in range(len(documents))]
             for name, explainer in explainers.items()}
    head = {"documents": [" ".join(document) for document in documents], "settings": how, "weights": weights_of(model)}
    todo = {cell: cell[0] for row in zip(*cells.values(), strict=True) for cell in row}       # by documents
    numbers = dict(compute(_Work(model, documents, explainers, reviews, how), todo, path, head,
                           path and scores_alone(model, documents), workers, progress))
    return Report(tuple(explainers), {metric: np.array([[numbers[cell][metric] for cell in row]
                                                        for row in cells.values()], float) for metric in METRICS})


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What `report` returns. names: of the M explainers; values: {metric: (M, n)} for n documents, nan where a metric
    does not apply. As the last line of a cell it shows its table.

    >>> one = Report(("a", "b"), {"spread": np.array([[0.1, 0.1, 0.1, 0.2, 0.2, 0.1], [0.8, 0.9, 0.7, 0.9, 0.8, 0.9]])})
    >>> round(one.rows["b"]["spread"].mean, 3), one.best["spread"], one.differences["b"]["spread"].p < 0.05
    (0.833, 'a', True)
    """

    names: tuple
    values: dict

    @cached_property
    def rows(self):
        """{explainer: {metric: Interval}}, 95 % over documents."""
        return {name: {metric: interval(values[m]) for metric, values in self.values.items()}
                for m, name in enumerate(self.names)}

    @cached_property
    def best(self):
        """{metric: the explainer with the best mean}, the random baseline left out; None where nothing is known."""
        found = {}
        for metric in self.values:
            means = {name: row[metric].mean for name, row in self.rows.items() if name != BASELINE}
            known = {name: mean if METRICS[metric] else -mean for name, mean in means.items() if not np.isnan(mean)}
            found[metric] = max(known, key=known.get) if known else None
        return found

    @cached_property
    def differences(self):
        """{explainer: {metric: Difference}}, of each row to its column's best (`against_the_best`)."""
        nothing = [Difference(np.nan, np.nan, np.nan, np.nan)] * len(self.names)
        columns = {metric: against_the_best(values, self.names.index(self.best[metric])) if self.best[metric]
                   else nothing for metric, values in self.values.items()}
        return {name: {metric: found[m] for metric, found in columns.items()} for m, name in enumerate(self.names)}

    def table(self, intervals=False):
        """The means, with intervals=True also the interval of each row's difference to the best of the column.

        ● the best row of a column, and rows that print the same; ○ not told from it: 0 is in the interval; ▲ the random
        row, where it does better and is told apart. No sign: worse.
        """
        metrics = [metric for metric, best in self.best.items() if best]

        def digits(mean):
            return f"{mean:.0f}" if abs(mean) >= 1000 else f"{mean:.3g}"

        def cell(name, metric):
            mean, best, d = self.rows[name][metric].mean, self.best[metric], self.differences[name][metric]
            if np.isnan(mean):
                return None
            tied = name != BASELINE and digits(mean) == digits(self.rows[best][metric].mean)
            better = d.mean > 0 if METRICS[metric] else d.mean < 0
            sign = " ●" if tied else " ○" if d.p >= 0.05 else " ▲" if better else ""
            ends = ", ".join(f"{end:+.0f}" if abs(end) >= 100 else f"{end:+.2g}" for end in (d.low, d.high))
            around = f" [{ends}]" if intervals and name != best else ""
            return f"{digits(mean)}{around}{sign}"

        arrows = [f"{metric} {'↑' if METRICS[metric] else '↓'}" for metric in metrics]
        n = next(iter(self.values.values())).shape[1]
        return show.table({name: [cell(name, metric) for metric in metrics] for name in self.names},
                          ["explainer", *arrows], title=f"{n} documents; ● best, ○ not told from the best, ▲ random, "
                          f"and better{'; [difference to the best, 95 % for the column]' if intervals else ''}")

    def plot(self, metrics=None):
        """Means and intervals of all rows, a panel for each metric."""
        metrics = [metric for metric, best in self.best.items() if best] if metrics is None else metrics
        return ranges(self.names, {metric: [self.rows[name][metric][:3] for name in self.names]
                                        for metric in metrics})

    def to_csv(self, path):
        """One line for each explainer and metric: mean, low, high, n; difference to the best, its ends and p."""
        with open(path, "w", newline="", encoding="utf8") as file:
            lines = csv.writer(file)
            lines.writerow(["explainer", "metric", "mean", "low", "high", "n", "difference", "from", "to", "p"])
            lines.writerows([name, metric, *found, *self.differences[name][metric]]
                            for name, row in self.rows.items() for metric, found in row.items())

    def _repr_html_(self):
        return self.table().html

    def __repr__(self):
        return str(self.table())


class Difference(NamedTuple):
    """A row's mean less the best row's, its 95 % interval for all rows at once, and p of no difference.

    >>> Difference(-0.2, -0.3, -0.1, 0.001).p
    0.001
    """

    mean: float
    low: float
    high: float
    p: float


def against_the_best(values: ArrayLike, best: int) -> list[Difference]:
    """A Difference for each row of values (M, n), to row `best`, on the same n documents; p = 1 for the best itself.

    A paired t = mean difference / its standard error, held against the *largest* t that `luck` gives: so it counts both
    that the best row was chosen by looking, and that it stands beside M − 1 others. If all rows are alike, one is told
    apart (p < .05, the interval without 0) in 5 of 100 columns, whichever n. A document where a row has nan is left
    out; of a row that has only nan, nothing is known.

    >>> [round(x, 2) for x in against_the_best([[1.0, 2, 3, 4, 5], [1.3, 2.2, 3, 4.4, 5.6]], best=1)[0]]
    [-0.3, -0.58, -0.02, 0.04]
    """
    values = np.asarray(values, float)
    known = ~np.isnan(values).all(1)
    d = (values - values[best])[:, ~np.isnan(values[known]).any(0)]
    d[np.abs(d) < 1e-12 * np.nanmax(np.abs(values), initial=0)] = 0               # what rounding left
    n = d.shape[1]
    if n < 2:
        return [Difference(np.nan, -np.inf, np.inf, 1.0 if row else np.nan) for row in known]
    null, mean, error = luck(int(known.sum()), n), d.mean(1), d.std(1, ddof=1) / np.sqrt(n)
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0, np.inf), where=error > 0)
    p = np.where(known, (1 + (null >= t[:, None]).sum(1)) / (len(null) + 1), np.nan)
    far = null[int(0.05 * (len(null) + 1)) - 2] * error                           # whatever is larger has p < .05
    return [Difference(*map(float, row)) for row in zip(mean, mean - far, mean + far, p, strict=True)]


@cache
def luck(M: int, n: int) -> np.ndarray:
    """The largest paired t of M rows of normal noise against the best of them, on n documents: 9,999, largest first.

    >>> [round(float(luck(9, n)[499]), 1) for n in (6, 24)]                       # 5 in 100 are larger
    [5.6, 3.5]
    """
    rng, largest = np.random.default_rng(0), []
    for size in [500] * 19 + [499]:
        x = rng.normal(size=(size, M, n))
        d = x[np.arange(size), x.mean(2).argmax(1), None] - x                     # (size, M, n)
        error = d.std(2, ddof=1) / np.sqrt(n)
        largest.append(np.divide(d.mean(2), error, out=np.zeros((size, M)), where=error > 0).max(1))
    return np.sort(np.concatenate(largest))[::-1]


@dataclass(eq=False)
class _Work:
    """What computes the cells (document i, explainer's name, its settings), and can be sent to other processes."""

    model: Predicts
    documents: Sequence[Document]
    explainers: Mapping[str, Explainer]
    reviews: Sequence[AnnotatedReview] | None
    how: dict
    exact: dict = field(default_factory=dict)

    def __call__(self, i, name, settings):
        """The metrics as JSON has them."""
        with one_thread(), remembering(self.model) as model:                      # in this cell, and no longer
            found = self.numbers(model, self.documents[i], self.explainers[name], i)
        return {metric: None if np.isnan(found[metric]) else float(found[metric]) for metric in METRICS}

    def numbers(self, model, document, explainer, i):
        """{metric: number} of an explainer at document i."""
        known = dict.fromkeys(METRICS, np.nan)
        with counting(model) as (counted, counter):
            start = perf_counter()
            found = explained(explainer, counted, document)
            known |= {"seconds": perf_counter() - start, "calls": counter.calls}
        again = range(1, self.how["n_seeds"]) if takes_seed(explainer) else [0]
        steady = stability([found, *(explained(explainer, model, document, seed) for seed in again)])
        found = found.spread(document)
        of_classes = (self.how["scores"] or read_as(model)) != "regression"
        for metric in (comprehensiveness, sufficiency) if of_classes else ():
            known[metric.__name__] = metric(model, document, found, scores=self.how["scores"])
        if has_terms(model, document):
            if i not in self.exact:                                               # which explainers of a document share
                self.exact = {i: explain.exact_shapley(model, document)}
            known["distance"] = distance_to_exact(model, document, found, self.exact[i])
        if self.reviews:
            known["AUROC"] = human_agreement([found], [self.reviews[i]]).consensus
        if hasattr(model, "baseline"):
            known["Lipschitz"] = local_lipschitz(model, document, explainer, n_neighbours=self.how["n_neighbours"],
                                                 start=found).constant
        return known | {"VSI": steady.vsi, "spread": steady.spread}
