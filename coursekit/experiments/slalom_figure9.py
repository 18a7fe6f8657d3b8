"""Figure 9: the three ways to fit a SLALOM, over the context length: the analytic one from 2V − 1 queries falls behind

The paper compares SGD and the analytic solution on transformers of several context lengths and vocabularies, 15 runs
each; its settings are lost. Here DistilBERTs of one layer are trained as for Tables 7 and 8, on 10,000 documents of at
most 5, 10, 20 or 30 words, out of 10 and 20, and variable projection is the third fit.

Out came, with 20 words: the analytic solution falls behind as the context grows (R² of the transformer's log-odds 0.95
for 5 words, 0.93 for 10, 0.50 and 0.64 for 20 and 30), variable projection does not (0.98 to 0.95), nor does SGD with
ten times the package's learning rate (the same). With the package's own rate SGD is as good up to 10 words, and far off
for some vocabularies from 20 on. The paper finds the parameters alike: here that is true of the values, while the
importances have mean squared errors of 3 to 12 from the analytic solution, 0.6 to 1.6 from variable projection.
"""

import numpy as np

from coursekit.show.charts import lines

from . import slalom_table7
from .runner import SEEDS, grouped
from .slalom_table7 import FITS, TOY, run

SIZE = slalom_table7.SIZE | dict(n=10_000)

__all__ = ["SIZE", "TOY", "cells", "figure", "report", "run"]


def cells(seeds=SEEDS):
    """Four context lengths, two vocabularies."""
    return [dict(family="distilbert", layers=1, seed=seed, n_words=n_words, longest=longest)
            for n_words in (20, 10) for seed in seeds for longest in (5, 10, 20, 30)]


def report(records):
    """Errors from the true SLALOM, by length, as in Table 7, and of the parameters, as in Table 8."""
    records = sorted(records, key=lambda record: record["cell"]["longest"])
    return slalom_table7.report(records, ("n_words", "longest"))


def figure(records):
    """Share of the transformer's variance that a fit misses, on sequences of all lengths up to the context length."""
    groups = dict(sorted(grouped(records, "longest").items()))
    curves = {name: [np.mean([1 - one["r2"][name][f"(1, {longest})"] for one in found])
                     for (longest,), found in groups.items()] for name in FITS}
    return lines([longest for longest, in groups], curves, "longest document", "1 − R² of the transformer's log-odds")
