"""Checks of assignment 10 on orders of tokens: do weights and importances agree, and which order flips a decision?"""

import numpy as np

from coursegrade.kit.question import question

from .weights import LIBRARY, WEIGHTS

__all__ = ["tau", "flips"]


# -- tau -------------------------------------------------------------------------------------------------------------

ORDERS = np.array([[0, 1, 3, 2], [0, 3, 1, 2], [1, 3, 0, 2], [0, 1, 2, 3], [3, 1, 0, 2], [3, 0, 2, 1]])
EQUAL = np.array([[3, 1, 2, 0, 4], [2, 3, 1, 4, 0], [3, 0, 1, 2, 4], [0, 1, 3, 4, 2], [4, 0, 1, 3, 2], [1, 0, 3, 4, 2]])


def _pairs(x):
    """(T, T): 1 where one is the larger, −1 where the other is, 0 for ties."""
    return np.sign(x[:, None] - x)


def _neighbours(x):
    return np.sign(np.diff(x))


def _by_ties(x, y):
    return np.sqrt((x * x).sum() * (y * y).sum())


def _tau(a, b, over, pairs):
    x, y = pairs(a), pairs(b)
    return (x * y).sum() / over(x, y)


def _ordered(a, b, order):
    return a[order], b


@question((2, 2), {"four tokens": (np.array([0.4, 0.3, 0.2, 0.1]), np.array([-3.0, 1.0, 2.0, -0.5]), ORDERS),
                   "ties in both": (np.array([0.3, 0.3, 0.1, 0.3]), np.array([-2.0, 2.0, 1.0, -1.0]), ORDERS),
                   "weights the other way round": (np.array([0.1, 0.2, 0.3, 0.4]), np.array([4.0, 3.0, -2.0, 0.0]),
                                                   ORDERS[1:]),
                   "equal τ": (np.array([0.3, 0.25, 0.1, 0.15, 0.2]), np.array([1.0, 3.0, -0.5, 4.0, -2.0]), EQUAL),
                   "two tokens": (np.array([0.9, 0.1]), np.array([0.5, -1.0]), ORDERS[:1, :2])},
          returns="τ, share", forbidden=LIBRARY, instead="the pairs",
          promises=WEIGHTS | {
              r"whose rows are orders of $0 \dots T-1$": lambda alpha, scores, orders: (
                  np.sort(orders) == np.arange(len(alpha))).all(),
              "Neither is 0": lambda alpha, scores, orders: len({*alpha}) > 1 and len({*np.abs(scores)}) > 1},
          otherwise="The first case by hand: sizes 3, 1, 2 and 0.5. Which of the six pairs do the weights order as the "
                    "sizes do? For `share`: how many of the orders give a τ as large, or larger?")
def tau(alpha, scores, orders, *, size=np.abs, over=_by_ties, order=_ordered, reach=np.greater_equal,
        value=lambda t: t, pairs=_pairs):
    """tau(alpha, scores, orders): Kendall's τ_b of the weights with the sizes |scores|, and the share of the orders
    (m, T) for which the weights in that order, alpha[order], reach it."""
    b = size(scores)
    found = _tau(alpha, b, over, pairs)
    others = np.array([_tau(*order(alpha, b, one), over, pairs) for one in orders])
    return float(found), float(np.mean(reach(value(others), value(found))))


def _ranks(x):
    return np.argsort(np.argsort(x))


def _middle_ranks(x):
    """(T,): ranks, of tied ones their mean."""
    return ((x[:, None] > x).sum(1) + (x[:, None] >= x).sum(1)) / 2


def _with_itself(alpha, scores, orders):
    found, share = tau.reference(alpha, scores, orders)
    return found, (share * len(orders) + 1) / (len(orders) + 1)


def _turned(a, b, order):
    return a[np.argsort(order)], b


tau.mistakes(
    ("Weights have no sign, so that scores count by their size: −2 stands above 1.", dict(size=lambda s: s)),
    ("τ is divided by the number of all pairs here. Pairs that are tied in one of them cannot be ordered: the root of "
     "two numbers is due, the pairs untied in alpha, and those in the sizes.",
     dict(over=lambda x, y: x.size - len(x))),
    ("Only neighbouring tokens were compared. C and D count over *all* pairs of tokens.", dict(pairs=_neighbours)),
    ("`share` has 1 more above and below, as a p value has that counts the order itself. It is a share of those orders "
     "that are given.", _with_itself),
    ("τ is half of what is due. The tables hold each pair twice: is it so above and below?",
     dict(over=lambda x, y: 2 * _by_ties(x, y))),
    ("τ is divided by the pairs that are tied in neither: that is Goodman and Kruskal's γ.",
     dict(over=lambda x, y: (x * x * y * y).sum())),
    ("Ranks by np.argsort put tied tokens in an order that they do not have. Compare the numbers themselves.",
     lambda alpha, scores, orders: tau.reference(*map(_ranks, (alpha, np.abs(scores))), orders)),
    ("In `share` an order counts that gives just as much: at least τ, not more than τ. (Is it `>=` already? Then "
     "compare with τ − 1e-9.)", dict(reach=np.greater)),
    ("In `share` large τ are due, whatever their sign was: without the bars around them.", dict(value=np.abs)),
    ("`share` counts the orders that do not reach τ.", dict(reach=np.less)),
    ("In `share` the scores were moved with the weights, and no τ changes. Only the weights get a new order.",
     dict(order=lambda a, b, one: (a[one], b[one]))),
    ("In `share` token t gets the weight alpha[order[t]]. Here the weight of token t went to the place order[t], or "
     "the scores got the order.", dict(order=_turned)),
    ("`share` is a number of orders. Divide by how many there are.",
     lambda alpha, scores, orders: (tau.reference(alpha, scores, orders)[0],
                                    tau.reference(alpha, scores, orders)[1] * len(orders))))


@tau.suspect
def _(got, alpha, scores, orders):
    due = tau.reference(alpha, scores, orders)
    if np.isclose(got[0], due[0]) and tau.reference(alpha, scores, orders, reach=np.greater)[1] < got[1] < due[1]:
        return "τ is right, and rounding tells equal ones apart: for `share`, compare with τ − 1e-9."
    ranks = _middle_ranks(alpha), _middle_ranks(np.abs(scores))
    if type(got) in (tuple, list) and len(got) == 2 and np.isclose(got[0], np.corrcoef(*ranks)[0, 1]):
        return ("That is Spearman's correlation, of ranks. τ counts pairs: how many are ordered alike, and how many "
                "the other way round.")
    if type(got) in (tuple, list) and len(got) == 2 and np.isclose(got[0], np.corrcoef(alpha, np.abs(scores))[0, 1]):
        return "That is a correlation of the numbers themselves. Of each pair of tokens τ asks only which is larger."
    return None


# -- flips -----------------------------------------------------------------------------------------------------------

NEVER = "Where the decision never changes, T is due."


def _decision(alpha, y):
    return 1.0 if alpha @ y > 0 else -1.0


def _nearest(alpha, y):
    """The smallest size of a score, undivided, on the ways of the three orders."""
    s = _decision(alpha, y)
    orders = (np.argsort(-key, kind="stable") for key in (alpha, s * y, s * alpha * y))
    return min(np.abs(np.cumsum((alpha * y)[order][::-1])).min() for order in orders)


def _first(kept):
    """How many are gone where the sum of what is left first has the other sign; T if it never has."""
    return next((j for j in range(1, len(kept)) if kept[j] < 0), len(kept))


def _till(last):
    """As `_first`, but no more than last(T) are taken."""
    def count(kept):
        j = _first(kept)
        return j if j <= last(len(kept)) else len(kept)

    return count


def _last(kept):
    """How many are gone before the sign stays the other one; T if it does not."""
    stays = np.flip(np.logical_and.accumulate(np.flip(kept < 0)))
    return int(np.argmax(stays)) if stays.any() else len(kept)


@question((2, 2), {"five tokens": (np.array([0.4, 0.1, 0.25, 0.2, 0.05]), np.array([1.0, 4.0, 2.5, -4.0, -2.0])),
                   "a decision against": (np.array([1.0, 12.0, 3.0, 9.0, 10.0, 2.0]) / 37,
                                          np.array([-1.0, 2.5, 4.0, -2.5, -3.0, -4.0])),
                   "twenty-five tokens": (np.arange(3, 28) / 375, np.array([-0.5, -2.0, 2.0, 2.5, 2.5] * 5)),
                   "four tokens": (np.array([7.0, 4.0, 3.0, 10.0]) / 24, np.array([-2.0, 3.5, -4.0, -1.5])),
                   "even attention": (np.full(5, 0.2), np.array([-2.0, -3.5, 4.0, 2.0, -4.0])),
                   "all say the same": (np.array([0.5, 0.25, 0.25]), np.array([1.0, 2.0, 3.0])),
                   "one token": (np.ones(1), np.array([-2.0]))},
          returns="by attention, by gradient, fewest", forbidden=LIBRARY, instead="sums",
          promises=WEIGHTS | {
              "All weights are above 0": lambda alpha, y: alpha.min() > 0,
              "no score comes near 0": lambda alpha, y: _nearest(alpha, y) > 1e-6,
              "$T$ may be 50": lambda alpha, y: len(y) == len(alpha) <= 50},
          otherwise="The first case by hand: the tokens bring α y = 0.4, 0.4, 0.625, −0.8 and −0.1, together 0.525: "
                    "for. What is left without the token with the largest weight, and is that still for? And then?",
          hints={"endless": "Twenty-five tokens have 33 million sets. What is left decides by its sum: which token "
                            "takes most of it away?"})
def flips(alpha, y, *, weights=lambda alpha, y, s: alpha, slope=lambda alpha, y, s: s * y,
          best=lambda alpha, y, s: s * alpha * y, count=_first, kind="stable", none=lambda T, n: n, decision=_decision):
    """flips(alpha, y): how many tokens are zeroed before the decision is another one, T if it never is: the largest
    weight first; the largest gradient of the decision first; and in the best order that there is."""
    s, T = decision(alpha, y), len(y)
    found = []
    for scores in (weights(alpha, y, s), slope(alpha, y, s), best(alpha, y, s)):
        order = np.argsort(-scores, kind="stable") if kind == "stable" else T - 1 - np.argsort(
            -scores[::-1], kind="stable")
        said = s * (alpha * y)[order]
        found.append(none(T, count(np.array([said[j:].sum() for j in range(T)]))))
    return tuple(found)


def _one_by_one(alpha, y):
    """As asked for, but the fewest by what lowers the divided score most, each time."""
    s, left = _decision(alpha, y), list(range(len(y)))

    def without(t):
        rest = [k for k in left if k != t]
        return s * (alpha[rest] @ y[rest]) / alpha[rest].sum()

    while len(left) > 1 and s * (alpha[left] @ y[left]) > 0:
        left.remove(min(left, key=without))
    turned = s * (alpha[left] @ y[left]) < 0
    return *flips.reference(alpha, y)[:2], len(y) - len(left) if turned else len(y)


flips.mistakes(
    ("That is right if the decision was *for*. A decision *against* flips where what is left is above 0.",
     dict(decision=lambda alpha, y: 1.0)),
    ("The loop ends one token too soon: one is to stay, so T − 1 may go.", dict(count=_till(lambda T: T - 2))),
    ("More than half of the tokens may go before the decision flips: only the last one has to stay.",
     dict(count=_till(lambda T: T / 2))),
    *(("Of tokens with equal weights the earlier one goes first. Here what they say put them in another order.",
       dict(weights=by)) for by in (lambda alpha, y, s: alpha + 1e-9 * s * y, lambda alpha, y, s: alpha + 1e-9 * y,
                                    lambda alpha, y, s: alpha - 1e-9 * s * y, lambda alpha, y, s: alpha - 1e-9 * y)),
    ("`by gradient`: of a decision *against*, the tokens that pull it down come first. The sign of the decision is "
     "missing.", dict(slope=lambda alpha, y, s: y)),
    ("`by gradient` goes by size here. A token that speaks against the decision does not carry it.",
     dict(slope=lambda alpha, y, s: np.abs(y))),
    ("Where tokens are alike, the earlier goes first. np.argsort(−x, kind=\"stable\") keeps it so.",
     dict(kind="late")),
    ("`by gradient` goes by α y. That is the gradient times the weight; the gradient in the weights is y alone.",
     dict(slope=lambda alpha, y, s: s * alpha * y)),
    ("`by attention` goes by α y. Attention does not know what a token says.",
     dict(weights=lambda alpha, y, s: s * alpha * y)),
    ("`by attention` begins with the smallest weight. The largest comes first.",
     dict(weights=lambda alpha, y, s: -alpha)),
    ("`fewest` goes by the size of α y. Whoever takes away a token that speaks against the decision makes it firmer.",
     dict(best=lambda alpha, y, s: np.abs(alpha * y))),
    ("`fewest` goes by α y without the decision's sign.", dict(best=lambda alpha, y, s: alpha * y)),
    ("`fewest` is only the better of the two orders. There may be a third that needs fewer.",
     lambda alpha, y: (*(two := flips.reference(alpha, y)[:2]), min(two))),
    ("For `fewest` each token was chosen by the *divided* score without it. Only the sign counts: choose by the sum of "
     "α y, undivided.", _one_by_one),
    ("The tokens were counted till the decision *stays* another one. The first time counts.", dict(count=_last)),
    ("That is one too few: the token whose loss flips the decision counts as well.",
     dict(none=lambda T, n: n if n == T else n - 1)),
    (NEVER, dict(none=lambda T, n: T - 1 if n == T else n)),
    ("Three whole numbers are due.", dict(none=lambda T, n: float(n))))


@flips.suspect
def _(got, alpha, y):
    if any(isinstance(one, float) and one == one for one in got):
        return "Three whole numbers are due."
    return NEVER if any(one != n == len(y) for one, n in zip(got, flips.reference(alpha, y), strict=True)) else None
