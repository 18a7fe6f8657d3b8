"""What it means that a token is gone: `away` makes a model that answers masks, which say what stays of a document;
`evaluate_masks` asks it; and the simplest explanation of this kind is `leave_one_out`.

A black box does not say how much of a long document it reads: if it ignores the end, the tokens there get scores near
0. A white box does, and then only the tokens that it reads are explained.

What "[UNK]" is to a model is the model's: the course's classifiers read it, like padding, with one embedding; those of
transformers with what their tokenizer calls unknown, or with what ends a text; a function gets the string itself.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import Document, as_strings
from coursekit.models.protocols import Predicts
from coursekit.text import word_groups

from .asking import asked, each_once, in_chunks, labels_of, pick_class, predictor, read_as, read_tokens
from .attribution import Attribution

Function = TypeVar("Function", bound=Callable)
WHAT = "perturbed documents"


class Away:
    """A model, and what there is where a token is gone: it answers masks, by `scores`, and is the model itself in all
    else, a black or a white box. `away` makes it."""

    def __init__(self, model, by, token):
        if by not in ("replace", "delete"):
            raise ValueError(f'by must be "replace" or "delete", got {by!r}')
        self.box, self.by, [self.token] = model, by, as_strings([token], "token")
        if by == "replace":
            _check_known(getattr(model, "tokenizer", None), token)

    def __getattr__(self, name):
        return getattr(vars(self).get("box"), name)

    def __call__(self, *arguments, **named):
        return self.box(*arguments, **named)

    def predict(self, documents):
        """The model's scores of whole documents."""
        return predictor(self.box)(documents)

    def documents(self, document, masks):
        """What masks (n, d) leave of a document: n lists of tokens."""
        tokens = np.array(document, dtype=object)
        if self.by == "replace":
            return np.where(masks, tokens, self.token).tolist()
        return [tokens[mask].tolist() for mask in masks]

    def scores(self, document, masks, groups=None, progress=False):
        """Scores (n,) or (n, C) of a document under masks, as `evaluate_masks` has them."""
        predictor(self.box)                                                       # complains of what is no black box
        document, masks = read_tokens(self, document), np.asarray(masks)
        d = len(document)
        if masks.dtype != bool and not np.isin(masks, (0, 1)).all():
            raise ValueError("masks are true (1) where a token stays and false (0) where it goes, got something else")
        masks = masks.astype(bool)
        if groups is not None:
            if masks.ndim != 2 or not np.isin(groups, range(masks.shape[1])).all():
                raise ValueError(f"groups must be columns of masks, which have shape {masks.shape}, got {groups!r}")
            masks = masks[:, groups]                                              # (n, n_groups) → (n, d)
        if masks.ndim != 2 or not len(masks) or masks.shape[1] != d:
            raise ValueError(f"a document of which the model reads {d} tokens needs masks (n, {d}) with n ≥ 1, "
                             f"got {masks.shape}" + " after grouping" * (groups is not None))
        masks[:, np.isin(document, getattr(self, "separator", []))] = True
        score = getattr(self, "masked_scores", lambda *arguments: None)(document, self.by, self.token)
        if score:
            return in_chunks(score, masks, progress, WHAT, 1024)
        return each_once(lambda rows: asked(self.predict, self.documents(document, masks[rows])),
                         map(bytes, np.packbits(masks, axis=1)), progress, WHAT)


def away(model_or_predict: Any, by: str | None = None, token: str | None = None) -> Away:
    """The same model, which also knows what is there when a token is gone. Whatever takes a model takes it.

    model_or_predict: a model or a function of documents, or what `away` made; then only what is given here changes.
    by: "replace", the default, puts `token` in the place of what goes, "delete" takes it out, so that those behind move
    up. token: "[UNK]" by default, which is for all tokenizers of the course what is unknown.
    Raises ValueError or TypeError, in one line, for another `by`, and a token unknown to the model's tokenizer.

    >>> def count_good(documents):
    ...     return [document.count("good") - 2 * document.count("[MASK]") for document in documents]
    >>> leave_one_out(away(count_good, token="[MASK]"), ["good", "film"])
    leave-one-out: good(+3) film(+2)
    """
    before = model_or_predict if isinstance(model_or_predict, Away) else None
    by = getattr(before, "by", "replace") if by is None else by
    token = getattr(before, "token", "[UNK]") if token is None else token
    return before if before and (by, token) == (before.by, before.token) else Away(model_or_predict, by, token)


def takes_mask_token(function: Function) -> Function:
    """For one release: `mask_token=` is still taken, with one line that says what to write in its place."""
    @wraps(function)
    def call(*arguments, mask_token=None, **named):
        if mask_token is not None:
            warnings.warn(f"mask_token= goes with the next release: write {function.__name__}(away(model, token="
                          f"{mask_token!r}), …), with away from coursekit.explain", FutureWarning, stacklevel=2)
            arguments = (away(arguments[0], token=mask_token), *arguments[1:])
        return function(*arguments, **named)
    return call  # type: ignore[return-value]


@takes_mask_token
def evaluate_masks(model_or_predict: Predicts, document: Document, masks: ArrayLike, by: str | None = None,
                   groups: Sequence[int] | None = None, progress=False) -> np.ndarray:
    """Scores (n,) or (n, C) in float64 of a document under n masks.

    model_or_predict: an object with predict(documents) → (n,) or (n, C), or such a function. document: d tokens.
    masks: (n, d), true where a token stays. by: "replace" puts "[UNK]" in place of the others, "delete" takes them out,
    so that those behind move up; by default as `away` made the model, else "replace". Another token to put there:
    away(model, token="[MASK]"). groups: (d,) integers; tokens of group j then follow column j of masks (n, n_groups).
    The model sees at most 256 documents at a time, and equal masks once. progress: show a bar.

    What a model calls its `separator`, between two texts, stays under any mask.
    A model with a short cut for masks, `masked_scores`, is not asked but computed; an AttentionClassifier has one, in
    float64 where words are replaced (`coursekit.models.factorised`). Pass its `predict` to have it asked.
    Raises ValueError or TypeError, in one line, for masks that do not fit and for scores that are no finite numbers.

    >>> def count_good(documents):
    ...     return [document.count("good") for document in documents]
    >>> evaluate_masks(count_good, ["good", "good", "film"], [[1, 1, 1], [0, 1, 0]])
    array([2., 1.])
    """
    return away(model_or_predict, by).scores(document, masks, groups, progress)


@takes_mask_token
def leave_one_out(model_or_predict: Predicts, document: Document, by: str | None = None,
                  target: int | str | None = None, progress=False) -> Attribution:
    """What the score loses when a token goes: f(document) − f(document without it), for each token. d + 1 evaluations.

    by: as in `evaluate_masks`. target: the class if there are several, its number or name (one of the model's
    `labels`), by default the one with the highest score.
    Li, Monroe and Jurafsky, "Understanding Neural Networks through Representation Erasure" (2016).

    >>> leave_one_out(lambda documents: [len(set(d)) for d in documents], ["a", "a", "film"], by="delete")
    leave-one-out: a(0) a(0) film(+1)
    """
    model, tokens = away(model_or_predict, by), read_tokens(model_or_predict, document)
    masks = np.vstack([np.ones(len(tokens), bool), ~np.eye(len(tokens), dtype=bool)])
    scores, target = pick_class(model.scores(tokens, masks, progress=progress), target, model)
    about = {"score": float(scores[0]), "by": model.by}
    return Attribution(tokens, scores[0] - scores[1:], "leave-one-out", target, about)


def by_spans(model_or_predict: Predicts, spans: Sequence[Document]) -> tuple[Predicts, list[str]]:
    """(predict, names): a black box whose tokens are spans, such as sentences, and the document to be explained for it.

    spans: lists of the model's tokens, which together are the document. names: a string for each, its words. What
    takes a black box takes predict: a span goes as a whole, or each of its tokens becomes the token of `away`.
    Raises ValueError, in one line, where two different spans have one name.

    >>> def count_good(documents):
    ...     return [document.count("good") for document in documents]
    >>> list(leave_one_out(*by_spans(count_good, [["a", "good", "plot"], ["good", "actors"]])))
    [('a good plot', 1.0), ('good actors', 1.0)]
    """
    ask, spans = predictor(model_or_predict), [as_strings(span, "a span") for span in spans]
    names = [" ".join(word for word, _ in word_groups(span)) for span in spans]
    tokens = dict(zip(names, spans, strict=True))
    if [tokens[name] for name in names] != spans:
        raise ValueError("two of the spans are different tokens of the same words: take them together")

    def written(document):
        if len(document) < len(names):                                            # some deleted
            return [token for name in document for token in tokens[name]]
        return [token for given, name, span in zip(document, names, spans, strict=True)
                for token in (span if given == name else [given] * len(span))]

    def predict(documents):
        return ask([written(document) for document in documents])

    predict.gives, predict.labels = read_as(model_or_predict), labels_of(model_or_predict)  # type: ignore[attr-defined]
    if isinstance(model_or_predict, Away):
        return away(predict, model_or_predict.by, model_or_predict.token), names
    return predict, names


def _check_known(tokenizer, token):
    """ValueError for a token that a white box's tokenizer reads as [UNK] without its being called so: a typo?"""
    if not hasattr(tokenizer, "convert_tokens_to_ids"):
        return
    unknown = tokenizer.unk_id if hasattr(tokenizer, "unk_id") else getattr(tokenizer, "unk_token_id", None)
    called = ("[UNK]", getattr(tokenizer, "unk_token", None))
    if token not in called and tokenizer.convert_tokens_to_ids([token])[0] == unknown:
        raise ValueError(f"token {token!r} is not in the model's vocabulary: take one of its tokens, "
                         "or '[UNK]' for an unknown word")
