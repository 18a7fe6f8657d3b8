"""Bars and curves, each figure with alternative text.

matplotlib loads when one is drawn, not before. Colours are safe for the colour-blind, and hatches and dashes say the
same once more.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import as_array, as_strings, format_score, plural

from .html import Html, visible
from .pictures import BLUE, ORANGE, default_style, label_axis, new_figure, picture, titled

_DROPPED = "#d0d0d0"
_SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")      # Okabe & Ito (2008)
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


@default_style
def bars(labels: Sequence[str], values: ArrayLike, title: str | None = None, xlabel: str | None = None,
         kept: Sequence[bool] | None = None) -> Html:
    """A bar for each label, blue above zero, hatched orange-red below, its value at its end (signed if any is < 0).

    labels: n strings; values: (n,) numbers; `xlabel` names what is measured. They run from top to bottom.
    kept: (n,) booleans, if given: bars that are not kept are grey and dotted.
    Raises TypeError or ValueError, in one line, for lengths that differ, nothing to draw or values not finite.

    >>> bars(["good", "film"], [2, -0.5])
    Bar chart with 2 bars: good +2, film -0.5.
    """
    labels = as_strings(labels, "labels")
    values = as_array(values, "values", (len(labels),))
    if not labels:
        raise ValueError("bars needs at least one label and value, got none")
    kept = None if kept is None else as_array(kept, "kept", (len(labels),)).astype(bool)
    fig, ax = new_figure(5.5, max(1.6, 0.32 * len(labels) + 0.9))
    patches = ax.barh(np.arange(len(labels)), values, 0.72, edgecolor="white")
    for patch, value in zip(patches, values, strict=True):
        patch.set(facecolor=BLUE if value >= 0 else ORANGE, hatch="" if value >= 0 else "//")
    for i in [] if kept is None else np.flatnonzero(~kept):
        patches[i].set(facecolor=_DROPPED, hatch="...", edgecolor="#6e6e6e")
    written = [format_score(v) if values.min() < 0 else format_score(v).lstrip("+") for v in values]
    ax.bar_label(patches, written, padding=3, fontsize=8)
    ax.margins(x=0.15)
    ax.invert_yaxis()
    ax.axvline(0, color="#111", linewidth=0.8)
    ax.set_xlabel(xlabel or "")
    label_axis(ax.yaxis, labels)
    _quiet(ax)
    ax.set_title(title or "")
    named = [f"{visible(name)} {value}" for name, value in zip(labels, written, strict=True)]
    what = f" of {xlabel}" if xlabel else ""
    listed = ", ".join(named) if len(named) <= 20 else (
        f"largest {named[values.argmax()]}, smallest {named[values.argmin()]}")
    alt = f"Bar chart{what} with {plural(len(labels), 'bar')}: {listed}."
    if kept is not None:
        alt += f" Kept: {', '.join(visible(labels[i]) for i in np.flatnonzero(kept)) or 'none'}."
    return picture(fig, titled(title, alt))


@default_style
def lines(x: ArrayLike | None, series: Mapping[str, ArrayLike], xlabel: str, ylabel: str,
          title: str | None = None) -> Html:
    """Curves over a common x, told apart by colour and by dashes.

    x: (n,) numbers, or None for 0 … n−1. series: dict from a curve's name to its (n,) values.
    Raises TypeError or ValueError, in one line, for lengths that differ, nothing to draw or values not finite.

    >>> lines(None, {"loss": [3, 1, 2]}, "epoch", "nats")
    1 curve of nats over epoch from 0 to 2: loss goes from 3 to 2 (lowest 1, highest 3).
    """
    if not isinstance(series, dict) or not series:
        raise TypeError("series must be a dict with at least one curve: {name: values}")
    names = as_strings(series, "the names of the curves")
    if x is None:
        x = np.arange(len(as_array(series[names[0]], f"curve {names[0]!r}", (None,))))
    x = as_array(x, "x", (None,))
    if not len(x):
        raise ValueError("x must have at least one point, got none")
    curves = [as_array(series[name], f"curve {name!r}", (len(x),)) for name in names]
    fig, ax = new_figure(7.4 if len(names) > 1 else 5.6, 3.2)                     # room for the legend beside it
    for i, (name, y) in enumerate(zip(names, curves, strict=True)):
        ax.plot(x, y, color=_SERIES[i % 7], linestyle=_STYLES[i % 7], linewidth=1.8, label=visible(name).lstrip("_"),
                marker="o" if len(x) <= 20 else None, markersize=3.5)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.25)
    if len(names) > 1:
        for text in ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1)).get_texts():
            text.set_parse_math(False)
    _quiet(ax)
    ax.set_title(title or "")
    courses = "; ".join(f"{visible(name)} goes from {y[0]:.3g} to {y[-1]:.3g} (lowest {y.min():.3g}, "
                        f"highest {y.max():.3g})" for name, y in zip(names, curves, strict=True))
    alt = f"{plural(len(names), 'curve')} of {ylabel} over {xlabel} from {x[0]:.4g} to {x[-1]:.4g}: {courses}."
    return picture(fig, titled(title, alt))


@default_style
def plane(labels: Sequence[str], x: ArrayLike, y: ArrayLike, xlabel: str, ylabel: str,
          title: str | None = None) -> Html:
    """Words as points of a plane, triangles up where x ≥ 0 and down where x < 0, with their names where there is room.

    labels: n strings; those before have their names before those behind. x, y: (n,) numbers.
    Raises TypeError or ValueError, in one line, for lengths that differ, nothing to draw or values not finite.

    >>> plane(["good", "film"], [2, -0.5], [1, -1], "value", "importance")
    Plane of value and importance with 2 points: good (+2, +1), film (-0.5, -1).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    labels = as_strings(labels, "labels")
    x, y = (as_array(part, name, (len(labels),)) for part, name in ((x, "x"), (y, "y")))
    if not labels:
        raise ValueError("plane needs at least one point, got none")
    fig, ax = new_figure(6.4, 4.4)
    for side, colour, marker in ((x >= 0, BLUE, "^"), (x < 0, ORANGE, "v")):
        ax.scatter(x[side], y[side], 26, colour, marker=marker, edgecolors="white", linewidths=0.4)
    ax.axvline(0, color="#111", linewidth=0.8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.margins(0.12)
    ax.grid(alpha=0.25)
    _quiet(ax)
    ax.set_title(title or "")
    canvas, boxes = FigureCanvasAgg(fig), []
    canvas.draw()                                                                 # lays out: places in pixels are known
    for label, *place in zip(labels, x, y, strict=True):
        text = ax.annotate(visible(label), place, (4, 3), textcoords="offset points", fontsize=8, parse_math=False)
        box = text.get_window_extent(canvas.get_renderer())
        if any(box.overlaps(other) for other in boxes):
            text.remove()
        else:
            boxes.append(box)
    named = [f"{visible(label)} ({format_score(a)}, {format_score(b)})"
             for label, a, b in zip(labels, x, y, strict=True)]
    listed = ", ".join(named) if len(named) <= 20 else (
        f"largest {xlabel} {named[x.argmax()]}, smallest {named[x.argmin()]}, "
        f"largest {ylabel} {named[y.argmax()]}, smallest {named[y.argmin()]}")
    return picture(fig, titled(title, f"Plane of {xlabel} and {ylabel} with {plural(len(labels), 'point')}: {listed}."))


@default_style
def ranges(labels: Sequence[str], columns: Mapping[str, Sequence]) -> Html:
    """Means with their intervals: a row for each label, a panel for each column, all panels with the same rows.

    labels: n strings, from top to bottom. columns: dict from a panel's name to n triples (mean, low, high); where a
    mean is nan the row is empty there. The largest and the smallest mean of a panel are named in the alternative text.
    Raises TypeError or ValueError, in one line, for lengths that differ and nothing to draw.

    >>> ranges(["LIME", "random"], {"score": [(0.5, 0.4, 0.6), (0.1, 0.0, 0.2)]})
    Means and intervals of 2 rows in 1 panel. score: largest LIME 0.5 [0.4, 0.6], smallest random 0.1 [0, 0.2].
    """
    labels = as_strings(labels, "labels")
    if not labels or not isinstance(columns, dict) or not columns:
        raise TypeError("ranges needs at least one label, and columns as a dict {name: triples}")
    fig, axes = new_figure(1.6 + 1.5 * len(columns), 0.24 * len(labels) + 0.9, 1, len(columns))
    parts = []
    for ax, (name, triples) in zip(np.atleast_1d(axes), columns.items(), strict=True):
        if len(triples) != len(labels):
            raise ValueError(f"column {name!r} has {plural(len(triples), 'row')} for {plural(len(labels), 'label')}")
        triples = np.array(triples, float)                                        # (n, 3)
        rows = np.flatnonzero(~np.isnan(triples[:, 0]))
        mean, low, high = triples[rows].T
        ax.hlines(rows, low, high, color=BLUE, linewidth=2)
        ax.plot(mean, rows, "o", color=BLUE, markersize=4)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        label_axis(ax.yaxis, labels if ax is np.atleast_1d(axes)[0] else [""] * len(labels))
        ax.set_title(visible(name))
        ax.grid(alpha=0.25)
        _quiet(ax)
        ends = [(word, rows[place]) for word, place in (("largest", mean.argmax()), ("smallest", mean.argmin()))
                ] if len(rows) else []
        parts.append(f"{visible(name)}: " + (", ".join(
            f"{word} {visible(labels[i])} {triples[i, 0]:.3g} [{triples[i, 1]:.3g}, {triples[i, 2]:.3g}]"
            for word, i in ends) or "nothing known"))
    alt = f"Means and intervals of {plural(len(labels), 'row')} in {plural(len(columns), 'panel')}. {'; '.join(parts)}."
    return picture(fig, alt)


def _quiet(ax):
    ax.spines[["top", "right"]].set_visible(False)
