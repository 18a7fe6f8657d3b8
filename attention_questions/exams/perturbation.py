"""What if words were gone? And what a table says (lectures 00 and 07)."""

from fractions import Fraction
from itertools import permutations
from math import comb

from coursegrade.exam import Exercise, Part, factor, shown, table, template, until

SETS = ["", "1", "2", "3", "12", "13", "23", "123"]
ADJECTIVES = ["dull", "warm", "clumsy", "bright", "flat", "funny"]
PLAIN = ["film", "with", "are", "plot", "camera", "minutes"]


@template("07", minutes=11)
def three_words(draw):
    """Leave-one-out and Shapley values of a game of three words. Steps 27, words 46."""
    words = ["not", *draw.permutation(ADJECTIVES)[:2].tolist()]

    def shapley(f):
        found = []
        for one in "123":
            gains = [f["".join(sorted(order[:order.index(one) + 1]))] - f["".join(sorted(order[:order.index(one)]))]
                     for order in permutations("123")]
            found.append(Fraction(sum(gains), 6))
        return found

    def game():
        return dict(zip(SETS, [int(draw.integers(-1, 2)), *draw.integers(-5, 6, 7).tolist()], strict=True))

    def telling(f):
        alone = [f["123"] - f["123".replace(one, "")] for one in "123"]
        return alone.count(0) == 1 and abs(shapley(f)[alone.index(0)]) >= 1 and len({*shapley(f)}) == 3 \
            and f["123"] != f[""]

    f = until(telling, game)
    gone, values = [f["123"] - f["123".replace(one, "")] for one in "123"], shapley(f)
    zero = words[gone.index(0)]
    names = [" ".join(words["123".index(one)] for one in some) or "(none)" for some in SETS]
    text = f"""A black box reads three words. The table has its score $f(S)$ for each set $S$ of words that stay; \
[UNK] stands in the place of the others.

{table(["$S$", *names[:4]], [["$f(S)$", *list(f.values())[:4]]])}

{table(["$S$", *names[4:]], [["$f(S)$", *list(f.values())[4:]]])}"""

    def steps(one):
        rest = "123".replace(one, "")
        gains = [f["".join(sorted(some + one))] - f[some] for some in ("", *rest, rest)]
        return f"$(2 · {factor(gains[0])} + {gains[1]} + {gains[2]} + 2 · {factor(gains[3])})/6$".replace(
            "+ -", "- ")

    return Exercise("A game of three words", text, (
        Part("What does leave-one-out say of each word?", 2, f"{', '.join(words)}: **{shown(gone)}**.",
             "1: the whole less the text without it\n1: all three", tuple(gone)),
        Part("Compute the Shapley values of all three words.", 4,
             "What a word adds to nothing (weight $1/3$), to each of the others ($1/6$ each), to both ($1/3$), so that "
             f"the first and the last difference count twice: {steps('1')}, {steps('2')}, {steps('3')}: "
             f"**{shown(values)}**.",
             "1: differences to nothing, to one, to two\n1: the weights\n1: two of the values\n1: the third",
             tuple(values)),
        Part("What must the three values sum to? Check it.", 1,
             f"$f(\\text{{all}}) - f(∅) = {f['123']} - {factor(f[''])} = {f['123'] - f['']}$.",
             "1: the number, compared with the sum of three values that were all computed", f["123"] - f[""]),
        Part(f"Leave-one-out says 0 of *{zero}*. Why is its Shapley value another, and which of the two is right?", 2,
             f"Beside both others *{zero}* changes nothing, beside fewer it does. Both are right: one asks about one "
             "removal from the whole text, the other shares out the score over all orders.",
             "1: it adds something where others are away\n1: two questions", None),
        Part("“Shapley values are the only fair division, so they are the truth about the model.” Name two choices "
             "that stand before these numbers and that no theorem made.", 2,
             "What stands in the place of a word that is away, and so $f(∅)$. What counts as a player: words, places, "
             "pieces. Which score: log-odds or probability.",
             "1: one of: the baseline ([UNK], deletion, something else); the players; the scale of the score; that "
             "fair means these axioms\n1: another of these", None)),
        {"f": list(f.values()), "words": words})


@template("07", minutes=10)
def how_many_go(draw):
    """LIME's law, 1/d a size; among copies that keep a word, or by a coin, it is another. Steps 23, words 40."""
    d, s = until(lambda found: found[1] < found[0] - 1 and 2 * found[1] != found[0] + 1 and comb(*found) * found[0]
                 != 2 ** found[0], lambda: draw.integers([4, 1], [10, 8]).tolist())
    law = Fraction(2 * (d - s), d * (d - 1))
    more = Fraction(sum(2 * k > d for k in range(1, d + 1)), d)
    text = f"""LIME makes copies of a text of $d = {d}$ different words: for each copy it draws how many words go, \
$1, …, {d}$ with equal probability, then which ones, each set of that size with equal probability."""
    return Exercise("How many words go?", text, (
        Part(f"How probable is it that exactly {s} of the words {'goes' if s == 1 else 'go'}? And that a given word "
             f"stays, if exactly {s} {'goes' if s == 1 else 'go'}?", 2, f"**1/{d}**; {d - s} of {d} words stay: "
             f"**{shown(Fraction(d - s, d))}**.", "1: the first\n1: the second", (Fraction(1, d), Fraction(d - s, d))),
        Part("How probable is it that a given word stays in a copy?", 2,
             f"The mean of $(d - s)/d$ over $s = 1, …, {d}$: "
             f"$({' + '.join(str(d - k) for k in range(1, d + 1))})/{d * d} = $ "
             f"**{shown(Fraction(d - 1, 2 * d))}**.", "1: the mean over the sizes\n1: the "
             "number", Fraction(d - 1, 2 * d)),
        Part(f"Among the copies in which a given word stayed: which share lacks exactly {s} "
             f"{'word' if s == 1 else 'words'}?", 2,
             f"Bayes: 1/{d} · {shown(Fraction(d - s, d))} over {shown(Fraction(d - 1, 2 * d))}, that is $2 (d - s)/(d "
             f"(d - 1))$, here with $s = {s}$: **{shown(law)}**.",
             "1: Bayes: probability of both over that of the condition\n1: the number", law),
        Part(f"A fair coin is thrown for each word instead. How probable is it then that exactly {s} "
             f"{'goes' if s == 1 else 'go'}?", 2,
             f"${comb(d, s)}/2^{d}$ = **{shown(Fraction(comb(d, s), 2 ** d))}**.", "1: all masks alike: $2^d$\n1: the "
             "number", Fraction(comb(d, s), 2 ** d)),
        Part("Which share of LIME's copies has lost more than half of the words? Why is “LIME looks near the text” not "
             "true of the drawing, and what else in LIME can make it true?", 3,
             f"**{shown(more)}**. Copies far away are drawn as often as near ones. How much they count is a matter of "
             "the kernel: a narrow one leaves hardly more than the copies that lack a single word, a wide one counts "
             "all nearly alike.",
             "1: the share\n1: far copies are drawn as often as near ones\n1: the kernel and its width", more)),
        {"d": d, "s": s})


@template("07", minutes=10)
def line_and_kernel(draw):
    """A line through weighted copies with one word kept or gone. Steps 22, words 54."""
    word = draw.choice(ADJECTIVES)

    def copies():
        w, (kept, gone) = draw.integers(1, 4, 4).tolist(), draw.integers(-4, 5, 2).tolist()
        return [kept + w[1], kept - w[0], gone - w[3], gone + w[2]], w, kept, gone      # weighted means: kept, gone

    def telling(found):
        f, w, kept, gone = found
        return sum(a * b for a, b in zip(f, w, strict=True)) % sum(w) == 0 and len({*f}) == 4 and (
            abs(kept) != abs(gone) and 2 * (kept - gone) != f[0] + f[1] - f[2] - f[3]
            and w[0] != w[1] and w[2] != w[3])                                          # so that the weights matter

    def squares(around):
        return sum(b * (a - c) ** 2 for a, b, c in zip(f, w, around, strict=True))

    f, w, kept, gone = until(telling, copies)
    mean = sum(a * b for a, b in zip(f, w, strict=True)) // sum(w)
    beta, plain = kept - gone, Fraction(f[0] + f[1] - f[2] - f[3], 2)
    left, total = squares([kept, kept, gone, gone]), squares([mean] * 4)
    fit = 1 - Fraction(left, total)
    text = f"""Four copies of a review, each without some of its words, are scored. $z$ is 1 where the word *{word}* \
is kept, $π$ is the copy's weight.

{table(["copy", *"1234"], [["$z$", 1, 1, 0, 0], ["$f$", *f], ["$π$", *w]])}

The line $β_0 + β z$ is fitted by weighted least squares, without a penalty."""
    return Exercise("A line through four copies", text, (
        Part("Compute $β_0$ and $β$. (With one word that is kept or gone, a line can go through any two numbers. Which "
             "ones does it choose?)", 3,
             f"The weighted means. Kept: $({w[0]} · {factor(f[0])} + {w[1]} · {factor(f[1])})/{w[0] + w[1]} = "
             f"{kept}$; gone: $β_0 = $ **{shown(gone)}**. $β = {kept} - {factor(gone)} = $ **{shown(beta)}**.",
             "1: means of the kept, of those gone\n1: weighted\n1: $β_0$, and $β$ is the difference", (gone, beta)),
        Part("And $β$ if all four weights are equal?", 2, f"Plain means: {shown(Fraction(f[0] + f[1], 2))} − "
             f"{factor(Fraction(f[2] + f[3], 2))} = **{shown(plain)}**.", "1: plain means\n1: the number", plain),
        Part(f"The weighted squares of $f$ around its weighted mean sum to {shown(total)}. Compute the $R^2$ of the "
             "weighted line.", 3, "Residuals squared, times weight: $"
             + " + ".join(f"{b} · {abs(a - c)}^2" for a, b, c in zip(f, w, (kept, kept, gone, gone), strict=True))
             + f" = {left}$. $R^2 = 1 - {left}/{total} = $ **{shown(fit)}**.",
             "1: residuals\n1: squared and weighted\n1: the number", fit),
        Part(f"How can two copies that both keep *{word}* have different scores? LIME's line has a term for each word: "
             "for which models would its $β$ be the same with all weights? What does a high $R^2$ not prove?", 3,
             "Other words are gone in them. A line with a term for each word fits an additive model exactly, so that "
             "weights do not matter; for other models the kernel chooses the question. A high $R^2$ says that the line "
             "fits these copies: not that it fits the text itself, nor that another seed or width says the same.",
             "1: other words are gone\n1: additive models\n1: these copies only, not the text itself, another seed, "
             "another width", None)),
        {"f": f, "w": w, "total": total})


@template("00", minutes=9)
def what_the_table_says(draw):
    """Which sentences does a table support? Steps 5, words 88."""
    words = draw.permutation([*draw.permutation(ADJECTIVES)[:2], *draw.permutation(PLAIN)[:2]]).tolist()

    def numbers():
        return [[Fraction(int(one), 10) for one in row] for row in draw.integers(-19, 20, (3, 4))]

    def first(row):
        return max(range(4), key=lambda i: abs(row[i]))

    def clear(rows):
        return (all(len({abs(one) for one in row}) == 4 and 0 not in row for row in rows)
                and first(rows[0]) == first(rows[1])
                and sum(a * b < 0 for a, b in zip(rows[1], rows[2], strict=True)) == 1)

    rows = until(clear, numbers)
    A, B, moved = rows
    top, strange = first(A), int(draw.integers(4))
    last = min(range(4), key=lambda i: abs(moved[i]))
    two = [i for i in range(4) if i != last][:2]
    both = float(moved[two[0]] + moved[two[1]])
    wrong = next(i for i in range(4) if B[i] * moved[i] < 0)
    sentences = [
        (f"A and B name the same word as the most important one, by size: *{words[top]}*.", True, "both have it first"),
        (f"Taking *{words[top]}* away changes the score more than taking any other of these "
        "words.", first(moved) == top, f"*{words[first(moved)]}* does, with {shown(float(moved[first(moved)]))}"),
        (f"Since A and B agree on the most important word, the model has used *{words[top]}* most.", False,
         "agreement is no proof, both may be wrong together"),
        (f"B has the wrong side for *{words[strange]}*, if the removal is the judge.", strange == wrong,
         f"the signs in B and in the last column {'differ' if strange == wrong else 'are the same'}"),
        (f"Without *{words[two[0]]}* and *{words[two[1]]}* together the score would {'fall' if both > 0 else 'rise'} "
         f"by {shown(abs(both))}.", False,
         "words were taken away one by one; what two do together is not in the table")]
    columns = zip(words, zip(A, B, moved, strict=True), strict=True)
    letters = dict(zip(draw.permutation(5).tolist(), "PQRST", strict=True))
    listed = "\n\n".join(f"**{letter}**: {sentences[i][0]}" for i, letter in letters.items())
    right = [letter for i, letter in letters.items() if sentences[i][1]]
    text = f"""Two explainers A and B and an experiment on one review. A positive number speaks for praise. The last \
column says by how much the score falls (negative: rises) when that word alone becomes [UNK].

{table(["word", "A", "B", "without it"], [[word, *map(float, row)] for word, row in columns])}

{listed}"""
    return Exercise("What does the table say?", text, (
        Part("Which of the five sentences does the table support? Give a reason for each of the five, of a few "
             "words.", 5,
             "\n\n".join([f"**{', '.join(right)}**.", *(f"{letter}: {'yes' if sentences[i][1] else 'no'}, "
                         f"{sentences[i][2]}." for i, letter in letters.items())]),
             "\n".join(f"1: {letter}, with its reason" for letter in "PQRST") + "\n½ of 1 for a verdict without a "
             f"reason; of {letters[2]} “refuted” and “left open” are both accepted", tuple(right)),
        Part("Choose one sentence that the table neither supports nor refutes, and describe the experiment that would "
             "decide it for this review. What more does it take to say such a thing of the model?", 4,
             f"{letters[4]}: take both away and compare the fall with {shown(both)}, the sum of the two. {letters[2]}: "
             "take the word away in more ways than by [UNK], alone and with others, beside all other words. One review "
             "is an anecdote: ask the same of many, and give the interval.",
             "1: a sentence that is left open\n1: a change of the text or the model that fits it\n1: compared with "
             "what (other words, each alone)\n1: other reviews; how often it holds", None)),
        {"table": [float(one) for row in rows for one in row], "words": words,
         "sentences": {letter: sentences[i][0] for i, letter in letters.items()}})


@template("07", minutes=10)
def two_faces(draw):
    """A model that behaves well on copies with holes. Steps 8, words 80."""
    word = draw.choice(["subtitles", "remake", "musical", "sequel"])

    def numbers():
        without, (weight, off) = draw.integers(-30, 31, 3).tolist(), draw.integers(-2, 3, 2).tolist()
        having = [one - int(drop) for one, drop in zip(without, draw.integers(20, 40, 3), strict=True)]
        return without, having, weight, without[0] + weight + off       # a line through the harmless model

    def telling(found):
        without, having, _, line = found
        mean, rest = divmod(sum(without) - sum(having), 3)
        return rest == 0 and len({*without}) == len({mean, abs(line), line - having[0]}) == 3

    without, having, weight, line = until(telling, numbers)

    def decimals(tenths):
        return [one / 10 for one in tenths]

    drops = [Fraction(a - b, 10) for a, b in zip(having, without, strict=True)]
    mean, gap = sum(drops) / 3, Fraction(line - having[0], 10)
    text = f"""An auditor may send reviews to a model. Three pairs of real reviews differ in the word *{word}* alone:

{table(["pair", *"123"], [[f"with *{word}*", *decimals(having)], ["without", *decimals(without)]])}

LIME, asked about the first review with *{word}*, gives this word {shown(weight / 10)}. Its line has the value \
{shown(line / 10)} at the review itself."""
    return Exercise("An audit", text, (
        Part(f"By how much does *{word}* move the score of real reviews, on average? And how far is LIME's line from "
             "the model at the first review?", 2,
             f"Differences {shown([float(one) for one in drops])}, on average **{shown(float(mean))}**. The line is "
             f"{shown(line / 10)} − ({shown(having[0] / 10)}) = **{shown(float(gap))}** off.", "1: the mean of the "
             "pairs\n1: the distance", (float(mean), float(gap))),
        Part("How can a model be built that gives both, the differences and LIME's number? Why does LIME not "
             "notice?", 3,
             "It tells copies with holes from real texts, and leaves the copies to another, harmless model. LIME's "
             "samples are nearly all copies with holes: the line is fitted to the harmless one.",
             "1: two models in one\n1: real texts and copies with [UNK] can be told apart\n1: LIME's samples are of "
             "the second kind", None),
        Part("Would Shapley values or leave-one-out, with [UNK] in the place of words, have helped? Why?", 2,
             "Not for certain: they ask about texts with holes, too. (Both compare the whole review, which is blamed, "
             "with copies that are not. So the blame shows, but on all words alike: shared out by Shapley values, "
             "whole on each word by leave-one-out.)",
             "1: no, or not for certain\n1: texts with holes (or: blame, but on no one word)", None),
        Part("Name a test that such a model cannot notice. Which result would have cleared the model of the suspicion "
             f"that *{word}* counts against a review?", 2,
             "Pairs of real texts, as above, more of them and on other words; or a look at its weights. It would have "
             "been cleared if the pairs had not differed beyond chance. (Texts with words deleted can be noticed as "
             "well.)",
             "1: real texts in pairs (or: weights in place of answers; holes filled with likely words; the line beside "
             "the model at whole reviews)\n1: a result that would speak against the suspicion", None)),
        {"having": decimals(having), "without": decimals(without), "lime": weight / 10,
         "line": line / 10})
