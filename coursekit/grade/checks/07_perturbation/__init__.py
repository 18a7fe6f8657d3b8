"""Checks of assignment 07: copies.py, nearness.py, surrogate.py and sharing.py have its questions."""

from coursekit.grade.kit.score import announce

from .black_box import as_predict
from .copies import leave_one_out, perturbed
from .nearness import proximity
from .sharing import shapley, shapley_from_orders
from .surrogate import fit, lime

__all__ = ["box", "perturbed", "leave_one_out", "proximity", "fit", "lime", "shapley", "shapley_from_orders"]

box = as_predict        # for those who want to try a table

announce("perturbation", [perturbed, leave_one_out, proximity, fit, lime, shapley, shapley_from_orders],
         {"can it be trusted?": 5})
