"""A lecture that was run, saved and opened again on the second day: as clean as committed, its controls readable."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tools import notebooks
from tools.normalise import CONTROL, normalise

CELLS = ["from ipywidgets import interact\n\ndef doubled(x):\n    print('twice is', 2 * x)\n\n"
         "interact(doubled, x=(0, 10));",
         "print('done')"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A course of one lecture, as committed, and the same notebook outside lectures/."""
    folder = tmp_path_factory.mktemp("saving") / "course"
    (folder / "lectures").mkdir(parents=True)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=list(map(new_code_cell, CELLS)), metadata=kernel), folder / "own.ipynb")
    executed, problem = notebooks.execute(folder / "own.ipynb")
    assert problem == ""
    notebooks.write(normalise(executed), folder / "lectures" / "00_one.ipynb")
    return folder


def opened(page, server, name):
    page.goto(f"{server}/lab/tree/{name}?reset")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()


def run_all(page):
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
    expect(page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")).to_have_text("done")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()


def save(page, path):
    """Save the open notebook and wait until the file has been written, and the page knows (else it asks before it is
    left)."""
    before = path.stat().st_mtime_ns
    page.locator(".jp-Notebook").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+s")
    for _ in range(100):
        if path.stat().st_mtime_ns != before:
            expect(page.locator(".jp-mod-dirty")).to_have_count(0)
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{path.name} was not saved")


def shown(page):
    return page.locator(".jp-CodeCell").nth(0).locator(".jp-OutputArea").first


def moved(page, key):
    """Move the control by a key; what it shows."""
    shown(page).locator(".noUi-handle, [role=slider]").first.focus()
    page.keyboard.press(key)
    return shown(page)


def test_a_lecture_that_was_run_and_saved_is_the_committed_file(watched, server, folder):
    page, complaints, _ = watched
    path = folder / "lectures" / "00_one.ipynb"
    committed = path.read_bytes()
    opened(page, server, "lectures/00_one.ipynb")
    run_all(page)
    expect(shown(page)).to_contain_text("twice is 10")
    expect(moved(page, "Home")).to_contain_text("twice is 0")
    moved(page, "End")
    expect(shown(page)).to_contain_text("twice is 20")
    save(page, path)
    assert path.read_text() == committed.decode().replace("twice is 10", "twice is 20")

    opened(page, server, "lectures/00_one.ipynb")
    expect(shown(page)).to_contain_text(CONTROL)
    expect(shown(page)).to_contain_text("twice is 20")
    expect(page.get_by_text("Error displaying widget")).to_have_count(0)
    run_all(page)                                                            # and the control is one again
    expect(moved(page, "Home")).to_contain_text("twice is 0")
    save(page, path)
    assert [line for line in complaints if "widget" in line.lower()] == []


def test_other_notebooks_are_saved_as_they_are(watched, server, folder):
    page, _, _ = watched
    path = folder / "own.ipynb"
    opened(page, server, "own.ipynb")
    run_all(page)
    save(page, path)
    saved = nbformat.read(path, as_version=4)
    assert "application/vnd.jupyter.widget-view+json" in str(saved.cells[0].outputs)
    assert "widgets" in saved.metadata                                       # so that a control is drawn when reopened
