"""Who is in the class: grading/roster.csv, in our own columns or as Canvas or Moodle export them.

    ours                    id, first_name, last_name, email, lms_user_id (the first is enough where files are called
                            by it)
    Canvas                  the gradebook: Student, ID, SIS User ID, SIS Login ID, Section, …
    Moodle                  participants or gradebook: First name, Last name or Surname, ID number, Email address, …

The id, which folders are called by, is the first of these columns in which everybody has one of their own: SIS Login
ID, SIS User ID and ID on Canvas; ID number, Username and Email address on Moodle.
"""

import collections
import dataclasses
import re

from coursegrade.marking import tables

STUDENT = re.compile(r"\w[\w.@+-]{0,99}")                               # an id that is safe as a folder's name
IDS = {"canvas": ("sis login id", "sis user id", "id"), "moodle": ("id number", "username", "email address", "email"),
       "ours": ("id",)}
FIRST, LAST = ("first_name", "first name", "firstname"), ("last_name", "last name", "lastname", "surname")


class Unclear(Exception):
    """The roster cannot be understood; the message says what is wrong with it."""


@dataclasses.dataclass
class Person:
    """first_name, last_name, email and lms_user_id are None where they are not known; row: as the platform had it."""

    first_name: str | None
    last_name: str | None
    email: str | None
    lms_user_id: str | None
    row: dict


def read(path):
    """{id: Person} of a class. Raises `Unclear`."""
    rows = tables.read(path)
    if not rows:
        return {}
    kind = "canvas" if {"sis login id", "sis user id"} & rows[0].keys() else "ours" if "id" in rows[0] else "moodle"
    if kind == "canvas":                                                # no points possible, no test student
        rows = [row for row in rows if row.get("id") and row.get("student") != "Student, Test"]
    columns = [name for name in IDS[kind] if rows and name in rows[0]]
    if not columns and rows:
        raise Unclear(f"has no column “id”, nor those of Canvas or Moodle; it has {', '.join(rows[0])}.")
    column = next((name for name in columns if all(STUDENT.fullmatch(row[name]) for row in rows)
                   and len({row[name] for row in rows}) == len(rows)), None)
    if rows and not column:
        raise Unclear(problem(rows, columns[0]))
    return {row[column]: person(row, kind) for row in rows}


def person(row, kind):
    """The `Person` in a row."""
    def of(names):
        return next((row[name] for name in names if row.get(name)), None)

    first, last = of(FIRST), of(LAST)
    if kind == "canvas" and not last:                                   # Doe, Jane
        last, _, first = (part.strip() or None for part in row.get("student", "").partition(","))
    email = of(("email", "email address", "e-mail", "sis login id"))
    number = row.get("id") if kind == "canvas" else row.get("lms_user_id")
    return Person(first, last, email if email and "@" in email else None, number or None, row)


def problem(rows, column):
    """What is wrong with the ids in a column, in words."""
    for name in (row[column] for row in rows):
        if not STUDENT.fullmatch(name):
            return f"the id {name!r} is empty, or has signs other than letters, digits and . _ @ + -."
    name, _ = collections.Counter(row[column] for row in rows).most_common(1)[0]
    return f"the id {name!r} is there twice."
