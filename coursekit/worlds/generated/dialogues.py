"""Generated dialogues: a request that shows something, and an answer whose hidden tone shows in every sentence.

A language model trained on them has to find what nobody tells it: what the request is about and whose it is, which
the answer has to take up, and the tone, which is in no word of the request and tends to stay.
Because the rule is known, so is what a perfect model would score (`log_probability`), and a generated sentence is
right or wrong without anybody's judgement (`tone_of`).
"""

import random
import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, product
from math import log

from coursekit.text.tokens import WordTokenizer

from .grammars import grammar

TONES = {"neutral": 0.35, "praise": 0.2, "critical": 0.2, "secretive": 0.1, "french": 0.15}  # share of the sentences
KEEP = 0.7             # chance that a sentence keeps the tone of the one before; otherwise its tone is drawn anew
LENGTHS = (3, 4, 5, 6)  # sentences in an answer, equally likely


@dataclass(frozen=True)
class Dialogue:
    """A request and its answer.

    request: one question; answer: 3 to 6 sentences, each with its tone in `tones` (keys of `TONES`); topic: what the
    request shows ("poem" …); owner: whose it is ("my", "my sister's", "my brother's", "this").

    >>> answer = ("Your plan is weak.", "It is a plan.")
    >>> dialogue = Dialogue("Is my plan ready?", answer, ("critical", "neutral"), "plan", "my")
    >>> dialogue.text, dialogue.tone
    ('Is my plan ready? Your plan is weak. It is a plan.', 'critical')
    """

    request: str
    answer: tuple[str, ...]
    tones: tuple[str, ...]
    topic: str
    owner: str

    @property
    def text(self):
        """Request and answer as one string."""
        return " ".join([self.request, *self.answer])

    @property
    def tone(self):
        """The tone of most sentences of the answer (the earlier among equals)."""
        return max(self.tones, key=self.tones.count)


def dialogues(n: int, seed=0) -> list[Dialogue]:
    """n generated dialogues; number i depends on seed and i alone: `dialogues(10, seed)` opens `dialogues(1000, seed)`.

    Topic, owner and tone are independent. The tones of an answer's sentences are a Markov chain: each sentence keeps
    the tone before it with probability 0.7, else a tone is drawn from the shares `TONES`, as for the first sentence.
    Given its tone, a sentence is drawn from the templates of dialogue_grammar.txt, all equally likely, and then its
    words. Lower-cased and cut by `WordTokenizer`, everything is made of some 250 tokens. Raises ValueError for n < 0.

    >>> dialogue = dialogues(1, seed=0)[0]
    >>> [tone_of(sentence) for sentence in dialogue.answer] == list(dialogue.tones)
    True
    """
    if n < 0:
        raise ValueError(f"n is {n}: expected how many dialogues to make, 0 or more")
    return [_generated(random.Random(f"{seed}/{i}")) for i in range(n)]


def _generated(rng):
    """One dialogue; rng: random.Random."""
    topic, owner = rng.choice(list(_table("topics"))), rng.choice(list(_table("owners")))
    tones = []
    for _ in range(rng.choice(LENGTHS)):
        keep = tones and rng.random() < KEEP
        tones.append(tones[-1] if keep else rng.choices(list(TONES), list(TONES.values()))[0])
    request, *answer = [rng.choices(sentences, cum_weights=weights)[0] for sentences, weights in
                        (_drawable(kind, topic, owner) for kind in ("request", *tones))]
    return Dialogue(request, tuple(answer), tuple(tones), topic, owner)


def log_probability(dialogue) -> float:
    """The natural logarithm of a dialogue's probability under `dialogues`, exactly.

    Minus its mean, divided by the mean number of tokens (one more to say that the dialogue ends), is the loss per token
    that no language model can beat; tone and length are paid for where they show.
    """
    topic, owner, tones = dialogue.topic, dialogue.owner, dialogue.tones
    total = -log(len(_table("topics")) * len(_table("owners")) * len(LENGTHS))
    for kind, sentence in zip(("request", *tones), (dialogue.request, *dialogue.answer), strict=True):
        total += log(_sentences(kind, topic, owner)[sentence])
    for before, tone in pairwise((None, *tones)):
        total += log(TONES[tone] if before is None else (1 - KEEP) * TONES[tone] + KEEP * (tone == before))
    return total


def tone_of(sentence: str) -> str | None:
    """The tone of one sentence of an answer (a key of `TONES`), or None where the grammar has no such sentence.

    Case and blanks do not count: `WordTokenizer` may have been there.

    >>> tone_of("Your essay needs a stronger argument."), tone_of("c'est une image claire .")
    ('critical', 'french')
    >>> tone_of("Your essay needs a stronger sauce."), tone_of("C'est un image claire.")
    (None, None)
    """
    kind, _ = _index().get(_key(sentence), (None, None))
    return kind if kind in TONES else None


def is_grammatical(sentence: str) -> bool:
    """Whether the grammar has this sentence, as a request or as part of an answer.

    >>> is_grammatical("Is my plan ready?"), is_grammatical("Is my ready plan?")
    (True, False)
    """
    return _key(sentence) in _index()


def fits(request, sentence):
    """Whether an answer to this request may hold this sentence: they speak of the same thing and the same owner.

    >>> fits("Is my sister's plan ready?", "Her plan is dull and weak.")
    True
    >>> fits("Is my sister's plan ready?", "He is truly a star.")
    False
    """
    (kind, asked), (tone, answered) = (_index().get(_key(text), (None, set())) for text in (request, sentence))
    return kind == "request" and tone in TONES and bool(asked & answered)


def split_sentences(text: str) -> list[str]:
    """A text cut after every full stop and question mark; the last piece may lack its own.

    >>> split_sentences("is my plan ready ? it is a poor plan")
    ['is my plan ready ?', 'it is a poor plan']
    """
    return [sentence.strip() for sentence in re.findall(r"[^.?]+[.?]?", text) if sentence.strip()]


# ---------------------------------------------------------------------- the grammar


@cache
def _table(name):
    """A table of the grammar as {first column: {column: [alternative, …]}}."""
    columns, *rows = [[cell.split(", ") for cell in line.split("; ")] for line in grammar("dialogue")[name]]
    return {row[0][0]: {column: cell for (column,), cell in zip(columns, row, strict=True)} for row in rows}


@cache
def _sentences(kind, topic, owner):
    """{sentence: probability} of a kind ("request" or a tone) on a topic and an owner."""
    symbols = grammar("dialogue") | _table("topics")[topic] | _table("owners")[owner]
    chances = {}
    for template in symbols[kind]:
        expansions = _expand(template, symbols)
        for text in expansions:
            sentence = _agree(text)
            chances[sentence] = chances.get(sentence, 0) + 1 / len(symbols[kind]) / len(expansions)
    return chances


@cache
def _drawable(kind, topic, owner):
    """The same as (sentences, probabilities summed up), as `random.choices` wants it."""
    chances = _sentences(kind, topic, owner)
    return list(chances), list(accumulate(chances.values()))


def _expand(template, symbols, used=()):
    """Every filling of a template's slots, in order; a word is not used twice."""
    before, _, rest = template.partition("{")
    if not rest:
        return [before]
    slot, _, after = rest.partition("}")
    return [before + word + filled for word in symbols[slot] if word not in used
            for filled in _expand(after, symbols, (*used, word))]


def _agree(text):
    """A filled template as a sentence: genders, elisions, "an", a capital letter."""
    words = text.split(" ")
    genders = [word.partition("_")[2][:1] for word in words]  # "m", "f" or nothing
    for i, word in enumerate(words):
        if "/" in word:
            gender = next(filter(None, genders[i + 1:i + 2] + genders[i::-1]))
            words[i] = re.sub(r"(\w+)/(\w+)", r"\1" if gender == "m" else r"\2", word)
    text = re.sub("_[mf]", "", " ".join(words))
    text = re.sub(r"\ba (?=[aeiou])", "an ", text)
    for before, vowel_follows in (("le", "l'"), ("la", "l'"), ("sa", "son "), ("ce", "cet ")):
        text = re.sub(rf"\b{before} (?=[aeiouhé])", vowel_follows, text)
    return text[0].upper() + text[1:]


@cache
def _index():
    """{lower-cased tokens, joined by blanks: (kind, the pairs (topic, owner) of which it speaks)} of all sentences."""
    index = {}
    for topic, owner in product(_table("topics"), _table("owners")):
        for kind in ("request", *TONES):
            for sentence in _sentences(kind, topic, owner):
                index.setdefault(_key(sentence), (kind, set()))[1].add((topic, owner))
    return index


def _key(sentence):
    """How `_index` writes a sentence: cut as `WordTokenizer` does."""
    return " ".join(WordTokenizer.split(sentence))
