"""Checks of assignment 06, a file for each idea; paths.py has what several share."""

from attention_questions.prelude import announce

from .black_box import numerical_slopes
from .completeness import complete
from .coordinates import in_coordinates, without_baseline
from .head import head_slopes
from .integrals import integrated
from .swaps import best_swap
from .words import per_word

announce("gradients", [numerical_slopes, per_word, best_swap, integrated, complete, in_coordinates, without_baseline,
                       head_slopes], {"baselines compared": 6})
