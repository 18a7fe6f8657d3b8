"""The check of assignment 14 on an experiment of the student's own: what a judge of explanations depends on."""

from coursegrade.kit.experiment import experiment

from . import solution
from .models import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="How near `best` comes hangs on which moves are drawn, so each number is a mean over twenty sets; the model "
        "is the same for both, and another one for each seed.",
    hints={"has no value for": "The small model knows the words of its document and [UNK]. Fill with one "
                                             "of these, or delete with None."})
