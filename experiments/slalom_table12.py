"""Table 12: how many samples does SLALOM need to be as good as SHAP with as many as it likes?

The deletion measure of Table 2c, for linearised SLALOM scores fitted to 250 up to 5,000 sequences, and for kernel SHAP
with the 2T + 2,048 samples that its package takes for T tokens. Six layers, as in the paper: imdb-6layer, here.
Its reviews have 200 tokens on average; here they end after 60, and there are 9 of each kind.

Out came: SLALOM with 250 to 500 sequences is about as good as SHAP with some 2,168 samples: 0.52 for both on IMDB, on
generated reviews 0.60 and 0.605 (0.58 with 250 pairs of words). What does not reproduce: SLALOM does not pass SHAP, and
beyond 500 more samples do not help (the paper: 0.924 to 0.939). The order of the words is found long before the
function: fitted to 1–30 words of IMDB, R² on pairs still rises from 0.57 to 0.89.
"""

import numpy as np

from coursekit.evaluate import comprehensiveness
from coursekit.explain import kernel_shap
from coursekit.models import load_weights
from coursekit.show.charts import lines

from .explained import FITS, fits, held_out_r2, medians, some_reviews
from .runner import SEEDS, grouped, mean_sd
from .trained import LENGTHS

SIZE = dict(real="imdb", n_reviews=3, n_tokens=60, counts=[250, 500, 1000, 2000, 5000], shap=None, n_new=30)
TOY = dict(real="handwritten", n_reviews=2, n_tokens=8, counts=[20, 40], shap=40, n_new=5)
PAPER = {"SHAP": 0.9135, 500: 0.9243, 1000: 0.9236, 2000: 0.9348, 5000: 0.9387, 10_000: 0.9387}


def cells(seeds=SEEDS):
    """Generated and real reviews."""
    return [dict(text=text, seed=seed) for text in ("generated", "real") for seed in seeds]


def run(cell, real, n_reviews, n_tokens, counts, shap, n_new):
    """{"SHAP": mean of the reviews, "SLALOM": {fit: {n: mean}}, "r2": {n: {fit: {length: median R²}}}}."""
    model, seed = load_weights("imdb-6layer"), cell["seed"]
    by_shap, found, r2 = [], {fit: {n: [] for n in counts} for fit in FITS}, {n: [] for n in counts}
    for review in some_reviews(cell["text"], real, n_reviews, seed):
        document = model.tokenizer.tokenize(review.text)[:n_tokens]
        by_shap.append(comprehensiveness(model, document, kernel_shap(model, document, shap, seed), by="delete"))
        for n in counts:
            fitted = fits(model, document, n, seed)
            r2[n].append(held_out_r2(fitted, model, document, n_new, seed))
            for fit, slalom in fitted.items():
                found[fit][n].append(comprehensiveness(model, document, slalom.linearized(document), by="delete"))
    by_count = {fit: {n: np.mean(x) for n, x in one.items()} for fit, one in found.items()}
    return {"SHAP": np.mean(by_shap), "SLALOM": by_count,
            "r2": {n: medians(one) for n, one in r2.items()}}


def report(records):
    """Deletion by the number of samples, and R² on new sequences; then the paper's."""
    rows = []
    for (text,), found in grouped(records, "text").items():
        rows.append([text, "SHAP", "2T + 2048", mean_sd([one["SHAP"] for one in found]), *[None] * len(LENGTHS)])
        rows += [[text, f"SLALOM, {fit}", n, mean_sd([one["SLALOM"][fit][n] for one in found]),
                  *(mean_sd([one["r2"][n][fit][str(length)] for one in found], 2) for length in LENGTHS)]
                 for fit in FITS for n in found[0]["r2"]]
    rows += [["paper", "SHAP" if n == "SHAP" else "SLALOM", "auto" if n == "SHAP" else str(n), f"{x:.4f}",
              *[None] * len(LENGTHS)] for n, x in PAPER.items()]
    return rows, ["text", "method", "samples", "deletion", *(f"R² {n}" for n in LENGTHS)]


def figure(records):
    """Mean deletion by the number of samples; SHAP's as a level line."""
    counts = list(records[0]["numbers"]["r2"])
    numbers = [record["numbers"] for record in records]
    curves = {f"SLALOM, {fit}": [np.mean([one["SLALOM"][fit][n] for one in numbers]) for n in counts] for fit in FITS}
    curves["SHAP, 2T + 2048"] = [np.mean([one["SHAP"] for one in numbers])] * len(counts)
    return lines(np.log10([int(n) for n in counts]), curves, "log₁₀ of the number of samples",
                 "probability lost (large is good)")
