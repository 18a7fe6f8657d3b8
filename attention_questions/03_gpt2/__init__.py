"""Checks of assignment 03: GPT-2's parts (parts.py), and the whole of it (model.py)."""

from attention_questions.gpt2_weights import drawn_weights
from attention_questions.prelude import announce

from .model import gpt2_logits, my_experiment, one_head
from .parts import causal_attention, layer_norm, mlp, mlp_change

__all__ = ["drawn_weights"]             # for hidden tests, beside the questions

announce("gpt2", [layer_norm, mlp, causal_attention, gpt2_logits, my_experiment, mlp_change, one_head],
         {"inside a small GPT": 7})
