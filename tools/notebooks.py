"""Execute the lectures, two at a time, each in a process of its own.

    python -m tools.notebooks run [02]        headless; changes no file
    python -m tools.notebooks execute [02]    in place, normalised (see normalise.py), ready to commit

Both print one table (seconds, peak memory of the kernel, status) and fail if any lecture does, or if there is none.
"""

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from .normalise import normalise

ROOT = Path(__file__).resolve().parent.parent
CELL_SECONDS = 120          # a cell that takes longer is stopped
AT_ONCE = 2
ENCODER = re.compile(r"\bhas_encoder\(\)")        # a cell that shows the pretrained encoder where it is installed

# One thread and one hash seed: the same numbers on every run, and two lectures side by side on two cores.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "TOKENIZERS_PARALLELISM": "false"}


def number(path):
    """What a lecture is called by: "03" of `03_gpt2.ipynb`, "03b" of the lecture that goes on where it ends."""
    return path.stem.split("_")[0]


def find(only="", folder=ROOT / "lectures"):
    """The lectures' paths in order; with `only`, the one of this number ("05" is not "05b"), or those whose name starts
    so. FileNotFoundError if there is none."""
    lectures = [path for path in sorted(folder.glob("[0-9][0-9]*_*.ipynb"))
                if re.fullmatch(r"\d\d[a-z]?", number(path))]
    found = [path for path in lectures if number(path) == only] or [
        path for path in lectures if path.name.startswith(only)]
    if not found:
        raise FileNotFoundError(f"There is no {folder.name}/{only or 'NN_'}*.ipynb; expected at least one lecture.")
    return found


class Client(NotebookClient):
    """nbclient answers widgets on the very socket at which it waits for a cell to end, and can miss that it has ended
    until its time is up. This one looks again every second."""

    async def async_start_new_kernel_client(self, **kwargs):
        client = await super().async_start_new_kernel_client(**kwargs)
        wait = client.shell_channel.get_msg

        async def get_msg(timeout=None):
            until = time.monotonic() + (math.inf if timeout is None else timeout)
            while True:
                try:
                    return await wait(timeout=max(0, min(1, until - time.monotonic())))
                except Empty:
                    if time.monotonic() >= until:
                        raise

        client.shell_channel.get_msg = get_msg
        return client


def run_cells(notebook, folder):
    """Execute a NotebookNode in place, in `folder`. Returns (number of the cell where it stopped, why), why "" if all
    went well; cells are counted from 1, text cells too. The kernel's environment is ENVIRONMENT, whoever calls."""
    started = [0]
    client = Client(notebook, timeout=CELL_SECONDS, kernel_name="python3", record_timing=False,
                    resources={"metadata": {"path": str(folder)}},
                    on_cell_start=lambda cell, cell_index: started.append(cell_index + 1))
    try:
        client.execute(env={**os.environ, **ENVIRONMENT})
        problem = ""
    except CellExecutionError as error:
        problem = f"{error.ename}: {error.evalue}"
    except CellTimeoutError:
        problem = f"longer than {CELL_SECONDS} s"
    except DeadKernelError:
        problem = "the kernel died (out of memory?)"
    return started[-1], problem


def execute(path):
    """Run every cell of the notebook at `path`. Returns (notebook, problem); problem is "" if there was none."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    number, problem = run_cells(notebook, Path(path).parent)
    return notebook, problem and f"cell {number}: {problem}"


def needs_encoder(path):
    """Has the notebook at `path` cells that show the pretrained encoder (coursekit.models.pretrained_encoder)?"""
    return any(cell.cell_type == "code" and ENCODER.search(cell.source) for cell in nbformat.read(path, 4).cells)


def encoder_refusal(path):
    """Why the lecture at `path` is not to be executed in place on this machine; "" if it may be."""
    if not needs_encoder(path):
        return ""
    from coursekit.models.hub.minilm import INSTALL, encoder_file  # here, because it loads torch

    return "" if encoder_file() else f"left as it was, for its outputs need the pretrained encoder: {INSTALL}"


def write(notebook, path):
    """Write the whole notebook or leave the old one: to a file beside it first."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        nbformat.write(notebook, file)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def peak_mb(maxrss):
    """Peak memory in MB (10**6 bytes) of getrusage's ru_maxrss, counted in units of 1024 bytes, on macOS in bytes."""
    return maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def one(path, in_place):
    """Execute one lecture here and print what was measured as a line of JSON (the child's side of `measured`)."""
    start = time.perf_counter()
    notebook, problem = execute(path)
    seconds = time.perf_counter() - start
    if in_place and not problem:
        write(normalise(notebook), path)
    peak = peak_mb(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print(json.dumps({"seconds": seconds, "peak": peak, "problem": problem}))


def measured(path, in_place):
    """Execute one lecture in a new process: a dict of seconds, peak (MB) and problem."""
    if in_place and (refusal := encoder_refusal(path)):
        return {"seconds": 0, "peak": 0, "problem": refusal}
    command = [sys.executable, "-m", "tools.notebooks", "one", str(path)] + ["--in-place"] * in_place
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"seconds": 0, "peak": 0, "problem": f"could not be executed: {last}"}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "execute", "one"])
    parser.add_argument("which", nargs="?", default="", help="how the lecture's name starts, such as 02 (default: all)")
    parser.add_argument("--in-place", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.what == "one":
        return one(Path(asked.which), asked.in_place)
    try:
        lectures = find(asked.which)
    except FileNotFoundError as error:
        sys.exit(str(error))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda path: measured(path, asked.what == "execute"), lectures))
    print(f"{'lecture':<28}{'seconds':>8}{'peak MB':>9}  status")
    for path, result in zip(lectures, results, strict=True):
        status = "FAILED" if result["problem"] else "ok" if result["seconds"] <= 60 else "over 60 s"
        print(f"{path.stem:<28}{result['seconds']:>8.1f}{result['peak']:>9.0f}  {status}")
    failed = [f"{path.name}, {result['problem']}" for path, result in zip(lectures, results, strict=True)
              if result["problem"]]
    if failed:
        sys.exit("\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
