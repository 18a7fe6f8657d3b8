"""Collecting from an exchange that everybody can write to: nobody hands in for another, or what is not theirs."""

import importlib
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path

import pytest
from jupyterlab_server.config import get_page_config
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import Exchange
from traitlets.config import Config, PyFileConfigLoader

from coursegrade.marking import exchange
from tests.grading.classroom import NAME, ROOT

pwd = pytest.importorskip("pwd", reason="an exchange needs accounts")
ME = pwd.getpwuid(os.getuid()).pw_name
EARLY, LATE = "2026-11-23 16:00:00.000000 UTC", "2026-11-24 09:30:00.000000 UTC"


@pytest.fixture
def put(tmp_path):
    """Puts a folder with a notebook into the exchange, in somebody's name; returns it."""
    def put(name, time=EARLY, text="mine"):
        folder = tmp_path / "exchange" / "c" / "inbound" / f"{name}+{NAME}+{time}+xyz"
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(text)
        (folder / "timestamp.txt").write_text(time)
        return folder
    return put


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    """An empty gradebook's file. It takes nbgrader seconds to make one."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")   # nbgrader calls alembic
        Gradebook(f"sqlite:///{path}", "c").close()
    return path


@pytest.fixture
def collect(tmp_path, gradebook):
    """Collects with the course's own settings; returns {file: its text} of what has come in."""
    shutil.copy(gradebook, tmp_path)

    def collect():
        config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
        config.Exchange.root = str(tmp_path / "exchange")
        config.CourseDirectory.update(root=str(tmp_path), course_id="c", db_url=f"sqlite:///{tmp_path}/gradebook.db")
        folders = CourseDirectory(config=config, assignment_id=NAME)
        ExchangeFactory(config=config).Collect(coursedir=folders, config=config, update=True).start()
        submitted = tmp_path / "grading" / "submitted"
        return {str(path.relative_to(submitted)): path.read_text() for path in submitted.rglob("*") if path.is_file()}
    return collect


def test_the_last_that_somebody_handed_in_is_collected_with_its_time(put, collect):
    put(ME, EARLY, "first")
    (put(ME, LATE, "second") / "feedback").mkdir()
    assert collect() == {f"{ME}/{NAME}/{NAME}.ipynb": "second", f"{ME}/{NAME}/timestamp.txt": LATE}
    assert collect()[f"{ME}/{NAME}/{NAME}.ipynb"] == "second"


def test_nobody_hands_in_for_another(put, collect, caplog):
    """nbgrader's own would take it, and let it take the place of what the other handed in."""
    put("jdoe", text="not jdoe's")
    put(ME)
    assert {name.split("/")[0] for name in collect()} == {ME}
    assert f"jdoe+{NAME}+{EARLY}" in caplog.text


def test_a_link_is_not_followed(put, collect, tmp_path, caplog):
    (tmp_path / "seed").write_text("the teacher's alone")
    folder = put(ME)
    (folder / "seed.txt").symlink_to(tmp_path / "seed")
    shutil.copytree(folder, tmp_path / "elsewhere", symlinks=True)
    (folder.parent / folder.name.replace(EARLY, LATE)).symlink_to(tmp_path / "elsewhere")
    (folder / "more").symlink_to(tmp_path)
    assert set(collect()) == {f"{ME}/{NAME}/{NAME}.ipynb", f"{ME}/{NAME}/timestamp.txt"}
    assert "'seed.txt'" in caplog.text


def test_a_hand_in_that_is_too_large_or_has_an_odd_name_stops_nobody(put, collect):
    with open(put(ME) / "large.csv", "wb") as file:
        file.truncate(10**9)
    put("odd", time="yesterday")
    assert set(collect()) == {f"{ME}/{NAME}/{NAME}.ipynb", f"{ME}/{NAME}/timestamp.txt"}


@pytest.fixture
def deep(put):
    """A hand-in whose folder `d` has 1,100 levels, with a notebook beside it. It is taken away level by level: what
    takes away a test's folder recurses, and would end in an error."""
    folder, before = put(ME), os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
        yield folder
    finally:
        while os.path.basename(os.getcwd()) == "d":
            os.chdir("..")
            os.rmdir("d")
        os.chdir(before)


def test_a_folder_of_a_thousand_levels_stops_nobody_and_is_named(deep, collect, caplog):
    assert set(collect()) == {f"{ME}/{NAME}/{NAME}.ipynb", f"{ME}/{NAME}/timestamp.txt"}
    assert caplog.text.count("too deep or too much") == 1 and deep.name in caplog.text


def test_twenty_thousand_files_are_not_copied_and_named_in_a_line(put, collect, caplog):
    folder = put(ME)
    for number in range(20_000):
        os.close(os.open(folder / f"a{number}.txt", os.O_CREAT))
    (folder / "b").mkdir()
    for number in range(20):
        (folder / f"link{number}").symlink_to(folder)
    got = collect()
    assert len(got) == exchange.MOST and f"{ME}/{NAME}/{NAME}.ipynb" in got
    assert caplog.text.count("Not collected") == 1 and "and what follows" in caplog.text


def test_a_hand_in_that_cannot_be_copied_is_named_and_leaves_nothing_half(put, collect, caplog, monkeypatch):
    put(ME)

    def broken(source, to, *_):
        to.mkdir(parents=True)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(exchange, "copy_own", broken)
    assert collect() == {} and "Not collected, as it cannot be copied ([Errno 5]" in caplog.text


def test_the_page_about_jupyterhub_names_settings_and_commands_that_exist():
    """Of JupyterHub's own settings too where it is installed, which the course does not ask for."""
    page = (ROOT / "docs" / "jupyterhub.md").read_text(encoding="utf-8")
    c = Config()
    for block in re.findall(r"^ *```python\n(.*?)^ *```", page, re.M | re.S):
        exec(textwrap.dedent(block), {"get_config": lambda: c, "load_subconfig": lambda name, path: None})
    classes = {"CourseDirectory": CourseDirectory, "Exchange": Exchange}
    if importlib.util.find_spec("jupyterhub"):
        for module, name in (("app", "JupyterHub"), ("auth", "Authenticator"), ("spawner", "Spawner"),
                             ("proxy", "ConfigurableHTTPProxy")):
            classes[name] = getattr(importlib.import_module(f"jupyterhub.{module}"), name)
    assert {"CourseDirectory", "Exchange", "JupyterHub", "Spawner"} <= set(c)
    for name in classes:
        assert set(c[name]) <= set(classes[name].class_trait_names(config=True)), name
    commands = {command for command in re.findall(r"^nbgrader (\w+)", page, re.M)}
    assert commands == {"release_assignment", "collect", "release_feedback"}
    assert {command.replace("_", "-") for command in commands} <= {name.replace("_", "-")
                                                                  for name in NbGraderApp.subcommands}


def test_menus_that_the_course_hides_are_there_again_with_the_page_s_file(monkeypatch, tmp_path):
    page = (ROOT / "docs" / "jupyterhub.md").read_text(encoding="utf-8")
    hub, course = re.search(r'"JUPYTER_CONFIG_PATH": "(.+):/srv/student/(.+)"', page).groups()
    file, content = re.search(rf"`{hub}/(labconfig/page_config.json)`:\n\n *```json\n(.*?)\n *```", page).groups()
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(content)
    for path, hidden in ((f"{ROOT / course}", True), (f"{tmp_path}:{ROOT / course}", False)):
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", path)
        assert ("@jupyter/nbgrader" in get_page_config([])["disabledExtensions"]) == hidden
