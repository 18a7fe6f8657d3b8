"""How large is an explanation? What people can hold in the head is small."""

from typing import NamedTuple

import numpy as np

from coursekit.explain.attribution import Attribution


class Compactness(NamedTuple):
    """tokens: the fewest that hold the asked share of Σ|score|; share: these as a share of the document's; effective:
    exp of the entropy of |score|/Σ|score|, the number of equal scores that would be as spread out. All 0 where every
    score is 0.

    >>> Compactness(tokens=2, share=.5, effective=2.0).tokens
    2
    """

    tokens: int
    share: float
    effective: float


def compactness(attribution: Attribution, share=0.9) -> Compactness:
    """The Compactness of an attribution, by sizes, |score|. A short one is easy to read, which does not make it true.

    Raises ValueError, in one line, unless 0 < share ≤ 1.

    >>> from coursekit.explain import Attribution
    >>> compactness(Attribution(["not", "a", "good", "film"], [-3, 0, 3, 0], "by hand"))
    Compactness(tokens=2, share=0.5, effective=2.0)
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    sizes = np.sort(np.abs(attribution.scores))[::-1]
    if not sizes.any():
        return Compactness(0, 0.0, 0.0)
    p = sizes[sizes > 0] / sizes.sum()
    tokens = int((p.cumsum() < share - 1e-12).sum()) + 1
    return Compactness(min(tokens, len(p)), min(tokens, len(p)) / len(sizes), float(np.exp(-(p * np.log(p)).sum())))
