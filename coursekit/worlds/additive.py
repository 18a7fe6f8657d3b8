"""Documents whose log-odds are a sum of word weights, and such whose log-odds are a SLALOM's: the synthetic data sets
of Leemann et al., "Attention Mechanisms Don't Learn Additive Models" (arXiv:2405.13536v1; TMLR 2025), appendix E.

The text that the course has of the paper has lost some numbers; what is assumed in their place is said below.
"""

from collections.abc import Mapping

import numpy as np

from coursekit.inputs import as_whole
from coursekit.models import naive_bayes_log_odds

LINEAR_WORDS = {"the": 0.0, "we": 0.0, "movie": 0.0, "watch": 0.0, "good": 0.6, "best": 1.0, "perfect": 1.5,
                "ok": -0.6, "bad": -1.0, "worst": -1.5}                           # Table 3


def linear_documents(n: int, seed=0) -> tuple[list[list[str]], np.ndarray, np.ndarray]:
    """(documents, log-odds (n,), labels (n,)): F is the sum of the words' weights, P(label 1) = σ(F) (Eq. 74).

    Lengths are binomial, 15 on average and 30 at most; words independent, LINEAR_WORDS with their weights. Their
    chances (Table 3) are lost in our text of the paper: here all ten are alike. The public code has .2 for each of the
    four without weight, .08 for good and ok, .06 for the others.

    >>> documents, log_odds, labels = linear_documents(3)
    >>> documents[0][:4], log_odds.round(1), labels
    (['the', 'the', 'we', 'bad'], array([ 0.4, -1.7,  2.8]), array([0, 0, 1]))
    """
    n, random = as_whole(n, "n", 1), np.random.default_rng(as_whole(seed, "seed"))
    documents = _documents(list(LINEAR_WORDS), random.binomial(30, 0.5, n), random)
    log_odds = np.array([sum(map(LINEAR_WORDS.__getitem__, document)) for document in documents], float)
    return documents, log_odds, _labels(log_odds, random)


def slalom_words(n=10, seed=0) -> dict[str, tuple[float, float]]:
    """{word: (importance s, value v)}: n words of the IMDB reviews, drawn at random, for `slalom_documents`.

    As in appendix E.2, values are log-odds of naive Bayes times a factor, importances normal around the values (Eq.
    75). Factor and spread are lost in our text: here they are 2 and 1.

    >>> words = slalom_words(3)
    >>> {word: (round(s, 2), round(v, 2)) for word, (s, v) in words.items()}
    {'vein': (0.08, -0.03), 'plant': (-0.35, 0.18), 'chuckles': (-1.05, -1.42)}
    """
    random, log_odds = np.random.default_rng(as_whole(seed, "seed")), naive_bayes_log_odds()
    weighted = [word for word, weight in log_odds.items() if weight]              # not [PAD] and its like
    words = [weighted[i] for i in random.choice(len(weighted), as_whole(n, "n", 1), replace=False)]
    v = [2 * log_odds[word] for word in words]
    return dict(zip(words, zip(random.normal(v).tolist(), v, strict=True), strict=True))


def slalom_documents(n: int, seed=0, words: Mapping[str, tuple[float, float]] | None = None,
                     longest=30) -> tuple[list[list[str]], np.ndarray, np.ndarray]:
    """(documents, log-odds (n,), labels (n,)): F = Σ_i α_i v(t_i), α = softmax of s(t_1), s(t_2), …; P(label 1) = σ(F).

    words: {word: (importance, value)}, by default `slalom_words()`, each as likely as any other. Lengths are uniform
    from 1 to `longest`; the paper's longest is lost in our text.

    >>> documents, log_odds, labels = slalom_documents(2, words={"good": (1, 2), "film": (-1, 0)}, longest=3)
    >>> documents, log_odds.round(3)
    ([['film', 'good', 'good'], ['good', 'good']], array([1.873, 2.   ]))
    """
    words = slalom_words() if words is None else words
    n, random = as_whole(n, "n", 1), np.random.default_rng(as_whole(seed, "seed"))
    documents = _documents(list(words), random.integers(1, as_whole(longest, "longest", 1) + 1, n), random)
    log_odds = np.zeros(n)
    for i, document in enumerate(documents):
        s, v = np.array([words[word] for word in document]).T
        alpha = np.exp(s - s.max())
        log_odds[i] = alpha @ v / alpha.sum()
    return documents, log_odds, _labels(log_odds, random)


def _documents(words, lengths, random):
    """A list of words of each length, drawn independently."""
    return [[words[i] for i in random.integers(len(words), size=length)] for length in lengths]


def _labels(log_odds, random):
    """Labels (n,): 1 with probability σ(log-odds)."""
    return (random.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(int)
