"""The file that a person's answers to a study are kept in: a table that its owner can read, and a class can pool.

One file a person, one line an answer, the first for the consent. What is kept of the person is a number drawn by chance
and a nickname if one is typed: no name, no time of day, no machine. Each line ends with a check of itself. A file is
written anew beside the old one and put in its place, so that it is whole whenever the notebook stops.
"""

import csv
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Tally(NamedTuple):
    """How many answers of one person are right, wrong, and "I cannot tell".

    >>> Tally(right=5, wrong=1, unsure=2).right
    5
    """

    right: int
    wrong: int
    unsure: int


def write_answers(path, rows):
    """Write rows (dictionaries of strings, the consent first) to a CSV file, all or nothing."""
    with open(f"{path}.new", "w", newline="", encoding="utf8") as file:
        csv.writer(file).writerows([[*rows[0], "check"], *([*row.values(), _check(row)] for row in rows)])
    os.replace(f"{path}.new", path)


def read_answers(path):
    """The rows of one person's file, dictionaries of strings, the consent first. ValueError, in one line, for a file of
    something else and for one of which a line is damaged."""
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        table = list(csv.reader(file))
    if len(table) < 2 or table[0][:4] != ["material", "person", "nickname", "seed"]:
        raise ValueError(f"{path} has no answers to a study: take the file as the notebook wrote it")
    rows = [dict(zip(table[0][:-1], line, strict=False)) for line in table[1:]]  # too short or long: told by the check
    for step, (row, line) in enumerate(zip(rows, table[1:], strict=True)):
        same = line[:4] == table[1][:4] and row.get("step") == str(step)
        if len(line) != len(table[0]) or line[-1] != _check(row) or not same:
            raise ValueError(f"{path}, line {step + 2} is damaged: take the file as the notebook wrote it")
    return rows


def _check(row):
    return hashlib.sha256("\t".join([*row, *row.values()]).encode()).hexdigest()[:8]


def pool(paths: Iterable[str | Path]) -> list[dict[str, str]]:
    """All answers of several people, a list of dictionaries of strings, from their files: for a teacher.

    Raises ValueError, in one line, for a file of another study, or of other reviews, than the first one, for a damaged
    line, and for a person who comes twice.

    >>> pool([])
    []
    """
    people = {}
    for path in paths:
        rows = read_answers(path)
        if rows[0]["material"] != next(iter(people.values()), rows)[0]["material"]:
            raise ValueError(f"{path} is of another study than the files before it: pool those of one")
        if rows[0]["person"] in people:
            raise ValueError(f"{path} is of person {rows[0]['person']}, whose answers are there already: a copy?")
        people[rows[0]["person"]] = rows
    return [row for rows in people.values() for row in rows[1:]]


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
