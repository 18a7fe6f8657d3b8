"""Models as people have them, each in one line a black box for every explainer and metric of the course."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.explain.attribution import predictor
from coursekit.models import HuggingFaceClassifier
from coursekit.models.protocols import BlackBox, Predict


def own_model(model: Any, tokenizer: Any = None) -> tuple[BlackBox | Predict, Callable[[str], list[str]]]:
    """(black box, its tokenize(text)) from what people have: for every explainer of the course, and for `report`.

    model: a name or folder of Hugging Face, or a classifier of transformers with its tokenizer, of a family that can be
    looked into, a white box; a pipeline of transformers for "text-classification", of any family, read as logits; a
    classifier or pipeline of scikit-learn that takes texts, read as log p (two classes: log-odds), or by its
    `decision_function` where it has no `predict_proba`; an object with `predict(documents)`, or such a function. A
    white box cuts texts by its own tokenizer; all others at spaces, so that a document is a list of words, "[UNK]"
    being the pipeline's unknown token. What is made here can be sent to other processes if the model can. Raises
    TypeError, in one line, for anything else.

    >>> ask, tokenize = own_model(lambda documents: [document.count("good") for document in documents])
    >>> ask([tokenize("a good film , good actors")])
    [2]
    """
    if isinstance(model, (str, Path)):
        model = HuggingFaceClassifier.from_pretrained(str(model))
    if tokenizer is not None:
        model = HuggingFaceClassifier(model, tokenizer)
    if hasattr(model, "task") and hasattr(model, "tokenizer"):
        if model.task != "text-classification":
            raise TypeError(f'expected a pipeline for "text-classification", got one for "{model.task}"')
        return _knows(partial(_logits, model)), str.split
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            return _knows(partial(_sklearn, model, method)), str.split
    predictor(model)                                                    # complains of anything else
    return model, getattr(getattr(model, "tokenizer", None), "tokenize", str.split)


def _knows(ask):
    """The same, with what its scores are, so that `coursekit.evaluate.faithfulness` need not ask."""
    ask.gives = "log-odds"
    return ask


def _sklearn(model, method, documents):
    """Scores (n,), or (n, C) of more than two classes, by a method that takes texts."""
    scores = np.asarray(getattr(model, method)([" ".join(document) for document in documents]))
    if method == "decision_function":
        return scores
    log_p = np.log(np.clip(scores, 1e-9, 1))                            # (n, C)
    return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p


def _logits(pipeline, documents):
    """Logits (n, C) of a pipeline of transformers; of two labels their difference (n,), of one its number (n,)."""
    if pipeline.model.training:
        raise ValueError("the pipeline's model is in training mode, where dropout makes its scores random: call "
                         "pipeline.model.eval()")
    tokenizer, place = pipeline.tokenizer, pipeline.model.config.label2id
    unknown = tokenizer.unk_token or ""
    texts = [" ".join(unknown if token == "[UNK]" else token for token in document) for document in documents]
    found = pipeline(texts, top_k=None, function_to_apply="none", truncation=True,
                     batch_size=1 if tokenizer.pad_token_id is None else 32)
    logits = np.array([[label["score"] for label in sorted(row, key=lambda label: place[label["label"]])]
                       for row in found])
    return logits[:, -1] - logits[:, 0] * (logits.shape[1] == 2) if logits.shape[1] < 3 else logits
