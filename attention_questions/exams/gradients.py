"""Slopes and paths (lecture 06)."""

from fractions import Fraction

from coursegrade.exam import Exercise, Part, shown, template, until


@template("06", minutes=10)
def slopes_by_hand(draw):
    """Slopes of a net with two bends, in two systems of coordinates. Steps 25, words 36."""
    words = draw.permutation(["dull", "warm", "plot", "cast", "slow", "fine"])[:2].tolist()

    def net():
        a, b = draw.choice([-2, -1, 1, 2, 3], (2, 2)).tolist()
        p, r = draw.choice([-3, -2, 2, 3], (2, 2)).tolist()
        return a, b, p, r, draw.choice([-4, -3, -2, 2, 3, 4], 2).tolist()

    def bends(found):
        a, b, p, r, _ = found
        return p[0] * a[0] + p[1] * b[0], r[0] * a[1] + r[1] * b[1]

    def slopes(found):
        _, _, p, r, c = found
        return [[c[0] * p[i], c[1] * r[i]] for i in (0, 1)]             # where both bends are open

    def mean(slope, stretched=1):
        return Fraction(slope[0], 2 * stretched) + Fraction(slope[1], 2)

    def telling(found):                                                 # G-avg changes its sign with the coordinates
        h, (da, db) = bends(found), slopes(found)
        return min(h) > 0 and h[0] != h[1] and da != db and mean(da) * mean(da, 2) < 0

    a, b, p, r, c = found = until(telling, net)
    h, (da, db) = bends(found), slopes(found)
    f = c[0] * h[0] + c[1] * h[1]
    product = [sum(x * y for x, y in zip(one, slope, strict=True)) for one, slope in ((a, da), (b, db))]
    text = f"""Two words have the embeddings $a = ({shown(a)})$ (*{words[0]}*) and $b = ({shown(b)})$ \
(*{words[1]}*). The score is

$$
f = {c[0]} \\cdot \\mathrm{{ReLU}}({p[0]} a_1 + {p[1]} b_1) + {c[1]} \\cdot \\mathrm{{ReLU}}({r[0]} a_2 + {r[1]} b_2).
$$
""".replace("+ -", "- ")
    return Exercise("A small net", text, (
        Part("Compute $f$.", 2, f"Inside: {shown(h[0])} and {shown(h[1])}, both above 0; $f = {c[0]} · {h[0]} + {c[1]} "
             f"· {h[1]} = {f}$.".replace("+ -", "- "), "1: both sums\n1: the score", f),
        Part("Compute $∇_a f$ and $∇_b f$.", 2,
             f"Both sums are above 0, so both ReLUs let their sum through. $∇_a f = ({shown(da)})$, $∇_b f = "
             f"({shown(db)})$.", "1: the first\n1: the second", (*da, *db)),
        Part("Compute gradient × input of both words, and compare their sum with $f$.", 2,
             f"*{words[0]}* {shown(product[0])}, *{words[1]}* {shown(product[1])}; their sum is $f = {f}$: on this "
             "side of the bends $f$ is linear without a constant.", "1: both products\n1: the sum, and that it is "
             "$f$", (*product, f)),
        Part("Somebody stores all first coordinates doubled, $z_1 = 2 e_1$, and halves the weights that read them, so "
             f"that no score changes. What are G-avg of *{words[0]}*, the mean of its two slopes, and its gradient × "
             "input, before and after?", 3,
             f"The first slope is halved: G-avg is {shown(mean(da))} before and **{shown(mean(da, 2))}** after. "
             f"Gradient × input stays **{shown(product[0])}**: twice the coordinate, half the slope.",
             "1: the slope in the first coordinate is halved\n1: both G-avg\n1: gradient × input stays",
             (mean(da), mean(da, 2), product[0])),
        Part(f"What follows for somebody who reads in the sign of G-avg whether *{words[0]}* speaks for or against?", 2,
             "The sign belongs to the coordinates, which nobody chose and no score shows: the same model has another "
             "one. So it says nothing about the side.",
             "1: the same model, the same scores, another number\n1: so the sign is no side of the word", None)),
        {"a": a, "b": b, "c": c, "p": p, "r": r})


@template("06", minutes=11)
def flat_at_the_end(draw):
    """A score that rises and stays: slope, leaving out, average slope, four points. Steps 19, words 66."""
    def numbers():
        return int(draw.integers(2, 7)), int(draw.integers(1, 6)), int(draw.integers(4, 13))     # slope, bend, x

    def telling(found):                                                 # one of four points is on the slope, none at c
        k, c, x = found
        return c < x < 4 * c and 4 * c % x and x != k * c and len({*found}) == 3

    k, c, x = until(telling, numbers)
    points = [Fraction(i * x, 4) for i in (1, 2, 3, 4)]
    steep = sum(point < c for point in points)
    four = Fraction(steep * k * x, 4)
    text = f"""A score of one number, $f(x) = {k} \\cdot \\min(x, {c})$: it rises with slope {k} and stays the \
same from ${c}$ on. The text has $x = {x}$, the baseline is 0."""
    return Exercise("A plateau", text, (
        Part("Compute $f$ at the baseline and at the text, the slope at the text, and gradient × input.", 2,
             f"$f(0) = 0$, $f({x}) = {k * c}$; the slope at {x} is **0**, and so is gradient × input.",
             "1: both scores\n1: slope and product", (0, k * c, 0)),
        Part("What does leave-one-out say, with the baseline in the place of $x$? What is the average slope on the "
             "way, and what do integrated gradients say?", 3,
             f"Leave-one-out: {k * c} − 0 = **{k * c}**. The slope is {k} on {shown(Fraction(c, x))} of the way and 0 "
             f"on the rest, on average {shown(Fraction(k * c, x))}; times the distance {x} that is **{k * c}**, too.",
             "1: leave-one-out\n1: average slope\n1: times the distance (or: by completeness)",
             (k * c, Fraction(k * c, x))),
        Part("Compute integrated gradients with four points, at the right ends of four equal steps. How large is the "
             "remainder, and how does one see it without knowing the integral?", 3,
             f"Points {shown(points)}: the slope is {k} at {steep} of them, on average {k} · {steep}/4 = "
             f"{shown(four / x)}, times {x}: {shown(four)}. The remainder is {k * c} − {shown(four)} = "
             f"**{shown(k * c - four)}**: shares should sum to $f(x) - f(0)$, which is known.",
             "1: the points, and the slope there\n1: the number\n1: compared with the change of the score",
             (four, k * c - four)),
        Part("A colleague says: “The slope is 0, so the model does not use $x$.” What is right about this sentence and "
             "what is not? Why is this case no rarity in texts?", 3,
             "Right: a small change of $x$ changes nothing here. Wrong: without $x$ the score would fall. Models are "
             "often surest about the strongest words, and there the curve is flat; the slope that is left may have "
             "either sign.",
             "1: it speaks about points nearby, and there it is right\n1: not about $x$ being gone\n1: strong words, "
             "or a sure model, are on a plateau (or: probabilities flatten out)", None)),
        {"k": k, "c": c, "x": x})


@template("06", minutes=10)
def product_of_two(draw):
    """Shares of a product, by slopes, paths and leaving out. Steps 21, words 60."""
    a, b, k = until(lambda found: found[0] * found[1] % 2 == 0 and len({*found}) == 3,
                    lambda: draw.integers(2, 7, 3).tolist())
    names = draw.permutation(["not", "very", "good", "bad", "really"])[:2].tolist()
    whole = a * b + k * a
    text = f"""Two words have one number each, *{names[0]}* $x = {a}$ and *{names[1]}* $y = {b}$. The score is $f(x, \
y) = x y + {k} x$, and the baseline is $(0, 0)$."""
    return Exercise("Two words that need each other", text, (
        Part("Compute $f$, and gradient × input of both words. What do the two sum to? Is it $f$?", 3,
             f"$f = {whole}$. Slopes $y + {k} = {b + k}$ and $x = {a}$: **{a * (b + k)}** and **{a * b}**, together "
             f"{a * (b + k) + a * b}, which is {a * b} too many: the product is counted twice.",
             "1: the score, and both slopes\n1: both products\n1: the sum is not $f$",
             (whole, a * (b + k), a * b, a * (b + k) + a * b)),
        Part("Compute integrated gradients along the straight path, and check their sum.", 2,
             f"At a share $s$ of the path the slopes are $s \\cdot {b} + {k}$ and $s \\cdot {a}$, on average "
             f"{shown(Fraction(b, 2) + k)} and {shown(Fraction(a, 2))}. Shares: "
             f"**{shown(Fraction(a * b, 2) + k * a)}** and **{shown(Fraction(a * b, 2))}**, together {whole}.",
             "1: the slopes along the path\n1: both shares, which sum to $f(x, y) - f(0, 0)$",
             (Fraction(a * b, 2) + k * a, Fraction(a * b, 2))),
        Part(f"Another path changes $x$ first, from 0 to {a}, and then $y$. What are the shares now, and their sum? "
             "Which of the two paths is the right one?", 3,
             f"$y$ is 0 while $x$ moves: *{names[0]}* gets **{k * a}**, *{names[1]}* **{a * b}**, together {whole} "
             "again. Neither is wrong: every path is complete, and shares out differently. The straight one treats "
             "both words alike.",
             "1: both shares\n1: complete as well\n1: a path is a choice (or: the straight one, by symmetry)",
             (k * a, a * b)),
        Part("What does leave-one-out say of both words, with 0 in the place of the word? Why does gradient × input "
             "say the same here, and why do the numbers not sum to the score?", 3,
             f"Without *{names[0]}* the score is 0, without *{names[1]}* {k * a}: **{whole}** and **{a * b}**. In each "
             "word alone $f$ is a straight line, so slope times distance is the change. Each is one experiment, no "
             "share: the product is lost in both.",
             "1: both numbers\n1: a straight line in each word\n1: the product is lost twice (or: one experiment each, "
             "no shares)", (whole, a * b))),
        {"x": a, "y": b, "k": k})
