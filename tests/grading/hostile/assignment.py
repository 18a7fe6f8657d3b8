"""A small assignment for the hostile corpus: two questions, three test cells, one secret. Of the second
one a function is forbidden. No torch: it starts fast."""

import copy

from nbformat.v4 import new_code_cell, new_notebook

SECRET = "tangerine-7351"                       # in the hidden tests; it must turn up nowhere a student can look
NUMBER = 48151623                               # an input of the hidden tests; it must not be told either
POINTS = {"visible": 1, "hidden": 2, "other": 1}

DOUBLE = "def double(values):\n    return [2 * value for value in values]"
MEAN = "def mean(values):\n    return float(np.mean(values))"
WRONG = "def double(values):\n    return [0 for value in values]"


def cell(source, grade_id=None, **about):
    """A code cell; with a grade_id it is one of nbgrader's."""
    made = new_code_cell(source)
    if grade_id:
        made.metadata["nbgrader"] = {"grade_id": grade_id, "schema_version": 3, "grade": False, "locked": False,
                                     "solution": False, **about}
    return made


def test_cell(source, grade_id):
    return cell(source, grade_id, grade=True, locked=True, points=POINTS[grade_id])


VISIBLE = "assert same(double([1, 2, 3]), [2, 4, 6]), double([5])\nprint('double: right on small numbers')"
HIDDEN = f"""### BEGIN HIDDEN TESTS
secret = "{SECRET}"
inputs = [[{NUMBER}], [], [0.5, -3], list(range(50))]
wanted = [[2 * {NUMBER}], [], [1.0, -6], list(range(0, 100, 2))]
got = list(map(double, inputs))
assert all(same(mine, theirs) for mine, theirs in zip(got, wanted)), f"{{got}}, not {{wanted}}"
assert np.allclose(np.array(double([3.0, 4.0])), [6.0, 8.0])
### END HIDDEN TESTS"""
OTHER = """from coursegrade.kit.question import question
@question((1, 0), {"three": ([1.0, 2.0, 6.0],), "one": ([4],)}, forbidden=("statistics.fmean", "statistics.mean"))
def right(values):
    return float(sum(values) / len(values))
right(mean)"""


def teacher():
    """The teacher's notebook."""
    return submission()


def submission(double=DOUBLE, mean=MEAN, first="", last=""):
    """What a student hands in: answers, and cells of their own at the beginning and the end."""
    cells = [cell("import numpy as np\nfrom coursegrade.check import same", "setup", locked=True),
             cell(first),
             cell(double, "double", solution=True),
             test_cell(VISIBLE, "visible"),
             test_cell(HIDDEN, "hidden"),
             cell(mean, "mean", solution=True),
             test_cell(OTHER, "other"),
             cell(last)]
    return new_notebook(cells=[copy.deepcopy(made) for made in cells])
