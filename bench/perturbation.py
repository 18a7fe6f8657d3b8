"""LIME, KernelSHAP and permutation sampling beside the packages `lime` and `shap`: one model, one document, one run."""

import numpy as np
import shap
from lime.lime_text import LimeTextExplainer

from bench import compare, in_turns, table
from coursekit.explain import kernel_shap, lime, shapley_values
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

WHY = """
computed: words replaced in place change sums that are linear in the mask, so with one layer all masks take two matrix
          products (factorised); what remains for LIME is mostly drawing the package's own random numbers.
asked:    the same samples through model.predict; equal masks are asked once, documents are written without text.
moved:    words deleted: a forward pass for each mask, on token ids moved up, with nothing to split and look up again.
shap explains a vector of ones against zeros, and all features are wanted (l1_reg=False). "off": the relative distance
to Shapley values from 4000 permutations, ours / theirs; both sample, from different random numbers."""


def row(what, against, ours, theirs, agreement, target, repeat=1):
    """One row of the table; what is quick is run `repeat` times in a turn."""
    ours_s, theirs_s = in_turns([lambda: [ours() for _ in range(repeat)], theirs], 3)
    return compare(what, against, ours_s / repeat, theirs_s, agreement, target)


def lime_rows(model, tokens, n):
    """LIME with n samples: the package on the text, ours on the tokens, the same seed and hence the same masks."""
    def log_odds(texts):
        scores = model.predict([text.split() for text in texts]).astype(float)
        return np.stack([-scores, scores], 1)

    def package(bow):
        explainer = LimeTextExplainer(split_expression=r"\s+", bow=bow, mask_string="[UNK]", random_state=0)
        found = explainer.explain_instance(" ".join(tokens), log_odds, num_features=len(tokens), num_samples=n)
        return np.array([weight for _, weight in sorted(found.local_exp[1])])

    for name, black_box, bow, target, repeat in (("replace, computed", model, False, 10, 10),
                                                 ("replace, asked", model.predict, False, 1, 1),
                                                 ("delete, moved", model, True, 1, 1),
                                                 ("delete, asked", model.predict, True, 1, 1)):
        def ours():
            return lime(black_box, tokens, n, bow=bow).scores

        def theirs():
            return package(bow)

        gap = abs(ours() - theirs()).max()
        yield row(f"LIME, {n} samples, {name}", "lime", ours, theirs, f"coefficients {gap:.0e}", target, repeat)


def shap_rows(model, tokens, n=1000, n_permutations=20):
    """KernelSHAP with n samples; permutations with as many evaluations."""
    words, ones, zeros = np.array(tokens, dtype=object), np.ones((1, len(tokens))), np.zeros((1, len(tokens)))
    true = shapley_values(model, tokens, 4000, seed=1).scores

    def score(kept):
        return model.predict(np.where(kept > 0, words, "[UNK]").tolist()).astype(float)

    def off(phi):
        return np.linalg.norm(phi - true) / np.linalg.norm(true)

    kernel = shap.KernelExplainer(score, zeros)
    permutation = shap.PermutationExplainer(score, zeros, seed=0)
    rounds = n_permutations // 2 * (2 * len(tokens) + 1)

    def their_kernel():
        return kernel.shap_values(ones, nsamples=n, l1_reg=False, silent=True)[0]

    def their_permutation():
        return permutation(ones, max_evals=rounds, silent=True).values[0]

    for name, black_box, targets, repeat in (("computed", model, (50, 10), 20), ("asked", model.predict, (1, 1), 1)):
        def our_kernel():
            return kernel_shap(black_box, tokens, n).scores

        def our_permutation():
            return shapley_values(black_box, tokens, n_permutations).scores

        kinds = ((f"KernelSHAP, {n} samples", "KernelExplainer", our_kernel, their_kernel),
                 (f"{n_permutations} permutations", "PermutationExplainer", our_permutation, their_permutation))
        for (what, against, ours, theirs), target in zip(kinds, targets, strict=True):
            agreement = f"off {off(ours()):.0e} / {off(theirs()):.0e}"
            yield row(f"{what}, {name}", against, ours, theirs, agreement, target, repeat)


def main():
    model = load_weights("imdb-tame")
    tokens = max((model.tokenizer.tokenize(review.text) for review in handwritten_reviews()), key=len)
    print(f"a review of {len(tokens)} words and marks, model imdb-tame")
    table([*lime_rows(model, tokens, 1000), *lime_rows(model, tokens, 5000), *shap_rows(model, tokens)])
    print(WHY)


if __name__ == "__main__":
    main()
