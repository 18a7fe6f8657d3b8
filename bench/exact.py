"""Exact LIME and Shapley values of one attention layer beside the packages `lime` and `shap`, which sample: how long
each takes, and how far the samples are from where they go.
"""

import numpy as np
import shap
from lime.lime_text import LimeTextExplainer

from bench import best_of, compare, table
from coursekit.explain import evaluate_masks, exact_lime, exact_shapley, lime, shapley_values
from coursekit.explain.exact import size_law
from coursekit.explain.surrogate import weighted_ridge
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

WHY = """
Relative Euclidean distances to the exact values. "within 1 %": the number of samples at which the mean distance over
ten seeds is that, found with our own samplers (LIME's draws the package's own masks) and 1/sqrt(n); the packages then
run once with so many. shap explains a vector of ones against zeros, an order and its reverse at a time."""
GOAL = 0.01


def off(scores, exact):
    """‖scores − exact‖ / ‖exact‖."""
    return float(np.linalg.norm(scores - exact) / np.linalg.norm(exact))


def enough(sampler, exact, n):
    """(distance of a sampler at n, the n at which it is GOAL), from ten seeds; even, for the sake of permutations."""
    distance = float(np.mean([off(sampler(n, seed), exact) for seed in range(10)]))
    return distance, max(4, 2 * round(n * (distance / GOAL)**2 / 2))


def packages(model, tokens):
    """(the package lime with n samples, shap's permutations with n orders): functions n → scores (d,)."""
    words, ones = np.array(tokens, dtype=object), np.ones((1, len(tokens)))

    def log_odds(texts):
        scores = model.predict([text.split() for text in texts]).astype(float)
        return np.stack([-scores, scores], 1)

    def package_lime(n):
        explainer = LimeTextExplainer(split_expression=r"\s+", bow=False, mask_string="[UNK]", random_state=0)
        found = explainer.explain_instance(" ".join(tokens), log_odds, num_features=len(tokens), num_samples=n)
        return np.array([weight for _, weight in sorted(found.local_exp[1])])

    def package_shap(n):
        def score(kept):
            return model.predict(np.where(kept > 0, words, "[UNK]").tolist()).astype(float)

        explainer = shap.PermutationExplainer(score, np.zeros_like(ones), seed=0)
        return explainer(ones, max_evals=n // 2 * (2 * len(tokens) + 1), silent=True).values[0]

    return package_lime, package_shap


def by_enumeration(model, tokens):
    """How far exact LIME and exact Shapley values are from all 2^d masks of a short document."""
    masks = (np.arange(2**len(tokens))[:, None] >> np.arange(len(tokens)) & 1).astype(bool)
    kept, (law, ridge) = masks.sum(1), size_law(len(tokens))
    weights = (law / np.bincount(kept))[kept]
    beta, _ = weighted_ridge(masks, evaluate_masks(model, tokens, masks), weights, ridge)
    return (off(exact_lime(model, tokens).scores, beta),
            off(exact_shapley(model, tokens).scores, shapley_values(model, tokens).scores))


def main():
    for name in ("imdb-tame", "imdb-peaky"):
        model = load_weights(name)
        tokens = max((model.tokenizer.tokenize(review.text) for review in handwritten_reviews()), key=len)
        beta, phi = exact_lime(model, tokens).scores, exact_shapley(model, tokens).scores
        print(f"{name}, a review of {len(tokens)} words; its first 14 against enumeration: LIME {{:.0e}} off, Shapley "
              "values {:.0e}".format(*by_enumeration(model, tokens[:14])))
        lime_off, n_lime = enough(lambda n, seed: lime(model, tokens, n, seed).scores, beta, 5000)
        shap_off, n_shap = enough(lambda n, seed: shapley_values(model, tokens, n, seed).scores, phi, 20)
        print(f"5,000 samples of LIME are {lime_off:.2%} off (within 1 %: {n_lime:,}), "
              f"20 permutations {shap_off:.2%} (within 1 %: {n_shap:,})\n")
        if name == "imdb-tame":
            continue
        ours = [best_of(lambda f=f: f(model, tokens)) for f in (exact_lime, exact_shapley)]
        rows, (package_lime, package_shap) = [], packages(model, tokens)
        for what, against, ours_s, package, n, exact in (
                ("exact LIME", "lime, {:,} samples", ours[0], package_lime, 5000, beta),
                ("exact LIME", "lime, {:,} samples", ours[0], package_lime, n_lime, beta),
                ("exact Shapley values", "shap, {:,} permutations", ours[1], package_shap, n_shap, phi)):
            found = []
            theirs_s = best_of(lambda found=found, package=package, n=n: found.append(package(n)), 1)
            rows.append(compare(what, against.format(n), ours_s, theirs_s, f"theirs {off(found[0], exact):.2%} off"))
        table(rows)
    print(WHY)


if __name__ == "__main__":
    main()
