"""Check of assignment 09 on a token's derivative, its removal, and what is printed for the first."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind, same

from .scores import LIBRARY, alphas

__all__ = ["slopes"]


EXACT = (1e-10, 1e-11)      # an importance of 10,000 less the logarithm of a sum is rounded by 1e-12


def _without(s, v):
    """F of the document without token i, (n,); 0 where nothing is left."""
    gone = np.where(np.eye(len(s), dtype=bool), -np.inf, s)             # row i: token i has no weight
    return np.array([alphas(row) @ v if np.isfinite(row).any() else 0.0 for row in gone])


def _pull(alpha, v):
    return alpha * (v - alpha @ v)


def _told(alpha, v):
    return alpha * v


@question((2, 2), {"three tokens": (np.log([2.0, 1.0, 5.0]), np.array([1.0, -2.0, 3.0])),
                   "all say the same": (np.array([0.0, 1.0]), np.array([2.0, 2.0])),
                   "one token": (np.array([3.0]), np.array([-1.5])),
                   "one outshouts the others": (np.array([1.0, 33.0, 0.0, -1.0]), np.array([2.0, 1.0, -1.0, 0.5])),
                   "importances of a thousand": (np.array([1000.0, 0.0, -1.0]), np.array([1.0, 3.0, -2.0]))},
          returns="derivative (n,), removal (n,), printed (n,)", tolerance=EXACT, forbidden=LIBRARY,
          instead="your formulas",
          otherwise="The first case by hand: the weights are 2/8, 1/8 and 5/8, F is 15/8. By how much does F rise if "
                    "the first token's 2 becomes 2.02, and what is F without the token? (`printed`: value · weight.)")
def slopes(s, v, *, derivative=_pull, removal=lambda s, v: alphas(s) @ v - _without(s, v), printed=_told):
    """slopes(s, v): ∂F/∂λ_i at λ = 1, F − F without token i, and v_i α_i, each (n,)."""
    alpha = alphas(s)
    return derivative(alpha, v), removal(s, v), printed(alpha, v)


slopes.mistakes(
    ("That is what is printed as the derivative: a token's presence also changes the sum below, and with it "
     "the weights of all others.", dict(derivative=_told)),
    ("In the derivative F is the score of the document, the mean of the values *under their weights*. Here all values "
     "count alike.", dict(derivative=lambda alpha, v: alpha * (v - v.mean()))),
    ("In the derivative only the token's own weight changes, by α(1 − α). The weights of the others do, too.",
     dict(derivative=lambda alpha, v: alpha * (1 - alpha) * v)),
    ("Of one token nothing is left, and the empty document scores 0. All that it said is lost.",
     dict(removal=lambda s, v: (len(s) > 1) * (alphas(s) @ v - _without(s, v)))),
    ("`removal` is the derivative once more. A whole token is no small step: compute both scores.",
     dict(removal=lambda s, v: _pull(alphas(s), v))),
    ("In `removal` the others' weights, however small, add up to 1 again once the token is gone: a softmax anew.",
     dict(removal=lambda s, v: alphas(s) * v)),
    ("`removal` has the wrong sign: the score of the whole, less the score of what is left.",
     dict(removal=lambda s, v: _without(s, v) - alphas(s) @ v)),
    ("`removal` is the score without the token. How much is *lost*?", dict(removal=_without)),
    ("`printed` is v·e^s over the sum of all e^s, so that its size compares with the others': it was not divided.",
     dict(printed=lambda alpha, v: alpha / alpha.min() * v)),
    ("`printed` is the derivative once more. The paper's form has no F in it.", dict(printed=_pull)))


@slopes.suspect
def _(got, s, v):
    if type(got) not in (tuple, list) or any(kind(part) != "a NumPy array" for part in got):
        return None
    if any(np.isnan(part).any() for part in got):
        return ("Something is not a number, 0/0 or ∞/∞. Is the largest importance taken away first, and in `removal` "
                "the largest of the others? And what is the score where no other is left?")
    due = slopes.reference(s, v)
    if same(got[0], due[0], (1e-2, 1e-3)) and not same(got[0], due[0], EXACT):
        return ("`derivative` is near, and not exact: is it the change of F over a small step? A quotient N/D has a "
                "derivative without any.")
    if s.max() > 20 and not same(got[1], due[1], EXACT):
        return ("What the others weigh is 0 here, or has lost its digits, and something was divided by it. The score "
                "without the token is that of a softmax over the others alone, their largest taken away first.")
    return None
