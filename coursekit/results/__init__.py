"""What was found elsewhere than on a page: the papers' tables and figures once more, what lectures say run again.

Recorded: the result of an experiment is data, NAME.json and NAME.png, made by the repository's
`python -m experiments run NAME`; those of a lecture's claims are claims/NN.json, made by `make claims`.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coursekit import show
from coursekit.show import Html
from coursekit.show.html import described, escape

__all__ = ["claimed", "elsewhere", "recorded", "result_of"]
HERE = Path(__file__).parent


def result_of(name: str, folder=HERE) -> dict | None:
    """What is kept of an experiment, or None: {"title", "columns" and "rows" of its table, "alt" of its figure, "size",
    "runs" (command and machine), "cells": [{"cell", "numbers", "seconds", "date", "run"}, …]}.

    >>> result_of("slalom_by_hand")["size"]
    {'n_words': 50, 'n_samples': 200, 'longest': 100}
    """
    path = Path(folder, f"{name}.json")
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else None


def claimed(number: str) -> str:
    """How often a sentence of a lecture held when it was tried elsewhere, in one line; docs/claims.md has them all.

    >>> claimed("99.1")
    '99.1 has not been tried elsewhere yet: make claims ONLY=99'
    """
    lecture = number.partition(".")[0]
    record = (result_of(f"claims/{lecture}") or {"claims": {}})["claims"].get(number)
    if record is None:
        return f"{number} has not been tried elsewhere yet: make claims ONLY={lecture}"
    held = "held in" if " of " in record["line"].partition(":")[0] else "held, in"
    return f"{record['over']}: {held} {record['line']}"


def elsewhere(here: float, others: Sequence[float], over: str, spec=".2f") -> str:
    """One number of a page and what it is elsewhere: the median of `others`, the smallest and the largest, in one line.

    over: what the others are of. spec: how a number is written.

    >>> elsewhere(0.55, [-0.48, 0.75, -0.3], "three reviews")
    'here 0.55; three reviews: -0.30, from -0.48 to 0.75'
    """
    middle, low, high = (format(number, spec) for number in (np.median(others), min(others), max(others)))
    return f"here {here:{spec}}; {over}: {middle}, from {low} to {high}"


def recorded(name: str, columns: Sequence[str] | None = None, drawn=True, **only) -> Html:
    """The kept result of an experiment, to be looked at; nothing is run. Returns an `Html`.

    columns: those of its table to show, by their names and in this order (default: all). drawn: with the figure, which
    is of all cells. only: the rows with a value, or one of a tuple of values, in a column (`method=("LIME", "SHAP")`);
    where that column is a setting of the cells, the paper's rows, which are of no cell, stay. Below stands what made
    it: the command, the dates, CPU minutes and the machine. Raises ValueError for an unknown name, for a column that is
    not there, and where nothing is left to show.

    >>> recorded("slalom_table7", ["family, layers", "fit", "r of v"], fit="VarPro").text.splitlines()[3]
    'bert, 1         VarPro  0.95 ± 0.03'
    """
    result = result_of(name)
    if result is None:
        names = sorted(path.stem for path in HERE.glob("*.json"))
        raise ValueError(f"no result named {name!r}: choose one of {', '.join(names)}")
    names, rows, cells = result["columns"], result["rows"], result["cells"]
    shown = names if columns is None else columns
    if unknown := [key for key in [*only, *shown] if key not in names]:
        raise ValueError(f"{name} has no {unknown[0]!r}: it has {', '.join(names)}")
    for key, value in only.items():
        values, at = value if isinstance(value, tuple) else (value,), names.index(key)
        of_cells = {cell["cell"].get(key) for cell in cells} & {row[at] for row in rows}
        rows = [row for row in rows if row[at] in values or of_cells and row[at] not in of_cells]
        cells = [cell for cell in cells if not of_cells or cell["cell"][key] in values]
    if not rows or not cells:
        raise ValueError(f"{name} has no cell or no row with {only}")
    table = show.table([[row[names.index(column)] for column in shown] for row in rows], shown, title=result["title"])
    made, alt = _made(cells, result["runs"]), result["alt"] * drawn
    brief, below = described(alt)
    png = base64.b64encode((HERE / f"{name}.png").read_bytes() if drawn else b"").decode()
    picture = f'<img alt="{escape(brief)}" src="data:image/png;base64,{png}">{below}' * drawn
    return Html(f"{picture}{table.html}<div><small>{escape(made)}</small></div>",
                "\n".join(filter(None, [alt, table.text, made])))


def _made(cells, runs):
    """One line: when, by which command, on what."""
    dates = sorted({cell["date"] for cell in cells})
    used = {run["command"]: run for run in (runs[i] for i in sorted({cell["run"] for cell in cells}))}
    machines = sorted({f"{run['cpu']}, {run['threads']} thread{'s' * (run['threads'] > 1)}, torch {run['torch']}"
                       for run in used.values()})
    minutes = sum(cell["seconds"] for cell in cells) / 60
    return (f"Recorded, not run here: {len(cells)} cells, {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, "
            f"{minutes:.1f} CPU minutes on {'; '.join(machines)}, by {'; '.join(used)}")
