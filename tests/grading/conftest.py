"""The class of classroom.py, graded once by the real commands; tests only look at what came of it."""

import shutil

import pytest

from coursekit.grade.kit.unseen import SEED
from coursekit.grade.marking.course import Course
from tests.grading import classroom
from tests.grading.sandboxed import kind_or_skip


@pytest.fixture(scope="session")
def sandbox():
    return kind_or_skip()


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A course with an assignment in its gradebook and nothing handed in."""
    folder = classroom.make_course(tmp_path_factory.mktemp("template") / "course")
    Course(folder).prepare(classroom.NAME)
    return folder


@pytest.fixture
def small(tmp_path, template, sandbox, monkeypatch):
    """(folder, course, what students get) of a course with nobody's work in it yet."""
    monkeypatch.delenv(SEED, raising=False)
    folder = shutil.copytree(template, tmp_path / "course")
    return folder, Course(folder), Course(folder).released(classroom.NAME)


@pytest.fixture(scope="session")
def graded(tmp_path_factory, template, sandbox):
    """(folder, what `grade`, `feedback` and `export` wrote) of a class that has handed in all there is."""
    folder = shutil.copytree(template, tmp_path_factory.mktemp("graded") / "course")
    classroom.fill(folder)
    return folder, "".join(classroom.command(folder, name) for name in ("grade", "feedback", "export"))


@pytest.fixture
def course(graded):
    return Course(graded[0])
