"""What came late. A platform's mark says that, and grading/late.csv says when, or until when somebody had time:

    id,assignment,time,due
    jdoe,02,2026-12-01 09:30 +0100,
    squinn,02,,2026-12-07 18:00 UTC

And late days, as a plugin of nbgrader. In nbgrader_config.py:

    c.AssignLatePenalties.plugin_class = "coursegrade.marking.late_days.LateDays"
    c.LateDays.free = 2                 # days late that cost nothing
    c.LateDays.per_day = 0.1            # of the points reached, for each day begun after that
"""

import dataclasses
import datetime
import math
import re

from nbgrader.plugins import BasePlugin
from traitlets import Float

from coursegrade.marking import CourseError, tables


class LateDays(BasePlugin):
    """So many days are free; then each day begun costs a share of the points that were reached."""

    free = Float(0.0, help="days late that cost nothing").tag(config=True)
    per_day = Float(0.1, help="share of the points reached, for each day begun after that").tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        """The points that are taken off, between 0 and score."""
        days = math.ceil(max(0.0, total_seconds_late / 86_400 - self.free))
        return min(score, days * self.per_day * score)


@dataclasses.dataclass(frozen=True)
class Times:
    """When a student handed in, and until when there was time; None where grading/late.csv does not say. In UTC."""

    came: datetime.datetime | None
    due: datetime.datetime | None


def times(course, assignment):
    """{student: Times} of those in grading/late.csv. CourseError if it cannot be understood."""
    path = course.grading / "late.csv"
    found, people = {}, course.roster() if path.exists() else {}
    for row in tables.read(path) if path.exists() else ():
        if not {"id", "assignment"} <= row.keys() or not {"time", "due"} & row.keys():
            raise CourseError(f"grading/late.csv needs the columns id, assignment, time, due; it has {', '.join(row)}.")
        if people and row["id"] not in people:
            raise CourseError(f"grading/late.csv: there is nobody called {row['id']!r} in grading/roster.csv.")
        if course.assignment(row["assignment"]) == assignment:
            found[row["id"]] = Times(*(when(row[name]) if row.get(name) else None for name in ("time", "due")))
    return found


def when(text):
    """A time, as nbgrader keeps it: in UTC, without saying so. (Its own reading takes +0100 for 100 seconds.)

    >>> print(when("2026-11-30 18:00 UTC"), when("2026-11-30 18:00 +0100"))
    2026-11-30 18:00:00 2026-11-30 17:00:00
    """
    try:
        time = datetime.datetime.fromisoformat(re.sub(" ([+-])", r"\1", re.sub(" ?UTC$", "+00:00", text)))
    except ValueError:
        raise CourseError(f"{text!r} is no time that can be understood: write it like "
                          '"2026-11-30 18:00 UTC".') from None
    return time.astimezone(datetime.UTC).replace(tzinfo=None) if time.tzinfo else time
