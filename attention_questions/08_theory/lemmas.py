"""Checks of assignment 08's bonus: an inequality that fails, and Shapley values from half of the answers."""

from attention_questions.prelude import Question, math, np

from . import solution

# -- fails -----------------------------------------------------------------------------------------------------------

def sides(x, y, p, c, C, n):
    """Left and right side of Lemma D.1 as printed; X and Y take the values x_i and y_i with probability p_i."""
    mean = p @ y
    variance = p @ (y - mean) ** 2
    left = abs(p @ (x / y) - p @ x / mean)
    return left, C * variance / (c * n) ** 3 + C ** 2 * math.sqrt(variance) / (c * n) ** 2


fails = Question(solution.fails, (1, 0), {"your example": ()},
    why="E X is 0 and Y hardly varies: the first term on the right is then small, and the second, which has C twice, "
        "is made small by the unit.",
    otherwise="Print both sides. Then divide every x, every y, c and C by 10, and print them again: which of the three "
              "terms moves, and how?")


@fails.judge
def _(got):
    try:
        x, y, p = (np.array(values, float) for values in got[:3])
        c, C, n = (float(number) for number in got[3:])
    except (TypeError, ValueError):
        yield ("got something else than three lists and three numbers",
               "Return x, y, p, c, C, n: three lists of one length and three numbers.")
    assumed = ("An example counts if what the lemma assumes is true of it: |X| ≤ C and cn ≤ Y ≤ Cn, c and C above 0, "
               "and n = 1, 2, …")
    law = x.shape == y.shape == p.shape == (x.size,) and (p >= 0).all() and abs(p.sum() - 1) <= 1e-9
    if not law or n < 1 or n % 1:
        yield "x, y and p have one length, p are probabilities, n is a whole number from 1 on", assumed if law else (
            "Each pair (x_i, y_i) has its own probability p_i, none below 0; together they are 1.")
    near = 1e-9 * C
    if not (0 < c <= C and max(abs(x)) <= C + near and min(y) >= c * n - near and max(y) <= C * n + near):
        yield f"0 < c ≤ C, |x| ≤ C and cn ≤ y ≤ Cn are due, with c = {c:g}, C = {C:g} and n = {n:g}", assumed
    if not (c * n) ** 3:
        yield "c³n³ is 0 in a double", "Too small for a double: its cube is 0. About 1e-6 is small enough."
    left, right = sides(x, y, p, c, C, n)
    advice = ("Y never changes here: both sides are 0, and 0 ≤ 0 is true." if min(y) == max(y) else
              "The inequality fails here already. Now make it fail by more." if left > right else None)
    if not left >= 10 * right > 0:
        yield f"left side {left:.3g}, printed bound {right:.3g}", advice


# -- from_pairs ------------------------------------------------------------------------------------------------------

def drawn(d, seed):
    """Differences, shape (2,)·(d − 1), that are whole numbers."""
    return np.random.default_rng(seed).integers(-5, 6, (2,) * (d - 1)).astype(float)


from_pairs = Question(solution.from_pairs, (1, 0), {
    "three words": (np.array([[1.0, 4.0], [2.0, 9.0]]),), "two words": (np.array([-1.0, 5.0]),),
    "one word": (np.array(3.0),), "four words": (drawn(4, 1),), "seven words": (drawn(7, 2),)},
    returns="φ (d,)", tolerance=(1e-9, 1e-11), instead="the differences",
    why="Each difference counts twice: with w(s) for the words in S, and, its sign turned, with w(d − s) for the "
        "others. f itself, of which half is unknown, is never needed.",
    forbidden=("coursekit.explain.shapley_values", "coursekit.explain.kernel_shap", "coursekit.explain.gp_shapley"),
    promises={"of length 2": lambda differences: set(differences.shape) <= {2} and differences.ndim < 10},
    otherwise="Three words by hand: write down the six orders, and for word 1 which score is added and which is taken "
              "away in each. Then collect them as f(S) − f(all others): how often does each come, out of six?",
    hints={"must be|negative": "Something is counted from below zero. w(s) is for a set with j in it, s = 1 … d: is a "
                               "weight asked for a set of no words? Or is it that of a set without j?"})
from_pairs.mistakes(
    ("Words outside S got the weight of S. They are in the complement, and how many words has that?",
     "-w[d - s] → -w[s]"),
    ("Only the words in S got something. Each difference also tells of the words that are not in S: they are in its "
     "complement, whose difference is known as well.", "-w[d - s] → 0"),
    ("A complement's difference has the other sign: f(the others) − f(S).", "-w[d - s] → w[d - s]"),
    ("All subsets count alike here: that is Banzhaf's value. Shapley's weighs them by how many orders they stand for.",
     "math.factorial(s - 1) * math.factorial(d - s) / math.factorial(d) → 0.5 ** (d - 1)"),
    ("The weight is one over the number of subsets of s words. But j has to be the *last* of the s: that is one order "
     "in s.", "math.factorial(s - 1) → math.factorial(s)"),
    ("Half of what is due: the ½ belongs to the odd part of f; here w(s) times the whole difference counts.",
     "return phi → return phi / 2"),
    ("Twice what is due. Each subset with j in it counts once, be it S or a complement.",
     "return phi → return 2 * phi"),
    ("Word 0 has no axis and is in every S: it comes first, before the words that have one.",
     "(1, *rest) → (*rest, 1)"),
    ("The right numbers in another order: the first axis belongs to word 1, the last to word d − 1.",
     "(1, *rest) → (1, *rest[::-1])"),
    ("The values have to add up to the last difference, f(all) − f(none): yours are a multiple of what is due.",
     "/ math.factorial(d) → "),
    ("Word 0 is in every S: each difference counts for it, + w(s) · difference.",
     "for j in range(d) → for j in range(1, d)"))
