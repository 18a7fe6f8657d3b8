"""Checks of assignment 12: reading.py, attention.py and own.py have its questions."""

from attention_questions.prelude import announce

from .attention import apart, fool, on_top, votes
from .own import my_experiment
from .reading import by_distance, chances, read

announce("dyck", [read, on_top, votes, fool, my_experiment, chances, by_distance, apart],   # the last three: a bonus
         {"equally right": 8})
