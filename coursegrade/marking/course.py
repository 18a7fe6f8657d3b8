"""A teacher's course folder: what lies where, who is in the class, and nbgrader's objects set up for it.

    solutions/A/A.ipynb                the teacher's notebook of assignment A
    grading/roster.csv                 the class, in our columns or a platform's (roster.py)
    grading/late.csv                   what came late, and extensions (late_days.py)
    grading/weights.csv                how much each assignment counts (term.py)
    grading/inbox/A/                   downloads of a learning platform, in any arrangement (inbox.py)
    grading/chosen.csv                 whose a hand-in is, where its name does not say (claims.py)
    grading/entries/A.json             the names that the platform gave to what came
    grading/submitted/STUDENT/A/       what was handed in; never changed here
    grading/checked/STUDENT/A/         the same, read and repaired (intake.py)
    grading/autograded, feedback       nbgrader's, as usual
    grading/release/A/A.ipynb          A without solutions and hidden tests
    grading/outcomes/A/STUDENT.json    what its run found (outcomes.py)
    grading/records/A/STUDENT.json     how each submission ended (records.py)
    grading/by_hand/A.json             what people gave by hand (hand.py)
    grading/backups/                   gradebook.db as it was before each run
    grading/verdicts/A/STUDENT.json    what hidden tests have said of the student's answers (answers.py)
    grading/papers/                    examinations on paper: sheets and solutions (sheets.py)
    grading/exams                      which assignments were released as examinations
    grading/seed                       the secret seed of the hidden tests
"""

import contextlib
import fcntl
import hashlib
import logging
import os
import secrets
import sqlite3
import sys
import time
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from coursegrade.kit import unseen
from coursegrade.marking import CourseError, files, roster

CONFIG = "nbgrader_config.py"
COLUMNS = ("first_name", "last_name", "email", "lms_user_id")
BACKUPS = 20                                                            # how many are kept
SHORTEST = 16                                                           # signs of a seed
MOVED = {                                                               # in 0.2.0: what a teacher's settings may name
    "coursekit.grade.execute.Execute": "coursegrade.marking.execute.Execute",
    "coursekit.grade.harmless.in_nbgrader": "coursegrade.marking.markdown.in_nbgrader",
    "coursekit.grade.late.LateDays": "coursegrade.marking.late_days.LateDays",
}


class Course:
    """The course in the folder `root`, which has nbgrader's settings in nbgrader_config.py. See the module."""

    def __init__(self, root="."):
        self.root = Path(root).resolve()
        if not (self.root / CONFIG).exists():
            raise CourseError(f"{root} is no course folder, as it has no {CONFIG}: "
                              "go to the course's, or name it with --course.")
        self.config = PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()
        for old, new in MOVED.items():
            if f"'{old}'" in str(self.config):
                raise CourseError(f"{CONFIG} names {old}, which is {new} now: write that there.")
        self.grading = self.root / "grading"
        programs = str(Path(sys.executable).parent)                     # nbgrader calls alembic for a new gradebook
        if programs not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")

    def directory(self, assignment, student="*", **folders):
        """nbgrader's `CourseDirectory` for an assignment; `folders` are settings of it, such as submitted_directory."""
        return CourseDirectory(config=self.config, root=str(self.root), assignment_id=assignment, student_id=student,
                               **folders)

    def gradebook(self):
        """nbgrader's gradebook, as a context."""
        settings = self.directory("")
        return Gradebook(settings.db_url, settings.course_id)

    # ── assignments ───────────────────────────────────────────────────────────────────────────────────────────────

    def source(self, assignment):
        """The teacher's notebook."""
        return self.root / self.directory("").source_directory / assignment / f"{assignment}.ipynb"

    def assignments(self):
        """The names of all assignments, in order: the folders of solutions/ with a notebook of their own name."""
        folder = self.root / self.directory("").source_directory
        return sorted(path.stem for path in folder.glob("*/*.ipynb") if path.stem == path.parent.name)

    def assignment(self, start):
        """The one assignment of that name or number ("05" is not "05b"), or whose name begins like that; CourseError if
        there is none, or several."""
        names = self.assignments()
        found = [name for name in names if start in (name, name.partition("_")[0])] or \
                [name for name in names if name.startswith(start)]
        if len(found) != 1:
            raise CourseError(f"There {'is no assignment' if not found else 'are several assignments'} {start!r}; "
                              f"there are {', '.join(self.assignments()) or 'none'}.")
        return found[0]

    def prepare(self, assignment):
        """Enter the assignment into the gradebook, write it without solutions to grading/release, and read that."""
        settings = self.directory(assignment, release_directory="grading/release")
        converter = GenerateAssignment(coursedir=settings, config=self.config, force=True)
        try:
            with self.log():
                converter.start()
        except NbGraderException:
            raise CourseError(f"nbgrader could not take in {assignment}: see grading/nbgrader.log.") from None
        return self.released(assignment)

    def released(self, assignment):
        """The assignment as students get it, as a notebook."""
        path = self.grading / "release" / assignment / f"{assignment}.ipynb"
        if not path.exists():
            raise CourseError(f"{assignment} has been neither released nor graded: say `grade` first.")
        return nbformat.read(path, as_version=4)

    def others(self, assignment):
        """{name: the same} of the other assignments, as they were prepared, or else stand in exercises/."""
        folders = [self.grading / "release", self.root / self.directory("").release_directory]
        paths = {name: next((path for folder in folders if (path := folder / name / f"{name}.ipynb").exists()), None)
                 for name in self.assignments() if name != assignment}
        return {name: nbformat.read(path, as_version=4) for name, path in paths.items() if path}

    def exams(self, released=()):
        """The assignments that are examinations, from grading/exams, a name a line: when these are marked, nothing is
        lent. `released` are entered there before that; only a person takes one out."""
        path = self.grading / "exams"
        known = {*path.read_text(errors="replace").split()} if path.exists() else set()
        if strange := sorted(known - {*self.assignments()}):
            raise CourseError(f"grading/exams names {strange[0]!r}, which is no assignment: mend that line, or restore "
                              "the file.")
        if not known >= {*released}:
            known |= {*released}
            with files.whole(path) as file:
                file.write("".join(f"{name}\n" for name in sorted(known)))
        return known

    # ── the class ─────────────────────────────────────────────────────────────────────────────────────────────────

    def people(self):
        """{student: roster.Person} from grading/roster.csv; {} without one. CourseError if it cannot be understood."""
        path = self.grading / "roster.csv"
        try:
            return roster.read(path) if path.exists() else {}
        except roster.Unclear as error:
            raise CourseError(f"{path.relative_to(self.root)}: {error}") from None

    def roster(self):
        """The same as nbgrader keeps it: {student: {column: text or None}}."""
        return {name: {column: getattr(person, column) for column in COLUMNS} for name, person in self.people().items()}

    def submitted(self, assignment):
        """{name: folder} of what lies in grading/submitted for an assignment. Names are as found: not yet trusted."""
        folder = self.submission(assignment, "").parent
        return {path.name: path / assignment for path in sorted(folder.iterdir())
                if os.path.lexists(path / assignment)} if folder.is_dir() else {}

    def submission(self, assignment, student):
        """The folder of one of these."""
        return self.root / self.directory("").submitted_directory / student / assignment

    # ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────

    def seed(self):
        """The secret seed of the hidden tests, from grading/seed; a new file takes the environment's, if it has one."""
        path = self.grading / "seed"
        there = path.exists()
        seed = path.read_text(errors="replace").strip() if there else unseen.seed() or secrets.token_hex(16)
        if len(seed) < SHORTEST or not seed.isprintable():
            raise CourseError("grading/seed is damaged: restore it; another one changes all hidden numbers." if there
                              else f"{unseen.SEED} is too short: as a seed it needs {SHORTEST} signs in one line.")
        if not there:
            with files.whole(path, opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(seed + "\n")
        return seed

    def backup(self):
        """Copy gradebook.db to grading/backups; return the copy, or None where there is nothing to copy."""
        kind, _, path = self.directory("").db_url.partition("sqlite:///")
        if kind or not Path(path).exists():
            return None
        folder = self.grading / "backups"
        copy = folder / f"gradebook-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**6:06}.db"
        with files.whole(copy, "wb") as file, contextlib.closing(sqlite3.connect(path)) as old, \
                contextlib.closing(sqlite3.connect(file.name)) as new:
            old.backup(new)
        for stale in sorted(folder.glob("gradebook-*.db"))[:-BACKUPS]:
            stale.unlink()
        return copy

    def set_aside(self):
        """Move gradebook.db, whatever state it is in, to grading/backups; return where it is now, None without one."""
        kind, _, path = self.directory("").db_url.partition("sqlite:///")
        if kind or not Path(path).exists():
            return None
        folder = self.grading / "backups"
        folder.mkdir(parents=True, exist_ok=True)
        return Path(path).rename(folder / f"replaced-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**6:06}.db")

    @contextlib.contextmanager
    def log(self):
        """While this holds, what nbgrader has to say goes to grading/nbgrader.log, and nowhere else."""
        log = logging.getLogger("traitlets")
        handler = logging.FileHandler(self.grading / "nbgrader.log", encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        before, log.propagate = log.propagate, False
        log.addHandler(handler)
        try:
            yield
        finally:
            log.removeHandler(handler)
            handler.close()
            log.propagate = before

    @contextlib.contextmanager
    def alone(self):
        """Hold the course's lock: one process writes at a time. CourseError if another one does."""
        self.grading.mkdir(exist_ok=True)
        with open(self.grading / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise CourseError("Another run is at work in this course: wait until it has finished.") from None
            (self.grading / "nbgrader.log").unlink(missing_ok=True)
            yield


def digest(*parts):
    """A short text that stands for some texts and bytes, in their order."""
    found = hashlib.sha256()
    for part in parts:
        part = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()[:24]
