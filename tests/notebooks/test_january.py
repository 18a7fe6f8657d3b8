"""docs/january.md, the page to be copied from: its numbers are counted, its commands, names and links exist."""

import contextlib
import csv
import datetime
import io
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest

from coursegrade import exam
from coursegrade.__main__ import commands, parser
from coursegrade.marking import late_days, term
from coursekit.people import ModelChoiceStudy, WordRemovalStudy
from tools import notebooks

ROOT = notebooks.ROOT
TEXT = (ROOT / "docs" / "january.md").read_text(encoding="utf-8")
FLAT = " ".join(re.sub(r"^> ?", "", TEXT, flags=re.M).split())
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\|$", TEXT, re.M)]
NAMES = sorted(path.name for path in (ROOT / "solutions").iterdir() if (path / f"{path.name}.ipynb").exists())
EIGHT = ["02", "03", "05", "07", "08", "10", "13", "14"]
TEXT_MINUTES, CAPSTONE_MINUTES, TALK_MINUTES, EXERCISE_MINUTES = 3, 10, 5, 2


def points():
    """{number of an assignment: (points of each question that a person reads, all points)}."""
    found = {}
    for name in NAMES:
        cells = nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", as_version=4).cells
        graded = [about for cell in cells if (about := cell.metadata.get("nbgrader", {})).get("grade")]
        by_hand = {about["grade_id"]: about["points"] for about in graded if about["solution"]}
        found[name.partition("_")[0]] = by_hand, sum(about["points"] for about in graded)
    return found


def row(begins):
    [found] = [cells for cells in ROWS if cells[0].startswith(begins)]
    return found


def hours(texts, others=0):
    """As the table has them, for 40 and for 200 students: texts and hours."""
    return [cell for people in (40, 200)
            for cell in (str(texts * people) if texts else "",
                         f"{people * (texts * TEXT_MINUTES + others) / 60:.1f}")]


def test_what_is_read_is_counted_from_the_assignments():
    found = points()
    capstone = found["15"][0]["an_audit"]
    assert f"column `an_audit (of {capstone})` of `grading/15_people.csv`" in FLAT
    assert {number: len(texts) for number, (texts, _) in found.items() if len(texts) > 1} == {"04": 2, "15": 2}
    assert "one text that a person reads, 04 has two, and 15 has the capstone beside its text" in FLAT
    eight = [found[number] for number in EIGHT]
    texts = sum(len(by_hand) for by_hand, _ in eight)
    given = f"{sum(sum(by_hand.values()) for by_hand, _ in eight)} of {sum(most for _, most in eight)}"
    assert row("the eight")[1:] == [str(texts), given, *hours(texts)]
    assert row("four of the eight")[1:] == ["4", "", *hours(4)]
    everything = sum(len(by_hand) for by_hand, _ in found.values()) - 1
    given = (f"{sum(sum(by_hand.values()) for by_hand, _ in found.values()) - capstone} of "
             f"{sum(most for _, most in found.values()) - capstone}")
    assert row(f"all {len(found)},")[1:] == [str(everything), given, *hours(everything)]
    by_hand, most = found["15"]
    told = row("15: its text")[1:]
    assert told[:2] == ["2", f"{sum(by_hand.values())} of {most}"]
    assert told[2::2] == ["80", "400"] and told[3::2] == hours(1, CAPSTONE_MINUTES)[1::2]
    assert row("everybody explains")[1:] == ["", "", *hours(0, TALK_MINUTES)]
    exercises = sum(len(paper.slots) for paper in exam.load().values())
    assert row(f"midterm and final: {exercises} exercises")[1:] == ["", "", *hours(0, exercises * EXERCISE_MINUTES)]
    each = (texts + 1) * TEXT_MINUTES + CAPSTONE_MINUTES + TALK_MINUTES + exercises * EXERCISE_MINUTES
    assert f"**{40 * each / 60:.1f} hours for 40 students, {200 * each / 60:.1f} for 200**" in FLAT
    for minutes, what in ((TEXT_MINUTES, "a text"), (CAPSTONE_MINUTES, "a capstone"), (TALK_MINUTES, "a talk"),
                          (EXERCISE_MINUTES, "an exercise")):
        assert f"**{minutes} minutes {what}**" in FLAT
    guide = " ".join((ROOT / "docs" / "teaching.md").read_text(encoding="utf-8").split())
    assert "Reckon three minutes a text" in guide and "Ten minutes for each are enough" in guide


def test_the_weights_are_the_policy_s_and_are_read(tmp_path):
    written = re.search(r"```text\n(assignment,weight\n.*?)```", TEXT, re.S)[1]
    (tmp_path / "weights.csv").write_text(written)
    course = SimpleNamespace(grading=tmp_path, assignment=lambda start: next(
        name for name in NAMES if name.partition("_")[0] == start))
    weight = {name.partition("_")[0]: each for name, each in term.weights(course, NAMES).items() if each}
    assert sorted(weight) == [*EIGHT, "15"] and sum(weight[number] for number in EIGHT) == 30 and weight["15"] == 20
    assert "Eight assignments 30 %, assignment 15 with the capstone 20 %, the examination 50 %" in FLAT
    assert "the examination 50 % (midterm 20, final 30)." in FLAT
    assert f"The eight are {', '.join(EIGHT[:-1])} and {EIGHT[-1]}." in FLAT
    assert "`percent_of_all`" in TEXT and '"percent_of_all"' in (ROOT / "coursegrade/marking/term.py").read_text()


def test_late_days_are_settings_and_cost_what_the_trial_says():
    settings = re.search(r"```python\n(c\.Assign.*?)```", TEXT, re.S)[1]
    module, _, name = re.search(r'plugin_class = "(.*)"', settings)[1].rpartition(".")
    assert getattr(sys.modules[module], name) is late_days.LateDays
    values = {name: float(value) for name, value in re.findall(r"^c\.LateDays\.(\w+) = (\S+)", settings, re.M)}
    plugin = late_days.LateDays()
    assert {*values} <= {*plugin.class_trait_names(config=True)} and values == {"free": 2, "per_day": 0.1}
    assert "two days late and costs nothing. After that each day begun takes 10 %" in FLAT
    plugin.free, plugin.per_day = values["free"], values["per_day"]
    due = late_days.when(re.search(r'release 02 --due "(.*?)"', TEXT)[1])
    came = late_days.when(re.search(r"\\ntrial,02,(.*?),", TEXT)[1])
    late = (came - due).total_seconds()
    penalty = plugin.late_submission_penalty("", 3, late)
    assert f"`hours_late` {late / 3600:.0f} and `late_penalty` {penalty:.1f}" in FLAT


def test_the_dates_of_release_are_the_plan_s():
    """Two sessions a week; the eight at the session that the plan says, 14 a week after the last, 15 two weeks."""
    plan = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
    monday = datetime.date(2027, 1, 11)
    held = [monday + datetime.timedelta(7 * week + day) for week in range(7) for day in (0, 3)]
    assert "Mondays and Thursdays from 11 January" in FLAT and monday.weekday() == 0
    due = {number: held[int(session) - 1] for session, number in re.findall(
        r"^### Session (\d+) (?:(?!^#).)*?Due today:\*\* assignment \[(\d\d)\]", plan, re.M | re.S)}
    assert "| a week after the last session |" in plan and "is due two weeks after the last session" in plan
    due |= {"14": held[-1] + datetime.timedelta(7), "15": held[-1] + datetime.timedelta(14)}
    first = re.search(r'coursegrade release --due "(\S+) 09:00 UTC"', TEXT)[1]
    told = {"02": first, **{number: f"2027-{day}" for number, day in re.findall(r"(\d\d)=(\d\d-\d\d)", TEXT)}}
    assert told == {number: day.isoformat() for number, day in due.items()} and sorted(told) == [*EIGHT, "15"]
    weeks = [1 + (day - monday).days // 7 for day in due.values()]
    assert weeks == [2, 3, 4, 5, 5, 6, 7, 8, 9]
    assert "From week 2 of [the plan](plan.md) one assignment a week comes in, in week 5 two, and the midterm." in FLAT


def given():
    """Every command of coursegrade that the page gives, on lines of their own and in sentences."""
    for found in re.findall(r"python -m coursegrade ([^`\n]*)|`(?=(?:release|feedback|grade|export) -?-?\w)([^`]*)`",
                            TEXT):
        yield " ".join("".join(found).split())


def test_commands_exist():
    all_ = [*given()]
    names = {command.split()[0] for command in all_}
    assert names == {function.__name__ for function in commands()} - {"run", "rebuild"}
    for command in all_:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                parser().parse_args(shlex.split(command))
            except SystemExit:
                pytest.fail(f"{command}: {said.getvalue()}")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in {*re.findall(r"`make (\w+)", TEXT), "lab"}:
        assert re.search(rf"^{target}:", targets, re.M), target
    for module in re.findall(r"python -m (tools\.\w+)", TEXT):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists()


def test_files_questions_and_columns_exist():
    for path in re.findall(r"(?:exercises|docs|tools)/[\w/.]+\.(?:ipynb|md|py)", TEXT):
        assert (ROOT / path).exists(), path
    for path in ("LICENSE", "README.md", "nbgrader_config.py", "solutions"):
        assert f"`{path}" in TEXT and (ROOT / path).exists()
    work = (ROOT / "exercises/02_attention/02_attention.ipynb").read_text(encoding="utf-8")
    for name in re.findall(r'name == "(\w+)"', TEXT):
        assert f'"grade_id": "{name}"' in work
    assert "YOUR CODE HERE" in work and "YOUR ANSWER HERE" in work
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "3 GB of disk" in readme and "3 GB of disk" in FLAT
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert {"lectures/class/", "lectures/class.zip", "lectures/*.csv", "gradebook.db", "/grading/"} <= {*ignored}


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)\s]+)\)", TEXT)
    assert len(links) > 15
    for link in links:
        path, _, part = link.partition("#")
        target = ROOT / "docs" / path
        assert target.exists(), link
        if part:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
            assert part in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, link
    guide = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    for part in re.findall(r"\]\(january\.md(?:#([^)]*))?\)", guide):
        assert not part or part in {head.lower().replace(" ", "-") for head in re.findall(r"^## (.*)$", TEXT, re.M)}
    assert "](january.md)" in guide


def test_the_rubric_of_the_projects_adds_up():
    rubric = TEXT.partition("One rubric for all:")[2].partition("\n\nAll three")[0]
    *rows, total = [int(number) for number in re.findall(r"\| \**(\d+)\** \|$", rubric, re.M)]
    assert sum(rows) == total == 20
    ideas = TEXT.partition("## Six projects")[2].partition("One rubric")[0]
    assert re.findall(r"^(\d)\. \*\*", ideas, re.M) == list("123456")


def test_the_data_sheet_has_the_columns_of_the_files(tmp_path):
    sheet = TEXT.partition("**The columns.**")[2].partition("\n\n")[0]
    common, first, second = re.split(r"The first also|The\s+second also", " ".join(sheet.split()))
    study = ModelChoiceStudy.__new__(ModelChoiceStudy)
    written = []
    study.rows, study.material, study.seed, study._write = [], "", 0, lambda row, own: written.append(row)
    study.agree("a" * 30 + "!")
    assert re.findall(r"`(\w+)`", common) == [*written[0], "step", "check"] and len(written[0]["nickname"]) == 20
    assert re.findall(r"`(\w+)`", first) == ModelChoiceStudy.columns
    assert re.findall(r"`(\w+)`", second) == WordRemovalStudy.columns
    lecture = (ROOT / "lectures" / "15_people.ipynb").read_text(encoding="utf-8")
    assert "the two studies ten more" in lecture and "together about ten minutes" in FLAT
    for said in ("choice.csv", "words.csv", "trust.withdraw()", "words.withdraw()", "Twelve pages", "Three rounds"):
        assert said in lecture


def test_the_self_test_of_the_first_e_mail_says_ready():
    code = re.search(r'^   \.venv/bin/python -c "(.*)"$', TEXT, re.M)[1]
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"ready [\d.]+\n", said)


def test_the_lots_name_everybody_once(tmp_path):
    code = re.search(r"> grading/lots\.txt <<'END'\n(.*?) +END\n", TEXT, re.S)[1]
    (tmp_path / "grading").mkdir()
    with open(tmp_path / "grading" / "roster.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id"], *([f"s{n}"] for n in range(20))])
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text(encoding="utf-8"))
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + re.sub(r"^   ", "", code, flags=re.M)
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in said.splitlines()]
    assert [line[0] for line in lines] == list("12345678")
    assert sorted(name for line in lines for name in line[1:]) == sorted(f"s{n}" for n in range(20))
