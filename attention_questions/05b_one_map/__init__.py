"""Checks of assignment 05b: words.py on pieces, rollout.py on layers, relevance.py on gradients, paths.py on paths."""

from attention_questions.prelude import announce

from .paths import widest
from .relevance import guided
from .rollout import rolled
from .words import word_map

announce("one_map", [word_map, rolled, guided, widest], {"which map to show": 9})
