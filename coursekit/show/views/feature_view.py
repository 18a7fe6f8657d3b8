"""Features as a table: how active each one is, where it is most active, which words it raises and lowers."""

from collections.abc import Mapping

import numpy as np

from coursekit.inputs import as_array, as_scored, as_strings, format_score, plural
from coursekit.show.coloured import flow, paragraph
from coursekit.show.html import Html, drawing, escape, heading, visible

BINS, WIDTH, HEIGHT = 20, 120, 44                               # of a histogram; pixels
AROUND = 10                                                     # tokens on each side of a context's strongest


def features(rows: Mapping[str, tuple], words=(), n=5, title: str | None = None) -> Html:
    """A row for each feature: a histogram of its activations, its top contexts with the tokens lit, its words.

    rows: dict from a feature's name to (activations, contexts, effects). activations: (N,) numbers, one for
    each token that was looked at; contexts: a list of (tokens, scores), one score a token, of which ten tokens
    on each side of the strongest are shown, coloured as by `highlight`; effects: (D,) what the feature adds to the
    logit of each of `words`, D strings, of which the n highest and lowest are shown, or None.
    The histogram is of the activations above 0, an image that is told in words beside it.
    Raises TypeError or ValueError, in one line, for what does not fit.

    >>> features({"f7": ([0, 0, 2, 1], [(["a", "fine", "film"], [0, 2, 1])], [1, -1])}, words=["good", "bad"], n=1)
    f7: active on 2 of 4 tokens, mean 1.5, largest 2
      a fine(+2) film
      raises good +1; lowers bad -1
    """
    words = as_strings(words, "words")
    text_lines, body = [], ""
    for name, (activations, contexts, effects) in rows.items():
        name, activations = visible(name), as_array(activations, f"the activations of {name!r}", (None,))
        contexts = [_cut(*as_scored(tokens, scores)) for tokens, scores in contexts]
        effects = None if effects is None else as_array(effects, f"the effects of {name!r}", (len(words),))
        image, summary = _histogram(activations)
        lines = [flow(tokens, [f"{visible(token)}({format_score(score)})" if i == scores.argmax() else visible(token)
                               for i, (token, score) in enumerate(zip(tokens, scores, strict=True))])
                 for tokens, scores in contexts]
        pushed = [] if effects is None else _pushed(words, effects, n)
        text_lines += [f"{name}: {summary}", *(f"  {line}" for line in lines + ["; ".join(pushed)] if line)]
        scale = max((scores.max() for _, scores in contexts), default=0)
        left, rule = 'style="text-align:left;vertical-align:top"', "border-bottom:1px solid rgba(128,128,128,.4)"
        lit = "".join(f'<div style="{rule}">{paragraph(tokens, scores, scale)}</div>' for tokens, scores in contexts)
        body += (f'<tr style="background:transparent"><th scope="row" {left}>{escape(name)}<div '
                 f'style="font-weight:normal">{image}<br>{escape(summary)}</div></th><td {left}>{lit}</td>'
                 f'<td {left}>{"".join(f"<div>{escape(line)}</div>" for line in pushed) or "–"}</td></tr>')
    columns = "".join(f'<th scope="col" style="text-align:left">{column}</th>'
                      for column in ("feature", "where it is most active", "logits"))
    return Html(f'{heading(title)}<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>',
                "\n".join(([] if title is None else [visible(title)]) + text_lines))


def _cut(tokens, scores):
    """What stands around the strongest token, with "…" for what does not."""
    if not tokens:
        raise ValueError("a context needs at least one token, got none")
    top = int(scores.argmax())
    start, stop = max(0, top - AROUND), top + AROUND + 1
    before, after = ["…"] * (start > 0), ["…"] * (stop < len(tokens))
    return before + tokens[start:stop] + after, np.pad(scores[start:stop], (len(before), len(after)))


def _histogram(activations):
    """(an image of the activations above 0, the same in words)."""
    active = activations[activations > 0]
    if not len(active):
        return "", f"active on none of {plural(len(activations), 'token')}"
    summary = (f"active on {len(active)} of {plural(len(activations), 'token')}, mean {active.mean():.3g}, "
               f"largest {active.max():.3g}")
    heights = np.histogram(active, BINS, (0, active.max()))[0]
    bars = "".join(f'<rect x="{i * WIDTH / BINS + 1:g}" y="{HEIGHT - height:.1f}" width="{WIDTH / BINS - 1:g}" '
                   f'height="{height:.1f}"/>' for i, height in enumerate(heights / heights.max() * (HEIGHT - 4)))
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + 2}"><rect width="100%" '
           f'height="100%" rx="4" fill="#fff"/><g fill="#0072b2">{bars}</g></svg>')
    return drawing(svg, f"Histogram of the activations above 0: {summary}.").html, summary


def _pushed(words, effects, n):
    """The n words that gain most, and those that lose most, as two lines."""
    order = effects.argsort()
    return [f"{verb} " + ", ".join(f"{visible(words[i])} {format_score(effects[i])}" for i in chosen)
            for verb, chosen in (("raises", order[::-1][:n]), ("lowers", order[:n]))]
