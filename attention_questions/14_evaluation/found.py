"""The check of assignment 14 on the recall of important features, and on what luck would find."""

from math import comb

import numpy as np

from coursegrade.kit.question import question

from .models import LIBRARY

__all__ = ["recall"]


def _shared(sizes, k):
    """The part that each feature has in the k largest, over all ways to break ties."""
    edge = np.sort(sizes)[-k]
    sure, tied = sizes > edge, sizes == edge
    return sure + tied * (k - sure.sum()) / tied.sum()


def _drawn(d, n, k, h):
    return comb(n, h) * comb(d - n, k - h) / comb(d, k)


@question((1, 2), {"ties": (np.array([-0.25, -0.25, -0.5, 0.25, 0.0, 0.0, -1.0, 0.25]), [0, 4, 7], 5),
                   "six features": (np.array([0.1, -2.0, 0.5, 3.0, 1.0, -0.4]), [1, 3, 5], 3),
                   "all scores alike": (np.zeros(5), [2, 0], 1),
                   "none is found": (np.array([3.0, -2.0, 0.5, 0.1]), [2, 3], 2),
                   "everything is important": (np.array([1.0, -1.0, 3.0]), [2], 3),
                   "more gold than places": (np.array([2.0, -3.0, 1.0, -1.0, 1.0, 0.0, 0.5]), [1, 0, 3, 2, 4], 3)},
          promises={"a list of different places, counted from 0":
                        lambda scores, gold, k: len({*gold}) == len(gold) > 0 and {*gold} <= {*range(len(scores))},
                    "k: a whole number, 1 to d": lambda scores, gold, k: 1 <= k <= len(scores)},
          returns="recall, chance, luck", forbidden=LIBRARY, instead="a sum of your own",
          otherwise="Take four features of sizes 3, 1, 1, 0 with gold [0, 1] and k = 2: one of two ties gets in, and "
                    "1.5 of two gold features are found on average. Of two drawn at random, how many are to be gold?")
def recall(scores, gold, k, *, size=np.abs, ties=_shared, over=lambda n, k: n, chance=lambda d, n, k: k / d,
           law=_drawn, enough=lambda h, found: h >= found - 1e-9):
    """recall(scores, gold, k): the share of gold features among the k largest sizes, averaged over all ways to break
    ties; the same for k features drawn at random; and how likely those are to do at least as well."""
    d, n = len(scores), len(gold)
    found = ties(size(scores), k)[gold].sum()
    luck = sum(law(d, n, k, h) for h in range(min(n, k) + 1) if enough(h, found))
    return float(found / over(n, k)), chance(d, n, k), float(luck)


recall.mistakes(
    ("Scores count by their size: a feature that speaks loudly against is important, too.", dict(size=lambda s: s)),
    ("Of equal sizes the earlier goes first here. The order of features is nobody's merit: take the mean over all ways "
     "to break the tie.", dict(ties=lambda sizes, k: np.argsort(np.argsort(-sizes, kind="stable")) < k)),
    ("All that are tied with the last of the k got in. Together they have only the places that are left.",
     dict(ties=lambda sizes, k: sizes >= np.sort(sizes)[-k])),
    ("Those tied with the last of the k were left out. They share the places that are left.",
     dict(ties=lambda sizes, k: sizes > np.sort(sizes)[-k])),
    ("Divided by k: that is precision. Of how many *gold* features is this the share?", dict(over=lambda n, k: k)),
    ("`chance` is the share of gold features among all. Each gold feature is drawn with which probability?",
     dict(chance=lambda d, n, k: n / d)),
    ("A sum of thirds may come out as 3.0000000000000004: compare with found − 1e-9.",
     dict(enough=lambda h, found: h >= found)),
    ("`luck` rounds what is found down. Where that is 1.5 on average, a draw with 1 does not do as well.",
     dict(enough=lambda h, found: h >= int(found + 1e-9))),
    ("`luck` counts draws that find more. As many are enough.", dict(enough=lambda h, found: h > found + 1e-9)),
    ("`luck` counts draws that find exactly as many, or the next whole number. More are as good.",
     dict(enough=lambda h, found: found - 1e-9 <= h < found + 1 - 1e-9)),
    ("`luck` leaves out draws without a gold feature. They do as well where the explanation finds none.",
     dict(enough=lambda h, found: h >= max(found - 1e-9, 1))),
    ("`luck` draws with replacement, one feature twice perhaps. Count the sets of k different ones.",
     dict(law=lambda d, n, k, h: comb(k, h) * (n / d) ** h * (1 - n / d) ** (k - h))))
