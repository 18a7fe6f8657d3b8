"""What comes into the inbox is its owner's and nobody else's; what is broken is told and stops nobody."""

import shutil
import zipfile

import nbformat
import pytest

from coursekit.grade import inbox, pipeline
from coursekit.grade.course import Course
from coursekit.grade.records import Record
from tests.grading.classroom import NAME, answers

ROSTER = """id,first_name,last_name,email,lms_user_id
jdoe,Jane,Doe,jane.doe@example.org,4711
ileve,Eve,Il,eve@example.org,4718
"""


@pytest.fixture
def course(tmp_path, template):
    folder = shutil.copytree(template, tmp_path / "course")
    (folder / "grading" / "roster.csv").write_text(ROSTER)
    (folder / "grading" / "inbox" / NAME).mkdir(parents=True)
    return Course(folder)


def put(course, files):
    here = course.grading / "inbox" / NAME
    for name, data in files.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, dict):
            with zipfile.ZipFile(here / name, "w") as archive:
                for member, text in data.items():
                    archive.writestr(member, text)
        else:
            (here / name).write_text(data)
    return here


def handed_in(course):
    return {(student, str(path.relative_to(folder))): path.read_text(errors="replace")
            for student, folder in course.submitted(NAME).items() for path in folder.rglob("*") if path.is_file()}


def test_a_students_zip_is_the_students_own(course):
    put(course, {"doejane_4711_815_a.ipynb": "jane", "ileve_4718_816_x.zip": {"doejane_4711_815_a.ipynb": "eve"},
                 "stranger_9_9_x.zip": {"jdoe.ipynb": "stranger"}})
    students, left = inbox.sort(course, NAME)
    assert left == {inbox.NOBODY: ["stranger_9_9_x.zip"]} and students == ["ileve", "jdoe"]
    assert handed_in(course) == {("jdoe", f"{NAME}.ipynb"): "jane", ("ileve", f"{NAME}.ipynb"): "eve"}


def test_the_platforms_zip_is_opened(course):
    put(course, {"submissions.zip": {"doejane_4711_815_a.ipynb": "jane", "ileve_4718_1_a.ipynb": "eve"}})
    assert inbox.sort(course, NAME) == (["ileve", "jdoe"], {})


def test_without_a_roster_a_zip_among_others_is_a_students(course):
    (course.grading / "roster.csv").unlink()
    here = put(course, {"submissions.zip": {"jdoe.ipynb": "jane"}})
    assert inbox.sort(course, NAME)[0] == ["jdoe"]
    put(course, {"eve.zip": {"jdoe.ipynb": "eve"}})
    (here / "submissions.zip").rename(here / "jdoe.zip")
    assert inbox.sort(course, NAME)[0] == ["eve", "jdoe"] and handed_in(course)["jdoe", f"{NAME}.ipynb"] == "jane"


def test_two_students_in_one_name_are_neither(course):
    put(course, {"doejane_4711_815_a.ipynb": "jane", "doejane_4718_816_a.ipynb": "eve",
                 "ileve_4718_816_jdoe.zip": {"jdoe.ipynb": "eve"}})
    assert inbox.sort(course, NAME) == (["jdoe"], {inbox.TWO: ["doejane_4718_816_a.ipynb", "ileve_4718_816_jdoe.zip"]})
    assert handed_in(course) == {("jdoe", f"{NAME}.ipynb"): "jane"}


def test_two_notebooks_of_one_student_are_both_kept_and_noted(course):
    put(course, {"doejane_4711_815_a.ipynb": "1", "doejane_4711_815_a-1.ipynb": "2"})
    assert list(inbox.sort(course, NAME)[1]) == [inbox.SEVERAL] and sorted(handed_in(course).values()) == ["1", "2"]


def test_folders_with_names_of_files_stop_nobody(course):
    put(course, {f"Eve Il_47_file_/{NAME}.ipynb/x.py": "1", "Eve Il_47_file_/timestamp.txt/y.py": "2",
                 "Eve Il_47_file_/a.ipynb": "eve", "jdoe/x.py": "file"})
    assert inbox.sort(course, NAME) == (["ileve", "jdoe"], {})
    assert {name for student, name in handed_in(course) if student == "ileve"} == {"x.py", "y.py", f"{NAME}.ipynb"}
    (course.grading / "inbox" / NAME / "jdoe" / "x.py").unlink()
    put(course, {"jdoe/x.py/z.py": "folder"})
    inbox.sort(course, NAME)
    assert {name for student, name in handed_in(course) if student == "jdoe"} == {"x.py/z.py"}


def test_names_too_long_and_broken_zips_are_told(course):
    here = put(course, {"submissions.zip": {"ileve/" + "ä" * 150 + ".py": "1", "ileve/a.ipynb": "eve",
                                            "jdoe/a.ipynb": "damaged here"}})
    data = (here / "submissions.zip").read_bytes()
    (here / "submissions.zip").write_bytes(data.replace(b"damaged here", b"DAMAGED here"))
    students, left = inbox.sort(course, NAME)
    assert students == ["ileve", "jdoe"] and handed_in(course)["ileve", f"{NAME}.ipynb"] == "eve"
    assert any("too long" in why for why in left) and any("damaged" in why for why in left)
    (here / "submissions.zip").write_bytes(data[:len(data) // 2])
    assert inbox.sort(course, NAME) == ([], {"is no complete zip file: download it again": ["submissions.zip"]})


@pytest.mark.parametrize("name", ["jdoe.ipynb", "submissions.zip"])
def test_what_is_too_large_is_rejected_with_the_reason(name, course, template, monkeypatch):
    monkeypatch.setattr(inbox, "MAX_NOTEBOOK", 100)
    put(course, {name: "x" * 200 if name == "jdoe.ipynb" else {"jdoe.ipynb": "x" * 200}})
    students, left = inbox.sort(course, NAME)
    assert students == ["jdoe"] and list(left.values()) == [["jdoe.ipynb of jdoe"]]
    record = pipeline.take_in(course, NAME, "jdoe", Course(template).released(NAME), {})
    assert isinstance(record, Record) and record.state == "rejected" and "is too large" in record.why


def test_of_a_zip_no_more_than_so_much_is_unpacked(course, monkeypatch):
    monkeypatch.setattr(inbox, "MAX_UNPACKED", 1000)
    put(course, {"submissions.zip": {f"jdoe/{n}.txt": "x" * 300 for n in range(9)} | {"ileve.ipynb": "eve"}})
    inbox.sort(course, NAME)
    assert sum(text == "x" * 300 for text in handed_in(course).values()) == 3
    assert handed_in(course)["ileve", f"{NAME}.ipynb"] == "eve"


def test_what_cannot_be_kept_or_takes_too_long_is_rejected(course, template, monkeypatch):
    released = Course(template).released(NAME)
    put(course, {"jdoe/a.ipynb": nbformat.writes(answers(released))})
    inbox.sort(course, NAME)
    monkeypatch.setattr(pipeline, "keep", lambda *_: (_ for _ in ()).throw(IsADirectoryError))
    assert "IsADirectoryError" in pipeline.take_in(course, NAME, "jdoe", released, {}).why
    monkeypatch.setattr(pipeline, "READING", 0.05)
    monkeypatch.setattr(pipeline.intake, "look", lambda *_: [None for _ in iter(int, 1)])
    assert pipeline.take_in(course, NAME, "jdoe", released, {}).why == "it took too long to read"
