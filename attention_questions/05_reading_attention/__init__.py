"""Checks of assignment 05: rows.py on one row, heads.py on a head's habit, arrivals.py on what it brings."""

from attention_questions.prelude import announce

from .arrivals import carried
from .heads import habit, previous
from .rows import one_row

__all__ = ["previous"]                  # for hidden tests, beside the questions

announce("reading_attention", [one_row, habit, carried], {"does looking matter": 7})
