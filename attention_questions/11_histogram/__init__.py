"""Checks of assignment 11: maps.py and mixes.py have its questions."""

from attention_questions.prelude import announce

from .maps import by_count, loudness, swap, tally
from .mixes import barrier, decode, triplets

announce("histogram", [tally, by_count, loudness, swap, decode, triplets, barrier],             # the last is a bonus
         {"two solutions": 5})
