"""Checks of assignment 08: slopes.py, laws.py, own.py, mixtures.py and lemmas.py have its questions."""

from attention_questions.prelude import announce

from .laws import best_line, kept_law, left_out
from .lemmas import fails, from_pairs
from .mixtures import mean_score, shapley
from .own import my_experiment
from .slopes import two_ways

announce("theory", [two_ways, kept_law, best_line, left_out, my_experiment,
                    mean_score, shapley, fails, from_pairs],                # these four are a bonus
         {"attention as an explanation": 7})
