"""The check of assignment 08 on an experiment of the student's own: how far short forms are from LIME's limit."""

from coursegrade.kit.experiment import experiment

from . import solution

my_experiment = experiment(
    solution.my_experiment, (2, 0),
    why="[CLS] is in every mask: the louder it is, the less the denominator varies, and the centred form takes the "
        "denominator for its mean. The head is drawn once, and nothing else of it is changed.",
    hints={"'str' object": "A form is the function itself, without quotes: off(centred, …).",
           "change .CLS. in both": "[CLS], place 0, is never replaced: it has the same log g and the same y in both. "
                                   "Of each of the four, [:5] are [CLS] and the first four words.",
           **dict.fromkeys(("shapes", "out of bounds", "positional argument"), "`off` wants a form, then one head as a "
                           "single argument, its four arrays of one length, and perhaps a law of d + 1 numbers, d "
                           "being one less than the number of tokens.")})
