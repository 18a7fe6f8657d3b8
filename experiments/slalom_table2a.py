"""Table 2a: SLALOM's values agree with the weights of naive Bayes, its importances with their size

For reviews of the IMDB test set, and for generated ones: Spearman's correlation, over the words of a review, of naive
Bayes' log-odds (Eq. 76, counted on the training reviews) with SLALOM's values and linearised scores, and of their size
with the importances. Linearised is meant as the derivative α (v − F); "as printed" is Eq. 65, v eˢ.

The paper trains two-layer models for this; here it is the three IMDB models that the course ships. How many reviews and
sequences it takes, and how long these are, is lost: here 20 reviews a seed and 1,000 sequences for each, of 2 words or
of 1 to 30. The reviews are read from the official files (`coursekit.own.datasets`), in the folder that COURSEKIT_DATA
names.

Out came: the table's order and about its size, in every model, for both fits and both kinds of reviews. IMDB: values
0.66 to 0.81 (paper: 0.69 to 0.75), importances 0.36 to 0.50 (0.32 to 0.43), linearised 0.69 to 0.79 (0.70 to 0.77),
Eq. 65 almost the same; generated reviews: 0.64 to 0.80, 0.47 to 0.55 and 0.69 to 0.78. One exception: imdb-tame's
importances have 0.06 and 0.13 where pairs of words are fitted. These correlations do not need a good fit: what is
fitted to pairs is poor on 30 words (R² −0.4 to 0.5), what is fitted to 1 to 30 words is poor on one.
"""

import numpy as np

from coursekit.evaluate import fidelity, rank_agreement
from coursekit.explain import Attribution, fit_slalom
from coursekit.models import load_weights, naive_bayes_log_odds
from coursekit.show.charts import bars

from .explained import some_reviews
from .runner import SEEDS, grouped, mean_sd
from .trained import LENGTHS

SIZE = dict(real="imdb", n_reviews=20, n_samples=1000, n_new=100)
TOY = dict(real="handwritten", n_reviews=2, n_samples=40, n_new=5)
SCORES = "values", "importances", "linearised", "as printed"
PAPER = {"DistilBERT": (0.69, 0.32, 0.70), "BERT": (0.75, 0.43, 0.77), "GPT-2": (0.70, 0.40, 0.70)}


def cells(seeds=SEEDS):
    """Real and generated reviews, three models, two lengths of the sequences that a SLALOM is fitted to."""
    return [dict(text=text, model=model, longest=longest, seed=seed) for text in ("real", "generated")
            for model in ("imdb-tame", "imdb-peaky", "imdb-6layer") for longest in (2, 30) for seed in seeds]


def run(cell, real, n_reviews, n_samples, n_new):
    """{"spearman": {score: mean of the reviews}, "r2": {length: median R² on new sequences of a review's words}}."""
    model, weights = load_weights(cell["model"]), naive_bayes_log_odds()
    known = {word for word, weight in weights.items() if weight}
    found, r2 = {name: [] for name in SCORES}, {length: [] for length in LENGTHS}
    for review in some_reviews(cell["text"], real, n_reviews, cell["seed"]):
        document = model.tokenizer.tokenize(review.text)[:model.T_max - 1]
        length = 2 if cell["longest"] == 2 else (1, cell["longest"])
        slalom = fit_slalom(model, document, n_samples, length, seed=cell["seed"])
        for n, one in fidelity(slalom, model, document, LENGTHS, n_new, 20_000 + cell["seed"]).items():
            r2[n].append(one["r2"])
        words = [word for word in slalom.tokens if word in known]
        place = [slalom.tokens.index(word) for word in words]
        first = [document.index(word) for word in words]
        bayes = np.array([weights[word] for word in words])
        scores = {"values": slalom.values[place], "importances": slalom.importances[place],
                  "linearised": slalom.linearized(document).scores[first],
                  "as printed": slalom.linearized(document, "paper").scores[first]}
        for name, x in scores.items():
            y = np.abs(bayes) if name == "importances" else bayes
            found[name].append(rank_agreement(Attribution(words, x, name), Attribution(words, y, "Bayes")).spearman)
    return {"spearman": {name: np.mean(one) for name, one in found.items()},
            "r2": {length: np.median(one) for length, one in r2.items()}}


def report(records):
    """Correlations, those of the paper below them, and what the fits are worth on new sequences by their length."""
    rows = [[text, model, f"{longest}" if longest == 2 else f"1–{longest}",
             *(mean_sd([one["spearman"][name] for one in found], 2) for name in SCORES),
             *(mean_sd([one["r2"][str(n)] for one in found], 2) for n in LENGTHS)]
            for (text, model, longest), found in grouped(records, "text", "model", "longest").items()]
    rows += [["paper", model, "?", *(f"{x:.2f}" for x in row), None, *[None] * len(LENGTHS)]
             for model, row in PAPER.items()]
    return rows, ["text", "model", "fitted to", *SCORES, *(f"R² {n}" for n in LENGTHS)]


def figure(records):
    """Mean correlations of each kind of score, for both fits."""
    groups = grouped(records, "longest")
    labels = [f"{name}, fitted to {'2' if longest == 2 else f'1–{longest}'} words"
              for name in SCORES for longest, in groups]
    return bars(labels, [np.mean([one["spearman"][name] for one in found])
                         for name in SCORES for found in groups.values()], xlabel="Spearman with naive Bayes")
