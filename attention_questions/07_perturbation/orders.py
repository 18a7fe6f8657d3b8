"""Checks of assignment 07 on Shapley values from some orders and their reverses."""

from math import inf

import numpy as np

from .black_box import PASSED_ON, boxed, either, game, on_boxes, other_way, thrifty, words_of
from .copies import NO, perturbed
from .sharing import ALL_THREE, BAD, NO_FUN, NOT_BAD

__all__ = ["shapley_from_orders"]

ORDERS = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0], [0, 2, 1]])
MORE = np.array([[3, 0, 4, 1, 2], [1, 4, 0, 2, 3], [2, 3, 1, 0, 4]])
TWICE = np.array([[1, 2, 0], [0, 1, 2], [1, 2, 0]])


def _passed(order):
    """The masks through which an order passes, from none to all, (d + 1, d)."""
    return np.argsort(order) < np.arange(len(order) + 1)[:, None]


def _masks(walks):
    """The different masks through which walks pass, (n, d)."""
    return np.unique(np.vstack([_passed(walk) for walk in walks]), axis=0)


def _entered(value, order):
    """What each word adds when the words enter in this order, (d,). value: {mask as bytes: score}."""
    return np.diff([value[mask.tobytes()] for mask in _passed(order)])[np.argsort(order)]


def _both_ways(orders):
    return [order[::step] for order in orders for step in (1, -1)]


def _error(a, ddof=1):
    return a.std(0, ddof=ddof) / np.sqrt(len(a)) if len(a) > 1 else np.full(a.shape[1], inf)


def _of_two(added):
    """The means of each two rows."""
    return (added[0::2] + added[1::2]) / 2


@on_boxes((1, 0), {"four orders": (ALL_THREE, ["so", "bad", "good"], ORDERS, "replace"),
                   "three orders": (ALL_THREE, ["so", "bad", "it", "is", "good"], MORE, "replace"),
                   "a word twice, delete": ({"#": 0.5, "bad film ,": 6.0, "[UNK]": 4.0, "bad": 1.0}, BAD, TWICE,
                                            "delete"),
                   "a word again and again": (NO_FUN, NO, ORDERS[:2], "replace"),
                   "a single order": (NOT_BAD, ["not", "bad", "film"], ORDERS[1:2], "replace"),
                   "one word": ({"": 1.0, "good": 0.5}, ["good"], np.array([[0], [0]]), "replace")},
          returns="φ (d,), errors (d,)", given=boxed, instead="`perturbed` and means over orders",
          lend=("perturbed",),
          also=thrifty(lambda box, document, orders, by: len(_masks(_both_ways(orders))),
                       "Only sets that an order or its reverse passes through are needed, and orders have beginnings "
                       "in common, such as the empty one: ask about each set of words once."),
          uses=lambda box, document, orders, by: [
              (perturbed, (document, mask, by)) for mask in either(_masks(_both_ways(orders)))],
          promises={r"with an order of the $d \geq 1$ words in each row": lambda predict, document, orders, by: (
                        (np.sort(orders) == np.arange(len(words_of(document)))).all())})
def shapley_from_orders(predict, document, orders, by, *, ask=game, walks=_both_ways, entered=_entered, samples=_of_two,
                        errors=lambda a, added: _error(a)):
    """shapley_from_orders(predict, document, orders, by): (φ (d,), standard errors (d,)), each order used both ways."""
    ways = walks(orders)
    masks = _masks(ways)
    value = dict(zip((mask.tobytes() for mask in masks), ask(predict, document, by)(masks), strict=False))
    added = np.array([entered(value, walk) for walk in ways])           # (2n, d)
    a = samples(added)
    return a.mean(0), errors(a, added)


shapley_from_orders.mistakes(
    ("Where are the reversed orders? Each order is used as it is, and from behind.",
     dict(walks=list, samples=lambda added: added)),
    ("An order that comes twice counts twice.", dict(walks=lambda orders: _both_ways(np.unique(orders, axis=0)))),
    ("order[0] is the word that enters first. Here order[j] was read as the *place* at which word j enters; np.argsort "
     "makes one of the other.", dict(walks=lambda orders: _both_ways(np.argsort(orders, 1)))),
    ("What was added went to the wrong words: entry 0 of φ belongs to word 0, not to the word that entered first.",
     dict(entered=lambda value, walk: _entered(value, walk)[walk])),
    ("Order and reverse were added up. Their mean is asked for.", dict(samples=lambda added: 2 * _of_two(added))),
    (PASSED_ON, dict(ask=other_way)),
    ("φ is right. But the errors treat an order and its reverse as two samples. The reverse is no news: the n *means "
     "of pairs* are the samples.", dict(errors=lambda a, added: _error(added) if len(a) > 1 else _error(a))),
    ("φ is right. The standard deviation of n samples divides by n − 1: ddof=1.",
     dict(errors=lambda a, added: _error(a, ddof=0))),
    ("φ is right. That is how much one sample varies. The *mean* of n varies less, by √n.",
     dict(errors=lambda a, added: _error(a) * np.sqrt(len(a)))),
    ("φ is right. The standard deviation is divided by √n, not by n.",
     dict(errors=lambda a, added: _error(a) / np.sqrt(len(a)))),
    ("φ is right. That is the variance of the mean. Its root is the standard error.",
     dict(errors=lambda a, added: _error(a) ** 2)))


@shapley_from_orders.suspect
def _(got, box, document, orders, by):
    phi, right = np.asarray(got[0]), shapley_from_orders.reference(*boxed(box, document, orders, by))[0]
    if phi.shape != right.shape or phi.dtype.kind != "f" or np.allclose(got[1], right):
        return None
    if np.allclose(phi, right):
        return ("φ is right. From a single order, with its reverse, nobody can tell how much another would differ: all "
                "errors are math.inf.") if len(orders) == 1 else None
    if abs(phi.sum() - right.sum()) > 1e-6:
        return (f"The values sum to {phi.sum():.4g}. What the words of one order add sums to f(x) − f(∅) = "
                f"{right.sum():.4g}, and so does every mean. Is a first or a last step missing?")
    return "The sum is right, the shares are not. Take one order by hand: who enters, and what is the score then?"
