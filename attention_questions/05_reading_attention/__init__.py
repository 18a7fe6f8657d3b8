"""Checks of assignment 05: one row, a head's habit, and what it brings (reading.py); what of that comes of where it
looks, an experiment of the student's own, and a review that misleads (looking.py)."""

from attention_questions.prelude import announce

from .looking import by_looking, my_experiment, review
from .reading import carried, habit, one_row, previous

__all__ = ["previous"]                  # for hidden tests, beside the questions

announce("reading_attention", [one_row, habit, carried, by_looking, my_experiment, review], {"does looking matter": 8})
