"""Reviews in which somebody marked the words that tell its label: people, or, as a stand-in, a grammar."""

import unicodedata
from dataclasses import dataclass, replace
from itertools import accumulate

from coursekit.text.pieces import word_groups
from coursekit.worlds.generated.reviews import Review

_NO_REASON = ("aspect", "filler", "punctuation")


@dataclass(frozen=True)
class AnnotatedReview(Review):
    """A Review, its words, and which of them were marked as the reason for its label (a map, also: a rationale).

    tokens: the T words; maps: one tuple of T booleans for each annotator, True where that one marked the word;
    answers: what each of them took the label to be, where that was asked; marked_by: "people" or "grammar".

    >>> review = AnnotatedReview("Good, cheap food.", 1, tokens=("Good,", "cheap", "food."),
    ...                          maps=((True, True, False), (True, False, False)))
    >>> review.consensus
    (True, False, False)
    """

    maps: tuple[tuple[bool, ...], ...] = ()
    answers: tuple[str, ...] = ()
    marked_by: str = "people"

    @property
    def consensus(self):
        """One map: the words that all annotators marked (the bitwise AND of Sen et al., ACL 2020)."""
        return tuple(map(all, zip(*self.maps, strict=True)))

    def on(self, tokens):
        """The same with a model's tokens in place of the words: each has the marks of the word (or words) it lies in.

        Case, accents and the signs of pieces (##, Ġ) do not matter; the tokens may stop before the words do. [UNK]
        stands for what is left of its word. Raises ValueError, in one line, for tokens of another text.

        >>> review = AnnotatedReview("Good, no?", 1, tokens=("Good,", "no?"), maps=((True, False),))
        >>> review.on(["go", "##od", ",", "[UNK]", "?"]).maps
        ((True, True, True, False, False),)
        """
        if tuple(tokens) == self.tokens:
            return self
        words = [_letters(word) for word in self.tokens]
        text, ends = "".join(words), list(accumulate(map(len, words)))
        owner = [place for place, word in enumerate(words) for _ in word]          # the word of each letter
        groups, at, owners = word_groups(tokens), 0, {}                          # owners[i]: the words of token i
        spelled = [_letters(word) for word, _ in groups]
        for (word, pieces), letters, after in zip(groups, spelled, [*spelled[1:], ""], strict=True):
            if word == "[UNK]" and at < len(text):
                start, end = at, ends[owner[at]]
                end = text.find(after, at + 1, end) if after and after in text[at + 1:end] else end
            else:
                start = text.find(letters, at)
                end = start + len(letters)
            if start < 0:
                raise ValueError(f"token {word!r} does not follow in the text {self.text[:40]!r}…: expected the "
                                 "tokens of this text, such as model.tokenizer.tokenize(review.text)")
            owners |= dict.fromkeys(pieces, owner[start:end])
            at = end
        maps = tuple(tuple(any(marks[place] for place in owners[i]) for i in range(len(tokens))) for marks in self.maps)
        return replace(self, tokens=tuple(tokens), maps=maps, roles=(), weights=())


def stand_in(review: Review) -> AnnotatedReview:
    """A generated review as an AnnotatedReview with one map: the tokens that have a part in the label by its grammar.

    These are all roles but aspect, filler and punctuation. No person marked them, and `marked_by` says "grammar": they
    stand in for people where no such data is at hand. What holds for them need not hold for people.
    Raises ValueError, in one line, for a review without roles.

    >>> review = Review("Not bad.", 1, tokens=("not", "bad", "."), roles=("negation", "sentiment-", "punctuation"))
    >>> stand_in(review).maps, stand_in(review).marked_by
    (((True, True, False),), 'grammar')
    """
    if not review.roles:
        raise ValueError("this review has no roles: expected a generated one, of coursekit.worlds.reviews(n, seed)")
    return AnnotatedReview(**vars(review), maps=(tuple(role not in _NO_REASON for role in review.roles),),
                           marked_by="grammar")


def _letters(word):
    """The word without case, accents and blanks, so that spellings of different tokenizers can be compared."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in letters if not unicodedata.combining(c) and not c.isspace())
