"""Checks of assignment 10: weights.py, orders.py, corners.py, documents.py and own.py have its
questions."""

from attention_questions.prelude import announce

from .corners import effective, farthest
from .documents import opposite
from .orders import flips, tau
from .own import my_experiment
from .weights import js, shuffled

announce("debate", [js, tau, farthest, opposite, my_experiment, shuffled, flips, effective],  # three are a bonus
         {"what a test can say": 8})
