"""How far two attributions of one document agree. Agreement is no proof: both may be wrong (Neely et al., 2021)."""

from typing import NamedTuple

import numpy as np


class Agreement(NamedTuple):
    """spearman and kendall: rank correlations, −1 to 1 (nan where all scores of one are equal); top: the share of
    common tokens among the k most important of each, 0 to 1.

    >>> Agreement(spearman=0.5, kendall=0.33, top=1.0).top
    1.0
    """

    spearman: float
    kendall: float
    top: float


def rank_agreement(a, b, k=5):
    """The Agreement of two attributions of the same tokens (Krishna et al., TMLR 2024, section 3, has these measures).

    If one of them is unsigned, both are compared by size, |score|; else with their signs, except `top`, which always
    goes by size. Ties share their mean rank (Spearman) or count neither way (Kendall's τ_b); in the top k the earlier
    token wins. With fewer than k tokens, k is their number.
    Raises ValueError, in one line, for attributions of different tokens.

    >>> from coursekit.explain import Attribution
    >>> one, other = (Attribution(["a", "b", "c"], scores, "m") for scores in ([3, 2, 1], [6, 1, 2]))
    >>> rank_agreement(one, other, k=2)
    Agreement(spearman=0.5, kendall=0.3333333333333333, top=0.5)
    """
    if a.tokens != b.tokens:
        raise ValueError(f"attributions of different tokens cannot be compared: {a.method} has {len(a)}, {b.method} "
                         f"{len(b)}, and not the same; .on(document) and .words() may make them so")
    if k < 1 or not len(a):
        raise ValueError(f"k must be at least 1 and there must be a token, got k={k} and {len(a)} tokens")
    signed = a.signed and b.signed
    x, y = (c.scores if signed else np.abs(c.scores) for c in (a, b))
    tops = [set(np.argsort(-np.abs(c.scores), kind="stable")[:k]) for c in (a, b)]
    pairs = [np.sign(s[:, None] - s) for s in (x, y)]                            # (T, T): which of two is larger
    return Agreement(_correlation(_ranks(x), _ranks(y)), _cosine(*pairs), len(tops[0] & tops[1]) / len(tops[0]))


def _ranks(x):
    """Ranks (T,), 0 the smallest; equal ones share the mean of theirs."""
    return ((x[:, None] > x).sum(1) + (x[:, None] >= x).sum(1) - 1) / 2


def _correlation(x, y):
    return _cosine(x - x.mean(), y - y.mean())


def _cosine(x, y):
    size = np.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum() / size) if size else float("nan")
