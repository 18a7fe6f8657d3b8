"""Release assignments and mark what comes back. Usually `make grade` is all that is needed.

A is an assignment, 02_attention or just 02; where it may be left out, it stands for all. Each command has a --help.
"""

import argparse
import collections
import datetime
import re
import sys
import warnings
from pathlib import Path

EPILOG = """\
a class, from beginning to end:
  python -m coursekit.grade release                 → grading/student.zip, for the class
  (put what comes back into grading/inbox/02_attention/, as your platform gives it)
  python -m coursekit.grade grade 02                runs it all in a sandbox, and fills the gradebook
  (mark texts by hand: in JupyterLab, Nbgrader → Formgrader → Manual Grading; then grade 02 again)
  python -m coursekit.grade feedback 02             → grading/feedback/STUDENT/02_attention/02_attention.html
  python -m coursekit.grade export 02               → grading/02_attention.csv, and for Canvas and Moodle

docs/teaching.md tells the whole story.
"""


def release(course, options):
    """Make the zip file for students: lectures, coursekit and exercises, without solutions and hidden tests. The
    solutions must get all points before that, with the seed that submissions will be marked with."""
    from coursekit.grade import bundle, pipeline
    names = chosen(course, options)
    due = when(options.due) if options.due else None
    with course.alone():
        course.backup()
        for name in names:
            course.prepare(name)
        pipeline.try_solutions(course, names, options.unsafe)
        if due:
            with course.gradebook() as gradebook:
                for name in names:
                    gradebook.update_or_create_assignment(name, duedate=due)
        found = bundle.write(course, names, Path(options.to or course.grading / "student.zip"))
    print(f"{options.to or 'grading/student.zip'}: {len(found)} files, with {', '.join(names)}.")
    if due:
        print(f"Due: {due:%Y-%m-%d %H:%M} UTC.")
    print("The seed of the hidden tests is in grading/seed: keep it to yourself, and keep it.")


def intake(course, options):
    """Sort what is in grading/inbox/ and say of each submission whether it can be graded. Nothing of it is run."""
    from coursekit.grade import pipeline
    from coursekit.grade.records import Record, shown
    for name in chosen(course, options, waiting=True):
        sort(course, name, options.source)
        with course.alone():
            released = course.prepare(name)
            others = {other: course.prepare(other) for other in course.assignments() if other != name}
            for student in course.submitted(name):
                found = pipeline.take_in(course, name, student, released, others)
                said = [f"rejected: {found.why}"] if isinstance(found, Record) else found.notes or ["fine"]
                print(f"{name}  {shown(student):<20} " + "\n".join(said).replace("\n", "\n" + " " * (len(name) + 23)))


def grade(course, options, again=False):
    """Run what is new, each submission in a sandbox, and enter the marks. Killed half way, it goes on from there."""
    from coursekit.grade import pipeline
    from coursekit.grade.course import CourseError
    from coursekit.grade.records import shown
    for name in chosen(course, options, waiting=True):
        sort(course, name)
        students = getattr(options, "students", None) or (course.submitted(name) if again else [])
        for student in students:
            if student not in course.submitted(name):
                raise CourseError(f"There is no submission of {student!r} for {name}.")
        found = pipeline.grade(course, name, students, options.unsafe, options.jobs, options.scheduler)
        states = collections.Counter(record.state for record in found.values())
        print(f"{name}: " + ", ".join(f"{count} {state}" for state, count in states.most_common()))
        for student, record in found.items():
            if record.state in ("rejected", "timed out", "crashed"):
                print(f"  {record.state:<10} {shown(student):<20} {record.why}")


def regrade(course, options):
    """Grade again although nothing has changed: all of an assignment, or the students named."""
    grade(course, options, again=True)


def feedback(course, options):
    """Write a page for each student: the own notebook, the points, and what the checks said."""
    from coursekit.grade import feedback
    for name in chosen(course, options, waiting=True):
        print(f"{name}: {feedback.write(course, name)} pages in grading/feedback/")


def export(course, options):
    """Write the marks as tables: one with states and the points of each question, one for Canvas, one for Moodle."""
    from coursekit.grade import reports
    for name in chosen(course, options, waiting=True):
        print(f"{name}: " + ", ".join(str(path.relative_to(course.root)) for path in reports.export(course, name)))


def stats(course, options):
    """Print what the class found hard: for each question the points, and what the checks had to say most often."""
    from coursekit.grade import reports
    for name in chosen(course, options, waiting=True):
        print(*reports.stats(course, name), "", sep="\n")


def when(text):
    """A time, as nbgrader keeps it: in UTC, without saying so. (Its own reading takes +0100 for 100 seconds.)

    >>> print(when("2026-11-30 18:00 UTC"), when("2026-11-30 18:00 +0100"))
    2026-11-30 18:00:00 2026-11-30 17:00:00
    """
    from coursekit.grade.course import CourseError
    try:
        time = datetime.datetime.fromisoformat(re.sub(" ([+-])", r"\1", re.sub(" ?UTC$", "+00:00", text)))
    except ValueError:
        raise CourseError(f"{text!r} is no time that --due understands: write it like "
                          '"2026-11-30 18:00 UTC".') from None
    return time.astimezone(datetime.UTC).replace(tzinfo=None) if time.tzinfo else time


def sort(course, assignment, source=None):
    """Sort the inbox, and say what is the matter with some of it."""
    from coursekit.grade import inbox
    from coursekit.grade.course import CourseError
    if source and not Path(source).exists():
        raise CourseError(f"There is no folder or file {source}.")
    students, left = inbox.sort(course, assignment, source)
    for why, names in left.items():
        print(f"{assignment}: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}: {why}", file=sys.stderr)


def chosen(course, options, waiting=False):
    """The assignments that a command is about; with `waiting`, by default those that somebody has handed in."""
    from coursekit.grade.course import CourseError
    if options.assignment:
        return [course.assignment(options.assignment)]
    names = course.assignments()
    if waiting:
        names = [name for name in names if course.submitted(name) or (course.grading / "inbox" / name).exists()]
    if not names:
        raise CourseError("Nothing has been handed in: put it into grading/inbox/ASSIGNMENT/." if waiting
                          else "There are no assignments: no solutions/NAME/NAME.ipynb.")
    return names


def whole_number(text):
    """A whole number from 1 on, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("it must be a whole number from 1 on")
    return int(text)


def parser():
    """The command line."""
    main = argparse.ArgumentParser("python -m coursekit.grade", description=__doc__, epilog=EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = main.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for function in (release, intake, grade, regrade, feedback, export, stats):
        command = commands.add_parser(function.__name__, help=function.__doc__, description=function.__doc__)
        command.set_defaults(function=function)
        needed = {} if function is not regrade else {"nargs": None}
        command.add_argument("assignment", metavar="A", **({"nargs": "?", "help": "the assignment; without it, all"}
                                                           | needed))
        command.add_argument("--course", default=".", metavar="FOLDER", help="the course's folder (default: this one)")
        if function is release:
            command.add_argument("--to", metavar="FILE", help="the zip file (default: grading/student.zip)")
            command.add_argument("--due", metavar="TIME", help='when it is due: "2026-11-30 18:00 UTC"; later is late')
        if function is intake:
            command.add_argument("--from", dest="source", metavar="FOLDER",
                                 help="a folder or zip file in place of the inbox")
        if function is regrade:
            command.add_argument("students", nargs="*", metavar="STUDENT", help="ids; without any, the whole class")
        if function in (release, grade, regrade):
            command.add_argument("--unsafe", action="store_true",
                                 help="without a sandbox: only for code that you trust,"
                                 " since it could read and change all that you can")
        if function in (grade, regrade):
            command.add_argument("--jobs", type=whole_number, metavar="N",
                                 help="how many run at once (default: one for each core)")
            command.add_argument("--scheduler", metavar="ADDRESS",
                                 help="run on the workers of a dask scheduler: tcp://host:8786")
    return main


def main(arguments=None):
    """Run a command; the exit status is 0, or 1 when the teacher must do something first."""
    options = parser().parse_args(arguments)
    from sqlalchemy.exc import SAWarning                                # here, so that --help comes at once

    from coursekit.grade.course import Course, CourseError
    from coursekit.grade.walls import GraderError
    warnings.filterwarnings("ignore", category=SAWarning)               # nbgrader's, about its own use of SQLAlchemy
    try:
        options.function(Course(options.course), options)
    except (CourseError, GraderError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
