"""Do the scores of the tokens that go add up to what the model's score loses?"""

import numpy as np
from numpy.typing import ArrayLike

from coursekit.explain.attribution import Attribution
from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts

from .calls import Measured, counting
from .drops import matched, score_drops


def infidelity(model_or_predict: Predicts, document: Document, attribution: Attribution, masks: ArrayLike | None = None,
               n_samples=200, normalize=False, seed=0) -> Measured:
    """The mean of (Σ of the scores of the tokens that go − what the score loses)², over masks; 0 is best.

    Yeh et al., "On the (In)fidelity and Sensitivity of Explanations" (NeurIPS 2019), Definition 2.1, with I the tokens
    that a mask takes away; in units of the score, squared. It asks for scores in these units: slopes and attention
    weights fail before they are compared, but for `normalize`, which multiplies them by the one number that fits best
    (`about["scale"]`). Its best scores depend on the law of the masks, and are a least-squares fit to them, like LIME.

    masks: (n, T), true where a token stays; by default n_samples are drawn, as many tokens off as any other number,
    1 … T: LIME's law, not LIME's draws.
    captum's `infidelity` is the same for a function of masks (inputs: ones; perturb_func: (~masks, masks)). quantus'
    Infidelity takes blocks of an image away, one after the other without putting them back: the same for such masks.
    A `Measured`, n + 1 calls; `about`: standard_error (over masks) and scale.
    Raises ValueError, in one line, for masks that do not fit.

    >>> likes = lambda documents: [2.0 * ("good" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> masks = [[False, True], [True, False]]
    >>> infidelity(likes, ["good", "film"], Attribution(["good", "film"], [2, 0], "exact"), masks)
    0.0
    >>> infidelity(likes, ["good", "film"], Attribution(["good", "film"], [1, 1], "even"), masks)   # (1 − 2)², (1 − 0)²
    1.0
    """
    with counting(model_or_predict) as (model, counter):
        document, attribution = matched(model, document, attribution)
        T = len(attribution)
        if masks is None:
            rng, n = np.random.default_rng(as_whole(seed, "seed")), as_whole(n_samples, "n_samples", 1)
            masks = rng.random((n, T)).argsort(1) >= rng.integers(1, max(1, T) + 1, size=(n, 1))
        masks = np.asarray(masks)
        if masks.ndim != 2 or not len(masks) or masks.shape[1] != T or not np.isin(masks, (0, 1)).all():
            raise ValueError(f"expected masks (n, {T}), true where a token stays, with n ≥ 1, got {masks.shape}")
        masks = masks.astype(bool)
        drops = score_drops(model, document, attribution, masks)
    parts = ~masks @ attribution.scores
    scale = float(parts @ drops / (parts @ parts)) if normalize and parts.any() else 1.0
    errors = (scale * parts - drops) ** 2
    return Measured(errors.mean(), counter.calls, standard_error=float(errors.std() / len(errors) ** 0.5), scale=scale)
