"""Checks of assignment 05: rows.py on one row, heads.py on a head's habit, arrivals.py on what it brings."""

from coursegrade.kit.score import announce

from .arrivals import carried
from .heads import habit, previous
from .rows import one_row

__all__ = ["previous", "one_row", "habit", "carried"]

announce("reading_attention", [one_row, habit, carried], {"does looking matter": 7})
