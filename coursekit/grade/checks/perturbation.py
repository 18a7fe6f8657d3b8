"""Checks of assignment 07: copies.py, nearness.py, surrogate.py and sharing.py have its questions."""

from coursekit.grade.checks.black_box import as_predict
from coursekit.grade.checks.copies import leave_one_out, perturbed
from coursekit.grade.checks.nearness import proximity
from coursekit.grade.checks.score import announce
from coursekit.grade.checks.sharing import shapley, shapley_from_orders
from coursekit.grade.checks.surrogate import fit, lime

__all__ = ["box", "perturbed", "leave_one_out", "proximity", "fit", "lime", "shapley", "shapley_from_orders"]

box = as_predict        # for those who want to try a table

announce("perturbation", [perturbed, leave_one_out, proximity, fit, lime, shapley, shapley_from_orders],
         {"can it be trusted?": 5})
