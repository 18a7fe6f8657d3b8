"""The README's picture can be made from what lecture 00 shows, and is small."""

import nbformat
import pytest
from PIL import Image

from tools import picture


def test_the_lecture_holds_both_parts():
    explanations, attention = picture.parts(nbformat.read(picture.LECTURE, as_version=4))
    for name in ("α-avg", "α-max", "G-avg", "G-L1", "G-L2", "G×I", "LIME"):
        assert f">{name}</th>" in explanations
    assert attention.startswith("<img") and "data:image/png;base64," in attention


def test_a_lecture_without_them_is_named():
    with pytest.raises(ValueError, match="00_welcome.ipynb holds no comparison or no map: execute it"):
        picture.parts(nbformat.v4.new_notebook())


def test_the_committed_picture_is_small_and_opaque():
    assert picture.PICTURE.stat().st_size <= 300_000
    with Image.open(picture.PICTURE) as image:
        assert image.width >= 1200 and image.convert("RGBA").getextrema()[3] == (255, 255)
