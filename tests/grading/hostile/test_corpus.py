"""Every attack gets the points that it must get, leaks nothing, changes nothing, and leaves nothing running; what is
heard gains nothing."""

import dataclasses
import json
import os
from pathlib import Path

import pytest
from nbgrader.utils import determine_grade

from coursegrade.kit import earlier, score
from coursegrade.kit.unseen import SEED
from coursegrade.marking.answers import drawn_from
from coursegrade.marking.execute import Outcome, run_notebook
from coursegrade.marking.replay import files_in
from coursegrade.marking.run import Asking, Run
from coursegrade.sandbox import process
from coursegrade.sandbox.kinds import Limits
from tests.drawn import GRADING, sampled, touches
from tests.grading.hostile.assignment import NUMBER, POINTS, SECRET, teacher
from tests.grading.hostile.attacks import CORPUS
from tests.grading.hostile.heard import CHANNEL, SCENES, SEVENTY_SEVEN, notebook
from tests.grading.sandboxed import gone, kind_or_skip, locked_in

DRAWN, PLAYED = (54, 12) if touches(*GRADING) else (27, 5)              # of the two kinds: more where they may matter
LIMITS = Limits(call=2, cell=4, memory=1 << 30, processes=40)


@pytest.fixture(scope="session")                                        # lectures come between: see tests/conftest.py
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

    outcome = run_notebook(handed_in, locked_in(teacher()), dict(files_in(folder)), kind,
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
    assert gone("86399"), "a process of the student's is still there"
    told.encode()                                                       # can be written to a file


class Stage:
    """Hands notebooks in to sandboxes that share a folder: stage(code, student, …) is an `Outcome`."""

    def __init__(self, kind, shared):
        self.kind, self.shared = kind, shared

    def __call__(self, code, student="ada", known=None, lends=True):
        nb = notebook(code)
        locked = locked_in(nb)
        score.forget()
        run = Run(nb, locked, None, self.kind, dataclasses.replace(LIMITS, submission=60), Asking(
            (drawn_from("a seed", student, nb, locked, {}),), known or {}, lends=lends))
        return Outcome(run.cells(), run.state, run.notes, run.unseen, run.verdicts, run.asked)

    def told(self, first):
        """What notebooks have told each other, of one kind."""
        path = self.shared / "told"
        told = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [rest for begins, *rest in told if begins == first]


@pytest.fixture
def stage(kind, tmp_path, monkeypatch):
    """See `Stage`; where root uses bubblewrap twice, the second finds the folder in what the first one shows."""
    shared, real = tmp_path / "shared", process.mounts
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv(SEED, "")
    monkeypatch.setattr(earlier, "lends", True)
    monkeypatch.setattr(process, "mounts", lambda course=None: [*real(course), "--bind", (
        "/shared" if os.geteuid() == 0 and course else str(shared)), "/shared"])
    yield Stage(kind, shared)
    score.forget()


@pytest.mark.parametrize("name", sampled(list(SCENES), PLAYED, "scenes"))
def test_scene(name, stage):
    play, may_pass, must_pass = SCENES[name]
    outcome = play(stage)
    told = outputs(outcome.notebook)
    passed = {cell.metadata.nbgrader.grade_id for cell in outcome.notebook.cells if "nbgrader" in cell.metadata
              and not any(output.output_type == "error" for output in cell.outputs)} - {"asks"}
    assert must_pass <= passed <= may_pass, (passed, told[:3000])
    assert SEVENTY_SEVEN not in told


def test_sandboxes_on_the_stage_hear_each_other(stage):
    stage("tell('word', 1)")
    heard = stage("print('it heard', heard('word'))").notebook.cells[0].outputs
    assert stage.told("word") == [[1]] and "it heard [[1]]" in str(heard) and "/shared" in CHANNEL
