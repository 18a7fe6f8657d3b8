"""`nbgrader collect` for an exchange that a whole class can write to. nbgrader_config.py names it:

    c.ExchangeFactory.collect = "coursegrade.marking.exchange.Collect"

nbgrader's own takes a folder called jdoe+02_sorting+… for jdoe's whoever made it (it warns, and copies), follows a
link to what only the teacher can read, and stops for the whole class at one folder that is too large or too deep, or
has an odd name. Here a hand-in is what the account of that name made: plain files, at most MOST of them, no deeper than
DEEPEST folders, and as many bytes as nbgrader's `max_dir_size` allows. All else stays where it is, and is named.
"""

import datetime
import fnmatch
import os
import shutil
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect

from coursegrade.marking.files import DEEPEST

MOST = 500                                                              # files of one hand-in
NAMED = 10                                                              # of those that are left out


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
    names do not fit `ignore`, notebooks first, as long as they are `most` bytes together, and MOST in number with their
    folders. Returns the names of what is left out.

    Each file is looked at through the handle that it is then read from: nobody can put a link in its place in between.
    """
    uid, room, left, count = os.lstat(source).st_uid, most, [], 0
    to.mkdir(parents=True)
    for folder, folders, names, handle in os.fwalk(source):             # it follows no links
        folders[:] = [name for name in folders if not any(fnmatch.fnmatch(name, pattern) for pattern in ignore)]
        if len(Path(folder).relative_to(source).parts) == DEEPEST:      # fwalk itself ends in an error, much deeper
            left += [str(Path(folder, name).relative_to(source)) for name in folders]
            folders.clear()
        for name in sorted(names, key=lambda name: (not name.endswith(".ipynb"), name)):
            if any(fnmatch.fnmatch(name, pattern) for pattern in ignore):
                continue
            path, count = Path(folder, name).relative_to(source), count + 1
            if count > MOST:
                return [*left, f"{path}, and what follows"]
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
        if (count := count + len(folders)) > MOST:
            return [*left, f"{folders[0]}, and what follows"]
    return left


class Collect(ExchangeCollect):
    """nbgrader's, but that a folder counts only for the account that made it, and only by its plain files."""

    def _path_to_record(self, path):
        try:
            return super()._path_to_record(path) | {"own": owner(path) == Path(path).name.rsplit("+", 3)[0]}
        except Exception:                                               # a name that has no time in it
            return {"username": "", "filename": Path(path).name, "own": False, "timestamp": datetime.datetime.min}

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
        """Copy one hand-in, and name what is left out of it. What cannot be copied is that hand-in's own matter."""
        shutil.rmtree(dest, ignore_errors=True)
        try:
            left = copy_own(src, Path(dest), self.coursedir.ignore, 1000 * self.coursedir.max_dir_size)
        except (OSError, RecursionError) as error:
            shutil.rmtree(dest, ignore_errors=True)
            self.log.error("Not collected, as it cannot be copied (%s): %s", error, src)
            return
        for name in left[:NAMED]:
            self.log.warning("Not collected, a link, another account's file, too deep or too much: %r of %s", name, src)
        if len(left) > NAMED:
            self.log.warning("Not collected, as little: %d more of %s", len(left) - NAMED, src)
