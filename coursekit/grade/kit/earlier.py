"""Earlier questions whose functions a later answer calls: one that is empty or wrong is named, and may be lent."""

import re

from coursekit.grade.kit import services
from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.score import failed, questions


def blame(question, answer, failure, hidden):
    """A CheckFailed that names the first earlier function that the answer calls and that is wrong: on what it gets in
    the failing case, where the question knows that (`uses`), else on its own check. None if there is none."""
    label, arguments = getattr(failure, "case", ("", ()))
    used = question.uses(*services.copies(arguments)) if question.uses and arguments else []
    for number, other in _before(question):
        function = services.beside(answer, other.name) if services.calls(answer, other.name) else None
        if function is None:
            continue
        for cases in [{label: given} for q, given in used if q is other] if question.uses else [other.cases]:
            try:
                other.attempt(function, cases, hidden)
            except CheckFailed as found:
                return _named(question, other, number, found, hidden)
    return None


def empty_one(question, place):
    """As `blame`, if an answer stopped in an earlier function that is still empty: `place` is "line 2 of merge: …"."""
    found = re.match(r"line \d+ of (\w+)", place)
    return next((_named(question, other, number, CheckFailed(kind="empty"), True) for number, other in _all(question)
                 if found and found[1] == other.name != question.name), None)


def with_lent(question, answer, cases):
    """In hidden tests: is the answer right once earlier functions that failed are answered by the reference? Then their
    names as text; else ""."""
    wrong = {other.name: other for _, other in _before(question) if other.name in question.lend
             and failed(question.topic, other.name) and services.calls(answer, other.name)}
    if not wrong:
        return ""
    try:
        with services.lent(answer, {name: other.reference for name, other in wrong.items()}):
            question.attempt(answer, cases, hidden=True)
    except CheckFailed:
        return ""
    return " and ".join(f"`{name}`" for name in wrong)


def _named(question, other, number, found, hidden):
    start = f"✗ {question.name} calls `{other.name}` (question {number}), which "
    if found.kind == "empty":
        return CheckFailed(question.hints.get("empty", "Write it first."), start + "is still empty.", kind="earlier")
    rows = [("there", found.headline), *([] if hidden else found.rows)]
    return CheckFailed(found.advice, start + "is not right yet: begin there.", rows, kind="earlier")


def _all(question):
    return list(enumerate(questions(question.topic), 1)) if question.topic else []


def _before(question):
    return [(number, other) for number, other in _all(question)
            if number < 1 + [q.name for _, q in _all(question)].index(question.name)]
