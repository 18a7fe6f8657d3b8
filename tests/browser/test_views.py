"""bertviz's views, the explorer and the playground in JupyterLab: drawn at the first run, clicked on, typed into, and
nothing asked for elsewhere."""

import re

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tools import notebooks
from tools.normalise import normalise

TOKENS = ["not", "</script><script>parent.hacked=alert(1)</script>", '"><img src=x onerror=alert(2)>', "<b>&lt;film"]
MAKE = f"""
import numpy as np
from coursekit.show import attention_explorer, bertviz_view
tokens = {TOKENS!r}
draw = np.random.default_rng(0)
A = draw.dirichlet(np.ones(4), (2, 3, 4))
Q, K = draw.normal(size=(2, 2, 3, 4, 5))
"""
CELLS = [MAKE, "bertviz_view('head', A, tokens)", "bertviz_view('model', A, tokens)",
         "bertviz_view('neuron', A, tokens, queries=Q, keys=K)", "explorer = attention_explorer(A, tokens)\nexplorer",
         "print(explorer.layer, explorer.heads, explorer.token)",
         "explorer.layer, explorer.heads, explorer.token = 0, [2], 3",
         "from coursekit import models, show\nshow.playground({'imdb-tame': models.load_weights('imdb-tame')})"]


@pytest.fixture(scope="module")
def numbers():
    names = {}
    exec(MAKE, names)
    return names


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A notebook that nobody has run, and the same as it would be committed."""
    folder = tmp_path_factory.mktemp("views") / "course"
    folder.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS], metadata=kernel)
    nbformat.write(notebook, folder / "fresh.ipynb")
    executed, problem = notebooks.execute(folder / "fresh.ipynb")
    assert problem == ""
    nbformat.write(normalise(executed), folder / "committed.ipynb")
    return folder


@pytest.fixture
def lab(watched, server):
    """A function that opens a notebook and gives the page. At the end, no complaint and no request to elsewhere."""
    page, complaints, elsewhere = watched

    def opened(name, run):
        page.goto(f"{server}/lab/tree/{name}?reset")             # nothing else is open
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        if run:
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        return page

    yield opened
    assert page.evaluate("window.hacked") is None
    assert complaints == [] and elsewhere == []


def view(page, number):
    """The output of a cell, which JupyterLab attaches when it comes into sight."""
    page.locator(".jp-CodeCell").nth(number).scroll_into_view_if_needed()
    return page.locator(".jp-CodeCell").nth(number)


def opacity(line):
    return float(line.get_attribute("stroke-opacity"))


def test_bertviz_is_drawn_at_the_first_run_and_clicked_on(lab, numbers):
    page, A = lab("fresh.ipynb", run=True), numbers["A"]

    head = view(page, 1).frame_locator("iframe")
    expect(head.locator("#attention line")).to_have_count(3 * 4 * 4)
    assert head.locator("#left text").all_text_contents() == head.locator("#right text").all_text_contents() == TOKENS
    line = head.locator(".headAttention").nth(1).locator("line").nth(4 * 2 + 3)
    assert opacity(line) == pytest.approx(A[0, 1, 2, 3] / 3, abs=1e-4)          # three heads share the ink
    colours = head.locator("#vis svg > g").last.locator("rect")
    colours.nth(0).click()
    expect(head.locator(".headAttention").first.locator("line").first).to_have_attribute("stroke-opacity", "0")
    assert opacity(line) == pytest.approx(A[0, 1, 2, 3] / 2, abs=1e-4)
    head.locator("#layer").select_option("1")
    assert opacity(line) == pytest.approx(A[1, 1, 2, 3] / 2, abs=1e-4)

    model = view(page, 2).frame_locator("iframe")
    expect(model.locator("line")).to_have_count(A.size)
    assert opacity(model.locator("line").last) == pytest.approx(A[1, 2, 3, 3], abs=1e-4)
    model.locator("rect:not([id])").nth(5).click()                              # the last of six maps
    expect(model.locator("text.detail")).to_have_text("Layer 1, Head 2")
    assert model.locator("#vis .token").all_text_contents() == TOKENS * 2

    neuron = view(page, 3).frame_locator("iframe")
    neuron.locator("#att_head").select_option("2")
    neuron.locator("#collapsed #leftText text").first.hover()
    neuron.locator("#collapsed #leftText > g").first.locator("rect").last.click()           # its ⊕
    expect(neuron.locator("#expanded")).to_have_attribute("visibility", "visible")
    neuron.locator("#expanded #leftText text").first.hover()
    scores = [float(box.get_attribute("data-value")) for box in neuron.locator(".dotproduct").all()]
    assert scores == pytest.approx(numbers["K"][0, 2] @ numbers["Q"][0, 2, 0] / np.sqrt(5), abs=1e-3)


def test_the_explorer_is_drawn_clicked_on_and_read_from_python(lab, numbers):
    page, A = lab("fresh.ipynb", run=True), numbers["A"]
    explorer = view(page, 4).locator(".attention-explorer")
    said, options = explorer.locator("p"), explorer.get_by_role("option")
    expect(explorer.locator("path")).not_to_have_count(0)                       # the last cell has set its state
    expect(said).to_contain_text("(head 2)")
    assert options.all_text_contents() == explorer.locator("tbody th").all_text_contents() == TOKENS

    def largest(layer, heads, token):
        mean = A[layer, heads, token].mean(0)
        return f"{TOKENS[token]} → {TOKENS[mean.argmax()]} {mean.max():.2f}"

    expect(said).to_contain_text(largest(0, [2], 3))
    options.nth(0).hover()
    expect(said).to_contain_text(largest(0, [2], 0))
    expect(explorer.locator("td").nth(2)).to_have_attribute("title", f"head 2: {A[0, 2, 0, 0]:.3f}")
    explorer.get_by_role("button", name="head 0").click()
    expect(said).to_contain_text(largest(0, [0, 2], 3))                         # no hovering any more: the one kept
    explorer.get_by_role("button", name="layer 1").click()
    expect(said).to_contain_text(largest(1, [0, 2], 3))
    expect(explorer.get_by_role("button", name="layer 1")).to_have_attribute("aria-pressed", "true")
    options.nth(1).click()
    page.mouse.move(0, 0)
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")

    explorer.get_by_role("button", name="layer 0").focus()                      # by keyboard
    page.keyboard.press("Enter")
    expect(explorer.get_by_role("button", name="layer 0")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    for key, selected in (("Home", 0), ("ArrowDown", 1), ("End", 3), ("ArrowUp", 2)):
        page.keyboard.press(key)
        expect(options.nth(selected)).to_have_attribute("aria-selected", "true")

    asked = view(page, 5)
    asked.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(asked.locator(".jp-OutputArea-output")).to_have_text(re.compile(r"^0 \[0, 2\] 2\s*$"))
    explorer.get_by_role("listbox").press("Escape")
    expect(explorer.locator("[aria-selected=true]")).to_have_count(0)
    expect(said).to_contain_text("mean over queries")


def test_the_playground_is_typed_into(lab):
    frame = view(lab("fresh.ipynb", run=True), 7).frame_locator("iframe")
    frame.get_by_label("Type a film review").fill("a wonderful film")
    expect(frame.locator(".big")).to_contain_text("praise")
    frame.locator("[data-row=shapley] .words > *").nth(1).click()
    expect(frame.get_by_label("Type a film review")).to_have_value("a film")


def test_a_committed_notebook_shows_a_picture_in_place_of_each_view(lab):
    page = lab("committed.ipynb", run=False)
    for cell, alt in ((1, "^bertviz's head view: layer 0, all heads"), (2, "^bertviz's model view: every layer"),
                      (3, "^bertviz's neuron view: layer 0, head 0"),
                      (4, "^Layer 0, mean of all heads: Attention from 4 queries to 4"),
                      (7, "^The playground. Typed is: I expected")):
        picture = view(page, cell).locator("img")
        expect(picture).to_have_attribute("alt", re.compile(alt))
        assert picture.evaluate("picture => picture.complete && picture.naturalWidth > 300")
