"""tools/progress.py on a small course: what is done, what comes next, and what the record says of it."""

from types import SimpleNamespace

import nbformat
import pytest
from ipywidgets import Widget
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursegrade import quiz
from coursegrade.selfcheck.questions import load
from tools import notebooks, progress, work
from tools.normalise import STATE, WIDGET
from tools.saving import saved_clean

LECTURE, OTHER, TASK = "lectures/01_one.ipynb", "lectures/02_two.ipynb", "exercises/01_one/01_one.ipynb"
ALONE = f"""# Alone

## An evening: 1 hour

| [01 one](../{LECTURE}) | 60 |
| [assignment 01](../{TASK}) | 60 |

## An hour: 1 hour

| [01 one](../{LECTURE}) | 60 |

## All of it: 2 hours

Everything.
"""


def checked(name, text="", points=1):
    cell = new_code_cell(f"check.one.{name}({name})", outputs=[new_output("stream", text=text)] if text else [])
    cell.metadata["nbgrader"] = {"grade_id": f"check_{name}", "points": points, "solution": False}
    return cell


def written(text):
    cell = new_markdown_cell(text)
    cell.metadata["nbgrader"] = {"grade_id": "text", "points": 4, "solution": True}
    return cell


def task(first="", second="", bonus="", text="YOUR ANSWER HERE"):
    return [new_markdown_cell("## 1 · One\n\n> ●○○○ · 5 minutes"), checked("one", first), checked("two", second),
            new_markdown_cell("## 2 · More\n\n> ●●●● · bonus · 5 minutes"), checked("more", bonus),
            new_markdown_cell("## 3 · Say\n\n> ●●○○ · 5 minutes"), written(text)]


def guess(said=""):
    data = {"text/plain": said, "text/html": f"<p>{said}</p>"}
    return new_code_cell('check.guess("the share", share, 0.5)', outputs=[new_output("execute_result", data=data)])


def save(path, cells, **metadata):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)


@pytest.fixture
def course(tmp_path, capsys):
    """A course of two lectures, with a cell behind the quiz, and an assignment, whose copies have been made."""
    for path, text in (("docs/alone.md", ALONE), ("coursekit/__init__.py", '__version__ = "9.8.7"\n')):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)
    for name in (LECTURE, OTHER):
        save(tmp_path / name, [new_code_cell("1 + 1"), new_markdown_cell("Two."), new_code_cell("quiz('02')"),
                                new_code_cell("2 + 2")])
    save(tmp_path / TASK, task())
    work.main(tmp_path)
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def lines(course, capsys):
    """A function: the lines that `make progress` prints."""
    def told(*asked):
        progress.main(*asked, course=course)
        return capsys.readouterr().out.splitlines()
    return told


def ran(many, *outputs):
    """The cells of a lecture of which so many were run; outputs: of the quiz."""
    return [new_code_cell("1 + 1", execution_count=1 if many else None),
            new_code_cell("quiz('02')", execution_count=2 if many > 1 else None, outputs=list(outputs)),
            new_code_cell("2 + 2")]


def saved(course, name, cells, metadata=None):
    """Save a copy as JupyterLab does, hook and all."""
    model = {"type": "notebook", "content": new_notebook(cells=cells, metadata=metadata or {})}
    saved_clean(model, f"my/{name}", contents_manager=SimpleNamespace(root_dir=str(course)))
    nbformat.write(model["content"], course / "my" / name)
    return model["content"]


def of_quiz(replies, before=()):
    """The cells and metadata that are saved when the questions of quiz 02 were answered, rightly or not, and, by the
    quiz that the cell had shown before, others."""
    Widget.close_all()
    for answers in (before, replies):
        shown = quiz("02")
        answer(shown.asked, answers)
    view = {WIDGET: {"model_id": shown.model_id}, "text/html": "a quiz"}
    return (ran(2, new_output("display_data", data=view)),
            {"widgets": {STATE: Widget.get_manager_state(widgets=None)}})


def answer(asked, replies):
    for question, told, right in zip(asked, load("02"), replies, strict=False):
        if right is not None:
            question.reply = lambda told=told, right=right: reply(told, right)
            question.button.click()


def reply(told, right):
    if "number" in told:
        return told["number"] + (not right) * 1000
    if "order" in told:
        return told["order"] if right else told["order"][::-1]
    return next(choice["text"] for choice in told["choices"] if choice.get("right", False) == right)


def test_nothing_is_done_at_first_and_a_track_is_remembered(course, lines):
    assert lines("evening") == ["An evening: 1 hour", "  · 01 one", "  · 01 assignment",
                                "0 of 1 lectures run, no quiz taken, 0 of 2 questions pass, 0 of 1 texts written.",
                                f"Next: my/{LECTURE}"]
    assert lines() == lines("EVENING")
    assert lines("an hour")[-2] == "0 of 1 lectures run, no quiz taken."      # a track without assignments
    assert [line.split()[1:3] for line in lines("all")[1:4]] == [["01", "one"], ["01", "assignment"], ["02", "two"]]


def test_what_is_run_passed_and_written_counts(course, lines):
    save(course / "my" / LECTURE, ran(1))
    save(course / "my" / TASK, task(first="✓ one: right on 3 of 3.", second="✗ two is not right yet.",
                                    bonus="✓ more: right.", text="Because."))
    assert lines("evening")[1:3] == [
        "  · 01 one                 1 of 2 cells run",
        "  · 01 assignment          1 of 2 questions pass, 1 more for a bonus, 1 of 1 texts written"]
    save(course / "my" / LECTURE, ran(2, new_output("error", ename="NameError", evalue="", traceback=[])))
    assert lines()[1] == "  · 01 one                 1 of 2 cells run"
    save(course / "my" / LECTURE, ran(2))                                   # what comes after the quiz may wait
    save(course / "my" / TASK, task(first="✓ one: right.", second="✓ two: right.", text="Because."))
    assert [line[2] for line in lines()[1:3]] == ["✓", "✓"]
    assert lines()[-1].startswith("All of it is done. my/record.html")
    assert lines("all")[-1] == f"Next: my/{OTHER}"


def test_a_quiz_counts_with_its_first_tries_and_what_was_run_is_not_forgotten(course, lines):
    saved(course, LECTURE, *of_quiz([True, False]))
    assert lines("all")[1] == "  ✓ 01 one                 run, 2 of 5 of the quiz answered"
    kept = saved(course, LECTURE, *of_quiz([True, False, True, True, True], before=[False, True]))    # run once more
    assert "widgets" not in kept.metadata                                   # the file itself is clean
    assert lines()[1] == "  ✓ 01 one                 run, quiz: 4 of 5 at the first try"
    for again in ([None] * 5, [True] * 5):                                  # and again, and taken again
        saved(course, LECTURE, *of_quiz(again))
        assert lines()[1] == "  ✓ 01 one                 run, quiz: 4 of 5 at the first try"
    assert "4 of 5 quiz questions right at the first try" in lines()[-2]


def test_what_is_saved_elsewhere_is_not_noted(course, lines):
    model = {"type": "notebook", "content": new_notebook(cells=ran(2))}
    for path in (LECTURE, f"my/{TASK}"):
        saved_clean(dict(model), path, contents_manager=SimpleNamespace(root_dir=str(course)))
    assert not (course / "my" / ".progress.json").exists()


def test_the_record_says_who_has_checked_what(course, lines):
    save(course / "my" / LECTURE, ran(2))
    lines("evening")
    page = (course / "my" / "record.html").read_text(encoding="utf-8")
    assert "An evening: 1 hour" in page and "in version 9.8.7" in page and "<td>01 one</td><td>run</td>" in page
    for said in ("the tests with other inputs, by which work is marked, have not run", "nobody has read it",
                 "not a certificate"):
        assert said in " ".join(page.split())


@pytest.mark.parametrize("asked, told", [
    ("year", "There is no track 'year': name one of An evening: 1 hour; An hour: 1 hour; All of it."),
    ("i", "There is no track 'i': name")])
def test_a_track_that_is_none_is_refused_in_a_line(course, lines, asked, told):
    with pytest.raises(SystemExit, match=told):
        lines(asked)
    assert not (course / "my" / "record.html").exists()


def test_a_broken_copy_and_no_copies(course, lines):
    (course / "my" / LECTURE).write_text('{"cells": [')
    assert "cannot be read" in lines("evening")[1] and lines()[-1] == f"Next: my/{LECTURE}"
    for path in sorted((course / "my").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (course / "my").rmdir()
    with pytest.raises(SystemExit, match="`make lab` makes them"):
        lines()


def test_the_tracks_of_the_course_name_notebooks_that_are_there():
    found = progress.tracks(notebooks.ROOT)
    assert [title.partition(":")[0] for title in found] == ["An evening", "A weekend", "Three weeks", "All of it"]
    assert all((notebooks.ROOT / step).exists() for steps in found.values() for step in steps)
    assert len(found["All of it"]) == 40 and found["All of it"][:3] == [
        "lectures/00_welcome.ipynb", "lectures/01_tokens.ipynb", "exercises/01_tokens/01_tokens.ipynb"]
    looked = [progress.look(notebooks.ROOT, step, {"lectures": {}}) for step in found["All of it"]]
    assert all(look.counts for look in looked)
    assert [look.counts["texts"] for look in looked if look.counts["questions"]] == [1] * 16 + [2]
    assert sum(look.counts["questions"] for look in looked) > 80


def test_guesses_are_counted(course, lines):
    guesses = [guess("The share: you guessed 0.3, and it is 0.5."), guess("The share: no guess yet.")]
    cells = [*task("✓ one: right"), *guesses]
    save(course / "my" / TASK, cells)
    assert any("1 of 2 questions pass, 0 of 1 texts written, 1 of 2 guessed" in line for line in lines())
