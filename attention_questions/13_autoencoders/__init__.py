"""Checks of assignment 13: codes.py, features.py and own.py have its questions."""

from attention_questions.prelude import announce

from .codes import audit, batch_topk, best_code, sharing
from .features import clamp, discover, quiet
from .own import my_experiment

announce("autoencoders", [discover, clamp, quiet, best_code, my_experiment, sharing, audit, batch_topk],  # three bonus
         {"what a dial proves": 8})
