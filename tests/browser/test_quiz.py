"""A quiz in JupyterLab: answered by keyboard and mouse, its formulas drawn, the page without a kernel to unfold."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from coursegrade.selfcheck.questions import load
from tools import notebooks
from tools.normalise import normalise
from tools.npm import package

SERIOUS = """async root => (await axe.run(root, {runOnly: ["wcag2a", "wcag2aa", "best-practice"]})).violations
  .filter(found => ["serious", "critical"].includes(found.impact)).map(found => [found.id, found.nodes[0].html])"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A notebook with the quiz of lecture 02 that nobody has run, and the same as it would be committed."""
    folder = tmp_path_factory.mktemp("quiz") / "course"
    folder.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [new_code_cell('from coursegrade import quiz\n\nquiz("02")')]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "fresh.ipynb")
    executed, problem = notebooks.execute(folder / "fresh.ipynb")
    assert problem == ""
    nbformat.write(normalise(executed), folder / "committed.ipynb")
    return folder


def opened(page, server, name):
    page.goto(f"{server}/lab/tree/{name}?reset")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    return page.locator(".jp-CodeCell .jp-OutputArea")


def serious(page, selector):
    """What axe-core finds serious or worse in a part of the page."""
    page.add_script_tag(path=package("axe-core") / "axe.min.js")
    return page.evaluate(SERIOUS, selector)


def test_a_quiz_is_answered_in_the_notebook(server, watched):
    page, complaints, elsewhere = watched
    shown = opened(page, server, "fresh.ipynb")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
    expect(shown.get_by_role("button", name="Answer", exact=True)).to_have_count(5)
    expect(shown.locator("mjx-container")).not_to_have_count(0)
    expect(shown.locator("details")).to_have_count(0)                       # the widget alone
    assert "$" not in shown.inner_text() and "\\(" not in shown.inner_text()

    typed = shown.get_by_role("textbox", name="Your number:")
    alert = shown.get_by_role("alert")
    typed.press_sequentially("28.75")                                       # Enter may not overtake what was typed
    typed.press("Enter")
    expect(alert).to_contain_text("the mask was taken for a score of 0")
    typed.fill("5")
    typed.press("Tab")                                                      # to leave the box is no answer …
    expect(alert).to_have_count(0)
    page.keyboard.press("Enter")                                            # … but the button is
    expect(alert).to_contain_text("Right.")

    right = [text[:8] for text in load("02")[1]["order"]]
    lines = shown.locator(".widget-htmlmath-content").filter(has_text=re.compile(rf"^\d\. ({'|'.join(right)})"))
    up, down = (shown.get_by_role("button", name=arrow) for arrow in "↑↓")
    for to, text in enumerate(right[:-1]):                                  # to the top, by keyboard alone
        at = next(i for i, line in enumerate(lines.all_inner_texts()) if text in line)
        up.nth(at).focus()
        for step in range(at, to, -1):                                      # lines and focus arrive one by one
            page.keyboard.press("Enter")
            expect(lines.nth(step - 1)).to_contain_text(f"{step}. {text}")
            expect(lines.nth(step)).not_to_contain_text(text)
            expect((up if step > 1 else down).nth(step - 1)).to_be_focused()
    shown.get_by_role("button", name="Answer", exact=True).nth(1).click()
    expect(alert.nth(1)).to_contain_text("Right.")

    for place in (2, 3, 4):                                                 # A each time: one of the three is right
        shown.get_by_role("radio", name="A").nth(place - 2).check()
        shown.get_by_role("button", name="Answer", exact=True).nth(place).click()
        expect(alert).to_have_count(place + 1)
    expect(shown).to_contain_text("2 of 5 at the first try.")
    assert serious(page, ".jp-OutputArea") == []
    assert complaints == [] and elsewhere == []


def test_a_committed_quiz_is_unfolded(server, watched):
    page, complaints, elsewhere = watched
    shown = opened(page, server, "committed.ipynb")
    answers = shown.locator("details")
    expect(answers).to_have_count(13)
    expect(shown.locator("mjx-container")).not_to_have_count(0)
    answers.first.locator("summary").click()
    expect(answers.first.locator("dd").first).to_be_visible()
    assert serious(page, ".jp-OutputArea") == []
    assert complaints == [] and elsewhere == []
