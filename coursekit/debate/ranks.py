"""Do the weights order tokens as their importances do?"""

from itertools import combinations

import numpy as np

from coursekit.evaluate.agreement import rank_agreement
from coursekit.evaluate.intervals import interval
from coursekit.explain import Attribution, attention_mean, exact_shapley, gradient, leave_one_out


def attention_agreement(model, documents, more=(), seed=0):
    """{(one, other): Interval of Kendall's τ over documents}, of each pair of: the attention (mean of heads and
    layers), the gradient (its length), leave-one-out, Shapley values where the model offers its terms, and chance.

    All go by size, without signs: weights have none. Chance is a random order, drawn for each document: what τ looks
    like where there is nothing. more: {name: explainer(model, document)}. Documents need two tokens.
    Source: Jain and Wallace, NAACL 2019, section 4.1 (τ of attention with gradients and leave-one-out); exact values
    are ours, and say which of the others errs.

    >>> from coursekit.models import load_weights
    >>> found = attention_agreement(load_weights("imdb-tame"), [["not", "a", "good", "film"]] * 2)
    >>> found["attention", "leave-one-out"].n, len(found)
    (2, 10)
    """
    explainers = {"attention": attention_mean, "gradient": lambda m, d: gradient(m, d, "l2"),
                  "leave-one-out": leave_one_out}
    if hasattr(model, "head_terms"):
        explainers["Shapley"] = exact_shapley
    explainers |= dict(more)
    rng, taus = np.random.default_rng(seed), {}
    for document in documents:
        sizes = {name: explain(model, document) for name, explain in explainers.items()}
        tokens = sizes["attention"].tokens
        sizes = {name: np.abs(one.scores) for name, one in sizes.items()} | {"chance": rng.random(len(tokens))}
        sizes = {name: Attribution(tokens, scores, name, signed=False) for name, scores in sizes.items()}
        for one, other in combinations(sizes, 2):
            taus.setdefault((one, other), []).append(rank_agreement(sizes[one], sizes[other]).kendall)
    return {pair: interval(values) for pair, values in taus.items()}
