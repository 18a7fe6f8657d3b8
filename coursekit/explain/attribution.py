"""What every explainer returns: one number for each token, and how it shows itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from coursekit.inputs import as_scored
from coursekit.show import bars, highlight
from coursekit.show.html import visible
from coursekit.text import word_groups


class Fixed(dict):
    """A dictionary that can be read, copied and pickled, and not changed."""

    def _refuse(self, *args, **kwargs):
        """Always raises TypeError."""
        raise TypeError("this cannot be changed: take dict(attribution.about) and change that")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self):
        return Fixed, (dict(self),)


@dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """How much each token of a document mattered to a model's score, according to one method. Immutable.

    tokens: T strings, the document's own tokens (no [CLS], no padding). scores: (T,) float64, read-only, in the units
    of the method: most are parts or slopes of the score. method: its name. target: the class explained, None for a
    single score. about: what else the method has to tell (an intercept, a remainder, how many samples). signed: False
    where scores only say how much, not which way (norms, attention weights). per: "place", or "word" where tokens are
    a document's distinct words, each with one score; `spread` puts them on their places.

    As the last line of a cell it shows itself as coloured, escaped text. It is a sequence of pairs (token, score):
    a[i], len(a), `for token, score in a`; a[i:j] is an Attribution again. It can be pickled, and `to_dict` is JSON.
    Raises TypeError or ValueError, in one line, if tokens and scores do not fit or a score is not finite.

    >>> a = Attribution(["not", "a", "good", "film"], [-0.5, 0, 0.42, 0.03], "by hand")
    >>> a
    by hand: not(-0.5) a(0) good(+0.42) film(+0.03)
    >>> a.top(2), a[-1]
    ([('not', -0.5), ('good', 0.42)], ('film', 0.03))
    """

    tokens: Sequence[str]
    scores: np.ndarray
    method: str
    target: int | None = None
    about: dict = field(default_factory=dict)
    signed: bool = True
    per: str = "place"

    def __post_init__(self):
        tokens, scores = as_scored(self.tokens, self.scores)
        scores.setflags(write=False)
        about = dict(self.about)
        per = "word" if about.pop("distinct", False) else self.per      # as older files and pickles have it
        if per not in ("place", "word"):
            raise ValueError(f'per must be "place" or "word", got {per!r}')
        for name, value in dict(tokens=tuple(tokens), scores=scores, about=Fixed(about), per=per).items():
            object.__setattr__(self, name, value)

    def __reduce__(self):                                               # as made anew: read-only, and checked once more
        return Attribution, tuple(getattr(self, f.name) for f in fields(self))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return replace(self, tokens=self.tokens[i], scores=self.scores[i])
        return self.tokens[i], float(self.scores[i])

    def __iter__(self):
        return zip(self.tokens, self.scores.tolist(), strict=True)

    def to_dict(self):
        """All of it in lists, numbers and strings, for json.dumps; `Attribution.from_dict` makes it anew.

        >>> Attribution(["good", "film"], [2, 1], "by hand", about={"seed": 0}).to_dict()["scores"]
        [2.0, 1.0]
        """
        values = {f.name: _as_python(getattr(self, f.name)) for f in fields(self)}
        about = {name: _as_python(value) for name, value in self.about.items()}
        return values | {"tokens": list(self.tokens), "about": about}

    @classmethod
    def from_dict(cls, saved):
        """The Attribution of which `to_dict` made this; arrays in `about` stay lists. ValueError for anything else."""
        names = {f.name for f in fields(cls)}
        saved = {"per": "place"} | saved if isinstance(saved, dict) else saved   # which older files do not have
        if not isinstance(saved, dict) or saved.keys() != names:
            raise ValueError(f"expected what to_dict makes, a dictionary with {', '.join(sorted(names))}, "
                             f"got {sorted(saved) if isinstance(saved, dict) else type(saved).__name__}")
        return cls(**saved)

    @classmethod
    def mean(cls, attributions):
        """The mean of several attributions of the same tokens by one method, such as those of ten seeds.

        `about`: n, how many they are, and, of two or more, sd (T,): the standard deviation of each token's scores.
        Raises ValueError, in one line, where there are none, or tokens, methods or classes differ.

        >>> Attribution.mean([Attribution(["good"], [score], "by hand") for score in (1, 2, 6)])
        by hand: good(+3)
        """
        attributions = list(attributions)
        kinds = {(a.tokens, a.method, a.target, a.signed, a.per) for a in attributions}
        if len(kinds) != 1:
            raise ValueError("a mean takes attributions of the same tokens, by one method and for one class, "
                             f"got {len(kinds)} kinds among {len(attributions)}")
        (tokens, method, target, signed, per), = kinds
        scores = np.stack([a.scores for a in attributions])                      # (n, T)
        about = {"n": len(scores)} | ({"sd": scores.std(0, ddof=1)} if len(scores) > 1 else {})
        return cls(tokens, scores.mean(0), method, target, about, signed, per)

    def top(self, k=5):
        """The k tokens with the largest |score| as (token, score), largest first; of equal ones the earlier first."""
        order = np.argsort(-np.abs(self.scores), kind="stable")[:k]
        return [(self.tokens[i], float(self.scores[i])) for i in order]

    def words(self):
        """The same for words: the scores of a word's pieces (##, Ġ) are summed, so that the total stays what it was.

        >>> Attribution(["un", "##watch", "##able", "film"], [1, 2, 3, 4], "by hand").words()
        by hand: unwatchable(+6) film(+4)
        """
        groups = word_groups(self.tokens)
        return self._with([word for word, _ in groups], [self.scores[places].sum() for _, places in groups])

    def text(self, text, tokenizer):
        """`words`, spelled as they stand in the text: `self` explains tokenizer.tokenize(text), or its beginning.

        text: a string, or a pair of them with the model's `separator` between their tokens, which stays as it is.
        tokenizer: one of transformers that tells where in the text a piece lies. Scores that belong to distinct tokens
        are put on each of their places first. Raises ValueError or TypeError, in one line, for another text or
        another kind of tokenizer.
        """
        if not isinstance(text, str):
            return self._pair(*text, tokenizer)
        if not hasattr(tokenizer, "convert_ids_to_tokens"):
            raise TypeError(f"expected a tokenizer of transformers, got {type(tokenizer).__name__}: words that were "
                            "cut at spaces are spelled as their text already")
        read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        pieces, places = read.tokens(), read["offset_mapping"]           # unigrams: also what is unknown, as it stands
        scored = self.spread(pieces)
        if scored.tokens != tuple(pieces[:len(scored)]) or not set(self.tokens).issubset(pieces):
            raise ValueError("this attribution is of other tokens than those of the text: it must explain "
                             "tokenizer.tokenize(text)")
        begins = any(piece[:1] in ("Ġ", "▁") for piece in tokenizer.tokenize("a a"))
        groups = [group for _, group in word_groups(scored.tokens, begins)]
        words = [text[places[group[0]][0]:places[group[-1]][1]].strip() for group in groups]
        return scored._with(words, [scored.scores[group].sum() for group in groups])

    def _pair(self, first, second, tokenizer):
        """`text` of two texts: each on its side of what stands between them."""
        marks = tokenizer.sep_token, tokenizer.bos_token, tokenizer.eos_token
        at = [i for i, token in enumerate(self.tokens) if token in marks]
        if self.per == "word":
            raise ValueError("a pair of texts is spelled place by place, and these scores are of distinct words: take "
                             ".on(document) first")
        if not at:                                                       # a decoder's, with nothing between them
            at = [len(tokenizer.tokenize(first))]
            parts = self[:at[0]].text(first, tokenizer), self[at[0]:].text(second, tokenizer)
        else:
            parts = (self[:at[0]].text(first, tokenizer), self[at[0]:at[-1] + 1],
                     self[at[-1] + 1:].text(second, tokenizer))
        pairs = [pair for part in parts for pair in part]
        return self._with([word for word, _ in pairs], [score for _, score in pairs])

    def on(self, tokens):
        """The scores on every occurrence in a list of tokens, 0 where a token has none: for methods that score each
        distinct word once (`lime(bow=True)`).

        >>> Attribution(["good", "film"], [2, 1], "by hand").on(["good", "good", "plot"])
        by hand: good(+2) good(+2) plot(0)
        """
        if len(set(self.tokens)) < len(self.tokens):
            raise ValueError("these scores belong to places, and a token occurs at several of them: .on() is for "
                             "attributions with one score for each distinct word")
        score = dict(zip(self.tokens, self.scores, strict=True))
        return self._with(tokens, [score.get(token, 0.0) for token in tokens])

    def spread(self, document):
        """One score for each place: `.on(document)` where each distinct word has one, else itself.

        >>> Attribution(["good", "film"], [2, 1], "by hand", per="word").spread(["good", "good", "film"])
        by hand: good(+2) good(+2) film(+1)
        """
        return self.on(document) if self.per == "word" else self

    def plot(self, k=None):
        """Bars of the scores in the order of the text, or of the k largest by |score|, largest first."""
        pairs = list(zip(self.tokens, self.scores, strict=True)) if k is None else self.top(k)
        return bars([token for token, _ in pairs], [score for _, score in pairs], title=self.title)

    def _with(self, tokens, scores):
        return replace(self, tokens=tokens, scores=scores, per="place")

    @property
    def title(self):
        """The method and, where there are several, the class: "LIME, class 2"."""
        return self.method if self.target is None else f"{self.method}, class {self.target}"

    def _repr_html_(self):
        return highlight(self.tokens, self.scores, self.title).html

    def __repr__(self):
        return f"{visible(self.title)}: {highlight(self.tokens, self.scores)}"


Explainer = Callable[..., Attribution]      # (model, document), and perhaps a seed


def _as_python(value):
    """NumPy's arrays and numbers as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value
