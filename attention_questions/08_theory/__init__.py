"""Checks of assignment 08: slopes.py, laws.py, mixtures.py and lemmas.py have its questions."""

from attention_questions.prelude import announce

from .laws import best_line, centred, kept_law
from .lemmas import fails, from_pairs
from .mixtures import mean_score, shapley
from .slopes import two_ways

announce("theory", [two_ways, kept_law, best_line, centred, mean_score, shapley,
                    fails, from_pairs],                                     # these two are a bonus
         {"attention as an explanation": 5})
