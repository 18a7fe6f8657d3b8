"""Many small results, each computed on its own: kept in a file as they come, by one process, by several, or by dask.

A report, a corpus and the repository's experiments are such jobs: stopped, they go on where they were.
"""

import json
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tqdm.auto import tqdm

from coursekit.inputs import as_whole

PATIENCE = "5s"                                 # that a dask scheduler may take to answer


def compute(work, todo, path=None, head=None, scores=None, workers=1, progress=True, on_error="raise",
            of="document"):
    """Pairs (cell, work(*cell)), as they come, for all cells, tuples of numbers and strings; what work returns is JSON.

    todo: {cell: the number of its document}, or of what errors are said to be `of`. path: a file of JSON lines, `head`,
    a dictionary, first, then [cell, result, score] as soon as it is there: called again, all that it has comes first
    and is not computed anew, and a last line that was torn is dropped. scores: what the model says of each document.
    workers: 1 (here), a number of processes, which `work` is sent to once, or the address of a dask scheduler, such as
    "tcp://host:8786". on_error: "raise" an error with the number of its document, or "skip": keep {"error": …} as the
    cell's result, which the next call that raises tries again.
    Raises ValueError where `path` begins with another head or has another score for a document, and for no such number
    of workers, TypeError for work that cannot be sent, ConnectionError where no scheduler answers.

    >>> dict(compute(lambda a, b: a * b, {(2, 3): 0, (4, 5): 1}, progress=False))
    {(2, 3): 6, (4, 5): 20}
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip", got {on_error!r}')
    workers = workers if isinstance(workers, str) else as_whole(workers, "workers", 1)
    skip, head = on_error == "skip", json.loads(json.dumps(head or {}))
    results = {} if path is None else _results_in(Path(path), head, todo, scores, skip)
    yield from results.items()
    left = {cell: f"{of} {i}" for cell, i in todo.items() if cell not in results}
    with open(path or os.devnull, "a", encoding="utf8") as file:
        for cell, result in tqdm(_computed(partial(_tried, work) if skip else work, left, workers), total=len(left),
                                 unit="cell", disable=not progress):
            file.write(json.dumps([cell, result, scores and scores[todo[cell]]]) + "\n")
            file.flush()
            yield cell, result


def _results_in(path, head, todo, scores, skip):
    """{cell: result} of the file, which is made if it is not there."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []          # behind the last newline: a torn line
    first, *rest = [json.loads(line) for line in lines] or [head]
    if first.keys() != head.keys():
        raise ValueError(f"{path.name} was kept by an earlier version, which did not write down enough to tell models "
                         "and settings apart: take another path")
    if other := [name for name in head if first[name] != head[name]]:
        raise ValueError(f"{path.name} keeps results by other {', '.join(other)}: take another path")
    for cell, _, score in rest:
        if scores and tuple(cell) in todo and not _same(score, scores[todo[tuple(cell)]]):
            raise ValueError(f"{path.name} keeps results of another model, whose score of document "
                             f"{todo[tuple(cell)]} is {score} and not {scores[todo[tuple(cell)]]}: take another path")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *rest)), encoding="utf8")
    return {tuple(cell): result for cell, result, _ in rest if skip or "error" not in result}


def _same(one, other):
    """Are two scores of one document equal, but for what another machine may round? None, a nan, is equal to itself."""
    one, other = np.array(one, float), np.array(other, float)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-5, equal_nan=True)


def _computed(work, todo, workers):
    """Pairs (cell, result) as they are done."""
    if workers == 1 or not todo:
        for cell, name in todo.items():
            with _named(name):
                result = work(*cell)
            yield cell, result
        return
    with _executor(work, workers) as submit:
        cells = {submit(cell): cell for cell in todo}
        for future in as_completed(cells):
            with _named(todo[cells[future]]):
                result = future.result()
            yield cells[future], result


@contextmanager
def _named(name):
    """An error inside begins with the name of what it is about."""
    try:
        yield
    except Exception as error:
        error.args = (f"{name}: {error}",)
        if not str(error).startswith(name):                             # of an OSError, which says it in its own way
            error.add_note(name)
        raise


def _tried(work, *cell):
    """What work returns, or its error."""
    try:
        return work(*cell)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


@contextmanager
def _executor(work, workers):
    """The function cell → future; what was not begun is dropped where the block is left early."""
    if isinstance(workers, str):
        from dask.distributed import Client

        try:
            client = Client(workers, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"no dask scheduler answers at {workers!r} ({type(error).__name__}): start one with "
                                  "`dask scheduler`, which tells its address") from None
        with client, client.get_executor(pure=False, retries=1) as executor:
            there = client.scatter(work, broadcast=True)                          # it travels once
            yield lambda cell: executor.submit(_on_worker, cell, there)
        return
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError("several workers need what can be sent to them: functions of a module, or functools.partial of "
                        f"such ({error})") from None
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, [work])
    try:
        yield lambda cell: executor.submit(_on_worker, cell)
    finally:
        executor.shutdown(cancel_futures=True)


_LOCK = threading.Lock()                        # dask's workers are threads, and a model is watched by one at a time
_HERE = []                                      # this process's work


def _begin(work):
    _HERE[:] = [work]


def _on_worker(cell, work=None):
    with _LOCK:
        return (work or _HERE[0])(*cell)


@contextmanager
def one_thread():
    """Inside, torch computes on one thread: the number of threads changes last digits.

    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
