"""Checks of assignment 03b: the loss, training (loss.py); a checkpoint, who sees what, and what answers at once
cost (families.py)."""

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import announce

from .families import as_stored, at_once, from_checkpoint, may_see
from .loss import overfit, start, text_loss

__all__ = ["as_stored", "drawn_weights", "start"]           # for hidden tests, beside the questions

announce("families", [text_loss, overfit, from_checkpoint, may_see, at_once], {"what a gap costs": 5})
