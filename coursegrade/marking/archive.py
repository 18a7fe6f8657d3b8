"""Reads zip files that may be anything: opened once, no byte more than was asked for, and only the two common packings.

A zip file of a few kilobytes can claim to hold a million files or a terabyte; nothing here trusts what it claims.
"""

import contextlib
import functools
import stat
import zipfile
import zlib
from pathlib import PurePosixPath

from coursegrade.marking.files import DEEPEST
from coursegrade.marking.intake import LEFT_OUT, TIMESTAMP

MAX_ENTRIES = 20_000                                                    # files and folders in the zip of a student
ENTRY = b"PK\1\2"                                                       # begins each entry of a zip file's directory
DAMAGED = LEFT_OUT + b"cannot be unpacked: it is damaged or has a password"
UNUSUAL = LEFT_OUT + b"cannot be unpacked: it is packed in an unusual way"


class Broken(Exception):
    """It is no zip file that can be opened; the message says why, to go on after the file's name."""


@contextlib.contextmanager
def opened(file, most=None):
    """The `zipfile.ZipFile` in an open binary file, as a context. most: of how many entries, for a student's."""
    if most:
        if file.read().count(ENTRY) > most:                             # counted before zipfile makes objects of them
            raise Broken(f"has more than {most:,} entries")
        file.seek(0)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
        raise Broken("is no complete zip file") from None
    with archive:
        yield archive


def files(archive):
    """[(parts of the path, bytes, a function that reads it)] of the plain files in an open archive."""
    found = []
    for info in archive.infolist():
        parts = PurePosixPath(info.filename).parts
        if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16) and usable(parts):
            found.append((parts, info.file_size, functools.partial(member, archive, info)))
    return found


def member(archive, info):
    """The bytes of one file in an archive, as many as it says it has, or a marker that says why not."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return UNUSUAL                                                  # the others unpack without limit
    try:
        with archive.open(info) as file:
            return file.read(info.file_size)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, zlib.error, OSError, ValueError):
        return DAMAGED                                                  # RuntimeError: with a password


def usable(parts):
    """Is a path one that stays in its folder, not too deep, with no hidden files and none that nbgrader gives a meaning
    to?"""
    return 0 < len(parts) <= DEEPEST and parts[0] != "/" and parts[-1] != TIMESTAMP and \
        not any(part.startswith((".", "__MACOSX")) or "\\" in part or "\0" in part for part in parts)
