"""tools/work.py on a small course: what becomes of copies, whoever has changed them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import work

ROOT = Path(__file__).parents[2]
LECTURE, TASK = "lectures/00_one.ipynb", "exercises/01_two/01_two.ipynb"


def write(path, *cells, outputs=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [new_code_cell(cell, outputs=list(outputs), id=f"cell-{i}") for i, cell in enumerate(cells)]
    nbformat.write(new_notebook(cells=made), path)


def said(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


@pytest.fixture
def course(tmp_path, capsys):
    """A course of a lecture, an assignment and a page, whose copies have been made."""
    write(tmp_path / LECTURE, "1 + 1")
    write(tmp_path / TASK, "raise NotImplementedError()")
    (tmp_path / "SYLLABUS.md").write_text("weeks")
    work.main(tmp_path)
    assert "make lab" in capsys.readouterr().out
    return tmp_path


@pytest.fixture
def again(course, capsys):
    """A function: `make work` once more, and the lines that it printed."""
    def lines():
        work.main(course)
        return capsys.readouterr().out.splitlines()
    return lines


def test_copies_are_made_and_a_second_time_nothing_happens(course, again):
    for name in (LECTURE, TASK, "SYLLABUS.md"):
        assert (course / "my" / name).read_bytes() == (course / name).read_bytes()
    assert again() == ["my/: no changes."]


def test_what_the_course_adds_changes_and_drops(course, again):
    write(course / "lectures/01_more.ipynb", "2")
    write(course / LECTURE, "1 + 2")
    (course / TASK).unlink()
    assert again() == ["my/lectures/00_one.ipynb: renewed, as you had not changed it", "my/lectures/01_more.ipynb: new",
                       f"my/{TASK}: no longer in the course: your copy stays", "my/: 3 changes."]
    assert said(course / "my" / LECTURE) == ["1 + 2"] and said(course / "my/.before" / LECTURE) == ["1 + 1"]
    assert (course / "my" / TASK).exists() and again() == ["my/: no changes."]


def test_to_run_a_notebook_is_no_change(course, again):
    write(course / "my" / LECTURE, "1 + 1", outputs=[new_output("stream", text="2")])
    assert again() == ["my/: no changes."] and nbformat.read(course / "my" / LECTURE, 4).cells[0].outputs
    write(course / LECTURE, "1 + 1", outputs=[new_output("stream", text="two")])            # executed anew
    assert again() == ["my/: no changes."] and "two" not in (course / "my" / LECTURE).read_text()


def test_copies_begin_without_outputs(course, again):
    shown = [new_output("stream", text="the answer")]
    write(course / "lectures/01_more.ipynb", "6 * 7", outputs=shown)
    write(course / "my" / LECTURE, "1 + 3")
    write(course / LECTURE, "1 + 2", outputs=shown)
    assert len(again()) == 3
    for name in ("lectures/01_more.ipynb", "lectures/00_one.new.ipynb"):
        [cell] = nbformat.read(course / "my" / name, as_version=4).cells
        assert cell.outputs == [] and cell.execution_count is None and "the answer" in (
            course / name.replace(".new", "")).read_text()


def test_what_an_older_course_wrote_down_is_understood(course, again):
    record = course / "my/.copied.json"
    known = json.loads(record.read_text())
    record.write_text(json.dumps({name: [told, "of the outputs"] for name, told in known.items()}))
    assert again() == ["my/: no changes."] and json.loads(record.read_text()) == known


def test_quiet_says_nothing_where_nothing_is_to_do(course, capsys):
    work.main(course, quiet=True)
    assert capsys.readouterr().out == ""
    write(course / LECTURE, "1 + 2")
    work.main(course, quiet=True)
    assert "renewed" in capsys.readouterr().out


def test_what_a_learner_changed_stays_and_the_new_version_lies_beside_it(course, again):
    mine = course / "my" / TASK
    write(mine, "answer = 1")
    assert again() == ["my/: no changes."]
    for text, beside in (("raise Other()", "01_two.new.ipynb"), ("raise Third()", "01_two.new.ipynb")):
        write(course / TASK, text)
        assert again()[0].endswith(f"yours stays, and the new one is my/exercises/01_two/{beside}")
        assert said(mine.with_name(beside)) == [text] and said(mine) == ["answer = 1"]
        assert again() == ["my/: no changes."]
    write(mine.with_name("01_two.new.ipynb"), "answer = 2")                                 # the learner goes on in it
    write(course / TASK, "raise Fourth()")
    again()
    assert said(mine.with_name("01_two.new2.ipynb")) == ["raise Fourth()"]
    assert said(mine.with_name("01_two.new.ipynb")) == ["answer = 2"] and said(mine) == ["answer = 1"]


def test_a_copy_that_was_deleted_is_made_again(course, again):
    (course / "my" / TASK).unlink()
    assert again()[0] == f"my/{TASK}: new" and (course / "my" / TASK).exists()


def test_without_its_record_it_overwrites_nothing(course, again):
    write(course / "my" / TASK, "answer = 1")
    write(course / LECTURE, "1 + 2")
    (course / "my/.copied.json").unlink()
    again()
    assert said(course / "my" / TASK) == ["answer = 1"] and said(course / "my" / LECTURE) == ["1 + 1"]
    assert said(course / "my/lectures/00_one.new.ipynb") == ["1 + 2"]


def test_a_broken_notebook_is_a_changed_one(course, again):
    (course / "my" / TASK).write_text('{"cells": [')
    write(course / TASK, "raise Other()")
    assert "yours stays" in again()[0] and (course / "my" / TASK).read_text() == '{"cells": ['


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_what_was_written_into_the_course_comes_along_and_is_never_overwritten(course, again):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=course, check=True,
                       capture_output=True)

    shutil.rmtree(course / "my")
    (course / ".gitignore").write_text("/my/\n")
    git("init"), git("add", "."), git("commit", "-m", "the course")
    write(course / TASK, "answer = 1")                                      # in place, before there were copies
    again()
    assert said(course / "my" / TASK) == ["answer = 1"] and TASK not in json.loads(
        (course / "my/.copied.json").read_text())
    git("checkout", "exercises")
    assert "01_two.new.ipynb" in again()[0] and said(course / "my" / TASK) == ["answer = 1"]
    git("diff", "--exit-code", "HEAD")


def test_every_link_of_the_real_copies_leads_to_a_file_among_them(tmp_path):
    list(work.bring(ROOT, tmp_path, {}))
    found = 0
    for path in tmp_path.rglob("*"):
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
        elif path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        else:
            continue
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            if not re.match(r"[a-z]+:", link):
                found += 1
                assert (path.parent / link).exists(), f"{path.relative_to(tmp_path)}: {link}"
    assert found > 100
