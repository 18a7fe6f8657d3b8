"""Release assignments and mark what comes back. Usually `make grade` is all that is needed.

A is an assignment, 02_sorting or just 02; where it may be left out, it stands for all. Each command has a --help.

a class, from beginning to end:
  python -m coursegrade release                 → grading/student.zip, for the class
  (put what comes back into grading/inbox/02_sorting/, as your platform gives it)
  python -m coursegrade grade 02                runs it all in a sandbox, and fills the gradebook
  (mark texts by hand: in JupyterLab, Nbgrader → Formgrader → Manual Grading; then grade 02 again)
  python -m coursegrade feedback 02 --zip       → grading/feedback/STUDENT/02_sorting/02_sorting.html, packed
  python -m coursegrade export 02               → grading/02_sorting.csv, and for Canvas and Moodle

an examination on paper, its numbers drawn from grading/seed:
  python -m coursegrade exam midterm            → grading/papers/midterm_A.html, midterm_A_solution.html

docs/teaching.md tells the whole story.
"""

import argparse
import collections
import errno
import shlex
import sqlite3
import sys
import warnings
from pathlib import Path

from tqdm import tqdm

from coursegrade.marking import CourseError
from coursegrade.marking.files import shown

DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)    # full, or not ours to write


def release(course, options):
    """Make the zip file for students: lectures, library and exercises, without solutions and hidden tests. The
    solutions must get all points before that, with the seed that submissions will be marked with."""
    from coursegrade.marking import bundle, late_days, pipeline
    if options.exam and options.answers:
        raise CourseError("--exam leaves out what --answers would show: say one of them.")
    names = chosen(course, options)
    due = late_days.when(options.due) if options.due else None
    with course.alone():
        if not options.exam and (exams := course.exams() & {*names}):
            raise CourseError(f"{', '.join(sorted(exams))}: released as an examination. Say --exam again, or, if it is "
                              "none any more, take that line out of grading/exams.")
        pipeline.sandbox(options.unsafe)                                # no use starting if there is none
        course.backup()
        for name in tqdm(names, desc="preparing", unit="assignment", disable=None):
            course.prepare(name)
        pipeline.try_solutions(course, names, options.unsafe)
        if due:
            with course.gradebook() as gradebook:
                for name in names:
                    gradebook.update_or_create_assignment(name, duedate=due)
        course.exams(names if options.exam else ())
        found = bundle.write(course, names, Path(options.to or course.grading / "student.zip"), options.exam,
                             options.answers)
    print(f"{options.to or 'grading/student.zip'}: {len(found)} files, with {', '.join(names)}.")
    if due:
        print(f"Due: {due:%Y-%m-%d %H:%M} UTC.")
    print("The seed of the hidden tests is in grading/seed: keep it to yourself, and keep it.")


def intake(course, options):
    """Sort what is in grading/inbox/ and say of each submission whether it can be graded. Nothing of it is run."""
    from coursegrade.marking.records import Record
    for name in chosen(course, options, waiting=True):
        for student, found in taken_in(course, name, options.source):
            said = [f"rejected: {found.why}"] if isinstance(found, Record) else found.notes or ["fine"]
            lines = "\n".join(said).replace("\n", "\n" + " " * (len(name) + 23))
            tqdm.write(f"{name}  {shown(student):<20} {lines}")


def taken_in(course, assignment, source=None):
    """Sort the inbox; then (student, `Checked` or the record of a rejection) for each submission."""
    from coursegrade.marking import late_days, pipeline
    sort(course, assignment, source)
    with course.alone():
        released = course.prepare(assignment)
        others, times = course.others(assignment), late_days.times(course, assignment)
        for student in tqdm(course.submitted(assignment), desc=f"{assignment}, reading", unit="student", disable=None,
                            leave=False):
            yield student, pipeline.take_in(course, assignment, student, released, others, times)


def grade(course, options, again=False):
    """Run what is new, each submission in a sandbox, and enter the marks. Killed half way, it goes on from there."""
    from coursegrade.marking import pipeline
    names = chosen(course, options, waiting=True)
    with course.alone():
        course.backup()
    for name in names:
        sort(course, name)
        if queue := getattr(options, "queue", None):
            waiting = pipeline.queued(course, name, Path(queue, name), options.unsafe)
            print(f"{name}: {len(waiting)} to be run. In {Path(queue, name)}, for each NAME: `python -m coursegrade "
                  "run NAME.in.json NAME.out.json`; then the same command again.")
            continue
        there = course.submitted(name)
        students = getattr(options, "students", None) or (there if again else [])
        for student in students:
            if student not in there:
                raise CourseError(f"There is no submission of {student!r} for {name}.")
        found = pipeline.grade(course, name, students, options.unsafe, options.jobs, options.scheduler)
        states = collections.Counter(record.state for record in found.values())
        print(f"{name}: " + ", ".join(f"{count} {state}" for state, count in states.most_common())
              + " (an examination: nothing was lent)" * (name in course.exams()))
        for student, record in found.items():
            if record.state in ("rejected", "timed out", "crashed"):
                print(f"  {record.state:<10} {shown(student):<20} {record.why}")


def run(_, options):
    """Run one hand-in that `grade --queue` wrote, on this machine, and write what was found."""
    from coursegrade.marking import outcomes, pipeline
    outcomes.write(Path(options.to), pipeline.run(outcomes.Work.read(Path(options.work))))


def regrade(course, options):
    """Grade again although nothing has changed: all of an assignment, or the students named."""
    grade(course, options, again=True)


def doctor(course, options):
    """Look, before a deadline, whether all is there that grading needs, and fits together: a page of ✓, ! and ✗."""
    from coursegrade.marking import doctor
    found = list(doctor.examine(course, options.unsafe))
    for sign, what, words in found:
        print(f"{sign} {what:<10} {words}")
    if wrong := sum(sign == doctor.WRONG for sign, _, _ in found):
        raise CourseError(f"{wrong} to be mended first.")


def rebuild(course, options):
    """Make the gradebook anew from what was found and given by hand: if it is lost or damaged. Nothing runs."""
    from coursegrade.marking import pipeline
    names = chosen(course, options, waiting=True)
    if old := course.set_aside():
        print(f"The old gradebook is {old.relative_to(course.root)} now.")
    for name in names:
        states = collections.Counter(record.state for record in pipeline.rebuild(course, name).values())
        print(f"{name}: " + ", ".join(f"{count} {state}" for state, count in states.most_common()))


def choose(course, options):
    """Say whose a hand-in is where names do not: these entries of the inbox, and no others, are the student's."""
    from coursegrade.marking import claims
    name = course.assignment(options.assignment)
    claims.choose(course, name, options.student, options.entries)
    print(f"{name}, {options.student}: {', '.join(options.entries) or 'what the names say'}. Now grade again.")


def feedback(course, options):
    """Write a page for each student: the own notebook, the points, and what the checks said."""
    from coursegrade.marking import feedback, returning
    for name in graded(course, options):
        print(f"{name}: {feedback.write(course, name)} pages in grading/feedback/")
        if options.zip:
            packed, left = returning.pack(course, name)
            for path, count in packed.items():
                print(f"{name}: {count} of them in {path.relative_to(course.root)}")
            if left:
                print(f"{name}: to be returned by hand: {', '.join(left)}", file=sys.stderr)


def export(course, options):
    """Write the marks as tables: one with states and the points of each question, one for Canvas, one for Moodle; and
    without A, grading/marks.csv with all assignments."""
    from coursegrade.marking import reports, term
    names = graded(course, options)
    for name in names:
        paths, unread, waiting = reports.export(course, name, options.so_far)
        print(f"{name}: " + ", ".join(str(path.relative_to(course.root)) for path in paths))
        if waiting:
            print(f"{name}: not graded yet, so without points: {listed(waiting)}", file=sys.stderr)
        if unread:
            what = "points so far" if options.so_far else "no points (--so-far: those so far)"
            print(f"{name}: {what} for Canvas and Moodle where nobody has read the text yet: {listed(unread)}",
                  file=sys.stderr)
    if not options.assignment:
        path, to_come = term.write(course, names)
        print(f"{path.relative_to(course.root)}: all assignments together")
        if to_come:
            print(f"{path.name}: 0 in percent_of_all, as nothing was graded yet: {listed(to_come)}", file=sys.stderr)


def stats(course, options):
    """Print what the class found hard: for each question the points, and what the checks had to say most often."""
    from coursegrade.marking import reports
    for name in graded(course, options):
        print(*reports.stats(course, name), "", sep="\n")


def similar(course, options):
    """Write a page and a table of pairs of submissions whose code is alike beyond what the course explains. A person
    reads them; it is no verdict. Nothing of it is run."""
    from coursegrade.marking import similar
    from coursegrade.marking.records import Record
    for name in chosen(course, options, waiting=True):
        found = dict(taken_in(course, name))
        left_out = [(shown(student), one.why) for student, one in found.items() if isinstance(one, Record)]
        notebooks = {student: one.notebook for student, one in found.items() if not isinstance(one, Record)}
        paths, pairs, count = similar.write(course, name, notebooks, left_out)
        print(f"{name}: {len(pairs)} of {count} pairs to read, no verdict: "
              + ", ".join(str(path.relative_to(course.root)) for path in paths))


def quizzes(_, options):
    """Write the quizzes of the lectures and the entrance test for a learning platform: GIFT for Moodle, QTI for
    Canvas."""
    from coursegrade import courses
    from coursegrade.selfcheck import export, load
    there = sorted(path.stem for path in (courses.folder() / "quizzes").glob("*.toml"))
    titled = {"Entrance test" if name == "ready" else f"Quiz {name}": load(name) for name in there}
    for path in export.write(options.to, titled):
        print(f"{path}: {len(there)} quizzes, the entrance test among them")


def exam(course, options):
    """Draw an examination with pencil and paper, its numbers of grading/seed: a sheet and its solution, to print."""
    from coursegrade.marking import sheets
    for path in sheets.write(course, options.paper, options.version, Path(options.to or course.grading / "papers")):
        print(path)


def sort(course, assignment, source=None):
    """Sort the inbox, and say what is the matter with some of it, and what the teacher has to choose."""
    from coursegrade.marking import download, inbox, late_days, owners
    if source and not Path(source).exists():
        raise CourseError(f"There is no folder or file {source}.")
    students, left, doubtful = inbox.sort(course, assignment, source)
    for why, names in left.items():
        print(f"{assignment}: {listed(names)}: {why}", file=sys.stderr)
    command = f"    .venv/bin/python -m coursegrade choose {assignment}"
    if owners.NOBODY in left:
        print(f"{assignment}: complete grading/roster.csv, or say whose they are:\n{command} STUDENT 'NAME'",
              file=sys.stderr)
    for student, labels in list(doubtful.items())[:10]:
        print(f"{assignment}: {student}: nothing counts until you choose, "
              "or take what is not theirs out of the inbox:\n"
              + "\n".join(f"{command} {student} {shlex.quote(shown(label))}" for label in labels), file=sys.stderr)
    if len(doubtful) > 10:
        print(f"{assignment}: so it is with {len(doubtful) - 10} more. Is an older download in the inbox as well?",
              file=sys.stderr)
    known = late_days.times(course, assignment)
    if unknown := [student for student in download.marked_late(course, assignment) if student not in known]:
        print(f"{assignment}: marked as late by the platform, and grading/late.csv does not say when it came, so it "
              f"counts as in time: {listed(unknown)}", file=sys.stderr)


def listed(names):
    """The first of some names, in a line."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def chosen(course, options, waiting=False):
    """The assignments that a command is about; with `waiting`, by default those that somebody has handed in."""
    if start := getattr(options, "assignment", None):
        return [course.assignment(start)]
    names = course.assignments()
    if waiting:
        names = [name for name in names if course.submitted(name) or (course.grading / "inbox" / name).exists()]
    if not names:
        raise CourseError("Nothing has been handed in: put it into grading/inbox/ASSIGNMENT/." if waiting
                          else "There are no assignments: no solutions/NAME/NAME.ipynb.")
    return names


def graded(course, options):
    """The assignments that a command about marks is about: the one that was named, or all that were graded. Those that
    wait for that get a line."""
    from coursegrade.marking import records
    names = chosen(course, options, waiting=True)
    if options.assignment or not (waiting := [name for name in names if not records.graded(course, name)]):
        return names
    if waiting == names:
        raise CourseError(f"Of {listed(names)} nothing was graded yet: put what came into the inbox, and `grade`.")
    print(f"Not graded yet, so left out: {listed(waiting)}", file=sys.stderr)
    return [name for name in names if name not in waiting]


def whole_number(text):
    """A whole number from 1 on, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("it must be a whole number from 1 on")
    return int(text)


def option(*names, **about):
    """One argument of a command, as argparse's `add_argument` takes it."""
    return names, about


def commands():
    """{function: its arguments} of all commands."""
    any_, one = option("assignment", metavar="A", nargs="?", help="the assignment; without it, all"), option(
        "assignment", metavar="A", help="the assignment")
    course = option("--course", default=".", metavar="FOLDER", help="the course's folder (default: this one)")
    unsafe = option("--unsafe", action="store_true", help="without a sandbox: only for code that you trust, since it "
                    "could read and change all that you can")
    running = [unsafe,
               option("--jobs", type=whole_number, metavar="N",
                      help="how many run at once (default: one for each core)"),
               option("--scheduler", metavar="ADDRESS", help="run on the workers of a dask scheduler: tcp://host:8786")]
    return {
        release: [any_, course,
                  option("--to", metavar="FILE", help="the zip file (default: grading/student.zip)"),
                  option("--due", metavar="TIME", help='when it is due: "2026-11-30 18:00 UTC"; later is late'),
                  option("--exam", action="store_true", help="leave out what the checks expect: they then look at "
                         "answers only when these are marked"),
                  option("--answers", action="store_true", help="a check that has failed three times offers the "
                         "course's answer"),
                  unsafe],
        intake: [any_, course,
                 option("--from", dest="source", metavar="FOLDER", help="a folder or zip file in place of the inbox")],
        choose: [one, course,
                 option("student", metavar="STUDENT", help="an id of the roster"),
                 option("entries", nargs="*", metavar="NAME",
                        help="as `intake` names them; without any, what was chosen is forgotten")],
        grade: [any_, course, *running,
                option("--queue", metavar="FOLDER", help="run nothing here: write a file there for each hand-in "
                       "that is to be run, and enter those that were run")],
        run: [option("work", metavar="IN", help="a file that `grade --queue` wrote"),
              option("to", metavar="OUT", help="the file to be written: NAME.out.json for NAME.in.json")],
        regrade: [one, course,
                  option("students", nargs="*", metavar="STUDENT", help="ids; without any, the whole class"), *running],
        doctor: [course, unsafe],
        rebuild: [course],
        feedback: [any_, course,
                   option("--zip", action="store_true", help="also pack the pages, to upload where the class handed "
                          "in: one zip file for Canvas, one for Moodle")],
        export: [any_, course,
                 option("--so-far", action="store_true", help="for Canvas and Moodle, give points to those as well "
                        "whose text nobody has read")],
        stats: [any_, course],
        similar: [any_, course],
        exam: [option("paper", metavar="PAPER", help="such as midterm"), course,
               option("--version", metavar="LETTER", default="A", choices=[*map(chr, range(65, 91))],
                      help="B, C, …: other numbers, and partly other exercises of the same points"),
               option("--to", metavar="FOLDER", help="where to write them (default: grading/papers)")],
        quizzes: [option("--to", metavar="FOLDER", default=".", help="where to write them (default: here)")],
    }


def parser():
    """The command line."""
    about, begins, story = __doc__.partition("a class, from beginning to end:")
    main = argparse.ArgumentParser("python -m coursegrade", description=about, epilog=begins + story,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    places = main.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for function, arguments in commands().items():
        command = places.add_parser(function.__name__, help=function.__doc__, description=function.__doc__)
        command.set_defaults(function=function)
        for names, about in arguments:
            command.add_argument(*names, **about)
    return main


def main(arguments=None):
    """Run a command; the exit status is 0, or 1 when the teacher must do something first."""
    options = parser().parse_args(arguments)
    sys.modules.setdefault("rfc3987_syntax", None)                      # jsonschema compiles its grammar for seconds
    from sqlalchemy.exc import DBAPIError, SAWarning  # here, so that --help comes at once

    from coursegrade.marking.course import Course
    from coursegrade.sandbox.process import GraderError
    warnings.filterwarnings("ignore", category=SAWarning)               # nbgrader's, about its own use of SQLAlchemy
    try:
        options.function(Course(options.course) if "course" in options else None, options)
        return 0
    except (CourseError, GraderError) as error:
        said = error
    except (sqlite3.Error, DBAPIError) as error:
        said = (f"gradebook.db: {getattr(error, 'orig', error)}. Is the disk full, or may you not write the file? If "
                "it is damaged, `rebuild` makes it anew.")
    except OSError as error:
        if error.errno not in DISK:
            raise
        where = error.filename or Path(getattr(options, "course", ".")).resolve()
        said = f"{where}: {error.strerror}. When that is put right, the same command goes on from here."
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    print(said, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
