"""Sorts what a learning platform gives for download into nbgrader's folders, one for each student.

What lies in grading/inbox/A/ is read entry by entry (download.py); whose an entry is says its name's beginning, or the
teacher (owners.py, claims.py). A student's zip file is unpacked, once, within limits for each student. A student's only
notebook is called A.ipynb from then on.
"""

import contextlib
import io
from pathlib import Path

from tqdm import tqdm

from coursegrade.kit.limit import TooLong, limit
from coursegrade.marking import archive, claims, download
from coursegrade.marking.files import shown
from coursegrade.marking.intake import ALLOWED, IN_DOUBT, LEFT_OUT, MAX_FILES, MAX_NOTEBOOK, OTHER_KIND, TIMESTAMP

MAX_UNPACKED = 2 * MAX_NOTEBOOK                                         # bytes of all that one student handed in
SECONDS = 30                                                            # for unpacking and copying it
SEVERAL = "more than one notebook came: all are kept, and the one worked on counts"
MANY = f"more than {MAX_FILES} files came: the others are left out"
LARGE = LEFT_OUT + f"is too large: the most is {MAX_NOTEBOOK >> 20} MB; clear the notebook's outputs".encode()
TOO_MUCH = LEFT_OUT + f"is too much, and so is what follows: together they may have {MAX_UNPACKED >> 20} MB".encode()
SLOW = LEFT_OUT + b"took too long to unpack"
CONTESTED = IN_DOUBT + b"more than one hand-in claims to be this student's: the teacher has to say which one counts"
UNCLEAR = IN_DOUBT + b"it is not clear whose a hand-in is: the teacher has to say"


def sort(course, assignment, folder=None):
    """Copy grading/inbox/A (or another folder, or zip file) to grading/submitted.

    Returns (students, {what is the matter: names of entries}, {student: labels of entries to choose from}). Who is to
    be chosen for gets a marker instead of a notebook, so that intake rejects it with the reason.
    """
    left, chosen = {}, claims.choices(course, assignment)

    def say(why, name):
        left.setdefault(why, set()).add(shown(name))

    with contextlib.ExitStack() as stack:
        found = download.entries(course, assignment, folder, stack, say)
        theirs, doubtful = claims.owned(found, chosen, say)
        for student in tqdm(sorted(theirs), desc=f"{assignment}, sorting", unit="student", disable=None, leave=False):
            target = place(course, assignment, student)
            try:
                with limit(SECONDS), contextlib.ExitStack() as opened:
                    files = collected([found[label] for label in theirs[student]], assignment, student, opened, say)
                    put(target, files, lambda why, name: say(why, f"{name} of {student}"))
            except TooLong:
                say(SLOW.removeprefix(LEFT_OUT).decode(), student)
                put(target, {f"{assignment}.ipynb": lambda: SLOW}, lambda *_: None)
    marked = {student: CONTESTED if len(labels) > 1 else UNCLEAR for student, labels in doubtful.items()}
    for student, why in marked.items():
        put(place(course, assignment, student), {f"{assignment}.ipynb": lambda why=why: why}, say)
    for student, path in course.submitted(assignment).items():          # in doubt until now, and cleared up since
        if student not in theirs and student not in marked and not path.is_symlink():
            if (file := path / f"{assignment}.ipynb").is_file() and file.read_bytes().startswith(IN_DOUBT):
                file.unlink()
                with contextlib.suppress(OSError):
                    path.rmdir()
    download.keep_names(course, assignment, {student: sorted({found[label].name for label in labels})
                                    for student, labels in theirs.items()}, marked)
    return sorted(theirs), {why: sorted(names) for why, names in left.items()}, doubtful


def place(course, assignment, student):
    """Where nbgrader looks for what a student handed in."""
    return course.root / course.directory("").submitted_directory / student / assignment


def collected(entries, assignment, student, stack, say):
    """{path: reader} of a student's files in some entries, zip files unpacked: at most MAX_FILES (and one, so that
    intake says that there were more), MAX_UNPACKED bytes together, and only kinds that are used. Zip files stay open
    as long as the stack."""
    found, room = [], MAX_UNPACKED
    for entry in entries:
        for parts, size, read in entry.files:
            if parts[-1].lower().endswith(".zip"):
                room -= size                                            # it is held in memory
                found += unpacked(parts, size, read, room, stack)
            else:
                found.append((parts, size, read))
    found.sort(key=lambda file: rank(file[0][-1]))
    if len(found) > MAX_FILES:
        say(MANY, student)
    files, notebooks = {}, []
    for parts, size, read in found[:MAX_FILES + 1]:
        name = "/".join([part for part in parts[:-1] if part not in (TIMESTAMP, f"{assignment}.ipynb")] + [parts[-1]])
        while name in files:                                            # from another entry: both are kept
            name = f"again/{name}"
        kind = rank(parts[-1])
        notebooks += [name] if kind == 0 else []
        if size is None:                                                # a zip file that was not opened, and why
            files[name] = read
        elif kind == 2:
            files[name] = lambda: OTHER_KIND
        elif size > MAX_NOTEBOOK:
            files[name] = lambda: LARGE
        elif size > room:
            files[name] = lambda: TOO_MUCH
            break
        else:
            room -= size
            files[name] = read
    if len(notebooks) > 1:
        say(SEVERAL, f"{student} ({', '.join(sorted(notebooks))})")
    elif notebooks:                                                     # as nbgrader wants it
        files = {f"{assignment}.ipynb": files.pop(notebooks[0])} | files
    return files


def rank(name):
    """0 for a notebook, 1 for what may come along, 2 for what is not used."""
    suffix = Path(name).suffix.lower()
    return 0 if suffix == ".ipynb" else 1 if suffix in ALLOWED else 2


def unpacked(parts, size, read, room, stack):
    """What is in a student's zip file, as `collected` has it; or what says why not, with None for its size."""
    if size > MAX_NOTEBOOK:
        return [(parts, None, lambda: LARGE)]
    if room < 0:
        return [(parts, None, lambda: TOO_MUCH)]
    try:
        return archive.files(stack.enter_context(archive.opened(io.BytesIO(read()), archive.MAX_ENTRIES)))
    except archive.Broken as error:
        why = LEFT_OUT + str(error).encode()                            # `error` is gone when this is read
        return [(parts, None, lambda: why)]


def put(target, files, say):
    """Make a folder hold {path: function that reads its bytes} and nbgrader's timestamp alone.

    say(what is the matter, path) of what cannot be read or written.
    """
    try:
        for path in sorted(target.rglob("*"), reverse=True):            # handed in before, and not any more
            if path.is_dir() and not path.is_symlink():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path != target / TIMESTAMP and str(path.relative_to(target)) not in files:
                path.unlink()
    except (OSError, RecursionError) as error:
        say(f"could not be put in order ({error})", target.name)
    for name, read in files.items():
        path = target / name
        try:
            data = read()
            if data.startswith(LEFT_OUT) and data != OTHER_KIND:
                say(data.removeprefix(LEFT_OUT).decode("utf-8", "replace"), name)
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        except OSError as error:
            say(f"could not be copied ({error.strerror})", name)
