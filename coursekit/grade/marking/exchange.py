"""`nbgrader collect` for an exchange that a whole class can write to. nbgrader_config.py names it:

    c.ExchangeFactory.collect = "coursekit.grade.marking.exchange.Collect"

nbgrader's own takes a folder called jdoe+02_attention+… for jdoe's whoever made it (it warns, and copies), follows a
link to what only the teacher can read, and stops for the whole class at one folder that is too large or has an odd
name. Here a hand-in is what the account of that name made: plain files, as many bytes as nbgrader's `max_dir_size`
allows. All else stays where it is, and is named.
"""

import datetime
import fnmatch
import os
import shutil
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect


def owner(path):
    """The name of the account that made a folder; None if it is a link or a file, or the account is gone."""
    import pwd  # there is none on Windows

    about = os.lstat(path)
    try:
        return pwd.getpwuid(about.st_uid).pw_name if stat.S_ISDIR(about.st_mode) else None
    except KeyError:
        return None


def copy_own(source, to, ignore, most):
    """Copy a folder's files, those in its folders too, to the new folder `to`: plain files of the folder's owner whose
    names do not fit `ignore`, as long as they are `most` bytes together. Returns the names of the files left out.

    Each file is looked at through the handle that it is then read from: nobody can put a link in its place in between.
    """
    uid, room, left = os.lstat(source).st_uid, most, []
    to.mkdir(parents=True)
    for folder, folders, names, handle in os.fwalk(source):             # it follows no links
        folders[:] = [name for name in folders if not any(fnmatch.fnmatch(name, pattern) for pattern in ignore)]
        for name in sorted(names):
            if any(fnmatch.fnmatch(name, pattern) for pattern in ignore):
                continue
            path = Path(folder, name).relative_to(source)
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handle)
            except OSError:                                             # a link, or closed to us
                left.append(str(path))
                continue
            with open(file, "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode) or about.st_uid != uid or about.st_size > room:
                    left.append(str(path))
                    continue
                room -= about.st_size
                (to / path).parent.mkdir(parents=True, exist_ok=True)
                (to / path).write_bytes(file.read(about.st_size))
    return left


class Collect(ExchangeCollect):
    """nbgrader's, but that a folder counts only for the account that made it, and only by its plain files."""

    def _path_to_record(self, path):
        try:
            return super()._path_to_record(path) | {"own": owner(path) == Path(path).name.rsplit("+", 3)[0]}
        except Exception:                                               # a name that has no time in it
            return {"username": "", "filename": Path(path).name, "own": False,
                    "timestamp": datetime.datetime.min}

    def _sort_by_timestamp(self, records):
        for record in records:
            if not record["own"]:
                self.log.warning("Not collected, as the account that it names did not make it: %r", record["filename"])
        return super()._sort_by_timestamp([record for record in records if record["own"]] or records)

    def init_src(self):
        """What nbgrader would collect, of that which is somebody's own."""
        super().init_src()
        self.src_records = [record for record in self.src_records if record["own"]]

    def do_copy(self, src, dest, log=None):
        """Copy one hand-in, and name what is left out of it."""
        shutil.rmtree(dest, ignore_errors=True)
        for name in copy_own(src, Path(dest), self.coursedir.ignore, 1000 * self.coursedir.max_dir_size):
            self.log.warning("Not collected, a link, another account's file or too much: %r of %s", name, src)
