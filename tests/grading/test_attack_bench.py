"""The benchmark of attacks: its throw-away place holds and leaves nothing, its verdicts are those of what is seen, and
docs/security.md says what it found."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from bench import _attacks, _place
from coursegrade.sandbox.process import Limits
from tests.grading.hostile.assignment import POINTS
from tests.grading.hostile.attacks import CORPUS
from tests.grading.hostile.heard import SCENES
from tests.grading.sandboxed import gone, kind_or_skip

PAGE = Path("docs/security.md")
UNITS = {"s": 1, "MB": 1 << 20, "GB": 1 << 30, "": 1}


@pytest.fixture
def bubblewrap():
    """Skips where the throw-away place cannot start."""
    if kind_or_skip() != "bubblewrap":
        pytest.skip("the throw-away place needs bubblewrap")


# ── the place ─────────────────────────────────────────────────────────────────────────────────────────────────────

def test_without_bubblewrap_nothing_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_attacks, "nbgrader_course", lambda folder: pytest.fail("it went on"))
    with pytest.raises(SystemExit, match="apt install bubblewrap") as refused:
        _attacks.run([("nbgrader", "honest")], None, 1, print)
    assert "\n" not in str(refused.value)


def test_a_place_has_walls_and_leaves_no_process_and_no_file(bubblewrap):
    found = _place.run([sys.executable, "-c", f"HERE = {_place.__file__!r}{_place.WALLS}" """
for path in ("left-86398", "/tmp/left-86398"):
    open(path, "w").close()
if os.fork() == 0:
    os.setsid()
    os.close(1)
    os.execv("/bin/sleep", ["sleep", "86398"])
"""], {})
    assert found == "all walls hold\n"
    assert gone("86398")
    assert not any(Path(folder, "left-86398").exists() for folder in ("/tmp", ".", Path.home(), "/home/teacher"))


@pytest.mark.parametrize("greedy, limit, why", [
    ("kept = [bytearray(b'x') * (1 << 20) for _ in range(2000)]", {"memory": 1 << 28}, "0.25 GB of memory"),
    ("import time; time.sleep(60)", {"seconds": 1}, "1 seconds"),
    ("while True: pass", {"cpu": 1}, "seconds of a processor|ended with"),
    ("while True: print('x' * 1000)", {"printed": 10_000}, "printed too much"),
    ("open('x', 'wb').write(bytes(2 << 20))", {"disk": 1 << 20}, "ended with")])
def test_a_place_has_limits(bubblewrap, greedy, limit, why):
    with pytest.raises(_place.Stopped, match=why):
        _place.run([sys.executable, "-c", greedy], {}, dataclasses.replace(_place.Size(seconds=60), **limit))


# ── the verdicts ──────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {student: POINTS for student in _attacks.STUDENTS}
QUIET = {"points": FULL, "why": "", "left": [], "changed": [], "leaked": [], "found": [], "script": False}


@pytest.mark.parametrize("name, seen, verdict", [
    ("honest", {}, "holds"),
    ("honest", {"points": FULL | {"mallory": None}}, "right answer loses points"),
    ("empty", {"points": FULL | {"mallory": None}}, "holds"),
    ("empty", {}, "too many points"),
    ("profiler_turned_off", {}, "too many points"),
    ("honest", {"points": FULL | {"zoe": None}}, "batch stopped"),
    ("honest", {"points": FULL | {"ada": POINTS | {"other": 0}}}, "gradebook or another's file changed"),
    ("empty", {"changed": ["source/x"], "leaked": ["y"]}, "gradebook or another's file changed"),
    ("honest", {"leaked": ["y"]}, "hidden test leaked"),
    ("honest", {"left": ["sleep 86399"]}, "left running"),
    ("honest", {"found": ["FOUND lock"]}, "a door is open"),
    ("honest", {"script": True}, "a door is open")])
def test_a_verdict_is_the_worst_that_is_seen(name, seen, verdict):
    assert _attacks.verdict(name, QUIET | seen)[0] == verdict


def test_a_patched_checker_gets_through_in_nbgrader_and_not_here(bubblewrap, tmp_path):
    """Each verdict says, too, that both honest neighbours have full marks."""
    name, found = "patches_numpy_and_the_comparison", {}
    _attacks.run([("nbgrader", name), ("this", name)], None, 1,
                 lambda system, name, verdict, evidence: found.update({system: (verdict, evidence)}))
    assert found["this"][0] == "holds", found
    assert found["nbgrader"] == ("too many points", "[1.0, 2.0, 1.0], at most [0, 0, 1]")


def test_tests_as_otter_takes_them():
    assert _attacks.doctest("x = [1,\n     2]\nprint(x)\n@f\ndef g():\n    return x\n") == (
        ">>> x = [1,\n...      2]\n>>> @f\n... def g():\n...     return x\n")


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────

def test_the_page_tells_the_limits():
    told = re.findall(r"^\| `(\w+)` \|.*\| ([\d,]+) ?(s|MB|GB|) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert {name: int(number.replace(",", "")) * UNITS[unit] for name, number, unit in told} == dataclasses.asdict(
        Limits())


def test_the_page_has_the_tables_and_they_add_up():
    page, kept = PAGE.read_text(encoding="utf-8"), json.loads(_attacks.KEPT.read_text(encoding="utf-8"))
    known = {*CORPUS, *SCENES}
    assert all(kept[system].keys() == known for system in _attacks.SYSTEMS), (
        "python -m bench._attacks --missing --otter FOLDER")
    for rows in _attacks.rows(kept), _attacks.by_verdict(kept):
        assert _attacks.markdown(rows) in page
    assert sum(map(len, _attacks.sections().values())) == len(known)
    *parts, whole = [[[int(n) for n in re.findall(r"\d+", row[system])] or [0, 0] for system in _attacks.SYSTEMS]
                     for row in _attacks.rows(kept)]
    assert [[sum(row[i][j] for row in parts) for j in (0, 1)] for i in range(3)] == whole
    for column, system in enumerate(_attacks.SYSTEMS):
        assert sum(int(row[system]) for row in _attacks.by_verdict(kept)) == len(known)
        assert whole[column][1] == len(known) - sum(given == _attacks.NOT for given, _ in kept[system].values())
    assert f"{len(known)} attacks" in page


def test_the_page_is_short():
    """Its tables do not count."""
    words = [word for line in PAGE.read_text(encoding="utf-8").splitlines() if not line.startswith("|")
             for word in line.split()]
    assert len(words) <= 1_500
