"""What the studies with people stand on, against scikit-learn and SciPy."""

import numpy as np
import pytest

from coursekit.models import train_bag_of_words
from coursekit.text import reviews


def test_the_model_of_words_is_scikit_learns():
    linear = pytest.importorskip("sklearn.linear_model")
    seen = reviews(200, seed=3)
    documents, labels = [r.tokens for r in seen], [r.label for r in seen]
    ours = train_bag_of_words(documents, labels, least=8, ridge=0.5)
    X = np.array([[word in d for word in ours.weights] for d in documents], float)
    theirs = linear.LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, labels)
    assert abs(theirs.coef_[0] - [*ours.weights.values()]).max() < 1e-4
    assert theirs.intercept_[0] == pytest.approx(ours.intercept, abs=1e-4)
