"""Checks of assignment 02: one head (one_head.py); several heads, a test of equivariance, a folded head, an experiment
of one's own (heads.py); a query from another text, and two pictures that disagree (two_texts.py)."""

from attention_questions.prelude import announce

from .heads import fold, is_equivariant, known, multi_head, my_experiment
from .one_head import look_up, masked_weights, self_attention, softmax
from .two_texts import cross_attention, they_disagree

__all__ = ["known"]                     # for hidden tests, beside the questions

announce("attention", [softmax, self_attention, multi_head, fold, my_experiment, they_disagree, look_up, masked_weights,
                       cross_attention, is_equivariant], {"reading attention": 8})
