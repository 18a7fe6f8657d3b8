"""Every control of the lectures in a browser: moved by mouse or keys, it shows what the kernel has, and what stands
below it is drawn anew. In `make test-all` all lectures; in `make test` each kind of control, in a small notebook."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser import asked, lab
from tests.browser.conftest import TOKEN
from tools import notebooks, work
from tools.normalise import CONTROL
from tools.pace import counted

WITH_CONTROLS = [path for path in notebooks.find() if counted(nbformat.read(path, as_version=4).cells).controls]
EACH_KIND = """from ipywidgets import FloatLogSlider, FloatSlider, Textarea, ToggleButtons, interact

def said(a, b, c, d, e, f, g, h): print(a, b, c, d, e, f, g, h)

interact(said, a=["one", "two"], b=(0, 20), c=FloatSlider(0.5, min=-1, max=1, step=0.05, continuous_update=False),
         d=FloatLogSlider(10), e="a text", f=Textarea("some words"), g=True,
         h=ToggleButtons(options=[("1 [", 1), ("2 (", 2), ("3 [", 3)]));"""
SAME_LABELS = 'interact(lambda h: print(h), h=ToggleButtons(options=[("[", 1), ("(", 2), ("[", 3)]));'
# What a part of a control shows: (where its handle stands, the number beside it), or which option, a text, if on.
SHOWN = {
    "slider": """part => {
        const [base, handle] = [".noUi-base", ".noUi-handle"].map(at => part.querySelector(at).getBoundingClientRect());
        const number = part.querySelector(".widget-readout").textContent.replaceAll(",", "").replace("−", "-");
        return [(handle.x + handle.width / 2 - base.x) / base.width, Number(number)]; }""",
    "dropdown": """part => { const at = part.querySelector("select");
        return `${at.selectedIndex}: ${at.selectedOptions[0].textContent.replaceAll("\u00a0", " ")}`; }""",
    "text": "part => part.querySelector('input, textarea').value",
    "checkbox": "part => part.querySelector('input').checked",
    "buttons": """part => Array.from(part.querySelectorAll("button"), (button, i) =>
        button.matches(".mod-active") ? `${i}: ${button.textContent}` : "").join("")"""}
HOW = {"IntSlider": "slider", "FloatSlider": "slider", "FloatLogSlider": "slider", "Dropdown": "dropdown",
       "Text": "text", "Textarea": "text", "Checkbox": "checkbox", "ToggleButtons": "buttons"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The lectures as nobody has run them, and a small notebook."""
    folder = tmp_path_factory.mktemp("controls") / "course"
    (folder / "lectures").mkdir(parents=True)
    for path in notebooks.find():
        (folder / "lectures" / path.name).write_bytes(work.without_outputs(path.read_bytes()))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [new_code_cell(EACH_KIND), new_code_cell(SAME_LABELS)]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "small.ipynb")
    return folder


def run(page, server, folder, name):
    """Open a notebook and run all its cells."""
    lab.opened(page, f"{server}/lab/tree/{name}?reset")
    lab.chosen(page, "Run", "runmenu:run-all")
    number = sum(cell.cell_type == "code" for cell in nbformat.read(folder / name, as_version=4).cells)
    expect(page.locator(f"{lab.HERE} .jp-CodeCell .jp-InputPrompt").last).to_have_text(f"[{number}]:", timeout=180_000)
    lab.waits(page)


def same(kind, seen, had):
    """Does a part of a control show what it should?"""
    if HOW[kind] != "slider":
        return seen == had
    return seen[0] == pytest.approx(had[0], abs=0.02) and seen[1] == pytest.approx(had[1], rel=0.01)


def move(page, part, kind, time):
    """Change a part by mouse or keys: to the next option (or the one before), to the other half of a slider (the third
    time, to its beginning), to a shorter text."""
    if HOW[kind] == "slider":
        track = part.locator(".noUi-base")
        to = 0 if time == 2 else 0.25 if part.evaluate(SHOWN["slider"])[0] > 0.5 else 0.75
        box = track.bounding_box()
        track.click(position={"x": box["width"] * to, "y": box["height"] / 2}, force=True)
    elif HOW[kind] == "dropdown":
        select = part.locator("select")
        select.focus()
        last = select.evaluate("select => select.selectedIndex === select.length - 1")
        page.keyboard.press("ArrowUp" if last else "ArrowDown")
    elif HOW[kind] == "text":
        part.locator("input, textarea").focus()
        for key in ("Control+End", "Backspace", "Tab"):
            page.keyboard.press(key)
    elif HOW[kind] == "checkbox":
        part.locator("input").click()
    else:
        part.locator("button:not(.mod-active)").last.click()


def waited(page, condition, seconds):
    """Wait until a condition holds, at most so long; did it?"""
    for _ in range(10 * seconds):
        if condition():
            return True
        page.wait_for_timeout(100)
    return False


def settled(page, drawn):
    """What is drawn, once it has stayed the same for a while."""
    picture = None
    while picture != (picture := drawn.inner_html()):
        page.wait_for_timeout(300)
    return picture


def moved(page, cell, ask, number):
    """Move each part of a control, again if that drew nothing new, and as often as three times. Gives ([what is shown
    otherwise than the kernel has it], [parts that drew nothing new])."""
    cell.scroll_into_view_if_needed()
    pieces = cell.locator(".widget-interact > *")
    drawn = pieces.last
    wrong, still = [], []
    for i, (name, kind, _) in enumerate(ask()[number][1]):
        def has(i=i):
            return ask()[number][1][i][2]

        def shows(i=i, kind=kind):
            return pieces.nth(i).evaluate(SHOWN[HOW[kind]])

        pieces.nth(i).scroll_into_view_if_needed()
        for time in range(3):
            before, picture = has(), settled(page, drawn)
            move(page, pieces.nth(i), kind, time)
            assert waited(page, lambda: has() != before, 20), f"{name} was moved in vain"
            if not waited(page, lambda: same(kind, shows(), has()), 5):
                wrong.append(f"{name}: {shows()} where the kernel has {has()}")
            if waited(page, lambda: drawn.inner_html() != picture, 5):
                break
        else:
            still.append(name)
    return wrong, still


def test_each_kind_of_control_shows_what_the_kernel_has(server, watched, folder):
    page, complaints, elsewhere = watched
    run(page, server, folder, "small.ipynb")
    cells = page.locator(f"{lab.HERE} .jp-CodeCell")
    with asked.kernel(server, folder, TOKEN, "small.ipynb") as ask:
        assert {kind for _, kind, _ in ask()[0][1]} == set(HOW)
        assert moved(page, cells.nth(0), ask, 0) == ([], [])
        otherwise, _ = moved(page, cells.nth(1), ask, 1)                    # why tools/controls.py wants other labels
    assert otherwise == ["h: 0: [ where the kernel has 2: ["]
    assert complaints == [] and elsewhere == []


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_CONTROLS, ids=lambda path: path.stem)
def test_the_controls_of_a_lecture_show_what_the_kernel_has(path, server, watched, folder):
    page, _, elsewhere = watched
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    places = [i for i, cell in enumerate(code) if CONTROL in str(cell.outputs)]
    name = f"lectures/{path.name}"
    run(page, server, folder, name)
    wrong, still = [], []
    with asked.kernel(server, folder, TOKEN, name) as ask:
        assert len(ask()) == len(places) > 0
        for number, place in enumerate(places):
            function, parts = ask()[number]
            assert {kind for _, kind, _ in parts} <= set(HOW), "add this kind of control to the small notebook, too"
            otherwise, unmoved = moved(page, page.locator(f"{lab.HERE} .jp-CodeCell").nth(place), ask, number)
            wrong += [f"{function}, {said}" for said in otherwise]
            still += [f"{function}, {name}" for name in unmoved]
    assert wrong == still == elsewhere == [], (wrong, still)
