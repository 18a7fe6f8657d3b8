"""What an assignment calls to have an answer looked at: `check.<topic>.<question>(function)`.

    check.sorting.merge(merge)     one friendly line if it is right; else what a teaching assistant would say
    check.score()                        which questions of the notebook pass, and their points
    check.guess(what, guessed, found)    what came out, beside what was guessed
    check.unseen(name)                   random numbers for tests that students do not see
    check.same(got, expected)            the one comparison; check.difference says in words what differs

A check returns None. If the answer is wrong it raises `CheckFailed`: text without a stack trace for people, a failed
cell for nbgrader. Topics are loaded when they are asked for, so that importing this costs nothing. A topic's folder
holds what is expected; where it was left out, `Later` stands for it.
"""

import importlib

from coursegrade import courses
from coursegrade.kit.guesses import guess
from coursegrade.kit.later import Later
from coursegrade.kit.messages import CheckFailed
from coursegrade.kit.same import difference, same
from coursegrade.kit.score import score
from coursegrade.kit.unseen import unseen

__all__ = ["CheckFailed", "difference", "guess", "same", "score", "unseen"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    topics = courses.here().TOPICS
    if name in topics:
        return importlib.import_module(f"{courses.here().__name__}.{topics[name]}") if is_here(name) else Later(name)
    raise AttributeError(f"there is no check.{name}: the topics are {', '.join(topics)}")


def is_here(topic):
    """Are the checks of this topic here, with what they expect?"""
    return (courses.folder() / courses.here().TOPICS[topic] / "__init__.py").exists()


def __dir__():
    return [*__all__, *courses.here().TOPICS]
