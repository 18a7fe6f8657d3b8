"""nbgrader's settings: where the course keeps what. They hold wherever nbgrader is started and the course lies.

solutions/  →  exercises/  →  grading/submitted/  →  grading/autograded/  →  grading/feedback/
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent

c = get_config()                                                        # noqa: F821, given by nbgrader
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.course_id = "attention-explained"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.solution_directory = "grading/solution"
c.CourseDirectory.db_url = f"sqlite:///{HERE.as_posix()}/gradebook.db"
c.OverwriteCells.add_missing_cells = True                               # a deleted check is put back, not forgiven
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "audit.html"]    # what running leaves behind
c.NbGrader.logfile = ""

# nbgrader's own list, but that student code runs in the sandbox: for `nbgrader autograde` and formgrader's button too.
c.Autograde.autograde_preprocessors = [
    "coursegrade.marking.execute.Execute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# With an exchange: a folder in it counts only for the account that made it, and no link in it is followed.
c.ExchangeFactory.collect = "coursegrade.marking.exchange.Collect"
# In formgrader and nbgrader's feedback, HTML that students wrote into their texts is shown, and does nothing.
c.HTMLExporter.filters = {"markdown2html": "coursegrade.marking.markdown.in_nbgrader"}
