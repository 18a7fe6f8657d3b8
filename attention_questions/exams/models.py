"""What a model is made of: byte pairs, the size of a block, layer norm, perplexity (lectures 01, 03, 03b)."""

import itertools
from collections import Counter
from fractions import Fraction
from math import isqrt, prod

from coursegrade.exam import Exercise, Part, factor, shown, table, template, until

WORDS = ["nest", "rest", "best", "test", "tests", "west", "east", "step", "stem", "star", "steer", "stew", "pest",
         "vest", "toast", "feast"]
LAYER_NORMS = [row for row in itertools.product(range(-7, 8), repeat=4) if sum(row) == 0 and len({*map(abs, row)}) > 1
               and sum(x * x for x in row) % 4 == 0 and isqrt(sum(x * x for x in row) // 4) ** 2 * 4
               == sum(x * x for x in row)]                              # mean 0, and a standard deviation that is whole


def pairs(cut):
    """How often each pair of neighbours occurs. cut: [(pieces of a word, how often the word occurs)]."""
    counts = Counter()
    for pieces, times in cut:
        for pair in itertools.pairwise(pieces):
            counts[pair] += times
    return counts


def joined(pieces, pair):
    """The pieces of a word with a pair joined, from left to right."""
    found = []
    for piece in pieces:
        if found and (found[-1], piece) == pair:
            found[-1] += piece
        else:
            found.append(piece)
    return found


@template("01", minutes=7)
def merges(draw):
    """Two byte pairs are learned, and a new word is cut with them. Steps 16, words 28."""
    def corpus():
        words = draw.choice(WORDS, 5, replace=False).tolist()
        times = draw.integers(1, 5, 4).tolist()
        cut, pairs_joined, tables = [([*word], n) for word, n in zip(words[:4], times, strict=True)], [], []
        for _ in range(2):
            counts = pairs(cut)
            pair = max(counts, key=counts.get)
            tables.append(counts)
            pairs_joined.append(pair)
            cut = [(joined(pieces, pair), n) for pieces, n in cut]
        new = [*words[4]]
        for pair in pairs_joined:
            new = joined(new, pair)
        return words, times, tables, pairs_joined, new

    def clear(found):
        words, _, tables, pairs_joined, new = found
        first = ["".join(pair) for pair in pairs_joined]
        return all(sorted(counts.values())[-1] > sorted(counts.values())[-2] for counts in tables) and (
            first[0] in first[1] and len(new) < len(words[4]) - 1)      # no ties; the second builds on the first

    words, times, tables, found, new = until(clear, corpus)
    (one, two), most = ["+".join(pair) for pair in found], [max(counts.values()) for counts in tables]
    text = f"""Byte-pair encoding is to learn two merges from four words. The table says how often each of them occurs.

{table(["word", *words[:4]], [["how often", *times]])}"""
    return Exercise("Pieces of words", text, (
        Part("Which pair of neighbours is joined first, and how often does it occur?", 2,
             f"**{one}**, {most[0]} times. (The next two pairs: "
             f"{' and '.join(map(str, sorted(tables[0].values())[-2:-4:-1]))}.)",
             "1: the pair\n1: how often: each word counts as often as it occurs", (one, most[0])),
        Part("After that, which pair is joined second, and how often does it occur?", 2,
             f"All pairs are counted anew, in the words as they are cut now: **{two}**, {most[1]} times.",
             "1: counted anew, with the joined piece as one\n1: the pair, and how often", (two, most[1])),
        Part(f"How do these two merges cut the new word *{words[4]}*?", 2,
             f"**{'|'.join(new)}**: the merges in the order in which they were learned.",
             "1: the first merge\n1: the second, and nothing else joined", "|".join(new)),
        Part(f"Somebody sees the piece *{''.join(found[1])}* and says: “It has found a part of which words are made, "
             "such as *un* or *able*.” Why does that not follow? Name two reasons.", 2,
             "The procedure counts neighbours and knows nothing of how words are made. From another text it would have "
             "learned other pieces.",
             "1: one of: joined because it is frequent, nothing else was asked; it depends on the corpus (or on how "
             "ties are broken, on the number of merges); there are words in which it is no such part\n1: another of "
             "these", None)),
        {"words": words, "times": times})


@template("03", minutes=9)
def block_size(draw):
    """The parameters of a block of GPT-2. Steps 21, words 36."""
    d, heads = until(lambda found: found[0] % (2 * found[1]) == 0,      # twice as many heads are possible, too
                     lambda: (int(draw.choice([10, 20])), int(draw.choice([2, 5]))))
    T, D, L = (int(draw.choice(some)) for some in ([50, 100, 200], [300, 500, 700], [2, 3, 4]))
    attention, mlp, norms = 4 * d * d + 4 * d, 8 * d * d + 5 * d, 4 * d
    total = L * (attention + mlp + norms) + (D + T) * d + 2 * d
    text = f"""A small GPT-2 has $L = {L}$ blocks with $K = {heads}$ heads, vectors of $d_e = {d}$ numbers, $D = \
{D}$ tokens in its vocabulary and room for $T = {T}$ positions, learned ones. All linear maps have biases. The MLP \
is $4 d_e$ wide inside. The last layer uses the table of embeddings again, without a bias of its own."""
    return Exercise("Counting parameters", text, (
        Part("How many parameters does the attention of one block have, with the projection at its end?", 2,
             f"Queries, keys, values and projection: $4 (d_e^2 + d_e) = 4 · {d * d} + 4 · {d} = {attention}$.",
             "1: four matrices of $d_e^2$\n1: biases, and the number", attention),
        Part("How many does the MLP of one block have?", 1,
             f"$4 d_e^2 + 4 d_e$ up, $4 d_e^2 + d_e$ down: ${8 * d * d} + {5 * d} = {mlp}$.",
             "½: two matrices of $4 d_e^2$\n½: biases $4 d_e$ and $d_e$, and the number", mlp),
        Part("And the whole model, with the two norms of each block and the norm at the end?", 3,
             f"A norm has $2 d_e = {2 * d}$. A block: ${attention} + {mlp} + {norms} = {attention + mlp + norms}$. "
             f"Tables: $(D + T) d_e = {(D + T) * d}$. Together ${L} · {attention + mlp + norms} + {(D + T) * d} + "
             f"{2 * d} = {total}$.", "1: gains and shifts of the norms\n1: both tables, each once\n1: the sum", total),
        Part("Another model has twice as many heads; $L$, $d_e$, $D$ and $T$ are the same. Why does it not have more "
             "parameters? What may it do that the first cannot?", 2,
             "Each head is half as wide: queries, keys and values of all heads together keep $d_e$ numbers. It can "
             "look at more places in different ways at once, each time by fewer numbers.",
             "1: heads share $d_e$ among them, $d_e/K$ each\n1: more look-ups side by side, each in fewer dimensions",
             None)), {"d_e": d, "K": heads, "T": T, "D": D, "L": L})


@template("03", minutes=7)
def norm_of_a_row(draw):
    """Layer norm of four numbers, and of the same numbers moved. Steps 16, words 25."""
    row = LAYER_NORMS[draw.integers(len(LAYER_NORMS))]
    mean, sigma = int(draw.integers(2, 6)), isqrt(sum(x * x for x in row) // 4)
    x = [a + mean for a in row]
    gain, shift = draw.integers(2, 5, 4).tolist(), draw.choice([-2, -1, 1, 2], 4).tolist()
    a, c = int(draw.integers(2, 5)), int(draw.integers(1, 9))
    first, last = (gain[j] * Fraction(row[j], sigma) + shift[j] for j in (0, 3))
    text = f"""A token's row is $x = ({shown(x)})$. Layer norm has the gain $γ = ({shown(gain)})$, the shift $β = \
({shown(shift)})$ and $ε = 0$."""
    return Exercise("One row, put in order", text, (
        Part("Compute the mean $μ$ and the variance $σ^2$ of $x$.", 2,
             f"$μ = {sum(x)}/4 = {mean}$; $σ^2 = ({' + '.join(str(b * b) for b in row)})/4 = {sigma ** 2}$.",
             "1: the mean\n1: the variance, divided by 4 and not by 3", (mean, sigma ** 2)),
        Part("Compute the first and the last number of the result.", 3,
             f"$x - μ = ({shown(row)})$, $σ = {sigma}$. First: ${gain[0]} · {factor(Fraction(row[0], sigma))} + "
             f"{factor(shift[0])} = {shown(first)}$. Last: ${gain[3]} · {factor(Fraction(row[3], sigma))} + "
             f"{factor(shift[3])} = {shown(last)}$.",
             "1: mean taken off, divided by $σ$ (not $σ^2$)\n1: the first\n1: the last", (first, last)),
        Part(f"Each of the four numbers $x_j$ becomes ${a} x_j + {c}$. What becomes of the result, and why?", 2,
             f"Nothing. The mean becomes ${a} μ + {c}$ and the standard deviation ${a} σ$, so $(x - μ)/σ$ stays.",
             "1: it stays the same\n1: because mean and standard deviation move along", None),
        Part("Which other tokens does the result depend on? What is that good for when a model answers many texts at "
             "once?", 1,
             "On none: only on this row. So the answer to one text does not depend on what else is in the batch.",
             "½: none\n½: the answer does not depend on other tokens or texts", None)),
        {"x": x, "gain": gain, "shift": shift, "a": a, "c": c})


@template("03b", minutes=8)
def two_perplexities(draw):
    """Perplexities of two models on four tokens, and a third that cannot be compared. Steps 16, words 45."""
    def chances():
        return draw.integers(1, 6, (2, 4)).tolist()

    powers = until(lambda found: all(sum(row) % 4 == 0 and len({*row}) > 2 for row in found)
                   and sum(found[0]) != sum(found[1]), chances)
    shares = [[Fraction(1, 2 ** k) for k in row] for row in powers]
    found = [2 ** (sum(row) // 4) for row in powers]
    better = "AB"[found[1] < found[0]]
    D, other = int(draw.choice([64, 100, 128])), int(draw.integers(20, 50))
    text = f"""Two language models A and B with the same $D = {D}$ tokens read a text of five tokens. To the tokens \
that came next they had given these probabilities.

{table(["", "2nd", "3rd", "4th", "5th"], [["A", *shares[0]], ["B", *shares[1]]])}"""
    return Exercise("How unsure are they?", text, (
        Part("Compute both perplexities. Which model is better on this text?", 4,
             f"The perplexity is one over the geometric mean of the probabilities. The product is ${prod(shares[0])} = "
             f"2^{{-{sum(powers[0])}}}$ for A and ${prod(shares[1])} = 2^{{-{sum(powers[1])}}}$ for B, the fourth "
             f"roots $2^{{-{sum(powers[0]) // 4}}}$ and $2^{{-{sum(powers[1]) // 4}}}$. So A has {found[0]}, B "
             f"{found[1]}: {better} is better.",
             "1: mean of the logarithms, or fourth root of the product\n1: A\n1: B\n1: the lower one is the better one",
             (*found, better)),
        Part(f"What would a model have that knows nothing and gives all {D} tokens the same probability?", 1,
             f"{D}: as unsure as among {D} equally likely tokens.", "1: the number of tokens", D),
        Part(f"A third model has tokens of its own, whole words, and a perplexity of {other} on the same text. Is it "
             "worse than the others? Why can the numbers not tell?", 2,
             "They cannot tell: the mean is taken over other tokens, fewer and longer ones, and a longer token is "
             "harder to guess. Compare the probability of the whole text.",
             "1: it counts per token, and the tokens are others\n1: fewer, longer ones are harder each (or: compare "
             "the whole text)", None),
        Part("Somebody scores row $t$ of the forecasts by token $t$ in place of $t + 1$. What is the model asked "
             "then?", 1,
             "To repeat the token that it has just read, which it can see: that is no forecast.",
             "1: to repeat what it has read", None)),
        {"D": D, "other": other, "A": shares[0], "B": shares[1]})
