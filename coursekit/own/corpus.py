"""A whole corpus explained: by several processes if you like, kept as it comes, the same numbers in any case."""

import json
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from coursekit.compare.fingerprints import scores_alone, settings, weights_of
from coursekit.compare.jobs import compute, one_thread
from coursekit.evaluate.plausibility import explained
from coursekit.explain.attribution import Attribution, Explainer
from coursekit.inputs import Document, plural

from .black_boxes import own_model


def explain_corpus(explainer: Explainer, model: Any, documents: Sequence[Document | str],
                   path: str | Path | None = None, workers=1, seed=0, progress=True,
                   on_error="raise") -> list[Attribution | None]:
    """A list with the Attribution of each document.

    explainer: a function (model, document) or (model, document, seed=…) → Attribution, such as `explain.lime` or
    `partial(explain.lime, n_samples=500)`; each document is explained with this seed, on one thread, whoever does it
    and whatever stands beside it. model: whatever `own_model` takes. documents: lists of tokens, or texts, which are
    cut by the model's own tokenizer.

    path: a file of JSON lines that keeps each explanation as soon as it is there (the document, `Attribution.to_dict`
    and the model's score); called again, a corpus that was stopped, or to which documents were added, goes on from it,
    by the same explainer (`settings`) and model: one with the same weights and, asked anew, the same scores.
    workers: 1 (here), a number of processes, which model and explainer must then be able to go to, or the address of a
    dask scheduler, such as "tcp://host:8786". What comes back has been JSON: arrays in `about` are lists.
    on_error: "raise" what goes wrong, with the number of its document; or "skip": None takes its place, the error is
    kept in the file, a warning counts them, and the next call goes on from there (one that raises tries them again).
    Raises ValueError, in one line, where `path` keeps explanations by something else, or an explainer cannot be told
    from others, TypeError where the explainer returns no Attribution, and for what cannot be sent to other processes,
    ConnectionError where no scheduler answers.

    >>> from coursekit.explain import leave_one_out
    >>> def likes(documents):
    ...     return [2.0 * ("good" in d) - 1.0 * ("bad" in d) for d in documents]
    >>> explain_corpus(leave_one_out, likes, ["a good film", "not bad"], progress=False)
    [leave-one-out: a(0) good(+2) film(0), leave-one-out: not(0) bad(-1)]
    """
    if isinstance(documents, str):
        raise TypeError("documents must be a list, got one text: explain_corpus(explainer, model, [text])")
    model, tokenize = own_model(model, check=isinstance(model, (str, Path)))      # of others their owner knows
    asked = [tuple(tokenize(d) if isinstance(d, str) else d) for d in documents]
    todo = {document: asked.index(document) for document in dict.fromkeys(asked)}
    head = path and {"explainer": settings(explainer), "seed": seed, "weights": weights_of(model)}
    results = dict(compute(partial(_explained, explainer, model, seed), todo, path, head,
                           path and scores_alone(model, asked), workers, progress, on_error))
    if errors := [f"document {i}: {results[d]['error']}" for d, i in todo.items() if "error" in results[d]]:
        warnings.warn(f"left out {plural(len(errors), 'document')}, such as {errors[0]}", stacklevel=2)
    return [None if "error" in results[document] else Attribution.from_dict(results[document]) for document in asked]


def _explained(explainer, model, seed, *document):
    """The explanation of a document as JSON has it."""
    with one_thread():
        found = explained(explainer, model, list(document), seed)
    if not isinstance(found, Attribution):
        raise TypeError(f"a corpus is explained by Attributions, and this explainer returns {type(found).__name__}")
    return json.loads(json.dumps(found.to_dict()))
