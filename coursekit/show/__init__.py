"""What people look at: coloured text, figures and drawings, from plain arrays and strings.

Every function returns an object that shows itself in a notebook, on light and dark themes, and that has a text to
fall back on. matplotlib loads with the first figure, not before.
"""

from .bertviz import bertviz_view
from .boards import board
from .charts import bars, lines, plane
from .coloured import compare, highlight
from .diagrams import flow_chart, module_diagram
from .drawings import arrows, token_boxes
from .explorer import attention_explorer
from .feature_view import features
from .html import Html
from .maps import head_grid, heatmap, positions
from .pictures import picture
from .tables import table
from .trees import beam_tree

__all__ = [
    "Html", "arrows", "attention_explorer", "bars", "beam_tree", "bertviz_view", "board", "compare", "features",
    "flow_chart", "head_grid", "heatmap", "highlight", "lines", "module_diagram", "picture", "plane", "positions",
    "table", "token_boxes",
]
