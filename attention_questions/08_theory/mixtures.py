"""Checks of assignment 08 on exact means and Shapley values of a softmax head, without visiting the 2^T documents."""

import numpy as np

from coursegrade.kit.question import question
from coursegrade.kit.same import kind

__all__ = ["mean_score", "shapley"]

g3, y3, h3, v3 = np.array([1.0, 4.0, 2.0]), np.array([0.0, 3.0, -6.0]), np.array([1.0, 1.0, 0.5]), np.array([0.0, 1, 0])
THREE = g3, y3, h3, v3
TWO = g3[1:], y3[1:], h3[1:], v3[1:]
FIVE = (np.array([1, 3, 0.5, 2, 0.25]), np.array([1.0, -2, 4, 3, -5]), np.array([2, 0.5, 2, 1, 0.125]),
        np.array([-1.0, 0, 1, -1, 2]))                                  # each changes something: the degree is 4


# -- mean_score ------------------------------------------------------------------------------------------------------

def _ends(low, high):
    return np.log(1e-18 / high), np.log(45 / low)


def _apart(F):
    """Products of all factors but one, (M, T)."""
    return np.where(np.eye(F.shape[1], dtype=bool), 1.0, F[:, None]).prod(2)


@question((2, 2), {"three tokens": (*THREE, np.array([1.0, 0.5, 0.5])), "certain": (*THREE, np.array([1.0, 1.0, 0.0])),
                   "five tokens": (*FIVE, np.array([1.0, 0.3, 0.9, 0.5, 0.0])),
                   "one token": (g3[1:2], y3[1:2], h3[1:2], v3[1:2], np.array([0.25])),
                   "g of millions or millionths": (np.array([1e6, 1e-6]), np.array([2.0, -3]), np.array([1e-6, 2e6]),
                                                   np.array([1.0, 4]), np.array([0.5, 0.25])),
                   "a token that dwarfs the other": (np.array([1, 2000.0]), np.array([3.0, -1]), np.array([4, 0.5]),
                                                     np.array([-2.0, 0]), np.array([0.5, 1])),
                   "forty tokens": (*(np.tile(part, 8) for part in FIVE), np.linspace(0, 1, 40))},
          returns="mean", tolerance=(1e-8, 1e-11),
          promises={"All $g$ are above 0": lambda g, y, g_h, y_h, p: min(g.min(), g_h.min()) > 0,
                    "with probability $p_t$": lambda g, y, g_h, y_h, p: 0 <= p.min() <= p.max() <= 1},
          otherwise="Take all p as 0 or 1 first: then nothing is random, and N/D of that document must come out. Then "
                    "the case of one token, which has two documents.",
          hints={"endless": "There are 2^T documents, too many to visit. For each λ the mean is a product."})
def mean_score(g, y, g_h, y_h, p, *, keeps=lambda p: p, slope=lambda lam: lam, others=_apart, ends=_ends, step=0.2,
               gap=None, part=lambda g, y: g * y):
    """mean_score(g, y, g_h, y_h, p): E[N/D] if token t is itself with probability p_t and replaced otherwise."""
    p = keeps(p)
    lam = np.exp(np.arange(*ends(np.minimum(g, g_h).sum(), np.maximum(g, g_h).sum()), step))[:, None]        # (M, 1)
    on, off = p * np.exp(-lam * g), (1 - p) * np.exp(-lam * g_h)                              # (M, T)
    N = ((on * part(g, y) + off * part(g_h, y_h)) * others(on + off)).sum(1)
    return float((gap or step) * (slope(lam)[:, 0] @ N))


def _ratio_of_means(g, y, g_h, y_h, p):
    return float((p * g * y + (1 - p) * g_h * y_h).sum() / (p * g + (1 - p) * g_h).sum())


mean_score.mistakes(
    ("That is the ratio of the means, E N/E D. The mean of a ratio is another number: D is random, too.",
     _ratio_of_means),
    ("p_t is the probability that token t is *itself*.", dict(keeps=lambda p: 1 - p)),
    ("A replaced token is in N as well, with g_h y_h: ν_t has two parts, as F_t has.",
     lambda g, y, g_h, y_h, p: mean_score.reference(g, y, g_h, 0 * y_h, p)),
    ("With λ = e^u, dλ is λ du: a factor λ is missing under the sum.", dict(slope=np.ones_like)),
    ("A sum is no integral yet: the step in u is missing.", dict(gap=1.0)),
    ("The factor of token t came in twice: what is in N stands *in place of* the factor that token t has in the "
     "product, which runs over the other tokens.", dict(others=lambda F: F.prod(1, keepdims=True))),
    ("In N, g_t stands before y_t: N is Σ g_t y_t.", dict(part=lambda g, y: y)))


@mean_score.suspect
def _(got, g, y, g_h, y_h, p):
    right = mean_score.reference(g, y, g_h, y_h, p)
    if kind(got) == "a number" and np.isnan(got):
        return ("0/0: at large λ a factor e^{−λg} is 0, and was divided by. Multiply those of the *other* tokens "
                "instead of dividing the product of all.")
    if kind(got) == "a number" and max(g.max(), g_h.max()) > 1e3:
        return ("Right for g of about 1, and not here. λ counts in units of 1/D: where does e^{−λD} begin to fall for "
                "the largest D that any document has, and where has it vanished for the smallest?")
    if kind(got) == "a number" and abs(got - right) < 0.02 * max(1, abs(right)):
        return "Near, but not exact. Is it drawn at random, the step too wide, or the range of u too short?"
    return None


# -- shapley ---------------------------------------------------------------------------------------------------------

def _gauss(T):
    return _nodes((T + 1) // 2)


def _nodes(n):
    x, w = np.polynomial.legendre.leggauss(n)
    return (x + 1) / 2, w / 2


@question((1, 2), {"three tokens, the first is [CLS]": THREE, "two tokens": TWO,
                   "one token": (g3[1:2], y3[1:2], h3[1:2], v3[1:2]), "five tokens": FIVE,
                   "a score that is a sum": (*FIVE[:2], FIVE[0], FIVE[3]),
                   "fourteen tokens": tuple(np.tile(part, 3)[:14] for part in FIVE)},
          returns="φ (T,)", tolerance=(1e-7, 1e-9),
          promises={"for $T$ up to 14": lambda *parts: {len(part) for part in parts} in [{T} for T in range(1, 15)],
                    "All $g$ are above 0": lambda g, y, g_h, y_h: min(g.min(), g_h.min()) > 0},
          lend=("mean_score",), instead="your `mean_score`",
          forbidden=("coursekit.explain.exact_shapley", "coursekit.explain.shapley_values",
                     "coursekit.explain.kernel_shap"),
          otherwise="Two tokens by hand, four documents: is φ_j the mean of what j adds to nothing and of what it adds "
                    "to the other token? And do they add up to f(all) − f(nothing)?",
          hints={"endless": "There are T! orders, too many to walk. If you sum over nodes: are there more than ⌈T/2⌉? "
                            "And does `mean_score` take all λ at once, as a column?",
                 "deg must be": "leggauss wants one node at least. Half of an odd T is to be rounded: which way?"})
def shapley(g, y, g_h, y_h, *, nodes=_gauss, there=lambda p: 1.0, gone=lambda p: 0.0):
    """shapley(g, y, g_h, y_h): (T,), the Shapley values of a head's tokens, exact but for rounding."""
    def mean(j, share, own):
        return mean_score.reference(g, y, g_h, y_h, np.where(np.arange(len(g)) == j, own, share))

    return np.array([sum(w * (mean(j, p, there(p)) - mean(j, p, gone(p))) for p, w in zip(*nodes(len(g)), strict=True))
                     for j in range(len(g))])


def _at(share):
    """shapley with one node."""
    return dict(nodes=lambda T: (np.array([share]), np.ones(1)))


shapley.mistakes(
    ("Too few nodes for an odd T: half of it is to be rounded *up*. n nodes are exact up to degree 2n − 1, and here "
     "the degree is T − 1.", dict(nodes=lambda T: _nodes(max(1, T // 2)))),
    ("All others were kept with p = ½ only: that is Banzhaf's value. Shapley's is a mean over all p from 0 to 1.",
     _at(0.5)),
    ("All others were there: that is what the score loses if one word goes.", _at(1.0)),
    ("No other word was there. A word may meet any set of the others. (Or are the nodes still those for −1 to 1?)",
     _at(0.0)),
    ("Twice as much: the weights of leggauss add up to 2, the length of the interval from −1 to 1.",
     dict(nodes=lambda T: (_gauss(T)[0], 2 * _gauss(T)[1]))),
    ("Nodes and weights are those for −1 to 1. p goes from 0 to 1: shift the one, halve the other.",
     dict(nodes=lambda T: (2 * _gauss(T)[0] - 1, 2 * _gauss(T)[1]))),
    ("The difference is between word j there and word j *as likely as the others*. It is between there and gone.",
     dict(gone=lambda p: p)),
    ("All are 0. Are the two arrays of probabilities one array with two names? `.copy()` makes a second one.",
     dict(there=lambda p: 0.0)),
    ("The sign is turned round: the score with the word, less the score without it.",
     dict(there=lambda p: 0.0, gone=lambda p: 1.0)))


@shapley.suspect
def _(got, g, y, g_h, y_h):
    right = shapley.reference(g, y, g_h, y_h)
    if kind(got) == "a NumPy array" and got.shape == right.shape and abs(got - right).max() < 0.1:
        return ("Near, but not exact. The integrand is a polynomial in p of degree T − 1: which rule integrates it "
                "without any error, and with how many nodes?")
    return None
