"""matplotlib figures as pictures with alternative text.

Figures are made outside pyplot, so that nothing is shown twice or left open. Their ground is white, so that they read
on dark themes too, and their bytes depend on what is drawn alone.
"""

import base64
import functools
import io
import sys
import warnings
from dataclasses import dataclass
from typing import Any

from .html import Html, described, display_width, escape, visible

BLUE, ORANGE = "#0072b2", "#d55e00"               # of the palette of Okabe & Ito (2008), safe for the colour-blind


@dataclass(frozen=True, repr=False)
class Picture(Html):
    """A figure on show: `html` and `text` (its alternative text), the PNG's bytes, and the matplotlib figure."""

    png: bytes
    fig: object

    def save(self, path):
        """Write it as a file of the format that the name ends in: png, pdf, svg."""
        _write(self.fig, path)


def picture(fig: Any, alt: str, shrink=True) -> Html:
    """A matplotlib figure as a PNG of 100 dpi with alternative text; closes it, so that it shows only once.

    fig: a matplotlib Figure. alt: what a reader who cannot see it should know, one line or a few; of a long one
    the image has the beginning, and the whole is a text to unfold below. shrink: on a narrow
    screen the picture shrinks to the column; False keeps its size, and one scrolls it sideways.
    Neither JupyterLab (4.6) nor nbconvert's default template reads the `alt` metadata of an image/png output, so the
    picture is an HTML <img alt>, which both keep, also in a notebook that is not trusted. The figure stays usable as
    `.fig`, the file as `.png`. The same figure gives the same bytes: no date and no version is written into them.
    Raises TypeError if `fig` is no figure, ValueError if `alt` is empty.

    >>> from matplotlib.figure import Figure
    >>> picture(Figure(), "An empty figure.")
    An empty figure.
    """
    from matplotlib.figure import Figure

    if not isinstance(fig, Figure):
        hint = ": pass ax.figure" if hasattr(fig, "figure") else ""
        raise TypeError(f"picture needs a matplotlib Figure, got {type(fig).__name__}{hint}")
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError("picture needs alternative text: one sentence on what the figure shows")
    alt = " ".join(alt.split())
    file = io.BytesIO()
    _write(fig, file, format="png", dpi=100, metadata={"Software": None})
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(fig)
    png = _smaller(file)
    source = base64.b64encode(png).decode()
    brief, below = described(alt)
    image = f'<img alt="{escape(brief)}" data-letters="{_letters(fig):.3g}" src="data:image/png;base64,{source}"'
    html = f"{image}>" if shrink else f'<div style="overflow-x:auto">{image} style="max-width:none"></div>'
    return Picture(html + below, visible(alt), png, fig)


def _write(fig, file, **how):
    """The figure into a file, all of it, on white."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")     # a box is drawn in its place
        fig.savefig(file, facecolor="white", bbox_inches="tight", **how)


def _letters(fig):
    """Pixels of the smallest letters that a figure shows, at 100 dpi; what is empty or hidden does not count."""
    from matplotlib.text import Text

    return min((text.get_fontsize() / .72 for text in fig.findobj(Text) if text.get_visible() and text.get_text()),
               default=100)


def _smaller(file):
    """The PNG in `file` with a palette of 256 colours: a third of the size, hardly a difference to the eye."""
    from PIL import Image

    small = io.BytesIO()
    Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return small.getvalue()


def default_style(plot):
    """Decorator: draw with matplotlib's own defaults at 9 points, whatever style the notebook has set."""
    @functools.wraps(plot)
    def wrapped(*args, **kwargs):
        from matplotlib import style

        with style.context(["default", {"font.size": 9, "axes.titlesize": 10, "hatch.linewidth": 0.6}]):
            return plot(*args, **kwargs)
    return wrapped


def new_figure(width, height, down=1, across=1):
    """A figure of width × height inches outside pyplot, and its axes: one, or a flat array of down × across."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), layout="constrained")
    axes = fig.subplots(down, across, squeeze=False).ravel()
    return fig, axes[0] if down == across == 1 else axes


def label_axis(axis, labels, fontsize=9, upright=6):
    """Tick labels exactly as written: no formulas between dollar signs, no invisible characters.

    Below the picture they stand upright if none has more than `upright` letters, else on their sides.
    """
    axis.set_ticks(range(len(labels)), [visible(label) for label in labels], fontsize=fontsize)
    for text in axis.get_ticklabels():
        text.set_parse_math(False)
    if axis.axis_name == "x":
        if all(display_width(label) <= upright for label in labels):
            axis.set_tick_params(pad=fontsize + 2)
            for text in axis.get_ticklabels():
                text.set_verticalalignment("baseline")
        else:
            axis.set_tick_params(rotation=90)


def titled(title, alt):
    """An alternative text with the figure's title before it, if there is one."""
    return alt if title is None else f"{title}: {alt}"
