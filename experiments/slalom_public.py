"""What choices of the authors' public code change: Tables 2c, 7, 8 and 9, Figures 4 and 6, Eq. 65

The code is github.com/tleemann/slalom_explanations at commit da8a45f (5 February 2025); its history begins four months
after the paper's first version, which may have been made otherwise. What it does was read there, and is written anew:

"areas" (Tables 2c, 9): 1 − the mean probability of the review's class, of its first words (insertion) or its last ones
(deletion) by rank, 5, 10, … to all. Every score is turned round where the review blames, also those without a sign:
importances, and gradients and IG, which are lengths of vectors there, IG from zero in 30 steps ("as coded").
"the" (Figure 6): absent words are replaced by "the"; the transformers, of one layer, are those of `slalom_figure6`.
"square" (Tables 7, 8): the *square of the mean difference* in the place of the mean squared one, and of log-odds
between the SLALOM and the transformer that it was fitted to, not the truth.
"signs" (Eq. 65): words to which v eˢ gives another sign than α (v − F) has; 30 words a text, values around 0 or 1.

Out came: by the code's area linearised scores, LIME, SHAP and IG have 0.85 to 0.87 at deletion and 0.04 at insertion,
near the paper's numbers for the first three. A length, which has no sign, has 0.40, and turned round for blame 0.23,
less than a random order (0.27); importances go from 0.38 to 0.24. So stand the paper's importances, IG and gradient.
"The" leaves the fall with 1/n and makes most spreads smaller (GPT-2, ten words: 0.04, deleted 0.28). The mean
difference, squared, is a thirtieth of the mean square of log-odds and a hundredth of that of parameters. Signs are
wrong for 9 % of the words, and for a third in texts that praise.
"""

import numpy as np
import torch

from coursekit.explain import fit_slalom_data, random_sequences
from coursekit.explain.gradients import slopes
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


def ig_length(model, words):
    """Integrated gradients as vectors, (T,) lengths: the slopes along the path times where they are taken, summed."""
    zero = model.baseline(words, "zero")
    step = model.embed(words).detach() - zero
    shares = torch.linspace(0, 1, 30)[:, None, None]
    whole = (slopes(model.from_embeddings, zero + shares * step) * shares * step).sum(0)
    return whole.norm(dim=1)[model.own(words)].numpy()


def areas(case, seed, real, n_reviews, n_tokens, n_samples):
    """{measure, method: mean over reviews} of the code's deletion and insertion."""
    model, found = load_weights(case), {}
    for review in some_reviews("real", real, n_reviews, seed):
        words, label = model.tokenizer.tokenize(review.text)[:n_tokens], 2 * review.label - 1
        told = explanations(model, words, fits(model, words, n_samples, seed), n_samples, seed)
        order = {name.partition(", 1–30")[0]: label * told[name].scores for name in
                 ("linearised, 1–30", "values, 1–30", "LIME", "SHAP", "IG", "random")}
        lengths = {"importances": told["importances, 1–30"].scores, "gradient": told["gradient"].scores,
                   "IG length": ig_length(model, words)}
        order |= lengths | {f"{name}, as coded": label * scores for name, scores in lengths.items()}
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
