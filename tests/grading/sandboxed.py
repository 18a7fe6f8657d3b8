"""Which sandbox do the tests of grading use, and what is locked where there is no gradebook to say so?"""

import os

import pytest

from coursegrade.marking.cells import LockedCell
from coursegrade.sandbox.kinds import choose
from coursegrade.sandbox.process import GraderError


def kind_or_skip():
    """The kind of sandbox that this machine has. Without one the test is skipped, but under CI it fails."""
    try:
        return choose()
    except GraderError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


def locked_in(notebook):
    """{grade_id: LockedCell} of a teacher's notebook."""
    found = {}
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and not about.get("solution") and (about.get("locked") or about.get("grade")):
            found[about["grade_id"]] = LockedCell(cell.source, bool(about.get("grade")))
    return found
