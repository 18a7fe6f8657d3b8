"""Tables from the gradebook: marks for a spreadsheet and for learning platforms, and what the class found hard."""

import collections
import dataclasses
import statistics

from nbgrader.api import MissingEntry
from tqdm import tqdm

from coursegrade.marking import CourseError, beliefs, download, files, hand, heard, records, tables

MORE = " (and with other numbers)"


@dataclasses.dataclass
class Mark:
    """The points of one cell; None for a text that nobody has read yet."""

    name: str
    points: float | None
    most: float


def questions(gradebook, assignment, student=None):
    """{question: [Mark]} in the order of the notebook. Without a student, or a submission, all points are None.
    CourseError if nothing was ever graded, or the gradebook is another."""
    try:
        notebook = gradebook.find_notebook(assignment, assignment)
    except MissingEntry:
        raise CourseError(f"The gradebook does not know {assignment}: say `grade` first.") from None
    order = [cell.name for cell in notebook.source_cells]
    graded = sorted((cell for cell in notebook.grade_cells if cell.max_score), key=lambda cell: order.index(cell.name))
    given = {}
    try:
        for grade in gradebook.find_submission_notebook(assignment, assignment, student).grades if student else ():
            read = grade.auto_score is not None or grade.manual_score is not None
            given[grade.name] = grade.score if read else None
    except MissingEntry:
        pass
    found = {}
    for cell in graded:
        found.setdefault(heard.question(cell.name), []).append(Mark(cell.name, given.get(cell.name), cell.max_score))
    return found


def table(course, assignment):
    """A dictionary for each student: who, state, why, points, and those of each question; None where there are none."""
    people, rows, late = course.roster(), [], download.marked_late(course, assignment)
    kept = records.read_all(course, assignment)
    with course.gradebook() as gradebook:
        hand.keep(course, assignment, gradebook, {name: one.key for name, one in kept.items() if one.receipt})
        for student, record in tqdm(kept.items(), f"{assignment}, marks", disable=None, leave=False):
            about = people.get(student, {})
            row = {"student_id": files.shown(student),
                   **{key: about.get(key) or "" for key in ("last_name", "first_name", "email")},
                   "state": record.state, "why": record.why}
            marks = questions(gradebook, assignment, student if record.receipt else None)
            points = {name: [mark.points for mark in found if mark.points is not None] for name, found in marks.items()}
            submission = gradebook.find_submission(assignment, student) if record.receipt else None
            penalty = sum(part.late_submission_penalty or 0 for part in submission.notebooks) if submission else None
            row["points"] = max(0, sum(map(sum, points.values())) - penalty) if submission else None
            row["of"] = sum(mark.most for found in marks.values() for mark in found)
            row["late_penalty"] = penalty
            row["hours_late"] = round(submission.total_seconds_late / 3600, 1) if submission else None
            row["not_read"] = ", ".join(name for name, found in points.items() if len(found) < len(marks[name])
                                        ) if submission else ""
            row |= {column(name, marks[name]): sum(found) if found else None for name, found in points.items()}
            unknown = submission and student in late and not submission.timestamp
            row["notes"] = "; ".join([*record.notes, *(["late, says the platform"] if unknown else [])])
            rows.append(row)
            gradebook.db.expunge_all()
    return rows


def column(name, marks):
    """The head of a question's column: its name and the points that it has."""
    return f"{name} (of {sum(mark.most for mark in marks):g})"


def export(course, assignment, so_far=False):
    """Write grading/A.csv, A-canvas.csv and A-moodle.csv. Empty fields are no zeros; so_far: give points in the last
    two to those as well whose text nobody has read. Returns (paths, [students of whom nobody has], [those not graded]).
    """
    rows, people = table(course, assignment), course.people()
    most = f"{rows[0]['of']:g}" if rows else ""
    canvas = [{"Student": "    Points Possible", "ID": "", "SIS User ID": "", "SIS Login ID": "", "Section": "",
               assignment: most}]
    moodle = []
    for row in rows:
        name, points = row["student_id"], row["points"] if so_far or not row["not_read"] else None
        theirs = people[name].row if name in people else {}
        canvas.append({"Student": theirs.get("student") or ", ".join(
                           filter(None, [row["last_name"], row["first_name"]])) or name,
                       "ID": people[name].lms_user_id if name in people else "",
                       "SIS User ID": theirs.get("sis user id", name),
                       "SIS Login ID": theirs.get("sis login id") or row["email"] or name,
                       "Section": theirs.get("section", ""), assignment: points})
        said = [f"{row['state'].capitalize()}: {row['why']}".strip(": ") + "."]
        said += [f"Not read yet: {row['not_read']}; points may be added."] if row["not_read"] else []
        moodle.append({"ID number": theirs.get("id number", name), "First name": row["first_name"],
                       "Last name": row["last_name"], "Email address": row["email"], assignment: points,
                       "Feedback": " ".join(said)})
    paths = []
    for suffix, lines in ("", rows), ("-canvas", canvas), ("-moodle", moodle):
        paths.append(course.grading / f"{assignment}{suffix}.csv")
        tables.write(paths[-1], lines, "utf-8" if suffix else "utf-8-sig")      # Excel wants the mark, Canvas does not
    return (paths, [row["student_id"] for row in rows if row["not_read"]],
            [row["student_id"] for row in rows if row["state"] == records.WAITING])


# ── what the class found hard ─────────────────────────────────────────────────────────────────────────────────────

def stats(course, assignment, most=3):
    """Lines of text: the states, for each question the share of points and what the checks said most often, and what
    was guessed.

    What waits for a reader is counted, and is in no share.
    """
    rows, (said, then) = table(course, assignment), heard.by_class(course, assignment)
    waits = collections.Counter(name for row in rows for name in filter(None, row["not_read"].split(", ")))
    states = collections.Counter(row["state"] for row in rows)
    yield f"{assignment}: " + ", ".join(f"{count} {state}" for state, count in states.most_common())
    totals = [row["points"] for row in rows if row["points"] is not None]
    if totals:
        yield (f"points{', before reading' if waits else ''}: median {statistics.median(totals):g} "
               f"of {rows[0]['of']:g}, from {min(totals):g} to {max(totals):g}")
        yield from histogram(totals, rows[0]["of"])
    with course.gradebook() as gradebook:
        marks = questions(gradebook, assignment)
    for name, found in marks.items():
        possible = sum(mark.most for mark in found)
        points = [value for row in rows if (value := row[column(name, found)]) is not None]
        parts = [f"{waits[name]} wait{'s' if waits[name] == 1 else ''} for a reader"] if waits[name] else []
        if points:
            share, full = statistics.mean(points) / possible, sum(value >= possible for value in points)
            parts.insert(0, f"{share:>4.0%} of the points, {full} of {len(points)} have them all")
        if not parts:
            continue
        yield ""
        yield f"{name:<24} {'; '.join(parts)}"
        for message, count in alike(said.get(name, {})).most_common(most):
            again, right = then[name, heard.NUMBER.sub("0", message.removesuffix(MORE))]
            yield f"    {count:>3} ×  {message}" + f" ({right} of {again} had it right at the next try)" * bool(again)
    notebooks = [heard.marked(course, assignment, row["student_id"]) for row in rows]
    yield from beliefs.told(course.released(assignment), list(filter(None, notebooks)), most)


def histogram(totals, most, bars=5):
    """Lines of text: how many of the totals lie in each fifth of the points; the last has those with all of them.

    >>> list(histogram([0, 4, 5, 5], 5))
    ['    0 … 1  █ 1', '    1 … 2   0', '    2 … 3   0', '    3 … 4   0', '    4 … 5  ███ 3']
    """
    counts = collections.Counter(max(0, min(bars - 1, int(bars * total / most))) if most else 0 for total in totals)
    edges = [f"{most * i / bars:g}" for i in range(bars + 1)]
    scale, width = max(1, max(counts.values()) / 40), max(map(len, edges))
    for i in range(bars):
        yield f"    {edges[i]:>{width}} … {edges[i + 1]:<{width}}  {'█' * round(counts[i] / scale)} {counts[i]}"


def alike(said):
    """Counter of messages, in which those that differ in numbers alone are one, told by the one that is heard most."""
    groups = {}
    for message, count in said.items():
        groups.setdefault(heard.NUMBER.sub("0", message), collections.Counter())[message] += count
    return collections.Counter({found.most_common(1)[0][0] + MORE * (len(found) > 1):
                                found.total() for found in groups.values()})
