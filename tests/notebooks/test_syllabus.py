"""The syllabus adds up, and names every lecture that is here."""

import re

from tools import notebooks

SYLLABUS = (notebooks.ROOT / "SYLLABUS.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d) \| (\d\d[a-z]?) [^|]*\| (\d+) \| \d+ \| [^|]* \| (?:class|home) \|[^|]*\|$", SYLLABUS,
                  re.M)


def test_lectures_that_are_here_are_those_of_the_folder():
    assert [number for _, number, _ in ROWS] == list(map(notebooks.number, notebooks.find()))


def test_minutes_of_the_weeks_are_the_sums_of_their_lectures():
    weeks = {}
    for week, _, minutes in ROWS:
        weeks[week] = weeks.get(week, 0) + int(minutes)
    assert dict(re.findall(r"^\| (\d) \| [^|]* \| (\d+) \|$", SYLLABUS, re.M)) == {w: str(m) for w, m in weeks.items()}


def test_the_map_of_the_readme_has_every_lecture():
    readme = (notebooks.ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[[^]]*\]\(lectures/([^)]*)\)", readme, re.M) == [path.name for path in notebooks.find()]


def test_the_ways_through_alone_add_up():
    """Their minutes are those of the syllabus and of the assignments, their hours the sums, assignments included."""
    alone = (notebooks.ROOT / "docs" / "alone.md").read_text(encoding="utf-8")
    tasks = {path.stem.partition("_")[0]: minutes(path) for path in notebooks.ROOT.glob("exercises/*/*.ipynb")}
    lectures = {number: int(took) for _, number, took in ROWS}
    parts = re.split(r"^## .*: (\d+) hours$", alone, flags=re.M)
    assert len(parts) == 9 and len(tasks) == 17
    for hours, text in zip(parts[1:-2:2], parts[2:-2:2], strict=True):
        rows = re.findall(r"^\| \[(assignment )?(\d\d[a-z]?).*\]\(\.\./(.*)\) \| (\d+) \|$", text, re.M)
        assert len(rows) == len(re.findall(r"^\| \[", text, re.M)) >= 2
        for task, number, path, told in rows:
            assert int(told) == (tasks if task else lectures)[number] and (notebooks.ROOT / path).exists()
        assert abs(sum(int(told) for *_, told in rows) / 60 - int(hours)) <= 0.5
    of_lectures, of_tasks = sum(lectures.values()) / 60, sum(tasks.values()) / 60
    assert abs(of_lectures + of_tasks - int(parts[-2])) <= 0.5
    for page in ("README.md", "SYLLABUS.md"):
        text = " ".join((notebooks.ROOT / page).read_text(encoding="utf-8").split())
        assert f"{of_lectures:.0f} hours for the lectures, and {of_tasks:.0f} more for the assignments" in text


def minutes(path):
    """The minutes that an assignment says it takes."""
    return int(re.search(r"\*\*Takes\*\* about (\d+)\s+minutes", path.read_text("utf-8").replace("\\n", " ").replace(
        '",\n    "', ""))[1])
