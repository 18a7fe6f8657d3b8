"""nbgrader's settings for the course on sorting."""

from pathlib import Path

HERE = Path(__file__).resolve().parent

c = get_config()                                                        # noqa: F821, given by nbgrader
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.course_id = "sorting"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = f"sqlite:///{HERE.as_posix()}/gradebook.db"
