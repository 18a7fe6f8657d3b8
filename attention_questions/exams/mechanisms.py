"""Lectures 11 to 13b: counting, brackets, and features of autoencoders. Templates of the final."""

from fractions import Fraction

from coursegrade.exam import Exercise, Part, shown, table, template, until

from .curves import whole


@template("11", minutes=9)
def a_mix_of_letters(draw):
    """The flag in a positional mix, two sequences with the same mix, and what a semantic map holds. Only one letter can
    carry the flag; the weight is not the number of equal letters. Steps 16, words 56."""
    T, r = 10, whole(draw, 5, 8)
    counts = until(lambda found: sum(found) == T and min(found) > 0, lambda: whole(draw, 1, 5, 4))
    own, small = whole(draw, 0, 3), whole(draw, 1, 3)
    mix = [n + r * (i == own) for i, n in enumerate(counts)]
    letters = "ABDE"
    rest = "GHILMN"[:T - 3 - small]
    first, second = "D" + "A" * (small + 2) + rest, "A" + "D" * (small + 1) + "A" + rest
    w, n = until(lambda wn: wn[0] != wn[1] and Fraction(wn[0] * wn[1], wn[0] * wn[1] + T - wn[1]).denominator < 12,
                 lambda: (whole(draw, 2, 9), whole(draw, 2, 6)))
    held = Fraction(n * w, n * w + T - n)
    return Exercise("A mix of letters", (
        f"Models that count letters in sequences of length {T}. A positional one attends by $aI + b 1 1^\\top$. Of one "
        "token the letters' half of the mix, divided by $b$, "
        "is\n\n" + table(["letter", *letters], [["in the mix", *mix]])), (
        Part("How large is $r = a/b$? Which letter is this token, why can it be no other, and how often does it occur?",
             3, f"Counts sum to {T}, the row to {sum(mix)}: $r = {r}$. Only {letters[own]} has more than that; its "
             f"count is ${mix[own]} − {r} = {counts[own]}$.",
             "1: r, from the sum\n1: the letter, the only one above r\n1: its count", (r, letters[own], counts[own])),
        Part(f"Another model has $r = {small}$. What does the mix of the first token, divided by $b$, have of A and "
             f"of D, for {first} and for {second}? What follows for any MLP that sees this mix and nothing else?", 3,
             f"In both: A {small + 2}, D {small + 1}, and 1 of each other letter. But D occurs once in the first, and "
             "A twice in the second. The mix is the same and the counts are not, so no MLP counts right for both.",
             "1: the first\n1: the second, the same\n1: same input, two answers: no MLP can", (small + 2, small + 1)),
        Part(f"A semantic model gives equal letters {w} times the weight of others. Which share of the weight "
             f"do {n} equal ones get together? And with hard attention?",
             2, f"${n} · {w}/({n} · {w} + {T - n}) = {shown(held)}$; with hard attention 1, whatever "
             "the number is.", "1: the share\n1: 1", (held, 1)),
        Part("Hardened, the semantic model fails. Why does this not show that counting needs softness, and what would "
             "show it?", 2,
             "Its MLP never saw such mixes: the failure is that of this MLP. Ask models that were trained with hard "
             "attention (from places they count), or a proof (from letters alone it is impossible).",
             "1: the MLP was trained with other mixes\n1: train with hard attention, or a proof", None)),
        {"T": T, "mix": tuple(mix), "small": small, "sequences": (first, second), "w": w, "n": n})


@template("11", minutes=10)
def lent_maps(draw):
    """Three models, tried with the map of another sequence. One says the lender's counts and falls below the
    constant, as far as the lecture's do; one falls to it or just above, one stays. Steps 10, words 72."""
    constant = whole(draw, 50, 62) / 100
    kept, lost, says = (whole(draw, *ends) / 100 for ends in ((96, 99), (7, 10), (72, 84)))
    rows = {"stays": [1, kept, .01], "lender": [1, constant - lost, says],
            "neither": [whole(draw, 93, 98) / 100, constant + whole(draw, 0, 2) / 100, .12]}
    order = [list(rows)[i] for i in draw.permutation(3)]
    letter = {kind: "XYZ"[i] for i, kind in enumerate(order)}
    shares = tuple(round(rows[kind][1] - constant, 2) for kind in order)
    return Exercise("Lent maps", (
        "Three models say of each token how often its letter occurs. A lent map is the map of attention of another "
        "sequence, the lender. Shares of right counts (made up for this examination):\n\n"
        + table(["model", "own map", "lent map", "with it, where the two counts differ, says the lender's"],
                [[letter[kind], *(round(x, 2) for x in rows[kind])] for kind in order])
        + f"\n\nAlways saying 1 is right at {shown(constant)} of the tokens."), (
        Part("How far is each model above the constant answer (below: −) with a lent map, X, Y and Z in this order?", 2,
             f"{shown(shares)}.", "1: less the constant\n1: the numbers", shares),
        Part("Which model's attention carries nothing about the input that the model needs? Of which is it clear what "
             "the lent map brings into its answer, and how does the table tell it?", 3,
             f"{letter['stays']}: it counts with any map. {letter['lender']}: it says the lender's count. The third "
             "one fails and says neither.",
             "1: the first letter\n1: the second letter\n1: said how the column tells it",
             (letter["stays"], letter["lender"])),
        Part(f"“{letter['lender']} falls to {shown(constant - lost)}, so attention does at most half of its work.” "
             "Why is that not so?", 2,
             f"A constant gets {shown(constant)}: nothing is left that a constant would not get; "
             "what it says follows the lent map.", "1: beside the constant\n1: nothing is left of the own count", None),
        Part("Why does the test not show that the first model of (b) does not look at letters? What would you change, "
             "in place of the map, to find from what a model reads its count?", 3,
             "Letters can come in through the values: a map that treats all alike still mixes letters. Put half of "
             "another sequence's mix (that of the places, or of the letters) into each mix, after attention, and see "
             "whose count is given.",
             "1: through the values\n1: change the mix, not the map\n1: whose count comes out", None)),
        {"constant": constant, "rows": tuple(round(x, 2) for kind in order for x in rows[kind])})


@template("12", minutes=10)
def open_brackets(draw):
    """A beginning of brackets; which closes next, by a stack, by counting and by a wrong rule. The last opened is
    closed already and of the other kind than the top; three are open, and the bottom one is of another
    kind than the top. Steps 16, words 62."""
    def make():
        text, stack, last = "", [], ""
        for _ in range(9):
            if stack and (len(stack) == 4 or draw.random() < .5):
                text += {"(": ")", "[": "]"}[stack.pop()]
            else:
                last = "(["[whole(draw, 0, 1)]
                stack.append(last)
                text += last
        return text, stack, last
    text, stack, last = until(lambda found: len(found[1]) == 3 and found[0][-1] in ")]" and found[2] != found[1][-1]
                              and found[1][0] != found[1][-1], make)
    votes = sum(2 ** d * (1 if kind == "(" else -1) for d, kind in enumerate(stack, 1))
    closes = {"(": ")", "[": "]"}[stack[-1]]
    wrong = {"(": ")", "[": "]"}[last]
    other = "[[(" if stack == ["(", "(", "["] else "((["
    return Exercise("Open brackets", (
        f"A model has read `{text}`. In the counting model an opening bracket at depth $d = 1, 2, …$ votes for its "
        "kind with $2^d$, and the one that closes it takes the vote back."), (
        Part("What is open, from the bottom of the stack to its top? What is the sum of all votes, round less "
             "square?", 3,
             f"`{''.join(stack)}`; "
             f"{' '.join(('+' if k == '(' else '−') + str(2 ** d) for d, k in enumerate(stack, 1))} = {shown(votes)}.",
             "1: what is open\n1: signs and powers\n1: the sum", ("".join(stack), votes)),
        Part("Which bracket may close next? Which one does the rule “opened last, closed or not” name?", 2,
             f"`{closes}`, as the votes say. The rule names `{wrong}`: it forgets that the bracket opened last is "
             "closed already.", "1: what closes\n1: what the rule says", (closes, wrong)),
        Part("Why $2^d$? Give a stack other than that of (a), on which votes of size $d$ fail.", 2,
             f"Each power is larger than all below it together, so the top decides. With $d$: of `{other}` the votes "
             "sum to 0.", "1: a power outweighs all below\n1: not that of (a): (([, [[( or a longer one", None),
        Part("Even attention suffices for this. Why is a flat map then no proof that a model does not use attention? "
             "A probe reads the bracket at depth 1 from a model's states; what would show that the model uses it?", 3,
             "Even weights are a mean, and the mean carries the votes. Turn the bracket at depth 1 into the other "
             "kind (where it is closed, both of the pair), and ask where it is the top (not here): the answer must "
             "turn. Or turn the state along the probe's direction, beside a random one.",
             "1: the mean carries the sum of the votes\n1: turn the bracket, or change the state along the probe's "
             "direction\n1: the answer turns, where depth 1 is the top (beside a random direction)", None)),
        {"text": text})


@template("13", minutes=9)
def one_state(draw):
    """A sparse autoencoder of three features at one state. Two features are on and one is off; all numbers are whole,
    and what is missed is small. Steps 22, words 40."""
    decoder = [[3, 4], [0, 1], [-1, 0]]                                 # of lengths 5, 1 and 1
    def make():
        z = [whole(draw, 1, 2), *draw.permutation([whole(draw, 1, 4), -whole(draw, 1, 4)]).tolist()]
        a = [max(0, one) for one in z]
        s = [sum(one * w[i] for one, w in zip(a, decoder, strict=True)) for i in (0, 1)]
        h = [one + whole(draw, -3, 3) for one in s]
        encoder = [whole(draw, -1, 1, 2) for _ in range(3)]
        b = [one - w[0] * h[0] - w[1] * h[1] for one, w in zip(z, encoder, strict=True)]
        return h, b, encoder, z, a, s, sum((x - y) ** 2 for x, y in zip(h, s, strict=True))
    h, b, encoder, z, a, s, error = until(
        lambda found: all(map(any, found[2])) and len({*map(tuple, found[2])}) == 3 and max(map(abs, found[1])) <= 4
        and 12 <= 3 * found[6] < sum(x * x for x in found[0]), make)
    lam = whole(draw, 2, 4)
    f = [a[0] * 5, a[1], a[2]]
    loss = error + lam * sum(f)
    return Exercise("One state", (
        f"A sparse autoencoder with $b^{{dec}} = 0$ and $λ = {shown(lam)}$, at the state $h = ({shown(h[0])}, "
        f"{shown(h[1])})$:\n\n"
        + table(["feature", "1", "2", "3"], [
            ["row of the encoder", *(f"({shown(tuple(w))})" for w in encoder)], ["bias of the encoder", *b],
            ["column of the decoder", *(f"({shown(tuple(w))})" for w in decoder)], ["its length", 5, 1, 1]])), (
        Part("What does the encoder say, $a_1$, $a_2$, $a_3$?", 2,
             f"Before ReLU {shown(tuple(z))}, so {shown(tuple(a))}.", "1: products and bias\n1: ReLU", tuple(a)),
        Part("What are the activations $f_1$, $f_2$, $f_3$, and L0?", 2,
             f"$a$ times the length of the column: {shown(tuple(f))}; two are on, L0 is 2.", "1: the length of the "
                                                                                             "column\n1: L0", (*f, 2)),
        Part("What is the reconstruction, and what is the loss?", 3,
             f"$s = ({shown(s[0])}, {shown(s[1])})$; squared error {error}, penalty ${shown(lam)} · {sum(f)}$, loss "
             f"{shown(loss)}.", "1: the reconstruction\n1: the squared error\n1: the loss", (*s, loss)),
        Part("Why does the length of the column stand in the penalty? Why does a clamp add the change to h, and not "
             "decode anew?", 3,
             "Without it the loss falls for nothing: make the column long and $a$ small. A state decoded anew also "
             "loses all that the autoencoder misses, and one would not know which of the two changed the text.",
             "1: long column, small a\n1: the loss falls and nothing has become sparser\n1: what the autoencoder "
             "misses stays", None)),
        {"h": tuple(h), "lambda": lam, "encoder": tuple(map(tuple, encoder)), "b": tuple(b),
         "decoder": tuple(map(tuple, decoder))})


@template("13", minutes=9)
def a_knob(draw):
    """What a model loses that forgets a tone, and a table of knobs. All shares have two digits. Steps 9, words 70."""
    stays, share = whole(draw, 5, 9) / 10, whole(draw, 1, 4) / 10
    after = round(stays + (1 - stays) * share, 4)
    best, zero, coordinate = (whole(draw, *ends) / 100 for ends in ((85, 95), (14, 20), (55, 64)))
    low, high = whole(draw, 1, 5) / 100, whole(draw, 38, 52) / 100
    return Exercise("A knob", (
        f"In a world of dialogues a tone stays with chance {shown(stays)} from one sentence to the next, else it is "
        f"drawn anew; praise is then drawn with {shown(share)}. A model writes them perfectly. Of another model "
        "(numbers made up for this examination), the share of praise among its sentences:\n\n"
        + table(["setting", "praise"], [
            ["as it is", .2], ["feature 7 at 3 times its maximum", best], ["feature 7 at 0", zero],
            ["the best coordinate of the state, turned as far", coordinate],
            ["ten random pushes of the same length", f"{shown(low)} to {shown(high)}"]])), (
        Part("How often does praise follow praise in the first model? How often, if at each sentence end it is made "
             "to forget the tone? Which share of all its sentences is praise, before and after?", 4,
             f"${shown(stays)} + {shown(round(1 - stays, 4))} · {shown(share)} = {shown(after)}$; then "
             f"{shown(share)}; the share is {shown(share)} before and after.", "1: it stays, or is drawn anew\n1: the "
             "number\n1: forgotten: the share of the draw\n1: the share does not change", (after, share, share)),
        Part("What in the table shows that feature 7 acts? Name one other row without which this is no finding. "
             "What is it needed for?", 3,
             f"{shown(best)} in place of 0.2. Beside the random pushes, {shown(high)} at best: the placebo, as a push "
             f"of this length alone moves texts. (Or beside the coordinate, {shown(coordinate)}: is a feature needed "
             "for it?)",
             "1: against as it is\n1: the random pushes; or the coordinate\n1: a push alone moves texts; or a cheaper "
             "knob", None),
        Part(f"“With the feature at 0 the share is {shown(zero)} and was 0.2, so the model hardly uses it.” Why does "
             "this not follow? Use your numbers of (a). What do you measure?", 3,
             f"In (a) the tone is forgotten and the share stays {shown(share)}; only praise after praise falls, from "
             f"{shown(after)} to {shown(share)}. So measure what the feature is for, how often praise follows praise, "
             "with it and without it.",
             "2: the share stays although what was used is gone, as in (a); 1 without (a)\n1: praise after praise",
             None)),
        {"stays": stays, "share": share, "as it is": .2, "best": best, "zero": zero,
         "coordinate": coordinate, "random": (low, high)})


@template("13b", minutes=9)
def three_kinds(draw):
    """ReLU, TopK and JumpReLU at one state, and what the price takes. No two values are equal or at the threshold;
    four are above 0. Steps 19, words 56."""
    k = 2
    *z, theta = until(lambda found: len(set(found)) == 6 and 0 not in found and sum(one > 0 for one in found[:5]) == 4
                      and sum(one > found[5] > 0 for one in found[:5]) in (1, 3),
                      lambda: [one / 10 for one in whole(draw, -9, 29, 6)])
    topk, jump = ([one if one > bar else 0 for one in z] for bar in (sorted(z)[-k - 1], theta))
    lam = int(draw.choice([4, 6, 8, 10])) / 10
    m = int(draw.choice([2, 3, 4, 6]))
    x, alone, weak = (round(part, 4) for part in ((m + 1) * lam / 2, m * lam / 2, lam / 2 - .1))
    factor = Fraction(m + 1, m)
    return Exercise("Three kinds", (
        f"Before its threshold an encoder computes for five features {', '.join(map(shown, z))}. A ReLU autoencoder "
        f"with $λ = {shown(lam)}$ has one feature for a direction of length 1; it is there with {shown(x)} or with "
        f"{shown(weak)}, alone, and the loss (squared error + λ · what it says) is as small as can be."), (
        Part(f"What stays with TopK, $k = {k}$? What with JumpReLU, threshold {shown(theta)}? What is L0 with ReLU, "
             "TopK and JumpReLU?", 3,
             f"TopK: {shown(tuple(topk))}. JumpReLU: {shown(tuple(jump))}. L0: 4, {k} and {sum(map(bool, jump))}.",
             "1: TopK\n1: JumpReLU, unchanged above the threshold\n1: L0", (*topk, *jump, 4, k, sum(map(bool, jump)))),
        Part(f"What does the ReLU feature say of {shown(x)}, and by which factor must it be stretched to be right? "
             f"What does it say of {shown(weak)}?", 3,
             f"$x − λ/2 = {shown(alone)}$; factor {shown(factor)}; of {shown(weak)}, which is below λ/2, 0.",
             "1: less λ/2\n1: the factor\n1: 0", (alone, factor, 0)),
        Part("At the same L0 a model's loss rises less with TopK's reconstructions than with ReLU's. Why does this "
             "not make TopK the better dictionary? Name two measurements that you want beside it, and say what each "
             "could show.", 4,
             "Loss recovered judges the sum, not the parts: any mixture of the features with the same sum would do "
             "as well. How far two seeds agree, feature by feature and beside random directions; whether the "
             "features that one looks for are there; how many are never on; whether a name holds on texts that were "
             "not looked at.",
             "1: it judges the sum\n1: two measurements\n1: what the first shows\n1: what the second shows", None)),
        {"z": tuple(z), "k": k, "theta": theta, "lambda": lam, "x": x, "weak": weak})


@template("13b", minutes=10)
def a_name(draw):
    """A feature's name on texts that nobody looked at: precision, recall, base rate; and a second seed, for which the
    name fits more often than anyway and less often than for the first. No share is 1. Steps 10, words 84."""
    reviews = 400
    on, right, named, fits = until(
        lambda f: f[1] < min(f[0], f[2]) and f[0] != f[2] and f[2] / reviews < f[3] / 20 < f[1] / f[0], lambda: (
            int(draw.choice([20, 25, 40, 50])), 2 * whole(draw, 6, 20), int(draw.choice([40, 50, 80, 100])),
            whole(draw, 4, 8)))
    precision, recall, base = Fraction(right, on), Fraction(right, named), Fraction(named, reviews)
    return Exercise("A name", (
        "On one half of the reviews a feature was chosen out of 64 and named: “says that the food was good”. On the "
        f"other half, {reviews} reviews, it is on in {on}. The name fits {named} of the {reviews}, and {right} of "
        f"those {on}. Where the feature of a second seed is strongest (cosine of the directions .89), the name fits "
        f"{fits} of 20 reviews."), (
        Part("What are the precision and the recall of “the feature is on” for “the name fits”, and how often does "
             "the name fit anyway?", 3,
             f"{shown(precision)} ({right}/{on}), {shown(recall)} ({right}/{named}), {shown(base)} "
             f"({named}/{reviews}).",
             "1: precision\n1: recall\n1: base rate", (precision, recall, base)),
        Part("Why must the feature, and why the name, be chosen on one half and counted on the other? Which two "
             "numbers, other than recall, would you put beside the precision, so that a reader can judge it?", 4,
             "The best of 64 is good by chance on the half where it was chosen, and a name is made to fit the top of "
             "one list. Beside it: the base rate; the best of 64 random directions, chosen likewise.",
             "1: the best of many, by chance\n1: the name was made to fit\n2: one each for two of: base rate; random "
             "directions, coordinates or neurons, chosen likewise; an interval", None),
        Part("Why does the second seed not refute the feature, and what does it show? What do precision and recall "
             "not say about the model?", 3,
             "The directions are 27° apart: so small a turn changes which texts are at the top. So a name belongs to "
             "its direction and must be tested for each. Both say that the feature goes along with something: not "
             "that it acts, nor that the model uses it.",
             "1: nearly one direction, another top\n1: a name must be tested for each\n1: goes along; not acts, not "
             "used", None)),
        {"reviews": reviews, "on": on, "named": named, "right": right, "fits": fits, "features": 64,
         "strongest": 20})
