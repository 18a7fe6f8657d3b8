"""What people look at: coloured text, figures and drawings, from plain arrays and strings.

Every function returns an object that shows itself in a notebook, on light and dark themes, and that has a text to
fall back on. matplotlib loads with the first figure, not before.
"""

from coursekit.moved import forwarding

from .charts import bars, lines, plane
from .coloured import compare, highlight
from .drawn.boards import board
from .drawn.diagrams import flow_chart, module_diagram
from .drawn.drawings import arrows, token_boxes
from .drawn.trees import beam_tree
from .html import Html
from .maps import head_grid, heatmap, looks_and_needs, positions
from .pictures import picture
from .tables import table
from .views.bertviz import bertviz_view
from .views.explorer import attention_explorer
from .views.feature_view import features
from .views.playground import playground

__all__ = ["Html", "arrows", "attention_explorer", "bars", "beam_tree", "bertviz_view", "board", "compare", "features",
           "flow_chart", "head_grid", "heatmap", "highlight", "lines", "looks_and_needs", "module_diagram", "picture",
           "plane", "playground", "positions", "table", "token_boxes"]

__getattr__ = forwarding(__name__)
