"""Models as people have them, each a black box in one line: its scores are those of its own library."""

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit import explain
from coursekit.compare import course_explainers, report
from coursekit.debate import permuted_attention
from coursekit.evaluate import (
    comprehensiveness,
    deletion_curve,
    effective_complexity,
    implementation_invariance,
    infidelity,
    insertion_curve,
    sufficiency,
)
from coursekit.explain import leave_one_out, lime
from coursekit.models import HuggingFaceClassifier, load_weights
from coursekit.own import own_model
from tests.models.test_huggingface import theirs, tokenizer

TEXTS = ["a good film", "a bad film", "good , really good", "bad , so bad", "the film was long", "it was a film"]


def good(documents):
    return [float(document.count("good")) for document in documents]


def trained(classifier, labels):
    """A pipeline. (What takes seconds to import is imported in the tests.)"""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), classifier).fit(TEXTS, labels)


def test_a_pipeline_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    model = trained(LogisticRegression(), [1, 0] * 3)
    ask, tokenize = own_model(model)
    documents = [tokenize(text) for text in TEXTS]
    assert documents[0] == ["a", "good", "film"]
    np.testing.assert_allclose(ask(documents), model.decision_function(TEXTS), atol=1e-9)
    assert leave_one_out(ask, documents[0], by="delete").top(1)[0][0] == "good"
    three = trained(LogisticRegression(), [0, 1, 2] * 2)
    np.testing.assert_allclose(own_model(three)[0](documents), three.predict_log_proba(TEXTS), atol=1e-9)
    margin = trained(LinearSVC(), [1, 0] * 3)
    np.testing.assert_array_equal(own_model(margin)[0](documents), margin.decision_function(TEXTS))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ask))(documents), ask(documents))


@pytest.mark.parametrize("family, labels", [("bert", 2), ("roberta", 4), ("gpt2", 1)])
def test_a_pipeline_of_transformers(family, labels):
    from transformers import pipeline

    model, pieces = theirs(family, labels=labels), tokenizer(family)
    pieces.model_max_length = 16
    ask, tokenize = own_model(pipeline("text-classification", model=model, tokenizer=pieces, device="cpu"))
    documents = [tokenize(text) for text in ("The film is good", "not bad")]
    with torch.no_grad():
        logits = torch.cat([model(**pieces(" ".join(document), truncation=True, return_tensors="pt")).logits
                            for document in documents]).numpy()
    want = {1: logits[:, 0], 2: logits[:, -1] - logits[:, 0], 4: logits}[labels]
    np.testing.assert_allclose(ask(documents), want, atol=1e-5)
    unknown = [[pieces.unk_token, "good"], ["good", pieces.unk_token]]
    np.testing.assert_allclose(ask([["[UNK]", "good"], ["good", "[UNK]"]]), ask(unknown), atol=1e-6)
    assert lime(ask, documents[0], n_samples=20).tokens == ("The", "film", "is", "good")


LAYERS = dict(hidden_size=12, num_attention_heads=3, num_hidden_layers=2, intermediate_size=20)
OTHERS = {
    "gpt_neo": dict(hidden_size=12, num_heads=3, num_layers=2, max_position_embeddings=16,
                    attention_types=[[["global", "local"], 1]]),
    "phi": LAYERS | dict(max_position_embeddings=16), "mpnet": LAYERS | dict(max_position_embeddings=18),
    "xlnet": dict(d_model=12, n_head=3, n_layer=2, d_inner=20)}


@pytest.mark.parametrize("family", OTHERS)
def test_any_family_reads_no_words_one_and_more_than_it_can(family):
    """By a tokenizer that says no length, and of a decoder that reads nothing around a text."""
    import transformers

    torch.manual_seed(0)
    pieces = tokenizer("roberta" if family == "mpnet" else "gpt2")
    pieces.pad_token = pieces.pad_token or pieces.eos_token
    config = transformers.AutoConfig.for_model(family, vocab_size=len(pieces), num_labels=2,
                                               pad_token_id=pieces.pad_token_id, **OTHERS[family])
    model = transformers.AutoModelForSequenceClassification.from_config(config).eval()
    ask, _ = own_model(transformers.pipeline("text-classification", model=model, tokenizer=pieces, device="cpu"))
    documents = [["good", "film"], [], ["not"] * 40, ["not"] * 50, ["good", "film"]]
    scores = ask(documents)
    np.testing.assert_allclose(scores, [ask([document])[0] for document in documents], atol=1e-6)
    assert scores[0] == pytest.approx(scores[4]) and scores[0] != pytest.approx(scores[3])
    if family != "xlnet":                                               # which reads texts of any length
        assert scores[2] == pytest.approx(scores[3], abs=1e-6)
    start = pieces.bos_token if not pieces("")["input_ids"] else ""
    with torch.no_grad():
        logits = model(**pieces(start, return_tensors="pt")).logits[0]
    assert scores[1] == pytest.approx((logits[1] - logits[0]).item(), abs=1e-6)
    assert len(lime(ask, documents[0], n_samples=10, bow=True)) == 2


OUTSIDE = [leave_one_out, explain.shapley_values, partial(lime, n_samples=20),
           partial(explain.kernel_shap, n_samples=64), partial(explain.gp_shapley, n_samples=64)]
INSIDE = [explain.gradient, explain.gradient_x_input, explain.integrated_gradients, explain.gradient_attention,
          explain.relevance_attention]


def same(one, other):
    np.testing.assert_array_equal(one.scores, other.scores)
    assert one.target == other.target and one.method == other.method


@pytest.mark.filterwarnings("ignore:integrated gradients")
def test_a_class_may_be_called_by_its_name():
    """Of four labels its number, of two the second alone, which the one score speaks for."""
    from transformers import pipeline

    names = {"anger": 0, "joy": 1, "fear": 2, "love": 3}
    pieces, document = tokenizer("bert"), ["the", "film", "is", "good"]
    pieces.model_max_length = 16
    for labels in (4, 2):
        model = theirs("bert", labels=labels, label2id=dict(list(names.items())[:labels]),
                       id2label={i: name for name, i in list(names.items())[:labels]})
        white, _ = own_model(model, pieces)
        black, _ = own_model(pipeline("text-classification", model=model, tokenizer=pieces, device="cpu"))
        assert white.labels == black.labels == list(names)[:labels]
        for box, methods in ((white, OUTSIDE + INSIDE), (white.predict, OUTSIDE), (black, OUTSIDE),
                             (explain.away(black, token="[MASK]"), OUTSIDE)):
            for method in methods:
                if labels == 4:
                    same(method(box, document, target="joy"), method(box, document, target=1))
                    with pytest.raises(ValueError, match="^target='JOY': this model's labels are anger, joy, fe"):
                        method(box, document, target="JOY")
                else:
                    with pytest.raises(ValueError, match="one score, which speaks for 'joy': what speaks for 'anger'"):
                        method(box, document, target="anger")
                    if method not in INSIDE[3:]:
                        same(method(box, document, target="joy"), method(box, document))
        same(leave_one_out(*explain.by_spans(black, [[word] for word in document]), target="joy"),
             leave_one_out(black, document, target="joy"))


def test_attention_for_a_label_is_for_that_label_whatever_is_predicted():
    model, document = HuggingFaceClassifier(theirs("bert"), tokenizer("bert")), ["the", "film", "is", "good"]
    bias = model.model.classifier.bias.data
    bias += torch.tensor([20.0, 0.0])
    assert model.predict([document]) < 0
    for method in INSIDE[3:]:
        assert not np.allclose(method(model, document).scores, method(model, document, target="LABEL_1").scores)
    named = explain.gradient_attention(model, document, target="LABEL_1")
    bias -= torch.tensor([40.0, 0.0])
    assert model.predict([document]) > 0
    np.testing.assert_allclose(explain.gradient_attention(model, document).scores, named.scores, atol=1e-6)


def test_classes_of_scikit_learn_have_names_and_those_of_a_function_may():
    from sklearn.linear_model import LogisticRegression

    ask, tokenize = own_model(trained(LogisticRegression(), ["bad", "good", "long"] * 2))
    document = tokenize(TEXTS[0])
    same(leave_one_out(ask, document, target="long"), leave_one_out(ask, document, target=2))
    ask, _ = own_model(trained(LogisticRegression(), ["good", "bad"] * 3))
    same(leave_one_out(ask, document, target="good"), leave_one_out(ask, document))

    def three(documents):
        return [[len(d), d.count("good"), 1.0] for d in documents]

    with pytest.raises(ValueError, match="^target='good': this model names no labels .in `labels`.: say the number of"):
        leave_one_out(three, document, target="good")
    three.labels = "length", "good", "nothing"
    same(leave_one_out(three, document, target="good"), leave_one_out(three, document, target=1))


def test_a_classifier_of_transformers_comes_with_its_tokenizer():
    model, pieces = theirs("bert"), tokenizer("bert")
    ask, tokenize = own_model(model, pieces)
    assert isinstance(ask, HuggingFaceClassifier) and tokenize("The film") == pieces.tokenize("The film")
    for call in (lambda: own_model(model), lambda: lime(model, ["good"])):
        with pytest.raises(TypeError, match=r"reads numbers, not tokens: .*own_model\(model, tokenizer\)"):
            call()
    with pytest.raises(TypeError, match="expected a sequence classifier .* got BertTokenizer"):
        own_model(pieces, model)


def test_a_pipeline_that_is_not_ready_is_refused():
    from transformers import pipeline

    model, pieces = theirs("bert"), tokenizer("bert")
    with pytest.raises(TypeError, match='"text-classification", got one for "feature-extraction"'):
        own_model(pipeline("feature-extraction", model=model, tokenizer=pieces, device="cpu"))
    ask, _ = own_model(pipeline("text-classification", model=model, tokenizer=pieces, device="cpu"))
    model.train()
    with pytest.raises(ValueError, match="training mode, where dropout makes its scores random"):
        ask([["good"]])


def test_log_odds_of_a_pipeline_are_not_taken_for_probabilities():
    """Those of a hesitant model may all lie between 0 and 1: who made them log-odds is not asked."""
    from sklearn.linear_model import LogisticRegression

    model = trained(LogisticRegression(C=1e-3), [1, 0] * 3)
    model[-1].intercept_[:] = 0.5
    ask, tokenize = own_model(model)
    document = tokenize(TEXTS[0])
    assert 0 < min(ask([document, []])) and max(ask([document, []])) < 1
    found = leave_one_out(ask, document)
    assert comprehensiveness(ask, document, found) == comprehensiveness(ask, document, found, scores="log-odds")
    row, = report(ask, [document], {"leave-one-out": leave_one_out}, progress=False).rows.values()
    assert row["comprehensiveness"].mean == pytest.approx(comprehensiveness(ask, document, found))


def test_models_of_the_course_and_functions_stay_what_they_are():
    tame = load_weights("imdb-tame")
    model, tokenize = own_model(tame)
    assert model is tame and tokenize("A good film.") == tame.tokenizer.tokenize("A good film.")
    assert own_model(good) == (good, str.split)
    with pytest.raises(TypeError, match="a black box is"):
        own_model(3)


def test_what_takes_no_documents_is_refused_in_one_line():
    """Estimators of scikit-learn as they are, networks that take numbers, tokenizers."""
    from sklearn.linear_model import Ridge, SGDClassifier
    from sklearn.svm import LinearSVC

    for estimator in (LinearSVC(), SGDClassifier(), Ridge()):
        with pytest.raises(TypeError, match=r"^predict of Pipeline takes texts.*own_model\(model\)[^\n]*$"):
            lime(trained(estimator, [1, 0] * 3), ["good"])
    for call in (own_model, lambda model: lime(model, ["good"])):
        with pytest.raises(TypeError, match="a black box is a model with predict.*, got Linear$"):
            call(torch.nn.Linear(3, 1))
        with pytest.raises(TypeError, match="^BertTokenizer of transformers has no scores: .*own_model"):
            call(tokenizer("bert"))


def test_a_regression_of_scikit_learn_is_read_as_one():
    from sklearn.cluster import KMeans
    from sklearn.linear_model import Ridge

    model = trained(Ridge(), [4.0, 1.0] * 3)
    ask, tokenize = own_model(model)
    np.testing.assert_array_equal(ask([tokenize(text) for text in TEXTS]), model.predict(TEXTS))
    assert ask.gives == "regression" and leave_one_out(ask, tokenize(TEXTS[0]), "delete").top(1)[0][0] == "good"
    with pytest.raises(TypeError, match="Pipeline of scikit-learn only gives labels"):
        own_model(trained(KMeans(2), None))


@pytest.mark.parametrize("target", [1.0, np.float64(1), True, -1, 3])
def test_a_class_is_a_whole_number(target):
    def three(documents):
        return [[len(d), d.count("good"), 1.0] for d in documents]

    with pytest.raises(ValueError, match="target must be a class from 0 to 2, got"):
        lime(three, ["good"], target=target)
    assert lime(three, ["good"], target=np.int64(1)).target == 1


def test_a_box_whose_scores_hang_on_what_stands_beside_a_text_is_refused():
    def normalised(documents):
        scores = np.array(good(documents))
        return scores - scores.mean()

    with pytest.raises(ValueError, match=r"'not a good film' with 0.0 alone and with 0.3333 beside other texts") as no:
        own_model(normalised)
    assert "\n" not in str(no.value)
    assert own_model(normalised, check=False)[0] is normalised


def test_a_function_of_texts_and_one_that_does_not_know_the_words_are_told_so():
    for call in (own_model, lambda f: lime(f, ["good"]), lambda f: explain.fit_slalom(f, ["good"])):
        with pytest.raises(AttributeError) as caught:
            call(lambda documents: [len(text.split()) for text in documents])
        assert "a black box gets documents, lists of words: for a function of whole texts" in caught.value.__notes__[0]
    with pytest.raises(TypeError) as caught:                            # which says nothing of lists
        own_model(lambda documents: [len(ids) for ids in tokenizer("bert")(documents)["input_ids"]])
    assert "lists of words: for a function of whole texts" in caught.value.__notes__[0]
    known = {"film": 1.0}
    with pytest.raises(KeyError) as caught:
        own_model(lambda documents: [sum(known[word] for word in d) for d in documents])
    assert caught.value.__notes__ == ["own_model asks about three short texts first: check=False leaves that out"]


@pytest.mark.parametrize("kind, labels", [("multi_label_classification", 3), ("multi_label_classification", 2),
                                          ("regression", 1), (None, 1), ("regression", 2),
                                          ("multi_label_classification", 1), ("single_label_classification", 2)])
def test_probabilities_are_those_of_the_models_own_kind_of_labels(kind, labels):
    """Independent labels have a σ each, a regression no probability; as a white box and as a pipeline."""
    from transformers import pipeline

    model, pieces = theirs("bert", labels=labels, problem_type=kind), tokenizer("bert")
    pieces.model_max_length = 16
    document = pieces.tokenize("the film is good")
    white, _ = own_model(model, pieces)
    black, _ = own_model(pipeline("text-classification", model=model, tokenizer=pieces, device="cpu"))
    with torch.no_grad():
        logits = [model(**pieces(text, return_tensors="pt")).logits[0].double()
                  for text in ("the film is good", "the film is [UNK]")]
    rank = [[0, 0, 0, 1.0]]
    for ask in (white, black):
        target = max(range(labels), key=lambda label: logits[0][label]) if "multi" in str(kind) and labels > 1 else None
        found = explain.Attribution(document, rank[0], "by hand", target)
        assert np.shape(ask.predict([document]) if ask is white else ask([document])) == (
            (1, labels) if labels > 1 and kind != "single_label_classification" else (1,))
        if kind == "regression" or kind is None:
            for metric in (comprehensiveness, sufficiency):
                with pytest.raises(ValueError, match="a number and no class .a regression."):
                    metric(ask, document, found)
            assert len(deletion_curve(ask, document, found).scores) == 5
            row, = report(ask, [document], {"one out": leave_one_out}, progress=False, n_neighbours=2).rows.values()
            assert np.isnan(row["comprehensiveness"].mean) and row["calls"].mean == 5
            continue
        before, after = (p.sigmoid() if "multi" in kind else p.softmax(0) for p in logits)
        if labels == 1:
            sign = 1 if logits[0][0] > 0 else -1
            before, after, label = (sign * logits[0]).sigmoid(), (sign * logits[1]).sigmoid(), 0
            found = explain.Attribution(document, sign * found.scores, "by hand")
        elif target is None:
            label = int(logits[0].argmax())
            found = explain.Attribution(document, found.scores * (1 if label else -1), "by hand")
        else:
            label = target
        want = (before - after)[label].item()
        assert comprehensiveness(ask, document, found, bins=[0.25]) == pytest.approx(want, abs=1e-5)
        part, names = explain.by_spans(ask, [[word] for word in document])
        assert comprehensiveness(part, names, found, bins=[0.25]) == pytest.approx(want, abs=1e-5)
        if white.gives == "multi-label":
            assert comprehensiveness(white.predict, document, found, bins=[0.25]) == pytest.approx(want, abs=1e-5)
            with pytest.raises(ValueError, match="these labels are independent: fit one"):
                explain.fit_slalom(ask, document)
            assert "SLALOM" not in course_explainers(ask)
            with pytest.raises(ValueError, match="this model gives multi-label scores"):
                effective_complexity(ask, document, found, epsilon=0.1)


def test_what_asks_for_log_odds_refuses_a_regression():
    model = HuggingFaceClassifier(theirs("bert", labels=1), tokenizer("bert"))
    with pytest.raises(ValueError, match="the model predicts a number and no class"):
        permuted_attention(model, ["good", "film"], n=2)


def test_independent_labels_of_scikit_learn_are_refused():
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    many = trained(OneVsRestClassifier(LogisticRegression()),
                   np.array([[1, 1], [0, 1], [1, 0], [0, 1], [1, 1], [0, 0]]))
    with pytest.raises(ValueError, match="predict_proba do not sum to one: of independent labels take one"):
        own_model(many)


def one_column(predict):
    return lambda documents: np.array(predict(documents), float)[:, None]


def test_one_column_is_one_score():
    """As the heads of Keras and torch with one output give it; of white boxes too."""
    document = ["bad", "film", "good", "bad"]

    def scores(documents):
        return [-2.0 * ("bad" in d) + 0.5 * ("good" in d and "film" in d) for d in documents]

    column, found = one_column(scores), leave_one_out(scores, document)
    for method in (leave_one_out, lime, explain.kernel_shap, explain.shapley_values,
                   lambda f, d: explain.fit_slalom(f, d).removal_effects(d)):
        one, other = method(scores, document), method(column, document)
        np.testing.assert_array_equal(one.scores, other.scores)
        assert one.target is other.target is None
    for metric in (comprehensiveness, sufficiency, lambda *a: deletion_curve(*a).area, infidelity,
                   lambda *a: insertion_curve(*a).area):
        assert metric(scores, document, found) == metric(column, document, found)
    assert implementation_invariance([scores, column], document, leave_one_out) == 0
    np.testing.assert_array_equal(own_model(column)[0]([document]), column([document]))
    tame = load_weights("imdb-tame")
    wide = SimpleNamespace(tokens=tame.tokens, own=tame.own, embed=tame.embed, baseline=tame.baseline,
                           from_embeddings=lambda e: tame.from_embeddings(e)[..., None])
    for method in (explain.gradient, explain.gradient_x_input, explain.integrated_gradients):
        assert repr(method(wide, document)) == repr(method(tame, document))
