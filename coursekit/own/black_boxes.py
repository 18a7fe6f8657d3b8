"""Models as people have them, each in one line a black box for every explainer and metric of the course."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from coursekit.explain.asking import asked, predictor
from coursekit.models import HuggingFaceClassifier
from coursekit.models.hub.huggingface import CHECKED, kind_of_scores, scores_of_labels
from coursekit.models.protocols import BlackBox, Predict


def own_model(model: Any, tokenizer: Any = None, check=True) -> tuple[BlackBox | Predict, Callable[[str], list[str]]]:
    """(black box, its tokenize(text)) from what people have: for every explainer of the course, and for `report`.

    model: a name or folder of Hugging Face, or a classifier of transformers with its tokenizer, of a family that can be
    looked into, a white box; a pipeline of transformers for "text-classification", of any family, read as logits; a
    classifier or pipeline of scikit-learn that takes texts, read as log p (two classes: log-odds), or by its
    `decision_function` where it has no `predict_proba`, or such a regression; an object with `predict(documents)`, or
    such a function. A white box cuts texts by its own tokenizer; all others at spaces, so that a document is a list of
    words, "[UNK]" being the pipeline's unknown token. What is made can be sent to other processes if the model can.
    check: ask about three short texts first: a white box must say what the model's own forward pass says, any other box
    of each alone what it says of all together (within a thousandth, of a pipeline in half precision within that).
    Raises TypeError, in one line, for anything else, ValueError for what fails the check.

    >>> ask, tokenize = own_model(lambda documents: [document.count("good") for document in documents])
    >>> ask([tokenize("a good film , good actors")])
    [2]
    """
    if isinstance(model, (str, Path)):
        model = HuggingFaceClassifier.from_pretrained(str(model), check=check)
    if tokenizer is not None:
        model = HuggingFaceClassifier(model, tokenizer, check=check)
    if hasattr(model, "task") and hasattr(model, "tokenizer"):
        if model.task != "text-classification":
            raise TypeError(f'expected a pipeline for "text-classification", got one for "{model.task}"')
        config, near = model.model.config, 8 * torch.finfo(model.model.dtype).eps
        labels = sorted(config.label2id, key=config.label2id.get)
        box = _knows(partial(_logits, model), kind_of_scores(config), labels)
        return _checked(box, max(near, 1e-3) if check else None), str.split
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            box = _knows(partial(_sklearn, model, method), "log-odds", map(str, getattr(model, "classes_", ())))
            return _checked(box, 1e-3 if check else None), str.split
    if hasattr(model, "get_params"):
        from sklearn.base import is_regressor  # which is there, as the model is

        if not is_regressor(model):
            raise TypeError(f"{type(model).__name__} of scikit-learn only gives labels: take a classifier with "
                            "predict_proba or decision_function, or a regression")
        return _checked(_knows(partial(_sklearn, model, "predict"), "regression"), 1e-3 if check else None), str.split
    predictor(model)                                                    # complains of anything else
    cut = getattr(getattr(model, "tokenizer", None), "tokenize", str.split)
    white = isinstance(model, HuggingFaceClassifier)                    # which has checked itself
    return _checked(model, 1e-3 if check and not white else None, cut), cut


def _checked(model, near, cut=str.split):
    """The model, or ValueError where a text's score is another (by more than near, relatively) beside other texts."""
    if near is None:
        return model
    documents = [cut(text) for text in CHECKED]
    try:
        together = asked(predictor(model), documents)
        alone = [asked(predictor(model), [document])[0] for document in documents]
    except Exception as error:
        error.add_note("own_model asks about three short texts first: check=False leaves that out")
        raise
    for text, one, batched in zip(CHECKED, alone, together, strict=True):
        if np.shape(one) != np.shape(batched) or not np.allclose(one, batched, near, near):
            raise ValueError(f"this black box scores {text!r} with {np.round(one, 4)} alone and with "
                             f"{np.round(batched, 4)} beside other texts: a document's score may hang on nothing else "
                             "(padding? batch norm? dropout?); check=False takes it as it is")
    return model


def _knows(ask, gives, labels=()):
    """The same, with what its scores are, so that `coursekit.evaluate.faithfulness` need not ask, and its labels."""
    ask.gives, ask.labels = gives, list(labels)
    return ask


def _sklearn(model, method, documents):
    """Scores (n,), or (n, C) of more than two classes, by a method that takes texts."""
    scores = np.asarray(getattr(model, method)([" ".join(document) for document in documents]))
    if method != "predict_proba":
        return scores
    if scores.ndim != 2 or not np.allclose(scores.sum(1), 1, atol=1e-6):
        raise ValueError("the probabilities of predict_proba do not sum to one: of independent labels take one at a "
                         "time, a function of documents, or write all their log-odds (n, C) and scores='multi-label'")
    log_p = np.log(np.clip(scores, 1e-9, 1))                            # (n, C)
    return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p


def _logits(pipeline, documents):
    """Scores of a pipeline of transformers, as `scores_of_labels` has them."""
    if pipeline.model.training:
        raise ValueError("the pipeline's model is in training mode, where dropout makes its scores random: call "
                         "pipeline.model.eval()")
    tokenizer, config = pipeline.tokenizer, pipeline.model.config
    unknown, place = tokenizer.unk_token or "", config.label2id
    nothing = "" if tokenizer("")["input_ids"] else tokenizer.bos_token or tokenizer.eos_token or unknown
    texts = [" ".join(unknown if token == "[UNK]" else token for token in document) or nothing
             for document in documents]
    alone = tokenizer.pad_token_id is None or hasattr(config, "mem_len")     # XLNet's memory is taken for the batch
    rows = pipeline(texts, top_k=None, function_to_apply="none", truncation=True, max_length=_longest(pipeline),
                    batch_size=1 if alone else 32)
    logits = np.array([[label["score"] for label in sorted(row, key=lambda label: place[label["label"]])]
                       for row in rows])
    return scores_of_labels(logits, kind_of_scores(config))


def _longest(pipeline):
    """The number of tokens that both tokenizer and model can take, None if any; RoBERTa and its like give the first
    positions, as many as the padding's id + 1, to no token."""
    positions = getattr(pipeline.model.config, "max_position_embeddings", None) or 0
    first = [layer.padding_idx + 1 for name, layer in pipeline.model.named_modules()
             if name.endswith("position_embeddings") and getattr(layer, "padding_idx", None) is not None]
    longest = min(pipeline.tokenizer.model_max_length, positions - max(first, default=0) if positions > 0 else math.inf)
    return longest if longest < 1e9 else None
