"""Does an attribution say what the model does? Take tokens away, or bring them in, in its order, and watch the score.

A token that is taken away is replaced in its place, so that no other one moves, or deleted: `by`, as in
`evaluate_masks`. All scores are read *towards the prediction*: log-odds times their sign for the whole document, or the
logit of the attribution's class (of the likeliest one if it has none), so that a faithful order makes them fall.

What a model predicts is taken for log-odds (n,) or logits (n, C), with scores="probability" for the probability of the
second class (n,), read as 1 − p where the first is predicted, or probabilities (n, C). scores="multi-label" are logits
(n, C) of labels of which each is true or not by itself: their probabilities are σ of each, not the softmax of all.
scores="regression" are numbers about no classes: the curves only take their sign, comprehensiveness and sufficiency,
which are in probabilities, refuse. Where nothing is said and all scores seen lie in [0, 1] they may be probabilities or
not, so a ValueError asks; every white box says what it gives, and whatever `own_model` made of a pipeline.
"""

from dataclasses import dataclass

import numpy as np
import torch

from coursekit.explain.asking import read_as
from coursekit.explain.attribution import Attribution
from coursekit.explain.masks import away
from coursekit.inputs import Document
from coursekit.models.protocols import Predicts
from coursekit.show import lines

from .calls import Measured, counting
from .drops import matched

SCORES = "log-odds", "probability", "multi-label", "regression"
ERASER_BINS = (0.01, 0.05, 0.10, 0.20, 0.50)        # shares of the tokens (DeYoung et al., ACL 2020, section 4.2)


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores (T + 1,) after 0, 1, … T tokens were taken away (kind "deletion") or brought in ("insertion").

    >>> Curve("deletion", "by hand", np.array([2.0, 0.0, 0.0])).area      # (2 + 0)/2 over half of the way, then 0
    0.5
    """

    kind: str
    method: str
    scores: np.ndarray

    @property
    def area(self):
        """The mean of the curve over the share of tokens, 0 to 1, by the trapezoidal rule; in units of the score."""
        return float((self.scores[1:] + self.scores[:-1]).mean() / 2) if len(self.scores) > 1 else float(self.scores[0])

    def plot(self, *others):
        """This curve and others of the same document as a picture."""
        verb = "taken away" if self.kind == "deletion" else "brought in"
        return lines(np.linspace(0, 1, len(self.scores)), {curve.method: curve.scores for curve in (self, *others)},
                     xlabel=f"share of the tokens {verb}", ylabel="score towards the prediction")


def deletion_curve(model_or_predict: Predicts, document: Document, attribution: Attribution, by: str | None = None,
                   scores: str | None = None) -> Curve:
    """A Curve: the score as tokens are taken away, the most important first (Samek et al., 2017; Petsiuk et al., 2018).

    attribution: of this document; those with one score for each distinct word are spread (`.on`). Signed scores are
    ordered by what speaks most for the prediction; unsigned ones by size. Of equal ones the earlier goes first.
    A smaller `area` is better, compared at one document with one way of taking away.
    scores: "log-odds", "probability", "multi-label" or "regression", what the model predicts (see above).
    Raises ValueError, in one line, for an attribution of another document, and where `scores` has to be said.

    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(["good", "film"], [2, 0], "by hand")
    >>> deletion_curve(likes, ["good", "film"], by_hand).scores
    array([2., 0., 0.])
    """
    rank, towards = _ranked(away(model_or_predict, by), document, attribution, scores)
    return Curve("deletion", attribution.method, towards(rank >= np.arange(len(rank) + 1)[:, None]))


def insertion_curve(model_or_predict: Predicts, document: Document, attribution: Attribution, by: str | None = None,
                    scores: str | None = None) -> Curve:
    """A Curve: the score as tokens come into a document of which all are away, the most important first.

    As `deletion_curve`, but a larger `area` is better (Petsiuk et al., 2018).

    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(["good", "film"], [2, 0], "by hand")
    >>> insertion_curve(likes, ["good", "film"], by_hand).scores
    array([0., 2., 2.])
    """
    rank, towards = _ranked(away(model_or_predict, by), document, attribution, scores)
    return Curve("insertion", attribution.method, towards(rank < np.arange(len(rank) + 1)[:, None]))


def comprehensiveness(model_or_predict: Predicts, document: Document, attribution: Attribution, bins=ERASER_BINS,
                      by: str | None = None, scores: str | None = None) -> Measured:
    """How much probability the prediction loses without its most important tokens (DeYoung et al., 2020, Eq. 1 and 3).

    The mean, over `bins` (shares of the tokens, at least one token each), of p(all) − p(without them), as their code
    has it (Eq. 3 divides the sum by one more); between −1 and 1, larger is better. This one is in *probabilities*:
    σ(log-odds), softmax(logits), σ of each label's logit where scores is "multi-label", or as they are where it is
    "probability". The paper takes tokens out: by="delete". scores: as in `deletion_curve`. A `Measured`.

    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(["good", "film"], [2, 0], "by hand")
    >>> round(comprehensiveness(likes, ["good", "film"], by_hand), 3)     # σ(2) − σ(0): without "good" nothing is left
    0.381
    """
    return _eraser(away(model_or_predict, by), document, attribution, bins, scores, keep=False)


def sufficiency(model_or_predict: Predicts, document: Document, attribution: Attribution, bins=ERASER_BINS,
                by: str | None = None, scores: str | None = None) -> Measured:
    """How much probability the prediction loses with its most important tokens alone (DeYoung et al., Eq. 2 and 3).

    The mean, over `bins`, of p(all) − p(only them), in *probabilities*; smaller is better. As `comprehensiveness`.

    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(["good", "film"], [2, 0], "by hand")
    >>> sufficiency(likes, ["good", "film"], by_hand)                     # "good" alone is enough
    0.0
    """
    return _eraser(away(model_or_predict, by), document, attribution, bins, scores, keep=True)


def _eraser(model, document, attribution, bins, scores, keep):
    if np.ndim(bins) != 1 or not len(bins) or not all(0 < share <= 1 for share in bins):
        raise ValueError(f"bins are shares of the tokens, above 0 and at most 1, got {bins!r}")
    with counting(model) as (model, counter):
        rank, towards = _ranked(model, document, attribution, scores, probabilities=True)
        T = len(rank)
        cut = np.ceil([T if keep else 0, *(share * T for share in bins)])[:, None]           # row 0: nothing is away
        p = towards(rank < cut if keep else rank >= cut) if T else np.zeros(2)
    return Measured((p[0] - p[1:]).mean(), counter.calls)


def _ranked(model, document, attribution, scores, probabilities=False):
    """The ranks (T,) of the scored tokens, 0 the most important, and the function masks (n, T) → scores (n,)."""
    if scores is not None and scores not in SCORES:
        raise ValueError(f"scores must be one of {', '.join(map(repr, SCORES))}, what the model predicts, "
                         f"got {scores!r}")
    gives = scores or read_as(model)
    if probabilities and gives == "regression":
        raise ValueError("this model predicts a number and no class (a regression), so that there is no probability "
                         "to lose: take the curves, infidelity, or scores='log-odds' if it is log-odds after all")
    document, attribution = matched(model, document, attribution)

    def predicted(masks):
        masks = np.pad(masks, ((0, 0), (0, len(document) - masks.shape[1])), constant_values=True)
        return model.scores(document, masks)

    whole = predicted(np.full((1, len(attribution)), True))[0]
    sign = 1.0 if whole.ndim or whole >= (0.5 if gives == "probability" else 0) else -1.0
    target = attribution.target if attribution.target is not None else whole.argmax() if whole.ndim else None

    def towards(masks):
        f = predicted(masks)
        likely = f.min() >= -1e-6 and f.max() <= 1 + 1e-6                        # float32's softmax may round beyond 1
        if likely and gives is None:
            raise ValueError('all scores of this model lie between 0 and 1: say scores="probability" if they are '
                             'probabilities, scores="log-odds" if they are not')
        if gives == "probability" and not likely:
            raise ValueError(f"scores='probability', but the model predicts from {f.min():.3g} to {f.max():.3g}: "
                             "probabilities lie between 0 and 1")
        if target is not None and probabilities and gives not in ("probability", "multi-label"):
            return torch.tensor(f).softmax(1).numpy()[:, target]
        f = f if target is None else f[:, target]
        if gives == "probability":
            return f if sign > 0 else 1 - f
        return 1 / (1 + np.exp(-sign * f)) if probabilities else sign * f

    importance = sign * attribution.scores if attribution.signed else attribution.scores
    return np.argsort(np.argsort(-importance, kind="stable")), towards
