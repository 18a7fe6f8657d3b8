"""Checks of assignment 09: scores.py, recovery.py, effects.py, signs.py and own.py have its questions."""

from attention_questions.prelude import announce

from .effects import by_size, shapley, slopes
from .own import my_experiment
from .recovery import best_values, recover
from .scores import soft_score
from .signs import disagree

announce("slalom", [soft_score, recover, slopes, disagree, my_experiment, best_values, by_size, shapley],
         {"a value, or an effect": 8})
