"""What GitHub runs are the commands of the Makefile and of `.ci/run`, on Pythons that the project allows."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
             for path in (ROOT / ".github" / "workflows").glob("*.yml")}
STEPS = {name: [step for job in flow["jobs"].values() for step in job["steps"]] for name, flow in WORKFLOWS.items()}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = SpecifierSet(PROJECT["requires-python"])


def commands(name):
    return [step["run"] for step in STEPS[name] if "run" in step]


def test_each_push_is_linted_and_tested_each_night_everything_and_the_pages_follow_main():
    assert commands("tests") == ["make lint", "make test-fast"]
    assert commands("nightly")[-1].endswith("sh .ci/run test-all")
    assert commands("pages")[-1] == ".venv/bin/python -m tools.book"
    begin = {name: flow[True] for name, flow in WORKFLOWS.items()}              # YAML reads `on` as True
    assert set(begin["tests"]) == {"push", "pull_request"} and "schedule" in begin["nightly"]
    assert begin["pages"]["push"] == {"branches": ["main"]}


@pytest.mark.parametrize("target", ["lint", "test-fast", "test-all", "test"])
def test_make_knows_the_commands(target):
    shown = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, env=os.environ)
    assert shown.returncode == 0 and ".venv/bin/python -m" in shown.stdout, shown.stderr


@pytest.mark.parametrize("asked, made", [("", "test"), ("test-all", "test-all")])
def test_ci_run_lints_and_calls_make(asked, made, tmp_path):
    """With programs in the place of make and of all that it would install."""
    for name in ("unshare", "npm", "bwrap", "chromium", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    (tmp_path / "make").write_text('#!/bin/sh\necho "CI=$CI make $*"\n')
    for program in tmp_path.iterdir():
        program.chmod(0o755)
    done = subprocess.run(["sh", ".ci/run", *asked.split()], cwd=ROOT, capture_output=True, text=True,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert done.stdout.splitlines() == ["CI= make lint", f"CI=true make {made}"], done.stderr


@pytest.mark.parametrize("name", WORKFLOWS)
def test_they_may_only_read_use_actions_by_version_and_pythons_that_the_project_allows(name):
    flow = WORKFLOWS[name]
    writes = {right for right, what in flow["permissions"].items() if what == "write"}
    assert writes <= ({"pages", "id-token"} if name == "pages" else set())
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) for step in STEPS[name] if "uses" in step)
    for job in flow["jobs"].values():
        named = [step.get("with", {}).get("python-version") for step in job["steps"]]
        versions = job.get("strategy", {}).get("matrix", {}).get("python", [v for v in named if v])
        assert all(PYTHONS.contains(version) for version in versions)


def test_how_to_report_a_hole_is_said_and_leads_to_what_is_promised():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    path, heading = re.search(r"\]\((docs/\w+\.md)#([\w-]+)\)", text).groups()
    headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.M)
    assert heading in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings]
    for template in [*(ROOT / ".github" / "ISSUE_TEMPLATE").iterdir(), ROOT / ".github" / "pull_request_template.md"]:
        assert len(template.read_text(encoding="utf-8").splitlines()) <= 15, template.name
