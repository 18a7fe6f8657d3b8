"""A kept result as a lecture shows it: the figure, the numbers, and how they were made."""

from collections.abc import Sequence

from coursekit import show
from coursekit.show import Html

from .runner import RESULTS, kept, module_of


def recorded(name: str, columns: Sequence[str] | None = None, drawn=True, folder=RESULTS, **only) -> Html:
    """The kept result of an experiment, to be looked at; nothing is run. Returns an `Html`.

    columns: those of the report to show, by their names and in this order (default: all). drawn: with the figure, made
    of the cells that are shown. only: a value, or a tuple of values, for a setting of the cells (`seed=0`) or for a
    column of the report (`method=("LIME", "SHAP")`). Below stands what made it: the command, the dates, CPU minutes and
    the machine. Raises ValueError for an unknown name, for an experiment of which nothing is kept, for a name in `only`
    that is neither, for a column that is not there, and where nothing is left to show.

    >>> print(recorded("slalom_by_hand", ["kind, layers and heads", "largest error"], kind="encoder", layers=1,
    ...                heads=1).text.splitlines()[-2])
    encoder, 1 and 1        1e-15
    """
    module, found = module_of(name), kept(name, folder)
    if found is None:
        raise ValueError(f"nothing is kept of {name} yet: python -m coursekit.experiments run {name}")
    only = {key: value if isinstance(value, tuple) else (value,) for key, value in only.items()}
    settings = {key for record in found["cells"] for key in record["cell"]}
    records = [record for record in found["cells"]
               if all(record["cell"].get(key) in only[key] for key in settings & only.keys())]
    rows, names = module.report(records) if records else ([], [*only, *(columns or [])])
    if unknown := [key for key in [*only, *(columns or [])] if key not in {*settings, *names}]:
        raise ValueError(f"{name} has no {unknown[0]!r}: it has {', '.join(sorted(settings))} and {', '.join(names)}")
    rows = [row for row in rows if all(row[names.index(key)] in only[key] for key in only.keys() - settings)]
    if not rows:
        raise ValueError(f"{name} has no cell or no row with {only}")
    shown = names if columns is None else columns
    table = show.table([[row[names.index(column)] for column in shown] for row in rows], shown,
                       title=module.__doc__.splitlines()[0])
    made = _made(records, found["runs"])
    picture = module.figure(records) if drawn else show.Html("", "")
    text = "\n".join(filter(None, [picture.text, table.text, made]))
    return show.Html(f"{picture.html}{table.html}<div><small>{show.html.escape(made)}</small></div>", text)


def _made(records, runs):
    """One line: when, by which command, on what."""
    dates = sorted({record["date"] for record in records})
    used = {run["command"]: run for run in (runs[i] for i in sorted({record["run"] for record in records}))}
    machines = sorted({f"{run['cpu']}, {run['threads']} thread{'s' * (run['threads'] > 1)}, torch {run['torch']}"
                       for run in used.values()})
    minutes = sum(record["seconds"] for record in records) / 60
    return (f"Recorded, not run here: {len(records)} cells, {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, "
            f"{minutes:.1f} CPU minutes on {'; '.join(machines)}, by {'; '.join(used)}")
