"""The orders of LIME's limit: what the printed theorem misses, each order against its own definition written out, and
how close the orders come on the shipped models."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from coursekit.explain import exact_lime, lime_limit
from coursekit.explain.limits import ORDERS
from coursekit.models import AttentionClassifier, load_weights
from coursekit.worlds import handwritten_reviews

from .conftest import small

DOCUMENT = "not a good film , bad story is dull".split()
CENTRED = ORDERS[2:]


def fake(log_g, y):
    return SimpleNamespace(head_terms=lambda document, mask_token: (log_g, y))


def random_terms(d, seed=0, K=2, spread=1.0, T_max=None):
    random = np.random.default_rng(seed)
    shape = (d + 3, T_max or d + 2, K)
    return spread * random.normal(size=shape), random.normal(size=shape)


def words(d):
    return [f"word{i}" for i in range(d)]


def on_and_off(log_g, y):
    """g, y of the d words, then of their replacement, and of all else: (d, K) twice, (d, K) twice, (·, K) twice."""
    d = len(y) - 3
    t = np.arange(1, d + 1)
    always = [np.concatenate([part[:1, 0], part[-1, d + 1:]]) for part in (log_g, y)]
    return np.exp(log_g[t, t]), y[t, t], np.exp(log_g[d + 1, t]), y[d + 1, t], np.exp(always[0]), always[1]


def slope(log_g, y, x):
    """Δ_j(x)/G_x (d,), mean of the heads."""
    g, y_g, h, y_h, g0, y0 = on_and_off(log_g, y)
    G = (1 - x) * g.sum(0) + x * h.sum(0) + g0.sum(0)
    score = ((1 - x) * (g * y_g).sum(0) + x * (h * y_h).sum(0) + (g0 * y0).sum(0)) / G
    return ((g * (y_g - score) - h * (y_h - score)) / G).mean(1)


@pytest.mark.parametrize("kernel_width", [25, 60, np.inf])
def test_a_model_that_is_linear_in_the_mask(kernel_width):
    """Without keys every g is 1. LIME finds the line, and all orders do but the first, 3/2 of it."""
    model = small(AttentionClassifier, d_att=4, d_out=4)
    model.W_k.data.zero_()
    exact = exact_lime(model, DOCUMENT, kernel_width=kernel_width).scores
    whole, alone = model.predict([DOCUMENT])[0], [DOCUMENT[:j] + ["[UNK]"] + DOCUMENT[j + 1:] for j in range(9)]
    np.testing.assert_allclose(exact, whole - model.predict(alone), atol=1e-12)
    for order in ORDERS:
        scores = lime_limit(model, DOCUMENT, order, kernel_width=kernel_width).scores
        np.testing.assert_allclose(scores, exact * (1.5 if order == "paper" else 1), atol=1e-12)


def test_a_constant_model():
    """f ≡ 1 whatever the attention: words have no influence. Without the centring they seem to have some."""
    log_g, _ = random_terms(8)
    constant = fake(log_g, np.ones_like(log_g))
    for order in CENTRED:
        np.testing.assert_allclose(lime_limit(constant, words(8), order).scores, 0, atol=1e-12)
    for order in ("paper", "corrected"):
        assert abs(lime_limit(constant, words(8), order).scores).max() > 0.05


def test_a_word_of_value_zero_counts_through_the_denominator():
    """Comment (iii) of the paper says it would not."""
    log_g, y = np.zeros((2, 7, 5, 1))
    y[2:5], log_g[1] = 1, 2                                                       # word 1: much attention, value 0
    y[5] = y[6] = 0
    model = fake(log_g, y)
    assert lime_limit(model, words(4), "paper").scores[0] == 0
    assert exact_lime(model, words(4)).scores[0] < -0.1


def test_centred_and_integral_are_what_they_say():
    log_g, y = random_terms(7, spread=0.5)
    x = (np.arange(5000) + 0.5) / 5000
    for width in (25, np.inf):
        weights = x * (1 - x) * np.exp(-(100 * (1 - np.sqrt(1 - x)))**2 / (2 * width**2))
        weights /= weights.sum()
        slopes = np.array([slope(log_g, y, one) for one in x])
        found = {order: lime_limit(fake(log_g, y), words(7), order, kernel_width=width).scores for order in ORDERS}
        np.testing.assert_allclose(found["centred"], slope(log_g, y, weights @ x), atol=1e-5)
        np.testing.assert_allclose(found["integral"], weights @ slopes, atol=1e-5)
    np.testing.assert_allclose(found["centred"], slope(log_g, y, 0.5), atol=1e-12)            # the last width: ∞
    g, y_g, h, y_h, g0, _ = on_and_off(log_g, y)
    printed = 1.5 * (g * y_g / (g.sum(0) + g0.sum(0)) - h * y_h / (h.sum(0) + g0.sum(0))).mean(1)
    np.testing.assert_allclose(found["paper"], printed, atol=1e-12)
    np.testing.assert_allclose(found["corrected"], printed / 1.5, atol=1e-12)


@pytest.mark.parametrize("order", ["mean-field", "delta"])
def test_ratios_of_moments_by_enumeration(order):
    """Means, variances and covariances of N and D over all masks of a size that keep word j, and least squares."""
    d, (log_g, y) = 7, random_terms(7, 3, K=2)
    g, y_g, h, y_h, g0, y0 = on_and_off(log_g, y)
    masks = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)
    D = masks @ g + ~masks @ h + g0.sum(0)
    N = masks @ (g * y_g) + ~masks @ (h * y_h) + (g0 * y0).sum(0)

    def expected(rows):
        D_, N_ = D[rows].mean(0), N[rows].mean(0)
        second = N_ * D[rows].var(0) / D_**3 - ((D[rows] - D_) * (N[rows] - N_)).mean(0) / D_**2
        return (N_ / D_ + (second if order == "delta" else 0)).mean()

    sizes = range(d)                                                              # LIME removes at least one word
    kept = [[expected((masks.sum(1) == k) & masks[:, j]) if k else 0 for k in sizes] for j in range(d)]
    every = [expected(masks.sum(1) == k) for k in sizes]
    k = np.arange(d)
    b, b0 = (np.array(kept) * k / d).mean(1), np.mean(every)
    m1, m2 = (k / d).mean(), (k * (k - 1) / (d * (d - 1))).mean()
    A = np.full((d + 1, d + 1), m2)
    np.fill_diagonal(A, m1)
    A[0], A[:, 0], A[0, 0] = m1, m1, 1
    beta = np.linalg.solve(A, [b0, *b])[1:]
    found = lime_limit(fake(log_g, y), words(d), order, kernel_width=np.inf).scores
    np.testing.assert_allclose(found, beta, atol=1e-11)


def test_many_words_tend_to_the_integral():
    """Without kernel, T = T_max: from 15 to 240 words the distance falls about like 1/d, that of x = ½ does not."""
    distance = {}
    for d in (15, 60, 240):
        model = fake(*random_terms(d, spread=0.7, T_max=d + 1))
        exact = exact_lime(model, words(d), kernel_width=np.inf).scores
        for order in ("centred", "integral"):
            off = lime_limit(model, words(d), order, kernel_width=np.inf).scores - exact
            distance[order, d] = np.linalg.norm(off) / np.linalg.norm(exact)
    assert distance["integral", 60] < distance["integral", 15] / 2
    assert distance["integral", 240] < min(distance["integral", 60] / 2, 0.01)


def test_how_close_the_orders_come_on_a_tame_model():
    model = copy.deepcopy(load_weights("imdb-tame"))
    reviews = [model.tokenizer.tokenize(review.text) for review in list(handwritten_reviews())[:4]]
    off = {order: [] for order in ORDERS}
    for review in reviews:
        exact = exact_lime(model, review).scores
        for order in ORDERS:
            scores = lime_limit(model, review, order).scores
            off[order].append(np.linalg.norm(scores - exact) / np.linalg.norm(exact))
    assert min(off["paper"]) > 0.3 and max(off["corrected"]) < 0.15
    assert max(off["centred"] + off["integral"] + off["mean-field"]) < 0.03
    assert max(off["delta"]) < 1e-3 and max(off["exact"]) == 0


@pytest.mark.parametrize("order", ORDERS)
def test_repeated_words_no_word_and_one_word(order):
    model = small(AttentionClassifier, d_att=4, d_out=4)
    found = lime_limit(model, "not good not bad".split(), order, "words")
    assert found.tokens == ("not", "good", "bad") and found.method == f"LIME's limit ({order})"
    assert len(found.on(["not", "bad", "not"])) == 3
    assert len(lime_limit(model, [], order)) == 0
    assert len(lime_limit(model, ["good"], order)) == 1


@pytest.mark.parametrize("changed, message", [
    (dict(order="third"), "order must be one of 'paper'"), (dict(kernel_width=0), "kernel_width > 0"),
    (dict(features="letters"), "features"),
    (dict(model=len), "lime_limit looks inside the model and needs head_terms"),
])
def test_one_line_for_what_does_not_fit(changed, message):
    arguments = dict(model=load_weights("imdb-tame"), document=["good", "film"]) | changed
    with pytest.raises((TypeError, ValueError), match=message) as error:
        lime_limit(**arguments)
    assert "\n" not in str(error.value)
