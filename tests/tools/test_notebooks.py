"""`make run` and `make lectures`: the table, the exit status, and what a failing lecture says."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursekit.models.hub import minilm
from tools import notebooks


@pytest.fixture
def course(tmp_path):
    """`tool(...)` runs tools.notebooks in a folder of its own, after the line `before`; `lecture(name, *sources)`
    writes a lecture there."""
    (tmp_path / "tools").symlink_to(notebooks.ROOT / "tools")
    (tmp_path / "lectures").mkdir()

    def tool(*arguments, before=""):
        program = (before + "import sys; from pathlib import Path; from tools import notebooks; root = Path.cwd(); "
                   "notebooks.ROOT = root; notebooks.find.__defaults__ = ('', root / 'lectures'); notebooks.main()")
        folders = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
        return subprocess.run([sys.executable, "-c", program, *arguments], cwd=tmp_path, capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": folders})

    def lecture(name, *sources):
        path = tmp_path / "lectures" / name
        nbformat.write(new_notebook(cells=[new_markdown_cell("# text"), *map(new_code_cell, sources)]), path)
        return path

    return tool, lecture


def test_a_number_names_one_lecture():
    assert [path.name for path in notebooks.find("05")] == ["05_reading_attention.ipynb"]
    assert [path.name for path in notebooks.find("05b")] == ["05b_one_map.ipynb"]
    assert len(notebooks.find("0")) > 5


def test_no_lecture_is_a_failure(course):
    tool, lecture = course
    done = tool("run")
    assert done.returncode != 0 and done.stderr == "There is no lectures/NN_*.ipynb; expected at least one lecture.\n"
    lecture("00_one.ipynb", "1")
    assert "There is no lectures/07*.ipynb" in tool("run", "07").stderr


def test_table_status_and_failures(course):
    tool, lecture = course
    paths = [lecture("00_fine.ipynb", "print(1)", "x = bytearray(300_000_000)"),
             lecture("01_wrong.ipynb", "print(1)", "int('x')", "print(3)"),
             lecture("02_dead.ipynb", "import os", "os._exit(1)")]
    before = [path.read_bytes() for path in paths]
    done = tool("execute")
    assert done.returncode != 0
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert rows["lecture"] == ["seconds", "peak", "MB", "status"]
    assert [rows[name][-1] for name in ("00_fine", "01_wrong", "02_dead")] == ["ok", "FAILED", "FAILED"]
    assert 350 < float(rows["00_fine"][1]) < 450
    assert "01_wrong.ipynb, cell 3: ValueError: invalid literal" in done.stderr
    assert "02_dead.ipynb, cell 3: the kernel died" in done.stderr
    after = [path.read_bytes() for path in paths]
    assert after[0] != before[0] and after[1:] == before[1:]            # a lecture that fails is left as it was
    assert nbformat.read(paths[0], as_version=4).cells[1].outputs[0].text == "1\n"


def test_run_changes_no_file(course):
    tool, lecture = course
    path = lecture("00_fine.ipynb", "1 + 1")
    before = path.read_bytes()
    done = tool("run", "00")
    assert done.returncode == 0 and path.read_bytes() == before


def test_without_the_pretrained_encoder_outputs_that_need_it_are_not_overwritten(course):
    tool, lecture = course
    hidden = "from coursekit.models.hub import minilm; minilm.PACKAGE = 'not-installed'; "
    shown = lecture("00_encoder.ipynb", hidden + "from coursekit.models import has_encoder",
                    "if has_encoder():\n    1 / 0")
    other = lecture("01_other.ipynb", "1 + 1")
    before = [path.read_bytes() for path in (shown, other)]
    done = tool("execute", before=hidden)
    [said] = done.stderr.strip().splitlines()
    assert done.returncode != 0 and said == ("00_encoder.ipynb, left as it was, for its outputs need the pretrained "
                                             f"encoder: {minilm.INSTALL}")
    assert [path.read_bytes() == old for path, old in zip((shown, other), before, strict=True)] == [True, False]
    assert tool("run", "00", before=hidden).returncode == 0                     # its cell says one line, and goes on
