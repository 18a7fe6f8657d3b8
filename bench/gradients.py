"""Integrated gradients: few Gauss-Legendre nodes through folded attention, against captum.

The reference is 256 nodes in double precision; `error` is the relative distance to it, ours / theirs.
"""

import warnings

import numpy as np
from captum.attr import IntegratedGradients

from bench import compare, in_turns, table
from coursekit.explain import integrated_gradients
from coursekit.models import load_weights
from coursekit.worlds import reviews


def by_captum(model, forward, documents, n_steps):
    """captum's scores of every document, one array each: `forward` takes embeddings (n, T, d_e)."""
    explainer = IntegratedGradients(forward)
    parts = [explainer.attribute(model.embed(document)[None], model.baseline(document)[None], n_steps=n_steps)
             for document in documents]
    return [part[0, model.own(document)].sum(-1).numpy() for part, document in zip(parts, documents, strict=True)]


def error(scores, reference):
    """The largest relative distance ‖a − b‖/‖b‖ of two lists of arrays."""
    return max(np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(scores, reference, strict=True))


def main(n=5):
    """Five generated reviews, both one-layer classifiers, the [UNK] baseline; nodes until complete to 1e-4 (ours)."""
    warnings.filterwarnings("ignore", "Input Tensor 0")
    rows = []
    for name in ("imdb-tame", "imdb-peaky"):
        model = load_weights(name)
        documents = [model.tokenizer.tokenize(review.text) for review in reviews(n, seed=1)]
        model.double()
        reference = [integrated_gradients(model, document, n_nodes=256).scores for document in documents]
        model.float()
        found = [integrated_gradients(model, document) for document in documents]
        nodes, ours = max(a.about["n_nodes"] for a in found), error([a.scores for a in found], reference)
        folded, full = model.from_embeddings, lambda e: model.trace(e).score
        for other, forward, steps in (("captum as it comes: all attention weights, 50 nodes", full, 50),
                                      (f"captum, all attention weights, {nodes} nodes", full, nodes),
                                      ("captum, our folded forward pass, 50 nodes", folded, 50),
                                      (f"captum, our folded forward pass, {nodes} nodes", folded, nodes)):
            theirs = error(by_captum(model, forward, documents, steps), reference)
            seconds = in_turns([lambda: [integrated_gradients(model, document) for document in documents],
                                lambda: by_captum(model, forward, documents, steps)], 4)
            rows.append(compare(f"{name}, {n} reviews, {nodes} nodes", other, *seconds,
                                f"error {ours:.0e} / {theirs:.0e}", target=5 if forward is full else None))
    table(rows)


if __name__ == "__main__":
    main()
