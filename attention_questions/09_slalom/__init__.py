"""Checks of assignment 09: scores.py, recovery.py, effects.py and signs.py have its questions."""

from attention_questions.prelude import announce

from .effects import by_size, shapley, slopes
from .recovery import best_values, recover
from .scores import soft_score
from .signs import disagree

announce("slalom", [soft_score, recover, best_values, slopes, by_size, disagree, shapley],     # the last is a bonus
         {"a value, or an effect": 5})
