"""Metrics that change the model: retrained without what an explanation calls important, or its weights shuffled."""

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from tqdm.auto import tqdm

from coursekit.explain.asking import scores_of
from coursekit.explain.attribution import Explainer
from coursekit.explain.masks import away
from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts
from coursekit.show import lines

from .agreement import rank_agreement
from .calls import Measured, counting
from .drops import matched
from .plausibility import explained


class Roar(NamedTuple):
    """taus: per cent of the tokens that are gone; accuracy: with those gone that the explainer scores highest, random:
    with as many drawn at random, both (n_taus,); calls: documents that the first model scored.

    >>> Roar([0, 100], np.array([1, 0.5]), np.array([1, 0.5]), 12).accuracy.tolist()
    [1.0, 0.5]
    """

    taus: list
    accuracy: np.ndarray
    random: np.ndarray
    calls: int

    def plot(self):
        """Both curves."""
        return lines(self.taus, {"by attribution": self.accuracy, "at random": self.random},
                     xlabel="% of the tokens gone", ylabel="accuracy")


def roar(train: Callable[..., Predicts], documents: Sequence[Document], labels: Sequence[int], explainer: Explainer,
         taus=range(0, 101, 10), retrain=True, seed=0, progress=True) -> Roar:
    """Remove and retrain: the accuracy without the tau % of each document's tokens with the largest |score|, a `Roar`.

    Hooker et al., "A Benchmark for Interpretability Methods in Deep Neural Networks" (NeurIPS 2019). A model is
    trained, all documents are explained, their top tokens go, and for each tau a new model learns from what is left and
    is tested on documents treated alike. The further the curve lies below the random one, the better. It judges
    explainer *and data*: where words repeat one another, a retrained model takes the next one.
    retrain=False is the cousin (Samek et al., 2017): the first model reads the documents with the gaps, of which it has
    seen none. What its curve loses is information, or what was never in training: nobody can tell.
    The paper replaces pixels by their mean; words have none: "[UNK]" stands in their place, or what `away` says, where
    `train` returns what it made.

    train(documents, labels) -> a model with predict: log-odds (n,) or logits (n, C). documents: lists of tokens.
    labels: (n,). A quarter of each label's documents are for testing; `seed` draws them and the random order, and goes
    to the explainer if it takes one. progress: show a bar.
    Raises ValueError, in one line, for labels or taus that do not fit. Costs two trainings for each tau.

    >>> from coursekit.explain import leave_one_out
    >>> from coursekit.models import train_bag_of_words
    >>> documents, labels = [["good", "soup"], ["dull", "soup"]] * 20, [1, 0] * 20
    >>> found = roar(train_bag_of_words, documents, labels, leave_one_out, taus=[0, 50, 100], progress=False)
    >>> (found.random > found.accuracy).tolist()
    [False, True, False]
    """
    taus, y, n = [float(tau) for tau in taus], np.array(labels), len(documents)
    if y.shape != (n,) or not taus or not all(0 <= tau <= 100 for tau in taus) or n < 3:
        raise ValueError("expected a label for each document, taus in per cent, and documents to train with and to "
                         f"test on, got labels {y.shape} for {n} documents, taus {taus}")
    rng = np.random.default_rng(as_whole(seed, "seed"))
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    test = np.concatenate([places[:round(len(places) / 4)] for places in classes])
    learn = np.setdiff1d(np.arange(n), test)

    def accuracy(model, changed):
        f = scores_of(model, [changed[i] for i in test])
        return float(((f.argmax(1) if f.ndim > 1 else f > 0) == y[test]).mean())

    def without(document, places):
        return model.documents(document, np.isin(np.arange(len(document)), places, invert=True)[None])[0]

    model = away(train([documents[i] for i in learn], y[learn]))
    with counting(model) as (model, counter), tqdm(total=n, disable=not progress, desc="explained") as bar:
        tops = []
        for document in documents:
            attribution = matched(model, document, explained(explainer, model, document, seed))[1]
            tops.append(np.argsort(-np.abs(attribution.scores), kind="stable"))
            bar.update()
        accuracies, orders = [], (tops, [rng.permutation(len(top)) for top in tops])
        for tau in tqdm(taus, disable=not progress, desc="retrained" if retrain else "tested"):
            for order in orders:
                changed = [without(document, places[:round(tau / 100 * len(places))])
                           for document, places in zip(documents, order, strict=True)]
                judged = train([changed[i] for i in learn], y[learn]) if retrain else model
                accuracies.append(accuracy(judged, changed))
    accuracies, random = np.array(accuracies).reshape(-1, 2).T
    return Roar(taus, accuracies, random, counter.calls)


def weight_randomisation(model: torch.nn.Module, documents: Sequence[Document], explainer: Explainer, seed=0,
                         progress=True) -> dict[str, Measured]:
    """{layer: how much the explanations still agree with the true ones}, the weights shuffled from the top down to it.

    Adebayo et al., "Sanity Checks for Saliency Maps" (NeurIPS 2018), cascading randomisation: an explanation that looks
    the same when the weights are gone does not explain them; near 0 is good, 1 is worst. The entries of each parameter
    change places among themselves, which keeps their law and leaves norms and biases that were never trained as they
    are. Layers are the blocks of a stack, and modules or parameters that stand alone; the one registered last is the
    top. Passing proves little: an explainer of pure noise passes, if its noise changes with the model.

    model: a torch.nn.Module that `explainer` takes; it stays as it is. Each value is a `Measured`: the mean over
    documents of Spearman's correlation of the |score| (a shuffled top may flip every sign and see what it saw; nan left
    out), calls, and in `about` values (n_documents,).
    Raises TypeError, in one line, for a model without parameters.

    >>> from coursekit.explain import gradient_x_input
    >>> from coursekit.models import load_weights
    >>> weight_randomisation(load_weights("imdb-tame"), [["not", "good"]], gradient_x_input, progress=False).keys()
    dict_keys(['W_l', 'W_v', 'W_k', 'W_q', 'W_e'])
    """
    if not any(True for _ in getattr(model, "parameters", list)()):
        raise TypeError(f"weights can be shuffled in a torch.nn.Module with parameters, got {type(model).__name__}")
    layers = {}
    for name, _ in model.named_parameters():
        layers.setdefault(re.findall(r".*?\.\d+(?=\.)|.+(?=\.)|.+", name)[0], []).append(name)
    shuffled, generator = copy.deepcopy(model), torch.Generator().manual_seed(as_whole(seed, "seed"))
    true = [explained(explainer, model, document, seed) for document in documents]
    agreement = {}
    for layer, names in tqdm(list(layers.items())[::-1], disable=not progress, desc="shuffled", unit="layer"):
        with torch.no_grad():
            for name in names:
                weight = shuffled.get_parameter(name)
                weight.copy_(weight.flatten()[torch.randperm(weight.numel(), generator=generator)].view_as(weight))
        with counting(shuffled) as (_, counter):
            values = [rank_agreement(replace(a, signed=False), explained(explainer, shuffled, document, seed)).spearman
                      for a, document in zip(true, documents, strict=True)]
        agreement[layer] = Measured(np.nanmean(values), counter.calls, values=np.array(values))
    return agreement
