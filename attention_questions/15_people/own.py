"""The check of assignment 15 on an experiment of the student's own: a study of people who were never there."""

from coursegrade.kit.experiment import experiment

from . import solution
from .people import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="Nobody knows anything here, so each class that the test tells from chance is a false alarm.\nThe people and "
        "their answers are made alike in both; only who stays in the count is changed.",
    hints={"not callable|positional argument": "`told` wants a function: from `draw` to the "
           "rows of one class, such as `a_class`, or `lambda draw: a_class(draw, people=22)`.",
           "broadcast": "`skill` is one number, or an array (people, 1): `draw.choice([0.85, 0.45], size=(20, 1))`."})
