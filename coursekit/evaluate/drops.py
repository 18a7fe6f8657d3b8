"""What the metrics share: an attribution laid on its document, and the score that the document loses under masks."""

import numpy as np

from coursekit.explain.asking import pick_class, read_tokens
from coursekit.explain.attribution import Attribution
from coursekit.explain.masks import evaluate_masks


def matched(model_or_predict, document, attribution):
    """(the d tokens that are read, the attribution with one score for each of the first T): scores of distinct words
    are spread. TypeError or ValueError, in one line, for something else or an attribution of another document.

    >>> matched(len, ["good", "film", "good"], Attribution(["good"], [2], "by hand", per="word"))
    (['good', 'film', 'good'], by hand: good(+2) film(0) good(+2))
    """
    document = read_tokens(model_or_predict, document)
    if not isinstance(attribution, Attribution):
        raise TypeError(f"expected an Attribution, as explainers return it, got {type(attribution).__name__}")
    attribution = attribution.spread(document)
    if list(attribution.tokens) != document[:len(attribution)]:
        raise ValueError(f"this attribution ({attribution.method}) is of another document: it begins with "
                         f"{list(attribution.tokens[:3])}, the document with {document[:3]}")
    return document, attribution


def with_the_rest(masks, document):
    """Masks (n, T) of the first T tokens as masks (n + 1, d): the tokens behind stay, row 0 is the whole document.

    >>> with_the_rest(np.array([[False]]), ["good", "film"]).tolist()
    [[True, True], [False, True]]
    """
    wide = np.full((len(masks) + 1, len(document)), True)
    wide[1:, :masks.shape[1]] = masks
    return wide


def score_drops(model_or_predict, document, attribution, masks):
    """f(document) − f(document under a mask) (n,) for masks (n, T) of the tokens that have a score; of the
    attribution's class, the likeliest if it has none.

    >>> likes = lambda documents: [2.0 * ("good" in d) for d in documents]
    >>> by_hand = Attribution(["good", "film"], [2, 0], "by hand")
    >>> score_drops(likes, ["good", "film"], by_hand, np.array([[True, False], [False, True]]))
    array([0., 2.])
    """
    f = evaluate_masks(model_or_predict, document, with_the_rest(masks, document))
    f, _ = pick_class(f, attribution.target)
    return f[0] - f[1:]
