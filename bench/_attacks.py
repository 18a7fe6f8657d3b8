"""The attack corpus as a benchmark: what each grader lets through. `python -m bench._attacks --against nbgrader`

Each attack of tests/grading/hostile is handed in between two honest neighbours: to this grader; to nbgrader as it is
installed, with its own settings; to otter-grader without containers (`otter run`), from an environment of its own:

    python3.11 -m venv build/otter                      by the Python that this environment has
    build/otter/bin/pip install otter-grader==7.0.0 ipykernel matplotlib numpy==2.4.6
    python -m bench._attacks --otter build/otter

These two run in a throw-away place (`_place.py`), and where there is none, nothing runs. What is seen afterwards gives
one verdict, the worst that applies. bench/attacks.json keeps them; `--table` prints them, `--list` attack by attack.
The whole takes about an hour of two processors.
"""

import argparse
import ast
import concurrent.futures
import contextlib
import importlib.metadata
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest.mock
import warnings
import zipfile
from pathlib import Path

import nbformat

from bench import _inside, _place, soak, table
from coursegrade.kit import earlier, score
from coursegrade.kit.unseen import SEED
from coursegrade.marking import feedback, pipeline, reports
from coursegrade.marking.course import Course
from coursegrade.sandbox import process
from coursegrade.sandbox.kinds import choose
from coursegrade.sandbox.process import Limits
from tests.grading.hostile import assignment, attacks, heard, test_corpus
from tests.grading.hostile.assignment import NUMBER, POINTS, SECRET
from tests.grading.hostile.attacks import CORPUS, WIRE
from tests.grading.hostile.heard import SCENES
from tests.grading.sandboxed import gone

ROOT, KEPT = Path(__file__).resolve().parents[1], Path(__file__).with_name("attacks.json")
NAME, STUDENTS, SYSTEMS = _inside.NAME, _inside.STUDENTS, ("this", "nbgrader", "otter")
PACKAGES = "coursegrade", "attention_questions", "coursekit"             # what the tests import
LIMITS = Limits(call=2, cell=4, submission=40, memory=1 << 30, processes=40)
SECRETS = [SECRET, str(NUMBER), str(2 * NUMBER)]                        # none of them may be read by a student

CHANGED, LEAKED, TOO_MANY = "gradebook or another's file changed", "hidden test leaked", "too many points"
STOPPED, LEFT, OPEN = "batch stopped", "left running", "a door is open"
LOSES, HOLDS, NOT = "right answer loses points", "holds", "does not apply"
VERDICTS = [CHANGED, LEAKED, TOO_MANY, STOPPED, LEFT, OPEN, LOSES, HOLDS, NOT]

# The corpus says what this grader must give. Where that is not what the answer deserves: what it deserves at most.
DESERVED = {name: (1, 2, 0) for name in (
    "profiler_turned_off", "forbidden_in_a_thread", "forbidden_in_a_child", "forbidden_under_a_made_up_name",
    "replaces_the_recorder", "spoils_it_and_hides_that")} | {
    "import_hooks": (0, 0, 1), "twins_that_both_answer": (1, 2, 1), "sleeps_for_what_a_hidden_test_asks": (1, 2, 1)}
# Aimed at this grader's two processes (beside those that use WIRE) or its answer key, or at what the place decides.
AIMED = {"replaces_the_program_inside", "writes_its_answer_into_the_frames", "takes_the_references_out_of_the_checks",
         "opens_what_belongs_to_the_grader", "uses_the_network"}
TORCH = {"tensors_without_numbers"}                                     # which otter's environment has not


def does_not_apply(name, system):
    """Has this attack nothing to attack there?"""
    if system == "this":
        return False
    source = "".join(cell.source for cell in CORPUS[name].build().cells[:20])
    return name in AIMED or WIRE in source or (system == "otter" and name in TORCH)


def verdict(name, seen):
    """The worst that is seen of an attack, and the evidence in a few words. seen: a report of `_inside`, see there."""
    due = CORPUS[name].points
    most = DESERVED.get(name, due)
    least, got = tuple(map(min, due, most)), [(seen["points"]["mallory"] or {}).get(test) or 0 for test in POINTS]
    if seen["changed"] or seen["points"]["ada"] != POINTS:
        return CHANGED, str(seen["changed"] or seen["points"])
    if seen["leaked"]:
        return LEAKED, str(seen["leaked"])
    if any(mine > top for mine, top in zip(got, most, strict=True)):
        return TOO_MANY, f"{got}, at most {list(most)}"
    if seen["points"]["zoe"] != POINTS:
        return STOPPED, f"the next one has {seen['points']['zoe']}; {seen['why']}"
    if seen["left"]:
        return LEFT, str(seen["left"])
    if seen["found"] or seen["script"]:
        return OPEN, str(seen["found"] or "a script of the student's is in the page")
    if any(mine < low for mine, low in zip(got, least, strict=True)) and not seen.get("rejected"):
        return LOSES, f"{got}, not {list(least)}; {seen['why']}"
    return HOLDS, f"{got}"


# ── the others, in the place ──────────────────────────────────────────────────────────────────────────────────────

def elsewhere(system, name, given, otter):
    """The verdict on an attack on another grader. given: the folder that `nbgrader_course` or `otter_course` made."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        shutil.copytree(given, course)
        one = CORPUS[name]
        hand_in[system](course, "mallory", one.build(), one.files)
        (hosts := Path(folder) / "hosts").write_text("127.0.0.1 localhost teacher\n")
        shows = {str(hosts): "/etc/hosts", str(course): "/given/course", _inside.__file__: "/given/_inside.py",
                 **{str(ROOT / part): f"{_place.LIBRARY}/{part}" for part in PACKAGES}}
        open_to_all(Path(folder))
        python = sys.executable
        if system == "otter":
            python, shows = f"{otter}/bin/python", shows | {str(otter): str(otter)}
        try:
            seen = json.loads(_place.run([python, "/given/_inside.py", system, *SECRETS], shows, variables={
                "PATH": f"{Path(python).parent}:/usr/bin:/bin", "COURSEGRADE_COURSE": "attention_questions",
                "COURSE_TOKEN": SECRET}))
        except (_place.Stopped, ValueError) as stopped:
            return STOPPED, f"the place: {stopped}"[:300]
    return verdict(name, seen)


def open_to_all(folder):
    """Nobody, who runs in the place, can read it."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def nbgrader_course(folder):
    """A course with nbgrader's own settings: released, ada marked, zoe has handed in."""
    teacher = assignment.teacher()
    teacher.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = folder / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(whole(teacher), path)
    (folder / "nbgrader_config.py").write_text("")
    (folder / "submitted").mkdir()
    quietly(sys.executable, "-m", "nbgrader", "generate_assignment", NAME, "--create", cwd=folder)
    for student in ("ada", "zoe"):
        nbgrader_hand_in(folder, student, assignment.submission(), {})
    quietly(sys.executable, "-m", "nbgrader", "autograde", NAME, "--student", "ada", cwd=folder)
    return folder


def whole(notebook):
    """A notebook of the corpus with all the metadata that nbgrader wants of its cells."""
    notebook.metadata.setdefault("kernelspec", {"name": "python3", "display_name": "Python 3", "language": "python"})
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.setdefault("task", False)
    return notebook


def nbgrader_hand_in(folder, student, notebook, files):
    place = folder / "submitted" / student / NAME
    place.mkdir(parents=True)
    (place / f"{NAME}.ipynb").write_text(json.dumps(whole(notebook)))
    for path, text in files.items():
        (place / path).parent.mkdir(exist_ok=True)
        (place / path).write_text(text)


OTTER_TEST = """OK_FORMAT = True
test = {{"name": {name!r}, "points": None, "all_or_nothing": False,
        "suites": [{{"cases": {cases!r}, "scored": True, "setup": "", "teardown": "", "type": "doctest"}}]}}
"""


def otter_course(folder, otter):
    """The same for otter: autograder.zip as `otter generate` makes it, with hidden cases; ada's results are there."""
    tests = folder / "tests"
    tests.mkdir(parents=True)
    cases = [{"code": doctest(text), "hidden": hidden, "points": points} for text, hidden, points in (
        (assignment.VISIBLE, False, 1), (assignment.HIDDEN, True, 2), (assignment.OTHER, False, 1))]
    for name, own in (("double", cases[:2]), ("mean", cases[2:])):
        (tests / f"{name}.py").write_text(OTTER_TEST.format(name=name, cases=own))
    otter_run = f"{otter}/bin/otter", "generate", "-t", "tests", "--no-requirements", "--no-environment"
    quietly(*otter_run, cwd=folder)
    shutil.rmtree(tests)
    (folder / "solutions").mkdir()
    (folder / "solutions" / f"{NAME}.ipynb").write_text(json.dumps(whole(assignment.teacher())))
    for student in ("ada", "zoe"):
        otter_hand_in(folder, student, assignment.submission(), {})
    quietly(f"{otter}/bin/python", _inside.__file__, "one", "ada", cwd=folder)
    return folder


def doctest(source):
    """A test cell as examples of doctest; what it prints is nobody's matter."""
    lines = []
    for statement in ast.parse(source).body:
        if not (isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print(")):
            text = "\n".join(source.splitlines()[first_line(statement) - 1:statement.end_lineno])
            lines += (">>> " + text.replace("\n", "\n... ")).splitlines()
    return "\n".join(lines).replace(">>> right(mean)", ">>> import contextlib, io\n>>> with contextlib.redirect_stdout("
                                                       "io.StringIO()): right(mean)") + "\n"


def first_line(statement):
    return min(part.lineno for part in [statement, *getattr(statement, "decorator_list", [])])


def otter_hand_in(folder, student, notebook, files):
    """nbgrader's test cells become otter's, `grader.check(…)`, unless the student wrote something else there."""
    given = {cell.metadata.nbgrader.grade_id: cell.source for cell in assignment.submission().cells
             if "nbgrader" in cell.metadata}
    cells = [nbformat.v4.new_code_cell(f'import otter\ngrader = otter.Notebook("{NAME}.ipynb")')]
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in POINTS and cell.source == given[name]:
            cell = nbformat.v4.new_code_cell("" if name == "visible" else
                                             'grader.check("double")' if name == "hidden" else 'grader.check("mean")')
        cell.metadata.pop("nbgrader", None)
        cells.append(cell)
    notebook.cells = cells
    place = folder / "submitted" / student
    place.mkdir(parents=True)
    text = json.dumps(whole(notebook))
    if not files:
        return (place / f"{NAME}.ipynb").write_text(text)
    with zipfile.ZipFile(place / f"{NAME}.zip", "w") as archive:
        for path, content in ((f"{NAME}.ipynb", text), *files.items()):
            archive.writestr(path, content)


hand_in = {"nbgrader": nbgrader_hand_in, "otter": otter_hand_in}


def quietly(*words, cwd):
    """A command that runs here, with work of our own alone; ends this program if it fails."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=os.environ | {
        "PYTHONPATH": str(ROOT), "COURSEGRADE_COURSE": "attention_questions",
        "PATH": f"{Path(words[0]).parent}:{os.environ['PATH']}"})
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr[-1000:]}")


# ── this grader ───────────────────────────────────────────────────────────────────────────────────────────────────

def our_course(folder):
    """A course of this grader: ada marked, zoe has handed in."""
    soak.make_course(folder, 0)
    (folder / "solutions" / soak.NAME).rename(folder / "solutions" / NAME)
    (folder / "solutions" / NAME / f"{soak.NAME}.ipynb").rename(folder / "solutions" / NAME / f"{NAME}.ipynb")
    hand_in_here(folder, "ada", assignment.submission(), {})
    pipeline.grade(Course(folder), NAME, limits=LIMITS)
    hand_in_here(folder, "zoe", assignment.submission(), {})
    return folder


def hand_in_here(folder, student, notebook, files):
    nbgrader_hand_in(folder / "grading", student, notebook, files)


def here(name, given):
    """The verdict on an attack on this grader."""
    one = CORPUS[name]
    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, COURSE_TOKEN=SECRET):
        shutil.copytree(given, folder, dirs_exist_ok=True)
        hand_in_here(Path(folder), "mallory", one.build(), one.files)
        course, before = Course(folder), contents(folder)
        kept = pipeline.grade(course, NAME, limits=LIMITS)["mallory"]
        feedback.write(course, NAME)
        with course.gradebook() as gradebook:
            points = {student: {mark.name: mark.points for marks in reports.questions(gradebook, NAME, student).values()
                                for mark in marks if mark.points is not None} for student in STUDENTS}
        marked = course.grading / "autograded" / "mallory" / NAME / f"{NAME}.ipynb"
        cells = _inside.cells_of(marked)
        page = (course.grading / "feedback" / "mallory" / NAME / f"{NAME}.html").read_text()
        after = contents(folder)
    read = page + str([cell.get("outputs", "") for cell in cells])
    return verdict(name, {
        "points": points, "why": f"{kept.state}: {kept.why}", "rejected": kept.state == "rejected",
        "changed": [str(path) for path in before if after.get(path) != before[path]],
        "left": [] if gone("86399") and not sandboxes() else ["a process of the student's"],
        "leaked": [secret for secret in SECRETS if secret in read],
        "found": [line for line in _inside.printed_in(cells).splitlines() if "FOUND" in line][:5],
        "script": "<script>alert(2)" in page})


def contents(folder):
    """{path: bytes} of what no student may change: solutions, hand-ins, and ada's marked work."""
    root = Path(folder)
    places = root / "solutions", root / "grading" / "submitted", root / "grading" / "autograded" / "ada"
    return {path.relative_to(root): path.read_bytes() for place in places for path in place.rglob("*")
            if path.is_file()}


def sandboxes():
    """The ids of sandboxes that this program has started and that still run."""
    return [pid for pid in process.tree_of(os.getpid()) if "coursegrade.sandbox.inside" in process.read(
        f"/proc/{pid}/cmdline").split("\0")]


def heard_here(name, kind):
    """The verdict on a scene: whether what was heard gained anything."""
    play, may_pass, must_pass = SCENES[name]
    real = process.mounts
    with tempfile.TemporaryDirectory() as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        Path(folder).chmod(0o755)
        shared.chmod(0o777)

        def mounts(course=None):
            return [*real(course), "--bind", "/shared" if os.geteuid() == 0 and course else str(shared), "/shared"]

        with (unittest.mock.patch.dict(os.environ, {SEED: ""}), unittest.mock.patch.object(earlier, "lends", True),
              unittest.mock.patch.object(process, "mounts", mounts)):
            notebook = play(test_corpus.Stage(kind, shared)).notebook
            score.forget()
    passed = {cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata
              and not any(output.output_type == "error" for output in cell.outputs)} - {"asks"}
    if heard.SEVENTY_SEVEN in test_corpus.outputs(notebook):
        return LEAKED, heard.SEVENTY_SEVEN
    if not passed <= may_pass:
        return TOO_MANY, str(passed - may_pass)
    return (HOLDS, "") if must_pass <= passed else (LOSES, str(must_pass - passed))


# ── all of them, and the tables ───────────────────────────────────────────────────────────────────────────────────

def sections():
    """{heading: [names]} of the corpus, by the headings of its two files, with a first letter in upper case."""
    found = {}
    for module, places in ((attacks, {name: one.build for name, one in CORPUS.items()}),
                           (heard, {name: play for name, (play, *_) in SCENES.items()})):
        lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
        heads = [(n, line.strip("# ─")) for n, line in enumerate(lines) if line.startswith("# ──")]
        for name, function in places.items():
            head = max(head for head in heads if head[0] < function.__code__.co_firstlineno)[1]
            found.setdefault(head[0].upper() + head[1:], []).append(name)
    return found


def rows(kept):
    """The table's rows: of each section, and of all, how many attacks each system lets through of those that apply."""
    found = []
    for head, names in [*sections().items(), ("all", [*CORPUS, *SCENES])]:
        row = {"": head}
        for system in SYSTEMS:
            given = [kept[system][name][0] for name in names if name in kept.get(system, {})]
            count = sum(one != NOT for one in given)
            row[system] = f"{sum(one not in (HOLDS, NOT) for one in given)} of {count}" if count else "–"
        found.append(row)
    return found


def by_verdict(kept):
    """The rows of a table of how often each verdict was given."""
    return [{"": one, **{system: str(sum(given == one for given, _ in kept.get(system, {}).values()))
                         for system in SYSTEMS}} for one in VERDICTS]


def markdown(rows):
    """Rows as docs/security.md has them: a table in Markdown."""
    heads = [{head: head for head in rows[0]}, {head: "---" for head in rows[0]}]
    return "\n".join("| " + " | ".join(row.values()) + " |" for row in heads + rows) + "\n"


def written(kept):
    """{system: {name: (verdict, evidence)}} as JSON, a line an attack."""
    lines = [f"{json.dumps(system)}: {{\n" + ",\n".join(
        f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}" for name, found in sorted(kept[system].items()))
        for system in SYSTEMS if system in kept]
    return "{\n" + "\n},\n".join(lines) + "\n}}\n"


def run(pairs, otter, jobs, keep):
    """Hand attacks in, pairs of a system and a name: keep(system, name, verdict, evidence) for each of them."""
    systems = {system for system, _ in pairs}
    if systems - {"this"}:
        _place.try_out()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        make = {"nbgrader": nbgrader_course, "otter": lambda place: otter_course(place, otter), "this": our_course}
        for system in systems:
            (Path(folder) / system).mkdir()
        given, waits = {system: make[system](Path(folder) / system) for system in systems}, []
        for system, name in pairs:
            if system != "this" and (name in SCENES or does_not_apply(name, system)):
                keep(system, name, NOT, "")
            elif system != "this":
                waits.append(pool.submit(lambda *about: keep(*about[:2], *elsewhere(*about)), system, name,
                                         given[system], otter))
        for wait in waits:
            wait.result()
        kind = choose() if "this" in systems else None                  # alone: its limits are of the clock, too
        for name in [name for system, name in pairs if system == "this"]:
            with contextlib.redirect_stderr(io.StringIO()):
                found = heard_here(name, kind) if name in SCENES else here(name, given["this"])
            keep("this", name, *found)


def main():
    """Run what is asked for, keep it, print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", metavar="NAME", choices=[*CORPUS, *SCENES])
    options.add_argument("--against", nargs="+", default=SYSTEMS, choices=SYSTEMS)
    options.add_argument("--otter", type=lambda text: Path(text).absolute(), metavar="FOLDER",
                         help="an environment in which otter-grader is")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--missing", action="store_true", help="only what has no verdict yet")
    options.add_argument("--table", action="store_true", help="run nothing")
    options.add_argument("--list", action="store_true", help="run nothing; one line for each attack")
    options = options.parse_args()
    kept, lock = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}, threading.Lock()

    def keep(system, name, given, evidence):
        with lock:
            print(system, name, given, evidence, sep="\t", flush=True)
            kept.setdefault(system, {})[name] = given, evidence
            KEPT.write_text(written(kept), encoding="utf-8")

    if not (options.table or options.list):
        systems = [system for system in options.against if system != "otter" or options.otter]
        if "otter" in options.against and not options.otter:
            print("otter: not run; name an environment that has it with --otter FOLDER")
        warnings.simplefilter("ignore")
        run([(system, name) for name in options.only or [*CORPUS, *SCENES] for system in systems
             if not (options.missing and name in kept.get(system, {}))], options.otter, options.jobs, keep)
    if options.list:
        table([{"": name, **{system: kept.get(system, {}).get(name, ["not run"])[0] for system in SYSTEMS}}
               for name in options.only or [*CORPUS, *SCENES]])
    for found in rows(kept), by_verdict(kept):
        print(markdown(found))
    print(f"nbgrader {importlib.metadata.version('nbgrader')}")


if __name__ == "__main__":
    main()
