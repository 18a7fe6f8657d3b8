"""Checks of assignment 01: byte pairs, WordPiece, positions, padding."""

from attention_questions.prelude import announce

from .byte_pairs import count_pairs, learn_merges, merge, tokenize
from .inputs import pad_batch, waves
from .wordpiece import cut, greedy_loses

announce("tokens", [count_pairs, merge, learn_merges, tokenize, cut, greedy_loses, waves, pad_batch],
         {"who gets the credit": 7})
