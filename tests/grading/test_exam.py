"""The mechanism of examinations: what is drawn, what is printed, and what the command says."""

import re
import xml.etree.ElementTree as ET
import zipfile
from types import SimpleNamespace

import pytest

from coursegrade import courses, exam
from coursegrade.__main__ import main
from coursegrade.exam import Exercise, Part, Template
from coursegrade.kit.unseen import SEED
from coursegrade.marking import bundle, sheets
from tests.grading.classroom import ROOT

PAPERS = exam.load()
SECRET = "a seed that nobody guesses"


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Runs `exam` in a small course: (exit status, {name: text of what lies there})."""
    (tmp_path / "nbgrader_config.py").write_text("")
    (tmp_path / "grading").mkdir()
    monkeypatch.setenv(SEED, SECRET)

    def run(*arguments):
        status = main(["exam", "--course", str(tmp_path), *arguments])
        return status, {path.name: path.read_text() for path in sorted(tmp_path.glob("grading/papers/*"))}
    return run


@pytest.mark.parametrize("name", PAPERS)
def test_the_same_seed_gives_the_same_bytes_and_another_version_other_ones(drawn, tmp_path, name):
    status, first = drawn(name)
    assert status == 0 and [*first] == [f"{name}_A.html", f"{name}_A_solution.html"]
    assert (tmp_path / "grading" / "seed").read_text() == SECRET + "\n", "kept, for the day when it is printed again"
    assert drawn(name)[1] == first
    both = drawn(name, "--version", "B")[1]
    assert {key: both[key] for key in first} == first
    assert both[f"{name}_B.html"].replace("version B", "version A") != first[f"{name}_A.html"]
    (tmp_path / "grading" / "seed").write_text("another seed, as long as it")
    assert drawn(name)[1][f"{name}_A.html"] != first[f"{name}_A.html"]


@pytest.mark.parametrize("name", PAPERS)
def test_pages_stand_alone_and_the_sheet_tells_nothing(drawn, name):
    sheet, solution = drawn(name)[1].values()
    for page in (sheet, solution):
        named = page.replace("http-equiv", "").replace('xmlns="http://www.w3.org/1998/Math/MathML"', "")
        assert not re.search(r"https?:|src=|href=|<script|@import|url\(", named)
        assert "$" not in page and "{{" not in page
    exercises = PAPERS[name].draw(SECRET)
    assert sheet.count("<section>") == solution.count("<section>") == len(exercises)
    for part in (part for exercise in exercises for part in exercise.parts):
        said, marks = (str(sheets.MARKDOWN(text)) for text in (part.solution, part.marks))
        assert said in solution and marks in solution and said not in sheet and marks not in sheet
    total = sum(exercise.points for exercise in exercises)
    assert sum(int(points) for points in re.findall(r">(\d+) P<", sheet)) == total and f"{total} points" in sheet


def test_what_the_command_refuses(drawn, tmp_path, capsys):
    assert drawn("oral")[0] == 1 and "There is no paper 'oral'; there are " in capsys.readouterr().err
    (tmp_path / "grading" / "seed").write_text("short")
    assert drawn("midterm")[0] == 1 and "grading/seed is damaged" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        drawn("midterm", "--version", "AB")


def sum_of_two(draw):
    """A template."""
    a, b = exam.until(lambda found: found[0] != found[1], lambda: draw.integers(1, 9, 2).tolist())
    return Exercise("A sum", f"{a} and {b}", (Part("Add.", 2, f"{a + b}", "2: the sum", a + b),), {"a": a, "b": b})


def test_numbers_come_of_the_seed_the_version_and_the_name():
    template = Template("01", 2, sum_of_two)
    found = [template.draw(seed, version) for seed in "xyz" for version in "AB"]
    assert found == [template.draw(seed, version) for seed in "xyz" for version in "AB"]
    assert len({str(one.given) for one in found}) > 4 and {one.points for one in found} == {2}
    streams = {exam.generator(*names).integers(10 ** 9) for names in (("x", "A", "s"), ("x", "B", "s"), ("y", "A", "s"),
                                                                       ("x", "A", "t"))}
    assert len(streams) == 4


def test_versions_take_turns_in_each_slot():
    paper = exam.Paper("A paper", 90, (("one",), ("two", "three"), ("four", "five", "six")))
    for seed in map(str, range(20)):
        found = [paper.names(seed, version) for version in "ABCDEF"]
        assert [{*names} for names in zip(*found, strict=True)] == [{*slot} for slot in paper.slots]
        assert found[0][1:] != found[1][1:] and found[0][1] == found[2][1] and found[0][2] == found[3][2]
    assert len({str(paper.names(str(seed))) for seed in range(40)}) == 6, "the seed draws where the turn begins"


@pytest.mark.parametrize("name", PAPERS)
def test_templates_of_a_slot_have_the_same_points(name):
    for slot in PAPERS[name].slots:
        assert len({exam.TEMPLATES[one].draw(SECRET).points for one in slot}) == 1, f"{slot}: versions would differ"
        assert all([*(ROOT / "lectures").glob(f"{lecture}_*")] for lecture in
                   (exam.TEMPLATES[one].lecture for one in slot))


def test_until_gives_up():
    with pytest.raises(RuntimeError, match="too narrow"):
        exam.until(lambda found: found > 1, lambda: 1)


@pytest.mark.parametrize("tex", [r"\frac{1}{2} · x_1^2", "3 − (−2)", r"\begin{pmatrix} 1 & −2 \\ a & 0 \end{pmatrix}"])
def test_formulas_are_well_formed_and_minus_and_times_are_operators(tex):
    for display in ("inline", "block"):
        found = ET.fromstring(sheets.mathml(tex, display))
        assert found.get("display") == display
        operators = [one.text for one in found.iter() if one.tag.endswith("}mo")]
        assert operators.count("−") == tex.count("−") and operators.count("·") == tex.count("·")


def test_students_get_no_template(tmp_path, monkeypatch):
    """They are public, and do no harm; but what students unpack should not begin with questions of an examination."""
    monkeypatch.setattr(courses.here(), "NEVER", [*courses.here().NEVER, "weights", "results"])
    course = SimpleNamespace(root=ROOT, grading=tmp_path, released=None, exams=set)
    bundle.write(course, [], tmp_path / "student.zip")
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        names = [name for name in archive.namelist() if "/attention_questions/" in name]
    assert names and not [name for name in names if "/exams/" in name]
