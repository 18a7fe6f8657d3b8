"""Attention by hand, heads, and one map of many (lectures 02, 05, 05b)."""

from fractions import Fraction

from coursegrade.exam import Exercise, Part, shown, table, template, until

LOGS = {0: 1, Fraction(7, 10): 2, Fraction(11, 10): 3, Fraction(14, 10): 4, Fraction(16, 10): 5, Fraction(18, 10): 6}
TABLE = table(["$x$", *map(float, LOGS), 2.2, 2.8, 3.2, 3.6],           # those of scores that nobody has divided, too
              [["$e^x$", *LOGS.values(), 9, 16, 25, 37]])


def softmax(scores):
    """The softmax of scores that stand in the table, by its rounded e^x, as fractions."""
    raised = [LOGS[score] for score in scores]
    return [Fraction(e, sum(raised)) for e in raised]


def decimals(numbers):
    """Fractions as the decimals that the text shows."""
    return [float(one) for one in numbers]


@template("02", minutes=12)
def three_inputs(draw):
    """One query, three keys, three values. Steps 30, words 60."""
    query = [2, *draw.permutation([0, 1, int(draw.choice([-1, 1, 2]))]).tolist()]
    scores = [list(LOGS)[i] for i in draw.permutation([0, *draw.permutation(range(1, 6))[:2]])]
    rest = until(lambda rows: all(map(any, rows)), lambda: draw.integers(-1, 3, (3, 3)).tolist())
    keys = [[score - Fraction(sum(a * b for a, b in zip(query[1:], row, strict=True)), 2), *row]
            for score, row in zip(scores, rest, strict=True)]           # so that qᵀk/2 is the score
    values = until(lambda rows: len({*map(tuple, rows)}) == 3, lambda: draw.integers(-3, 7, (3, 2)).tolist())
    weights = softmax(scores)
    out = [sum(w * row[j] for w, row in zip(weights, values, strict=True)) for j in (0, 1)]
    rows = [[t + 1, f"({shown(decimals(keys[t]))})", f"({shown(values[t])})"] for t in range(3)]
    most, added = max(range(3), key=weights.__getitem__) + 1, int(draw.integers(2, 9))
    text = f"""A query $q = ({shown(query)})$ looks at three keys $k_t$ with values $v_t$, and \
$d_{{\\mathrm{{att}}}} = 4$. Use the table, whose second row is rounded.

{table(["$t$", "$k_t$", "$v_t$"], rows)}

{TABLE}"""
    dots = [2 * score for score in scores]
    return Exercise("One query, three keys", text, (
        Part("Compute the three scores.", 3,
             f"$q^\\top k_t$ is {shown(decimals(dots))}; divided by $\\sqrt{{d_{{\\mathrm{{att}}}}}} = 2$ the scores "
             f"are **{shown(decimals(scores))}**.",
             "1: the three products of query and key\n1: divided by $\\sqrt{4}$, not by 4, not left out\n1: all three "
             "right", tuple(map(float, scores))),
        Part("Compute the three weights.", 2,
             f"$e^x$ is {shown([LOGS[one] for one in scores])}, together {sum(LOGS[one] for one in scores)}: weights "
             f"**{shown(weights)}**. A score of 0 gets a weight, too: $e^0 = 1$.",
             "1: $e^x$ of each, that of 0 being 1\n1: divided by their sum", tuple(weights)),
        Part("Compute the output $\\tilde v$.", 2, f"$\\tilde v = ({shown(out)})$, a mean of the values by these "
             "weights.", "1: each value times its weight, added\n1: both numbers", tuple(out)),
        Part(f"The number {added} is added to all three scores. What becomes of the weights, and why?", 2,
             f"They stay: above and below the line of the fraction stands the same factor $e^{added}$.",
             "1: they stay the same\n1: the factor cancels", None),
        Part(f"A reader sees the weights and says: “So the output is due to input {most}.” Name two things that the "
             "weights do not show here, and say of each why it matters.", 4,
             "What the value there is: a large weight on a short vector carries little. Whether the answer needs it: "
             "the others may make up for it, and only taking the look away, or changing the text, shows that.",
             "2: one of: the value there (a large weight on a short vector carries little); whether it is needed, "
             "which takes an intervention; what the rest of the model makes of the output; in a deeper layer, that the "
             "place holds a mixture\n2: another of these\n1 of 2 where it is named and not explained", None)),
        {"query": query, "keys": [float(x) for row in keys for x in row], "values": values, "added": added})


@template("02", minutes=11)
def one_row_masked(draw):
    """A causal mask over the scores of four tokens. Steps 21, words 55."""
    scores = until(lambda rows: all(len({*row[:3]}) == 3 and row[3] != row[2] for row in rows)
                   and all(rows[0]),
                   lambda: [[list(LOGS)[i] for i in row] for row in draw.integers(0, 6, (4, 4))])
    T = int(draw.choice([10, 20, 30, 40, 100]))
    weights = [softmax(row[:s + 1]) for s, row in enumerate(scores)]
    wrong = [Fraction(LOGS[scores[0][0]], LOGS[scores[0][0]] + 3), *[Fraction(1, LOGS[scores[0][0]] + 3)] * 3]
    text = f"""Four tokens look at each other: row $s$ of the first table has the scores of query $s$, already \
divided by $\\sqrt{{d_{{\\mathrm{{att}}}}}}$. A causal mask is to be used: token $s$ looks at no later one. The \
second table is rounded.

{table(["", *"1234"], [[s + 1, *map(float, row)] for s, row in enumerate(scores)])}

{TABLE}"""
    rows = "; ".join(f"row {s + 1}: {shown(row + [0] * (3 - s))}" for s, row in enumerate(weights))
    return Exercise("No looking ahead", text, (
        Part("Compute the whole map of attention, all four rows.", 5,
             f"{rows[0].upper()}{rows[1:]}.",
             "1: the upper right half is 0\n1: row 1 is 1, 0, 0, 0\n1: row 2\n1: row 3\n1: row 4",
             tuple(one for row in weights for one in row)),
        Part("Which rows would be different without the mask? Why not all?", 2,
             "**Rows 1, 2, 3.** Token 4 is the last, and may look at all four in any case.",
             "1: rows 1 to 3\n1: for the last token nothing is forbidden", (1, 2, 3)),
        Part("A friend puts 0 in the place of each forbidden score. What is row 1 then?", 2,
             f"$e^0 = 1$, so a forbidden token counts as one with score 0: row 1 is **{shown(wrong)}**.",
             "1: $e^0 = 1$ for each of the three\n1: the row", tuple(wrong)),
        Part("Another friend takes the softmax of all scores, and then sets the forbidden weights to 0. Why is that "
             "not the same, and what would mend it?", 2,
             "What is left of a row does not sum to 1. Divide it by its sum, and it is the masked row.",
             "1: the rest no longer sums to 1\n1: divide by the sum (or: mask before the softmax, with $-∞$)", None),
        Part(f"How many entries of the map are not 0 for a text of {T} tokens? What does the mask cost a model that "
             "has to say what a word in the middle means?", 2,
             f"$T (T + 1)/2 = {T * (T + 1) // 2}$. The word is read without what follows it, though that may say which "
             "meaning it has.", "1: the number\n1: what comes later is not seen at that place", T * (T + 1) // 2)),
        {"scores": [float(x) for row in scores for x in row], "T": T})


@template("05", minutes=10)
def heads_taken_away(draw):
    """Who looks most is not who is missed most, and two that stand in for each other. Steps 6, words 85."""
    names = draw.permutation(["0.1", "0.3", "1.0", "1.2", "2.1", "2.3"])[:4].tolist()
    words, every = draw.choice(["sister", "uncle", "mother", "brother"]), int(draw.integers(95, 99))
    look = [int(draw.integers(low, low + 12)) for low in (72, 2, 40, 20)]
    drops = [int(draw.integers(low, high)) for low, high in ((0, 4), (20, 36), (2, 5), (5, 9))]
    both = int(draw.integers(51, 58))
    left = [every - drop for drop in drops]
    order = draw.permutation(4).tolist()
    text = f"""A language model is to write *her* or *his* after a sentence with *{words}*. With all heads {every} \
of 100 forecasts have the right gender; a coin would have 50. The table shows four of its twelve heads.

{table(["head", "looks at the person, % of its weight", "right without it, of 100"],
       [[names[i], look[i], left[i]] for i in order])}

With head {names[0]} and head {names[2]} both silenced, {both} are right."""
    return Exercise("Four heads", text, (
        Part("Which head looks most at the person? Which of the four is missed most, and how many forecasts does that "
             "cost?", 2, f"Head **{names[0]}** looks most, head **{names[1]}** is missed most: {every} − {left[1]} = "
             f"{drops[1]} forecasts.", "1: both heads\n1: the difference to all heads", (names[0], names[1], drops[1])),
        Part(f"How many forecasts does it cost to silence heads {names[0]} and {names[2]} together, and how many if "
             "you add up what each costs alone? What does the difference say of the two, and of silencing one head at "
             "a time?", 3,
             f"Together {every} − {both} = {every - both}; added up {drops[0]} + {drops[2]} = {drops[0] + drops[2]}. "
             "Each can stand in for the other: that one alone is hardly missed does not show that nobody needs what it "
             "does.",
             "1: both numbers\n1: they stand in for each other\n1: so a small loss alone is no proof that a head does "
             "nothing", (every - both, drops[0] + drops[2])),
        Part(f"“Head {names[1]} finds the person.” Which number of the table speaks against this sentence?", 1,
             f"It puts only {look[1]} % of its weight there, less than head {names[0]} with {look[0]} %: that it is "
             "missed does not show what it does.", "1: its share of weight", look[1]),
        Part(f"“Head {names[0]} carries the gender, since it looks at the person.” Name two things to be tried before "
             "anybody prints a sentence like this about a head, and say for each what it would rule out.", 4,
             "A person of the other gender, in the text or patched into what the head sends: that it looks at a place, "
             "whoever stands there. A baseline (even "
             "attention, an untrained model, a rule such as “the word before”): that any head looks there. Silence "
             "each head, alone and with others: that it looks and is not needed. Other sentences, a new seed: chance.",
             "2: a first one, as these, and what it rules out\n2: a second one\n1 of 2 where nothing is said "
             "of what it rules out", None)),
        {"heads": names, "every": every, "look": look, "left": left, "both": both})


@template("05", minutes=10)
def place_to_rest(draw):
    """Weights, and lengths of what arrives; to send nothing and not to be there are two changes. Steps 11, words 75."""
    words = [*draw.permutation(["film", "plot", "long", "dull", "fine", "scene"])[:3].tolist(), "[BOS]"]

    def row():
        rest = [Fraction(int(one), 20) for one in draw.permutation([1, 2, 3, 4, 5])[:3]]
        long, short = draw.permutation(range(2, 10))[:3].tolist(), Fraction(int(draw.integers(1, 3)), 5)
        weights, lengths = [*rest, 1 - sum(rest)], [*long, short]
        return weights, lengths, [w * n for w, n in zip(weights, lengths, strict=True)]

    def telling(found):
        weights, _, norms = found                                       # whose order is not that of the table
        return weights[3] > Fraction(1, 2) and len({*norms}) == 4 and norms != sorted(norms)[::-1] and (
            min(norms) == norms[3] and norms.index(max(norms[:3])) != weights.index(max(weights[:3])))

    weights, lengths, norms = until(telling, row)
    others = [w / (1 - weights[3]) for w in weights[:3]]
    order = [words[i] for i in sorted(range(4), key=norms.__getitem__)[::-1]]
    loss = int(draw.integers(180, 220))
    losses = [f"{(loss + more) / 100:.2f}" for more in (0, draw.integers(1, 3), draw.integers(60, 99))]
    text = f"""A row of a head's map: how much the token at the end looks at four tokens, and how long the vector \
$W_o v_t$ is that each of them would send with weight 1.

{table(["", *words], [["$α_t$", *map(float, weights)], ["$‖W_o v_t‖$", *map(float, lengths)]])}

The model's loss is {losses[0]}. It is {losses[1]} if what [BOS] sends is set to zero in this head, and \
{losses[2]} if the head may not look at [BOS]."""
    return Exercise("Where the weight goes", text, (
        Part("How long is what arrives from each of the four? Put them in order, the longest first.", 3,
             "$α_t ‖W_o v_t‖$: "
             f"{', '.join(f'{word} {shown(float(n))}' for word, n in zip(words, norms, strict=True))}. In order: "
             f"**{', '.join(order)}**.", "1: weight times length\n1: all four\n1: the order",
             (*map(float, norms), *order)),
        Part("What are the weights of the other three when the head may not look at [BOS]?", 2,
             f"Each is divided by what is left, {shown(float(1 - weights[3]))}: **{shown(others)}**, in the order of "
             "the table.", "1: divided by the sum of the rest, as the softmax does\n1: all three", tuple(others)),
        Part("Why are the two changes of the loss so different, though both take away what [BOS] sends?", 3,
             "Set to zero, it still takes its weight, and the others send as little as before. If the head may not "
             "look at it, its weight goes to them, and they send more than twice what the model is used to.",
             "1: to send nothing leaves all other weights as they are\n1: a forbidden place hands its weight to the "
             "others\n1: so these send more than the model is used to", None),
        Part("Why does a head look at such a token at all? And would you call it unimportant?", 2,
             "The softmax sums to 1, so a head without a task has to put its weight somewhere: where little is sent. "
             "The token says next to nothing, yet the model leans on its being there.",
             "1: the weights have to sum to 1\n1: unimportant in what it says, not as a place (the third loss)", None)),
        {"words": words, "weights": decimals(weights), "lengths": decimals(lengths), "losses": losses})


@template("05b", minutes=11)
def two_layers(draw):
    """Two maps with skips, multiplied for [CLS]. Steps 30, words 40."""
    names = ["[CLS]", *draw.permutation(["good", "plot", "weak", "end", "slow", "cast"])[:2].tolist()]

    def maps():
        return [[[Fraction(2 * one, 10) for one in row] for row in layer] for layer in (
            [[int(a), int(b), 5 - int(a) - int(b)] for a, b in draw.integers(0, 4, (3, 2))] for _ in range(2))]

    def rolled(layers):
        first, second = [[[(a + (s == t)) / 2 for t, a in enumerate(row)] for s, row in enumerate(layer)]
                         for layer in layers]
        return first, second[0], [sum(second[0][s] * first[s][t] for s in range(3)) for t in range(3)]

    def telling(layers):
        top, out = layers[1][0], rolled(layers)[2]
        return all(one >= 0 for layer in layers for row in layer for one in row) and (
            out[1] - out[2]) * (top[1] - top[2]) < 0 and layers[0][1] != layers[0][2]

    layers = until(telling, maps)
    first, top, out = rolled(layers)
    winner, looked = names[1 + (out[2] > out[1])], names[1 + (layers[1][0][2] > layers[1][0][1])]
    text = f"""The mean maps $\\bar A$ of two layers, rows “from” and columns “to”. Each layer has a skip connection.

{table(["layer 1", *names], [[name, *map(float, row)] for name, row in zip(names, layers[0], strict=True)])}

{table(["layer 2", *names], [["[CLS]", *map(float, layers[1][0])]])}"""
    return Exercise("Two maps, one after the other", text, (
        Part("Compute $\\hat A = \\frac{1}{2} \\bar A + \\frac{1}{2} I$: for layer 1 the whole map, for layer 2 the "
             "row of [CLS].", 3, f"Layer 1, row by row: {'; '.join(shown(decimals(row)) for row in first)}. Layer 2: "
             f"{shown(decimals(top))}.", "1: halves\n1: ½ added on the diagonal, and there only\n1: all right; rows "
             "sum to 1", tuple(float(a) for row in [*first, top] for a in row)),
        Part("Compute the rollout of [CLS], and say which of the two words it puts first.", 3,
             f"Row of layer 2 times map of layer 1: **{shown(decimals(out))}**. First of the words: **{winner}**.",
             "1: the row of layer 2 on the left\n1: the three numbers\n1: the word", (*map(float, out), winner)),
        Part(f"Layer 2 looks more at *{looked}*. Why does rollout name the other word?", 1,
             "What stands at a place in layer 2 was mixed from all places by layer 1: looking at a place is not "
             "looking at its word.", "1: states at places are mixtures after layer 1", None),
        Part(f"In layer 1 the value vector of *{winner}* is multiplied by −1, the maps stay. What becomes of the "
             "rollout, and what of the model's score? Name two things that rollout does not know.", 3,
             "Rollout stays the same, and the score may turn round. It knows neither the values nor the score, so it "
             "cannot say for or against; nor the MLPs, nor how large the branches are beside the skip.",
             "1: rollout stays, the score can change\n1: values (or sizes)\n1: the score, so no side (or: the MLPs; "
             "that heads differ; that ½ is a choice)", None)),
        {"words": names[1:], "first": decimals(sum(layers[0], [])), "top": decimals(layers[1][0])})


@template("05b", minutes=10)
def pieces_to_words(draw):
    """A map among pieces becomes one among words. Steps 18, words 54."""
    word, pieces = [("unwatchable", ["un", "##watch", "##able"]), ("overlong", ["over", "##long"]),
                    ("miscast", ["mis", "##cast"]), ("rewatchable", ["re", "##watch", "##able"])][draw.integers(4)]
    names, n = ["[CLS]", *pieces], len(pieces)

    def piece_map():
        return [[10 - sum(row), *row] for row in draw.integers(0, 5, (n + 1, n)).tolist()]

    rows = until(lambda rows: all(row[0] >= 0 for row in rows) and len({*map(tuple, rows)}) == n + 1 and sum(
        sum(row[1:]) for row in rows[1:]) % n == 0 and rows[0][0] < 5 and any(
        row[0] for row in rows[1:]), piece_map)
    A = [[Fraction(one, 10) for one in row] for row in rows]
    own = [sum(row[0] for row in A[1:]) / n, sum(sum(row[1:]) for row in A[1:]) / n]
    top = [A[0][0], sum(A[0][1:])]
    wrong = [sum(row[0] for row in A[1:]), sum(sum(row[1:]) for row in A[1:]) / n]
    text = f"""A model reads *{word}* in {n} pieces, after [CLS]. A map among its {n + 1} tokens:

{table(["", *names], [[name, *map(float, row)] for name, row in zip(names, A, strict=True)])}"""
    return Exercise("From pieces to words", text, (
        Part(f"Make of it a map among [CLS] and *{word}*, with two rows and two columns.", 4,
             "To a word: sum over its pieces; from a word: mean over its pieces. Row [CLS]: "
             f"**{shown(decimals(top))}**; row *{word}*: **{shown(decimals(own))}**.", "1: sum over the pieces looked "
             "at\n1: mean over the pieces that look\n"
             "1: row of [CLS]\n1: row of the word", tuple(float(a) for a in (*top, *own))),
        Part(f"A friend takes the mean over the pieces looked at, and the sum over those that look. What does the row "
             f"of *{word}* sum to then, and how could it have been noticed?", 2,
             f"{float(wrong[0]):g} + {float(wrong[1]):g} = **{float(sum(wrong)):g}**: a row of a map of attention sums "
             "to 1.", "1: the sum\n1: rows have to sum to 1", float(sum(wrong))),
        Part(f"How much would *{word}* get from [CLS] if all weights were equal?", 1,
             f"{n} of {n + 1} equal weights: **{n}/{n + 1}**.", "1: the number of its pieces over that of "
             "all", Fraction(n, n + 1)),
        Part(f"A page colours the two words by the row of [CLS], and says that the model thinks of *{word}*, which is "
             "dark. Why is the colour no evidence yet? What would you print beside it?", 3,
             "A word of many pieces is dark under even attention, too. Print that number, or an untrained model's, and "
             "the range of the row. And a weight does not say what is taken from there, nor whether it is needed.",
             "1: more pieces get more under even attention\n1: a baseline beside it (even attention, an untrained "
             "model, another text)\n1: a weight is not a need, and has no side", None)),
        {"pieces": names, "word": word, "table": decimals(sum(A, []))})


@template("05b", minutes=10)
def curve_of_deletions(draw):
    """An additive score, deleted by size and by sides. Steps 17, words 62."""
    praise, blame = (draw.permutation(some).tolist() for some in (["brilliant", "warm", "funny", "superb"], [
        "bored", "mess", "slow", "clumsy"]))

    def parts():
        return (draw.permutation([1, 2, 3, 4, 5, 6])[:4] * draw.choice([-1, 1], 4)).tolist()

    def curves(f):
        towards = [one if sum(f) > 0 else -one for one in f]            # the verdict
        orders = sorted(towards, key=abs)[::-1], sorted(towards)[::-1]
        return [[sum(order[gone:]) for gone in range(5)] for order in orders]

    def telling(f):                                                     # the second curve is lower
        by_size, by_side = map(sum, curves(f))
        return by_side < by_size and 0 not in (sum(f), by_size, by_side)

    f = until(telling, parts)
    words = [(praise if one > 0 else blame).pop() for one in f]
    total, (by_size, by_side) = sum(f), curves(f)
    means = [Fraction(sum(by_size), 5), Fraction(sum(by_side), 5)]
    text = f"""Four words make a score; each adds its number, and the empty text has 0. Above 0 is praise. A \
deletion curve is the score counted *towards the verdict*, from the whole text to the empty one, while the words go \
one by one.

{table(["word", *words], [["adds", *f]])}"""
    return Exercise("Words go, one by one", text, (
        Part("What is the score, and what the verdict?", 1,
             f"**{shown(total)}**, {'praise' if total > 0 else 'blame'}.", "1: both", total),
        Part("Delete the words by the size of their numbers, the largest first, whatever the sign. Give the five "
             "values of the curve, and their mean.", 3, f"**{shown(by_size)}**; mean {shown(means[0])}.",
             "1: the order\n1: the curve, counted towards the verdict\n1: the mean", (*by_size, means[0])),
        Part("Now delete those first that speak most *for the verdict*. Again the five values, and their mean.", 3,
             f"**{shown(by_side)}**; mean {shown(means[1])}.",
             "1: the order: words against the verdict come last\n1: the curve\n1: the mean", (*by_side, means[1])),
        Part("Why can an explanation that consists of attention weights not reach the second curve in general? Name "
             "two things that a low curve does not prove about an explanation.", 3,
             "Weights have no sign: they can say how much, not for or against. A low curve shows that the order fits "
             "this way of deleting; not that the numbers are right, nor that the order holds for real texts: those in "
             "between nobody wrote.",
             "1: no sign, so no side\n1: one of: it judges the order, not the numbers; leave-one-out wins by its own "
             "rule; the texts in between are nobody's; one way of filling holes; few texts\n1: another of these",
             None)),
        {"f": f})
