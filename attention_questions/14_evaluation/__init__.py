"""Checks of assignment 14: features.py, losses.py, pairs.py and fooling.py have its questions; models.py has what they
explain."""

from attention_questions.prelude import announce

from .features import recall, sensitivity
from .fooling import fool
from .losses import aopc, complexity, infidelity
from .models import head, of_rows
from .pairs import compare

__all__ = ["head", "of_rows"]           # for hidden tests, beside the questions

announce("evaluation", [recall, sensitivity, aopc, infidelity, compare, fool, complexity],    # the last is a bonus
         {"what a metric can say": 5})
