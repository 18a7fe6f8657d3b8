"""The check of assignment 13 on an experiment of the student's own: when a code tells what is there."""

from coursegrade.kit.experiment import experiment

from . import solution
from .codes import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="Both codes are found in one world, and compared on the same 48 things: only what the dictionary knows has "
        "changed.",
    hints={"shapes": "W is (16, 64) and X (100, 64); states are X @ W.T, (100, 16). A dictionary of fewer columns "
                     "gives a code of fewer: compare it with as many columns of X."})
