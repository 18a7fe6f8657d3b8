"""What every explainer returns: one number for each token, and how it shows itself."""

from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from coursekit.show import bars, highlight
from coursekit.show.html import visible
from coursekit.show.inputs import scored
from coursekit.text import word_groups


@dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """How much each token of a document mattered to a model's score, according to one method. Immutable.

    tokens: T strings, the document's own tokens (no [CLS], no padding). scores: (T,) float64, read-only, in the units
    of the method: most are parts or slopes of the score. method: its name. target: the class explained, None for a
    single score. about: what else the method has to tell (an intercept, a remainder, how many samples); "distinct" in
    it says that each distinct word has one score. signed: False where scores only say how much, not which way (norms,
    attention weights).

    As the last line of a cell it shows itself as coloured, escaped text. `dict(zip(a.tokens, a.scores))` is a table.
    Raises TypeError or ValueError, in one line, if tokens and scores do not fit or a score is not finite.

    >>> a = Attribution(["not", "a", "good", "film"], [-0.5, 0, 0.42, 0.03], "by hand")
    >>> a
    by hand: not(-0.5) a(0) good(+0.42) film(+0.03)
    >>> a.top(2)
    [('not', -0.5), ('good', 0.42)]
    """

    tokens: tuple
    scores: np.ndarray
    method: str
    target: int | None = None
    about: dict = field(default_factory=dict)
    signed: bool = True

    def __post_init__(self):
        tokens, scores = scored(self.tokens, self.scores)
        scores.setflags(write=False)
        for name, value in (("tokens", tuple(tokens)), ("scores", scores), ("about", MappingProxyType(dict(self.about)))):
            object.__setattr__(self, name, value)

    def __len__(self):
        return len(self.tokens)

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

    def on(self, tokens):
        """The scores on every occurrence in a list of tokens, 0 where a token has none: for methods that score each
        distinct word once (`lime(bow=True)`).

        >>> Attribution(["good", "film"], [2, 1], "by hand").on(["good", "good", "plot"])
        by hand: good(+2) good(+2) plot(0)
        """
        if len(set(self.tokens)) < len(self.tokens):
            raise ValueError("these scores belong to places, and a token occurs at several of them: .on() is for "
                             "attributions with one score for each distinct word")
        score = dict(zip(self.tokens, self.scores))
        return self._with(tokens, [score.get(token, 0.0) for token in tokens])

    def plot(self, k=None):
        """Bars of the scores in the order of the text, or of the k largest by |score|, largest first."""
        shown = list(zip(self.tokens, self.scores)) if k is None else self.top(k)
        return bars([token for token, _ in shown], [score for _, score in shown], title=self._title())

    def _with(self, tokens, scores):
        about = {name: value for name, value in self.about.items() if name != "distinct"}
        return Attribution(tokens, scores, self.method, self.target, about, self.signed)

    def _title(self):
        return self.method if self.target is None else f"{self.method}, class {self.target}"

    def _repr_html_(self):
        return highlight(self.tokens, self.scores, self._title()).html

    def __repr__(self):
        return f"{visible(self._title())}: {highlight(self.tokens, self.scores)}"


def needs(model, *names, explainer):
    """TypeError, in one line, unless `model` has all these methods: what an explainer says of a model it cannot open."""
    missing = [name for name in names if not hasattr(model, name)]
    if missing:
        raise TypeError(f"{explainer} looks inside the model and needs {', '.join(names)}; {type(model).__name__} has no "
                        f"{', '.join(missing)}: use a method that only calls predict, such as lime or kernel_shap")


def predictor(model_or_predict):
    """The function predict(documents) of a black box: an object that has one, or the function itself."""
    predict = getattr(model_or_predict, "predict", model_or_predict)
    if not callable(predict):
        raise TypeError("a black box is a model with predict(documents), or such a function, "
                        f"got {type(model_or_predict).__name__}")
    return predict


def chosen(scores, target):
    """(scores (n,) of one class, its number): from scores (n,) with target None, or (n, C) with target or the class
    that row 0 scores highest. ValueError, in one line, where the two do not fit."""
    if scores.ndim == 1:
        if target is not None:
            raise ValueError(f"target={target!r}: this model gives one score for a document, so there is no class to choose")
        return scores, None
    C = scores.shape[1]
    target = int(scores[0].argmax()) if target is None else target
    if isinstance(target, bool) or target not in range(C):
        raise ValueError(f"target must be a class from 0 to {C - 1}, got {target!r}")
    return scores[:, target], target
