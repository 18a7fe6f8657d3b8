"""From what was handed in to marks and feedback: a course folder, its inbox, the runs, the tables."""


class CourseError(Exception):
    """Something that the teacher can put right; the message says what and how, in one line."""
