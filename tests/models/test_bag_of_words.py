"""The logistic model of words: its optimum by the gradient, and what it reads."""

import numpy as np
import pytest

from coursekit.models import train_bag_of_words
from coursekit.worlds import reviews

SEEN = reviews(200, seed=3)
DOCUMENTS, LABELS = [list(r.tokens) for r in SEEN], [r.label for r in SEEN]


@pytest.fixture(scope="module")
def model():
    return train_bag_of_words(DOCUMENTS, LABELS, least=8, ridge=0.5)


def test_the_gradient_of_its_loss_is_zero(model):
    wrong = 1 / (1 + np.exp(-model.predict(DOCUMENTS))) - LABELS
    slopes = [sum(e for e, d in zip(wrong, DOCUMENTS, strict=True) if word in d) + 0.5 * weight
              for word, weight in model.weights.items()]
    assert np.abs([*slopes, wrong.sum() + 1e-6 * model.intercept]).max() < 1e-7


def test_it_learns_and_reads_presence_alone(model):
    assert ((model.predict(DOCUMENTS) > 0) == LABELS).mean() > 0.85
    document = DOCUMENTS[0]
    again = [*document[::-1], *document, "neverseen"]
    assert model.predict([again])[0] == pytest.approx(model.predict([document])[0], abs=1e-12)
    assert model.predict([[]]) == [model.intercept] and model.predict([]).shape == (0,)


def test_only_the_words_that_may_have_weight():
    few = train_bag_of_words(DOCUMENTS, LABELS, words=["good", "not", "good"])
    assert list(few.weights) == ["good", "not"]
    for documents, labels, words in [(DOCUMENTS, LABELS[:-1], None), (DOCUMENTS, [1] * 200, None),
                                     ([["a"], ["b"]], [0, 1], None), (DOCUMENTS, LABELS, [])]:
        with pytest.raises(ValueError, match="expected a label for each|nothing to weigh"):
            train_bag_of_words(documents, labels, words)
