"""A viewer of attention to click through: lines between two lists of tokens, and beside them what each head does.

The live side is explorer.js; without a kernel a drawing of the same state stands there. Beside the drawing the notebook
keeps the weights, if they are few: from them the book, which has no kernel either, makes a live one.
"""

import base64
import functools
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import as_strings, as_weights
from coursekit.show.coloured import highlight
from coursekit.show.drawn.drawings import arrows
from coursekit.show.html import visible

MOST_WEIGHTS = 2 ** 20              # of one layer: what goes to the browser at once is at most 2 MB
MOST_KEPT = 2 ** 14                 # of all layers: what a notebook keeps is at most 44 kB
KEPT = "application/vnd.coursekit.explorer+json"
_ARROWS_UP_TO = 40                  # tokens a side; longer texts fall back on coloured text


def attention_explorer(A: ArrayLike, tokens: Sequence[str], keys: Sequence[str] | None = None, layer=0,
                       heads: Sequence[int] | None = None, token: int | None = None) -> Any:
    """A widget that shows the attention of every layer and head: hover over a query, click to keep it.

    Lines are the mean of the heads that are switched on; the columns on the right show each head by itself. A click
    switches a head, a double click leaves that one alone. By keyboard: Tab to a button or the queries, then arrow keys.
    A: (L, K, T_q, T) or, of one layer, (K, T_q, T) weights, not negative. tokens: T_q strings, the queries; keys: T
    strings, the keys (`tokens` unless given). Layers, heads and tokens count from 0.
    The state can be read and set: `.layer`, `.heads` (a list of numbers), `.token` (the query that is looked at, None
    for all of them); `.static()` is the drawing of that state that a page without a kernel shows.
    Raises ValueError or TypeError, in one line, for shapes that do not fit, negative weights and more than 2²⁰ weights
    in a layer (16 heads of 256 tokens); traitlets.TraitError for a layer, head or token that is not there.

    >>> explorer = attention_explorer([[[0.9, 0.1], [0.2, 0.8]]], ["a", "b"])
    >>> explorer.heads, explorer.token
    ([0], None)
    >>> explorer.static()
    Layer 0, head 0: Attention from 2 queries to 2 keys. Largest weight of each query: a → a 0.90; b → b 0.80.
    """
    A, tokens, keys = attention_maps(A, tokens, keys)
    if A[0].size > MOST_WEIGHTS:
        raise ValueError(f"a layer of {A[0].size:,} weights is too much for the explorer (at most {MOST_WEIGHTS:,}): "
                         "take a shorter text, or fewer heads")
    heads = [*range(A.shape[1])] if heads is None else [*heads]
    return _widget_class()(A, tokens, keys, layer=layer, heads=heads, token=token)


def attention_maps(A, tokens, keys=None):
    """(A, tokens, keys) as an array (L, K, T_q, T) of weights and two lists of strings, or one clear line."""
    tokens = as_strings(tokens, "tokens")
    keys = tokens if keys is None else as_strings(keys, "keys")
    of_a_layer = (None, len(tokens), len(keys))
    A = as_weights(A, of_a_layer if np.ndim(A) == 3 else (None, *of_a_layer))
    return A if A.ndim == 4 else A[None], tokens, keys


@functools.cache
def _widget_class():
    """The widget, made when the first one is asked for: anywidget loads all of ipywidgets."""
    try:
        import anywidget
        from traitlets import CInt, Dict, List, TraitError, Unicode, default, observe, validate
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"attention_explorer needs {error.name}, which comes with the extra `lab` of this "
                                  "project: pip install -e '.[lab]'") from None

    class AttentionExplorer(anywidget.AnyWidget):
        _esm = resources.files(__package__).joinpath("explorer.js").read_text(encoding="utf-8")
        _css = resources.files(__package__).joinpath("explorer.css").read_text(encoding="utf-8")
        layer = CInt().tag(sync=True)
        heads = List(CInt()).tag(sync=True)
        token = CInt(None, allow_none=True).tag(sync=True)
        tokens = List(Unicode()).tag(sync=True)
        columns = List(Unicode()).tag(sync=True)                # the keys; `keys` is taken by ipywidgets
        shown = Dict().tag(sync=True)                           # one layer's weights, and how many there are of all

        def __init__(self, A, tokens, keys, **state):
            self._A, self._tokens, self._keys, self._largest = A, tokens, keys, float(A.max()) or 1.0
            super().__init__(tokens=[*map(visible, tokens)], columns=[*map(visible, keys)], **state)

        @validate("layer", "heads", "token")
        def _is_there(self, proposal):
            name, value = proposal["trait"].name, proposal["value"]
            n = {"layer": len(self._A), "heads": self._A.shape[1], "token": len(self._tokens)}[name]
            for i in value if name == "heads" else [value]:
                if i is not None and not 0 <= i < n:
                    raise TraitError(f"{name.removesuffix('s')} must be from 0 to {n - 1}, got {i}")
            if value == []:
                raise TraitError(f"heads must name at least one head from 0 to {n - 1}, got none")
            return sorted(set(value)) if name == "heads" else value

        @observe("layer")
        def _update(self, change):
            self.shown = self._pack()

        @default("shown")
        def _pack(self):
            L, K = self._A.shape[:2]
            return {"layer": self.layer, "L": L, "K": K, "largest": self._largest, "weights": self._weights(self.layer)}

        def _weights(self, layer):
            return np.round(self._A[layer] / self._largest * 65535).astype("<u2").tobytes()     # (K, T_q, T)

        def _saved_state(self):
            layers = [base64.b64encode(self._weights(layer)).decode() for layer in range(len(self._A))]
            state = {name: getattr(self, name) for name in ("tokens", "columns", "layer", "heads", "token")}
            return state | {"K": self._A.shape[1], "largest": self._largest, "layers": layers}

        def static(self):
            """The present state as a drawing: Html."""
            mean = self._A[self.layer, self.heads].mean(0)                                      # (T_q, T)
            listed = ", ".join(map(str, self.heads))
            many = "mean of all heads" if len(self.heads) == self._A.shape[1] else f"mean of heads {listed}"
            title = f"Layer {self.layer}, {many if len(self.heads) > 1 else 'head ' + listed}"
            if max(mean.shape) <= _ARROWS_UP_TO:
                rows = slice(None) if self.token is None else slice(self.token, self.token + 1)
                return arrows(mean[rows], self._tokens[rows], self._keys, title=title)
            if self.token is None:
                return highlight(self._keys, mean.mean(0), title=f"{title}, mean over queries")
            return highlight(self._keys, mean[self.token], title=f"{title}, from {self._tokens[self.token]}")

        def _repr_mimebundle_(self, **kwargs):
            (data, metadata), still = super()._repr_mimebundle_(**kwargs), self.static()
            state = {KEPT: self._saved_state()} if self._A.size <= MOST_KEPT else {}
            return data | state | {"text/html": still.html, "text/plain": still.text}, metadata

    return AttentionExplorer
