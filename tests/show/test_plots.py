"""Figures: alternative text that is there and true, the same bytes twice, nothing left open."""

import io
import re
import subprocess
import sys
import warnings
from html import unescape

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402
import nbformat  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402

from coursekit.show import (  # noqa: E402
    bars,
    coloured,
    head_grid,
    heatmap,
    highlight,
    lines,
    looks_and_needs,
    picture,
    pictures,
    plane,
    positions,
)
from coursekit.show.html import described  # noqa: E402

WORDS = ["not", "$a$ bad", "film\n", "😀"]
A = np.random.default_rng(0).dirichlet(np.ones(4), 4)
CAUSAL = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]


def user_figure():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [1, 0])
    return picture(fig, "A falling line.")


FIGURES = {
    "picture": user_figure,
    "heatmap": lambda: heatmap(A, WORDS),
    "causal": lambda: heatmap(CAUSAL, WORDS, title="causal"),
    "scores": lambda: heatmap(torch.tensor([[-1.0, 2.0]], requires_grad=True), ["q"], ["k", "l"]),
    "large": lambda: heatmap(np.eye(14), [f"word {i}" for i in range(14)]),
    "heads": lambda: head_grid(np.stack([A] * 5), WORDS),
    "layers": lambda: head_grid(np.stack([[A, CAUSAL]] * 2), WORDS, title="all"),
    "needs": lambda: looks_and_needs(A, A - 0.3, WORDS, title="$needs"),
    "bars": lambda: bars(WORDS, [0.5, -1, 0, 0.25], "LIME", xlabel="weight"),
    "kept": lambda: bars(WORDS, [0.5, 0.3, 0.15, 0.05], kept=[True, True, False, False]),
    "lines": lambda: lines(None, {"train": [3, 2, 1], "$v": [3, 2.5, 2]}, "epoch", "loss"),
    "plane": lambda: plane(WORDS, [1, -0.5, 0, 1], [2, -1, 0, 2], "value", "importance", title="SLALOM"),
    "positions": lambda: positions(np.sin(np.arange(40).reshape(10, 4))),
}


def test_a_picture_says_how_small_its_letters_are():
    fig, axes = plt.subplots()
    axes.set(xticks=[], yticks=[])
    for size, words, seen in ((9, "nine points", True), (7.2, "small", True), (5, "", True), (4, "hidden", False)):
        axes.text(.5, .5, words, fontsize=size, visible=seen)
    assert 'data-letters="10" src=' in picture(fig, "Words.").html


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_small_described_deterministic_and_closed(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = FIGURES[name]()
    assert plt.get_fignums() == []
    alt = unescape(re.search(r'<img alt="([^"]*)"', shown._repr_html_())[1])
    assert repr(shown) == shown.text != "" and len(alt) <= 250
    assert alt == shown.text or shown.text in unescape(shown._repr_html_().partition("<details>")[2])
    assert "\n" not in shown.text
    image = Image.open(io.BytesIO(shown.png))
    assert image.format == "PNG" and not image.text and image.width < 1000
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert len(shown.png) < 40_000
    with plt.style.context("dark_background") if name != "picture" else plt.style.context("default"):
        assert FIGURES[name]().png == shown.png


def test_looks_and_needs_are_two_maps_with_scales_of_their_own_and_zeros_are_not_written():
    shown = looks_and_needs([[0.9, 0.1], [0.004, 0.996]], [[5.0, -2.0], [0.0, 0.0]], ["a", "b"], ["c", "d"])
    looks, needs = shown.fig.axes
    assert [text.get_text() for text in looks.texts] == ["0.90", "0.10", "1.00"]
    assert [text.get_text() for text in needs.texts] == ["5.00", "-2.00"]
    assert looks.images[0].get_clim() == (0, 0.996) and needs.images[0].get_clim() == (-5, 5)
    assert [label.get_text() for label in looks.get_yticklabels()] == ["a", "b"] and not needs.get_yticklabels()
    assert [ax.get_title() for ax in (looks, needs)] == ["looks", "needs"] and "a → c 5.00" in repr(shown)


def test_two_maps_have_the_names_that_they_are_given():
    shown = looks_and_needs([[0.9, 0.1]], [[0.2, 0.0]], ["a"], ["c", "d"], names=["away", "moved"])
    assert [ax.get_title() for ax in shown.fig.axes] == ["away", "moved"]
    assert [label.get_text() for label in shown.fig.axes[0].get_yticklabels()] == ["a"]
    assert "Largest away: a → c 0.90" in repr(shown) and "Largest moved: a → c 0.20" in repr(shown)


def test_a_picture_can_still_be_used_but_shows_once():
    shown = user_figure()
    assert shown.fig.axes[0].lines and shown.fig.number not in plt.get_fignums()


@pytest.mark.parametrize("fig, alt, error, words", [
    (lambda: plt.figure(), "", ValueError, "alternative text"),
    (lambda: plt.figure(), None, ValueError, "alternative text"),
    (lambda: plt.figure().gca(), "text", TypeError, "pass ax.figure"),
    (lambda: 3, "text", TypeError, "got int"),
])
def test_picture_refuses_in_one_line(fig, alt, error, words):
    with pytest.raises(error, match=words):
        picture(fig(), alt)
    plt.close("all")


def test_small_weights_get_a_third_decimal_and_axes_their_names():
    shown = heatmap([[0.012, 0.004]], ["head 0"], ["good", "film"], ylabel="head", xlabel="word")
    assert "1 row, head, by 2 columns, word" in repr(shown)
    assert "head 0 → good 0.012; head 0 → film 0.004" in repr(shown)
    ax = shown.fig.axes[0]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("head", "word")
    assert [text.get_text() for text in ax.texts] == ["0.012", "0.004"]


def test_the_largest_entries_are_named():
    weights = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert repr(heatmap(weights, ["a", "b"])) == ("Heat map of 2 rows, query (from), by 2 columns, key (to). "
                                                  "Largest entries: a → a 0.90; b → b 0.60; b → a 0.40.")
    heads = np.stack([weights, np.array([[0.5, 0.5], [0.05, 0.95]])])
    assert repr(head_grid(heads, ["a", "b"])) == ("Attention maps of 2 heads over 2 tokens. "
                                                  "Largest entries: head 1: b → b 0.95; head 0: a → a 0.90.")
    assert "layer 1, head 1: b → b 0.95" in repr(head_grid(np.stack([heads / 2, heads]), ["a", "b"]))
    assert "Attention maps of 1 layer of 1 head over 2 tokens" in repr(head_grid(heads[None, :1], ["a", "b"]))


def test_a_wide_grid_keeps_its_size_on_a_narrow_screen():
    few, many = (head_grid(np.stack([A] * n), WORDS).html for n in (3, 12))
    assert few.startswith("<img") and "max-width" not in few
    assert many.startswith('<div style="overflow-x:auto"><img alt=') and many.endswith(' style="max-width:none"></div>')


def test_masked_cells_are_told_and_drawn_apart_from_zero():
    causal, full = heatmap(CAUSAL, WORDS), heatmap(CAUSAL, WORDS, mask=np.ones((4, 4)))
    assert "6 cells are masked" in repr(causal) and "masked" not in repr(full)
    assert causal.png != full.png
    assert [bool(shown.fig.axes[0].patch.get_hatch()) for shown in (causal, full)] == [True, False]
    assert len(causal.fig.axes[0].texts) == 10 and len(full.fig.axes[0].texts) == 16
    assert "12 cells are masked" in repr(heatmap(A, WORDS, mask=np.eye(4, dtype=bool)))
    small = heatmap([[1, 0], [0.5, 0.5]], WORDS[:2])
    assert len(small.fig.axes[0].texts) == 3 and "1 cell is masked" in repr(small)


def test_numbers_stand_in_small_maps_only_and_can_be_read():
    values = np.linspace(0, 1, 24)
    ax = heatmap(values.reshape(2, 12), ["q", "r"], list("abcdefghijkl")).fig.axes[0]
    assert [t.get_text() for t in ax.texts] == [f"{v:.2f}" for v in values]
    for text, value in zip(ax.texts, values, strict=True):
        colours = ax.images[0].to_rgba(value), text.get_color()
        cell, letters = (luminance(matplotlib.colors.to_rgb(c)) for c in colours)
        assert (max(cell, letters) + 0.05) / (min(cell, letters) + 0.05) >= 4.3
    assert not heatmap(np.ones((1, 13)), ["q"], list("abcdefghijklm")).fig.axes[0].texts


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_axes_say_query_and_key_and_labels_are_literal():
    ax = heatmap(A, WORDS, ["k1", "k2", "k3", "$k$"]).fig.axes[0]
    assert ax.get_ylabel() == "query (from)" and ax.get_xlabel() == "key (to)"
    assert [t.get_text() for t in ax.get_yticklabels()] == ["not", "$a$ bad", "film↵", "😀"]
    assert not any(t.get_parse_math() for t in ax.get_xticklabels() + ax.get_yticklabels())


def test_heads_share_one_scale():
    images = [ax.images[0] for ax in head_grid(np.stack([A, A / 2, CAUSAL]), WORDS).fig.axes[:3]]
    assert {image.get_clim() for image in images} == {(0, 1.0)}


def test_layers_are_rows_and_heads_in_lines_of_at_most_four():
    for heads, columns in ((np.stack([[A] * 5] * 2), 5), (np.stack([A] * 5), 4)):
        places = [ax.get_subplotspec() for ax in head_grid(heads, WORDS).fig.axes if ax.images and ax.get_title()]
        assert [(place.rowspan.start, place.colspan.start) for place in places] == [
            divmod(i, columns) for i in range(heads.size // A.size)]


def test_bars_show_sign_without_colour_and_values_in_order():
    shown = bars(["good", "not"], [0.5, -1.25], "LIME", xlabel="weight")
    assert repr(shown) == "LIME: Bar chart of weight with 2 bars: good +0.5, not -1.25."
    good, bad = shown.fig.axes[0].patches
    assert not good.get_hatch() and bad.get_hatch() and good.get_facecolor() != bad.get_facecolor()
    assert shown.fig.axes[0].yaxis_inverted()
    assert [shown.fig.axes[0].get_xlabel(), shown.fig.axes[0].get_title()] == ["weight", "LIME"]
    assert "largest w29 29, smallest w0 0" in repr(bars([f"w{i}" for i in range(30)], range(30)))


def test_bars_that_are_not_kept_are_grey_dotted_and_said():
    shown = bars(["a", "b", "c"], [0.5, 0.3, 0.2], kept=torch.tensor([True, False, True]))
    assert shown.text.endswith("a 0.5, b 0.3, c 0.2. Kept: a, c.")
    assert [bool(bar.get_hatch()) for bar in shown.fig.axes[0].patches] == [False, True, False]
    assert len({bar.get_facecolor() for bar in shown.fig.axes[0].patches}) == 2
    assert bars(["a"], [1.0], kept=[False]).text.endswith("Kept: none.")


def test_curves_are_told_apart_by_dashes_and_described():
    shown = lines([10, 20, 30], {"train": [3, 1, 2], "valid": [4, 4, 4]}, "step", "loss", title="run")
    assert repr(shown) == ("run: 2 curves of loss over step from 10 to 30: "
                           "train goes from 3 to 2 (lowest 1, highest 3); "
                           "valid goes from 4 to 4 (lowest 4, highest 4).")
    ax = shown.fig.axes[0]
    first, second = ax.lines
    assert first.get_linestyle() != second.get_linestyle() and first.get_color() != second.get_color()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("step", "loss", "run")
    named = lines(None, {"$v$": [1], "train": [2]}, "step", "loss").fig.axes[0].get_legend().get_texts()
    assert [(text.get_text(), text.get_parse_math()) for text in named] == [("$v$", False), ("train", False)]


def test_points_show_their_side_without_colour_and_axes_their_names():
    ax = plane(["good", "the", "bad"], [1, 0, -2], [3, -1, 2], "value", "importance", title="SLALOM").fig.axes[0]
    (up, here), (down, there) = ((part.get_paths()[0].vertices, part.get_offsets()) for part in ax.collections)
    assert [here.tolist(), there.tolist()] == [[[1, 3], [0, -1]], [[-2, 2]]] and not np.array_equal(up, down)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("value", "importance", "SLALOM")


def test_colours_are_those_of_coloured_text():
    for ours, its in ((pictures.BLUE, coloured.BLUE), (pictures.ORANGE, coloured.ORANGE)):
        np.testing.assert_allclose(np.array(its) / 255, matplotlib.colors.to_rgb(ours))


@pytest.mark.parametrize("call, error, words", [
    (lambda: looks_and_needs(A, A[:3], WORDS), ValueError, r"needs must have shape \(4, 4\), got \(3, 4\)"),
    (lambda: looks_and_needs(A, A * np.inf, WORDS), ValueError, "finite"),
    (lambda: looks_and_needs(np.zeros((0, 0)), np.zeros((0, 0)), []), ValueError, "at least one row"),
    (lambda: heatmap(A, WORDS[:3]), ValueError, r"A must have shape \(3, 3\), got \(4, 4\)"),
    (lambda: heatmap(A * np.nan, WORDS), ValueError, "finite"),
    (lambda: heatmap(A, "abcd"), TypeError, "list of strings"),
    (lambda: heatmap(np.zeros((0, 0)), []), ValueError, "at least one row"),
    (lambda: heatmap(A, WORDS, mask=np.zeros((4, 4))), ValueError, "at least one cell"),
    (lambda: heatmap(A, WORDS, mask=np.ones((3, 4))), ValueError, r"mask must have shape \(4, 4\)"),
    (lambda: head_grid(A, WORDS), ValueError, r"\(K, T, T\) or \(L, K, T, T\)"),
    (lambda: head_grid(np.stack([A, -A]), WORDS), ValueError, "not negative"),
    (lambda: head_grid(np.stack([A, A]), WORDS[:2]), ValueError, r"\(any, 2, 2\), got \(2, 4, 4\)"),
    (lambda: head_grid(np.zeros((0, 4, 4)), WORDS), ValueError, "at least one weight"),
    (lambda: bars(["a"], [1, 2]), ValueError, r"values must have shape \(1,\)"),
    (lambda: bars([], []), ValueError, "at least one label"),
    (lambda: bars(["a"], [1], kept=[True, False]), ValueError, r"kept must have shape \(1,\), got \(2,\)"),
    (lambda: bars(["a"], [np.inf]), ValueError, "finite"),
    (lambda: lines(None, {}, "x", "y"), TypeError, "at least one curve"),
    (lambda: lines([0, 1], {"a": [1]}, "x", "y"), ValueError, r"curve 'a' must have shape \(2,\)"),
    (lambda: lines([], {"a": []}, "x", "y"), ValueError, "at least one point"),
    (lambda: positions([1, 2]), ValueError, r"P must have shape \(any, any\)"),
    (lambda: positions(np.zeros((0, 2))), ValueError, "at least one position"),
])
def test_bad_input_gets_one_clear_line_and_leaves_nothing_open(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value) and plt.get_fignums() == []


def test_exported_pages_carry_the_alternative_text():
    nbconvert = pytest.importorskip("nbconvert")
    shown = [user_figure(), highlight(["good"], [1])]
    outputs = [nbformat.v4.new_output("execute_result", {"text/html": s._repr_html_(), "text/plain": repr(s)})
               for s in shown]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("show", outputs=outputs)])
    page, _ = nbconvert.HTMLExporter(template_name="lab").from_notebook_node(notebook)
    assert 'alt="A falling line."' in page and "No description has been provided" not in page


def test_text_loads_no_plotting_library():
    code = ("import sys; from coursekit.show import highlight, heatmap; highlight(['a'], [1]); "
            "heavy = {'matplotlib', 'torch', 'IPython', 'coursekit.models', 'coursekit.text'}; "
            "print(sorted(heavy & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_a_heat_map_names_what_its_entries_are():
    for label, expected in ((None, "attention weight"), ("correlation", "correlation")):
        assert heatmap(A, WORDS, label=label).fig.axes[1].get_ylabel() == expected


def test_a_long_description_is_a_text_to_unfold():
    short, long = "A line.", "One sentence that is kept. " + "Then many words & more. " * 12
    assert described(short) == (short, "")
    brief, below = described(long.strip())
    assert brief.startswith("One sentence that is kept. Then") and brief.endswith(". In full below.")
    assert len(brief) <= 250
    assert unescape(below) == f"<details><summary>The picture in words</summary>{long.strip()}</details>"
    assert described("word " * 60)[0].endswith("word … In full below.")
