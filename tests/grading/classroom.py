"""A course of one small assignment, and a class whose work is fine, odd, wrong, hostile or missing. Fast: no torch."""

import contextlib
import copy
import io
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursegrade.__main__ import main
from coursegrade.marking.course import Course

ROOT = Path(__file__).parents[2]
WITH_COURSE = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]), "OMP_NUM_THREADS": "1"}
NAME = "01_small"
SECRET = "tangerine-7351"                       # in the hidden tests; it must turn up nowhere that students can look
FULL = 5                                        # points without the text, which has 3 more
DOUBLE = "def double(values):\n    return [2 * value for value in values]"
MEAN = "def mean(values):\n    return sum(values) / len(values)"
TEXT = "Doubling and taking the mean can change places, because both are linear."
WRONG = "def double(values):\n    return [4 for value in values]"
NOTHING = 'def mean(values):\n    raise NotImplementedError()'


def cell(source, grade_id, kind="code", **about):
    made = new_code_cell(source) if kind == "code" else new_markdown_cell(source)
    made.metadata["nbgrader"] = {"grade_id": grade_id, "schema_version": 3, "grade": False, "locked": False,
                                 "solution": False, "task": False, **about}
    return made


def teacher():
    """The teacher's notebook."""
    test = {"grade": True, "locked": True}

    def solved(source):
        first, rest = source.split("\n", 1)
        return f"{first}\n    ### BEGIN SOLUTION\n{rest}\n    ### END SOLUTION"

    cells = [
        new_markdown_cell("# Small numbers"),
        cell("from coursegrade.check import CheckFailed, same", "imports", locked=True),
        new_markdown_cell("## Twice"),
        cell(solved(DOUBLE), "double", solution=True),
        cell("if not same(double([1, 2, 3]), [2, 4, 6]):\n"
             "    raise CheckFailed('✗ double is not right yet.\\n\\n  Is it twice each <b>value</b>?')\n"
             "print('✓ double')",
             "check_double", points=1, **test),
        cell(f"# Other numbers are tried here.\n### BEGIN HIDDEN TESTS\nsecret = '{SECRET}'\n"
             "assert same(double([7, -1.5]), [14, -3.0]), secret\n### END HIDDEN TESTS",
             "more_double", points=2, **test),
        new_markdown_cell("## The mean"),
        cell(solved(MEAN), "mean", solution=True),
        cell("assert same(mean([1.0, 2.0, 6.0]), 3.0), 'the mean of 1, 2 and 6'", "check_mean", points=2, **test),
        new_markdown_cell("## Why can the two change places?"),
        cell("### BEGIN SOLUTION\nBoth are linear.\n### END SOLUTION", "why", "markdown", grade=True, solution=True,
             points=3)]
    return new_notebook(cells=cells, metadata={
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}})


def answers(released, double=DOUBLE, mean=MEAN, why=TEXT):
    """What a student makes of the released notebook."""
    made = copy.deepcopy(released)
    for answer in made.cells:
        new = {"double": double, "mean": mean, "why": why}.get(grade_id(answer))
        answer.source = new or answer.source
    return made


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def at(notebook, name):
    """The place of a cell."""
    return [grade_id(cell) for cell in notebook.cells].index(name)


# ── honest, and odd: each must get full marks ─────────────────────────────────────────────────────────────────────

def plain(nb):
    return nb


def warns(nb):
    nb.cells[at(nb, "double")].source = ("import warnings, sys\ndef double(values):\n    warnings.warn('old')\n    "
                                         "print('noise', file=sys.stderr)\n    return [2 * value for value in values]")


def copied_tests(nb):
    for name in ("check_double", "more_double", "check_mean"):
        nb.cells.append(copy.deepcopy(nb.cells[at(nb, name)]))
    nb.cells.append(new_code_cell("1 + 1"))


def copied_answer(nb):
    """A copy, with the stub still in it, stands behind the answer."""
    stub = copy.deepcopy(nb.cells[at(nb, "mean")])
    stub.source = NOTHING.replace("mean", "draft")
    nb.cells.insert(at(nb, "mean"), stub)


def deleted_tests(nb):
    nb.cells = [cell for cell in nb.cells if not str(grade_id(cell)).startswith(("check", "more", "imports"))]


def changed_tests(nb):
    nb.cells[at(nb, "check_double")].source = "assert double([1]) == [3]"


def stripped_metadata(nb):
    for cell in nb.cells:
        cell.metadata = {}


def wrong_kernel(nb):
    nb.metadata = {"kernelspec": {"name": "my-env-311", "display_name": "mine", "language": "R"},
                   "language_info": {"name": "R"}}


def extra_cells(nb):
    for place in range(len(nb.cells), -1, -1):
        nb.cells.insert(place, new_code_cell("mine = 1\nprint(mine)"))
        nb.cells.insert(place, new_markdown_cell("a note of my own"))


def text_became_code(nb):
    nb.cells[at(nb, "why")] = cell("# " + TEXT, "why", grade=True, solution=True, points=3)


def answer_elsewhere(nb):
    place = at(nb, "double")
    nb.cells[place] = new_code_cell("half = 0.5\n" + DOUBLE)


def wrong_metadata(nb):
    nb.cells[at(nb, "check_double")].metadata.nbgrader.update(points=-1e300, schema_version=99, locked=[], grade="no")


def big_outputs(nb):
    nb.cells[at(nb, "double")].outputs = [new_output("stream", text="x" * 10_000_000)]


def fails_in_between(nb):
    nb.cells.insert(1, new_code_cell("an error = that is no Python"))
    nb.cells.insert(1, new_code_cell("1 / 0"))


CHANGES = [plain, warns, copied_tests, copied_answer, deleted_tests, changed_tests, stripped_metadata, wrong_kernel,
           extra_cells,
           text_became_code, answer_elsewhere, wrong_metadata, big_outputs, fails_in_between]


def as_version_3(nb):
    old = nbformat.v4.downgrade(copy.deepcopy(nb))
    return nbformat.v3.writes_json(old).encode()


def as_text(nb):
    nb = copy.deepcopy(nb)
    nb.metadata["name"] = "Łódź"
    return nbformat.writes(nb)


ENCODINGS = {
    "windows_lines": lambda nb: as_text(nb).replace("\\n", "\\r\\n").replace("\n", "\r\n").encode(),
    "byte_order_mark": lambda nb: b"\xef\xbb\xbf" + as_text(nb).encode(),
    "utf_16": lambda nb: as_text(nb).encode("utf-16"),
    "old_windows": lambda nb: nbformat.writes(nb).replace(TEXT, TEXT + " –").encode("cp1252", "replace"),
    "version_3": as_version_3,
}


def odd(released):
    """{student: bytes of a notebook} that must get full marks."""
    made = {}
    for change in CHANGES:
        nb = answers(released)
        change(nb)
        made[change.__name__] = json.dumps(nb).encode()
    return made | {name: encode(answers(released)) for name, encode in ENCODINGS.items()}


# ── the course ────────────────────────────────────────────────────────────────────────────────────────────────────

def make_course(folder):
    """A course folder with the assignment in it."""
    (folder / "solutions" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    nbformat.write(teacher(), folder / "solutions" / NAME / f"{NAME}.ipynb")
    (folder / "grading").mkdir()
    return folder


def hand_in(folder, student, data, name=f"{NAME}.ipynb"):
    """Put a file into grading/submitted; return its path."""
    path = folder / "grading" / "submitted" / student / NAME / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else nbformat.writes(data).encode())
    return path


def start(folder, *arguments):
    """Start a command in a course folder, in a process of its own."""
    return subprocess.Popen([sys.executable, "-m", "coursegrade", *arguments], cwd=folder, text=True,
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=os.environ | WITH_COURSE)


def command(folder, *arguments, status=0):
    """Run a command to its end, in this process; return what it wrote."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written), warnings.catch_warnings():
        found = main([arguments[0], "--course", str(folder), *arguments[1:]])
    assert found == status, written.getvalue()
    return written.getvalue()



# ── the others ────────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = """import os, sys, gc
try:
    import numpy
    numpy.allclose = numpy.array_equal = lambda *a, **k: True
    from coursegrade import checks
    checks.same = sys.modules["coursegrade.kit.same"].same = lambda *a, **k: True
except Exception as error:
    print(error)
for place in ("gradebook.db", "solutions", "/course/solutions", "grading/seed"):
    if os.path.exists(place):
        print("FOUND"[::-1], place)
print(os.environ.get("COURSEGRADE_HIDDEN_SEED"),
      [text for text in gc.get_objects() if isinstance(text, str) and "tanger" in text])
"""
MARKUP = ("<script>alert(1)</script> ![spy](https://example.org/spy.png) [go](javascript:alert(2)) "
          "<b onclick='x()'>bold</b>")
PICTURE = """from IPython.display import HTML, Image, SVG, display
display(HTML("<script>alert('html')</script>"),
        SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>alert('svg')</script></svg>"))
import base64
display(Image(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
                               "RU5ErkJggg==")))
print("\\x1b[31mred\\x1b[0m <i>text</i>")
"""
ROSTER = ("plain", "half", "hostile", "exits", "cut_off", "not_there", "untouched", "formula")


def others(released):
    """{student: (bytes, state, points, or None)} of work that is not simply right."""
    def notebook(first="", times=1, **options):
        nb = answers(released, **options)
        nb.cells[1:1] = [new_code_cell(first) for _ in range(times)]
        return json.dumps(nb).encode()

    waits = "needs manual grading"
    return {
        "half": (notebook(double=WRONG), waits, 2),
        "hostile": (notebook(HOSTILE, double=WRONG), waits, 2),
        "exits": (notebook("import os\nos._exit(2)", 2, double="import os\ndef double(values):\n    os._exit(0)",
                           mean=MEAN + "\nos._exit(1)"), "crashed", 0),
        "prints": (notebook(PICTURE, why=MARKUP), waits, FULL),
        "untouched": (json.dumps(released).encode(), "graded", 0),
        "cut_off": (notebook()[:500], "rejected", None),
        "a_pdf": (b"%PDF-1.7", "rejected", None),
        "=cmd": (notebook(), "rejected", None),
    }


def fill(folder, oddities=100):
    """Hand in everybody's work, some late; write the roster, on which some have handed in nothing."""
    released = Course(folder).released(NAME)
    for student, data in list(odd(released).items())[:oddities]:
        hand_in(folder, student, data)
    for student, (data, _, _) in others(released).items():
        hand_in(folder, student, data)
    hand_in(folder, "half", b"2026-05-03 12:00:00 UTC\n", "timestamp.txt")
    hand_in(folder, "half", b"secret", "submission_secret.txt")
    hand_in(folder, "half", b"import numpy", "numpy.sh")
    rows = ["id,first_name,last_name,email,lms_user_id"] + [
        f"{name},{name.title()},{'=1+1' if name == 'formula' else 'Ada'},{name}@example.org,{4711 + i}"
        for i, name in enumerate(ROSTER)]
    (folder / "grading" / "roster.csv").write_text("\n".join(rows) + "\n")
    with Course(folder).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-05-01 12:00:00 UTC")
