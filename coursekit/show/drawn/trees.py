"""Beam search drawn as the tree it is: a column for each new token, a box for each beginning that was looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from coursekit.inputs import as_strings, plural
from coursekit.show.html import Html, display_width, drawing, escape, visible

_ROW, _GAP, _TOP = 24, 34, 14                                   # pixels: a box and its space, between columns, margin
_BOX = {                                                        # of each fate: the box, the letters, the line to it
    "kept": ('fill="#d9ebf5" stroke="#0072b2" stroke-width="1.3"', "#111", 'stroke="#0072b2" stroke-width="1.6"'),
    "finished": ('fill="#fdebd0" stroke="#b35900" stroke-width="2.6"', "#111", 'stroke="#b35900" stroke-width="1.6"'),
    "dropped": ('fill="none" stroke="#8c8c8c" stroke-dasharray="3 3"', "#595959",
                'stroke="#8c8c8c" stroke-dasharray="3 3"'),
}
_BEST = 'stroke="#b35900" stroke-width="4"'                     # the line to the best finished text
_KEY = "solid: kept and continued; thick border: finished; dashed: dropped; thick line: the best"


@dataclass(eq=False)
class _Node:
    """A beginning that was looked at: its last token, how likely all of it is, and where it is drawn."""

    text: str
    chance: str
    fate: str
    parent: "_Node | None"
    column: int
    row: float = 0.0
    children: list = field(default_factory=list)

    @property
    def path(self):
        """The nodes from the first new token to this one."""
        return [*self.parent.path, self] if self.parent else []

    @property
    def in_words(self):
        """The beginning in words, with its probability."""
        return f"{' '.join(node.text for node in self.path)} {self.chance}"


def beam_tree(steps: Sequence[Sequence], words: Sequence[str], prompt="", title: str | None = None) -> Html:
    """The tree of a beam search, the prompt on the left; each box has a token and the probability of the beginning
    that ends in it, from the first new token on.

    steps: for each new token a list of candidates (parent, token, log_probability, score, fate), as BeamSearch.steps
    has them: `parent` is a place in the list before (None in the first), `token` an id, `fate` "kept", "finished" or
    "dropped". words: D strings, the token of every id. prompt: what stands before, shown as the root. Candidates of
    probability 0 are left out. The drawing is an SVG image on white, like that of `arrows`.
    Raises ValueError or TypeError, in one line, where there is nothing to draw or a candidate does not fit.

    >>> first = [(None, 0, math.log(0.6), -0.5, "kept"), (None, 1, math.log(0.4), -0.9, "kept")]
    >>> tree = beam_tree([first, [(1, 2, math.log(0.3), -1.2, "finished")]], ["it", "nobody", "knows"])
    >>> print(*tree.text.split(". "), sep="\\n")
    Beam search over 2 tokens
    Best finished: nobody knows 0.3
    Step 1: kept it 0.6, nobody 0.4
    Step 2: finished nobody knows 0.3.
    """
    words = as_strings(words, "words")
    root = _Node(visible(prompt), "", "kept", None, 0)
    columns, before, best, highest = [[root]], {None: root}, None, -math.inf
    for step, candidates in enumerate(steps, start=1):
        here = {}
        for rank, candidate in enumerate(candidates):
            node, score = _node(candidate, f"candidate {rank} of step {step}", words, before, step)
            if node is None:
                continue
            here[rank] = node
            node.parent.children.append(node)
            if node.fate == "finished" and score > highest:
                best, highest = node, score
        columns.append(list(here.values()))
        before = here
    if len(columns) < 2 or not columns[1]:
        raise ValueError("beam_tree needs at least one step with a candidate that is possible, got none")
    return _tree_drawing(columns, best, _place(root, 0), _in_words(columns, best), title)


def _node(candidate, where, words, before, step):
    """One candidate as (node, its score); node is None where its probability is 0."""
    try:
        parent, token, log_p, score, fate = candidate
    except (TypeError, ValueError):
        raise ValueError(f"{where} must be (parent, token, log_probability, score, fate), got {candidate!r}") from None
    if log_p == -math.inf:
        return None, score
    if parent not in before:
        raise ValueError(f"{where} has the parent {parent!r}: expected a place in the step before (None in step 1)")
    if token not in range(len(words)):
        raise ValueError(f"{where} has the token {token!r}: words names ids 0 to {len(words) - 1}")
    if fate not in _BOX:
        raise ValueError(f"{where} has the fate {fate!r}: expected one of {', '.join(map(repr, _BOX))}")
    return _Node(visible(words[token]), f"{math.exp(log_p):.3g}", fate, before[parent], step), score


def _place(node, row):
    """Give a node and all below it their rows, leaves from `row` on one below the other, a parent amid its children.
    Returns the next row that is free."""
    if not node.children:
        node.row = row
        return row + 1
    for child in node.children:
        row = _place(child, row)
    node.row = (node.children[0].row + node.children[-1].row) / 2
    return row


def _in_words(columns, best):
    """The tree in words: the best, and what each step kept and finished."""
    sentences = [f"Beam search over {plural(len(columns) - 1, 'token')}."]
    if best is not None:
        sentences.append(f"Best finished: {best.in_words}.")
    for step, nodes in enumerate(columns[1:], start=1):
        parts = []
        for fate in ("kept", "finished"):
            alike = [node.in_words for node in nodes if node.fate == fate]
            parts += [f"{fate} {', '.join(alike)}"] if alike else []
        sentences.append(f"Step {step}: " + ("; ".join(parts) or "all dropped") + ".")
    return " ".join(sentences)


def _tree_drawing(columns, best, rows, alt, title):
    best_path = best.path if best else []
    widths = [max(24.0, *(14 + 7.6 * display_width(n.text) + 6.4 * len(n.chance) + 8 * bool(n.chance)
                          for n in nodes)) if nodes else 0.0 for nodes in columns]
    left = [8 + sum(widths[:i]) + _GAP * i for i in range(len(widths))]
    width, height = max(left[-1] + widths[-1] + 8, 20 + 6.0 * len(_KEY)), _TOP + _ROW * rows + 26
    lines, boxes = [], []
    for nodes in columns:
        for node in nodes:
            i, y = node.column, _TOP + _ROW * (node.row + 0.5)
            box, ink, line = _BOX[node.fate]
            if node.parent:
                x0, y0 = left[i - 1] + widths[i - 1], _TOP + _ROW * (node.parent.row + 0.5)
                middle = (x0 + left[i]) / 2
                line = _BEST if node in best_path else line
                curve = f"M{x0:.0f} {y0:.0f}C{middle:.0f} {y0:.0f} {middle:.0f} {y:.0f} {left[i]:.0f} {y:.0f}"
                lines.append(f'<path d="{curve}" {line}/>')
            boxes.append(f'<rect x="{left[i]:.0f}" y="{y - 10:.0f}" width="{widths[i]:.0f}" height="20" rx="4" {box}/>'
                         f'<text x="{left[i] + 6:.0f}" y="{y + 4.5:.0f}" fill="{ink}">{escape(node.text)}</text>'
                         f'<text x="{left[i] + widths[i] - 6:.0f}" y="{y + 4:.0f}" font-size="11" fill="#404040" '
                         f'text-anchor="end">{node.chance}</text>')
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-size="13" '
           'font-family="sans-serif"><rect width="100%" height="100%" rx="4" fill="#fff"/>'
           f'<g fill="none">{"".join(lines)}</g>{"".join(boxes)}'
           f'<text x="8" y="{height - 8:.0f}" font-size="11" fill="#595959">{_KEY}</text></svg>')
    return drawing(svg, alt, title)
