"""Enters what came of runs into nbgrader's gradebook: a replay, which can be repeated, in batches of one transaction.

What is written is what nbgrader's own Autograde writes: the same rows, and the same notebook in grading/autograded. It
opens the gradebook eleven times for each submission and checks every cell twice against a schema: a quarter of a second
that one process would spend for each of a large class.
"""

import copy
import datetime
import shutil
import time
from pathlib import Path

from nbformat import v4
from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook, new_uuid
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, find_all_files, is_grade, is_solution, parse_utc
from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError
from traitlets.utils.importstring import import_item

from coursegrade.marking import hand, heard, intake, late_days, records

BATCH, PATIENCE = 50, 2                                                 # submissions, seconds of a transaction
DONE_HERE = ("Execute", "SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata")
# nbgrader looks rows up by these, and reads the whole table where there is no index.
INDEXES = {"grade": "notebook_id", "comment": "notebook_id", "submitted_notebook": "assignment_id",
           "submitted_assignment": "student_id", "base_cell": "notebook_id", "source_cell": "notebook_id"}


class Ledger:
    """The pages of one assignment in the gradebook, open for entries: a context. What was added is entered, and its
    records are written, a batch at a time, and at the end.

    finish: is called with each record when its marks are in the gradebook. restored: students of whom the gradebook has
    other marks than it should, as it is a copy: what was given them by hand comes from the file (hand.py).
    """

    def __init__(self, course, assignment, finish, restored=()):
        self.course, self.assignment, self.finish, self.restored = course, assignment, finish, {*restored}
        self.waiting = []

    def __enter__(self):
        course, assignment = self.course, self.assignment
        self.gradebook = course.gradebook()
        self.db = self.gradebook.db
        for table, column in INDEXES.items():
            self.db.execute(text(f"CREATE INDEX IF NOT EXISTS coursegrade_{table} ON {table} ({column})"))
        page = self.gradebook.find_notebook(assignment, assignment)
        self.page, self.of, self.due = page.id, page.assignment.id, page.assignment.duedate
        self.sources = {cell.name: cell for cell in page.source_cells}
        self.grades = {cell.name: cell.id for cell in [*page.grade_cells, *page.task_cells]}
        self.comments = {cell.name: cell.id for cell in [*page.solution_cells, *page.task_cells]}
        self.times, self.by_hand = late_days.times(course, assignment), hand.read(course, assignment)["given"]
        source = course.source(assignment).parent
        self.beside = {Path(path).relative_to(source): path for path in find_all_files(
            str(source), [*course.directory(assignment).ignore, "*.ipynb"])}
        kinds = [import_item(name) if isinstance(name, str) else name
                 for name in Autograde(config=course.config).autograde_preprocessors]
        self.others = [kind(config=course.config) for kind in kinds if kind.__name__ not in DONE_HERE]
        penalties = AssignLatePenalties(config=course.config)
        penalties.init_plugin()
        self.penalty_of = penalties.plugin_inst.late_submission_penalty
        return self

    def __exit__(self, kind, *_):
        try:
            if not kind or not issubclass(kind, (OSError, SQLAlchemyError)):
                self.write()
        finally:
            self.gradebook.close()

    def add(self, record, checked, outcome):
        """Take in what came of one submission. Until it is written there is no record."""
        records.path_of(self.course, self.assignment, record.student).unlink(missing_ok=True)
        if outcome.state != "ran":
            record.state, record.why = outcome.state, "; ".join(outcome.notes)
        record.notes, record.unseen = [*record.notes, *outcome.notes], outcome.unseen
        notebook = self._marked(record.student, outcome)
        self._keep(record.student, notebook, checked)
        heard.keep(self.course, self.assignment, record.student, notebook)
        self.since = self.since if self.waiting else time.monotonic()
        self.waiting.append((record, checked, notebook))
        if len(self.waiting) >= BATCH or time.monotonic() > self.since + PATIENCE:
            self.write()

    def write(self):
        """Enter what was added, in one transaction."""
        if not self.waiting:
            return
        for record, checked, notebook in self.waiting:
            self._enter(record, checked, notebook)
            record.receipt = records.receipt(record.key)
            records.receive(self.gradebook, self.assignment, record.student, record.receipt)
        self.db.commit()
        for record, _, _ in self.waiting:
            self.finish(record)
        self.waiting = []

    # ── the notebook ──────────────────────────────────────────────────────────────────────────────────────────────

    def _marked(self, student, outcome):
        """The notebook as it is kept: the teacher's text in locked cells, hidden tests included, and the outputs."""
        notebook = copy.deepcopy(outcome.notebook)
        for cell in notebook.cells:
            about = cell.metadata.get("nbgrader", {})
            if source := self.sources.get(about.get("grade_id")):
                about["checksum"] = source.checksum
                if source.locked:
                    cell.source = source.source
        notebook.metadata["coursegrade"] = {"state": outcome.state, "notes": outcome.notes}
        resources = {"nbgrader": {"student": student, "assignment": self.assignment, "notebook": self.assignment,
                                  "db_url": self.course.directory("").db_url}}
        for preprocessor in self.others:
            notebook, resources = preprocessor(notebook, resources)
        return notebook

    def _keep(self, student, notebook, checked):
        folder = self.course.grading / "autograded" / student / self.assignment
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        files = {**checked.files, **{path: Path(source).read_bytes() for path, source in self.beside.items()},
                 f"{self.assignment}.ipynb": v4.writes_json(notebook).encode()}
        if checked.timestamp:
            files[intake.TIMESTAMP] = f"{checked.timestamp}\n".encode()
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            (folder / name).chmod(0o444)

    # ── the rows ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _enter(self, record, checked, notebook):
        """Bring the rows of one submission up to date, and the state of its record."""
        times, page, known = self._page(record.student, checked.timestamp)
        kept = self.by_hand.get(record.student, {}) if not known or record.student in self.restored else {}
        seen = kept.get("key") == record.key
        rows = {cell: row for *row, cell in self.db.execute(select(
            Grade.manual_score, Grade.extra_credit, Grade.cell_id).where(Grade.notebook_id == page))}
        said = {*self.db.scalars(select(Comment.cell_id).where(Comment.notebook_id == page))}
        total, waits, grades, comments = 0.0, False, [], []
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if is_grade(cell):
                auto = determine_grade(cell)[0]
                manual, extra, unread = kept.get("grades", {}).get(name) or (
                    *rows.get(self.grades[name], (None, None)), True)
                unread = auto is None if manual is None else unread or not seen
                total += (auto or 0.0 if manual is None else manual) + (extra or 0.0)
                waits |= unread
                grades.append({"auto_score": auto, "manual_score": manual, "extra_credit": extra,
                               "needs_manual_grade": unread, "cell": self.grades[name]})
            if is_solution(cell):
                empty = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
                words = {"auto_comment": "No response." if empty else None, "cell": self.comments[name]}
                if name in kept.get("comments", {}):
                    words["manual_comment"] = kept["comments"][name]
                comments.append(words)
        for table, every, entries, there in ((Grade.__table__, self.grades, grades, rows),
                                             (Comment.__table__, self.comments, comments, said)):
            if missing := [cell for cell in every.values() if cell not in there]:
                self.db.execute(insert(table), [
                    {"id": new_uuid(), "notebook_id": page, "cell_id": cell} for cell in missing])
            for entry in entries:
                self.db.execute(update(table).where(table.c.notebook_id == page, table.c.cell_id == entry.pop("cell"))
                                .values(**entry))
        self.db.execute(update(SubmittedNotebook.__table__).where(SubmittedNotebook.id == page).values(
            late_submission_penalty=self._penalty(record.student, times, total)))
        if record.state == "graded" and waits:
            record.state = "needs manual grading"

    def _page(self, student, timestamp):
        """(when it came and its extension, the id of its notebook, was that there?), after the times are entered."""
        given = self.times.get(student)
        times = {"timestamp": parse_utc(timestamp or None),
                 "extension": given.due - self.due if given and given.due and self.due else None}
        table = SubmittedAssignment.__table__
        found = self.db.scalar(select(table.c.id).where(
            table.c.assignment_id == self.of, table.c.student_id == student))
        if found:
            self.db.execute(update(table).where(table.c.id == found).values(**times))
        else:
            if not self.db.scalar(select(Student.id).where(Student.id == student)):
                self.db.execute(insert(Student.__table__).values(id=student))
            found = new_uuid()
            self.db.execute(insert(table).values(id=found, assignment_id=self.of, student_id=student, **times))
        page = self.db.scalar(select(SubmittedNotebook.id).where(SubmittedNotebook.assignment_id == found))
        if not page:
            page = new_uuid()
            self.db.execute(insert(SubmittedNotebook.__table__).values(id=page, assignment_id=found,
                                                                       notebook_id=self.page))
            return times, page, False
        return times, page, True

    def _penalty(self, student, times, total):
        """What is taken off for being late, as nbgrader asks the course's plugin for it; None for nothing."""
        if not (times["timestamp"] and self.due):
            return None
        late = (times["timestamp"] - self.due - (times["extension"] or datetime.timedelta())).total_seconds()
        taken = self.penalty_of(student, total, late) if late > 0 else None
        return None if taken is None else min(max(taken, 0), total)
