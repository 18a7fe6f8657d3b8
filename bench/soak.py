"""A whole class of generated submissions, a tenth of them hostile, graded and killed half way: are all marks right?

The work is that of the hostile corpus of the tests: answers that are right, wrong or empty in known proportions, and
attacks in turn. `python -m bench.soak --submissions 200 --kills 2` is the full run, of some minutes; by default it is
small. It fails loudly if a mark is wrong, a submission lost, or something changed that should not.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import nbformat

from coursegrade.marking import pipeline, records, reports
from coursegrade.marking.course import Course
from coursegrade.sandbox.process import Limits
from tests.grading.hostile.assignment import DOUBLE, MEAN, SECRET, WRONG, submission, teacher
from tests.grading.hostile.attacks import CORPUS

ROOT, NAME = Path(__file__).parents[1], "07_soak"
LIMITS = Limits(call=2, cell=4, submission=20, memory=1 << 30, processes=40)
DOUBLES = [(DOUBLE, (1, 2)), (WRONG, (0, 0)), (DOUBLE.replace("2 *", "2.0 *"), (0, 0)), ("x = 1", (0, 0)),
           ("def double(values):\n    return [2 * value for value in values] if values else None", (1, 0)),
           (DOUBLE.replace("2 * value", "value + value"), (1, 2))]
MEANS = [(MEAN, (1,)), ("def mean(values):\n    return sum(values) / len(values)", (1,)),
         ("def mean(values):\n    return 3.0", (0,)),
         ("def mean(values):\n    raise NotImplementedError", (0,))]
REJECTED = {"a_hundred_thousand_cells"}                                 # intake has its own mind about it


def make_course(folder, n, seed=0):
    """A course with n submissions in it; returns {student: (points, state)} as they must come out."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    (folder / "solutions" / NAME).mkdir(parents=True)
    (folder / "grading").mkdir()
    nb = teacher()
    for cell in nb.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader["task"] = False
    nbformat.write(nb, folder / "solutions" / NAME / f"{NAME}.ipynb")
    wanted, dice, attacks = {}, random.Random(seed), list(CORPUS)
    for i in range(n):
        student, files = f"student{i:03}", {}
        if i % 10 == 5:
            name = attacks[(i // 10 * 7) % len(attacks)]
            attack = CORPUS[name]
            work, files, state = attack.build(), attack.files, attack.state
            wanted[student] = (attack.points, state) if name not in REJECTED else ((None,) * 3, "rejected")
        else:
            (double, two), (mean, one) = dice.choice(DOUBLES), dice.choice(MEANS)
            work, wanted[student] = submission(double, mean, first=f"mine = {i}"), (two + one, "ran")
        target = folder / "grading" / "submitted" / student / NAME
        target.mkdir(parents=True)
        (target / f"{NAME}.ipynb").write_text(json.dumps(work))
        for path, text in files.items():
            (target / path).parent.mkdir(exist_ok=True)
            (target / path).write_text(text)
    return wanted


def graded_and_killed(folder, after):
    """Grade in another process; kill it when so many records are there (None: never). Returns how many were there."""
    process = subprocess.Popen([sys.executable, "-m", "bench.soak", "--grade", str(folder)], cwd=ROOT)
    found = folder / "grading" / "records" / NAME
    while process.poll() is None:
        if after is not None and len(list(found.glob("*.json"))) >= after:
            process.send_signal(signal.SIGKILL)
        time.sleep(0.05)
    process.wait()
    if (process.returncode == 0) != (after is None):
        sys.exit(f"grading ended with {process.returncode}")
    return len(list(found.glob("*.json")))


def wrong(course, wanted):
    """Lines about every submission that did not come out as it must."""
    kept = records.read_all(course, NAME)
    if set(kept) != set(wanted):
        yield f"lost: {sorted(set(wanted) - set(kept))}"
    with course.gradebook() as gradebook:
        for student, (points, state) in wanted.items():
            marks = reports.questions(gradebook, NAME, student)
            got = tuple(mark.points for found in marks.values() for mark in found)
            end = kept[student].state.replace("graded", "ran")
            if got != points or end != state:
                yield f"{student}: {got}, {end}; must be {points}, {state}. {kept[student]}"
    for path in (course.grading / "autograded").rglob("*.ipynb"):
        outputs = str([cell.get("outputs") for cell in json.loads(path.read_text())["cells"]])
        if SECRET in outputs:
            yield f"{path.parent.parent.name} has seen a hidden test"


def main():
    """Make the class, grade it with so many interruptions, compare."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--submissions", type=int, default=20)
    options.add_argument("--kills", type=int, default=1)
    options.add_argument("--grade", metavar="FOLDER", help=argparse.SUPPRESS)
    options = options.parse_args()
    warnings.simplefilter("ignore")
    if options.grade:
        pipeline.grade(Course(options.grade), NAME, limits=LIMITS)
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        wanted = make_course(folder, options.submissions)
        start, done = time.perf_counter(), []
        for kill in range(1, options.kills + 1):
            done.append(graded_and_killed(folder, options.submissions * kill // (options.kills + 1)))
        graded_and_killed(folder, None)
        seconds = time.perf_counter() - start
        found = list(wrong(Course(folder), wanted))
    hostile = sum(1 for i in range(options.submissions) if i % 10 == 5)
    print(f"{options.submissions} submissions, {hostile} of them from the hostile corpus, killed after {done} of them: "
          f"{seconds:.0f} s, {60 * options.submissions / seconds:.0f} a minute")
    print("\n".join(found) or "every mark is right, and none is lost")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
