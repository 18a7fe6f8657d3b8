"""Table 2b: do importances tell the words that people marked, or those that a grammar made the label of?

The paper: models of Yelp reviews, AUROC of |score| with the words of Yelp-HAT that all annotators marked. With its
files in the folder that COURSEKIT_DATA names, cells "people" are made of them; what is kept was made with four of the
seven (ham_part1, 6, 7 and 8; 1,545 reviews). "grammar" are generated film reviews, in which all words with a part in
the label count as marked: no person marked these, and the paper's rows stand below cells of "people" only.

The models are the course's own, of film reviews; reviews end after 40 tokens, and count where all have marked a word of
these. How many the paper takes is lost in part.

Out came, of people's marks (55 reviews; 10 for the pretrained encoder): all scores are alike. Fitted to 1–30 words
importances have 0.70 in imdb-tame and 0.66 in imdb-6layer, values 0.70 and 0.64, SHAP 0.68 and 0.66, with standard
errors of 0.03 to 0.05 for their differences; the encoder 0.72, 0.71 and 0.72. The paper's size, and not its order.
Of the grammar's: importances are the last of SLALOM's scores in imdb-tame (0.50 and 0.70 by the fit; values 0.85 and
0.83) and in imdb-6layer (0.60 and 0.68; linearised 0.81 and 0.83), and LIME and SHAP reach 0.83 to 0.85. In the
encoder, with 300 samples, importances (0.70 and 0.78) are about level with the values (0.72 and 0.72) and behind the
linearised score (0.85 and 0.82); SHAP has 0.92, LIME 0.87. People do not mark what a grammar would.
"""

from functools import cache

import numpy as np

from coursekit.evaluate import human_agreement
from coursekit.models import load_weights
from coursekit.own import datasets
from coursekit.show.charts import bars
from coursekit.worlds import stand_in

from .explained import METHODS, MODELS, explanations, fits, held_out_r2, medians, method_rows, some_reviews
from .runner import SEEDS

SIZE = dict(n_reviews=7, n_tokens=40, n_samples=1000, n_slow=300, n_new=30)
TOY = dict(n_reviews=2, n_tokens=8, n_samples=40, n_slow=40, n_new=5)
NAMES = "values", "importances", "linearised", "LIME", "SHAP"
PAPER = {"DistilBERT": (0.68, 0.73, 0.71, 0.67, 0.69), "BERT": (0.57, 0.72, 0.64, 0.63, 0.68),
         "GPT-2": (0.67, 0.67, 0.67, 0.64, 0.60)}


@cache
def people():
    """Yelp-HAT's reviews, none where the files are not."""
    try:
        return datasets.yelp_hat()
    except (FileNotFoundError, ModuleNotFoundError):
        return []


def cells(seeds=SEEDS):
    """Who marked the words, and the models; people's on five times as many reviews where the model is quick, as in half
    of them no word of the first 40 was marked by all."""
    many = range(5 * len(seeds))
    return [dict(marked_by=who, model=model, seed=seed) for who in ("grammar", *["people"] * bool(people()))
            for model in MODELS for seed in (many if (who, model[:4]) == ("people", "imdb") else seeds)]


def run(cell, n_reviews, n_tokens, n_samples, n_slow, n_new):
    """{"AUROC": {method: mean of the reviews}, "r2": {fit: {length: median R²}}, "skipped": reviews without one}."""
    model, seed = load_weights(cell["model"]), cell["seed"]
    n_samples = n_slow if cell["model"] == "minilm-sentiment" else n_samples
    if cell["marked_by"] == "people":
        chosen = [people()[i] for i in np.random.default_rng(seed).choice(len(people()), n_reviews, replace=False)]
    else:
        chosen = [stand_in(review) for review in some_reviews("generated", None, n_reviews, seed)]
    found, r2 = {method: [] for method in METHODS}, []
    for review in chosen:
        document = model.tokenizer.tokenize(review.text)[:n_tokens]
        fitted = fits(model, document, n_samples, seed)
        r2.append(held_out_r2(fitted, model, document, n_new, seed))
        for method, attribution in explanations(model, document, fitted, n_samples, seed).items():
            found[method].append(attribution)
    agreement = {method: human_agreement(attributions, chosen) for method, attributions in found.items()}
    return {"AUROC": {method: one.consensus for method, one in agreement.items()}, "r2": medians(r2),
            "skipped": agreement["LIME"].skipped.consensus}


def report(records):
    """AUROCs, half of which is chance; the paper's rows only where people marked the words."""
    rows, columns = method_rows(records, ("marked_by", "model"), ("AUROC",))
    if any(record["cell"]["marked_by"] == "people" for record in records):
        rows += [["people (paper)", model, name, f"{x:.2f}", *[None] * (len(columns) - 4)]
                 for model, row in PAPER.items() for name, x in zip(NAMES, row, strict=True)]
    return rows, columns


def figure(records):
    """Mean AUROC of each method over all cells."""
    return bars(list(METHODS), [np.nanmean([r["numbers"]["AUROC"][m] for r in records]) for m in METHODS],
                xlabel="AUROC with the words marked by " + " and ".join(sorted({r["cell"]["marked_by"]
                                                                               for r in records})))
