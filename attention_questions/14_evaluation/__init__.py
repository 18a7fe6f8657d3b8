"""Checks of assignment 14, one file a question; models.py has what they explain."""

from coursegrade.kit.score import announce

from .axioms import sensitivity
from .fooling import fool
from .found import recall
from .kept import complexity
from .models import head, of_rows
from .moves import infidelity
from .pairs import compare
from .steps import aopc

__all__ = ["recall", "sensitivity", "aopc", "infidelity", "compare", "fool", "complexity", "head", "of_rows"]

announce("evaluation", [recall, sensitivity, aopc, infidelity, compare, fool, complexity],    # the last is a bonus
         {"what a metric can say": 5})
