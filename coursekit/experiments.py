"""The old name of `coursekit.results`, for one release. The repository runs experiments: `python -m experiments`."""

import warnings
from types import SimpleNamespace

from coursekit import results


def __getattr__(name):
    if name in results.__all__:
        warnings.warn(f"coursekit.experiments is now coursekit.results: from coursekit.results import {name}",
                      FutureWarning, stacklevel=2)
        return getattr(results, name)
    if result := results.result_of(name):                               # a module, which older notebooks ask for these
        return SimpleNamespace(STARTS=[row[0] for row in result["rows"]],
                               report=lambda cells: (result["rows"], result["columns"]))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    raise SystemExit(__doc__)
