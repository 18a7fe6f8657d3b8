"""Diagrams: the lines are those of the module's own forward, and whatever is drawn is told as well."""

import base64
import re
from xml.etree import ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from coursekit.show import flow_chart, module_diagram
from coursekit.show.html import visible

SVG = "{http://www.w3.org/2000/svg}"


def drawing(shown):
    return ElementTree.fromstring(base64.b64decode(re.search(r"svg\+xml;base64,([^\"]+)", shown.html)[1]))


def lines(shown):
    return [tuple(line.split(" → ")) for line in re.search(r"Lines: (.*)\.$", repr(shown))[1].split("; ")]


class Block(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.norm, self.mlp, self.before = nn.LayerNorm(4), nn.Sequential(nn.Linear(4, 8), nn.GELU()), before

    def forward(self, x, scale, mask=None):
        return x + self.mlp(self.norm(x)) * scale if self.before else self.norm(x + self.mlp(x) * scale)


def test_pre_norm_and_post_norm_come_out_as_they_are_written():
    assert lines(module_diagram(Block(before=True))) == [
        ("x", "norm"), ("norm", "mlp"), ("mlp", "mul"), ("x", "+"), ("mul", "+"), ("+", "output"), ("scale", "mul")]
    assert lines(module_diagram(Block(before=False))) == [
        ("x", "mlp"), ("mlp", "mul"), ("x", "+"), ("mul", "+"), ("+", "norm"), ("norm", "output"), ("scale", "mul")]


def test_boxes_tell_classes_and_parameters_and_defaults_are_left_out():
    said = repr(module_diagram(Block(before=True), title="a block"))
    assert said.startswith("a block: Flow chart of x, norm (LayerNorm · 8 parameters), "
                           "mlp (Linear 4→8, GELU · 40 parameters)")
    assert "mask" not in said


def test_one_of_several_outputs_is_the_box_that_made_it():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru, self.out = nn.GRU(2, 2), nn.Identity()

        def forward(self, x):
            states, last = self.gru(x)
            return self.out(last), states

    assert lines(module_diagram(Two())) == [("x", "gru"), ("gru", "out"), ("out", "output")]


def test_a_forward_that_looks_at_numbers_is_refused():
    class Branching(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(torch.fx.proxy.TraceError):
        module_diagram(Branching())


def test_lines_around_the_column_do_not_share_a_lane_where_both_run():
    shown = flow_chart([(name, "") for name in "abcdef"], [(0, 3), (1, 4), (3, 5), (0, 1)])
    paths = [path.get("d") for path in drawing(shown).findall(f"./{SVG}g/{SVG}path")]
    lane = {d: int(re.search(r"H(\d+)V", d)[1]) for d in paths if "H" in d}
    assert len(paths) == 4 and len(lane) == 3
    first, second, third = lane.values()                                # in the order of the edges
    assert first == third != second


def test_a_plus_is_a_circle_and_a_labelled_line_is_dashed():
    boxes = [("x", "3 numbers"), ("f", ""), ("+", "")]
    shown = flow_chart(boxes, [(0, 1), (1, 2), (0, 2, "skip")], sides=[(1, "mask")])
    svg = drawing(shown)
    assert len(svg.findall(f"{SVG}circle")) == 1 and len(svg.findall(f"{SVG}rect")) == 3   # ground, two boxes
    assert [path.get("stroke-dasharray") for path in svg.findall(f"./{SVG}g/{SVG}path")] == [None, None, "5 4", None]
    assert repr(shown) == "Flow chart of x (3 numbers), f, +. Lines: x → f; f → +; x → + (skip); mask → f."


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), min_size=1, max_size=4))
def test_any_string_can_be_drawn(boxes):
    words = [text.text or "" for text in drawing(flow_chart(boxes, [])).iter(f"{SVG}text")]
    assert words == [visible(word) for box in boxes for word in box if word]
    assert flow_chart(boxes, [], title="<i>").html.startswith("<div><b>&lt;i&gt;</b>")


@pytest.mark.parametrize("call, error, words", [
    (lambda: flow_chart([("a", "")], [(0, 1)]), ValueError, "runs down to one of the 1 boxes, got 0 → 1"),
    (lambda: flow_chart([("a", ""), ("b", "")], [(1, 0)]), ValueError, "got 1 → 0"),
    (lambda: flow_chart([("a", "")], [], sides=[(3, "mask")]), ValueError, "1 boxes, got"),
    (lambda: flow_chart([("a", 1)], []), TypeError, "notes of boxes must be a list of strings"),
    (lambda: flow_chart([], []), ValueError, "at least one box"),
])
def test_bad_input_gets_one_clear_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
