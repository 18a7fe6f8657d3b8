"""Checks of assignment 05: maps.py and habits.py on maps, mixing.py on layers, paths.py on gradients and paths."""

from coursekit.grade.kit.score import announce

from .habits import habit, previous
from .maps import one_row, word_map
from .mixing import carried, rolled
from .paths import guided, widest

__all__ = ["previous", "one_row", "word_map", "habit", "rolled", "carried", "guided", "widest"]

announce("reading_attention", [one_row, word_map, habit, rolled, carried, guided, widest], {"which map to show": 6})
