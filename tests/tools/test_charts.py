"""Charts of tables: every form of a number is read, the drawing says what the table says, and an axis can be shared."""

import re

import pytest

from tools import charts, decks, tables

HEADS = ["", "tame", "peaky"]
ROWS = [["LIME", "+0.50", "-1.25"], ["chance", "0.00", "1,234"]]
FORMS = {
    "-3.90": (-3.9, -3.9, -3.9, ""), "−3.90": (-3.9, -3.9, -3.9, ""), "+0.02": (.02, .02, .02, ""),
    "1,234": (1234, 1234, 1234, ""), "93 %": (93, 93, 93, "%"), "93%": (93, 93, 93, "%"),
    "2e-7": (2e-7, 2e-7, 2e-7, ""),
    "1.2×": (1.2, 1.2, 1.2, "×"), "1.29e+08": (1.29e8, 1.29e8, 1.29e8, ""), ".14": (.14, .14, .14, ""),
    "0.42 ± 0.03": (.42, .39, .45, ""), "0.73 ± 0.05 of 284": (.73, .68, .78, ""), "9% of 2479": (9, 9, 9, "%"),
    "0.70 [0.57, 0.81]": (.7, .57, .81, ""), "+1.00 (+0.83 to +1.00)": (1, .83, 1, ""), "36 of 64": (36, 36, 36, ""),
    ".38 to .45": (None, .38, .45, ""), "0.86 … 0.99": (None, .86, .99, ""), "0.47 ●": (.47, .47, .47, ""),
    "+0.98 (+0.96)": (.98, .98, .98, ""), "poem 0.94": (.94, .94, .94, ""), "[CLS] -1": (-1, -1, -1, ""),
    "[0.38, 0.45]": (None, .38, .45, ""), "0.91 / 0.03": (.91, .91, .91, ""),
    "0.91 … 0.93 / 0.03": (None, .91, .93, ""),
    "–": (None, None, None, ""), "": (None, None, None, "")}


def html(heads, rows):
    return "".join(["<table>", *("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
                                 for row in [heads, *rows]), "</table>"])


def written(svg):
    """The words of a chart."""
    return [tables.words(text) for text in re.findall("<text.*?</text>", svg)]


@pytest.mark.parametrize("text", FORMS)
def test_every_form_of_a_number_is_read(text):
    cell = tables.number(text)
    assert cell[1:4] == tuple(None if one is None else pytest.approx(one) for one in FORMS[text][:3])
    assert cell.unit == FORMS[text][3]
    assert not text or cell.text == text.replace("-", "−").removesuffix(" ●").partition(" / ")[0]


@pytest.mark.parametrize("text", ["mess", "1, 0", "suit in 155 of 155", "her 1.00, she 0.00", "(6,)", "mess / 0.03"])
def test_what_is_no_number_is_said(text):
    with pytest.raises(ValueError, match=f"“{re.escape(text)}” is no number that can be drawn"):
        tables.number(text)


@pytest.mark.parametrize("kind", ["bars", "dots", "heat", "words"])
def test_the_drawing_says_what_the_table_says(kind):
    svg = charts.draw(kind, html(HEADS, ROWS), "k")
    told = written(svg)
    for word in ["LIME", "chance", "tame", "peaky", "+0.50", "−1.25", "0.00", "1,234"]:
        assert word in told, word
    assert f'<div class="heard">{html(HEADS, ROWS)}</div>' in svg       # for who listens
    assert 'role="img" aria-label="Drawn as' in svg


def test_bars_are_as_long_as_their_numbers_and_rows_keep_their_order():
    svg = charts.draw("bars", html(["", "a"], [["one", "3"], ["two", "-1"], ["three", "2"]]), "k")
    found = re.findall(r'width="([\d.]+)" height="24".*?data-value="(.*?)"', svg)
    bars = [(float(value), float(width)) for width, value in found]
    unit = bars[0][1] / 3
    assert [value for value, _ in bars] == [3, -1, 2]
    assert [width for _, width in bars] == pytest.approx([3 * unit, unit, 2 * unit], abs=.2)
    assert [word for word in written(svg) if word in ("one", "two", "three")] == ["one", "two", "three"]
    assert 'fill="url(#k1)"' in svg and 'fill="#0072b2"' in svg          # below zero hatched, too


def test_two_charts_share_an_axis():
    def ticks(rows, axis):
        words = written(charts.draw("bars", html(["", "a"], rows), "k", axis))
        return [word for word in words if re.fullmatch(r"−?\d", word)]

    small, large = [["bad", "-0.02"], ["film", "0.01"]], [["bad", "-1.11"], ["film", "0.21"]]
    assert ticks(small, [-4, .5]) == ticks(large, [-4, .5]) == ["−4", "−3", "−2", "−1", "0"]
    with pytest.raises(ValueError, match=r"-1.11 to 0.21 is not on the axis \[-1, 1\]"):
        charts.draw("bars", html(["", "a"], large), "k", [-1, 1])


def test_lines_run_over_the_first_column_or_over_the_heads():
    down = charts.draw("lines", html(["n", "LIME", "SHAP"],
                                     [["10", "4", "1"], ["20", "2", "3"], ["30", "0", "–"]]), "k")
    along = charts.draw("lines", html(["way", "10 words", "20 words", "30 words"],
                                      [["LIME", "4", "2", "0"], ["SHAP", "1", "3", "–"]]), "k")
    routes = [re.findall('points="(.*?)"', svg) for svg in (down, along)]
    assert routes[0] == routes[1] and [len(route.split()) for route in routes[0]] == [3, 2]
    assert {"LIME", "SHAP", "10", "20", "30"} <= set(written(down)) & set(written(along))
    with pytest.raises(ValueError, match="lines need a number in each row"):
        charts.draw("lines", html(HEADS, ROWS), "k")


def test_a_table_of_few_rows_and_many_columns_is_turned():
    svg = charts.draw("dots", html(["", *"abcd"], [["x", *"1234"], ["y", *"5678"]]), "k")
    assert [word for word in written(svg) if word in tuple("abcdxy")] == [*"xy", *"abcd"]


def test_a_label_that_all_rows_have_is_left_out():
    labels, heads, _ = tables.read(html(["of", "who", "a"], [["signed", "LIME", "1"], ["signed", "chance", "2"]]))
    assert (labels, heads) == (["LIME", "chance"], ["a"])
    labels, _, _ = tables.read(html(["of", "who", "a"], [["tame", "LIME", "1"], ["peaky", "LIME", "2"]]))
    assert labels == ["tame", "peaky"]


def test_words_of_a_row_or_of_a_column():
    of_row = charts.draw("words", html(["", "not", "bad"], [["LIME", "-0.17", "-0.88"]]), "k")
    of_column = charts.draw("words", html(["word", "LIME"], [["not", "-0.17"], ["bad", "-0.88"]]), "k")
    assert written(of_row) == written(of_column) == ["not", "−0.17", "bad", "−0.88"]


def test_a_picture_that_lists_its_bars_is_a_table():
    alt = "LIME: Bar chart of share with 3 bars: not -0.174, , +0.0282, . 2e-05."
    assert tables.table(f'<img alt="{alt}">') == [["", "share"], ["not", "-0.174"], [",", "+0.0282"], [".", "2e-05"]]
    pairs = [["a", "-0.11 ± 0.07"], ["b", "+0.05 ± 0.05"]]
    assert tables.table('<img alt="a -0.11 ± 0.07, b +0.05 ± 0.05">')[1:] == pairs
    with pytest.raises(ValueError, match="neither one table nor bars"):
        tables.table('<img alt="Bar chart with 30 bars: largest a 3, smallest b 1.">')


@pytest.mark.parametrize(("kind", "rows", "axis", "words"), [
    ("bars", [["a", "1%", "2"]], None, "some numbers are in % or ×, and some are not"),
    ("bars", [["a", ".1 to .2", "2"]], None, "bars have one value each"), ("bars", ROWS, "log", "draw dots"),
    ("heat", [["a", ".1 to .2", "2"]], None, "a colour is of one value"), ("dots", ROWS, "log", "-1.25 cannot be on"),
    ("dots", [["a", "1", "mess"]], None, "“mess” is no number")])
def test_a_table_that_cannot_be_drawn_so_is_told_in_one_line(kind, rows, axis, words):
    with pytest.raises(ValueError, match=rf"\A[^\n]*{words}[^\n]*\Z"):
        charts.draw(kind, html(HEADS, rows), "k", axis)


@pytest.mark.parametrize("name", decks.names())
def test_every_chart_of_a_deck_writes_the_numbers_of_its_lecture(name):
    cells = {cell.id: cell for cell in decks.lecture(name).cells}
    for slide in decks.deck(name):
        if "draw" not in slide:
            continue
        chosen = {field: slide[field] for field in slide if field not in ("draw", "axis")}
        told = written(decks.output(slide, cells[slide["cell"]]))
        _, _, rows = tables.read(decks.output(chosen, cells[slide["cell"]]), turn=None)
        numbers = [] if slide["draw"] == "lines" else [cell.text for row in rows for cell in row]
        for number in numbers:
            assert number in told or number.split(" ")[0] in told, f"{name}, {slide['title']}: {number}"
