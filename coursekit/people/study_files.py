"""The file that a person's answers to a study are kept in: a table that its owner can read, and a class can pool.

One file a person, one line an answer, the first for the consent. What is kept of the person is a number drawn by chance
and a nickname if one is typed: no name, no time of day, no machine. Each line ends with a check of itself. A file is
written anew beside the old one and put in its place, so that it is whole whenever the notebook stops. While a study
runs, the columns that tell right answers are sealed, so that nobody reads them by chance; `pool` does, and so can
whoever wants to.
"""

import csv
import hashlib
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SEALED, MOST = "sealed ", 10 ** 6                           # how such a column begins; bytes of a file of answers


class Tally(NamedTuple):
    """How many answers of one person are right, wrong, and "I cannot tell".

    >>> Tally(right=5, wrong=1, unsure=2).right
    5
    """

    right: int
    wrong: int
    unsure: int


def write_answers(path, rows, sealed=()):
    """Write rows (dictionaries of strings, the consent first) to a CSV file, all or nothing, some columns sealed."""
    rows = [{SEALED * (name in sealed) + name: _masked(row, name, value.ljust(32).encode()).hex()
             if name in sealed and value else value for name, value in row.items()} for row in rows]
    with open(f"{path}.new", "w", newline="", encoding="utf8") as file:
        csv.writer(file).writerows([[*rows[0], "check"], *([*row.values(), _check(row)] for row in rows)])
    os.replace(f"{path}.new", path)


def read_answers(path):
    """The rows of one person's file, dictionaries of strings, the consent first. ValueError, in one line, for a file of
    something else and for one of which a line is damaged."""
    try:
        with (Path(path) if isinstance(path, str) else path).open("rb") as file:
            text = file.read(MOST)                          # a longer one is damaged there
        table = list(csv.reader(text.decode("utf-8-sig", errors="replace").splitlines()))
    except (csv.Error, zipfile.BadZipFile, zlib.error, RuntimeError) as error:              # a password, for example
        raise ValueError(f"{path} cannot be read: {error}") from None
    if len(table) < 2 or table[0][:4] != ["material", "person", "nickname", "seed"]:
        raise ValueError(f"{path} has no answers to a study: take the file as the notebook wrote it")
    rows = [dict(zip(table[0][:-1], line, strict=False)) for line in table[1:]]  # too short or long: told by the check
    for step, (row, line) in enumerate(zip(rows, table[1:], strict=True)):
        same = line[:4] == table[1][:4] and row.get("step") == str(step)
        if len(line) != len(table[0]) or line[-1] != _check(row) or not same:
            raise ValueError(f"{path}, line {step + 2} is damaged: take the file as the notebook wrote it")
    try:
        return [dict(_opened(row)) for row in rows]
    except ValueError:                                      # who forges a check can forge a seal
        raise ValueError(f"{path} is damaged: take the file as the notebook wrote it") from None


def _opened(row):
    """(name, value) of a row, each value as it was before it was sealed."""
    for name, value in row.items():
        opened = name.removeprefix(SEALED)
        yield opened, value if opened == name else _masked(row, opened, bytes.fromhex(value)).decode().rstrip()


def _masked(row, name, value):
    """Bytes that cannot be read; masked again, they are the value."""
    mask = hashlib.shake_256(f"{row['person']} {row['step']} {name}".encode()).digest(len(value))
    return bytes(a ^ b for a, b in zip(mask, value, strict=True))


def _check(row):
    return hashlib.sha256("\t".join([*row, *row.values()]).encode()).hexdigest()[:8]


def pool(paths: str | Path | Iterable[str | Path], study: Any = None) -> list[dict[str, str]]:
    """All answers of several people, a list of dictionaries of strings, from their files: for a teacher.

    paths: of the files; or a folder, or a zip, in which all that ends in .csv is taken, whatever its name. study:
    ModelChoiceStudy or WordRemovalStudy, where files of both lie together; those of the other one are left out.
    Raises ValueError, in one line, for a file of another study, or of other reviews, than the first one, for a damaged
    line, and for a person who comes twice.

    >>> pool([])
    []
    """
    people = {}
    for path in _files(paths):
        rows = read_answers(path)
        if study and study.columns[0] not in rows[0]:
            continue
        if rows[0]["material"] != next(iter(people.values()), rows)[0]["material"]:
            raise ValueError(f"{path} is of another study than the files before it: pool those of one")
        if rows[0]["person"] in people:
            raise ValueError(f"{path} is of person {rows[0]['person']}, whose answers are there already: a copy?")
        people[rows[0]["person"]] = rows
    return [row for rows in people.values() for row in rows[1:]]


def _files(paths):
    """The files that are meant: of a folder or a zip those that end in .csv, but for what systems hide there."""
    if not isinstance(paths, str | Path):
        return paths
    if zipfile.is_zipfile(paths):
        archive = zipfile.ZipFile(paths)
        inside = [zipfile.Path(archive, name) for name in archive.namelist()]
    elif Path(paths).is_dir():
        inside = Path(paths).rglob("*")
    else:
        return [paths]
    return sorted((path for path in inside if path.name.lower().endswith(".csv") and path.name[0] != "."
                   and path.is_file()), key=str)


def right_by_person(rows: Sequence[Mapping[str, str]], explained: str | None = None) -> dict[str, Tally]:
    """{person: Tally} of rows of the study of choices; explained: only pages with ("yes") or without explanations.

    >>> right_by_person([dict(person="a1", explained="yes", correct=correct) for correct in ("yes", "")])
    {'a1': Tally(right=1, wrong=0, unsure=1)}
    """
    counts = {}
    for row in rows:
        if explained in (None, row["explained"]):
            counts.setdefault(row["person"], Counter())[row["correct"]] += 1
    return {person: Tally(of["yes"], of["no"], of[""]) for person, of in counts.items()}
