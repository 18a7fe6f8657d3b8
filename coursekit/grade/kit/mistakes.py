"""Mistakes as values: what comes out if the likeliest thing is done instead, and the words for it."""

from coursekit.grade.kit.same import same


def first_match(got, variants):
    """The words of the first (value, words) whose value `got` is; None if it is none of them."""
    return next((words for value, words in variants if same(got, value)), None)
