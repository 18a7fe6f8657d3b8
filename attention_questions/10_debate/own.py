"""The check of assignment 10 on an experiment of the student's own: one more test of attention, on eight reviews."""

from coursegrade.kit.experiment import experiment

from . import solution
from .weights import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="Leave-one-out is computed from the weights that it is compared with. Weights that nobody learned show "
        "how much of τ comes from that alone.",
    hints={"shapes": "Are the weights and the numbers y of the same words? A part of a review is a part of both.",
           "unpack": "`heads_of(name, seed)` is a list of six pairs (alpha, y). `for alpha, y in …` goes through it."})
