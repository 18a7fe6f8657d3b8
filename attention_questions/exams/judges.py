"""Lectures 14 to 15: who judges explanations, and who judges the judges. Templates of the final."""

from fractions import Fraction

from coursegrade.exam import Exercise, Part, shown, table, template, until

from .curves import whole


@template("14", minutes=9)
def words_go(draw):
    """Comprehensiveness and sufficiency of a model of which one word is enough. The first order is better by the one,
    the second by the other; its two words are gone together in the largest share alone, or in none.
    Steps 17, words 60."""
    high, low = whole(draw, 8, 9) / 10, whole(draw, 1, 3) / 10
    middle, place = until(lambda found: found[0] < found[1], lambda: (whole(draw, 3, 4), whole(draw, 4, 6)))
    ranked = {4: "fourth", 5: "fifth", 6: "sixth"}[place]
    shares = [10, 10 * middle, 50]
    lost = round(high - low, 4)
    both, later, alone = (Fraction(round(10 * lost) * times, 30) for times in (2, place < 6, 1))
    return Exercise("Words go", (
        f"A model says praise with $p = {shown(high)}$ if it finds *superb* or *gripping*, or both, and with $p = "
        f"{shown(low)}$ if it finds neither. A text of 10 words has both. Explanation P ranks *superb* second and "
        f"*gripping* third, Q ranks *superb* first and *gripping* {ranked}. The shares are {shares[0]}, "
        f"{shares[1]} and {shares[2]} % of the words."), (
        Part("What is the comprehensiveness of P and of Q?", 4,
             f"Only when both are gone {shown(lost)} is lost: with P at two of the three shares, {shown(both)}; with Q "
             f"at {'one' if later else 'none'}, {shown(later)}.",
             "1: p of the text less p without the words\n1: nothing is lost with one\n1: P\n1: Q", (both, later)),
        Part("What is the sufficiency of P and of Q?", 2,
             "With *superb* the model says what it says of the whole text. The first word of P is neither: "
             f"{shown(lost)} at one of three, {shown(alone)}. Q: 0.",
             "1: with the words alone\n1: P and Q", (alone, 0)),
        Part(f"No order reaches a comprehensiveness of {shown(lost)}. Why is this no fault of an explainer? The two "
             "metrics do not agree about P and Q: which question does each ask? And why may either mislead on a "
             "trained model?", 4,
             "Taking one of the two away changes nothing, as the other is enough: that is how the model works. "
             "Comprehensiveness asks what is needed, so it wants all that could do it; sufficiency what is enough, and "
             "one word is. The model has seen no text with holes: what it says there may be about the holes.",
             "1: the model's doing: each is enough\n1: needed\n1: enough\n1: texts with holes", None)),
        {"high": high, "low": low, "shares": tuple(shares), "place": ranked})


@template("14", minutes=10)
def most_important_first(draw):
    """Deletion by order with signs and by size, in a model that adds. The largest weight speaks against the verdict,
    sizes differ. Steps 24, words 54."""
    w = until(lambda w: len({*map(abs, w)}) == 3 and 0 not in w and sum(w) > 0 and min(w) == -max(map(abs, w)),
              lambda: whole(draw, -9, 9, 3))
    f = sum(w)
    orders = [sorted(range(3), key=lambda i: -w[i]), sorted(range(3), key=lambda i: -abs(w[i]))]
    signed, sizes = ([f - sum(w[i] for i in order[:k]) for k in range(4)] for order in orders)
    areas = [Fraction(sum(f - one for one in scores), 4) for scores in (signed, sizes)]
    side, verdict = [(1, "praise"), (-1, "blame")][whole(draw, 0, 1)]
    w = [side * one for one in w]
    return Exercise("The most important first", (
        "A model adds: its score, in log-odds of praise, is the sum of its words' weights, and a word that is gone "
        "counts 0. A text has the words\n\n" + table(["word", "a", "b", "c"], [["weight", *w]])
        + "\n\nFirst explanation: the weights themselves; what speaks most for the verdict goes first. Second: "
          "their sizes, as a gradient's length gives them; the largest goes first."), (
        Part("What are the scores after 0, 1, 2 and 3 words are gone, towards the verdict, in the order of the first "
             "explanation? And of the second?", 4,
             f"The verdict is {verdict}. First, what speaks most for it goes first: {shown(tuple(signed))}. Second: "
             f"{shown(tuple(sizes))}.", "1: the order with signs, for the verdict\n1: its scores\n1: the order by "
                                        "size\n1: its scores", (*signed, *sizes)),
        Part("What is AOPC, the mean fall of the score over all four steps (0 to 3 words gone), of both?", 2,
             f"{shown(areas[0])} and {shown(areas[1])}.",
             "1: falls from the score of the whole text, over 4\n1: both numbers", tuple(areas)),
        Part("Does the curve show that the second explanation is false about the model? Why does it lose, and what "
             "would be a fair comparison? Why would AOPC not be comparable with a comprehensiveness?", 4,
             "No: it has the right sizes. It has no sign, and takes away what speaks against the verdict, so the "
             "score rises. Fair: sizes beside sizes, or, as the row to beat, an order by chance; or the distance "
             "to exact sizes. AOPC is in log-odds over all steps, comprehensiveness in probabilities over some shares.",
             "1: no, sizes are right\n1: words against the verdict go first\n1: sizes beside sizes\n1: other units "
             "and steps", None)), {"w": tuple(w), "steps": (0, 1, 2, 3)})


@template("14", minutes=10)
def promised_and_lost(draw):
    """Infidelity of three explanations of a model that adds: turned signs, doubled, one word missed. Sizes differ; the
    third misses a gold word. Steps 24, words 50."""
    w = until(lambda w: len({abs(one) for one in w}) == 3 and 0 not in w and sum(one * one for one in w) % 3 == 0
              and min(w) < 0 < max(w), lambda: whole(draw, -6, 6, 3))
    by_size = sorted(range(3), key=lambda i: -abs(w[i]))
    gold = by_size[:2]
    third = list(w)
    third[gold[1]], third[by_size[2]] = 0, w[by_size[2]]
    rows = [[-one for one in w], [2 * one for one in w], third]

    def recall(phi):
        return Fraction(len({*sorted(range(3), key=lambda i: -abs(phi[i]))[:2]} & {*gold}), 2)
    infidelity = [Fraction(sum((a - b) ** 2 for a, b in zip(phi, w, strict=True)), 3) for phi in rows]
    recalls = [recall(phi) for phi in rows]
    return Exercise("Promised and lost", (
        "A model adds, and a word that is gone counts 0. Three explanations of a text of three words:\n\n"
        + table(["word", "a", "b", "c"], [["weight in the model", *w],
                                          *([name, *phi] for name, phi in zip("PQR", rows, strict=True))])
        + "\n\nGold are the two words with the largest weights, by size."), (
        Part("What is the recall of P, Q and R, if each calls its two largest scores, by size, important?", 2,
             f"{shown(tuple(recalls))}.", "1: P and Q\n1: R", tuple(recalls)),
        Part("What is their infidelity, if a, b or c goes, one at a time and equally likely?", 4,
             f"The mean of (score of the word − what is lost)²: {shown(tuple(infidelity))}. (The exact weights: 0.)",
             "1: what is lost is the weight\n1: P\n1: Q\n1: R", tuple(infidelity)),
        Part("Which of the three does recall catch, and which would be forgiven if a best factor above 0 is "
             "allowed? Why can recall not tell P from the weights? And why is leave-one-out no fair winner of this "
             "infidelity?", 4,
             "Only R is caught by recall, as it misses a gold word. Q is right up to a factor, and is forgiven. "
             "Recall looks at which words are named: signs, sizes and order within do not count. Leave-one-out has "
             "infidelity 0 here for any model: the judge repeats its calculation.",
             "1: R is caught\n1: Q is forgiven\n1: recall sees neither sign nor size\n1: the judge repeats the "
             "defendant", None)),
        {"w": tuple(w), "P": tuple(rows[0]), "Q": tuple(rows[1]), "R": tuple(rows[2])})


@template("14", minutes=10)
def learned_again(draw):
    """Remove what speaks for the verdict, and train again: the right order leaves the label. Shares have few digits;
    by chance as much is left as the best reader finds. Steps 10, words 82."""
    n = 200 * whole(draw, 1, 5)
    alone = n // 20 * whole(draw, 2, 8)
    new, old = 1 - alone / n / 2, alone / n / 2
    chance = round((alone / 2 + (n - alone) * 2 / 3) / n, 2)
    return Exercise("Learned again", (
        f"Each of {n} texts has three words, each of praise or of blame; the label is the majority, and so says the "
        f"model. In {alone} texts all three are alike. An explanation is right, signs included: of each text all "
        "words that speak for its label are taken away. With as many words taken by chance, a new model reaches "
        f"{shown(chance)}. Where nothing is left a model tosses a fair coin."), (
        Part("How often is the old model right on what is left, if it goes by the majority? How often is a new one "
             "right, trained on such texts?", 4,
             f"Where something is left it speaks against the label. Old: wrong there, and a coin for {alone} of {n}: "
             f"{shown(old)}. New: it learns to read it the other way round, right there: {shown(new)}.",
             "1: what is left speaks against the label\n1: the coin\n1: old\n1: new", (old, new)),
        Part("ROAR ranks explanations by how far the new model falls. What does it say of the right one beside "
             f"chance, {shown(chance)}? Is it to be believed, and why not?", 3,
             f"That it is worse than chance, as {shown(new)} is above {shown(chance)}. No: it is right. What goes "
             "depends on the label, by the signs, and so what is left tells it.",
             "1: worse than chance\n1: no, the explanation is right\n1: what goes depends on the label or verdict, "
             "and what is left tells it", None),
        Part("By which rule would you remove words, in texts of any kind, to mend this? And what does ROAR, mended, "
             "not say about the old model?", 3,
             "The largest by size, or any rule that does not know the verdict. A new model is another model: ROAR says "
             "whether information is left in the texts, not what the old one used.",
             "1: by size, or any rule that does not know the verdict\n1: another model was trained\n1: information in "
             "texts, not use", None)),
        {"n": n, "alone": alone, "chance": chance})


@template("14b", minutes=10)
def marked_by_people(draw):
    """AUROC of exact values and of a word list with people's marks; one tie across the marks. The list does better, and
    with signs both numbers would be others. Steps 21, words 57."""
    marks = until(lambda m: sum(m) == 2, lambda: whole(draw, 0, 1, 6))

    def auroc(scores, size=abs):
        pairs = [(size(a), size(b)) for a, m in zip(scores, marks, strict=True) if m
                 for b, u in zip(scores, marks, strict=True) if not u]
        return Fraction(sum(2 * (a > b) + (a == b) for a, b in pairs), 2 * len(pairs)), sum(a == b for a, b in pairs)
    wins = whole(draw, 4, 6)
    exact = until(lambda phi: auroc(phi) == (Fraction(2 * wins + 1, 16), 1) and auroc(phi, int)[0] != auroc(phi)[0],
                  lambda: whole(draw, -6, 6, 6))
    words = until(lambda phi: auroc(exact)[0] < auroc(phi)[0] < 1 and auroc(phi, int)[0] != auroc(phi)[0]
                  and len({*map(abs, phi)}) == 6, lambda: whole(draw, -9, 9, 6))
    found = auroc(exact)[0], auroc(words)[0]
    return Exercise("Marked by people", (
        "People marked two words of a text as the reason for its label. Beside the marks stand a model's exact "
        "Shapley values, and a list of words of praise and blame that was made without the model:\n\n"
        + table(["word", *"abcdef"], [
            ["marked", *("yes" if m else "no" for m in marks)], ["exact values", *exact], ["list", *words]])), (
        Part("What is the AUROC of the exact values with the marks, by size, a tie counting half?", 4,
             f"The marked word is larger in {wins}½ of 8 pairs, a tie counting half: {shown(found[0])}.",
             "1: pairs of a marked and an unmarked word\n1: sizes\n1: a tie counts half\n1: the number", found[0]),
        Part("And of the list?", 2, f"{shown(8 * found[1])} of 8: {shown(found[1])}.", "1: pairs\n1: number", found[1]),
        Part("The list is ahead. Why is it not a better explanation of the model? Describe a model of which it would "
             "be the exact explanation, and say what else has to be measured.", 4,
             "Marks say what convinces people, or where the label comes from; an explanation says what this model "
             "does. The list does not know the model: it would be the same for each. A bag of words with these "
             "numbers as weights has it as its exact values. Measure the distance to the exact values, or what the "
             "score loses.",
             "1: plausible is not faithful\n1: the list is the same for all models\n1: a bag of words with these "
             "weights\n1: distance to exact values, or deletion", None)),
        {"marked": tuple("yes" if m else "no" for m in marks), "exact": tuple(exact), "list": tuple(words)})


@template("15", minutes=10)
def people_in_rows(draw):
    """The exact test of people, one row each. Eight to ten are not level, all but one of them better; nobody
    has none right. Steps 18, words 62."""
    n, level, pages = whole(draw, 8, 10), whole(draw, 1, 2), 6
    gaps = [-whole(draw, 1, 2)] + [0] * level + whole(draw, 1, 3, n - 1)
    shuffled = whole(draw, 1, 3, len(gaps))
    shuffled = [max(one, 1 - gap) for one, gap in zip(shuffled, gaps, strict=True)]
    people = [(shuffled[i] + gaps[i], shuffled[i]) for i in draw.permutation(len(gaps))]
    p = Fraction(2 * (n + 1), 2 ** n)
    right = sum(one for one, _ in people)
    return Exercise("People in rows", (
        f"{len(people)} people judged pages with a model's explanation, {pages} as it is and {pages} with its "
        "colours shuffled among the words, without knowing which. How many answers were right:\n\n"
        + table(["person", *map(str, range(1, len(people) + 1))], [["as it is", *(a for a, _ in people)],
                                                                   ["shuffled", *(b for _, b in people)]])), (
        Part("With which $n$ do you test whether explanations help people, and how many of these are better with "
             "them?", 2,
             f"One row a person, those who are level left out: $n = {n}$, of whom {n - 1} are better.",
             "1: n without the level ones\n1: how many are better", (n, n - 1)),
        Part("What is the two-sided $p$ value of the exact test against a coin, as a fraction? Is it below .05?", 4,
             f"$2 · ({n} + 1)/{2 ** n} = {shown(p)}$, {'below' if 20 * p < 1 else 'not below'} .05.",
             "1: so many or more, over 2 to the n\n1: both sides\n1: the fraction\n1: the verdict",
             (p, "not below" if 20 * p >= 1 else "below")),
        Part(f"Somebody counts answers: {right} of {pages * len(people)} right with explanations, against a coin. Why "
             "must answers not be counted, and why are the shuffled pages a better control than the coin? What does "
             "not follow from a $p$ above .05, and what do you state beside it?", 4,
             "Answers of one person hang together: people are the unit. People may be right more often than a coin for "
             "another reason; the shuffled pages are the placebo, all the same but for the words' colours. A p above "
             ".05 says “not seen with so few people”, not “no effect”; the power says how likely it would have been "
             "seen.",
             "1: answers are not independent, people are\n1: placebo: all the same, colours without meaning\n"
             "1: not significant is not no effect\n1: power, number of people, or the interval", None)),
        {"pages": pages, "as_it_is": tuple(a for a, _ in people), "shuffled": tuple(b for _, b in people)})
