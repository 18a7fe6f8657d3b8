"""Lectures 09 to 10b: attention takes means, and what weights can and cannot show. Templates of the final."""

from fractions import Fraction
from itertools import combinations, permutations

from coursegrade.exam import Exercise, Part, factor, shown, table, template, until

from .curves import signed, whole


@template("09", minutes=10)
def answers_to_documents(draw):
    """A SLALOM found from five answers. Loudness against a reference is 2, 3 or 4, two different ones; the answers are
    whole, values differ, and no line gives all five. Steps 22, words 56."""
    loud_k, loud_m = draw.permutation([2, 3, 4])[:2].tolist()
    v_r = whole(draw, -4, 4)
    less = until(lambda found: found[0] != found[1] and (1 + loud_k) * found[0] != (1 + loud_m) * found[1],
                 lambda: draw.choice([-2, -1, 1, 2], 2).tolist())       # what r takes off k, and off m
    v_k, v_m = v_r + (1 + loud_k) * less[0], v_r + (1 + loud_m) * less[1]
    k_r, m_r = v_k - less[0], v_m - less[1]
    both, twice = Fraction(loud_k * v_k + loud_m * v_m, loud_k + loud_m), Fraction(loud_k * v_k + 2 * v_r, loud_k + 2)
    return Exercise("Five answers", (
        "A black box is a SLALOM without class token. Of five documents of the words k, m and r it says\n\n"
        + table(["document", "k", "m", "r", "k r", "m r"], [["score", v_k, v_m, v_r, k_r, m_r]])), (
        Part("How many times as loud as r are k and m, that is $e^{s(k) − s(r)}$ and $e^{s(m) − s(r)}$?", 3,
             "A word alone says its value. The share of k in k r is $ρ = (F − v_r)/(v_k − v_r) = "
             f"{loud_k}/{loud_k + 1}$, so $ρ/(1−ρ) = {loud_k}$; of m likewise {loud_m}.",
             "1: words alone say their values\n1: k, by ρ/(1 − ρ)\n1: m", (loud_k, loud_m)),
        Part("What does the box say of k m, and of k r r?", 3,
             f"$({loud_k} · {factor(v_k)} + {loud_m} · {factor(v_m)})/{loud_k + loud_m} = {shown(both)}$, and "
             f"$({loud_k} · {factor(v_k)} + 2 · {factor(v_r)})/{loud_k + 2} = {shown(twice)}$.",
             "1: k m\n1: r counts twice in both sums\n1: k r r", (both, twice)),
        Part("Why can a linear model with an intercept not be this box? Name a document, one of these or another, on "
             "which the two must part, and say how. When would such questions not have told the loudness?", 4,
             f"Attention takes a mean, a line adds. By k and k r a line gives r the weight {shown(-less[0])}; of m r "
             f"it then says ${shown(v_m)} {signed(-less[0])}$, and the box {shown(m_r)}. (Or k k: of it the box says "
             "what it says of k, and a line adds k's weight again.) Where two words have the same value every mixture "
             "has it, too: the pair tells nothing about loudness.",
             "1: attention takes a mean, a line adds\n1: a document: of the five, or with a word repeated\n"
             "1: what both say of it\n1: words of equal value", None)),
        {"scores": (v_k, v_m, v_r, k_r, m_r)})


@template("09b", minutes=10)
def softly_taken_away(draw):
    """A SLALOM of three words; what is lost if one goes. One word has a value above 0 and below the score; slopes
    differ, and all results are whole or have one digit. Steps 20, words 50."""
    parts = [(2, 1, 1), (3, 1, 1), (1, 3, 1), (5, 4, 1)][whole(draw, 0, 3)]
    alpha = [Fraction(one, sum(parts)) for one in parts]
    def make():
        F, *apart = whole(draw, 2, 7), -whole(draw, 1, 6), whole(draw, -6, 6)             # v − F of a and b, then of c
        apart.append(-parts[0] * apart[0] - parts[1] * apart[1])
        slope = [a * b for a, b in zip(alpha, apart, strict=True)]
        return [F + one for one in apart], F, slope, slope[0] / (1 - alpha[0])
    v, F, slope, lost = until(lambda found: 0 < found[0][0] and max(map(abs, found[0])) <= 12 and 0 not in found[2]
                              and len(set(found[0])) == len(set(found[2])) == 3
                              and all((10 * one).denominator == 1 for one in (*found[2], found[3])), make)
    return Exercise("Softly taken away", (
        "In a text of three different words a SLALOM has these shares and values:\n\n"
        + table(["word", "a", "b", "c"], [["share α", *alpha], ["value v", *v]])), (
        Part("What is its score F?", 1, f"$F = {shown(F)}$.", "1: Σ α v", F),
        Part("One word's loudness $e^s$ gets the factor λ, from 1 (there) to 0 (gone). What is the slope of F in λ at "
             "1, for a, for b and for c?", 3,
             f"$α(v − F)$: {shown(tuple(slope))}.", "1: α(v − F)\n2: the numbers; 1 if one is wrong", tuple(slope)),
        Part("What does the SLALOM say of the text without a? So what does it lose with a (a gain counts as a negative "
             "loss)?", 2,
             f"$F − F_{{without}} = \\frac{{α}}{{1−α}} (v − F) = {shown(lost)}$, so without a it says "
             f"{shown(F - lost)}.",
             "1: the score without a\n1: the loss, with its sign", (F - lost, lost)),
        Part("A program prints $v e^s$ for each word. Which sign does a get there, which one is right, what was "
             "forgotten, and why may a test that goes by the order of words not notice?", 4,
             "It has +, as v is above 0. Right is −: a says less than the others do and holds the score down. "
             "Forgotten was that λ stands in the denominator, too: the term −αF. A test of order asks who stands "
             "before whom, and this may stay although a sign is wrong.",
             "1: + there\n1: − is right, as v is below F\n1: the denominator\n1: a sign can be wrong with the order "
             "right", None)), {"alpha": tuple(alpha), "v": tuple(v)})


@template("09b", minutes=10)
def two_fits(draw):
    """R² of two fits on four reviews, and what was asked for them. The scores sum to 0. Steps 24, words 57."""
    scores = [3 * one for one in (-3, -1, 1, 3)]
    scores = [scores[i] for i in draw.permutation(4)]                   # their squares sum to 180
    near = until(lambda r: 0 < sum(one * one for one in r) <= 18 and sum(one * one for one in r) % 9 == 0,
                 lambda: whole(draw, -3, 3, 4))
    far = until(lambda r: 72 <= sum(one * one for one in r) <= 234 and sum(one * one for one in r) % 9 == 0,
                lambda: whole(draw, -12, 12, 4))
    length = 5 * whole(draw, 7, 12)
    pairs = 100 * whole(draw, 5, 12)
    r2 = [1 - sum(one * one for one in rest) / 180 for rest in (far, near)]
    said = [[a + b for a, b in zip(scores, rest, strict=True)] for rest in (far, near)]
    return Exercise("Two fits", (
        f"Two SLALOMs were fitted to one model: one to {pairs} pairs of words, one to {pairs} copies of a review of "
        f"{length} words, with [UNK] in place of some. On other pairs the first has $R^2 = 1.00$. Four reviews (made "
        "up for this examination):\n\n"
        + table(["review", "1", "2", "3", "4"], [["the model", *scores], ["fitted to pairs", *said[0]],
                                                 ["fitted to copies", *said[1]]])), (
        Part("What is $R^2$ of both fits on these reviews? (The model's scores sum to 0, their squares to 180.)", 4,
             f"$1 − Σ(y − F)^2 / Σy^2$ with $Σy^2 = 180$: $1 − {sum(o * o for o in far)}/180 = {shown(r2[0])}$ for "
             f"the fit to pairs and $1 − {sum(o * o for o in near)}/180 = {shown(r2[1])}$ for the other.",
             "1: the squared errors, summed\n1: 1 less their share of 180, which may be below 0\n1: pairs\n1: copies",
             tuple(r2)),
        Part("How many tokens, [CLS] not counted, has the model read for each of the fits?", 2,
             f"${pairs} · 2 = {2 * pairs}$ and ${pairs} · {length} = {pairs * length}$.", "1: pairs\n1: copies",
             (2 * pairs, pairs * length)),
        Part("Why was $R^2$ on other pairs no warning? Which of the two do you print beside a review, which beside "
             "“what one word does to another”, and what do you try first on a model that may read the order of "
             "words?", 4,
             "New pairs are the same question again: $R^2$ belongs with the length of its texts. Beside a review: the "
             "fit to copies, it follows the model there; for two words: the fit to pairs. First shuffle the review: if "
             "the score moves by as much as one wants to explain, no fit that sees no order will do.",
             "1: other pairs are the same question; R² with its length\n1: copies, for the review\n1: pairs, for two "
             "words\n1: shuffle first", None)),
        {"scores": tuple(scores), "pairs": tuple(said[0]), "copies": tuple(said[1]), "n": pairs, "length": length})


@template("10", minutes=9)
def two_orders(draw):
    """Kendall's τ of attention with leave-one-out for five words, by size; and with one tie in each of two. Sizes of
    leave-one-out differ; at least one of its signs is negative; no τ is ±1. Steps 26, words 40."""
    def make():
        alpha = (draw.permutation([4, 9, 14, 23, 31, 38])[:5] / 100).tolist()
        loo = (draw.permutation([2, 5, 9, 14, 21, 30])[:5] * draw.choice([-1, 1], 5) / 10).tolist()
        return alpha, loo, draw.permutation([1, 2, 3, 3, 5]).tolist(), draw.permutation([1, 2, 2, 4, 6]).tolist()
    def balance(x, y):
        sign = [((x[i] > x[j]) - (x[i] < x[j])) * ((y[i] > y[j]) - (y[i] < y[j])) for i, j in combinations(range(5), 2)]
        return sum(sign)
    alpha, loo, one, other = until(lambda found: min(found[1]) < 0 < max(found[1])
                                   and 0 < abs(balance(found[0], [abs(x) for x in found[1]])) < 10
                                   and 0 < abs(balance(*found[2:])) < 9, make)
    S, tied = balance(alpha, [abs(x) for x in loo]), balance(one, other)
    return Exercise("Two orders", (
        "Five words of a text:\n\n" + table(["word", "1", "2", "3", "4", "5"], [
            ["attention", *alpha], ["leave-one-out", *loo], ["explainer P", *one], ["explainer Q", *other]])), (
        Part("Weights have no sign, so compare sizes. What is Kendall's τ of attention and leave-one-out?", 4,
             f"Of ten pairs {(10 + S) // 2} stand in the same order in both and {(10 - S) // 2} do not: "
             f"$τ = {shown(Fraction(S, 10))} = {shown(S / 10)}$.",
             "1: sizes of leave-one-out\n1: ten pairs\n1: pairs in the same order less the others\n1: the "
             "number", S / 10),
        Part("P and Q each have a tie. What is $τ_b$ of the two, where a tie counts neither way and the sum is "
             "divided by $\\sqrt{m n}$, with the numbers $m$ and $n$ of pairs that are no tie in P, and in Q?", 3,
             f"$m = n = 9$. The pairs in the same order less the others are {shown(tied)}, so $τ_b = "
             f"{shown(Fraction(tied, 9))}$.",
             "1: m = n = 9\n1: tied pairs count 0\n1: the number", Fraction(tied, 9)),
        Part("“By this τ one sees how well attention explains the text.” Name three things that τ does not say.", 3,
             "Which of the two is wrong: only that at least one is. Whether a word speaks for or against, as sizes "
             "were compared. Whether the disagreement is about words that matter: all pairs count alike, also the "
             "small ones. And what other orders reach: leave-one-out and the gradient agree hardly better with each "
             "other.",
             "3: one each for three of: which one errs; signs; small words count as large ones; one text; no control "
             "(another explainer, chance); agreement would be no proof", None)),
        {"attention": tuple(alpha), "leave-one-out": tuple(loo), "P": tuple(one), "Q": tuple(other)})


@template("10", minutes=9)
def other_weights(draw):
    """An adversary with two words, and how far it is. Its weights have one digit; the score lies between the two
    words' numbers. To halve word 2's weight, or to leave it out, gives others. Steps 18, words 64."""
    def make():
        alpha = (draw.permutation([(5, 3, 2), (6, 3, 1), (4, 5, 1), (7, 2, 1)][whole(draw, 0, 3)]) / 10).tolist()
        y = whole(draw, -4, 6, 3)
        score = round(sum(a * b for a, b in zip(alpha, y, strict=True)), 6)
        return alpha, y, score, round((score - y[2]) / (y[0] - y[2]), 6) if y[0] != y[2] else 0
    alpha, y, score, first = until(lambda found: len(set(found[1])) == 3 and 0 < found[3] < 1
                                   and round(10 * found[3], 4) % 1 == 0 and abs(found[3] - found[0][0]) > 0.05
                                   and 2 * found[1][1] != found[1][0] + found[1][2] and found[2] != found[1][1]
                                   and {found[1][0], found[1][2]} != {0, 1}, make)
    rival = [first, 0, round(1 - first, 6)]
    apart = round(sum(abs(a - b) for a, b in zip(alpha, rival, strict=True)) / 2, 6)
    even = Fraction(sum(y), 3)
    return Exercise("Other weights", (
        "The score of one head is $Σ α y$ over three words:\n\n"
        + table(["word", "1", "2", "3"], [["weight α", *alpha], ["says y", *y]])), (
        Part("An adversary keeps the score and puts all weight on the words 1 and 3. How large are the two weights?", 3,
             f"The score is {shown(score)}. $a · {factor(y[0])} + (1 − a) · {factor(y[2])} = {shown(score)}$ gives "
             f"$a = {shown(first)}$; word 3 has {shown(rival[2])}.",
             "1: the score\n1: one equation for a\n1: both weights", (first, rival[2])),
        Part("What is the total variation of its weights and the model's? What would the score be with even "
             "weights?", 3,
             f"Half the sum of the differences: {shown(apart)}. With even weights: ${shown(even)}$.",
             "1: half the sum of absolute differences\n1: the number\n1: the mean of y", (apart, even)),
        Part("Why do such weights nearly always exist? Why do they not show that the model's weights were not used? "
             "What would a rival have to be, to worry you?", 4,
             "The score and the sum 1 are two equations, and there are as many weights as words: with many words "
             "nearly all are free. The rival is a row of numbers for one text; no model has computed it, and the score "
             "is computed from the model's weights all the same. To worry: one trained model, for all texts, that "
             "says the same and looks elsewhere.",
             "1: one or two equations, many weights\n1: numbers for one text, no model made them\n1: the score did "
             "use the model's weights\n1: one trained model, all texts", None)), {"alpha": tuple(alpha), "y": tuple(y)})


@template("10", minutes=10)
def shuffled_weights(draw):
    """All six orders of a peaked and of a nearly even row of weights. What the words say differs, and its mean is not
    0; the first head's own score is neither the largest nor the smallest, the two scores differ, and neither is that
    mean. Steps 22, words 55."""
    peaked = [[.7, .2, .1], [.8, .1, .1], [.6, .3, .1]][whole(draw, 0, 2)]
    y = until(lambda y: len(set(y)) == 3 and 0 in y and sum(y) in (-6, -3, 3, 6)
              and 3 * sorted(y)[1] != sum(y), lambda: whole(draw, -6, 6, 3))
    mean = sum(y) // 3
    def score(row):
        return round(sum(a * b for a, b in zip(row, y, strict=True)), 6)
    rows = until(lambda rows: len({*map(score, rows), mean}) == 3 and min(map(score, permutations(rows[0])))
                 < score(rows[0]) < max(map(score, permutations(rows[0]))),
                 lambda: [draw.permutation(one).tolist() for one in (peaked, [.4, .3, .3])])
    scores = [score(row) for row in rows]
    far = [max(permutations(row), key=lambda order: abs(score(order) - score(row))) for row in rows]
    largest = [round(abs(score(order) - one), 6) for order, one in zip(far, scores, strict=True)]
    return Exercise("Shuffled weights", (
        "Two heads read the same three words, with weights of their own:\n\n" + table(["word", "1", "2", "3"], [
            ["says y", *y], ["first head's α", *rows[0]], ["second head's α", *rows[1]]])), (
        Part("What are the two scores $Σ α y$?", 2, f"{shown(scores[0])} and {shown(scores[1])}.",
             "1: first\n1: second", tuple(scores)),
        Part("Shuffle the weights among the words, in all six orders. By how much does each score move at most?", 3,
             f"First: {shown(largest[0])}, with {shown(far[0])}; second: {shown(largest[1])}, with {shown(far[1])}. "
             "(Only the orders that give the largest score and the smallest have to be looked at.)",
             "1: the orders that can be farthest\n1: first\n1: second", tuple(largest)),
        Part("What is the mean of the six scores, for either head?", 1,
             f"Each weight stands at each word in two orders: the mean of y, {shown(mean)}.", "1: the mean of y", mean),
        Part("Somebody says of another model: “Shuffled weights hardly move the probability, so the weights do not "
             "matter.” Give two reasons why the change can be small although the weights matter, and say what must "
             "stand beside it. What does this test not show, however it comes out?", 4,
             "The weights may be nearly even, so that shuffling hardly changes them; and a probability hardly moves "
             "where the sigmoid is flat. Beside it: how even the weights are, how certain the model is. Not shown: "
             "which words matter, or that the weights are no explanation; they are still those that were used.",
             "1: nearly even before\n1: sigmoid flat\n1: how even the weights, how certain the model, or how far the "
             "weights moved\n1: not which words matter; or not that weights are no explanation", None)),
        {"y": tuple(y), "first": tuple(rows[0]), "second": tuple(rows[1])})


@template("10b", minutes=10)
def trained_rivals(draw):
    """Adversaries trained at different prices, and a name that was forbidden. The best at the price asked for is clear
    by more than 0.005. Steps 18, words 62."""
    js = [.08 + .01 * whole(draw, 0, 4), .20 + .01 * whole(draw, 0, 4), .44 + .01 * whole(draw, 0, 4)]
    def make():
        step, near = whole(draw, 2, 4) / 10, whole(draw, 2, 4) / 100    # what R pays for distance
        change = [near, whole(draw, 4, 9) / 100, near + step * (js[2] - js[0])]
        w = whole(draw, 1, 6) / 10
        return change, w, [round(a - w * b, 6) for a, b in zip(change, js, strict=True)]
    change, w, aims = until(lambda found: found[0][0] < found[0][1] < found[0][2]
                            and sorted(found[2])[1] - min(found[2]) > .005, make)
    js, change = [round(one, 2) for one in js], [round(one, 4) for one in change]
    threshold = round((change[2] - change[0]) / (js[2] - js[0]), 6)
    weight, less, y = whole(draw, 4, 6) / 10, whole(draw, 1, 2) / 10, whole(draw, 2, 4)
    needed = round(weight * y / less, 6)
    return Exercise("Trained to look elsewhere", (
        "Three adversaries were trained against one reader, and a second seed of the reader stands beside them (made "
        "up for this examination):\n\n" + table(["", "P", "Q", "R", "second seed"], [
            ["mean JS of the weights", *js, .22], ["mean Δp", *change, .16]])
        + "\n\nAn adversary's aim, the smaller the better, is mean Δp − w · mean JS; Δp is how far the probability "
          "moves."), (
        Part(f"Which of the three is the best for $w = {shown(w)}$, and what is its aim? Above which $w$ is R "
             "better than P?", 4,
             f"The aims are {shown(tuple(aims))}: {'PQR'[aims.index(min(aims))]}, {shown(min(aims))}. R pays "
             f"{shown(round(change[2] - change[0], 4))} more for {shown(round(js[2] - js[0], 4))} more of distance: "
             f"above $w = {shown(threshold)}$.",
             "1: the aims\n1: the best\n1: difference over difference\n1: the price",
             ("PQR"[aims.index(min(aims))], min(aims), threshold)),
        Part(f"Another reader leans on a name: weight {shown(weight)}, and the name says {shown(y)}. A penalty "
             f"brings the weight down to {shown(less)}. What must the name say now, for the same part in the score?", 2,
             f"${shown(weight)} · {shown(y)} = {shown(round(weight * y, 4))} = {shown(less)} · {shown(needed)}$: "
             f"{shown(needed)}.",
             "1: α y stays\n1: the number", needed),
        Part("What does the column of the second seed do to “Q looks elsewhere”? Why is a low weight on the name no "
             "proof that the leak is mended, and which test would be one?", 4,
             "Two seeds of the same reader are as far apart, so a JS of this size is no news; a map of one is no map "
             "of the other. The penalty was on the map: values can grow in return. Turn the names round in the texts "
             "and count how often the reader is right: this changes the input and looks at no map.",
             "1: the yardstick: another seed is as far (or: and moves p more than Q)\n1: the map was trained, values "
             "make up\n1: turn the names round\n1: count right answers, or verdicts that turn", None)),
        {"js": tuple(js), "change": tuple(change), "seed": (.22, .16), "w": w, "weight": weight, "less": less, "y": y})
