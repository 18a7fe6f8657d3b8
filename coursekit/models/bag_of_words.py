"""The smallest classifier that there is: a weight for each word, no matter where and how often it stands."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from coursekit.inputs import Document, as_labels, as_strings, as_whole


class BagOfWords:
    """A logistic model over the presence of words: the score, log-odds, is the sum of the weights of those there.

    weights: {word: log-odds}; intercept: the score of a document without any of them. `predict(documents)`: (n,).

    >>> BagOfWords({"good": 2.0, "dull": -3.0}, intercept=0.5).predict([["good", "good", "soup"], ["dull"], []])
    array([ 2.5, -2.5,  0.5])
    """

    def __init__(self, weights, intercept=0.0):
        self.weights, self.intercept = dict(weights), float(intercept)

    def predict(self, documents):
        """Log-odds (n,) of n documents, lists of tokens."""
        return self.intercept + np.array([sum(self.weights.get(word, 0.0) for word in dict.fromkeys(document))
                                          for document in documents], float)


def train_bag_of_words(documents: Sequence[Document], labels: ArrayLike, words: Sequence[str] | None = None, least=3,
                       ridge=1.0) -> BagOfWords:
    """The BagOfWords that minimises Σ log(1 + exp(∓score)) + ridge/2 Σ weight², by Newton's method: no seed, no steps.

    documents: lists of tokens; labels: 0 or 1 each. words: those that may have a weight; unless given, all that occur
    in `least` documents or more. The intercept is free. A thousand reviews of a thousand words take a second.
    Raises ValueError, in one line, for labels that do not fit and where no word is left.

    >>> documents, labels = [["good", "soup"], ["dull", "soup"], ["good"], ["dull"]], [1, 0, 1, 0]
    >>> model = train_bag_of_words(documents, labels, words=["good", "dull"])
    >>> {word: round(weight, 2) for word, weight in model.weights.items()}
    {'good': 0.67, 'dull': -0.67}
    """
    present = [set(document) for document in documents]
    y = as_labels(labels, len(present))
    if words is None:
        vocab, counts = np.unique([word for document in present for word in sorted(document)], return_counts=True)
        words = vocab[counts >= as_whole(least, "least", 1)].tolist()
    words = list(dict.fromkeys(as_strings(words, "words")))
    if not words:
        raise ValueError(f"no word is in {least} documents or more: there is nothing to weigh")
    place = {word: j for j, word in enumerate(words)}
    X = np.zeros((len(present), len(words) + 1), np.float32)                                           # (n, words + 1)
    X[:, -1] = 1
    for row, document in zip(X, present, strict=True):
        row[[place[word] for word in document if word in place]] = 1
    theta, cost = np.zeros(X.shape[1]), np.full(X.shape[1], float(ridge))
    cost[-1] = 1e-6                                                     # the intercept: only so that it cannot run away
    for _ in range(100):
        p = 1 / (1 + np.exp(-X @ theta))
        half = X * np.sqrt(p * (1 - p)).astype(np.float32)[:, None]
        curvature = half.T @ half                                                       # (words + 1, words + 1)
        curvature[np.diag_indices_from(curvature)] += cost
        root = torch.linalg.cholesky(torch.from_numpy(curvature))                       # a third of the time of `solve`
        step = torch.cholesky_solve(torch.from_numpy(X.T @ (p - y) + cost * theta)[:, None].float(), root)[:, 0].numpy()
        theta -= step
        if np.abs(step).max() < 1e-9:
            break
    return BagOfWords(dict(zip(words, theta[:-1].tolist(), strict=True)), theta[-1])
