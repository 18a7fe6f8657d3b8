"""What an assignment calls to have an answer looked at: `check.<topic>.<question>(function)`.

    check.attention.softmax(softmax)     one friendly line if it is right; else what a teaching assistant would say
    check.score()                        which questions of the notebook pass, and their points
    check.unseen(name)                   random numbers for tests that students do not see
    check.same(got, expected)            the one comparison; check.difference says in words what differs

A check returns None. If the answer is wrong it raises `CheckFailed`: text without a stack trace for people, a failed
cell for nbgrader. Topics are loaded when they are asked for, so that importing this costs nothing. A topic's folder
holds what is expected; where it was left out, `Later` stands for it.
"""

import importlib
import importlib.util

from coursekit.grade.kit.later import Later
from coursekit.grade.kit.messages import CheckFailed
from coursekit.grade.kit.same import difference, same
from coursekit.grade.kit.score import score
from coursekit.grade.kit.unseen import unseen

TOPICS = {name.partition("_")[2]: name for name in (
    "01_tokens",
    "02_attention",
    "03_gpt2",
    "03b_families",
    "04_decoding",
    "05_reading_attention",
    "05b_one_map",
    "06_gradients",
    "07_perturbation",
    "08_theory",
    "09_slalom",
    "10_debate",
    "11_histogram",
    "12_dyck",
    "13_autoencoders",
    "14_evaluation",
    "15_people",
)}

__all__ = ["CheckFailed", "TOPICS", "difference", "same", "score", "unseen"]


def __getattr__(name):
    if name in TOPICS:
        return importlib.import_module(f"{__name__}.{TOPICS[name]}") if is_here(name) else Later(name)
    raise AttributeError(f"there is no check.{name}: the topics are {', '.join(TOPICS)}")


def is_here(topic):
    """Are the checks of this topic here, with what they expect?"""
    return importlib.util.find_spec(f"{__name__}.{TOPICS[topic]}") is not None


def __dir__():
    return [*__all__, *TOPICS]
