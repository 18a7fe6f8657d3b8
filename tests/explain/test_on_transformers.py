"""Every explainer on classifiers as transformers has them, with two classes and with four."""

import numpy as np
import pytest
import torch

from coursekit import explain
from coursekit.models.huggingface import QUERIES_AND_KEYS
from tests.models.test_huggingface import FAMILIES, classifier

TEXT = "unwatchable, not a good film!"
INSIDE = [explain.attention_mean, explain.attention_max, explain.attention_sum, explain.norm_attention, explain.rollout,
          explain.attention_flow, explain.gradient_attention, explain.relevance_attention, explain.gradient_x_input,
          explain.integrated_gradients, lambda model, document: explain.gradient(model, document, "l2")]
OUTSIDE = [explain.leave_one_out, explain.shapley_values,
           lambda model, document: explain.lime(model, document, n_samples=50),
           lambda model, document: explain.kernel_shap(model, document, n_samples=128)]
families = pytest.mark.parametrize("family", FAMILIES)


def suited(methods, model):
    """The methods without relevance where the model's family has no rules for it."""
    return [m for m in methods if m is not explain.relevance_attention or hasattr(model, "queries_and_keys")]


@families
@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.filterwarnings("ignore:integrated gradients")
def test_all_explain_all(family, labels):
    model = classifier(family, labels=labels)
    document = model.tokenizer.tokenize(TEXT)[:8]
    for method in suited(INSIDE + OUTSIDE, model):
        a = method(model, document)
        assert set(a.tokens) == set(document) and np.abs(a.scores).max() > 0, a.method
        assert len(a) == len(document) or "distinct" in a.about
        again = method(model, document)
        assert (a.scores == again.scores).all(), f"{a.method} differs on a second call"


@families
def test_a_class_can_be_chosen(family):
    model = classifier(family, labels=4)
    document = model.tokenizer.tokenize(TEXT)[:8]
    likeliest = int(model.predict([document])[0].argmax())
    for method in suited([explain.gradient_attention, explain.relevance_attention, explain.gradient_x_input,
                          explain.leave_one_out], model):
        by_default, other = method(model, document), method(model, document, target=(likeliest + 1) % 4)
        assert by_default.target == likeliest and (by_default.scores != other.scores).any()


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in QUERIES_AND_KEYS])
def test_families_without_rules_of_relevance_are_refused(family):
    with pytest.raises(TypeError, match="has no queries_and_keys: use a method that only calls predict"):
        explain.relevance_attention(classifier(family), ["a"])


@pytest.mark.parametrize("family", QUERIES_AND_KEYS)
def test_relevance_is_conserved_without_biases(family):
    """Up to the ε of the norms: what the embeddings get, positions and types included, sums to the score."""
    model = classifier(family).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    table = "wpe" if family == "gpt2" else "position_embeddings"
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if table in name or "token_type" in name:
                parameter.zero_()
    e = model.embed(model.tokenizer.tokenize(TEXT)[:8]).detach().requires_grad_()
    with explain.relevance_rules(model):
        score = model.trace(e).score
        slope, = torch.autograd.grad(score, e)
    assert score.item() == pytest.approx(model.from_embeddings(e).item(), rel=1e-6)
    assert (e * slope).sum().item() == pytest.approx(score.item(), rel=1e-3)
