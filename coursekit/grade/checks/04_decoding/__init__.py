"""Checks of assignment 04: rules for a token (rules.py), the draw (drawing.py), a greedy loop (generating.py), reading
on from a cache (reading.py), and beams (beams.py)."""

from coursekit.grade.kit.score import announce

from .beams import beam_search
from .drawing import draw
from .generating import greedy
from .reading import read_on
from .rules import keep_nucleus, keep_top_k, tempered

__all__ = ["tempered", "keep_top_k", "keep_nucleus", "draw", "greedy", "read_on", "beam_search"]

announce("decoding", [tempered, keep_top_k, keep_nucleus, draw, greedy, read_on, beam_search], {"rules compared": 6})
