"""Checks of assignment 13: codes.py and features.py have its questions."""

from attention_questions.prelude import announce

from .codes import audit, batch_topk, best_code, sharing
from .features import clamp, discover, quiet

announce("autoencoders", [sharing, audit, best_code, discover, clamp, quiet, batch_topk],      # the last is a bonus
         {"what a dial proves": 5})
