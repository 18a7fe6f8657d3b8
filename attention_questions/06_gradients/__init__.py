"""Checks of assignment 06, a file for each idea: slopes, what is made of them for words, paths of them, and own.py."""

from attention_questions.prelude import announce

from .own import my_experiment
from .paths import complete, integrated
from .slopes import head_slopes, in_coordinates, numerical_slopes, without_baseline
from .words import best_swap, per_word

announce("gradients", [numerical_slopes, integrated, in_coordinates, without_baseline, my_experiment,
                       per_word, best_swap, complete, head_slopes],     # these four are a bonus
         {"compared with what": 8})
