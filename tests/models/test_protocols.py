"""The protocols are enough: a stranger who has their methods, and nothing else, is explained like the model itself."""

import numpy as np
import pytest
import torch

from coursekit import explain
from coursekit.models import AttentionClassifier, BlackBox, TransformerClassifier, WhiteBox, load_weights
from coursekit.text import WordTokenizer

DOCUMENT = "not a good film but the story is long".split()
METHODS = {name for name in {*vars(BlackBox), *vars(WhiteBox), *WhiteBox.__annotations__} if not name.startswith("_")}
OPENED = [explain.attention_mean, explain.attention_max, explain.attention_sum, explain.norm_attention, explain.rollout,
          explain.attention_flow, explain.gradient_attention, explain.gradient, explain.gradient_x_input,
          explain.integrated_gradients]
ASKED = [explain.leave_one_out, explain.lime, explain.kernel_shap, explain.shapley_values]


class Stranger:
    """What the named methods of a model are, without the model's class."""

    def __init__(self, model, names):
        for name in names:
            setattr(self, name, getattr(model, name))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", *DOCUMENT]
    return TransformerClassifier(WordTokenizer(words), T_max=12, d_e=12, K=3, L=2).double().eval()


def test_the_classifiers_keep_both_protocols(model):
    for one in (model, AttentionClassifier(model.tokenizer, T_max=12, d_e=8, d_att=4, d_out=4, K=2)):
        assert isinstance(one, BlackBox) and isinstance(one, WhiteBox)
    assert not isinstance(Stranger(model, METHODS - {"trace"}), WhiteBox)
    assert not isinstance(model.predict, BlackBox)


@pytest.mark.parametrize("explainer", OPENED + ASKED, ids=lambda f: f.__name__)
def test_a_stranger_with_these_methods_is_explained_alike(model, explainer):
    stranger = Stranger(model, METHODS if explainer in OPENED else {"predict"})
    np.testing.assert_array_equal(explainer(stranger, DOCUMENT).scores, explainer(model, DOCUMENT).scores)


@pytest.mark.parametrize("explainer", [explain.exact_lime, explain.exact_shapley, explain.lime_limit],
                         ids=lambda f: f.__name__)
def test_terms_are_enough_for_what_is_exact(model, explainer):
    one_layer = AttentionClassifier(model.tokenizer, T_max=12, d_e=8, d_att=4, d_out=4, K=2)
    found = explainer(Stranger(one_layer, {"head_terms"}), DOCUMENT).scores
    np.testing.assert_array_equal(found, explainer(one_layer, DOCUMENT).scores)


@pytest.mark.parametrize("explainer", OPENED + [explain.relevance_attention], ids=lambda f: f.__name__)
def test_a_black_box_is_told_what_it_lacks(model, explainer):
    with pytest.raises(TypeError, match="looks inside the model and needs .*; Stranger has no") as error:
        explainer(Stranger(model, {"predict"}), DOCUMENT)
    assert "\n" not in str(error.value)


def test_relevance_needs_to_be_told_the_queries_and_keys(model):
    """By other names they would count as values, and the numbers would be others, without a word."""
    with pytest.raises(TypeError, match="Stranger has no queries_and_keys"):
        explain.relevance_attention(Stranger(model, METHODS | {"modules"}), DOCUMENT)
    with pytest.raises(TypeError, match="Stranger has no modules"):
        with explain.relevance_rules(Stranger(model, METHODS)):
            pass


def test_a_short_cut_is_taken_and_may_be_declined():
    asked = []

    class Shorter:
        def predict(self, documents):
            asked.extend(documents)
            return [0.0] * len(documents)

        def masked_scores(self, document, by, mask_token):
            return (lambda masks: masks.sum(1)) if by == "replace" else None

    np.testing.assert_array_equal(explain.leave_one_out(Shorter(), ["a", "b"]).scores, [1, 1])
    assert not asked
    np.testing.assert_array_equal(explain.leave_one_out(Shorter(), ["a", "b"], by="delete").scores, [0, 0])
    assert asked == [["a", "b"], ["b"], ["a"]]


def test_the_short_cut_of_one_layer_is_what_its_predict_says():
    model, document = load_weights("imdb-tame"), "not a good film , but not bad".split()
    for by in ("replace", "delete"):
        asked = explain.leave_one_out(model.predict, document, by=by).scores
        np.testing.assert_allclose(explain.leave_one_out(model, document, by=by).scores, asked, atol=1e-4)
