"""LIME beside the package `lime`: the same masks, the same coefficients on the same masks, the same explanations."""

import numpy as np
import pytest

from coursekit.explain import evaluate_masks, lime
from coursekit.explain.surrogate import proximity, sample_masks, weighted_ridge
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

MODELS = {name: load_weights(f"imdb-{name}") for name in ("tame", "peaky", "6layer")}
TOKENIZER = MODELS["tame"].tokenizer
REVIEWS = sorted((TOKENIZER.tokenize(review.text) for review in handwritten_reviews()), key=len)
DOCUMENTS = [REVIEWS[-1], REVIEWS[20], "not good , not bad , not a film".split(), ["dull"]]


def log_odds(name):
    """The model as the package wants it: texts in, a column for each class out."""
    def predict(texts):
        scores = MODELS[name].predict([text.split() for text in texts]).astype(float)
        return np.stack([-scores, scores], 1)
    return predict


def explainer(bow, seed=0, **more):
    from lime.lime_text import LimeTextExplainer

    return LimeTextExplainer(split_expression=r"\s+", bow=bow, mask_string="[UNK]", random_state=seed, **more)


def package(name, tokens, n, bow, seed=0, **more):
    """The package's coefficients in the order of its features, and its intercept."""
    found = explainer(bow, seed, **more).explain_instance(" ".join(tokens), log_odds(name), labels=(1,),
                                                          num_features=len(tokens), num_samples=n)
    return np.array([weight for _, weight in sorted(found.local_exp[1])]), found.intercept[1]


def their_samples(name, tokens, n, bow, seed=0):
    """What the package samples: (masks (n, d), labels (n, 2), distances (n,))."""
    from lime.lime_text import IndexedString

    sample = getattr(explainer(bow, seed), "_LimeTextExplainer__data_labels_distances")
    return sample(IndexedString(" ".join(tokens), r"\s+", bow, "[UNK]"), log_odds(name), n)


@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("tokens", DOCUMENTS, ids=len)
def test_the_same_seed_draws_the_same_samples(tokens, bow):
    masks, labels, distances = their_samples("tame", tokens, 200, bow, seed=7)
    d = len(set(tokens)) if bow else len(tokens)
    np.testing.assert_array_equal(sample_masks(d, 200, seed=7), masks)
    np.testing.assert_allclose(proximity(masks), np.exp(-distances**2 / (2 * 25**2)), atol=1e-12)
    column = {word: j for j, word in enumerate(dict.fromkeys(tokens))}
    groups = [column[token] for token in tokens] if bow else None
    for model in (MODELS["tame"], MODELS["tame"].predict):
        ours = evaluate_masks(model, tokens, masks, "delete" if bow else "replace", groups=groups)
        np.testing.assert_allclose(ours, labels[:, 1], atol=1e-5)


@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("kernel_width", [25, 10])
@pytest.mark.parametrize("name", ["tame", "peaky"])
def test_identical_masks_give_identical_coefficients(name, bow, kernel_width):
    """The package fits its model to masks and labels of ours; and ours is fitted to theirs."""
    tokens = DOCUMENTS[0]
    masks, labels, distances = their_samples(name, tokens, 500, bow)
    base = explainer(bow, kernel_width=kernel_width).base
    intercept, theirs, _, _ = base.explain_instance_with_data(masks, labels, distances, 1, masks.shape[1])
    beta, ours = weighted_ridge(masks, labels[:, 1], proximity(masks, kernel_width))
    np.testing.assert_allclose(beta, [weight for _, weight in sorted(theirs)], atol=1e-6)
    assert ours == pytest.approx(intercept, abs=1e-6)

    own = sample_masks(40, 300, seed=5)
    scores = np.random.default_rng(0).normal(size=300)
    labels, distances = np.stack([-scores, scores], 1), 100 * (1 - np.sqrt(own.mean(1)))
    _, theirs, _, _ = base.explain_instance_with_data(own.astype(float), labels, distances, 1, 40)
    beta, _ = weighted_ridge(own, scores, proximity(own, kernel_width))
    np.testing.assert_allclose(beta, [weight for _, weight in sorted(theirs)], atol=1e-6)


@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tokens", DOCUMENTS[1:], ids=len)
def test_the_same_seed_gives_the_same_explanation(name, tokens, bow):
    """End to end, model included: the tolerance is that of float32 predictions, computed in other batches."""
    for model in (MODELS[name], MODELS[name].predict):
        ours = lime(model, tokens, 200, seed=3, bow=bow)
        theirs, intercept = package(name, tokens, 200, bow, seed=3)
        np.testing.assert_allclose(ours.scores, theirs, atol=1e-6 if name == "tame" else 2e-5)
        assert ours.about["intercept"] == pytest.approx(intercept, abs=1e-4)


@pytest.mark.parametrize("bow", [True, False])
@pytest.mark.parametrize("name", ["tame", "peaky"])
def test_seeds_of_our_own_are_as_near_as_theirs(name, bow):
    """Distances between explanations from different seeds: ours to theirs against theirs to theirs."""
    theirs = [package(name, DOCUMENTS[0], 1000, bow, seed)[0] for seed in (0, 1, 2)]
    ours = [lime(MODELS[name], DOCUMENTS[0], 1000, seed, bow=bow).scores for seed in (3, 4, 5)]
    among = np.mean([np.linalg.norm(theirs[i] - theirs[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    between = np.mean([np.linalg.norm(a - b) for a in ours for b in theirs])
    assert 0 < between <= 1.5 * among
