"""Checks of assignment 05: one row, a head's habit, and what it brings (reading.py)."""

from attention_questions.prelude import announce

from .reading import carried, habit, one_row, previous

__all__ = ["previous"]                  # for hidden tests, beside the questions

announce("reading_attention", [one_row, habit, carried], {"does looking matter": 7})
