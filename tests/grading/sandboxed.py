"""Which sandbox do the tests of grading use?"""

import os

import pytest

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
