"""Checks of assignment 12: reading.py and attention.py have its questions."""

from attention_questions.prelude import announce

from .attention import apart, fool, on_top, votes
from .reading import by_distance, chances, read

announce("dyck", [read, chances, by_distance, on_top, votes, fool, apart],          # the last is a bonus
         {"equally right": 5})
