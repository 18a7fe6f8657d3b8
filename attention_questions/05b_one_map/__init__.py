"""Checks of assignment 05b: maps of words, of all layers, with gradients (maps.py); the widest path (paths.py)."""

from attention_questions.prelude import announce

from .maps import guided, rolled, word_map
from .paths import widest

announce("one_map", [word_map, rolled, guided, widest], {"which map to show": 9})
