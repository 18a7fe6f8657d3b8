"""Every `interact` of every lecture answers over its whole range (tools/controls.py says which settings are tried),
once where it stands and once more at the end of Run All; in the same run its online sections, with small untrained
models (tools/untrained.py)."""

import re

import nbformat
import pytest

from tools import notebooks
from tools.pace import CONTROL

INSTALL = f"import sys; sys.path.insert(0, {str(notebooks.ROOT)!r}); from tools import controls; controls.install()"
ONLINE = "from tools import untrained; untrained.install()"
AGAIN = "controls.again(); print(controls.counted.controls, controls.counted.calls)"


def with_controls():
    """The lectures with a call of `interact` in their code."""
    for path in notebooks.find():
        cells = nbformat.read(path, as_version=4).cells
        if any(cell.cell_type == "code" and CONTROL.search(cell.source) for cell in cells):
            yield path


def try_controls(notebook, folder):
    """Execute a notebook with its controls tried; (controls, calls). AssertionError names cell, control and setting."""
    code = nbformat.v4.new_code_cell
    tried = nbformat.v4.new_notebook(cells=[code(INSTALL), *notebook.cells, code(AGAIN)])
    number, problem = notebooks.run_cells(tried, folder)
    assert not problem, f"cell {number - 1}: {problem}"
    return tuple(map(int, tried.cells[-1].outputs[0].text.split()))


@pytest.mark.parametrize("path", with_controls(), ids=lambda path: path.stem)
def test_every_control_answers_over_its_range(path):
    notebook = nbformat.read(path, as_version=4)
    switches = [cell for cell in notebook.cells if re.search("^ONLINE = False$", cell.source, re.M)]
    for cell in switches:
        cell.source = ONLINE + "\n" + cell.source.replace("ONLINE = False", "ONLINE = True")
    controls, calls = try_controls(notebook, path.parent)
    assert controls >= 1 and calls >= controls, f"interact stands in {path.name}, and nothing was called"
    said = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "could not be fetched" not in said and "switched off" not in said


def test_three_lectures_have_an_online_section():
    found = {notebooks.number(path) for path in notebooks.find() if "ONLINE = False" in path.read_text("utf-8")}
    assert {"03", "04", "05"} <= found <= {notebooks.number(path) for path in with_controls()}


def test_a_setting_that_fails_is_named(tmp_path):
    source = "from ipywidgets import interact\ndef inverse(x, name): return 1 / (x - 7)\n"
    source += "interact(inverse, x=(0, 14), name=['a', 'b']);"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    with pytest.raises(AssertionError, match=r"cell 1: .*control 1, inverse\(x=7, name='a'\): ZeroDivisionError"):
        try_controls(notebook, tmp_path)


def test_a_name_that_a_later_cell_gives_away_is_noticed(tmp_path):
    cells = ["from ipywidgets import interact\nq = 2.0\ndef scaled(x): return q * x\ninteract(scaled, x=(0.0, 1.0));",
             "for q in (['a', 'list'],): pass"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with pytest.raises(AssertionError, match=r"control 1 after the last cell, scaled\(x=.*\): TypeError"):
        try_controls(notebook, tmp_path)


def test_all_forms_of_interact_are_seen(tmp_path):
    source = """
import ipywidgets as w
from ipywidgets import fixed, interact, interact_manual, interactive, interactive_output
seen = []
@interact
def a(on=True): seen.append(on)
@interact(x=(0.0, 1.0, 0.5), k=fixed(3))
def b(x, k): seen.append((x, k))
interact_manual(lambda choice: seen.append(choice), choice={"one": 1, "two": 2})
interactive_output(lambda n: seen.append(n), {"n": w.IntSlider(min=5, max=6)})
made = interactive(lambda word: seen.append(word), word="x")
assert set(seen) >= {True, False, (0.0, 3), (0.5, 3), (1.0, 3), 1, 2, 5, 6, "x", ""}, seen
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    controls, calls = try_controls(notebook, tmp_path)
    assert controls == 5 and calls >= 12
