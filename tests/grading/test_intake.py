"""What is handed in is read, whatever it is: honest oddities are mended, the rest is rejected with a reason."""

import copy
import html
import json
import os
import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from coursegrade.marking import intake
from coursegrade.marking.course import Course
from coursegrade.marking.intake import Rejected, look
from coursegrade.marking.markdown import markdown
from coursegrade.marking.repair import defines
from tests.grading.classroom import DOUBLE, MEAN, NAME, TEXT, answers, at, cell, grade_id, odd


@pytest.fixture(scope="module")
def released(template):
    return Course(template).released(NAME)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def take(folder, released, data, name=f"{NAME}.ipynb", **options):
    (folder / name).write_bytes(data if isinstance(data, bytes) else nbformat.writes(data).encode())
    return look(folder, NAME, released, **options)


def sources(notebook):
    return {grade_id(cell): cell.source for cell in notebook.cells if grade_id(cell)}


def test_millions_of_empty_objects_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(intake.json, "loads", lambda text: pytest.fail("it was read"))
    for one in (b"{},", b"[],"):
        with pytest.raises(Rejected, match="more than 1,000,000 brackets"):
            intake.read_cells(b'{"cells": [' + one * 10 ** 6 + b"{}]}")


def test_every_oddity_ends_in_the_teachers_frame(released, tmp_path):
    wanted = [grade_id(cell) for cell in released.cells if grade_id(cell)]
    given = sources(released)
    for name, data in odd(released).items():
        here = tmp_path / name
        here.mkdir()
        checked = take(here, released, data)
        found = [cell for cell in checked.notebook.cells if grade_id(cell)]
        assert sorted(map(grade_id, found)) == sorted(wanted), name
        assert {grade_id(cell): cell.metadata for cell in found} == {
            grade_id(cell): cell.metadata for cell in released.cells if grade_id(cell)}, name
        kept = sources(checked.notebook)
        assert all(kept[key] == given[key] for key in ("imports", "check_double", "more_double", "check_mean")), name
        assert TEXT in kept["why"] and "def double" in kept["double"] and "def mean" in kept["mean"], name
        assert not any(cell.get("outputs") for cell in checked.notebook.cells)
        nbformat.validate(checked.notebook)
        assert checked.notebook.metadata == released.metadata


def test_what_was_mended_is_noted(released, tmp_path):
    said = {}
    for name, data in odd(released).items():
        (tmp_path / name).mkdir()
        said[name] = " ".join(take(tmp_path / name, released, data).notes)
    assert not said["plain"] and not said["warns"] and not said["extra_cells"] and not said["big_outputs"]
    for name, words in {"copied_tests": "2 times", "deleted_tests": "put back", "changed_tests": "the original counts",
                        "stripped_metadata": "recognised", "version_3": "old notebook format",
                        "old_windows": "Windows encoding",
                        "text_became_code": "had become code", "answer_elsewhere": "double: its mark was lost"}.items():
        assert words in said[name], name


def test_order_is_the_students_and_nothing_of_theirs_is_lost(released, folder):
    nb = answers(released)
    nb.cells[2:2] = [new_code_cell("mine = 1"), new_markdown_cell("<script>alert(1)</script>")]
    nb.cells.append(new_code_cell("last = 2"))
    assert [cell.source for cell in take(folder, released, nb).notebook.cells] == [cell.source for cell in nb.cells]


def test_missing_cells_go_where_they_belong(released, folder):
    nb = answers(released)
    nb.cells = [cell for cell in nb.cells if grade_id(cell) not in ("imports", "check_double", "more_double", "mean")]
    order = [name for cell in take(folder, released, nb).notebook.cells if (name := grade_id(cell))]
    assert order == [grade_id(cell) for cell in released.cells if grade_id(cell)]


def test_a_deleted_answer_does_not_hide_one_elsewhere(released, folder):
    nb = answers(released)
    nb.cells[at(nb, "mean")] = new_code_cell("import statistics\nif True:\n    mean = statistics.fmean")
    kept = sources(take(folder, released, nb).notebook)
    assert "mean" in kept and "def mean" not in kept["mean"]


def test_of_copies_the_answer_counts(released, folder):
    nb = answers(released)
    stub = next(copy.deepcopy(cell) for cell in released.cells if grade_id(cell) == "why")
    nb.cells.append(stub)
    assert sources(take(folder, released, nb).notebook)["why"] == TEXT


@pytest.mark.parametrize("data, words", [
    (b"", "is empty"), (b"%PDF-1.7 ...", "is a PDF"), (b"PK\x03\x04", "is a zip file"),
    (b"<!doctype html>", "is a web page"),
    (b'{"cells": [', "not valid JSON"), (b"[" * 200_000, "nested too deeply"), (b"[1, 2]", "no list of cells"),
    (b'{"cells": {}}', "no list of cells"), (b'{"worksheets": 3}', "old notebook format"),
    (b"\x00\xff" * 50, "not valid JSON"),
    (b'{"cells": [' + b"9" * 5000 + b"]}", "not valid JSON"),
])
def test_what_is_no_notebook_is_rejected(data, words, released, folder):
    with pytest.raises(Rejected, match=words):
        take(folder, released, data)


@pytest.mark.parametrize("cells", [
    [None, 3, "text", [], {}], [{"cell_type": "code"}], [{"cell_type": "code", "source": {"a": 1}, "metadata": []}],
    [{"cell_type": ["code"], "source": "x"}],
    [{"cell_type": "markdown", "source": ["a", 3, None], "metadata": {"nbgrader": "x"}}],
    [{"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"grade_id": ["double"]}}}],
])
def test_strange_cells_break_nothing(cells, released, folder):
    nb = json.loads(nbformat.writes(answers(released)))
    nb["cells"] += cells
    assert "def double" in sources(take(folder, released, json.dumps(nb).encode()).notebook)["double"]


def test_half_characters_are_replaced(released, folder):
    nb = json.loads(nbformat.writes(answers(released, double=DOUBLE + "  # X")))
    data = json.dumps(nb).replace("# X", "# \\ud800").encode()
    sources(take(folder, released, data).notebook)["double"].encode()


def test_too_much_is_rejected_and_empty_cells_are_not_too_much(released, folder):
    nb = answers(released)
    nb.cells += [new_code_cell("x = 1")] * 100_000
    with pytest.raises(Rejected, match="100,011 cells"):
        take(folder, released, json.dumps(nb).encode())
    nb.cells[-100_000:] = [new_code_cell("")] * 100_000
    assert len(take(folder, released, json.dumps(nb).encode()).notebook.cells) == len(released.cells)
    with pytest.raises(Rejected, match="characters"):
        take(folder, released, answers(released, double=DOUBLE + "\n#" + "x" * 3_000_000))


def test_the_wrong_assignment_is_named(released, folder):
    other = new_notebook(cells=[cell("def encode(text):\n    return []", "encode", solution=True)])
    with pytest.raises(Rejected, match="none of its questions; it looks like 00_other"):
        take(folder, released, other, others={"00_other": other}.items())
    with pytest.raises(Rejected, match=f"^the notebook is not {NAME}, as"):
        take(folder, released, other)                                   # whatever it was called


def test_it_is_recognised_by_the_exercises_where_it_was_never_prepared(tmp_path, template):
    (tmp_path / "solutions" / "00_other").mkdir(parents=True)
    (tmp_path / "exercises" / "00_other").mkdir(parents=True)
    shutil.copy(template / "nbgrader_config.py", tmp_path)
    other = new_notebook(cells=[cell("def encode(text):\n    return []", "encode", solution=True)])
    for place in ("solutions", "exercises"):
        nbformat.write(other, tmp_path / place / "00_other" / "00_other.ipynb")
    assert [*Course(tmp_path).others(NAME)] == ["00_other"] and Course(tmp_path).others("00_other") == {}


def test_all_marks_lost_is_one_line(released, folder):
    nb = answers(released)
    for one in nb.cells:
        one.metadata = {}
    assert take(folder, released, nb).notes == [
        "all marks of cells were lost, as on Colab; 7 cells were recognised by their text"]


@pytest.mark.parametrize("source", ["<div id='check_double' class='score tabbable'>", "a\n```\n<b id='x'>\n````", ""])
def test_a_raw_cell_is_shown_as_text(source, released, folder):
    """nbgrader's pages would take it for HTML, with ids and classes that their own scripts look for."""
    nb = answers(released)
    nb.cells.append(new_raw_cell(source))
    made = take(folder, released, nb).notebook.cells
    assert {cell.cell_type for cell in made} == {"code", "markdown"} and source in made[-1].source
    shown = markdown(made[-1].source)
    assert re.findall("<[^>]*>", shown) == ["<pre>", "<code>", "</code>", "</pre>"]
    assert html.unescape(re.sub("<[^>]*>", "", shown)).strip() == source


def test_what_lies_too_deep_does_not_count(released, folder):
    take(folder, released, answers(released))
    (folder / "/".join("d" * 20)).mkdir(parents=True)
    (folder / "/".join("d" * 20) / "x.csv").write_text("1")
    assert look(folder, NAME, released).files == {}


def test_among_several_notebooks_the_one_worked_on_counts(released, folder):
    take(folder, released, released)
    checked = take(folder, released, answers(released), name=f"{NAME} (1).ipynb")
    assert sources(checked.notebook)["double"] == DOUBLE and "left out" in " ".join(checked.notes)


def test_files_come_along_by_an_allow_list(released, folder):
    (folder / "data").mkdir()
    for name in ("data/table.csv", "helper.py", "a.so", "a.sh", ".hidden.csv", "words.txt"):
        (folder / name).write_text("x")
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    (folder / "new\nline\x1b[31m.csv").write_text("x")
    os.mkfifo(folder / "pipe.csv")
    checked = take(folder, released, answers(released))
    assert set(checked.files) == {"data/table.csv", "helper.py", "words.txt"}
    said = " ".join(checked.notes)
    assert all(word in said for word in ("a.sh", "a.so", "link.csv", "pipe.csv", "signs that no name needs"))
    assert "\x1b" not in said


def test_links_are_refused(released, folder, tmp_path):
    real = tmp_path / "real.ipynb"
    nbformat.write(answers(released), real)
    (folder / f"{NAME}.ipynb").symlink_to(real)
    with pytest.raises(Rejected, match="no notebook.*is a link"):
        look(folder, NAME, released)
    (tmp_path / "other").symlink_to(tmp_path)
    with pytest.raises(Rejected, match="link"):
        look(tmp_path / "other", NAME, released)


def test_a_strange_time_counts_as_none(released, folder):
    (folder / "timestamp.txt").write_text("2026-05-01 10:00:00 UTC\n")
    assert take(folder, released, answers(released)).timestamp == "2026-05-01 10:00:00 UTC"
    (folder / "timestamp.txt").write_text("2026-05-01 10:00:00 +0200\n")         # nbgrader would read 200 seconds
    assert take(folder, released, answers(released)).timestamp == "2026-05-01 08:00:00 UTC"
    (folder / "timestamp.txt").write_text("when I was done")
    checked = take(folder, released, answers(released))
    assert checked.timestamp == "" and "no date" in " ".join(checked.notes)


def test_pasted_pictures_stay_and_others_do_not(released, folder):
    nb = answers(released, mean=MEAN)
    nb.cells[at(nb, "why")]["attachments"] = {"a.png": {"image/png": "aGk=", "text/html": "<script>"},
                                              "b": {"image/svg+xml": "<svg>"}}
    found = [cell for cell in take(folder, released, nb).notebook.cells if grade_id(cell) == "why"]
    assert found[0].attachments == {"a.png": {"image/png": "aGk="}}


def test_only_a_pdf_is_named(released, folder):
    (folder / "mine.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(Rejected, match=rf"only a PDF came \(mine.pdf\). Hand in the notebook itself, {NAME}.ipynb"):
        look(folder, NAME, released)


def test_a_thousand_magics_are_read(released, folder):
    nb = answers(released)
    nb.cells.append(new_code_cell("!x\n" * 1000 + "a = 1"))
    assert len(take(folder, released, nb).notebook.cells) == len(nb.cells)


def test_names_are_found_among_magics():
    assert defines("%time\n!ls\nx = %magic\nlen?\ndef f():\n    !ls\n") == {"x", "f"}
    assert defines("y = (5\n     % 3)") == {"y"}
    assert defines("a = 1\n" + "#" * 100_000) == set() == defines("a = (")
