"""Attention maps, maps of needs and positions as coloured squares, each figure with alternative text.

matplotlib loads when one is drawn, not before.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from coursekit.inputs import as_array, as_strings, as_weights, plural

from .html import Html, visible
from .pictures import BLUE, ORANGE, default_style, label_axis, new_figure, picture, titled

_MASKED = "#e6e6e6"
_WRITE_UP_TO = 12           # tokens a side: larger attention maps go without numbers in their cells
_WIDEST = 5.5               # inches of a map's columns: with its labels it is about 800 pixels wide


@default_style
def heatmap(A: ArrayLike, tokens: Sequence[str], columns: Sequence[str] | None = None, title: str | None = None,
            mask: ArrayLike | None = None, ylabel="query (from)", xlabel="key (to)", label: str | None = None) -> Html:
    """An attention matrix: a row for each query (from), a column for each key (to), the darker the heavier.

    A: (T_q, T) weights. tokens: T_q strings, the queries; columns: T strings, the keys (`tokens` unless given).
    mask: (T_q, T) booleans, True where attention is allowed; unless given, a square A with nothing but zeros above its
    diagonal counts as causally masked. Masked cells are grey and hatched. Up to 12 tokens, weights stand in the cells.
    Negative entries (raw scores) get a scale of two hues around zero. ylabel and xlabel say what rows and columns are,
    label what the entries are ("attention weight", or "score" if any is negative).
    Raises TypeError or ValueError, in one line, for shapes that do not fit or entries that are not finite.

    >>> heatmap([[0.9, 0.1]], ["good"], ["good", "film"])
    Heat map of 1 row, query (from), by 2 columns, key (to). Largest entries: good → good 0.90; good → film 0.10.
    """
    tokens = as_strings(tokens, "tokens")
    columns = tokens if columns is None else as_strings(columns, "columns")
    A = as_array(A, "A", (len(tokens), len(columns)))
    if not A.size:
        raise ValueError(f"A must have at least one row and one column, got shape {A.shape}")
    allowed = _causal(A) if mask is None else as_array(mask, "mask", A.shape).astype(bool)
    if not allowed.any():
        raise ValueError("mask must allow at least one cell (True = may attend), got none")
    roomy = max(A.shape) <= _WRITE_UP_TO
    side, fontsize = (0.55, 9) if roomy else (0.2, 8) if max(A.shape) <= 40 else (0.12, 6)
    side = max(min(side, _WIDEST / len(columns)), 0.6 * side)
    fig, ax = new_figure(side * len(columns) + 2.2, side * len(tokens) + 1.2)
    image = _map(ax, A, allowed, 0 if A.min() >= 0 else -abs(A).max(), abs(A).max() or 1)
    _token_axes(ax, tokens, columns, fontsize, upright=6 if roomy else 2)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title or "")
    label = label or ("attention weight" if A.min() >= 0 else "score")
    fig.colorbar(image, ax=ax, label=label, fraction=0.05)
    if roomy:
        _write(ax, image, A, allowed)
    gone = (~allowed).sum()
    masked = f" {plural(gone, 'cell')} {'is' if gone == 1 else 'are'} masked." if gone else ""
    alt = (f"Heat map of {plural(len(tokens), 'row')}, {ylabel}, by {plural(len(columns), 'column')}, {xlabel}."
           f"{masked} Largest entries: {_largest(A, allowed, tokens, columns)}.")
    return picture(fig, titled(title, alt))


@default_style
def looks_and_needs(looks: ArrayLike, needs: ArrayLike, tokens: Sequence[str], columns: Sequence[str] | None = None,
                    title: str | None = None, names: Sequence[str] = ("looks", "needs")) -> Html:
    """Two maps of the same rows and columns side by side: where a model looks, and which of these looks it needs.

    looks: (T_q, T) weights. needs: (T_q, T) numbers: what row s loses if its look at column t alone is taken away; a
    negative one, if it gains. tokens: T_q strings, the rows; columns: T strings (`tokens` unless given). Each map has a
    scale of its own; what rounds to zero is not written. names: what the two are called, where they are something else.
    Raises TypeError or ValueError, in one line, for shapes that do not fit or entries that are not finite.

    >>> looks_and_needs([[0.9, 0.1]], [[0.2, 0.0]], ["lune"], ["moon", "the"])
    Two maps of 1 row by 2 columns. Largest looks: lune → moon 0.90; lune → the 0.10. \
Largest needs: lune → moon 0.20; lune → the 0.00.
    """
    tokens = as_strings(tokens, "tokens")
    columns = tokens if columns is None else as_strings(columns, "columns")
    maps = {name: as_array(A, name, (len(tokens), len(columns))) for name, A in (("looks", looks), ("needs", needs))}
    if not maps["looks"].size:
        raise ValueError("looks must have at least one row and one column")
    side = max(0.27, min(0.4, 3 / len(columns)))
    fig, axes = new_figure(2 * side * len(columns) + 1.4, side * len(tokens) + 1.1, 1, 2)
    alt = f"Two maps of {plural(len(tokens), 'row')} by {plural(len(columns), 'column')}."
    for ax, (role, A), name in zip(axes, maps.items(), as_strings(names, "names"), strict=True):
        allowed = np.ones(A.shape, bool)
        _write(ax, _map(ax, A, allowed, 0 if A.min() >= 0 else -abs(A).max(), abs(A).max() or 1), A, abs(A) >= 0.005)
        _token_axes(ax, tokens if role == "looks" else [], columns, 9, upright=2)
        ax.set_title(name)
        alt += f" Largest {name}: {_largest(A, allowed, tokens, columns, 5)}."
    fig.suptitle(title or "")
    return picture(fig, titled(title, alt))


@default_style
def head_grid(A: ArrayLike, tokens: Sequence[str], title: str | None = None) -> Html:
    """The attention maps of several heads side by side on one colour scale; layers, if any, are rows.

    A: (K, T, T) or (L, K, T, T) weights, not negative. tokens: T strings. Layers and heads count from 0, as in A[l, k].
    Raises TypeError or ValueError, in one line, for shapes that do not fit, negative weights or entries not finite.

    >>> head_grid([[[0.9, 0.1], [0.2, 0.8]]], ["good", "film"])
    Attention maps of 1 head over 2 tokens. Largest entries: head 0: good → good 0.90.
    """
    tokens = as_strings(tokens, "tokens")
    T, dimensions = len(tokens), np.ndim(A)
    if dimensions not in (3, 4):
        raise ValueError(f"A must have shape (K, T, T) or (L, K, T, T), got {dimensions} dimensions")
    A = as_weights(A, (None,) * (dimensions - 2) + (T, T))
    maps, L, K = A.reshape(-1, *A.shape[-2:]), len(A) if dimensions == 4 else 1, A.shape[-3]
    names = [f"layer {i // K}, head {i % K}" if dimensions == 4 else f"head {i}" for i in range(L * K)]
    across = K if dimensions == 4 else min(K, 4 if T <= 10 else 3)                 # the words of a row need room
    down = -(-len(maps) // across)
    labelled = T <= 16
    side = max(0.7, min(2.4, 0.19 * T + 0.5, 6.1 / across))
    fig, axes = new_figure(side * across + 1.5, side * down + 0.9, down, across)
    axes = np.atleast_1d(axes)
    for i, ax in enumerate(axes):
        ax.set_visible(i < len(maps))
        if i < len(maps):
            image = _map(ax, maps[i], _causal(maps[i]), 0, A.max() or 1)
            show_rows, show_columns = labelled and i % across == 0, labelled and i + across >= len(maps)
            _token_axes(ax, tokens if show_rows else [], tokens if show_columns else [], fontsize=7, upright=2)
            ax.set_title(names[i] if side > 1.2 else names[i].replace("layer ", "").replace(", head ", "·"), fontsize=8)
    fig.supxlabel("key (to)", fontsize=9)
    fig.supylabel("query (from)", fontsize=9)
    fig.colorbar(image, ax=list(axes), label="attention weight", fraction=0.04, aspect=30)
    if title is not None:
        fig.suptitle(title)
    heads = sorted(range(len(maps)), key=lambda i: -maps[i].max())[:4]
    best = "; ".join(f"{names[i]}: {_largest(maps[i], _causal(maps[i]), tokens, tokens, 1)}" for i in heads)
    layers = (f"{plural(L, 'layer')} of " if dimensions == 4 else "") + plural(K, "head")
    alt = titled(title, f"Attention maps of {layers} over {T} tokens. Largest entries: {best}.")
    return picture(fig, alt, shrink=len(maps) < 4)              # many maps are unreadable at the width of a telephone


@default_style
def positions(P: ArrayLike, title: str | None = None) -> Html:
    """Positional encodings: a row for each position, a column for each dimension, two hues around zero.

    P: (T, d) finite numbers. Raises ValueError, in one line, for anything else.

    >>> positions([[0, 1], [0.84, 0.54], [0.91, -0.42]])
    Heat map of positional encodings, 3 positions by 2 dimensions, values from -0.42 to 1.
    """
    P = as_array(P, "P", (None, None))
    if not P.size:
        raise ValueError(f"P must have at least one position and one dimension, got shape {P.shape}")
    bound = abs(P).max() or 1
    fig, ax = new_figure(6.0, 3.4)
    image = ax.imshow(P, aspect="auto", cmap=_diverging(), vmin=-bound, vmax=bound, interpolation="nearest")
    ax.set(xlabel="dimension", ylabel="position")
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    fig.colorbar(image, ax=ax, label="value", fraction=0.05)
    ax.set_title(title or "")
    alt = (f"Heat map of positional encodings, {plural(P.shape[0], 'position')} by {plural(P.shape[1], 'dimension')}, "
           f"values from {P.min():.3g} to {P.max():.3g}.")
    return picture(fig, titled(title, alt))


def _map(ax, A, allowed, low, high):
    """One attention map (T_q, T) on `ax`: white to dark blue, or two hues around zero; masked cells grey, hatched."""
    image = ax.imshow(np.ma.masked_array(A, ~allowed), cmap="Blues" if low == 0 else _diverging(), vmin=low, vmax=high,
                      interpolation="nearest")
    if not allowed.all():
        ax.set_facecolor(_MASKED)
        ax.patch.set(hatch="////", edgecolor="#bbb")
    return image


def _write(ax, image, A, where):
    """The entries of A (T_q, T) in their cells, where `where` is True."""
    for i, j in np.argwhere(where):
        dark = _luminance(image.to_rgba(A[i, j])[:3]) < 0.19            # where white and #111 contrast equally
        ax.text(j, i, f"{A[i, j]:.{_decimals(A)}f}", ha="center", va="center", fontsize=8,
                color="white" if dark else "#111")


def _diverging():
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("signed", ["#8c3b00", ORANGE, "#ffffff", BLUE, "#00406b"])


def _causal(A):
    """Where attention is allowed: at and below the diagonal if A is square with nothing but zeros above it."""
    above = np.triu(np.ones(A.shape, bool), 1)
    causal = A.shape[0] == A.shape[1] > 1 and not A[above].any() and A.any()
    return ~above if causal else np.ones(A.shape, bool)


def _luminance(rgb):
    """Relative luminance of an sRGB colour in [0, 1] (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def _token_axes(ax, tokens, columns, fontsize, upright):
    ax.tick_params(length=0)
    label_axis(ax.yaxis, tokens, fontsize)
    label_axis(ax.xaxis, columns, fontsize, upright)


def _largest(A, allowed, tokens, columns, n=3):
    """The n largest allowed entries of A in words: "not → good 0.83; …"."""
    cells = sorted(map(tuple, np.argwhere(allowed)), key=lambda cell: -A[cell])[:n]
    return "; ".join(f"{visible(tokens[i])} → {visible(columns[j])} {A[i, j]:.{_decimals(A)}f}" for i, j in cells)


def _decimals(A):
    """Two decimals, or three if A holds nothing but small weights."""
    return 2 if abs(A).max() >= 0.1 else 3
