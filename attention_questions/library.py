"""Full names of what libraries have ready: see prelude.py."""

from attention_questions.prelude import ATTENTIONS, SOFTMAXES

__all__ = ["ATTENTIONS", "SOFTMAXES"]
