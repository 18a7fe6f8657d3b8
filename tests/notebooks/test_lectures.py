"""Every lecture runs from a clean kernel with the network cut; cells tagged nbval-check-output print what they did.

One execution serves all: nbval judges the outputs, every control answers over its range, the online sections run with
small models (tools/trial.py), and seconds and peak memory are measured and shown at the end of the test run. Memory
above the budget is a failure (a Binder has 2 GB); time is only reported, because it depends on the machine. A lecture
is skipped while nothing that it hangs on has changed since it passed here (tools/closure.py), but not under CI. Of
those that no commit of late has changed, `make test` draws eight; `make test-all` has them all.
"""

import json
import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from coursekit.models.hub.minilm import encoder_file
from tests.drawn import sampled
from tools import closure, notebooks, offline, trial
from tools.pace import CONTROL

MEGABYTES = 1000
LECTURES, DRAWN = notebooks.find(), 6
OFFLINE = offline.available()
CUT = [sys.executable, str(notebooks.ROOT / "tools" / "offline.py")] if OFFLINE else []


# A process of its own, small, because what its parent had in memory when it was started counts as its own peak.
MEASURE = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stderr=subprocess.STDOUT)
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


def run_measured(command, folder):
    """Run a command; its exit status, what it printed, seconds, and the peak memory (MB) of its largest process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"                     # nbval alone: others take a second to load
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURE, folder / "peak", *command], cwd=notebooks.ROOT,
                          env={**environment, **notebooks.ENVIRONMENT}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    peak = notebooks.peak_mb(int((folder / "peak").read_text()))
    return done.returncode, done.stdout, time.perf_counter() - start, peak


def test_continuous_integration_cuts_the_network():
    assert OFFLINE or os.environ.get("CI") != "true", "under CI the lectures must run in a network namespace (unshare)"


@pytest.mark.skipif(not OFFLINE, reason="this machine cannot make network namespaces")
def test_the_cut_network_has_a_loopback_and_nothing_else(tmp_path):
    program = (
        "import errno, socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 5)\n"
        "for address in ('192.0.2.1', '1.1.1.1'):\n"
        "    try:\n"
        "        socket.create_connection((address, 80), 5)\n"
        "    except OSError as error:\n"
        "        print(errno.errorcode[error.errno])\n"
    )
    status, printed, _, _ = run_measured([*CUT, sys.executable, "-c", program], tmp_path)
    assert (status, printed.split()) == (0, ["ENETUNREACH", "ENETUNREACH"])


def test_peak_memory_is_that_of_the_largest_process(tmp_path):
    ballast = bytearray(b"x") * 600_000_000                                 # the parent's own memory must not count
    hungry = [sys.executable, "-c", "x = bytearray(400_000_000)"]
    nested = [sys.executable, "-c", f"import subprocess; subprocess.run({hungry})"]
    status, _, _, peak = run_measured([*CUT, *nested], tmp_path)
    assert status == 0 and 400 < peak < 460 and len(ballast)


def judged(path):
    """nbval's judgement of a notebook, as a command."""
    return [sys.executable, "-m", "pytest", str(path), "--nbval-lax", "--nbval-current-env",
            f"--nbval-cell-timeout={notebooks.CELL_SECONDS}", "-q", "-x", "-p", "no:cacheprovider",
            "-p", "nbval.plugin"]


@pytest.mark.parametrize("tags, status", [([], 0), (["nbval-check-output"], 1)])
def test_what_a_tagged_cell_prints_is_compared(tags, status, tmp_path):
    printed_two = [new_output("stream", name="stdout", text="2\n")]
    cell = new_code_cell("print(1)", execution_count=1, outputs=printed_two, metadata={"tags": tags})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=[cell], metadata=kernel), tmp_path / "one.ipynb")
    ended, printed, _, _ = run_measured(judged(tmp_path / "one.ipynb"), tmp_path)
    assert ended == status, printed


def controls_of(notebook):
    """The code cells that have a control, on this machine."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and CONTROL.search(cell.source)
            and (encoder_file() or not notebooks.ENCODER.search(cell.source))]


def own(path, changed):
    """Is the changed file the lecture's notebook, or what is kept of its claims? Or what is installed?"""
    kept = f"coursekit/results/claims/{notebooks.number(path)}.json"
    return changed in ("constraints.txt", f"lectures/{path.name}", kept)


@pytest.mark.parametrize("path", sampled(LECTURES, DRAWN, "lectures", whose=own), ids=lambda path: path.stem)
def test_lecture(path, tmp_path, record_property, everything):
    found = closure.digest(path)
    if found == closure.passed(path) and not everything and os.environ.get("CI") != "true":
        pytest.skip("unchanged since it passed")
    notebook, told = nbformat.read(path, as_version=4), tmp_path / "told.json"
    nbformat.write(trial.prepared(notebook, path.parent, told, everything), tmp_path / path.name)
    status, printed, seconds, peak = run_measured([*CUT, *judged(tmp_path / path.name)], tmp_path)
    assert status == 0, printed
    tried = json.loads(told.read_text())
    assert tried["controls"] >= len(controls_of(notebook)) and tried["calls"] >= tried["controls"]
    for name, value in (("lecture", path.stem), ("seconds", seconds - tried["seconds"]), ("tried", tried["seconds"]),
                        ("peak", peak), ("offline", OFFLINE)):
        record_property(name, value)
    assert peak <= MEGABYTES, f"{path.name} needs {peak:.0f} MB, and a lecture may take {MEGABYTES} MB"
    closure.note(path, found)


@pytest.mark.slow
@pytest.mark.parametrize("path", filter(notebooks.needs_encoder, LECTURES), ids=lambda path: path.stem)
def test_lecture_without_the_pretrained_encoder(path):
    notebook = nbformat.read(path, as_version=4)
    hide = new_code_cell("from coursekit.models.hub import minilm; minilm.PACKAGE = 'not-installed'")
    notebook.cells.insert(0, hide)
    assert notebooks.run_cells(notebook, path.parent)[1] == ""


def test_three_lectures_have_an_online_section():
    by_number = {notebooks.number(path): nbformat.read(path, as_version=4) for path in LECTURES}
    assert {"03", "04", "05"} <= {number for number, notebook in by_number.items() if trial.online_cells(notebook)}
    texts = {number: "\n".join(cell.source for cell in notebook.cells) for number, notebook in by_number.items()}
    assert all(bool(trial.online_cells(by_number[number])) == bool(re.search("^ONLINE = ", text, re.M))
               for number, text in texts.items())
