"""The report on explainers beside the same figures put together from captum, lime, shap and quantus, on one model.

`python -m bench.report` takes 50 generated reviews and imdb-tame, `python -m bench.report minilm-sentiment` fewer and
shorter ones: there a forward pass of six layers is all that counts, and hours would say no more. Another number of
reviews is the second argument. tools/setup.py adds quantus, without what it asks for.
"""

import sys
from time import process_time
from types import ModuleType

import captum.attr
import numpy as np
import shap
import torch
from lime.lime_text import LimeTextExplainer
from tqdm import tqdm

from bench import compare, table
from coursekit.compare import Report, course_explainers, report
from coursekit.evaluate.faithfulness import ERASER_BINS
from coursekit.evaluate.plausibility import _words_within
from coursekit.models import load_weights
from coursekit.worlds import reviews, stand_in

try:
    sys.modules.setdefault("cv2", ModuleType("cv2"))            # OpenCV, which quantus loads and only turns images with
    import quantus
except ModuleNotFoundError:
    quantus = None

WHY = """
CPU seconds. Both sides: explainers that all have, one explanation of each review, {n_seeds} seeds where one samples
(two calls where none does), {n_neighbours} neighbours with one word swapped, eleven perturbed copies for
comprehensiveness and sufficiency, AUROC against the grammar's marks. Ours has intervals and tests as well and, where
the model offers its terms, the distance to exact values. Explanations by captum (gradients, integrated gradients,
ablation), lime and shap; AUROC and the Lipschitz search by quantus, all neighbours being nearest words at random places
(half of ours go on where the explanation moved most, hence the larger constants); what no package has, ERASER's two, by
model.predict in batches.
Where the time goes: words replaced in one layer are computed, not asked (imdb-tame). Where each mask is a forward pass,
a cell asks no document twice: half of a neighbour's masks take the swapped word away, and are the review's own."""

NAMES = ("gradient, mean", "gradient, L1", "gradient, L2", "gradient × input", "integrated gradients", "leave-one-out",
         "LIME", "KernelSHAP", "Shapley values")
SAMPLED = ("LIME", "KernelSHAP", "Shapley values")
N_NODES = 16


class Theirs:
    """The packages' explanations of one model, as functions (tokens, seed) → scores (T,)."""

    def __init__(self, model, samples):
        self.model, self.samples = model, samples

    def score(self, tokens, kept):
        """Scores of masks (n, T), words replaced."""
        return self.model.predict(np.where(np.asarray(kept) > 0, np.array(tokens, dtype=object), "[UNK]").tolist())

    def explain(self, name, tokens, seed):
        """The scores (T,) of the explainer of this name."""
        model, T = self.model, len(tokens)
        if name == "LIME":
            def log_odds(texts):
                scores = model.predict([text.split() for text in texts]).astype(float)
                return np.stack([-scores, scores], 1)

            explainer = LimeTextExplainer(split_expression=r"\s+", bow=False, mask_string="[UNK]", random_state=seed)
            found = explainer.explain_instance(" ".join(tokens), log_odds, num_features=T, num_samples=self.samples)
            return np.array([weight for _, weight in sorted(found.local_exp[1])])
        if name == "KernelSHAP":
            np.random.seed(seed)
            kernel = shap.KernelExplainer(lambda kept: self.score(tokens, kept).astype(float), np.zeros((1, T)))
            return kernel.shap_values(np.ones((1, T)), nsamples=max(self.samples, 4 * T), l1_reg=False, silent=True)[0]
        if name == "Shapley values":
            permutation = shap.PermutationExplainer(lambda kept: self.score(tokens, kept).astype(float),
                                                    np.zeros((1, T)), seed=seed)
            rounds = max(4, self.samples // T // 2 * 2) // 2
            return permutation(np.ones((1, T)), max_evals=rounds * (2 * T + 1), silent=True).values[0]
        if name == "leave-one-out":
            ablation = captum.attr.FeatureAblation(lambda kept: torch.as_tensor(self.score(tokens, kept.numpy())))
            return ablation.attribute(torch.ones(1, T), perturbations_per_eval=64)[0].numpy()
        e, e0 = model.embed(tokens).detach()[None], model.baseline(tokens, "unk").detach()[None]
        if name == "integrated gradients":
            by = captum.attr.IntegratedGradients(model.from_embeddings)
            found = by.attribute(e, e0, n_steps=N_NODES).sum(-1)
        else:
            g = captum.attr.Saliency(model.from_embeddings).attribute(e.requires_grad_(), abs=False)
            found = {"gradient, mean": g.mean(-1), "gradient, L1": g.abs().sum(-1), "gradient, L2": g.norm(dim=-1),
                     "gradient × input": (g * (e - e0)).sum(-1)}[name]
        return found[0, model.own(tokens)].detach().double().numpy()

    def row(self, name, tokens, review, n_seeds, n_neighbours, signed):
        """(comprehensiveness, sufficiency, AUROC, spread, Lipschitz) of one explainer at one review."""
        runs = [self.explain(name, tokens, seed) for seed in (range(n_seeds) if name in SAMPLED else (0, 0))]
        phi, T = runs[0], len(tokens)
        spread = np.linalg.norm(np.std(runs, 0, ddof=1)) / np.linalg.norm(np.mean(runs, 0))
        f = self.score(tokens, np.ones((1, T)))[0]
        order = np.argsort(-phi * (np.sign(f) if signed else 1), kind="stable")
        masks = np.ones((2, len(ERASER_BINS), T), bool)
        for b, share in enumerate(ERASER_BINS):
            cut = -int(-share * T // 1)
            masks[0, b, order[:cut]] = masks[1, b, order[cut:]] = False
        p = 1 / (1 + np.exp(-np.sign(f) * self.score(tokens, masks.reshape(-1, T)).astype(float)))
        faithful = 1 / (1 + np.exp(-abs(f))) - p.reshape(2, -1).mean(1)
        marks = np.array(review.on(tokens).maps).all(0)
        auroc = quantus.AUC(abs=True, disable_warnings=True)(
            torch.nn.Identity(), np.ones((1, 1, T)), np.zeros(1, int), phi.reshape(1, 1, T),
            marks.reshape(1, 1, T))[0] if marks.any() else np.nan
        return *faithful, auroc, spread, self.lipschitz(name, tokens, phi, n_neighbours)

    def lipschitz(self, name, tokens, phi, n_neighbours):
        """quantus' search: as many neighbours, each with one word swapped for a near one."""
        T = len(tokens)
        swaps = [(place, *near) for place in np.random.default_rng(0).permutation(T)
                 for near in _words_within(self.model, tokens[place], 0.75, 1)]
        steps = iter([swaps[i % len(swaps)] for i in range(n_neighbours)])
        now = []

        def swap(arr, **_):
            now[:] = next(steps)
            arr = arr.copy()
            arr[0, now[0]] += 1                                                   # quantus wants to see a change
            return arr

        def explain_func(model, inputs, targets, **_):
            swapped = [*tokens[:now[0]], now[1], *tokens[now[0] + 1:]] if now else tokens
            return self.explain(name, swapped, 0).reshape(1, 1, T)

        estimate = quantus.LocalLipschitzEstimate(
            similarity_func=lambda a, b, **_: np.linalg.norm(a - b) / np.linalg.norm(a) / now[2], normalise=False,
            nr_samples=n_neighbours, perturb_func=swap, disable_warnings=True)
        return estimate(torch.nn.Identity(), np.zeros((1, 1, T)), np.zeros(1, int), phi.reshape(1, 1, T),
                        explain_func=explain_func, softmax=False)[0]


def main(name="imdb-tame", n=None):
    torch.set_num_threads(1)
    tame = name == "imdb-tame"
    samples, n_seeds, n_neighbours = (1000, 5, 8) if tame else (50, 2, 4)
    n = int(n or (50 if tame else 2))
    model, marked = load_weights(name), [stand_in(review) for review in reviews(200, seed=0)]
    marked = [(model.tokenizer.tokenize(review.text), review) for review in marked]
    marked = (marked if tame else sorted(marked, key=lambda pair: len(pair[0])))[:n]
    explainers = {key: explainer for key, explainer in course_explainers(model, samples).items() if key in NAMES}
    print(f"{n} reviews of {np.mean([len(d) for d, _ in marked]):.0f} words and marks, model {name}, one thread, "
          f"{samples} samples, {len(explainers)} explainers")
    found, rows, times, by = [], [], [], Theirs(model, samples)
    for tokens, review in tqdm(marked, unit="review"):                             # in turns: what is busy strikes both
        times.append(process_time())
        found.append(report(model, [tokens], explainers, [review], n_seeds=n_seeds, n_neighbours=n_neighbours,
                            progress=False))
        times.append(process_time())
        rows.append([by.row(key, tokens, review, n_seeds, n_neighbours, key not in ("gradient, L1", "gradient, L2"))
                     for key in explainers])
    times = np.diff([*times, process_time()])
    start = process_time()
    ours = Report(tuple(explainers), {m: np.hstack([one.values[m] for one in found]) for m in found[0].values})
    print(ours)
    ours_s, theirs_s = times[::2].sum() + process_time() - start, times[1::2].sum()
    columns, means = ("comprehensiveness", "sufficiency", "AUROC", "spread", "Lipschitz"), np.nanmean(rows, 0)
    table([{"theirs": key, **{c: f"{x:.3g}" for c, x in zip(columns, row, strict=True)}}
           for key, row in zip(explainers, means, strict=True)])
    gaps = [max(abs(mean - ours.rows[key][columns[c]].mean) for key, mean in zip(explainers, means[:, c], strict=True))
            for c in (0, 2)]
    table([compare(f"report on {n} reviews, {name}", "captum, lime, shap, quantus", ours_s, theirs_s,
                   f"means: comprehensiveness {gaps[0]:.0e}, AUROC {gaps[1]:.0e}", 5 if tame else 1)])
    print(WHY.format(n_seeds=n_seeds, n_neighbours=n_neighbours))


if __name__ == "__main__":
    if quantus is None:
        print("quantus is not installed here (tools/setup.py adds it): nothing to compare with")
    else:
        main(*sys.argv[1:])
