"""Which sandbox do the tests of grading use, what is locked without a gradebook, and what still runs after it?"""

import os
import subprocess
import time

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


def listed(argument):
    """Is there a process with this argument, as `ps` sees it? While others end it can miss one."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    return any(argument in line.split() for line in found.splitlines())


def running(argument):
    """Is there one, at the latest in two seconds?"""
    return any(listed(argument) or time.sleep(0.1) for _ in range(20))


def gone(argument):
    """Has it ended within 20 seconds? The kernel ends a sandbox's processes after the sandbox, one by one."""
    deadline = time.monotonic() + 20
    while listed(argument) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not listed(argument)
