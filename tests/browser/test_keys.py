"""Keys in JupyterLab: on a control they are the control's, on a cell they are commands to the notebook."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import expect

from tests.browser import lab

CONTROLS = """from ipywidgets import ToggleButtons, interact

def said(a, b, c): print(a, b, c)

interact(said, a=["one", "two", "three"], b=(0, 10), c=ToggleButtons(options=["x", "y", "z"]));"""
# What commands would change: the kind of each cell (C: code, M: Markdown), and which is the active one (*).
NOTEBOOK = """Array.from(document.querySelectorAll('.jp-Notebook .jp-Cell'), cell =>
  cell.className.match(/jp-([CMR])[a-z]+Cell/)[1] + (cell.matches('.jp-mod-active') ? '*' : '')).join(' ')"""
COMMANDS = "d d x a b c v z m r y j k 0 0 i i Shift+M Shift+J Enter Escape"       # delete, cut, insert, …, restart


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A notebook with a dropdown, a slider and a row of buttons between two other cells."""
    folder = tmp_path_factory.mktemp("keys") / "course"
    folder.mkdir()
    cells = [new_code_cell("x = 1"), new_code_cell(CONTROLS), new_markdown_cell("# The end")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "controls.ipynb")
    return folder


def pressed(page, keys):
    """Press keys, one after the other, and give JupyterLab time to do what it takes them for."""
    for key in keys.split():
        page.keyboard.press(key)
    page.wait_for_timeout(400)


def test_keys_on_a_control_are_the_control_s_and_on_a_cell_the_notebook_s(server, watched):
    page, complaints, elsewhere = watched
    lab.opened(page, f"{server}/lab/tree/controls.ipynb?reset")
    said = page.locator(".jp-OutputArea-output pre")
    lab.run_all(page, said)
    expect(said).to_have_text("one 5 x")
    dialog = page.locator(".jp-Dialog")
    dropdown, handle = page.locator(".widget-dropdown select"), page.get_by_role("slider")
    button = page.get_by_role("button", name="y", exact=True)
    for control, keys, then in ((dropdown, "ArrowDown", "two 5 x"), (dropdown, "ArrowDown ArrowUp ArrowUp", "one 5 x"),
                                (handle, "ArrowRight ArrowUp", "one 7 x"), (handle, "ArrowLeft", "one 6 x"),
                                (button, "Enter", "one 6 y"), (button, "ArrowDown ArrowUp", "one 6 y"),
                                (handle, COMMANDS, "one 6 y"), (button, COMMANDS, "one 6 y"),
                                (dropdown, COMMANDS, "one 6 y")):
        control.focus()
        pressed(page, keys)
        expect(said).to_have_text(then)
        expect(control).to_be_focused()
        expect(dialog).to_have_count(0)
        assert page.evaluate(NOTEBOOK) == "C C* M", (control, keys)

    handle.focus()                                                          # what runs a cell still does
    page.keyboard.press("Shift+Enter")
    expect(said).to_have_text("one 5 x")
    page.wait_for_function(f"{NOTEBOOK} === 'C C M*'")
    for keys, then in (("ArrowUp", "C C* M"), ("j", "C C M*"), ("a", "C C C* M"), ("d d", "C C M*"), ("b", "C C M C*"),
                       ("m", "C C M M*"), ("x", "C C M*"), ("Enter Escape y", "C C C*")):
        pressed(page, keys)
        page.wait_for_function(f"{NOTEBOOK} === '{then}'")
    pressed(page, "0 0")
    expect(dialog).to_contain_text("Restart Kernel?")
    assert complaints == [] and elsewhere == []
