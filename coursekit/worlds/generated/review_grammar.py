"""The writer of the generated reviews: it unfolds review_grammar.txt and keeps the role and weight of every word.

The notation is explained at the head of that file, the arithmetic of the weights in `coursekit.worlds.reviews`.
A piece is (word, role, weight); until its clause is weighed, a mark of the grammar stands in for the role.
"""

import re
from functools import partial

from .grammars import grammar

# mark -> role, factor; applied in this order
_MODIFIERS = {"int": ("intensifier", 1.5), "down": ("downtoner", 0.5), "not": ("negation", -0.5)}
_AGAINST = {"+": "-", "-": "+"}
_PIECE = re.compile(r"\{(?P<slot>[^}]+)\}(\[(?P<slot_mark>\w+)\])?"
                    r"|(?P<word>[^\s\[\]{},.;]+)(\[(?P<mark>[^\]]+)\])?|(?P<stop>[,.;])")
_VERBS = {  # what agrees with an aspect, in the singular and in the plural
    "film": {"be": ("is", "are"), "bent": ("isn't[not]", "aren't[not]"), "seem": ("seems", "seem"),
             "one": ("is", "is")},
    "restaurant": {"be": ("was", "were"), "bent": ("wasn't[not]", "weren't[not]"), "seem": ("seemed", "seemed"),
                   "one": ("was", "was")},
}


def write(rng, label):
    """One review as (topic, pieces); rng: random.Random; label: 1 praise, 0 blame.

    Drafts are thrown away until one has 15 to 80 words and a score at least 1.5 on the label's side of zero.
    """
    while True:
        draft = _Draft(rng, rng.choice(["film", "restaurant"]))
        pieces = draft.review("+" if label else "-")
        score = sum(weight for _, _, weight in pieces) * (1 if label else -1)
        if score >= 1.5 and 15 <= sum(word[-1].isalnum() for word, _, _ in pieces) <= 80:
            return draft.topic, pieces


class _Draft:
    """One attempt at a review. It remembers the names it gave and the phrases it used, so as to say nothing twice."""

    def __init__(self, rng, topic):
        self.rng, self.topic = rng, topic
        self.names, self.used = {}, set()
        aspects = grammar("review")[f"{topic}.aspects"]
        self.aspects = rng.sample(aspects, len(aspects))

    def review(self, direction):
        """The pieces of the whole draft: which kinds of sentence in which order, then the sentences."""
        rng = self.rng
        body = ["fact"] * rng.choice([0, 1, 1, 2]) + ["contrast"] * rng.choice([0, 1, 1, 2])
        body += ["sentence"] * rng.choice([0, 1, 1, 2])
        rng.shuffle(body)
        plan = ["opening"] * (rng.random() < 0.6) + body
        if rng.random() < 0.6:
            plan.insert(0 if rng.random() < 0.2 else len(plan), "verdict")
        plan += ["closing"] * (rng.random() < 0.2)
        pieces = []
        for symbol in plan:
            if symbol in ("contrast", "sentence") and len(self.aspects) < 3:
                continue  # a sentence judges three aspects at most
            second_thought = symbol == "sentence" and rng.random() < 0.2
            pieces += self.sentence(symbol, _AGAINST[direction] if second_thought else direction)
        return pieces

    def sentence(self, symbol, direction):
        """The pieces of one sentence, or two, in a direction; a conceded clause counts half: "but" takes that back."""
        conceded = []

        def concede(*symbols):
            clause = self.clause(_AGAINST[direction], *symbols)
            conceded.append(sum(weight for _, _, weight in clause))
            return clause

        slots = {"C": partial(self.clause, direction, "plain", "clause"),      # clauses in the sentence's direction
                 "P": partial(self.clause, direction, "plain"),
                 "X": partial(concede, "plain", "clause"),                    # and against it
                 "Y": partial(concede, "plain"),
                 "V": lambda: _weigh(self.one_of("verdict" + direction))}
        pieces = self.unfold(self.pick(symbol), slots)
        return _finished(_share(pieces, "but", "contrast", -0.5 * sum(conceded)))

    def clause(self, direction, *symbols):
        """The weighed pieces of a clause on an aspect not judged before."""
        aspect = self.aspects.pop()
        judged = self.pick(aspect)
        for_it, against_it, plural = aspect + direction, aspect + _AGAINST[direction], "[aspects]" in judged
        slots = {"np": partial(self.unfold, judged), "down": partial(self.one_of, "down" + direction),
                 "adj": partial(self.one_of, for_it, "123"), "adj2": partial(self.one_of, for_it, "2"),
                 "adj3": partial(self.one_of, for_it, "3"), "opp": partial(self.one_of, against_it, "2")}
        slots |= {name: partial(self.unfold, forms[plural]) for name, forms in _VERBS[self.topic].items()}
        if "clause" in symbols:
            symbols += ("clause" + direction, aspect + ".clause", aspect + ".clause" + direction)
        return _weigh(self.unfold(self.pick(*symbols), slots))

    def pick(self, *symbols, sizes=None):
        """One alternative of the symbols, an unused one where there is one; sizes: the absolute values it may have."""
        options = [option for symbol in symbols
                   for option in grammar("review").get(f"{self.topic}.{symbol}", grammar("review").get(symbol, []))
                   if sizes is None or option[-2] in sizes]
        fresh = [option for option in options if option not in self.used]
        choice = self.rng.choice(fresh or options)
        self.used.add(choice)
        return choice

    def one_of(self, symbol, sizes=None):
        """The pieces of one alternative of a symbol."""
        return self.unfold(self.pick(symbol, sizes=sizes))

    def unfold(self, template, slots={}):
        """The pieces of a template, its slots filled from `slots` (slot -> function) or from the grammar."""
        pieces = []
        for match in _PIECE.finditer(template):
            if match["stop"]:
                pieces.append((match["stop"], "punctuation", 0.0))
            elif match["word"] == "'s":
                pieces[-1] = (pieces[-1][0] + "'s", *pieces[-1][1:])
            elif match["word"]:
                pieces += [(word, match["mark"] or "filler", 0.0) for word in match["word"].split("_")]
            elif match["slot"] in slots:
                pieces += slots[match["slot"]]()
            else:
                filled = self.named(match["slot"])
                pieces += [(word, match["slot_mark"] or role, weight) for word, role, weight in filled]
        return pieces

    def named(self, symbol):
        """The pieces of a symbol of the grammar; a symbol with a capital letter is unfolded once per review."""
        if symbol in self.names:
            return self.names[symbol]
        pieces = self.one_of(symbol)
        if symbol[0].isupper():
            self.names[symbol] = pieces
        return pieces


def _weigh(pieces):
    """Roles and weights for the marks of one clause: its sentiment word's value, then what each modifier changes."""
    (value,) = {role for _, role, _ in pieces if role[0] in "+-"}
    total = float(value)
    pieces = _share(pieces, value, "sentiment" + value[0], total)
    for mark, (role, factor) in _MODIFIERS.items():
        if any(mark == m for _, m, _ in pieces):
            pieces = _share(pieces, mark, role, (factor - 1) * total)
            total *= factor
    return [(word, "aspect" if role == "aspects" else role, weight) for word, role, weight in pieces]


def _share(pieces, mark, role, weight):
    """The pieces with the words under a mark given their role and an even share of a weight."""
    count = sum(m == mark for _, m, _ in pieces)
    return [(word, role, weight / count) if m == mark else (word, m, w) for word, m, w in pieces]


def _finished(pieces):
    """A full stop at the end, capitals after full stops, "an" before vowels."""
    pieces = [*pieces, (".", "punctuation", 0.0)]
    words = [word for word, _, _ in pieces]
    for i, word in enumerate(words):
        if word in ("a", "A") and re.match("[aeiou]|honest", words[i + 1].lower()):
            words[i] += "n"
        if i == 0 or words[i - 1] == ".":
            words[i] = words[i][0].upper() + words[i][1:]
    return [(word, role, weight) for word, (_, role, weight) in zip(words, pieces, strict=True)]
