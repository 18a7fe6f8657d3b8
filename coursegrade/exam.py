"""Examinations with pencil and paper, drawn: their numbers come of the teacher's seed.

A **template** is a function of a random generator that gives an `Exercise`: a text with numbers, what is asked, and
the solutions, computed from these numbers. The generator depends on the seed, the version of the paper and the
template's name alone, so another version has other numbers, and the same seed gives the same bytes.

A **paper** is a row of slots, each with the names of one or several templates of the same points. Version A takes one
of each slot, in an order that the seed draws, version B the next one: so it has the same points, partly other
exercises, and other numbers in the rest.

The course's templates and papers lie in the package `exams` of its questions (courses.py), which registers them here
when it is imported. Texts are Markdown with TeX between $ signs.
"""

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from coursegrade import courses

TEMPLATES, PAPERS = {}, {}                                              # {name: Template}, {name: Paper}


@dataclass(frozen=True)
class Part:
    """One thing that is asked. ask, solution, marks: Markdown. A line of marks begins with its points, "1: …", "½: …",
    and says what must be there for them; together they are `points`. A line that begins otherwise is a remark. value:
    the number, letters or order that are right, or a tuple of these; None where only words count."""

    ask: str
    points: int
    solution: str
    marks: str
    value: object


@dataclass(frozen=True)
class Exercise:
    """What a template gives. title: neutral, it names no method that has to be found. given: each number that the text
    or the parts show, by name."""

    title: str
    text: str
    parts: tuple[Part, ...]
    given: dict

    @property
    def points(self):
        """Those of all parts."""
        return sum(part.points for part in self.parts)


@dataclass(frozen=True)
class Template:
    """A registered template. lecture: "05b". minutes: what it takes, by the course's rule. make(generator) → Exercise.
    """

    lecture: str
    minutes: int
    make: Callable

    def draw(self, seed, version="A"):
        """The exercise of a seed (a text) and a version."""
        return self.make(generator(seed, version, self.make.__name__))


@dataclass(frozen=True)
class Paper:
    """title: as printed. minutes: how long people have. slots: tuples of names of templates."""

    title: str
    minutes: int
    slots: tuple

    def names(self, seed, version="A"):
        """The names of the templates of a version ("A" … "Z"), in the order of the slots."""
        orders = [generator(seed, "order", "/".join(slot)).permutation(len(slot)) for slot in self.slots]
        return [slot[order[(ord(version) - ord("A")) % len(slot)]]
                for slot, order in zip(self.slots, orders, strict=True)]

    def draw(self, seed, version="A"):
        """The exercises of a version."""
        return [TEMPLATES[name].draw(seed, version) for name in self.names(seed, version)]


def generator(seed, version, name):
    """A NumPy random generator that depends on these three texts alone."""
    import numpy as np

    return np.random.default_rng(list(hashlib.sha256(f"examination/{seed}/{version}/{name}".encode()).digest()))


def template(lecture, minutes):
    """Register the function below as a template, under its name."""
    def register(make):
        TEMPLATES[make.__name__] = Template(lecture, minutes, make)
        return make
    return register


def paper(name, title, slots, minutes=90):
    """Register a paper: `python -m coursegrade exam NAME`. slots: tuples of names of templates."""
    PAPERS[name] = Paper(title, minutes, tuple(slots))


def load():
    """{name: Paper} of this course; {} if it has none."""
    if (courses.folder() / "exams").is_dir():
        importlib.import_module(f"{courses.here().__name__}.exams")
    return PAPERS


# ── what templates are written with ───────────────────────────────────────────────────────────────────────────────────

def until(holds, make):
    """The first result of `make()` for which `holds(result)`: how a template draws again where numbers would not do.
    RuntimeError after a thousand."""
    for _ in range(1000):
        if holds(found := make()):
            return found
    raise RuntimeError("a thousand draws, and none of them will do: is the condition too narrow?")


def shown(value):
    """A number as papers print it: whole ones and fractions exactly, others with up to four digits; a text as it is;
    of several, a list with commas.

    >>> shown(-3), shown(Fraction(6, 8)), shown(0.25), shown(("b", 2))
    ('−3', '3/4', '0.25', 'b, 2')
    """
    if isinstance(value, (tuple, list)):
        return ", ".join(map(shown, value))
    if isinstance(value, str):
        return value
    text = str(value) if isinstance(value, Fraction) else f"{round(float(value), 4):.12g}"
    return text.replace("-", "−")


def factor(number):
    """A number as it stands behind a · or a −: a negative one in brackets.

    >>> factor(-3), factor(2)
    ('(−3)', '2')
    """
    return f"({shown(number)})" if number < 0 else shown(number)


def table(head, rows):
    """A Markdown table; a cell that is no text is printed by `shown`.

    >>> print(table(["word", "score"], [["good", -2]]))
    | word | score |
    |---|---|
    | good | −2 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("|" + "|".join("---" if cell == "---" else f" {shown(cell)} " for cell in line) + "|"
                     for line in lines)
