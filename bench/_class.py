"""A class of twenty thousand through the grader, which is killed three times meanwhile: python -m bench._class 20000

Some hand-ins are really run in the sandbox (--real 400); of the others, what such a run found is taken for theirs, so
that inbox, intake, outcomes and gradebook are tried at their full size. It takes an hour or more; `make bench` leaves
it out. At the end the marks of each hand-in are looked at, and the pages and tables of two classes are timed.
"""

import argparse
import contextlib
import dataclasses
import io
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from bench import table
from bench.grading import NAME, ROOT, make_course
from coursegrade.__main__ import main as command
from coursegrade.marking import pipeline, records

WRONG = "def softmax(z):\n    return z\n"


def hand_in(course, n):
    """Fill the inbox: every third hand-in has a wrong first answer, all have a line of their own."""
    folder = course.grading / "inbox" / NAME
    folder.mkdir(parents=True)
    work = nbformat.read(next((course.grading / "submitted").glob(f"*/{NAME}/{NAME}.ipynb")), as_version=4)
    first = next(cell for cell in work.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax")
    right = first.source
    for i in range(n):
        first.source = f"# {i}\n" + (WRONG if i % 3 == 0 else right)
        (folder / f"s{i:05}.ipynb").write_text(json.dumps(work))
    (course.grading / "roster.csv").write_text("id\n" + "".join(f"s{i:05}\n" for i in range(n)))


def grade(folder, every):
    """What the killed process does: grade, with one run of so many real."""
    real, kept = pipeline.run, {}

    def run(work):
        number = int(work.student[1:])
        kind = number % 3 == 0
        if number % every and kind in kept:
            theirs = kept[kind]
            made = nbformat.from_dict(work.notebook)
            for cell, other in zip(made.cells, theirs.notebook.cells, strict=True):
                if cell.cell_type == "code":
                    cell.outputs, cell.execution_count = other.outputs, other.execution_count
            return dataclasses.replace(theirs, notebook=made, key=work.key)
        outcome = real(work)
        kept.setdefault(kind, outcome)
        return outcome

    pipeline.run = run
    command(["grade", "--course", folder])


def spent(who=resource.RUSAGE_SELF):
    """Processor seconds so far."""
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime


def killed(folder, n, kills, every):
    """Grade in a process that is killed so often, at even distances; yield a row of `timed` for each part."""
    marks, limits = folder / "grading" / "records" / NAME, [n * (k + 1) // (kills + 1) for k in range(kills)]
    for limit in [*limits, n + 1]:
        start, before = time.monotonic(), spent(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [sys.executable, "-m", "bench._class", "--grade", str(folder), "--every", str(every)], cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (limit > n or len(os.listdir(marks) if marks.is_dir() else ()) < limit):
            time.sleep(0.5)
        if limit <= n:
            assert process.poll() is None, "it was over before it could be killed"
            process.send_signal(signal.SIGKILL)
        assert process.wait() == (-signal.SIGKILL if limit <= n else 0)
        yield row(f"graded, until {'killed' if limit <= n else 'the end'}", start, before, resource.RUSAGE_CHILDREN)


def look(course, n):
    """Raise AssertionError if a hand-in is lost, is there twice, or has other marks than the like ones."""
    found = records.read_all(course, NAME)
    assert len(found) == n and {one.state for one in found.values()} == {"needs manual grading"}
    with sqlite3.connect(course.root / "gradebook.db") as database:
        marks = dict(database.execute(
            "select s.student_id, group_concat(c.name || g.auto_score) from submitted_assignment s join "
            "submitted_notebook n on n.assignment_id = s.id join grade g on g.notebook_id = n.id join base_cell c on "
            "c.id = g.cell_id where g.auto_score is not null group by s.student_id"))
    kinds = {kind: {"".join(sorted(marks[f"s{i:05}"])) for i in range(n) if (i % 3 == 0) == kind} for kind in (0, 1)}
    assert len(marks) == n and all(len(each) == 1 for each in kinds.values()) and kinds[0] != kinds[1], kinds


def timed(what, work):
    """The row of a call for the table."""
    start, before = time.monotonic(), spent()
    work()
    return row(what, start, before)


def row(what, start, before, who=resource.RUSAGE_SELF):
    """What was done, its seconds and processor seconds, and the largest memory of a process so far."""
    return {"": what, "seconds": f"{time.monotonic() - start:.0f}", "CPU seconds": f"{spent(who) - before:.0f}",
            "peak MB": f"{resource.getrusage(who).ru_maxrss / 1024:.0f}"}


def quietly(step, place):
    """A command of the grader, whose lines are not shown."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert command([step, "--course", place]) == 0


def main():
    about = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    about.add_argument("n", type=int, nargs="?", default=20_000)
    about.add_argument("--kills", type=int, default=3)
    about.add_argument("--real", type=int, default=400)
    about.add_argument("--grade", help=argparse.SUPPRESS)
    about.add_argument("--every", type=int, default=1, help=argparse.SUPPRESS)
    options = about.parse_args()
    if options.grade:
        return grade(options.grade, options.every)
    with tempfile.TemporaryDirectory() as place:
        course = make_course(Path(place), 1)
        hand_in(course, options.n)
        shutil.rmtree(course.grading / "submitted")
        rows = [timed("intake", lambda: quietly("intake", place))]
        rows += killed(Path(place), options.n, options.kills, max(1, options.n // options.real))
        look(course, options.n)
        rows.append(timed("rebuilt from nothing", lambda: quietly("rebuild", place)))
        look(course, options.n)
        for step in "feedback", "export":
            rows.append(timed(step, lambda step=step: quietly(step, place)))
        files = [path for path in Path(place).rglob("*") if path.is_file()]
        table(rows)
        print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e9:.1f} GB; gradebook "
              f"{(Path(place) / 'gradebook.db').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
