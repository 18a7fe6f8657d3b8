"""The trial that every lecture goes through (tools/trial.py), on small notebooks: which controls it sees, what it says
of one that fails, and that an online section is run as one that is switched on."""

import json
import re

import ipywidgets
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import controls, notebooks, trial


def tried(cells, folder):
    """Execute a notebook of these cells (text: code) in its trial; (controls, calls). AssertionError: what failed."""
    cells = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    notebook = trial.prepared(new_notebook(cells=cells), folder, folder / "told.json")
    number, problem = notebooks.run_cells(notebook, folder)
    assert not problem, f"cell {number - 1}: {problem}"
    told = json.loads((folder / "told.json").read_text())
    return told["controls"], told["calls"]


def test_a_setting_that_fails_is_named(tmp_path):
    source = "from ipywidgets import interact\ndef inverse(x, name): return 1 / (x - 7)\n"
    source += "interact(inverse, x=(0, 14), name=['a', 'b']);"
    with pytest.raises(AssertionError, match=r"cell 1: .*control 1, inverse\(x=7, name='a'\): ZeroDivisionError"):
        tried([source], tmp_path)


@pytest.mark.parametrize("kind", ["Dropdown", "ToggleButtons", "RadioButtons", "Select", "SelectMultiple",
                                  "SelectionSlider"])
def test_options_of_the_same_label_are_named(kind):
    said = []
    for labels in ("abc", "aba"):
        widget = getattr(ipywidgets, kind)(options=[*zip(labels, (1, 2, 3), strict=True)])
        try:
            controls.try_all(lambda place: None, {"place": widget})
        except AssertionError as error:
            said.append(f"{labels}: {error}")
    [only] = said
    assert re.match(r"aba: control \d+, <lambda>: options of 'place' share the label 'a', .*own$", only)


def test_a_name_that_a_later_cell_gives_away_is_noticed(tmp_path):
    cells = ["from ipywidgets import interact\nq = 2.0\ndef scaled(x): return q * x\ninteract(scaled, x=(0.0, 1.0));",
             "for q in (['a', 'list'],): pass"]
    with pytest.raises(AssertionError, match=r"control 1 after the last cell, scaled\(x=.*\): TypeError"):
        tried(cells, tmp_path)


def test_all_forms_of_interact_are_seen_and_do_what_they_do(tmp_path):
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
interact.options(manual=True)(lambda late: seen.append(late), late=[7, 8])
assert set(seen) >= {True, False, (0.0, 3), (0.5, 3), (1.0, 3), 1, 2, 5, 6, 7, 8, "x", ""}, seen
assert type(a.widget).__name__ == type(made).__name__ == "interactive" and made.children[0].value == "x"
"""
    number, calls = tried([source], tmp_path)
    assert number == 6 and calls >= 14


ONLINE = """from coursekit.models import GPT2
ONLINE = False
model = None
if ONLINE:
    model = GPT2.from_huggingface("gpt2")
else:
    print("This section is switched off.")"""


def test_the_cells_of_an_online_section_are_run_once_more_switched_on(tmp_path):
    section = [ONLINE, "assert (model is not None) == ONLINE", "print('This section is switched off.')"]
    cells = [new_code_cell("x = 1"), *map(new_code_cell, section), new_markdown_cell("## Next"), new_code_cell("del x")]
    assert trial.online_cells(new_notebook(cells=cells)) == section
    with pytest.raises(AssertionError, match="cell 7: AssertionError: an online section .* says: .* switched off"):
        tried(cells, tmp_path)
