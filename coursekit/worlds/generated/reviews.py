"""Sentiment reviews: generated ones whose every word has a known part in the label, and hand-written ones.

An explanation of a classifier can only be marked against something known. In a generated review it is known which
tokens speak for and against, which turn or strengthen them, and by how much: `roles` and `weights` say it.
"""

import random
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from coursekit.text.tokens import WordTokenizer

from .review_grammar import write


@dataclass(frozen=True)
class Review:
    """A document with its label, and whatever else is known of it.

    text: as a person reads it; label: 1 praise, 0 blame; topic: "film", "restaurant", "book" or "hotel";
    tag: what makes a hand-written one interesting ("irony", "negation" …); name: where a data set keeps it.
    Generated reviews also carry, one entry per token of the lower-cased text as `WordTokenizer` cuts it:
    tokens, roles and weights, which sum to the review's score. The roles:

        sentiment+    praises by itself: delicious, gripping
        sentiment-    blames by itself: bland, a mess
        negation      turns the sentiment word of its clause: not, never, hardly, isn't
        intensifier   strengthens it: very, utterly
        downtoner     weakens it: a bit, fairly
        contrast      concedes one clause to another: but, yet, although
        aspect        names what the clause judges: acting, soup
        filler        every other word
        punctuation   every other mark

    >>> review = Review("Never dull.", 1, topic="film", tag="negation")
    >>> review.label, review.tag
    (1, 'negation')
    """

    text: str
    label: int
    topic: str = ""
    tag: str = ""
    name: str = ""
    tokens: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


def reviews(n: int, seed=0) -> list[Review]:
    """n generated reviews of restaurants and films, 15 to 80 words each, half of them praise (any even prefix is).

    Review i depends on seed and i alone: `reviews(10, seed)` opens `reviews(1000, seed)`.

    **The rule of the label.** A sentiment word has a value from -3 (awful) to 3 (superb). In its clause an intensifier
    multiplies it by 1.5, a downtoner by 0.5, and then a negation by -0.5 ("not bad" is faint praise). A conceded
    clause ("X, but …", "although X, …") counts half. The score is the sum over clauses; it is at least 1.5 away
    from zero, and the label is 1 where it is positive.

    **The weights** say what each token does to the score: a sentiment word adds its value, every modifier adds the
    change that it makes (shared evenly where it has several words: "a bit"), all others add 0: very good is 1 + 2,
    not very good is -4.5 + 1 + 2 = -1.5.

    The modifiers are those of Polanyi & Zaenen, Contextual Valence Shifters, 2006. Raises ValueError for n < 0.

    >>> review = reviews(1, seed=0)[0]
    >>> review.label == (sum(review.weights) > 0)
    True
    >>> len(review.tokens) == len(review.roles) == len(review.weights)
    True
    """
    if n < 0:
        raise ValueError(f"n is {n}: expected how many reviews to make, 0 or more")
    flips = [random.Random(f"{seed}/pair {i}").randrange(2) for i in range((n + 1) // 2)]  # who goes first in a pair
    return [_generated(random.Random(f"{seed}/{i}"), (i + flips[i // 2]) % 2) for i in range(n)]


def _generated(rng, label):
    """One review: the writer's pieces joined to a text and cut into tokens."""
    topic, pieces = write(rng, label)
    text = re.sub(r" ([,.;])", r"\1", " ".join(word for word, _, _ in pieces))
    rows = []
    for word, role, weight in pieces:
        tokens = WordTokenizer.split(word)  # one, but for "£34"
        rows += [(token, role if token[0].isalnum() else "punctuation", weight / len(tokens)) for token in tokens]
    return Review(text, label, topic, "generated", "", *zip(*rows, strict=True))


@cache
def _handwritten():
    """handwritten_reviews.txt: blocks of a line "label topic tag" and a text, an empty line between them."""
    reviews = []
    blocks = files("coursekit.worlds").joinpath("handwritten_reviews.txt").read_text("utf-8").strip().split("\n\n")
    for i, block in enumerate(blocks):
        head, text = block.split("\n", 1)
        label, topic, tag = head.split()
        reviews.append(Review(" ".join(text.split()), int(label), topic, tag, f"handwritten/{i}"))
    return tuple(reviews)


def handwritten_reviews() -> list[Review]:
    """Reviews written for this course, 20 to 120 words each, mostly of films that do not exist.

    `tag` says what is worth a look in each: "plain", "mixed", "negation", "irony" …

    >>> handwritten_reviews()[0].text[:29]
    'I wanted to love this film. T'
    """
    return list(_handwritten())
