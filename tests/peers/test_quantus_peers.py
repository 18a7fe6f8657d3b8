"""Our metrics beside quantus' and captum's, where they define the same: the same numbers, to rounding.

quantus judges images. Here a document is an image of 1 × T pixels, each 1 where its token stays and 0 where it is
replaced, and the model a function of such images.
"""

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from captum.metrics import infidelity as captum_infidelity

from coursekit.evaluate import (
    deletion_curve,
    effective_complexity,
    infidelity,
    monotonicity,
    non_sensitivity,
    sensitivity_axiom,
)
from coursekit.explain import Attribution, evaluate_masks, gradient_x_input, leave_one_out
from coursekit.models import load_weights
from coursekit.models.bag_of_words import BagOfWords

if importlib.util.find_spec("cv2") is None:                     # OpenCV, which quantus loads and only turns images with
    sys.modules["cv2"] = ModuleType("cv2")
quantus = pytest.importorskip("quantus", reason="quantus is not installed: tools/setup.py adds it")

DOCUMENT = "the story is not bad , but the film is too long and the plot is dull".split()
QUIET = dict(disable_warnings=True, display_progressbar=False)


class Image(torch.nn.Module):
    """A model of a document under masks: x (n, 1, 1, T) → logits (n, 2) of which the second is the log-odds."""

    def __init__(self, model, document):
        super().__init__()
        self.model, self.document = model, document

    def forward(self, x):
        f = torch.tensor(evaluate_masks(self.model, self.document, x.reshape(len(x), -1) > 0.5))
        return torch.stack([torch.zeros_like(f), f], 1)


def asked(metric, model, attribution):
    """What a metric of quantus says of an attribution of this document, in scores and not in probabilities."""
    x = np.ones((1, 1, 1, len(attribution)), np.float32)
    [found] = metric(model=Image(model, list(attribution.tokens)).eval(), x_batch=x, y_batch=np.array([1]),
                     a_batch=attribution.scores.reshape(x.shape), softmax=False, channel_first=True)
    return found


@pytest.fixture(scope="module", params=["imdb-tame", "imdb-peaky", "ten words"])
def judged(request):
    """(model, attributions): white boxes with a gradient, and a model to which most words mean nothing."""
    if request.param == "ten words":
        model = BagOfWords({"not": -1.0, "bad": -2.0, "dull": -1.5, "long": 0.5}, intercept=1.0)
        wrong = np.where(np.arange(len(DOCUMENT)) % 3, leave_one_out(model, DOCUMENT).scores, 0.5)
        return model, [leave_one_out(model, DOCUMENT), Attribution(DOCUMENT, wrong, "wrong")]
    model = load_weights(request.param)
    return model, [gradient_x_input(model, DOCUMENT), leave_one_out(model, DOCUMENT)]


def test_non_sensitivity(judged):
    model, attributions = judged
    for a in attributions:
        for eps in (1e-5, 1e-2, 0.3):
            theirs = asked(quantus.NonSensitivity(eps=eps, perturb_baseline=0.0, **QUIET), model, a)
            found = non_sensitivity(model, DOCUMENT, a, tolerance=eps)
            assert found == theirs == len(found.about["missed"]) + len(found.about["unjust"])
            assert sensitivity_axiom(model, DOCUMENT, a, tolerance=eps) == len(found.about["missed"])


def test_monotonicity(judged):
    model, attributions = judged
    for a in attributions:
        theirs = asked(quantus.MonotonicityCorrelation(nr_samples=1, perturb_baseline=0.0, **QUIET), model, a)
        assert monotonicity(model, DOCUMENT, a, loss="squared") == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("name", ["imdb-tame", "imdb-peaky"])
def test_the_deletion_curve_is_their_pixel_flipping(name):
    """Of praise: ours is towards the prediction."""
    model, document = load_weights(name), "a superb film , moving and very funny from its first scene".split()
    assert model.predict([document])[0] > 0
    for a in (gradient_x_input(model, document), leave_one_out(model, document)):
        theirs = asked(quantus.PixelFlipping(perturb_baseline=0.0, **QUIET), model, a)
        np.testing.assert_allclose(deletion_curve(model, document, a).scores[1:], theirs, atol=1e-6)


def test_infidelity_of_quantus_is_that_of_masks_that_grow_from_the_left(judged):
    model, attributions = judged
    growing = np.triu(np.ones((len(DOCUMENT), len(DOCUMENT))), 1)
    for a in attributions:
        theirs = asked(quantus.Infidelity(perturb_patch_sizes=[1], n_perturb_samples=1, perturb_baseline=0.0, **QUIET),
                       model, a)
        assert infidelity(model, DOCUMENT, a, growing) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_infidelity_of_captum_at_the_same_masks(judged, normalize):
    model, attributions = judged
    masks = np.random.default_rng(0).random((40, len(DOCUMENT))) > 0.4
    stays = torch.tensor(masks, dtype=torch.float64)
    for a in attributions:
        theirs = captum_infidelity(
            lambda z: torch.tensor(evaluate_masks(model, DOCUMENT, z.numpy() > 0.5)), lambda z: (1 - stays, stays),
            torch.ones(1, len(DOCUMENT), dtype=torch.float64), torch.tensor(a.scores[None]), n_perturb_samples=40,
            normalize=normalize)
        assert infidelity(model, DOCUMENT, a, masks, normalize=normalize) == pytest.approx(theirs.item(), abs=1e-6)


def test_what_quantus_calls_effective_complexity_asks_no_model():
    """Scores above a threshold, whatever they do: two of them here, though the first alone is enough."""
    model, a = BagOfWords({"good": 3.0}), Attribution(["good", "film"], [2, 1], "by hand")
    assert asked(quantus.EffectiveComplexity(eps=0.1, normalise=False, **QUIET), model, a) == 2
    assert effective_complexity(model, ["good", "film"], a, epsilon=0.1) == 1
