"""Loss without a token, in expectation: does its attribution rise with it, and how few tokens keep it small?

Both metrics are of Nguyen and Rodríguez Martínez, "On quantitative aspects of model interpretability" (2020), who have
each feature drawn anew while the others keep their values. Five things must be chosen before that is a number:

i.   the loss: `loss`, "cross-entropy" for log-odds or logits (of probabilities you would pass a function), "squared"
     for any score, "zero-one", or a function (label, scores) -> losses, for scores (n,) or (n, C) alike;
ii.  the true label y*: `label`; None is what the model says of the document, a class, or its score for "squared";
iii. the model without a feature: what `away` says, replaced or deleted (`by`, as in `evaluate_masks`);
iv.  the law that a feature is drawn from: `background`. None is no law, the token of `away` alone. Documents: one of
     their words, as often as it occurs there, whatever stands beside it (marginals). A function (tokens, place) →
     words to draw from, such as those that followed the word before: as near to the law of the data as you can write;
v.   the integral: `n_samples` draws, the same ones for all tokens, and `standard_error` in `about`.
"""

from collections.abc import Sequence

import numpy as np
import torch

from coursekit.explain.asking import read_as, scores_of
from coursekit.explain.attribution import Attribution
from coursekit.explain.masks import away, takes_mask_token
from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .agreement import rank_agreement
from .calls import Measured, counting
from .drops import matched, with_the_rest


@takes_mask_token
def monotonicity(model_or_predict: Predicts, document: Document, attribution: Attribution, loss="cross-entropy",
                 label: int | None = None, by: str | None = None, background: Sequence[Document] | None = None,
                 n_samples=30, seed=0) -> Measured:
    """Spearman's correlation of |score| and E ℓ(y*, f(document, token t drawn anew)); −1 to 1, 1 is best (metric 2.3).

    The five choices stand at the top of this file. With one token, or where all of either kind are equal, nan.
    quantus' MonotonicityCorrelation with abs=True, one feature in a step and a fixed baseline is loss="squared" without
    background: it divides by the score squared, which changes no rank. (Its Monotonicity is another metric: does the
    score never fall as tokens come in, least first?)
    A `Measured`; `about`: expected_loss and standard_error (T,). ValueError, in one line, for choices that do not fit.

    >>> likes = lambda documents: [2.0 * ("good" in d) + ("fun" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> even = Attribution(["good", "fun", "film"], [2, 1, 0], "m")
    >>> monotonicity(likes, ["good", "fun", "film"], even)
    1.0
    """
    with counting(away(model_or_predict, by)) as (model, counter):
        document, attribution = matched(model, document, attribution)
        alone = ~np.eye(len(attribution), dtype=bool)
        mean, error = _expected_loss(model, document, attribution, alone, loss, label, background, n_samples, seed)
    sizes, losses = (Attribution(attribution.tokens, part, "") for part in (np.abs(attribution.scores), mean))
    rho = rank_agreement(sizes, losses).spearman if len(attribution) else np.nan
    return Measured(rho, counter.calls, expected_loss=mean, standard_error=error)


def effective_complexity(model_or_predict: Predicts, document: Document, attribution: Attribution, epsilon: float,
                         loss="cross-entropy", background: Sequence[Document] | None = None) -> Measured:
    """The least k for which the k tokens with the largest |score| keep E ℓ ≤ epsilon, all others drawn (metric 2.5).

    Fewer are better, at the same epsilon, in units of the loss, and the same choices, of which `label`, `n_samples` and
    the seed are those that `monotonicity` has by default. nan where even the whole document's loss is larger. quantus'
    EffectiveComplexity, in spite of its name, asks no model: it counts the scores above a threshold.
    A `Measured`; `about`: expected_loss and standard_error (T + 1,), with 0, 1, … T tokens kept.

    >>> likes = lambda documents: [2.0 * ("good" in d) + ("fun" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> by_hand = Attribution(["good", "fun", "film"], [2, 1, 0], "by hand")
    >>> k = effective_complexity(likes, ["good", "fun", "film"], by_hand, epsilon=0.2)
    >>> k, k.about["expected_loss"].round(2)                               # log(1 + exp(−score)) of 0, 2, 3, 3
    (1.0, array([0.69, 0.13, 0.05, 0.05]))
    """
    with counting(away(model_or_predict)) as (model, counter):
        document, attribution = matched(model, document, attribution)
        T, order = len(attribution), np.argsort(-np.abs(attribution.scores), kind="stable")
        masks = np.argsort(order) < np.arange(T + 1)[:, None]                       # (T + 1, T): row k keeps the top k
        mean, error = _expected_loss(model, document, attribution, masks, loss, None, background, 30, 0)
    enough = np.flatnonzero(mean <= epsilon)
    return Measured(enough[0] if len(enough) else np.nan, counter.calls, expected_loss=mean, standard_error=error)


def _expected_loss(model, document, attribution, masks, loss, label, background, n_samples, seed):
    """(means (n,), standard errors (n,)) of the loss under masks (n, T), over what stands where they are false."""
    masks = with_the_rest(masks, document)                                         # (n + 1, d), row 0 the document
    if background is None:
        f = model.scores(document, masks)
        whole, f = f[0], f[1:, None]                                               # (n, 1) or (n, 1, C)
    else:
        if model.by != "replace":
            raise ValueError(f"words are drawn from the background to replace others, got by={model.by!r}")
        words = _random_words(document, background, as_whole(n_samples, "n_samples", 1), seed)       # (S, d)
        filled = np.where(masks[1:, None], np.array(document, object), words)      # (n, S, d)
        f = scores_of(model, [document, *(fill.tolist() for fills in filled for fill in fills)])
        whole, f = f[0], f[1:].reshape(*filled.shape[:2], *f.shape[1:])
    if loss in ("cross-entropy", "zero-one") and read_as(model) in ("multi-label", "regression"):
        raise ValueError(f"the loss {loss!r} is of classes of which one is true, and this model gives "
                         f"{read_as(model)} scores: take loss='squared', or a function (label, scores)")
    if label is None and loss == "squared":
        label = whole
    elif label is None:
        label = int(whole.argmax() if whole.ndim else whole >= 0)
    if loss == "squared" and whole.ndim:
        target = whole.argmax() if attribution.target is None else attribution.target
        label, f = label[target] if np.ndim(label) else label, f[..., target]
    if not callable(loss) and loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, or a function (label, scores), got {loss!r}")
    flat = f.reshape(-1, *whole.shape) if callable(loss) else f
    losses = np.asarray((loss if callable(loss) else LOSSES[loss])(label, flat), float).reshape(f.shape[:2])
    return losses.mean(1), losses.std(1) / losses.shape[1] ** 0.5


def _random_words(document, background, n, seed):
    """Words (n, d) drawn for each place of the document."""
    if not callable(background):
        words = [word for other in background for word in other]
    rng, columns = np.random.default_rng(as_whole(seed, "seed")), []
    for place in range(len(document)):
        pool = list(background(document, place)) if callable(background) else words
        if not pool:
            raise ValueError(f"background has no words to draw for place {place}")
        columns.append([pool[i] for i in rng.integers(len(pool), size=n)])
    return np.array(columns, object).reshape(len(document), n).T


def _cross_entropy(label, f):
    """−log of the label's probability, for log-odds (…) where it is 0 or 1, or logits (…, C)."""
    return np.logaddexp(0, -f if label else f) if f.ndim < 3 else -torch.tensor(f).log_softmax(-1)[..., label].numpy()


LOSSES = {"cross-entropy": _cross_entropy, "squared": lambda label, f: (f - label) ** 2,
          "zero-one": lambda label, f: (f.argmax(-1) if f.ndim > 2 else f >= 0) != label}
