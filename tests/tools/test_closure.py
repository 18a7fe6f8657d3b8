"""A lecture's digest changes with all that it hangs on, and with nothing else."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import closure

FILES = {
    "coursekit/__init__.py": "", "coursekit/text/__init__.py": "from .words import word",
    "coursekit/text/words.py": "word = 1",
    "coursekit/show/__init__.py": "def late():\n    from coursekit.show import colours",
    "coursekit/show/colours.py": "",
    "coursekit/explain/__init__.py": "", "coursekit/explain/lime.py": "import coursekit.show",
    "coursekit/weights/one.json": "{}", **{name: "" for name in closure.RUNNERS}}


@pytest.fixture
def course(tmp_path):
    """(its folder, the path of a lecture) of a course of a few files."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = tmp_path / "lectures" / "00_one.ipynb"
    path.parent.mkdir()
    cells = ["import torch\n%matplotlib inline\nfrom coursekit.text import word", "from coursekit.explain import lime"]
    nbformat.write(new_notebook(cells=list(map(new_code_cell, cells))), path)
    yield tmp_path, path
    closure.imported.cache_clear()


def test_modules_are_found_through_others_inside_functions_and_above(course):
    root, path = course
    assert closure.closure(nbformat.read(path, as_version=4), root) == [
        "coursekit", "coursekit.explain", "coursekit.explain.lime", "coursekit.show", "coursekit.show.colours",
        "coursekit.text", "coursekit.text.words"]


@pytest.mark.parametrize("name", [*FILES, "lectures/00_one.ipynb"])
def test_every_file_of_it_counts(course, name):
    root, path = course
    before = closure.digest(path, root)
    assert closure.digest(path, root) == before
    (root / name).write_text((root / name).read_text() + "\n")
    assert closure.digest(path, root) != before


def test_a_module_that_it_does_not_need_does_not_count(course):
    root, path = course
    before = closure.digest(path, root)
    (root / "coursekit/explain/shapley.py").write_text("import coursekit.text")
    (root / "coursegrade.py").write_text("")
    assert closure.digest(path, root) == before


def test_packages_count(course, monkeypatch):
    root, path = course
    before = closure.digest(path, root)
    monkeypatch.setattr(closure, "installed", lambda: "torch==0.0")
    assert closure.digest(path, root) != before


def test_what_passed_is_noted(tmp_path):
    path = tmp_path / "00_one.ipynb"
    assert closure.passed(path, tmp_path / "build") == ""
    closure.note(path, "abc", tmp_path / "build")
    assert closure.passed(path, tmp_path / "build") == "abc"
    assert closure.PASSED.relative_to(closure.ROOT).parts[0] == "build", "which git ignores"
