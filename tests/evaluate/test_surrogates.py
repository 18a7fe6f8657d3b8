"""The fidelity of a surrogate."""

import numpy as np
import pytest

from coursekit.evaluate import fidelity
from coursekit.explain import Slalom, fit_slalom, random_sequences

TRUTH = Slalom(["a", "good", "film"], [-1, 2, -1], [0, 3, -1])


def test_a_copy_is_perfect_and_the_mean_is_worth_nothing():
    found = fidelity(fit_slalom(TRUTH, ["a", "good", "film", "good"]), TRUTH, ["a", "good", "film"])
    assert list(found) == [1, 2, 5, 10, 30]
    assert all(one["mse"] < 1e-20 and one["r2"] == pytest.approx(1) for one in found.values())
    scores = TRUTH.predict(random_sequences(TRUTH.tokens, 50, 2, seed=1))
    mean = fidelity(lambda documents: [scores.mean()] * len(documents), TRUTH, TRUTH.tokens, (2,), 50)
    assert mean[2] == {"mse": pytest.approx(scores.var()), "r2": pytest.approx(0)}
    flat = fidelity(TRUTH, lambda documents: [1.0] * len(documents), TRUTH.tokens, (2, (1, 3)), 20)
    assert np.isnan(flat[2]["r2"]) and list(flat) == [2, (1, 3)]


def test_classes_are_compared_as_softmax_sees_them():
    model = Slalom(["a", "b"], [0, 1], [[1, 0, 2], [0, 3, 1]])
    shifted = fidelity(model, lambda documents: model.predict(documents) + len(documents), ["a", "b"], (2,))
    assert shifted[2]["mse"] < 1e-20
    with pytest.raises(ValueError, match="have shape"):
        fidelity(model, TRUTH.predict, ["a"], (2,))
