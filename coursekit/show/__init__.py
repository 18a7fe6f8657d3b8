"""What people look at: coloured text, figures and drawings, from plain arrays and strings.

Every function returns an object that shows itself in a notebook, on light and dark themes, and that has a text to
fall back on. matplotlib loads with the first figure, not before.
"""

from .bertviz import bertviz_view
from .board import board
from .diagrams import flow_chart, module_diagram
from .drawings import arrows, token_boxes
from .explorer import attention_explorer
from .highlight import compare, highlight
from .html import Html
from .picture import picture
from .plots import bars, head_grid, heatmap, lines, positions
from .tables import table
from .tree import beam_tree

__all__ = [
    "Html", "arrows", "attention_explorer", "bars", "beam_tree", "bertviz_view", "board", "compare", "flow_chart",
    "head_grid", "heatmap", "highlight", "lines", "module_diagram", "picture", "positions", "table", "token_boxes",
]
