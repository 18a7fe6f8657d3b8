"""Who is compared in a report: all explainers of the course that a model allows, each with what it is to spend."""

from functools import partial

import numpy as np

from coursekit import explain
from coursekit.explain.asking import read_as, read_tokens
from coursekit.explain.attribution import Attribution, Explainer
from coursekit.inputs import Document
from coursekit.models.protocols import Predicts

BASELINE = "random"


def course_explainers(model: Predicts, samples: int | None = None) -> dict[str, Explainer]:
    """{name: explainer}: all of the course that this model allows, and random scores as the floor.

    samples: about how many documents each one that samples may ask; by default 1000, and 250 where the model has no
    short cut for masks, where integrated gradients take 16 nodes, too. Shapley values are exact where the model offers
    its terms; elsewhere `gp_shapley` stands beside orders that are sampled. Left out: `attention_flow` (minutes for six
    layers; one layer's flow is its weight), `attention_sum` (`attention_mean` times a number), the steps of
    `lime_limit`.

    >>> list(course_explainers(len))[2:]
    ['LIME', 'KernelSHAP', 'Shapley values', 'Shapley values, process', 'SLALOM']
    """
    quick = getattr(model, "masked_scores", lambda *asked: None)([], "replace", "[UNK]") is not None
    samples = samples or (1000 if quick else 250)
    found: dict[str, Explainer] = {
        BASELINE: random_scores, "leave-one-out": explain.leave_one_out,
        "LIME": partial(explain.lime, n_samples=samples), "KernelSHAP": partial(_kernel_shap, samples=samples),
        "Shapley values": partial(_shapley_values, samples=samples)}
    if not has_terms(model, []):
        found["Shapley values, process"] = partial(_gp_shapley, samples=samples)
    if read_as(model) != "multi-label":
        found["SLALOM"] = partial(_slalom, samples=samples)
    if hasattr(model, "from_embeddings"):
        signed = explain.gradient(model, ["[UNK]"]).signed  # type: ignore  # no layer norm makes the mean zero
        found |= ({"gradient, mean": partial(explain.gradient, reduce="mean")} if signed else {})
        found |= {"gradient, L1": partial(explain.gradient, reduce="l1"),
                  "gradient, L2": partial(explain.gradient, reduce="l2"),
                  "gradient × input": partial(explain.gradient_x_input, baseline="unk"),
                  "integrated gradients": partial(explain.integrated_gradients, n_nodes=None if quick else 16)}
    if hasattr(model, "readout"):
        found |= {"attention, mean": explain.attention_mean, "attention, max": explain.attention_max,
                  "attention × norm": explain.norm_attention, "rollout": explain.rollout,
                  "gradient × attention": explain.gradient_attention}
    if hasattr(model, "queries_and_keys"):
        found["relevance × attention"] = explain.relevance_attention
    if has_terms(model, []):
        found |= {"LIME, exact": explain.exact_lime, "Shapley values, exact": explain.exact_shapley}
    return found


def random_scores(model: Predicts, document: Document, seed=0) -> Attribution:
    """Normal numbers that know nothing: the floor for what is faithful. As steady as a constant, if the seed is held.

    >>> len(random_scores(len, ["good", "film"]))
    2
    """
    tokens = read_tokens(model, document)
    return Attribution(tokens, np.random.default_rng([seed, len(tokens)]).normal(size=len(tokens)), "random")


def has_terms(model, document):
    """Does the model offer the terms of its heads for this document, from which exact values come?

    >>> has_terms(len, [])
    False
    """
    return getattr(model, "head_terms", lambda *asked: None)(document, "[UNK]") is not None


def _kernel_shap(model, document, seed=0, samples=1000):
    """At least four samples a word: fewer determine nothing."""
    return explain.kernel_shap(model, document, max(samples, 4 * len(document)), seed)


def _shapley_values(model, document, seed=0, samples=1000):
    """As many permutations as the samples allow, an even number, at least four."""
    return explain.shapley_values(model, document, max(4, samples // max(1, len(document)) // 2 * 2), seed)


def _gp_shapley(model, document, seed=0, samples=1000):
    """As many samples as KernelSHAP's."""
    return explain.gp_shapley(model, document, max(samples, 4 * len(document)), seed=seed)


def _slalom(model, document, seed=0, samples=1000):
    """What each word's removal does to a SLALOM fitted near the document."""
    return explain.fit_slalom(model, document, samples, seed=seed).removal_effects(document)
