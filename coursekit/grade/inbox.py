"""Sorts what a learning platform gives for download into nbgrader's folders, one for each student.

What lies in grading/inbox/A/ (or in a zip file there) may be a folder or a file for each student, whose name begins
with something that the roster knows: the id, the e-mail address or the part before its @, the id of the platform, or
the names. So it is with Canvas (doejane_4711_815_02_attention.ipynb) and Moodle (Jane Doe_47_assignsubmission_file_/).
A student's only notebook is called A.ipynb from then on.
"""

import os
import stat
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath

from coursekit.grade.course import STUDENT
from coursekit.grade.intake import MAX_NOTEBOOK, TIMESTAMP
from coursekit.grade.records import shown


def sort(course, assignment, folder=None):
    """Copy grading/inbox/A (or another folder, or zip file) to grading/submitted; return (students, what is left)."""
    people, found, left = keys(course.roster()), {}, set()
    for entry, rest, data in entries(Path(folder or course.grading / "inbox" / assignment)):
        if student := owner(entry, people, assignment):
            found.setdefault(student, {})["/".join(rest) or entry] = data
        else:
            left.add(shown(entry))
    for student, files in found.items():
        notebooks = [name for name in files if name.endswith(".ipynb")]
        if len(notebooks) == 1:                                         # as nbgrader wants it
            files[f"{assignment}.ipynb"] = files.pop(notebooks[0])
        target = course.root / course.directory("").submitted_directory / student / assignment
        for name, data in files.items():
            path = target / name
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        for stale in [path for path in target.rglob("*") if path.is_file() and path.name != TIMESTAMP
                      and str(path.relative_to(target)) not in files]:
            stale.unlink()                                              # handed in before, and not any more
    return sorted(found), sorted(left)


def entries(folder):
    """(name of the entry, the parts below it, bytes) of each plain file in a folder or zip file; no hidden ones."""
    if folder.is_file() and zipfile.is_zipfile(folder):
        with zipfile.ZipFile(folder) as archive:
            for info in archive.infolist():
                parts = PurePosixPath(info.filename).parts
                plain = not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16)
                if plain and info.file_size <= MAX_NOTEBOOK and usable(parts):
                    yield parts[0], parts[1:], archive.read(info)
        return
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(here, name)
            parts = path.relative_to(folder).parts
            if not stat.S_ISREG(path.lstat().st_mode) or path.stat().st_size > MAX_NOTEBOOK or not usable(parts):
                continue
            if len(parts) == 1 and path.suffix == ".zip" and zipfile.is_zipfile(path):
                yield from entries(path)
            else:
                yield parts[0], parts[1:], path.read_bytes()


def usable(parts):
    """Is a path one that stays in its folder, with no hidden files and none that nbgrader gives a meaning to?"""
    return bool(parts) and parts[0] != "/" and parts[-1] != TIMESTAMP and \
        not any(part.startswith((".", "__MACOSX")) or "\\" in part or "\0" in part for part in parts)


def keys(roster):
    """{what a name may begin with: student}; what two students share is None."""
    found = {}
    for student, about in roster.items():
        first, last, email = (about[column] or "" for column in ("first_name", "last_name", "email"))
        for text in {squeezed(key) for key in (student, email, email.partition("@")[0], about["lms_user_id"] or "",
                                                first + last, last + first)} - {""}:
            found[text] = None if found.get(text, student) != student else student
    return found


def owner(entry, people, assignment):
    """The student whose an entry is, or None. Without a roster its name is the id, with or without the assignment's."""
    stem = entry.removesuffix(".ipynb")
    if not people:
        name = stem.removesuffix(f"_{assignment}")
        return name if STUDENT.fullmatch(name) else None
    parts = stem.split("_")
    beginnings = ["_".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((people[key] for text in beginnings + parts if (key := squeezed(text)) in people and people[key]), None)


def squeezed(text):
    """A name without spaces, signs, accents and capitals."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
