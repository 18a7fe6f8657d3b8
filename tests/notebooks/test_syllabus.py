"""The syllabus adds up, and names every lecture that is here."""

import re

from tools import notebooks

SYLLABUS = (notebooks.ROOT / "SYLLABUS.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d) \| (\d\d[a-z]?) [^|]*\| (\d+) \|[^|]*\| (here|planned) \|$", SYLLABUS, re.M)


def test_lectures_that_are_here_are_those_of_the_folder():
    assert [number for _, number, _, state in ROWS if state == "here"] == list(map(notebooks.number, notebooks.find()))


def test_minutes_of_the_weeks_are_the_sums_of_their_lectures():
    weeks = {}
    for week, _, minutes, _ in ROWS:
        weeks[week] = weeks.get(week, 0) + int(minutes)
    assert dict(re.findall(r"^\| (\d) \| [^|]* \| (\d+) \|$", SYLLABUS, re.M)) == {w: str(m) for w, m in weeks.items()}


def test_the_map_of_the_readme_has_every_lecture():
    readme = (notebooks.ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[[^]]*\]\(lectures/([^)]*)\)", readme, re.M) == [path.name for path in notebooks.find()]
