"""Checks of assignment 08's bonus: an inequality that fails, and an integral for every a."""

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
    left, right = sides(x, y, p, c, C, n)
    advice = ("Y never changes here: both sides are 0, and 0 ≤ 0 is true." if min(y) == max(y) else
              "The inequality fails here already. Now make it fail by more." if left > right else None)
    if not left >= 10 * right > 0:
        yield f"left side {left:.3g}, printed bound {right:.3g}", advice


# -- humped ----------------------------------------------------------------------------------------------------------

humped = Question(solution.humped, (1, 0), {
    "a = 1": (1.0,), "a = 10": (10.0,), "a = ½": (0.5,), "a = −½": (-0.5,), "a = 0": (0.0,), "a = 0.09": (0.09,),
    "a = −0.05": (-0.05,), "a = 0.0003": (0.0003,), "a = 10⁻⁵": (1e-5,), "a = 2 · 10⁻⁶": (2e-6,),
    "a is tiny": (1e-9,), "a is tiny and negative": (-1e-7,), "a is huge": (1e9,), "a is nearly −1": (-1 + 1e-9,)},
    returns="integral", tolerance=(1e-9, 1e-16),
    promises={"$a$ goes from $-1 + 10^{-9}$ to $10^9$": lambda a: -1 + 1e-9 <= a <= 1e9},
    otherwise="At a = 0 the integral is 1/6, at a = 1 it is 3/2 − 2 log 2. Which of the two do you get?",
    hints={"ZeroDivision|division by zero": "The closed form is 0/0 at a = 0, the integral is not: what is it there, "
                                            "and near there?"})
humped.mistakes(
    ("That is Lemma D.2, ∫ x/(1+ax) dx: the factor 1 − x is missing.", "((k + 2) * (k + 3)) → (k + 2)",
     "(a * (a + 2) - 2 * (1 + a) * math.log1p(a)) / (2 * a ** 3) → (a - math.log1p(a)) / a ** 2"),
    ("The series is for small |a|. A negative a is below 0.1 as well: is an abs(…) missing?", "abs(a) → a"),
    ("Twenty terms of the series do not reach that far: the twenty-first of a = ½ is still in the ninth digit. For all "
     "but small |a| there is the closed form.", "0.1 → 0.9"),
    ("Right where a is not small. In the series the integral of x^(k+1) − x^(k+2) is 1/(k+2) − 1/(k+3): here every "
     "number below is too small by 1.", "(k + 2) * (k + 3) → (k + 1) * (k + 2)"),
    ("The signs of the series alternate: 1/(1 + ax) = 1 − ax + a²x² − …", "(-a) ** k → a ** k"),
    ("These are the first terms of the series, 1/6 − a/12. They are near enough where a is tiny, and nowhere else.",
     "abs(a) < 0.1 → True", "range(20) → range(2)"))


@humped.suspect
def _(got, a):
    if 0.01 < abs(a) < 0.1:
        yield ("Right elsewhere, and not here, where the closed form has its digits and a short series has not: the "
               "first term that is left out has to be below the ninth digit.")
    if 0 < abs(a) < 0.01:
        yield ("Right elsewhere, and not where a is small: there the terms of the closed form cancel, and nothing but "
               "rounding is left. What is a series good for?")
    if a > 1e6 or a < -0.99:
        yield ("Right for ordinary a. Here 1/(1 + ax) rises steeply at one end, and a sum over a grid, or a series in "
               "a, does not follow it. The closed form does.")
