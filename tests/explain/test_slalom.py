"""SLALOM: what follows from its formula, and fits that give it back."""

import pickle
from functools import partial

import numpy as np
import pytest
import torch

from coursekit.explain import Slalom, away, exact_shapley, fit_slalom, fit_slalom_data, random_sequences, shapley_values
from coursekit.explain.slalom_fit import variable_projection
from coursekit.models import HuggingFaceClassifier, load_weights

WORDS = [f"w{i}" for i in range(10)]
DOCUMENT = "w0 w3 w1 w3 w4 w3 w0 w9".split()
close = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


def truth(seed=0, spread=1.0, class_token=False, words=WORDS, C=()):
    """A random SLALOM with s ~ N(0, spread²) and v ~ N(0, 4)."""
    random = np.random.default_rng(seed)
    always = (spread * random.normal(), 2 * random.normal(size=C)) if class_token else None
    return Slalom(words, spread * random.normal(size=len(words)), 2 * random.normal(size=(len(words), *C)), always)


def by_hand(model, document):
    """Eq. 4, token by token."""
    pairs = [(model.importances[WORDS.index(t)], model.values[WORDS.index(t)]) for t in document]
    pairs += [model.class_token] if model.class_token else []
    return sum(np.exp(s) * v for s, v in pairs) / sum(np.exp(s) for s, _ in pairs) if pairs else 0.0


@pytest.fixture(params=[(1.0, False), (1.0, True), (6.0, False), (6.0, True)], ids=str)
def model(request):
    return truth(3, *request.param)


def test_prediction_is_the_formula(model):
    documents = [[], ["w1"], DOCUMENT, WORDS]
    close(model.predict(documents), [by_hand(model, document) for document in documents])
    assert model.predict([]).shape == (0,)


def test_importances_far_apart_overflow_nothing():
    model = Slalom(["a", "b", "c"], [-800, 0, 800], [1, 2, 4])
    for document, alpha in ((["a"], [1]), (["b", "a"], [1, 0]), (["c", "b", "c"], [0.5, 0, 0.5])):
        close(model.weights(document), alpha)
        close(model.predict([document]), np.array(alpha) @ [model.values["abc".index(token)] for token in document])


def test_what_attention_cannot_see(model):
    """Order; and, without an entry that is always there, how often a word stands alone (Prop. 4.1)."""
    close(model.predict([DOCUMENT[::-1]]), model.predict([DOCUMENT]))
    if model.class_token is None:
        close(model.predict([["w1"] * n for n in (1, 2, 30)]), model.values[1])
        close(model.predict([DOCUMENT * 3]), model.predict([DOCUMENT]))
        close(model.weights(DOCUMENT).sum(), 1)
    else:
        assert np.ptp(model.predict([["w1"], ["w1"] * 5])) > 1e-6
        close(model.weights(DOCUMENT).sum(), 1 - weight_of_the_class_token(model))


def weight_of_the_class_token(model):
    s = np.append([model.importances[WORDS.index(t)] for t in DOCUMENT], model.class_token[0])
    return np.exp(s - np.logaddexp.reduce(s))[-1]


def test_a_shift_of_the_importances_changes_nothing(model):
    always = model.class_token and (model.class_token[0] + 5, model.class_token[1])
    shifted = Slalom(WORDS, model.importances + 5, model.values, always)
    close(shifted.importances, model.importances)
    close(shifted.importances.sum(), 0)
    close(shifted.predict([DOCUMENT]), model.predict([DOCUMENT]))


def test_the_derivative_is_autograd_s(model):
    s, v = (np.array([part[WORDS.index(t)] for t in DOCUMENT]) for part in (model.importances, model.values))
    s0, v0 = model.class_token or (-np.inf, 0.0)
    s, v, soft = torch.tensor([*s, s0]), torch.tensor([*v, float(v0)]), torch.ones(len(DOCUMENT), dtype=torch.double)
    soft.requires_grad_()
    g = torch.cat([soft, torch.ones(1)]) * s.exp()
    slopes, = torch.autograd.grad((g @ v) / g.sum(), soft)
    close(model.linearized(DOCUMENT).scores, slopes)
    paper = model.linearized(DOCUMENT, "paper")
    np.testing.assert_allclose(paper.scores, (v * s.exp())[:-1], rtol=1e-12)


def test_removal_effects_are_differences_of_predictions(model):
    for document in (DOCUMENT, ["w2"], []):
        without = [document[:i] + document[i + 1:] for i in range(len(document))]
        close(model.removal_effects(document).scores, model.predict([document]) - model.predict(without))


@pytest.mark.parametrize("document", [DOCUMENT, WORDS, ["w2"], ["w5", "w5"], []])
def test_shapley_values_are_those_of_all_subsets(model, document):
    found, definition = model.shapley_values(document), shapley_values(model, document, by="delete")
    close(found.scores, definition.scores)
    close(found.scores.sum(), (model.predict([document]) - model.predict([[]]))[0])
    close([found.about["score"], found.about["baseline"]], [definition.about[key] for key in ("score", "baseline")])


def test_a_token_of_the_vocabulary_stands_in_the_place(model):
    replaced = shapley_values(away(model, token="w7"), DOCUMENT)
    close(exact_shapley(away(model, token="w7"), DOCUMENT).scores, replaced.scores)
    close(exact_shapley(model, DOCUMENT).scores, model.shapley_values(DOCUMENT).scores)


def test_long_documents():
    words = random_sequences(WORDS, 1, 200)[0]
    found = truth(spread=3).shapley_values(words)
    close(found.scores.sum(), truth(spread=3).predict([words])[0])


@pytest.mark.parametrize("class_token", [False, True])
def test_several_classes(class_token):
    model = truth(1, class_token=class_token, C=(3,))
    close(model.values.sum(1), 0)
    F = model.predict([DOCUMENT, ["w1"]])
    assert F.shape == (2, 3)
    close(F.sum(1), 0)
    for target in (None, 1):
        c = F[0].argmax() if target is None else target
        always = model.class_token and (model.class_token[0], model.class_token[1][c])
        one = Slalom(WORDS, model.importances, model.values[:, c], always)
        for method in ("linearized", "removal_effects", "shapley_values"):
            found = getattr(model, method)(DOCUMENT, target=target)
            close(found.scores, getattr(one, method)(DOCUMENT).scores)
            assert found.target == c
    assert "class 2" in model.plot(target=2).text
    with pytest.raises(ValueError, match="say target="):
        model.plot()
    documents = random_sequences(WORDS, 400, 2)
    fitted = fit_slalom_data(documents, model.predict(documents) + 7, class_token=class_token)   # softmax sees no 7
    close(fitted.predict([DOCUMENT[:2]]), model.predict([DOCUMENT[:2]]))


def test_two_classes_are_log_odds():
    one = truth()
    two = Slalom(WORDS, one.importances, np.stack([-one.values, one.values], 1) / 2)
    close(2 * two.predict([DOCUMENT])[:, 1], one.predict([DOCUMENT]))


@pytest.mark.parametrize("length", [2, (1, 10)])
@pytest.mark.parametrize("class_token", [False, True])
def test_variable_projection_gives_a_slalom_back(length, class_token):
    for seed in range(30):
        model = truth(seed, class_token=class_token)
        documents = random_sequences(WORDS, 500, length, seed)
        fitted = fit_slalom_data(documents, model.predict(documents), class_token=class_token, tokens=WORDS)
        fresh = random_sequences(WORDS, 200, length, seed + 1)
        assert ((fitted.predict(fresh) - model.predict(fresh))**2).mean() < 1e-10 and fitted.about["converged"]
        if not class_token:
            np.testing.assert_allclose(fitted.importances, model.importances, atol=1e-6)
            np.testing.assert_allclose(fitted.values, model.values, atol=1e-6)


def test_many_words_two_at_a_time_are_given_back_too():
    """Products of columns are then summed pair by pair."""
    words = [f"w{i}" for i in range(40)]
    model, documents = truth(1, words=words), random_sequences(words, 1500, 2)
    fitted = fit_slalom_data(documents, model.predict(documents), tokens=words)
    np.testing.assert_allclose(fitted.importances, model.importances, atol=1e-6)
    np.testing.assert_allclose(fitted.values, model.values, atol=1e-6)


LONG = [WORDS[i] for i in np.random.default_rng(9).integers(10, size=14)] + WORDS
AROUND = {"pairs": {}, "1–10": {"length": (1, 10)}, "deletions": {"around": "deletions"}, "masks": {"around": "masks"}}


def around(kind, seed, method="varpro", **options):
    """(a true SLALOM, the fit to what it says of texts around LONG): masks leave [UNK], a word of it."""
    model = truth(seed, words=WORDS + ["[UNK]"] * (kind == "masks"))
    return model, fit_slalom(model, LONG, 500, seed=seed, method=method, **AROUND[kind], **options)


@pytest.mark.parametrize("kind", AROUND)
def test_each_neighbourhood_gives_a_slalom_back(kind):
    for seed in range(10):
        model, fitted = around(kind, seed)
        own = [fitted.tokens.index(word) for word in model.tokens]
        np.testing.assert_allclose(fitted.importances[own], model.importances, atol=1e-6)
        np.testing.assert_allclose(fitted.values[own], model.values, atol=1e-6)
        assert fitted.about["around"] == AROUND[kind].get("around", "sequences") and fitted.about["seed"] == seed


@pytest.mark.parametrize("kind", AROUND)
def test_two_fits_agree(kind):
    """In s and v on sequences; near a document, where these are hard to tell apart, in what they say of removal."""
    for seed in range(10):
        (model, fitted), (_, turns) = (around(kind, seed, method) for method in ("varpro", "alternating"))
        effects, found = (one.removal_effects(LONG).scores for one in (fitted, turns))
        if kind in ("pairs", "1–10"):
            np.testing.assert_allclose(turns.importances, fitted.importances, atol=1e-4)
            np.testing.assert_allclose(turns.values, fitted.values, atol=1e-4)
        elif kind == "deletions":
            assert turns.about["r2"] > 0.95 and np.corrcoef(effects, found)[0, 1] > 0.99
        assert fitted.about["mse"] < 1e-20 and turns.about["r2"] > 0.9


def test_more_rounds_in_turns_never_fit_worse():
    model, _ = around("pairs", 0)
    mse = [fit_slalom(model, LONG, 500, method="alternating", rounds=n).about["mse"] for n in range(20)]
    assert (np.diff(mse) <= 0).all() and mse[-1] < mse[0] / 100
    noise = np.random.default_rng(0).normal(size=(50, 2))
    noise = fit_slalom_data(random_sequences(WORDS, 50, 3), noise, "alternating", True, [*WORDS, "unseen"])
    assert noise.about["r2"] > 0 and noise.about["unseen"] == 1 and np.isfinite(noise.importances).all()


def test_what_is_asked_around_a_document():
    """Deletions keep the order, and as many go as are to go, any number alike; masks have all words or [UNK]."""
    asked, letters = [], list("abcdefghij")

    def predict(documents):
        asked.extend(documents)
        return [float(len(document)) for document in documents]
    fit_slalom(predict, letters, 3000, around="deletions", most=3)
    assert all(document == sorted(document) for document in asked) and len(asked) == 1 + 10 + 45 + 120
    gone = [10 - n for n in fit_slalom_lengths(letters)]
    assert set(gone) == {0, 1, 2} and abs(np.bincount(gone) / 3000 - 1 / 3).max() < 0.03
    asked.clear()
    fitted = fit_slalom(predict, letters, 50, around="masks")
    assert fitted.tokens == (*letters, "[UNK]") and all(len(document) == 10 for document in asked)
    assert fit_slalom(away(predict, "delete"), letters, 50, around="masks").tokens == tuple(letters)
    assert fit_slalom(away(predict, token="a"), letters, 50, around="masks").tokens == tuple(letters)


def fit_slalom_lengths(letters):
    """The lengths of 3000 deletions of at most two letters, from the random numbers that fit_slalom draws."""
    seen = []

    class Box:
        def masked_scores(self, document, by, token):
            return lambda masks: seen.extend(masks.sum(1).tolist()) or np.ones(len(masks))

        def predict(self, documents):
            raise AssertionError("it has a short cut")
    fit_slalom(Box(), letters, 3000, around="deletions", most=2)
    return seen


@pytest.mark.parametrize("C", [(), (3,)])
def test_the_analytic_fit_asks_once_for_what_it_needs(C):
    """Also where values tie: w0 and w1 (which are no reference), and the extremes."""
    model = truth(5, C=C)
    values = model.values.copy()
    order = values.argsort(0) if not C else values[:, 0].argsort()
    values[1], values[order[0]], values[order[-1]] = values[0], values[order[1]], values[order[-2]]
    model, asked = Slalom(WORDS, model.importances, values), []

    def predict(documents):
        asked.extend(documents)
        return model.predict(documents)
    fitted = fit_slalom(predict, DOCUMENT + WORDS, method="analytic")
    assert len(asked) == 2 * len(WORDS) - 1 == fitted.about["n_samples"] and fitted.about["clipped"] == 0
    own = [fitted.tokens.index(word) for word in WORDS]
    np.testing.assert_allclose(fitted.importances[own], model.importances, atol=1e-9)
    close(fitted.values[own], model.values)


def test_the_analytic_fit_of_what_is_no_slalom():
    fitted = fit_slalom(lambda documents: [5 * d.count("good") - d.count("film") for d in documents],
                        ["good", "film", "plot"], method="analytic")
    assert fitted.about["clipped"] == 1 and np.isfinite(fitted.importances).all()            # good plot: 5
    with pytest.raises(ValueError, match="scores the same"):
        fit_slalom(lambda documents: [1.0] * len(documents), ["good", "film"], method="analytic")
    assert fit_slalom(lambda documents: [1.0] * len(documents), ["good"], method="analytic").values == [1]


def test_algorithm_1_follows_its_gradient():
    documents = random_sequences(WORDS, 500, 2)
    scores = truth().predict(documents)
    start = fit_slalom_data(documents, scores, "sgd", epochs=0)
    short, long = (fit_slalom_data(documents, scores, "sgd", epochs=n) for n in (60, 300))
    assert not start.values.any() and not start.importances.any()
    assert start.about["mse"] > 2 * short.about["mse"] > 10 * long.about["mse"]
    assert short.about["iterations"] == 240
    assert fit_slalom_data(documents, scores).about["mse"] < 1e-20


def test_algorithm_1_is_adam_step_by_step():
    """Two steps with the gradients ∂F/∂v_k = α_k and ∂F/∂s_k = α_k (v_k − F)."""
    documents, y = [["w0", "w1"], ["w1"], ["w2", "w2", "w0"]], np.array([1.0, -2, 4])
    y = y - y.mean()
    fitted = fit_slalom_data(documents, y, "sgd", tokens=WORDS[:3], epochs=2, lr=0.1)
    N = np.array([[d.count(w) for w in WORDS[:3]] for d in documents])
    p, m1, m2 = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
    for step in (1, 2):
        A = N * np.exp(p[0])
        A = A / A.sum(1, keepdims=True)
        F = A @ p[1]
        grad = -2 * np.stack([(y - F) @ (A * (p[1] - F[:, None])), (y - F) @ A])
        m1, m2 = 0.9 * m1 + 0.1 * grad, 0.999 * m2 + 0.001 * grad**2
        p = p - 0.1 * m1 / (1 - 0.9**step) / (np.sqrt(m2 / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(fitted.values, p[1], atol=1e-6)
    np.testing.assert_allclose(fitted.importances, p[0] - p[0].mean(), atol=1e-6)


def tf_idf_network():
    """A network on TF-IDF of four texts, random but for its seed."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["a good film", "a bad film", "not a good plot", "the plot is bad"]
    vectors = TfidfVectorizer(analyzer=str.split).fit(texts)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    return lambda documents: network(torch.tensor(
        vectors.transform(map(" ".join, documents)).toarray(), dtype=torch.float32)).detach()[:, 0]


def tiny_bert():
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    words = "[PAD] [UNK] [CLS] [SEP] [MASK] a good bad film not the plot is".split()
    torch.manual_seed(0)
    bert = BertForSequenceClassification(BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=40))
    return HuggingFaceClassifier(bert, BertTokenizer({word: i for i, word in enumerate(words)}))


@pytest.mark.parametrize("build", [tf_idf_network, tiny_bert, partial(load_weights, "imdb-peaky")])
def test_real_models(build):
    """Finite, deterministic, better than the mean, and no worse than Algorithm 1; noise leaves importances bounded."""
    model, document = build(), "a good film is not a bad film".split()
    fit = partial(fit_slalom, model, document, n_samples=200)
    fitted, again = fit(), fit()
    assert fitted.tokens == tuple(dict.fromkeys(document))
    assert (fitted.importances == again.importances).all() and (fitted.values == again.values).all()
    assert 0 < fitted.about["r2"] <= 1 and fitted.about["converged"] and np.abs(fitted.importances).max() < 20
    assert fitted.about["mse"] <= fit(method="sgd").about["mse"]


def test_hard_data():
    """Constant scores, one word, a word in no sequence, and an importance that would run to −∞."""
    flat = fit_slalom(lambda documents: [3.0] * len(documents), DOCUMENT)
    close(flat.predict([DOCUMENT]), 3)
    assert not flat.importances.any() and np.isnan(flat.about["r2"]) and flat.about["mse"] == 0
    one = fit_slalom(lambda documents: [2.0 for d in documents], ["good"])
    close(one.predict([["good"] * 4]), 2)
    unseen = fit_slalom_data([["a"], ["b"], ["a", "b"]], [1, 3, 2.5], tokens=["a", "b", "c"])
    assert unseen.about["unseen"] == 1
    np.testing.assert_allclose(unseen.values[2], 6.5 / 3)
    gone = fit_slalom(lambda documents: [2.0 * ("good" in d) - ("bad" in d) for d in documents], ["good", "bad", "a"])
    assert np.isfinite(gone.importances).all() and np.abs(gone.importances).max() < 40
    empty = fit_slalom_data([[], ["a"], ["a", "b"]], [0, 1, 2])
    close(empty.predict([[]]), 0)


def test_no_step_raises_the_cost():
    """More iterations never fit worse, on noise alone too."""
    random = np.random.default_rng(0)
    N = np.eye(6)[random.integers(6, size=(80, 3))].sum(1)
    y = random.normal(size=(80, 1))
    mse = []
    for n in range(1, 12):
        s, v, _ = variable_projection(N, y, max_iterations=n, tolerance=0)
        A = N * np.exp(s)
        mse.append(((y - A / A.sum(1, keepdims=True) @ v)**2).mean())
    assert np.isfinite(mse).all() and (np.diff(mse) < 0.01).all() and mse[-1] < y.var()


@pytest.mark.parametrize("widths", [(1.0, 2.0), (0.3, 5.0), (2.0, 0.1)])
def test_the_fit_is_where_no_importance_can_move_without_loss(widths):
    """On noise, with the priors that its docstring names: in every direction the penalised cost rises."""
    random = np.random.default_rng(0)
    N = np.eye(6)[random.integers(6, size=(80, 3))].sum(1)
    y = N @ random.normal(size=(6, 1)) + random.normal(size=(80, 1))
    y = (y - y.mean()) / y.std()
    s, v, _ = variable_projection(N, y, max_iterations=1000, widths=widths, tolerance=1e-14)

    def parts(s, ridges=None):
        A = N * np.exp(s)
        A /= A.sum(1, keepdims=True)
        noise = ((y - A @ v)**2).mean()
        ridges = noise / np.square(widths) if ridges is None else ridges
        best = np.linalg.solve(A.T @ A + ridges[1] * np.eye(6), A.T @ y)
        return ((y - A @ best)**2).sum() + ridges[0] * (s**2).sum() + ridges[1] * (best**2).sum(), ridges, best

    cost, ridges, best = parts(s)
    np.testing.assert_allclose(v, best, atol=1e-6)
    assert all(parts(s + step, ridges)[0] > cost for step in 1e-3 * np.vstack([np.eye(6), -np.eye(6)]))


def test_sequences():
    found = random_sequences(["a", "b", "a"], 2000, (1, 3))
    assert found == random_sequences(["a", "b"], 2000, (1, 3)) != random_sequences(["a", "b"], 2000, (1, 3), seed=1)
    counts = np.bincount([len(d) for d in found])
    assert counts[0] == 0 and np.ptp(counts[1:]) < 150
    assert abs(np.mean([w == "a" for d in found for w in d]) - 0.5) < 0.03


def test_it_shows_itself_and_cannot_be_changed():
    model = truth(class_token=True)
    assert repr(model).startswith("SLALOM of 10 tokens: ") and repr(truth(C=(3,))).startswith("SLALOM of 10 tokens, 3 ")
    shown = model.plot(DOCUMENT)
    assert "with 5 points" in shown.text and "value v and importance s" in shown.text
    assert "with 10 points" in model.plot().text
    copy = pickle.loads(pickle.dumps(model))
    close(copy.predict([DOCUMENT]), model.predict([DOCUMENT]))
    with pytest.raises(ValueError, match="read-only"):
        copy.values[0] = 1
    with pytest.raises(TypeError, match="cannot be changed"):
        model.about["mse"] = 0
    with pytest.raises(AttributeError):
        model.values = 0


@pytest.mark.parametrize("wrong, said", [
    (lambda: Slalom([], [], []), "needs tokens"),
    (lambda: Slalom(["a", "a"], [0, 0], [1, 2]), "each of them once"),
    (lambda: Slalom(["a"], [0, 1], [1]), r"importances must have shape \(1,\)"),
    (lambda: Slalom(["a"], [0], [[1]] * 2), "values must have shape"),
    (lambda: Slalom(["a"], [np.inf], [1]), "must be finite"),
    (lambda: Slalom(["a"], [0], [1], (0, [1, 2])), "class token's value"),
    (lambda: truth().predict([["good"]]), "no value for 'good'"),
    (lambda: truth().predict(["good"]), "single string"),
    (lambda: truth().linearized(DOCUMENT, "exact"), 'kind must be "derivative" or "paper"'),
    (lambda: truth().shapley_values(DOCUMENT, target=1), "no class to choose"),
    (lambda: fit_slalom(truth(), []), "no words"),
    (lambda: fit_slalom(truth(), DOCUMENT, method="adam"), "method must be"),
    (lambda: fit_slalom(truth(), DOCUMENT, method="analytic", class_token=True), "class_token"),
    (lambda: fit_slalom(truth(), DOCUMENT, around="words"), 'around must be "sequences", "deletions" or "masks"'),
    (lambda: fit_slalom(truth(), DOCUMENT, around="masks", method="analytic"), 'of method="analytic" the first'),
    (lambda: fit_slalom(truth(), DOCUMENT, around="deletions", most=0), "most must be"),
    (lambda: fit_slalom(truth(), DOCUMENT, around="deletions", n_samples=0), "n_samples must be"),
    (lambda: fit_slalom(truth(), DOCUMENT, length=(3, 2)), "shortest"),
    (lambda: fit_slalom(truth(), DOCUMENT, length=0), "at least 1"),
    (lambda: fit_slalom("a model", DOCUMENT), "black box"),
    (lambda: fit_slalom(lambda documents: [np.nan] * len(documents), DOCUMENT), "must be finite"),
    (lambda: fit_slalom_data([["a"]], [1, 2]), "must have shape"),
    (lambda: fit_slalom_data([[]], [1]), "at least one token"),
    (lambda: fit_slalom_data([["a", "b"]], [1], tokens=["a"]), "'b'"),
])
def test_refusals_say_what_was_wrong(wrong, said):
    with pytest.raises((TypeError, ValueError), match=said) as refused:
        wrong()
    assert "\n" not in str(refused.value)
