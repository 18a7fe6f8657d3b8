"""Checks of assignment 07: copies.py, nearness.py, surrogate.py, sharing.py, orders.py and disagreement.py have its
questions."""

from attention_questions.prelude import announce

from .black_box import as_predict
from .copies import leave_one_out, perturbed
from .disagreement import apart
from .nearness import proximity
from .orders import shapley_from_orders
from .sharing import kernel_shap, shapley
from .surrogate import fit, lime

__all__ = ["box"]       # for notebooks, beside the questions

box = as_predict        # for those who want to try a table

announce("perturbation", [perturbed, leave_one_out, proximity, fit, lime, shapley,
                          kernel_shap, shapley_from_orders, apart],     # these three are a bonus
         {"can it be trusted?": 6})
