"""Two toy languages with known word alignment: reversed letters, and a little English into a little French.

Because the pairs are generated, it is known which source word every target word comes from: a trained model's
cross-attention can be held against the truth. The French changes the order of words ("the round green table", "la table
verte ronde"), agrees with a noun that comes later, says one word in two or three ("cannot", "ne … pas"), leaves one
out ("does"), and its verb depends on a word further left ("does not see": "voit", "cannot see": "voir").
"""

import random
from dataclasses import dataclass
from itertools import chain

SPECIALS = ["[PAD]", "[START]", "[END]"]
LETTERS = SPECIALS + list("abcdefghijklmnop")

# Two forms: before a masculine and a feminine noun. A noun: its French, and 0 for masculine, 1 for feminine. A verb:
# the third person, and the infinitive.
DETERMINERS = {"the": ("le", "la"), "a": ("un", "une"), "this": ("ce", "cette"), "my": ("mon", "ma"),
               "your": ("ton", "ta"), "every": ("chaque", "chaque")}
NOUNS = {"cat": ("chat", 0), "dog": ("chien", 0), "boy": ("garçon", 0), "book": ("livre", 0), "bread": ("pain", 0),
         "garden": ("jardin", 0), "horse": ("cheval", 0), "bag": ("sac", 0), "girl": ("fille", 1),
         "house": ("maison", 1), "table": ("table", 1), "car": ("voiture", 1), "door": ("porte", 1),
         "flower": ("fleur", 1), "shirt": ("chemise", 1), "street": ("rue", 1)}
ADJECTIVES = {"green": ("vert", "verte"), "white": ("blanc", "blanche"), "black": ("noir", "noire"),
              "grey": ("gris", "grise"), "round": ("rond", "ronde"), "red": ("rouge", "rouge"),
              "warm": ("chaud", "chaude"), "empty": ("vide", "vide")}
VERBS = {"see": ("voit", "voir"), "sell": ("vend", "vendre"), "take": ("prend", "prendre"),
         "find": ("trouve", "trouver"), "wash": ("lave", "laver"), "seek": ("cherche", "chercher"),
         "touch": ("touche", "toucher"), "keep": ("garde", "garder")}
PREPOSITIONS = {"in": "dans", "on": "sur", "with": "avec", "behind": "derrière", "under": "sous"}


def _third(verb):
    """The form after he, she or it: "sees", "washes"."""
    return verb + ("es" if verb.endswith(("sh", "ch")) else "s")


ENGLISH = SPECIALS + [*DETERMINERS, *NOUNS, *ADJECTIVES, *VERBS, *map(_third, VERBS), *PREPOSITIONS,
                      "does", "not", "cannot", "often"]
FRENCH = SPECIALS + list(dict.fromkeys(chain(
    *DETERMINERS.values(), (noun for noun, _ in NOUNS.values()), *ADJECTIVES.values(), *VERBS.values(),
    PREPOSITIONS.values(), ("ne", "pas", "peut", "souvent"))))


@dataclass(frozen=True)
class Translation:
    """A pair of sentences as tuples of words; alignment[t] is the place in `source` that target word t comes from.

    >>> pair = Translation(("the", "green", "table"), ("la", "table", "verte"), (0, 2, 1))
    >>> [pair.source[place] for place in pair.alignment]
    ['the', 'table', 'green']
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[int, ...]


def _noun_phrase(rng):
    """A determiner, up to two adjectives and a noun: (English words, [(French word, place in the English)])."""
    determiner, noun = rng.choice(list(DETERMINERS)), rng.choice(list(NOUNS))
    adjectives = rng.sample(list(ADJECTIVES), rng.choice((0, 0, 1, 1, 2)))
    french, gender = NOUNS[noun]
    n = len(adjectives)
    backwards = [(ADJECTIVES[adjective][gender], 1 + i) for i, adjective in reversed(list(enumerate(adjectives)))]
    return [determiner, *adjectives, noun], [(DETERMINERS[determiner][gender], 0), (french, n + 1), *backwards]


def _verb_phrase(rng):
    """A verb as it is, negated by "does not" or by "cannot", with or without "often"."""
    verb, often, kind = rng.choice(list(VERBS)), rng.random() < 0.3, rng.choice(("plain", "plain", "not", "cannot"))
    now, infinitive = VERBS[verb]
    before = {"plain": [], "not": ["does", "not"], "cannot": ["cannot"]}[kind]
    english = before + ["often"] * often + [_third(verb) if kind == "plain" else verb]
    at = len(english) - 1                                                # where the English verb stands
    french = {"plain": [(now, at)], "not": [("ne", 1), (now, at), ("pas", 1)],
              "cannot": [("ne", 0), ("peut", 0), ("pas", 0)]}[kind] + [("souvent", at - 1)] * often
    return english, french + [(infinitive, at)] * (kind == "cannot")


def translations(n: int, seed=0) -> list[Translation]:
    """n different sentences of the little English with their French, words in lower case, no punctuation.

    >>> pair = translations(1, seed=4)[0]
    >>> print(*pair.source, "|", *pair.target, "|", *pair.alignment)
    a house touches the round cat | une maison touche le chat rond | 0 1 2 3 5 4
    """
    rng, pairs = random.Random(seed), {}
    while len(pairs) < n:
        parts = [_noun_phrase(rng), _verb_phrase(rng), _noun_phrase(rng)]
        if rng.random() < 0.3:
            preposition = rng.choice(list(PREPOSITIONS))
            parts += [([preposition], [(PREPOSITIONS[preposition], 0)]), _noun_phrase(rng)]
        source, target = [], []
        for english, french in parts:
            target += [(word, len(source) + place) for word, place in french]
            source += english
        pairs.setdefault(tuple(source), Translation(tuple(source), *zip(*target, strict=True)))
    return list(pairs.values())


def reversals(n: int, seed=0, length=(3, 8)) -> list[Translation]:
    """n different words of `length` letters (from, to) among a … p, to be written backwards.

    >>> pair = reversals(1, seed=1)[0]
    >>> print(*pair.source, "|", *pair.target, "|", *pair.alignment)
    j m b b | b b m j | 3 2 1 0
    """
    rng, pairs = random.Random(seed), {}
    if n > sum(16 ** k for k in range(length[0], length[1] + 1)) // 2:
        raise ValueError(f"there are too few words of {length[0]} to {length[1]} letters for n = {n} different ones")
    while len(pairs) < n:
        word = tuple(rng.choices(LETTERS[3:], k=rng.randint(*length)))
        pairs.setdefault(word, Translation(word, word[::-1], tuple(range(len(word)))[::-1]))
    return list(pairs.values())
