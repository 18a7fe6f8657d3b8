"""Whose is what came? A file's name is no proof: a hand-in is owned by what the platform wrote at its beginning.

    Canvas    doejane_LATE_4711_9911_02_sorting.ipynb         name, number of the student, number of the file, then
    Moodle    Jane Doe_815_assignsubmission_file_/…           what the student chose; number of the hand-in
    by hand   jdoe.ipynb, jdoe_02_sorting.ipynb, Jane Doe/…, 02_sorting (jdoe).ipynb

What the student chose never gives an owner, and may only raise doubt. Canvas lets students choose their names too, in
some schools, so a name that can be read in two ways is in doubt as well.
"""

import dataclasses
import re
import unicodedata

from coursegrade.marking.roster import STUDENT

MOODLE = re.compile(r"([^_]*)_(\d+)_assignsubmission_[a-z]+(?:_(.*))?", re.S)
NUMBER = re.compile(r"[1-9]\d*")                                        # no 02: the platform's have no leading zero
NOBODY = "nobody on the roster is known by it"
TWO = "its name could mean two students"
TWO_WAYS = "its name can be read in two ways"
OTHER_NUMBER = "its number is not the one that the roster has for that name"


@dataclasses.dataclass(frozen=True)
class Claim:
    """Whose an entry says that it is.

    students: whom it could mean, none for nobody. doubt: why it is not clear, or "". hand: what stands for the person
    who handed it in; two entries with the same are of one person. platform: "canvas", "moodle" or "". late: it is
    marked as late. given: the name that the student gave it, or "".
    """

    students: frozenset
    doubt: str
    hand: str
    platform: str = ""
    late: bool = False
    given: str = ""

    @property
    def owner(self):
        """The student, where it is clear; else None."""
        return None if self.doubt or len(self.students) != 1 else next(iter(self.students))


def keys(roster):
    """{"names" | "numbers" | "words": {squeezed text: {students}}}: what they are known by on Canvas and Moodle, on
    Canvas, and in names that people gave to files. {} without a roster."""
    if not roster:
        return {}
    found = {"names": {}, "numbers": {}, "words": {}}
    for student, about in roster.items():
        first, last, email = (about[column] or "" for column in ("first_name", "last_name", "email"))
        names, number = (first + last, last + first), about["lms_user_id"] or ""
        for kind, texts in ("names", names), ("numbers", (number,)), ("words", (
                *names, number, email, email.partition("@")[0])):
            for text in {squeezed(text) for text in texts} - {""}:
                found[kind].setdefault(text, set()).add(student)
    ids = {}
    for student in roster:
        ids.setdefault(squeezed(student), set()).add(student)
    found["words"] |= ids                                               # whatever else it could mean
    return found


def claim(entry, people, assignment):
    """The `Claim` of an entry's name. people: from `keys`; without a roster a name is the id."""
    if found := MOODLE.fullmatch(entry):
        students = people["names"].get(squeezed(found[1]), set()) if people else set()
        return judged(students, f"moodle {squeezed(found[1])} {found[2]}", platform="moodle", given=found[3] or "")
    if readings := canvas(entry, assignment):
        return of_canvas(readings, people)
    name = re.sub(r" ?\(\d\d?\)$", "", stem(entry))                     # a browser's mark for a second download
    if not people:
        name = name.removesuffix(f"_{assignment}")
        return judged({name} if STUDENT.fullmatch(name) else set(), entry)
    return judged(by_hand(name, people["words"], assignment), entry)


def of_canvas(readings, people):
    """The `Claim` of a name with these `canvas` readings: by the number, else by the name of those who have none."""
    numbers = people["numbers"] if people else {}
    known, students, doubt = set().union(*numbers.values()), set(), ""
    for name, _, number, _ in readings:
        named = people["names"].get(squeezed(name), set()) if people else set()
        numbered = numbers.get(number, set())
        students |= numbered if numbered & named else numbered | named
        if not numbered and named & known:
            doubt = OTHER_NUMBER
    if students and len(readings) > 1:
        doubt = TWO_WAYS
    hand = "canvas " + " or ".join(f"{squeezed(name)} {number}" for name, _, number, _ in readings)
    return judged(students, hand, doubt, platform="canvas", late=readings[0][1], given=readings[0][3])


def judged(students, hand, doubt="", **about):
    """A `Claim`, with the doubt that is in it."""
    doubt = doubt or (TWO if len(students) > 1 else "" if students else NOBODY)
    return Claim(frozenset(students), doubt, hand, **about)


def canvas(entry, assignment):
    """[(name, late?, number, rest)]: the ways to read an entry as one of Canvas's, usually one or none.

    >>> canvas("doejane_LATE_4711_9911_02_sorting.ipynb", "02_sorting")
    [('doejane', True, '4711', '02_sorting.ipynb')]
    """
    parts = re.sub(rf"_{re.escape(assignment)}[^_]*$", "", entry).split("_")
    found = []
    for i in range(1, len(parts) - 1):
        if NUMBER.fullmatch(parts[i]) and NUMBER.fullmatch(parts[i + 1]):       # of the student and of the file
            late = i > 1 and parts[i - 1] == "LATE"
            found.append(("_".join(parts[:i - late]), late, parts[i], "_".join(entry.split("_")[i + 2:])))
    text = re.fullmatch(r"(.+?)(_LATE)?_([1-9]\d*)_(?:text|link)\.html", entry)     # no file, but what was typed
    return found or ([(text[1], bool(text[2]), text[3], "")] if text else [])


def by_hand(name, words, assignment):
    """The students whom a name that a person gave could mean: the one of its longest beginning, and those of the parts
    after that. The assignment's own name may come first."""
    name = re.sub(rf"^{re.escape(assignment)}(?![^\W_])", "", name)
    parts = [part for part in re.split(r"[_\s()-]+", name) if part]
    for n in range(len(parts), 0, -1):
        if found := words.get(squeezed("".join(parts[:n]))):
            return found.union(*(words.get(squeezed(part), set()) for part in parts[n:]))
    return set()


def stem(entry):
    """The name of an entry without .ipynb and .zip."""
    return re.sub(r"\.(ipynb|zip)$", "", entry, flags=re.I)


def squeezed(text):
    """A name without spaces, signs, accents and capitals."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())
