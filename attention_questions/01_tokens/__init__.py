"""Checks of assignment 01: byte pairs, WordPiece, positions, padding."""

from attention_questions.prelude import announce

from .batches import pad_batch
from .byte_pairs import count_pairs, learn_merges, merge, tokenize
from .positions import waves
from .wordpiece import cut, greedy_loses

announce("tokens", [count_pairs, merge, learn_merges, tokenize, cut, greedy_loses, waves, pad_batch],
         {"who gets the credit": 7})
