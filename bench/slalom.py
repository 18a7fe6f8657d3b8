"""SLALOM: variable projection beside Algorithm 1, ours and that of the authors' package; and a SLALOM beside LIME and
KernelSHAP of the packages `lime` and `shap`, on one small BERT, at equal samples.
"""

import contextlib
import importlib.util
import io

import numpy as np
import shap
import torch
from lime.lime_text import LimeTextExplainer

from bench import best_of, compare, in_turns, table
from coursekit.explain import Slalom, fit_slalom, fit_slalom_data, random_sequences
from coursekit.explain.asking import scores_of
from coursekit.models import has_encoder, load_weights
from coursekit.worlds import handwritten_reviews

PACKAGE = "slalom-explanations==0.1.2"
WHY = """
error: what is left of the variance of the model's scores, 1 - R2, ours / theirs. Of fits: on 1,000 fresh sequences as
long as those fitted to. Of surrogates: on 300 copies of the review with words deleted at random, as LIME draws them;
that is what LIME and KernelSHAP are fitted to and a SLALOM of short sequences is not.
fit: the same sequences and scores for both. whole: the model is asked too. The package draws 512 sequences of 3 words
where its defaults say 500 of 2, so both take 512 of 3 there; Algorithm 1 takes 240 steps in either."""


def left(F, f):
    """1 − R² of the scores F for f."""
    return float(((F - f)**2).mean() / f.var())


def fit_row(name, model, words, target):
    """Variable projection and our Algorithm 1 on the same 500 pairs."""
    pairs, fresh = random_sequences(words, 500, 2, 0), random_sequences(words, 1000, 2, 1)
    scores, true = scores_of(model, pairs), scores_of(model, fresh)

    def fit(method):
        return fit_slalom_data(pairs, scores, method, tokens=words)
    ours_s, theirs_s = in_turns([lambda: fit("varpro"), lambda: fit("sgd")], 5)
    errors = " / ".join(f"{left(fit(method).predict(fresh), true):.1e}" for method in ("varpro", "sgd"))
    return compare(f"fit, {name}, {len(words)} words", "Algorithm 1, ours", ours_s, theirs_s, f"error {errors}", target)


class Lookup(torch.nn.Module):
    """A SLALOM as the package wants a model: ids and a mask in, two logits out. Word i has id i + 1, padding 0."""

    def __init__(self, truth):
        super().__init__()
        self.s, self.v = (torch.tensor(np.append(0, part)) for part in (truth.importances, truth.values))

    def forward(self, ids, attention_mask):
        inside = (attention_mask > 0) & (ids > 0) & (ids < len(self.s))
        ids = ids * inside
        alpha = self.s[ids].masked_fill(~inside, -torch.inf).softmax(1)
        score = (alpha * self.v[ids]).sum(1)
        return {"logits": torch.stack([-score, score], 1) / 2}


def package_row(name, model, words, ids, theirs, use_cls, target):
    """Ours and the authors' package, from the model to the scores, with as many sequences of as many words."""
    from slalom_explanations import SLALOMLocalExplanantions

    explainer = SLALOMLocalExplanantions(theirs, device="cpu", modes=["imp", "value"], use_cls=use_cls)
    explainer._wrap_model_if_needed = lambda ids: None          # not needed, and without [CLS] it wants 500 ids or more

    def ours():
        return fit_slalom(model, words, 512, 3)

    def package():
        torch.manual_seed(0)
        with contextlib.redirect_stderr(io.StringIO()):                           # its bar
            return Slalom(words, *explainer.get_signed_importance_for_tokens(ids))
    ours_s, theirs_s = in_turns([ours, package], 2)
    fresh = random_sequences(words, 1000, 3, 1)
    true = scores_of(model, fresh)
    errors = " / ".join(f"{left(found().predict(fresh), true):.1e}" for found in (ours, package))
    return compare(f"whole, {name}, {len(words)} words", PACKAGE, ours_s, theirs_s, f"error {errors}", target)


def surrogate_rows(model, tokens, n):
    """A SLALOM of short sequences beside LIME and KernelSHAP, n samples each; the packages delete words."""
    words, random = list(dict.fromkeys(tokens)), np.random.default_rng(1)
    column, array = [words.index(token) for token in tokens], np.array(tokens, dtype=object)

    def score(kept):                                                              # (n, distinct words)
        return np.asarray(model.predict([array[row].tolist() for row in (np.asarray(kept) > 0)[:, column]]), float)

    def log_odds(texts):
        scores = np.asarray(model.predict([text.split() for text in texts]), float)
        return np.stack([-scores, scores], 1)

    def package_lime():
        explainer = LimeTextExplainer(split_expression=r"\s+", random_state=0)
        found = explainer.explain_instance(" ".join(tokens), log_odds, num_features=len(words), num_samples=n)
        return np.array([weight for _, weight in sorted(found.local_exp[1])]), found.intercept[1]

    def package_shap():
        explainer = shap.KernelExplainer(score, np.zeros((1, len(words))))
        found = explainer.shap_values(np.ones((1, len(words))), nsamples=n, l1_reg=False, silent=True)[0]
        return found, explainer.expected_value

    kept = np.stack([random.permutation(len(words)) for _ in range(300)]) >= random.integers(1, len(words), (300, 1))
    true, left_over = score(kept), [array[row].tolist() for row in kept[:, column]]
    found = []
    rivals = [(name, best_of(lambda package=package: found.append(package()), 1)) for name, package in (
        ("lime", package_lime), ("shap.KernelExplainer", package_shap))]
    for long, length in (("2", 2), ("1 to 10", (1, 10))):
        fitted = []
        ours_s = best_of(lambda length=length: fitted.append(fit_slalom(model, tokens, n, length)), 1)
        for (name, theirs_s), (weights, base) in zip(rivals, found, strict=True):
            F, linear = fitted[0].predict(left_over), base + kept @ weights
            yield compare(f"SLALOM, {n} sequences of {long} words", name, ours_s, theirs_s,
                          f"error {left(F, true):.2f} / {left(linear, true):.2f}", 3)


def main():
    random, names = np.random.default_rng(0), [f"word {i}" for i in range(10)]
    truth = Slalom(names, random.normal(size=10), random.normal(size=10))
    peaky = load_weights("imdb-peaky")
    tokens = max((peaky.tokenizer.tokenize(review.text) for review in handwritten_reviews()), key=len)
    rows = [fit_row("a SLALOM", truth, names, 20), fit_row("imdb-peaky", peaky, sorted(set(tokens)), 8)]
    if has_encoder():
        bert = load_weights("minilm-sentiment")
        pieces = max((bert.tokenizer.tokenize(review.text) for review in handwritten_reviews()), key=len)
        words = sorted(set(pieces), key=bert.tokenizer.convert_tokens_to_ids)
        rows.append(fit_row("a BERT", bert, words, 8))
    if importlib.util.find_spec("slalom_explanations") is None:
        print(f"Going on without the authors' package. To have it: pip install --no-deps {PACKAGE}")
    else:
        rows.append(package_row("a SLALOM", truth, names, list(range(1, 11)), Lookup(truth), False, 20))
        if has_encoder():
            ids = bert.tokenizer.convert_tokens_to_ids(words)
            rows.append(package_row("a BERT", bert, words, ids, bert.model, True, None))
    if has_encoder():
        rows += surrogate_rows(bert, pieces, 1000)
    else:
        print("Going on without the BERT, which needs the package of the pretrained encoder.")
    table(rows)
    print(WHY)


if __name__ == "__main__":
    main()
