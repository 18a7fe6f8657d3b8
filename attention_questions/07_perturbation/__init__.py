"""Checks of assignment 07: copies.py, surrogate.py, shapley.py and own.py have its questions."""

from attention_questions.prelude import announce

from .black_box import as_predict as box
from .copies import leave_one_out, perturbed
from .own import my_experiment
from .shapley import apart, kernel_shap, shapley, shapley_from_orders
from .surrogate import fit, lime

__all__ = ["box"]       # for notebooks, beside the questions: for those who want to try a table

announce("perturbation", [perturbed, fit, lime, shapley, my_experiment,
                          leave_one_out, kernel_shap, shapley_from_orders, apart],      # these four are a bonus
         {"can it be trusted?": 8})
