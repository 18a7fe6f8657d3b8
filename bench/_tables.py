"""All 2^12 scores of twelve documents of four models, bench/tables.npz: what estimators of Shapley values are tried on.

`python -m bench._tables` makes them again (13 minutes of one processor, nearly all for MiniLM); it needs the pretrained
encoder and scikit-learn. `bench.calls` and the tests need neither: they read the file.

Texts: the first twelve tokens of every fifth handwritten review, words replaced by [UNK]. The tree: gradient boosting
on the first twelve columns of scikit-learn's breast cancer data (Wolberg, Mangasarian, Street and Street, 1993; UCI, CC
BY 4.0), twelve rows that it was not trained on; what is gone has the mean of the rows trained on.
Bit j of a subset's number says whether token j is kept. float32.
"""

from pathlib import Path

import numpy as np

from coursekit.explain import evaluate_masks
from coursekit.models import load_weights
from coursekit.worlds import handwritten_reviews

PATH, D, DOCUMENTS = Path(__file__).with_name("tables.npz"), 12, 12
MASKS = (np.arange(2**D)[:, None] >> np.arange(D) & 1).astype(bool)                  # (2^12, 12)
MODELS = ("minilm-sentiment", "imdb-6layer", "imdb-peaky")


def documents(model):
    """Twelve documents of twelve tokens."""
    pieces = [model.tokenizer.tokenize(review.text)[:D] for review in handwritten_reviews()]
    long = [tokens for tokens in pieces if len(tokens) == D]
    return long[::len(long) // DOCUMENTS][:DOCUMENTS]


def of_a_tree():
    """(12, 2^12) log-odds of the boosted tree."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order, :D], y[order]
    tree = GradientBoostingClassifier(random_state=0).fit(X[:400], y[:400])
    mean = X[:400].mean(0)
    return np.array([tree.decision_function(np.where(MASKS, row, mean)) for row in X[400:400 + DOCUMENTS]])


def main():
    scores = {}
    for name in MODELS:
        model = load_weights(name)
        scores[name] = np.array([evaluate_masks(model, document, MASKS) for document in documents(model)])
    scores["boosted tree"] = of_a_tree()
    np.savez_compressed(PATH, **{name: values.astype(np.float32) for name, values in scores.items()})


if __name__ == "__main__":
    main()
