"""Checks of assignment 04: rules for a token (rules.py), the draw (drawing.py), a greedy loop (generating.py), what it
misses (missing.py), reading on from a cache (reading.py), and beams (beams.py)."""

from attention_questions.prelude import announce

from .beams import beam_search
from .drawing import draw
from .generating import greedy
from .missing import missed
from .reading import read_on
from .rules import keep_nucleus, keep_top_k, tempered

announce("decoding", [tempered, keep_nucleus, draw, greedy, missed,
                      keep_top_k, read_on, beam_search],                # these three are a bonus, as is the worst case
         {"worst case": 1, "rules compared": 6})
