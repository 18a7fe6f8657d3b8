"""Earlier questions whose functions a later answer calls: one that is empty or wrong is named, and may be lent."""

import itertools
import re

from coursegrade.kit import lending, score, services
from coursegrade.kit.messages import CheckFailed

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
                return _named(question, f"`{other.name}` (question {number})", found, hidden)
    return None


def empty_one(question, answer, place):
    """As `blame`, if an answer stopped in another function that is still empty, of a question or any other:
    `place` is "line 2 of merge: …"."""
    found = re.match(r"line \d+ of (\w+)", place)
    name = found[1] if found else question.name
    number = {other.name: f" (question {number})" for number, other in _numbered(question)}.get(name, "")
    if name == question.name or not number and name == getattr(answer, "__name__", name):
        return None
    return _named(question, f"`{name}`{number}", CheckFailed(kind="empty"), hidden=True)


def with_lent(question, answer, cases, hidden):
    """When work is marked: is the answer right once earlier functions that failed are answered by the reference? Then
    their names, each in backquotes; else []. On each case they answer what the question's reference asks there."""
    wrong = [other for _, other in _before(question) if lends and other.name in question.lend
             and score.failed(question.topic, other.name) and services.calls(answer, other.name)]
    try:
        for label, arguments in cases.items() if wrong else ():
            known = lending.asked(question, wrong, arguments)
            lent = {other.name: lending.only(other.reference, known, other.free) for other in wrong}
            with services.lent(answer, lent) as refused:
                question.attempt(answer, {label: arguments}, hidden)
            if refused:                                                 # it was only trying what might be asked
                return []
    except CheckFailed:
        return []
    return [f"`{other.name}`" for other in wrong]


def _named(question, called, found, hidden):
    start = f"✗ {question.name} calls {called}, which is "
    if found.kind == "empty":
        return CheckFailed(question.hints.get("empty", "Write it first."), start + "still empty.", kind="earlier")
    rows = [("there", found.headline), *([] if hidden else found.rows)]
    return CheckFailed(found.advice, start + "not right yet: begin there.", rows, kind="earlier")


def _numbered(question):
    """(number, question) of the questions of its topic; [] of one that no notebook asks."""
    return list(enumerate(score.questions(question.topic), 1)) if question.topic else []


def _before(question):
    """As `_numbered`, those before it alone."""
    return list(itertools.takewhile(lambda entry: entry[1] is not question, _numbered(question)))
