"""Checks of assignment 01: byte pairs, padding, WordPiece, positions, an experiment of the student's own."""

from attention_questions.prelude import announce

from .byte_pairs import count_pairs, learn_merges, merge, tokenize
from .inputs import my_experiment, pad_batch, waves
from .wordpiece import cut, greedy_loses

announce("tokens", [count_pairs, merge, learn_merges, tokenize, pad_batch, cut, greedy_loses, waves, my_experiment],
         {"who gets the credit": 8})
