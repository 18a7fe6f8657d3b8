"""The check of assignment 11 on an experiment of the student's own: reading counts, or bearing a changed map."""

from coursegrade.kit.experiment import experiment

from . import solution
from .maps import LIBRARY

my_experiment = experiment(
    solution.my_experiment, (2, 0), forbidden=LIBRARY, instead="your functions",
    why="One number is changed, and words and noise stay the same: so nothing else can make the difference. What is to "
        "be expected can be worked out before, from half a step b/2 and the noise.",
    hints={"index": "`share` and `mixes` take words (n, T) of letter numbers from 0 to 14, as an array.",
           "astype|has no attribute": "`histogram.sample` returns a tensor: `.numpy()` makes an array of it."})
