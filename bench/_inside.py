"""What runs in the throw-away place: another grader marks a hand-in and a neighbour's; then it is looked at what came.

    python _inside.py SYSTEM SECRET NUMBER…     prints a report, one JSON object

SYSTEM is "nbgrader" or "otter". The course's folder is copied from /given; in it ada has been marked, and mallory and
zoe wait. Of this project nothing is imported here, so that it runs in otter's environment, too. `python _inside.py
one STUDENT` is otter's part for one student.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

NAME, STUDENTS = "ps1", ("ada", "mallory", "zoe")
COURSE, LOG = Path.home() / "course", Path("/tmp/grader.log")
PATIENCE = 300                                                          # seconds for both hand-ins


def main(system, *secrets):
    """Mark them, look, print."""
    shutil.copytree("/given/course", COURSE)
    os.chdir(COURSE)
    before, steps, why = digests(), SYSTEMS[system], ""
    try:
        steps["mark"]()
    except subprocess.TimeoutExpired:
        why = f"the two hand-ins were not marked after {PATIENCE} seconds"
    left = [] if why else left_over()
    points = steps["points"]()
    read, printed, page = steps["shown"]()
    after = digests()
    print(json.dumps({
        "points": points, "why": why or last_words(), "left": left,
        "changed": sorted(path for path in before if after.get(path) != before[path]),
        "leaked": [secret for secret in secrets if secret in read],
        "found": re.findall(r"FOUND[^\n]{0,60}", printed)[:5],
        "script": "<script>alert(2)" in page}))


def run(*words):
    """A command of the grader's; what it says goes to the log."""
    left = PATIENCE - (time.monotonic() - START)
    with LOG.open("ab") as log:
        process = subprocess.Popen([sys.executable, *words], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            process.wait(max(left, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def last_words():
    """The last error that the log names."""
    if not LOG.exists():
        return ""
    with LOG.open("rb") as log:
        log.seek(max(0, LOG.stat().st_size - 100_000))
        named = re.findall(r"\b\w*[a-z](?:Error|Exception)\b[^\n]*", log.read().decode(errors="replace"))
    return named[-1][:200] if named else ""


def digests():
    """{path: digest} of all files, but for mallory's work and the gradebook: what was there before may not change."""
    found = {}
    for path in COURSE.rglob("*"):
        place = path.relative_to(COURSE)
        if path.is_file() and "mallory" not in place.parts and path.name not in ("gradebook.db", ".nbgrader.log"):
            found[str(place)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def left_over():
    """The commands of processes that are still here two seconds after the grader: all but the place's own."""
    own = {1}
    pid = os.getpid()
    while pid > 1:
        own.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    for _ in range(20):
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and int(name) not in own and Path(f"/proc/{name}/stat").read_text().rpartition(
                        ")")[2].split()[0] != "Z":
                    program, *words = Path(f"/proc/{name}/cmdline").read_text().split("\0")
                    found.append(" ".join([Path(program).name, *words])[:40])
            except OSError:
                pass
        if not found:
            break
        time.sleep(0.1)
    return found


def cells_of(path):
    """The cells of a notebook; none if it is not there."""
    return json.loads(path.read_text())["cells"] if path.exists() else []


def printed_in(cells):
    """What the cells of a notebook printed, as one text."""
    return "\n".join("".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))


# ── nbgrader, with its own settings ───────────────────────────────────────────────────────────────────────────────

def nbgrader_marks():
    run("-m", "nbgrader", "autograde", NAME)
    if marked("mallory").exists() and marked("mallory").stat().st_size < 5 << 20 and "<script>" in str(
            [cell.get("outputs") for cell in cells_of(marked("mallory"))]):
        run("-m", "nbgrader", "generate_feedback", NAME)


def nbgrader_points():
    """{student: {test cell: points}}; None for what has no marks."""
    with sqlite3.connect(f"file:{COURSE}/gradebook.db?mode=ro", uri=True) as gradebook:
        rows = gradebook.execute(
            "select a.student_id, c.name, coalesce(g.manual_score, g.auto_score) + coalesce(g.extra_credit, 0) "
            "from grade g join base_cell c on g.cell_id = c.id join submitted_notebook n on g.notebook_id = n.id "
            "join submitted_assignment a on n.assignment_id = a.id where g.auto_score is not null or g.manual_score "
            "is not null").fetchall()
    return {who: {name: points for student, name, points in rows if student == who} or None for who in STUDENTS}


def nbgrader_shown():
    """(the outputs that mallory reads, what her cells printed, her page). The hidden test's own output is left out:
    nbgrader shows hidden tests, sources and all, to everybody, once they are marked."""
    cells = cells_of(marked("mallory"))
    read = [cell.get("outputs", []) for cell in cells
            if cell["metadata"].get("nbgrader", {}).get("grade_id") != "hidden"]
    page = COURSE / "feedback" / "mallory" / NAME / f"{NAME}.html"
    return str(read), printed_in(cells), page.read_text(errors="replace") if page.exists() else ""


def marked(student):
    return COURSE / "autograded" / student / NAME / f"{NAME}.ipynb"


# ── otter, without containers ─────────────────────────────────────────────────────────────────────────────────────

def otter_marks():
    for student in STUDENTS[1:]:
        run(__file__, "one", student)


def one(student):
    """`otter run` for one student; the notebook that was run is kept, too."""
    import nbformat
    from otter.run import main as otter_run

    place = Path("results", student)
    place.mkdir(parents=True)
    [handed_in] = Path("submitted", student).iterdir()
    found = otter_run(str(handed_in), autograder="autograder.zip", output_dir=str(place), no_logo=True)
    nbformat.write(found.notebook, place / "executed.ipynb")


def results(student):
    """What otter wrote for a student: a list of tests."""
    path = COURSE / "results" / student / "results.json"
    return json.loads(path.read_text())["tests"] if path.exists() else []


def otter_points():
    """{student: {test cell: points}}: "double" has one point for its visible case and two for the hidden one."""
    found = {}
    for student in STUDENTS:
        scores = {test["name"]: test["score"] for test in results(student) if "score" in test}
        double = scores.get("double", 0)
        found[student] = {"visible": double % 2, "hidden": double - double % 2,
                          "other": scores.get("mean", 0)} if scores else None
    return found


def otter_shown():
    """(what mallory reads, what her cells printed, no page): students see what is "visible" in the results."""
    read = [test for test in results("mallory") if test.get("visibility") == "visible"]
    return str(read), printed_in(cells_of(COURSE / "results" / "mallory" / "executed.ipynb")), ""


SYSTEMS = {"nbgrader": {"mark": nbgrader_marks, "points": nbgrader_points, "shown": nbgrader_shown},
           "otter": {"mark": otter_marks, "points": otter_points, "shown": otter_shown}}

if __name__ == "__main__":
    START = time.monotonic()
    (one if sys.argv[1] == "one" else main)(*sys.argv[2 if sys.argv[1] == "one" else 1:])
