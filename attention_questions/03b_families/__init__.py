"""Checks of assignment 03b: the loss, training (loss.py); a checkpoint, who sees what, what answers at once cost, and
an experiment (families.py)."""

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import announce

from .families import as_stored, at_once, from_checkpoint, may_see, my_experiment
from .loss import overfit, start, text_loss

__all__ = ["as_stored", "drawn_weights", "start"]           # for hidden tests, beside the questions

announce("families", [text_loss, overfit, from_checkpoint, may_see, at_once, my_experiment], {"what a gap costs": 8})
