"""The class of classroom.py, graded once by the real commands; tests only look at what came of it."""

import shutil
import signal
from types import SimpleNamespace

import pytest

from coursegrade.kit import limit
from coursegrade.kit.unseen import SEED
from coursegrade.marking.course import Course
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


@pytest.fixture(autouse=True)
def no_wait_for_endless_answers(request, monkeypatch):
    """An answer of the bank has three seconds of a processor in place of five of the clock: an endless one is ended
    soon, an honest one is in time however busy the machine is."""
    if request.path.name == "test_bank.py" and hasattr(signal, "setitimer"):
        monkeypatch.setattr(limit, "SECONDS", 3)
        monkeypatch.setattr(limit, "signal", SimpleNamespace(
            signal=signal.signal, setitimer=signal.setitimer, SIGALRM=signal.SIGPROF, ITIMER_REAL=signal.ITIMER_PROF))
