"""Where it is known what a model looks at: how much of it does an explanation find?"""

from collections.abc import Sequence

import numpy as np

from coursekit.explain.attribution import Attribution
from coursekit.inputs import as_whole

from .calls import Measured


def recall_of_important_features(attribution: Attribution, gold: Sequence,
                                 k: int | None = None) -> Measured:
    """The share of the gold features among the k tokens with the largest |score|; 1 is best.

    gold: the features that the model uses, as words (all their occurrences count) or as places, 0 the first token.
    k: how many tokens count as important, by default as many as there are gold ones; Ribeiro et al. take 10. Of equal
    scores the earlier token counts first. A `Measured` of 0 calls; nan where no gold feature is in the document.
    `about`: chance, the recall to expect of k tokens drawn at random, k/T; found and missed, the places.
    Ribeiro, Singh and Guestrin, '"Why Should I Trust You?"' (KDD 2016), section 5.2: recall = TP/(TP + FN).
    Raises ValueError, in one line, for places that are not in the document.

    Gold are the places 1, 3 and 5, and the largest scores those of 3, 4 and 5: two of three are found.

    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(list("abcdef"), [0, 1, 0, 3, 4, 5], "by hand")
    >>> recall = recall_of_important_features(by_hand, gold=[1, 3, 5])
    >>> round(recall, 2), recall.about
    (0.67, {'chance': 0.5, 'k': 3, 'found': (3, 5), 'missed': (1,)})
    """
    gold, T = list(gold), len(attribution)
    places = [t for t, token in enumerate(attribution.tokens) if token in gold]
    if gold and not isinstance(gold[0], str):
        places = sorted({as_whole(place, "a place of gold") for place in gold})
    if places and places[-1] >= T:
        raise ValueError(f"gold has the place {places[-1]}, and the last token of this attribution has place {T - 1}")
    k = len(places) if k is None else min(as_whole(k, "k", 1), T)
    top = set(np.argsort(-np.abs(attribution.scores), kind="stable")[:k].tolist())
    found = tuple(place for place in places if place in top)
    return Measured(len(found) / len(places) if places else np.nan, chance=k / T if T else np.nan, k=k, found=found,
                    missed=tuple(place for place in places if place not in top))
