"""How far two attributions of one document agree, and how far one agrees with what people marked. Agreement is no
proof: both may be wrong (Neely et al., 2021). People's marks say what convinces them, not what the model did."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coursekit.explain.attribution import Attribution
from coursekit.inputs import as_array


class Agreement(NamedTuple):
    """spearman and kendall: rank correlations, −1 to 1 (nan where all scores of one are equal); top: the share of
    common tokens among the k most important of each, 0 to 1.

    >>> Agreement(spearman=0.5, kendall=0.33, top=1.0).top
    1.0
    """

    spearman: float
    kendall: float
    top: float


def rank_agreement(a: Attribution, b: Attribution, k=5) -> Agreement:
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
    return Agreement(_correlation(_ranks(x), _ranks(y)), float(kendall(x, y)), len(tops[0] & tops[1]) / len(tops[0]))


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's τ_b of x and y (…, n), along the last axis: (…), nan where all of one are equal.

    >>> kendall(np.array([[3, 2, 1], [1, 2, 3]]), np.array([6, 1, 2])).round(2)
    array([ 0.33, -0.33])
    """
    x, y = (np.sign(part[..., :, None] - part[..., None, :]) for part in (x, y))  # (…, n, n): which of two is larger
    size = np.sqrt((x * x).sum((-2, -1)) * (y * y).sum((-2, -1)))
    return (x * y).sum((-2, -1)) / np.where(size > 0, size, np.nan)


class Skipped(NamedTuple):
    """How many numbers the means of a `HumanAgreement` leave out: documents of `consensus`, maps of the other two.

    >>> Skipped(consensus=0, annotators=0, people=1).people
    1
    """

    consensus: int
    annotators: int
    people: int


class HumanAgreement(NamedTuple):
    """AUROCs, .5 for chance and 1 for all marked words before all others; nan where nothing is left to average.

    consensus: of the scores with what all annotators of a document marked, mean over documents; annotators: with each
    annotator's own map, mean over these maps; people: of each map with what all *other* annotators marked, the same
    mean. documents: how many there were; skipped: what these means leave out; marked_by: "people" or "grammar".

    >>> HumanAgreement(.75, .7, .8, documents=2, skipped=Skipped(0, 0, 1), marked_by="people").consensus
    0.75
    """

    consensus: float
    annotators: float
    people: float
    documents: int
    skipped: Skipped
    marked_by: str


def human_agreement(attributions: Sequence[Attribution], reviews: Sequence[Any]) -> HumanAgreement:
    """The HumanAgreement of attributions, one for each review, with the maps of these AnnotatedReviews.

    Maps have no sign, so |score| counts. The tokens may be the review's words or a model's: then each has the marks of
    its word (`AnnotatedReview.on`), and tokens that the model did not read do not count.
    Where all or no tokens are marked there is no AUROC: such maps are skipped and counted, and so is, for `people`, an
    annotator without others. Read `people` with care: a map has no degrees, which costs it against graded scores, and
    the consensus of fewer annotators marks more.

    Source: Sen et al., ACL 2020, whose behavioural similarity is this AUROC.
    Raises ValueError, in one line, where the numbers differ, a review has no maps or is marked by another kind, scores
    belong to distinct words, or the tokens are of another text.

    >>> from coursekit.explain import Attribution
    >>> from coursekit.worlds import AnnotatedReview
    >>> words = ("Good,", "cheap", "food.")
    >>> review = AnnotatedReview("Good, cheap food.", 1, tokens=words, maps=((True, True, False), (True, False, False)))
    >>> human_agreement([Attribution(words, [-3, 1, 2], "by hand")], [review])[:3]
    (1.0, 0.75, 0.75)
    """
    attributions, reviews = list(attributions), list(reviews)
    kinds = {getattr(review, "marked_by", "") for review in reviews if getattr(review, "maps", ())}
    if len(attributions) != len(reviews) or len(kinds) != 1 or not all(getattr(r, "maps", ()) for r in reviews):
        raise ValueError(f"expected one attribution for each annotated review, all marked by people or all by the "
                         f"grammar, got {len(attributions)} for {len(reviews)}; datasets.yelp_hat, "
                         "datasets.eraser_movies and stand_in give such reviews")
    consensus, annotators, people = [], [], []
    for attribution, review in zip(attributions, reviews, strict=True):
        if attribution.per == "word":
            raise ValueError(f"{attribution.method} has one score for each distinct word: spread it by .on(document)")
        maps = np.array(review.on(attribution.tokens).maps)                      # (annotators, T)
        consensus.append(auroc(np.abs(attribution.scores), maps.all(0)))
        annotators += [auroc(np.abs(attribution.scores), marks) for marks in maps]
        people += [auroc(marks, np.delete(maps, i, 0).all(0)) for i, marks in enumerate(maps)]
    found = [np.array(part) for part in (consensus, annotators, people)]
    means = [float(part[~np.isnan(part)].mean()) if not np.isnan(part).all() else float("nan") for part in found]
    skipped = Skipped(*(int(np.isnan(part).sum()) for part in found))
    return HumanAgreement(means[0], means[1], means[2], len(reviews), skipped, kinds.pop())


def auroc(scores: ArrayLike, marked: ArrayLike) -> float:
    """The area under the ROC curve: how likely a marked token scores above one that is not, a tie counting half.

    scores, marked: (T,). Exact, from ranks (Mann & Whitney, 1947); nan where all or no tokens are marked.

    >>> auroc([3, 1, 2, 1], [True, True, False, False])                   # above: 3 > 2, 3 > 1; 1 = 1 counts half
    0.625
    """
    scores, marked = as_array(scores, "scores", (None,)), as_array(marked, "marked", (None,)) > 0
    n, others = int(marked.sum()), int((~marked).sum())
    if len(scores) != len(marked):
        raise ValueError(f"every token needs a score and a mark, got {len(scores)} and {len(marked)}")
    return float((_ranks(scores)[marked].sum() - n * (n - 1) / 2) / (n * others)) if n and others else float("nan")


def map_distance(A: ArrayLike, B: ArrayLike) -> float:
    """How far apart two attention maps A and B (…, T, T) of the same tokens are: mean total variation of rows.

    Half the sum of absolute differences in a row: the share of the weight that one would have to move to make it the
    other's. 0 for equal maps, 1 for maps without a common token.

    >>> map_distance(np.eye(2), np.full((2, 2), 0.5)), map_distance(np.eye(2), np.eye(2)[::-1])
    (0.5, 1.0)
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.shape != B.shape:
        raise ValueError(f"two maps of the same tokens have one shape, got {A.shape} and {B.shape}")
    return float(np.abs(A - B).sum(-1).mean() / 2)


def _ranks(x):
    """Ranks (T,), 0 the smallest; equal ones share the mean of theirs."""
    return ((x[:, None] > x).sum(1) + (x[:, None] >= x).sum(1) - 1) / 2


def _correlation(x, y):
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum() / size) if size else float("nan")
