"""A learner's way from `make lab` to an answer that is still there on the second day, in a browser."""

import copy
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import expect

from tests.browser import lab
from tools import notebooks
from tools.normalise import CONTROL, normalise

LECTURE, TASK = "lectures/00_welcome.ipynb", "exercises/02_attention/02_attention.ipynb"
# A link to the assignment and a control: all of 00 in the short journey; in the whole one, the control ends it.
CELLS = [new_markdown_cell("The assignment: [02](../exercises/02_attention/02_attention.ipynb)."),
         new_code_cell("from ipywidgets import interact\n\nfrom coursekit import show\n\n"
                       "scores = {'α-avg': [1, 2], 'LIME': [2, -1], 'G×I': [-1, 3]}\n\n"
                       "def ask(first='α-avg', second='LIME'):\n"
                       "    return show.compare([(name, ['a', 'mess'], scores[name]) for name in (first, second)])\n\n"
                       "interact(ask, first=list(scores), second=list(scores));")]
ANSWER = """def softmax(u, axis):
    e = torch.exp(u - u.amax(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True)"""
COMMIT = "git -c user.name=a -c user.email=a@b commit -qam 'The course'"
UNSOLVED, CHECK, GREEN = "def softmax", "check.attention.softmax(softmax)", "✓ softmax: right on"
TEACHERS = re.compile("nbgrader|formgrader|assignment list|create assignment|validate", re.I)
WRITTEN = "shell => shell.innerText + Array.from(shell.querySelectorAll('[title]'), part => part.title)"
POINTS = "1 of 1 points, and 1 by tests that you do not see"


def sources(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def shorter(folder):
    """Cut lecture 00 to a control, and assignment 02 to its first question; write a notebook that is neither."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=CELLS, metadata=kernel), folder / LECTURE)
    nbformat.write(new_notebook(cells=CELLS[1:], metadata=kernel), folder / "own.ipynb")
    executed, problem = notebooks.execute(folder / LECTURE)
    assert problem == ""
    notebooks.write(normalise(executed), folder / LECTURE)
    task = nbformat.read(folder / TASK, as_version=4)
    task.cells = [*task.cells[:6], task.cells[-1]]
    nbformat.write(task, folder / TASK)


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """A clone of the course, whole or with a short lecture and assignment."""
    few = [LECTURE, TASK, "Makefile", "tools", ".gitignore", "pyproject.toml", "constraints.txt", "docs/notation.md"]
    folder = lab.fresh_course(tmp_path_factory.mktemp("learner") / "course", *few if request.param == "short" else [])
    if request.param == "short":
        shorter(folder)
    else:
        lecture = nbformat.read(folder / LECTURE, as_version=4)
        lecture.cells.append(copy.deepcopy(CELLS[1]))
        notebooks.write(normalise(lecture), folder / LECTURE)
    lab.shell(folder, f"git init; git add .; {COMMIT}")
    return folder


def whole_or_short(*kinds):
    """Parameters for the fixture `folder`; `whole` belongs to `make test-all`."""
    marked = [pytest.param(kind, marks=pytest.mark.slow) if kind == "whole" else kind for kind in kinds]
    return pytest.mark.parametrize("folder", marked, indirect=True, scope="module")


def control(page):
    """The control of the lecture by which the first of two explanations is chosen."""
    return lab.seen(page, "interact(ask").get_by_label("first", exact=True)


def row(page, number=0):
    """A row of what it shows."""
    return lab.seen(page, "interact(ask").locator(".jp-OutputArea tr").nth(number)


def moved(page, to):
    """Choose another explanation with the control; wait for its row; the row, as HTML."""
    control(page).select_option(to)
    expect(row(page).locator("th")).to_have_text(to)
    return row(page).inner_html()


@whole_or_short("short", "whole")
def test_from_the_first_lecture_to_an_answer_that_is_there_on_the_second_day(watched, server, folder):
    page, complaints, elsewhere = watched
    lecture, task = folder / "my" / LECTURE, folder / "my" / TASK
    committed = (folder / LECTURE).read_text(encoding="utf-8")

    lab.opened(page, lab.told(folder))                                      # `make lab` opens one's own copy of 00
    assert page.url == f"{server}/lab/tree/my/{LECTURE}"
    assert "own copies" in (folder.parent / "server.log").read_text()
    for made in (folder / "my").rglob("*.ipynb"):                           # and nothing in it can be read beforehand
        assert not any(cell.get("outputs") for cell in nbformat.read(made, as_version=4).cells)
    written = page.locator(".jp-LabShell").evaluate(WRITTEN)                # menu, sides, toolbar
    assert "Kernel" in written and "Debugger" in written and not TEACHERS.search(written)
    lab.run_all(page, control(page))
    expect(row(page).locator("th")).to_have_text("α-avg")
    first, second = row(page).inner_html(), row(page, 1).inner_html()
    assert moved(page, "G×I") not in (first, second) and row(page, 1).inner_html() == second
    assert moved(page, "α-avg") == first                                    # the control has changed the picture
    moved(page, "G×I")
    lab.save(page, lecture)

    page.get_by_role("link", name="02", exact=True).click()
    lab.in_front(page, "02_attention.ipynb")
    lab.run(page, "from coursegrade import check")
    assert "✓" not in lab.run(page, CHECK).inner_text()
    lab.run(page, UNSOLVED, ANSWER)
    expect(lab.run(page, CHECK)).to_contain_text(GREEN)
    lab.restarted(page, "runmenu:restart-and-run-all")
    expect(lab.seen(page, "check.score()")).to_contain_text(POINTS)
    expect(lab.seen(page, CHECK)).to_contain_text(GREEN)
    lab.finished(page)
    lab.save(page, task)
    lab.restarted(page)

    lab.opened(page, f"{server}/lab/tree/my/{TASK}?reset")                  # the second day
    expect(lab.seen(page, UNSOLVED)).to_contain_text("u.amax(axis, keepdim=True)")
    expect(lab.seen(page, "check.score()")).to_contain_text(POINTS)         # as it was saved
    expect(lab.seen(page, CHECK)).to_contain_text(GREEN)
    expect(lab.run(page, CHECK)).to_contain_text("NameError")               # variables are gone
    lab.run_all(page, lab.seen(page, CHECK).get_by_text(GREEN))
    lab.save(page, task)
    saved = nbformat.read(lecture, as_version=4)
    assert normalise(copy.deepcopy(saved)) == saved and CONTROL in str(saved.cells)
    lab.opened(page, f"{server}/lab/tree/my/{LECTURE}?reset")
    expect(lab.seen(page, "interact(ask")).to_contain_text(CONTROL)
    expect(row(page).locator("th")).to_have_text("G×I")
    expect(page.get_by_text("Error displaying widget")).to_have_count(0)
    lab.run_all(page, control(page))                                        # and the control is one again
    assert moved(page, "α-avg") == first
    lab.save(page, lecture)

    if (folder / "own.ipynb").exists():                                     # executed here, by the same packages
        assert lecture.read_text(encoding="utf-8") == committed
    assert lab.shell(folder, "git status --porcelain; make work") == "my/: no changes.\n"
    if (folder / "coursekit").exists():
        done = lab.shell(folder, "make progress")
        assert "  ✓ 00 welcome             run\n" in done and "1 of 7 questions pass" in done

    for name in (LECTURE, TASK):                                            # what a `git pull` might bring
        newer = nbformat.read(folder / name, as_version=4)
        newer.cells[0].source += "\n\nA better sentence."
        nbformat.write(newer, folder / name)
    lab.shell(folder, COMMIT)
    assert lab.shell(folder, "make work").splitlines() == [
        f"my/{TASK}: changed by you and by the course: yours stays, and the new one is "
        f"my/{TASK.replace('.ipynb', '.new.ipynb')}",
        f"my/{LECTURE}: renewed, as you had not changed it", "my/: 2 changes."]
    assert ANSWER in sources(task) and sources(lecture)[0].endswith("A better sentence.")

    assert [text for text in complaints if "widget" in text.lower()] == [] and elsewhere == []


@whole_or_short("short")
def test_other_notebooks_are_saved_as_they_are(watched, server, folder):
    page, _, _ = watched
    lab.opened(page, f"{server}/lab/tree/own.ipynb?reset")
    lab.run_all(page, control(page))
    lab.save(page, folder / "own.ipynb")
    saved = nbformat.read(folder / "own.ipynb", as_version=4)
    assert "application/vnd.jupyter.widget-view+json" in str(saved.cells[0].outputs)
    assert "widgets" in saved.metadata                                      # so that a control is drawn when reopened
