"""Models as people have them, each a black box in one line: its scores are those of its own library."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from coursekit.evaluate import comprehensiveness, own_model, report
from coursekit.explain import leave_one_out, lime
from coursekit.models import HuggingFaceClassifier, load_weights
from tests.models.test_huggingface import theirs, tokenizer

TEXTS = ["a good film", "a bad film", "good , really good", "bad , so bad", "the film was long", "it was a film"]


def trained(classifier, labels):
    return make_pipeline(CountVectorizer(), classifier).fit(TEXTS, labels)


def test_a_pipeline_of_scikit_learn():
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
    assert own_model(len) == (len, str.split)
    with pytest.raises(TypeError, match="a black box is"):
        own_model(3)
