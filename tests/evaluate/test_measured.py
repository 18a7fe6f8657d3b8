"""Numbers that know what they cost."""

import copy
import pickle

import numpy as np
import pytest

from coursekit.evaluate import Measured, comprehensiveness, sufficiency
from coursekit.evaluate.calls import counting
from coursekit.explain import attention_mean, gradient_x_input, leave_one_out, rollout
from coursekit.models import load_weights

DOCUMENT = ["a", "good", "film"]


def test_a_measured_number_is_a_float_that_survives_copies():
    for same in (lambda m: m, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        m = same(Measured(0.5, 3, tokens=("a",)))
        assert isinstance(m, float) and m == 0.5 and repr(m) == "0.5" and m.calls == 3 and m.about == {"tokens": ("a",)}


def test_every_way_to_ask_is_counted_once():
    model = load_weights("imdb-6layer")
    asked = {lambda m: m.predict([DOCUMENT] * 3): 3, lambda m: m.attentions(DOCUMENT): 1,
             lambda m: m.cls_attention(DOCUMENT): 1, lambda m: m.from_embeddings(m.embed(DOCUMENT).expand(4, 4, -1)): 4,
             lambda m: gradient_x_input(m, DOCUMENT): 1, lambda m: leave_one_out(m, DOCUMENT): 4,
             lambda m: attention_mean(m, DOCUMENT): 1, lambda m: rollout(m, DOCUMENT): 1}
    with counting(model) as (outer_model, outer):
        for ask, calls in asked.items():
            with counting(outer_model) as (same, counter):
                ask(same)
            assert same is model and counter.calls == calls
    assert outer.calls == sum(asked.values())
    assert not {"predict", "trace", "attentions"} & set(vars(model))              # as it was
    with pytest.raises(ZeroDivisionError), counting(model):
        1 / 0
    assert "predict" not in vars(model)


def test_short_cuts_count_their_masks_and_erasure_says_what_it_asked():
    model = load_weights("imdb-tame")
    a = gradient_x_input(model, DOCUMENT)
    for metric in (comprehensiveness, sufficiency):
        assert isinstance(metric(model, DOCUMENT, a), Measured)
        assert metric(model, DOCUMENT, a).calls == 1 + 1 + 5                      # short cuts do not look for twins
        assert metric(model.predict, DOCUMENT, a, scores="log-odds").calls == 1 + 3   # nothing, one and two away
        assert metric(model, [], a[:0]).calls == 1
    np.testing.assert_allclose(comprehensiveness(model, DOCUMENT, a),
                               comprehensiveness(model.predict, DOCUMENT, a, scores="log-odds"), atol=1e-6)
