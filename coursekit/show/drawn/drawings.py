"""Drawings that need no plotting library: a text cut into tokens, and attention as lines between two lists."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import as_array, as_strings, as_weights, plural
from coursekit.show.html import Html, display_width, drawing, escape, visible

_TINTS = ("rgba(0,114,178,.3)", "rgba(230,159,0,.35)")          # two neighbours never share a colour
_FAINT = 0.03                                                   # of the largest weight; fainter lines are not drawn


def token_boxes(rows: Sequence[tuple]) -> Html:
    """The same text cut up by several tokenizers: a row each, every piece in a box, its id underneath.

    rows: list of (name, tokens) or (name, tokens, ids), ids (T,) integers. A space at an end of a piece is drawn as ␣.
    Raises TypeError or ValueError, in one line, that names the row at fault.

    >>> token_boxes([("letters", ["l", "o", "w"], [12, 15, 23]), ("words", ["low"])])
    letters  3 tokens  l·12 | o·15 | w·23
    words    1 token   low
    """
    rows = [_boxes_row(i, row) for i, row in enumerate(rows)]
    if not rows:
        raise ValueError("token_boxes needs at least one row (name, tokens) or (name, tokens, ids), got none")
    width = max(display_width(name) for name, _, _ in rows)
    counts = [plural(len(tokens), "token") for _, tokens, _ in rows]
    text, body = [], []
    for (name, tokens, ids), count in zip(rows, counts, strict=True):
        pieces = [_spaces(t) for t in tokens]
        marks = [f"·{i}" for i in ids] if ids else [""] * len(tokens)
        text.append(name + " " * (width - display_width(name)) + f"  {count:<{max(map(len, counts))}}  "
                    + " | ".join(p + m for p, m in zip(pieces, marks, strict=True)))
        boxes = "".join(_box(k, piece, ids[k] if ids else None) for k, piece in enumerate(pieces))
        body.append(
            '<tr style="background:transparent"><th scope="row" style="text-align:right;white-space:nowrap;'
            f'vertical-align:middle;padding:4px 12px 4px 0">{escape(name)}<br><span style="font-weight:400;opacity:.75;'
            f'font-size:85%">{count}</span></th><td style="text-align:left;padding:4px 0"><div dir="auto">{boxes}</div>'
            '</td></tr>')
    return Html('<table style="border:none;font-size:100%;margin:4px 0"><tbody>' + "".join(body) + "</tbody></table>",
                "\n".join(line.rstrip() for line in text))


def _boxes_row(i, row):
    if not isinstance(row, (tuple, list)) or len(row) not in (2, 3):
        raise ValueError(f"row {i} must be (name, tokens) or (name, tokens, ids)")
    name, = as_strings([row[0]], f"the name of row {i}")
    tokens = as_strings(row[1], f"the tokens of row {i} ({visible(name)})")
    if len(row) == 2 or row[2] is None:
        return visible(name), tokens, None
    ids = as_array(row[2], f"the ids of row {i} ({visible(name)})", (len(tokens),))
    if (ids != ids.round()).any():
        raise ValueError(f"the ids of row {i} ({visible(name)}) must be whole numbers")
    return visible(name), tokens, [int(x) for x in ids]


def _spaces(token):
    """The piece with the spaces at its ends drawn: " low" → "␣low"."""
    inner = token.strip(" ")
    left = len(token) - len(token.lstrip(" "))
    return visible("␣" * left + inner + "␣" * (len(token) - left - len(inner)))


def _box(k, piece, number):
    below = "" if number is None else f'<span style="display:block;font-size:75%;opacity:.8">{number}</span>'
    return (f'<span style="display:inline-block;text-align:center;vertical-align:top;line-height:1.35;margin:1px;'
            f'padding:1px 5px;border-radius:4px;background:{_TINTS[k % 2]}">'
            f'<code style="background:transparent;color:inherit">{escape(piece) or "&nbsp;"}</code>{below}</span>')


def arrows(A: ArrayLike, queries: Sequence[str], keys: Sequence[str] | None = None, title: str | None = None) -> Html:
    """Attention as lines from each query (left) to the keys (right) that it attends to: the darker the heavier.

    A: (T_q, T) non-negative weights. queries: T_q strings; keys: T strings, the queries unless given. Lines below
    3 % of the largest weight are left out.
    The drawing is an SVG image on a white ground of its own with alternative text: that is what JupyterLab keeps of a
    notebook that nobody has trusted yet (it drops inline SVG).
    Raises TypeError or ValueError, in one line, for shapes that do not fit and for negative weights.

    >>> arrows([[0.9, 0.1], [0.5, 0.5]], ["le", "chat"], ["the", "cat"])
    Attention from 2 queries to 2 keys. Largest weight of each query: le → the 0.90; chat → the 0.50.
    """
    queries = as_strings(queries, "queries")
    keys = queries if keys is None else as_strings(keys, "keys")
    A = as_weights(A, (len(queries), len(keys)))
    queries, keys = [_spaces(q) for q in queries], [_spaces(k) for k in keys]
    left, right, gap = _column(queries), _column(keys), 190
    start, stop = _heights(len(queries), len(keys)), _heights(len(keys), len(queries))
    width, height = left + gap + right, 42 + 24 * max(len(queries), len(keys))
    strokes = "".join(
        f'<path d="M{left:.0f} {start[i]:.0f}L{left + gap:.0f} {stop[j]:.0f}" '
        f'stroke-width="{0.5 + 3 * w:.1f}" opacity="{0.1 + 0.9 * w:.2f}"/>'
        for (i, j), w in sorted(np.ndenumerate(A / (A.max() or 1)), key=lambda entry: entry[1]) if w >= _FAINT)
    words = "".join(f'<text x="{left - 8:.0f}" y="{start[i] + 5:.0f}" text-anchor="end">{escape(q)}</text>'
                    for i, q in enumerate(queries))
    words += "".join(f'<text x="{left + gap + 8:.0f}" y="{stop[j] + 5:.0f}">{escape(k)}</text>'
                     for j, k in enumerate(keys))
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-size="14" '
           f'font-family="sans-serif" fill="#111"><rect width="100%" height="100%" rx="4" fill="#fff"/>'
           f'<g font-size="12" fill="#595959"><text x="{left - 8:.0f}" y="20" text-anchor="end">queries</text>'
           f'<text x="{left + gap + 8:.0f}" y="20">keys</text></g><g stroke="#0072b2">{strokes}</g>{words}</svg>')
    largest = "; ".join(f"{q} → {keys[row.argmax()]} {row.max():.2f}" for q, row in zip(queries, A, strict=True))
    alt = f"Attention from {plural(len(queries), 'query')} to {plural(len(keys), 'key')}. "
    return drawing(svg, f"{alt}Largest weight of each query: {largest}.", title)


def _column(words):
    """The width in pixels that a column of words at 14 px needs."""
    return 20 + 8.5 * max(len("queries"), *map(display_width, words))


def _heights(n, other):
    """Where n words stand, 24 px apart, centred beside a column of `other` words."""
    return 34 + 24 * (np.arange(n) + 0.5 + max(0, other - n) / 2)
