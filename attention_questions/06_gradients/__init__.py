"""Checks of assignment 06, a file for each idea: slopes, what is made of them for words, and paths of them."""

from attention_questions.prelude import announce

from .paths import complete, integrated
from .slopes import head_slopes, in_coordinates, numerical_slopes, without_baseline
from .words import best_swap, per_word

announce("gradients", [numerical_slopes, per_word, best_swap, integrated, complete, in_coordinates, without_baseline,
                       head_slopes], {"baselines compared": 6})
