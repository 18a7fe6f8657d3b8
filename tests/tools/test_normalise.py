"""A normalised notebook holds nothing that changes from run to run."""

import base64
import copy
import io
import json

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from tools import notebooks
from tools.normalise import CONTROL, SCRIPT, normalise, without_bars


def png(dpi, inches=6, **metadata):
    figure, _ = plt.subplots(figsize=(inches, 1))
    file = io.BytesIO()
    figure.savefig(file, dpi=dpi, metadata=metadata)
    plt.close(figure)
    return base64.b64encode(file.getvalue()).decode()


def outputs(*given):
    """What normalising leaves of a cell's outputs."""
    notebook = new_notebook(cells=[new_code_cell("x", execution_count=7, outputs=list(given))])
    return normalise(notebook).cells[0].outputs


def html(text):
    return new_output("display_data", data={"text/html": text, "text/plain": "<HTML>"})


@pytest.mark.parametrize("text, left", [
    ("plain\n", "plain\n"),
    ("100%|██████████| 5/5 [00:00<00:00, 97.1it/s]\n", ""),
    ("\r  0%|          | 0/5 [00:00<?, ?it/s]\r100%|███| 5/5 [00:00<00:00, 9it/s]\nafter\n", "after\n"),
    ("7it [00:00, 61.3it/s]\n", ""),
    ("20 %| is no bar\n", "20 %| is no bar\n"),
    ("step 1\rstep 2\n", "step 2\n"),
    ("no newline at the end", "no newline at the end"),
])
def test_progress_bars(text, left):
    assert without_bars(text) == left


def test_streams_are_joined_wherever_the_kernel_cut_them():
    def stream(text):
        return new_output("stream", name="stdout", text=text)
    assert outputs(stream("a\n"), stream("b"), stream("c\n")) == outputs(stream("a\nbc\n"))


def test_times_and_addresses():
    timed = new_output("stream", name="stdout", text="3\nCPU times: user 1 ms\nWall time: 2 ms\n")
    assert outputs(timed)[0].text == "3\n"
    [shown] = outputs(new_output("execute_result", data={"text/plain": "<Thing at 0x7f12ab34cd56>"}, execution_count=9))
    assert shown.data["text/plain"] == "<Thing at 0x…>" and shown.execution_count == 1


def test_pictures_are_bounded_and_nameless():
    [big, bar] = outputs(new_output("display_data", data={"image/png": png(200, Software="drawn by version 1")}),
                         html(f'<img alt="a" src="data:image/png;base64,{png(100, inches=20)}">'))
    first = Image.open(io.BytesIO(base64.b64decode(big.data["image/png"])))
    second = Image.open(io.BytesIO(base64.b64decode(bar.data["text/html"].partition("base64,")[2].rstrip('">'))))
    assert first.size == (600, 100) and round(first.info["dpi"][0]) == 100 and "Software" not in first.info
    assert second.width == 1200


def test_a_small_picture_keeps_its_pixels():
    before = png(100)
    [after] = outputs(new_output("display_data", data={"image/png": before}))
    pixels = [Image.open(io.BytesIO(base64.b64decode(text))).tobytes() for text in (before, after.data["image/png"])]
    assert pixels[0] == pixels[1]


def test_scripts_become_a_note_and_other_html_stays():
    [note, kept] = outputs(html("<div><script>draw()</script></div>"), html("<b>kept</b>"))
    assert note.data == {"text/plain": SCRIPT} and kept.data["text/html"] == "<b>kept</b>"


def test_ids_do_not_depend_on_where_a_cell_stands():
    one = normalise(new_notebook(cells=[new_code_cell("a"), new_code_cell("b"), new_code_cell("a")]))
    two = normalise(new_notebook(cells=[new_code_cell("new"), new_code_cell("a"), new_code_cell("b")]))
    assert [cell.id for cell in one.cells][:2] == [cell.id for cell in two.cells][1:]
    assert len({cell.id for cell in one.cells}) == 3
    nbformat.validate(one)


LECTURE = """
import matplotlib.pyplot as plt
from ipywidgets import interact
from tqdm.auto import tqdm
for _ in tqdm(range(3)): pass
def draw(power=2):
    plt.figure(figsize=(2, 1)); plt.plot([x ** power for x in range(5)]); plt.show()
    print("power", power)
interact(draw, power=(0, 5))
"""


def test_an_executed_lecture_is_the_same_after_every_run(tmp_path):
    path = tmp_path / "00_trial.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(LECTURE)]), path)
    texts = []
    for _ in range(2):
        notebook, problem = notebooks.execute(path)
        assert problem == ""
        notebooks.write(normalise(notebook), path)
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    again = nbformat.read(path, as_version=4)
    assert normalise(copy.deepcopy(again)) == again
    shown = again.cells[0].outputs
    assert shown[0].data["text/plain"] == CONTROL                       # and then what it showed at its first setting
    assert "image/png" in shown[1].data and shown[2].text == "power 2\n" and len(shown) == 3
    assert "application/vnd.jupyter" not in json.dumps(again) and list(tmp_path.iterdir()) == [path]
