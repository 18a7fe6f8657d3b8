"""The one command of CONTRIBUTING.md makes git show notebooks as text."""

import re
import shlex
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.notebooks import ROOT


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git here")
def test_a_change_of_a_notebook_is_shown_as_the_lines_that_changed(tmp_path):
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=tmp_path, text=True, capture_output=True, check=True).stdout

    def write(source):
        cell = new_code_cell(source, id="one", outputs=[new_output("stream", text="much\n" * 50)])
        nbformat.write(new_notebook(cells=[cell]), tmp_path / "a.ipynb")

    command = re.search(r"^(git config diff.*?)(?:  +#.*)?$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)[1]
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    program = tmp_path / ".venv" / "bin" / "jupytext"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m jupytext "$@"\n')
    program.chmod(0o755)
    git("init", "-q")
    git(*shlex.split(command)[1:])
    write("x = 1\nprint(x)")
    git("add", "a.ipynb")
    write("x = 2\nprint(x)")
    changed = [line for line in git("diff").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["-x = 1", "+x = 2"]
