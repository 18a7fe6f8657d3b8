"""The three views of bertviz (Vig, 2019), drawn without a network.

bertviz writes its HTML into the notebook's own page and has that page fetch d3, jQuery and require.js from elsewhere.
Here a view is a page in a frame of its own: bertviz's scripts, and d3 and jQuery as two installed packages carry them,
all inside; the frame may fetch nothing and reach nothing outside itself, whatever its tokens say. Beside it goes a
picture of the view (stills.py), which a committed notebook and a page without scripts keep.
"""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import as_array, plural
from coursekit.show.html import Html, escape, visible

from .explorer import attention_maps
from .stills import head_still, model_still, neuron_still

MOST_LINES = 150_000                    # that a browser draws in a few seconds
MOST_NUMBERS = 1_000_000                # of one page: about 7 MB
STILL = "application/vnd.still+html"    # what tools/normalise.py keeps of a view that has a script

_SELECTS = {"head": ["Layer"], "model": [], "neuron": ["Layer", "Head"]}
_IDS = {"Layer": "layer", "Head": "att_head"}                               # as bertviz's scripts call them
INLINE = "script-src 'unsafe-inline';style-src 'unsafe-inline'"
_SHIM = "window.require={config(){}};window.requirejs=(names,run)=>run(window.jQuery,window.d3);"

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none';{inline}">
<style>html{{background:#fff;color:#111;color-scheme:light;font:15px Helvetica,Arial,sans-serif}}
body{{margin:12px;zoom:.9}}label{{margin-right:16px}}select{{font-size:14px}}#vis{{margin-top:10px}}</style></head>
<body><div id="view">{selects}<div id="vis"></div></div>{scripts}</body></html>"""


@dataclass(frozen=True, repr=False)
class View(Html):
    """A live view, and what draws the picture that stands in its place where no script runs."""

    still: Callable

    def _repr_mimebundle_(self, **kwargs):
        return {"text/html": self.html, "text/plain": self.text, STILL: self.still().html}


def bertviz_view(kind: str, A: ArrayLike, tokens: Sequence[str], columns: Sequence[str] | None = None,
                 queries: ArrayLike | None = None, keys: ArrayLike | None = None, layer=0, head=0, token=-1) -> Any:
    """bertviz's head, model or neuron view of attention weights, in a notebook and without a network.

    "head": a layer's heads, each a colour, as lines between two lists; click on a colour to switch that head off, hover
    over a token to see its lines. "model": every head of every layer at a glance; click on one. "neuron": how one
    head's weights come out of its queries and keys; hover over a token and click on its ⊕.
    A: (L, K, T_q, T) or, of one layer, (K, T_q, T) weights, not negative. tokens: T_q strings, the queries; columns:
    T strings, the keys, unless they are the same tokens ("head" and "model" show cross-attention so).
    queries, keys: (L, K, T, d_att) or (K, T, d_att), for "neuron" alone, which asks for them.
    layer, head: those that the view opens on. token: the query that the picture of the view shows as chosen; a
    committed notebook keeps this picture, and the view itself is drawn when the cell is run.
    Raises ValueError or TypeError, in one line, for another kind, shapes that do not fit, negative weights, a layer,
    head or token that is not there, or more than a browser draws; ModuleNotFoundError, which says what to install,
    where bertviz, d3 or jQuery is missing.

    >>> bertviz_view("head", [[[0.9, 0.1], [0.2, 0.8]]], ["good", "film"])
    bertviz's head view of 1 layer × 1 head over 2 tokens: run this cell to see it.
    """
    if kind not in _SELECTS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _SELECTS))}, got {kind!r}")
    if kind == "neuron" and columns is not None:
        raise ValueError("the neuron view shows self-attention: leave columns out, or ask for the head view")
    if (queries is not None or keys is not None) != (kind == "neuron") or (queries is None) != (keys is None):
        raise ValueError("the neuron view needs queries and keys, each (L, K, T, d_att), and the other views take none")
    A, tokens, columns = attention_maps(A, tokens, columns)
    L, K, T_q, T = A.shape
    for name, value, n in (("layer", layer, L), ("head", head, K), ("token", token, T_q)):
        if value not in range(-n, n):
            raise ValueError(f"{name} must be from {-n} to {n - 1}, got {value!r}")
    layer, head, token = layer % L, head % K, token % T_q
    n_lines = {"head": A[0].size, "model": A.size, "neuron": 5 * T_q * T}[kind]
    attention = {"attn": _rounded(A), "left_text": [*map(visible, tokens)], "right_text": [*map(visible, columns)]}
    params = {"attention": [attention], "default_filter": "0", "root_div_id": "view", "display_mode": "light",
              "include_layers": [*range(L)], "include_heads": [*range(K)], "total_heads": K,
              "layer": layer, "head": head, "heads": None}
    size, d, vectors = A.size, None, []
    if kind == "neuron":
        for name, values in (("queries", queries), ("keys", keys)):
            one_layer = L == 1 and np.ndim(values) == 3
            values = as_array(values, name, (K, T, d) if one_layer else (L, K, T, d))
            values = values.reshape(L, K, T, -1)
            attention[name], size, d = _rounded(values), size + values.size, values.shape[-1]
            vectors.append(values)
        params["bidirectional"] = bool(np.triu(A, 1).any())
    if n_lines > MOST_LINES or size > MOST_NUMBERS:
        raise ValueError(f"{n_lines:,} lines and {size:,} numbers are too much for a browser (at most {MOST_LINES:,} "
                         f"and {MOST_NUMBERS:,}): take a shorter text, or fewer layers or heads")
    text = f"bertviz's {kind} view of {plural(L, 'layer')} × {plural(K, 'head')} over {plural(T_q, 'token')}"
    name, place = visible(tokens[token]), f"layer {layer}, " + ("all heads" if kind == "head" else f"head {head}")
    title = f"bertviz's {kind} view" + (": every layer and head." if kind == "model" else f": {place}, from “{name}”.")
    still = {"head": functools.partial(head_still, A, tokens, columns, layer, token),
             "model": functools.partial(model_still, A, tokens, columns),
             "neuron": functools.partial(neuron_still, A, tokens, *vectors, layer, head, token)}[kind]
    return View(_frame(_page(kind, text, params), text, _height(kind, *A.shape)), f"{text}: run this cell to see it.",
                functools.partial(still, title))


def _rounded(values):
    return np.round(values, 4).tolist()


def _page(kind, title, params):
    """The page as a string: three scripts and the numbers that they draw."""
    view = _carried("bertviz", f"bertviz/{kind}_view.js")
    data = json.dumps(params).replace("<", "\\u003c")                       # no token ends the script that it stands in
    view = f"window.bertviz_params={data};" + view.replace("PYTHON_PARAMS", "window.bertviz_params")
    carried = [_carried("mpld3", "mpld3/js/d3.v5.min.js"),
               _carried("sphinxcontrib-jquery", "sphinxcontrib/jquery/jquery.js")]
    selects = "".join(f'<label>{name}: <select id="{_IDS[name]}"></select></label>' for name in _SELECTS[kind])
    scripts = "".join(f"<script>{script}</script>" for script in (*carried, _SHIM, view))
    return _PAGE.format(title=escape(title), inline=INLINE, selects=selects, scripts=scripts)


def _carried(package, path):
    """The text of a file of an installed package, which is not imported."""
    try:
        return distribution(package).locate_file(path).read_text(encoding="utf-8")
    except (PackageNotFoundError, FileNotFoundError):
        raise ModuleNotFoundError(f"bertviz_view needs {path} of the package {package}, which comes with the extra "
                                  "`lab` of this project: pip install -e '.[lab]'") from None


def _frame(page, title, height):
    """The page in a frame that may run its scripts and nothing else, at least 900 pixels wide: less than JupyterLab's
    column on a laptop. bertviz draws up to 970 of its own pixels, shown at nine tenths of their size."""
    source = page.replace("&", "&amp;").replace('"', "&quot;")
    return (f'<div style="min-width:900px"><iframe title="{escape(title)}" sandbox="allow-scripts" width="100%" '
            f'height="{height:.0f}" style="border:none;border-radius:4px;background:#fff" srcdoc="{source}"></iframe>'
            '</div>')


def _height(kind, L, K, T_q, T):
    """Pixels that the page is high, as bertviz computes them; it scrolls beyond 900."""
    T = max(T_q, T)
    inside = {"head": 22.5 * T + 70, "model": max(L * (84 / K * T + 10) + 38, 18 * T + 55), "neuron": 26 * T + 140}
    return min(900, 0.9 * (inside[kind] + 30))
