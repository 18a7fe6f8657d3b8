"""Many small results, each computed on its own: kept in a file as they come, by one process, by several, or by dask."""

import json
import multiprocessing
import os
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from tqdm.auto import tqdm

from coursekit.explain.attribution import predictor
from coursekit.models.protocols import Predicts

PATIENCE = "5s"                                 # that a dask scheduler may take to answer


def compute(work, todo, path=None, head=None, workers=1, progress=True):
    """{cell: work(*cell)} for all cells, tuples of numbers and strings; what work returns is JSON.

    path: a file of JSON lines, `head` first, then [cell, result] as soon as it is there: called again, what it has is
    not computed anew, and a last line that was torn is dropped. workers: 1 (here), a number of processes, which `work`
    is sent to once, or the address of a dask scheduler, such as "tcp://host:8786".
    Raises ValueError where `path` begins with another head, TypeError for work that cannot be sent, ConnectionError
    where no scheduler answers.

    >>> compute(lambda a, b: a * b, [(2, 3), (4, 5)], progress=False)
    {(2, 3): 6, (4, 5): 20}
    """
    found = {} if path is None else _kept(Path(path), json.loads(json.dumps(head)))
    left = [cell for cell in todo if cell not in found]
    with open(path or os.devnull, "a", encoding="utf8") as file:
        for cell, result in tqdm(_computed(work, left, workers), total=len(left), unit="cell", disable=not progress):
            found[cell] = result
            file.write(json.dumps([cell, result]) + "\n")
            file.flush()
    return {cell: found[cell] for cell in todo}


def _kept(path, head):
    """{cell: result} of the file, which is made if it is not there."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []          # behind the last newline: a torn line
    first, *rest = [json.loads(line) for line in lines] or [head]
    if first != head:
        raise ValueError(f"{path.name} keeps results of another model, other documents or settings: take another path")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *rest)), encoding="utf8")
    return {tuple(cell): result for cell, result in rest}


def _computed(work, todo, workers):
    """Pairs (cell, result) as they are done."""
    if workers == 1 or not todo:
        yield from ((cell, work(*cell)) for cell in todo)
        return
    with _executor(work, workers) as submit:
        cells = {submit(cell): cell for cell in todo}
        yield from ((cells[future], future.result()) for future in as_completed(cells))


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


def settings(explainer):
    """An explainer's function and what a partial sets, in words: who changes that, changes the result.

    >>> settings(len)
    'len {}'
    """
    named = getattr(explainer, "func", explainer)
    return f"{getattr(named, '__name__', type(named).__name__)} {getattr(explainer, 'keywords', {})}"


def told_by(model_or_predict, documents):
    """What a model says of the first three documents, rounded, as JSON has it: another model says something else.

    >>> told_by(lambda documents: [len(d) / 3 for d in documents], [["good"], ["good", "film"]])
    [0.33, 0.67]
    """
    return np.asarray(predictor(model_or_predict)([list(d) for d in documents[:3]]), float).round(2).tolist()


@contextmanager
def remembering(model_or_predict: Predicts) -> Iterator[Any]:
    """`with remembering(model) as model`: inside, `predict` is asked about no document twice.

    The neighbours of a document, masked, are often the document, masked: where the swapped word is away.

    >>> asked = []
    >>> with remembering(lambda documents: [asked.append(d) or len(d) for d in documents]) as predict:
    ...     _ = predict([["good"], ["film"], ["good"]]), predict([["film"]])
    >>> asked
    [['good'], ['film']]
    """
    predict, known = predictor(model_or_predict), {}

    def remembered(documents):
        keys = [tuple(document) for document in documents]
        new = list(dict.fromkeys(key for key in keys if key not in known))
        if new or not keys:
            known.update(zip(new, predict([list(key) for key in new]), strict=True))
        return np.array([known[key] for key in keys])

    if not hasattr(model_or_predict, "predict"):
        yield update_wrapper(remembered, predict, assigned=())           # what it says of itself, such as `gives`
        return
    with patch.object(model_or_predict, "predict", remembered):
        yield model_or_predict
