"""Checks of assignment 08 on exact means and Shapley values of a softmax head, without visiting the 2^T documents."""

from attention_questions.prelude import Question, kind, np

from . import solution

THREE = np.array([1.0, 4.0, 2.0]), np.array([0.0, 3.0, -6.0]), np.array([1.0, 1.0, 0.5]), np.array([0.0, 1, 0])
ONE, TWO = (tuple(part[1:end] for part in THREE) for end in (2, 3))
FIVE = (np.array([1, 3, 0.5, 2, 0.25]), np.array([1.0, -2, 4, 3, -5]), np.array([2, 0.5, 2, 1, 0.125]),
        np.array([-1.0, 0, 1, -1, 2]))                                  # each changes something: the degree is 4


# -- mean_score ------------------------------------------------------------------------------------------------------

mean_score = Question(solution.mean_score, (1, 1), {
    "three tokens": (*THREE, np.array([1.0, 0.5, 0.5])), "certain": (*THREE, np.array([1.0, 1.0, 0.0])),
    "five tokens": (*FIVE, np.array([1.0, 0.3, 0.9, 0.5, 0.0])), "one token": (*ONE, np.array([0.25])),
    "g of millions or millionths": (np.array([1e6, 1e-6]), np.array([2.0, -3]), np.array([1e-6, 2e6]),
                                    np.array([1.0, 4]), np.array([0.5, 0.25])),
    "a token that dwarfs the other": (np.array([1, 2000.0]), np.array([3.0, -1]), np.array([4, 0.5]),
                                      np.array([-2.0, 0]), np.array([0.5, 1])),
    "forty tokens": (*(np.tile(part, 8) for part in FIVE), np.linspace(0, 1, 40))},
    returns="mean", tolerance=(1e-8, 1e-11),
    why="For each λ the mean over all documents is a product, one factor a token. The term of token t puts ν_t in the "
        "place of its own factor: the others are multiplied, and nothing is divided.",
    promises={"All $g$ are above 0": lambda g, y, g_h, y_h, p: min(g.min(), g_h.min()) > 0,
              "with probability $p_t$": lambda g, y, g_h, y_h, p: 0 <= p.min() <= p.max() <= 1},
    otherwise="Take all p as 0 or 1 first: then nothing is random, and N/D of that document must come out. Then the "
              "case of one token, which has two documents.",
    hints={"endless": "There are 2^T documents, too many to visit. For each λ the mean is a product."})
mean_score.mistakes(
    ("That is the ratio of the means, E N/E D. The mean of a ratio is another number: D is random, too.",
     lambda g, y, g_h, y_h, p: float((p * g * y + (1 - p) * g_h * y_h).sum() / (p * g + (1 - p) * g_h).sum())),
    ("p_t is the probability that token t is *itself*.", "low, → p = 1 - p\n    low,"),
    ("A replaced token is in N as well, with g_h y_h: ν_t has two parts, as F_t has.", " + off * g_h * y_h → "),
    ("With λ = e^u, dλ is λ du: a factor λ is missing under the sum.", "lam[:, 0] * → "),
    ("A sum is no integral yet: the step in u is missing.", ".sum() * step → .sum()"),
    ("The factor of token t came in twice: what is in N stands *in place of* the factor that token t has in the "
     "product, which runs over the other tokens.", "np.delete(on + off, t, 1) → (on + off)"),
    ("In N, g_t stands before y_t: N is Σ g_t y_t.", "on * g * y + off * g_h * y_h → on * y + off * y_h"))


@mean_score.suspect
def _(got, g, y, g_h, y_h, p):
    if kind(got) != "a number":
        return
    if np.isnan(got):
        yield ("0/0: at large λ a factor e^{−λg} is 0, and was divided by. Multiply those of the *other* tokens "
               "instead of dividing the product of all.")
    if max(g.max(), g_h.max()) > 1e3:
        yield ("Right for g of about 1, and not here. λ counts in units of 1/D: where does e^{−λD} begin to fall for "
               "the largest D that any document has, and where has it vanished for the smallest?")
    right = solution.mean_score(g, y, g_h, y_h, p)
    if abs(got - right) < 0.02 * max(1, abs(right)):
        yield "Near, but not exact. Is it drawn at random, the step too wide, or the range of u too short?"


# -- shapley ---------------------------------------------------------------------------------------------------------

shapley = Question(solution.shapley, (1, 1), {
    "three tokens, the first is [CLS]": THREE, "two tokens": TWO, "one token": ONE, "five tokens": FIVE,
    "a score that is a sum": (*FIVE[:2], FIVE[0], FIVE[3]),
    "fourteen tokens": tuple(np.tile(part, 3)[:14] for part in FIVE)},
    returns="φ (T,)", tolerance=(1e-7, 1e-9),
    why="Two integrals in place of 2^T documents: nodes for p, exact for a polynomial of degree T − 1, and for each "
        "the mean score twice, with token j there for certain and with it gone.",
    promises={"for $T$ up to 14": lambda *parts: {len(part) for part in parts} in [{T} for T in range(1, 15)],
              "All $g$ are above 0": lambda g, y, g_h, y_h: min(g.min(), g_h.min()) > 0},
    lend=("mean_score",), instead="your `mean_score`",
    forbidden=("coursekit.explain.exact_shapley", "coursekit.explain.shapley_values", "coursekit.explain.kernel_shap"),
    otherwise="Two tokens by hand, four documents: is φ_j the mean of what j adds to nothing and of what it adds to "
              "the other token? And do they add up to f(all) − f(nothing)?",
    hints={"endless": "There are T! orders, too many to walk. If you sum over nodes: are there more than ⌈T/2⌉? "
                      "And does `mean_score` take all λ at once, as a column?",
           "deg must be": "leggauss wants one node at least. Half of an odd T is to be rounded: which way?"})
NODES = "(nodes + 1) / 2, weights / 2"
SET = "there[j], gone[j] = 1, 0"
shapley.mistakes(
    ("Too few nodes for an odd T: half of it is to be rounded *up*. n nodes are exact up to degree 2n − 1, and here "
     "the degree is T − 1.", "(T + 1) // 2 → max(1, T // 2)"),
    ("All others were kept with p = ½ only: that is Banzhaf's value. Shapley's is a mean over all p from 0 to 1.",
     f"{NODES} → [0.5], [1]"),
    ("All others were there: that is what the score loses if one word goes.", f"{NODES} → [1.0], [1]"),
    ("No other word was there. A word may meet any set of the others. (Or are the nodes still those for −1 to 1?)",
     f"{NODES} → [0.0], [1]"),
    ("Twice as much: the weights of leggauss add up to 2, the length of the interval from −1 to 1.",
     "weights / 2 → weights"),
    *(("The nodes are those for −1 to 1. p goes from 0 to 1: shift the nodes, and halve the weights.",
       f"{NODES} → nodes, {weights}") for weights in ("weights", "weights / 2")),
    ("The difference is between word j there and word j *as likely as the others*. It is between there and gone.",
     f"{SET} → there[j] = 1"),
    ("All are 0. Are the two arrays of probabilities one array with two names? `.copy()` makes a second one.",
     "there, gone = np.full(T, p), np.full(T, p) → there = gone = np.full(T, p)"),
    ("The sign is turned round: the score with the word, less the score without it.",
     f"{SET} → there[j], gone[j] = 0, 1"))


@shapley.suspect
def _(got, *arguments):
    right = solution.shapley(*arguments)
    if kind(got) == "a NumPy array" and got.shape == right.shape and abs(got - right).max() < 0.1:
        yield ("Near, but not exact. The integrand is a polynomial in p of degree T − 1: which rule integrates it "
               "without any error, and with how many nodes?")
