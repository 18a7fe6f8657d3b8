"""What choices of the authors' public code change: Tables 2c, 7, 8 and 9, Figures 4 and 6, Eq. 65

The code is github.com/tleemann/slalom_explanations at commit da8a45f (5 February 2025), which may differ from what the
paper's first version was made with. What it does was read there, and is written anew here:

"areas" (Tables 2c, 9): 1 − the mean probability of the review's class, of its first words (insertion) or its last ones
(deletion) by rank, 5, 10, … to all. Every score is turned round where the review blames, importances too, which have no
sign; gradients and IG are of the logit of the class that the model *names*, and are turned as well, so that of blame
they run backwards ("as coded"). The gradient is a sum over coordinates, which a layer norm makes zero.
"the" (Figure 6): absent words are replaced by "the"; the transformers, of one layer, are those of `slalom_figure6`.
"square" (Tables 7, 8): the *square of the mean difference* in the place of the mean squared one, and of log-odds
between the SLALOM and the transformer that it was fitted to, not the truth.
"signs" (Eq. 65): words to which v eˢ gives another sign than α (v − F) has; 30 words a text, values around 0 or 1.

Out came: as coded IG falls from level with SHAP (0.87) to 0.44, importances from 0.38 to 0.24, and the gradient is a
random order (0.29, 0.27): about where the paper has these three. By the code's area linearised scores, LIME and SHAP
have 0.85 to 0.86 at deletion and 0.04 at insertion, near the paper's. "The" leaves the fall with 1/n and makes most
spreads smaller (GPT-2, ten words: 0.04, deleted 0.28). The mean difference, squared, is a thirtieth of the mean square
of log-odds and a hundredth of that of parameters. Signs are wrong for 9 % of the words, and a third in texts that
praise.
"""

import warnings

import numpy as np

from coursekit.explain import fit_slalom_data, gradient, random_sequences
from coursekit.models import load_weights
from coursekit.show.charts import bars

from .explained import explanations, fits, some_reviews
from .runner import SEEDS, mean_sd
from .trained import FAMILIES, on_linear, on_slalom

SIZE = dict(real="imdb", n_reviews=12, n_tokens=60, n_samples=500, n=10_000, epochs=5, n_fit=2000, n_drawn=200)
TOY = dict(real="handwritten", n_reviews=1, n_tokens=10, n_samples=40, n=64, epochs=1, n_fit=50, n_drawn=2)
OFTEN = 1, 5, 10, 30


def cells(seeds=SEEDS):
    """The signs, the areas, "the" with three families, the squares."""
    kinds = [("signs", "values around 0"), ("signs", "values around 1"), ("areas", "imdb-6layer"),
             *(("the", family) for family in FAMILIES), ("square", "distilbert")]
    return [dict(what=what, case=case, seed=seed) for what, case in kinds for seed in seeds]


def areas(case, seed, real, n_reviews, n_tokens, n_samples):
    """{measure, method: mean over reviews} of the code's deletion and insertion."""
    model, found = load_weights(case), {}
    for review in some_reviews("real", real, n_reviews, seed):
        words, label = model.tokenizer.tokenize(review.text)[:n_tokens], 2 * review.label - 1
        told = explanations(model, words, fits(model, words, n_samples, seed), n_samples, seed)
        with warnings.catch_warnings(action="ignore"):                  # "zero, but for rounding": that is the point
            told["gradient, summed"] = gradient(model, words, "mean")
        turned = label * np.sign(model.predict([words])[0])
        order = {name.partition(", 1–30")[0]: label * told[name].scores for name in
                 ("linearised, 1–30", "values, 1–30", "LIME", "SHAP", "IG", "random")}
        order |= {"importances": told["importances, 1–30"].scores, "IG, as coded": turned * told["IG"].scores,
                  "importances, as coded": label * told["importances, 1–30"].scores,
                  "gradient, as coded": turned * told["gradient, summed"].scores}
        for name, scores in order.items():
            rank, steps = np.argsort(np.argsort(-scores)), range(5, len(words) + 1, 5)
            for measure, place in (("deletion", len(words) - 1 - rank), ("insertion", rank)):
                f = model.predict([[words[t] for t in np.flatnonzero(place < i)] for i in steps])
                found.setdefault(f"{measure}, {name}", []).append(1 - np.mean(1 / (1 + np.exp(-label * f))))
    return {name: np.mean(each) for name, each in found.items()}


def squares(case, seed, n, epochs, n_fit):
    """{of what: mean squared difference, and the square of the mean one}."""
    model, _, truth = on_slalom(case, 1, seed, n, epochs, n_words=10, longest=15)
    known, new = (random_sequences(truth.tokens, n_fit, (1, 15), s) for s in (seed, 5000 + seed))
    found = fit_slalom_data(known, model.predict(known), tokens=list(truth.tokens))
    apart = {"log-odds, truth": found.predict(new) - truth.predict(new),
             "log-odds, transformer": found.predict(new) - model.predict(new),
             "parameters, truth": np.append(found.values - truth.values, found.importances - truth.importances)}
    return {f"{of}: {name}": number for of, gap in apart.items()
            for name, number in (("mean square", np.mean(gap**2)), ("square of mean", np.mean(gap)**2))}


def run(cell, real, n_reviews, n_tokens, n_samples, n, epochs, n_fit, n_drawn):
    """{number's name: number}."""
    what, case, seed = cell.values()
    if what == "areas":
        return areas(case, seed, real, n_reviews, n_tokens, n_samples)
    if what == "square":
        return squares(case, seed, n, epochs, n_fit)
    if what == "the":
        model, _ = on_linear(case, 1, seed, n, epochs)
        f = model.predict([[word] * k for word in ("perfect", "the") for k in OFTEN])
        return {f"{k} words": gap / k for k, gap in zip(OFTEN, f[:len(OFTEN)] - f[len(OFTEN):], strict=True)}
    s, v = np.random.default_rng(seed).normal([[[0]], [[int(case[-1])]]], 1, (2, n_drawn, 30))
    F = (np.exp(s) * v).sum(1, keepdims=True) / np.exp(s).sum(1, keepdims=True)
    return {"wrong signs": np.mean((v > 0) != (v > F))}


def report(records):
    """A row for each number: mean and spread of the seeds."""
    found = {}
    for record in records:
        for name, number in record["numbers"].items():
            found.setdefault((record["cell"]["what"], record["cell"]["case"], name), []).append(number)
    return [[*key, mean_sd(numbers)] for key, numbers in found.items()], ["what", "case", "number", "value"]


def figure(records):
    """The areas, or whatever there is."""
    shown = {row[2]: float(row[3].split()[0]) for row in report(records)[0] if row[0] == "areas"} or {
        row[2]: float(row[3].split()[0]) for row in report(records)[0]}
    return bars(list(shown), list(shown.values()), xlabel="the public code's area")
