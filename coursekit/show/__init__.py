"""What people look at: coloured text, figures and drawings, from plain arrays and strings.

Every function returns an object that shows itself in a notebook, on light and dark themes, and that has a text to
fall back on. matplotlib loads with the first figure, not before.
"""

from .drawings import arrows, token_boxes
from .highlight import compare, highlight
from .html import Html
from .picture import picture
from .plots import bars, head_grid, heatmap, lines, positions

__all__ = [
    "Html", "arrows", "bars", "compare", "head_grid", "heatmap", "highlight", "lines", "picture", "positions",
    "token_boxes",
]
