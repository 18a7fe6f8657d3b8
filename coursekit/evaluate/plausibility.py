"""Do explanations behave as people expect? The same for the same input, and similar for similar inputs.

Plausible is not faithful: an explainer that gives every word the same number passes all of this.

An explainer here is a function (model, document, seed=…) or (model, document) → Attribution; its signature tells
whether it takes a seed. `functools.partial(lime, n_samples=500)` is one.
"""

import inspect
from collections.abc import Sequence
from itertools import combinations, islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from coursekit.explain.asking import read_tokens, require_methods, scores_of
from coursekit.explain.attribution import Attribution, Explainer
from coursekit.inputs import Document, as_whole
from coursekit.models.protocols import Predicts


def takes_seed(explainer: Explainer) -> bool:
    """Does its signature have a `seed`?

    >>> takes_seed(lambda model, document: None), takes_seed(lambda model, document, seed=0: None)
    (False, True)
    """
    return "seed" in inspect.signature(explainer).parameters


def explained(explainer: Explainer, model: Predicts, document: Document, seed=0) -> Attribution:
    """explainer(model, document), with the seed if it takes one.

    >>> explained(lambda model, document, seed=0: (document, seed), None, ["good"], seed=3)
    (['good'], 3)
    """
    return explainer(model, document, **({"seed": seed} if takes_seed(explainer) else {}))


class Consistency(NamedTuple):
    """How much repeated explanations of one document agree.

    deterministic: all the same, bit by bit; spread: the standard deviations of the scores over the size of their mean,
    ‖sd‖/‖mean‖; vsi: the variables stability index, the share of common tokens among the k most important of two runs,
    mean over pairs of runs; csi: the coefficients stability index, how often a token's 95 % intervals of two runs
    overlap, mean over pairs of runs that have it among their k, then over tokens; nan where an explainer gives no
    standard errors. Both lie in [0, 1] (Visani et al., 2022, say percent).

    >>> Consistency(deterministic=False, spread=0.1, vsi=0.8, csi=1.0).vsi
    0.8
    """

    deterministic: bool
    spread: float
    vsi: float
    csi: float


def consistency(model: Predicts, document: Document, explainer: Explainer, seeds=range(5)) -> Consistency:
    """The Consistency of an explainer at a document, over seeds; one that takes none is asked twice.

    Intervals are score ± 1.96 `about["standard_errors"]`, which `lime` and, where they sample, `shapley_values` and
    `kernel_shap` give. They shrink with more samples, as fast as the spread does: csi asks whether they are honest, vsi
    whether the choice of words is settled. Source: Visani et al., Journal of the Operational Research Society 73, 2022,
    section 4.
    Raises ValueError, in one line, for fewer than two seeds.

    >>> from coursekit.explain import Attribution
    >>> def coin(model, document, seed=0):
    ...     return Attribution(document, np.roll([2.0, 1.0, 0.0], seed), "coin")
    >>> consistency(None, ["not", "good", "film"], coin, seeds=(0, 3))
    Consistency(deterministic=True, spread=0.0, vsi=1.0, csi=1.0)
    """
    seeds = list(seeds) if takes_seed(explainer) else [None, None]
    return stability([explained(explainer, model, document, seed) for seed in seeds])


def stability(attributions: Sequence[Attribution], k=5) -> Consistency:
    """The same for attributions that are there already: of one document, by one method.

    >>> from coursekit.explain import Attribution
    >>> runs = [Attribution(["not", "good"], scores, "by hand") for scores in ([1, 0], [3, 0])]
    >>> stability(runs, k=1)                                               # ‖sd‖ = √2, ‖mean‖ = 2
    Consistency(deterministic=False, spread=0.7071067811865476, vsi=1.0, csi=nan)
    """
    if len(attributions) < 2 or len({a.tokens for a in attributions}) > 1:
        raise ValueError("consistency compares at least two attributions of the same tokens, "
                         f"got {len(attributions)}")
    scores = np.stack([a.scores for a in attributions])                           # (n, T)
    deterministic, size = bool((scores == scores[0]).all()), np.linalg.norm(scores.mean(0))
    if deterministic:
        return Consistency(True, 0.0, 1.0, 1.0)
    top = np.zeros(scores.shape, bool)
    np.put_along_axis(top, np.argsort(-np.abs(scores), axis=1, kind="stable")[:, :as_whole(k, "k", 1)], True, axis=1)
    one, other = np.array(list(combinations(range(len(scores)), 2))).T            # the pairs of runs
    both = top[one] & top[other]                                                  # (pairs, T)
    csi = np.nan
    if all("standard_errors" in a.about for a in attributions):
        width = 1.96 * np.stack([a.about["standard_errors"] for a in attributions])
        overlap = np.abs(scores[one] - scores[other]) <= width[one] + width[other]
        seen = both.any(0)
        csi = ((overlap & both).sum(0)[seen] / both.sum(0)[seen]).mean() if seen.any() else np.nan
    spread = np.linalg.norm(scores.std(0, ddof=1)) / size if size else np.inf
    return Consistency(False, float(spread), float(both.sum(1).mean() / top[0].sum()), float(csi))


def implementation_invariance(models: Sequence[Predicts], document: Document, explainer: Explainer,
                              seed=0) -> float:
    """How far apart the explanations of models that compute the same function are: the largest ‖φ − φ'‖/‖φ‖ to the
    first model's φ. 0 for an explainer that only sees the function (Sundararajan et al., ICML 2017, section 2.1).

    That the models are the same is looked at where it can be: at the document and at its leave-one-outs.
    Raises ValueError, in one line, for fewer than two models, and where their scores differ by more than 1e-4
    times the largest.

    >>> from coursekit.explain import leave_one_out
    >>> def one(documents):
    ...     return [2.0 * ("good" in d) for d in documents]
    >>> def other(documents):
    ...     return [1.0 * ("good" in d) + 1.0 * ("good" in d) for d in documents]
    >>> implementation_invariance([one, other], ["good", "film"], leave_one_out)
    0.0
    """
    first, *others = models
    tokens = read_tokens(first, document)
    documents = [tokens, *(tokens[:t] + ["[UNK]"] + tokens[t + 1:] for t in range(len(tokens)))]
    scores = [scores_of(model, documents) for model in models]
    apart = max((np.abs(scores[0] - score).max() for score in scores[1:]), default=np.inf)
    if not apart <= 1e-4 * np.abs(scores[0]).max():
        raise ValueError("expected two or more models that compute the same function, got "
                         + (f"scores that differ by {apart:.3g}" if others else "one"))
    phi, *rest = (explained(explainer, model, document, seed).scores for model in models)
    return float(max(_relative(other, phi) for other in rest))


class Lipschitz(NamedTuple):
    """The steepest change of an explanation that was found within δ.

    constant: the largest ratio of relative change to distance, nan where no word is near enough; distance, change:
    both of them there; score_change: what the model's score itself did there; document: the neighbour, a tuple.

    >>> Lipschitz(constant=2.0, distance=0.5, change=1.0, score_change=-0.1, document=("fine", "film")).constant
    2.0
    """

    constant: float
    distance: float
    change: float
    score_change: float
    document: tuple


def local_lipschitz(model: Predicts, document: Document, explainer: Explainer, delta=0.75, n_neighbours=16, seed=0,
                    start: Attribution | None = None) -> Lipschitz:
    """The Lipschitz constant of an explainer around a document, from below: max ‖φ(x') − φ(x)‖/‖φ(x)‖ / ‖x' − x‖ over
    neighbours x' within δ (Alvarez-Melis and Jaakkola, 2018, Eq. 1, whose φ has units: here relative changes count, so
    that methods can be compared).

    Neighbours are documents with one word swapped for another. ‖x' − x‖ is the distance of the two words' embeddings,
    in units of the root mean square distance between two words of the model's vocabulary: δ = 1 reaches as far as a
    random word. Half of the `n_neighbours` are the nearest words at random places, the same for every explainer; the
    others are the next nearest at the place where the explanation moved most. One seed for all explanations, so that
    sampling noise counts only as far as a seed does not hold it still.
    model: a white box with `tokenizer.vocab`. start: the explanation of the document itself, if it is there.

    >>> from coursekit.explain import gradient
    >>> from coursekit.models import load_weights
    >>> found = local_lipschitz(load_weights("imdb-tame"), ["a", "good", "film"], gradient, delta=0.8)
    >>> found.constant == found.change / found.distance, found.distance <= 0.8
    (True, True)
    """
    require_methods(model, "embed", "baseline", "own", "tokenizer", explainer="local_lipschitz")
    tokens = read_tokens(model, document)
    most = as_whole(n_neighbours, "n_neighbours", 2)

    def scores(x):
        return explained(explainer, model, x, seed).spread(x).scores

    phi, neighbours = scores(tokens) if start is None else start.scores, {}

    def swap(place, word, distance):
        x = [*tokens[:place], word, *tokens[place + 1:]]
        if tuple(x) not in neighbours:
            change = _relative(scores(x), phi)
            neighbours[tuple(x)] = change / distance, distance, change, place

    order = np.random.default_rng(seed).permutation(len(tokens))
    near = [(place, words) for place in order if (words := _words_within(model, tokens[place], delta, most))]
    half = (most + 1) // 2
    for i in range(half if near else 0):
        place, words = near[i % len(near)]
        swap(place, *words[i // len(near) % len(words)])
    if not neighbours:
        return Lipschitz(np.nan, np.nan, np.nan, np.nan, ())
    steepest = max(neighbours.values())[-1]
    for word, distance in _words_within(model, tokens[steepest], delta, most):
        if len(neighbours) < most:
            swap(steepest, word, distance)
    x = max(neighbours, key=neighbours.__getitem__)
    before, after = scores_of(model, [tokens, list(x)])
    constant, distance, change = map(float, neighbours[x][:3])
    return Lipschitz(constant, distance, change, float(np.abs(after - before).max()), x)


_VOCABULARIES = WeakKeyDictionary()             # model → words, embeddings, unit of distance, and what was looked up


def _vocabulary(model):
    """(words but special ones, embeddings (V, d_e), their ‖·‖² (V,), the root mean square distance of two, {})."""
    if model not in _VOCABULARIES:
        words = [word for word in model.tokenizer.vocab if not (word[0] == "[" and word[-1] == "]")]
        n = len(model.own(words))                                                 # as many as it reads at once
        with torch.no_grad():
            V = torch.cat([_vectors(model, words[i:i + n]) for i in range(0, len(words), n)])
        unit = float((2 * V.var(0, unbiased=False).sum()).sqrt())
        _VOCABULARIES[model] = words, V, (V * V).sum(1), unit, {}
    return _VOCABULARIES[model]


def _vectors(model, words):
    """Embeddings (n, d_e) of words, counted from that of [UNK], so that positions do not matter."""
    own = model.own(words)
    return (model.embed(words) - model.baseline(words, "unk"))[own].detach().cpu()


def _words_within(model, token, delta, most):
    """[(word, distance), …] of at most so many words within δ of a token, nearest first: pieces (##) for a piece."""
    words, V, squares, unit, nearest = _vocabulary(model)
    if (token, delta, most) not in nearest:
        e = _vectors(model, [token])[0]
        distance = (squares - 2 * (V @ e) + e @ e).clamp(min=0).sqrt().numpy() / unit
        near = np.flatnonzero((distance > 0.01) & (distance <= delta))            # closer: the word itself, rounded
        alike = ((words[i], float(distance[i])) for i in near[np.argsort(distance[near], kind="stable")]
                 if words[i].startswith("##") == token.startswith("##"))
        nearest[token, delta, most] = list(islice(alike, most))
    return nearest[token, delta, most]


def _relative(a, b):
    """‖a − b‖/‖b‖; 0 for two zeros."""
    size, apart = np.linalg.norm(b), np.linalg.norm(a - b)
    return apart / size if size else np.inf if apart else 0.0
