"""Benchmarks: this package against the usual tools, on one machine, in one run.

Each module of this folder runs alone, `python -m bench.text`, and prints one table. Seconds differ from machine to
machine; what counts is the ratio, and the agreement beside it: being fast at a different answer is worth nothing.
"""

from time import perf_counter

__all__ = ["best_of", "in_turns", "compare", "table"]


def best_of(f, n=3):
    """Seconds of the fastest of `n` calls of `f()`: the one that other work on the machine disturbed least."""
    seconds = []
    for _ in range(n):
        start = perf_counter()
        f()
        seconds.append(perf_counter() - start)
    return min(seconds)


def in_turns(functions, n=3):
    """`best_of` for several functions that take turns, so that a busy moment of the machine strikes them all alike."""
    return [min(seconds) for seconds in zip(*([best_of(f, 1) for f in functions] for _ in range(n)), strict=True)]


def compare(what, other, ours_s, other_s, agreement, target=None):
    """One row for `table`: the task, whom it is measured against, both times (seconds), how many times faster ours is.

    `agreement` says in a few words how far the two answers are the same; `target` is the ratio aimed at, if any.
    """
    ratio = other_s / ours_s
    return {
        "task": what,
        "against": other,
        "ours": f"{1e3 * ours_s:.1f} ms",
        "theirs": f"{1e3 * other_s:.1f} ms",
        "ratio": f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x",
        "target": "" if target is None else f">= {target:g}x",
        "agreement": agreement,
    }


def table(rows):
    """Print dictionaries with the same keys as one aligned table, the keys as its head."""
    lines = [list(rows[0])] + [[str(cell) for cell in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
