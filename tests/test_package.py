"""The wheel: it holds the package and nothing else, installs where the course is not, and notebooks run beside it."""

import email
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import coursekit
from tests.drawn import commit, git
from tools import notebooks, picture

ROOT = Path(__file__).parent.parent
MEGABYTES = 15

PACKAGES = "attention_questions", "coursegrade", "coursekit"
# Runs the notebook named on the command line as its reader would, then asks its kernel where coursekit lies.
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
notebook.cells.append(nbformat.v4.new_code_cell("import coursekit; print(coursekit.__file__)"))
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(notebook.cells[-1].outputs[0].text)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The path of the wheel, built from a copy: `build/` here may hold what older versions had."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(made), str(source)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    [path] = made.iterdir()
    return path


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory):
    """`elsewhere(*arguments)` runs Python, in an empty folder, where the wheel is installed and this repository is not
    to be seen: the packages that the wheel asks for are those of this environment."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", paths["purelib"], str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    Path(paths["purelib"], "packages.pth").write_text(sysconfig.get_paths()["purelib"])   # its .pth files do not count
    empty = tmp_path_factory.mktemp("empty")
    environment = os.environ | notebooks.ENVIRONMENT | {"PYTHONPATH": ""}

    def python(*arguments):
        program = Path(paths["scripts"], "python")
        done = subprocess.run([program, *arguments], cwd=empty, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    assert Path(python("-c", "import coursekit; print(coursekit.__file__)")).is_relative_to(folder)
    python.folder, python.empty = folder, empty
    return python


def test_the_wheel_is_small_and_holds_what_git_tracks_of_the_package(wheel):
    assert wheel.stat().st_size <= MEGABYTES * 1e6
    tracked = git("ls-files", "--cached", "--others", "--exclude-standard", "--full-name",
                  *(f":/{name}" for name in PACKAGES)).split()
    if not tracked:
        pytest.skip("git does not know this folder")
    packed = zipfile.ZipFile(wheel).namelist()
    assert sorted(name for name in packed if ".dist-info/" not in name) == sorted(
        name for name in tracked if (ROOT / name).exists()), "see [tool.setuptools.package-data] in pyproject.toml"


def test_the_wheel_says_what_it_is(wheel):
    [name] = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    about = email.message_from_bytes(zipfile.ZipFile(wheel).read(name))
    assert wheel.name == f"coursekit-{coursekit.__version__}-py3-none-any.whl"
    assert about["Version"] == coursekit.__version__ and about["Name"] == "coursekit"
    assert about["License-Expression"] == "BSD-3-Clause" and about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown" and about.get_payload().startswith("# Attention")
    assert not any(re.search(r"OWNER|example\.", url) for url in about.get_all("Project-URL", []))


def test_every_extra_is_explained():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"\w+", " ".join(rows))) >= set(extras)


def test_versions_agree():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.M)[1] == coursekit.__version__
    assert re.search(r"^version: (\S+)$", citation, re.M)[1] == coursekit.__version__


def test_the_readmes_six_lines_run_from_the_wheel(elsewhere):
    """What they print is compared, digit by digit, in tests/tools/test_picture.py."""
    code, said = picture.six_lines(picture.README.read_text(encoding="utf-8"))
    *first, last = code.splitlines()
    words = r"^.*?(?=  )|\b\w+(?=\()"
    printed = elsewhere("-c", "\n".join([*first, f"print({last})"]))
    assert re.findall(words, printed, re.M) == re.findall(words, said, re.M)


def test_what_is_recorded_comes_with_the_wheel_and_what_made_it_does_not(elsewhere):
    code = "from coursekit.results import recorded; print(recorded('slalom_table2a').text)"
    assert "naive Bayes" in elsewhere("-c", code)
    assert "None" in elsewhere("-c", "from importlib.util import find_spec; print(find_spec('experiments'))")


SOLUTIONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))
NOTEBOOKS = [*notebooks.find(), *SOLUTIONS]
DRAWN = random.Random(commit()).choice(SOLUTIONS)                       # lectures take three times as long


@pytest.mark.notebook
@pytest.mark.parametrize("path", [pytest.param(
    path, id=str(path.relative_to(ROOT)), marks=[] if path == DRAWN else pytest.mark.slow) for path in NOTEBOOKS])
def test_a_notebook_runs_outside_the_repository(elsewhere, path):
    """With nothing beside it but what the wheel brings: as on Colab, or sent by a friend."""
    shutil.copy(path, elsewhere.empty)
    assert Path(elsewhere("-c", RUN, path.name).strip()).is_relative_to(elsewhere.folder)
