"""Each page of docs/print is one page of A4."""

import re

import pytest

from tools import paper


@pytest.mark.parametrize("path", sorted(paper.PRINT.glob("*.html")), ids=lambda path: path.stem)
def test_a_sheet_is_one_page_of_a4(path, browser):
    tab = browser.new_page()
    tab.goto(path.as_uri())
    pdf = tab.pdf(prefer_css_page_size=True)
    tab.close()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    sides = sorted(float(side) for side in re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups())
    assert sides == pytest.approx([595, 842], abs=2)                    # 210 × 297 mm in points
