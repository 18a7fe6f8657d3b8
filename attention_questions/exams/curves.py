"""Lectures 08 and 08b: two theorems, one curve, and what samples cost. Templates of the final."""

from fractions import Fraction
from math import comb

from coursegrade.exam import Exercise, Part, factor, shown, table, template, until


def signed(number):
    """A further term of a sum: + 3 or − 3.

    >>> signed(-3)
    '− 3'
    """
    return f"{'−' if number < 0 else '+'} {shown(abs(number))}"


def whole(draw, low, high, size=None):
    """A whole number from low to high, or a list of `size` of them."""
    return draw.integers(low, high + 1, size).tolist() if size else int(draw.integers(low, high + 1))


@template("08", minutes=9)
def one_curve(draw):
    """The curve of a word and three of its means. b is even, c is ±3 or ±6, and δ(0), leave-one-out, Shapley
    value and LIME's limit are four different numbers. Steps 20, words 48."""
    def make():
        a, b, c = whole(draw, -4, 4), 2 * whole(draw, -3, 3), 3 * int(draw.choice([-2, -1, 1, 2]))
        return a, b, c, a + b // 2 + c // 3, (10 * a + 5 * b + 3 * c) / 10
    a, b, c, shapley, lime = until(
        lambda found: found[0] and found[1] and len({found[0], sum(found[:3]), *found[3:]}) == 4, make)
    return Exercise("One curve", (
        "Each other word of a long text is kept with chance $p$, else replaced. One word, kept instead of replaced, "
        f"is then worth on average $δ(p) = {shown(a)} {signed(b)} p {signed(c)} p^2$."), (
        Part("What is it worth where every other word is replaced? What does leave-one-out give it?", 2,
             f"$δ(0) = {shown(a)}$. Leave-one-out is the right end, $δ(1) = {shown(a + b + c)}$.",
             "1: δ(0)\n1: δ(1)", (a, a + b + c)),
        Part("What is its Shapley value?", 2,
             f"The plain mean, $\\int δ(p) dp = {shown(a)} {signed(b)} / 2 {signed(c)} / 3 = {shown(shapley)}$.",
             "1: it is the integral from 0 to 1\n1: the number", shapley),
        Part("What does LIME give it with very many samples, without kernel and ridge?", 3,
             f"The mean with the weight $6p(1−p)$, of which $1$, $p$ and $p^2$ have the means $1$, $1/2$ and $3/10$: "
             f"${shown(a)} {signed(b)} / 2 {signed(c)} · 3/10 = {shown(lime)}$.",
             "1: the weight 6p(1 − p)\n1: the mean of p² is 3/10, or the integral\n1: the number", lime),
        Part("Somebody may have this word replaced and no other, and wants to know what happens. Which number do you "
             "quote, why is none of the others wrong, and for which models are they all equal?", 3,
             "Leave-one-out: only there are all the others kept. The others are means over texts in which other words "
             "are gone as well, so they answer another question. They are equal for all words if the model adds: then "
             "each curve is flat.",
             "1: leave-one-out, as the other words stay\n1: the others are answers about texts with more holes\n"
             "1: models that add; flat curves", None)), {"a": a, "b": b, "c": c})


@template("08", minutes=9)
def loud_and_silent(draw):
    """A loud word that says nothing, among words that praise or blame. The score is whole with it and without it.
    Steps 13, words 68."""
    m, g = until(lambda mg: mg[1] > 1, lambda: (whole(draw, 2, 6), whole(draw, 2, 6)))
    y = int(draw.choice([-1, 1])) * (m + g) * (m + 1)
    with_it, without = m * y // (m + g), m * y // (m + 1)
    return Exercise("A loud word", (
        f"One head, no padding, no [CLS]. A text has {m} words of loudness $g = 1$ that say $y = {shown(y)}$ each, "
        f"and one of loudness $g = {g}$ that says $y = 0$. What replaces a word, [UNK], has $g = 1$ and $y = 0$."), (
        Part("What is the score of the text, and what is it with the loud word replaced?", 3,
             f"${m} · {factor(y)} / ({m} + {g}) = {shown(with_it)}$, and ${m} · {factor(y)} / ({m} + 1) = "
             f"{shown(without)}$.", "1: sums of g y over sums of g\n1: the score\n1: the score with [UNK]",
             (with_it, without)),
        Part("What does leave-one-out give the loud word? And the formula that the paper prints "
             "for LIME, $\\frac{3}{2} (α y − α_h y_h)$, $h$ for replaced by [UNK]?", 3,
             f"Leave-one-out: ${shown(with_it)} − {factor(without)} = {shown(with_it - without)}$. The formula: 0, as "
             "$y$ and $y_h$ are 0.",
             "1: whole less replaced\n1: the number, with its sign\n1: 0", (with_it - without, 0)),
        Part("Why is the first not 0, and what of a word counts in place of $y$? With which two models, whose answers "
             "everybody knows, would you have tested the printed formula? Say what comes out, and what should.", 4,
             "The word takes attention from those that speak, and pulls the score to what it says itself: a word "
             "counts by $y − f$, its distance from the score. A deaf model (all equally loud) adds, LIME gives its "
             "weights, the formula 3/2 of them. A constant model (all say the same) has no important word, and the "
             "formula still finds those that are louder than [UNK].",
             "1: it takes attention away from the others\n1: y − f, its distance from the score\n1: deaf: 3/2 where 1 "
             "is right\n1: constant: not 0 where 0 is right", None)),
        {"m": m, "g": g, "y": y, "others": 1, "silent": 0})


@template("08b", minutes=10)
def asked_in_pairs(draw):
    """Shapley values of a game of three words, two of which interact, and all three; then a pair of complements is
    changed. All values are whole and different; none is what its word adds first, or last, or the mean of the two.
    Steps 24, words 52."""
    def make():
        return whole(draw, -3, 5, 3), 2 * int(draw.choice([-3, -2, -1, 1, 2, 3])), whole(draw, 2, 9)
    one, pair, x = until(lambda found: len({found[0][0] + found[1] // 2, found[0][1] + found[1] // 2,
                                            found[0][2]}) == 3 and 0 not in found[0], make)
    (a, b, c), more = one, 1 if pair > 0 else -1
    scores = {"∅": 0, "a": a, "b": b, "c": c, "ab": a + b + pair, "ac": a + c, "bc": b + c,
              "abc": a + b + c + pair + 3 * more}
    values = (a + pair // 2 + more, b + pair // 2 + more, c + more)
    return Exercise("Three words", "The scores of a text of the words a, b and c, by the words that are kept:\n\n"
                    + table(["kept", *scores], [["score", *scores.values()]]), (
        Part("What are the Shapley values of a, b and c? Check their sum.", 5,
             "Averaged over the six orders, a twice first, after b, after c, twice last: "
             f"$φ_a = (2 · {factor(a)} {signed(a + pair)} {signed(a)} + 2 · {factor(a + pair + 3 * more)})/6 = "
             f"{shown(values[0])}$; likewise $φ_b = {shown(values[1])}$, $φ_c = {shown(values[2])}$. They sum to "
             f"{shown(sum(values))}, the score of the whole text.",
             "1: what a word adds, averaged over orders (or subsets with weights 1/3, 1/6, 1/6, 1/3)\n1: φ of a\n"
             "1: φ of b\n1: φ of c\n1: the sum is checked", values),
        Part(f"Somebody adds {x} to the score of a alone, and {x} to that of b and c without a. By how much do the "
             "three values change, and why?", 3,
             "By 0, 0 and 0: the two sets are complements, and Shapley values are sums of differences f(S) − "
             f"f(complement). (Or: in two orders of six a comes first and gains {x}, in two last and loses {x}; b and "
             "c gain it in one and lose it in one.)",
             "1: not at all, for a\n1: nor for b and c\n1: complements, only the difference counts; or gained and lost "
             "in as many orders", (0, 0, 0)),
        Part("What does this say about how to ask a model for Shapley values? What can such questions not show?", 2,
             "Ask in pairs, a set and its complement: what both share, the even part, is gone. So their differences do "
             "not show it: not what two words do together.",
             "1: ask in pairs\n1: the even part is not seen: pairs of words", None)),
        {"scores": tuple(scores.values()), "x": x})


@template("08b", minutes=10)
def sizes_of_copies(draw):
    """KernelSHAP's weights for 4 or 5 words, and what is asked of whom. Steps 18, words 65."""
    d, full = whole(draw, 4, 5), whole(draw, -5, 9)
    none = until(lambda none: none != full, lambda: whole(draw, -4, 4))
    one = [Fraction(d - 1, comb(d, s) * s * (d - s)) for s in range(1, d)]
    together = [comb(d, s) * weight for s, weight in enumerate(one, 1)]
    ends = (together[0] + together[-1]) / sum(together)
    return Exercise("Which copies count?", (
        f"KernelSHAP fits a line to the scores of copies of a text of {d} words. A copy that keeps $s$ of $d$ words "
        f"has the weight $\\frac{{d − 1}}{{c s (d − s)}}$, where $c$ is the number of copies that keep $s$ words. "
        f"The whole text has the score {shown(full)}, and with all words replaced it is {shown(none)}."), (
        Part(f"Which weight has a single copy, for each $s$ from 1 to {d - 1}?", 3,
             f"{', '.join(f'$s = {s}$: ${shown(weight)}$' for s, weight in enumerate(one, 1))}.",
             "1: how many copies there are of each size\n2: the weights; 1 if one size is wrong", tuple(one)),
        Part("Which share of all this weight have the copies that keep one word or lack one?", 2,
             f"A size together has $(d−1)/(s(d−s))$: {shown(tuple(together))}. The first and the last are "
             f"${shown(ends)}$ of the sum.", "1: the weights of whole sizes\n1: the share", ends),
        Part("What do all values sum to, and which two copies make sure of it?", 2,
             f"To ${shown(full)} − {factor(none)} = {shown(full - none)}$: for the whole text and for none of it "
             "the formula's weight is infinite, so the line must go through both.",
             "1: the number\n1: all and none: the line must go through both, or weight infinite", full - none),
        Part("Why may LIME's kernel give other numbers for the same model, and neither be wrong? For which models do "
             "they agree?", 3,
             "LIME's kernel prefers copies that are nearly whole, KernelSHAP both ends: two questions. LIME asks "
             "which line is best near the text, KernelSHAP how the score is shared out. They agree for models that "
             "add: there a word is worth the same in any company.",
             "1: LIME's prefers nearly whole copies\n1: two questions: best line near the text and shares of the "
             "score, or two means of one curve\n1: models that add", None)),
        {"d": d, "full": full, "none": none})
