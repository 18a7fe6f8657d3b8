"""A model that is known to look at ten words: which they are is the answer that an explanation should find."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import Document, as_labels, as_whole
from coursekit.models import train_bag_of_words
from coursekit.models.bag_of_words import BagOfWords


def gold_model(documents: Sequence[Document], labels: ArrayLike, n_words=10, least=3) -> BagOfWords:
    """A BagOfWords of at most n_words: the *gold* features, model.weights, are all that it looks at.

    Forward selection: the word comes in next whose presence correlates most with what the model of those chosen gets
    wrong, label − probability, and that model is trained anew. Words in fewer than `least` documents do not come in.
    Ribeiro, Singh and Guestrin (KDD 2016, section 5.2) train such models to measure recall.
    Raises ValueError, in one line, for labels that do not fit.

    >>> documents, labels = [["good", "soup"], ["dull", "soup"], ["good"], ["dull"], ["soup"]], [1, 0, 1, 0, 1]
    >>> list(gold_model(documents, labels, n_words=1, least=1).weights)
    ['dull']
    """
    present = [set(document) for document in documents]
    y = as_labels(labels, len(present))
    words = sorted(set().union(*present))
    X = np.array([[word in document for word in words] for document in present], float)         # (n, words)
    X, words = X[:, X.sum(0) >= least], [word for word, n in zip(words, X.sum(0), strict=True) if n >= least]
    X -= X.mean(0)
    size = np.where(X.any(0), np.sqrt((X * X).sum(0)), np.inf)
    chosen, wrong, model = [], y - y.mean(), BagOfWords({}, np.log(y.mean() / (1 - y.mean())))
    for _ in range(as_whole(n_words, "n_words", 1)):
        gain = np.abs(X.T @ wrong) / size
        gain[[words.index(word) for word in chosen]] = 0
        if not gain.max(initial=0) > 1e-9:
            break
        chosen.append(words[int(gain.argmax())])
        model = train_bag_of_words(documents, labels, words=chosen)
        wrong = y - 1 / (1 + np.exp(-model.predict(documents)))
    return model
