"""Checks of assignment 11: counting.py, maps.py, mixes.py and minima.py have its questions."""

from attention_questions.prelude import announce

from .counting import by_count, tally
from .maps import loudness, swap
from .minima import barrier
from .mixes import decode, triplets

announce("histogram", [tally, by_count, loudness, swap, decode, triplets, barrier],             # the last is a bonus
         {"two solutions": 5})
