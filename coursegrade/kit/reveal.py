"""The course's own answer to a question, for who has tried three times: in copies for self-study, which have the
course's solutions beside them, and in bundles made with `release --answers`. Else nothing is offered.
"""

import collections
import inspect

from coursegrade import courses
from coursegrade.kit.guesses import Beside

MARK = "answers"        # a file in the course's package that allows it
TRIES = 3

_failed = collections.Counter()         # (topic, question) → runs of its check that failed; empty ones do not count


def allowed():
    """May this copy show answers?"""
    return (courses.folder() / MARK).exists() or (courses.folder().parent / "solutions").is_dir()


def offered(question, failure):
    """A failure of a question's check, with a row on where its answer is, if it is due."""
    _failed[question.topic, question.name] += failure.kind not in ("empty", "earlier")
    if question.topic and _failed[question.topic, question.name] >= TRIES and allowed():
        failure.rows.append(("stuck?", f"check.{question.topic}.{question.name}.answer(), in a cell of its own, shows "
                                       "the course's answer. Are there hints that you have not read?"))
    return failure


def answer(question):
    """What the course answers to a question, below a word on its choice. ValueError where it is not due."""
    if not allowed():
        raise ValueError("this copy has no answers to show: the check and the hints help, and your teacher does")
    if _failed[question.topic, question.name] < TRIES:
        raise ValueError(f"{question.name} is shown after {TRIES} runs of its check that did not pass, and there were "
                         f"{_failed[question.topic, question.name]}")
    return Beside(question.why or "One right answer; others may be as good.",
                  [inspect.getsource(question.reference).rstrip()], False)


def forget():
    """Forget all runs."""
    _failed.clear()
