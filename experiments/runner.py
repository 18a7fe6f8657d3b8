"""Run experiments, and keep what they find: coursekit/results/NAME.json and NAME.png."""

import importlib
import json
import os
import pkgutil
import platform
import time
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from coursekit import show
from coursekit.compare.jobs import compute
from coursekit.results import HERE, result_of

SEEDS = 0, 1, 2


def experiments() -> list[str]:
    """The names of all experiments: the modules of this folder that are called paper_what."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in found if "_" in name.strip("_"))


def module_of(name):
    """An experiment's module. Raises ValueError, with those that there are, for an unknown name."""
    if name not in experiments():
        raise ValueError(f"no experiment named {name!r}: choose one of {', '.join(experiments())}")
    return importlib.import_module(f"experiments.{name}")


def run(name: str, seeds=SEEDS, folder=HERE, toy=False, progress=True) -> dict:
    """Run the cells of an experiment that are not kept in `folder` yet, and draw the figure.

    Each cell is kept as soon as it is done, in NAME.jsonl while there are others to do. Stopped at any time, it goes on
    with the next one; kept with the cells is what `coursekit.results.recorded` shows of them. toy: the small case.
    Returns what is kept. Raises ValueError for an unknown name and for results of another size.
    """
    module, path = module_of(name), Path(folder) / f"{name}.json"
    size = module.TOY if toy else module.SIZE
    result = result_of(name, folder) or {"experiment": name, "size": plain(size), "runs": [], "cells": []}
    if result["size"] != plain(size):
        raise ValueError(f"{path.name} was made with {result['size']}, not {plain(size)}: take it away to begin anew")
    known = [record["cell"] for record in result["cells"]]
    todo = {(text,): text for text in (json.dumps(cell) for cell in plain(module.cells(seeds)) if cell not in known)}
    here = {"command": f"python -m experiments run {name} --seeds {' '.join(map(str, seeds))}", **machine()}
    begun = path.with_suffix(".jsonl")
    try:
        for _, record in compute(partial(_record, module, size, here), todo, begun, {"size": plain(size)},
                                 progress=progress, of=name):
            if record["cell"] not in known:
                result["runs"] += [record["run"]] * (record["run"] not in result["runs"])
                result["cells"].append(record | {"run": result["runs"].index(record["run"])})
    finally:                                                            # stopped or not: a figure of what is there
        if result["cells"]:
            keep(module, result, path)
            begun.unlink(missing_ok=True)
    return result


def _record(module, size, here, cell):
    """What a cell gives and what it took, as JSON has it."""
    cell, started = json.loads(cell), time.process_time()
    numbers = plain(module.run(cell, **size))
    seconds, training = time.process_time() - started, numbers.get("training_seconds", 0)
    seconds += training * (seconds < training)                          # a model from the cache was trained before
    return {"cell": cell, "numbers": numbers, "seconds": round(seconds, 1), "date": date.today().isoformat(),
            "run": here}


def keep(module, result, path):
    """Write the JSON, with the title and the table of the cells that are there, and their figure beside it."""
    rows, columns = module.report(result["cells"])
    figure = module.figure(result["cells"])
    result |= {"title": module.__doc__.splitlines()[0], "alt": figure.text, "columns": columns, "rows": plain(rows),
               "cells": result.pop("cells")}
    replace(path, _written(result).encode())
    replace(path.with_suffix(".png"), figure.png)


def overview():
    """A table of all experiments: what they show, how many cells are kept, CPU minutes of all cells, date."""
    rows = []
    for name in experiments():
        module, found = module_of(name), result_of(name)
        what, cells = module.__doc__.splitlines()[0], [plain(cell) for cell in module.cells(SEEDS)]
        records = [] if found is None else [record for record in found["cells"] if record["cell"] in cells]
        minutes = f"{len(cells) * np.mean([r['seconds'] for r in records]) / 60:.1f}" if records else "?"
        rows.append([name, what, f"{len(records)}/{len(cells)}", minutes,
                     max((record["date"] for record in records), default="not run yet")])
    return show.table(rows, ["experiment", "what it shows", "cells", "minutes", "result of"])


def grouped(records, *names):
    """{values of the named settings: the numbers of all cells that have them}, in the records' order.

    >>> grouped([{"cell": {"layers": 1, "seed": 0}, "numbers": {"mse": 2.0}}], "layers")
    {(1,): [{'mse': 2.0}]}
    """
    groups = {}
    for record in records:
        groups.setdefault(tuple(record["cell"][name] for name in names), []).append(record["numbers"])
    return groups


def mean_sd(values, digits=3):
    """Mean and standard deviation between seeds, as text, the number of seeds behind them unless it is three.

    >>> mean_sd([1, 2, 3]), mean_sd([0.5])
    ('2.000 ± 1.000', '0.500 (1 seed)')
    """
    values = np.array([np.nan if value is None else value for value in values], float)
    if len(values) == 1:
        return f"{values[0]:.{digits}f} (1 seed)"
    few = "" if len(values) == 3 else f" ({len(values)} seeds)"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}{few}"


def machine():
    """The processor and the versions that numbers hang on; no name of a host, no path."""
    import torch

    cpu = platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
    return {"cpu": f"{cpu}, {os.cpu_count()} cores", "threads": torch.get_num_threads(),
            "python": platform.python_version(),
            **{package: version(package) for package in ("numpy", "torch", "transformers")}}


def plain(x):
    """Numbers, lists and dictionaries as JSON has them, six digits of each float; None for what is no number."""
    if isinstance(x, dict):
        return {str(key): plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple | np.ndarray):
        return [plain(value) for value in x]
    if isinstance(x, bool | int | str | None):
        return x
    return None if x != x else float(f"{x:.6g}")


def _written(result):
    """JSON with one line for each row of the table and each cell."""
    def value(key):
        if key not in ("rows", "cells"):
            return json.dumps(result[key])
        return "[\n" + ",\n".join(f"  {json.dumps(one, allow_nan=False)}" for one in result[key]) + "\n ]"

    return "{\n" + ",\n".join(f' "{key}": {value(key)}' for key in result) + "\n}\n"


def replace(path, content):
    """Write a file in one stroke: whoever reads it sees the old one or the new one whole."""
    part = path.with_name(f"{path.name}.tmp")
    part.write_bytes(content)
    os.replace(part, path)
