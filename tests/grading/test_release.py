"""exercises/ is what solutions/ makes, to the byte, and gives nothing away; nbgrader agrees with both."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from coursegrade import check
from coursegrade.kit.score import points, questions
from coursegrade.marking.course import Course
from tests.drawn import sampled
from tools import exercises, pace

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir())


def nbgrader(*arguments):
    return subprocess.run([sys.executable, "-m", "nbgrader", *map(str, arguments)], cwd=ROOT, capture_output=True,
                          text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


def read(folder, name):
    return nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4)


def graded(notebook):
    """The cells that nbgrader knows, by grade_id."""
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and ".ipynb_checkpoints" not in path.parts and path.name != "audit.html"}


@pytest.mark.parametrize("name", NAMES)
def test_what_checks_compare_with_is_the_solution(name):
    made = (ROOT / "attention_questions" / name / "solution.py").read_text(encoding="utf-8")
    assert made == exercises.solution(read("solutions", name), name), f"run `make exercises ONLY={name}`"


def test_no_file_of_the_exercises_has_an_answer():
    told = [str(path) for path in (ROOT / "exercises").rglob("*") if path.is_file()
            and re.search(rb"BEGIN (SOLUTION|HIDDEN TESTS)", path.read_bytes())]
    assert not told


def test_a_file_beside_a_solution_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(exercises, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["exercises", "02"])
    (tmp_path / "solutions" / "02_attention").mkdir(parents=True)
    (tmp_path / "solutions" / "02_attention" / "02_attention.py").write_text("### BEGIN SOLUTION")
    with pytest.raises(SystemExit, match="would give solutions/02_attention/02_attention.py to students"):
        exercises.main()
    monkeypatch.setattr(sys, "argv", ["exercises", "99"])
    with pytest.raises(SystemExit, match="There is no assignment '99' in solutions/"):
        exercises.main()


@pytest.mark.notebook
def test_exercises_are_fresh(tmp_path):
    code = "import sys; from tools.exercises import make; make(sys.argv[2:], sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, tmp_path, *NAMES], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made, committed = files(tmp_path), files(ROOT / "exercises")
    assert made.keys() == committed.keys()
    stale = [str(path) for path in made if made[path] != committed[path]]
    assert not stale, "run `make exercises`"


@pytest.mark.parametrize("name", NAMES)
def test_exercises_hold_no_solution_and_no_hidden_test(name):
    text = (ROOT / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", text)
    exercise, solution = graded(read("exercises", name)), graded(read("solutions", name))
    everything = "\n".join(cell.source for cell in read("exercises", name).cells)
    for grade_id, cell in solution.items():
        secret = re.findall(r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)### END", cell.source, re.S)
        if cell.cell_type == "markdown":
            secret = [cell.source]
        lines = [line.strip() for part in secret for line in part.splitlines()]
        leaked = [line for line in lines if len(line) > 20 and line in everything]
        assert not leaked
        if secret and cell.metadata.nbgrader.solution:
            stub = "YOUR ANSWER HERE" if cell.cell_type == "markdown" else "raise NotImplementedError()"
            assert exercise[grade_id].source.endswith(stub)


@pytest.mark.parametrize("name", NAMES)
def test_points_are_those_of_the_checks(name):
    topic = name.partition("_")[2]
    getattr(check, topic)
    given = {grade_id: cell.metadata.nbgrader.points for grade_id, cell in graded(read("solutions", name)).items()
             if cell.metadata.nbgrader.grade}
    second = {question: f"{'best' if question.known else 'more'}_{question.name}" for question in questions(topic)}
    due = {f"check_{question.name}": question.points[0] for question in second} | {
        name: question.points[1] for question, name in second.items() if name in given}
    assert all(name in given or not question.points[1] for question, name in second.items())
    assert due.items() <= given.items()
    asked = {question.name for question in questions(topic)}
    by_people = [pair for title, pair in points(topic).items() if title not in asked]
    assert [value for grade_id, value in given.items() if grade_id not in due] == [sum(pair) for pair in by_people]
    notebook = read("solutions", name)
    promised = [int(worth.replace("no", "0")) for _, _, _, worth in boxes_of(notebook)]
    worth = {title: sum(pair) for title, pair in points(topic).items()}
    if "my_experiment" in worth and len(promised) < len(worth):         # one box for the experiment and its text
        worth[next(title for title in worth if title not in asked)] += worth.pop("my_experiment")
    assert sorted(promised) == sorted(worth.values())
    assert f"{sum(given.values())} points" in notebook.cells[0].source


def lacks(notebook):
    """What an assignment lacks that each one is to have, in words."""
    n = pace.of_assignment(notebook)
    yield from ["no guess"] * (not n.guesses) + ["no experiment of the student's own"] * (not n.experiments)
    if abs(pace.stated(notebook) - n.exact) > 10:
        yield f"says {pace.stated(notebook)} minutes, and takes {n.exact:.0f}"
    if n.exact > 120:
        yield f"takes {n.exact:.0f} minutes, of at most 120"
    if n.given > 2 * n.written:
        yield f"gives {n.given} lines to be run, and asks for {n.written}: at most twice as many"
    if n.words > 2200:
        yield f"has {n.words} words of statements, of at most 2,200"


@pytest.mark.parametrize("name", NAMES)
def test_the_student_does_the_experiment_and_is_told_how_long_it_takes(name):
    assert not list(lacks(read("solutions", name)))


HINTS = [("1", "a question"), ("2", "the idea"), ("3", "the steps")]
BOX = re.compile(r"^> ([●○]{4})(?: ◆)? · (bonus · |project · )?(\d+) minutes · (\d+|no) points?\b", re.M)


def boxes_of(notebook):
    """[(difficulty, "bonus · ", "project · " or "", minutes, points or "no")] of the questions."""
    return BOX.findall("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"))


@pytest.mark.parametrize("name", NAMES)
def test_every_question_has_its_parts(name):
    notebook = read("solutions", name)
    prose = "\n".join(cell.source for cell in notebook.cells
                      if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata)
    sections = re.split(r"^## ", prose, flags=re.M)
    statements = [part for part in sections if BOX.search(part)]
    core = [part for part in statements if not BOX.search(part)[2]]
    assert 4 <= len(core) <= 9, f"an assignment has 4 to 9 questions beside its bonus, this one has {len(core)}"
    for source in statements:
        assert "**Why it matters.**" in source
        if "read by a person" not in source:
            assert "→" in source or "open" in source.lower()            # an open task has no example to copy
            hints = re.findall(r"<details><summary>Hint (\d) · (.*?)</summary>(.*?)</details>", source, re.S)
            assert [hint[:2] for hint in hints] in (HINTS, HINTS[:2])
            assert "?" in hints[0][2] and "```" not in hints[0][2] + hints[1][2]
    assert [cell for cell in graded(notebook).values() if cell.cell_type == "markdown"]
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert notebook.cells[-1].source == "check.score()" and "Binder" in notebook.cells[-2].source


@pytest.mark.parametrize("name", NAMES)
def test_minutes_and_points_are_the_same_wherever_they_stand(name):
    """In the boxes, in the table of the first cell, in its total, and in the syllabus."""
    notebook = read("solutions", name)
    first, boxes = notebook.cells[0].source, boxes_of(notebook)
    rows = re.findall(r"\| ([●○]{4})(?: ◆)? \| (bonus, |project, )?(\d+) \| (\d+|none) \|", first)
    assert [(*row[:3], row[3].replace("none", "no")) for row in rows] == [
        (level, bonus.replace(" · ", ", "), minutes, worth) for level, bonus, minutes, worth in boxes]
    core = sum(int(minutes) for _, bonus, minutes, _ in boxes if not bonus)
    assert 50 <= core <= 120, f"without its bonus it takes 50 to 120 minutes, this one {core}"
    said = int(re.search(r"\*\*Takes\*\* about (\d+)\s+minutes", first)[1])
    assert abs(said - core) <= 2                                        # a rounded number
    syllabus = (ROOT / "SYLLABUS.md").read_text(encoding="utf-8")
    number = name.partition("_")[0]
    assert re.search(rf"^\| \d \| {number} [^|]*\| \d+ \| \d+ \| {said} \|", syllabus, re.M)


@pytest.mark.parametrize("name", NAMES)
def test_one_failed_check_stops_no_other(name):
    """*Run All* goes on behind a check that is tagged so, and behind a result of what is still empty; and the score,
    which gives no points, is no test."""
    for folder in ("solutions", "exercises"):
        cells = graded(read(folder, name))
        checks = [grade_id for grade_id in cells if grade_id.startswith("check_")]
        tagged = [grade_id for grade_id, cell in cells.items() if "raises-exception" in cell.metadata.get("tags", [])]
        assert checks == tagged
        assert cells["score"].metadata.nbgrader.locked and not cells["score"].metadata.nbgrader.grade
        results = [cell for cell in read(folder, name).cells if cell.cell_type == "code"
                   and "nbgrader" not in cell.metadata and not pace.GUESS.match(cell.source)]
        assert all({"raises-exception", "given"} & {*cell.metadata.get("tags", [])} for cell in results)


@pytest.mark.parametrize("name", NAMES)
def test_hidden_tests_keep_to_names_of_their_own(name):
    """In a test cell only names with an underscore are assigned: it must not overwrite anything of a student's."""
    for grade_id, cell in graded(read("solutions", name)).items():
        if cell.metadata.nbgrader.grade and cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                names = [node.name] if isinstance(node, ast.FunctionDef) else [
                    target.id for leaf in ast.walk(node) if isinstance(leaf, ast.Assign) for target in leaf.targets
                    if isinstance(target, ast.Name)]
                assert all(name.startswith("_") for name in names), grade_id


def test_a_number_names_one_assignment():
    course = Course(ROOT)
    assert [course.assignment(name.partition("_")[0]) for name in NAMES] == NAMES
    assert course.assignment("05b_") == "05b_one_map"


@pytest.mark.notebook
@pytest.mark.parametrize("name", sampled(NAMES, 1, "solutions", most=1))
def test_nbgrader_validates_solutions(name):
    said = nbgrader("validate", f"solutions/{name}/{name}.ipynb")
    assert "Success! Your notebook passes all the tests." in said.stdout, said.stdout + said.stderr


@pytest.mark.notebook
@pytest.mark.parametrize("name", sampled(NAMES, 1, "exercises", most=1))
def test_nbgrader_complains_about_exercises(name):
    said = nbgrader("validate", f"exercises/{name}/{name}.ipynb")
    getattr(check, name.partition("_")[2])
    asked, everything = questions(name.partition("_")[2]), points(name.partition("_")[2])
    assert f"VALIDATION FAILED ON {len(everything)} CELL(S)" in said.stdout                 # texts are missing, too
    assert said.stdout.count("is still empty") == len(asked)
    assert "Traceback" not in said.stdout
