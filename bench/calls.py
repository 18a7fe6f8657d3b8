"""Error per call: Shapley values of a model that can only be asked, `gp_shapley` beside shap's and shapiq's estimators.

Twelve tokens each of four models, of which all 2^12 scores are known (bench/tables.npz), so no model runs; then long
documents of one-layer models, whose Shapley values `exact_shapley` gives; then games that are hard for it, and linear
ones. Last, on two documents, what takes seconds: ShaplEIG, which chooses each subset by the answers to all before it,
one call at a time; SPEX, which refuses less than some 500 calls here. How many seeds: `python -m bench.calls 3`.
shapiq wants Python 3.12: docs/upkeep.md, Dependencies.
"""

import contextlib
import importlib.util
import io
import sys
import warnings
from time import perf_counter

import numpy as np

from bench import table
from bench._tables import DOCUMENTS, MASKS, PATH, D
from coursekit.explain import evaluate_masks, exact_shapley, gp_shapley, kernel_shap, shapley_values
from coursekit.explain.shapley import enumerated
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

OURS, CALLS, LENGTHS = "gp_shapley", (64, 128, 256, 512, 1024), (39, 70, 150)
LONG = (OURS, "kernel_shap", "shapley_values", "shap Kernel", "shap Permutation", "shapiq KernelSHAP",
        "shapiq LeverageSHAP", "shapiq OddSHAP", "shapiq RegressionMSR, linear", "shapiq RegressionMSR, xgboost",
        "shapiq ProxySHAP", "shapiq Permutation")                                 # the others: too slow, or far off
WITH_SHAPIQ = ("shapiq", "lightgbm", "xgboost", "botorch", "galois", "sparse_transform")
INSIDE = 1.645                                                      # standard errors to each side: 90 % of a normal
WHY = """
error: |found - true| / |true|, of all values together; mean over documents and seeds. The columns: what an estimator
may ask, all words and none counted. asked: what it did ask / how many different subsets, in the last column; time: its
own there, as a call is a look into a table. inside: how often the 90 % intervals of gp_shapley hold the true value.
Settings of shapiq are its own, with pairs (S and its complement) wherever it offers them. The trees have depth 3: their
game is a polynomial, whose 298 terms PolySHAP 3 solves for, given 512 calls; what is left is the tables' rounding."""


class Asked:
    """A game of d players: function(masks (n, d)) → scores (n,); it counts the subsets that it is asked for."""

    def __init__(self, function, d):
        self.function, self.d, self.masks, self.words = function, d, [], [f"w{i}" for i in range(d)]
        self.places = {word: i for i, word in enumerate(self.words)}

    def __call__(self, masks):
        masks = np.atleast_2d(np.asarray(masks)) > 0
        self.masks.append(masks)
        return self.function(masks)

    def predict(self, documents):
        """The same as a black box of documents, in which words that are gone are deleted."""
        masks = np.zeros((len(documents), self.d), bool)
        for mask, document in zip(masks, documents, strict=True):
            mask[[self.places[word] for word in document]] = True
        return self(masks)

    def counts(self):
        """(subsets asked, different ones)"""
        masks = np.vstack(self.masks)
        return len(masks), len(np.unique(masks, axis=0))


def ours():
    """{name: function(game, calls, seed) → Attribution}"""
    def sampled(game, calls, seed):
        return shapley_values(game.predict, game.words, max(4, 2 * ((calls - 2) // (2 * game.d - 2))), seed, "delete")

    return {OURS: lambda game, calls, seed: gp_shapley(game.predict, game.words, calls, seed=seed, by="delete"),
            "kernel_shap": lambda game, calls, seed: kernel_shap(game.predict, game.words, calls - 2, seed, "delete"),
            "shapley_values": sampled}


def of_shap():
    """{name: function(game, calls, seed) → φ (d,)}"""
    import shap

    def kernel(game, calls, seed):
        np.random.seed(seed)
        explainer = shap.KernelExplainer(game, np.zeros((1, game.d)))
        return explainer.shap_values(np.ones((1, game.d)), nsamples=calls - 2, l1_reg=False, silent=True)[0]

    def permutation(game, calls, seed):
        explainer = shap.PermutationExplainer(game, np.zeros((1, game.d)), seed=seed)
        return explainer(np.ones((1, game.d)), max_evals=calls, silent=True).values[0]

    return {"shap Kernel": kernel, "shap Permutation": permutation}


def one_of_shapiq(name, options):
    """function(game, calls, seed) → φ (d,) of a class of `shapiq.approximator`."""
    def found(game, calls, seed):
        from shapiq import approximator

        values = getattr(approximator, name)(n=game.d, random_state=seed, **options).approximate(calls, game)
        return np.array([values[(i,)] for i in range(game.d)])
    return found


def of_shapiq():
    """{name: function(game, calls, seed) → φ (d,)}: whatever of shapiq gives Shapley values and asks in batches."""
    from lightgbm import LGBMRegressor

    pairs, values = {"pairing_trick": True}, {"index": "SV", "max_order": 1}
    kinds = {"KernelSHAP": ("KernelSHAP", pairs), "LeverageSHAP": ("LeverageSHAP", {}), "OddSHAP": ("OddSHAP", {}),
             "RegressionMSR, linear": ("RegressionMSR", {"index": "SV", "proxy_model": "linear"}),
             "RegressionMSR, xgboost": ("RegressionMSR", {"index": "SV"}), "ProxySHAP": ("ProxySHAP", values),
             "ProxySHAP, adjusted": ("ProxySHAP", values | {"adjustment": True}),
             "ProxySPEX": ("ProxySPEX", values | pairs | {"proxy_model": LGBMRegressor(n_jobs=1, verbose=-1)}),
             "PolySHAP 3": ("PolySHAP", pairs | {"max_order": 3}), "kADDSHAP 2": ("kADDSHAP", pairs),
             "SVARM": ("SVARM", pairs),
             "Unbiased KernelSHAP": ("UnbiasedKernelSHAP", pairs), "Permutation": ("PermutationSamplingSV", {}),
             "Stratified": ("StratifiedSamplingSV", {}), "Owen": ("OwenSamplingSV", {})}

    return {f"shapiq {name}": one_of_shapiq(*kind) for name, kind in kinds.items()}


def estimators():
    """All that are installed; of those that are not, a line."""
    found = ours()
    for needed, those in ((("shap",), of_shap), (WITH_SHAPIQ, of_shapiq)):
        missing = [package for package in needed if not importlib.util.find_spec(package)]
        if missing:
            print(f"Going on without {needed[0]}. Not installed: {', '.join(missing)} (docs/upkeep.md, Dependencies).")
        else:
            found |= those()
    return found


def run(estimate, game, calls, seed):
    """(Attribution or φ, seconds, whether it warned); what it says on the way is not shown."""
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("always")
        start = perf_counter()
        found = estimate(game, calls, seed)
        seconds = perf_counter() - start
    return found, seconds, any(issubclass(warning.category, UserWarning) for warning in said)


def off(found, true):
    return np.linalg.norm(getattr(found, "scores", found) - true) / max(np.linalg.norm(true), 1e-12)


def inside(found, true):
    """The part of φ that the 90 % intervals hold; rounding aside."""
    return np.mean(abs(found.scores - true) <= INSIDE * found.about["standard_errors"] + 1e-9 * abs(true).max())


def measured(estimate, games, calls, seeds):
    """(mean error, median seconds, (asked, different) of the last, part inside); nan where it refuses the calls."""
    errors, times, held = [], [], []
    for function, true in games:
        for seed in range(seeds):
            game = Asked(function, len(true))
            try:
                found, seconds, _ = run(estimate, game, calls, seed)
            except ValueError:
                return np.nan, np.nan, ("-", "-"), np.nan
            errors.append(off(found, true))
            times.append(seconds)
            held.append(inside(found, true) if "standard_errors" in getattr(found, "about", {}) else np.nan)
    return np.mean(errors), np.median(times), game.counts(), np.mean(held)


def report(title, games, calls, seeds, those):
    """Measure, print one table; returns (error of ours / of the best other, part that intervals hold) (2, settings)."""
    print(f"\n{title}", flush=True)
    settings = {name: [measured(estimate, games, n, seeds) for n in calls] for name, estimate in those.items()}
    table([{"error": name} | {f"{n:,}": "-" if np.isnan(row[0]) else f"{row[0]:.3g}"
                              for n, row in zip(calls, rows, strict=True)}
           | {"asked": "{} / {}".format(*rows[-1][2]), "time": f"{1e3 * rows[-1][1]:.0f} ms"}
           for name, rows in settings.items()])
    held = np.array([row[3] for row in settings[OURS]])
    others = [name for name in those if name != OURS]
    errors = np.array([[row[0] for row in settings[name]] for name in others])              # (others, settings)
    best = np.nanargmin(errors, 0)
    ratio = [row[0] for row in settings[OURS]] / errors[best, np.arange(len(calls))]
    print("90 % intervals hold: " + ", ".join(f"{100 * h:.0f} %" for h in held))
    print("ours / the best other: " + ", ".join(f"{r:.2f} ({others[b]})" for r, b in zip(ratio, best, strict=True)))
    return np.array([ratio, held])


def known(scores):
    """A game (function, φ) of the scores of all subsets."""
    scores = scores.astype(float)
    return (lambda masks: scores[masks @ (1 << np.arange(masks.shape[1]))]), enumerated(MASKS, scores)


def long_games(name, length):
    """Three documents of so many tokens, of handwritten reviews put one behind the other."""
    model = load_weights(name)
    tokens = [token for review in handwritten_reviews() for token in model.tokenizer.tokenize(review.text)]
    documents = [tokens[i * length:(i + 1) * length] for i in range(3)]
    return [((lambda masks, one=one: evaluate_masks(model, one, masks)), exact_shapley(model, one).scores)
            for one in documents]


def hard_games():
    """{name: scores (2^12,)}: what a process that expects smooth games must get wrong, and lines."""
    x, size, random = MASKS.astype(int), MASKS.sum(1), np.random.default_rng(0)
    slopes = random.normal(size=D)
    return {"parity of three": x[:, :3].sum(1) % 2, "parity of five": x[:, :5].sum(1) % 2,
            "veto": (1 - x[:, 0]) * (x[:, 1:6].sum(1) > 2), "one decides": np.maximum(x[:, 0], x[:, 1:5].prod(1)),
            "majority": size > D / 2, "by lot": random.normal(size=2**D), "a line, bent": np.tanh(x @ slopes / 2),
            "a line": x @ slopes, "a line, and noise": x @ slopes + 0.01 * random.normal(size=2**D)}


def apart(seeds):
    """What nothing is promised of: errors, what intervals hold, how often it warns, beside `kernel_shap`."""
    rows, both = [], [ours()[name] for name in (OURS, "kernel_shap")]
    for name, scores in hard_games().items():
        function, true = known(scores)
        for calls in (64, 256, 1024):
            found, kernel = ([run(one, Asked(function, D), calls, seed) for seed in range(seeds)] for one in both)
            rows.append({"game": name, "calls": calls, "error": f"{np.mean([off(a, true) for a, *_ in found]):.2g}",
                         "kernel_shap": f"{np.mean([off(a, true) for a, *_ in kernel]):.2g}",
                         "inside": f"{100 * np.mean([inside(a, true) for a, *_ in found]):.0f} %",
                         "warns": f"{100 * np.mean([warned for *_, warned in found]):.0f} %"})
    print("\ngames that are hard, and lines: no promise")
    table(rows)


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    tables = {name: [known(scores) for scores in rows] for name, rows in np.load(PATH).items()}
    those = estimators()
    short = {name: those[name] for name in those if name != "shapley_values"}     # of twelve words it enumerates
    found = [report(f"{name}, {DOCUMENTS} documents, {seeds} seeds", games, CALLS, seeds, short)
             for name, games in tables.items()]
    ratio, held = np.concatenate(found, 1)
    print(f"\nbest in {(ratio < 1).sum()} of {len(ratio)} settings (aim: 16), at most {ratio.max():.2f} times the best "
          f"in the others (aim: 1.5); of all 90 % intervals {100 * held.mean():.0f} % hold (aim: 86 to 94), "
          f"{100 * held.min():.0f} to {100 * held.max():.0f} % in a setting")
    for name in ("imdb-peaky", "imdb-tame"):
        for length in LENGTHS:
            report(f"{name}, {length} words, 3 documents; 4, 8, 16 calls a word", long_games(name, length),
                   [k * length + 2 for k in (4, 8, 16)], 1, {name: those[name] for name in LONG if name in those})
    apart(seeds)
    if "shapiq KernelSHAP" in those:
        for name, games in tables.items():
            for slow, options, calls in (("ShaplEIG", {"show_progress": False}, (64,)),
                                         ("SPEX", {"index": "SV", "max_order": 1}, (512, 1024))):
                report(f"{name}, two documents", games[:2], calls, 1,
                       {OURS: those[OURS], f"shapiq {slow}": one_of_shapiq(slow, options)})
    print(WHY)


if __name__ == "__main__":
    main()
