"""Checks of assignment 10 on orders of tokens: do weights and importances agree, and which order flips a decision?"""

from attention_questions.prelude import Question, np

from . import solution
from .weights import LIBRARY, WEIGHTS

# -- tau -------------------------------------------------------------------------------------------------------------

ORDERS = np.array([[0, 1, 3, 2], [0, 3, 1, 2], [1, 3, 0, 2], [0, 1, 2, 3], [3, 1, 0, 2], [3, 0, 2, 1]])
EQUAL = np.array([[3, 1, 2, 0, 4], [2, 3, 1, 4, 0], [3, 0, 1, 2, 4], [0, 1, 3, 4, 2], [4, 0, 1, 3, 2], [1, 0, 3, 4, 2]])


tau = Question(solution.tau, (2, 2), {
    "four tokens": (np.array([0.4, 0.3, 0.2, 0.1]), np.array([-3.0, 1.0, 2.0, -0.5]), ORDERS),
    "ties in both": (np.array([0.3, 0.3, 0.1, 0.3]), np.array([-2.0, 2.0, 1.0, -1.0]), ORDERS),
    "weights the other way round": (np.array([0.1, 0.2, 0.3, 0.4]), np.array([4.0, 3.0, -2.0, 0.0]), ORDERS[1:]),
    "equal τ": (np.array([0.3, 0.25, 0.1, 0.15, 0.2]), np.array([1.0, 3.0, -0.5, 4.0, -2.0]), EQUAL),
    "two tokens": (np.array([0.9, 0.1]), np.array([0.5, -1.0]), ORDERS[:1, :2])},
    returns="τ, share", forbidden=LIBRARY, instead="the pairs",
    why="Tables of signs hold each pair twice, above and below the line: the twos cancel. All sums are whole "
        "numbers, so that equal τ are equal to the last bit.",
    promises=WEIGHTS | {
        r"whose rows are orders of $0 \dots T-1$": lambda alpha, scores, orders: (
            np.sort(orders) == np.arange(len(alpha))).all(),
        "Neither is 0": lambda alpha, scores, orders: len({*alpha}) > 1 and len({*np.abs(scores)}) > 1},
    otherwise="The first case by hand: sizes 3, 1, 2 and 0.5. Which of the six pairs do the weights order as the sizes "
              "do? For `share`: how many of the orders give a τ as large, or larger?")
ROOT = "math.sqrt((x ** 2).sum() * (z ** 2).sum())"
tau.mistakes(
    ("Weights have no sign, so that scores count by their size: −2 stands above 1.",
     "kendall(alpha, np.abs(scores)) → kendall(alpha, scores)",
     "kendall(alpha[order], np.abs(scores)) → kendall(alpha[order], scores)"),
    ("τ is divided by the number of all pairs here. Pairs that are tied in one of them cannot be ordered: the root of "
     "two numbers is due, the pairs untied in alpha, and those in the sizes.", f"{ROOT} → (len(a) * (len(a) - 1))"),
    ("Only neighbouring tokens were compared. C and D count over *all* pairs of tokens.",
     "np.sign(a[:, None] - a), np.sign(b[:, None] - b) → np.sign(np.diff(a)), np.sign(np.diff(b))"),
    ("`share` has 1 more above and below, as a p value has that counts the order itself. It is a share of those orders "
     "that are given.", "np.mean(others >= found) → np.mean([*(others >= found), True])"),
    ("τ is half of what is due. The tables hold each pair twice: is it so above and below?", ".sum() / → .sum() / 2 /"),
    ("τ is twice what is due. The tables hold each pair twice: is it so above and below?", ".sum() / → .sum() * 2 /"),
    ("Only pairs that are ordered alike were counted. Those ordered the other way round count against.",
     "(x * z).sum() → (x * z > 0).sum()"),
    ("τ is divided by the product of two numbers of pairs. The *root* of it is due.", "math.sqrt( → ("),
    ("A tied pair counts as ordered alike here. It counts in neither C nor D.",
     "(x * z).sum() → (np.where(x * z < 0, -1, 1).sum() - len(a))"),
    ("τ is divided by the pairs that are tied in neither: that is Goodman and Kruskal's γ.",
     f"{ROOT} → np.abs(x * z).sum()"),
    ("Ranks by np.argsort put tied tokens in an order that they do not have. Compare the numbers themselves.",
     "found = → alpha, scores = (np.argsort(np.argsort(one)) for one in (alpha, np.abs(scores)))\n    found ="),
    ("In `share` an order counts that gives just as much: at least τ, not more than τ.", ">= found → > found"),
    ("In `share` large τ are due, whatever their sign was: without the bars around them.",
     "others >= found → np.abs(others) >= abs(found)"),
    ("`share` counts the orders that do not reach τ.", ">= → <"),
    ("`share` counts the orders with at most τ. Those with at least τ are due.", ">= → <="),
    ("In `share` the scores were moved with the weights, and no τ changes. Only the weights get a new order.",
     "alpha[order], np.abs(scores) → alpha[order], np.abs(scores[order])"),
    ("In `share` token t gets the weight alpha[order[t]]. Here the weight of token t went to the place order[t], or "
     "the scores got the order.", "alpha[order] → alpha[np.argsort(order)]"),
    ("`share` is a number of orders. Divide by how many there are.", "np.mean → np.sum"))


def _middle_ranks(x):
    """(T,): ranks, of tied ones their mean."""
    return ((x[:, None] > x).sum(1) + (x[:, None] >= x).sum(1)) / 2


@tau.suspect
def _(got, alpha, scores, orders):
    due, larger = solution.tau(alpha, scores, orders), 1 - solution.tau(-alpha, scores, orders)[1]
    if np.isclose(got[0], due[0]) and larger < got[1] < due[1]:
        yield "τ is right, and rounding tells equal ones apart: for `share`, compare with τ − 1e-9."
    if type(got) not in (tuple, list) or len(got) != 2:
        return
    if np.isclose(got[0], np.corrcoef(_middle_ranks(alpha), _middle_ranks(np.abs(scores)))[0, 1]):
        yield ("That is Spearman's correlation, of ranks. τ counts pairs: how many are ordered alike, and how many "
               "the other way round.")
    if np.isclose(got[0], np.corrcoef(alpha, np.abs(scores))[0, 1]):
        yield "That is a correlation of the numbers themselves. Of each pair of tokens τ asks only which is larger."


# -- flips -----------------------------------------------------------------------------------------------------------

NEVER = "Where the decision never changes, T is due."


def _nearest(alpha, y):
    """The smallest size of a score, undivided, on the ways of the three orders."""
    s = np.sign(alpha @ y)
    orders = (np.argsort(-key, kind="stable") for key in (alpha, s * y, s * alpha * y))
    return min(np.abs(np.cumsum((alpha * y)[order][::-1])).min() for order in orders)


flips = Question(solution.flips, (1, 1), {
    "five tokens": (np.array([0.4, 0.1, 0.25, 0.2, 0.05]), np.array([1.0, 4.0, 2.5, -4.0, -2.0])),
    "a decision against": (np.array([1.0, 12.0, 3.0, 9.0, 10.0, 2.0]) / 37,
                           np.array([-1.0, 2.5, 4.0, -2.5, -3.0, -4.0])),
    "twenty-five tokens": ((3 + np.arange(25) * 21 % 25) / 375, np.array([-0.5, -2.0, 2.0, 2.5, 2.5] * 5)),
    "four tokens": (np.array([7.0, 4.0, 3.0, 10.0]) / 24, np.array([-2.0, 3.5, -4.0, -1.5])),
    "even attention": (np.full(5, 0.2), np.array([-2.0, -3.5, 4.0, 2.0, -4.0])),
    "all say the same": (np.array([0.5, 0.25, 0.25]), np.array([1.0, 2.0, 3.0])),
    "one token": (np.ones(1), np.array([-2.0]))},
    returns="by attention, by gradient, fewest", forbidden=LIBRARY, instead="sums",
    why="The sign of what is left is that of a plain sum. So the best j tokens to take are those that speak most "
        "for the decision: one order, and no search.",
    promises=WEIGHTS | {
        "All weights are above 0": lambda alpha, y: alpha.min() > 0,
        "no score comes near 0": lambda alpha, y: _nearest(alpha, y) > 1e-6,
        "$T$ may be 50": lambda alpha, y: len(y) == len(alpha) <= 50},
    otherwise="The first case by hand: the tokens bring α y = 0.4, 0.4, 0.625, −0.8 and −0.1, together 0.525: for. "
              "What is left without the token with the largest weight, and is that still for? And then?",
    hints={"endless": "Twenty-five tokens have 33 million sets. What is left decides by its sum: which token takes "
                      "most of it away?"})


def _one_by_one(alpha, y):
    """As asked for, but the fewest by what lowers the divided score most, each time."""
    s, left = np.sign(alpha @ y), [*range(len(y))]
    while len(left) > 1 and s * (alpha[left] @ y[left]) > 0:
        rests = [[k for k in left if k != t] for t in left]
        left = min(rests, key=lambda rest: s * (alpha[rest] @ y[rest]) / alpha[rest].sum())
    turned = s * (alpha[left] @ y[left]) < 0
    return *solution.flips(alpha, y)[:2], len(y) - len(left) if turned else len(y)


FLIPPED, WHEN = "said[order[j:]].sum() < 0", "next((j for j in range(1, T) if said[order[j:]].sum() < 0), T)"
flips.mistakes(
    ("That is right if the decision was *for*. A decision *against* flips where what is left is above 0.",
     "1 if alpha @ y > 0 else -1 → 1"),
    ("The loop ends one token too soon: one is to stay, so T − 1 may go.", "range(1, T) → range(1, T - 1)"),
    ("More than half of the tokens may go before the decision flips: only the last one has to stay.",
     "range(1, T) → range(1, T // 2 + 1)"),
    *(("Of tokens with equal weights the earlier one goes first. Here what they say put them in another order.",
       f"count(alpha) → count(alpha {by} * y)") for by in ("+ 1e-9 * s", "+ 1e-9", "- 1e-9 * s", "- 1e-9")),
    ("`by gradient`: of a decision *against*, the tokens that pull it down come first. The sign of the decision is "
     "missing.", "count(s * y) → count(y)"),
    ("`by gradient` goes by size here. A token that speaks against the decision does not carry it.",
     "count(s * y) → count(np.abs(y))"),
    ("Where tokens are alike, the earlier goes first. np.argsort(−x, kind=\"stable\") keeps it so.",
     "np.argsort(-key, kind=\"stable\") → np.argsort(key, kind=\"stable\")[::-1]"),
    ("`by gradient` goes by α y. That is the gradient times the weight; the gradient in the weights is y alone.",
     "count(s * y) → count(said)"),
    ("`by attention` goes by α y. Attention does not know what a token says.", "count(alpha) → count(said)"),
    ("`by attention` begins with the smallest weight. The largest comes first.", "count(alpha) → count(-alpha)"),
    ("`fewest` goes by the size of α y. Whoever takes away a token that speaks against the decision makes it firmer.",
     "count(said) → count(np.abs(said))"),
    ("`fewest` goes by α y without the decision's sign.", "count(said) → count(alpha * y)"),
    ("`fewest` is only the better of the two orders. There may be a third that needs fewer.",
     "count(said) → min(count(alpha), count(s * y))"),
    ("For `fewest` each token was chosen by the *divided* score without it. Only the sign counts: choose by the sum of "
     "α y, undivided.", _one_by_one),
    ("The tokens were counted till the decision *stays* another one. The first time counts.",
     f"{FLIPPED} → all(said[order[k:]].sum() < 0 for k in range(j, T))"),
    ("That is one too few: the token whose loss flips the decision counts as well.", "(j for → (j - 1 for"),
    (NEVER, f"{FLIPPED}), T) → {FLIPPED}), T - 1)"),
    ("Three whole numbers are due.", f"{WHEN} → float({WHEN})"))


@flips.suspect
def _(got, alpha, y):
    if any(isinstance(one, float) and one == one for one in got):
        yield "Three whole numbers are due."
    yield NEVER if any(one != n == len(y) for one, n in zip(got, solution.flips(alpha, y), strict=True)) else None
