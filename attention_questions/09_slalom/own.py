"""The check of assignment 09 on an experiment of the student's own: what it takes to find importances under noise."""

from coursegrade.kit.experiment import experiment

from . import solution
from .scores import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="The mean of four answers has half of the noise, and so have the importances. One draw would not show it: each "
        "number is a mean over twenty.",
    hints={"ZeroDivision|math domain": "Under noise the score of a pair may lie outside of what its two words say, and "
           "then there is no logarithm. That is a finding, too: which number would you return for it?"})
