"""Formulas of lectures and assignments are written so that JupyterLab, GitHub and parsers of books read the same."""

import re

import nbformat
import pytest

from tools import notebooks

NOTEBOOKS = [*notebooks.find(), *sorted((notebooks.ROOT / "solutions").glob("*/*.ipynb"))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_formulas_read_the_same_in_every_viewer(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "markdown":
            continue
        lines = [line.lstrip("> ").rstrip() for line in cell.source.splitlines()]
        fences = [i for i, line in enumerate(lines) if "$$" in line]
        assert all(lines[i] == "$$" for i in fences), f"$$ stands on a line of its own: {cell.source[:60]!r}"
        assert len(fences) % 2 == 0
        for opening, closing in zip(fences[::2], fences[1::2], strict=True):
            around = lines[:opening][-1:] + lines[closing + 1:][:1]
            assert not any(around), f"a blank line before and after a formula: {lines[opening + 1]!r}"
            stray = [line for line in lines[opening:closing] if re.match(r"([-+*#]|=+$|\d+[.)])(\s|$)|$", line)]
            assert not stray, f"a line of a formula looks like a list, a heading or a gap: {stray[0]!r}"
        prose = re.sub(r"```.*?```|`[^`\n]*`|^[> ]*\$\$.*?\$\$", "", cell.source, flags=re.S | re.M)
        for inline in re.findall(r"(?<![$\\])\$[^$]+\$", prose):
            listed = re.search(r"\n[> ]*([-+*#]|\d+[.)])\s", inline)
            assert not listed, f"a line of a formula looks like a list: {inline!r}"
        for words in re.findall(r"\\text(?:bf|it|rm|tt)?\{([^}]*)\}", cell.source):
            assert words.isascii(), f"a letter of \\text that some fonts of formulas lack: {words!r}"
