"""Check of assignment 09 on a token's derivative, its removal, and what is printed for the first."""

from attention_questions.prelude import Question, kind, np, same

from . import solution
from .scores import LIBRARY

EXACT = (1e-10, 1e-11)      # an importance of 10,000 less the logarithm of a sum is rounded by 1e-12


slopes = Question(solution.slopes, (2, 2), {
    "three tokens": (np.log([2.0, 1.0, 5.0]), np.array([1.0, -2.0, 3.0])),
    "all say the same": (np.array([0.0, 1.0]), np.array([2.0, 2.0])),
    "one token": (np.array([3.0]), np.array([-1.5])),
    "one outshouts the others": (np.array([1.0, 33.0, 0.0, -1.0]), np.array([2.0, 1.0, -1.0, 0.5])),
    "importances of a thousand": (np.array([1000.0, 0.0, -1.0]), np.array([1.0, 3.0, -2.0]))},
    returns="derivative (n,), removal (n,), printed (n,)", tolerance=EXACT, forbidden=LIBRARY, instead="your formulas",
    otherwise="The first case by hand: the weights are 2/8, 1/8 and 5/8, F is 15/8. By how much does F rise if the "
              "first token's 2 becomes 2.02, and what is F without the token? (`printed`: value · weight.)")
DERIVATIVE, REMOVAL, PRINTED = "alpha * (v - F)", "F - np.array(rest)", ", alpha * v"
slopes.mistakes(
    ("That is what is printed as the derivative: a token's presence also changes the sum below, and with it "
     "the weights of all others.", f"{DERIVATIVE} → alpha * v"),
    ("In the derivative F is the score of the document, the mean of the values *under their weights*. Here all values "
     "count alike.", f"{DERIVATIVE} → alpha * (v - v.mean())"),
    ("In the derivative only the token's own weight changes, by α(1 − α). The weights of the others do, too.",
     f"{DERIVATIVE} → alpha * (1 - alpha) * v"),
    ("Of one token nothing is left, and the empty document scores 0. All that it said is lost.", "else 0.0 → else F"),
    ("`removal` is the derivative once more. A whole token is no small step: compute both scores.",
     f"{REMOVAL} → {DERIVATIVE}"),
    ("In `removal` the others' weights, however small, add up to 1 again once the token is gone: a softmax anew.",
     f"{REMOVAL} → alpha * v"),
    ("`removal` has the wrong sign: the score of the whole, less the score of what is left.",
     f"{REMOVAL} → np.array(rest) - F"),
    ("`removal` is the score without the token. How much is *lost*?", f"{REMOVAL} → np.array(rest)"),
    *(("`printed` is v·e^s over the sum of all e^s, so that its size compares with the others': it was not divided.",
       f"{PRINTED} → , np.exp({power}) * v") for power in ("s", "s - s.max()", "s - s.min()")),
    ("`printed` is the derivative once more. The paper's form has no F in it.", f"{PRINTED} → , {DERIVATIVE}"))


@slopes.suspect
def _(got, s, v):
    if type(got) not in (tuple, list) or any(kind(part) != "a NumPy array" for part in got):
        return None
    if any(np.isnan(part).any() for part in got):
        return ("Something is not a number, 0/0 or ∞/∞. Is the largest importance taken away first, and in `removal` "
                "the largest of the others? And what is the score where no other is left?")
    due = solution.slopes(s, v)
    if same(got[0], due[0], (1e-2, 1e-3)) and not same(got[0], due[0], EXACT):
        return ("`derivative` is near, and not exact: is it the change of F over a small step? A quotient N/D has a "
                "derivative without any.")
    if s.max() > 20 and not same(got[1], due[1], EXACT):
        return ("What the others weigh is 0 here, or has lost its digits, and something was divided by it. The score "
                "without the token is that of a softmax over the others alone, their largest taken away first.")
    return None
