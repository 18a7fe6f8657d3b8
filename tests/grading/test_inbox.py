"""What comes into the inbox is its owner's and nobody else's; what is broken is told and stops nobody."""

import datetime
import io
import os
import shlex
import shutil
import subprocess
import zipfile
from types import SimpleNamespace

import nbformat
import pytest

from coursegrade.__main__ import main
from coursegrade.marking import archive, claims, inbox, late_days, owners, pipeline
from coursegrade.marking.course import Course
from coursegrade.marking.intake import MAX_FILES, OTHER_KIND
from coursegrade.marking.records import Record
from tests.grading.classroom import NAME, answers, command

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
        data = zipped(data, zipfile.ZIP_STORED) if isinstance(data, dict) else data
        (here / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return here


def zipped(files, packing=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        for member, data in files.items():
            archive.writestr(member, data)
    return made.getvalue()


def handed_in(course):
    return {(student, str(path.relative_to(folder))): path.read_text(errors="replace")
            for student, folder in course.submitted(NAME).items() for path in folder.rglob("*") if path.is_file()}


def sorted_by(course):
    """(students, what is the matter), where there is nothing to choose."""
    students, left, doubtful = inbox.sort(course, NAME)
    assert not doubtful
    return students, left


def work(course, student):
    return handed_in(course).get((student, f"{NAME}.ipynb"), "")


def rejection(course, student):
    record = pipeline.take_in(course, NAME, student, Course(course.root).released(NAME), {}, {})
    assert isinstance(record, Record) and record.state == "rejected"
    return record.why


# ── whose it is ───────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_students_zip_is_the_students_own(course):
    put(course, {"doejane_4711_815_a.ipynb": "jane", "ileve_4718_816_x.zip": {"doejane_4711_815_a.ipynb": "eve"},
                 "stranger_9_9_x.zip": {"jdoe.ipynb": "stranger", "ileve_4718_1_a.ipynb": "stranger"},
                 "homework.zip": {"jdoe.ipynb": "stranger"}, "a folder/jdoe.ipynb": "stranger"})
    students, left = sorted_by(course)
    assert left == {owners.NOBODY: ["a folder", "homework.zip", "stranger_9_9_x.zip"]} and students == ["ileve", "jdoe"]
    assert handed_in(course) == {("jdoe", f"{NAME}.ipynb"): "jane", ("ileve", f"{NAME}.ipynb"): "eve"}


@pytest.mark.parametrize("name", ["submissions.zip", "CS_2026_S1-Attention-1234.zip", "downloaded"])
def test_the_platforms_zip_and_its_folder_are_opened(course, name):
    files = {"doejane_4711_815_a.ipynb": "jane", "ileve_4718_1_a.IPYNB": "eve", "strange_1_2_x.ipynb": "3"}
    put(course, {name: files} if name.endswith(".zip") else {f"{name}/{file}": text for file, text in files.items()})
    put(course, {"notes to myself.txt": "no hand-in"})
    assert sorted_by(course) == (["ileve", "jdoe"], {owners.NOBODY: ["notes to myself.txt", "strange_1_2_x.ipynb"]})
    assert work(course, "jdoe") == "jane" and work(course, "ileve") == "eve"


def test_without_a_roster_a_zip_among_others_is_a_students(course):
    (course.grading / "roster.csv").unlink()
    here = put(course, {"submissions.zip": {"jdoe.ipynb": "jane"}})
    assert inbox.sort(course, NAME)[0] == ["jdoe"]
    put(course, {"eve.zip": {"jdoe.ipynb": "eve"}})
    (here / "submissions.zip").rename(here / "jdoe.zip")
    assert inbox.sort(course, NAME)[0] == ["eve", "jdoe"] and work(course, "jdoe") == "jane"


def test_one_persons_two_notebooks_are_both_kept_and_noted(course):
    put(course, {"doejane_4711_815_a.ipynb": "1", "doejane_4711_816_b.ipynb": "2", "doejane_4711_817_b.py": "3"})
    assert list(sorted_by(course)[1]) == [inbox.SEVERAL]
    assert handed_in(course) == {("jdoe", "a.ipynb"): "1", ("jdoe", "b.ipynb"): "2", ("jdoe", "b.py"): "3"}


def test_a_file_called_timestamp_is_no_time(course):
    put(course, {"doejane_4711_815_timestamp.txt": "2020-01-01", "doejane_4711_816_a.ipynb": "1"})
    sorted_by(course)
    assert ("jdoe", "timestamp.txt") not in handed_in(course)


# ── two that claim one student ────────────────────────────────────────────────────────────────────────────────────

FORGED = {
    "on Canvas, without numbers on the roster": ("id,first_name,last_name\njdoe,Jane,Doe\nsquinn,Sam,Quinn\n", {
        "doejane_4711_9911_a.ipynb": "jane", "doejane_4799_881_a.ipynb": "sam"}),
    "on Canvas, by a name with Jane's number in it": ("id,first_name,last_name\njdoe,Jane,Doe\nsquinn,Sam,Quinn\n", {
        "doejane_4711_9911_a.ipynb": "jane", "doejane_4711_4799_882_a.ipynb": "sam"}),
    "on Moodle, by Jane's name": (ROSTER, {
        "Jane Doe_815_assignsubmission_file_/a.ipynb": "jane", "Jane Doe_816_assignsubmission_file_/a.ipynb": "sam"}),
    "by hand": (ROSTER, {"jdoe_a.ipynb": "jane", "jdoe.ipynb": "sam"}),
    "by hand, beside Canvas": (ROSTER, {"doejane_4711_9911_a.ipynb": "jane", "jdoe.zip": {"b.ipynb": "sam"}}),
    "in an archive with names like Canvas's": (ROSTER, {
        "doejane_4711_9911_a.ipynb": "jane", "hw.zip": {"doejane_4711_9911_a.ipynb": "sam"}}),
}


@pytest.mark.parametrize("how", FORGED)
def test_nobodys_counts_until_the_teacher_has_chosen(course, how):
    roster, files = FORGED[how]
    (course.grading / "roster.csv").write_text(roster)
    put(course, files | {"ileve_4718_1_a.ipynb": "eve"} if roster == ROSTER else files)
    _, _, doubtful = inbox.sort(course, NAME)
    if "number in it" in how:                                           # that one alone is in doubt
        assert doubtful == {} and work(course, "jdoe") == "jane" and "sam" not in handed_in(course).values()
        return
    assert list(doubtful) == ["jdoe"] and len(doubtful["jdoe"]) == 2
    assert "the teacher has to say" in rejection(course, "jdoe") and "sam" not in handed_in(course).values()
    assert roster != ROSTER or work(course, "ileve") == "eve", "the others go on"
    said = command(course.root, "intake", NAME)
    assert "jdoe: nothing counts until you choose" in said
    janes = next(label for label in doubtful["jdoe"] if "9911" in label or "815" in label or "_a" in label)
    assert f"choose {NAME} jdoe {shlex.quote(janes)}" in said
    command(course.root, "choose", NAME, "jdoe", janes)
    _, left, doubtful = inbox.sort(course, NAME)
    assert not doubtful and work(course, "jdoe") == "jane" and claims.NOT_CHOSEN in left
    command(course.root, "choose", NAME, "jdoe")
    assert list(inbox.sort(course, NAME)[2]) == ["jdoe"] and work(course, "jdoe") != "jane"


def test_what_was_marked_before_does_not_count_while_it_is_in_doubt(course):
    here = put(course, {"doejane_4711_9911_a.ipynb": "jane"})
    sorted_by(course)
    put(course, {"jdoe.ipynb": "sam"})
    inbox.sort(course, NAME)
    assert "the teacher has to say" in rejection(course, "jdoe")
    (here / "jdoe.ipynb").unlink()
    sorted_by(course)
    assert work(course, "jdoe") == "jane"
    (here / "doejane_4711_9911_a.ipynb").rename(here / "doejane_4718_9911_a.ipynb")
    assert inbox.sort(course, NAME)[2].keys() == {"jdoe", "ileve"} and "not clear whose" in rejection(course, "jdoe")
    (here / "doejane_4718_9911_a.ipynb").unlink()
    sorted_by(course)
    assert not course.submitted(NAME), "what was in doubt, and is gone, is missing again"


def test_two_students_in_one_name_are_neither_and_can_be_told_apart(course):
    put(course, {"doejane_4711_815_a.ipynb": "jane", "doejane_4718_816_a.ipynb": "eve"})
    assert inbox.sort(course, NAME) == (["jdoe"], {owners.TWO: ["doejane_4718_816_a.ipynb"]},
                                        {"ileve": ["doejane_4718_816_a.ipynb"]})
    assert work(course, "jdoe") == "jane" and "not clear whose" in rejection(course, "ileve")
    claims.choose(course, NAME, "ileve", ["doejane_4718_816_a.ipynb"])
    assert sorted_by(course) == (["ileve", "jdoe"], {}) and work(course, "ileve") == "eve"


def test_a_pairs_hand_in_can_be_given_to_both(course):
    put(course, {"jdoe_ileve.ipynb": "both"})
    assert inbox.sort(course, NAME)[2] == {"ileve": ["jdoe_ileve.ipynb"], "jdoe": ["jdoe_ileve.ipynb"]}
    for student in ("jdoe", "ileve"):
        claims.choose(course, NAME, student, ["jdoe_ileve.ipynb"])
    assert sorted_by(course) == (["ileve", "jdoe"], {}) and work(course, "jdoe") == work(course, "ileve") == "both"


def test_what_was_chosen_for_one_is_nobody_elses_and_what_is_gone_is_told(course):
    here = put(course, {"doejane_4711_815_a.ipynb": "eve, truly"})
    claims.choose(course, NAME, "ileve", ["doejane_4711_815_a.ipynb"])
    assert sorted_by(course)[0] == ["ileve"]
    (here / "doejane_4711_815_a.ipynb").unlink()
    put(course, {"ileve.ipynb": "eve, later"})
    assert sorted_by(course) == (["ileve"], {claims.GONE: ["doejane_4711_815_a.ipynb of ileve"]})
    assert work(course, "ileve") == "eve, later"


@pytest.mark.parametrize("arguments, words", [
    (("nobody", "jdoe.ipynb"), "nobody called 'nobody'"), (("jdoe", "other.ipynb"), "There is no 'other.ipynb'")])
def test_a_choice_that_cannot_be_gets_one_line(course, arguments, words):
    put(course, {"jdoe.ipynb": "jane"})
    said = command(course.root, "choose", NAME, *arguments, status=1)
    assert words in said and len(said.splitlines()) == 1 and not (course.grading / "chosen.csv").exists()


# ── files that are odd, broken or too much ────────────────────────────────────────────────────────────────────────

def test_folders_with_names_of_files_stop_nobody(course):
    put(course, {f"Eve Il_47_assignsubmission_file_/{NAME}.ipynb/x.py": "1",
                 "Eve Il_47_assignsubmission_file_/timestamp.txt/y.py": "2",
                 "Eve Il_47_assignsubmission_file_/a.ipynb": "eve", "jdoe/x.py": "file"})
    assert sorted_by(course) == (["ileve", "jdoe"], {})
    assert {name for student, name in handed_in(course) if student == "ileve"} == {"x.py", "y.py", f"{NAME}.ipynb"}
    (course.grading / "inbox" / NAME / "jdoe" / "x.py").unlink()
    put(course, {"jdoe/x.py/z.py": "folder"})
    inbox.sort(course, NAME)
    assert {name for student, name in handed_in(course) if student == "jdoe"} == {"x.py/z.py"}


def test_links_in_the_inbox_are_not_followed(course, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.ipynb").write_text("secret")
    here = put(course, {"ileve/b.py": "eve"})
    (here / "jdoe").symlink_to(tmp_path / "secret")
    (here / "jdoe.ipynb").symlink_to(tmp_path / "secret" / "a.ipynb")
    (here / "ileve" / "a.ipynb").symlink_to(tmp_path / "secret" / "a.ipynb")
    assert sorted_by(course)[0] == ["ileve"] and handed_in(course) == {("ileve", "b.py"): "eve"}


def test_names_too_long_and_broken_zips_are_told(course):
    here = put(course, {"submissions.zip": {"ileve/" + "ä" * 150 + ".py": "1", "ileve/a.ipynb": "eve",
                                            "jdoe/a.ipynb": "damaged here"}})
    data = (here / "submissions.zip").read_bytes()
    (here / "submissions.zip").write_bytes(data.replace(b"damaged here", b"DAMAGED here"))
    students, left = sorted_by(course)
    assert students == ["ileve", "jdoe"] and work(course, "ileve") == "eve"
    assert any("too long" in why for why in left) and any("damaged" in why for why in left)
    (here / "submissions.zip").write_bytes(data[:len(data) // 2])
    assert sorted_by(course) == ([], {"is no complete zip file: download it again": ["submissions.zip"]})


def test_what_lies_in_a_thousand_folders_stops_nobody(course):
    """Python's own walk, and its making of folders, end in a RecursionError there."""
    before, here = os.getcwd(), put(
        course, {"jdoe.ipynb": "jane", "ileve.zip": {"d/" * 1200 + "a.csv": "1", "a.ipynb": "eve"}})
    try:
        sorted_by(course)
        assert handed_in(course) == {("jdoe", f"{NAME}.ipynb"): "jane", ("ileve", f"{NAME}.ipynb"): "eve"}
        (here / "ileve.zip").unlink()
        (here / "ileve").mkdir()
        (here / "ileve" / "a.ipynb").write_text("eve")
        os.chdir(here / "ileve")
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
        sorted_by(course)
        assert handed_in(course)[("ileve", f"{NAME}.ipynb")] == "eve"
    finally:                                                            # what takes away a test's folder recurses
        os.chdir(before)
        subprocess.run(["rm", "-rf", course.root], check=True)


@pytest.mark.parametrize("name", ["jdoe.ipynb", "submissions.zip"])
def test_what_is_too_large_is_rejected_with_the_reason(name, course, monkeypatch):
    monkeypatch.setattr(inbox, "MAX_NOTEBOOK", 100)
    put(course, {name: "x" * 200 if name == "jdoe.ipynb" else {"jdoe.ipynb": "x" * 200}})
    students, left = sorted_by(course)
    assert students == ["jdoe"] and list(left.values()) == [[f"{NAME}.ipynb of jdoe"]]
    assert "is too large" in rejection(course, "jdoe")


def test_of_one_student_no_more_than_so_much_is_taken(course, monkeypatch):
    monkeypatch.setattr(inbox, "MAX_UNPACKED", 1000)
    put(course, {"submissions.zip": {f"jdoe/{n}.txt": "x" * 300 for n in range(9)} | {"ileve.ipynb": "eve"}})
    inbox.sort(course, NAME)
    assert sum(text == "x" * 300 for text in handed_in(course).values()) == 3
    assert work(course, "ileve") == "eve"


@pytest.mark.parametrize("place", ["ileve_4718_816_x.zip", "Eve Il_47_assignsubmission_file_/x.zip", "submissions.zip"])
def test_a_students_zip_is_unpacked_wherever_it_lies(course, place):
    data = zipped({"hw/a.ipynb": "eve", "hw/data.csv": "1", "hw/run.sh": "no"})
    put(course, {place: {"ileve_LATE_4718_816_x.zip": data} if place == "submissions.zip" else data,
                 "doejane_4711_815_a.ipynb": "jane"})
    students, left = sorted_by(course)
    assert students == ["ileve", "jdoe"] and not left
    assert work(course, "ileve") == "eve" and handed_in(course)["ileve", "hw/data.csv"] == "1"
    assert handed_in(course)["ileve", "hw/run.sh"] == OTHER_KIND.decode()


@pytest.mark.parametrize("limit, of, words", [(None, None, "is no complete zip file"),
                                              ("MAX_NOTEBOOK", inbox, "is too large: the most is"),
                                              ("MAX_UNPACKED", inbox, "is too much"),
                                              ("MAX_ENTRIES", archive, "has more than 1 entries")])
def test_student_and_teacher_learn_why_a_zip_was_not_opened(course, limit, of, words, monkeypatch):
    data = zipped({"a.ipynb": "jane", "b.ipynb": "jane"})
    if limit:
        monkeypatch.setattr(of, limit, 1)
    put(course, {"doejane_4711_815_hw.zip": data if limit else data[:40]})
    students, left = sorted_by(course)
    assert students == ["jdoe"] and [why.startswith(words) for why in left] == [True]
    assert left.popitem()[1] == ["hw.zip of jdoe"] and words in rejection(course, "jdoe")


BOMBS = {
    "nine folders of zeros": lambda: zipped({f"{n}/zeros.csv": b"\0" * (45 << 20) for n in range(9)}),
    "forty thousand empty files": lambda: zipped({f"{n}.py": b"" for n in range(40_000)}),
    "three thousand empty files": lambda: zipped({f"{n}.py": b"" for n in range(3000)}),
    "a member that hides its size": lambda: hiding_its_size(),
    "packed in another way": lambda: zipped({"a.csv": b"\0" * (45 << 20)}, zipfile.ZIP_LZMA),
    "zips in zips": lambda: zipped({"a.zip": zipped({"b.zip": zipped({"c.csv": b"\0" * (45 << 20)})})}),
    "large and of another kind": lambda: zipped({f"{n}.bin": b"\0" * (45 << 20) for n in range(9)}),
}


def hiding_its_size():
    """A zip file whose directory says that 200 MB of zeros are ten bytes."""
    data = bytearray(zipped({"zeros.csv": b"\0" * (200 << 20)}))
    for signature, place in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(signature) + place
        data[at:at + 4] = (10).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize("name, place", [(name, "top") for name in BOMBS] + [
    ("nine folders of zeros", "inside"), ("three thousand empty files", "inside")])
def test_one_zip_neither_stops_nor_fills_the_machine(course, name, place, monkeypatch):
    bomb = BOMBS[name]()
    entry = "doejane_4711_815_hw.zip"
    put(course, {"ileve_4718_1_a.ipynb": "eve"} | ({entry: bomb} if place == "top" else {"all.zip": {entry: bomb}}))
    opened, real = [], zipfile.ZipFile
    monkeypatch.setattr(archive.zipfile, "ZipFile", lambda *all, **named: opened.append(1) or real(*all, **named))
    students, left = sorted_by(course)
    assert students == ["ileve", "jdoe"] and work(course, "ileve") == "eve"
    assert len(opened) <= (1 if place == "top" else 2), "once each"
    files = [path for path in course.submitted(NAME)["jdoe"].rglob("*") if path.is_file()]
    assert len(files) <= MAX_FILES + 1 and sum(path.stat().st_size for path in files) <= inbox.MAX_UNPACKED
    told = str(left) + rejection(course, "jdoe")
    assert any(word in told for word in ("more than", "too much", "cannot be unpacked", "not used"))


def test_the_notebook_comes_through_among_many_files(course):
    put(course, {"doejane_4711_815_hw.zip": zipped({f"{n:04}.csv": b"1" for n in range(500)} | {"z/a.ipynb": b"jane"})})
    students, left = sorted_by(course)
    assert work(course, "jdoe") == "jane" and left == {inbox.MANY: ["jdoe"]}


def test_what_takes_too_long_to_unpack_is_rejected(course, monkeypatch):
    monkeypatch.setattr(inbox, "SECONDS", 0.05)
    monkeypatch.setattr(inbox, "collected", lambda *_: [None for _ in iter(int, 1)])
    put(course, {"jdoe.zip": {"a.ipynb": "jane"}})
    assert sorted_by(course)[1] == {"took too long to unpack": ["jdoe"]} and "too long" in rejection(course, "jdoe")


def test_what_cannot_be_kept_or_takes_too_long_is_rejected(course, template, monkeypatch):
    released = Course(template).released(NAME)
    put(course, {"jdoe/a.ipynb": nbformat.writes(answers(released))})
    inbox.sort(course, NAME)
    (course.grading / "submitted" / "jdoe" / NAME / "timestamp.txt").mkdir()
    (course.grading / "submitted" / "jdoe" / NAME / "timestamp.txt" / "a.csv").write_text("1")
    times = {"jdoe": SimpleNamespace(came=datetime.datetime(2026, 12, 1))}
    assert "a folder in it is called" in pipeline.take_in(course, NAME, "jdoe", released, {}, times).why
    monkeypatch.setattr(pipeline, "READING", 0.05)
    monkeypatch.setattr(pipeline.intake, "look", lambda *_: [None for _ in iter(int, 1)])
    assert pipeline.take_in(course, NAME, "jdoe", released, {}, {}).why == "it took too long to read"


def test_the_inbox_is_sorted_again_and_again(course):
    here = put(course, {"ileve.ipynb": "{}", "stranger.ipynb": "{}",
                        "Jane Doe_1_assignsubmission_file_/mine.ipynb": "{}",
                        "Jane Doe_1_assignsubmission_file_/timestamp.txt": "2020-01-01"})
    assert sorted_by(course) == (["ileve", "jdoe"], {owners.NOBODY: ["stranger.ipynb"]})
    assert handed_in(course).keys() == {("jdoe", f"{NAME}.ipynb"), ("ileve", f"{NAME}.ipynb")}
    (here / "ileve.ipynb").unlink()
    (here / "ileve_again.ipynb").write_text("[]")
    sorted_by(course)
    assert handed_in(course) == {("jdoe", f"{NAME}.ipynb"): "{}", ("ileve", f"{NAME}.ipynb"): "[]"}
    assert "choose 01_small STUDENT 'NAME'" in command(course.root, "intake", NAME)


def test_a_zip_file_cannot_climb_out(course, tmp_path):
    (tmp_path / "all.zip").write_bytes(zipped({name: "{}" for name in (
        "doejane_4711_1_a.ipynb", "ileve/a.ipynb", "../../ileve.ipynb", "/jdoe.ipynb", "ileve/../../../evil.ipynb")}))
    inbox.sort(course, NAME, tmp_path / "all.zip")
    assert handed_in(course).keys() == {("jdoe", f"{NAME}.ipynb"), ("ileve", f"{NAME}.ipynb")}
    assert not list(tmp_path.rglob("evil.ipynb"))


def test_two_downloads_of_one_class_are_asked_about_in_few_lines(course):
    names = [f"s{n}" for n in range(30)]
    rows = "".join(f"{name},A,{name}\n" for name in names)
    (course.grading / "roster.csv").write_text("id,first_name,last_name\n" + rows)
    files = {f"{name}a_{n}_7_a.ipynb": name for n, name in enumerate(names, 100)}
    put(course, {"submissions.zip": files, "submissions (1).zip": files})
    assert len(inbox.sort(course, NAME)[2]) == 30 and not inbox.sort(course, NAME)[0]
    said = command(course.root, "intake", NAME)
    assert said.count("nothing counts until") == 10 and "with 20 more. Is an older download" in said
    (course.grading / "inbox" / NAME / "submissions.zip").unlink()
    assert sorted_by(course)[0] == sorted(names)


def test_reading_one_of_many_does_not_look_at_the_others(course, template, monkeypatch):
    released, counted = Course(template).released(NAME), []
    listing, reading = Course.submitted, late_days.times
    monkeypatch.setattr(Course, "submitted", lambda *given: counted.append("all") or listing(*given))
    monkeypatch.setattr(late_days, "times", lambda *given: counted.append("all times") or reading(*given))
    often = []
    for students in (["jdoe"], ["jdoe", "ileve"]):
        put(course, {f"{student}/a.ipynb": nbformat.writes(answers(released)) for student in students})
        counted.clear()
        main(["intake", NAME, "--course", str(course.root)])
        often.append(sorted(counted))
    assert often[0] == often[1] and {*often[0]} == {"all", "all times"}
