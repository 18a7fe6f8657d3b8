"""Checks of assignment 12: reading.py, closing.py, counting.py, fooling.py and maps.py have its questions."""

from attention_questions.prelude import announce

from .closing import by_distance
from .counting import votes
from .fooling import fool
from .maps import apart, on_top
from .reading import chances, read

announce("dyck", [read, chances, by_distance, on_top, votes, fool, apart],          # the last is a bonus
         {"equally right": 5})
