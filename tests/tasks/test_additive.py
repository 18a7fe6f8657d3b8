"""Documents with known log-odds: the formulas, the laws of lengths and words, the labels."""

import numpy as np
import pytest

from coursekit.explain import Slalom, fit_slalom_data
from coursekit.worlds import LINEAR_WORDS, linear_documents, slalom_documents, slalom_words

N = 4000


def test_linear_documents():
    documents, log_odds, labels = linear_documents(N, seed=1)
    counts = np.array([[document.count(word) for word in LINEAR_WORDS] for document in documents])
    np.testing.assert_allclose(counts @ list(LINEAR_WORDS.values()), log_odds, atol=1e-9)
    lengths = counts.sum(1)
    assert abs(lengths.mean() - 15) < 0.2 and abs(lengths.var() - 7.5) < 0.6 and lengths.max() <= 30
    assert abs(counts.sum(0) / counts.sum() - 0.1).max() < 0.01


def test_slalom_documents_are_a_slalom_s():
    """The formula that stands in the tasks is the explainers', and a fit to these data finds the words' numbers."""
    words = slalom_words(8, seed=3)
    documents, log_odds, _ = slalom_documents(600, 2, words, longest=9)
    truth = Slalom(list(words), *np.array(list(words.values())).T)
    np.testing.assert_allclose(truth.predict(documents), log_odds, atol=1e-12)
    fitted = fit_slalom_data(documents, log_odds, tokens=list(words))
    np.testing.assert_allclose(fitted.importances, truth.importances, atol=1e-6)
    assert {len(document) for document in documents} == set(range(1, 10))


@pytest.mark.parametrize("drawn", [linear_documents, slalom_documents])
def test_labels_follow_the_log_odds_and_all_follows_the_seed(drawn):
    documents, log_odds, labels = drawn(N)
    assert (len(documents), log_odds.shape, labels.shape) == (N, (N,), (N,)) and set(labels) == {0, 1}
    p = 1 / (1 + np.exp(-log_odds))
    for low in np.arange(0, 1, 0.25):
        there = (low <= p) & (p < low + 0.25)
        assert there.sum() < 50 or abs(labels[there].mean() - p[there].mean()) < 4 * 0.5 / np.sqrt(there.sum())
    again, other = drawn(N), drawn(N, seed=1)
    assert again[0] == documents != other[0] and (again[1] == log_odds).all() and (again[2] == labels).all()


def test_slalom_words():
    words = slalom_words(200)
    s, v = np.array(list(words.values())).T
    assert len(words) == 200 and abs((s - v).mean()) < 0.3 and abs((s - v).std() - 1) < 0.2
    with pytest.raises(ValueError, match="at least 1"):
        linear_documents(0)
