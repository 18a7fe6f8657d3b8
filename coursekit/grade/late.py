"""Late days, as a plugin of nbgrader. In nbgrader_config.py:

    c.AssignLatePenalties.plugin_class = "coursekit.grade.late.LateDays"
    c.LateDays.free = 2                 # days late that cost nothing
    c.LateDays.per_day = 0.1            # of the points reached, for each day begun after that
"""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float


class LateDays(BasePlugin):
    """So many days are free; then each day begun costs a share of the points that were reached."""

    free = Float(0.0, help="days late that cost nothing").tag(config=True)
    per_day = Float(0.1, help="share of the points reached, for each day begun after that").tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        """The points that are taken off, between 0 and score."""
        days = math.ceil(max(0.0, total_seconds_late / 86_400 - self.free))
        return min(score, days * self.per_day * score)
