"""SLALOM: a surrogate in which each word has a value and an importance, mixed by a softmax as attention mixes values
(Leemann, Fastowski, Pfeiffer and Kasneci, "Attention Mechanisms Don't Learn Additive Models", TMLR 2025; numbers of
equations and tables are those of its first version, arXiv:2405.13536v1).

`Slalom` is the model and what follows from it in closed form; slalom_fit.py finds one that says what a model says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace

import numpy as np

from coursekit.inputs import as_array, as_scores, as_strings, format_score, plural
from coursekit.show import plane
from coursekit.show.html import visible

from .asking import pick_class
from .attribution import Attribution, Fixed
from .exact import exact_shapley


@dataclass(frozen=True, eq=False, repr=False)
class Slalom:
    """F(t) = Σ_i α_i v(t_i) with α_i = e^{s(t_i)} / Σ_j e^{s(t_j)} (Eq. 4). Immutable, and a black box by itself.

    tokens: V distinct strings. importances s: (V,), shifted to Σ s = 0, which changes no α (Eq. 4, γ = 0). values v:
    (V,) for log-odds, or (V, C) for the logits of C classes, shifted to rows that sum to 0, which changes no
    probability (Eqs. 71–73; of two classes the log-odds are 2 F_1). class_token: None, or (importance, value) of an
    entry that every document has beside its words, as [CLS]; it is shifted like the others. about: how it was fitted.
    Raises TypeError or ValueError, in one line, for parts that do not fit together and numbers that are not finite.

    "good" weighs three times as much as "film":

    >>> model = Slalom(["good", "film"], np.log([3, 1]), [2, -2])
    >>> model.predict([["good"], ["good", "film"], ["film", "film"], []])
    array([ 2.,  1., -2.,  0.])
    >>> model
    SLALOM of 2 tokens: good(value +2, importance +0.549) film(value -2, importance -0.549)
    """

    tokens: Sequence[str]
    importances: np.ndarray
    values: np.ndarray
    class_token: tuple | None = None
    about: dict = field(default_factory=dict)

    def __post_init__(self):
        tokens = as_strings(self.tokens, "tokens")
        if not tokens or len(set(tokens)) < len(tokens):
            raise ValueError("a SLALOM needs tokens, each of them once: list(dict.fromkeys(document)) has a document's")
        s = as_array(self.importances, "importances", (len(tokens),))
        v = as_scores(self.values, "values", len(tokens))
        always = None
        if self.class_token is not None:
            s0, v0 = self.class_token
            always = float(as_array(s0, "the class token's importance", ()) - s.mean()), as_array(
                v0, "the class token's value", v.shape[1:])
        if v.ndim == 2:
            v = v - v.mean(1, keepdims=True)
            always = always and (always[0], always[1] - always[1].mean())
        s = s - s.mean()
        for array in (s, v, *(always or ())[1:]):
            array.setflags(write=False)
        parts = {"tokens": tuple(tokens), "importances": s, "values": v, "class_token": always,
                "about": Fixed(self.about), "_place": {token: i for i, token in enumerate(tokens)}}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __reduce__(self):                                               # as made anew: read-only, and checked once more
        return Slalom, tuple(getattr(self, f.name) for f in fields(self))

    def predict(self, documents):
        """F (n,) or (n, C) of documents (lists of tokens). An empty one has no α: 0, or the class token's value.

        Raises ValueError, in one line, for a token that the SLALOM does not have.
        """
        documents = [self._ids(document) for document in documents]
        (s, v), n = self._entries(), len(documents)
        ids = np.array([i for document in documents for i in document], dtype=int)        # (M,), of all one by one
        rows = np.array([i for i, document in enumerate(documents) for _ in document], dtype=int)
        top = np.full(n, -np.inf)
        np.maximum.at(top, rows, s[ids])
        g = np.exp(s[ids] - top[rows])
        D = np.maximum(np.bincount(rows, g, n), 1e-300)
        F = [np.bincount(rows, g * one[ids], n) / D for one in v.reshape(len(v), -1).T]
        return np.stack(F, 1).reshape(n, *v.shape[1:])

    def weights(self, document):
        """α (T,) of a document's tokens; they sum to 1, or with a class token to 1 minus the weight of that.

        >>> Slalom(["good", "film"], np.log([3, 1]), [2, -2]).weights(["film", "good"])
        array([0.25, 0.75])
        """
        ids = self._ids(document)
        g = np.exp(self._entries()[0][ids] - self._entries()[0][ids].max(initial=-1e300))
        return (g / g.sum())[:len(document)] if ids else g

    def linearized(self, document, kind="derivative", target=None):
        """The slope of F where a token is softly removed, an Attribution of the document's T tokens.

        In Σ_i λ_i e^{s_i} v_i / Σ_i λ_i e^{s_i} (Eq. 59) ∂F/∂λ_i is α_i (v_i − F) at λ = 1: kind="derivative". Eq. 65
        goes on to v_i e^{s_i} for ranking, kind="paper", and so leaves out −α_i F, which differs from token to token.
        target: the class if there are several, by default the one with the highest score.

        >>> model = Slalom(["good", "fine"], [0, 0], [3, 1])
        >>> model.linearized(["good", "fine"]), model.linearized(["good", "fine"], "paper")
        (SLALOM derivative: good(+0.5) fine(-0.5), SLALOM v·exp(s): good(+3) fine(+1))
        """
        if kind not in ("derivative", "paper"):
            raise ValueError(f'kind must be "derivative" or "paper", got {kind!r}')
        ids, s, v, F, target = self._one(document, target)
        here = ids[:len(document)]
        if kind == "derivative":
            return Attribution(document, self.weights(document) * (v[here] - F), "SLALOM derivative", target)
        return Attribution(document, v[here] * np.exp(s[here]), "SLALOM v·exp(s)", target)

    def removal_effects(self, document, target=None):
        """F − F without token i = α_i/(1 − α_i) (v_i − F), exact: an Attribution of the T tokens.

        Of a single token it is F − F(∅), F(∅) being what `predict` says of an empty document. target: as above.

        >>> Slalom(["good", "fine"], [0, 0], [3, 1]).removal_effects(["good", "fine", "fine"])
        SLALOM removal: good(+0.667) fine(-0.333) fine(-0.333)
        """
        ids, s, v, F, target = self._one(document, target)
        g = np.exp(s[ids] - s[ids].max(initial=-1e300))
        rest = (1 - np.eye(len(document), len(ids))) @ np.stack([g * v[ids], g], 1)       # (T, 2): N and D without i
        return Attribution(document, F - rest[:, 0] / np.maximum(rest[:, 1], 1e-300), "SLALOM removal", target)

    def shapley_values(self, document, target=None):
        """The Shapley values of the T tokens where those that are absent are removed; Σφ = F − F(∅). Exact, in O(T) a
        node of `exact_shapley`, for what Eqs. 66–68 write as a sum over all subsets. target: as above.

        >>> Slalom(["good", "fine"], [0, 0], [4, 2]).shapley_values(["good", "fine"])        # ½ (4 − 0) + ½ (3 − 2)
        Shapley values: good(+2.5) fine(+0.5)
        """
        *_, target = self._one(document, target)
        game = SimpleNamespace(head_terms=lambda document, _: self.head_terms(document, None, target))
        return replace(exact_shapley(game, document), target=target)

    def head_terms(self, document, mask_token="[UNK]", target=None):
        """log g and y (T + 3, T + 1, 1), as `coursekit.models.protocols` has it: what is not there has log g = −∞.

        A mask token that is one of the SLALOM's stands in the place of a word that goes, any other leaves nothing.
        """
        *_, target = self._one(document, target)
        s, v = self._entries()
        v = v if target is None else v[:, target]
        rows = [len(self.tokens) if self.class_token else None, *self._ids(document)[:len(document)],
                self._place.get(mask_token), None]
        log_g = np.array([-np.inf if i is None else s[i] for i in rows])
        y = np.array([0.0 if i is None else v[i] for i in rows])
        return tuple(np.tile(part[:, None, None], (1, len(document) + 1, 1)) for part in (log_g, y))

    def plot(self, document=None, target=None):
        """The plane of values (across) and importances (up): a document's distinct words, or all the SLALOM's.

        target: the class if there are several, by default the one with the highest score for the document. Words with
        the largest |v| e^s are named first, others where there is room.
        """
        if self.values.ndim == 2 and document is None and target is None:
            raise ValueError("values differ from class to class: say target=, a class, or give a document")
        document = self.tokens if document is None else document
        _, s, v, _, target = self._one(document, target)
        ids = np.array([self._place[token] for token in dict.fromkeys(document)], dtype=int)
        ids = ids[np.argsort(-np.abs(v[ids]) * np.exp(s[ids]), kind="stable")]
        return plane([self.tokens[i] for i in ids], v[ids], s[ids], "value v" + (f" for class {target}" if target is not
                     None else ""), "importance s", title="SLALOM")

    def _ids(self, document):
        """The places of a document's tokens, and of the class token behind them where there is one."""
        document = as_strings(document, "a document")
        unknown = [token for token in document if token not in self._place]
        if unknown:
            raise ValueError(f"this SLALOM has no value for {unknown[0]!r}: it knows "
                             f"{plural(len(self.tokens), 'token')}, fit it to sequences with all words to be asked")
        return [self._place[token] for token in document] + [len(self.tokens)] * (self.class_token is not None)

    def _entries(self):
        """(s, v) with those of the class token at the end, where there is one."""
        if self.class_token is None:
            return self.importances, self.values
        s0, v0 = self.class_token
        return np.append(self.importances, s0), np.concatenate([self.values, np.asarray(v0)[None]])

    def _one(self, document, target):
        """(ids, s, v, F, class) for one document and one class."""
        s, v = self._entries()
        (F,), target = pick_class(self.predict([document]), target)
        return self._ids(document), s, v if target is None else v[:, target], F, target

    def __repr__(self):
        C = f", {self.values.shape[1]} classes" if self.values.ndim == 2 else ""
        v = self.values if not C else np.take_along_axis(self.values, np.abs(self.values).argmax(1)[:, None], 1)[:, 0]
        order = np.argsort(-np.abs(v) * np.exp(self.importances), kind="stable")
        shown = " ".join(f"{visible(self.tokens[i])}(value {format_score(v[i])}, importance "
                         f"{format_score(self.importances[i])})" for i in order[:5])
        return f"SLALOM of {plural(len(v), 'token')}{C}: {shown}" + " …" * (len(v) > 5)
