"""From probabilities to text (lecture 04)."""

from fractions import Fraction

from coursegrade.exam import Exercise, Part, shown, table, template, until

FIRST = {"it": ["is", "was", "seems"], "nobody": ["knows", "cares", "asks"], "what": ["now", "else", "for"],
         "she": ["sings", "left", "knows"], "time": ["flies", "heals", "passes"]}


@template("04", minutes=11)
def greedy_and_beams(draw):
    """A tree of two words, walked by three rules. Steps 15, words 70."""
    words = draw.permutation([*FIRST])[:3].tolist()

    def tree():
        return [draw.multinomial(10, [1 / 3] * 3).tolist() for _ in range(4)]

    def telling(found):
        first, *then = found
        best = [p * max(row) for p, row in zip(first, then, strict=True)]
        ends = sorted(p * q for p, row in zip(first, then, strict=True) if p > min(first) for q in row)[-3:]
        return (all(min(row) > 0 and sorted(row)[2] > sorted(row)[1] for row in found)
                and len({*first}) == len({*ends}) == len({*best}) == 3
                and max(best) == best[first.index(sorted(first)[1])])               # the second likeliest word is best

    first, *then = until(telling, tree)
    texts = {f"{a} {b}": Fraction(p * q, 100) for a, p, row in zip(words, first, then, strict=True)
             for b, q in zip(FIRST[a], row, strict=True)}
    top = words[first.index(max(first))]
    greedy = max((text for text in texts if text.startswith(top + " ")), key=texts.get)
    kept = sorted(words, key=lambda word: -first[words.index(word)])[:2]
    ends = sorted((text for text in texts if text.split()[0] in kept), key=texts.get, reverse=True)[:2]
    best = ends[0]
    text = f"""A model writes texts of two words. Its first word, and then its second, have these probabilities.

{table(["first word", "", "second word", "", ""],
       [[f"{a}: {p / 10:g}", "→", *(f"{b}: {q / 10:g}" for b, q in zip(FIRST[a], row, strict=True))]
        for a, p, row in zip(words, first, then, strict=True)])}"""
    return Exercise("A tree of two words", text, (
        Part("Which text does greedy decoding write, and how probable is it?", 2,
             f"**{greedy}**, {float(texts[greedy]):g}.", "1: the likeliest word at each step\n1: the product",
             (greedy, float(texts[greedy]))),
        Part("Beam search with two beams: which beginnings does it keep after the first step? How many texts does it "
             "compare after the second, which two does it keep, and how probable are they?", 3,
             f"After one step *{kept[0]}* and *{kept[1]}*; then all 6 continuations of both are compared: "
             f"**{ends[0]}** ({float(texts[ends[0]]):g}) and **{ends[1]}** ({float(texts[ends[1]]):g}) stay.",
             "1: the two beginnings\n1: all continuations of both are compared\n1: both texts with their probabilities",
             (*kept, 6, *ends, *(float(texts[one]) for one in ends))),
        Part("Pure sampling writes one text. With which probability is it neither that of greedy decoding nor the best "
             "of the two beams?", 1,
             f"1 − {float(texts[greedy]):g} − {float(texts[best]):g} = **{float(1 - texts[greedy] - texts[best]):g}**.",
             "1: 1 less both probabilities", float(1 - texts[greedy] - texts[best])),
        Part("Can three beams miss the best text of such a tree if the second words have other probabilities? Why?", 2,
             "No. There are only three first words, so none is dropped, and all texts are compared at the end. (Where "
             "there are more beginnings than beams, the best may be dropped, and a wider search may find it.)",
             "1: no\n1: no beginning is dropped", None),
        Part("Is the most probable text a good text? Give two reasons against it, and explain one.", 3,
             "It is typical neither of what people write nor of what the model itself would mostly write; in long "
             "texts it repeats itself. Shorter texts have the advantage of fewer factors. And rare things that the "
             "model thinks possible never come.",
             "1: a first one, as: not typical, for people and the model itself mostly write something less probable\n"
             "1: a second, as: repetition; short texts win; rare things never come\n1: one of them explained", None)),
        {"first": [p / 10 for p in first], "then": [q / 10 for row in then for q in row], "words": words,
         "seconds": [b for a in words for b in FIRST[a]]})


@template("04", minutes=9)
def hot_and_cut(draw):
    """Temperature, top-k and nucleus of four tokens. Steps 16, words 48."""
    tokens = draw.permutation(["sea", "sun", "tea", "joy", "sky", "ice"])[:4].tolist()

    def numbers():
        return sorted(draw.permutation([1, 2, 3, 4, 6, 8])[:4].tolist())[::-1], Fraction(int(draw.integers(5, 10)), 10)

    def clear(found):
        w, mass = found
        below = [Fraction(sum(w[:k]), sum(w)) for k in (1, 2, 3)]
        return below[1] < mass < below[2] and all(abs(one - mass) > Fraction(2, 100) for one in below) and all(
            one * sum(w) != sum(a * a for a in w) for one in w)     # not the top 2; cold, no probability stays

    w, mass = until(clear, numbers)
    total, squares = sum(w), [one * one for one in w]
    order = draw.permutation(4).tolist()
    p, cold = [Fraction(one, total) for one in w], [Fraction(one, sum(squares)) for one in squares]
    logits = [f"$\\log {w[i]}$" for i in order]
    text = f"""A model hands over the logits of four tokens.

{table(["token", *(tokens[i] for i in order)], [["logit $y$", *logits]])}"""

    def listed(shares):
        return ", ".join(f"{tokens[i]} {shown(shares[i])}" for i in order)

    return Exercise("Hotter, colder, cut off", text, (
        Part("Compute the four probabilities.", 2, f"$e^y$ is the number itself, the sum {total}: **{listed(p)}**.",
             "1: $e^{\\log a} = a$\n1: divided by the sum", tuple(p)),
        Part("And with temperature $τ = \\frac{1}{2}$?", 2,
             f"$e^{{y/τ}} = e^{{2y}}$: squares, {shown([squares[i] for i in order])}, sum {sum(squares)}: "
             f"**{listed(cold)}**.", "1: logits are divided by $τ$ before the softmax\n1: the four", tuple(cold)),
        Part("Top-$k$ with $k = 2$, at temperature 1: which tokens are left, and how probable is each?", 2,
             f"{tokens[0]} **{shown(Fraction(w[0], w[0] + w[1]))}**, {tokens[1]} "
             f"**{shown(Fraction(w[1], w[0] + w[1]))}**.", "1: the two likeliest\n1: rescaled to sum to "
             "1", (Fraction(w[0], w[0] + w[1]), Fraction(w[1], w[0] + w[1]))),
        Part(f"The nucleus of {float(mass):g}, at temperature 1: which tokens are in it?", 2,
             f"The smallest set of likeliest tokens with at least {float(mass):g}: **{', '.join(tokens[:3])}**, which "
             f"hold {shown(sum(p[:3]))}; without the last {shown(p[0] + p[1])}.",
             "1: added up from the likeliest\n1: stopped at the first sum that reaches it", tuple(tokens[:3])),
        Part("A newspaper wants texts in which each opinion is as frequent as the model believes, and no slips of "
             "grammar. Which way of sampling gives the first, which comes near the second, and why does none give "
             "both?", 3,
             "Pure sampling alone, at temperature 1 and uncut, gives each text its own frequency, slips among them. "
             "Cutting the tail takes most slips away, and with them opinions that are rare; what is left becomes more "
             "frequent. An error that the model finds likely stays.",
             "1: pure sampling keeps frequencies\n1: top-$k$ or nucleus takes rare tokens away, slips among them (or: "
             "a low temperature makes them rare)\n1: rare and wrong are not told apart by probability (or: rescaling "
             "changes all frequencies)", None)),
        {"w": w, "mass": float(mass), "tokens": tokens})
