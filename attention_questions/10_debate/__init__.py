"""Checks of assignment 10: weights.py, orders.py, corners.py and documents.py have its questions."""

from attention_questions.prelude import announce

from .corners import effective, farthest
from .documents import opposite
from .orders import flips, tau
from .weights import js, shuffled

announce("debate", [js, shuffled, tau, flips, farthest, opposite, effective],      # the last is a bonus
         {"what a test can say": 5})
