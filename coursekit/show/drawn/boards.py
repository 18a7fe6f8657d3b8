"""A computation as people draw it on a board: from left to right, columns of boxes and the lines between them."""

from collections.abc import Sequence

from coursekit.inputs import as_array, as_strings
from coursekit.show.html import Html, display_width, drawing, escape, visible

_ROW, _BOX, _BETWEEN = 36, 26, 54                       # pixels: a row, a box in it, the gap that the lines cross


def board(columns: Sequence[tuple], title: str | None = None) -> Html:
    """Columns of boxes under their headings, each column joined with the next one.

    columns: list of (heading, boxes) or (heading, boxes, weights), boxes a list of strings. Two columns with as many
    boxes are joined box by box; else every box of the one runs to every box of the other. weights (n,), not negative:
    how thick the line is that leaves each of the n boxes, beside the heaviest; all thin unless given.
    Raises TypeError or ValueError, in one line, for a column without boxes, for strings that are none, and for weights
    that do not fit.

    >>> board([("query", ["q"]), ("scores", ["2", "0"]), ("weights", ["0.9", "0.1"], [0.9, 0.1]), ("output", ["v"])])
    From left to right, query: q; scores: 2, 0; weights: 0.9, 0.1; output: v.
    """
    columns = [(*column, None)[:3] for column in columns]
    headings = [visible(heading) for heading in as_strings([column[0] for column in columns], "the headings")]
    boxes = [[visible(box) for box in as_strings(column[1], f"the boxes of {name!r}")]
             for column, name in zip(columns, headings, strict=True)]
    if not columns or not all(boxes):
        raise ValueError("board needs at least one column (heading, boxes), and each needs at least one box")
    weights = [[0.2] * len(names) if column[2] is None else _thickness(column[2], heading, len(names))
               for column, names, heading in zip(columns, boxes, headings, strict=True)]
    wide = [20 + 8 * max(map(display_width, (heading, *names))) for heading, names in zip(headings, boxes, strict=True)]
    left = [14 + sum(wide[:k]) + _BETWEEN * k for k in range(len(wide))]
    rows = max(map(len, boxes))
    heights = [[44 + _ROW * (i + 0.5 + (rows - len(names)) / 2) for i in range(len(names))] for names in boxes]
    lines, parts = [], []
    for k, names in enumerate(boxes):
        parts.append(_text(left[k] + wide[k] / 2, 24, headings[k], ' fill="#595959"'))
        parts += [f'<rect x="{left[k]}" y="{y - _BOX / 2}" width="{wide[k]}" height="{_BOX}" rx="6" fill="#e8f1f8" '
                  f'stroke="#0072b2"/>{_text(left[k] + wide[k] / 2, y + 5, name)}'
                  for name, y in zip(names, heights[k], strict=True)]
        for i, start in enumerate(heights[k] if k + 1 < len(boxes) else []):
            ends = heights[k + 1] if len(names) != len(boxes[k + 1]) else [heights[k + 1][i]]
            lines += [f'<path d="M{left[k] + wide[k]} {start}L{left[k + 1] - 2} {end}" '
                      f'stroke-width="{0.6 + 4 * weights[k][i]:.1f}"/>' for end in ends]
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left[-1] + wide[-1] + 14}" height="{56 + _ROW * rows}" '
           'font-size="14" font-family="sans-serif" fill="#111"><rect width="100%" height="100%" rx="4" fill="#fff"/>'
           f'<g stroke="#0072b2">{"".join(lines)}</g>{"".join(parts)}</svg>')
    listed = "; ".join(f"{heading}: {', '.join(names)}" for heading, names in zip(headings, boxes, strict=True))
    return drawing(svg, f"From left to right, {listed}.", title)


def _thickness(weights, heading, n):
    """Weights as shares of the largest, or one line for those that do not fit."""
    weights = as_array(weights, f"the weights of {heading!r}", (n,))
    if weights.min() < 0:
        raise ValueError(f"the weights of {heading!r} must not be negative, got {weights.min():.3g}")
    return weights / (weights.max() or 1)


def _text(x, y, words, style=""):
    return f'<text x="{x}" y="{y}" text-anchor="middle"{style}>{escape(words)}</text>'
