"""Checks of assignment 07 on Shapley values: from all subsets, from a weighted fit, from some orders; and on a text
about which they disagree with LIME."""

from attention_questions.prelude import Question, functools, itertools, math, np
from coursekit.models import load_weights

from . import solution
from .black_box import ALWAYS, LIBRARY, PASSED_ON, TURNED, boxed, either, scores_of, thrifty
from .copies import BAD, NO, perturbed
from .surrogate import fit

UNSORTED = (r"KeyError: '?\((?!.*\b(\d)\b.*\b\1\b).*\b(" + "|".join(f"{a}, {b}" for a in range(8) for b in range(a))
            + r")\b")
NOT_BAD = {"": 0.5, "#": 0.25, "bad": -2.0, "not bad": 3.0, "film": 0.25}
ALL_THREE = {"so": 0.5, "so bad": -1.0, "so bad good": 5.0, "good": 2.0}
NO_FUN = {"": 0.25, "no": -1.0, "fun": 0.5, "no plot": -0.75}


# -- shapley ---------------------------------------------------------------------------------------------------------

def all_masks(d):
    """All masks of d words, (2^d, d)."""
    return np.array(list(itertools.product([False, True], repeat=d)), dtype=bool)


shapley = Question(solution.shapley, (2, 3), {
    "replace": (NOT_BAD, ["not", "bad", "film"], "replace"),
    "three together": (ALL_THREE, ["so", "bad", "it", "is", "good"], "replace"),
    "a word that occurs twice": ({"bad": -2.0, "bad film": 1.0, "film": 0.5}, BAD, "replace"),
    "a word again and again": (NO_FUN, NO, "replace"),
    "delete": ({"#": 0.5, "bad": -1.25, "bad film": 0.75, "[UNK]": 4.0}, BAD, "delete"),
    "one word": ({"": 1.0, "good": 0.5}, ["good"], "replace"), "an empty document": ({"": 1.0}, [], "replace")},
    returns="φ (d,)", given=boxed, forbidden=LIBRARY, instead="`perturbed` and a sum over subsets",
    lend=("perturbed",),
    also=thrifty(lambda box, document, by: 2 ** len(set(document)),
                 "There are 2^d subsets of the words, and each has one score."),
    uses=lambda box, document, by: [
        (perturbed, (document, mask, by)) for mask in either(all_masks(len(set(document))))],
    why="With a dictionary from mask to score every term of the sum is two look-ups; 1/(d · binomial) is the same "
        "weight as with three factorials.",
    hints={UNSORTED: "As keys, (0, 1) and (1, 0) are two. A set of words wants one key, in whatever order its words "
                     "came: tuple(sorted(…)), frozenset(…), or a mask."})

WEIGHT = "/ (d * math.comb(d - 1, sum(S)))"
shapley.mistakes(
    ("All subsets count alike here. The weight depends on their size: it is the share of orders in which just S comes "
     "before the word.", f"{WEIGHT} → / 2 ** (d - 1)"),
    ("The weight is not right: S is one of the sets of the *other* d − 1 words, and after its s words and the word "
     "itself, d − 1 − s are left.", f"{WEIGHT} → / math.comb(d, sum(S))"),
    ("That is KernelSHAP's weight, which belongs into a fit. In this sum the weight is s! (d − 1 − s)! / d!.",
     f"{WEIGHT} → * ((d - 1) / (math.comb(d, sum(S)) * sum(S) * (d - sum(S))) if 0 < sum(S) < d else 1)"),
    ("The d! below the weights is missing.",
     f"{WEIGHT} → * math.factorial(sum(S)) * math.factorial(d - 1 - sum(S))"),
    ("All weights are 1/d here. So many sets have the same size that the weights of a word would sum to more than one.",
     f"{WEIGHT} → / d"),
    ("`//` drops what stands after the point: the weights are less than one, and became 0.",
     f"{WEIGHT} → * (1 // (d * math.comb(d - 1, sum(S))))"),
    ("The weights of one word sum to d here, and should sum to one. Where is the 1/d, or the d! below?",
     "d * math → math"),
    ("That is leave-one-out: only the set of all others was looked at.", f"{WEIGHT} → * (sum(S) == d - 1)"),
    ("That is what each word does alone: only the empty set was looked at.", f"{WEIGHT} → * (sum(S) == 0)"),
    ("The empty set is missing: S may be empty, too.", "if not S[j] → if any(S) and not S[j]"),
    (TURNED, "return phi → return -phi"),
    ("f(∅) was taken as 0. The copy in which all words are gone has a score as well, and it need not be 0.",
     "phi = → value[(False,) * d] = 0.0\n    phi ="),
    *ALWAYS)


@shapley.suspect
def _(got, box, document, by):
    right = solution.shapley(*boxed(box, document, by))
    if got.shape != right.shape:
        return
    if abs(got.sum() - right.sum()) > 1e-6:
        yield (f"The values sum to {got.sum():.4g}. They share out f(x) − f(∅) = {right.sum():.4g}, no more and no "
               "less. Do the weights of each word sum to one?")
    yield "The sum is right, the shares are not. By hand: in which orders does a word enter after which others?"


# -- kernel_shap -----------------------------------------------------------------------------------------------------

def _kernel(masks):
    d = masks.shape[1]
    return np.array([(d - 1) / (math.comb(d, s) * s * (d - s)) if 0 < s < d else 1e6 for s in masks.sum(1).tolist()])


kernel_shap = Question(solution.kernel_shap, (1, 0), {
    "all masks": (ALL_THREE, ["so", "bad", "good"], all_masks(3), "replace"),
    "all masks of four": (NO_FUN | {"plot .": 2.0, "#": 0.5}, [*NO, "."], all_masks(4), "delete"),
    "some masks": (NO_FUN | {"plot .": 2.0}, [*NO, "."], all_masks(4)[[15, 7, 12, 0, 10, 2, 13]], "replace"),
    "one word": ({"": 1.0, "good": 0.5}, ["good"], all_masks(1), "replace")},
    returns="β (d,)", given=boxed, forbidden=LIBRARY, instead="`fit` with other weights", lend=("perturbed", "fit"),
    also=thrifty(lambda box, document, masks, by: len(masks), "There is one copy for each mask."),
    uses=lambda box, document, masks, by: [
        *((perturbed, (document, mask, by)) for mask in either(masks)),
        (fit, (masks, scores_of(box, document, masks, by), _kernel(masks), 0.0))],
    why="Only the weights differ from LIME's. 10⁶ at both ends stands for the constraint, right to six digits.",
    otherwise="Print the weights beside the masks: of four words kept 1, 2 or 3 they are ¼, ⅛ and ¼, and a million at "
              "both ends.",
    hints={"ZeroDivision|not converge": "Where nothing or everything is kept the formula divides by 0 (NumPy's numbers "
                                        "give inf, and no error): there the weight is 10⁶."},
    promises={"For different masks": lambda predict, document, masks, by: (
                  len({*map(tuple, masks.tolist())}) == len(masks))})
kernel_shap.mistakes(
    ("These are the weights of LIME's kernel. KernelSHAP has its own.",
     "np.array(weights) → np.exp(-(100 * (1 - np.sqrt(masks.mean(1)))) ** 2 / 1250)"),
    ("Both ends weigh nothing here: then nothing makes β sum to f(x) − f(∅). They weigh 10⁶.", "1e6 → 0.0"),
    ("The binomial coefficient is missing: the weight of a size is shared by all sets of that size.",
     "math.comb(d, s) * → "),
    ("Those are the weights in the sum of question 6. The kernel has s·(d − s) below as well.",
     "(d - 1) / (math.comb(d, s) * s * (d - s)) → 1 / math.comb(d, s)"),
    ("KernelSHAP has no ridge: its ρ is 0.", "np.array(weights), 0.0 → np.array(weights), 1.0"),
    PASSED_ON)


# -- shapley_from_orders ---------------------------------------------------------------------------------------------

ORDERS = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0], [0, 2, 1]])
MORE = np.array([[3, 0, 4, 1, 2], [1, 4, 0, 2, 3], [2, 3, 1, 0, 4]])
TWICE = np.array([[1, 2, 0], [0, 1, 2], [1, 2, 0]])


def _passed(orders):
    """The different masks (n, d) through which orders and their reverses pass."""
    return np.unique([np.argsort(walk) < k for order in orders for walk in (order, order[::-1])
                      for k in range(len(order) + 1)], axis=0)


shapley_from_orders = Question(solution.shapley_from_orders, (2, 0), {
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
    why="First all masks of all walks, then one call, then the walks again. Errors are those of the n means of pairs: "
        "an order and its reverse are one sample.",
    promises={r"with an order of the $d \geq 1$ words in each row": lambda predict, document, orders, by: (
                  (np.sort(orders) == np.arange(len(set(document)))).all())})

ERROR = "a.std(0, ddof=1) / math.sqrt(n)"
shapley_from_orders.mistakes(
    ("Where are the reversed orders? Each order is used as it is, and backwards.",
     "(order, order[::-1]) → (order, order)"),
    ("An order that comes twice counts twice.", "n, d = → orders = np.unique(orders, axis=0)\n    n, d ="),
    ("order[0] is the word that enters first. Here order[j] was read as the *place* at which word j enters; np.argsort "
     "makes one of the other.", "n, d = → orders = np.argsort(orders, 1)\n    n, d ="),
    ("What was added went to the wrong words: entry 0 of φ belongs to word 0, not to the word that entered first.",
     "row[walk] → row[:]"),
    ("Order and reverse were added up. Their mean is asked for.", "+ added[1::2]) / 2 → + added[1::2])"),
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
    if np.allclose(phi, right) and len(orders) == 1:
        yield ("φ is right. From a single order, with its reverse, nobody can tell how much another would differ: all "
               "errors are math.inf.")
    if abs(phi.sum() - right.sum()) > 1e-6:
        yield (f"The values sum to {phi.sum():.4g}. What the words of one order add sums to f(x) − f(∅) = "
               f"{right.sum():.4g}, and so does every mean. Is a first or a last step missing?")
    if not np.allclose(phi, right):
        yield "The sum is right, the shares are not. Take one order by hand: who enters, and what is the score then?"


# -- apart -----------------------------------------------------------------------------------------------------------

MOST, WANTED = 8, 1.0       # distinct words, distance
_loaded = functools.cache(load_weights)

apart = Question(solution.apart, (1, 0), {"your text": ()},
    why="Two words of blame do not add up for this model: the second does less beside the first. LIME looks mostly at "
        "nearly whole copies, Shapley values at all sizes alike.",
    otherwise="Where the score is about a sum over the words, the two agree. Where does this model stop adding up? Try "
              "words that say the same, and few others: what does a second one add to the first?")


@apart.judge
def _(text):
    if type(text) is not str:
        yield "a text is due, one string", "Return the text itself, in quotes: the check cuts it into words."
    model = _loaded("imdb-peaky")
    document = model.tokenizer.tokenize(text)
    words = list(dict.fromkeys(document))
    if not 0 < len(words) <= MOST:
        yield (f"this text has {len(words)} distinct words; 1 to {MOST} are due",
               "Marks count as words, a word that comes again does not. (The two explainers were not asked yet.)")
    beta, _, _ = solution.lime(model.predict, document, all_masks(len(words)), "replace", 25, 0.0)
    phi = solution.shapley(model.predict, document, "replace")
    j = np.argmax(abs(beta - phi))
    if (distance := abs(beta - phi)[j]) < WANTED:
        yield (f"furthest apart is “{words[j]}”: LIME {beta[j]:+.2f}, Shapley {phi[j]:+.2f}, a distance of "
               f"{distance:.2f}; {WANTED} is due")


apart.mistakes(
    ("These words disagree, and their effects add up all the same: the two explainers see a sum.",
     "Awful waste → not good"),
    ("Words that the model hardly reads have nothing to disagree about.", "Awful waste → the film"))
