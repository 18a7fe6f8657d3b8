"""Pictures of bertviz's three views, drawn by matplotlib: what a page without a browser's scripts shows in their place.

Each is one state of the live view: the head view with the pointer on one token, the model view as it opens, the neuron
view with one token unfolded. The colours of heads and layers are bertviz's order; numbers say what colours say.
"""

import numpy as np

from coursekit.show.html import visible
from coursekit.show.pictures import default_style, new_figure, picture

_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
            "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
_FAINT = 0.02                                                   # fainter lines are not drawn


@default_style
def head_still(A, tokens, columns, layer, token, title):
    """One layer's heads over one token: lines to what each head looks at, and its weight as a shade beside that word.

    A: (L, K, T_q, T) weights; tokens: T_q strings; columns: T strings; layer and token count from 0.
    """
    maps, K, T = A[layer], A.shape[1], max(len(tokens), len(columns))
    fig, ax = new_figure(6.4, 0.24 * T + 1.0)
    left, right, box = 0.0, 3.0, 0.32
    for k in range(K):
        ax.add_patch(_square(right + box * k, -1.6, box * 0.9, 0.9, _COLOURS[k % 10], 1))
        ax.text(right + box * (k + 0.45), -1.15, str(k), color="white", ha="center", va="center", fontsize=8)
        for t, weight in enumerate(maps[k, token]):
            ax.add_patch(_square(right + box * k, t - 0.45, box * 0.9, 0.9, _COLOURS[k % 10], float(weight)))
            if weight >= 0.095:
                ax.text(right + box * (k + 0.45), t, f"{weight:.2f}".lstrip("0"), ha="center", va="center", fontsize=7)
            if weight >= _FAINT:
                ax.plot([left, right], [token, t], color=_COLOURS[k % 10], alpha=float(weight), linewidth=2)
    ax.text(right - 0.08, -1.15, "head", ha="right", va="center", fontsize=8)
    for s, word in enumerate(tokens):
        _word(ax, left - 0.08, s, word, ha="right", weight="bold" if s == token else "normal")
    for t, word in enumerate(columns):
        _word(ax, right + box * K + 0.08, t, word, ha="left")
    ax.set(xlim=(-1.4, right + box * K + 1.4), ylim=(T - 0.4, -1.8))
    ax.axis("off")
    ax.set_title(title)
    tops = "; ".join(f"head {k}: {visible(columns[row.argmax()])} {row.max():.2f}"
                     for k, row in enumerate(maps[:, token]))
    return picture(fig, f"{title} Largest weight of each head: {tops}.")


@default_style
def model_still(A, tokens, columns, title):
    """All heads as thumbnails of lines, a row for each layer, a column for each head of it; A (L, K, T_q, T)."""
    from matplotlib.collections import LineCollection

    L, K, T_q, T = A.shape
    fig, axes = new_figure(min(9, 1.5 * K + 0.6), min(9, 1.25 * L + 0.6), L, K)
    for i, ax in enumerate(np.atleast_1d(axes)):
        (l, k), weights = divmod(i, K), A[i // K, i % K]
        pairs = np.argwhere(weights >= _FAINT)
        ax.add_collection(LineCollection([[(0, s), (1, t)] for s, t in pairs], colors=_COLOURS[l % 10], linewidths=1,
                                         alpha=[float(weights[s, t]) for s, t in pairs]))
        ax.set(xlim=(-0.05, 1.05), ylim=(max(T_q, T) - 0.5, -0.5), xticks=[], yticks=[])
        if l == 0:
            ax.set_title(f"head {k}", fontsize=8)
        if k == 0:
            ax.set_ylabel(f"layer {l}", fontsize=8)
    fig.suptitle(title)
    best = sorted(np.ndindex(L, K), key=lambda at: -A[at].max(-1).mean())[:3]
    alt = (f"{title} Lines from the token that asks (left) to the one that is looked at (right). The largest weights "
           f"on average are those of {'; '.join(f'layer {l}, head {k}' for l, k in best)}.")
    return picture(fig, alt, shrink=K < 4)


@default_style
def neuron_still(A, tokens, queries, keys, layer, head, token, title):
    """One head over one token: its query, every key, their products number by number, the sums, and their softmax.

    A: (L, K, T, T); queries, keys: (L, K, T, d_att); tokens: T strings; layer, head and token count from 0.
    """
    q, k, weights = queries[layer, head, token], keys[layer, head], A[layer, head, token]
    seen = weights > 0
    products = np.where(seen[:, None], q * k, np.nan)
    panels = [("query q", np.where(np.arange(len(tokens))[:, None] == token, q, np.nan)),
              ("key k", np.where(seen[:, None], k, np.nan)), ("q × k, one by one", products)]
    fig, axes = new_figure(7.7, 0.22 * len(tokens) + 0.9, 1, 5)
    for ax, (name, values) in zip(axes[:3], panels, strict=True):
        bound = np.nanmax(abs(values)) or 1
        ax.imshow(values, aspect="auto", cmap="PuOr", vmin=-bound, vmax=bound, interpolation="nearest")
        ax.set_title(name, fontsize=9)
    sums = np.where(seen, k @ q, 0)
    for ax, name, values in zip(axes[3:], ("q · k, the sum", "softmax"), (sums, weights), strict=True):
        ax.barh(range(len(tokens)), values, color="#1f77b4")
        span = max(abs(values).max(), 1e-9)
        ax.set(xlim=(min(0, values.min()) - 0.1 * span, values.max() + 0.6 * span), ylim=(len(tokens) - 0.5, -0.5))
        ax.set_title(name, fontsize=9)
        for t, value in enumerate(values):
            if seen[t]:
                ax.text(max(value, 0), t, f" {value:.2f}", va="center", fontsize=7)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for s, word in enumerate(tokens):
        _word(axes[0], -0.6, s, word, ha="right", weight="bold" if s == token else "normal")
    fig.suptitle(f"{title} Purple: positive; orange: negative.")
    top = int(weights.argmax())
    return picture(fig, f"{title} The largest product q · k is {sums[seen].max():.1f}, and {visible(tokens[top])} gets "
                        f"{weights[top]:.2f} of the attention.")


def _square(x, y, width, height, colour, alpha):
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=colour, alpha=alpha, linewidth=0)


def _word(ax, x, y, word, **how):
    ax.text(x, y, visible(word), va="center", fontsize=9, clip_on=False, **how).set_parse_math(False)
