"""Does what matters get a score, and what does not matter none? One token at a time is taken away and watched.

Zero is a matter of tolerance. A token has *no influence* if the score changes by at most `tolerance` when it alone
goes, in units of the score; it has *no attribution* if its |score| is at most `tolerance` times the largest, as methods
have different units. Who takes one token away sees no influence where two words say the same: non_sensitivity then
blames Shapley values, which share it out.
"""

import numpy as np

from coursekit.explain.attribution import Attribution
from coursekit.inputs import Document
from coursekit.models.protocols import Predicts

from .calls import Measured, counting
from .drops import matched, score_drops


def sensitivity_axiom(model_or_predict: Predicts, document: Document, attribution: Attribution,
                      tolerance=1e-6) -> Measured:
    """How many tokens change the score when they alone go, and still have no attribution; 0 is best.

    Sundararajan, Taly and Yan (ICML 2017), axiom (a): if input and baseline differ in one feature and have different
    predictions, that feature gets a non-zero attribution. Here each token in turn is that feature, and the baseline the
    document without it (as `away` has it). Any scores without zeros pass, random ones too.
    A `Measured`, T + 1 calls; `about`: missed, the places, and changes (T,), f(document) − f(without token t).

    >>> likes = lambda documents: [2.0 * ("good" in d) + ("fun" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> missed = sensitivity_axiom(likes, ["good", "fun", "film"], Attribution(["good", "fun", "film"], [2, 0, 0], "m"))
    >>> missed, missed.calls, missed.about["missed"]
    (1.0, 4, (1,))
    """
    zero, inert, changes, calls = _compared(model_or_predict, document, attribution, tolerance)
    return Measured((zero & ~inert).sum(), calls, missed=_places(zero & ~inert), changes=changes)


def non_sensitivity(model_or_predict: Predicts, document: Document, attribution: Attribution,
                    tolerance=1e-6) -> Measured:
    """|A Δ B|: A the tokens without attribution, B those without influence, each taken away alone; 0 is best.

    Nguyen and Rodríguez Martínez, "On quantitative aspects of model interpretability" (2020), metric 2.4. That is
    `sensitivity_axiom`, influence without attribution, and its reverse, attribution without influence, in one number.
    quantus' NonSensitivity is the same with its normalise=True, one feature in a step and its baseline for "[UNK]", but
    for the sign: it takes a score below its eps for zero unless abs=True; and for "< eps", which is "≤" here.
    A `Measured`, T + 1 calls; `about`: missed and unjust, the places of either kind, and changes (T,).

    >>> likes = lambda documents: [2.0 * ("good" in d) + ("fun" in d) for d in documents]
    >>> from coursekit.explain import Attribution
    >>> found = non_sensitivity(likes, ["good", "fun", "film"], Attribution(["good", "fun", "film"], [2, 0, 1], "m"))
    >>> found, found.about["missed"], found.about["unjust"]
    (2.0, (1,), (2,))
    """
    zero, inert, changes, calls = _compared(model_or_predict, document, attribution, tolerance)
    return Measured((zero ^ inert).sum(), calls, missed=_places(zero & ~inert), unjust=_places(inert & ~zero),
                    changes=changes)


def _compared(model_or_predict, document, attribution, tolerance):
    """Which tokens have no attribution, and which no influence, both (T,); the changes (T,); the calls."""
    if not tolerance >= 0:
        raise ValueError(f"tolerance says what counts as zero and must be 0 or more, got {tolerance!r}")
    with counting(model_or_predict) as (model, counter):
        document, attribution = matched(model, document, attribution)
        alone = ~np.eye(len(attribution), dtype=bool)
        changes = score_drops(model, document, attribution, alone)
    sizes = np.abs(attribution.scores)
    return sizes <= tolerance * sizes.max(initial=0), np.abs(changes) <= tolerance, changes, counter.calls


def _places(marked):
    return tuple(np.flatnonzero(marked).tolist())
