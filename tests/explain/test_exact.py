"""Exact LIME, Shapley values, Banzhaf values and interactions against their definitions by enumeration, on random and
shipped models; the axioms on long documents; what is refused."""

import copy
import tracemalloc
from functools import cache
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.explain import away, evaluate_masks, exact_interactions, exact_lime, exact_shapley, lime, products
from coursekit.explain.exact import size_law
from coursekit.explain.products import laplace_nodes
from coursekit.explain.surrogate import proximity, weighted_ridge
from coursekit.models import AttentionClassifier, load_weights
from coursekit.worlds import handwritten_reviews

DOCUMENT = "i wanted to love this film , but the zzz story is dull".split()               # 13 distinct words
REPEATS = "not good , not bad , not a film".split()
SHARES = (np.array([0.2, 0.9]), np.array([0.3, 0.7]))
MODELS = ["imdb-tame", "imdb-peaky"]


@cache
def shipped(name, scale=1.0):
    model = copy.deepcopy(load_weights(name)).double()
    model.W_k.data *= scale
    return model


def all_masks(d):
    return (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)


def scores(model, document, by, groups=None):
    """Every mask of the features and its score, through the forward pass in float64."""
    masks = all_masks(len(document) if groups is None else max(groups) + 1)
    return masks, evaluate_masks(model.predict, document, masks, by, groups=groups)


def lime_by_definition(masks, f, n, kernel_width, ridge):
    """Least squares on all masks, each with the expected weight that n of LIME's samples give it."""
    d, kept = masks.shape[1], masks.sum(1)
    chance = np.array([(k < d) / (d * comb(d, k)) for k in range(d + 1)])[kept]
    weights = chance if n is None else (n - 1) * chance + (kept == d)
    return weighted_ridge(masks, f, weights * proximity(masks, kernel_width), 0 if n is None else ridge)


def values_by_definition(masks, f, q):
    """Σ_S q(|S|) (f(S ∪ {j}) − f(S)) over all S without j, for each j."""
    d, kept, phi = masks.shape[1], masks.sum(1), []
    for j in range(d):
        without = np.flatnonzero(~masks[:, j])
        phi.append(q[kept[without]] @ (f[without + 2**j] - f[without]))
    return np.array(phi)


def size_weights(semivalue, d):
    """q by size: Shapley's, Banzhaf's, and that of a law of shares."""
    if semivalue == "shapley":
        return np.array([1 / (d * comb(d - 1, s)) for s in range(d)])
    if semivalue == "banzhaf":
        return np.full(d, 0.5**(d - 1))
    return np.array([sum(w * p**s * (1 - p)**(d - 1 - s) for p, w in zip(*semivalue, strict=True)) for s in range(d)])


def close(ours, theirs):
    """Equal to 1e-12 of the largest."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * abs(np.asarray(theirs)).max())


def fake(log_g, y):
    """A model that is its terms and nothing more."""
    return SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))


def random_terms(d, seed, low=-3.0, high=3.0, K=2):
    """log g, uniform between two numbers, and y of a fake model, and its scores of all masks of d words, replaced and
    deleted, from softmaxes."""
    random = np.random.default_rng(seed)
    log_g, y = random.uniform(low, high, (d + 3, d + 2, K)), random.normal(size=(d + 3, d + 2, K))
    replaced, deleted = [], []
    for mask in all_masks(d):
        t = np.flatnonzero(mask) + 1
        for rows, found in ((np.concatenate([[0], np.where(mask, np.arange(1, d + 1), d + 1), [d + 2]]), replaced),
                            (np.concatenate([[0], t, np.full(d + 1 - len(t), d + 2)]), deleted)):
            own_g, own_y = (part[rows, np.arange(d + 2)] for part in (log_g, y))
            alpha = np.exp(own_g - own_g.max(0))
            found.append((alpha * own_y).sum(0) @ (1 / alpha.sum(0)) / K)
    return fake(log_g, y), np.array(replaced), np.array(deleted)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("by, document, groups", [
    ("replace", DOCUMENT, None), ("delete", DOCUMENT, None), ("replace", REPEATS, None), ("delete", REPEATS, None),
    ("replace", REPEATS, [0, 1, 2, 0, 3, 2, 0, 4, 5]), ("delete", DOCUMENT[:4], list(range(4)))])
def test_enumeration_on_the_shipped_models(name, by, document, groups):
    model, features = shipped(name), "places" if groups is None else "words"
    masks, f = scores(model, document, by, groups)
    for n, width, ridge in ((None, 25, 1.0), (None, np.inf, 1.0), (50, 25, 1.0), (1000, 40, 0.1)):
        explanation = exact_lime(model, document, by, features, n, width, ridge)
        beta, intercept = lime_by_definition(masks, f, n, width, ridge)
        close(explanation.scores, beta)
        assert explanation.about["intercept"] == pytest.approx(intercept, abs=1e-12)
    for semivalue in ("shapley", "banzhaf", SHARES):
        explanation = exact_shapley(away(model, by), document, features, semivalue)
        close(explanation.scores, values_by_definition(masks, f, size_weights(semivalue, masks.shape[1])))
        assert explanation.about["score"] == pytest.approx(f[-1], abs=1e-12)
        assert explanation.about["baseline"] == pytest.approx(f[0], abs=1e-12)
    if features == "words":
        assert explanation.on(document).tokens == tuple(document)


@pytest.mark.parametrize("name", MODELS)
def test_fourteen_words(name):
    document, model = [*DOCUMENT, "!"], shipped(name)
    masks, f = scores(model, document, "replace")
    close(exact_lime(model, document).scores, lime_by_definition(masks, f, None, 25, 1)[0])
    close(exact_shapley(model, document).scores, values_by_definition(masks, f, size_weights("shapley", 14)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**31), st.sampled_from([1.0, 10.0, 40.0]))
def test_enumeration_of_random_terms(d, seed, spread):
    model, replaced, deleted = random_terms(d, seed, -spread, spread)
    masks, words = all_masks(d), [f"word{i}" for i in range(d)]
    for by, f in (("replace", replaced), ("delete", deleted)):
        phi = values_by_definition(masks, f, size_weights("shapley", d))
        np.testing.assert_allclose(exact_shapley(away(model, by), words).scores, phi, rtol=0, atol=1e-12)
        beta, _ = lime_by_definition(masks, f, 100, 25, 1.0)
        np.testing.assert_allclose(exact_lime(model, words, by, n=100).scores, beta, rtol=0, atol=1e-12)


@pytest.mark.parametrize("low, high", [(-86, 104), (-500, 500), (5000, 5001)])
def test_any_range_of_attention(low, high):
    """Exponentials that leave the range of floats, with no warning and nothing lost."""
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        model, replaced, deleted = random_terms(9, 0, low, high)
        masks, words = all_masks(9), [f"word{i}" for i in range(9)]
        for by, f in (("replace", replaced), ("delete", deleted)):
            phi = values_by_definition(masks, f, size_weights("shapley", 9))
            close(exact_shapley(away(model, by), words).scores, phi)
            close(exact_lime(model, words, by, n=500).scores, lime_by_definition(masks, f, 500, 25, 1.0)[0])


@pytest.mark.parametrize("name", MODELS)
def test_interactions(name):
    """Four scores for each pair and each set of others."""
    document, model = DOCUMENT[:8], shipped(name)
    masks, f = scores(model, document, "replace")
    q, kept, expected = size_weights("shapley", 7), masks.sum(1), np.zeros((8, 8))
    for i in range(8):
        for j in range(8):
            if i != j:
                S = np.flatnonzero(~masks[:, i] & ~masks[:, j])
                both = f[S + 2**i + 2**j] - f[S + 2**i] - f[S + 2**j] + f[S]
                expected[i, j] = q[kept[S]] @ both
    found = exact_interactions(model, document)
    close(found, expected)
    np.testing.assert_array_equal(np.diag(found), 0)


@pytest.mark.parametrize("name, scale", [("imdb-tame", 1), ("imdb-peaky", 1), ("imdb-peaky", 5)])
def test_long_documents_are_efficient(name, scale):
    """Σφ = f(document) − f(nothing) for 250 words, both of which the model says itself."""
    model = shipped(name, scale)
    words = [w for review in handwritten_reviews() for w in model.tokenizer.tokenize(review.text)][:250]
    full, unknown, empty = (model.predict([d])[0] for d in (words, ["[UNK]"] * 250, []))
    for by, baseline in (("replace", unknown), ("delete", empty)):
        phi = exact_shapley(away(model, by), words)
        assert phi.scores.sum() == pytest.approx(full - baseline, abs=1e-12)
        assert phi.about.get("p_error", 0) < 1e-12


def test_nodes_by_doubling_are_the_exact_ones():
    """Replaced words, by quadrature in p until it does not change, and by subsets of each size: the same numbers."""
    model = shipped("imdb-peaky")
    words = [w for review in handwritten_reviews() for w in model.tokenizer.tokenize(review.text)][:100]
    p, weights = np.polynomial.legendre.leggauss(50)                              # exact by degree
    doubled, exact = exact_shapley(model, words), exact_shapley(model, words, semivalue=((p + 1) / 2, weights / 2))
    close(doubled.scores, exact.scores)
    assert doubled.about["p_nodes"] < 50


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_memory_is_bounded_and_chunks_do_not_matter(by, monkeypatch):
    log_g, y = np.random.default_rng(0).normal(size=(2, 103, 102, 6))
    model, words = away(fake(8 * log_g, y), by), [f"word{i}" for i in range(100)]
    tracemalloc.start()
    whole = [explainer(model, words).scores for explainer in (exact_shapley, exact_lime)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    monkeypatch.setattr(products, "_CELLS", 500_000)                                # a few nodes at a time
    for explainer, scores in zip((exact_shapley, exact_lime), whole, strict=True):
        np.testing.assert_allclose(explainer(model, words).scores, scores, rtol=0, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(-500, 500), st.floats(0, 60))
def test_nodes_of_lambda_hold_for_every_denominator_in_between(log_low, width):
    log_lam, c = laplace_nodes(log_low, log_low + width)
    x = np.exp(np.minimum(np.random.default_rng(0).uniform(log_low, log_low + width, (200, 1)) + log_lam, 600))
    np.testing.assert_allclose((x * np.exp(-x)) @ c, 1, rtol=0, atol=2e-13)      # rounding of log λ up to 500
    assert len(c) < 40 + 4.5 * width


def test_symmetry_and_dummies():
    """Words with the same terms get the same; those whose terms do not change get no Shapley value. (LIME gives them
    something: what it can see of a curved score is a line, and these words tell how many others are kept.)"""
    log_g, y = np.random.default_rng(0).normal(size=(2, 7, 6, 3))
    log_g[1:3], y[1:3], log_g[3:6], y[3:6] = log_g[1, 0], y[1, 0], log_g[3, 0], y[3, 0]
    model, words = fake(log_g, y), ["good", "good", "[UNK]", "[UNK]"]
    phi, beta = exact_shapley(model, words).scores, exact_lime(model, words).scores
    for scores in (phi, beta):
        np.testing.assert_allclose(scores[[0, 2]], scores[[1, 3]], atol=1e-13)
        assert abs(scores[0]) > 0.01
    np.testing.assert_allclose(phi[2:], 0, atol=1e-13)
    assert abs(beta[2]) > 1e-4
    zzz = DOCUMENT.index("zzz")
    for name in MODELS:
        assert abs(exact_shapley(shipped(name), DOCUMENT).scores[zzz]) < 1e-13


def test_no_attention_at_all_where_nothing_is_there():
    """Words that leave nothing behind, as in a SLALOM, and an empty document that scores 0."""
    d, (s, v) = 6, np.random.default_rng(1).normal(size=(2, 6))
    log_g, y = np.full((d + 3, d + 1, 1), -np.inf), np.zeros((d + 3, d + 1, 1))
    log_g[1:d + 1, :, 0], y[1:d + 1, :, 0] = 4 * s[:, None], v[:, None]
    masks = all_masks(d)
    weight = masks * np.exp(4 * s)
    f = weight @ v / np.maximum(weight.sum(1), 1e-300)
    for by in ("replace", "delete"):
        close(exact_shapley(away(fake(log_g, y), by), list("abcdef")).scores,
              values_by_definition(masks, f, size_weights("shapley", d)))
        close(exact_lime(fake(log_g, y), list("abcdef"), by).scores, lime_by_definition(masks, f, None, 25, 0)[0])


@pytest.mark.parametrize("by", ["replace", "delete"])
def test_no_word_and_one_word(by):
    model = shipped("imdb-tame")
    for explainer in (exact_shapley, exact_lime):
        assert len(explainer(away(model, by), [])) == 0
        one = explainer(away(model, by), ["good"])
        off = model.predict([["[UNK]"] if by == "replace" else []])[0]
        close(one.scores, [model.predict([["good"]])[0] - off])
    assert len(exact_shapley(away(model, by), [], semivalue="banzhaf")) == 0
    assert exact_interactions(model, []).shape == (0, 0)
    assert exact_lime(model, [], by).about["intercept"] == pytest.approx(model.predict([[]])[0], abs=1e-12)


def test_the_document_is_cut_like_the_model_cuts_it():
    model = shipped("imdb-tame")
    assert len(exact_shapley(model, ["good"] * 300)) == model.T_max - 1


def test_samples_go_where_the_limit_is():
    """Sixteen times the samples, a quarter of the distance; and their mean over seeds is the solution at that n."""
    model, document = shipped("imdb-peaky"), DOCUMENT
    limit, rms = exact_lime(model, document).scores, []
    for n in (200, 3200):
        samples = np.array([lime(model, document, n, seed).scores for seed in range(40)])
        rms.append(np.sqrt(((samples - exact_lime(model, document, n=n).scores)**2).mean()))
        error = np.linalg.norm(samples.mean(0) - exact_lime(model, document, n=n).scores)
        assert error < 3 * np.linalg.norm(samples.std(0)) / np.sqrt(40)
    assert 3 < rms[0] / rms[1] < 5.3
    biases = [np.linalg.norm(exact_lime(model, document, n=n).scores - limit) for n in (10**4, 10**6)]
    assert biases[0] / biases[1] == pytest.approx(100, rel=0.05)                  # the ridge and the first sample: 1/n


@pytest.mark.parametrize("bow", [False, True])
def test_the_package_lime(bow):
    """Both of its ways to take words out, on its own samples."""
    from lime.lime_text import LimeTextExplainer

    model, document, n = shipped("imdb-tame"), DOCUMENT, 3000

    def log_odds(texts):
        found = model.predict([text.split() for text in texts])
        return np.stack([-found, found], 1)

    explainer = LimeTextExplainer(split_expression=r"\s+", bow=bow, mask_string="[UNK]", random_state=0)
    found = explainer.explain_instance(" ".join(document), log_odds, num_features=len(document), num_samples=n)
    package = np.array([weight for _, weight in sorted(found.local_exp[1])])
    exact = exact_lime(model, document, *(("delete", "words") if bow else ("replace", "places")), n=n)
    seeds = [lime(model, document, n, seed, bow=bow).scores for seed in range(1, 6)]
    noise = np.mean([np.linalg.norm(scores - exact.scores) for scores in seeds])
    assert np.linalg.norm(package - exact.scores) < 2 * noise < 0.1 * np.linalg.norm(package)


def test_expected_law_of_sizes():
    law, ridge = size_law(4, n=9, kernel_width=np.inf)
    assert law.tolist() == [2, 2, 2, 2, 1] and ridge == 1
    assert size_law(4, None, np.inf)[0].tolist() == [0.25] * 4 + [0] and size_law(4)[1] == 0


class OwnWay(AttentionClassifier):
    """A layer more, say: the score is no mean of ratios."""

    def forward(self, ids):
        return super().forward(ids)**2


@pytest.mark.parametrize("explainer", [exact_lime, exact_shapley])
@pytest.mark.parametrize("changed, message", [
    (dict(document="a text"), "list of strings"), (dict(features="all"), "features"),
    (dict(model=away(load_weights("imdb-tame"), "delete"), document=REPEATS, features="words"),
     "repeated words that are deleted together do not"),
    (dict(model=len), "needs head_terms; .* no head_t"),
    (dict(model=fake(np.zeros((4, 3, 1)), np.zeros((4, 3, 1)))), "head_terms of 2 tokens should give"),
    (dict(model=fake(np.full((5, 3, 1), np.nan), np.zeros((5, 3, 1)))), "or other numbers"),
])
def test_one_line_for_what_does_not_fit(explainer, changed, message):
    arguments = dict(model=shipped("imdb-tame"), document=["good", "film"]) | changed
    with pytest.raises((TypeError, ValueError), match=message) as error:
        explainer(**arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("call, message", [
    (lambda m: exact_lime(m, DOCUMENT, n=1), "n must be a whole number, at least 2"),
    (lambda m: exact_lime(m, DOCUMENT, kernel_width=0), "kernel_width > 0"),
    (lambda m: exact_lime(m, DOCUMENT, kernel_width=0.05), "kernel_width is so small"),
    (lambda m: exact_shapley(m, DOCUMENT, semivalue="owen"), 'semivalue must be "shapley", "banzhaf" or a pair'),
    (lambda m: exact_shapley(m, DOCUMENT, semivalue=([0.5, 1], [0.5, 0.5])), "0 < p < 1"),
    (lambda m: exact_shapley(m, DOCUMENT, semivalue=([0.5], [0.5])), "sum to 1"),
    (lambda m: exact_lime(fake(*np.zeros((2, 1004, 1002, 1))), ["a"] * 1001), "at most 1000 features"),
    (lambda m: exact_lime(load_weights("imdb-6layer"), DOCUMENT), "use a method that only calls predict"),
    (lambda m: exact_lime(OwnWay(m.tokenizer, 16, 4, 2, 2, 1), ["good"]), "OwnWay computes its own in another way"),
])
def test_one_line_for_numbers_and_models_that_do_not_fit(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call(shipped("imdb-tame"))
    assert "\n" not in str(error.value)
