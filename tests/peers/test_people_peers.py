"""What the studies with people stand on, against scikit-learn and SciPy."""

import numpy as np
import pytest

from coursekit.models import train_bag_of_words
from coursekit.people import exact_binomial_test, exact_interval
from coursekit.worlds import reviews


def test_the_model_of_words_is_scikit_learns():
    linear = pytest.importorskip("sklearn.linear_model")
    seen = reviews(200, seed=3)
    documents, labels = [r.tokens for r in seen], [r.label for r in seen]
    ours = train_bag_of_words(documents, labels, least=8, ridge=0.5)
    X = np.array([[word in d for word in ours.weights] for d in documents], float)
    theirs = linear.LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, labels)
    assert abs(theirs.coef_[0] - [*ours.weights.values()]).max() < 1e-4
    assert theirs.intercept_[0] == pytest.approx(ours.intercept, abs=1e-4)


def test_the_exact_test_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    for k, n, p in [(9, 10, 0.5), (3, 17, 0.4), (61, 100, 0.5), (700, 1500, 0.5), (0, 4, 0.9)]:
        for alternative in ("two-sided", "greater", "less"):
            theirs = stats.binomtest(k, n, p, alternative)
            assert exact_binomial_test(k, n, p, alternative) == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-300)
        assert exact_interval(k, n) == pytest.approx(tuple(stats.binomtest(k, n, p).proportion_ci()), abs=1e-9)
