"""Explanations as coloured text: one of them (`highlight`), or several under one another (`compare`).

Positive scores are blue over a solid line, negative ones orange-red over a dashed line (two hues of the palette of
Okabe & Ito, 2008, that the colour-blind tell apart), the stronger the larger. The same stands in small figures behind
each token, from -9 to +9 (9 the strongest colour, no figure about zero), and the scores themselves in a list to unfold:
for print, for screen readers, for who cannot use a mouse, and for viewers that drop styles, as GitHub does.
Backgrounds are translucent and letters keep the page's colour, so the text reads on light and on dark themes. Every
style sits on its element and is one that JupyterLab keeps when it shows a notebook that nobody has trusted yet.
"""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from coursekit.inputs import as_scored, as_strings, format_score

from .html import Html, display_width, escape, visible

BLUE, ORANGE = (0, 114, 178), (213, 94, 0)
STRONGEST = 0.65            # opacity behind the largest score: letters keep a WCAG contrast above 4.5 on both themes
LEVELS = 9                  # small figures: the strongest colour
BAND = 78                   # letters per line of a `compare` table

_NOTE = "opacity:.75;font-size:85%"


def highlight(tokens: Sequence[str], scores: ArrayLike, title: str | None = None, scale: float | None = None) -> Html:
    """Tokens on the colour of their scores; hover over one, or unfold the list, to read its score.

    tokens: list of T strings, shown as they are (WordPiece's ##, GPT-2's Ġ and all). scores: (T,), any finite numbers.
    `scale`: the |score| that gets the strongest colour; the largest |score| of this call unless given. Give the same
    `scale` to several calls to compare them.
    Raises TypeError or ValueError, in one line, for tokens that are no list of strings, for lengths that differ, and
    for scores that are not finite.

    >>> highlight(["not", "a", "good", "film"], [-0.5, 0, 0.42, 0.031])
    not(-0.5) a(0) good(+0.42) film(+0.031)
    """
    tokens, scores = as_scored(tokens, scores)
    scale = _scale(scores, scale)
    text = flow(tokens, _with_scores(tokens, scores)) or "(no tokens)"
    head = ""
    if title is not None:
        text = f"{visible(title)}: {text}"
        head = (f'<div dir="auto" style="margin-bottom:2px"><b>{escape(title)}</b> '
                f'<span style="{_NOTE}">strongest colour, figure 9: ±{scale:.3g}</span></div>')
    listed = _listed([flow(tokens, _with_scores(tokens, scores))]) if tokens else ""
    return Html(f'<div style="margin:4px 0">{head}{paragraph(tokens, scores, scale)}{listed}</div>', text)


def compare(rows: Sequence[tuple]) -> Html:
    """Several explanations under one another, each on its own scale: colours compare tokens *within* a row.

    rows: list of (name, tokens, scores), scores (T,), or of Attributions. When all rows have the same tokens, each
    token gets a column, and long texts continue in further bands; otherwise each row is a paragraph of its own.
    Raises TypeError or ValueError, in one line, that names the row at fault.

    >>> compare([("gradient", ["good", "film"], [0.2, 0.1]), ("attention", ["good", "film"], [0.9, 0.1])])
    gradient   good(+0.2) film(+0.1)
    attention  good(+0.9) film(+0.1)
    """
    rows = [_row(i, row) for i, row in enumerate(rows)]
    if not rows:
        raise ValueError("compare needs at least one row (name, tokens, scores), got none")
    width = max(display_width(name) for name, _, _ in rows)
    text = "\n".join(name + " " * (width - display_width(name) + 2) + flow(tokens, _with_scores(tokens, scores))
                     for name, tokens, scores in rows)
    tokens = rows[0][1]
    if tokens and all(other == tokens for _, other, _ in rows):
        tables = [[(name, _cells(tokens, scores, start, stop)) for name, _, scores in rows]
                  for start, stop in _bands(tokens)]
    else:
        tables = [[(name, f'<td style="text-align:left">{paragraph(tokens, scores, _scale(scores))}</td>')
                   for name, tokens, scores in rows]]
    key = (f'<div style="font-size:85%;margin-top:4px">{_key(1)} {_key(-1)}; each row has its own scale, on which 9 is '
           'its strongest score</div>')
    listed = _listed([f"{name}: {flow(tokens, _with_scores(tokens, scores))}" for name, tokens, scores in rows])
    return Html(f'<div style="margin:4px 0">{"".join(map(_table, tables))}{key}{listed}</div>', text)


def tint(score, scale):
    """The CSS of one score: hue by its sign, opacity by |score| / scale (at most STRONGEST); nothing for zero."""
    strength = min(1.0, abs(score) / scale) if scale else 0.0
    if round(strength, 2) == 0:
        return ""
    red, green, blue = BLUE if score > 0 else ORANGE
    line = "solid" if score > 0 else "dashed"
    return (f"background:rgba({red},{green},{blue},{STRONGEST * strength:.2f});"
            f"border-bottom:2px {line} rgba({red},{green},{blue},{strength:.2f});")


def level(score, scale):
    """The small figure of one score: its sign and round(9 |score| / scale), at most 9; "" where that is 0.

    >>> level(0.5, 1.0), level(-2, 1.0), level(0.05, 1.0)
    ('+4', '-9', '')
    """
    n = round(LEVELS * min(1.0, abs(score) / scale)) if scale else 0
    return f"{'+' if score > 0 else '-'}{n}" if n else ""


def _marked(token, score, scale):
    figure = level(score, scale)
    return escape(token) + (f"<sub><small>{figure}</small></sub>" if figure else "")


def _with_scores(tokens, scores):
    return [f"{visible(t)}({format_score(s)})" for t, s in zip(tokens, scores, strict=True)]


def _listed(lines):
    lines = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f'<details style="{_NOTE}"><summary>scores</summary>{lines}</details>'


def _key(sign):
    return (f'<span style="{tint(sign, 1)}padding:0 3px">{"positive" if sign > 0 else "negative"}'
            f"<sub>{level(sign, 1)}</sub></span>")


def _row(i, row):
    if hasattr(row, "scores"):                                  # an Attribution, which is a sequence of its own
        row = row.title, row.tokens, row.scores
    try:
        name, tokens, scores = row
    except (TypeError, ValueError):
        raise ValueError(f"row {i} must be an Attribution, or a triple (name, tokens, scores)") from None
    name, = as_strings([name], f"the name of row {i}")
    try:
        return visible(name), *as_scored(tokens, scores)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {i} ({visible(name)}): {error}") from None


def _scale(scores, scale=None):
    if scale is None:
        return float(max(abs(scores), default=0.0))
    if not (isinstance(scale, (int, float)) and 0 < scale < math.inf):
        raise ValueError(f"scale must be a positive finite number (the |score| of the strongest colour), got {scale!r}")
    return float(scale)


def flow(tokens, parts):
    """Join what is shown of each token, with a space where the tokens themselves do not say where spaces are.

    They do say it if one of them contains a space or the mark that byte-pair (Ġ, Ċ) and unigram (▁) tokenizers write
    for one; WordPiece marks the pieces that go on (##).
    """
    if any(t[:1] in ("Ġ", "Ċ", "▁") or " " in t or "\n" in t for t in tokens):
        space = [""] * len(tokens)
    else:
        space = ["" if i == 0 or t.startswith("##") else " " for i, t in enumerate(tokens)]
    return "".join(s + t for s, t in zip(space, parts, strict=True))


def paragraph(tokens, scores, scale):
    """The tokens as running text in HTML, each on the colour of its score; `scale` has the strongest."""
    if not tokens:
        return f'<span style="{_NOTE}">(no tokens)</span>'
    parts = [f'<span title="{format_score(s)}" style="{tint(s, scale)}padding:1px">{_marked(t, s, scale)}</span>'
             + "<br>" * t.endswith(("\n", "Ċ")) for t, s in zip(tokens, scores, strict=True)]
    style = "line-height:1.9;white-space:pre-wrap;word-wrap:break-word"
    return f'<div dir="auto" style="{style}">{flow(tokens, parts)}</div>'


def _bands(tokens):
    """(start, stop) of each stretch of tokens that fits into one line of BAND letters."""
    start, used = 0, 0
    for i, token in enumerate(tokens):
        width = display_width(visible(token)) + 3               # a figure and a gap behind each
        if i > start and used + width > BAND:
            yield start, i
            start, used = i, 0
        used += width
    yield start, len(tokens)


def _cells(tokens, scores, start, stop):
    scale, style = _scale(scores), "text-align:center;white-space:pre;padding:2px 4px"
    return "".join(f'<td title="{format_score(s)}" style="{tint(s, scale)}{style}">{_marked(t, s, scale)}</td>'
                   for t, s in zip(tokens[start:stop], scores[start:stop], strict=True))


def _table(lines):
    body = "".join('<tr style="background:transparent"><th scope="row" style="text-align:right;font-weight:600;'
                   f'white-space:nowrap;padding:2px 12px 2px 0">{escape(name)}</th>{cells}</tr>'
                   for name, cells in lines)
    return ('<table style="border-collapse:separate;border-spacing:2px 3px;border:none;font-size:100%;margin:4px 0">'
            f'<tbody>{body}</tbody></table>')
