"""What a learning platform gives for download, entry by entry: a zip file or a folder with everybody's work, or files
and folders of students. And the names in it, which are needed again when pages go back.
"""

import collections
import dataclasses
import json
import stat
from pathlib import Path

from coursegrade.marking import CourseError, archive, owners
from coursegrade.marking.files import walk, whole


@dataclasses.dataclass
class Entry:
    """What one name in a download stands for. claim: owners.py's. files: [(parts below it, bytes, reader)]."""

    name: str
    claim: object
    files: list


def entries(course, assignment, folder, stack, say):
    """{label: Entry} of all that is in a folder or zip file; zip files stay open as long as the stack.

    The label is the entry's name; where two files of different sources have the same, the source comes first.
    """
    folder, people, found = Path(folder or course.grading / "inbox" / assignment), owners.keys(course.roster()), {}
    for source, name, rest, size, read in listed(folder, people, assignment, stack, say):
        if (source, name) not in found:
            about = owners.claim(name, people, assignment)
            found[source, name] = Entry(name, dataclasses.replace(about, hand=f"{about.hand} in {source}"), [])
        given = found[source, name].claim.given
        parts = rest or (given if given and archive.usable((given,)) else name,)
        found[source, name].files.append((parts, size, read))
    times = collections.Counter(name for _, name in found)
    return {name if times[name] == 1 else "/".join(filter(None, (source, name))): entry
            for (source, name), entry in found.items()}


def listed(folder, people, assignment, stack, say):
    """(source, name of the entry, parts below it, bytes, reader) of each plain file in a folder or zip file.

    What is nobody's by its name, and holds entries as platforms name them, is a collection: the platform's zip file, or
    what was in it. So is a zip file that is all there is. A student's, in a download, has the student's name before it.
    """
    if folder.is_file():
        yield from (("", parts[0], parts[1:], *rest) for parts, *rest in zipped(folder, stack, say) or ())
        return
    tops = [path for path in sorted(folder.iterdir()) if archive.usable((path.name,))] if folder.is_dir() else []
    for path in tops:
        about, files = owners.claim(path.name, people, assignment), None
        if not about.platform and (not about.students if people else len(tops) == 1):
            is_zip = path.suffix.lower() == ".zip" and stat.S_ISREG(path.lstat().st_mode)
            files = zipped(path, stack, say) if is_zip else plain(path)
            if files is None:
                continue
            inner = [owners.claim(parts[0], people, assignment) for parts, *_ in files if parts]
            if not any(found.platform or found.students and len(tops) == 1 and is_zip for found in inner):
                files = None
        if files:
            yield from ((path.name, parts[0], parts[1:], *rest) for parts, *rest in files if parts)
        else:
            yield from (("", path.name, parts, *rest) for parts, *rest in plain(path))


def zipped(path, stack, say):
    """What `archive.files` gives of a zip file on the disk, which stays open; None if it cannot be opened."""
    try:
        return archive.files(stack.enter_context(archive.opened(stack.enter_context(path.open("rb")))))
    except (archive.Broken, OSError):
        say("is no complete zip file: download it again", path.name)
        return None


def plain(path):
    """The same of a folder, or of one file, whose parts are ()."""
    if stat.S_ISREG(path.lstat().st_mode):
        return [((), path.stat().st_size, path.read_bytes)]
    found = []
    for here, folders, names in walk(path) if not path.is_symlink() else ():
        folders.sort()
        for file in (Path(here, name) for name in sorted(names)):
            parts = file.relative_to(path).parts
            if stat.S_ISREG(file.lstat().st_mode) and archive.usable(parts):
                found.append((parts, file.stat().st_size, file.read_bytes))
    return found


# ── the names ──────────────────────────────────────────────────────────────────────────────────────────────────────

def keep_names(course, assignment, names, marked):
    """Note for each student the names that the platform gave: feedback goes back under them (returning.py)."""
    kept = {student: entry for student, entry in names_of(course, assignment).items() if student not in marked}
    with whole(course.grading / "entries" / f"{assignment}.json") as file:
        file.write(json.dumps(kept | names, indent=1) + "\n")


def names_of(course, assignment):
    """{student: names of entries}, as `sort` found them in the latest download. CourseError if they cannot be read."""
    path = course.grading / "entries" / f"{assignment}.json"
    try:
        names = json.loads(path.read_text()) if path.exists() else {}
        return {str(student): [*map(str, entries)] for student, entries in names.items()}
    except (ValueError, TypeError, AttributeError):
        raise CourseError(f"{path.relative_to(course.root)} is damaged: delete it. The names of what lies in the inbox "
                          "are read again.") from None


def marked_late(course, assignment):
    """The students whose hand-in the platform marked as late."""
    people = owners.keys(course.roster())
    return [student for student, names in names_of(course, assignment).items()
            if any(owners.claim(name, people, assignment).late for name in names)]
