"""A lecture with all that the tests try in its one execution: `prepared(notebook, folder, told)` is a copy to execute.

Before its first cell the controls are replaced (controls.py: each is tried over its range where it stands). After its
last cell its online sections are switched on and their cells run once more, with small untrained models
(untrained.py), as by a reader who comes back to them; then every control is tried again. What happened is written to
the file `told`: {"controls", "calls", "seconds"}, the seconds that all this took beside the lecture itself.
"""

import copy
import json
import re
import time
from pathlib import Path

from IPython import get_ipython
from IPython.utils.capture import capture_output
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).resolve().parent.parent
SWITCH = re.compile(r"^ONLINE = False$", re.M)
OFF = re.compile("could not be fetched|switched off", re.I)


def prepared(notebook, folder, told, every=False):
    """A copy of a NotebookNode with a cell before the first and one behind the last; folder: where it runs; every: the
    controls are tried at more settings, and at the end everywhere as well (see `controls.again`)."""
    first = (f"import os, sys; os.chdir({str(folder)!r}); sys.path.insert(0, {str(ROOT)!r})\n"
             f"from tools import controls, trial; controls.install({every})")
    last = f"trial.finish({online_cells(notebook)!r}, {str(told)!r}, {every})"
    tried = copy.deepcopy(notebook)
    tried.cells = [new_code_cell(first), *tried.cells, new_code_cell(last)]
    return tried


def online_cells(notebook):
    """The sources of the code cells from each `ONLINE = False` to the end of its section."""
    found, inside = [], False
    for cell in notebook.cells:
        inside = inside and not (cell.cell_type == "markdown" and cell.source.startswith("## "))
        if cell.cell_type == "code" and (inside := inside or bool(SWITCH.search(cell.source))):
            found.append(cell.source)
    return found


def finish(online, told, every):
    """In the kernel, after the last cell. AssertionError names what failed."""
    from tools import controls

    start, before = time.perf_counter(), controls.counted.seconds
    if online:
        switched_on(online)
    controls.again(every)
    seconds = before + time.perf_counter() - start
    Path(told).write_text(json.dumps({"controls": controls.counted.controls, "calls": controls.counted.calls,
                                      "seconds": seconds}))


def switched_on(cells):
    """Run the cells of online sections with the switch on, and small models in place of those on the network."""
    from tools import untrained

    untrained.install()
    for source in cells:
        with capture_output() as said:
            result = get_ipython().run_cell(SWITCH.sub("ONLINE = True", source))
        result.raise_error()
        assert not OFF.search(said.stdout), f"an online section that is switched on says: {said.stdout}"
