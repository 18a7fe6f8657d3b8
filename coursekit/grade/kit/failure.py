"""A check that was not passed, as people and as nbgrader want to see it."""


class CheckFailed(AssertionError):
    """An answer is not right (yet). The message is for the student: notebooks show it without a stack trace.

    For nbgrader it is an error like any other, so the cell gets no points.

    >>> CheckFailed("rows sum to 4, not to 1")._render_traceback_()
    ['rows sum to 4, not to 1']
    """

    def _render_traceback_(self):
        """What IPython prints in place of a stack trace: the lines of the message."""
        return str(self).splitlines()
