"""What every template promises, tried by tests/grading/exams/ on 200 seeds: `drawn`, `promises`, `flat`; and
the minutes that a template takes by the rule, `by_rule`."""

import functools
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

from coursegrade import exam
from coursegrade.marking import sheets

SEEDS = [f"a seed of the tests, number {number}" for number in range(200)]
PAPERS = exam.load()


@functools.cache
def drawn(name):
    """The template's exercises of all seeds."""
    return [exam.TEMPLATES[name].draw(seed) for seed in SEEDS]


def flat(value):
    """All numbers and texts in a value, however deep."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in flat(part)]
    return [value]


def says(text, value):
    """Does a text show this number, with either sign, or these letters?"""
    if isinstance(value, str):
        return value in text
    number = exam.shown(value).lstrip("−")
    ways = [number]
    if isinstance(value, Fraction) and "/" in number:
        ways.append(r"\frac{" + number.replace("/", "}{") + "}")
    return any(re.search(rf"(?<![\d.]){re.escape(way)}(?![\d/]|\.\d)", text.replace(",", "")) for way in ways)


def points(marks):
    """The sum of the points that begin the lines of marks."""
    found = re.findall(r"^(½|\d+½?|\d+): \S", marks, re.M)
    return sum(Fraction(1, 2) if one == "½" else Fraction(one.rstrip("½")) + Fraction(one.endswith("½"), 2)
               for one in found)


def whole(tex):
    """Has each fraction, root and script of a formula what stands in it?"""
    wanted = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "msqrt": 1, "msubsup": 3}
    parts = ET.fromstring(sheets.mathml(tex)).iter()
    return all(len(one) == wanted.get(one.tag.partition("}")[2], len(one)) for one in parts)


def promises(name):
    """Assert for each seed: the text shows what is given, the solution each value, marks sum to the points; and some
    part asks for words. Of a few seeds, formulas can be set."""
    for exercise in drawn(name):
        asked = "\n".join([exercise.text, *(part.ask for part in exercise.parts)])
        unseen = [one for one in flat(exercise.given) if not says(asked, one)]
        assert not unseen, f"{name}: the text does not show {unseen}"
        for part in exercise.parts:
            missing = [one for one in flat(part.value) if one is not None and not says(part.solution, one)]
            assert not missing, f"{name}: the solution does not say {missing}"
            assert points(part.marks) == part.points > 0, f"{name}: marks of {part.ask!r}"
        assert exercise.points == drawn(name)[0].points
    assert any(part.value is None or "Why" in part.ask for part in exercise.parts), f"{name} asks for no reason"
    for exercise in drawn(name)[::20]:
        parts = [text for part in exercise.parts for text in (part.ask, part.solution, part.marks)]
        for text in (exercise.text, *parts):
            assert "$" not in sheets.MARKDOWN(text), f"{name}: a $ has no other in {text!r}"
            for tex in re.findall(r"\$([^$]+)\$", text):
                assert tex.count("{") == tex.count("}") and whole(tex), f"{name}: {tex!r} is cut off"
    assert len({str(exercise.given) for exercise in drawn(name)}) > 20, f"{name}: few different papers"


def by_rule(name):
    """Minutes by the rule of attention_questions/exams/__init__.py; the docstring has steps and words."""
    exercises = drawn(name)
    steps, words = map(int, re.search(r"Steps (\d+), words (\d+)\.$", exam.TEMPLATES[name].make.__doc__).groups())
    read = [len(re.findall(r"[\w.%/−-]+", "\n".join([exercise.text, *(part.ask for part in exercise.parts)])))
            for exercise in exercises]
    return sum(read) / len(read) / 150 + len(exercises[0].parts) / 2 + steps / 6 + words / 15
