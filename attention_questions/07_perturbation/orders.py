"""Checks of assignment 07 on Shapley values from some orders and their reverses."""

from attention_questions.prelude import Question, np

from . import solution
from .black_box import LIBRARY, PASSED_ON, boxed, either, thrifty
from .copies import BAD, NO, perturbed
from .sharing import ALL_THREE, NO_FUN, NOT_BAD

ORDERS = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0], [0, 2, 1]])
MORE = np.array([[3, 0, 4, 1, 2], [1, 4, 0, 2, 3], [2, 3, 1, 0, 4]])
TWICE = np.array([[1, 2, 0], [0, 1, 2], [1, 2, 0]])


def _passed(orders):
    """The different masks (n, d) through which orders and their reverses pass."""
    return np.unique([np.argsort(walk) < k for order in orders for walk in (order, order[::-1])
                      for k in range(len(order) + 1)], axis=0)


shapley_from_orders = Question(solution.shapley_from_orders, (1, 0), {
    "four orders": (ALL_THREE, ["so", "bad", "good"], ORDERS, "replace"),
    "three orders": (ALL_THREE, ["so", "bad", "it", "is", "good"], MORE, "replace"),
    "a word twice, delete": ({"#": 0.5, "bad film ,": 6.0, "[UNK]": 4.0, "bad": 1.0}, BAD, TWICE, "delete"),
    "a word again and again": (NO_FUN, NO, ORDERS[:2], "replace"),
    "a single order": (NOT_BAD, ["not", "bad", "film"], ORDERS[1:2], "replace"),
    "one word": ({"": 1.0, "good": 0.5}, ["good"], np.array([[0], [0]]), "replace")},
    returns="φ (d,), errors (d,)", given=boxed, forbidden=LIBRARY, instead="`perturbed` and means over orders",
    lend=("perturbed",),
    also=thrifty(lambda box, document, orders, by: len(_passed(orders)),
                 "Only sets that an order or its reverse passes through are needed, and orders have beginnings in "
                 "common, such as the empty one: ask about each set of words once."),
    uses=lambda box, document, orders, by: [(perturbed, (document, mask, by)) for mask in either(_passed(orders))],
    promises={r"with an order of the $d \geq 1$ words in each row": lambda predict, document, orders, by: (
                  (np.sort(orders) == np.arange(len(set(document)))).all())})

ERROR = "a.std(0, ddof=1) / math.sqrt(n)"
shapley_from_orders.mistakes(
    ("Where are the reversed orders? Each order is used as it is, and from behind.",
     "(order, order[::-1]) → (order, order)"),
    ("An order that comes twice counts twice.", "n, d = → orders = np.unique(orders, axis=0)\n    n, d ="),
    ("order[0] is the word that enters first. Here order[j] was read as the *place* at which word j enters; np.argsort "
     "makes one of the other.", "n, d = → orders = np.argsort(orders, 1)\n    n, d ="),
    ("What was added went to the wrong words: entry 0 of φ belongs to word 0, not to the word that entered first.",
     "row[walk] → row[:]"),
    ("Order and reverse were added up. Their mean is asked for.", "(added[0::2] + added[1::2]) / 2 → "
                                                                  "added[0::2] + added[1::2]"),
    PASSED_ON,
    ("φ is right. But the errors treat an order and its reverse as two samples. The reverse is no news: the n *means "
     "of pairs* are the samples.", f"{ERROR} → added.std(0, ddof=1) / math.sqrt(2 * n)"),
    ("φ is right. The standard deviation of n samples divides by n − 1: ddof=1.", "ddof=1 → ddof=0"),
    ("φ is right. That is how much one sample varies. The *mean* of n varies less, by √n.", " / math.sqrt(n) → "),
    ("φ is right. The standard deviation is divided by √n, not by n.", "math.sqrt(n) → n"),
    ("φ is right. That is the variance of the mean. Its root is the standard error.", f"{ERROR} → ({ERROR}) ** 2"))


@shapley_from_orders.suspect
def _(got, box, document, orders, by):
    phi, right = np.asarray(got[0]), solution.shapley_from_orders(*boxed(box, document, orders, by))[0]
    if phi.shape != right.shape or phi.dtype.kind != "f" or np.allclose(got[1], right):
        return
    if np.allclose(phi, right):
        yield ("φ is right. From a single order, with its reverse, nobody can tell how much another would differ: all "
               "errors are math.inf.") if len(orders) == 1 else None
    if abs(phi.sum() - right.sum()) > 1e-6:
        yield (f"The values sum to {phi.sum():.4g}. What the words of one order add sums to f(x) − f(∅) = "
               f"{right.sum():.4g}, and so does every mean. Is a first or a last step missing?")
    yield "The sum is right, the shares are not. Take one order by hand: who enters, and what is the score then?"
