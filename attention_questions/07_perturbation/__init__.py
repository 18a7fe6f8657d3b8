"""Checks of assignment 07: copies.py, surrogate.py and shapley.py have its questions."""

from attention_questions.prelude import announce

from .black_box import as_predict as box
from .copies import leave_one_out, perturbed
from .shapley import apart, kernel_shap, shapley, shapley_from_orders
from .surrogate import fit, lime, proximity

__all__ = ["box"]       # for notebooks, beside the questions: for those who want to try a table

announce("perturbation", [perturbed, leave_one_out, proximity, fit, lime, shapley,
                          kernel_shap, shapley_from_orders, apart],     # these three are a bonus
         {"can it be trusted?": 6})
