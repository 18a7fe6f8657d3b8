"""Checks of assignment 09 on what a token does: a little less of it, its removal, its part in all sets of others."""

from attention_questions.prelude import Question, kind, np, same

from . import solution
from .scores import LIBRARY

# -- slopes ----------------------------------------------------------------------------------------------------------

EXACT = (1e-10, 1e-11)      # an importance of 10,000 less the logarithm of a sum is rounded by 1e-12


slopes = Question(solution.slopes, (2, 2), {
    "three tokens": (np.log([2.0, 1.0, 5.0]), np.array([1.0, -2.0, 3.0])),
    "all say the same": (np.array([0.0, 1.0]), np.array([2.0, 2.0])),
    "one token": (np.array([3.0]), np.array([-1.5])),
    "one outshouts the others": (np.array([1.0, 33.0, 0.0, -1.0]), np.array([2.0, 1.0, -1.0, 0.5])),
    "importances of a thousand": (np.array([1000.0, 0.0, -1.0]), np.array([1.0, 3.0, -2.0]))},
    returns="derivative (n,), removal (n,), printed (n,)", tolerance=EXACT, forbidden=LIBRARY, instead="your formulas",
    why="The derivative is that of a quotient. The removal is two softmaxes, the second over the others alone: nothing "
        "is divided by what the others weigh, which may be 0.",
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
        return
    if any(np.isnan(part).any() for part in got):
        yield ("Something is not a number, 0/0 or ∞/∞. Is the largest importance taken away first, and in `removal` "
               "the largest of the others? And what is the score where no other is left?")
    due = solution.slopes(s, v)
    if same(got[0], due[0], (1e-2, 1e-3)) and not same(got[0], due[0], EXACT):
        yield ("`derivative` is near, and not exact: is it the change of F over a small step? A quotient N/D has a "
               "derivative without any.")
    if s.max() > 20 and not same(got[1], due[1], EXACT):
        yield ("What the others weigh is 0 here, or has lost its digits, and something was divided by it. The score "
               "without the token is that of a softmax over the others alone, their largest taken away first.")


# -- by_size ---------------------------------------------------------------------------------------------------------

FIVE = np.array([0.0, 2.0, -1.0, 1.5, 4.0]), np.array([1.0, -1.0, 3.0, 0.5, 2.0])
SMALL = {"two tokens": (np.log([1.0, 3.0]), np.array([2.0, -3.0])),
         "three tokens": (np.log([2.0, 1.0, 5.0]), np.array([1.0, -2.0, 3.0])),
         "one token": (np.array([2.0]), np.array([-3.0])), "five tokens": FIVE}


by_size = Question(solution.by_size, (1, 1), SMALL | {
    "values that are all the same": (FIVE[0][:4], np.full(4, 2.0))},
    promises={r"a document of $n \le 10$ tokens": lambda s, v: 1 <= len(s) == len(v) <= 10},
    returns="table (n, n), φ (n,)", forbidden=LIBRARY, instead="the sets",
    why="All sets, size by size: a Shapley value is the mean over sizes of a mean over sets. For ten tokens there are "
        "512 sets beside each.",
    otherwise="Two tokens by hand: what does the first add to nothing, and what to the other one? It is a row of the "
              "table, and φ its mean.",
    hints={"endless": "For 9 tokens there are 256 sets beside each token. Do you go through the 9! orders?"})
ADDS = "score([i, *S]) - score([*S])"
by_size.mistakes(
    ("What a token adds to *nothing* is its value: the empty document scores 0. The first column is 0 here.",
     f"{ADDS} → {ADDS} if S else 0.0"),
    ("The weights were those of the whole document, whatever is left of it. Among fewer tokens each has more: take the "
     "softmax anew for each set.", "weights.sum() → np.exp(s - s.max()).sum()"),
    ("Each entry is a sum over the sets. It is their mean: there are C(n − 1, k) sets of k others.",
     "np.mean → np.sum"),
    ("The sign is turned round: the score with the token, less the score without it.",
     f"{ADDS} → score([*S]) - score([i, *S])"),
    ("φ is the sum of a row here. Each size counts alike: it is the mean.", "table.mean(1) → table.sum(1)"),
    ("φ weighs each size by how many sets it has: that is Banzhaf's value. For Shapley's each size counts alike.",
     "table.mean(1) → table @ [math.comb(n - 1, k) / 2 ** (n - 1) for k in range(n)]"),
    ("φ is the last column alone, what a token adds to all others.", "table.mean(1) → table[:, -1]"))


@by_size.suspect
def _(got, s, v):
    if any(kind(part) == "a NumPy array" and np.isnan(part).any() for part in got):
        yield "Something is not a number: nothing is left of the empty set, 0/0. It scores 0."


# -- shapley ---------------------------------------------------------------------------------------------------------

shapley = Question(solution.shapley, (1, 0), SMALL | {
    "sixty tokens": (np.tile(FIVE[0], 12) + np.arange(60) / 30, np.tile(FIVE[1], 12) - np.arange(60) / 20),
    "importances far apart": (np.array([-6.0, 6.0, 0.0, 3.0]), np.array([1.0, -1.0, 2.0, 0.5]))},
    returns="φ (n,)", tolerance=(1e-7, 1e-9), forbidden=LIBRARY, instead="the integral",
    why="Two integrals in place of 2^n sets: under both, the mean over all sets is a product of one factor a token. "
        "Nodes for p are exact, steps in u nearly.",
    promises={"importances within ±8": lambda s, v: abs(s).max() <= 8},
    otherwise="Two tokens by hand: φ_1 is the mean of v_1 and of α_1 (v_1 − v_2). Do they add up to F?",
    hints={"endless": "There are 2^59 sets beside each of 60 tokens, too many to visit. For each λ and p the mean over "
                      "all of them is a product."})
NODES = "(nodes + 1) / 2, weights / 2"
shapley.mistakes(
    ("All others were there with p = ½ only: that is Banzhaf's value. Shapley's is a mean over all p from 0 to 1.",
     f"{NODES} → [0.5], [1]"),
    ("All others were there: that is `removal`, of question 4.", f"{NODES} → [1.0], [1]"),
    ("Twice as much: the weights of leggauss add up to 2, the length of the interval from −1 to 1.",
     "weights / 2 → weights"),
    ("With λ = e^u, dλ is λ du: a factor λ is missing under the sum.", "lam * P → P"),
    ("A sum is no integral yet: the step in u is missing.", "w * 0.25 → w"),
    ("The token's own words are there, and not what it takes from the others: it is in their denominator, too.",
     "e * (R + a * v) - R → e * a * v"),
    ("What the token takes from the others is there, and not what it says itself.", "R + a * v → R"))


@shapley.suspect
def _(got, s, v):
    right = solution.shapley(s, v)
    if kind(got) == "a NumPy array" and got.shape == right.shape and abs(got - right).max() < 0.1:
        yield ("Near, but not exact. Are the nodes too few for a polynomial of degree n − 1, the step in u too wide, "
               "or its range too short for the faintest token?")
