"""A whole corpus explained: by several processes if you like, kept as it comes, the same numbers in any case."""

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.compare.fingerprints import scores_alone, settings, weights_of
from coursekit.compare.jobs import compute, one_thread
from coursekit.evaluate.plausibility import explained
from coursekit.explain.attribution import Attribution, Explainer
from coursekit.inputs import Document, plural
from coursekit.show import bars
from coursekit.show.html import Html

from .black_boxes import own_model


def explain_corpus(explainer: Explainer, model: Any, documents: Sequence[Document | str],
                   path: str | Path | None = None, workers=1, seed=0, progress=True,
                   on_error="raise") -> "Corpus":
    """A `Corpus`: a list with the Attribution of each document, which can be asked about words.

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
    return Corpus(None if "error" in results[document] else Attribution.from_dict(results[document])
                  for document in asked)


class OfWord(NamedTuple):
    """What a word has in a corpus: the mean of its scores, that of their sizes, how often it occurs, and in how many
    documents.

    >>> OfWord(mean=0.5, mean_abs=1.5, count=2, documents=1).count
    2
    """

    mean: float
    mean_abs: float
    count: int
    documents: int


class Corpus(list):
    """A list of Attributions of one method, None for what was left out, that can be asked about words.

    A word's pieces (##, Ġ) are put together; scores that belong to distinct tokens count once a document.

    >>> found = Corpus([Attribution(["a", "good", "good", "film"], [0, 2, 1, 0], "by hand"),
    ...                 Attribution(["not", "good"], [-1, -2], "by hand")])
    >>> found.top(1)
    [('good', OfWord(mean=0.3333333333333333, mean_abs=1.6666666666666667, count=3, documents=2))]
    """

    def by_word(self) -> dict[str, OfWord]:
        """{word: OfWord} of all words, in the order in which they come. ValueError for explanations of several classes,
        whose scores say different things: explain one, `partial(explainer, target=…)`."""
        kept = [one for one in self if one is not None]
        if len(classes := {one.target for one in kept}) > 1:
            raise ValueError(f"these are explanations of {len(classes)} classes, and a word's mean is of one: explain "
                             "one class, as by partial(explainer, target=0)")
        scores: dict[str, list] = {}
        documents: Counter[str] = Counter()
        for one in kept:
            words = one if one.per == "word" else one.words()
            documents.update(set(words.tokens))
            for word, score in words:
                scores.setdefault(word, []).append(score)
        return {word: OfWord(float(np.mean(s)), float(np.abs(s).mean()), len(s), documents[word])
                for word, s in scores.items()}

    def top(self, k=10, documents=1) -> list[tuple[str, OfWord]]:
        """The k words of the largest mean |score|, largest first, of those that occur in so many documents at least: of
        a word that occurs once, one score says little."""
        words = [pair for pair in self.by_word().items() if pair[1].documents >= documents]
        return sorted(words, key=lambda pair: -pair[1].mean_abs)[:k]

    def plot(self, k=10, documents=1) -> Html:
        """Bars of the mean |score| of the words of `top`."""
        words = self.top(k, documents)
        return bars([word for word, _ in words], [of.mean_abs for _, of in words], "Words of a corpus", "mean |score|")


def _explained(explainer, model, seed, *document):
    """The explanation of a document as JSON has it."""
    with one_thread():
        found = explained(explainer, model, list(document), seed)
    if not isinstance(found, Attribution):
        raise TypeError(f"a corpus is explained by Attributions, and this explainer returns {type(found).__name__}")
    return json.loads(json.dumps(found.to_dict()))
