"""Reviews, generated and real, and what the methods of the paper's tables say of one.

SLALOM is fitted twice, to pairs of words and to sequences of 1 to 30 words: how long the paper's are is lost
(the public code asks for three words).
"""

from functools import cache

import numpy as np

from coursekit.evaluate import fidelity
from coursekit.explain import Attribution, fit_slalom, gradient, integrated_gradients, kernel_shap, lime
from coursekit.models.hub.minilm import encoder_file
from coursekit.own import datasets
from coursekit.worlds import handwritten_reviews, reviews

from .runner import grouped, mean_sd
from .trained import LENGTHS

MODELS = "imdb-tame", "imdb-6layer", *["minilm-sentiment"] * (encoder_file() is not None)
FITS = {"2": 2, "1–30": (1, 30)}
METHODS = (*(f"{score}, {fit}" for score in ("values", "importances", "linearised", "as printed") for fit in FITS),
           "LIME", "SHAP", "IG", "gradient", "random")


@cache
def every(real):
    """All reviews of a real source: "imdb", the official files' test split, or "handwritten"."""
    return datasets.imdb(split="test") if real == "imdb" else handwritten_reviews()


def some_reviews(text, real, n, seed):
    """n reviews of films: of the generator (text "generated"), or drawn at random from the real source ("real")."""
    if text == "generated":
        return [review for review in reviews(3 * n + 20, seed) if review.topic == "film"][:n]
    return [every(real)[i] for i in np.random.default_rng(seed).choice(len(every(real)), n, replace=False)]


def fits(model, document, n_samples, seed):
    """{name: the Slalom fitted to n_samples random sequences of a document's words}, one for each of FITS."""
    return {name: fit_slalom(model, document, n_samples, length, seed=seed) for name, length in FITS.items()}


def explanations(model, document, fitted, n_samples, seed):
    """{method: Attribution} for all METHODS, of a white box; `fitted` is what `fits` gives."""
    found = {}
    for name, slalom in fitted.items():
        place = [slalom.tokens.index(token) for token in document]
        found[f"values, {name}"] = Attribution(document, slalom.values[place], "values")
        found[f"importances, {name}"] = Attribution(document, slalom.importances[place], "importances", signed=False)
        found[f"linearised, {name}"] = slalom.linearized(document)
        found[f"as printed, {name}"] = slalom.linearized(document, "paper")
    noise = np.random.default_rng(seed).normal(size=len(document))
    return found | {"LIME": lime(model, document, n_samples, seed),
                    "SHAP": kernel_shap(model, document, n_samples, seed),
                    "IG": integrated_gradients(model, document, n_nodes=32), "gradient": gradient(model, document),
                    "random": Attribution(document, noise, "random")}


def held_out_r2(fitted, model, document, n_new, seed):
    """{fit: {length: R²}} on n_new random sequences of each length, drawn anew."""
    return {name: {length: one["r2"] for length, one in
                   fidelity(slalom, model, document, LENGTHS, n_new, 20_000 + seed).items()}
            for name, slalom in fitted.items()}


def medians(r2):
    """{fit: {length: median R²}} of the documents' own."""
    return {fit: {length: np.median([one[fit][length] for one in r2]) for length in LENGTHS} for fit in FITS}


def method_rows(records, names, keys, digits=2):
    """(rows, columns): for the named settings and each method what was found under `keys`, and with SLALOM's scores
    what the fit behind them is worth on new sequences, by their length."""
    rows = []
    for setting, found in grouped(records, *names).items():
        for method in found[0][keys[0]]:
            r2 = [one["r2"].get(method.split(", ")[-1]) for one in found]
            rows.append([*setting, method, *(mean_sd([one[key][method] for one in found], digits) for key in keys),
                         *(mean_sd([one[str(n)] for one in r2], 1) if r2[0] else None for n in LENGTHS)])
    return rows, [*names, "method", *keys, *(f"R² {n}" for n in LENGTHS)]
