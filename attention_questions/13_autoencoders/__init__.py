"""Checks of assignment 13: directions.py, codes.py, halves.py and turning.py have its questions."""

from attention_questions.prelude import announce

from .codes import audit, batch_topk, best_code
from .directions import sharing
from .halves import discover
from .turning import clamp, quiet

announce("autoencoders", [sharing, audit, best_code, discover, clamp, quiet, batch_topk],      # the last is a bonus
         {"what a dial proves": 5})
