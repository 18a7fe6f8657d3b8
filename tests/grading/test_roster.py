"""Rosters as they come: ours, and those that Canvas and Moodle export."""

import pytest

from coursegrade.marking import roster, tables

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (1234),Current Score
,,,,,Manual Posting,
"    Points Possible",,,,,10,(read only)
"Doe, Jane",4711,S01,jdoe,CS 1,9,90
"García, José Luis",4712,S02,jgarcia@example.org,CS 1 and CS 2,,
"Student, Test",4713,,f2c1,CS 1,,
"""
GRADEBOOK = """"First name",Surname,"ID number",Institution,Department,"Email address","Course total (Real)"
Jane,Doe,20261,,,jane.doe@example.org,-
José,García,20262,,,jose@example.org,12
"""
PARTICIPANTS = """"First name","Last name","Email address",Groups
Jane,Doe,jane.doe@example.org,
José,García,jose@example.org,"Group 1"
"""
WITHOUT_IDS = GRADEBOOK.replace("20262", "")


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return {name: (who.first_name, who.last_name, who.email, who.lms_user_id)
            for name, who in roster.read(path).items()}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace("\n", "\r\n")])
def test_canvas(tmp_path, encoding, change):
    assert read(tmp_path, change(CANVAS), encoding) == {
        "jdoe": ("Jane", "Doe", None, "4711"),
        "jgarcia@example.org": ("José Luis", "García", "jgarcia@example.org", "4712")}


def test_canvas_with_names_in_two_columns_and_no_logins(tmp_path):
    text = "Student,LastName,FirstName,ID,SIS User ID,SIS Login ID\nJane Doe,Doe,Jane,4711,S01,\nX,Y,Z,4712,S02,\n"
    assert read(tmp_path, text)["S01"] == ("Jane", "Doe", None, "4711")


@pytest.mark.parametrize("text, ids", [(GRADEBOOK, {"20261", "20262"}), (PARTICIPANTS, {"jane.doe@example.org",
                                                                                         "jose@example.org"}),
                                       (WITHOUT_IDS, {"jane.doe@example.org", "jose@example.org"})])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_moodle(tmp_path, text, ids, delimiter):
    found = read(tmp_path, text.replace(",", delimiter), "utf-8-sig")
    assert found.keys() == ids
    assert found[min(ids)] == ("Jane", "Doe", "jane.doe@example.org", None)


def test_ours(tmp_path):
    assert read(tmp_path, "ID;Last_Name;First_Name\njdoe;Doe;Jane\n\n;;\n") == {"jdoe": ("Jane", "Doe", None, None)}
    assert read(tmp_path, "id\n") == {} == read(tmp_path, "")


@pytest.mark.parametrize("text, words", [
    ("name\nx\n", "no column “id”"), ("id\na\na\n", "there twice"), ("id\n../x\n", "signs other"),
    ("First name,Email address\nA,\nB,b@example.org\n", "is empty"), ("id,x\n,1\n", "is empty")])
def test_what_is_wrong_is_said(tmp_path, text, words):
    with pytest.raises(roster.Unclear, match=words):
        read(tmp_path, text)


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = [{"a": "1;2", "b": "x\ny"}, {"a": "ä", "b": ""}]
    tables.write(tmp_path / "t.csv", rows, "utf-8-sig")
    assert tables.read(tmp_path / "t.csv") == rows
