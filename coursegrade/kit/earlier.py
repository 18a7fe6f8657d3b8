"""Earlier questions whose functions a later answer calls: one that is empty or wrong is named, and may be lent."""

import itertools
import re

from coursegrade.kit import services
from coursegrade.kit.lending import asked, only
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.score import failed, questions

lends = True            # not in an examination: there each question stands for itself, and nothing is answered


def blame(question, answer, failure, hidden):
    """A CheckFailed that names the first earlier function that the answer calls and that is wrong: on what it gets in
    the failing case, where the question knows that (`uses`), else on its own check. None if there is none."""
    label, arguments = failure.case or ("", ())
    used = question.uses(*services.copies(arguments)) if question.uses and arguments else []
    for number, other in _before(question):
        if not services.calls(answer, other.name) or not (function := services.beside(answer, other.name)):
            continue
        tries = [{label: given} for q, given in used if q is other] if question.uses else [other.cases]
        for cases in tries:
            try:
                other.attempt(function, cases, hidden)
            except CheckFailed as found:
                return _named(question, other, number, found, hidden)
    return None


def empty_one(question, answer, place):
    """As `blame`, if an answer stopped in another function that is still empty, of a question or any other:
    `place` is "line 2 of merge: …"."""
    found = re.match(r"line \d+ of (\w+)", place)
    name = found[1] if found else question.name
    for number, other in _numbered(question):
        if name == other.name != question.name:
            return _named(question, other, number, CheckFailed(kind="empty"), hidden=True)
    if name in (question.name, getattr(answer, "__name__", name)):
        return None
    return CheckFailed(question.hints.get("empty", "Write it first."),
                       f"✗ {question.name} calls `{name}`, which is still empty.", kind="earlier")


def with_lent(question, answer, cases, hidden):
    """When work is marked: is the answer right once earlier functions that failed are answered by the reference? Then
    their names, each in backquotes; else []. On each case they answer what the question's reference asks there."""
    wrong = [other for _, other in _before(question) if lends and other.name in question.lend
             and failed(question.topic, other.name) and services.calls(answer, other.name)]
    try:
        for label, arguments in cases.items() if wrong else ():
            known = asked(question, wrong, arguments)
            lent = {other.name: only(other.reference, known, other.free) for other in wrong}
            with services.lent(answer, lent) as refused:
                question.attempt(answer, {label: arguments}, hidden)
            if refused:                                                 # it was only trying what might be asked
                return []
    except CheckFailed:
        return []
    return [f"`{other.name}`" for other in wrong]


def _named(question, other, number, found, hidden):
    start = f"✗ {question.name} calls `{other.name}` (question {number}), which "
    if found.kind == "empty":
        return CheckFailed(question.hints.get("empty", "Write it first."), start + "is still empty.", kind="earlier")
    rows = [("there", found.headline), *([] if hidden else found.rows)]
    return CheckFailed(found.advice, start + "is not right yet: begin there.", rows, kind="earlier")


def _numbered(question):
    """(number, question) of the questions of its topic; [] of one that no notebook asks."""
    return list(enumerate(questions(question.topic), 1)) if question.topic else []


def _before(question):
    """As `_numbered`, those before it alone."""
    return list(itertools.takewhile(lambda entry: entry[1] is not question, _numbered(question)))
