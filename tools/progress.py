"""What you have done in `my/`, and what comes next: `make progress`, `make progress TRACK=weekend`, or
`python -m tools.progress weekend`. The tracks are those of docs/alone.md; the last one that you named is taken again.

Notebooks are read as you have saved them. Beside that, JupyterLab notes in `my/.progress.json`, whenever it saves a
lecture (`note`, called by saving.py), how many of its cells had run and how its quiz went, so that neither is forgotten
when you run it once more. `my/record.html` is a page of all this to print, which says who has checked what.
"""

import datetime
import json
import re
import subprocess
import sys
from collections import Counter, namedtuple
from html import escape
from pathlib import Path

from coursegrade.kit.score import UNWRITTEN

from .normalise import STATE, WIDGET
from .work import MY, write

COURSE = Path(__file__).resolve().parents[1]
ALL = "All of it"
STEP = re.compile(r"^\| \[.*\]\(\.\./(.*\.ipynb)\)", re.M)            # a row of a track's table
QUIZ = "quiz-count"                                 # the class of the line that counts, in selfcheck/widget.py
RECORD = """\
<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Attention, explained? A record</title>
<style>body {{ font: 11pt/1.4 sans-serif; max-width: 45em; margin: 2em auto; }} td {{ padding-right: 1em; }}</style>
<h1>Attention, explained?</h1>
<p>Name: ________________________________</p>
<p>{track}, as it stood on {day}, in version {version}.</p>
<table>{rows}</table>
<p>{sums}</p>
<p><b>Who has checked this.</b> A question counts if the checks that a learner sees passed when they were last run, on
the learner's own computer; the tests with other inputs, by which work is marked, have not run. A text counts if it is
there: nobody has read it. Of a quiz, first tries count, with the lecture open beside it. A lecture counts if its cells
were run, up to its quiz. Nobody has watched, and this page can be changed like any other: it is a record, not a
certificate.</p>
</html>
"""

# What a learner's copy shows: is all of it done, what is done in words, and numbers that can be added up.
Look = namedtuple("Look", "title done words counts")


def tracks(course):
    """{title: [notebook, …]} of docs/alone.md, each by its path in the course; the last track has every notebook."""
    parts = re.split(r"^## (.+)$", (course / "docs" / "alone.md").read_text(encoding="utf-8"), flags=re.M)
    found = {title: STEP.findall(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    every = [path.relative_to(course).as_posix() for pattern in ("lectures/*.ipynb", "exercises/*/*.ipynb")
             for path in course.glob(pattern)]
    return {title: steps for title, steps in found.items() if steps} | {ALL: sorted(every, key=place)}


def place(notebook):
    """Where a notebook stands in the course: a lecture's number, and behind it its assignment's.

    >>> sorted(["exercises/02_a/02_a.ipynb", "lectures/02b_c.ipynb", "lectures/02_b.ipynb"], key=place)[:2]
    ['lectures/02_b.ipynb', 'exercises/02_a/02_a.ipynb']
    """
    return Path(notebook).stem.partition("_")[0], notebook.startswith("exercises/")


def cells_run(notebook):
    """[cells of code that were run without an error, all of them] of a lecture, given as its JSON, up to its quiz: what
    comes after it is for another day."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    end = max((i for i, cell in enumerate(cells, 1) if "quiz(" in "".join(cell["source"])), default=len(cells))
    return [sum(cell["execution_count"] is not None and all(output["output_type"] != "error"
                for output in cell["outputs"]) for cell in cells[:end]), end]


def quiz(notebook):
    """How a lecture's quiz stands, where the state of its controls was saved with it: [answered, asked, right at the
    first try], the last 0 until all are answered. None if none is, or there is no quiz."""
    saved = notebook["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    shown = [output["data"].get(WIDGET, {}).get("model_id") for cell in notebook["cells"]
             for output in cell.get("outputs", []) if "data" in output]
    for part in [part for model in shown if model in saved for part in saved[model]["state"].get("children", [])]:
        counted = saved.get(part.removeprefix("IPY_MODEL_"), {}).get("state", {})
        if QUIZ in counted.get("_dom_classes", []):
            number, asked = map(int, re.findall(r"\d+", counted["value"])[:2])
            begun = [number, asked, 0] if number else None
            return begun if "answered" in counted["value"] else [asked, asked, number]
    return None


def note(mine, name, notebook):
    """Note, in the folder of copies, what the lecture `name` shows: the most cells that were ever run, and of its quiz
    the first that went furthest."""
    kept = noted(mine)
    run, asked = kept["lectures"].get(name, [0, None])
    answered = max(filter(None, [asked, quiz(notebook)]), key=lambda found: found[0], default=None)
    keep(mine, kept | {"lectures": kept["lectures"] | {name: [max(run, cells_run(notebook)[0]), answered]}})


def noted(mine):
    path = mine / ".progress.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"track": ALL, "lectures": {}}


def keep(mine, kept):
    write(json.dumps(kept, indent=0).encode(), mine / ".progress.json")


def lecture(title, notebook, before):
    """Look at a lecture; before: what JupyterLab has noted of it."""
    (run, cells), (most, asked) = cells_run(notebook), before
    run = min(max(run, most), cells)
    words = ["run" if run == cells else f"{run} of {cells} cells run"] * bool(run)
    counts = Counter({"lectures": 1, "lectures run": run == cells})
    if asked and asked[0] < asked[1]:
        words.append(f"{asked[0]} of {asked[1]} of the quiz answered")
    elif asked:
        words.append(f"quiz: {asked[2]} of {asked[1]} at the first try")
        counts += Counter({"asked": asked[1], "right": asked[2]})
    return Look(title, run == cells, ", ".join(words), counts)


def assignment(title, notebook):
    """Look at an assignment: questions whose visible check has passed, and texts that are written; a bonus beside."""
    counts, bonus = Counter(), False
    for cell in notebook["cells"]:
        source, told = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        if boxes := re.findall(r"^> [●○]{4}.*", source, re.M):
            bonus = "· bonus ·" in boxes[-1]
        if "check.guess(" in source and cell["cell_type"] == "code":
            made = any(": you guessed " in str(output.get("data", "")) for output in cell["outputs"])
            counts += Counter({"guesses": 1, "guessed": made})
        if told.get("grade_id", "").startswith("check_"):
            passed = any("✓" in "".join(output.get("text", "")) for output in cell["outputs"])
            counts += Counter({"bonus": passed} if bonus else {"questions": 1, "passed": passed})
        elif told.get("solution") and cell["cell_type"] == "markdown" and not bonus:
            counts += Counter({"texts": 1, "written": UNWRITTEN not in source})
    words = [f"{counts['passed']} of {counts['questions']} questions pass"]
    words += [f"{counts['bonus']} more for a bonus"] * bool(counts["bonus"])
    words += [f"{counts['written']} of {counts['texts']} texts written"] * bool(counts["texts"])
    words += [f"{counts['guessed']} of {counts['guesses']} guessed"] * bool(counts["guesses"])
    begun = counts["passed"] + counts["bonus"] + counts["written"] + counts["guessed"]
    done = (counts["passed"], counts["written"]) == (counts["questions"], counts["texts"])
    return Look(title, done, ", ".join(words) if begun else "", counts)


def look(mine, notebook, kept):
    """Look at the copy of a notebook of the course."""
    path, (number, is_assignment) = mine / notebook, place(notebook)
    title = f"{number} assignment" if is_assignment else path.stem.replace("_", " ")
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        before = kept["lectures"].get(path.stem, [0, None])
        return assignment(title, saved) if is_assignment else lecture(title, saved, before)
    except (OSError, ValueError, KeyError, TypeError):
        return Look(title, False, "cannot be read; if you delete it, `make work` makes it anew", Counter())


def sums(looks):
    """What was done altogether, in a sentence."""
    n = sum((look.counts for look in looks), Counter())
    quizzes = f"{n['right']} of {n['asked']} quiz questions right at the first try" if n["asked"] else "no quiz taken"
    tasks = f", {n['passed']} of {n['questions']} questions pass, {n['written']} of {n['texts']} texts written"
    return f"{n['lectures run']} of {n['lectures']} lectures run, {quizzes}{tasks if n['questions'] else ''}."


def version(course):
    """The version of the course, and its commit where there is git."""
    number = re.search('__version__ = "(.+)"', (course / "coursekit" / "__init__.py").read_text(encoding="utf-8"))[1]
    try:
        done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=course, capture_output=True, text=True)
    except OSError:
        return number
    return f"{number} ({done.stdout.strip()})" if done.returncode == 0 else number


def main(*asked, course=COURSE):
    """Say what is done of a track and what comes next, and write the record."""
    mine, known = course / MY, tracks(course)
    if not mine.exists():
        sys.exit("There are no copies yet: `make lab` makes them, in my/, and opens the first.")
    kept = noted(mine)
    wanted = " ".join(asked) or kept["track"]
    found = [title for title in known if wanted.lower() in title.lower()]
    if len(found) != 1:
        sys.exit(f"There is no track {wanted!r}: name one of {'; '.join(known)}.")
    [track] = found
    keep(mine, kept | {"track": track})

    looks = [look(mine, notebook, kept) for notebook in known[track]]
    print(track)
    for title, done, words, _ in looks:
        print(f"  {'✓' if done else '·'} {title:<22} {words}".rstrip())
    print(sums(looks))
    next_one = next((name for name, found in zip(known[track], looks, strict=True) if not found.done), None)
    print(f"Next: {MY}/{next_one}" if next_one else f"All of it is done. {MY}/record.html says so on a page to print.")
    rows = "".join(f"<tr><td>{escape(title)}</td><td>{escape(words)}</td></tr>" for title, _, words, _ in looks)
    write(RECORD.format(track=escape(track), day=datetime.date.today(), version=version(course), rows=rows,
                        sums=escape(sums(looks))).encode(), mine / "record.html")


if __name__ == "__main__":
    main(*sys.argv[1:])
