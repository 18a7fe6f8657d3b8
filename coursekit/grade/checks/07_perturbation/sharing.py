"""Checks of assignment 07 on Shapley values: all subsets, and some orders with their reverses."""

from itertools import permutations, product
from math import comb, factorial, inf

import numpy as np

from coursekit.grade.kit.same import kind, same

from .black_box import CLOSE, KEY, boxed, by_place, either, game, mistaken, on_boxes, other, thrifty, vectors, words_of
from .copies import perturbed

__all__ = ["shapley", "shapley_from_orders"]


# -- shapley ---------------------------------------------------------------------------------------------------------

def _subsets(d):
    """All masks of d words, (2^d, d)."""
    return np.array(list(product([False, True], repeat=d)), dtype=bool)


def _shared(f, d, weight):
    """φ (d,): the sum over all subsets S without j of weight(|S|) · (f(S and j) − f(S))."""
    value, phi = dict(zip(map(tuple, _subsets(d).tolist()), f(_subsets(d)))), np.zeros(d)
    for S, before in value.items():
        for j in range(d):
            if not S[j]:
                phi[j] += weight(sum(S)) * (value[S[:j] + (True,) + S[j + 1:]] - before)
    return phi


def _fair(d):
    return lambda s: 1 / (d * comb(d - 1, s))


UNSORTED = r"\n'?\((?!.*\b(\d)\b.*\b\1\b).*\b(" + "|".join(f"{a}, {b}" for a in range(8) for b in range(a)) + r")\b"
NOTHING = "f(∅) was taken as 0. The copy in which all words are gone has a score as well, and it need not be 0."
PLACES = ("The masks were laid over the *places* of the document. An entry holds for all occurrences of a word, as in "
          "`perturbed`.")
WHOLE = "The array is one of whole numbers, which cut off what stands behind the point: np.zeros(d) is one of decimals."
NOT_BAD = {"": 0.5, "bad": -2.0, "not bad": 3.0, "film": 0.25}
ALL_THREE = {"so": 0.5, "so bad": -1.0, "so bad good": 5.0, "good": 2.0}
BAD = ["bad", "film", ",", "bad"]


@on_boxes((2, 2), {"replace": (NOT_BAD, ["not", "bad", "film"], "replace"),
                   "three together": (ALL_THREE, ["so", "bad", "it", "is", "good"], "replace"),
                   "a word that occurs twice": ({"bad": -2.0, "bad film": 1.0, "film": 0.5}, BAD, "replace"),
                   "delete": ({"#": 0.5, "bad": -1.25, "bad film": 0.75, "[UNK]": 4.0}, BAD, "delete"),
                   "one word": ({"": 1.0, "good": 0.5}, ["good"], "replace"),
                   "an empty document": ({"": 1.0}, [], "replace")},
          prepare=boxed, instead="`perturbed` and a sum over subsets", tolerance=CLOSE,
          also=thrifty(lambda box, document, by: 2 ** len(words_of(document)),
                       "There are 2^d subsets of the words, and each has one score."),
          uses=lambda box, document, by: [
              (perturbed, (document, mask, by)) for mask in either(_subsets(len(words_of(document))))],
          hints={UNSORTED: "As keys, (0, 1) and (1, 0) are two. A set of words wants one key, in whatever order its "
                           "words came: tuple(sorted(…)), frozenset(…), or a mask.",
                 "KeyError": KEY, "shapes": "d words have 2^d masks of length d."})
def shapley(predict, document, by):
    """shapley(predict, document, by): φ (d,), the Shapley values of the distinct words."""
    d = len(words_of(document))
    return _shared(game(predict, document, by), d, _fair(d))


@shapley.suspect
def _(got, predict, document, by):
    if kind(got) in ("a list", "a tuple"):
        return "Return a NumPy array: np.array(…) makes one of a list."
    d, f = len(words_of(document)), game(predict, document, by)
    if kind(got) != "a NumPy array" or got.shape != (d,):
        return "There is one value for each *distinct* word: a NumPy array (d,)."
    if got.dtype.kind in "iu":
        return WHOLE
    right, fair = _shared(f, d, _fair(d)), _fair(d)

    def weighted(weight):
        return _shared(f, d, weight)

    if found := mistaken(got, right, d > 1 and [
            (weighted(lambda s: 1 / 2 ** (d - 1)), "All subsets count alike here. The weight depends on their size: it "
                                                   "is the share of orders in which just S comes before the word."),
            (_shared(by_place(predict, document, by), d, fair), PLACES),
            (weighted(lambda s: 1.0), "The differences were added up without a weight."),
            (weighted(lambda s: 1 / comb(d, s)), "The weight is not right: S is one of the sets of the *other* d − 1 "
             "words, and behind its s words and the word itself d − 1 − s are left."),
            (weighted(lambda s: factorial(s) * factorial(d - 1 - s)), "The weight is divided by d!."),
            (weighted(lambda s: d * fair(s)), "The weights of one word sum to d here, and should sum to one. Where is "
                                              "the 1/d, or the d! below?"),
            (weighted(lambda s: float(s == d - 1)), "That is leave-one-out: only the set of all others was looked at."),
            (weighted(lambda s: float(s == 0)), "That is what each word does alone: only the empty set was looked at."),
            (weighted(lambda s: s > 0 and fair(s)), "The empty set is missing: S may be empty, too."),
            (weighted(lambda s: s < d - 1 and fair(s)), "The set of all other words is missing."),
            (-right, "The sign is turned round: f(with the word) − f(without it)."),
            (_shared(_from_nothing(f), d, fair), NOTHING),
            (right[::-1], "The values stand in reverse, the last word first. Which bit of a number is which word?"),
            (_shared(game(predict, document, other(by)), d, fair), f"`by` is {by!r} here. Is it passed on to "
                                                                   "`perturbed`?")] or []):
        return found
    full, empty = f(np.array([[True] * d, [False] * d]))
    if abs(got.sum() - (full - empty)) > 1e-6:
        return (f"The values sum to {got.sum():.4g}. They share out f(x) − f(∅) = {full - empty:.4g}, no more and no "
                "less. Do the weights of each word sum to one?")
    return "The sum is right, the shares are not. By hand: in which orders does a word enter behind which others?"


# -- shapley_from_orders ---------------------------------------------------------------------------------------------

ORDERS = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0], [0, 2, 1]])
MORE = np.array([[3, 0, 4, 1, 2], [1, 4, 0, 2, 3], [2, 3, 1, 0, 4]])
TWICE = np.array([[1, 2, 0], [0, 1, 2], [1, 2, 0]])


def _passed(order):
    """The masks through which an order passes, from none to all, (d + 1, d)."""
    return np.argsort(order) < np.arange(len(order) + 1)[:, None]


def _entered(f, order):
    """What each word adds when the words enter in this order, (d,)."""
    return np.diff(f(_passed(order)))[np.argsort(order)]


def _from_nothing(f):
    """The game in which the copy without any word counts 0."""
    return lambda masks: f(masks) * masks.any(1)


def _samples(f, orders, reverse=True, entered=_entered):
    """What each word adds, (n, d): the mean of an order and its reverse."""
    return np.array([(entered(f, order) + entered(f, order[::-1])) / 2 if reverse else entered(f, order)
                     for order in orders])


def _standard_error(a):
    return a.std(0, ddof=1) / np.sqrt(len(a)) if len(a) > 1 else np.full(a.shape[1], inf)


@on_boxes((2, 3), {"four orders": (ALL_THREE, ["so", "bad", "good"], ORDERS, "replace"),
                   "three orders": (ALL_THREE, ["so", "bad", "it", "is", "good"], MORE, "replace"),
                   "a word twice, delete": ({"#": 0.5, "bad film ,": 6.0, "[UNK]": 4.0, "bad": 1.0}, BAD, TWICE,
                                            "delete"),
                   "a single order": (NOT_BAD, ["not", "bad", "film"], ORDERS[1:2], "replace"),
                   "one word": ({"": 1.0, "good": 0.5}, ["good"], np.array([[0], [0]]), "replace")},
          prepare=boxed, instead="`perturbed` and means over orders", tolerance=CLOSE, parts=("φ", "errors"),
          also=thrifty(lambda *arguments: inf,
                       "Orders have beginnings in common, such as the empty one: ask about each set of words once."),
          uses=lambda box, document, orders, by: [
              (perturbed, (document, mask, by)) for mask in either(np.unique(np.vstack([
                  _passed(order[::step]) for order in orders for step in (1, -1)]), axis=0))],
          hints={"KeyError": KEY,
                 "shapes": "orders is (n, d); an order of d words passes through d + 1 masks, from none to all."})
def shapley_from_orders(predict, document, orders, by):
    """shapley_from_orders(predict, document, orders, by): (φ (d,), standard errors (d,)), each order used both ways."""
    a = _samples(game(predict, document, by), orders)
    return a.mean(0), _standard_error(a)


@shapley_from_orders.suspect
def _(got, predict, document, orders, by):
    (n, d), f = orders.shape, game(predict, document, by)
    if type(got) not in (list, tuple) or len(got) != 2:
        return "Return both: φ and the standard errors."
    if not vectors(got, d, d):
        return "φ and the standard errors are NumPy arrays with an entry for each distinct word, (d,)."
    (phi, errors), a = got, _samples(f, orders)
    if phi.dtype.kind in "iu":
        return WHOLE
    right, due = a.mean(0), _standard_error(a)
    if same(phi, right, CLOSE):
        walks = np.array([_entered(f, order[::step]) for order in orders for step in (1, -1)])
        return _not_errors(errors, due, a, walks)
    full, empty = f(np.array([[True] * d, [False] * d]))
    added = _samples(f, orders, entered=lambda f, order: _entered(f, order)[order])
    upside_down = _samples(f, [np.argsort(order) for order in orders])

    def a_way(orders):
        return _samples(f, orders, reverse=False).mean(0)

    exact = np.mean([_entered(f, np.array(order)) for order in permutations(range(d))], 0) if d < 6 else right
    if found := mistaken(phi, right, [
            (due, "The two have changed places: first φ, then the standard errors."),
            (a_way(orders), "Where are the reversed orders? Each order is used as it is, "
                                                         "and from behind."),
            (a_way(orders[:, ::-1]), "Only the reversed orders were used. Each order is "
                                                                  "used as it is, and from behind."),
            ((a_way(orders) + a_way(d - 1 - orders)) / 2, "d − 1 − order holds other *words*. Reversed means that "
                                                          "the last word of the row enters first: order[::-1]."),
            (_samples(f, np.unique(orders, axis=0)).mean(0), "An order that comes twice counts twice."),
            (a_way(np.unique(np.vstack([orders, orders[:, ::-1]]), axis=0)),
             "An order that comes twice counts twice, also where one of the two is the reverse of another order."),
            (_samples(by_place(predict, document, by), orders).mean(0), PLACES),
            (0 * right, "All values are 0. (Were the masks of a walk one and the same list or array, which went on "
                        "changing? `append` makes no copy of it; mask.copy() and tuple(mask) do.)"),
            (upside_down.mean(0), "order[0] is the word that enters first. Here order[j] was read as the *place* at "
                                  "which word j enters; np.argsort makes one of the other."),
            (added.mean(0), "What was added went to the wrong words: entry 0 of φ belongs to word 0, not to the word "
                            "that entered first."),
            (-right, "The sign is turned round: f(with the word) − f(without it)."),
            (_samples(_from_nothing(f), orders).mean(0), NOTHING),
            (2 * right, "Order and reverse were added up. Their mean is asked for."),
            (n * right, "The sum over the orders came back. Their mean is asked for."),
            (_samples(game(predict, document, other(by)), orders).mean(0), f"`by` is {by!r} here. Is it passed on to "
                                                                           "`perturbed`?"),
            (exact, "Those are the exact values. Here only the given orders, and their reverses, are used.")]):
        return found
    if abs(phi.sum() - (full - empty)) > 1e-6:
        return (f"The values sum to {phi.sum():.4g}. What the words of one order add sums to f(x) − f(∅) = "
                f"{full - empty:.4g}, and so does every mean. Is a first or a last step missing?")
    return "The sum is right, the shares are not. Take one order by hand: who enters, and what is the score then?"


def _not_errors(errors, due, a, walks):
    """What is wrong with the standard errors, where φ is right. walks: what each word adds in each of the 2n orders."""
    n = len(a)
    if n == 1:
        return ("φ is right. From a single order, with its reverse, nobody can tell how much another would differ: all "
                "errors are math.inf.")
    spread = a.std(0, ddof=1)
    alone = ("φ is right. But the errors treat an order and its reverse as two samples. The reverse is no news: the n "
             "*means of pairs* are the samples.")
    return mistaken(errors, due, [
        (a.std(0) / np.sqrt(n), "φ is right. The standard deviation of n samples divides by n − 1: ddof=1."),
        (spread, "φ is right. That is how much one sample varies. The *mean* of n varies less, by √n."),
        (spread / n, "φ is right. The standard deviation is divided by √n, not by n."),
        (spread ** 2 / n, "φ is right. That is the variance of the mean. Its root is the standard error."),
        (spread / np.sqrt(2 * n), "φ is right. There are n samples, not 2n: an order and its reverse are one."),
        *((walks.std(0, ddof=ddof) / np.sqrt(count), alone) for ddof in (0, 1) for count in (1, n, 2 * n))]) or (
        "φ is right. The errors come from n samples: what a word adds, the mean of an order and its reverse.")
