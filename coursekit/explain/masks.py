"""Perturbed documents: a mask says which tokens stay, `evaluate_masks` what the model says then; and the simplest
explanation of this kind, `leave_one_out`.

A black box does not say how much of a long document it reads: if it ignores the end, the tokens there get scores near
0. A white box does, and then only the tokens that it reads are explained.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import Document, as_strings, as_whole
from coursekit.models.protocols import Predict, Predicts
from coursekit.text import word_groups

from .asking import asked, each_once, pick_class, predictor, read_as, read_tokens
from .attribution import Attribution


def evaluate_masks(model_or_predict: Predicts, document: Document, masks: ArrayLike, by="replace", mask_token="[UNK]",
                   groups: Sequence[int] | None = None, chunk=256, progress=False) -> np.ndarray:
    """Scores (n,) or (n, C) in float64 of a document under n masks.

    model_or_predict: an object with predict(documents) → (n,) or (n, C), or such a function. document: d tokens.
    masks: (n, d), true where a token stays. by: "replace" puts `mask_token` in place of the others, "delete" takes them
    out, so that those behind move up. groups: (d,) integers; tokens of group j then follow column j of masks
    (n, n_groups). The model sees at most `chunk` documents at a time, and equal masks once. progress: show a bar.

    What a model calls its `separator`, between two texts, stays under any mask.
    A model with a short cut for masks, `masked_scores`, is not asked but computed; an AttentionClassifier has one, in
    float64 where words are replaced (`coursekit.models.factorised`). Pass its `predict` to have it asked.
    Raises ValueError or TypeError, in one line, for masks that do not fit, for a `mask_token` unknown to the model's
    tokenizer ("[UNK]" is for all of them what is unknown) and for scores that are no finite numbers.

    >>> def count_good(documents):
    ...     return [document.count("good") for document in documents]
    >>> evaluate_masks(count_good, ["good", "good", "film"], [[1, 1, 1], [0, 1, 0]])
    array([2., 1.])
    """
    predict = predictor(model_or_predict)
    document, [mask_token] = read_tokens(model_or_predict, document), as_strings([mask_token], "mask_token")
    chunk, masks = as_whole(chunk, "chunk", 1), np.asarray(masks)
    if masks.dtype != bool and not np.isin(masks, (0, 1)).all():
        raise ValueError("masks are true (1) where a token stays and false (0) where it goes, got something else")
    masks = masks.astype(bool)
    if groups is not None:
        if masks.ndim != 2 or not np.isin(groups, range(masks.shape[1])).all():
            raise ValueError(f"groups must be columns of masks, which have shape {masks.shape}, got {groups!r}")
        masks = masks[:, groups]                                                  # (n, n_groups) → (n, d)
    if masks.ndim != 2 or not len(masks) or masks.shape[1] != len(document):
        raise ValueError(f"a document of which the model reads {len(document)} tokens needs masks (n, {len(document)}) "
                         f"with n ≥ 1, got {masks.shape}" + " after grouping" * (groups is not None))
    masks[:, np.isin(document, getattr(model_or_predict, "separator", []))] = True
    if by not in ("replace", "delete"):
        raise ValueError(f'by must be "replace" or "delete", got {by!r}')
    if by == "replace":
        check_known(getattr(model_or_predict, "tokenizer", None), mask_token)
    short_cut = getattr(model_or_predict, "masked_scores", lambda *arguments: None)
    if score := short_cut(document, by, mask_token):
        chunk, keys = 1024, range(len(masks))
    else:
        score, keys = _asked(predict, document, by, mask_token), map(bytes, np.packbits(masks, axis=1))
    return each_once(lambda places: score(masks[places]), keys, progress, "perturbed documents", chunk)


def leave_one_out(model_or_predict: Predicts, document: Document, by="replace", mask_token="[UNK]",
                  target: int | None = None, progress=False) -> Attribution:
    """What the score loses when a token goes: f(document) − f(document without it), for each token. d + 1 evaluations.

    by, mask_token: as in `evaluate_masks`. target: the class if there are several, by default the one with the highest
    score. Li, Monroe and Jurafsky, "Understanding Neural Networks through Representation Erasure" (2016).

    >>> leave_one_out(lambda documents: [len(set(d)) for d in documents], ["a", "a", "film"], by="delete")
    leave-one-out: a(0) a(0) film(+1)
    """
    tokens = read_tokens(model_or_predict, document)
    masks = np.vstack([np.ones(len(tokens), bool), ~np.eye(len(tokens), dtype=bool)])
    scores = evaluate_masks(model_or_predict, tokens, masks, by, mask_token, progress=progress)
    scores, target = pick_class(scores, target)
    return Attribution(tokens, scores[0] - scores[1:], "leave-one-out", target, {"score": float(scores[0]), "by": by})


def by_spans(model_or_predict: Predicts, spans: Sequence[Document]) -> tuple[Predict, list[str]]:
    """(predict, names): a black box whose tokens are spans, such as sentences, and the document to be explained for it.

    spans: lists of the model's tokens, which together are the document. names: a string for each, its words. What
    takes a black box takes predict: a span goes as a whole, or each of its tokens becomes the mask token.
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

    predict.gives = read_as(model_or_predict)                                     # type: ignore[attr-defined]
    return predict, names


def check_known(tokenizer, mask_token):
    """ValueError for a mask token that a white box's tokenizer reads as [UNK] without its being called so: a typo?"""
    if not hasattr(tokenizer, "convert_tokens_to_ids"):
        return
    unknown = tokenizer.unk_id if hasattr(tokenizer, "unk_id") else getattr(tokenizer, "unk_token_id", None)
    called = ("[UNK]", getattr(tokenizer, "unk_token", None))
    if mask_token not in called and tokenizer.convert_tokens_to_ids([mask_token])[0] == unknown:
        raise ValueError(f"mask_token {mask_token!r} is not in the model's vocabulary: take one of its tokens, "
                         "or '[UNK]' for an unknown word")


def _asked(predict, document, by, mask_token):
    """The function masks (n, d) → scores (n,) or (n, C) that writes the perturbed documents and has them predicted."""
    tokens = np.array(document, dtype=object)

    def score(masks):
        if by == "replace":
            documents = np.where(masks, tokens, mask_token).tolist()
        else:
            documents = [tokens[mask].tolist() for mask in masks]
        return asked(predict, documents)

    return score
