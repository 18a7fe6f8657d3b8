"""Every attack gets the points that it must get, leaks nothing, changes nothing, and leaves nothing running."""

import dataclasses
from pathlib import Path

import pytest
from nbgrader.utils import determine_grade

from coursekit.grade.marking.cells import locked_in
from coursekit.grade.marking.execute import run_notebook
from coursekit.grade.sandbox.kinds import Limits
from tests.drawn import GRADING, sampled, touches
from tests.grading.hostile.assignment import NUMBER, POINTS, SECRET, teacher
from tests.grading.hostile.attacks import CORPUS
from tests.grading.sandboxed import kind_or_skip

DRAWN = 54 if touches(*GRADING) else 27                                 # attacks: more where they may matter
LIMITS = Limits(call=2, cell=4, memory=1 << 30, processes=40)


@pytest.fixture(scope="module")
def kind():
    return kind_or_skip()


def points(notebook):
    """{grade_id: points} of the teacher's test cells, the first of each id, as nbgrader reads them off the outputs."""
    found = {}
    for cell in notebook.cells:
        if (name := cell.metadata.get("nbgrader", {}).get("grade_id")) in POINTS and name not in found:
            found[name] = determine_grade(cell)[0]
    return found


def outputs(notebook):
    return "".join(str(cell.outputs) for cell in notebook.cells if cell.get("outputs"))


@pytest.mark.parametrize("name", sampled(list(CORPUS), DRAWN, "attacks"))
def test_attack(name, kind, tmp_path, monkeypatch):
    attack = CORPUS[name]
    monkeypatch.setenv("COURSE_TOKEN", SECRET)
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_text(SECRET)
    folder = tmp_path / "submitted"
    folder.mkdir()
    (folder / "assignment.ipynb").write_text(SECRET)
    (folder / "link.txt").symlink_to(gradebook)
    for path, text in attack.files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    handed_in = attack.build()

    outcome = run_notebook(handed_in, locked_in(teacher()), folder, kind,
                           dataclasses.replace(LIMITS, submission=attack.seconds))

    assert tuple(points(outcome.notebook).values()) == attack.points, outputs(outcome.notebook)[:3000]
    assert outcome.state == attack.state
    told = outputs(outcome.notebook)
    assert SECRET not in told and str(NUMBER) not in told and str(2 * NUMBER) not in told
    said = "".join(str(output.get("text", "")) for cell in outcome.notebook.cells for output in cell.outputs)
    assert "FOUND" not in said and ("looked everywhere" in told) == (name == "reads_what_it_can")
    assert "\x1b" not in told and "<script>" not in "".join(
        str(output.get("data", {}).get("text/html", "")) for cell in outcome.notebook.cells for output in cell.outputs)
    assert len(told) < 3_000_000
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not Path("OUTSIDE").exists()
    assert not running("86399"), "a process of the student's is still there"
    told.encode()                                                       # can be written to a file


def running(argument):
    """Is there a process with this argument?"""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if argument in (process / "cmdline").read_text().split("\0"):
                return True
        except OSError:
            pass
    return False
