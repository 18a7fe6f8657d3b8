"""Checks of assignment 05b: maps of words, of all layers, with gradients (maps.py); signs, and an experiment
(sides.py); the widest path (paths.py)."""

from attention_questions.prelude import announce

from .maps import guided, rolled, word_map
from .paths import widest
from .sides import my_experiment, with_sides

announce("one_map", [word_map, rolled, guided, with_sides, my_experiment, widest], {"which map to show": 9})
