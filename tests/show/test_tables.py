"""Tables: what stands where, in text and in HTML, and what is refused."""

import re

import numpy as np
import pytest
import torch

from coursekit.show import table


def test_text_is_aligned_numbers_at_the_right():
    shown = table([["a", 1.23456, 7], ["long name", -0.5, None]], ["row", "x", "n"], ".2f")
    assert repr(shown).splitlines() == ["row            x  n", "a           1.23  7", "long name  -0.50  –"]


def test_a_dict_of_rows_is_the_same_table():
    rows = {"a": [1, True], "b": [2, False]}
    assert repr(table(rows, ["k", "n", "ok"])) == repr(table([["a", 1, True], ["b", 2, False]], ["k", "n", "ok"]))
    assert "yes" in repr(table(rows, ["k", "n", "ok"]))


def test_formats_by_column_and_the_default_beside_them():
    shown = repr(table([["a", 0.5, 0.12345]], ["row", "share", "x"], {"share": ".0%"}))
    assert "50%" in shown and "0.123" in shown


def test_numbers_of_numpy_and_torch_are_numbers():
    shown = table([["a", np.float64(0.123456), torch.tensor(0.5), np.int64(12345)]], ["row", "x", "y", "n"])
    assert repr(shown).splitlines()[1].split() == ["a", "0.123", "0.5", "12345"]


def test_html_names_rows_and_columns_and_is_escaped():
    html = table([["<b>", 1]], ["row & so", "n"], title="<i>")._repr_html_()
    assert "<b>&lt;" in html and "&lt;b&gt;" in html and "row &amp; so" in html
    assert html.count('scope="col"') == 2 and html.count('scope="row"') == 1


def test_html_has_numbers_at_the_right_and_words_at_the_left():
    sides = [re.findall('<t[hd][^>]*text-align:(left|right)"', row)
             for row in table({"a": [1, "x"]}, ["row", "n", "word"])._repr_html_().split("<tr>")[1:]]
    assert sides == [["left", "right", "left"]] * 2


@pytest.mark.parametrize("rows, columns, formats, said", [
    ([["a", 1]], ["row"], ".2f", "row 0 has 2 values for 1 column"),
    ([["a", 1]], ["row", "n"], {"m": ".2f"}, "formats names the column 'm'"),
    ([["a", 0.5]], ["row", "x"], "d", "the format 'd' of column 'x' does not fit 0.5"),
])
def test_what_does_not_fit_is_said_in_one_line(rows, columns, formats, said):
    with pytest.raises(ValueError, match=said) as error:
        table(rows, columns, formats)
    assert "\n" not in str(error.value)
