"""Checks of assignment 05: maps.py and habits.py on maps, mixing.py on layers, paths.py on gradients and paths."""

from coursekit.grade.checks.habits import habit, previous
from coursekit.grade.checks.maps import one_row, word_map
from coursekit.grade.checks.mixing import carried, rolled
from coursekit.grade.checks.paths import guided, widest
from coursekit.grade.checks.score import announce

__all__ = ["previous", "one_row", "word_map", "habit", "rolled", "carried", "guided", "widest"]

announce("reading_attention", [one_row, word_map, habit, rolled, carried, guided, widest], {"which map to show": 6})
