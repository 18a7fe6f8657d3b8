"""What students get for an examination."""

import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest

from coursegrade import courses
from coursegrade.marking import bundle
from tests.grading.classroom import NAME, ROOT, answers
from tests.grading.sandboxed import locked_in
from tests.grading.test_release import NAMES, read

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.S)
ASK = """
from attention_questions import TOPICS
from coursegrade import check
print(*(type(getattr(check, topic)).__name__ for topic in TOPICS))
check.tokens.merge("not a function")
check.score()
"""


@pytest.fixture
def unpacked(small, tmp_path, monkeypatch):
    """{exam?: folder of the bundle}, without what takes seconds to pack."""
    _, course, _ = small
    monkeypatch.setattr(courses.here(), "NEVER", ["weights", "results"])
    for exam in (False, True):
        bundle.write(course, [NAME], tmp_path / "student.zip", exam)
        shutil.unpack_archive(tmp_path / "student.zip", tmp_path / str(exam))
        (tmp_path / str(exam) / "student" / "coursekit" / "weights").symlink_to(ROOT / "coursekit" / "weights")
    return {exam: tmp_path / str(exam) / "student" for exam in (False, True)}


def test_for_an_examination_nothing_that_checks_expect_goes_out(unpacked):
    assert sorted(path.name for path in unpacked[True].rglob("attention_questions/**/*.py")) == [
        "__init__.py", "audit.py", "gpt2_weights.py", "prelude.py"]
    assert (unpacked[False] / "attention_questions/02_attention/__init__.py").exists()
    for exam in (False, True):
        assert ("only that your answers are looked at" in (unpacked[exam] / "README.md").read_text()) == exam


def test_no_line_of_a_solution_goes_out_for_an_examination(tmp_path):
    """But for what stands in the exercise itself; and in lectures and the library, which everybody has read."""
    course = SimpleNamespace(root=ROOT, grading=tmp_path, released=None)
    bundle.write(course, [], tmp_path / "student.zip", exam=True)
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        sent = [archive.read(name).decode() for name in archive.namelist() if name.endswith((".py", ".md", ".toml"))
                and not name.startswith(("student/lectures/", "student/coursekit/"))]
    exercises = {name: "\n".join(cell.source for cell in read("exercises", name).cells) for name in NAMES}
    for name in NAMES:
        lines = {line.partition("  #")[0].strip() for cell in read("solutions", name).cells
                 for solution in SOLUTION.findall(cell.source) for line in solution.splitlines()}
        told = {line for line in lines if len(line) > 16 and line not in exercises[name]
                and any(line in text for text in [*sent, *exercises.values()])}
        assert len(lines) > 10 and not told, name


def test_what_an_examination_expects_is_in_no_later_bundle_either(tmp_path):
    course = SimpleNamespace(root=ROOT, grading=tmp_path, released=None, exams=lambda: {"02_attention", "01_small"})
    sent = {name.partition("/")[2] for name in bundle.write(course, [], tmp_path / "student.zip")
            if name.startswith("attention_questions/")}
    assert not [name for name in sent if name.startswith("02_attention/")] and "03_gpt2/solution.py" in sent


def test_what_is_for_teachers_does_not_go_out(tmp_path):
    course = SimpleNamespace(root=ROOT, grading=tmp_path, released=None, exams=set)
    sent = bundle.write(course, [], tmp_path / "student.zip")
    assert {name for name in sent if name.startswith("docs/")} == {
        "docs/alone.md", "docs/claims.md", "docs/exact.md", "docs/library.md", "docs/notation.md", "docs/picture.png",
        "docs/plan.md", "docs/read.md", "docs/ready.md", "docs/reproduced.md", "docs/six_lines.png"}


def test_its_check_cells_run_and_say_when_answers_are_looked_at(unpacked):
    ran = subprocess.run([sys.executable, "-c", ASK], cwd=unpacked[True], text=True, capture_output=True, check=True)
    topics, said, *_ = ran.stdout.splitlines()
    assert set(topics.split()) == {"Later"} and said == "· merge: checked when your work is marked, not here."
    ran = subprocess.run([sys.executable, "-c", ASK], cwd=unpacked[False], text=True, capture_output=True)
    assert "wants the function itself" in ran.stderr


def test_such_a_copy_gives_no_marks(small, sandbox, unpacked):
    """Its checks would pass everything."""
    _, _, released = small
    program = ("import pickle, sys\nfrom coursegrade.marking.execute import run_notebook\n"
               f"if __name__ == '__main__':\n    run_notebook(*pickle.load(sys.stdin.buffer), None, {sandbox!r})")
    work = pickle.dumps((answers(released), locked_in(released)))
    (unpacked[True] / "grade_it.py").write_text(program)
    ran = subprocess.run([sys.executable, "grade_it.py"], cwd=unpacked[True], input=work, capture_output=True)
    assert b"GraderError" in ran.stderr and b"this is a copy for students" in ran.stderr, ran.stderr
