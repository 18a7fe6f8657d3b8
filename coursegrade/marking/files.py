"""Files that are written whole, and folders and names that may be anything."""

import contextlib
import os
import zipfile
from pathlib import Path

from coursegrade.sandbox.protocol import clean

DEEPEST = 10                                                            # folders within a hand-in's folder


@contextlib.contextmanager
def whole(path, mode="w", **options):
    """An open file, PATH.tmp, that takes the place of `path` at the end: either the old or the new one is there, and
    complete, even if the power goes. After an error the old one stays; an OSError names the file. mode and options: as
    for `open`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with open(temporary, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:                                            # a full disk does not say where
        error.filename = error.filename or str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_zip(path, contents):
    """Write {name: bytes, or the path of a file} as a zip file. The same contents give the same bytes."""
    with whole(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, data in contents.items():
            data = data if isinstance(data, bytes) else Path(data).read_bytes()
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)     # which has the date 1980-01-01


def shown(name):
    """A name from a file system, fit for a terminal and a table."""
    return clean(os.fsencode(name).decode("utf-8", "replace"), 100, lines=False)


def walk(folder, deepest=DEEPEST):
    """`os.walk` from above, but no more than `deepest` folders down: Python 3.11's own ends in a RecursionError after a
    thousand."""
    for here, folders, names in os.walk(folder):
        if len(Path(here).relative_to(folder).parts) >= deepest:
            folders.clear()
        yield here, folders, names
