"""A lecture's key table once more, on reviews of IMDB that the model gets right: numbers only, no text is kept.

Its file of claims has `on_imdb(page, right)`, which returns (title, rows, columns); `right(model, n, longest)` draws
the reviews. `python -m claims imdb FOLDER 05b` keeps the table in coursekit/results/imdb/05b.json, and a cell of the
lecture shows it: `results.recorded("imdb/05b", drawn=False)`.
"""

import importlib
import json
import random
import time
from datetime import date
from functools import partial

from coursekit.compare.jobs import one_thread
from coursekit.own import datasets
from coursekit.results import HERE
from experiments.runner import machine, plain, replace

from .pages import page_of, parts
from .runner import CLAIMS


def right(reviews, model, n, longest=255):
    """n documents, lists of words, drawn at random among the reviews of at most `longest` words that the model judges
    as their stars do. Raises ValueError if there are not as many.

    reviews: records with `text` and `label` (1 praise, 0 blame), such as those of `datasets.imdb`.
    """
    order, found = random.Random(0).sample(reviews, len(reviews)), []
    for review in order:
        words = model.tokenizer.tokenize(review.text)
        if len(words) <= longest and (model.predict([words])[0] > 0) == bool(review.label):
            found.append(words)
        if len(found) == n:
            return found
    raise ValueError(f"{len(found)} reviews of at most {longest} words that the model gets right, {n} are needed")


def make_table(lecture, folder, out=HERE / "imdb"):
    """Make the table of a lecture on reviews below `folder` (aclImdb as the archive has it), and keep it.

    Raises ValueError for a lecture whose claims have no `on_imdb`, FileNotFoundError (what to put where) for a folder
    without the reviews.
    """
    paths = list(CLAIMS.glob(f"{lecture}_*.py"))
    table = getattr(importlib.import_module(f"claims.{paths[0].stem}"), "on_imdb", None) if paths else None
    if table is None:
        raise ValueError(f"the claims of lecture {lecture} have no on_imdb(page, right): write it first")
    reviews, started = datasets.imdb(folder, "test"), time.process_time()
    with one_thread():
        title, rows, columns = table(page_of(lecture, parts(table, lecture)[1]), partial(right, reviews))
    cell = {"cell": {}, "seconds": round(time.process_time() - started, 1), "date": date.today().isoformat(), "run": 0}
    found = {"title": title, "columns": columns, "rows": plain(rows), "alt": "", "cells": [cell],
             "runs": [{"command": f"python -m claims imdb FOLDER {lecture}", **machine()}]}
    out.mkdir(parents=True, exist_ok=True)
    replace(out / f"{lecture}.json", (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode())
