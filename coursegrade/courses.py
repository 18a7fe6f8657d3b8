"""The course that is asked and graded: a package, found by the entry point `course` of the group `coursegrade`, which
the course's project declares, or by its name in the environment variable COURSEGRADE_COURSE.

The package has a folder for each assignment, NN_topic, whose module announces its questions (kit/score.py); `quizzes`;
it may have `exams`, which registers examinations on paper (coursegrade/exam.py);
`student.md`, the README of what students are given, with {assignments} where they are listed; and in itself

    TOPICS      {topic: the folder of its assignment}, by which `check.<topic>` is found
    VERSION     of the course: with another one, everything is marked anew
    PACKAGES    names of the packages that student code may read and import, whole
    SHOWN       files of this package that it may read and import
    FILES, FOLDERS, NEVER, TEACHERS     what students are given beside these packages and this one: files and folders
                of the course; and of all that, names that are left out, and beginnings of what is for teachers

tests/grading/sorting is the smallest there is, beside the course that coursegrade comes with.
"""

import functools
import importlib
import importlib.metadata
import os
from pathlib import Path

NAME = "COURSEGRADE_COURSE"             # an environment variable


@functools.cache
def here():
    """The package of the course. Raises ModuleNotFoundError, in one line, where there is none, or several."""
    names = [os.environ[NAME]] if os.environ.get(NAME) else sorted(
        {point.value for point in importlib.metadata.entry_points(group="coursegrade", name="course")})
    if len(names) != 1:
        raise ModuleNotFoundError(f"{len(names)} courses are installed here: install yours (pip install -e .), or set "
                                  f"{NAME} to the name of its package of questions")
    return importlib.import_module(names[0])


def folder(package=None):
    """The folder that a package lies in, by its name; without one the course's own."""
    return Path((importlib.import_module(package) if package else here()).__file__).parent
