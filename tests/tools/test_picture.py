"""The README's pictures can be made from what lecture 00 and its own six lines show, and are small."""

import re

import nbformat
import pytest
from PIL import Image

from coursekit.show.views.playground import ALT
from tools import picture

SCORE = r"(?<=\()[-+\d.e]+(?=\))"


def test_the_lecture_begins_with_the_playground_and_keeps_a_picture_of_it():
    cells = [cell for cell in nbformat.read(picture.LECTURE, as_version=4).cells if cell.cell_type == "code"]
    first = next(cell for cell in cells if cell.outputs)
    assert "show.playground(" in first.source and cells.index(first) <= 2             # behind what it imports
    html = first.outputs[0].data["text/html"]
    assert html.startswith(f'<img alt="{ALT}"') and "<script" not in html and "<iframe" not in html


def test_the_lecture_holds_both_parts():
    explanations, attention = picture.parts(nbformat.read(picture.LECTURE, as_version=4))
    for name in ("α-avg", "α-max", "G-avg", "G-L1", "G-L2", "G×I", "LIME"):
        assert f">{name}</th>" in explanations
    assert attention.startswith("<img") and "data:image/png;base64," in attention


def test_a_lecture_without_them_is_named():
    with pytest.raises(ValueError, match="00_welcome.ipynb holds no comparison or no map: execute it"):
        picture.parts(nbformat.v4.new_notebook())


def test_the_readmes_six_lines_print_what_it_says():
    code, said = picture.six_lines(picture.README.read_text(encoding="utf-8"))
    assert len(code.splitlines()) == 6
    shown = repr(picture.value(code)).splitlines()
    assert [re.sub(SCORE, "", line) for line in shown] == [re.sub(SCORE, "", line) for line in said.splitlines()]
    for ours, theirs in zip(shown, said.splitlines(), strict=True):
        ours, theirs = ([float(score) for score in re.findall(SCORE, line)] for line in (ours, theirs))
        assert ours == pytest.approx(theirs, rel=0.01, abs=0.005 * max(map(abs, theirs))), "the last digit may differ"


@pytest.mark.parametrize("path", [picture.PICTURE, picture.SIX_LINES, picture.PLAYGROUND], ids=lambda path: path.stem)
def test_the_committed_pictures_are_small_and_opaque(path):
    assert path.stat().st_size <= 300_000
    assert f"]({path.relative_to(picture.ROOT)})" in picture.README.read_text("utf-8")
    with Image.open(path) as image:
        assert image.width >= 1200 and image.convert("RGBA").getextrema()[3] == (255, 255)
