"""A fresh copy of the course, and what people do in JupyterLab."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
SET_UP = {"MAKEFLAGS": "s PYTHON=true"}                                 # `make setup` runs `true` in place of Python
HERE = ".jp-NotebookPanel:not(.lm-mod-hidden)"                          # the notebook in front


def fresh_course(folder, *paths):
    """A copy of the course, or of some of its paths, as it would be cloned, with what is not committed yet. Its
    environment is that of the tests, which `make` takes as it is if told SET_UP."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def shell(folder, command):
    """What a command prints that is given in the course's folder."""
    own = {"PYTHONPATH": os.environ["PYTHONPATH"], "OMP_NUM_THREADS": "1", **SET_UP}
    done = subprocess.run(command, shell=True, cwd=folder, env=os.environ | own, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told(folder):
    """The address that `make lab` opens a browser on."""
    [page] = (folder.parent / "RUNTIME").glob("jpserver-file-to-run-*-open.html")
    return re.search(r'href="([^"]+)"', page.read_text())[1]


def opened(page, address):
    """Open a notebook by its address, and nothing else; wait for its kernel."""
    page.goto(address)
    in_front(page, address.partition("?")[0].rpartition("/")[2])


def in_front(page, name):
    """Wait until the notebook in front is the one of that name, and its kernel has nothing to do."""
    expect(page.locator(".jp-mod-current.lm-TabBar-tab")).to_contain_text(name)
    waits(page)


def waits(page):
    """Wait until the notebook in front has a kernel, which has nothing to do."""
    expect(page.locator(f"{HERE} .jp-Toolbar-kernelName")).to_have_text("Python 3 (ipykernel)")
    expect(page.locator(f'{HERE} .jp-Notebook-ExecutionIndicator[data-status="idle"]')).to_be_visible()


def chosen(page, menu, command):
    """Choose a command of a menu."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.locator(f'.lm-Menu-item[data-command="{command}"]').click()


def run_all(page, comes):
    """Run all cells, until something comes that was not there before, and no cell waits for its turn."""
    chosen(page, "Run", "runmenu:run-all")
    expect(comes).to_be_visible()
    finished(page)


def finished(page):
    """Wait until no cell of the notebook in front runs or waits for its turn."""
    expect(page.locator(f"{HERE} .jp-InputPrompt", has_text="*")).to_have_count(0)
    waits(page)


def restarted(page, command="kernelmenu:restart"):
    """Restart the kernel, by this command of its menu, and say yes."""
    chosen(page, "Kernel", command)
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def cell(page, text):
    """The code cell, of the notebook in front, whose source has this text."""
    return page.locator(f"{HERE} .jp-CodeCell").filter(has=page.locator(".jp-InputArea-editor", has_text=text)).first


def seen(page, text):
    """The same, scrolled to: JupyterLab draws what it shows when it comes into sight."""
    cell(page, text).scroll_into_view_if_needed()
    return cell(page, text)


def run(page, text, source=None):
    """Run the cell whose source has this text, with another source if one is given; what it shows."""
    here = cell(page, text)
    number = here.locator(".jp-InputPrompt").first
    before = number.inner_text()
    here.locator(".cm-content").click()
    expect(here).to_have_class(re.compile("jp-mod-active"))
    if source:
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(source)
        expect(here).to_contain_text(source.splitlines()[-1])
    page.keyboard.press("Control+Enter")
    expect(number).not_to_have_text(before)
    expect(number).to_have_text(re.compile(r"^\[\d+\]:$"))
    return here.locator(".jp-OutputArea").first


def save(page, path):
    """Save the notebook in front and wait until the file has been written, and the page knows (else it asks before it
    is left)."""
    before = path.stat().st_mtime_ns
    page.locator(f"{HERE} .jp-Notebook").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+s")
    for _ in range(100):
        if path.stat().st_mtime_ns != before:
            expect(page.locator(".jp-mod-dirty")).to_have_count(0)
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{path.name} was not saved")
