"""The check of assignment 07 on an experiment of the student's own: what a choice does to an explanation."""

from coursegrade.kit.experiment import experiment

from . import solution
from .black_box import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="Only the way of drawing masks differs: text, number of masks and ridge are the same. One pair of runs would "
        "be luck, so steadiness is measured over ten.",
    hints={
        "must be Tensor": "`predict` is a function: hand over `peaky.predict`, not the model `peaky`.",
        "inhomogeneous|'tuple' object|tuple and": "`lime` returns three things: its coefficients are the first, [0]."})
