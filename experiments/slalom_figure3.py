"""Figure 3: transformers that learned from a sum of words do not add: "perfect" n times, and what they say

The paper trains BERT, DistilBERT and GPT-2 on documents whose log-odds are a sum (appendix E.1), and asks them for
["perfect"], ["perfect", "perfect"], …, whose log-odds are 1.5 n. Assumed where its numbers are lost: 10,000 documents,
five epochs, all words equally likely (in the public code two thirds of them say nothing); models of 64 dimensions and
four heads (`trained`). Documents have 15 ± 3 words, and 30 at most: long rows of one word are new to the models, as
they are in the paper.

Out came: the figure. Every model says 4 to 5.4 of "perfect" and nearly the same of 30 times "perfect" (3.8 to 5.4; the
slopes are −0.015 to 0.001; true: 1.5), with its [CLS] and its positions, of one layer, of two and of six. Of new
documents of 10 and 15 words they say the truth almost (R² 0.9), since these are about equally long; of one or two words
it is far off (R² −2 to −13).
"""

import numpy as np

from coursekit.show.charts import lines
from coursekit.worlds import LINEAR_WORDS, linear_documents

from .runner import SEEDS, grouped, mean_sd
from .trained import FAMILIES, LENGTHS, held_out, on_linear

SIZE = dict(n=10_000, epochs=5, n_new=2000, longest=30)
TOY = dict(n=64, epochs=1, n_new=20, longest=3)


def cells(seeds=SEEDS):
    """Three families, one, two and six layers."""
    return [dict(family=family, layers=layers, seed=seed)
            for layers in (1, 2, 6) for seed in seeds for family in FAMILIES]


def run(cell, n, epochs, n_new, longest):
    """{"perfect": scores of 1 … longest times the word, "slope" of these, "loss" and "best" (in nats, what no model can
    beat) on new documents, "r2" and "variance" of the true log-odds by length, "training_seconds"}."""
    model, seconds = on_linear(**cell, n=n, epochs=epochs)
    usual, log_odds, y = linear_documents(n_new, 1000 + cell["seed"])
    scores = model.predict([["perfect"] * k for k in range(1, longest + 1)])
    losses = [np.mean(np.logaddexp(0, f) - y * f) for f in (model.predict(usual), log_odds)]
    r2 = {}
    for length, documents in held_out(list(LINEAR_WORDS), n_new // 4, usual, cell["seed"]).items():
        truth = np.array([sum(map(LINEAR_WORDS.get, document)) for document in documents])
        r2[length] = 1 - np.mean((model.predict(documents) - truth)**2) / truth.var()
    return {"perfect": scores, "slope": np.polyfit(np.arange(1, longest + 1), scores, 1)[0], "r2": r2,
            "loss": losses[0], "best": losses[1], "training_seconds": seconds}


def report(records):
    """What is said of the word 1, 5, 15 and 30 times, the slope (true: 1.5), and how well new documents are scored."""
    rows = []
    for (family, layers), found in grouped(records, "family", "layers").items():
        often = [1, 5, 15, 30]
        said = [mean_sd([one["perfect"][min(n, len(one["perfect"])) - 1] for one in found], 1) for n in often]
        rows.append([f"{family}, {layers}", *said, mean_sd([one["slope"] for one in found]),
                     mean_sd([one["loss"] - one["best"] for one in found]),
                     *(mean_sd([one["r2"][str(n)] for one in found], 2) for n in ("usual", *LENGTHS))])
    return rows, ["family, layers", *(f"perfect × {n}" for n in often), "slope", "nats lost",
                  *(f"R² {n}" for n in ("usual", *LENGTHS))]


def figure(records):
    """Scores over n, mean of all models of a depth, beside the truth."""
    curves = {f"layers: {layers}": np.mean([one["perfect"] for one in found], axis=0)
              for (layers,), found in grouped(records, "layers").items()}
    n = np.arange(1, len(records[0]["numbers"]["perfect"]) + 1)
    return lines(n, {"truth, 1.5 n": 1.5 * n, **curves}, 'times the word "perfect"', "log-odds",
                 f"Mean of the families and seeds, {len(records)} transformers")
