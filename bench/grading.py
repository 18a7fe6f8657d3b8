"""Marking a class: submissions a minute for an assignment with torch, beside nbgrader's own autograde, and peak memory.

Both mark the same notebooks, the answers of solutions/02_attention, with every check and hidden test; ours in a sandbox
each, on all cores; nbgrader's own without any, one after another, as it does. --submissions N marks more of them.
"""

import argparse
import os
import shutil
import tempfile
import threading
import time
import warnings
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde
from traitlets.config import Config

from bench import table
from coursegrade.marking import pipeline, reports
from coursegrade.marking.course import Course
from coursegrade.sandbox.process import memory_of, tree_of

ROOT, NAME = Path(__file__).parents[1], "02_attention"


def make_course(folder, n):
    """A course with n students who all hand in the solutions."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions" / NAME, folder / "solutions" / NAME)
    (folder / "grading").mkdir()
    course = Course(folder)
    work = course.prepare(NAME)
    solved = nbformat.read(course.source(NAME), as_version=4)
    for cell, answer in zip(work.cells, solved.cells, strict=True):
        if answer.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answer.source
    for i in range(n):
        target = folder / "grading" / "submitted" / f"student{i:03}" / NAME
        target.mkdir(parents=True)
        nbformat.write(work, target / f"{NAME}.ipynb")
    return course


def measured(work):
    """(seconds, peak bytes of this process and all below it) of a call."""
    peak, over = 0, threading.Event()

    def watch():
        nonlocal peak
        while not over.wait(0.05):
            peak = max(peak, sum(map(memory_of, tree_of(os.getpid()))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    over.set()
    watcher.join()
    return seconds, peak


def marks(course, students):
    """The points that are in the gradebook for these students, one list each."""
    with course.gradebook() as gradebook:
        return [[mark.points for found in reports.questions(gradebook, NAME, student).values() for mark in found]
                for student in students]


def main():
    """One table, and the agreement of the marks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--submissions", type=int, default=8)
    n = options.parse_args().submissions
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        ours, stock = make_course(Path(folder), n), make_course(Path(other), max(2, n // 4))
        students = sorted(stock.submitted(NAME))
        our_s, our_peak = measured(lambda: pipeline.grade(ours, NAME))
        with stock.log():
            own = Config({key: section for key, section in stock.config.items() if key != "Autograde"})
            converter = Autograde(coursedir=stock.directory(NAME), config=own)      # with nbgrader's own Execute
            stock_s, stock_peak = measured(converter.start)
        same = marks(ours, students) == marks(stock, students)
        everyone = marks(ours, sorted(ours.submitted(NAME)))
    rows = []
    for what, count, seconds, peak, target in [("coursegrade", n, our_s, our_peak, ">= 30"),
                                               ("nbgrader autograde", len(students), stock_s, stock_peak, "")]:
        rows.append({"task": f"{what}, {count} submissions", "a minute": f"{60 * count / seconds:.1f}",
                     "target": target,
                     "seconds each": f"{seconds / count:.2f}", "peak memory": f"{peak / 1e9:.2f} GB"})
    table(rows)
    print(f"{len(os.sched_getaffinity(0))} cores; the marks are {'the same' if same else 'NOT the same'}; "
          f"{sum(one == everyone[0] for one in everyone)} of {n} equal submissions have equal marks")


if __name__ == "__main__":
    main()
