"""Diagrams of models: boxes in one column with the lines between them, read off a module's own forward."""

from collections.abc import Sequence
from typing import Any

from coursekit.inputs import as_strings
from coursekit.show.html import Html, display_width, drawing, escape, visible

_BOX, _PLUS, _GAP, _LANE = 42, 22, 20, 26               # pixels: a box, a "+", the gap below, a line beside the column


def flow_chart(boxes: Sequence[tuple[str, str]], edges: Sequence[tuple], sides=(), title: str | None = None) -> Html:
    """Boxes under one another and the lines between them: straight to the next box, around the right to a later one.

    boxes: list of (name, note); the note is small print, "" for none; a box named "+" is drawn as a circle.
    edges: list of (i, j) or (i, j, label), from box i down to box j > i. A line around that has a label is dashed.
    sides: list of (j, name): something that enters box j from the left.
    Raises TypeError or ValueError, in one line, for strings that are none and for boxes that are not there.

    >>> flow_chart([("x", ""), ("mlp", "2 layers"), ("+", "")], [(0, 1), (1, 2), (0, 2)])
    Flow chart of x, mlp (2 layers), +. Lines: x → mlp; mlp → +; x → +.
    """
    names = [visible(name) for name in as_strings([name for name, _ in boxes], "the names of boxes")]
    notes = [visible(note) for note in as_strings([note for _, note in boxes], "the notes of boxes")]
    edges = [(*edge, "")[:3] for edge in edges]
    if not names:
        raise ValueError("flow_chart needs at least one box (name, note), got none")
    for i, j in [edge[:2] for edge in edges] + [(-1, j) for j, _ in sides]:
        if not -1 <= i < j < len(names):
            raise ValueError(f"a line runs down to one of the {len(names)} boxes, got {i} → {j}")
    ends = ["; ".join(f"{names[i]} → {names[j]}" + f" ({label})" * bool(label) for i, j, label in edges),
            *(f"{name} → {names[j]}" for j, name in sides)]
    alt = visible(f"Flow chart of {', '.join(n + f' ({m})' * bool(m) for n, m in zip(names, notes, strict=True))}. "
                  f"Lines: {'; '.join(filter(None, ends)) or 'none'}.")
    return drawing(_svg(names, notes, edges, sides), alt, title)


def _svg(names, notes, edges, sides):
    """The drawing, on a white ground of its own: an image is what JupyterLab keeps of a notebook not yet trusted."""
    wide = 24 + max(*(8.5 * display_width(name) for name in names), *(6.8 * display_width(note) for note in notes))
    left = 12 + max((34 + 8.5 * display_width(name) for _, name in sides), default=0)
    middle, right = left + wide / 2, left + wide
    heights = [_PLUS if name == "+" else _BOX for name in names]
    top = [12 + sum(heights[:k]) + _GAP * k for k in range(len(names))]
    centre = [y + height / 2 for y, height in zip(top, heights, strict=True)]
    lines, texts = [], []
    for i, j, _ in edges:
        if j == i + 1:
            lines.append(f'<path d="M{middle:.0f} {top[i] + heights[i]}V{top[j] - 2}"/>')
    around = [edge for edge in edges if edge[1] > edge[0] + 1]
    lanes = _lanes(around)
    for (i, j, label), lane in zip(around, lanes, strict=True):
        x, start = right + _LANE * (lane + 0.7), top[i] + heights[i] + 5
        end = middle + _PLUS / 2 if names[j] == "+" else right
        dashes = ' stroke-dasharray="5 4"' if label else ""
        lines.append(f'<path d="M{middle:.0f} {start}H{x:.0f}V{centre[j]:.0f}H{end + 2:.0f}"{dashes}/>')
        texts.append(_text(x + 6, (start + centre[j]) / 2 + 4, label, "start"))
    for j, name in sides:
        end = middle - _PLUS / 2 if names[j] == "+" else left
        lines.append(f'<path d="M{left - 30:.0f} {centre[j]:.0f}H{end - 2:.0f}"/>')
        texts.append(_text(left - 34, centre[j] + 4, name, "end"))
    shapes = "".join(_box(*box, middle, wide) for box in zip(names, notes, top, strict=True))
    room = max((8 * display_width(label) for *_, label in around), default=0)
    width, height = right + _LANE * (1 + max(lanes, default=-1)) + room + 14, top[-1] + heights[-1] + 12
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-size="14" '
            'font-family="sans-serif" fill="#111"><defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#0072b2" stroke="none" '
            'marker-end="none"/></marker></defs><rect width="100%" height="100%" rx="4" fill="#fff"/>'
            '<g stroke="#0072b2" stroke-width="1.6" fill="none" marker-end="url(#a)">'
            f'{"".join(lines)}</g>{shapes}{"".join(texts)}</svg>')


def _lanes(edges):
    """For each edge (i, j, label) a lane beside the column in which no other runs at that height; short ones inside."""
    lanes, taken = {}, []
    for edge in sorted(edges, key=lambda edge: edge[1] - edge[0]):
        i, j, _ = edge
        free = (k for k, others in enumerate(taken) if all(j <= a or i >= b for a, b, _ in others))
        lanes[edge] = lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(edge)
    return [lanes[edge] for edge in edges]


def _box(name, note, y, middle, wide):
    """One box, or a circle for "+", its upper edge at y."""
    if name == "+":
        return (f'<circle cx="{middle:.0f}" cy="{y + _PLUS / 2:.0f}" r="{_PLUS / 2:.0f}" fill="#fff" stroke="#d55e00" '
                f'stroke-width="1.6"/>{_text(middle, y + 16, name)}')
    small = f'<g font-size="11" fill="#595959">{_text(middle, y + 34, note)}</g>' if note else ""
    return (f'<rect x="{middle - wide / 2:.0f}" y="{y}" width="{wide:.0f}" height="{_BOX}" rx="6" fill="#e8f1f8" '
            f'stroke="#0072b2"/>{_text(middle, y + (18 if note else 26), name)}{small}')


def _text(x, y, words, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>' if words else ""


def module_diagram(module: Any, title: str | None = None) -> Html:
    """What a torch module does with its parts, as a flow chart drawn from its own forward.

    torch.fx records the forward with every child as one box, so the lines are those of the code; "+" is an addition,
    other operations are boxes too. The first argument is on top; others enter from the left, those with a default not
    at all. A box tells the child's class and its parameters.
    Raises what torch.fx does (TraceError) for a forward that branches on the numbers in its tensors.

    >>> from torch import nn
    >>> module_diagram(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    Flow chart of input, 0 (Linear 2→3 · 9 parameters), 1 (ReLU), output. Lines: input → 0; 0 → 1; 1 → output.
    """
    import operator

    from torch.fx import Tracer

    class FromOutside(Tracer):
        def is_leaf_module(self, child, name):
            return True

    boxes, edges, sides, place, entering = [], [], {}, {}, {}           # place: the box in which a value is made
    for node in FromOutside().trace(module).nodes:
        sources, note = node.all_input_nodes, ""
        if node.op == "placeholder" and boxes:
            if not node.args:                                           # node.args: its default value
                entering[node] = str(node.target)
            continue
        if node.target is operator.getitem:                             # one of several outputs of the same box
            place[node] = place[sources[0]]
            continue
        if node.op == "call_module":
            name, note = str(node.target), _about(module.get_submodule(node.target))
        elif node.target in (operator.add, operator.iadd):
            name = "+"
        else:
            name = node.target if isinstance(node.target, str) else node.target.__name__
        if node.op == "output":
            sources = sources[:1]                                       # what goes on; the rest is kept aside
        edges += [(i, len(boxes)) for i in sorted({place[source] for source in sources if source in place})]
        if outside := [entering[source] for source in sources if source in entering]:
            sides[len(boxes)] = ", ".join(outside)
        place[node] = len(boxes)
        boxes.append((name, note))
    return flow_chart(boxes, edges, list(sides.items()), title)


def _about(child):
    """A child in small print: its class (of a Sequential: its layers) and how many parameters it has."""
    layers = list(child.children()) if type(child).__name__ == "Sequential" else [child]
    sizes = [f" {layer.in_features}→{layer.out_features}" if hasattr(layer, "in_features") else "" for layer in layers]
    kinds = [type(layer).__name__ + size for layer, size in zip(layers, sizes, strict=True)]
    parameters = sum(parameter.numel() for parameter in child.parameters())
    return ", ".join(kinds) + (f" · {parameters:,} parameters" if parameters else "")
