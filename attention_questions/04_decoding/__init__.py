"""Checks of assignment 04: rules for a token and the draw (rules.py), greedy texts, what greedy misses, and beams
(texts.py), reading on from a cache (reading.py)."""

from attention_questions.prelude import announce

from .reading import read_on
from .rules import draw, keep_nucleus, keep_top_k, tempered
from .texts import beam_search, greedy, missed

announce("decoding", [tempered, keep_nucleus, draw, greedy, missed,
                      keep_top_k, read_on, beam_search],                # these three are a bonus, as is the worst case
         {"worst case": 1, "rules compared": 6})
